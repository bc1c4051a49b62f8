"""Random arguments to every public class, function and method.

Only errors that the package raises itself leave a constructor or a function. A method, and an object that is called, are used
mostly by the package, with what it has checked: a wrong kind of object may end in Python's own error there, and in no other.

Twelve calls of each name, or twelve others in each run with ``--hypothesis-profile=long``.
"""

import inspect
import math
import secrets
import tempfile
import traceback
import warnings
import zlib
from enum import EnumType
from pathlib import Path

import arviz
import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from own_errors import is_own
from patients import KNOWLEDGE, LINKING, patients
from public_objects import public_objects
from strategies import history_of

import foreknow.app.disk
import foreknow.attacks
import foreknow.defenses
import foreknow.evaluation
import foreknow.models
import foreknow.testing
from foreknow.app.disk import Engine, LargeTable, publish_large
from foreknow.attacks import SnapshotAttack
from foreknow.defenses import KAnonymity, Mondrian, summarize_records
from foreknow.evaluation import Workload
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    Exact,
    ExpectationMaximization,
    ItemRelease,
    Items,
    MarkovChain,
    Omega,
    Problem,
    PublishedTable,
    Release,
    UniformPrior,
)

pytestmark = pytest.mark.slow

CALLS_PER_NAME = 12
"""Number of random calls of each name: together about 5,000."""

SEED = 12 if settings().derandomize else secrets.randbits(32)
"""Seed of the calls: other ones in each run of a long search."""

FUNCTIONS = {
    *("attack", "attacks", "classes", "defense", "defenses", "fit", "function", "grouped"),
    *("measure", "prior", "progress", "rule", "within"),
}
"""Parameters that take a function, which the package calls: a wrong one raises an error of its own, or of Python."""

CASCADES = ("EvidenceCascade", "PosteriorCascade", "PriorCascade", "RemoveKnown")

SKIPPED = {
    **dict.fromkeys(
        [
            *(
                "belief_forest",
                "belief_over_time",
                "breach_curve",
                "convergence_plot",
                "foreground_map",
                "gain_over_time",
            ),
            *("influence_map", "influence_over_distance", "leak_plot", "reliability_plot", "risk_utility_map"),
        ],
        "draws with Matplotlib; tests/evaluation/plots/test_wrong_arguments.py covers it",
    ),
    "households": "takes no argument, and reads 1.5 million rows at each call",
    **dict.fromkeys(
        [
            *("compromised_model", "foreground_model", "history_model", "markov_model", "permutation_model"),
            *("hierarchical_markov_model", "prior_model", "release_model"),
        ],
        "compiles PyMC models; tests/models/programs/test_wrong_arguments.py covers it",
    ),
    **dict.fromkeys(
        [
            *(
                "InputFaults",
                "Items",
                "JointPosterior",
                "KernelPrior",
                "Memory",
                "Observation",
                "People",
                "RegressionDesign",
            ),
            *("grow", "hilbert_order", "summarize_groups", "summarize_records"),
            *(f"Adversary.{name}" for name in ("posterior", "channel", "problem_posterior", "update_memory")),
            *(
                "Adversary.affected_by_claims",
                "Adversary.contradicted_groups",
                "BeliefDraws.spread",
                "ChainByRelease.at",
            ),
            *("ChainByRelease.of_views", "Evidence.table", "ExternalKnowledge.bits", "Items.without", "Links.beliefs"),
            *("Links.probabilities", "Memory.rows_of"),
            *(f"{name}.{method}" for name in CASCADES for method in ("revise", "posterior")),
        ],
        "is made or called by the package, with what it has checked",
    ),
}
"""Names that the test leaves out, and the reason."""

