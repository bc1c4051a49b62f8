"""Grouping algorithms, the requirements they enforce, publishing: ``defense(view, prior, past) -> Grouping``."""

from collections.abc import Callable

from foreknow.defenses.anonymity import KAnonymity
from foreknow.defenses.closeness import TCloseness
from foreknow.defenses.diversity import DistinctDiversity, EntropyDiversity, FrequencyDiversity, RecursiveDiversity
from foreknow.defenses.growth import grow
from foreknow.defenses.hilbert import hilbert_index, hilbert_order
from foreknow.defenses.js_reduce import JSReduce
from foreknow.defenses.mondrian import Mondrian
from foreknow.defenses.publish import Defense, publish
from foreknow.defenses.requirement import AllOf, AnyOf, Infeasible, Requirement, all_of, any_of
from foreknow.defenses.similarity import JSimilarity
from foreknow.defenses.summary import Summary, Whole, summarize_groups, summarize_records

DEFENSES: dict[str, Callable[..., Defense]] = {"js-reduce": JSReduce, "mondrian": Mondrian}
"""Every defense, by the name the command line gives it."""

__all__ = [
    "DEFENSES",
    "AllOf",
    "AnyOf",
    "Defense",
    "DistinctDiversity",
    "EntropyDiversity",
    "FrequencyDiversity",
    "Infeasible",
    "JSReduce",
    "JSimilarity",
    "KAnonymity",
    "Mondrian",
    "RecursiveDiversity",
    "Requirement",
    "Summary",
    "TCloseness",
    "Whole",
    "all_of",
    "any_of",
    "grow",
    "hilbert_index",
    "hilbert_order",
    "publish",
    "summarize_groups",
    "summarize_records",
]
