"""Grouping algorithms, the requirements they enforce, publishing: ``defense(view, prior, past) -> Grouping``."""

from collections.abc import Callable

from foreknow.defenses.algorithms.growth import grow
from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.anatomy import Anatomy
from foreknow.defenses.bkaa import BKAA
from foreknow.defenses.cohorts import Cohorts
from foreknow.defenses.foreground_safe import ForegroundSafe
from foreknow.defenses.full_domain import FullDomain
from foreknow.defenses.injector import Injector
from foreknow.defenses.js_reduce import JSReduce
from foreknow.defenses.k_primacy import KPrimacy
from foreknow.defenses.m_invariance import MInvariance
from foreknow.defenses.mask import MASK
from foreknow.defenses.mondrian import Mondrian
from foreknow.defenses.noisy_counts import NoisyCounts, Promise, temporal_leakage
from foreknow.defenses.publish import Defense, NoisyDefense, publish
from foreknow.defenses.requirements.belief_bounds import BTPrivacy, PosteriorBound
from foreknow.defenses.requirements.closeness import BasicBetaLikeness, BetaLikeness, JSimilarity, TCloseness
from foreknow.defenses.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
)
from foreknow.defenses.requirements.quasi_sensitive import QSCloseness, QSDiversity
from foreknow.defenses.requirements.requirement import GroupPredicate, Infeasible, Requirement, all_of, any_of
from foreknow.defenses.requirements.summary import Summary, summarize_groups, summarize_records
from foreknow.defenses.suppression.item_suppression import ItemSuppression, publish_items
from foreknow.defenses.uhra import UHRA

DEFENSES: dict[str, Callable[..., Defense]] = {
    "anatomy": Anatomy,
    "bkaa": BKAA,
    "cohorts": Cohorts,
    "foreground-safe": ForegroundSafe,
    "full-domain": FullDomain,
    "injector": Injector,
    "js-reduce": JSReduce,
    "k-primacy": KPrimacy,
    "m-invariance": MInvariance,
    "mask": MASK,
    "mondrian": Mondrian,
    "uhra": UHRA,
}
"""Every defense by name: that of the command line, which has all but ``foreground-safe``, a defense with a sensitive set."""

REQUIREMENTS: dict[str, type[Requirement]] = {
    "basic-beta-likeness": BasicBetaLikeness,
    "beta-likeness": BetaLikeness,
    "bt-privacy": BTPrivacy,
    "distinct-diversity": DistinctDiversity,
    "entropy-diversity": EntropyDiversity,
    "frequency-diversity": FrequencyDiversity,
    "j-similarity": JSimilarity,
    "k-anonymity": KAnonymity,
    "posterior-bound": PosteriorBound,
    "qs-closeness": QSCloseness,
    "qs-diversity": QSDiversity,
    "recursive-diversity": RecursiveDiversity,
    "t-closeness": TCloseness,
}
"""Requirement classes by name."""

__all__ = [
    "BKAA",
    "DEFENSES",
    "MASK",
    "UHRA",
    "Anatomy",
    "BTPrivacy",
    "BasicBetaLikeness",
    "BetaLikeness",
    "Cohorts",
    "Defense",
    "DistinctDiversity",
    "EntropyDiversity",
    "ForegroundSafe",
    "FrequencyDiversity",
    "FullDomain",
    "GroupPredicate",
    "Infeasible",
    "Injector",
    "ItemSuppression",
    "JSReduce",
    "JSimilarity",
    "KAnonymity",
    "KPrimacy",
    "MInvariance",
    "Mondrian",
    "NoisyCounts",
    "NoisyDefense",
    "PosteriorBound",
    "Promise",
    "QSCloseness",
    "QSDiversity",
    "RecursiveDiversity",
    "Requirement",
    "Summary",
    "TCloseness",
    "all_of",
    "any_of",
    "grow",
    "hilbert_order",
    "publish",
    "publish_items",
    "summarize_groups",
    "summarize_records",
    "temporal_leakage",
]
