"""The page of a report: one HTML file without network access, and its Vega-Lite charts."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foreknow.app.cli.defense_choices import defense_text
from foreknow.app.report.adversaries import SHORT_TITLES, detail_lost, sides_of_row
from foreknow.app.report.contents import ReportContents
from foreknow.app.report.respondents import label, percent
from foreknow.app.report.sentences import (
    calibration_sentence,
    cards,
    influence_sentence,
    leak_sentence,
    stricter_sentence,
    strongest_sentence,
    utility_sentence,
    verdict,
    what_it_knows,
)
from foreknow.evaluation.risk.reliability_curve import ROWS_AT
from foreknow.models.arrays import FloatArray
from foreknow.models.program_version import program_version
from foreknow.models.settings import installing

if TYPE_CHECKING:
    import altair as alt
    from jinja2 import Environment


TEMPLATES = "templates"
"""Folder of the template, the style sheet and the script, within this package."""

MISSING = (
    "the report needs the packages altair, jinja2 and vl-convert-python, and {name} is not installed. Install them: "
    "{command}."
)
"""Message of the error where a package is missing."""


def check_packages() -> None:
    """Raise ModuleNotFoundError unless the packages of the page are installed."""
    from importlib.util import find_spec

    for module, package in (("altair", "altair"), ("jinja2", "jinja2"), ("vl_convert", "vl-convert-python")):
        if find_spec(module) is None:
            raise ModuleNotFoundError(MISSING.format(name=package, command=installing("report")))


def page(contents: ReportContents) -> str:
    """The report as HTML.

    The Content-Security-Policy of the page forbids all network access, and all scripts but its own two, which it names by their
    checksums. Every value is escaped. Cost: O(records of the explorer).
    """
    check_packages()
    script, one = _part("report.js"), contents.explorer
    bundle = vega_bundle()  # not in a thread: it holds the interpreter's lock, and both take twice as long
    data = {
        "charts": charts(contents),
        "explorer": {"times": one.times, "values": one.values, "people": one.people, "first": one.most_exposed},
        "explored": EXPLORED,
        "lines": EXPLORED_LINES,
    }
    return (
        _environment()
        .get_template("report.html")
        .render(
            contents=contents,
            verdict=verdict(contents),
            cards={name: cards(contents, name) for name in contents.inferences},
            short=SHORT_TITLES,
            upper=_upper,
            lost=detail_lost,
            knowledge={name: what_it_knows(one) for name, one in contents.inferences.items()},
            leak_sentence=leak_sentence(contents.leak),
            calibration_sentence=calibration_sentence(contents),
            calibration=calibration_rows(contents.calibration),
            influence_sentence=influence_sentence(contents.trials),
            strongest_sentence=strongest_sentence(contents.attacks),
            utility_sentence=utility_sentence(contents.utility),
            defense=None if contents.defense is None else defense_text(contents.defense),
            stricter_sentence=stricter_sentence(contents),
            program=program_version(),
            policy=_policy([bundle, script]),
            bundle=bundle,
            script=script,
            style=_part("report.css"),
            data=data,
        )
    )


type TableOnPage = tuple[str, pd.DataFrame, Mapping[str, str]]
"""Title and table of a page, and the meaning of its columns."""


def noisy_page(
    word: str, level: str, lines: Sequence[str], defense: str, tables: Sequence[TableOnPage], notes: Sequence[str]
) -> str:
    """The page on noisy counts as HTML: a verdict in lines, tables and notes, without a script."""
    check_packages()
    texts = [(title, table.map(_three_digits), terms) for title, table, terms in tables]
    return (
        _environment()
        .get_template("noisy.html")
        .render(
            word=word,
            level=level,
            lines=lines,
            defense=defense,
            tables=texts,
            notes=notes,
            program=program_version(),
            policy=_policy([]),
            style=_part("report.css"),
            zip=zip,
        )
    )


def _three_digits(cell: Any) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def calibration_rows(curves: pd.DataFrame) -> pd.DataFrame:
    """Means of the curves of calibration, and of their ends, over the beliefs in each tenth of 0 to 1.

    Columns ``adversary``, ``believed`` (the tenth as text), ``beliefs``, ``observed``, ``observed_low`` and ``observed_high``.
    """
    means = ["observed", "observed_low", "observed_high"]
    tenth = np.minimum((curves["believed"] * ROWS_AT).astype(np.int64), ROWS_AT - 1) * 10 // ROWS_AT
    sums = curves[means].mul(curves["beliefs"], axis=0).assign(beliefs=curves["beliefs"])
    sums = sums.groupby([curves["adversary"], tenth], sort=False).sum().reset_index()
    believed = [f"{10 * b}–{10 * b + 10}%" for b in sums["believed"].tolist()]
    return sums.assign(believed=believed, **{name: sums[name] / sums["beliefs"] for name in means})


def _upper(at_most: float | None) -> str:
    """The upper side of a number of people; empty without a bound."""
    return "" if at_most is None or np.isnan(at_most) else f", at most {at_most:,.0f}"


@cache
def vega_bundle() -> str:
    """JavaScript of Vega, Vega-Lite and Vega-Embed, which defines ``vegaEmbed``. It has no closing script tag."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")).replace("</script", "<\\/script")


