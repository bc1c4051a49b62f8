"""PyMC model of a whole history in which class frequencies and transitions are unknown, for small histories."""

from collections.abc import Callable, Hashable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray, ObjectArray, object_array
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.joint.building import JointHistory
from foreknow.models.joint.problem import JointProblem, check_no_pairs, components
from foreknow.models.knowledge.dirichlet import row_concentrations
from foreknow.models.knowledge.personal_transitions import as_classes
from foreknow.models.knowledge.presence import following_releases
from foreknow.models.settings import check_kind
from foreknow.models.tables.columns import coordinate, coordinates

if TYPE_CHECKING:
    import pymc as pm

MAX_CELLS = 2**22
"""Largest number of values in the assignments of all components: assignments times records."""


class Assignments(NamedTuple):
    """Joint assignments of a component that the published multisets or noisy counts allow.

    Attributes
    ----------
    records : int array, shape (r,)
    values : int array, shape (a, r)
    parameter : int array, shape (a, r)
        Position of the factor of each value: in the frequencies, then in the transitions, then a last one of logarithm 0.
    log_known : float array, shape (a,)
        Logarithm of the factors that are known: evidence, channels of distorted values, noise of counts, counterfeits.
    """

    records: IntArray
    values: IntArray
    parameter: IntArray
    log_known: FloatArray


class HistoryRecords(NamedTuple):
    """R records of a joint history as an adversary sees them, in the order of its problem.

    Attributes
    ----------
    listed : list
        Identifiers of all respondents, in the order of first appearance.
    respondent : int array, shape (R,)
        Place of each record's respondent in ``listed``; -1 for a counterfeit, of which nothing else is known.
    quasi_identifiers : pandas.DataFrame
        One row per record.
    time : object array, shape (R,)
        Time of the release.
    release : int array, shape (R,)
        Number of the release, 0 for the first.
    group : int array, shape (R,)
        Number of the group in the release; -1 for a record outside all groups.
    following : int array, shape (R,)
        Number of the next release that lists the respondent; -1 for none. Not to be read where the adversary has `Presence`.
    releases : int
        Number of releases. Of ``following`` nothing is known at the last one, ``releases - 1``.
    """

    listed: list[Hashable]
    respondent: IntArray
    quasi_identifiers: pd.DataFrame
    time: ObjectArray
    release: IntArray
    group: IntArray
    following: IntArray
    releases: int


class _RecordsOfPresence(HistoryRecords):
    """Records of an adversary whose evidence has read ``following`` already."""

    @property
    def following(self) -> IntArray:
        """Refused."""
        raise ValueError(
            "history_model: program reads following, which the presence of the adversary reads too: departures would count twice. "
            "Leave one of them out: joint_history(adversary.without('presence'), observations)."
        )


