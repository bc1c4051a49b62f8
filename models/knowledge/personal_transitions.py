"""Transitions that depend on the person, and transitions by class of respondent: BK^seq of JS-reduce, Definition 2."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.class_frequencies import (
    CUTS,
    class_codes,
    class_cuts,
    class_shape,
    increasing_cuts,
    with_classes,
)
from foreknow.models.knowledge.markov_chain import (
    MarkovChain,
    Transitions,
    chain_of_counts,
    check_alike,
    check_pseudo_count,
    shrunk_chain,
)
from foreknow.models.knowledge.posterior_variable import TABLE, VALUE, posterior_variable
from foreknow.models.knowledge.sequences import GapRule, record_order, sequences_for_order
from foreknow.models.settings import MAX_FLOAT, as_integers, as_list, check_kind, check_range
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People


@runtime_checkable
class PersonalTransitions(Protocol):
    """Sequential knowledge with several chains, of which the class of a respondent selects one (JS-reduce, Definition 2).

    The chains of all classes and releases have one order and one domain.
    """

    def class_of(self, people: People) -> IntArray:
        """Class of each respondent at ``people.time``, 0 to c - 1: int array, shape ``(n,)``."""
        ...

    def chains_at(self, release: int) -> tuple[MarkovChain, ...]:
        """Chain of each class that leads to the values at a release, numbered from 0: c chains."""
        ...


type AnyTransitions = Transitions | PersonalTransitions
"""Sequential knowledge of an `Adversary`."""


def chains_at(transitions: AnyTransitions, release: int) -> tuple[MarkovChain, ...]:
    """Chain of each class that leads to the values at a release; one chain if it holds for all respondents."""
    if isinstance(transitions, PersonalTransitions):
        return transitions.chains_at(release)
    return (transitions.at(release),)


def classes_of(transitions: AnyTransitions, people: People) -> IntArray:
    """Class of each respondent, the number of its chain: int array, shape ``(n,)``; 0 if one chain holds for all.

    Raises
    ------
    TypeError, ValueError
        If ``class_of`` returns no whole numbers, another number of them, or a class without chain.
    """
    if not isinstance(transitions, PersonalTransitions):
        return np.zeros(len(people), dtype=np.int64)
    given = transitions.class_of(people)
    return as_classes("the result of class_of(people)", given, len(people), len(transitions.chains_at(0)))


def as_classes(name: str, classes: Any, respondents: int, number: int) -> IntArray:
    """Class of each respondent as an int array; TypeError or ValueError unless each is one of 0 to ``number - 1``."""
    found = as_integers(
        name, classes, (respondents,), f"one class of 0 to {number - 1} for each of {respondents} respondents"
    )
    if found.min(initial=0) < 0 or found.max(initial=0) >= number:
        raise ValueError(f"{name} has classes from {found.min()} to {found.max()}; each is one of 0 to {number - 1}.")
    return found


def class_by_respondent(transitions: AnyTransitions, people: People) -> dict[Hashable, int]:
    """Class of each respondent of a release by identifier."""
    return dict(zip(people.respondents.tolist(), classes_of(transitions, people).tolist(), strict=True))


def steps_between(
    classes: Sequence[Mapping[Hashable, int]], respondent: Hashable, last: int, now: int, gaps: GapRule
) -> tuple[tuple[int, int], ...]:
    """Steps of the chain of a respondent from one release to a later one: release and class of each.

    Parameters
    ----------
    classes : sequence of mapping of respondent to int
        For each release, `class_by_respondent`.
    respondent : hashable
        Among the people of both releases.
    last, now : int
        Numbers of the releases.
    gaps : {"ignore", "power"}
        ``"ignore"``: one step, to ``now``. ``"power"``: a step to each release from ``last + 1``; where the respondent is not
        among the people, by the class last seen.
    """
    if gaps == "ignore":
        return ((now, classes[now][respondent]),)
    own, steps = classes[last][respondent], []
    for release in range(last + 1, now + 1):
        own = classes[release].get(respondent, own)
        steps.append((release, own))
    return tuple(steps)


@equal_by_fields
@dataclass(frozen=True, eq=False)
class TransitionsByClass:
    """Markov chain of each class of respondents: sequential knowledge that depends on the person (`PersonalTransitions`).

    Parameters
    ----------
    classes : mapping of str to tuple of float, or function of People
        Cuts of quasi-identifiers into classes, as those of `ClassFrequencies`. Or any function that returns a class for each
        respondent, 0 to c - 1, as an int array of shape ``(n,)``.
    chains : tuple of Transitions
        Of each class, as `MarkovChain` or `ChainByRelease`; in the order of ``ClassFrequencies.classes`` for cuts.

    Raises
    ------
    TypeError
        If ``classes`` is no mapping and no function, or a chain is no `Transitions`.
    ValueError
        If cuts do not increase, the number of chains is not that of the classes, or the chains differ in order or domain.

    Notes
    -----
    A step of a respondent's chain is by the class at the release to which it leads. Where the respondent is not among the people
    of that release, it is by the class last seen; this matters with ``gaps="power"`` alone. Classes may change with time.

    Examples
    --------
    Values of women stay, those of men change:

    >>> from foreknow.models import Categorical, Schema, View
    >>> import pandas as pd
    >>> schema = Schema({"sex": Categorical(("f", "m"))}, "result", ("a", "b"))
    >>> people = View(pd.DataFrame({"id": [1, 2], "sex": ["f", "m"], "result": "a"}), schema, 1).people
    >>> stay, change = MarkovChain(1, np.eye(2)), MarkovChain(1, 1 - np.eye(2))
    >>> TransitionsByClass({"sex": (0.5,)}, (stay, change)).class_of(people)
    array([0, 1])
    """

    classes: "Mapping[str, tuple[float, ...]] | Callable[[People], IntArray]"
    chains: tuple[Transitions, ...]

    def __post_init__(self) -> None:
        owner = "TransitionsByClass"
        check_kind(owner, "classes", self.classes, (Mapping, Callable), f"{CUTS}, or is a function of People")
        chains = tuple(as_list(owner, "chains", self.chains, "is a tuple of chains, one per class"))
        for number, chain in enumerate(chains):
            check_kind(owner, f"chain {number}", chain, Transitions, "is a MarkovChain, or another Transitions")
        object.__setattr__(self, "chains", chains)
        check_alike(self.chains_at(0))
        if isinstance(self.classes, Mapping):
            object.__setattr__(self, "classes", increasing_cuts(self.classes))
            shape = class_shape(self.classes)
            if math.prod(shape) != len(chains):
                raise ValueError(
                    f"{owner}: the cuts make {shape} classes, and there are {len(chains)} chains; one per class."
                )

    @classmethod
    def fit(
        cls,
        history: History,
        classes: "Mapping[str, int | None]",
        order: int = 1,
        pseudo_count: float = 0.0,
        shrinkage: float = 0.0,
        gaps: GapRule = "ignore",
    ) -> "TransitionsByClass":
        """Estimate the transitions of each class from a corpus.

        A row of a class is ``(counts + pseudo_count + shrinkage * pooled row) / sum``, and the pooled row where the sum is 0. The
        pooled rows are those of ``MarkovChain.fit(history, order, pseudo_count)``.

        Parameters
        ----------
        history : History
            Corpus with true values.
        classes : mapping of str to int or None
            Attributes that define classes, as for `ClassFrequencies.fit`. A transition is counted in the class at its later
            record.
        order, pseudo_count
            As for `MarkovChain.fit`.
        shrinkage : float
            Number of observations that the pooled row counts as. `hierarchical_markov_model` learns it.
        gaps
            As for `MarkovChain.fit`.

        Raises
        ------
        TypeError, ValueError
            As `ClassFrequencies.fit` and `MarkovChain.fit`, or if the shrinkage is negative or not finite.

        Notes
        -----
        Cost: O(c records order + c m^(order + 1)) for c classes.
        """
        owner = "TransitionsByClass.fit"
        check_range(owner, "shrinkage", shrinkage, 0, MAX_FLOAT, "of observations that the pooled row counts as")
        check_pseudo_count(owner, pseudo_count)
        check_kind(owner, "history", history, History)
        cuts = class_cuts(owner, history.schema, classes)
        sequences = sequences_for_order(history, order, None, gaps)
        label = np.concatenate([class_codes(cuts, view.people) for view in history])[record_order(history)]
        pooled = chain_of_counts(sequences, order, pseudo_count)
        parts = (sequences.ending_in(label == c) for c in range(math.prod(class_shape(cuts))))
        return cls(cuts, tuple(shrunk_chain(part, pooled, pseudo_count, shrinkage) for part in parts))

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        classes: "Mapping[str, tuple[float, ...]] | Callable[[People], IntArray]",
        variable: str = "transitions",
        values: Sequence[Hashable] | None = None,
    ) -> "TransitionsByClass":
        """Posterior mean of the transitions of each class of a sampled `hierarchical_markov_model`.

        Parameters
        ----------
        tree
            As for `MarkovChain.from_posterior`.
        classes : mapping of str to tuple of float, or function of People
            Class c of the model is the class c of these: for a model with the classes ``{"sex": None}`` they are
            ``ClassFrequencies.fit(history, {"sex": None}).cuts``.
        variable : str
            With the dimensions chain and draw, then ``class`` or one for each attribute of the cuts, then those of
            `MarkovChain.from_posterior`.
        values
            As for `MarkovChain.from_posterior`.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`, or if the number of classes does not fit.
        """
        names = tuple(map(str, classes)) if isinstance(classes, Mapping) else ("class",)
        found = posterior_variable(tree, variable, [("class", *TABLE), (*names, *TABLE)], values)
        table, rest = found.mean, sum(name == "last" or name.startswith(VALUE) for name in found.dims)
        if isinstance(classes, Mapping):
            table = with_classes(table, class_shape(classes), rest)
        rows = table.reshape(-1, *table.shape[table.ndim - rest :])
        return cls(classes, tuple(MarkovChain(rest - 1, row) for row in rows))

    def class_of(self, people: People) -> IntArray:
        """Class of each respondent, 0 to c - 1: int array, shape ``(n,)``."""
        check_kind("TransitionsByClass", "people", people, People)
        return class_codes(self.classes, people) if isinstance(self.classes, Mapping) else self.classes(people)

    def chains_at(self, release: int) -> tuple[MarkovChain, ...]:
        """Chain of each class that leads to the values at a release."""
        return tuple(chain.at(release) for chain in self.chains)

    def at(self, release: int) -> MarkovChain:
        """No chain holds for all respondents: raise TypeError.

        Raises
        ------
        TypeError
            Always. It names what to read.
        """
        raise TypeError(
            f"TransitionsByClass: there is one chain for each of {len(self.chains)} classes at release {release}, and none for "
            "all respondents. Read chains_at(release) and class_of(people); or give a MarkovChain, as chains[0]."
        )

    def truncate(self, steps: int) -> "TransitionsByClass":
        """Chains of order at most ``steps``, as `MarkovChain.truncate`."""
        return TransitionsByClass(self.classes, tuple(chain.truncate(steps) for chain in self.chains))  # type: ignore[attr-defined]
