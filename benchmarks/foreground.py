"""Experiments of the foreground-knowledge paper on Adult: ``python benchmarks/foreground.py [section ...]``.

Prints the tables of docs/findings.md on foreground knowledge, in minutes on two cores. Reads Adult from ../shared/data/adult and
ARX's hierarchies from ../shared/data/adult-hierarchies.
"""

import math
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from subjects import ADULT, HIERARCHIES, LOW, Figure, Work, check_adult, seeded, timed
from tables import Row, print_sections

from foreknow.attacks import ForegroundAttack
from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.defenses import (
    MASK,
    Anatomy,
    Defense,
    ForegroundSafe,
    FullDomain,
    Infeasible,
    Injector,
    KAnonymity,
    TCloseness,
)
from foreknow.evaluation import Workload, adult, breaches, global_probabilities, greatest_differences, query_error
from foreknow.evaluation.risk.global_errors import global_errors
from foreknow.models import (
    Auto,
    Evidence,
    Exact,
    ExpectationMaximization,
    GibbsSampling,
    History,
    Release,
    SampleSize,
    UniformPrior,
    View,
)
from foreknow.models.foreground.expectation import cells_under, expectation
from foreknow.models.foreground.fit import Fitting

ATTRIBUTES = ("age", "workclass", "marital-status", "occupation", "race", "sex", "native-country", "salary-class")
"""Attributes in the paper's order; the first five by default."""

PRINTED = SampleSize(0.01, 0.9)
SUPPORTS = (PRINTED.records, 1000, 500, 100)


READINGS = ("table", "uniform")
"""Distribution of records whose signature has too little support: the table's, or equally likely values."""


@cache
def census(attributes: int | tuple[str, ...] = 5) -> View:
    check_adult()
    names = ATTRIBUTES[:attributes] if isinstance(attributes, int) else attributes
    return adult(ADULT, sensitive="education", quasi_identifiers=names, hierarchies=HIERARCHIES)[0]


def released(view: View, defense: Defense) -> Release:
    return Release(view, defense(view, UniformPrior()(view.people), ()))


def attacked(release: Release, support: int, **settings: Any) -> ForegroundBeliefs:
    return ForegroundAttack(sensitive_set=LOW, support=support, **settings)([release])


def measured(release: Release, r: int, support: int, **settings: Any) -> Row:
    """Measures of a breach at the threshold 1/r, with the beliefs, the number of attribute sets and the seconds."""
    beliefs, seconds = timed(partial(attacked, release, support, **settings), time.perf_counter)
    row = breaches(beliefs, History([release.view]), LOW, r).iloc[0].to_dict()
    return row | {"sets": len(beliefs.knowledge[0]), "seconds": seconds, "beliefs": beliefs}


def anatomy() -> Iterator[Row | str]:
    """Section 5.1: Anatomy at r = 2, 4, 10, by support and by both readings of "uniform"."""
    for r, drawn in product((2, 4, 10), (True, False)):
        release = released(census(), Anatomy(r, LOW, rng=seeded(1) if drawn else None))
        for support, unmatched in product(SUPPORTS, READINGS):
            row = measured(release, r, support, unmatched=unmatched)
            shown = {name: row[name] for name in ("sets", "belief_of_holders", "breached", "flagged", "seconds")}
            yield {"r": r, "buckets": "drawn" if drawn else "near", "support": support, "unmatched": unmatched} | shown
    yield "printed: r = 2 .8917, r = 4 .4640; over 99 % in breach, under 6 % flagged"


def sizes() -> Iterator[Row]:
    """Section 5.1 (2): by number of quasi-identifiers at r = 2; printed .80307 for 3, .8917 for 5, .943526 for 8."""
    for values, size in product(("of the set", "of all values"), range(3, 9)):
        release = released(census(size), Anatomy(2, *([LOW] if values == "of the set" else []), rng=seeded(1)))
        for unmatched, support in product(READINGS, (PRINTED.records, 500, 100)):
            row = measured(release, 2, support, unmatched=unmatched)
            shown = {name: row[name] for name in ("belief_of_holders", "sets", "seconds", "breached_of_shares")}
            yield {"Anatomy(2)": values, "QI": size, "unmatched": unmatched, "support": support} | shown