def history_model(
    history: JointHistory | JointProblem,
    classes: IntArray | None = None,
    frequency_concentration: "float | FloatArray" = 1.0,
    transition_concentration: "float | FloatArray" = 1.0,
    *,
    program: "Callable[[HistoryRecords], Any] | None" = None,
) -> "pm.Model":
    """Return the joint law of all values of a history and of the knowledge that explains them.

    The first value of a respondent is drawn from the frequencies of the respondent's class, each next one from the row of the
    transitions after the last value. All rows are unknown, ``Dirichlet(concentration)``. Each group publishes the multiset of its
    values, or noisy counts. The values are summed over: a component of respondents who share groups has the likelihood
    ``sum over its assignments of the product of their probabilities``.

    Parameters
    ----------
    history : JointHistory or JointProblem
        Of `joint_history`. **Its prior and transitions are not read**: the model has its own.
    classes : int array, shape (N,), optional
        Class of each respondent (path), 0 to c - 1. One class by default.
    frequency_concentration : float, or float array of shape (c, m)
        Of all rows, or of each.
    transition_concentration : float, or float array of shape (m, m)
        Of all rows, or of each.
    program : callable, optional
        ``program(records) -> log_likelihood``, called once within the model: from `HistoryRecords`, and the unknown quantities that
        it adds to the model, the log-likelihood of each value at each record, a PyTensor matrix of shape ``(R, m)``, of something
        else that is known of the record, as when its respondent leaves. Rows of counterfeits are not read. By keyword.

    Returns
    -------
    pymc.Model
        With the variables

        - ``frequencies``, dims ``class, value``;
        - ``transitions``, dims ``last, value``, if the problem has transitions;
        - ``published``, a potential, dim ``component``: log-probability of the published multisets and counts of each component;
        - ``belief``, dims ``record, value``: the exact posterior of each record, given frequencies and transitions. Its mean over
          the draws is the belief of an adversary who knows neither. Records are those of the problem, counterfeits included; those
          of a `JointHistory` have the label ``respondent at time``;
        - those of ``program``, which may have the dims ``respondent``, ``record`` and ``value``.

        The assignments of component c are `pymc.Data`: ``assigned_c``, ``factor_c`` and ``log_known_c``.

    Raises
    ------
    TooLarge
        If the assignments of all components hold more than `MAX_CELLS` values.
    ValueError
        If there is a program and a `JointProblem`, which has no respondents; if the program returns another shape; if it reads
        ``following`` and the adversary has a presence, whose evidence would count departures again.

    Notes
    -----
    Exact. Counterfeits keep their uniform distribution. Evidence of claims is read as likelihoods, which `joint_history` computed
    with the adversary's own knowledge. Cost of a density: O(assignments * records). With known frequencies and transitions the
    beliefs are those of `Enumeration`, by another algorithm.

    PyMC warns that the potential is left out of predictive draws.

    Examples
    --------
    >>> half = np.full((2, 2), 0.5)
    >>> problem = JointProblem(half, (half[None],), [0, 1, 0, 1], [0, 0, 1, 1], [0] * 4, [[1, 1], [2, 0]], [0, 1])
    >>> model = history_model(problem)
    >>> model.free_RVs, model.potentials, model.deterministics
    ([frequencies, transitions], [published], [belief])

    An unknown chance of leaving after each value, read off who is listed again::

        def leaving(records):
            leave = pm.Beta("leave", 1, 1, dims="value")
            left, known = records.following < 0, records.release < records.releases - 1
            return known[:, None] * pt.log(pt.where(left[:, None], leave, 1 - leave))

        model = history_model(joint_history(adversary, observations), program=leaving)
    """
    import pymc as pm
    import pytensor.tensor

    pt: Any = pytensor.tensor
    problem, domain = _problem_and_domain(history)
    m = problem.values
    of_path = _classes(problem, classes)
    number = int(of_path.max(initial=0)) + 1
    parts = _assignments(problem, of_path, number)
    owner = "history_model"
    frequency = row_concentrations(owner, "frequency_concentration", frequency_concentration, (number, m))
    transition = row_concentrations(owner, "transition_concentration", transition_concentration, (m, m))
    coords: dict[str, Any] = {
        "class": range(number),
        "value": domain,
        "last": domain,
        "component": range(len(parts)),
        "record": range(len(problem.path)),
    }
    records = history_records(history) if isinstance(history, JointHistory) else None
    if records is not None:
        coords["respondent"] = coordinates(records.listed)
        named = zip(records.respondent, records.time, strict=True)
        coords["record"] = [
            f"counterfeit {r}" if of < 0 else f"{records.listed[of]} at {time}" for r, (of, time) in enumerate(named)
        ]
    with pm.Model(coords=coords) as model:
        rows = [_dirichlet_rows("frequencies", frequency, ("class", "value"))]
        if problem.order:
            rows.append(_dirichlet_rows("transitions", transition, ("last", "value")))
        told = _log_likelihood(program, records, (len(problem.path), m))
        log_factor = pt.concatenate([*(pt.log(row).flatten() for row in rows), np.zeros(1)])
        log_weights, beliefs = [], []
        for c, part in enumerate(parts):
            # Logarithm of the probability of each assignment, and the share of those in which each record has each value.
            assigned, parameter = pm.Data(f"assigned_{c}", part.values), pm.Data(f"factor_{c}", part.parameter)
            log_weights.append(log_factor[parameter].sum(axis=1) + pm.Data(f"log_known_{c}", part.log_known))
            if told is not None:
                log_weights[-1] += told[part.records[None], assigned].sum(axis=1)
            weight = pt.special.softmax(log_weights[-1])
            beliefs.append(pt.stack([weight @ pt.eq(assigned, s).astype("float64") for s in range(m)], axis=1))  # noqa: PD013 - of PyTensor
        pm.Potential("published", pt.stack([pt.logsumexp(weight) for weight in log_weights]), dims="component")  # noqa: PD013 - of PyTensor
        place = np.argsort(np.concatenate([part.records for part in parts]))
        pm.Deterministic("belief", pt.concatenate(beliefs)[place], dims=("record", "value"))
    return model


