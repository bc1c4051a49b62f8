"""Steps of a report, for its progress: a title and a cost of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foreknow.app.report.adversaries import INFORMED, LEARNED, SHORT_TITLES


@dataclass(frozen=True)
class Step:
    """One step of a report.

    Attributes
    ----------
    title : str
    cost : float
        Processor time of the step as a share of that of the whole report, up to a common factor.
    """

    title: str
    cost: float

    def __str__(self) -> str:
        return self.title


KNOWLEDGE = {INFORMED: 0.1, LEARNED: 2.5}
"""Cost of what each adversary learns: counts of records, and expectation-maximization."""

ATTACKS = {"all releases in hindsight": 1.5, "releases so far": 2.5, "release by release": 0.5}
"""Cost of each attack of an adversary, in the order in which they are made."""

MEASURES = {"headline risk": 0.5, "single records that become known": 0.5, "most exposed people": 0.5, "tables": 1.5}
"""Cost of what is measured. Costs are processor seconds by `GroupMessages` at 60,000 records of `exams` in 12 releases, roughly."""

PUBLICATION = 6.0
"""Cost of a publication by `Mondrian` and of the measures of its price; other defenses take longer."""


def report_steps(also: Iterable[str], settings: Sequence[str]) -> tuple[Step, ...]:
    """Steps of a report with further attacks and stricter settings, by their names, in the order in which they are made."""
    steps = []
    for name, cost in KNOWLEDGE.items():
        steps.append(Step(f"{SHORT_TITLES[name].lower()}: learning what is known", cost))
        steps += [Step(f"{SHORT_TITLES[name].lower()}: {attack}", cost) for attack, cost in ATTACKS.items()]
    steps += [Step(name, ATTACKS["release by release"]) for name in also]
    steps += [Step(f"measuring: {name}", cost) for name, cost in MEASURES.items()]
    setting = PUBLICATION + KNOWLEDGE[LEARNED] + 2 * ATTACKS["all releases in hindsight"]
    return (*steps, *(Step(f"publishing and attacking with {title}", setting) for title in settings))
