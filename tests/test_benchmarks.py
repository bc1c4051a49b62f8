"""Table of the benchmarks: sizes in names, growth exponents, ratios to a kept run, and the guard."""

import importlib
import json
import os
import sys
import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from places import ROOT

from foreknow.evaluation.cells import read, recompute, run
from foreknow.models import Noise


@pytest.fixture(scope="module")
def figures():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module("run")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.mark.parametrize(
    ("name", "size", "method"),
    [
        ("exams 24 x 5,000: Mondrian k=2, l=2", 120_000, "exams: Mondrian k=2, l=2"),
        ("Adult 10,000 rows: Mondrian k=5", 10_000, "Adult: Mondrian k=5"),
        ("Adult 45,222: Mondrian k=5", 45_222, "Adult: Mondrian k=5"),
        ("10^6 exams: Anatomy(2)", 10**6, "exams: Anatomy(2)"),
        ("ConfidenceSum on one group of 1,000", 1000, "ConfidenceSum on one group of"),
        ("a program", None, "a program"),
        ("`m`; pbc, 312: 4 chains of 1,000 draws", None, "`m`; pbc, 312: 4 chains of 1,000 draws"),
    ],
)
def test_sizes_and_methods_are_in_the_names(figures, name, size, method):
    found = figures.Measured(name)
    assert (found.size, found.method) == (size, method)


def test_the_exponent_of_a_power_is_found(figures):
    measured = [figures.Measured(f"Adult {n:,}: x", 3e-6 * n**1.5) for n in (1000, 10_000, 100_000)]
    assert figures.growth_exponents([*measured, figures.Measured("Adult 1,000: y", 1.0)]) == pytest.approx(
        {"Adult: x": 1.5}
    )


def test_rows_have_every_column(figures):
    measured = [
        figures.Measured("Adult 1,000: x", 0.1, 4.0, 200.0),
        figures.Measured("Adult 10,000: x", 1.0, 9.0, 300.0),
    ]
    kept = {"Adult 10,000: x": {"cost": 6.0, "peak": 300.0}}
    limits, peers = {"Adult 1,000: x": 2.0}, {"Adult 10,000: x": ("anjana", 4.0)}
    first, second = figures.rows(measured, kept, limits, peers)
    assert first == "| Adult 1,000: x | 1,000 | 0.1000 | 2 | 200 |  |  |  |"
    assert second == "| Adult 10,000: x | 10,000 | 1.0000 |  | 300 | 1.00 | 1.50 | 0.25 of anjana |"
    assert all(line.count("|") == 9 for line in (*figures.HEAD, first, second))


def test_the_guard_compares_costs_and_memory(figures, tmp_path):
    path = tmp_path / "kept.json"
    figures.keep_run("mine", [figures.Measured("x", 1.0, 2.0, 100.0), figures.Measured("y", skipped="no data")], path)
    figures.keep_run("mine", [figures.Measured("z", 1.0, 1.0, 100.0)], path)
    kept = figures.kept_run("mine", path)
    assert set(kept) == {"x", "z"}
    assert figures.kept_run("another", path) == {}
    assert json.loads(path.read_text())["mine"]["x"]["cost"] == 2.0
    slower = [figures.Measured("x", 9.0, 2.9, 140.0), figures.Measured("z", 1.0, 1.6, 160.0)]
    assert [line.split(":")[1].split()[0] for line in figures.regressions(slower, kept, 1.5)] == ["cost", "memory"]
    assert figures.regressions([figures.Measured("x", 9.0, 2.9, 140.0)], kept, 1.5) == []
    assert "w: not in the kept run" in figures.regressions([figures.Measured("w", 1.0, 1.0, 1.0)], kept, 1.5)[0]


