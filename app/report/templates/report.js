"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { times, values, people, first } = data.explorer;
  const options = { ast: true, actions: false, renderer: "svg" };
  const MOST_OPTIONS = 400;
  const views = {};
  let pending = null;

  const percent = (thousandths) => `${(thousandths / 10).toFixed(1)}%`;
  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  // Charts. Those of the explorer have no data until a person is chosen. A folded part is open while its charts are drawn, as they
  // take the width of their place.
  const parts = [...document.querySelectorAll("details.part")];
  for (const part of parts) {
    part.open = true;
    part.addEventListener("toggle", () => { if (part.open) dispatchEvent(new Event("resize")); });
  }
  const drawn = Object.entries(data.charts).map(([name, spec]) => {
    const place = document.getElementById(`chart-${name}`);
    if (!place) return null;
    if (name === "explored") spec.datasets = { ...(spec.datasets || {}), [data.explored]: [] };
    return vegaEmbed(place, spec, options).then((made) => {
      views[name] = made.view;
      if (name === "explored" && pending) draw(pending);
    }).catch((error) => { place.textContent = `This chart could not be drawn: ${error.message}`; });
  });
  Promise.all(drawn).then(() => {
    for (const part of parts) part.open = location.hash === `#${part.id}`;
    document.body.dataset.drawn = "true";
  });
  addEventListener("hashchange", () => {
    const part = document.getElementById(location.hash.slice(1));
    if (part && parts.includes(part)) part.open = true;
  });

  function draw(rows) {
    pending = rows;
    if (views.explored) views.explored.data(data.explored, rows).runAsync();
  }

  // The chosen person.
  const select = document.getElementById("person");
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const body = document.querySelector("#beliefs tbody");
  let shown = [];
  let chosen = 0;

  function list(text) {
    const wanted = text.trim().toLowerCase();
    const all = people.map((_, index) => index);
    shown = wanted ? all.filter((index) => people[index][0].toLowerCase().includes(wanted)) : all;
    const some = shown.slice(0, MOST_OPTIONS);
    if (!wanted && chosen >= MOST_OPTIONS) some.push(chosen);
    select.replaceChildren(...some.map((index) => element("option", people[index][0], { value: index })));
    const more = shown.length > MOST_OPTIONS ? `The first ${MOST_OPTIONS} of ${shown.length.toLocaleString("en")} are in the list; type to narrow it.` : "";
    found.textContent = wanted && !shown.length ? "There is no such person." : more;
  }

  function rowsOf(records) {
    const rows = [];
    for (const [t, size, own, entries] of records) {
      const mine = entries.find(([code]) => code === own) || [own, 0, 0, 0];
      const add = (line, share) => rows.push({ time: times[t], line: data.lines[line], share, shown: `${(100 * share).toFixed(1)}%` });
      add(0, mine[3] / 1000);
      add(1, mine[2] / 1000);
      if (size) add(2, mine[1] / size);
    }
    return rows;
  }

  function summary(name, records) {
    let best = null;
    for (const [t, size, own, entries] of records) {
      const mine = entries.find(([code]) => code === own) || [own, 0, 0, 0];
      if (size && (!best || mine[3] > best.mine[3])) best = { t, own, size, mine };
    }
    if (!best) return `No record of ${name} is published.`;
    return `Most exposed at release ${times[best.t]}: the group shows the true value, ${values[best.own]}, for ${best.mine[1]} of ${best.size} ` +
      `records. The belief in it was ${percent(best.mine[2])} at that time, and is ${percent(best.mine[3])} in hindsight.`;
  }

  function choose(index) {
    if (!people.length) return;
    chosen = index;
    const [name, records] = people[index];
    if (![...select.options].some((option) => Number(option.value) === index)) {
      find.value = "";
      list("");
    }
    select.value = String(index);
    document.getElementById("chosen").textContent = name;
    document.getElementById("summary").textContent = summary(name, records);
    body.replaceChildren();
    for (const [t, size, own, entries] of records) {
      [...entries].sort((one, other) => other[3] - one[3]).forEach(([code, count, forward, hindsight], place) => {
        const row = document.createElement("tr");
        if (place === 0) row.append(element("th", size ? times[t] : `${times[t]} (left out)`, { scope: "rowgroup", rowspan: entries.length }));
        const isTrue = code === own;
        if (isTrue) row.className = "true-value";
        row.append(
          element("td", isTrue ? `${values[code]} (true)` : values[code]),
          element("td", size ? `${count} of ${size}` : "–"),
          element("td", percent(forward)),
          element("td", percent(hindsight)),
        );
        body.append(row);
      });
    }
    draw(rowsOf(records));
  }

  function step(by) {
    const place = shown.indexOf(chosen);
    const next = shown[Math.min(Math.max(place + by, 0), shown.length - 1)];
    if (next !== undefined) choose(next);
  }

  select.addEventListener("change", () => choose(Number(select.value)));
  find.addEventListener("input", () => {
    list(find.value);
    if (shown.length) choose(shown.includes(chosen) ? chosen : shown[0]);
  });
  document.getElementById("previous").addEventListener("click", () => step(-1));
  document.getElementById("next").addEventListener("click", () => step(1));
  for (const link of document.querySelectorAll("[data-choose]")) {
    link.addEventListener("click", () => choose(Number(link.dataset.choose)));
  }
  list("");
  choose(0);

  // A printed page has its definitions and tables.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of opened) each.open = false; });
})();
