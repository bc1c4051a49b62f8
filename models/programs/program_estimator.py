"""Estimator that samples a PyMC program, one subproblem of a release at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.convergence import MAX_RHAT
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.estimators.swap_chain import MAX_STORED_PROBABILITIES, check_chains, summarize_chains
from foreknow.models.problem import (
    CONTRADICTED,
    ROW_PARTS,
    UNCONVERGED,
    Posterior,
    Problem,
    are_probabilities,
    probability_rows,
)
from foreknow.models.programs.compiled_program import (
    ChainSettings,
    ProgramCache,
    Subproblem,
    ZeroDensity,
    errors_named_for,
    model_of,
    reads_observation,
    subproblems_of,
)
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import (
    as_generator,
    check_choice,
    check_flag,
    check_kind,
    check_range,
    check_whole,
    installing,
)
from foreknow.models.tables.columns import plain_value
from foreknow.models.unknown_draws import UnknownDraws

if TYPE_CHECKING:
    import pymc as pm

    from foreknow.models.tables.people import Observation


MAX_KEPT = 2**28
"""Largest number of draws of the free variables of a release that are kept."""


class SubproblemSummary(NamedTuple):
    """Posterior of the r members of a subproblem, arrays of shape ``(r, m)``, status of its groups, divergent and unknown draws."""

    mean: FloatArray
    standard_error: FloatArray
    ess: FloatArray
    rhat: FloatArray
    status: IntArray
    divergences: int
    unknown: UnknownDraws | None = None


@equal_by_fields
@dataclass(frozen=True)
class ProgramEstimator:
    """Posterior mean of the belief of a PyMC program, sampled for each group or for a whole release.

    A program is a function from a `Problem`, and the `Observation` if it takes two arguments, to a `pymc.Model` with a
    deterministic variable ``belief``: the belief in each value of each respondent, given the unknown quantities of the model. The
    posterior is the mean of ``belief`` over the draws, which is a mixture of beliefs. It is not the belief under the mean of the
    unknown quantities. The draws of its free variables are `Posterior.unknowns`, and of all releases `Beliefs.unknowns`.

    Parameters
    ----------
    build : callable
        ``build(problem) -> pymc.Model``, such as `permutation_model`, or ``build(problem, observation)``, with two arguments that
        have no default. The observation has the respondents with their quasi-identifiers (``observation.people``), the number of
        the group of each (``observation.group``) and the time; `Problem.coords` has their labels. ``belief`` has the shape ``(n,
        m)`` of the problem's prior (a leading dimension of length 1, as in `release_model`, is dropped). Its rows are
        probabilities. Its dims, where it has dims, end in ``respondent, value``.
    draws : int
        Number of draws that each chain keeps, at least `MIN_DRAWS`.
    chains : int
        Number of chains, at least 2.
    warmup : int, optional
        Number of draws that each chain discards first, in which NUTS adapts; ``draws`` by default.
    per : {"group", "release"}
        ``"group"``: ``build`` is called for each group, with a problem that has this group alone and no other respondents. The
        observation has its members alone, and the number that the group has in the release.
        ``"release"``: it is called once, with the whole problem, so that unknown quantities are learned from all groups.
    nuts_sampler : {"pymc", "nutpie"}
        ``"nutpie"`` needs the extra ``nutpie``. It draws about 5 times as fast and takes longer to compile.
    target_accept : float
        Acceptance rate for which NUTS chooses its step size, above 0 and below 1. A larger one avoids divergences.
    max_groups : int
        Largest number of groups of a release with ``per="group"``; equal groups count once. A defense whose requirement
        samples each candidate group needs some 10,000.
    reads_evidence : bool
        True if ``build`` reads `Problem.evidence`, as `permutation_model` does. Otherwise a problem that has evidence is
        refused.
    keep_unknowns : bool
        False to drop the draws of the free variables, as where each of many groups has thousands of them.
    progress : callable
        Function of the numbers of the different groups that returns an iterable of the same length, as ``rich.progress.track``. One
        item is taken before each is sampled. Results do not depend on it.
    rng : numpy.random.Generator or int
        Random generator, or an integer seed that makes one. Each call continues the generator, so that two calls differ.

    Raises
    ------
    TooLarge
        When called, if there are more groups than ``max_groups``, ``build`` raises `TooLarge` for a group, the model has
        more than `MAX_PARAMETERS` unknown numbers, the draws are more than `MAX_STORED_PROBABILITIES` numbers, or those of the
        free variables of a release more than `MAX_KEPT`.
    ValueError
        When called, if ``build`` takes an observation and the problem has none, as one of a candidate group of a defense.

    Notes
    -----
    Consistent for the program as the number of draws grows. The posterior has a standard error, an effective sample size and
    an R-hat for each belief (`mean_diagnostics`, equal to ArviZ's). A group is `Status.UNCONVERGED` if an R-hat exceeds
    `MAX_RHAT` or a kept draw is divergent; `Posterior.divergences` has the number of divergent draws of each group. With
    ``per="release"`` a divergent draw concerns all groups. Where the density of the
    model is 0 at all starting points, beliefs are the shares of the group, reported as `Status.CONTRADICTED`. A model without free
    variables is evaluated once. Rows outside all groups keep the prior.

    Not checked: that the program describes the release. A belief may be positive for a value that the group does not show.

    Each program is compiled once for all models that differ in their `pymc.Data` alone, also between calls; put arrays that
    depend on the problem into `pymc.Data`. A constant array makes another model. Equal groups of a release are sampled once and
    have the same Monte Carlo error, unless ``build`` takes the observation. Groups whose density is 0 have no unknown numbers.

    A program learns only from an observed variable or a potential, as `observe_groups` adds. With fewer draws than 4 chains of 250,
    R-hat exceeds its bound by chance in groups whose chains agree.

    Cost: a compilation takes 0.5 to 20 seconds, and building a model some 30 ms. A group takes chains * (draws + warmup)
    trajectories of NUTS, of 0.3 ms each for three members under `permutation_model`. All groups of a release of 24 records at once
    take 20 ms each under `observe_groups`. Models with discrete variables go through `pymc.sample`, which compiles them for every
    group.

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

    build: "Callable[[Problem], pm.Model] | Callable[[Problem, Observation], pm.Model]"
    draws: int = 500
    chains: int = 4
    warmup: int | None = None
    per: Literal["group", "release"] = "group"
    nuts_sampler: Literal["pymc", "nutpie"] = "pymc"
    target_accept: float = 0.9
    max_groups: int = 200
    reads_evidence: bool = False
    keep_unknowns: bool = field(default=True, kw_only=True)
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)
    rng: "np.random.Generator | int" = field(kw_only=True)
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = (*ROW_PARTS, "program")
    is_program: ClassVar[bool] = True
    _programs: ProgramCache = field(init=False, repr=False, compare=False, default_factory=ProgramCache)

    def __post_init__(self) -> None:
        takes = (
            "is a function from a Problem to a pymc.Model, as permutation_model, or from a Problem and an Observation"
        )
        check_kind("ProgramEstimator", "build", self.build, Callable, takes)
        check_progress("ProgramEstimator", self.progress, "the groups")
        check_chains("ProgramEstimator", self.draws, self.chains, self.warmup)
        if self.warmup is not None:
            check_whole("ProgramEstimator", "warmup", self.warmup, "draws")
        check_choice("ProgramEstimator", "per", self.per, ("group", "release"))
        check_choice("ProgramEstimator", "nuts_sampler", self.nuts_sampler, ("pymc", "nutpie"))
        check_range("ProgramEstimator", "target_accept", self.target_accept, 0.01, 0.999, "an acceptance rate")
        check_whole("ProgramEstimator", "max_groups", self.max_groups, "groups")
        check_flag("ProgramEstimator", "reads_evidence", self.reads_evidence)
        check_flag("ProgramEstimator", "keep_unknowns", self.keep_unknowns)
        if self.nuts_sampler == "nutpie" and find_spec("nutpie") is None:
            raise ValueError(
                "ProgramEstimator: nuts_sampler is 'nutpie', which is not installed. Install it by "
                f"{installing('nutpie')}, or use nuts_sampler='pymc'."
            )
        object.__setattr__(self, "rng", as_generator("ProgramEstimator", self.rng))

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        if not self.reads_evidence:
            problem.refuse_evidence(self)
        is_reader = reads_observation(self.build)
        if is_reader and problem.observation is None:
            raise ValueError(
                "ProgramEstimator: build takes an observation and the problem has none. Attack releases, or take the problem from "
                "observation.problem(prior); a defense's candidate groups need a program of the problem alone."
            )
        if is_reader and self.per == "group":  # Each group has an observation of its own.
            self._check_groups(int(np.count_nonzero(problem.sizes)))
        subproblems = list(subproblems_of(problem, self.per, problem.observation if is_reader else None))
        if self.per == "group":
            self._check_groups(len({subproblem.key for subproblem in subproblems}))
        status, divergences = (np.zeros(len(problem.counts), dtype=np.int64) for _ in range(2))
        defaults = (0.0, float(self.draws * self.chains), 1.0)
        answer = [problem.prior.copy(), *(np.full(problem.prior.shape, default) for default in defaults)]
        once = list({subproblem.key: subproblem for subproblem in subproblems}.values())
        done: dict[tuple[bytes, ...], SubproblemSummary] = {}
        kept = 0
        for subproblem, _ in zip(once, self.progress(range(len(once))), strict=True):
            done[subproblem.key] = summary = self._summary(subproblem)
            kept += sum(each.size for each in summary.unknown.values.values()) if summary.unknown is not None else 0
            if kept > MAX_KEPT:
                raise TooLarge(
                    f"ProgramEstimator: with {subproblem.name}, the draws of free variables are more than {MAX_KEPT} numbers. Take "
                    "keep_unknowns=False to drop them, or fewer draws."
                )
        unknown: list[UnknownDraws] = []
        for subproblem in subproblems:
            *numbers, status[subproblem.groups], divergences[subproblem.groups], drawn = done[subproblem.key]
            for target, source in zip(answer, numbers, strict=True):
                target[subproblem.rows] = source
            if drawn is not None:
                unknown.append(replace(drawn, group=int(subproblem.groups[0]) if self.per == "group" else None))
        belief, standard_error, ess, rhat = answer
        return Posterior(
            belief, status, standard_error, ess, rhat, divergences=divergences, unknown_draws=tuple(unknown)
        )

    def _check_groups(self, different: int) -> None:
        """Raise TooLarge for more different groups than may be sampled."""
        if different > self.max_groups:
            raise TooLarge(
                f"ProgramEstimator: the release has {different} different groups, more than max_groups={self.max_groups}. "
                "Raise max_groups if there is time to sample each of them, or use Auto(), which does not sample."
            )

    def _summary(self, subproblem: Subproblem) -> SubproblemSummary:
        try:
            drawn, divergences, unknown = self._draws(subproblem)
        except ZeroDensity:
            return contradicted(subproblem, self.draws * self.chains)
        wrong = ~are_probabilities(drawn).all(axis=2)
        if wrong.any():
            chain, draw = (int(axis[0]) for axis in np.nonzero(wrong))
            place = f"ProgramEstimator: {subproblem.name}, draw {draw} of chain {chain}: the belief in row"
            probability_rows(drawn[chain, draw], place)
        return summary_of(subproblem, drawn, divergences, self.draws * self.chains)._replace(unknown=unknown)

    def _draws(self, subproblem: Subproblem) -> tuple[FloatArray, int, UnknownDraws | None]:
        """Draws of the belief in the rows, shape ``(chains, draws, n, m)``, number of divergent ones, and unknowns."""
        shape = subproblem.problem.prior.shape
        numbers = self.draws * self.chains * subproblem.problem.prior.size
        if numbers > MAX_STORED_PROBABILITIES:
            raise TooLarge(
                f"ProgramEstimator: {subproblem.name} has {subproblem.problem.prior.size} pairs of respondent and value; "
                f"{self.chains} chains of {self.draws} draws are {numbers:.3g} probabilities, more than "
                f"{MAX_STORED_PROBABILITIES}. Use fewer draws."
            )
        rng = as_generator("ProgramEstimator", self.rng)
        seeds = rng.integers(2**30, size=int(self.chains)).tolist()
        warmup = int(self.draws if self.warmup is None else self.warmup)
        model = model_of(self.build, subproblem)
        names = [variable.name for variable in model.free_RVs] if self.keep_unknowns else []
        dims, coords = labels_of(model, names, ("release", self.per), subproblem.name)
        with errors_named_for("ProgramEstimator", subproblem.name):
            program = self._programs.program(model, ["belief", *names], self.nuts_sampler)
            found = np.shape(program.evaluate(program.initial_point(seeds[0]))["belief"])
        if found not in (shape, (1, *shape)):
            raise ValueError(
                f"ProgramEstimator: the belief of {subproblem.name} has shape {found}; it must be {shape}, a row for each "
                "respondent of the problem and a column for each value."
            )
        of_belief = model.named_vars_to_dims.get("belief")
        if of_belief is not None and tuple(of_belief[-2:]) != ("respondent", "value"):
            raise ValueError(
                f"ProgramEstimator: the belief of {subproblem.name} has the dims {', '.join(map(str, of_belief))}; they end in "
                "respondent, value. Transpose or rename them."
            )
        with errors_named_for("ProgramEstimator", subproblem.name):
            draws = program.sample(ChainSettings(int(self.draws), warmup, float(self.target_accept)), seeds)
        belief, *values = draws.values.values()
        belief = belief.reshape(*belief.shape[:2], *shape)
        # A program that was compiled for a model of other names has the variables in this order.
        unknown = UnknownDraws(None, dict(zip(names, values, strict=True)), dims, coords) if names else None
        return belief, draws.divergences, unknown