HISTORY = history_of(("ABC", "abc"), ("AB", "ba"))
VIEW = HISTORY[0]
RELEASES = [Release(HISTORY[0], [0, 0, 1]), Release(HISTORY[1], [0, 0])]
ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3)))
ATTACK = SnapshotAttack(ADVERSARY)
BELIEFS = ATTACK(RELEASES)
RECORDS = summarize_records(VIEW, np.full((3, 3), 1 / 3), members=True)
PROBLEM = Problem(np.full((3, 3), 1 / 3), np.array([0, 0, 1]), np.array([[1, 1, 0], [0, 0, 1]]))
CLAIMS = pd.DataFrame({"respondent": ["A"], "value": ["a"], "time": [1], "confidence": [1.0]})
DRAWS = {
    "transitions": np.full((1, 4, 3, 3), 1 / 3),
    "belief": np.full((1, 4, 2, 3), 1 / 3),
    "reliability": np.ones((1, 4)),
}
DIMS = {"transitions": ["last", "value"], "belief": ["respondent", "value"]}
TREE = arviz.from_dict({"posterior": DRAWS}, dims=DIMS)
ITEM_RELEASE = ItemRelease(Release(patients(), [0, 0, 1, 1]), LINKING, LINKING.items_of(patients()))
FOLDER = tempfile.TemporaryDirectory()
pd.concat(view.frame.assign(week=view.time) for view in HISTORY).to_parquet(Path(FOLDER.name) / "visits.parquet")
TABLE = LargeTable.infer(Path(FOLDER.name) / "visits.parquet", ["age"], time="week")
PUBLISHED = publish_large(TABLE, Mondrian(KAnonymity(1)), Path(FOLDER.name) / "published")


KINDS = (TypeError, ValueError, AttributeError, LookupError, pd.errors.InvalidIndexError)
"""Python's errors about a wrong kind of object."""


class Bare:
    """An object without any interface."""


HUGE = (10**400, 2**70, math.inf)
"""Numbers that no array holds."""

WRONG = (
    *(None, True, -1, 0, 1, 2, 2.5, -0.5, math.nan, 1j, "", "x", "age", "equal", b"y", (), (1,), [], [[1]], [[]], [None]),
    *({}, {"age": 1}, {1: 2}, {"age": None}, {1}, set(), object(), Bare, Bare(), len, lambda *_: 0, int, slice(2), iter([1])),
    *(np.array(3), np.arange(3), np.array([[0.5]]), np.array(["a"]), np.float64(0.5), np.datetime64("2024-01-01")),
    *(np.zeros((0, 0)), np.array([None]), np.array([np.nan, 1.0]), np.zeros((2, 2, 2)), np.array([2**63], dtype=np.uint64)),
    *(pd.DataFrame({"a": [1]}), pd.DataFrame(), pd.Series([1, 2]), pd.NA, pd.NaT, np.random.default_rng(0)),
    *(KAnonymity, KAnonymity(2), Omega, Omega(), Mondrian(KAnonymity(2)), UniformPrior(), ADVERSARY, ATTACK),
    *(HISTORY, VIEW, VIEW.frame, VIEW.people, VIEW.schema, RELEASES, RELEASES[0], RELEASES[0].observation, BELIEFS),
    *(BELIEFS.releases[0], RECORDS, PROBLEM, Exact()(PROBLEM), CompromisedRecords(CLAIMS), KNOWLEDGE, LINKING, ITEM_RELEASE),
    *(Items.from_cells(["a", "a, b", "c"]), ExpectationMaximization(), PublishedTable(RELEASES[0].table, sensitive="result")),
)  # fmt: skip
"""Values of many kinds. For each argument most are wrong, and some are right."""

RIGHT = {
    "adversary": ADVERSARY,
    "beliefs": BELIEFS,
    "forward": BELIEFS,
    "hindsight": BELIEFS,
    "counts": PROBLEM.counts,
    "defense": Mondrian(KAnonymity(2)),
    "defenses": {"halved": Mondrian(KAnonymity(1))},
    "attacks": {"snapshot": ATTACK},
    "engine": Engine(),
    "estimator": Exact(),
    "files": TABLE.files,
    "folder": Path(FOLDER.name) / "published",
    "fit": ExpectationMaximization(iterations=2),
    "frame": VIEW.frame,
    "group": PROBLEM.group,
    "grouping": [0, 0, 1],
    "history": HISTORY,
    "k": 2,
    "knowledge": KNOWLEDGE,
    "l": 2,
    "linking": LINKING,
    "observation": RELEASES[0].observation,
    "order": 1,
    "people": VIEW.people,
    "prior": PROBLEM.prior,
    "published": PUBLISHED,
    "quasi_identifiers": ["age"],
    "probabilities": np.full((3, 3), 1 / 3),
    "problem": PROBLEM,
    "records": RECORDS,
    "release": RELEASES[0],
    "releases": RELEASES,
    "requirement": KAnonymity(2),
    "rng": 1,
    "schema": VIEW.schema,
    "sensitive_set": {"a"},
    "table": TABLE,
    "transitions": ADVERSARY.transitions,
    "tree": TREE,
    "view": VIEW,
    "views": HISTORY,
    "workload": Workload.draw(HISTORY, rng=0, queries=2, sanity_bound=1),
}
"""A right value for the parameters of common names, so that calls reach the checks behind the first one."""