def starts() -> Iterator[str]:
    """Expectation-maximization on 400 random releases of two signatures, against a grid of 41 x 41 answers."""
    rng, grid = seeded(2005), np.linspace(0, 1, 41)
    missed: dict[int | None, list[float]] = {number: [] for number in (1, 2, 4, 8, None)}
    while len(missed[1]) < 400:
        sizes = rng.integers(2, 5, size=rng.integers(1, 4))
        group = np.repeat(np.arange(len(sizes)), sizes)
        signature = rng.integers(0, 2, size=len(group))
        having = np.array([rng.integers(0, size + 1) for size in sizes])
        if len(set(signature.tolist())) < 2:
            continue
        evidence = Evidence(signature, group, np.column_stack([having, sizes - having]), np.array([0.5, 0.5]))
        expect = expectation(evidence, Exact())
        best = max(expect(np.array([[a, 1 - a], [b, 1 - b]])).log_likelihood for a in grid for b in grid)
        for number, gaps in missed.items():
            gaps.append(best - ExpectationMaximization(starts=number)(evidence, Auto()).log_likelihood)
    for number, gaps in missed.items():
        yield f"starts={number}: below the grid's best in {np.mean(np.array(gaps) > 1e-3):.1%}, by at most {max(gaps):.2f} nats"


def honest() -> Iterator[Row]:
    """Measures beside the paper's, of Anatomy at r = 2, 4, 10, by support."""
    for r in (2, 4, 10):
        release = released(census(), Anatomy(r, LOW, rng=seeded(1)))
        for support in SUPPORTS:
            row = measured(release, r, support)
            del row["beliefs"]
            yield {"r": r, "support": support} | row


def methods(r: int, size: int) -> dict[str, Defense]:
    """Defenses by name. `ForegroundSafe` with support 500 is left out for 8 attributes: its attacks on 179 sets take minutes."""
    found: dict[str, Defense] = {
        f"Anatomy({r}, set)": Anatomy(r, LOW, rng=seeded(1)),
        f"Injector({r})": Injector(r, rng=seeded(1)),
        f"MASK({r}, {r})": MASK(r, r, LOW, rng=seeded(7)),
        "full-domain, t = .2": FullDomain(KAnonymity(r) & TCloseness(0.2)),
        f"ForegroundSafe({r})": ForegroundSafe(r, LOW, rng=seeded(1)),
    }
    narrow = {f"ForegroundSafe({r}, support=500)": ForegroundSafe(r, LOW, support=500, rng=seeded(1))}
    return found | (narrow if size < 8 else {})


def defenses() -> Iterator[Row | str]:
    """Section 5.2, Figures 1 to 3, by defense, r and number of quasi-identifiers."""
    for r, size in product((2, 10), (3, 5, 8)):
        view = census(size)
        workload = Workload.draw([view], rng=seeded(5), queries=2000)
        for name, defense in methods(r, size).items():
            try:
                release, seconds = timed(partial(released, view, defense), time.perf_counter)
            except Infeasible as error:
                yield f"r = {r}, {size} QIs, {name}: {error}"
                continue
            wide, narrow = measured(release, r, PRINTED.records), measured(release, r, 500)
            yield {
                "r": r,
                "QI": size,
                "defense": name,
                "mean group": (release.group >= 0).sum() / release.groups,
                "in breach at 3,993": wide["breached"],
                "at 500": narrow["breached"],
                "flagged at 500": narrow["flagged"],
                "Delta at 500": greatest_differences(narrow["beliefs"])["greatest_difference"][0],
                "query error": query_error([release], workload)["query_mean"][0],
                "s": seconds,
            }