def history_records(history: JointHistory) -> HistoryRecords:
    """Records of a joint history with what is seen of each. Cost: O(records)."""
    problem, seen = history.problem, history.observations
    listed = list(dict.fromkeys(name for observation in seen for name in observation.people.respondents))
    number = {name: place for place, name in enumerate(listed)}
    release = problem.release[problem.group]
    respondent, group, following = (np.full(len(release), -1, dtype=np.int64) for _ in range(3))
    frames = []
    next_release = following_releases([observation.people for observation in seen])
    for observation, record, later in zip(seen, history.record, next_release, strict=True):
        rows = np.flatnonzero(record >= 0)
        own = record[rows]
        group[own], following[own] = observation.group[rows], later[rows]
        respondent[own] = [number[name] for name in observation.people.respondents[rows]]
        frames.append(observation.people.frame.iloc[rows].set_axis(own))
    known = pd.concat(frames).reindex(range(len(release)))
    time = object_array([seen[t].time for t in release])
    kind = HistoryRecords if history.adversary.presence is None else _RecordsOfPresence
    return kind(listed, respondent, known, time, release, group, following, len(seen))


def _log_likelihood(program: Any, records: HistoryRecords | None, shape: tuple[int, int]) -> Any:
    """Result of a program within the model of the context, 0 for counterfeits; None without a program."""
    import pytensor.tensor

    pt: Any = pytensor.tensor
    if program is None:
        return None
    takes = "is a function from HistoryRecords to the log-likelihood of each value of each record, or None"
    check_kind("history_model", "program", program, Callable, takes)
    if records is None:
        raise ValueError(
            "history_model: program reads respondents, and a JointProblem has none; give joint_history(adversary, observations)."
        )
    told = pt.as_tensor(program(records), dtype="float64")
    found = told.type.shape
    if told.ndim != 2 or any(one not in (None, other) for one, other in zip(found, shape, strict=True)):
        raise ValueError(
            f"history_model: the result of program has shape {found}; it is {shape}, a row for each record and a column for each "
            "value."
        )
    return pt.where(records.respondent[:, None] >= 0, told, 0.0)


def _dirichlet_rows(name: str, concentration: FloatArray, dims: tuple[str, str]) -> Any:
    """Rows of unknown probabilities with named dims, in the model of the context.

    With the argument ``dims``, PyMC does not know the shape in advance, and PyTensor 3 fails to compile the gradient of one row of
    two probabilities (IndexError). So the shape is that of the concentration, and the dims are named afterwards.
    """
    import pymc as pm

    rows = pm.Dirichlet(name, concentration)
    pm.modelcontext(None).named_vars_to_dims[name] = dims
    return rows


def _problem_and_domain(history: Any) -> tuple[JointProblem, list[Any]]:
    if isinstance(history, JointHistory):
        domain = history.observations[0].people.schema.values if history.observations else ()
        problem, names = history.problem, [coordinate(value) for value in domain]
    else:
        problem, names = history, list(range(history.values))
    check_no_pairs("history_model", problem)
    if problem.order > 1 or (problem.order and len(problem.tables[0]) != 1):
        raise ValueError(
            f"history_model: the problem has chains of order {problem.order}, {len(problem.tables[0])} of them; the model has one "
            'chain of order 1. Use transitions.truncate(1), one chain for all releases, and gaps="ignore".'
        )
    if not len(problem.path):
        raise ValueError("history_model: the problem has no records; it needs one at least.")
    return problem, names


def _classes(problem: JointProblem, classes: Any) -> IntArray:
    """Class of each path; 0 for counterfeits, whose class is not read."""
    if classes is None:
        return np.zeros(len(problem.prior), dtype=np.int64)
    array = as_classes("history_model: classes", classes, problem.respondents, problem.respondents + 1)
    return np.concatenate([array, np.zeros(len(problem.prior) - len(array))]).astype(np.int64)


