"""Posterior of prior and transitions given the releases alone, by data augmentation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.beliefs import coordinate
from foreknow.models.equality import equal_by_fields
from foreknow.models.joint.law_chains import UnknownLaw, law_draws
from foreknow.models.joint.law_counts import law_cells, law_of_rows
from foreknow.models.joint.law_results import draws_notes, draws_tree, mixed_beliefs
from foreknow.models.joint.learning_data import learning_data
from foreknow.models.joint.observations import each_observation
from foreknow.models.joint.path_sampler import PathSampler, SampledPosterior
from foreknow.models.joint.problem import JointProblem, check_joint_problem
from foreknow.models.knowledge.class_frequencies import ClassFrequencies
from foreknow.models.knowledge.dirichlet_rows import check_concentration
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.sequences import GapRule, check_chain_order, check_gaps
from foreknow.models.settings import check_kind, is_number, shown
from foreknow.models.tables.observation import Observation
from foreknow.models.tables.release import Release

if TYPE_CHECKING:
    import pandas as pd
    import xarray


@equal_by_fields
@dataclass(frozen=True, eq=False)
class SampledKnowledge:
    """Posterior of prior and transitions given the releases alone; made by `SampledKnowledge.fit`.

    Attributes
    ----------
    prior : ClassFrequencies
        Posterior mean of the distribution of the first published value of a respondent, by class.
    transitions : MarkovChain or None
        Posterior mean of the distribution of the next value; None where no respondent has two records.
    draws : xarray.DataTree
        Draws for ArviZ, in two groups. ``posterior`` has the variables of `history_model`: ``frequencies`` with dims chain, draw,
        class, value, and ``transitions`` with dims chain, draw, last, value. For chains of order d over 1 the dims are value_1,
        ..., value_d, value, as in `markov_model`; the steps after k < d values are ``transitions_k``. ``sample_stats`` has ``lp``:
        logarithm of the probability of the drawn assignment, with the law integrated out.
    posterior : SampledPosterior
        Beliefs about all records: the mixture over the draws of the law. Its problem has the posterior mean as its law.
    notes : tuple of str
        Limits of the data and of the chains.

    Notes
    -----
    It is also the joint solver of its releases: ``JointAttack(Adversary(sampled.prior, sampled.transitions), solver=sampled)``
    has beliefs that integrate out the unknown law, in hindsight. The adversary has the gaps of `fit`. With another solver it
    takes the posterior means for the law.
    """

    prior: ClassFrequencies
    transitions: MarkovChain | None
    draws: "xarray.DataTree"
    posterior: SampledPosterior
    notes: tuple[str, ...] = field(default=())
    exact: ClassVar[bool] = False

    @classmethod
    def fit(
        cls,
        releases: Iterable[Release | Observation],
        *,
        sampler: PathSampler,
        classes: Mapping[str, int | None] | None = None,
        pseudo_count: float = 0.1,
        gaps: GapRule = "ignore",
        order: int = 1,
    ) -> "SampledKnowledge":
        """Sample the prior, the transitions and the values of all records given the releases.

        Parameters
        ----------
        releases : iterable of Release or Observation
            In the order of time. Only observations are read, which hold no true value.
        sampler : PathSampler
            Number of chains and of draws, moves, progress, and random generator. Warm-up and annealing are half of ``sweeps`` each
            by default.
        classes : mapping of str to int or None, optional
            Attributes that define classes, each with a prior of its own, as for `ClassFrequencies.fit`. One prior for all by
            default.
        pseudo_count : float
            Concentration of each probability of a row: the prior of each row is ``Dirichlet(pseudo_count, ..., pseudo_count)``.
        gaps : {"ignore", "power"}
            Treatment of releases in which a respondent is not published; see `Adversary`.
        order : int
            Order of the chain.

        Raises
        ------
        TypeError
            If an argument is of another kind.
        ValueError
            If there is no published record, the releases differ in their sensitive domain, or a setting is out of range.

        Notes
        -----
        Data augmentation (Tanner and Wong 1987): sweeps of the moves of `PathSampler` under the current law alternate with draws
        of each row of the law from its Dirichlet distribution given the counts of the current assignment. Consistent as the
        number of sweeps grows. Values between two records that are several steps apart are drawn with ``gaps="power"``.

        Each chain starts at an independent assignment, and at a law drawn around the published distribution, with half staying.
        The assignment is annealed under this law. Chains that disagree have an R-hat over `MAX_RHAT`, which the notes report.
        Counterfeits keep a uniform prior. The channel of distorted values is not sampled: it is estimated once, going forward,
        under a uniform prior and transitions to the published distribution with half staying.

        The posterior mean has the rows ``(pseudo_count + counts) / total``, averaged over the draws of the assignment. With known
        values it equals the estimate of `LearnedKnowledge.fit` with the same pseudo-count.
        """
        owner = "SampledKnowledge.fit"
        check_kind(owner, "sampler", sampler, PathSampler, "is a PathSampler, as PathSampler(rng=1)")
        check_concentration(pseudo_count)
        check_gaps(gaps)
        check_chain_order(order)
        observations = each_observation(owner, releases)
        data = learning_data(owner, observations, {} if classes is None else classes, gaps, int(order))
        unknown = UnknownLaw(data.problem, data.classes, data.powers, data.start, float(pseudo_count))
        drawn = law_draws(unknown, sampler)
        cells = law_cells(unknown.problem, data.classes, data.start, data.powers)
        law = law_of_rows(drawn.mean, cells)
        prior = ClassFrequencies(data.cuts, law.prior.reshape(*(len(cut) + 1 for cut in data.cuts.values()), -1))
        chain = MarkovChain(len(law.tables), law.tables[-1], law.tables[:-1]) if law.tables else None
        domain = [coordinate(value) for value in observations[0].people.schema.values]
        beliefs = mixed_beliefs(drawn, unknown, law)
        return cls(prior, chain, draws_tree(drawn, cells, domain), beliefs, draws_notes(drawn, cells, domain))

    def summary(self, probability: float = 0.9) -> "pd.DataFrame":
        """Posterior mean, central credible interval, effective sample sizes and R-hat of each probability, by ArviZ.

        One row for each probability, as ``transitions[a, b]``: that of b after a.

        Raises
        ------
        ValueError
            If the probability of the intervals is not between 0 and 1.
        """
        import arviz as az

        if not (is_number(probability, 0, 1) and 0 < probability < 1):
            raise ValueError(
                f"SampledKnowledge.summary: probability is {shown(probability)}; it is that of the credible intervals, between 0 "
                "and 1."
            )
        table: pd.DataFrame = az.summary(self.draws, ci_prob=float(probability), ci_kind="eti", round_to="none")
        return table

    @property
    def rhat(self) -> "xarray.DataTree":
        """R-hat of each probability of the law and of ``lp``, by ArviZ, in the groups of ``draws``."""
        import arviz as az
        import xarray

        groups = {name: az.rhat(self.draws, group=name) for name in ("posterior", "sample_stats")}
        return xarray.DataTree.from_dict(groups)

    def __call__(self, problem: JointProblem) -> SampledPosterior:
        """Sampled beliefs, as those of a joint problem of the same releases.

        Raises
        ------
        TypeError
            If ``problem`` is no `JointProblem`.
        ValueError
            If the problem has other records, groups or paths than the releases, or claims or distorted values.
        """
        check_joint_problem(self, problem)
        own = self.posterior.problem
        if not all(np.array_equal(ours, theirs) for ours, theirs in zip(_records(own), _records(problem), strict=True)):
            raise ValueError(
                "SampledKnowledge: the problem is of other releases than those that were sampled, or its adversary has other gaps "
                "or no transitions. Give the same releases and gaps as to SampledKnowledge.fit."
            )
        if (problem.evidence_row >= 0).any() or (problem.emission_row >= 0).any():
            raise ValueError(
                "SampledKnowledge: the problem has compromised records, which the draws do not know, or distorted values, whose "
                "channel depends on the adversary. Use "
                "Adversary(sampled.prior, sampled.transitions, ...) with another solver."
            )
        return replace(self.posterior, problem=problem)

    def forward(self, problem: JointProblem) -> NoReturn:
        """Raise ValueError: the draws are given all releases."""
        check_joint_problem(self, problem)
        raise ValueError(
            "SampledKnowledge: the draws are given all releases; there are no beliefs given the first ones only. Use "
            "hindsight=True, or SampledKnowledge.fit(releases[:t], ...) for each t."
        )


def _records(problem: JointProblem) -> tuple[IntArray, ...]:
    """Arrays in which problems of the same releases agree."""
    return problem.counts, problem.group, problem.release, problem.layout.previous
