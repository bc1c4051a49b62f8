"""Risk of each respondent, the group members who expose another one, and intervals over draws of the knowledge."""

from collections.abc import Callable, Hashable, Sequence
from types import EllipsisType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy

from foreknow.evaluation.arguments import check_beliefs
from foreknow.evaluation.risk.beliefs_and_truth import BeliefsAndTruth, LeftOut, beliefs_and_truth, numbered
from foreknow.models import Auto, Beliefs, History, Observation, Problem
from foreknow.models.arrays import FloatArray, IntArray, object_array
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.problem import Estimator, GroupRows, group_rows
from foreknow.models.settings import check_choice, check_flag, check_whole, is_number

INTERVAL_MASS = 0.9
"""Mass of the interval of a belief."""

type Records = dict[str, np.ndarray[Any, Any]]
"""Columns with one entry per published record."""


def respondent_risk(
    beliefs: Beliefs,
    history: History,
    *,
    most: int | None = None,
    show_values: bool = True,
    leaving_out: LeftOut = None,
) -> pd.DataFrame:
    """Highest belief in the true value of each respondent over all releases, and the release at which it was reached.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack.
    history : History
        The original records.
    most : int, optional
        Number of respondents to return, those of highest risk. By default all.
    show_values : bool
        If False, the column of true values is left out. The table still shows who is at risk: keep it as the records are kept.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.

    Returns
    -------
    DataFrame
        One row per respondent with a published record that is not left out, in decreasing order of the belief; ties are in the
        order of first appearance. Columns ``respondent``; ``belief``, the highest belief in the true value; ``low`` and
        ``high``, its 90 % interval over the draws of uncertain knowledge (`Averaged`), or for the Monte Carlo error of an estimator
        that samples, otherwise NaN; ``time``, the release
        (the first of several with the same belief); ``value``, the true value there; ``before``, the belief in it before that
        release, and ``prior``, before any release; ``rise``, belief less ``before``; ``share``, the value's share of the
        published group, NaN where counts are noisy; ``members``, the number of group members; ``releases``, the number of releases
        with a record.

    Notes
    -----
    The highest of several beliefs is chosen after the fact, with the truth known, so it overstates what the adversary can know
    to be right; compare `reliability_curve`. An interval does not allow for this choice, nor for wrong knowledge. Cost: O(n log n)
    for n records in all.
    """
    check_flag("respondent_risk", "show_values", show_values)
    if most is not None:
        check_whole("respondent_risk", "most", most, "respondents")
    table = worst_records(record_risk("respondent_risk", beliefs, history, leaving_out))[:most]
    return table if show_values else table.drop(columns="value")


def record_risk(owner: str, beliefs: Beliefs, history: History, leaving_out: LeftOut = None) -> Records:
    """Columns of `respondent_risk` of each published record, in the order of the releases; ``owner`` is for error messages."""
    check_beliefs(owner, beliefs)
    measured = beliefs_and_truth(owner, beliefs, history, leaving_out)
    each = [_NONE, *(_records(one, beliefs, t) for t, one in enumerate(measured))]
    return {name: np.concatenate([columns[name] for columns in each]) for name in _NONE}


def worst_records(records: Records) -> pd.DataFrame:
    """Record of highest belief of each respondent, among the exposed ones if ``records`` has a column ``exposed``.

    In decreasing order of the belief; ties are in the order of first appearance. ``releases`` is the number of records.
    """
    number = numbered({}, records["respondent"])
    exposed = records.get("exposed", np.zeros(len(number), dtype=np.bool_))
    order = np.lexsort((-records["belief"], ~exposed, number))
    highest = order[np.diff(number[order], prepend=-1) != 0]
    highest = highest[np.argsort(-records["belief"][highest], kind="stable")]
    table = pd.DataFrame({name: column[highest] for name, column in records.items()}).infer_objects()
    table["releases"] = np.bincount(number)[number[highest]] if len(highest) else np.zeros(0, dtype=np.int64)
    return table


_NONE: Records = (
    {"respondent": np.empty(0, dtype=object)}
    | {name: np.zeros(0) for name in ("belief", "low", "high")}
    | {name: np.empty(0, dtype=object) for name in ("time", "value")}
    | {name: np.zeros(0) for name in ("before", "prior", "rise", "share")}
    | {"members": np.zeros(0, dtype=np.int64)}
)
"""Columns of a release without records."""


