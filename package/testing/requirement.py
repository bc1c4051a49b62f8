"""Checks of a requirement."""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import foreknow.defenses
from foreknow.defenses import GroupPredicate, KAnonymity, Requirement, Summary, summarize_groups, summarize_records
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.settings import check_kind
from foreknow.testing import examples
from foreknow.testing.examples import is_a_settings_object, run

GROUPINGS = 20
"""Number of random groupings of a view."""

MAX_RANDOM_GROUPS = 4
"""Largest number of groups of a random grouping."""


class Case(NamedTuple):
    """A view of n records over m values, two priors of shape ``(n, m)``, and the groups of its records."""

    view: View
    prior: FloatArray
    other_prior: FloatArray
    labels: IntArray

    def groups(self, labels: IntArray | None = None) -> Summary:
        """Summaries of the groups, with their members."""
        records = summarize_records(self.view, self.prior, members=True)
        return summarize_groups(records, self.labels if labels is None else labels)


def check_requirement(requirement: Requirement, *, view: View | None = None) -> None:
    """Check that a requirement behaves as those of foreknow do.

    Parameters
    ----------
    requirement : Requirement
        With an estimator that does not sample, if it has one.
    view : View, optional
        A view of at least two records on which the requirement can be bound. By default two views of 18 records, with the
        sensitive values ``a``, ``b`` and ``c`` in the column ``result`` and two numeric quasi-identifiers.

    Notes
    -----
    Checked: the requirement is a frozen dataclass whose data have the declared types. Its repr evaluates to an equal object in
    the namespace of `foreknow.defenses`, or names every setting that is not at its default. Binding gives a `GroupPredicate` with
    the same data, modifies nothing and repeats. The levels of a batch are those of its groups one by one. A call compares the
    level with the bound by the sense. The level of a sum of summaries is the level of the union. The level reads what
    ``reads_prior``, ``reads_members`` and ``weighs_beliefs`` declare, and no more. Where ``is_monotone``, unions of satisfying
    groups satisfy. No group smaller than ``smallest`` satisfies. ``&`` and ``|`` combine.

    Monotonicity is tested on random groups, not proved. The definition is not checked; `foreknow.evaluation.verify` has those of
    the package. Cost: about 20 levels for each of 20 random groupings of each view.

    Examples
    --------
    >>> from foreknow.defenses import TCloseness
    >>> check_requirement(TCloseness(0.3))
    """
    if view is not None:
        check_kind("check_requirement", "view", view, View, "is a View of two records or more, as View(frame, schema)")
    run("check_requirement", requirement, (_is_a_settings_object, _data_have_their_types, _repr_names_it), requirement)
    views = (examples.view(18), examples.view(18, seed=1)) if view is None else (view,)
    for each in views:
        for case in _cases(each):
            run("check_requirement", requirement, BY_GROUPING, requirement, case)


