"""Table of the benchmarks: sizes in names, growth exponents, ratios to a kept run, and the guard."""

import importlib
import json
import sys

import pytest
from places import ROOT


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
    limits, peers = {"Adult 1,000: x": 2.0, "Adult 10,000: x": 0.5}, {"Adult 10,000: x": ("anjana", 4.0)}
    first, second = figures.rows(measured, kept, limits, peers)
    assert first == "| Adult 1,000: x | 1,000 | 0.1000 | 2 | 200 |  |  |  |"
    assert second == "| Adult 10,000: x | 10,000 | 1.0000 | 0.5 (over) | 300 | 1.00 | 1.50 | 0.25 of anjana |"
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