def _records(one: BeliefsAndTruth, beliefs: Beliefs, t: int) -> Records:
    """Columns of release number t, one entry per measured record."""
    release = beliefs.releases[t]
    people = release.observation.people
    belief, before, prior = (
        stage[one.rows, one.true] for stage in (release.posterior.probabilities, release.revised, release.prior)
    )
    low = high = np.full(len(one.rows), np.nan)
    if beliefs.draws is not None or release.posterior.standard_error is not None:
        low, high = interval_of(beliefs, t, INTERVAL_MASS, (one.rows, one.true))
    return {
        "respondent": people.respondents[one.rows],
        "belief": belief,
        "low": low,
        "high": high,
        "time": object_array([one.time] * len(belief)),
        "value": object_array(people.schema.values)[one.true],
        "before": before,
        "prior": prior,
        "rise": belief - before,
        "share": low * np.nan if one.group_shares is None else one.share,
        "members": np.bincount(release.observation.group[release.observation.group >= 0])[one.group],
    }


def exposing_members(
    beliefs: Beliefs,
    respondent: Hashable,
    time: Any,
    *,
    value: Hashable | None = None,
    estimator: Estimator | None = None,
    without: Literal["prior", "uniform"] = "prior",
    most: int = 5,
) -> pd.DataFrame:
    """Members of a respondent's group, by the change of the belief about the respondent if less were known of the member.

    For each other member j, the belief is computed again with the revised prior of j replaced by its prior (leave-one-out).
    ``contribution`` is the belief less that.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack with an adversary.
    respondent : hashable
        The exposed respondent.
    time
        Time of the release.
    value : hashable, optional
        Value that the belief is about. By default the respondent's most probable value after the release.
    estimator : Estimator, optional
        Rule that computes the posterior of the group; by default `Auto`. Give the one of the adversary.
    without : {"prior", "uniform"}
        Row that replaces the revised prior of a member: its prior before any release, so that earlier releases are taken away;
        or the uniform distribution, so that the prior is too.
    most : int
        Number of members to return.

    Returns
    -------
    DataFrame
        One row per member, in decreasing order of the absolute contribution. Columns ``respondent``, the member; ``contribution``,
        positive where the knowledge of the member raises the belief; ``belief``, that with all revised priors; ``belief_without``;
        ``certainty``, the highest revised prior of the member. Empty if the respondent is suppressed or alone in the group.

    Notes
    -----
    Exact for one group and one release with an exact estimator. ``belief`` is that of the group given the revised priors. It is
    the posterior of `SequentialAttack` and `SnapshotAttack`, if there are no compromised records, counterfeits or distorted
    values; that of an attack that looks back differs. Contributions do not add up: members may replace each other. A member
    whose row does not change contributes 0 and is not computed. So a newcomer, whose revised prior is its prior, contributes 0
    with ``without="prior"``, as C below: no earlier release told about it. ``"uniform"`` measures what its prior tells. Cost:
    one problem of at most k - 1 groups of k records, O(k^2 m) memory.

    Examples
    --------
    A is exposed by B, of whom the first release told that B is well:

    >>> from foreknow.attacks import SequentialAttack
    >>> from foreknow.models import Adversary, History, MarkovChain, Numeric, Release, Schema, UniformPrior
    >>> frame = pd.DataFrame(
    ...     {"id": ["B", "A", "B", "C"], "week": [1, 2, 2, 2], "age": [30, 31, 30, 32], "result": ["well", "ill", "well", "well"]}
    ... )
    >>> history = History.read(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> attack = SequentialAttack(Adversary(UniformPrior(), MarkovChain(1, np.array([[0.9, 0.1], [0.1, 0.9]]))))
    >>> beliefs = attack([Release(history[0], [0]), Release(history[1], [0, 0, 0])])
    >>> exposing_members(beliefs, "A", 2, value="ill").round(3)
      respondent  contribution  belief  belief_without  certainty
    0          B          0.14   0.474           0.333        0.9
    1          C          0.00   0.474           0.474        0.5
    """
    owner = "exposing_members"
    check_beliefs(owner, beliefs)
    check_choice(owner, "without", without, ("prior", "uniform"))
    check_whole(owner, "most", most, "members")
    rule = Auto() if estimator is None else estimator
    release = beliefs.at(time)
    row = row_of(owner, release.observation, respondent)
    [found] = member_contributions(release, [row], [code_of(owner, release, row, value)], rule, without)
    members, names = found.members[: int(most)], release.observation.people.respondents
    return pd.DataFrame(
        {
            "respondent": object_array([names[member] for member in members]),
            "contribution": found.contribution[: len(members)],
            "belief": np.full(len(members), found.belief),
            "belief_without": found.without[: len(members)],
            "certainty": release.revised[members].max(axis=1, initial=0),
        }
    ).infer_objects()


class MemberContributions(NamedTuple):
    """Other members of a respondent's group, in decreasing order of the absolute contribution; see `exposing_members`."""

    members: IntArray  # rows of the release
    belief: float  # belief about the respondent, 0 without other members
    without: FloatArray  # the same with the row of each member replaced

    @property
    def contribution(self) -> FloatArray:
        """Belief less that without what is known of each member."""
        return self.belief - self.without


