"""Groups or noise, beyond the map: other departures of cohorts, both defenses in one, up to 10^6 respondents, and real panels.

`DEPARTURES`: on panels of `groups_or_noise`, `Cohorts` with ghosts, withdrawal, a lag, and cells that retire; noise by epsilon; and
both in one: a cell shows exact counts of its members while no batch is open, and noisy ones from a departure until a members have
left (`both_in_one`). `LARGE`: memberships and counts of large panels, simulated without views. `REAL`: the defenses of
`groups_or_noise` on real panels, with knowledge from a third of the people.
"""

from itertools import islice

import numpy as np
import pandas as pd
from scipy.stats import t as student

from experiments import groups_or_noise
from experiments.groups_or_noise import (
    CLASSES,
    GAINS,
    NOISE_CELLS,
    SHAPE,
    STAY,
    best,
    compared,
    defenses,
    law,
    panel,
    rounded,
)
from experiments.presence import PANELS, publishable
from experiments.subjects import seeded
from foreknow.defenses import Cohorts, NoisyCounts, publish
from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.noisy_counts import with_totals
from foreknow.evaluation import Workload, expected_gain_bound, households, query_error
from foreknow.evaluation.boxes import Boxes, published_boxes
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.loss.generalization_loss import price, suppressed
from foreknow.evaluation.loss.queries import actual_counts, query_errors
from foreknow.models import Adversary, ClassFrequencies, MarkovChain, Noise, Numeric, Omega, Schema, View
from foreknow.models.noise import scale_of_gain
from foreknow.models.tables.noisy_release import Cells

LAG = 4
"""Releases to come whose people are known with departures ``"lag"``: in these 13 of 40 leave, if 8 % leave each release."""

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)

MOST = 0.1
"""Largest gain of both in one over the law: ``1 - (1 - 1/a)(1 - G)`` for a gain G over the noise of one open batch."""

MIXED = ((20, 20), (20, 60), (30, 90), (20, 200))
"""Settings a and size of both in one: exact releases alone promise 1/a, which leaves a part of `MOST` to the noise."""


def departing(releases, chain):
    """Rules by what hides a departure, and noise by epsilon, as `groups_or_noise.defenses`."""
    kinds = [("ghosts", *one) for one in ((10, 10), (10, 40), *MIXED)]
    kinds += [(kind, *one) for kind in ("withdraw", "lag") for one in ((10, 10), (10, 40), (20, 60))]
    for kind, a, size in [*kinds, ("retire", 10, 10), ("retire", 20, 20)]:
        rule = Cohorts(a, size, kind, transitions=chain, lag=LAG * (kind == "lag"), rng=seeded(2))
        yield f"{kind} {a}, {size}", rule, float(expected_gain_bound(a, size)), size
    for name, level in (("gain", MOST), *(("epsilon", epsilon) for epsilon in EPSILONS)):
        for cells in NOISE_CELLS:
            rule = NoisyCounts(cells, releases, **{name: level}, processing="totals", rng=seeded(3))
            yield f"{name} {level:g}, {cells} cells", rule, rule.promise.gain, None


def scaled(some, workload):
    """Mean over releases of the median error where a reader divides each estimate by the share of listed records that is shown."""
    medians = []
    for release in some:
        answers = query_errors(release, workload)
        share = max(float((release.group >= 0).mean()), 1e-9)
        medians.append((abs(answers["actual"] - answers["estimate"] / share) / answers["actual"]).median())
    return float(np.mean(medians))


