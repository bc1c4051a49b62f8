"""Publication of views in the order of time: the knowledge revision cycle of JS-reduce."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import Any, ClassVar, Literal, Protocol, overload

import numpy as np

from foreknow.defenses.requirements.requirement import Infeasible, Requirement
from foreknow.defenses.requirements.summary import DrawnPrior, prior_of
from foreknow.models import (
    Adversary,
    Averaged,
    Grouping,
    Memory,
    NoisyRelease,
    NoisyTable,
    Observation,
    People,
    Release,
    View,
)
from foreknow.models.advice import VIEW, VIEWS, Advice, Named, Setting
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.averaged import check_rule_reads
from foreknow.models.estimators.exact import log_evidence
from foreknow.models.notes import Note
from foreknow.models.problem import ROW_PARTS
from foreknow.models.progress import Progress
from foreknow.models.settings import as_generator, check_choice, check_kind, shown
from foreknow.models.tables.columns import check_order

READS = (*ROW_PARTS, "program")
"""Parts of the assumed adversary's knowledge that are in the prior of a defense, release by release, as `SequentialAttack`."""


class Defense(Protocol):
    """A grouping algorithm; a frozen settings object.

    A defense may have an attribute ``smallest``, the smallest number of records of a view that it can publish. `publish` then
    names all views that are too small before it groups the first one. One whose groups depend on the prior declares so by
    ``reads = READS``, the parts of knowledge in it; `publish` refuses it without an assumed adversary, as the prior is then
    uniform. The others have ``ignores = READS``. One that reads who is listed later has an attribute ``lag`` over 0, and takes
    ``coming=``, the people of the next ``lag`` views, which hold no value; the last ``lag`` views are then held back.
    """

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...]) -> Grouping:
        """Group a view.

        Parameters
        ----------
        view : View
            The records to publish.
        prior : float array, shape (n, m)
            The revised prior of the adversary that the publisher assumes; rows are probabilities.
        past : tuple of Release
            The earlier releases, in the order of time.
        """
        ...


class NoisyDefense(Protocol):
    """An algorithm that publishes noisy counts in fixed cells in place of groups, as `NoisyCounts`; otherwise as a `Defense`."""

    def __call__(self, view: View, prior: FloatArray, past: tuple[NoisyRelease, ...]) -> NoisyTable:
        """Count a view with noise."""
        ...


class Forecast(Protocol):
    """An attack whose beliefs `publish` may give to a defense, as `JointAttack`."""

    adversary: Adversary | Averaged

    def forecast(self, observations: Sequence[Observation], people: People, time: Any) -> FloatArray:
        """Beliefs about the respondents of a view before it is published, shape ``(n, m)``, given the releases so far."""
        ...


class SizedDefense:
    """A defense whose first setting is the least number of records of a group; its groups do not depend on the prior."""

    reads: ClassVar[tuple[str, ...]] = ()
    ignores: ClassVar[tuple[str, ...]] = READS

    @property
    def smallest(self) -> int:
        """Least number of records of a group: the first setting."""
        return int(getattr(self, self._letter))

    @property
    def _letter(self) -> str:
        return fields(self)[0].name  # type: ignore[arg-type]

    def _checked_prior(self, view: View, prior: FloatArray) -> FloatArray:
        """Prior of a view by `prior_of`; raise Infeasible if the view is smaller than a group."""
        if self.smallest <= len(view):
            return prior_of(view, prior)
        size = f" at {view.time!r} has {len(view)} records; lower {self._letter}, or publish more at once."
        raise Infeasible(Advice(f"{self._letter} is {self.smallest} and the ", VIEW, size))

    def _check_classes(self, view: View, classes: IntArray) -> None:
        """Raise Infeasible if more than one record in the first setting has a value of one class; -1 is no class."""
        class_of = classes[view.sensitive]
        counts = np.bincount(class_of[class_of >= 0], minlength=1)
        worst = int(counts.argmax())
        values = [repr(value) for value, number in zip(view.schema.values, classes, strict=True) if number == worst]
        self._check_share(view, " or ".join(values), int(counts[worst]), ", or give a sensitive set that is rarer")

    def _check_share(self, view: View, values: str, records: int, or_else: str = "") -> None:
        """Raise Infeasible if more than one record in the first setting has one of some values."""
        n, letter = len(view), self._letter
        if records * self.smallest > n:
            raise Infeasible.of_view(
                f"{values} is the value of {records} of the {n} records of the ",
                view.time,
                f", a share of {records / n:.4g}; at most 1/{letter} = {1 / self.smallest:.4g} may share one. The largest "
                f"{letter} that this view allows is {n // records}. Lower {letter}{or_else}.",
            )


