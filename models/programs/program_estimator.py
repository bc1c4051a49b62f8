"""Estimator of releases from a PyMC program: the posterior mean of its belief, by Markov chain Monte Carlo."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.arguments import check_problem
from foreknow.models.estimators.assignments.swap_moves import summarize_chains
from foreknow.models.estimators.convergence import MAX_RHAT, MIN_DRAWS
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.estimators.swap_chain import MAX_STORED_PROBABILITIES
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import CONTRADICTED, UNCONVERGED, Posterior, Problem, are_probabilities, probability_rows
from foreknow.models.programs.compiled_program import BeliefDraws, Impossible, RunLength, Unusable
from foreknow.models.programs.program_cache import ProgramCache
from foreknow.models.settings import (
    as_generator,
    check_choice,
    check_flag,
    check_not_class,
    check_range,
    check_whole,
    is_whole,
    shown,
)

if TYPE_CHECKING:
    import pymc as pm

DIMS = ("respondent", "value")
"""Last two dimensions of a belief."""


@dataclass(frozen=True)
class ProgramEstimator:
    """Posterior mean of the belief of a PyMC program, sampled for each group or for a whole release.

    A program is a function from a `Problem` to a `pymc.Model` with a deterministic variable ``belief``: the belief in each
    value of each respondent, given the unknown quantities of the model. The posterior is the mean of ``belief`` over the
    draws, which is a mixture of beliefs. It is not the belief under the mean of the unknown quantities.

    Parameters
    ----------
    build : callable
        ``build(problem) -> pymc.Model``, such as `permutation_model`. ``belief`` has the shape ``(n, m)`` of the problem's prior
        (a leading dimension of length 1, as in `release_model`, is dropped). Its rows are probabilities. Its dims, where it
        has dims, end in ``respondent, value``.
    draws : int
        Number of draws that each chain keeps, at least `MIN_DRAWS`.
    chains : int
        Number of chains, at least 2.
    warmup : int, optional
        Number of draws that each chain discards first, in which NUTS adapts; ``draws`` by default.
    per : {"group", "release"}
        ``"group"``: ``build`` is called for each group, with a problem that has this group alone and no other respondents.
        ``"release"``: it is called once, with the whole problem, so that unknown quantities are learned from all groups.
    nuts_sampler : {"pymc", "nutpie"}
        ``"nutpie"`` needs the extra ``foreknow[nutpie]``. It draws about 5 times as fast and takes longer to compile.
    target_accept : float
        Acceptance rate for which NUTS chooses its step size, above 0 and below 1. A larger one avoids divergences.
    max_groups : int
        Largest number of groups of a release with ``per="group"``; equal groups count once.
    reads_evidence : bool
        True if ``build`` reads `Problem.evidence`, as `permutation_model` does. Otherwise a problem that has evidence is
        refused.
    rng : numpy.random.Generator or int
        Random generator, or an integer seed that makes one. Each call continues the generator, so that two calls differ.

    Raises
    ------
    ValueError
        If a setting is out of its range, or nutpie is not installed. When called, if the model has no deterministic ``belief``, or
        one of another shape or other dims, or rows that are no probabilities; the message names the group.
    TypeError
        If ``build`` cannot be called, or ``rng`` is neither a generator nor an integer. When called with anything but a `Problem`,
        or if ``build`` returns no `pymc.Model`.
    TooLarge
        When called, if there are more groups than ``max_groups``, ``build`` raises a ValueError for a group, the model has
        more than `MAX_PARAMETERS` unknown numbers, or the draws are more than `MAX_STORED_PROBABILITIES` numbers.

    Notes
    -----
    Consistent for the program as the number of draws grows. The posterior has a standard error, an effective sample size and
    an R-hat for each belief (`mean_diagnostics`, equal to ArviZ's). A group is `Status.UNCONVERGED` if an R-hat exceeds
    `MAX_RHAT` or a kept draw is divergent. With ``per="release"`` a divergent draw concerns all groups. Where the density of the
    model is 0 at all starting points, beliefs are the shares of the group, reported as `Status.CONTRADICTED`. A model without free
    variables is evaluated once. Rows outside all groups keep the prior.

    Not checked: that the program describes the release. A belief may be positive for a value that the group does not show.

    Each program is compiled once for all models that differ in their `pymc.Data` alone, also between calls; put arrays that
    depend on the problem into `pymc.Data`. A constant array makes another model. Equal groups of a release are sampled once and
    have the same Monte Carlo error.

    Cost: a compilation takes 0.5 to 20 seconds, and building a model some 30 ms. A group takes chains * (draws + warmup)
    trajectories of NUTS, of 0.3 ms each for three members under `permutation_model`. Models with discrete variables go through
    `pymc.sample`, which compiles them for every group.

    Examples
    --------
    A program without unknown quantities, whose belief is in proportion to prior times count:

    >>> import numpy as np
    >>> import pymc as pm
    >>> def proportional(problem):
    ...     with pm.Model() as model:
    ...         weight = pm.Data("weight", problem.prior * problem.counts[0])
    ...         pm.Deterministic("belief", weight / weight.sum(axis=1, keepdims=True))
    ...     return model
    >>> problem = Problem(np.array([[0.8, 0.2], [0.5, 0.5]]), np.array([0, 0]), np.array([[1, 1]]))
    >>> ProgramEstimator(proportional, rng=1)(problem).probabilities
    array([[0.8, 0.2],
           [0.5, 0.5]])
    """

    build: "Callable[[Problem], pm.Model]"
    draws: int = 500
    chains: int = 4
    warmup: int | None = None
    per: Literal["group", "release"] = "group"
    nuts_sampler: Literal["pymc", "nutpie"] = "pymc"
    target_accept: float = 0.9
    max_groups: int = 200
    reads_evidence: bool = False
    rng: "np.random.Generator | int" = field(kw_only=True)
    exact: ClassVar[bool] = False
    _programs: ProgramCache = field(init=False, repr=False, compare=False, default_factory=ProgramCache)

    def __post_init__(self) -> None:
        _check_build(self.build)
        _check_lengths(self.draws, self.chains, self.warmup)
        check_choice("ProgramEstimator", "per", self.per, ("group", "release"))
        check_choice("ProgramEstimator", "nuts_sampler", self.nuts_sampler, ("pymc", "nutpie"))
        check_range("ProgramEstimator", "target_accept", self.target_accept, 0.01, 0.999, "an acceptance rate")
        check_whole("ProgramEstimator", "max_groups", self.max_groups, "groups")
        check_flag("ProgramEstimator", "reads_evidence", self.reads_evidence)
        if self.nuts_sampler == "nutpie" and find_spec("nutpie") is None:
            raise ValueError(
                "ProgramEstimator: nuts_sampler is 'nutpie', which is not installed. Install foreknow[nutpie], or use "
                "nuts_sampler='pymc'."
            )
        object.__setattr__(self, "rng", as_generator("ProgramEstimator", self.rng))

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        check_problem(self, problem, reads_evidence=bool(self.reads_evidence))
        parts = list(self._parts(problem))
        keys = [_key(part.problem) for part in parts]
        if self.per == "group" and len(set(keys)) > self.max_groups:
            raise TooLarge(
                f"ProgramEstimator: the release has {len(set(keys))} different groups, more than max_groups={self.max_groups}. "
                "Raise max_groups if there is time to sample each of them, or use Auto(), which does not sample."
            )
        status = np.zeros(len(problem.counts), dtype=np.int64)
        defaults = (0.0, float(self.draws * self.chains), 1.0)
        answer = [problem.prior.copy(), *(np.full(problem.prior.shape, default) for default in defaults)]
        done: dict[tuple[bytes, ...], _Summary] = {}
        for part, key in zip(parts, keys, strict=True):
            if key not in done:
                done[key] = self._summary(part)
            *numbers, status[part.groups] = done[key]
            for target, source in zip(answer, numbers, strict=True):
                target[part.rows] = source
        belief, standard_error, ess, rhat = answer
        return Posterior(belief, status, standard_error, ess, rhat)

    def _parts(self, problem: Problem) -> Iterator["_Part"]:
        """The groups, or the release, without empty groups."""
        groups = np.flatnonzero(problem.sizes)
        if self.per == "release":
            if len(groups):
                yield _Part("the release", problem, np.flatnonzero(problem.group >= 0), groups)
            return
        order, starts = group_rows(problem.group, len(problem.counts))
        for j in groups:
            rows = order[starts[j] : starts[j + 1]]
            evidence = None if problem.evidence is None else problem.evidence[rows]
            alone = Problem(problem.prior[rows], np.zeros(len(rows), dtype=np.int64), problem.counts[[j]], evidence)
            yield _Part(f"group {j}", alone, rows, np.array([j]))

    def _summary(self, part: "_Part") -> "_Summary":
        """Mean, standard error, effective sample size, R-hat and status of one part."""
        problem, inside = part.problem, np.flatnonzero(part.problem.group >= 0)
        group, groups = problem.group[inside], np.flatnonzero(problem.sizes)
        try:
            belief, divergences = self._draws(part)
        except Impossible:
            shares = problem.counts[group] / problem.sizes[group][:, None]
            return self._without_draws(shares, np.full(len(groups), CONTRADICTED))
        _check_rows(part.name, belief)
        belief = np.maximum(belief[:, :, inside], 0.0)
        if belief.shape[:2] == (1, 1):
            rows = belief[0, 0] / belief[0, 0].sum(axis=1, keepdims=True)
            return self._without_draws(rows, np.zeros(len(groups), dtype=np.int64))
        mean, error, ess, rhat = summarize_chains(np.ascontiguousarray(np.moveaxis(belief, (0, 1), (2, 3))))
        disagree = np.isin(groups, group[(rhat > MAX_RHAT).any(axis=1)])
        return _Summary(mean, error, ess, rhat, UNCONVERGED * (disagree | (divergences > 0)))

    def _without_draws(self, belief: FloatArray, status: IntArray) -> "_Summary":
        """Summary of a belief that does not depend on the draws."""
        draws = np.full(belief.shape, float(self.draws * self.chains))
        return _Summary(belief, np.zeros(belief.shape), draws, np.ones(belief.shape), status)

    def _draws(self, part: "_Part") -> BeliefDraws:
        """Draws of the belief: float array, shape ``(chains, draws, n, m)``, with n rows of the part's problem."""
        numbers = self.draws * self.chains * part.problem.prior.size
        if numbers > MAX_STORED_PROBABILITIES:
            raise TooLarge(
                f"ProgramEstimator: {part.name} has {part.problem.prior.size} pairs of respondent and value; {self.chains} chains "
                f"of {self.draws} draws are {numbers:.3g} probabilities, more than {MAX_STORED_PROBABILITIES}. Use fewer draws."
            )
        rng = as_generator("ProgramEstimator", self.rng)
        seeds = rng.integers(2**30, size=int(self.chains)).tolist()
        warmup = int(self.draws if self.warmup is None else self.warmup)
        model = self._model(part)
        with _named(part):
            program = self._programs.program(model, self.nuts_sampler)
            shape = np.shape(program.belief(program.initial_point(seeds[0])))
        _check_shape(part, model, shape)
        with _named(part):
            belief, divergences = program.sample(RunLength(int(self.draws), warmup, float(self.target_accept)), seeds)
        return BeliefDraws(belief.reshape(*belief.shape[:2], *part.problem.prior.shape), divergences)

    def _model(self, part: "_Part") -> "pm.Model":
        """Model of one part, with a deterministic belief."""
        import pymc as pm

        try:
            model = self.build(part.problem)
        except ValueError as error:
            raise TooLarge(f"ProgramEstimator: build refuses {part.name}: {error}") from error
        if not isinstance(model, pm.Model):
            raise TypeError(
                f"ProgramEstimator: build returned {shown(model)} for {part.name}; it returns a pymc.Model. End it with `return "
                "model`."
            )
        names = [variable.name for variable in model.deterministics]
        if "belief" not in names:
            raise ValueError(
                f"ProgramEstimator: the model of {part.name} has no deterministic variable 'belief' "
                f"(it has {', '.join(names) or 'none'}); "
                'add pm.Deterministic("belief", rows, dims=("respondent", "value")).'
            )
        return model


class _Part(NamedTuple):
    """Problem that is sampled by itself, with its rows and its groups in the release."""

    name: str
    problem: Problem
    rows: IntArray
    groups: IntArray


class _Summary(NamedTuple):
    """Posterior of the group members of a part."""

    mean: FloatArray
    standard_error: FloatArray
    ess: FloatArray
    rhat: FloatArray
    status: IntArray


def _key(problem: Problem) -> tuple[bytes, ...]:
    """Key of a problem; equal problems have equal keys."""
    evidence = b"" if problem.evidence is None else problem.evidence.tobytes()
    return problem.prior.tobytes(), problem.group.tobytes(), problem.counts.tobytes(), evidence


@contextmanager
def _named(part: _Part) -> Iterator[None]:
    """Add the name of a part to the errors of its model."""
    start = f"ProgramEstimator: {part.name}:"
    try:
        yield
    except Unusable as error:
        raise ValueError(f"{start} {error}") from error.__cause__
    except TooLarge as error:
        raise TooLarge(f"{start} {error}") from None
    except ValueError as error:
        raise ValueError(f"{start} its model cannot be computed: {str(error).splitlines()[0]}") from error


def _check_shape(part: _Part, model: "pm.Model", shape: tuple[int, ...]) -> None:
    """Raise ValueError unless a belief has the shape of the prior and its dims, if any."""
    expected = part.problem.prior.shape
    dims = model.named_vars_to_dims.get("belief")
    if shape not in (expected, (1, *expected)):
        raise ValueError(
            f"ProgramEstimator: the belief of {part.name} has shape {shape}; it must be {expected}, a row for each respondent of "
            "the problem and a column for each value."
        )
    if dims is not None and tuple(dims[-2:]) != DIMS:
        raise ValueError(
            f"ProgramEstimator: the belief of {part.name} has the dims {', '.join(map(str, dims))}; they end in respondent, value. "
            "Transpose or rename them."
        )


def _check_rows(name: str, belief: FloatArray) -> None:
    """Raise ValueError unless the rows of all draws are probabilities."""
    wrong = ~are_probabilities(belief).all(axis=2)
    if wrong.any():
        chain, draw = (int(axis[0]) for axis in np.nonzero(wrong))
        probability_rows(
            belief[chain, draw], f"ProgramEstimator: {name}, draw {draw} of chain {chain}: the belief in row"
        )


def _check_build(build: Any) -> None:
    check_not_class("ProgramEstimator", "build", build)
    if not callable(build):
        raise TypeError(
            f"ProgramEstimator: build is {shown(build)}; it is a function from a Problem to a pymc.Model, as permutation_model."
        )


def _check_lengths(draws: Any, chains: Any, warmup: Any) -> None:
    least = {"draws": (draws, MIN_DRAWS), "chains": (chains, 2)} | ({} if warmup is None else {"warmup": (warmup, 1)})
    for name, (number, fewest) in least.items():
        if not is_whole(number, fewest) or number > MAX_STORED_PROBABILITIES:
            raise ValueError(
                f"ProgramEstimator: {name} is {number!r}; it is a number of {'chains' if name == 'chains' else 'draws'}, from "
                f"{fewest} to 2^31."
            )