def both_in_one(releases, some, workload, a, size, rng):
    """Cells of ``Cohorts(a, size)`` without ghosts: exact counts of the members, and noisy ones while a batch is open.

    Two members of a batch are shown alike in each exact release, and by noisy counts that differ in two entries in the noisy ones
    between their departures, at most those of one open batch, L. So the mean gain over a cell's share, of an adversary of the class
    of K who reads no presence, is at most ``1 - (1 - K)(1 - G)``, where G is that of L releases of noise. Who stays is exchanged
    with others who stay, at no cost. Known others are not covered: exact releases tell them the last value.
    """
    met, run, longest = (
        np.zeros(1 + max(one.view.people.respondents.max() for one in releases), int) for _ in range(3)
    )
    shares = []
    for release in releases:
        kept = release.group >= 0
        who, open_ = release.view.people.respondents[kept].astype(int), release.ghost_counts > 0
        noisy = open_[release.group[kept]]
        met[who] += noisy
        run[who] = np.where(noisy, run[who] + 1, 0)
        np.maximum(longest, run, out=longest)
        shares.append((int(open_.sum()), len(open_)))
    gain = 1 - (1 - MOST) / (1 - 1 / a)
    spell, life = (scale_of_gain("gaussian", max(int(each.max()), 1), gain) for each in (longest, met))
    errors = []
    for release in some:
        kept, m = release.group >= 0, len(release.view.schema.values)
        pairs = release.group[kept] * m + release.view.sensitive[kept]
        counts = np.bincount(pairs, minlength=len(release.counts) * m).reshape(-1, m)
        noise = Noise("gaussian", spell).draw(counts.shape, rng) * (release.ghost_counts > 0)[:, None]
        boxes = published_boxes(release, workload.domains)
        shown = boxes._replace(weights=with_totals(counts + noise, counts.sum(axis=1)))
        actual = actual_counts(release.view, workload)
        estimate = workload.count(shown)
        errors.append(
            [np.median(abs(actual - each) / actual) for each in (estimate, estimate / max(kept.mean(), 1e-9))]
        )
    plain, by_share = np.mean(errors, axis=0)
    return {
        "defense": f"both {a}, {size}",
        "gain": 1 - (1 - float(expected_gain_bound(a, size))) * (1 - gain),
        "size": size,
        "query_median": float(plain),
        "scaled": float(by_share),
        "noisy": float(np.divide(*np.sum(shares, axis=0))),
        "spell": int(longest.max()),
        "met": int(met.max()),
        "met_mean": float(
            met[np.unique(np.concatenate([one.view.people.respondents for one in releases]).astype(int))].mean()
        ),
        "scale": spell,
        "scale_life": life,
    }


def departed(cell, rng):
    """Query error and price of each way to hide a departure."""
    _, chain = law(cell["values"])
    history, prior = panel(cell["records"], cell["releases"], cell["departures"], cell["values"], rng)
    rows = []
    for row, releases, some, workload in compared(
        history, Adversary(prior, chain), list(departing(len(history), chain)), rng
    ):
        rows.append(row)
        if not some or row["scale"] is not None:
            continue
        row["scaled"] = scaled(some, workload)
        kind, a, size = row["defense"].replace(",", "").split()
        if kind == "ghosts" and (int(a), int(size)) in MIXED:
            rows.append(
                both_in_one(releases, some, workload, int(a), int(size), seeded(4)) | {"withheld": row["withheld"]}
            )
    return pd.DataFrame(rows)


DEPARTURES = Experiment(
    "groups_or_noise_departures",
    departed,
    [
        {"records": n, "releases": t, "departures": d, "values": 6}
        for n in (1_000, 5_000)
        for t in (12, 24)
        for d in (0.002, 0.02, 0.08)
    ],
)


RELEASES = (1, 4, 12, 24, 52)
VALUES = (2, 6, 19)
SETTINGS = ((10, 10), (10, 40), (20, 20), (20, 200))
MORE_CELLS = (*NOISE_CELLS, 1024, 4096)

QUASI = Schema({"age": Numeric(20, 89), "region": Numeric(0, 9), "sex": Numeric(0, 1)}, "value", (0, 1))
CODES = np.stack(np.meshgrid(np.arange(70), np.arange(10), np.arange(2), indexing="ij"), axis=-1).reshape(-1, 3)
"""Vectors of quasi-identifiers of `groups_or_noise.panel`, as positions in their domains."""