def json_in_html(value: Any) -> str:
    r"""JSON that is safe within a script tag: ``<``, ``>`` and ``&`` are written as escape sequences.

    >>> json_in_html({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _policy(scripts: Sequence[str]) -> str:
    """Content-Security-Policy that allows the scripts of these texts, and no network access."""
    sums = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in sums)
    others = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed or "'none'"}; {others}"


@cache
def _part(name: str) -> str:
    return files("foreknow.app.report").joinpath(TEMPLATES, name).read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    sources: Mapping[str, str] = {name: _part(name) for name in ("report.html", "noisy.html", "macros.html")}
    made = Environment(
        loader=DictLoader(sources), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    made.filters |= {
        "percent": percent,
        "label": label,
        "json_in_html": lambda value: Markup(json_in_html(value)),
        "count": lambda number: f"{int(number):,}",
    }
    return made


HEIGHT = 220
"""Height of a chart in pixels."""

SHORTENED_FROM = 1_000
"""Number of people from which labels of bars are shortened, as 80k: longer ones overlap on a phone. Tooltips have all digits."""

BLACK, BLUE, ORANGE = "#1a1a1a", "#0b5c9e", "#b34700"
"""Colours; each line and mark also has a dash or a shape of its own, and a label."""

EXPLORED = "explored"
"""Name of the data set of the explorer's chart, which the page fills in."""

type Spec = dict[str, Any]


def charts(contents: ReportContents) -> dict[str, Spec]:
    """Specification of each chart, by the name of its place on the page."""
    makers: dict[str, Callable[[ReportContents], alt.LayerChart]] = {
        "risk": _risk,
        "certainty": _certainty,
        "leak": _leak,
        "calibration": _calibration,
        "explored": _explored,
    }
    if len(contents.stricter) > 1:
        makers["stricter"] = _stricter
    return {
        name: make(contents).properties(width="container").configure(**_config()).to_dict(validate=False)
        for name, make in makers.items()
    }


def _config() -> dict[str, Any]:
    text = {
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "labelColor": BLACK,
        "titleColor": BLACK,
    }
    return {
        "font": "system-ui, sans-serif",
        "axis": {**text, "labelLimit": 130, "gridColor": "#e3e3e3"},
        "view": {"stroke": None},
        "text": {"fontSize": 13, "color": BLACK},
        "autosize": {"type": "fit-x", "contains": "padding"},
    }


def _lines(table: pd.DataFrame, title: str, top: float = 1.0, times: Sequence[str] = ()) -> "alt.LayerChart":
    """Lines of shares over the releases, each with a dash, a shape and an entry in the legend.

    ``table`` has the columns ``time`` (labels), ``share``, ``line`` (labels) and ``shown`` (the share as text). The axis of shares
    ends at ``top``. ``times`` are the labels of all releases, where the table has not all of them.
    """
    import altair as alt

    names = list(dict.fromkeys(table["line"]))
    colours, dashes, shapes = [BLUE, ORANGE, BLACK], [[1, 0], [7, 4], [2, 3]], ["circle", "triangle-up", "square"]
    scale = alt.Scale(domain=list(times)) if len(times) else alt.Undefined
    x = alt.X("time:O", sort=None, title="Release", axis=alt.Axis(labelAngle=0, labelOverlap=True), scale=scale)
    y = alt.Y("share:Q", title=None, axis=alt.Axis(format=".0%", tickCount=5), scale=alt.Scale(domain=[0, top]))
    colour, dash, shape = (
        channel("line:N", scale=alt.Scale(domain=names, range=marks[: len(names)]), legend=_legend())
        for channel, marks in ((alt.Color, colours), (alt.StrokeDash, dashes), (alt.Shape, shapes))
    )
    tooltip = [
        alt.Tooltip("line:N", title=" "),
        alt.Tooltip("time:O", title="Release"),
        alt.Tooltip("shown:N", title="Share"),
    ]
    base = alt.Chart(table, title=alt.Title(title, anchor="start", fontWeight="normal", fontSize=13))
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
    point = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=tooltip
    )
    return alt.LayerChart(layer=[line, point]).properties(height=HEIGHT)