class RequirementDefense:
    """A defense whose smallest group, and whose dependence on the prior, are those of its requirement."""

    requirement: Requirement

    @property
    def smallest(self) -> int:
        """Smallest number of records of a group that can satisfy the requirement."""
        return self.requirement.smallest

    @property
    def reads(self) -> tuple[str, ...]:
        """Parts of the knowledge behind the prior, if the requirement depends on it."""
        return READS if self.requirement.weighs_beliefs else ()

    @property
    def ignores(self) -> tuple[str, ...]:
        """The same parts, if it does not."""
        return () if self.requirement.weighs_beliefs else READS


@overload
def publish(
    views: Iterable[View],
    defense: Defense,
    adversary: Adversary | Averaged | None = None,
    bucketized: bool | None = None,
    *,
    infeasible: Literal["raise", "suppress"] = "raise",
    rng: np.random.Generator | int | None = None,
    progress: Progress = iter,
    believes: Forecast | None = None,
) -> tuple[Release, ...]: ...
@overload
def publish(
    views: Iterable[View],
    defense: NoisyDefense,
    adversary: Adversary | Averaged | None = None,
    *,
    infeasible: Literal["raise", "suppress"] = "raise",
    rng: np.random.Generator | int | None = None,
    progress: Progress = iter,
) -> tuple[NoisyRelease, ...]: ...
def publish(
    views: Iterable[View],
    defense: Defense | NoisyDefense,
    adversary: Adversary | Averaged | None = None,
    bucketized: bool | None = None,
    *,
    infeasible: Literal["raise", "suppress"] = "raise",
    rng: np.random.Generator | int | None = None,
    progress: Progress = iter,
    believes: Forecast | None = None,
) -> tuple[Release, ...] | tuple[NoisyRelease, ...]:
    """Publish views in the order of time; each is grouped under the prior revised by the earlier releases.

    For each view, the publisher revises the prior of the assumed adversary, and the defense groups the view under it. The
    release is published, and the adversary observes it (JS-reduce, Algorithm 1 and Figure 2). The last release is not observed.

    Parameters
    ----------
    views : History or iterable of View
        The original records, in the order of time.
    defense : Defense
        The grouping algorithm. It receives the records of each view in random order.
    adversary : Adversary or Averaged, optional
        The adversary that the publisher assumes. By default, priors are uniform and are not revised. With an `Averaged` one, the
        prior given to the defense is a `DrawnPrior`, and requirements on beliefs hold on average over its draws, or in the worst.
    bucketized : bool, optional
        If True, publish exact quasi-identifiers and hide only the link to sensitive values within each group. If False,
        generalize the quasi-identifiers. By default, the defense decides. Noisy counts have no groups, and refuse both.
    infeasible : {"raise", "suppress"}
        Treatment of a view that the defense cannot publish. ``"raise"`` stops and publishes no view. ``"suppress"`` releases
        the view with all its records suppressed, adds a note to ``release.grouping.notes``, and continues.
    rng : numpy.random.Generator or int, optional
        Source of the order of the records and of the numbers of the groups, for experiments that must be repeated. An adversary
        finds a seed by trying all of them. By default, fresh entropy. A defense that draws has an ``rng`` of its own; noisy counts
        without it are drawn for release, cannot be repeated, and refuse this one.
    progress : callable, optional
        Function of the sequence of views that returns an iterable of the same length, as ``rich.progress.track``. One item is
        taken for each view.
    believes : JointAttack, optional
        Attack that forms the prior given to the defense, in place of ``adversary``: the beliefs given all earlier releases
        together, carried on by the chain (`JointAttack.forecast`), instead of those revised release by release. They are
        a function of public releases. Cost: one solution of the joint law per view.

    Returns
    -------
    tuple of Release or NoisyRelease
        One for each view; with a defense that has a ``lag``, none for the last ``lag`` views.

    Raises
    ------
    ValueError
        If times do not increase, if the defense depends on the prior and there is no adversary, or as the defense raises. No view
        is published then.
    Infeasible
        Unless ``infeasible="suppress"``. Raised before the first view is grouped if views have fewer records than
        ``defense.smallest``, with all these views named; otherwise as the defense raises.

    Notes
    -----
    Defenses break ties by the lowest row, for example between records with equal quasi-identifiers and equal priors. In random
    order each of these choices is random, so that the distribution of the releases does not depend on the order of the records
    in the file. One order of all respondents serves all views. Ties are therefore broken alike in each release:
    respondents with equal records stay in one group, and do not share a group with others each time. Groups are numbered at
    random, because the number would disclose when a group was made.
    """
    views = _checked_views(views)
    believer = believer_of("publish", adversary, believes)
    _check_defense(defense, adversary, believer)
    check_choice("publish", "infeasible", infeasible, ("raise", "suppress"))
    generator = as_generator("publish", rng, optional=True)
    if infeasible == "raise":
        _check_sizes(views, defense)
    assumed = AssumedAdversary(believer)
    respondents = dict.fromkeys(chain.from_iterable(view.people.respondents for view in views))
    ranks = dict(zip(respondents, generator.permutation(len(respondents)).tolist(), strict=True))
    releases: list[Any] = []
    lag = lag_of(defense, views)
    # Only the number of items that `progress` returns is read.
    for number, (view, _) in enumerate(zip(views, progress(views), strict=True)):
        if number + lag >= len(views):
            continue
        if releases:
            check_order(releases[-1].time, view.time)
            assumed.observe(releases[-1].observation)
        prior = assumed.prior(view)
        try:
            coming = tuple(later.people for later in views[number + 1 : number + 1 + lag])
            grouping: Grouping | NoisyTable = grouped_at_random(
                defense, view, prior, tuple(releases), ranks, generator, coming
            )
        except Infeasible as reason:
            if infeasible == "raise":
                raise
            kind = "the whole view cannot be published, and its {records} records are suppressed: {reason}"
            note = Note(kind, records=len(view), reason=str(reason))
            grouping = Grouping(np.full(len(view), -1), notes=(note,))
        releases.append(_released(view, grouping, defense, bucketized, rng))
    assumed.check_claim_times([release.time for release in releases])
    return tuple(releases)