@pytest.mark.parametrize(("second", "status", "kept_cost"), [(2.0, 0, 1.5), (1.2, 0, 1.2), (4.0, 1, 1.5)])
def test_a_suspicious_figure_is_measured_twice_and_kept_unless_it_is_slow_again(
    figures, monkeypatch, capsys, tmp_path, second, status, kept_cost
):
    path = tmp_path / "kept.json"
    name = next(iter(figures.FIGURES))
    figures.keep_run("mine", [figures.Measured(name, 1.0, 1.5, 100.0)], path)
    costs = iter([4.0, second])
    kept_run, keep_run = figures.kept_run, figures.keep_run
    monkeypatch.setattr(figures, "hardware", lambda: "mine")
    monkeypatch.setattr(figures, "kept_run", lambda machine: kept_run(machine, path))
    monkeypatch.setattr(figures, "keep_run", lambda machine, measured: keep_run(machine, measured, path))
    monkeypatch.setattr(figures, "measured_alone", lambda each: figures.Measured(each, 1.0, next(costs), 100.0))
    monkeypatch.setattr(figures.sys, "argv", ["run.py", name, "--guard", "1.5", "--keep"])
    assert figures.main() == status
    assert ("times the kept" in capsys.readouterr().err) == bool(status)
    assert kept_run("mine", path)[name]["cost"] == kept_cost
    assert next(costs, None) is None


def test_the_best_of_several_runs_is_kept(figures, tmp_path):
    path = tmp_path / "kept.json"
    for cost, peak in ((2.0, 90.0), (1.0, 100.0), (3.0, 95.0)):
        figures.keep_run("mine", [figures.Measured("x", cost, cost, peak)], path)
    assert figures.kept_run("mine", path)["x"] == {"seconds": 1.0, "cost": 1.0, "peak": 90}


@pytest.mark.parametrize(("again", "status"), [(1.01, 0), (1.2, 1)])
def test_a_job_slower_than_the_earlier_commit_fails_only_if_it_is_slow_twice(
    figures, monkeypatch, capsys, again, status
):
    job, ratios = figures.paired.JOBS[0], iter([1.1, again])
    monkeypatch.setattr(
        figures.paired, "measured", lambda jobs: [figures.paired.Pair(each, next(ratios), 1.0) for each in jobs]
    )
    monkeypatch.setattr(figures.sys, "argv", ["run.py", job, "--guard", "1.5"])
    assert figures.main() == status
    assert (f"times {figures.paired.COMMIT}" in capsys.readouterr().err) == bool(status)


@pytest.mark.usefixtures("figures")
def test_kept_cells_are_measured_again():
    """Random fast cells of benchmarks/cells, during `FOREKNOW_CELLS_SECONDS`; `make cells` keeps those that changed."""
    experiments = importlib.import_module("experiments").EXPERIMENTS
    seconds, rng = float(os.environ.get("FOREKNOW_CELLS_SECONDS", "5")), np.random.default_rng(time.time_ns())
    found = recompute(experiments, ROOT / "benchmarks" / "cells", seconds, rng)
    assert len(found)
    assert not found.loc[found["difference"] != "", ["cell", "difference"]].to_dict("records")


