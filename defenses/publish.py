"""The knowledge revision cycle: revise, group, publish, observe."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from foreknow.defenses.randomness import check_generator, generator
from foreknow.defenses.requirements.requirement import Infeasible, Requirement
from foreknow.models import Adversary, Grouping, Memory, Release, UniformPrior, View
from foreknow.models.arrays import FloatArray
from foreknow.models.tables.times import check_order


class Defense(Protocol):
    """A grouping algorithm; a frozen settings object.

    A defense with an attribute ``smallest``, the fewest records of a view that it can publish, lets `publish` name all views that
    are too small before it starts.
    """

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...]) -> Grouping:
        """Group a view, given the defender's revised prior ``(n, m)`` and the releases already published."""
        ...


@runtime_checkable
class BeliefDefense(Protocol):
    """A defense that declares whether its groups depend on the prior it is given, as those with bounds on beliefs do.

    `publish` refuses one that does where no adversary is assumed, since the prior would then be uniform.
    """

    @property
    def weighs_beliefs(self) -> bool:
        """True if the groups depend on the prior."""
        ...


def publish(
    views: Iterable[View],
    defense: Defense,
    adversary: Adversary | None = None,
    bucketized: bool | None = None,
    *,
    infeasible: Literal["raise", "suppress"] = "raise",
    rng: np.random.Generator | None = None,
    progress: Callable[[Sequence[View]], Iterable[View]] = iter,
) -> tuple[Release, ...]:
    """Publish views in the order of time, each grouped under what an adversary has learned from the earlier releases.

    Before each view the defender revises the assumed adversary's belief; the defense groups the view under it; the release is
    published and observed by that adversary (JS-reduce, Algorithm 1 and Figure 2). The last release is not observed.

    Parameters
    ----------
    views : History or iterable of View
        The original records, in the order of time.
    defense : Defense
        How to group. It receives the records of each view in a random order.
    adversary : Adversary, optional
        The adversary that the defender assumes. Without one, priors are uniform and nothing is revised.
    bucketized : bool, optional
        Publish exact quasi-identifiers and break only the link within each group (True), or generalize (False). By default as
        the defense has it.
    infeasible : {"raise", "suppress"}
        What to do with a view that cannot be published as asked. ``"raise"`` stops and publishes nothing. ``"suppress"``
        releases the view with all its records suppressed, says so in ``release.grouping.notes``, and goes on.
    rng : numpy.random.Generator, optional
        Draws the records' order and the groups' numbers, for experiments that must be repeated. A seed is found by trying all of
        them. By default they are drawn from fresh entropy. What the defense itself draws comes from the defense's ``rng``.

    progress : callable, optional
        Yields the views it is given, as ``rich.progress.track`` does; to show how far it is.

    Returns
    -------
    tuple of Release
        One per view.

    Raises
    ------
    ValueError
        If times do not increase, or as the defense does; then nothing is published.
    Infeasible
        Unless ``infeasible="suppress"``: before anything is grouped, if views have fewer records than ``defense.smallest``, where
        a defense has that attribute, with all of these views named; or as the defense does.

    Notes
    -----
    Defenses break ties, as between records with equal quasi-identifiers and equal priors, by the lowest row. In the random order
    every such choice is a random one: the law of what is published does not depend on the order of the records in the file.
    One order of all respondents serves all views, so that ties are broken alike at each release: people whom nothing tells
    apart stay together, and do not meet others each time. Groups are numbered at random too, as the number tells when a
    group was made.
    """
    if isinstance(views, View):
        raise TypeError("publish takes views in the order of time, and got one View; put it into a list.")
    if isinstance(defense, type | Requirement) or not callable(defense):
        raise TypeError(
            f"publish: {defense!r} is no defense; give one with its settings, as Mondrian(KAnonymity(3)) or Anatomy(2)."
        )
    if infeasible not in ("raise", "suppress"):
        raise ValueError(f"publish: infeasible is {infeasible!r}; it is 'raise' or 'suppress'.")
    check_generator("publish", rng)
    if adversary is None and isinstance(defense, BeliefDefense) and defense.weighs_beliefs:
        raise ValueError(
            f"{defense!r} weighs what is believed of people, and no adversary is assumed; give adversary=, as Adversary(prior, "
            "transitions), or Adversary(UniformPrior()) for one who knows nothing."
        )
    views = tuple(views)
    if infeasible == "raise":
        _check_sizes(views, defense)
    assumed = adversary or Adversary(UniformPrior())
    draws = generator(rng)
    ranks = _ranks(views, draws)
    memory = Memory()
    releases: list[Release] = []
    prior: FloatArray | None = None
    for view in progress(views):
        if releases:
            check_order(releases[-1].time, view.time)
            if adversary is not None and prior is not None:
                seen = releases[-1].observation
                memory = adversary.update_memory(memory, seen, adversary.posterior(prior, seen))
        prior = assumed.revise(memory, view.people, view.time)
        try:
            grouping = _grouped(defense, view, prior, tuple(releases), ranks, draws)
        except Infeasible as reason:
            if infeasible == "raise":
                raise
            grouping = _suppressed(view, reason)
        releases.append(Release(view, grouping if bucketized is None else replace(grouping, bucketized=bucketized)))
    assumed.check_claim_times([release.time for release in releases])
    return tuple(releases)


def _ranks(views: Sequence[View], rng: np.random.Generator) -> dict[Hashable, int]:
    """A random order of all respondents of a history."""
    everybody = list(dict.fromkeys(respondent for view in views for respondent in view.people.respondents))
    return dict(zip(everybody, rng.permutation(len(everybody)).tolist(), strict=True))


def _grouped(
    defense: Defense,
    view: View,
    prior: FloatArray,
    past: tuple[Release, ...],
    ranks: Mapping[Hashable, int],
    rng: np.random.Generator,
) -> Grouping:
    """Group a view whose records are in the order of their respondents' ranks, and number the groups at random."""
    order = np.argsort([ranks[respondent] for respondent in view.people.respondents])
    grouping = defense(View(view.frame.iloc[order], view.schema, view.time), prior[order], past)
    if len(grouping.labels) != len(view):
        return grouping  # Release says what is wrong
    return grouping.in_rows(np.argsort(order)).renumbered(rng)


def _suppressed(view: View, reason: Infeasible) -> Grouping:
    note = f"the whole view cannot be published, and its {len(view)} records are suppressed: {reason}"
    return Grouping(np.full(len(view), -1), notes=(note,))


def _check_sizes(views: Sequence[View], defense: Defense) -> None:
    """Raise Infeasible if views have fewer records than a defense needs, naming all of them."""
    smallest = int(getattr(defense, "smallest", 1))
    few = [f"{view.time!r} has {len(view)}" for view in views if len(view) < smallest]
    if few:
        raise Infeasible(
            f"{defense!r} needs {smallest} records, and {len(few)} of {len(views)} views have fewer: the view at "
            f"{', at '.join(few)}. "
            "Ask for less, leave these views out, or publish them suppressed with infeasible='suppress'."
        )
