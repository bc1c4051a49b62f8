"""Mutation testing, a program: random mutants of source files by Cosmic Ray, each in a fork that runs the tests of its place.

All tests are imported once; kernels run as plain Python. First each test runs alone, and its time and the lines that it executes
are kept. Then a fork per mutant gets the mutated functions and constants, and runs tests that execute the mutated statement: of
each test function the fastest case first, until a test fails or ``--budget`` seconds of tests have passed.

    pip install cosmic-ray
    python tests/mutation.py RESULTS.jsonl --each 250

The program goes on where a file of results ends, and runs survivors again with ``--again``.
"""

import argparse
import gc
import importlib
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest
from mutants import Mutant, mutants, statement_of
from scipy.stats import binomtest
from transplant import UnfitCodeError, functions_by_file, transplant

ROOT = Path(__file__).resolve().parents[1]


class Family(NamedTuple):
    """Files of a folder whose names begin with one of some words, and not with others; and paths of their tests."""

    folder: str
    names: tuple[str, ...]
    others: tuple[str, ...]
    tests: tuple[str, ...]

    def __contains__(self, path):
        name = Path(path).name
        return path.startswith(f"{self.folder}/") and name.startswith(self.names) and not name.startswith(self.others)


LEARNING = ("learn", "sampled_knowledge")
SAMPLER = ("joint_draws", "path_", "redraws")
FAMILIES = {
    "estimators": Family("models/estimators", ("",), (), ("models/estimators",)),
    "joint solvers": Family(
        *("models/joint", ("",), LEARNING + SAMPLER),
        (
            "models/joint",
            "attacks/test_joint.py",
            "attacks/test_transitions_by_person.py",
            "models/knowledge/test_transitions_by_class.py",
            "models/test_wrong_arguments.py",
        ),
    ),
    "PathSampler": Family("models/joint", SAMPLER, (), ("models/joint",)),
    "learned knowledge": Family("models/joint", LEARNING, (), ("models/joint", "models/test_wrong_arguments.py")),
    "requirements": Family(
        *("defenses/requirements", ("",), ()),
        ("defenses/requirements", "defenses/test_mondrian.py", "defenses/test_averaged.py", "defenses/test_publish.py"),
    ),
    "verify": Family(
        *("evaluation/checks", ("",), ()),
        (
            "evaluation/checks",
            "app/cli/files",
            "app/cli/test_from_disk.py",
            "evaluation/test_wrong_arguments.py",
            "defenses/requirements/test_wrong_arguments.py",
        ),
    ),
}

LONGEST, EXAMPLES = 2.0, 10
"""Seconds of processor time of the longest test that is used, and largest number of examples of a test by Hypothesis."""

PATIENCE, GRACE = 10, 2.0
"""A test fails that takes longer than ten times its time without the mutant, and two seconds."""

CONTROLS = 2
"""Number of tests of a file that must pass before its mutants run."""

LAZY = ("networkx", "scipy.optimize", "scipy.sparse.csgraph", "scipy.stats", "xarray")
"""Libraries that the package imports when it needs them: imported once, for all forks."""

NO_RESULT = "no result"
"""What killed a mutant that could not be run: its fork ended without an answer, or its code does not fit. It is not counted."""

MEMORY = 3 * 2**30
"""Bytes of address space that a fork may add."""


def in_fork(action, *arguments):
    """Result of an action in a fork, without its output; the name of a signal if one ended it."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        try:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
            with os.fdopen(writing, "w") as file:
                json.dump(action(*arguments), file)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    _, status = os.waitpid(process, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else json.loads(text or "null")


def limit(seconds):
    """End this process after some seconds of processor time, or ten times as many of real time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)


def passes(item):
    """Return whether a test passes or is skipped."""
    from _pytest.runner import runtestprotocol

    return not any(report.failed for report in runtestprotocol(item, nextitem=None, log=False))


