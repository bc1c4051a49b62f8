"""Choice of the default joint solver: sure beliefs, their accuracy, log score and cost of each solver on many publications.

python benchmarks/joint_defaults.py [part of a name ...]

Each row is one attack in hindsight: sure beliefs (.9 and more), the number of these that are expected to be right and that are
right, respondents with a sure true value at some release, log score in bits, its miscalibration (`score_decomposition`), and
seconds of processor time, after a first run on a small history.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from subjects import seeded, subject, timed
from tables import Row, markdown, weighted

from foreknow.attacks import JointAttack
from foreknow.defenses import (
    UHRA,
    Anatomy,
    Defense,
    DistinctDiversity,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    publish,
)
from foreknow.evaluation import disclosures, households, log_score, pbc, respondent_risk, score_decomposition
from foreknow.models import (
    Adversary,
    Categorical,
    ClassFrequencies,
    GroupGraph,
    GroupMessages,
    History,
    JointAuto,
    LearnedKnowledge,
    MarkovChain,
    MaxEntropy,
    Numeric,
    Omega,
    Release,
    Schema,
)
from foreknow.models.joint import JointSolver

SOLVERS: Mapping[str, JointSolver] = {
    "MaxEntropy": MaxEntropy(),
    "GroupMessages": GroupMessages(),
    "GroupGraph": GroupGraph(),
    "JointAuto": JointAuto(),
}

SURE = 0.9


class Case(NamedTuple):
    """A publication, and the adversaries who attack it, by their knowledge."""

    history: History
    releases: tuple[Release, ...]
    adversaries: Mapping[str, Adversary]


def defenses(patience: int) -> dict[str, Defense]:
    return {
        "Mondrian k=2 l=2": Mondrian(KAnonymity(2) & DistinctDiversity(2)),
        "Mondrian k=5 l=3": Mondrian(KAnonymity(5) & DistinctDiversity(3)),
        "JSReduce": JSReduce(3, 0.5, 0.6, patience=patience),
        "UHRA": UHRA(3, 0.5, 0.6),
        "KPrimacy": KPrimacy(3, 5, 0.6),
        "Anatomy(2)": Anatomy(2, rng=seeded(1)),
        "Anatomy(5)": Anatomy(5, rng=seeded(1)),
        "MInvariance(2)": MInvariance(2, rng=seeded(1)),
    }


def learned(releases: tuple[Release, ...]) -> Adversary:
    found = LearnedKnowledge.fit(releases)
    return Adversary(found.prior, found.transitions)


def on_exams(views: int, records: int, name: str) -> Case:
    simulation, own = subject(views, records)
    releases = publish(simulation.history, defenses(50)[name], own, rng=seeded(1))
    return Case(simulation.history, releases, {"known": own, "learned": learned(releases)})


def on_pbc(name: str) -> Case:
    """Two thirds of the patients; the others are the corpus, as in the demo."""
    patients = pbc()
    order = seeded(0).permutation(np.array(patients.respondents, dtype=object))
    corpus, rest = patients.of(order[: len(order) // 3]), patients.of(order[len(order) // 3 :])
    history = History(view for view in rest if len(view) >= 20)
    prior = ClassFrequencies.fit(corpus, {"age": 3, "sex": None}, pseudo_count=0.5)
    own = Adversary(prior, MarkovChain.fit(corpus, pseudo_count=0.1), estimator=Omega())
    releases = publish(history, defenses(20)[name], own, rng=seeded(1))
    return Case(history, releases, {"corpus": own, "learned": learned(releases)})


def on_households(weeks: int) -> Case:
    year = households()
    history, later = History(year[week] for week in range(1, weeks + 1)), History(year[week] for week in range(13, 53))
    releases = publish(history, Mondrian(KAnonymity(3) & DistinctDiversity(2)), rng=1)
    classes = ClassFrequencies.fit(later, {"age": 3, "income": 3, "members": 2}, 1.0)
    own = Adversary(classes, MarkovChain.fit(later, pseudo_count=1.0))
    return Case(history, releases, {"corpus": own, "learned": learned(releases)})


def on_visits(people: int, months: int, k: int, l: int) -> Case:  # noqa: E741 - as the option
    """Visits as in the tutorial of the steward, without their faults."""
    rng = seeded(1)
    age, city = rng.integers(18, 90, people), rng.choice(["Rome", "Milan", "Turin"], people)
    current, tables = rng.integers(0, 6, people), []
    for month in range(months):
        current = np.where(rng.random(people) < 0.8, current, rng.integers(0, 6, people))
        seen = rng.random(people) < 0.85
        frame = {"id": np.arange(people), "month": month, "age": age, "city": city, "diagnosis": current}
        tables.append(pd.DataFrame(frame)[seen])
    schema = Schema({"age": Numeric(), "city": Categorical(("Milan", "Rome", "Turin"))}, "diagnosis", tuple(range(6)))
    history = History.read(pd.concat(tables), schema, "month")
    releases = publish(history, Mondrian(KAnonymity(k) & DistinctDiversity(l)), rng=1)
    own = Adversary(ClassFrequencies.fit(history, {}), MarkovChain.fit(history, pseudo_count=1.0))
    return Case(history, releases, {"records": own, "learned": learned(releases)})


def cases() -> Iterator[tuple[str, Callable[[], Case]]]:
    for views, records in ((6, 1000), (12, 2000), (24, 2000)):
        for name in defenses(50):
            yield f"exams {views} x {records:,}, {name}", partial(on_exams, views, records, name)
    for name in ("Mondrian k=2 l=2", "Mondrian k=5 l=3", "JSReduce", "UHRA", "KPrimacy", "MInvariance(2)"):
        yield f"pbc, {name}", partial(on_pbc, name)
    for weeks in (4, 12):
        yield f"households {weeks} weeks, Mondrian k=3 l=2", partial(on_households, weeks)
    for people, months in ((400, 4), (3000, 6), (3000, 12)):
        for k, diverse in ((3, 2), (5, 3)):
            name = f"visits {people:,} x {months}, Mondrian k={k} l={diverse}"
            yield name, partial(on_visits, people, months, k, diverse)


def row(case: Case, adversary: Adversary, solver: JointSolver) -> Row:
    beliefs, seconds = timed(partial(JointAttack(adversary, solver), case.releases))
    sure = disclosures(beliefs, case.history, sure=SURE)[["sure", "expected", "right"]].sum()
    terms = score_decomposition(beliefs, case.history, score="log").set_index("term")["amount"]
    return {
        "sure": int(sure["sure"]),
        "expected right": round(sure["expected"]),
        "right": int(sure["right"]),
        "exposed": int((respondent_risk(beliefs, case.history)["belief"] >= SURE).sum()),
        "log score": weighted(log_score(beliefs, case.history), "log_score"),
        "miscalibration": terms["miscalibration"],
        "s": seconds,
    }


def rows(names: list[str]) -> Iterator[Row]:
    """Rows of the publications whose names contain one of the texts, or of all."""
    small = on_exams(2, 200, "Mondrian k=2 l=2")
    for solver in SOLVERS.values():
        row(small, small.adversaries["known"], solver)
    for name, made in cases():
        if not names or any(part in name for part in names):
            case = made()
            for (knowledge, adversary), (solver, rule) in product(case.adversaries.items(), SOLVERS.items()):
                yield {"publication": name, "knowledge": knowledge, "solver": solver} | row(case, adversary, rule)


if __name__ == "__main__":
    for line in markdown(rows(sys.argv[1:])):
        print(line, flush=True)
