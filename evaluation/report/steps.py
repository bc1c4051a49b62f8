"""Steps of a report, for its progress: a title and a cost of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foreknow.evaluation.report.adversaries import INFORMED, LEARNED, SHORT_TITLES


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


KNOWLEDGE = {INFORMED: 0.2, LEARNED: 30.0}
"""Cost of what each adversary learns: counts of records, and expectation-maximization."""

ATTACKS = {"all releases in hindsight": 7.0, "releases so far": 12.0, "release by release": 4.0}
"""Cost of each attack of an adversary, in the order in which they are made."""

MEASURES = {"headline risk": 4.0, "single records that become known": 5.0, "most exposed people": 3.0, "tables": 10.0}
"""Cost of what is measured. Costs are processor seconds at 60,000 records of `exams` in 12 releases, roughly."""


def report_steps(also: Iterable[str], settings: Sequence[str]) -> tuple[Step, ...]:
    """Steps of a report with further attacks and stricter settings, by their names, in the order in which they are made."""
    steps = []
    for name, cost in KNOWLEDGE.items():
        steps.append(Step(f"{SHORT_TITLES[name].lower()}: learning what is known", cost))
        steps += [Step(f"{SHORT_TITLES[name].lower()}: {attack}", cost) for attack, cost in ATTACKS.items()]
    steps += [Step(name, ATTACKS["release by release"]) for name in also]
    steps += [Step(f"measuring: {name}", cost) for name, cost in MEASURES.items()]
    setting = KNOWLEDGE[LEARNED] + 2 * ATTACKS["all releases in hindsight"]
    return (*steps, *(Step(f"publishing and attacking with {title}", setting) for title in settings))