def _released(view: View, made: Grouping | NoisyTable, defense: object, bucketized: bool | None, rng: object) -> Any:
    """Release of what a defense made of a view; ValueError for an option that noisy counts cannot follow."""
    if not isinstance(made, NoisyTable):
        return Release(view, made if bucketized is None else replace(made, bucketized=bucketized))
    name = type(defense).__name__
    if bucketized is not None:
        raise ValueError(
            f"publish: bucketized is a setting of groups, and {name} publishes noisy counts; leave it out."
        )
    if rng is not None and made.for_release:
        raise ValueError(
            f"publish: rng repeats an experiment, and {name} draws noise for release, which no seed repeats. Give the defense an "
            "rng of its own for an experiment, or leave this one out."
        )
    return NoisyRelease(view, made)


def lag_of(defense: object, views: Sequence[View]) -> int:
    """Number of views to come whose people a defense reads; ValueError if there are no more views than that."""
    lag = int(getattr(defense, "lag", 0))
    if lag and lag >= len(views):
        raise ValueError(
            f"{type(defense).__name__} reads the people of {lag} {'view' if lag == 1 else 'views'} to come, so that the last "
            f"{lag} of {len(views)} views are held back and none is published; lower ends or lag, or give more views."
        )
    return lag


def _checked_views(views: Iterable[View]) -> tuple[View, ...]:
    """Views as a tuple; raise TypeError unless they are an iterable of View."""
    listed = tuple(views) if np.iterable(views) and not isinstance(views, View) else (None,)
    if not all(isinstance(view, View) for view in listed):
        raise TypeError(
            f"publish takes views in the order of time: a History, or a list of View, and got a {type(views).__name__}. Make a "
            "view by View(frame, schema, time), and put one view into a list."
        )
    return listed  # type: ignore[return-value]


def believer_of(owner: str, adversary: Any, believes: Any) -> Adversary | Averaged | Forecast | None:
    """The one of two arguments that forms the prior of a defense; raise TypeError or ValueError unless it can, and is alone."""
    if believes is None:
        return adversary  # type: ignore[no-any-return]
    if (
        isinstance(believes, type)
        or not callable(getattr(believes, "forecast", None))
        or not isinstance(believes.adversary, Adversary)
    ):
        raise TypeError(
            f"{owner}: believes is {shown(believes)}; it is a joint attack whose adversary is not Averaged, as "
            "JointAttack(adversary, hindsight=False)."
        )
    if adversary is not None:
        raise ValueError(f"{owner}: believes has an adversary of its own; leave the argument adversary out.")
    return believes  # type: ignore[no-any-return]


def _check_defense(
    defense: object, adversary: Adversary | Averaged | None, believer: Adversary | Averaged | Forecast | None
) -> None:
    """Raise an error unless the objects are a defense and an adversary; one believes where the groups depend on the prior."""
    if isinstance(defense, type | Requirement) or not callable(defense):
        raise TypeError(
            f"publish: {defense!r} is no defense; give one with its settings, as Mondrian(KAnonymity(3)) or Anatomy(2)."
        )
    if adversary is not None:
        takes = "is an Adversary with its settings, as Adversary(UniformPrior(), transitions), or Averaged(adversaries)"
        check_kind("publish", "adversary", adversary, (Adversary, Averaged), takes)
        check_rule_reads(defense, adversary, otherwise=READS)
    elif believer is None and getattr(defense, "reads", None):
        raise ValueError(
            f"{defense!r} groups by the beliefs of an adversary, and no adversary is assumed; give adversary=, as "
            "Adversary(prior, transitions), or Adversary(UniformPrior()) for one without background knowledge."
        )


