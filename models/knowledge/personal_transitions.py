"""Sequential knowledge that depends on the person, and one way to read it and knowledge that holds for all."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.knowledge.markov_chain import MarkovChain, Transitions
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.settings import shown
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
    number, classes = len(transitions.chains_at(0)), transitions.class_of(people)
    if not isinstance(classes, np.ndarray) or classes.dtype.kind not in "iu":
        raise TypeError(
            f"class_of(people) returned {shown(classes)}; it is an int array of shape (n,), a class for each."
        )
    if classes.shape != (len(people),) or classes.min(initial=0) < 0 or classes.max(initial=0) >= number:
        raise ValueError(
            f"class_of(people) returned classes of shape {classes.shape} from {classes.min(initial=0)} to "
            f"{classes.max(initial=0)} for {len(people)} respondents and {number} chains; it returns one of 0 to {number - 1} for "
            "each respondent."
        )
    return np.asarray(classes, dtype=np.int64)


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


def is_personal(given: Any) -> bool:
    """Return whether an object has the methods of `PersonalTransitions`."""
    return isinstance(given, PersonalTransitions)
