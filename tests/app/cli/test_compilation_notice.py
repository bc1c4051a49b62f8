"""The notice before kernels are compiled."""

import pytest
from commands import ROLES, records, run, write

from foreknow.app.cli import attack_choices as compilation_notice
from foreknow.defenses.algorithms.nearest_point import build_tree
from foreknow.defenses.injector import bucketize
from foreknow.defenses.mondrian import cut_parts
from foreknow.models.compilation_cache import is_on_disk
from foreknow.models.estimators.assignments import group_beliefs
from foreknow.models.joint.messages import sweep_over


@pytest.fixture
def asked(monkeypatch):
    """Kernels that are asked for; none is on disk."""
    kernels = []
    monkeypatch.setattr(compilation_notice, "is_on_disk", lambda kernel: kernels.append(kernel))
    return kernels


def test_a_cold_cache_is_noticed_on_standard_error(asked, capsys):
    compilation_notice.notice_compilation()
    out, told = capsys.readouterr()
    assert out == ""
    assert told.startswith("Compiling kernels once, about a minute; ")
    assert asked == [sweep_over]


def test_a_warm_cache_is_not(monkeypatch, capsys):
    monkeypatch.setattr(compilation_notice, "is_on_disk", lambda _: True)
    compilation_notice.notice_compilation()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("kept", "later"), [(True, "later runs take seconds"), (False, "NUMBA_CACHE_DIR")])
def test_what_later_runs_take(asked, monkeypatch, capsys, kept, later):
    monkeypatch.setattr(compilation_notice, "keeps_code", lambda _: kept)
    compilation_notice.notice_compilation()
    assert later in capsys.readouterr().err


def test_the_kernel_is_one_that_the_attack_calls(asked):
    compilation_notice.notice_compilation("path-sampler", "exact", learns=False)
    compilation_notice.notice_compilation("max-entropy", "omega", learns=False)
    compilation_notice.notice_compilation(None, "omega", learns=False)
    assert asked == [group_beliefs, sweep_over]


@pytest.mark.parametrize(
    ("defense", "kernel"),
    [("mondrian", cut_parts), ("mask", cut_parts), ("bkaa", build_tree), ("uhra", build_tree), ("k-primacy", build_tree),
     ("injector", bucketize)],
)  # fmt: skip
def test_a_publication_asks_for_a_kernel_that_it_calls(asked, tmp_path, defense, kernel):
    told = run("publish", write(records(), tmp_path / "r.csv"), *ROLES, "--defense", defense, "--out", tmp_path / "o")
    assert asked == [kernel]
    assert "Compiling kernels once, some 20 seconds; " in " ".join(told.stderr.split())
    assert is_on_disk(kernel)


@pytest.mark.parametrize("defense", ["js-reduce", "anatomy", "full-domain", "m-invariance"])
def test_a_publication_of_few_kernels_asks_for_none(asked, tmp_path, defense):
    run("publish", write(records(), tmp_path / "r.csv"), *ROLES, "--defense", defense, "--out", tmp_path / "o")
    assert asked == []
