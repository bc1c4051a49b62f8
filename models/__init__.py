"""Tables, background knowledge, posterior estimators, adversaries, and their models as PyMC programs."""

from typing import TYPE_CHECKING

from foreknow.models.lazy_names import import_lazily

if TYPE_CHECKING:
    from foreknow.models.adversary import Adversary
    from foreknow.models.averaged import Averaged
    from foreknow.models.beliefs import BeliefDraws, Beliefs, ReleaseBeliefs
    from foreknow.models.estimators import (
        ESTIMATORS,
        Auto,
        BeliefPropagation,
        ConfidenceSum,
        DirichletMultinomial,
        Exact,
        Mixed,
        Omega,
        PerGroup,
        RandomWorlds,
        Sinkhorn,
        SwapChain,
        TooLarge,
    )
    from foreknow.models.estimators.log_evidence import log_evidence
    from foreknow.models.foreground.attribute_signatures import SampleSize
    from foreknow.models.foreground.evidence import Evidence
    from foreknow.models.foreground.expectation_maximization import ExpectationMaximization
    from foreknow.models.foreground.fit import Fit, FitStatus, Fitting
    from foreknow.models.foreground.gibbs_sampling import GibbsSampling
    from foreknow.models.foreground.global_distribution import GlobalDistribution
    from foreknow.models.foreground.newton import Newton
    from foreknow.models.joint import (
        JOINT_SOLVERS,
        Enumeration,
        GroupMessages,
        JointAuto,
        JointHistory,
        JointPosterior,
        JointProblem,
        JointSolver,
        LearnedKnowledge,
        MaxEntropy,
        PathSampler,
        SampledKnowledge,
        SampledPosterior,
        joint_history,
        joint_log_evidence,
        release_beliefs,
    )
    from foreknow.models.knowledge.cascades import Cascade, EvidenceCascade, PosteriorCascade, PriorCascade, RemoveKnown
    from foreknow.models.knowledge.class_frequencies import ClassFrequencies
    from foreknow.models.knowledge.compromised_records import Claims, CompromisedRecords
    from foreknow.models.knowledge.dirichlet_chain import DirichletChain
    from foreknow.models.knowledge.dirichlet_frequencies import DirichletFrequencies
    from foreknow.models.knowledge.incremental_chain import IncrementalChain
    from foreknow.models.knowledge.inhomogeneous_chain import InhomogeneousChain
    from foreknow.models.knowledge.kernel_prior import KernelPrior
    from foreknow.models.knowledge.markov_chain import MarkovChain, Transitions
    from foreknow.models.knowledge.personal_transitions import PersonalTransitions
    from foreknow.models.knowledge.posterior_draws import posterior_draws
    from foreknow.models.knowledge.priors import GivenPrior, Prior, PriorByTime, UniformPrior
    from foreknow.models.knowledge.regression_design import RegressionDesign
    from foreknow.models.knowledge.regression_prior import RegressionPrior
    from foreknow.models.knowledge.transitions_by_class import TransitionsByClass
    from foreknow.models.memory import Memory
    from foreknow.models.problem import Estimator, Posterior, Problem, Status
    from foreknow.models.programs import (
        CalibrationRanks,
        PosteriorDraws,
        ProgramEstimator,
        ProgramPosterior,
        calibration_ranks,
        compromised_model,
        foreground_model,
        hierarchical_markov_model,
        history_model,
        markov_model,
        observe_groups,
        permutation_model,
        prior_model,
        release_model,
        release_predictive,
    )
    from foreknow.models.quasi_sensitive.external_knowledge import NONE, ExternalKnowledge
    from foreknow.models.quasi_sensitive.item_release import ItemObservation, ItemRelease
    from foreknow.models.quasi_sensitive.items import Items
    from foreknow.models.quasi_sensitive.linking import Linking
    from foreknow.models.quasi_sensitive.links import Links, links
    from foreknow.models.simulation import Simulation
    from foreknow.models.tables.attributes import Categorical, Numeric
    from foreknow.models.tables.cleaning.cleaning import CleanedTable, Cleaning
    from foreknow.models.tables.cleaning.column_roles import ColumnRoles
    from foreknow.models.tables.cleaning.faults import InputFaults
    from foreknow.models.tables.grouping import Grouping
    from foreknow.models.tables.hierarchy import Hierarchy
    from foreknow.models.tables.history import History
    from foreknow.models.tables.observation import Observation
    from foreknow.models.tables.people import People
    from foreknow.models.tables.published_table import PublishedTable
    from foreknow.models.tables.release import Release
    from foreknow.models.tables.schema import Schema
    from foreknow.models.tables.view import View

__all__ = [
    "ESTIMATORS",
    "JOINT_SOLVERS",
    "NONE",
    "Adversary",
    "Auto",
    "Averaged",
    "BeliefDraws",
    "BeliefPropagation",
    "Beliefs",
    "CalibrationRanks",
    "Cascade",
    "Categorical",
    "Claims",
    "ClassFrequencies",
    "CleanedTable",
    "Cleaning",
    "ColumnRoles",
    "CompromisedRecords",
    "ConfidenceSum",
    "DirichletChain",
    "DirichletFrequencies",
    "DirichletMultinomial",
    "Enumeration",
    "Estimator",
    "Evidence",
    "EvidenceCascade",
    "Exact",
    "ExpectationMaximization",
    "ExternalKnowledge",
    "Fit",
    "FitStatus",
    "Fitting",
    "GibbsSampling",
    "GivenPrior",
    "GlobalDistribution",
    "GroupMessages",
    "Grouping",
    "Hierarchy",
    "History",
    "IncrementalChain",
    "InhomogeneousChain",
    "InputFaults",
    "ItemObservation",
    "ItemRelease",
    "Items",
    "JointAuto",
    "JointHistory",
    "JointPosterior",
    "JointProblem",
    "JointSolver",
    "KernelPrior",
    "LearnedKnowledge",
    "Linking",
    "Links",
    "MarkovChain",
    "MaxEntropy",
    "Memory",
    "Mixed",
    "Newton",
    "Numeric",
    "Observation",
    "Omega",
    "PathSampler",
    "People",
    "PerGroup",
    "PersonalTransitions",
    "Posterior",
    "PosteriorCascade",
    "PosteriorDraws",
    "Prior",
    "PriorByTime",
    "PriorCascade",
    "Problem",
    "ProgramEstimator",
    "ProgramPosterior",
    "PublishedTable",
    "RandomWorlds",
    "RegressionDesign",
    "RegressionPrior",
    "Release",
    "ReleaseBeliefs",
    "RemoveKnown",
    "SampleSize",
    "SampledKnowledge",
    "SampledPosterior",
    "Schema",
    "Simulation",
    "Sinkhorn",
    "Status",
    "SwapChain",
    "TooLarge",
    "Transitions",
    "TransitionsByClass",
    "UniformPrior",
    "View",
    "calibration_ranks",
    "compromised_model",
    "foreground_model",
    "hierarchical_markov_model",
    "history_model",
    "joint_history",
    "joint_log_evidence",
    "links",
    "log_evidence",
    "markov_model",
    "observe_groups",
    "permutation_model",
    "posterior_draws",
    "prior_model",
    "release_beliefs",
    "release_model",
    "release_predictive",
]

import_lazily(__name__)