def _assignments(problem: JointProblem, of_path: IntArray, classes: int) -> list[Assignments]:
    """Assignments of each component; raises TooLarge if they hold too many values."""
    room = MAX_CELLS
    found = []
    for records in components(problem):
        listed = _group_options(problem, records, room // len(records))
        values = np.array([sum((own for own, _ in each), ()) for each in listed], dtype=np.int64)
        log_known = np.array([sum(known for _, known in each) for each in listed])
        found.append(_with_factors(problem, of_path, classes, records, values.reshape(-1, len(records)), log_known))
        room -= values.size
    return found


def _group_options(problem: JointProblem, records: IntArray, most: int) -> list[Any]:
    """Assignments of a component as tuples over its groups of (values, log-weight); TooLarge if they are more than ``most``."""
    options: list[list[tuple[tuple[int, ...], float]]] = []
    total = 1
    for g in np.unique(problem.group[records]).tolist():
        options.append([])
        for option in _options_of(problem, g, int((problem.group[records] == g).sum())):
            options[-1].append(option)
            if total * len(options[-1]) > most:
                raise TooLarge(
                    f"history_model: the assignments of {len(problem.path)} records hold more than {MAX_CELLS} values. Model a "
                    "smaller history, or use PathSampler(rng=...), which samples the same law."
                )
        total *= len(options[-1])
    return list(product(*options))


def _options_of(problem: JointProblem, g: int, size: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Own values of the members of a group, and the logarithm of the probability of its multiset or noisy counts given them."""
    counts, row = problem.counts[g], int(problem.emission_row[g])
    if counts.any() and row < 0:
        yield from ((values, 0.0) for values in _arrangements(counts.tolist()))
        return
    published = list(_arrangements(counts.tolist())) if counts.any() else []
    start = problem.count_start[g]
    for values in product(range(problem.values), repeat=size):
        if start[0] >= 0:
            number = np.bincount(values, minlength=problem.values)
            yield values, float(problem.count_logs[start + number].sum())
            continue
        if published:
            channel = problem.emission[row]
            weight = float(sum(channel[list(values), list(other)].prod() for other in published))
            if weight > 0:
                yield values, float(np.log(weight))
        else:
            yield values, 0.0


def _arrangements(counts: list[int]) -> Iterator[tuple[int, ...]]:
    """Distinct orders of a multiset."""
    if not any(counts):
        yield ()
    for s, count in enumerate(counts):
        if count:
            rest = [*counts[:s], count - 1, *counts[s + 1 :]]
            yield from ((s, *others) for others in _arrangements(rest))


def _with_factors(
    problem: JointProblem,
    of_path: IntArray,
    classes: int,
    records: IntArray,
    values: IntArray,
    log_known: FloatArray,
) -> Assignments:
    """Assignments with the position of the factor of each value, and the known factors; impossible ones are left out."""
    m, at = problem.values, problem.layout
    column = {int(r): place for place, r in enumerate(records)}
    parameter = np.empty_like(values)
    log_known = log_known.copy()
    with np.errstate(divide="ignore"):
        for place, r in enumerate(records.tolist()):
            path, before = int(problem.path[r]), int(at.previous[r])
            if before >= 0:
                parameter[:, place] = (classes + values[:, column[before]]) * m + values[:, place]
            elif path < problem.respondents:
                parameter[:, place] = of_path[path] * m + values[:, place]
            else:
                parameter[:, place] = (classes + (m if problem.order else 0)) * m
                log_known += np.log(problem.prior[path])[values[:, place]]
            if problem.evidence_row[r] >= 0:
                log_known += np.log(problem.evidence[problem.evidence_row[r]])[values[:, place]]
    kept = np.isfinite(log_known)
    if not kept.any():
        raise ValueError(
            f"history_model: the evidence rules out every assignment of groups {np.unique(problem.group[records]).tolist()[:6]}. "
            "Correct the compromised records, or leave them out."
        )
    return Assignments(records, values[kept], parameter[kept], log_known[kept])