MAX_STACKED = 2**18
"""Number of rows of copies of groups that are solved together, unless one respondent needs more."""


def member_contributions(
    release: ReleaseBeliefs, rows: Sequence[int], codes: Sequence[int], rule: Estimator, without: str = "prior"
) -> list[MemberContributions]:
    """Contributions of the group members to the beliefs about several respondents of a release, as `exposing_members`.

    ``rows`` and ``codes`` are the rows of the respondents and the values of the beliefs. The copies of all their groups are the
    groups of one problem, of several where there are over `MAX_STACKED` rows.
    """
    group = release.observation.group
    order, starts = group_rows(group, int(group.max(initial=-1)) + 1)
    together = [order[starts[group[row]] : starts[group[row] + 1]] if group[row] >= 0 else order[:0] for row in rows]
    others = [members[members != row] for members, row in zip(together, rows, strict=True)]
    found = [MemberContributions(members, 0.0, np.zeros(0)) for members in others]
    some = [place for place, members in enumerate(others) if len(members)]
    if not some:
        return found
    problem = release.problem
    sizes = problem.sizes[problem.group[[rows[place] for place in some]]]
    parts = np.cumsum(sizes * sizes) // MAX_STACKED
    of_group = group_rows(problem.group, len(problem.counts))
    for part in np.unique(parts):
        chosen = [some[number] for number in np.flatnonzero(parts == part)]
        copies = [_copies(release, problem, of_group, rows[place], others[place], without) for place in chosen]
        numbers = np.cumsum([0, *(len(copy.priors) for copy in copies)])
        width = np.concatenate([np.full(len(copy.priors), copy.priors.shape[1]) for copy in copies])
        counts = np.concatenate([np.repeat(copy.counts[None], len(copy.priors), axis=0) for copy in copies])
        priors = np.concatenate([copy.priors.reshape(-1, problem.prior.shape[1]) for copy in copies])
        beliefs = rule(Problem(priors, np.repeat(np.arange(len(width)), width), counts)).probabilities
        first = np.cumsum(width) - width
        for place, copy, start, stop in zip(chosen, copies, numbers[:-1], numbers[1:], strict=True):
            believed = beliefs[first[start:stop] + copy.own, codes[place]]
            changed = np.full(len(others[place]), believed[0])
            changed[copy.changed] = believed[1:]
            by_size = np.argsort(-np.abs(believed[0] - changed), kind="stable")
            found[place] = MemberContributions(others[place][by_size], float(believed[0]), changed[by_size])
    return found


class _Copies(NamedTuple):
    """A group, and its copies in each of which the row of one other member is replaced."""

    priors: FloatArray  # (1 + changed, k, m)
    counts: IntArray  # (m,)
    own: int  # place of the respondent in the group
    changed: IntArray  # places, among the other members, of those whose row is replaced by another one


def _copies(
    release: ReleaseBeliefs, problem: Problem, of_group: GroupRows, row: int, members: IntArray, without: str
) -> _Copies:
    group = problem.group[row]
    rows, m = of_group.order[of_group.starts[group] : of_group.starts[group + 1]], problem.prior.shape[1]
    replacing = release.prior[members] if without == "prior" else np.full((len(members), m), 1 / m)
    changed = np.flatnonzero((replacing != problem.prior[members]).any(axis=1))
    priors = np.repeat(problem.prior[rows][None], len(changed) + 1, axis=0)
    priors[np.arange(1, len(changed) + 1), np.searchsorted(rows, members[changed])] = replacing[changed]
    return _Copies(priors, problem.counts[group], int(np.searchsorted(rows, row)), changed)


def row_of(owner: str, observation: Observation, respondent: Hashable) -> int:
    """Row of a respondent in a release; ValueError if there is none."""
    rows = observation.people.rows(respondent)
    if not len(rows):
        raise ValueError(
            f"{owner}: respondent {respondent!r} is not in the release at {observation.time!r}; name one of its "
            f"{len(observation.people)} respondents, as in people.respondents."
        )
    return int(rows[0])


def code_of(owner: str, release: ReleaseBeliefs, row: int, value: Hashable | None) -> int:
    """Code of a value, or of a respondent's most probable one."""
    values = release.observation.people.schema.values
    if value is None:
        return int(release.posterior.probabilities[row].argmax())
    matching = [code for code, known in enumerate(values) if type(known) is type(value) and known == value]
    if not matching:
        raise ValueError(f"{owner}: value is {value!r}; it is one of {', '.join(map(repr, values[:8]))}.")
    return matching[0]


OF_RECORDS = frozenset({"records", "measured", "published", "suppressed", "compromised", "certain"})
"""Columns of measures that count records and do not depend on the beliefs."""