def grouped_at_random[G: Grouping | NoisyTable](
    defense: Callable[..., G],
    view: View,
    prior: FloatArray,
    past: tuple[Release, ...],
    ranks: Mapping[Hashable, int],
    rng: np.random.Generator,
    coming: tuple[People, ...],
) -> G:
    """Group a view with its records in the order of their respondents' ranks, and number the groups at random.

    Noisy counts are those of fixed cells, and stay as they are.
    """
    order = np.argsort(np.fromiter(map(ranks.__getitem__, view.people.respondents), np.int64, len(view)))
    ordered = prior.rows(order) if isinstance(prior, DrawnPrior) else prior[order]
    more: dict[str, Any] = {"coming": coming} if coming else {}
    grouping = defense(view.in_order(order), ordered, past, **more)
    if isinstance(grouping, NoisyTable):
        return grouping
    if not isinstance(grouping, Grouping):
        takes = "is a Grouping, which a defense returns; make one by Grouping(labels), with -1 for suppressed records"
        check_kind("publish", f"the result of {defense!r}", grouping, Grouping, takes)
    if len(grouping.labels) != len(view):
        return grouping  # Release raises the error.
    return grouping.in_rows(np.argsort(order)).renumbered(rng)  # type: ignore[return-value]


def _check_sizes(views: Sequence[View], defense: object) -> None:
    """Raise Infeasible if views have fewer records than a defense needs, with all these views named."""
    smallest = getattr(defense, "smallest", 1)
    small = [f"{view.time!r} has {len(view)}" for view in views if len(view) < smallest]
    if small:
        raise Infeasible(
            Advice(
                Named(defense),
                f" needs {int(smallest)} records, and {len(small)} of {len(views)} ",
                VIEWS,
                " have fewer: the ",
                VIEW,
                f" at {', at '.join(small)}. Lower the requirement, leave these ",
                VIEWS,
                " out, or publish them suppressed with ",
                Setting("infeasible", "suppress"),
                ".",
            )
        )


class AssumedAdversary:
    """Adversary that `publish` assumes, with what it keeps of the releases so far; None for uniform priors, never revised.

    A `Forecast` keeps the observations themselves, an `Adversary` a memory.
    """

    def __init__(self, believer: Adversary | Averaged | Forecast | None) -> None:
        self._forecast = None if isinstance(believer, Adversary | Averaged | None) else believer
        self._averaged = believer if isinstance(believer, Averaged) else None
        one = (believer,) if isinstance(believer, Adversary) else ()
        self._adversaries = one if self._averaged is None else self._averaged.adversaries
        self._memories = [Memory() for _ in self._adversaries]
        self._log_evidence = np.zeros(len(self._adversaries))
        self._priors: list[FloatArray] = []
        self._observations: list[Observation] = []

    def prior(self, view: View) -> FloatArray:
        """Revised prior of the records of the next view, shape ``(n, m)``; a `DrawnPrior` for an `Averaged` adversary."""
        if self._forecast is not None:
            return self._forecast.forecast(self._observations, view.people, view.time)
        self._priors = [
            adversary.revise(memory, view.people, view.time)
            for adversary, memory in zip(self._adversaries, self._memories, strict=True)
        ]
        if self._averaged is None:
            m = len(view.schema.values)
            return self._priors[0] if self._priors else np.full((len(view), m), 1 / m)
        weights = self._averaged.weights_given(self._log_evidence)
        return DrawnPrior.of(np.stack(self._priors), weights, self._averaged.first_weights, self._averaged.groups)

    def observe(self, observation: Observation) -> None:
        """Revise the beliefs about a view by its release, and the weights of the draws; noisy counts revise a `Forecast` alone."""
        if self._forecast is not None:
            self._observations.append(observation)
        if observation.noise is not None:
            return
        for d, (adversary, memory) in enumerate(zip(self._adversaries, self._memories, strict=True)):
            seen, revised, prior = adversary.with_ghosts(memory, observation, self._priors[d])
            if self._averaged is not None and self._averaged.updated:
                self._log_evidence[d] += log_evidence(seen.problem(revised)).sum()
            posterior = adversary.posterior(revised, seen)
            self._memories[d] = adversary.update_memory(memory, seen, posterior, prior=prior)

    def check_claim_times(self, times: list[object]) -> None:
        """Raise ValueError if a compromised record is about a time without a release."""
        asked = self._adversaries if self._forecast is None else (self._forecast.adversary,)
        for adversary in asked:
            adversary.check_claim_times(times)
