"""The knowledge revision cycle: revise, group, publish, observe."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from foreknow.defenses.requirements.requirement import Requirement
from foreknow.models import Adversary, Grouping, Memory, Release, UniformPrior, View
from foreknow.models.arrays import FloatArray
from foreknow.models.view import check_order


class Defense(Protocol):
    """A grouping algorithm; a frozen settings object."""

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...]) -> Grouping:
        """How to publish a view, given the defender's revised prior ``(n, m)`` and the releases already published."""
        ...


def publish(
    views: Iterable[View], defense: Defense, adversary: Adversary | None = None, bucketized: bool | None = None
) -> tuple[Release, ...]:
    """Publish views one after the other, each grouped in the knowledge of what the earlier releases taught.

    Before each view the defender revises what an adversary believes by then; the defense groups the view under it; the
    release is published, and observed as that adversary would (JS-reduce, Algorithm 1 and Figure 2); but for the last, of
    which nobody asks what it teaches.

    Parameters
    ----------
    views : History or iterable of View
        What is to be published, in the order of time.
    defense : Defense
        How to group.
    adversary : Adversary, optional
        Whom the defender assumes. Without one, priors are uniform and nothing is revised.
    bucketized : bool, optional
        Whether quasi-identifiers are published as they are, and only the link within each group is broken, or
        generalized. By default as the defense has it.

    Returns
    -------
    tuple of Release
        One per view.

    Raises
    ------
    ValueError, Infeasible
        If times do not increase, or as the defense does; then nothing is published.
    """
    if isinstance(views, View):
        raise TypeError("publish takes views in the order of time, and got one View; put it into a list.")
    if isinstance(defense, type | Requirement) or not callable(defense):
        raise TypeError(
            f"publish: {defense!r} is no defense; give one with its settings, as Mondrian(KAnonymity(3)) or Anatomy(2)."
        )
    if adversary is None and _weighs_beliefs(defense):
        raise ValueError(
            f"{defense!r} weighs what is believed of people, and no adversary is assumed; give adversary=, as Adversary(prior, "
            "transitions), or Adversary(UniformPrior()) for one who knows nothing."
        )
    assumed = adversary or Adversary(UniformPrior())
    memory = Memory()
    releases: list[Release] = []
    prior: FloatArray | None = None
    for view in views:
        if releases:
            check_order(releases[-1].time, view.time)
            if adversary is not None and prior is not None:
                seen = releases[-1].observation
                memory = adversary.remember(memory, seen, adversary.weigh(prior, seen))
        prior = assumed.revise(memory, view.people, view.time)
        grouping = defense(view, prior, tuple(releases))
        releases.append(Release(view, grouping if bucketized is None else replace(grouping, bucketized=bucketized)))
    assumed.check_times([release.time for release in releases])
    return tuple(releases)


def _weighs_beliefs(defense: Defense) -> bool:
    """Whether a defense says of itself, or of its requirement, that it is about the prior it is given."""
    own = getattr(defense, "weighs_beliefs", False)
    return bool(own or getattr(getattr(defense, "requirement", None), "weighs_beliefs", False))
