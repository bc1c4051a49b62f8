"""Tables, background knowledge, posterior estimators, adversaries, and their models as PyMC programs."""

from typing import TYPE_CHECKING

from foreknow.models.lazy_names import import_lazily

if TYPE_CHECKING:
    from foreknow.models.adversary import Adversary as Adversary, Simulation as Simulation
    from foreknow.models.averaged import Averaged as Averaged
    from foreknow.models.beliefs import Beliefs as Beliefs
    from foreknow.models.estimators import (
        ESTIMATORS as ESTIMATORS,
        Auto as Auto,
        BeliefPropagation as BeliefPropagation,
        ConfidenceSum as ConfidenceSum,
        DirichletMultinomial as DirichletMultinomial,
        Exact as Exact,
        Mixed as Mixed,
        Omega as Omega,
        PerGroup as PerGroup,
        RandomWorlds as RandomWorlds,
        Sinkhorn as Sinkhorn,
        SwapChain as SwapChain,
        TooLarge as TooLarge,
    )
    from foreknow.models.foreground.attribute_signatures import SampleSize as SampleSize
    from foreknow.models.foreground.evidence import Evidence as Evidence
    from foreknow.models.foreground.fit import ExpectationMaximization as ExpectationMaximization
    from foreknow.models.foreground.gibbs_sampling import GibbsSampling as GibbsSampling
    from foreknow.models.joint import (
        JOINT_SOLVERS as JOINT_SOLVERS,
        Enumeration as Enumeration,
        GroupGraph as GroupGraph,
        GroupMessages as GroupMessages,
        JointAuto as JointAuto,
        JointPosterior as JointPosterior,
        LearnedKnowledge as LearnedKnowledge,
        MaxEntropy as MaxEntropy,
        PathSampler as PathSampler,
        SampledKnowledge as SampledKnowledge,
        joint_history as joint_history,
    )
    from foreknow.models.knowledge.cascades import (
        EvidenceCascade as EvidenceCascade,
        PosteriorCascade as PosteriorCascade,
        PriorCascade as PriorCascade,
        RemoveKnown as RemoveKnown,
    )
    from foreknow.models.knowledge.class_frequencies import ClassFrequencies as ClassFrequencies
    from foreknow.models.knowledge.compromised_records import CompromisedRecords as CompromisedRecords
    from foreknow.models.knowledge.ghost_chain import GhostChain as GhostChain
    from foreknow.models.knowledge.membership import (
        GivenMembership as GivenMembership,
        Membership as Membership,
        UniformMembership as UniformMembership,
    )
    from foreknow.models.knowledge.parts import Knowledge as Knowledge
    from foreknow.models.knowledge.parts import Visits as Visits
    from foreknow.models.knowledge.presence import Presence as Presence
    from foreknow.models.knowledge.relations import Relations as Relations
    from foreknow.models.knowledge.dirichlet import (
        DirichletChain as DirichletChain,
        DirichletFrequencies as DirichletFrequencies,
    )
    from foreknow.models.knowledge.kernel_prior import KernelPrior as KernelPrior
    from foreknow.models.knowledge.markov_chain import (
        ChainByRelease as ChainByRelease,
        MarkovChain as MarkovChain,
        Transitions as Transitions,
    )
    from foreknow.models.knowledge.priors import (
        GivenPrior as GivenPrior,
        Prior as Prior,
        PriorByTime as PriorByTime,
        UniformPrior as UniformPrior,
    )
    from foreknow.models.knowledge.regression_prior import (
        RegressionDesign as RegressionDesign,
        RegressionPrior as RegressionPrior,
    )
    from foreknow.models.knowledge.personal_transitions import TransitionsByClass as TransitionsByClass
    from foreknow.models.memory import Memory as Memory
    from foreknow.models.problem import (
        Estimator as Estimator,
        Posterior as Posterior,
        Problem as Problem,
        Status as Status,
    )
    from foreknow.models.programs import (
        ProgramEstimator as ProgramEstimator,
        compromised_model as compromised_model,
        foreground_model as foreground_model,
        hierarchical_markov_model as hierarchical_markov_model,
        history_model as history_model,
        markov_model as markov_model,
        observe_groups as observe_groups,
        permutation_model as permutation_model,
        prior_model as prior_model,
        release_model as release_model,
    )
    from foreknow.models.quasi_sensitive.external_knowledge import ExternalKnowledge as ExternalKnowledge
    from foreknow.models.quasi_sensitive.item_release import ItemRelease as ItemRelease
    from foreknow.models.quasi_sensitive.items import Items as Items
    from foreknow.models.quasi_sensitive.links import Linking as Linking, links as links
    from foreknow.models.tables.cleaning import Cleaning as Cleaning, ColumnRoles as ColumnRoles
    from foreknow.models.tables.faults import InputFaults as InputFaults
    from foreknow.models.tables.hierarchy import Hierarchy as Hierarchy
    from foreknow.models.tables.history import History as History
    from foreknow.models.noise import Noise as Noise
    from foreknow.models.tables.noisy_release import (
        Cells as Cells,
        NoisyRelease as NoisyRelease,
        NoisyTable as NoisyTable,
    )
    from foreknow.models.tables.people import Observation as Observation, People as People
    from foreknow.models.tables.published_table import PublishedTable as PublishedTable
    from foreknow.models.tables.release import (
        Grouping as Grouping,
        Release as Release,
        UnlabeledObservation as UnlabeledObservation,
    )
    from foreknow.models.tables.schema import Categorical as Categorical, Numeric as Numeric, Schema as Schema
    from foreknow.models.tables.view import View as View