def parameters(target):
    """Parameters of a target, without those that collect any number of arguments."""
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return []
    return [each for each in signature.parameters.values() if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def targets():
    """Every public class and function by name, with the class methods of each class."""
    packages = (foreknow.models, foreknow.attacks, foreknow.defenses, foreknow.evaluation)
    packages += (foreknow.app.disk, foreknow.testing)
    for package in packages:
        for name in package.__all__:
            target = getattr(package, name)
            if callable(target):
                yield name, target
            if inspect.isclass(target):
                kinds = (classmethod, staticmethod)
                methods = [each for each, held in vars(target).items() if isinstance(held, kinds) and each[0] != "_"]
                yield from ((f"{name}.{each}", getattr(target, each)) for each in methods)
    yield from public_methods()


def public_methods():
    """Methods that take arguments, of an object of each public class."""
    for name, made in public_objects():
        for each in dir(type(made)):
            held = inspect.getattr_static(type(made), each)
            if each[0] != "_" and inspect.isfunction(held) and held.__module__.startswith("foreknow"):
                method = getattr(made, each)
                if parameters(method):
                    yield f"{name}.{each}", method


TARGETS = dict(targets())


def drawn_arguments(rng, target, values):
    """Random arguments: mostly one for each parameter, by position or by name; some are missing, and some are right."""
    arguments, options = [], {}
    for parameter in parameters(target):
        if parameter.default is not parameter.empty and rng.random() < 0.6:
            continue
        is_right = parameter.name in RIGHT and rng.random() < 0.6
        value = RIGHT[parameter.name] if is_right else values[rng.integers(len(values))]
        if parameter.kind == parameter.POSITIONAL_ONLY:
            arguments.append(value)
        else:
            options[parameter.name] = value
    if rng.random() < 0.1:
        return [values[rng.integers(len(values))] for _ in range(rng.integers(0, 4))], {}
    return arguments, options


def takes_function(target, arguments, options):
    """Return whether a parameter that takes a function was given a value."""
    names = [each.name for each in parameters(target)]
    return bool(FUNCTIONS & {*names[: len(arguments)], *options})


def is_expected(error, target, may_be_foreign):
    """Return whether a call of a target with wrong arguments may raise an error: one of this package, or Python's on the call."""
    is_of_the_call = len(traceback.extract_tb(error.__traceback__)) == 1
    is_of_python = is_of_the_call or isinstance(target, EnumType) or getattr(target, "_is_protocol", False)
    return is_own(error) or (isinstance(error, KINDS) and (is_of_python or may_be_foreign))


def escaped(target, arguments, options, may_be_foreign):
    """The result of a call, and the error that it raised if it is none of those expected."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return target(*arguments, **options), None
    except Exception as error:
        return None, None if is_expected(error, target, may_be_foreign) else error


def findings(name, calls):
    """Errors that escape from random calls of a name, and from random calls of what it returns."""
    rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    target = TARGETS[name]
    for _ in range(calls):
        arguments, options = drawn_arguments(rng, target, (*WRONG, *HUGE))
        may_be_foreign = "." in name or takes_function(target, arguments, options)
        made, error = escaped(target, arguments, options, may_be_foreign)
        if error is None and inspect.isclass(target) and callable(made):
            # An object with huge settings may rightly compute for ever: it is called with wrong arguments alone.
            arguments, options = drawn_arguments(
                rng, made, [value for value in WRONG if not isinstance(value, np.ndarray)]
            )
            _, error = escaped(made, arguments, options, may_be_foreign=True)
        is_a_failed_check = isinstance(error, AssertionError) and name in foreknow.testing.__all__
        if error is not None and not is_a_failed_check:
            yield error, arguments, options


def test_what_is_skipped_is_public():
    assert set(SKIPPED) <= set(TARGETS)


@pytest.mark.parametrize("name", sorted(set(TARGETS) - set(SKIPPED)))
def test_only_own_errors_leave_a_public_call(name, tmp_path, monkeypatch):
    # A folder to publish into may be any text, and is made in the present one.
    monkeypatch.chdir(tmp_path)
    found = [(type(error).__name__, error, call) for error, *call in findings(name, CALLS_PER_NAME)]
    assert not found, (SEED, *found[0])