def _legend() -> "alt.Legend":
    import altair as alt

    return alt.Legend(
        orient="top",
        direction="vertical",
        title=None,
        labelFontSize=13,
        labelLimit=320,
        symbolSize=90,
        symbolStrokeWidth=0,
    )


def _risk(contents: ReportContents) -> "alt.LayerChart":
    by_release = contents.by_release
    rows = {one.title: by_release[by_release["adversary"] == name] for name, one in contents.inferences.items()}
    parts = [_line(each["time"], each["confidence"], title) for title, each in rows.items()]
    last = [*rows.values()][-1]
    parts.append(_line(last["time"], last["confidence_of_shares"], "Reading the group alone"))
    return _lines(pd.concat(parts, ignore_index=True), "Mean belief in a person's true value")


def _line(times: "pd.Series[Any]", shares: "pd.Series[float]", name: str) -> pd.DataFrame:
    known = shares.notna()
    return pd.DataFrame(
        {
            "time": [label(time) for time in times[known]],
            "share": shares[known].to_numpy(dtype=float),
            "line": name,
            "shown": [percent(share) for share in shares[known]],
        }
    )


def _leak(contents: ReportContents) -> "alt.LayerChart":
    leak = contents.leak
    parts = [
        _line(leak["time"], leak["sure_hindsight"], "In hindsight, with all releases"),
        _line(leak["time"], leak["sure_forward"], "At the time of the release"),
    ]
    table = pd.concat(parts, ignore_index=True)
    title = f"Records of which the adversary is {percent(contents.settings.sure)} sure"
    return _lines(table, title, min(max(1.1 * float(table["share"].max()), 0.05), 1.0))


def _certainty(contents: ReportContents) -> "alt.LayerChart":
    import altair as alt

    belief = contents.headlines[contents.details.name].people["belief"].to_numpy(dtype=float)
    counts = np.bincount(np.minimum((belief * 10 + 1e-9).astype(np.int64), 9), minlength=10)
    table = pd.DataFrame({"bin": [f"{10 * b}–{10 * b + 10}%" for b in range(10)], "people": counts})
    x = alt.X("bin:O", sort=None, title="Highest belief in the true value", axis=alt.Axis(labelAngle=-45))
    form = ",d" if counts.max(initial=0) < SHORTENED_FROM else ".2~s"
    y = alt.Y("people:Q", title=None, axis=alt.Axis(tickCount=4, format=form))
    base = alt.Chart(table, title=alt.Title("Number of people", anchor="start", fontWeight="normal", fontSize=13))
    bars = base.mark_bar(color=BLUE).encode(x=x, y=y, tooltip=["bin:O", alt.Tooltip("people:Q", format=",d")])
    text = base.mark_text(dy=-8).encode(x=x, y=y, text=alt.Text("people:Q", format=form))
    return alt.LayerChart(layer=[bars, text]).properties(height=HEIGHT)


def _calibration(contents: ReportContents) -> "alt.LayerChart":
    import altair as alt

    table = contents.calibration
    table = table[table["adversary"] == contents.details.name]
    table = table[["believed", "observed", "observed_low", "observed_high", "beliefs"]]
    scale, form = alt.Scale(domain=[0, 1]), alt.Axis(format=".0%", tickCount=5)
    x = alt.X("believed:Q", title="Belief of the adversary", scale=scale, axis=form)
    y = alt.Y("observed:Q", title=None, scale=scale, axis=form)
    diagonal = pd.DataFrame({"believed": [0, 1], "observed": [0, 1]})
    ideal = alt.Chart(diagonal).mark_line(strokeDash=[4, 4], color="#666666").encode(x=x, y=y)
    told = pd.DataFrame({"believed": [0.98], "observed": [0.13], "text": ["- - -  right as often as believed"]})
    note = alt.Chart(told).mark_text(align="right", baseline="top", color="#444444").encode(x=x, y=y, text="text:N")
    title = alt.Title("How often the believed value is true", anchor="start", fontWeight="normal", fontSize=13)
    base = alt.Chart(table, title=title)
    band = base.mark_area(color=BLUE, opacity=0.2).encode(
        x=x, y=alt.Y("observed_low:Q", title=None), y2="observed_high:Q"
    )
    tooltip = [alt.Tooltip("believed:Q", format=".1%"), alt.Tooltip("observed:Q", format=".1%"), "beliefs:Q"]
    line = base.mark_line(color=BLUE, point=True).encode(x=x, y=y, tooltip=tooltip)
    return alt.LayerChart(layer=[ideal, note, band, line]).properties(height=HEIGHT + 40)