def alone(item, files):
    """Seconds of a test and the lines of some files that it executes, by path; None if it fails."""
    lines, monitoring = {}, sys.monitoring

    def note(code, line):
        if code.co_filename in files:
            lines.setdefault(files[code.co_filename], []).append(line)
        return monitoring.DISABLE

    monitoring.use_tool_id(monitoring.COVERAGE_ID, "mutation")
    monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, note)
    monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
    limit(LONGEST)
    start = time.process_time()
    return {"seconds": time.process_time() - start, "lines": lines} if passes(item) else None


def records(path):
    """Records of a file with one JSON object per line; none if there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def record(path, found):
    with path.open("a") as file:
        file.write(json.dumps(found) + "\n")


class Mutation:
    """Plugin of pytest that runs mutants in the place of tests."""

    def __init__(self, results, wanted, budget):
        self.results, self.wanted, self.budget = results, wanted, budget

    def pytest_collection(self):
        """Give tests fewer examples, and no time to shrink them."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        fixed = hypothesis.settings.get_profile("fixed")
        hypothesis.settings.register_profile("mutation", fixed, max_examples=EXAMPLES, phases=phases, database=None)
        hypothesis.settings.load_profile("mutation")

    def pytest_runtestloop(self, session):
        for item in session.items:
            _reduce_examples(getattr(item.obj, "__func__", item.obj))
        for name in LAZY:
            importlib.import_module(name)
        for path in {mutant.path for mutant in self.wanted}:
            importlib.import_module("foreknow." + path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        modules = {each for name, each in sys.modules.items() if name.startswith("foreknow.")}
        self.modules = {Path(each.__file__).resolve().relative_to(ROOT).as_posix(): each for each in modules}
        self.live = functions_by_file([module.__file__ for module in modules])
        gc.freeze()
        self.measure({item.nodeid: item for item in session.items})
        for path in sorted({mutant.path for mutant in self.wanted}):
            self.control(path)
        for mutant in self.wanted:
            record(self.results, {**mutant._asdict(), **self.outcome(mutant)})
        return True

    def measure(self, items):
        """Seconds and lines of each test alone, from the file beside the results where it has them."""
        path, files = self.results.with_suffix(".tests"), {each.__file__: path for path, each in self.modules.items()}
        known = {each["test"] for each in records(path)}
        for name, item in items.items():
            if name not in known:
                found = in_fork(alone, item, files)
                record(path, {"test": name, "found": found if isinstance(found, dict) else None})
        found = {each["test"]: each["found"] for each in records(path)}
        self.tests = [(item, found[name]) for name, item in items.items() if found[name]]

    def control(self, path):
        """Raise RuntimeError if a file does not pass its fastest tests when its own functions take its place."""
        killer = self.killer(path, self.text(path), self.tests_of(path, None)[:CONTROLS])
        if killer:
            raise RuntimeError(f"{path} without a mutation is killed by {killer}")

    def outcome(self, mutant):
        """State of a mutant, what killed it, and the number of tests that it was given; "error" if it could not be run."""
        text = self.text(mutant.path)
        chosen = self.tests_of(mutant.path, statement_of(text, mutant.line))
        killer = self.killer(mutant.path, mutant.source(text), chosen)
        state = "error" if killer == NO_RESULT else "killed" if killer else "survived"
        return {"state": state, "killer": killer, "tests": len(chosen)}

    def killer(self, path, text, chosen):
        """Test that fails on the text of a file, or the signal or exception that ended it; None if all pass, or `NO_RESULT`."""
        module = self.modules[path]
        found = in_fork(_run, module, text, self.live[module.__file__], chosen)
        return found["killer"] if isinstance(found, dict) else found or NO_RESULT

    def text(self, path):
        return (ROOT / path).read_text(encoding="utf-8")

    def tests_of(self, path, lines):
        """Tests that execute a statement, or any of the file if it runs at import, with their seconds, up to the budget."""
        first, last = lines or (0, sys.maxsize)
        found = [
            (each["seconds"], item) for item, each in self.tests if _meets(each["lines"].get(path, ()), first, last)
        ]
        turns, ranked = Counter(), []
        for seconds, item in sorted(found, key=lambda each: each[0]):
            function = item.nodeid.split("[")[0]
            ranked.append((turns[function], seconds, item))
            turns[function] += 1
        chosen, total = [], 0.0
        for _, seconds, item in sorted(ranked, key=lambda each: each[:2]):
            if total + seconds <= self.budget or not chosen:
                chosen.append((item, seconds))
                total += seconds
        return chosen


def _meets(lines, first, last):
    return any(first <= line <= last for line in lines)


def _reduce_examples(test):
    own = getattr(test, "_hypothesis_internal_use_settings", None)
    if own is not None:
        examples = min(own.max_examples, EXAMPLES)
        test._hypothesis_internal_use_settings = hypothesis.settings(own, max_examples=examples)


def _run(module, text, live, chosen):
    """Test that fails on a mutated text, or the exception of its import; None if all pass."""
    limit(LONGEST)
    try:
        transplant(module, text, live)
    except UnfitCodeError:
        return {"killer": NO_RESULT}
    except Exception as error:
        return {"killer": f"import: {error!r}"}
    for item, seconds in chosen:
        limit(PATIENCE * seconds + GRACE)
        if not passes(item):
            return {"killer": item.nodeid}
    return {"killer": None}


def sample(families, each, seed):
    """Mutants of some families in turn, drawn without replacement; a larger sample begins with a smaller one."""
    drawn = []
    for family in (FAMILIES[name] for name in families):
        paths = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / family.folder).rglob("*.py"))
        found = [mutant for path in paths if path in family for mutant in mutants(ROOT, path, seed)]
        random.Random(seed).shuffle(found)
        drawn.append(found[:each])
    return [mutant for turn in zip_longest(*drawn) for mutant in turn if mutant]


