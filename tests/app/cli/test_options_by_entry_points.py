"""Defenses, attacks and estimators of another package, installed as a distribution in a temporary folder."""

import json
import os
import subprocess
import sys
from textwrap import dedent

import pytest
from commands import ROLES, proposed, read, records, run, write

PACKAGE = """
    from dataclasses import dataclass

    import numpy as np

    from foreknow.attacks import SnapshotAttack
    from foreknow.defenses import Requirement
    from foreknow.models import Grouping, RandomWorlds


    @dataclass(frozen=True)
    class Blocks:
        k: int
        t: float = 0.75
        rng: np.random.Generator | None = None

        def __call__(self, view, prior, past=()):
            assert isinstance(self.rng, np.random.Generator)
            assert prior.shape == (len(view), 3)
            return Grouping(np.arange(len(view)) // self.k, notes=(f"k={self.k}, t={self.t}",))


    @dataclass(frozen=True)
    class Pairs:
        k: int = 3

        def __call__(self, view, prior, past=()):
            return Grouping(np.arange(len(view)) // 2)


    def whole(rng=None):
        return lambda view, prior, past=(): Grouping(np.zeros(len(view), dtype=int))


    @dataclass(frozen=True)
    class Judged:
        requirement: Requirement

        def __call__(self, view, prior, past=()):
            return Grouping(np.zeros(len(view), dtype=int), notes=(repr(self.requirement),))


    @dataclass(frozen=True)
    class Needy:
        t: float
        hierarchy: object

        def __call__(self, view, prior, past=()):
            raise AssertionError


    def no_object():
        return 5


    FIVE = 5


    def nothing_returned(adversary):
        return lambda releases: None
"""

DECLARED = """
    [foreknow.defenses]
    blocks = theirs:Blocks
    judged = theirs:Judged
    pairs = theirs:Pairs
    whole = theirs:whole
    needy = theirs:Needy
    five = theirs:FIVE
    gone = theirs_that_is_gone:Blocks

    [foreknow.attacks]
    theirs = theirs:SnapshotAttack
    odd = theirs:nothing_returned

    [foreknow.estimators]
    counting = theirs:RandomWorlds
    five = theirs:no_object
    needy = theirs:Needy
"""


def install(folder, name, declared, package=PACKAGE):
    folder.mkdir(exist_ok=True)
    (folder / f"{name.replace('-', '_')}.py").write_text(dedent(package))
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(dedent(declared))
    return folder


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(install(tmp_path / "site", "theirs", DECLARED)))
    yield
    sys.modules.pop("theirs", None)