@pytest.mark.usefixtures("figures")
def test_tables_of_the_documentation_are_those_of_the_cells():
    experiments = importlib.import_module("experiments").EXPERIMENTS
    page, methods = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("findings.md", "methods/joint.md"))
    rows = dict(list(read(experiments, ROOT / "benchmarks" / "cells").groupby("experiment")))
    names = ("defenses_and_adversaries", "redrawn_worlds", "rules", "m_invariance", "joint_solvers")
    exposed, redrawn, *of_methods = (importlib.import_module(f"experiments.{name}") for name in names)
    for one, name in zip(of_methods, names[2:], strict=True):
        assert "\n".join(one.table(rows[name])) in methods
    for history in ("exams", "pbc"):
        assert "\n".join(exposed.table(rows["defenses_and_adversaries"], history)) in page
    assert "\n".join(redrawn.table(rows["redrawn_worlds"])) in page
    presence = importlib.import_module("experiments.presence")
    for panel in presence.PANELS:
        assert "\n".join(presence.table(rows["presence"], panel)) in page
    defenders, calibration = (importlib.import_module(f"experiments.{name}") for name in ("defenders", "calibration"))
    for history in defenders.PANELS:
        assert "\n".join(defenders.table(rows["defenders"], history)) in page
    cohorts, attacks = (
        importlib.import_module(f"experiments.{name}") for name in ("cohorts", "groups_or_noise_attacks")
    )
    assert "\n".join(attacks.table(rows["groups_or_noise_attacks"])) in page
    assert "\n".join(cohorts.table(rows["cohorts"])) in page
    assert "\n".join(cohorts.panels_table(rows["cohorts_presence"])) in page
    of_cohorts = (ROOT / "docs" / "methods" / "cohorts.md").read_text(encoding="utf-8")
    assert "\n".join(cohorts.departures_table(rows["departures"])) in of_cohorts
    noise, more = (importlib.import_module(f"experiments.groups_or_noise{end}") for end in ("", "_more"))
    everything = more.whole_map(rows["groups_or_noise"], rows["groups_or_noise_large"])
    assert "\n".join(noise.table(everything)) in page
    for each in (more.departures_table, more.epsilon_table):
        assert "\n".join(each(rows["groups_or_noise_departures"])) in page
    assert "\n".join(more.real_table(rows["groups_or_noise_panels"])) in page
    calibrated = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
    for panel in calibration.REAL:
        assert "\n".join(calibration.calibration_table(rows["calibration"], panel)) in calibrated
    assert "\n".join(calibration.corpus_table(rows["corpus_size"])) in calibrated
    for name, (page_of_part, table) in importlib.import_module("experiments.parts_of_knowledge").TABLES.items():
        assert "\n".join(table(rows[name])) in (ROOT / "docs" / page_of_part).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("figures")
def test_redrawn_worlds_of_one_publication(tmp_path):
    """Pairs of `pbc`: `GroupGraph` is calibrated, `GroupMessages` expects too few of its sure beliefs to be right."""
    experiment = importlib.import_module("experiments.redrawn_worlds").REDRAWN_WORLDS
    assert len(experiment.cells) == 3 * 10 * 2
    cells = [cell for cell in experiment.cells if (cell["history"], cell["defense"]) == ("pbc", "Anatomy(2)")]
    rows = run([replace(experiment, cells=cells)], tmp_path).set_index("solver")
    assert (rows["beliefs"] == 9290).all()
    assert rows.loc["group-messages", "z"] > 3
    assert abs(rows.loc["group-graph", "z"]) < 3
    assert abs(rows.loc["group-graph", "difference"]) < 3 * rows.loc["group-graph", "standard_error"]


def test_exact_counts_with_noise_while_a_batch_is_open_keep_their_bound():
    """Four members, of whom two leave one after the other: the mean gain over the law is below ``1 - (1 - 1/a)(1 - G)``."""
    prior, paths = np.array([0.8, 0.2]), list(product((0, 1), repeat=3))
    chain = 0.95 * np.eye(2) + 0.05 * prior
    weight = {path: prior[path[0]] * chain[path[0], path[1]] * chain[path[1], path[2]] for path in paths}
    # Value 1 in all four, in three while the batch is open, and in the two who stay; and the value of a member at a time.
    joint = np.zeros((4, 3, 5, 4, 3, 2))
    for world in product(paths, repeat=4):
        counts = (
            sum(path[0] for path in world),
            sum(path[1] for path in world[1:]),
            sum(path[2] for path in world[2:]),
        )
        for (i, path), t in product(enumerate(world), range(3)):
            joint[(i, t, *counts, path[t])] += np.prod([weight[each] for each in world])
    published, held = np.arange(-16, 20), np.arange(4)[:, None]
    for noise in (Noise("gaussian", 1.0), Noise("laplace", 0.5)):
        both = noise.log_probability(published - (3 - held)), noise.log_probability(published - held)
        law = np.exp(both[0][:, :, None] + both[1][:, None, :]).reshape(4, -1)
        seen = np.einsum("itabcv,by->itaycv", joint, law)
        belief = seen / np.maximum(seen.sum(axis=-1, keepdims=True), 1e-300)
        gains = (seen * (belief - prior) / (1 - prior)).sum(axis=(2, 3, 4, 5))
        assert 0.5 < gains.max() < 1 - 0.5 * (1 - noise.gain(1))
