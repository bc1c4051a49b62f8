"""Noisy counts on the command line: what is published, how a series goes on, what is refused, and what is checked."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, read, records, run, write
from printed_tables import printed

from foreknow.app import ledger as ledger_module
from foreknow.app.cli.commands.check_folder import promise_checks
from foreknow.app.ledger import Ledger
from foreknow.app.noisy_publication import series_at
from foreknow.defenses import Promise
from foreknow.models import History, Schema
from foreknow.models.noise import Noise

pytestmark = pytest.mark.usefixtures("wide")

NOISY = ["--defense", "noisy-counts", "--cells", 4, "--releases", 5, "--gain", 0.2]
EXPERIMENT = [*NOISY, "--public-values", "--for-experiment", "--seed", 7]


@pytest.fixture
def source(tmp_path, kind):
    return write(records(people=60, present=50), tmp_path / f"records.{kind}")


@pytest.fixture
def values(tmp_path):
    path = tmp_path / "values.txt"
    path.write_text("c\na\nb\nnone\n")
    return path


class TestPublish:
    def test_the_files(self, tmp_path, source, values, kind):
        result = run("publish", source, *ROLES, *NOISY, "--values", values, "--out", tmp_path / "out")
        out = tmp_path / "out"
        assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == {
            f"public/published.{kind}", "public/release.json", "public/certificate.json", "private/manifest.json",
            "private/settings.json",
        }  # fmt: skip
        table = read(out / "public" / f"published.{kind}")
        assert list(table.columns) == ["week", "cell", "age", "town", "result", "noisy_count"]
        assert len(table) == 3 * 4 * 4
        assert table["result"].head(4).tolist() == ["c", "a", "b", "none"]
        assert "not repeatable" in result.stderr
        assert "seed" not in json.loads((out / "private/settings.json").read_text())["options"]
        assert json.loads((out / "private/manifest.json").read_text())["records"]

    def test_the_public_settings(self, tmp_path, source, values):
        run("publish", source, *ROLES, *NOISY, "--values", values, "--clamped", "--out", tmp_path / "out")
        about = json.loads((tmp_path / "out/public/release.json").read_text())
        noise, promise = about["noise"], Promise(Noise("gaussian", about["noise"]["scale"]), 5)
        assert (noise["law"], noise["clamped"], noise["releases"], noise["for_release"]) == ("gaussian", True, 5, True)
        assert noise["repeatable"].startswith("No: OpenDP")
        assert noise["promise"]["gain"] == pytest.approx(0.2, abs=1e-5)
        assert noise["promise"]["rho"] == pytest.approx(promise.rho)
        assert noise["promise"]["epsilon"] is None
        assert len(noise["cells"]["above"]) == 4
        stated = json.loads((tmp_path / "out/public/certificate.json").read_text())
        assert stated["verdict"] == "promised"
        assert "Infinity" not in (tmp_path / "out/public/release.json").read_text()

    def test_the_noise_is_that_of_the_law(self, tmp_path):
        """The counts differ from the true ones as the noise of the law does, and cells are cut by quasi-identifiers alone."""
        table = records(people=300, present=300)
        source = write(table, tmp_path / "records.csv")
        options = ["--defense", "noisy-counts", "--cells", 16, "--releases", 3, "--rho", 0.75, "--public-values"]
        run("publish", source, *ROLES, *options, "--out", tmp_path / "out")
        series = series_at(tmp_path / "out")
        history = History.read(table, Schema.infer(table, ["age", "town"]), "week")
        noise = []
        for one in series.releases(history):
            true = np.zeros_like(one.counts)
            np.add.at(true, (one.group, one.view.sensitive), 1)
            noise += (one.counts - true).ravel().tolist()
        assert series.law.scale == pytest.approx(2)
        # 144 draws: the variance of their mean square is 2 scale^4 / 144
        assert np.mean(np.square(noise)) == pytest.approx(4, abs=5 * 4 * np.sqrt(2 / 144))

    def test_the_promise_is_printed_in_all_forms(self, tmp_path, source):
        options = [
            "--defense",
            "noisy-counts",
            "--releases",
            3,
            "--epsilon",
            2,
            "--public-values",
            "--processing",
            "totals",
        ]
        result = run("publish", source, *ROLES, *options, "--out", tmp_path / "out")
        told = {row["promise"]: row["value"] for row in printed(result.stdout) if "promise" in row}
        assert (told["law of the noise"], told["epsilon of a whole path"], told["scale, in records"]) == (
            "laplace",
            "2",
            "3",
        )
        assert not any("one release alone" in text for text in told)
        found = run("publish", source, *ROLES, *options, "--corpus", source, "--out", tmp_path / "corpus")
        assert "epsilon of one release alone" in found.stdout
        table = read(next((tmp_path / "out/public").glob("published.*")))
        assert (table.groupby("week")["count"].sum() == 50).all()

    @pytest.mark.parametrize("noise", [["--rho", 0.5], ["--epsilon", 2]])
    def test_the_promise_to_a_household(self, tmp_path, source, noise):
        """Of h related people epsilon is h times that of one, rho h squared times, and epsilon at delta follows from rho."""
        options = ["--defense", "noisy-counts", "--releases", 3, *noise, "--public-values", "--for-experiment"]
        result = run("publish", source, *ROLES, *options, "--out", tmp_path / "out")
        told = {row["promise"]: row["value"] for row in printed(result.stdout) if "promise" in row}
        one = 0.5 if noise[0] == "--rho" else 3 / 3**2  # T / b^2 for b = 2 T / epsilon
        for members in (2, 4):
            rho = members**2 * one
            assert float(told[f"rho of a household of {members}"]) == pytest.approx(rho, rel=5e-3)
            if noise[0] == "--rho":
                epsilon = rho + 2 * np.sqrt(rho * np.log(1e6))
                assert float(told[f"epsilon of a household of {members} at delta 1e-06"]) == pytest.approx(
                    epsilon, rel=5e-3
                )
            else:
                assert told[f"epsilon of a household of {members}"] == f"{2 * members}"

    def test_nothing_of_another_run_remains(self, tmp_path, source, kind):
        """A table in the other format, or a key, would stay beside the counts."""
        other = tmp_path / f"other.{'csv' if kind == 'parquet' else 'parquet'}"
        write(read(source), other)
        run("publish", other, *ROLES, *NOISY, "--public-values", "--out", tmp_path / "out")
        over = [source, *ROLES, *EXPERIMENT, "--overwrite", "--out", tmp_path / "out"]
        assert "would remain beside" in str(run("publish", *over, status=None).exception)
        run("publish", source, *ROLES, "--defense", "mondrian", "--out", tmp_path / "groups")
        for table in (tmp_path / "groups/public").glob("published.*"):
            table.unlink()
        result = run("publish", *over[:-1], tmp_path / "groups", status=None)
        assert f"groups.{kind} is there from another run" in str(result.exception)

    def test_json(self, tmp_path, source):
        found = json.loads(run("publish", source, *ROLES, *EXPERIMENT, "--out", tmp_path / "out", "--json").stdout)
        assert found["left"] == 2
        assert found["promise"]["gain"] == pytest.approx(0.2, abs=1e-5)
        assert not found["for_release"]


class TestExperiment:
    def test_a_seed_repeats_an_experiment_that_says_what_it_is(self, tmp_path, source, kind):
        for name in ("first", "second"):
            result = run("publish", source, *ROLES, *EXPERIMENT, "--out", tmp_path / name)
            assert "NOT FOR RELEASE: " in result.stdout
            assert "For the public" not in result.stdout
            assert "NOT FOR RELEASE" in result.stderr
        tables = [read(tmp_path / name / f"public/not-for-release.{kind}") for name in ("first", "second")]
        pd.testing.assert_frame_equal(*tables)
        about = json.loads((tmp_path / "first/public/release.json").read_text())
        assert not about["noise"]["for_release"]
        assert "not for release" in about["noise"]["repeatable"]
        assert "NOT FOR RELEASE" in run("check", tmp_path / "first").stdout

    def test_what_is_published_is_drawn_anew(self, tmp_path, source, kind):
        for name in ("first", "second"):
            run("publish", source, *ROLES, *NOISY, "--public-values", "--out", tmp_path / name)
        tables = [read(tmp_path / name / f"public/published.{kind}") for name in ("first", "second")]
        assert not tables[0].equals(tables[1])
        assert "Checked" in run("check", tmp_path / "first").stdout


class TestSeries:
    @pytest.fixture
    def months(self, tmp_path, kind):
        """Records of two weeks, and of these and two more, in which there are a new town and a new age."""
        table = records(weeks=(1, 2, 3, 4), people=60, present=50)
        table.loc[table["week"] == 4, "town"] = "Berne"
        table.loc[table.index[table["week"] == 4][:2], "age"] = 77
        first, whole = tmp_path / f"first.{kind}", tmp_path / f"whole.{kind}"
        return write(table[table["week"] <= 2], first), write(table, whole)

    def test_the_releases_before_stay(self, tmp_path, months, values, kind):
        run(
            "publish",
            months[0],
            *ROLES,
            *NOISY,
            "--values",
            values,
            "--processing",
            "nonnegative",
            "--out",
            tmp_path / "a",
        )
        again = ["--defense", "noisy-counts", "--series", tmp_path / "a"]
        result = run("publish", months[1], *ROLES, *again, "--out", tmp_path / "b")
        assert "2 releases of" in result.stderr
        assert "still covers: 1." in result.stdout
        before, after = (read(tmp_path / name / f"public/published.{kind}") for name in "ab")
        kept = ["week", "cell", "result", "noisy_count", "count"]
        pd.testing.assert_frame_equal(before[kept], after[after["week"] <= 2][kept])
        first, second = series_at(tmp_path / "a"), series_at(tmp_path / "b")
        assert first.cells == second.cells
        assert (second.law, second.promise, second.times) == (first.law, first.promise, ["1", "2", "3", "4"])
        assert run("check", tmp_path / "b").stdout.count(" yes ") == 6

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--gain", 0.3], "leave --gain out"),
            (["--for-experiment"], "leave --for-experiment out"),
        ],
    )
    def test_what_the_series_settles_is_refused(self, tmp_path, months, values, options, message):
        run("publish", months[0], *ROLES, *NOISY, "--values", values, "--out", tmp_path / "a")
        again = ["--defense", "noisy-counts", "--series", tmp_path / "a"]
        result = run("publish", months[1], *ROLES, *again, *options, "--out", tmp_path / "b", status=None)
        assert message in str(result.exception)

    def test_no_release_passes_the_promise(self, tmp_path, months):
        few = ["--defense", "noisy-counts", "--releases", 3, "--gain", 0.2, "--public-values"]
        result = run("publish", months[1], *ROLES, *few, "--out", tmp_path / "a", status=None)
        assert "4 releases, and the noise is set for 3" in str(result.exception)
        run("publish", months[0], *ROLES, *few, "--out", tmp_path / "a")
        again = ["--defense", "noisy-counts", "--series", tmp_path / "a", "--out", tmp_path / "b"]
        result = run("publish", months[1], *ROLES, *again, status=None)
        assert "4 releases, and the noise is set for 3" in str(result.exception)
        assert "are published in" in str(run("publish", months[0], *ROLES, *again, status=None).exception)
        assert not (tmp_path / "b").exists()

    def test_a_series_goes_on_from_its_whole_folder(self, tmp_path, months):
        """The public folder alone does not tell the ledger."""
        run("publish", months[0], *ROLES, *NOISY, "--public-values", "--out", tmp_path / "a")
        (tmp_path / "a/public").rename(tmp_path / "copy")
        alone = ["--defense", "noisy-counts", "--series", tmp_path / "copy", "--out", tmp_path / "b"]
        assert "no private/settings.json" in str(run("publish", months[1], *ROLES, *alone, status=None).exception)

    def test_a_series_of_other_records_or_changed_files(self, tmp_path, months, kind):
        run("publish", months[1], *ROLES, *NOISY, "--public-values", "--out", tmp_path / "a")
        again = ["--defense", "noisy-counts", "--series", tmp_path / "a", "--out", tmp_path / "b"]
        assert "no release at 3" in str(run("publish", months[0], *ROLES, *again, status=None).exception)
        other = ["--qi", "age", "--sensitive", "result"]
        assert "--qi age --qi town" in str(run("publish", months[1], *other, *again, status=None).exception)
        path = tmp_path / f"a/public/published.{kind}"
        write(read(path).assign(noisy_count=0), path)
        assert "is changed" in str(run("publish", months[1], *ROLES, *again, status=None).exception)
        groups = ["--defense", "noisy-counts", "--series", tmp_path, "--out", tmp_path / "b"]
        assert "holds no noisy counts" in str(run("publish", months[1], *ROLES, *groups, status=None).exception)


class TestLedger:
    @pytest.fixture
    def months(self, tmp_path):
        table = records(weeks=(1, 2, 3), people=60, present=50)
        return write(table[table["week"] <= 2], tmp_path / "first.csv"), write(table, tmp_path / "whole.csv")

    def test_what_is_spent_over_the_months(self, tmp_path, months):
        path = tmp_path / "kept/ledger.parquet"
        noise = ["--defense", "noisy-counts", "--releases", 4, "--rho", 0.4, "--public-values", "--ledger", path]
        result = run("publish", months[0], *ROLES, *noise, "--out", tmp_path / "a")
        assert "has 0.2 of 0.4 rho left" in result.stdout
        ledger = Ledger.read(path, "rho")
        assert ledger.budget == pytest.approx(0.4)
        again = ["--defense", "noisy-counts", "--series", tmp_path / "a", "--ledger", path]
        result = run("publish", months[1], *ROLES, *again[:4], "--out", tmp_path / "b", status=None)
        assert "was spent in the ledger" in str(result.exception)
        # Another ledger of the same columns does not know what the series has spent.
        run("publish", months[0], *ROLES, *noise[:-1], tmp_path / "other.parquet", "--out", tmp_path / "o")
        other = run(
            "publish", months[1], *ROLES, *again[:5], tmp_path / "other.parquet", "--out", tmp_path / "b", status=None
        )
        assert "was spent in the ledger" in str(other.exception)
        run("publish", months[1], *ROLES, *again, "--out", tmp_path / "b")
        assert ledger.releases["time"].tolist() == ["1", "2", "3"]
        assert ledger.missing([1, 2.0, 4]) == [4]
        assert ledger.spent()["amount"].max() == pytest.approx(0.3)
        # Another draw of the same release is refused, and nothing is written.
        result = run("publish", months[1], *ROLES, *again, "--out", tmp_path / "c", status=None)
        assert "the release at 3 is published" in str(result.exception)
        assert not (tmp_path / "c").exists()
        run("publish", months[1], *ROLES, *again, "--again", "--out", tmp_path / "c")
        result = run("publish", months[1], *ROLES, *again, "--again", "--out", tmp_path / "d", status=None)
        assert "would pass the budget of 0.4 rho" in str(result.exception)
        assert not (tmp_path / "d").exists()

    def test_nothing_is_published_where_it_cannot_be_written(self, tmp_path, months, monkeypatch):
        noise = ["--defense", "noisy-counts", "--releases", 4, "--epsilon", 2, "--public-values", "--budget", 1]
        full = OSError(28, "No space left on device")
        monkeypatch.setattr(ledger_module.pq, "write_table", lambda *_, **__: (_ for _ in ()).throw(full))
        options = [*noise, "--ledger", tmp_path / "ledger.parquet", "--out", tmp_path / "out"]
        result = run("publish", months[0], *ROLES, *options, status=None)
        assert "cannot be written" in str(result.exception)
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--budget", 1], "are read with --ledger FILE"),
            (["--ledger", "out/ledger.parquet"], "is in the folder of --out"),
            (["--ledger", "ledger.parquet", "--for-experiment"], "is not read with --for-experiment"),
        ],
    )
    def test_errors(self, tmp_path, months, monkeypatch, options, message):
        monkeypatch.chdir(tmp_path)
        noise = ["--defense", "noisy-counts", "--releases", 4, "--gain", 0.1, "--public-values", "--out", "out"]
        assert message in str(run("publish", months[0], *ROLES, *noise, *options, status=None).exception)


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ([], "needs --releases, the largest number"),
            (["--releases", 4], "and none is given"),
            (["--releases", 4, "--gain", 0.1, "--rho", 1], "--rho and --gain are given"),
            (["--releases", 4, "--gain", 0.1], "must be public"),
            (["--releases", 4, "--epsilon", 1, "--noise", "gaussian", "--public-values"], "no pure epsilon"),
            (["--releases", 4, "--gain", 0.1, "--public-values", "--seed", 1], "add --for-experiment"),
            (["--releases", 4, "--gain", 0.1, "--public-values", "--bucketized"], "does not read --bucketized"),
            (["--releases", 4, "--gain", 0.1, "--public-values", "-k", 3], "does not read -k"),
            (["--releases", 4, "--gain", 0.1, "--from-disk"], "leave --from-disk out. Tables larger than memory"),
            (["--releases", 4, "--gain", 0.1, "--memory", 2], "--memory is read with --from-disk alone"),
        ],
    )
    def test_options(self, tmp_path, source, options, message):
        arguments = ["publish", source, *ROLES, "--defense", "noisy-counts", *options, "--out", tmp_path / "out"]
        result = run(*arguments, status=None)
        assert message in str(result.exception)
        assert not (tmp_path / "out").exists()

    def test_groups_do_not_read_the_options(self, tmp_path, source):
        result = run(
            "publish", source, *ROLES, "--defense", "mondrian", "--gain", 0.1, "--out", tmp_path / "o", status=None
        )
        assert "mondrian does not read --gain" in str(result.exception)

    def test_a_value_that_is_not_in_the_domain(self, tmp_path, source, values):
        values.write_text("a\nb\n")
        result = run("publish", source, *ROLES, *NOISY, "--values", values, "--out", tmp_path / "out", status=None)
        assert "the records have 'c' in 'result'" in str(result.exception)

    def test_a_respondent_twice_in_a_release(self, tmp_path):
        table = records()
        source = write(pd.concat([table, table.head(1).assign(result="z")]), tmp_path / "r.csv")
        result = run("publish", source, *ROLES, *NOISY, "--public-values", "--out", tmp_path / "out", status=None)
        assert result.exit_code
        assert not (tmp_path / "out").exists()

    def test_without_opendp(self, tmp_path, source, monkeypatch):
        """The message says what to install before a file is read; an experiment needs no OpenDP."""
        monkeypatch.setitem(sys.modules, "opendp.prelude", None)
        missing = ["no.csv", *ROLES, *NOISY, "--public-values", "--out", tmp_path / "out"]
        result = run("publish", *missing, status=None)
        assert isinstance(result.exception, ModuleNotFoundError)
        assert "pip install 'foreknow[dp]'" in str(result.exception)
        run("publish", source, *ROLES, *EXPERIMENT, "--out", tmp_path / "out")


class TestCheck:
    def test_a_promise_that_is_not_that_of_the_noise(self, tmp_path, source):
        run("publish", source, *ROLES, *EXPERIMENT, "--out", tmp_path / "out")
        path = tmp_path / "out/public/release.json"
        about = json.loads(path.read_text())
        about["noise"]["scale"], about["noise"]["releases"] = 1.0, 2
        path.write_text(json.dumps(about))
        result = run("check", tmp_path / "out", status=1)  # its checksum is another
        assert "release.json is changed" in result.stdout
        shown = series_at(tmp_path / "out")
        assert [holds for _, holds, _ in promise_checks(shown)][:4] == [False, False, False, True]

    def test_thresholds_of_groups_are_refused(self, tmp_path, source):
        run("publish", source, *ROLES, *EXPERIMENT, "--out", tmp_path / "out")
        assert "no requirement of groups" in str(run("check", tmp_path / "out", "-k", 3, status=None).exception)
        found = json.loads(run("check", tmp_path / "out", "--json").stdout)
        assert not found["failed"]
        assert all(row["holds"] for row in found["checks"])
        assert not found["for_release"]
        run("check", tmp_path / "out", "--out", tmp_path / "table")
        assert set(read(tmp_path / "table/levels.csv")["holds"]) == {"yes"}

    def test_files_that_differ_are_restored_and_not_published_again(self, tmp_path, source):
        run("publish", source, *ROLES, *NOISY, "--public-values", "--out", tmp_path / "out")
        (tmp_path / "out/public/certificate.json").unlink()
        result = run("check", tmp_path / "out", status=1)
        assert "Restore the files from a backup" in result.stdout
        assert "--config" not in result.stdout
        run("publish", source, *ROLES, *NOISY, "--public-values", "--out", tmp_path / "other")
        (tmp_path / "other/public/more.txt").touch()
        result = run("check", tmp_path / "other", status=1)
        assert "move the extra files out" in result.stdout
        assert "Restore" not in result.stdout

    def test_a_table_of_counts_is_no_table_of_records(self, tmp_path, source, kind):
        run("publish", source, *ROLES, *NOISY, "--public-values", "--out", tmp_path / "out")
        table = tmp_path / f"out/public/published.{kind}"
        for command in (["check", table, "--sensitive", "result"], ["attack", table, "--published", *ROLES]):
            assert "its rows are no records" in str(run(*command, status=None).exception)

    def test_the_settings_publish_again(self, tmp_path, source):
        run("publish", source, *ROLES, *EXPERIMENT, "--out", tmp_path / "a")
        run("publish", source, "--config", tmp_path / "a/private/settings.json", "--out", tmp_path / "b")
        assert series_at(tmp_path / "a").described == series_at(tmp_path / "b").described


class TestAttack:
    @pytest.fixture
    def attacked(self, tmp_path):
        """Records of four weeks and their noisy counts by Laplace noise, as arguments."""
        source = write(records(weeks=(1, 2, 3, 4), people=60, present=50), tmp_path / "r.csv")
        noise = [
            "--defense",
            "noisy-counts",
            "--cells",
            2,
            "--releases",
            4,
            "--epsilon",
            4,
            "--seed",
            3,
            "--for-experiment",
        ]
        run("publish", source, *ROLES, *noise, "--public-values", "--out", tmp_path / "noisy")
        return [source, *ROLES, "--groups", tmp_path / "noisy"]

    def test_clamped_counts_have_no_gain_with_others_known(self, tmp_path):
        source = write(records(weeks=(1, 2), people=60, present=50), tmp_path / "r.csv")
        run("publish", source, *ROLES, *EXPERIMENT, "--clamped", "--out", tmp_path / "out")
        found = json.loads(run("attack", source, *ROLES, "--groups", tmp_path / "out", "--json").stdout)
        assert found["gain_others_known"] is None
        assert "others known" not in found["releases"][0]

    def test_gains_over_the_law_and_both_sides(self, tmp_path, attacked):
        found = json.loads(run("attack", *attacked, "--json", "--out", tmp_path / "risk").stdout)
        assert {one["adversary"] for one in found["adversaries"]} == {"learned", "records"}
        assert [row["records"] for row in found["releases"]] == [50] * 4
        assert max(found["gain_over_law"], found["gain_others_known"]) < found["promise"]["gain"]
        assert found["promise"]["epsilon"] == pytest.approx(4)
        assert all(
            "any values of others known" in one["bound"] for one in found["adversaries"] if one["at_most"] is not None
        )
        beliefs = read(tmp_path / "risk/beliefs.csv")
        assert list(beliefs.columns) == ["week", "id", "cell", "a", "b", "c"]
        assert np.allclose(beliefs[["a", "b", "c"]].sum(axis=1), 1)
        assert list(read(tmp_path / "risk/at-risk.csv")) == [
            "respondent",
            "time",
            "believed",
            "belief",
            "prior",
            "adversary",
        ]

    def test_the_adversary_who_knows_all_others(self, attacked):
        """The scenario is the attack beside the joint one, under the same knowledge; no belief passes the bound of epsilon."""
        both = json.loads(run("attack", *attacked, "--knowledge", "records", "--json").stdout)
        alone = json.loads(run("attack", *attacked, "--scenario", "exact-but-one", "--json").stdout)
        assert both["gain_over_law"] < both["gain_others_known"] == pytest.approx(alone["gain_over_law"])
        assert alone["at_most"] is None or alone["exposed"] <= alone["at_most"]

    def test_what_is_printed(self, attacked):
        result = run("attack", *attacked, "--fail-over", 1)
        assert "promised for any prior and any values: at most" in result.stdout
        assert result.stdout.count("NOT FOR RELEASE") == 2  # above the tables, and below
        assert "(docs/methods/noise.md)" in result.stdout
        assert "cohorts.md" not in result.stdout
        assert "others known" in result.stdout
        assert "epsilon of a whole path" in result.stdout

    def test_the_public_folder_alone(self, tmp_path, attacked):
        (tmp_path / "noisy/public").rename(tmp_path / "copy")
        result = run("attack", *attacked[:-1], tmp_path / "copy", "--knowledge", "records")
        assert "it is not checked" in result.stderr
        assert f"--groups {tmp_path / 'copy'}" in result.stdout.replace(" \\\n   ", "")
        assert "Checked" in run("check", tmp_path / "copy").stdout

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--attack", "sequential"], "--attack sequential reads groups"),
            (["--attack", "definetti"], "choose --scenario exact-but-one"),
            (["--signatures"], "--signatures is not read for noisy counts"),
            (["--from-disk"], "--from-disk is not read for noisy counts; leave it out"),
            (["--scenario", "papers", "--corpus", "r.csv"], "--scenario papers has a solver or knowledge of groups"),
        ],
    )
    def test_other_attacks_are_refused(self, attacked, options, message):
        assert message in str(run("attack", *attacked, *options, status=None).exception)

    def test_records_and_counts_of_another_run(self, tmp_path, attacked):
        other = write(records(weeks=(1, 2, 3, 4), people=60, present=50, seed=2), tmp_path / "other.csv")
        assert "its checksum is not the one" in str(run("attack", other, *attacked[1:], status=None).exception)
        path = tmp_path / "noisy/public/not-for-release.csv"
        path.write_text(path.read_text().replace("\n1,0,", "\n1,1,", 1))
        assert "release.csv is not the file that was written with" in str(
            run("attack", *attacked, status=None).exception
        )

    def test_the_page(self, tmp_path, attacked):
        """The page has the numbers of the attack, and no identifier and no script."""
        found = json.loads(run("attack", *attacked, "--json").stdout)
        told = json.loads(run("report", *attacked, "--out", tmp_path / "r.html", "--json").stdout)
        assert told["gain_others_known"] == pytest.approx(found["gain_others_known"])
        text = (tmp_path / "r.html").read_text()
        assert f"{found['gain_others_known']:.3f}" in text
        assert "epsilon of a whole path" in text
        assert "NOT FOR RELEASE" in text
        assert "noisy-counts --cells 2 --releases 4 --epsilon 4" in text
        assert "p07" not in text
        assert "<script" not in text
        assert (tmp_path / "r.settings.json").exists()
        assert "--stricter is not read" in str(
            run("report", *attacked, "--stricter", 1, "--out", tmp_path / "s.html", status=None).exception
        )


class TestCompare:
    def test_noise_beside_groups(self, tmp_path):
        source = write(records(weeks=(1, 2), people=40, present=40), tmp_path / "r.csv")
        noise = ["--defense", "noisy-counts", "--cells", 2, "--releases", 2, "--sweep", "gain=0.1,0.5", "--seed", 1]
        result = run("compare", source, *ROLES, *noise, "--out", tmp_path / "noise", "--fail-over", 1)
        assert "--values FILE" in result.stdout
        assert "docs/methods/noise.md" in result.stdout.replace("\n", "").replace(" ", "")
        table = read(tmp_path / "noise/comparison.csv")
        assert table["promised_gain"].tolist() == pytest.approx([0.1, 0.5], abs=1e-4)
        assert table["query_error"][0] > table["query_error"][1]
        assert table["gain"][0] < table["gain"][1]
        both = ["--defense", "noisy-counts", "--defense", "mondrian", *noise[2:6], "--gain", 0.1, "--seed", 1, "--json"]
        found = json.loads(run("compare", source, *ROLES, *both).stdout)["settings"]
        assert [row["setting"] for row in found] == ["noisy-counts", "mondrian"]
        assert [row["promised_gain"] is None for row in found] == [False, True]
        assert all(row["query_error"] > 0 and row["gain"] >= 0 for row in found)

    def test_errors(self, tmp_path):
        source = write(records(), tmp_path / "r.csv")
        few = ["--defense", "noisy-counts", "--gain", 0.1, "--releases", 2]
        assert "the records have 3 releases" in str(run("compare", source, *ROLES, *few, status=None).exception)
        assert "needs --releases" in str(run("compare", source, *ROLES, *few[:4], status=None).exception)


def test_the_series_of_groups_is_none(published):
    _, out, _ = published
    assert series_at(out) is None
    assert series_at(Path("nowhere")) is None