def _cases(view: View) -> Iterator[Case]:
    """Random groupings of a view, some with records outside all groups, and random priors of positive rows, some of them sharp."""
    n, m = len(view), len(view.schema.values)
    for seed in range(GROUPINGS):
        rng = np.random.default_rng(seed)
        rows = rng.dirichlet(np.full(m, (1.0, 0.1)[seed % 2]), (2, n))
        rows[:, n // 2 :] = rows[:, :1]  # half of the respondents have equal priors
        prior, other = rows * 0.97 + 0.03 / m
        drawn = rng.integers(-1 if seed % 2 else 0, rng.integers(1, min(MAX_RANDOM_GROUPS, n) + 1), n)
        drawn[rng.integers(n)] = 0
        _, numbers = np.unique(drawn[drawn >= 0], return_inverse=True)
        drawn[drawn >= 0] = numbers
        yield Case(view, prior, other, drawn.astype(np.int64))


def _is_a_settings_object(requirement: Requirement) -> None:
    assert isinstance(requirement, Requirement), f"it is a {type(requirement).__name__}, which extends no Requirement"
    is_a_settings_object(requirement)


def _data_have_their_types(requirement: Requirement) -> None:
    assert requirement.sense in ("at least", "at most", "below"), f"its sense is {requirement.sense!r}"
    assert isinstance(requirement.bound, float), f"its bound is {requirement.bound!r}, no float"
    assert isinstance(requirement.smallest, int), f"smallest is {requirement.smallest!r}, no int"
    assert requirement.smallest >= 1, f"smallest is {requirement.smallest}; a group has at least one record"
    for name in ("is_monotone", "weighs_beliefs"):
        assert isinstance(getattr(requirement, name), bool), f"{name} is {getattr(requirement, name)!r}, no bool"


def _repr_names_it(requirement: Requirement) -> None:
    text, kind = repr(requirement), type(requirement)
    try:
        evaluated = eval(text, {"__builtins__": {}} | vars(foreknow.defenses) | {kind.__name__: kind})
    except Exception:  # a setting that is no literal, as an estimator, is named instead
        settings = {one.name: one.default for one in dataclasses.fields(requirement)}  # type: ignore[arg-type]
        changed = [name for name, default in settings.items() if getattr(requirement, name) != default]
        missing = [name for name in changed if f"{name}=" not in text]
        assert kind.__name__ in text, f"its repr {text} does not name {kind.__name__}"
        assert not missing, f"its repr {text} does not name {', '.join(missing)}"
        return
    assert evaluated == requirement, f"its repr {text} evaluates to another requirement"


def _bind_is_pure_and_repeats(requirement: Requirement, case: Case) -> None:
    prior, frame = case.prior.copy(), case.view.frame.copy()
    once, again = (requirement.bind(case.view, case.prior) for _ in range(2))
    assert isinstance(once, GroupPredicate), f"bind returns a {type(once).__name__}, no GroupPredicate"
    groups = case.groups()
    assert np.array_equal(once.level(groups), again.level(groups)), "two predicates have different levels"
    assert np.array_equal(once.level(groups), once.level(groups)), "two calls of level differ"
    assert np.array_equal(prior, case.prior), "binding modified the prior"
    assert frame.equals(case.view.frame), "binding modified the view"
    assert once.bind(case.view, case.prior) is once, "a predicate that is bound again is another object"
    for name in ("bound", "sense", "smallest", "is_monotone", "weighs_beliefs"):
        assert getattr(once, name) == getattr(requirement, name), f"the predicate has another {name}"
    assert repr(once) == repr(requirement), f"the predicate has the repr {once!r}"


def _a_batch_is_its_groups_one_by_one(requirement: Requirement, case: Case) -> None:
    predicate, groups = requirement.bind(case.view, case.prior), case.groups()
    levels, holds = predicate.level(groups), predicate(groups)
    assert np.shape(levels) == np.shape(holds) == (len(groups),), "there is not one level, or verdict, per group"
    for j in range(len(groups)):
        _assert_close(predicate.level(groups[j]), levels[j : j + 1], f"level of group {j} depends on the batch")
        assert predicate(groups[j])[0] == holds[j], f"the verdict on group {j} depends on the batch"
    assert predicate.level(groups[:0]).shape == predicate(groups[:0]).shape == (0,), "an empty batch has a level"


def _a_call_compares_the_level_with_the_bound(requirement: Requirement, case: Case) -> None:
    predicate, groups = requirement.bind(case.view, case.prior), case.groups()
    level, bound = predicate.level(groups), predicate.bound
    expected: dict[str, BoolArray] = {
        "at least": level >= bound - LEVEL_TOLERANCE,
        "at most": level <= bound + LEVEL_TOLERANCE,
        "below": level < bound,
    }
    assert np.array_equal(predicate(groups), expected[predicate.sense]), (
        f"the verdicts {predicate(groups)} do not compare the levels {level} with the bound {bound}"
    )


def _summaries_add(requirement: Requirement, case: Case) -> None:
    predicate, groups = requirement.bind(case.view, case.prior), case.groups()
    for j in range(1, len(groups)):
        labels = np.where(np.isin(case.labels, (0, j)), 0, -1)
        union = predicate.level(case.groups(labels))
        _assert_close(predicate.level(groups[0] + groups[j]), union, "level of a sum of summaries is not the union's")


def _reads_what_it_declares(requirement: Requirement, case: Case) -> None:
    predicate, groups = requirement.bind(case.view, case.prior), case.groups()
    less = groups if predicate.reads_members else dataclasses.replace(groups, members=None)
    if not predicate.reads_prior:
        less = dataclasses.replace(less, prior=0 * less.prior, entropy=0 * less.entropy)
    unread = (
        f"the level reads more than reads_prior={predicate.reads_prior} and reads_members={predicate.reads_members} say"
    )
    try:
        levels = predicate.level(less)
    except Exception as failure:
        raise AssertionError(f"{unread}: {failure!r}") from failure
    assert np.array_equal(levels, predicate.level(groups)), unread
    if not requirement.weighs_beliefs:
        changed = requirement.bind(case.view, case.other_prior)
        level = changed.level(case._replace(prior=case.other_prior).groups())
        _assert_close(level, predicate.level(groups), "level depends on the prior, and weighs_beliefs is False")


def _unions_satisfy_where_it_is_monotone(requirement: Requirement, case: Case) -> None:
    if not requirement.is_monotone:
        return
    predicate = requirement.bind(case.view, case.prior)
    satisfying = np.flatnonzero(predicate(case.groups()))
    for size in range(2, len(satisfying) + 1):
        labels = np.where(np.isin(case.labels, satisfying[:size]), 0, -1)
        assert predicate(case.groups(labels))[0], "is_monotone is True, and a union of satisfying groups fails"


def _smaller_groups_fail(requirement: Requirement, case: Case) -> None:
    predicate, rng = requirement.bind(case.view, case.prior), np.random.default_rng(0)
    for size in range(1, min(requirement.smallest - 1, len(case.view)) + 1):
        labels = np.full(len(case.view), -1)
        labels[rng.permutation(len(case.view))[:size]] = 0
        assert not predicate(case.groups(labels))[0], (
            f"a group of {size} satisfies, and smallest is {requirement.smallest}"
        )


def _combines(requirement: Requirement, case: Case) -> None:
    groups, other = case.groups(), KAnonymity(4)
    alone, small = requirement.bind(case.view, case.prior)(groups), other(groups)
    both, either = requirement & other, requirement | other
    assert np.array_equal(both.bind(case.view, case.prior)(groups), alone & small), "& does not require both"
    assert np.array_equal(either.bind(case.view, case.prior)(groups), alone | small), "| does not accept either"
    assert both.is_monotone == requirement.is_monotone, "& changes is_monotone"
    assert both.weighs_beliefs == either.weighs_beliefs == requirement.weighs_beliefs, "& or | changes weighs_beliefs"
    assert both.smallest == max(requirement.smallest, 4), "smallest of & is not the largest of the parts"
    assert either.smallest == min(requirement.smallest, 4), "smallest of | is not the smallest of the parts"


BY_GROUPING = (
    _bind_is_pure_and_repeats,
    _a_batch_is_its_groups_one_by_one,
    _a_call_compares_the_level_with_the_bound,
    _summaries_add,
    _reads_what_it_declares,
    _unions_satisfy_where_it_is_monotone,
    _smaller_groups_fail,
    _combines,
)


def _assert_close(level: FloatArray, expected: FloatArray, what: str) -> None:
    assert np.allclose(level, expected, rtol=1e-9, atol=1e-9, equal_nan=True), f"the {what}: {level}, {expected}"
