"""Members of a group whose knowledge contributes most to the belief about another one."""

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_beliefs
from foreknow.evaluation.risk.respondent_risk import as_objects
from foreknow.models import Auto, Beliefs, Observation, Problem, ReleaseBeliefs
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.problem import Estimator
from foreknow.models.settings import check_choice, check_whole


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

    Raises
    ------
    TypeError
        If the beliefs are no `Beliefs`, or the estimator is none.
    ValueError
        If there is no such release, respondent or value, or a choice or number is none of those above.

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
    if isinstance(rule, type) or not callable(rule):
        raise TypeError(f"{owner}: estimator is {rule!r}; it is an estimator object, as Exact().")
    release = beliefs.at(time)
    row = _row(release.observation, respondent)
    code = _code(release, row, value)
    members = _others(release.observation, row)
    believed, changed = _beliefs_without(release, row, members, code, rule, without)
    contribution = believed - changed
    order = np.argsort(-np.abs(contribution), kind="stable")[: int(most)]
    names = release.observation.people.respondents
    return pd.DataFrame(
        {
            "respondent": as_objects([names[member] for member in members[order]]),
            "contribution": contribution[order],
            "belief": np.full(len(order), believed),
            "belief_without": changed[order],
            "certainty": release.revised[members[order]].max(axis=1, initial=0),
        }
    ).infer_objects()


def _beliefs_without(
    release: ReleaseBeliefs, row: int, members: IntArray, code: int, rule: Estimator, without: str
) -> tuple[float, FloatArray]:
    """Belief about a respondent, and the same with the row of each other member replaced: shape ``(k - 1,)``."""
    if not len(members):
        return 0.0, np.zeros(0)
    problem = release.observation.problem(release.revised)
    group = problem.group[row]
    rows = np.flatnonzero(problem.group == group)
    place = np.searchsorted(rows, members)
    m = problem.prior.shape[1]
    replacing = release.prior[members] if without == "prior" else np.full((len(members), m), 1 / m)
    changed = np.flatnonzero((replacing != problem.prior[members]).any(axis=1))
    priors = np.repeat(problem.prior[rows][None], len(changed) + 1, axis=0)
    priors[np.arange(1, len(changed) + 1), place[changed]] = replacing[changed]
    copies, size = priors.shape[:2]
    counts = np.repeat(problem.counts[[group]], copies, axis=0)
    stacked = Problem(priors.reshape(-1, m), np.repeat(np.arange(copies), size), counts)
    own = int(np.searchsorted(rows, row))
    found = rule(stacked).probabilities.reshape(copies, size, m)[:, own, code]
    beliefs = np.full(len(members), found[0])
    beliefs[changed] = found[1:]
    return float(found[0]), beliefs


def _others(observation: Observation, row: int) -> IntArray:
    """Rows of the other members of a respondent's group; none of a suppressed respondent."""
    group = observation.group[row]
    rows = np.flatnonzero(observation.group == group) if group >= 0 else np.zeros(0, dtype=np.int64)
    return np.asarray(rows[rows != row])


def _row(observation: Observation, respondent: Hashable) -> int:
    try:
        rows = observation.people.rows(respondent)
    except TypeError:
        rows = []
    if not len(rows):
        raise ValueError(
            f"exposing_members: respondent {respondent!r} is not in the release at {observation.time!r}; name one of its "
            f"{len(observation.people)} respondents, as in people.respondents."
        )
    return int(rows[0])


def _code(release: ReleaseBeliefs, row: int, value: Hashable | None) -> int:
    """Code of a value, or of a respondent's most probable one."""
    values = release.observation.people.schema.values
    if value is None:
        return int(release.posterior.probabilities[row].argmax())
    matching = [code for code, known in enumerate(values) if type(known) is type(value) and known == value]
    if not matching:
        raise ValueError(f"exposing_members: value is {value!r}; it is one of {', '.join(map(repr, values[:8]))}.")
    return matching[0]