def outcomes(path):
    """Last outcome of each mutant of a file of results."""
    return {Mutant(*(each[name] for name in Mutant._fields)): each for each in records(path)}


def summary(found):
    """Lines of a table: mutants, killed ones and their share by family, and a line for each survivor."""
    for name, family in FAMILIES.items():
        states = Counter(each["state"] for mutant, each in found.items() if mutant.path in family)
        if total := states["killed"] + states["survived"]:
            low, high = binomtest(states["killed"], total).proportion_ci(method="wilson")
            share = f"{states['killed'] / total:.3f}"
            yield f"| {name} | {total} | {states['killed']} | {share} | {low:.3f} to {high:.3f} |"
    for mutant, each in sorted(found.items()):
        if each["state"] == "survived":
            original = (ROOT / mutant.path).read_text(encoding="utf-8").splitlines()
            text = mutant.source("\n".join(original)).splitlines()[mutant.line - 1].strip()
            place = f"{mutant.path}:{mutant.line}:{mutant.column} ({each['tests']} tests)"
            yield f"{place}\n    {original[mutant.line - 1].strip()}\n    {text}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="file with a line of JSON per mutant")
    parser.add_argument("--each", type=int, default=250, help="largest number of mutants of a family")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument(
        "--budget", type=float, default=15.0, help="seconds of the tests of a mutant, as they take without it"
    )
    parser.add_argument("--again", action="store_true", help="run survivors again")
    settings = parser.parse_args()
    known = outcomes(settings.results)
    if settings.again:
        families = [FAMILIES[name] for name in settings.families]
        survivors = [mutant for mutant, each in known.items() if each["state"] == "survived"]
        wanted = [mutant for mutant in survivors if any(mutant.path in family for family in families)]
    else:
        wanted = [mutant for mutant in sample(settings.families, settings.each, settings.seed) if mutant not in known]
    os.environ |= {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ignored = ("ignore::RuntimeWarning", "ignore::pytest.PytestAssertRewriteWarning")
    options = ["-n0", "-p", "no:cacheprovider", "-s", "-m", "not slow", *(f"-W{each}" for each in ignored)]
    chosen = dict.fromkeys(str(ROOT / "tests" / path) for name in settings.families for path in FAMILIES[name].tests)
    pytest.main(
        [*options, f"--basetemp={settings.results.with_suffix('.tmp')}", *chosen],
        [Mutation(settings.results, wanted, settings.budget)],
    )
    print(*summary(outcomes(settings.results)), sep="\n")


if __name__ == "__main__":
    main()
