"""Revised prior of an adversary with uncertain knowledge, and requirements measured under each of its draws."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from foreknow.defenses.requirements.membership import GroupMembers
from foreknow.models.arrays import FloatArray

if TYPE_CHECKING:
    from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement
    from foreknow.defenses.requirements.summary import Summary
    from foreknow.models import View


class DrawnPrior(np.ndarray[tuple[int, int], np.dtype[np.float64]]):
    """Mean prior of the records of a view, shape ``(n, m)``, that holds the prior under each draw of the knowledge.

    It is the array of means for code that reads an array; requirements on beliefs and the clusters of priors read the draws.

    Attributes
    ----------
    draws : float array, shape (D, n, m)
        Prior of the records under each draw; rows are probabilities.
    weights : float array, shape (D,)
        Weight of each draw given the releases so far; they sum to 1.
    first_weights : float array, shape (D,)
        Weight of each draw before any release.
    groups : {"mean", "worst"}
        As in `Averaged`.
    """

    draws: FloatArray
    weights: FloatArray
    first_weights: FloatArray
    groups: Literal["mean", "worst"]

    @classmethod
    def of(
        cls, draws: FloatArray, weights: FloatArray, first_weights: FloatArray, groups: Literal["mean", "worst"]
    ) -> "DrawnPrior":
        """Mean prior of some draws, shape ``(D, n, m)``."""
        prior = np.tensordot(weights, draws, axes=1).view(cls)
        prior.draws, prior.weights, prior.first_weights, prior.groups = draws, weights, first_weights, groups
        return prior

    def __array_finalize__(self, obj: Any) -> None:
        for name in ("draws", "weights", "first_weights", "groups"):
            setattr(self, name, getattr(obj, name, None))

    def __array_wrap__(self, array: Any, *_: Any) -> Any:
        """Plain array: what is computed from means has no draws."""
        return np.asarray(array)

    def __getitem__(self, which: Any) -> Any:
        """Plain array of some means; `rows` keeps the draws."""
        return np.asarray(self)[which]

    def rows(self, order: Any) -> "DrawnPrior":
        """Prior of some records, in the given order."""
        return DrawnPrior.of(self.draws[:, order], self.weights, self.first_weights, self.groups)

    @property
    def counted(self) -> list[FloatArray]:
        """Prior under each draw that the worst level includes: those with a weight before any release, whatever the releases say.

        The weights given the releases choose one of several wrong laws, and would leave the others out.
        """
        return [draw for draw, weight in zip(self.draws, self.first_weights, strict=True) if weight > 0]


def bind_draws(requirement: "Requirement", view: "View", prior: DrawnPrior) -> "GroupPredicate":
    """Bind a requirement on beliefs to each draw of a prior.

    The level of a group is the mean of its levels under the draws, or the worst of them. The level of mean beliefs is at most the
    mean level, for levels that are the largest gain of a member. Cost: that of the requirement for each draw.
    """
    from foreknow.defenses.requirements.member_predicate import MemberPredicate  # a predicate is a requirement

    worst = prior.groups == "worst"
    rows = prior.counted if worst else list(prior.draws)
    predicates = [requirement.bind(view, np.asarray(draw)) for draw in rows]
    extreme = np.minimum if requirement.sense == "at least" else np.maximum

    def measure(summary: "Summary", members: GroupMembers) -> FloatArray:
        levels = [
            predicate.level(_summary_of_draw(summary, members, draw) if predicate.reads_prior else summary)
            for predicate, draw in zip(predicates, rows, strict=True)
        ]
        return np.asarray(extreme.reduce(levels) if worst else np.tensordot(prior.weights, np.stack(levels), axes=1))

    return MemberPredicate(requirement, measure)


def _summary_of_draw(summary: "Summary", members: GroupMembers, prior: FloatArray) -> "Summary":
    """Summaries of the same groups under the prior of one draw."""
    from foreknow.defenses.requirements.summary import entropy

    rows, starts = prior[members.records], members.starts[:-1]
    if not len(starts):
        return summary
    sums = np.add.reduceat(rows, starts, axis=0)
    return replace(summary, prior=sums, entropy=np.add.reduceat(entropy(rows), starts))
