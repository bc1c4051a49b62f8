"""Probability that a respondent is in each group of a release, for adversaries who do not know the groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.assignments import possible_pairs
from foreknow.models.estimators.auto import Auto
from foreknow.models.estimators.belief_propagation import BeliefPropagation, logistic
from foreknow.models.estimators.exact import TooLarge, log_evidence, state_counts
from foreknow.models.problem import ROW_SUM_TOLERANCE, UNCONVERGED, Estimator, Posterior, Problem
from foreknow.models.settings import as_floats, check_kind, check_shape
from foreknow.models.tables.columns import check_columns, describe_missing, plain_columns
from foreknow.models.tables.release import UnlabeledObservation
from foreknow.models.tables.schema import Numeric

COLUMNS = ("respondent", "group", "time", "probability")

DENSE_PAIRS = 2**12
"""Number of pairs of a component up to which `BeliefPropagation` has them all in one array, which is exact for small components."""

MATCHED_PAIRS = 2**20
"""Number of pairs of a respondent and a group up to which those that no assignment contains are found by a matching."""

MAX_LOG_MESSAGE = 60.0
"""Largest logarithm of a message along possible pairs."""

MAX_PAIRS = 2**26
"""Largest number of pairs of a respondent and a value of a group in one connected component; 2^26 take 512 MiB."""


class Membership(Protocol):
    """Weight of each group for each respondent of a release. Weights of a row count up to a factor."""

    def __call__(self, seen: UnlabeledObservation) -> FloatArray:
        """Weights of the g groups, and in the last column of not being published: float array, shape ``(n, g + 1)``."""
        ...


@dataclass(frozen=True)
class UniformMembership:
    """All groups that a respondent fits are equally probable, and so is not being published where records are withheld.

    A respondent fits a group if each quasi-identifier lies within the interval, or under the label, that the group shows. That
    intervals are tight, so that some member has each end, is not read. Cost: O(n g d).
    """

    def __call__(self, seen: UnlabeledObservation) -> FloatArray:
        """1 for each group that a respondent fits, and in the last column for not being published, where records are withheld."""
        withheld = np.full((len(seen.people), 1), float(seen.withheld > 0))
        return np.hstack([seen.fits.astype(np.float64), withheld])


@equal_by_fields
@dataclass(frozen=True, eq=False)
class GivenMembership:
    """Probability of groups for each respondent, from a table with one row per respondent, group and release.

    Parameters
    ----------
    frame : DataFrame
        Columns respondent, group, time and probability. ``group`` is the number that the published table has. Groups without a
        row have the probability 0. What is left of 1 is the probability of not being published.

    Raises
    ------
    TypeError
        If ``frame`` is not a DataFrame.
    ValueError
        If a column or a cell is missing, a pair has two rows, a probability is not from 0 to 1, or those of a respondent at one
        time sum to 0 or to more than 1. When used on a release: if a respondent has no row, or there is no such group.
    """

    frame: pd.DataFrame

    def __post_init__(self) -> None:
        check_kind("GivenMembership", "frame", self.frame, pd.DataFrame, f"is a DataFrame with {', '.join(COLUMNS)}")
        check_columns(self.frame, COLUMNS, "GivenMembership")
        given = plain_columns(self.frame, COLUMNS, "the frame of GivenMembership").reset_index(drop=True)
        for name in COLUMNS:
            if given[name].isna().any():
                raise ValueError(f"GivenMembership: {describe_missing(given[name].isna().to_numpy(), name)}.")
        chances, groups = (Numeric().codes(given[name]) for name in ("probability", "group"))
        wrong = ~((chances >= 0) & (chances <= 1)) | (groups < 0) | (np.floor(groups) != groups)
        twice = given.duplicated(list(COLUMNS[:3])).to_numpy()
        if (wrong | twice).any():
            row = int((wrong | twice).argmax())
            raise ValueError(
                f"GivenMembership: row {row} is {given.loc[row].to_dict()}; a group is a number from 0 and a probability from 0 to "
                "1, one for each respondent, group and time. Correct it, or drop duplicates."
            )
        frame = given.assign(probability=chances, group=groups.astype(np.int64))
        totals = frame.groupby(["respondent", "time"], sort=False)["probability"].transform("sum").to_numpy()
        odd = (totals <= 0) | (totals > 1 + ROW_SUM_TOLERANCE)
        if odd.any():
            row = int(odd.argmax())
            respondent, time = (frame[name].tolist()[row] for name in ("respondent", "time"))
            raise ValueError(
                f"GivenMembership: the probabilities of respondent {respondent!r} at {time!r} sum to {totals[row]:g}; the sum is "
                "over 0 and at most 1. A respondent who could be in every group has 1/g for each."
            )
        object.__setattr__(self, "frame", frame)

    def __call__(self, seen: UnlabeledObservation) -> FloatArray:
        """Rows of the respondents of a release; the last column is the rest to 1."""
        n, groups = len(seen.people), len(seen.counts)
        now = self.frame[self.frame["time"] == seen.time]
        rows = pd.Index(seen.people.respondents, dtype=object).get_indexer(pd.Index(now["respondent"], dtype=object))
        now, rows = now[rows >= 0], rows[rows >= 0]
        absent = np.bincount(rows, minlength=n) == 0
        if absent.any():
            raise ValueError(
                f"GivenMembership has no row of respondent {seen.people.respondents[absent.argmax()]!r} at {seen.time!r}; each "
                "respondent of a release needs one."
            )
        group = now["group"].to_numpy()
        if (group >= groups).any():
            raise ValueError(
                f"GivenMembership has the group {group.max()} at {seen.time!r}, and the release shows the groups 0 to {groups - 1}."
            )
        weights = np.zeros((n, groups + 1))
        weights[rows, group] = now["probability"]
        # A rest that is a rounding error rules nothing in.
        rest = 1.0 - weights.sum(axis=1)
        weights[:, -1] = np.where(rest > ROW_SUM_TOLERANCE, rest, 0.0)
        return weights


class Component(NamedTuple):
    """Respondents and groups that no possible assignment mixes with others.

    Attributes
    ----------
    rows : int array, shape (k,)
        Respondents.
    groups : list of int arrays
        Sets of groups that have equal weights for all respondents; ``[g]`` stands for the withheld records.
    places : int array, shape (c,)
        Number of records of each set; they sum to k.
    weights : float array, shape (k, c)
        Probability of each set by the membership alone, 0 where it is ruled out.
    """

    rows: IntArray
    groups: list[IntArray]
    places: IntArray
    weights: FloatArray


def connected_components(membership: Membership, seen: UnlabeledObservation) -> list[Component]:
    """Connected components of a release: respondents and groups linked by weights over 0.

    Groups with equal columns are one set. Pairs that counting rules out are left out (`_pairs_that_fit`). Up to
    `MATCHED_PAIRS`, all that no assignment contains are (`possible_pairs`). Cost: O(n g log g) at least, O(n g^2 + g^3) at most.

    Raises
    ------
    TypeError, ValueError
        If the weights have another shape, are negative or not finite, a row has no weight that can be used, or the numbers of
        respondents and places of a component differ, so that no assignment is possible.
    """
    from scipy.sparse import csgraph, csr_array

    weights, sizes = membership_weights(membership, seen), np.append(seen.counts.sum(axis=1), seen.withheld)
    g = len(sizes) - 1
    # The withheld column is a set of its own: the others are sorted by their first group.
    _, first, same = np.unique(weights[:, :g], axis=1, return_index=True, return_inverse=True)
    label = np.append(first[same.ravel()], g)
    sets = [np.flatnonzero(label == one) for one in np.unique(label)]
    places = np.array([sizes[each].sum() for each in sets])
    share = weights / weights.sum(axis=1, keepdims=True)
    share = np.stack([share[:, each].sum(axis=1) for each in sets], axis=1)
    share[:, places == 0] = 0.0
    possible = _pairs_that_fit(share > 0, places)
    filled = np.flatnonzero(places)
    if possible.size <= MATCHED_PAIRS:
        feasible, possible[:, filled] = possible_pairs(possible[:, filled].astype(np.float64), places[filled])
        if not feasible:
            raise ValueError(
                f"{type(membership).__name__}: no assignment to the groups at {seen.time!r} is possible: some groups have more "
                "places than respondents who could be in them. Give weights over 0 to more groups."
            )
    row, column = np.nonzero(possible)
    size = sum(possible.shape)
    link = csr_array((np.ones(len(row)), (row, len(share) + column)), shape=(size, size))
    number, component = csgraph.connected_components(link, directed=False)
    of_row, of_set = component[: len(share)], component[len(share) :]
    found = []
    for one in range(number):
        rows, chosen = np.flatnonzero(of_row == one), np.flatnonzero((of_set == one) & (places > 0))
        if len(rows) != places[chosen].sum():
            who = f", as respondent {seen.people.respondents[rows[0]]!r}," if len(rows) else ""
            where = f" (group {sets[chosen[0]][0]} among them)" if len(chosen) and sets[chosen[0]][0] < g else ""
            raise ValueError(
                f"{type(membership).__name__}: no assignment to the groups at {seen.time!r} is possible: {len(rows)} "
                f"respondents{who} could be in {places[chosen].sum()} places{where}. Give weights over 0 to more groups."
            )
        if len(rows):
            own = np.where(possible[np.ix_(rows, chosen)], share[np.ix_(rows, chosen)], 0.0)
            found.append(Component(rows, [sets[each] for each in chosen], places[chosen], own))
    return sorted(found, key=lambda each: each.groups[0][0])


def _pairs_that_fit(possible: BoolArray, places: IntArray) -> BoolArray:
    """Pairs of respondent and set without those that counting rules out, shape ``(n, c)``; no possible pair is lost.

    A set with as many places as respondents who may be in it has all of them, and they are in no other. A set with as many places
    as respondents who can be in no other has no further one. Both are repeated until nothing changes.
    """
    while True:
        full = possible.sum(axis=0) == places
        decided = possible[:, full].any(axis=1)
        after = possible & (full | ~decided[:, None])
        sure = after.sum(axis=1) == 1
        taken = after[sure].sum(axis=0) == places
        after &= sure[:, None] | ~taken
        if (after == possible).all():
            return possible
        possible = after


def membership_weights(membership: Membership, seen: UnlabeledObservation) -> FloatArray:
    """Checked weights of a membership, shape ``(n, g + 1)``; not being published has none where nothing is withheld."""
    name, shape = type(membership).__name__, (len(seen.people), len(seen.counts) + 1)
    weights = as_floats(name, "the result", membership(seen), f"is a float array of shape {shape}").copy()
    check_shape(f"{name}: the result", weights, shape, "a weight of each group, and last of not being published")
    weights[:, -1] *= seen.withheld > 0
    wrong = ~(np.isfinite(weights) & (weights >= 0)).all(axis=1) | (weights.sum(axis=1) <= 0)
    if wrong.any():
        row = int(wrong.argmax())
        withheld = f"{seen.withheld} records are withheld" if seen.withheld else "no record is withheld"
        raise ValueError(
            f"{name}: the weights of respondent {seen.people.respondents[row]!r} at {seen.time!r} sum to {weights[row].sum():g}; "
            f"they are finite, at least 0, and one is over 0 ({withheld}). Give a weight to each group that is not ruled out."
        )
    return weights


class MembershipPosterior(NamedTuple):
    """Beliefs about values and groups.

    Attributes
    ----------
    posterior : Posterior
        Beliefs in the values, shape ``(n, m)``; a connected component gives all its groups one status.
    group : float array, shape (n, g + 1)
        Belief in each group, and in the last column in not being published.
    """

    posterior: Posterior
    group: FloatArray


def membership_posterior(
    components: Sequence[Component],
    prior: FloatArray,
    counts: IntArray,
    estimator: Estimator,
    of_known_groups: Callable[[Problem], Posterior] | None = None,
) -> MembershipPosterior:
    """Beliefs in values and groups given a release, if each respondent i is in group g with a weight w[i, g].

    With a(i) the group and x(i) the value of i, the law is ``prod_i w[i, a(i)] P_i(x(i))`` over all assignments by which each group
    has as many members as it shows values, and these values. A pair (group, value) is one value of a larger domain, with the count
    that the group shows and the prior ``w[i, g] P_i(s)``: the problem of one group, for each connected component.

    Parameters
    ----------
    components : sequence of Component
        Result of `connected_components`.
    prior : float array, shape (n, m)
        Rows are probabilities.
    counts : int array, shape (g, m)
    estimator : Estimator
        One that reads membership: its law is a product of weights, and a weight of 0 rules a pair out. `Exact` is exact, and the
        others as they are for a group of as many members and values.
    of_known_groups : callable, optional
        Rule for the components of one set instead of the estimator, as of a cascade.

    Raises
    ------
    TooLarge
        If a component has more than `MAX_PAIRS` pairs, or more states than the estimator takes.

    Notes
    -----
    A component of one set of equal groups is the problem of the group that they make together, with the same floats. Cost: that of
    the estimator, and O(n g).
    """
    g = len(counts)
    belief, group = prior.copy(), np.zeros((len(prior), g + 1))
    answers: list[tuple[Posterior, list[IntArray]]] = []
    single, several = _sorted_components(components, g)
    if single:
        answer = (of_known_groups or estimator)(_problem_of_sets(single, prior, counts))
        belief = answer.probabilities.copy()
        answers.append((answer, [component.groups[0] for component in single]))
        for component in single:
            _add_groups(group, component.rows, component.groups[0], belief[component.rows], counts)
    for component in several:
        pairs = _pairs(component, counts)
        found = _component_posterior(component, pairs, prior, counts, estimator)
        numbered = [each for each in component.groups if each[0] < g]
        answers.append((found.posterior, [np.concatenate(numbered or [np.zeros(0, dtype=np.int64)])]))
        belief[component.rows] = 0.0
        for number, groups in enumerate(component.groups):
            own = pairs.of_set[found.pair] == number
            people, place = np.unique(found.person[own], return_inverse=True)
            rows, values = component.rows[people], np.zeros((len(people), counts.shape[1]))
            if groups[0] == g:
                group[rows, g] = found.belief[own]
                belief[rows] += found.belief[own, None] * prior[rows]
                continue
            values[place, pairs.value[found.pair[own]]] = found.belief[own]
            belief[rows] += values
            _add_groups(group, rows, groups, values, counts)
    for component in components:
        if component.groups[0][0] == g:
            group[component.rows, g] = 1.0
    return MembershipPosterior(_posterior(belief, answers, g), group)


def membership_evidence(components: Sequence[Component], prior: FloatArray, counts: IntArray) -> float:
    """Log-probability of what the groups show, if values are drawn from priors and groups from the membership.

    As `log_evidence`, exact for components of few states. Cost: that of `log_evidence`.
    """
    single, several = _sorted_components(components, len(counts))
    found = sum(float(np.log(component.weights[:, 0]).sum()) for component in components if len(component.groups) == 1)
    found += sum(
        _log_splits(groups, counts)
        for component in components
        for groups in component.groups
        if groups[0] < len(counts)
    )
    if single:
        found += float(log_evidence(_problem_of_sets(single, prior, counts)).sum())
    return found + sum(
        float(log_evidence(_problem_of_pairs(component, _pairs(component, counts), prior, counts)).sum())
        for component in several
    )


def _log_splits(groups: IntArray, counts: IntArray) -> float:
    """Log-probability that the members of a set of equal groups, with their values, are split as the groups show them."""
    from scipy.special import gammaln

    own = counts[groups]
    ways = gammaln(own.sum(axis=0) + 1.0).sum() - gammaln(own + 1.0).sum()
    return float(ways - own.sum() * np.log(len(groups)))


def _sorted_components(components: Sequence[Component], g: int) -> tuple[list[Component], list[Component]]:
    """Components of one set of groups, and components of several sets."""
    single = [component for component in components if len(component.groups) == 1 and component.groups[0][0] < g]
    return single, [component for component in components if len(component.groups) > 1]


def _problem_of_sets(single: Sequence[Component], prior: FloatArray, counts: IntArray) -> Problem:
    """Problem of a release whose groups are the sets of some components of one set."""
    group = np.full(len(prior), -1, dtype=np.int64)
    for number, component in enumerate(single):
        group[component.rows] = number
    return Problem(prior, group, np.stack([counts[component.groups[0]].sum(axis=0) for component in single]))


class _Pairs(NamedTuple):
    """Pairs of a set and a value that it shows, of one component; the withheld records are one pair."""

    # of_set, value, capacity (d,): set and value of each pair, and the number of records that show it
    of_set: IntArray
    value: IntArray
    capacity: IntArray


class _Answer(NamedTuple):
    """Beliefs of the respondents of a component in its pairs, and its status; pairs without a belief are left out."""

    # person, pair, belief (e,)
    person: IntArray
    pair: IntArray
    belief: FloatArray
    posterior: Posterior


def _pairs(component: Component, counts: IntArray) -> _Pairs:
    g = len(counts)
    total = [
        component.places[[number]] if each[0] == g else counts[each].sum(axis=0)
        for number, each in enumerate(component.groups)
    ]
    shown = [np.flatnonzero(each) for each in total]
    of_set = np.repeat(np.arange(len(shown)), [len(each) for each in shown])
    return _Pairs(
        of_set, np.concatenate(shown), np.concatenate([all_[each] for all_, each in zip(total, shown, strict=True)])
    )


def _component_posterior(
    component: Component, pairs: _Pairs, prior: FloatArray, counts: IntArray, estimator: Estimator
) -> _Answer:
    """Beliefs by the estimator; by messages along possible pairs alone where it would be `BeliefPropagation` on many pairs."""
    size, rule = len(component.rows) * len(pairs.value), estimator.beyond if isinstance(estimator, Auto) else estimator
    problem = None
    if isinstance(rule, BeliefPropagation) and size > DENSE_PAIRS:
        if isinstance(estimator, Auto) and size <= estimator.pairs:
            problem = _problem_of_pairs(component, pairs, prior, counts)
            if state_counts(problem, estimator.limit)[0] > estimator.limit:
                problem = None
        answer = None if problem is not None else _sparse_posterior(component, pairs, prior, counts, rule)
        if answer is not None:
            return answer
    found = estimator(problem or _problem_of_pairs(component, pairs, prior, counts))
    person, pair = np.nonzero(found.probabilities[:, :-1])
    return _Answer(person, pair, found.probabilities[person, pair], found)


def _problem_of_pairs(component: Component, pairs: _Pairs, prior: FloatArray, counts: IntArray) -> Problem:
    """Problem of a component whose values are pairs; the last value is never shown, and has the rest of each prior row."""
    k, d = len(component.rows), len(pairs.value)
    if k * d > MAX_PAIRS:
        raise TooLarge(
            f"{k} respondents could be in {len(component.groups)} groups that are linked, which makes {k * d:.3g} pairs, more than "
            f"{MAX_PAIRS}. Use Auto(), know more of the groups, or leave the membership out."
        )
    rows = np.zeros((k, d + 1))
    rows[:, :-1] = component.weights[:, pairs.of_set]
    published = np.array([component.groups[number][0] < len(counts) for number in pairs.of_set])
    rows[:, :-1][:, published] *= prior[np.ix_(component.rows, pairs.value[published])]
    rows[:, -1] = np.maximum(1.0 - rows.sum(axis=1), 0.0)
    return Problem(rows, np.zeros(k, dtype=np.int64), np.append(pairs.capacity, 0)[None])


def _sparse_posterior(
    component: Component, pairs: _Pairs, prior: FloatArray, counts: IntArray, rule: BeliefPropagation
) -> _Answer | None:
    """Beliefs by `BeliefPropagation` along possible pairs alone; None if the prior rules out all pairs of a respondent or a pair.

    Cost: O(e) for each iteration, with e possible pairs of a respondent and a pair.
    """
    person, column = np.nonzero(component.weights)
    number = np.bincount(pairs.of_set, minlength=len(component.groups))
    starts = np.cumsum(number) - number
    entry = np.repeat(np.arange(len(person)), number[column])
    ends = np.cumsum(number[column])
    pair = starts[column][entry] + np.arange(len(entry)) - np.repeat(ends - number[column], number[column])
    person, weights = person[entry], component.weights[person, column][entry]
    published = np.array([each[0] < len(counts) for each in component.groups])[column[entry]]
    weights[published] *= prior[component.rows[person], pairs.value[pair]][published]
    kept = weights > 0
    person, pair, weights = person[kept], pair[kept], np.log(weights[kept])
    k, d = len(component.rows), len(pairs.value)
    by_person, by_pair = np.bincount(person, minlength=k), np.bincount(pair, minlength=d)
    if not by_person.all() or (by_pair < pairs.capacity).any():
        return None
    sides = (
        np.append(0, np.cumsum(by_person)),
        pair,
        np.argsort(pair, kind="stable"),
        np.append(0, np.cumsum(by_pair)),
    )
    settings = (float(rule.tolerance), int(rule.iterations), float(rule.damping))
    converged, belief = _sparse_messages(weights, *sides, pairs.capacity, *settings)
    belief /= np.bincount(person, belief, minlength=k)[person]
    status = np.array([0 if converged else UNCONVERGED])
    name, error = np.array(["BeliefPropagation"], dtype=object), np.array([np.nan])
    return _Answer(person, pair, belief, Posterior(np.zeros((0, 1)), status, rule=name, error=error))


@compiled
def _sparse_messages(
    weights: FloatArray,
    starts: IntArray,
    pair: IntArray,
    order: IntArray,
    starts_of_pairs: IntArray,
    capacity: IntArray,
    tolerance: float,
    iterations: int,
    damping: float,
) -> tuple[bool, FloatArray]:
    """True if the largest change of a belief fell to the tolerance, and the belief of each entry, by `pass_messages`.

    Entries are sorted by respondents, ``starts[i]`` to ``starts[i + 1]``, and ``order`` sorts them by pairs. Messages are
    logarithms, kept within `MAX_LOG_MESSAGE`, so that a pair that all assignments have or none has does not grow without end.
    """
    e, longest = len(weights), max(np.diff(starts).max(), np.diff(starts_of_pairs).max())
    to_pair, to_person, belief = np.zeros(e), np.zeros(e), np.zeros(e)
    before, after = np.full(longest + 1, -np.inf), np.full(longest + 1, -np.inf)
    for _ in range(iterations):
        # nu: the weight of a pair over the sum for all other places of the respondent, those of the same pair included.
        for i in range(len(starts) - 1):
            first, size = starts[i], starts[i + 1] - starts[i]
            for t in range(size):
                term = weights[first + t] + to_person[first + t] + np.log(capacity[pair[first + t]])
                before[t + 1] = np.logaddexp(before[t], term)
            after[size] = -np.inf
            for t in range(size - 1, -1, -1):
                term = weights[first + t] + to_person[first + t] + np.log(capacity[pair[first + t]])
                after[t] = np.logaddexp(after[t + 1], term)
            for t in range(size):
                own, others = first + t, np.logaddexp(before[t], after[t + 1])
                if capacity[pair[own]] > 1:
                    same = weights[own] + to_person[own] + np.log(capacity[pair[own]] - 1.0)
                    others = np.logaddexp(others, same)
                to_pair[own] = min(max(weights[own] - others, -MAX_LOG_MESSAGE), MAX_LOG_MESSAGE)
        # mu: one over the sum of nu of all other respondents, damped.
        change = 0.0
        for s in range(len(starts_of_pairs) - 1):
            first, size = starts_of_pairs[s], starts_of_pairs[s + 1] - starts_of_pairs[s]
            for t in range(size):
                before[t + 1] = np.logaddexp(before[t], to_pair[order[first + t]])
            after[size] = -np.inf
            for t in range(size - 1, -1, -1):
                after[t] = np.logaddexp(after[t + 1], to_pair[order[first + t]])
            for t in range(size):
                own = order[first + t]
                undamped = min(max(-np.logaddexp(before[t], after[t + 1]), -MAX_LOG_MESSAGE), MAX_LOG_MESSAGE)
                to_person[own] = damping * to_person[own] + (1.0 - damping) * undamped
                updated = logistic(to_pair[own] + to_person[own]) * capacity[s]
                change = max(change, abs(updated - belief[own]))
                belief[own] = updated
        if change <= tolerance:
            return True, belief
    return False, belief


def _add_groups(group: FloatArray, rows: IntArray, groups: IntArray, values: FloatArray, counts: IntArray) -> None:
    """Write the belief in each group of a set, by that in the values of the set: in proportion to their counts."""
    own = counts[groups]
    group[np.ix_(rows, groups)] = values @ (own / np.maximum(own.sum(axis=0), 1)).T


def _posterior(belief: FloatArray, answers: Sequence[tuple[Posterior, list[IntArray]]], g: int) -> Posterior:
    """Posterior with the status, the rule and the error of the component of each group."""
    found: dict[str, Any] = {}
    for name, empty in (("status", 0), ("rule", ""), ("error", 0.0)):
        if any(getattr(answer, name) is None for answer, _ in answers):
            continue
        found[name] = np.full(g, empty, dtype=object if name == "rule" else type(empty))
        for answer, sets in answers:
            for groups, value in zip(sets, getattr(answer, name), strict=True):
                found[name][groups] = value
    return Posterior(belief, **found)