NAMES = {
    "adversary": "Adversary Simulation",
    "averaged": "Averaged",
    "beliefs": "Beliefs",
    "estimators": (
        "ESTIMATORS Auto BeliefPropagation ConfidenceSum DirichletMultinomial Exact Mixed Omega PerGroup "
        "RandomWorlds Sinkhorn SwapChain TooLarge"
    ),
    "foreground.attribute_signatures": "SampleSize",
    "foreground.evidence": "Evidence",
    "foreground.fit": "ExpectationMaximization",
    "foreground.gibbs_sampling": "GibbsSampling",
    "joint": (
        "JOINT_SOLVERS Enumeration GroupGraph GroupMessages JointAuto JointPosterior LearnedKnowledge MaxEntropy "
        "PathSampler SampledKnowledge joint_history"
    ),
    "knowledge.cascades": "EvidenceCascade PosteriorCascade PriorCascade RemoveKnown",
    "knowledge.class_frequencies": "ClassFrequencies",
    "knowledge.compromised_records": "CompromisedRecords",
    "knowledge.ghost_chain": "GhostChain",
    "knowledge.membership": "GivenMembership Membership UniformMembership",
    "knowledge.parts": "Knowledge Visits",
    "knowledge.presence": "Presence",
    "knowledge.relations": "Relations",
    "knowledge.dirichlet": "DirichletChain DirichletFrequencies",
    "knowledge.kernel_prior": "KernelPrior",
    "knowledge.markov_chain": "ChainByRelease MarkovChain Transitions",
    "knowledge.personal_transitions": "TransitionsByClass",
    "knowledge.priors": "GivenPrior Prior PriorByTime UniformPrior",
    "knowledge.regression_prior": "RegressionDesign RegressionPrior",
    "memory": "Memory",
    "noise": "Noise",
    "problem": "Estimator Posterior Problem Status",
    "programs": (
        "ProgramEstimator compromised_model foreground_model hierarchical_markov_model history_model "
        "markov_model observe_groups permutation_model prior_model release_model"
    ),
    "quasi_sensitive.external_knowledge": "ExternalKnowledge",
    "quasi_sensitive.item_release": "ItemRelease",
    "quasi_sensitive.items": "Items",
    "quasi_sensitive.links": "Linking links",
    "tables.cleaning": "Cleaning ColumnRoles",
    "tables.faults": "InputFaults",
    "tables.hierarchy": "Hierarchy",
    "tables.history": "History",
    "tables.noisy_release": "Cells NoisyRelease NoisyTable",
    "tables.people": "Observation People",
    "tables.published_table": "PublishedTable",
    "tables.release": "Grouping Release UnlabeledObservation",
    "tables.schema": "Categorical Numeric Schema",
    "tables.view": "View",
}
"""Public names of each module."""

PLACES = {name: f"foreknow.models.{module}" for module, names in NAMES.items() for name in names.split()}
"""Module of each public name."""

__all__ = list(PLACES)

import_lazily(__name__, PLACES)