def across_draws(
    measure: Callable[..., pd.DataFrame], beliefs: Beliefs, history: History, mass: float = 0.9, **options: object
) -> pd.DataFrame:
    """Measure of mixed beliefs, with the interval of the same measure over the draws of the knowledge.

    Parameters
    ----------
    measure : function of beliefs and a history to a table with one row per release
        One of `BELIEF_MEASURES`, as `adversary_gain` or `risk_table`.
    beliefs : Beliefs
        Of an attack with an `Averaged` adversary.
    history : History
        The original records.
    mass : float
        Weight of the draws within the interval, with equal tails; over 0 and below 1.
    **options
        Options of the measure.

    Returns
    -------
    DataFrame
        The table of the measure of the mixture. After each column of numbers there are two more, with ``_low`` and ``_high``
        after its name: quantiles over draws, with the weights of the draws at that release. Columns that do not depend on the
        beliefs have none: numbers of records (`OF_RECORDS`).

    Notes
    -----
    The interval says how much the measure depends on what the adversary does not know of the law. The measure of the mixture
    can lie outside: a mixture of certain and different beliefs is uncertain. It is no interval for a larger population. For a
    measure over all releases, as `reliability_curve`, call it with each of ``beliefs.draws.beliefs``. Cost: that of the measure for
    each draw.
    """
    check_beliefs("across_draws", beliefs)
    if not is_number(mass, 0, 1) or mass in (0, 1):
        raise ValueError(f"across_draws: mass is {mass!r}; it is the weight within the interval, over 0 and below 1.")
    if beliefs.draws is None:
        raise ValueError("across_draws: the beliefs have no draws; attack with an Averaged adversary.")
    table = measure(beliefs, history, **options)
    if "time" not in table or len(table) != len(beliefs):
        raise ValueError(
            f"across_draws: {measure.__name__} returns no table with one row per release and a column time; use one of "
            "BELIEF_MEASURES, or call it with each of beliefs.draws.beliefs."
        )
    each = [measure(draw, history, **options) for draw in beliefs.draws.beliefs]
    columns: dict[str, pd.Series] = {}
    for name in table.columns:
        columns[name] = table[name]
        if name != "time" and name not in OF_RECORDS and pd.api.types.is_numeric_dtype(table[name]):
            draws = np.column_stack([one[name].to_numpy(dtype=np.float64) for one in each])
            for end, level in (("low", (1 - mass) / 2), ("high", (1 + mass) / 2)):
                columns[f"{name}_{end}"] = pd.Series(
                    [
                        weighted_quantiles(row[:, None], weights, level)[0]
                        for row, weights in zip(draws, beliefs.draws.weights, strict=True)
                    ],
                    index=table.index,
                    dtype=np.float64,
                )
    return pd.DataFrame(columns)


def weighted_quantiles(numbers: FloatArray, weights: FloatArray, level: float) -> FloatArray:
    """Smallest number at or below which draws have a weight of at least the level; NaN where a draw has none.

    Returns
    -------
    float array, shape (...)

    Examples
    --------
    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3]), 0.6)
    array(2.)
    """
    order = np.argsort(numbers, axis=0, kind="stable")
    reached = np.cumsum(weights[order], axis=0) >= level - 1e-12
    reached[-1] = True
    found = np.take_along_axis(numbers, np.take_along_axis(order, reached.argmax(axis=0)[None], axis=0), axis=0)[0]
    return np.where(np.isnan(numbers).any(axis=0), np.nan, found)


class BeliefInterval(NamedTuple):
    """Interval of each belief after a release: lower and upper ends, float arrays of shape ``(n, m)``, or of the chosen entries."""

    low: FloatArray
    high: FloatArray


def interval_of(
    beliefs: Beliefs, t: int, mass: float, entries: tuple[IntArray, IntArray] | EllipsisType = ...
) -> BeliefInterval:
    """Central interval of each belief after release number t, or of some entries, as rows and columns.

    With draws of the knowledge, its ends are the weighted quantiles of the beliefs under each draw. With a Monte Carlo standard
    error, they are those of the normal distribution around the belief, within 0 and 1. Otherwise both ends are the belief.
    """
    posterior = beliefs.releases[t].posterior
    lower, upper = (1 - mass) / 2, (1 + mass) / 2
    if beliefs.draws is not None:
        rows = np.stack([one.releases[t].posterior.probabilities[entries] for one in beliefs.draws.beliefs])
        weights = beliefs.draws.weights[t]
        return BeliefInterval(*(weighted_quantiles(rows, weights, level) for level in (lower, upper)))
    belief = posterior.probabilities[entries]
    if posterior.standard_error is None:
        return BeliefInterval(belief, belief)
    reach = float(scipy.special.ndtri(upper)) * posterior.standard_error[entries]
    return BeliefInterval(*(np.clip(belief + sign * reach, 0, 1) for sign in (-1, 1)))