KIND = np.minimum(CODES[:, 0] // 24, 2) * 2 + CODES[:, 2]


def memberships(rule, records, departures, rng):
    """Cell, vector, time of arrival, and departure of each place, release by release; cells are in order.

    As `Cohorts` and `groups_or_noise.panel`, where each class has enough newcomers for a cell, so that no one waits.
    """
    people = _people()
    cell = vector = arrived = np.zeros(0, int)
    gone, t = np.zeros(0, bool), 0
    while True:
        left = ~gone & (rng.random(len(gone)) < departures)
        gone |= left
        if left.any():
            kept = rule._kept(cell, gone, np.zeros(len(cell), int), rng)
            cell, vector, arrived, gone = (each[kept] for each in (cell, vector, arrived, gone))
        newcomers = rng.integers(len(CODES), size=int(left.sum()) if t else records)
        for kind in range(CLASSES):
            new = newcomers[KIND[newcomers] == kind]
            if len(new):
                label = cell.max(initial=-1) + 1 + np.arange(len(new)) * max(len(new) // rule.size, 1) // len(new)
                cell, vector = np.append(cell, label), np.append(vector, new[hilbert_order(people[new])])
                arrived, gone = np.append(arrived, np.full(len(new), t)), np.append(gone, np.zeros(len(new), bool))
        yield cell, vector, arrived, gone
        t += 1


def _people():
    """A respondent of each vector."""
    frame = pd.DataFrame(CODES + np.array([20, 0, 0]), columns=["age", "region", "sex"]).assign(
        value=0, id=range(len(CODES))
    )
    return View(frame, QUASI).people


def _workload(values, seed=0):
    """1,000 queries over all vectors and values."""
    frame = pd.DataFrame(np.repeat(CODES + np.array([20, 0, 0]), values, axis=0), columns=["age", "region", "sex"])
    frame = frame.assign(value=np.tile(np.arange(values), len(CODES)), id=range(len(frame)))
    schema = Schema(dict(QUASI.quasi_identifiers), "value", tuple(range(values)))
    return Workload.draw(View(frame, schema), rng=seeded([5, seed]), queries=1000)


def _drawn(vector, age, values, rng):
    """Value of each place, by its class and the number of releases since its arrival."""
    priors, _ = law(values)
    kept = STAY ** np.arange(age.max() + 1)[:, None, None]
    steps = np.cumsum(kept * priors + (1 - kept) * priors.mean(axis=0), axis=2)
    uniform = rng.random(len(vector))
    return sum((uniform >= steps[age, KIND[vector], s]).astype(int) for s in range(values - 1))


def _box_counts(cell, vector, value, gone, values):
    """Boxes of cells in order, with the counts of all places discounted by their ghosts; equal boxes are summed."""
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    number = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(cell))))
    ends = [function.reduceat(CODES[vector], starts) for function in (np.minimum, np.maximum)]
    real = 1 - np.add.reduceat(gone.astype(float), starts) / np.bincount(number)
    rows, box = np.unique(np.hstack(ends), axis=0, return_inverse=True)
    pairs = box.ravel()[number] * values + value
    weights = np.bincount(pairs, weights=real[number], minlength=len(rows) * values).reshape(-1, values)
    return Boxes(rows[:, :3], rows[:, 3:], weights)