def _stricter(contents: ReportContents) -> "alt.LayerChart":
    import altair as alt

    made = [row for row in contents.stricter.to_dict("records") if not row["problem"]]
    sides = [sides_of_row(row) for row in made]
    table = pd.DataFrame(
        {
            "setting": [row["setting"] for row in made],
            "kind": ["present" if row["setting"] == made[0]["setting"] else "stricter" for row in made],
            "lost": [detail_lost(row) for row in made],
            "exposed": [each.exposed for each in sides],
        }
    )
    most = (contents.settings.bound or 0) * max(each.respondents for each in sides)
    width, high = max(1.15 * float(table["lost"].max()), 0.05), max(1.15 * float(table["exposed"].max()), most, 4.0)
    table["label"] = _label_heights(table["lost"].to_numpy() / width, table["exposed"].to_numpy() / high) * high
    x = alt.X(
        "lost:Q", title="Detail lost", axis=alt.Axis(format=".0%", tickCount=5), scale=alt.Scale(domain=[0, width])
    )
    top = alt.Scale(domain=[0, high], nice=False)
    y = alt.Y("exposed:Q", title=None, scale=top, axis=alt.Axis(tickCount=4, format=",d"))
    marks = alt.Shape(
        "kind:N", scale=alt.Scale(domain=["present", "stricter"], range=["square", "circle"]), legend=None
    )
    colour = alt.Color("kind:N", scale=alt.Scale(domain=["present", "stricter"], range=[ORANGE, BLUE]), legend=None)
    tooltip = ["setting:N", alt.Tooltip("lost:Q", format=".1%"), alt.Tooltip("exposed:Q", format=",d")]
    base = alt.Chart(table, title=alt.Title("Exposed people", anchor="start", fontWeight="normal", fontSize=13))
    point = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=x, y=y, shape=marks, color=colour, tooltip=tooltip
    )
    # Labels of near points are one above the other; in the right half they end at their point, so that they stay within the chart.
    height = alt.Y("label:Q", title=None, scale=top)
    labels = base.encode(x=x, y=height, text="setting:N")
    texts = [
        labels.mark_text(align="left", dx=9).transform_filter(f"datum.lost < {width / 2}"),
        labels.mark_text(align="right", dx=-9).transform_filter(f"datum.lost >= {width / 2}"),
    ]
    bound = alt.Chart(pd.DataFrame({"exposed": [most]})).mark_rule(strokeDash=[6, 4], color=BLACK).encode(y=y)
    return alt.LayerChart(layer=[bound, point, *texts]).properties(height=HEIGHT)


def _label_heights(across: FloatArray, up: FloatArray) -> FloatArray:
    """Heights of the labels of points, as shares of the chart: each is above those of points to its left that it would cover."""
    heights = np.zeros(len(up))
    for place, number in enumerate(order := np.lexsort((across,))):
        near = [heights[each] for each in order[:place] if across[number] - across[each] < 0.35]
        heights[number] = max(up[number], 0.04)
        while any(abs(heights[number] - each) < 0.08 for each in near):
            heights[number] += 0.02
    return heights


def _explored(contents: ReportContents) -> "alt.LayerChart":
    """Lines of the explorer: the page puts the beliefs about the chosen person into the named data set.

    The axis has all releases in their order, whichever of them the chosen person has a record in.
    """
    import altair as alt

    table, title = pd.DataFrame({"line": list(EXPLORED_LINES)}), "Belief in the true value at each release"
    chart = _lines(table, title, times=contents.explorer.times)

    for layer in chart.layer:
        layer.data = alt.Undefined
    chart.data = alt.NamedData(EXPLORED)
    return chart


EXPLORED_LINES = ("In hindsight, with all releases", "At the time of the release", "Share of the group")
"""Lines of the explorer."""