def case() -> Iterator[Row | str]:
    """Case study of section 5.1 (printed .02, .04), and errors of the global probabilities (printed .7 %, 5.26 %)."""
    view = census(("age", "marital-status", "occupation"))
    release = released(view, Anatomy(2, LOW, rng=seeded(1)))
    beliefs = ForegroundAttack([("occupation",)], LOW, support=1)([release])
    table = global_probabilities(beliefs, History([view]), LOW)
    yield table[["signature", "support", "probability", "frequency"]].round(4).to_string(index=False)
    for r, drawn in product((2, 4, 10), (True, False)):
        release = released(census(), Anatomy(r, LOW, rng=seeded(1) if drawn else None))
        for support in SUPPORTS:
            errors = global_errors(attacked(release, support), History([census()]), LOW).iloc[0].to_dict()
            yield {"r": r, "buckets": "drawn" if drawn else "near", "support": support} | errors


def intervals() -> Iterator[Row]:
    """Posterior of the global distribution: fractions in breach by the posterior mean, and with 95 %."""
    view = census()
    sensitive = np.isin(view.sensitive, [view.schema.values.index(value) for value in LOW])
    for r in (2, 4):
        release = released(view, Anatomy(r, LOW, rng=seeded(1)))
        for support in (PRINTED.records, 500, 100, 1):
            row = measured(release, r, support, fit=GibbsSampling(rng=seeded(3)))
            sure = row["beliefs"].intervals[0][:, 0] > 1 / r
            names = ("belief_of_holders", "breached", "flagged", "precision", "auc_within", "seconds")
            yield (
                {"r": r, "support": support}
                | {name: row[name] for name in names}
                | {
                    "breached, 95 %": sure[sensitive].mean(),
                    "flagged, 95 %": sure[~sensitive].mean(),
                    "precision, 95 %": sure[sensitive].sum() / max(sure.sum(), 1),
                }
            )


def attack(attributes: int, support: int, fit: Callable[[], Fitting]) -> Work:
    """Attack on Anatomy's groups of two; a function makes the fit, because a fit may hold a random generator."""
    release = released(census(attributes), Anatomy(2, LOW, rng=seeded(1)))
    return lambda: attacked(release, support, fit=fit())


def safe(**settings: int) -> Work:
    view = census()
    prior = UniformPrior()(view.people)
    return lambda: ForegroundSafe(2, LOW, **settings)(view, prior, ())


def posteriors(having: int, people: int, groups: int) -> Work:
    """Posteriors in groups in which each record has its own probability."""
    row = np.arange(people * groups)
    size, starts, holders = np.ones_like(row), np.arange(groups + 1) * people, np.full(groups, having)
    probability = seeded(1).uniform(0.01, 0.5, len(row))
    return lambda: cells_under(row, size, starts, holders, probability, math.inf)


FOREGROUND_FIGURES: dict[str, Figure] = {
    **{
        f"Adult 45,222, {qi} QIs: foreground attack, ExpectationMaximization, {support:,} people": Figure(
            limit, partial(attack, qi, support, ExpectationMaximization)
        )
        for qi, limit in ((5, 10.0), (8, 60.0))
        for support in (PRINTED.records, 500)
    },
    f"Adult 45,222, 5 QIs: foreground attack, GibbsSampling, {PRINTED.records:,} people": Figure(
        None, partial(attack, 5, PRINTED.records, lambda: GibbsSampling(rng=3))
    ),
    "Adult 45,222, 5 QIs: ForegroundSafe(2)": Figure(None, partial(safe, support=PRINTED.records)),
    "Adult 45,222, 5 QIs: ForegroundSafe(2, support=500)": Figure(None, partial(safe, support=500)),
    "1,000 groups of 490,314 assignments each, 8 in 23: posteriors": Figure(1.0, partial(posteriors, 8, 23, 1000)),
    "1,000 groups of 140,364,532 assignments each, 5 in 113: posteriors": Figure(
        1.0, partial(posteriors, 5, 113, 1000)
    ),
    "one group of 10,000, 1,000 having x: posteriors": Figure(None, partial(posteriors, 1000, 10**4, 1)),
}

if __name__ == "__main__":
    print_sections((anatomy, sizes, starts, honest, case, defenses, intervals))