def simulated(cell, rng):
    """Query error of cohorts and of noise, by the number of releases and of values; see `memberships`."""
    records, departures = cell["records"], cell["departures"]
    lengths = [t for t in RELEASES if (t > 1 or departures == 0) and t <= cell.get("longest", max(RELEASES))]
    shown = {t: sorted({0, t // 2, t - 1}) for t in lengths}
    times, workloads = (
        set().union(*shown.values()),
        {values: _workload(values, cell.get("seed", 0)) for values in VALUES},
    )
    errors, ghosts, actual, rows = {}, {}, {}, []
    for a, size in SETTINGS:
        name, share = f"cohorts {a}, {size}", []
        series = memberships(Cohorts(a, size), records, departures, rng)
        for t, (cells, vector, arrived, gone) in zip(range(max(lengths)), series, strict=False):
            share.append(gone.mean())
            for values, workload in workloads.items() if t in times else ():
                value = _drawn(vector, t - arrived, values, rng)
                pairs = (vector * values + value)[~gone]
                counts = np.bincount(pairs, minlength=len(CODES) * values).reshape(-1, values)
                truth = workload.count(Boxes(CODES, CODES, counts.astype(float)))
                estimate = workload.count(_box_counts(cells, vector, value, gone, values))
                errors[name, t, values] = float(
                    np.nanmedian(abs(truth - estimate) / np.where(truth > 0, truth, np.nan))
                )
                actual[t, values] = counts, truth
        ghosts[name] = np.cumsum(share) / np.arange(1, len(share) + 1)
    for length in lengths:
        for values in VALUES:
            own = {"releases": length, "values": values}
            for a, size in SETTINGS:
                name, gain = f"cohorts {a}, {size}", float(expected_gain_bound(a, size))
                error = float(np.mean([errors[name, t, values] for t in shown[length]]))
                about = {"defense": name, "gain": gain, "size": float(size), "ghosts": float(ghosts[name][length - 1])}
                rows.append(own | about | {"query_median": error})
            for gain in GAINS:
                noise = Noise("gaussian", scale_of_gain("gaussian", length, gain))
                for number in MORE_CELLS:
                    some = [
                        _noise_error(*actual[t, values], workloads[values], number, noise, rng) for t in shown[length]
                    ]
                    about = {"defense": f"noise {gain:g}, {number} cells", "gain": gain, "scale": noise.scale}
                    rows.append(own | about | {"query_median": float(np.mean(some))})
    return pd.DataFrame(rows)


def _noise_error(counts, truth, workload, number, noise, rng):
    """Median relative error of queries on noisy counts of equal cells of the vectors, which are equally frequent."""
    people = _people()
    cell = Cells.equal_counts(people, number).of(people)
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    low, high, summed = (
        function.reduceat(each[order], starts)
        for function, each in ((np.minimum, CODES), (np.maximum, CODES), (np.add, counts))
    )
    processed = with_totals(summed + noise.draw(summed.shape, rng), summed.sum(axis=1))
    return float(
        np.nanmedian(abs(truth - workload.count(Boxes(low, high, processed))) / np.where(truth > 0, truth, np.nan))
    )


LARGE = Experiment(
    "groups_or_noise_large",
    simulated,
    [{"records": n, "departures": d} for n in (50_000, 200_000, 1_000_000) for d in (0.0, 0.02, 0.08)],
)

LARGE_AGAIN = Experiment(
    "groups_or_noise_large_again",
    simulated,
    [
        {"records": n, "departures": 0.02, "longest": 12, "seed": seed}
        for n in (200_000, 1_000_000)
        for seed in range(1, 4)
    ],
)


CHECKED = ("cohorts 10, 10", "cohorts 10, 40", "noise 0.1, 16 cells", "noise 0.1, 256 cells")


def checked(cell, rng):
    """Query error, number of cells and share of ghosts of publications of a large panel, and of simulations of its counts."""
    records, releases, departures, values = (cell[name] for name in SHAPE)
    _, chain = law(values)
    history, prior = panel(records, releases, departures, values, rng)
    shown, workload, rows = sorted({0, releases // 2, releases - 1}), _workload(values), []
    for name, rule, _, size in defenses(releases, chain):
        if name in CHECKED:
            made = publish(history, rule, Adversary(prior, chain), infeasible="suppress", rng=seeded(1))
            error = query_error([made[t] for t in shown], workload)["query_median"].mean()
            row = {"defense": name, "draw": 0, "query_median": float(error), "cells": float(len(made[-1].counts))}
            rows.append(row | {"ghosts": price(suppressed(made))[1] if size else None})
    for draw in range(1, cell["draws"] + 1):
        found = simulated(cell | {"longest": releases}, rng).query(f"values == {values} and releases == {releases}")
        for name, one in found.set_index("defense").loc[list(CHECKED)].iterrows():
            row = {"defense": name, "draw": draw, "query_median": one["query_median"], "ghosts": one["ghosts"]}
            rows.append(row | {"cells": _last_cells(name, releases, records, departures, rng)})
    return pd.DataFrame(rows)


def _last_cells(name, releases, records, departures, rng):
    """Number of simulated cells at the last release; that of noise is its setting."""
    kind, first, second, *_ = name.replace(",", "").split()
    if kind == "noise":
        return float(second)
    *_, (cell, *_) = islice(memberships(Cohorts(int(first), int(second)), records, departures, rng), releases)
    return float(len(np.unique(cell)))


LARGE_CHECK = Experiment(
    "groups_or_noise_large_check",
    checked,
    [
        {"records": records, "releases": releases, "departures": departures, "values": 6, "draws": 3}
        for records, releases, departures in ((1_000_000, 1, 0.0), (200_000, 4, 0.08))
    ],
)
"""Draw 0 is published; its share of ghosts is that of all releases, and that of the others a mean over releases."""


REAL_PANELS = {"households": (lambda _: households(), {"age": 3}, 3)} | {
    name: each for name, each in PANELS.items() if name != "exams"
}


def real(cell, rng):
    """Query error of the defenses of `groups_or_noise` on two thirds of the people of a real panel; the others are the corpus."""
    source, classes, _ = REAL_PANELS[cell["panel"]]
    whole = source(0)
    order = seeded(cell["seed"]).permutation(np.array(whole.respondents, dtype=object))
    corpus, history = whole.of(order[: len(order) // 3]), publishable(whole.of(order[len(order) // 3 :]))
    # Withheld records and gaps are steps of the chain.
    chain = MarkovChain.fit(corpus, pseudo_count=0.1, gaps="power")
    known = Adversary(ClassFrequencies.fit(corpus, classes, pseudo_count=0.5), chain, gaps="power", estimator=Omega())
    about = {
        "records": sum(map(len, history)) / len(history),
        "releases": len(history),
        "values": len(chain.probabilities),
    }
    rows = []
    for row, _, some, workload in compared(history, known, list(defenses(len(history), chain)), rng, every=True):
        rows.append(about | row | {"scaled": scaled(some, workload) if some and row["scale"] is None else None})
    return pd.DataFrame(rows)


REAL = Experiment(
    "groups_or_noise_panels", real, [{"panel": panel, "seed": seed} for panel in REAL_PANELS for seed in range(10)]
)

MORE = (DEPARTURES, LARGE, REAL, LARGE_AGAIN, LARGE_CHECK)


def whole_map(rows, large):
    """Rows of the map: `groups_or_noise`, and of the simulated counts the panels and the numbers of cells that it lacks."""
    kept = pd.MultiIndex.from_frame(rows[SHAPE].drop_duplicates())
    lacking = ~pd.MultiIndex.from_frame(large[SHAPE]).isin(kept) | large["defense"].str.contains("1024|4096")
    return pd.concat(
        [rows.assign(simulated=False), large[lacking].assign(withheld=0.0, simulated=True)], ignore_index=True
    )


def map_table(rows, large):
    """Lines of Markdown: the map, of panels and of simulated counts."""
    return groups_or_noise.map_table(whole_map(rows, large))


def spread_table(rows, large, again, large_again):
    """Lines of Markdown: spread of the ratio over seeds by the number of records, and what it leaves open on the map.

    The interval is the 95 % factor of the ratio of one seed, by its deviation over seeds, pooled over the panels measured again of
    equal numbers of records and values. It is carried over to all panels of these, and with 6 values the larger one where none was
    measured again. Open: 1 is within the interval about the ratio of the map.
    """
    everything, again = whole_map(rows, large), pd.concat([again, large_again])
    ratio = np.log(best(again, MOST, shape=[*SHAPE, "seed"])["ratio"].astype(float))
    whole = np.log(best(everything, MOST)["ratio"].astype(float))
    own = ratio.groupby(level=SHAPE).agg(["var", "count", "min", "max"])
    kinds = own.groupby(level=["records", "values"]).agg({"var": "mean", "count": lambda seeds: (seeds - 1).sum()})
    reach = (np.sqrt(kinds["var"]) * student.ppf(0.975, kinds["count"])).unstack()  # noqa: PD010 - a Series
    reach[6] = reach[6].fillna(reach.max(axis=1)) if 6 in reach else reach.max(axis=1)
    lines = [
        "| records | measured again | one winner in all seeds | interval: 2 values | 19 | cohorts | open | noise |",
        "|---" * 8 + "|",
    ]
    for records, panels in own.groupby(level="records"):
        of_map, factor = whole.xs(records, level="records"), reach.loc[records]
        over = of_map / factor.loc[of_map.index.get_level_values("values")].to_numpy()
        number = [int(one.sum()) for one in (over > 1, abs(over) <= 1, over < -1)]
        agree = f"{(panels['min'] * panels['max'] > 0).sum()} of {len(panels)}"
        cells = [
            f"{len(panels)} x {panels['count'].max()} seeds",
            agree,
            *(f"x {np.exp(factor[m]):.2f}" for m in (2, 19)),
        ]
        lines.append(f"| {records:,.0f} | {' | '.join(map(str, [*cells, *number]))} |")
    return lines


def answered(rows):
    """Rows with the error of a reader who divides each estimate by the share of listed records that is shown, which is public."""
    return rows.assign(query_median=rows["scaled"].fillna(rows["query_median"]))


def departures_table(rows):
    """Lines of Markdown: query error and price after 24 releases by what hides a departure, at a gain of at most .10."""
    lines = ["| | 1,000: .002 leave | .02 | .08 | 5,000: .002 leave | .02 | .08 |", "|---" * 7 + "|"]
    ways = ("ghosts", "lag", "withdraw", "retire", "both", "gain")
    some = answered(rows[rows["releases"] == 24]).assign(way=lambda it: it["defense"].str.split().str[0])
    first = some.sort_values("query_median").groupby(["records", "departures", "way"]).head(1)
    for way, title in zip(ways, WAYS, strict=True):
        own = first[first["way"] == way].sort_values(["records", "departures"])
        price = own["noisy"] if way == "both" else own["ghosts"] + own["withheld"]
        cells = [
            rounded(error, 3) + ("" if way == "gain" else f" ({rounded(share, 2)})")
            for error, share in zip(own["query_median"], price, strict=True)
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


WAYS = ("ghosts", "lag", "withdrawn", "retired", "both in one", "noise")