def labels_of(
    model: "pm.Model", names: Sequence[str], taken: tuple[str, ...], name: str
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[Any, ...]]]:
    """Dimensions of some free variables of a model where they have names, and their labels; ``taken`` ones are refused."""
    named = {each: of for each in names if (of := model.named_vars_to_dims.get(each))}
    dims = {
        each: tuple(f"{each}_dim_{axis}" if dim is None else str(dim) for axis, dim in enumerate(of))
        for each, of in named.items()
    }
    of_all = {dim for each in dims.values() for dim in each}
    if both := sorted(of_all.intersection(taken)):
        raise ValueError(
            f"ProgramEstimator: a free variable of {name} has the dimension {both[0]!r}, which the DataTree of its draws has "
            "besides; rename it."
        )
    coords = {dim: tuple(map(plain_value, model.coords[dim])) for dim in of_all if model.coords.get(dim) is not None}
    return dims, coords


def summary_of(subproblem: Subproblem, drawn: FloatArray, divergences: int, number: int) -> SubproblemSummary:
    """Summary of the draws of a belief.

    A group is `Status.UNCONVERGED` if an R-hat of its members exceeds `MAX_RHAT`, or if any draw of the subproblem is divergent.
    ``number`` is the effective sample size of a belief that does not depend on the draws.
    """
    inside = np.flatnonzero(subproblem.problem.group >= 0)
    belief = np.maximum(drawn[:, :, inside], 0.0)
    if belief.shape[:2] == (1, 1):
        rows = belief[0, 0] / belief[0, 0].sum(axis=1, keepdims=True)
        return _without_draws(rows, np.zeros(len(subproblem.groups), dtype=np.int64), number)
    mean, error, ess, rhat = summarize_chains(np.ascontiguousarray(np.moveaxis(belief, (0, 1), (2, 3))))
    disagree = subproblem.problem.group[inside][(rhat > MAX_RHAT).any(axis=1)]
    unconverged = np.isin(np.flatnonzero(subproblem.problem.sizes), disagree) | (divergences > 0)
    return SubproblemSummary(mean, error, ess, rhat, UNCONVERGED * unconverged, divergences)


def contradicted(subproblem: Subproblem, number: int) -> SubproblemSummary:
    """Shares of each group, with the status `Status.CONTRADICTED`."""
    problem = subproblem.problem
    group = problem.group[problem.group >= 0]
    shares = problem.counts[group] / problem.sizes[group][:, None]
    return _without_draws(shares, np.full(len(subproblem.groups), CONTRADICTED), number)


def _without_draws(belief: FloatArray, status: IntArray, number: int) -> SubproblemSummary:
    """Summary of a belief that does not depend on the draws."""
    draws = np.full(belief.shape, float(number))
    return SubproblemSummary(belief, np.zeros(belief.shape), draws, np.ones(belief.shape), status, 0)