@pytest.fixture
def source(tmp_path):
    return write(records().assign(group=lambda rows: rows.groupby("week").cumcount() // 4), tmp_path / "r.csv")


def publish(source, tmp_path, *more, status=0):
    records_only = read(source).drop(columns="group")
    path = write(records_only, tmp_path / "only.csv")
    return run("publish", path, *ROLES, "--out", tmp_path / "out", "--overwrite", *more, status=status)


@pytest.mark.usefixtures("theirs")
class TestDefense:
    def test_it_is_made_from_options_with_its_fields_names(self, source, tmp_path):
        result = publish(source, tmp_path, "--defense", "blocks", "-k", 4)
        assert "at 1: k=4, t=0.75" in result.stderr
        assert read(tmp_path / "out" / "private" / "groups.csv").groupby(["week", "group"]).size().eq(4).all()
        assert "t=0.9" in publish(source, tmp_path, "--defense", "blocks", "-k", 4, "-t", 0.9).stderr

    def test_a_requirement_is_the_thresholds(self, source, tmp_path):
        note = publish(source, tmp_path, "--defense", "judged", "-k", 5, "-t", 0.9).stderr
        for part in ("KAnonymity(k=5)", "DistinctDiversity(l=2)", "TCloseness(t=0.9)"):
            assert part in note

    def test_its_thresholds_are_verified(self, source, tmp_path):
        """Those given and its own defaults, by the command that publishes and by the check of the folder."""
        told = publish(source, tmp_path, "--defense", "blocks", "-k", 4, "-t", 0.9).stdout
        assert "Checked, each release alone: every published group satisfies the requirements" in told
        certified = json.loads((tmp_path / "out" / "public" / "certificate.json").read_text())
        texts = [one["text"] for one in certified["enforced"]["requirements"]]
        assert (certified["verdict"], texts[0], texts[1][:16]) == ("passed", "KAnonymity(k=4)", "TCloseness(t=0.9")
        checked = run("check", tmp_path / "out").stdout
        assert "Checked, each release alone: every group satisfies" in checked
        assert "KAnonymity(k=4)" in checked
        publish(source, tmp_path, "--defense", "pairs", "-k", 2)
        assert "do not satisfy KAnonymity(k=3)" in publish(source, tmp_path, "--defense", "pairs", status=1).stdout

    def test_why_nothing_is_verified(self, source, tmp_path):
        told = publish(source, tmp_path, "--defense", "whole").stdout
        assert "Not checked. The defense states no requirement, and no threshold is given." in told
        told = run("check", tmp_path / "out").stdout
        assert "Not checked, but the files are as listed" in told
        assert "Give thresholds to recompute, as -k 3" in told
        assert "Checked, each release alone: every group satisfies" in run("check", tmp_path / "out", "-k", 3).stdout
        publish(source, tmp_path, "--defense", "blocks", "-k", 4, "-t", 0.9, "--no-verify")
        assert "Checked, each release alone: every group satisfies" in run("check", tmp_path / "out").stdout

    def test_advice_keeps_it(self, source, tmp_path):
        """Stricter settings are its own, and the command that is proposed publishes one of them."""
        publish(source, tmp_path, "--defense", "blocks", "-k", 2, "-t", 0.9)
        key, page = tmp_path / "out" / "private" / "groups.csv", tmp_path / "report.html"
        options = ["--groups", key, "--out", page, "--sure", 0.6, "--json"]
        found = json.loads(run("report", tmp_path / "only.csv", *ROLES, *options).stdout)
        assert [row["setting"] for row in found["stricter"]][:4] == ["as published", "k = 4", "k = 8", "k = 16"]
        told = run("report", tmp_path / "only.csv", *ROLES, *options[:-1], "--overwrite").stdout
        (words,) = proposed(told)
        assert {"blocks", "cohorts"} & set(words)

    def test_what_is_missing(self, source, tmp_path):
        error = str(publish(source, tmp_path, "--defense", "needy", status=1).exception)
        assert "the defense 'needy' needs t (give -t), hierarchy (there is no such option)" in error
        assert "hierarchy" in str(publish(source, tmp_path, "--defense", "needy", "-t", 0.3, status=1).exception)

    def test_an_option_that_it_does_not_have(self, source, tmp_path):
        error = str(publish(source, tmp_path, "--defense", "blocks", "--beta", 2, status=1).exception)
        assert "blocks does not read --beta" in error

    def test_what_cannot_be_loaded(self, source, tmp_path):
        error = str(publish(source, tmp_path, "--defense", "gone", status=1).exception)
        assert "the defense 'gone' of the package theirs cannot be loaded from 'theirs_that_is_gone:Blocks'" in error
        error = str(publish(source, tmp_path, "--defense", "five", status=1).exception)
        assert "is 'theirs:FIVE'; name a class or a function" in error


@pytest.mark.usefixtures("theirs")
class TestAttack:
    def test_an_attack_and_an_estimator(self, source, tmp_path):
        """SnapshotAttack and RandomWorlds under other names give what the built-in ones give."""
        for out, attack, estimator in (("a", "theirs", "counting"), ("b", "snapshot", "random-worlds")):
            run("attack", source, *ROLES, "--attack", attack, "--estimator", estimator, "--out", tmp_path / out)
        assert (tmp_path / "a" / "beliefs.csv").read_bytes() == (tmp_path / "b" / "beliefs.csv").read_bytes()

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--estimator", "five"], "the estimator 'five' is a int, which cannot be called"),
            (["--estimator", "needy"], "the estimator 'needy' cannot be made"),
            (["--attack", "odd"], "the attack 'odd' returned a NoneType; an attack returns Beliefs"),
        ],
    )
    def test_what_is_wrong(self, source, options, words):
        assert words in str(run("attack", source, *ROLES, *options, status=1).exception)


class TestNames:
    @pytest.mark.parametrize(
        ("kind", "name", "command"),
        [
            ("defenses", "mondrian", ["publish", "--out", "o"]),
            ("attacks", "snapshot", ["attack"]),
            ("estimators", "exact", ["attack"]),
        ],
    )
    def test_a_built_in_name_is_refused(self, tmp_path, monkeypatch, source, kind, name, command):
        folder = install(tmp_path / "site", "their-names", f"[foreknow.{kind}]\n{name} = their_names:Blocks\n")
        monkeypatch.syspath_prepend(str(folder))
        error = str(run(command[0], source, *ROLES, *command[1:], status=1).exception)
        article = "a" if kind == "defenses" else "an"
        words = f"the packages foreknow and their-names name {article} {kind[:-1]} {name!r}; uninstall all but one"
        assert words in error

    @pytest.mark.usefixtures("theirs")
    def test_two_packages_with_one_name(self, tmp_path, monkeypatch, source):
        declared = "[foreknow.estimators]\ncounting = others:RandomWorlds\n"
        monkeypatch.syspath_prepend(str(install(tmp_path / "more", "others", declared)))
        error = str(run("attack", source, *ROLES, "--estimator", "counting", status=1).exception)
        assert "name an estimator 'counting'; uninstall all but one of them" in error
        run("attack", source, *ROLES, "--estimator", "omega")

    @pytest.mark.usefixtures("theirs")
    def test_an_unknown_name_lists_all(self, source):
        shown = " ".join(
            run("attack", source, *ROLES, "--estimator", "hope", status=2).stderr.replace("│", " ").split()
        )
        assert "'hope' is not an estimator; choose one of random-worlds," in shown
        assert "counting" in shown

    @pytest.mark.slow
    def test_the_help_lists_them(self, tmp_path):
        """In a new process, as a shell starts it."""
        site = install(tmp_path / "site", "theirs", DECLARED)
        code = (
            "from foreknow.app.cli.command_line import app\n"
            "for command in ('publish', 'attack'):\n"
            "    app([command, '--help'], standalone_mode=False)\n"
            "    print('---')"
        )
        path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        publish, attack, _ = done.stdout.split("---\n")
        assert all(name in publish for name in ("blocks", "judged"))
        assert all(name in attack for name in ("theirs", "counting"))
