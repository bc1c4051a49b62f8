"""Private information in output: seeds, the key, metadata of pandas, formulas, escape sequences, earlier output."""

import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, read, records, run, write
from rich.console import Console

from foreknow.app.cli import command_line, terminal
from foreknow.app.cli.commands import publish_command
from foreknow.app.cli.defense_choices import BUILT_IN, DefenseOptions, seeded_generator

SEED = 987654321


@pytest.fixture(params=["csv", "parquet"])
def kind(request):
    return request.param


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Consoles wide enough for tables without wrapped lines."""
    monkeypatch.setattr(terminal, "console", Console(width=250))
    monkeypatch.setattr(terminal, "error_console", Console(width=250, stderr=True))


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(*arguments):
    return str(run(*arguments, status=1).exception)


class TestSeed:
    @pytest.mark.parametrize(
        ("defense", "kind"), [*((name, "csv") for name in BUILT_IN), ("anatomy", "parquet")], indirect=["kind"]
    )
    def test_it_is_written_beside_the_key_alone(self, tmp_path, kind, defense):
        source = write(records(people=40, present=36), tmp_path / f"r.{kind}")
        out = tmp_path / "out"
        small = ("-a", 2, "--size", 4) if defense == "cohorts" else ()
        result = run("publish", source, *ROLES, "--out", out, "--defense", defense, *small, "--seed", SEED)
        for name, content in files(out).items():
            assert (str(SEED).encode() in content) == (name == "private/settings.json"), name
            assert b"Generator" not in content
        assert "undoes the publication" in result.stderr

    def test_without_one_two_runs_differ(self, tmp_path):
        source = write(records(people=60, present=60), tmp_path / "r.csv")
        keys = []
        for out, more in [("a", []), ("b", []), ("c", ["--seed", 3]), ("d", ["--seed", 3])]:
            run("publish", source, *ROLES, "--out", tmp_path / out, "--defense", "anatomy", *more)
            keys.append(read(tmp_path / out / "private" / "groups.csv")["group"].tolist())
        assert keys[0] != keys[1]
        assert keys[2] == keys[3]

    def test_fresh_entropy_has_128_bits(self, monkeypatch):
        """NumPy asks the operating system for a pool of four words of 32 bits; other tests draw from a fixed sequence instead."""
        monkeypatch.setattr(np.random, "default_rng", np.random._generator.default_rng)
        drawn = [seeded_generator(None).bit_generator.seed_seq.entropy for _ in range(50)]
        assert len(set(drawn)) == 50
        assert max(drawn).bit_length() > 120
        assert seeded_generator(SEED).bit_generator.seed_seq.entropy == [SEED, 0]

    @pytest.mark.parametrize("name", ["anatomy", "injector", "m-invariance"])
    def test_defenses_that_draw_are_given_a_generator_or_draw_nothing(self, name):
        made = BUILT_IN[name].make(DefenseOptions(seed=5))
        assert made.rng.bit_generator.seed_seq.entropy == [5, 0]
        assert not made.deterministic
        fixed = BUILT_IN[name].make(DefenseOptions(deterministic=True))
        assert fixed.deterministic
        assert fixed.rng is None

    def test_deterministic_buckets_do_not_change_between_runs(self, tmp_path):
        """The order of records with equal quasi-identifiers is random; here all are different."""
        source = write(
            records(people=60, present=60).assign(age=lambda rows: np.arange(len(rows)) % 60), tmp_path / "r.csv"
        )
        groups = []
        for out in ("a", "b"):
            run("publish", source, *ROLES, "--out", tmp_path / out, "--defense", "anatomy", "--deterministic")
            table = read(tmp_path / out / "private" / "groups.csv")
            groups.append({frozenset(rows["id"]) for _, rows in table.groupby(["week", "group"])})
        assert groups[0] == groups[1]

    def test_one_view_that_cannot_be_published_is_suppressed(self, tmp_path):
        table = pd.concat([records(), records(weeks=(9,)).head(2)])
        source = write(table, tmp_path / "r.csv")
        command = ("publish", source, *ROLES, "--out", tmp_path / "out", "--defense", "mondrian")
        assert "the view at 9 has 2" in refused(*command) or "at 9 has 2" in refused(*command)
        result = run(*command, "--infeasible", "suppress")
        assert "2 records are suppressed" in result.stderr
        assert set(read(tmp_path / "out" / "public" / "published.csv")["week"]) == set(records()["week"])


class TestKey:
    @pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
    def test_private_files_are_readable_by_their_owner_only(self, tmp_path, kind):
        source, out = write(records(), tmp_path / f"r.{kind}"), tmp_path / "out"
        run("publish", source, *ROLES, "--out", out, "--defense", "mondrian")
        run("attack", source, *ROLES, "--groups", out / "private" / f"groups.{kind}", "--out", out / "private" / "risk")
        modes = {path.name: path.stat().st_mode & 0o777 for path in (out / "private").rglob("*.*")}
        assert modes == dict.fromkeys(
            [f"groups.{kind}", "manifest.json", "settings.json", f"beliefs.{kind}", f"at-risk.{kind}"], 0o600
        )
        assert (out / "private").stat().st_mode & 0o777 == 0o700
        assert (out / "public" / f"published.{kind}").stat().st_mode & 0o444 == 0o444 & ~_umask()

    def test_the_attack_reads_only_what_belongs_together(self, tmp_path, kind):
        """New groups beside an old table: the state after a crash between two renames."""
        source = write(records(), tmp_path / f"r.{kind}")
        for out in ("old", "new"):
            run("publish", source, *ROLES, "--out", tmp_path / out, "--defense", "anatomy")
        key = tmp_path / "new" / "private" / f"groups.{kind}"
        assert "not checked" not in run("attack", source, *ROLES, "--groups", key).stderr
        public = f"public/published.{kind}"
        shutil.copy(tmp_path / "old" / public, tmp_path / "new" / public)
        message = refused("attack", source, *ROLES, "--groups", key)
        assert f"published.{kind} is not the file that was written with" in message
        assert "Give the files of one run" in message

    def test_records_that_changed_after_publication(self, tmp_path):
        source = write(records(), tmp_path / "r.csv")
        run("publish", source, *ROLES, "--out", tmp_path, "--defense", "mondrian")
        write(records().assign(result="a"), tmp_path / "r.csv")
        message = refused("attack", source, *ROLES, "--groups", tmp_path / "private" / "groups.csv")
        assert "r.csv is not the file that" in message

    def test_groups_of_others_are_not_checked_and_it_is_said(self, tmp_path):
        told = records()[["id", "week"]].assign(group=0)
        groups = write(told, tmp_path / "g.csv")
        result = run("attack", write(records(), tmp_path / "r.csv"), *ROLES, "--groups", groups, "--estimator", "omega")
        assert "it is not checked" in result.stderr

    def test_contents_of_the_public_files(self, tmp_path):
        source, out = write(records(), tmp_path / "r.csv"), tmp_path / "out"
        run("publish", source, *ROLES, "--out", out, "--defense", "mask")
        told = json.loads((out / "public" / "release.json").read_text())
        assert told["defense"].startswith("MASK(k=3, l=2")
        assert told["times"] == ["1", "2", "3"]
        assert set(told["sha256"]) == {"published.csv"}
        assert "p07" not in json.dumps(told)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


class TestParquet:
    def test_what_pandas_carried_is_not_published(self, tmp_path):
        """A respondent with unique values is suppressed; the public bytes hold none of them."""
        table = records(weeks=(1,))
        table.loc[0, "town"] = "Atlantis"
        table.loc[0, "result"] = "unique-disease"
        table = table.astype({"town": "category", "result": "category"}).rename_axis(columns="secret-axis")
        table.attrs["note"] = "secret-note"
        table.to_parquet(tmp_path / "r.parquet")
        settings = ["--defense", "js-reduce", "-t", 0.2, "-j", 0.1]
        out = tmp_path / "out"
        run("publish", tmp_path / "r.parquet", *ROLES, "--out", out, *settings, "--bucketized")
        key = read(out / "private" / "groups.parquet")
        assert key.loc[key["id"] == table["id"][0], "group"].tolist() == [-1]
        for name, content in files(out / "public").items():
            # The certificate names the version of pandas, as of every package.
            carried = () if name.endswith("certificate.json") else (b"pandas",)
            for hidden in (b"Atlantis", b"unique-disease", b"secret", *carried):
                assert hidden not in content, (name, hidden)


class TestFormulas:
    def formulas(self):
        return records().replace({"result": {"a": "=1+1", "b": "-2+3"}})

    @pytest.mark.parametrize(
        ("option", "quoted"),
        [((), {"csv": True, "parquet": False}), (("--quote-formulas",), True), (("--keep-formulas",), False)],
    )
    def test_csv_files_have_none_unless_asked(self, tmp_path, kind, option, quoted):
        source = write(self.formulas(), tmp_path / f"r.{kind}")
        result = run("publish", source, *ROLES, "--out", tmp_path, "--defense", "mondrian", *option)
        public = read(tmp_path / "public" / f"published.{kind}")
        count = (public["result"] != "c").sum()
        assert count > 10
        if quoted[kind] if isinstance(quoted, dict) else quoted:
            assert set(public["result"]) == {"'=1+1", "'-2+3", "c"}
            assert f"{count} published cells begin like formulas, and were written with an apos" in result.stderr
        else:
            assert set(public["result"]) == {"=1+1", "-2+3", "c"}
            assert (
                f"{count} published cells begin like formulas (= + - @), which a spreadsheet may run" in result.stderr
            )

    def test_no_word_where_there_is_none(self, tmp_path, kind):
        source = write(records(), tmp_path / f"r.{kind}")
        assert "formula" not in run("publish", source, *ROLES, "--out", tmp_path, "--defense", "mondrian").stderr


class TestEscapes:
    """Control characters of a table are printed as escape codes."""

    WORSE = "\x1b[2J\x1b]0;owned\x07"

    def test_check(self, tmp_path):
        table = pd.DataFrame({"group": [self.WORSE, "x", "x"], "result": list("aab")})
        result = run("check", write(table, tmp_path / "t.csv"), "--sensitive", "result", status=1)
        assert "\x1b" not in result.output
        assert r"\x1b[2J\x1b]0;owned\x07" in result.stdout

    def test_errors(self, tmp_path, capsys, monkeypatch):
        table = pd.DataFrame({f"a{self.WORSE}": [1, 2], "group": [1, 1], "result": ["a", "b"]})
        source = write(table, tmp_path / "t.csv")
        for arguments in (["--sensitive", "result"], ["--sensitive", "none"]):
            monkeypatch.setattr("sys.argv", ["foreknow", "check", source, *arguments])
            with pytest.raises(SystemExit):
                command_line.main()
            shown = capsys.readouterr()
            assert "\x1b" not in shown.err + shown.out
            assert r"\x1b[2J" in shown.err

    def test_attack_and_publish(self, tmp_path):
        table = records().replace({"result": {"a": self.WORSE}, "town": {"Rome": self.WORSE}})
        table = table.assign(week="w" + table["week"].astype(str) + self.WORSE)
        source = write(table, tmp_path / "r.csv")
        result = run("publish", source, *ROLES, "--out", tmp_path, "-j", 1.2)
        assert "\x1b" not in result.output
        groups = ["--groups", tmp_path / "private" / "groups.csv"]
        for more in ([], ["--attack", "foreground", "--support", 5, "--sensitive-set", "b"]):
            assert "\x1b" not in run("attack", source, *ROLES, *groups, *more).output


class TestOlderOutput:
    def test_it_stays_unless_asked(self, tmp_path, kind):
        source, out = write(records(), tmp_path / f"r.{kind}"), tmp_path / "out"
        command = ["publish", source, *ROLES, "--out", out, "--defense", "anatomy"]
        run(*command)
        before = files(out)
        assert "is already there; name another folder, or replace it with --overwrite" in refused(*command)
        assert files(out) == before
        run(*command, "--overwrite")
        assert set(files(out)) == set(before)
        assert files(out) != before

    @pytest.mark.parametrize("left", ["public/release.json", "private/manifest.json"])
    def test_one_file_of_it_is_enough(self, tmp_path, left):
        (tmp_path / left).parent.mkdir()
        (tmp_path / left).write_text("of another run")
        source = write(records(), tmp_path / "r.csv")
        assert "is already there" in refused("publish", source, *ROLES, "--out", tmp_path, "--defense", "mondrian")
        assert (tmp_path / left).read_text() == "of another run"

    def test_it_is_asked_before_anything_runs(self, tmp_path, monkeypatch):
        (tmp_path / "public").mkdir()
        (tmp_path / "public" / "published.csv").write_text("old")
        monkeypatch.setattr(publish_command, "publish", lambda *_, **__: pytest.fail("it runs"))
        source = write(records(), tmp_path / "r.csv")
        assert "is already there" in refused("publish", source, *ROLES, "--out", tmp_path)

    def test_no_table_of_the_other_kind_is_left_beside(self, tmp_path):
        """Two publications of the same respondents reveal more than one."""
        for kind in ("csv", "parquet"):
            write(records(), tmp_path / f"r.{kind}")
        command = ["--out", tmp_path / "out", *ROLES, "--defense", "anatomy"]
        run("publish", tmp_path / "r.csv", *command)
        message = refused("publish", tmp_path / "r.parquet", *command, "--overwrite")
        assert "published.csv is there from another run" in message

    def test_beliefs_and_the_demo(self, tmp_path):
        source = write(records().assign(group=0), tmp_path / "r.csv")
        command = ["attack", source, *ROLES, "--out", tmp_path / "out", "--estimator", "omega"]
        run(*command)
        assert "beliefs.csv is already there" in refused(*command)
        run(*command, "--overwrite")
        (tmp_path / "pictures").mkdir()
        (tmp_path / "pictures" / "gain.png").write_text("mine")
        assert "gain.png is already there" in refused("demo", "--out", tmp_path)


@pytest.mark.parametrize("defense", ["js-reduce", "bkaa", "uhra"])
def test_diversity_is_asked_by_default(tmp_path, defense):
    """In skewed data t-closeness alone leaves groups of one value; enhanced beta-likeness never does, as p (1 - ln p) < 1."""
    rng = np.random.default_rng(4)
    table = records(people=60, present=60).assign(result=np.where(rng.random(180) < 0.85, "a", "b"))
    source = write(table, tmp_path / "r.csv")
    command = ["publish", source, *ROLES, "--defense", defense, "-j", 1.2, "--overwrite", "--out", tmp_path]
    fewest = {}
    for more in ([], ["-l", 1]):
        result = run(*command, *more)
        public = read(tmp_path / "public" / "published.csv")
        fewest[len(more)] = public.groupby(["week", "group"])["result"].nunique().min()
        assert (" -l 2 " in result.stdout.splitlines()[0]) == (not more)
    assert fewest == {0: 2, 2: 2 if defense == "bkaa" else 1}
