"""Tables, background knowledge, posterior estimators, adversaries, and their models as PyMC programs."""

from typing import TYPE_CHECKING

from foreknow.models.lazy_names import import_lazily

if TYPE_CHECKING:
    from foreknow.models.adversary import Adversary as Adversary
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
    from foreknow.models.knowledge.dirichlet import DirichletChain as DirichletChain
    from foreknow.models.knowledge.dirichlet import DirichletFrequencies as DirichletFrequencies
    from foreknow.models.knowledge.chain_by_release import ChainByRelease as ChainByRelease
    from foreknow.models.knowledge.kernel_prior import KernelPrior as KernelPrior
    from foreknow.models.knowledge.markov_chain import (
        MarkovChain as MarkovChain,
        Transitions as Transitions,
    )
    from foreknow.models.knowledge.priors import (
        GivenPrior as GivenPrior,
        Prior as Prior,
        PriorByTime as PriorByTime,
        UniformPrior as UniformPrior,
    )
    from foreknow.models.knowledge.regression_prior import RegressionDesign as RegressionDesign
    from foreknow.models.knowledge.regression_prior import RegressionPrior as RegressionPrior
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
    from foreknow.models.quasi_sensitive.links import Linking as Linking
    from foreknow.models.quasi_sensitive.links import links as links
    from foreknow.models.simulation import Simulation as Simulation
    from foreknow.models.tables.schema import (
        Categorical as Categorical,
        Numeric as Numeric,
    )
    from foreknow.models.tables.cleaning import Cleaning as Cleaning
    from foreknow.models.tables.cleaning import ColumnRoles as ColumnRoles
    from foreknow.models.tables.faults import InputFaults as InputFaults
    from foreknow.models.tables.release import Grouping as Grouping
    from foreknow.models.tables.hierarchy import Hierarchy as Hierarchy
    from foreknow.models.tables.history import History as History
    from foreknow.models.tables.people import Observation as Observation
    from foreknow.models.tables.people import People as People
    from foreknow.models.tables.published_table import PublishedTable as PublishedTable
    from foreknow.models.tables.release import Release as Release
    from foreknow.models.tables.schema import Schema as Schema
    from foreknow.models.tables.view import View as View

PLACES = {
    "ESTIMATORS": "foreknow.models.estimators",
    "JOINT_SOLVERS": "foreknow.models.joint",
    "Adversary": "foreknow.models.adversary",
    "Auto": "foreknow.models.estimators",
    "Averaged": "foreknow.models.averaged",
    "BeliefPropagation": "foreknow.models.estimators",
    "Beliefs": "foreknow.models.beliefs",
    "Categorical": "foreknow.models.tables.schema",
    "ChainByRelease": "foreknow.models.knowledge.chain_by_release",
    "ClassFrequencies": "foreknow.models.knowledge.class_frequencies",
    "Cleaning": "foreknow.models.tables.cleaning",
    "ColumnRoles": "foreknow.models.tables.cleaning",
    "CompromisedRecords": "foreknow.models.knowledge.compromised_records",
    "ConfidenceSum": "foreknow.models.estimators",
    "DirichletChain": "foreknow.models.knowledge.dirichlet",
    "DirichletFrequencies": "foreknow.models.knowledge.dirichlet",
    "DirichletMultinomial": "foreknow.models.estimators",
    "Enumeration": "foreknow.models.joint",
    "Estimator": "foreknow.models.problem",
    "Evidence": "foreknow.models.foreground.evidence",
    "EvidenceCascade": "foreknow.models.knowledge.cascades",
    "Exact": "foreknow.models.estimators",
    "ExpectationMaximization": "foreknow.models.foreground.fit",
    "ExternalKnowledge": "foreknow.models.quasi_sensitive.external_knowledge",
    "GibbsSampling": "foreknow.models.foreground.gibbs_sampling",
    "GivenPrior": "foreknow.models.knowledge.priors",
    "GroupMessages": "foreknow.models.joint",
    "Grouping": "foreknow.models.tables.release",
    "Hierarchy": "foreknow.models.tables.hierarchy",
    "History": "foreknow.models.tables.history",
    "InputFaults": "foreknow.models.tables.faults",
    "ItemRelease": "foreknow.models.quasi_sensitive.item_release",
    "Items": "foreknow.models.quasi_sensitive.items",
    "JointAuto": "foreknow.models.joint",
    "JointPosterior": "foreknow.models.joint",
    "KernelPrior": "foreknow.models.knowledge.kernel_prior",
    "LearnedKnowledge": "foreknow.models.joint",
    "Linking": "foreknow.models.quasi_sensitive.links",
    "MarkovChain": "foreknow.models.knowledge.markov_chain",
    "MaxEntropy": "foreknow.models.joint",
    "Memory": "foreknow.models.memory",
    "Mixed": "foreknow.models.estimators",
    "Numeric": "foreknow.models.tables.schema",
    "Observation": "foreknow.models.tables.people",
    "Omega": "foreknow.models.estimators",
    "PathSampler": "foreknow.models.joint",
    "People": "foreknow.models.tables.people",
    "PerGroup": "foreknow.models.estimators",
    "Posterior": "foreknow.models.problem",
    "PosteriorCascade": "foreknow.models.knowledge.cascades",
    "Prior": "foreknow.models.knowledge.priors",
    "PriorByTime": "foreknow.models.knowledge.priors",
    "PriorCascade": "foreknow.models.knowledge.cascades",
    "Problem": "foreknow.models.problem",
    "ProgramEstimator": "foreknow.models.programs",
    "PublishedTable": "foreknow.models.tables.published_table",
    "RandomWorlds": "foreknow.models.estimators",
    "RegressionDesign": "foreknow.models.knowledge.regression_prior",
    "RegressionPrior": "foreknow.models.knowledge.regression_prior",
    "Release": "foreknow.models.tables.release",
    "RemoveKnown": "foreknow.models.knowledge.cascades",
    "SampleSize": "foreknow.models.foreground.attribute_signatures",
    "SampledKnowledge": "foreknow.models.joint",
    "Schema": "foreknow.models.tables.schema",
    "Simulation": "foreknow.models.simulation",
    "Sinkhorn": "foreknow.models.estimators",
    "Status": "foreknow.models.problem",
    "SwapChain": "foreknow.models.estimators",
    "TooLarge": "foreknow.models.estimators",
    "Transitions": "foreknow.models.knowledge.markov_chain",
    "TransitionsByClass": "foreknow.models.knowledge.personal_transitions",
    "UniformPrior": "foreknow.models.knowledge.priors",
    "View": "foreknow.models.tables.view",
    "compromised_model": "foreknow.models.programs",
    "foreground_model": "foreknow.models.programs",
    "hierarchical_markov_model": "foreknow.models.programs",
    "history_model": "foreknow.models.programs",
    "joint_history": "foreknow.models.joint",
    "links": "foreknow.models.quasi_sensitive.links",
    "markov_model": "foreknow.models.programs",
    "observe_groups": "foreknow.models.programs",
    "permutation_model": "foreknow.models.programs",
    "prior_model": "foreknow.models.programs",
    "release_model": "foreknow.models.programs",
}
"""Module of each public name."""

__all__ = list(PLACES)

import_lazily(__name__, PLACES)
