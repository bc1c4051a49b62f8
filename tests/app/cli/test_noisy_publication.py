"""Noisy counts on the command line: what is published, how a series goes on, what is refused, and what is checked."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, read, records, run, write
from printed_tables import printed

from foreknow.app.cli.commands.noisy_runs import promise_checks
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

    def test_json(self, tmp_path, source):
        found = json.loads(run("publish", source, *ROLES, *EXPERIMENT, "--out", tmp_path / "out", "--json").stdout)
        assert found["left"] == 2
        assert found["promise"]["gain"] == pytest.approx(0.2, abs=1e-5)
        assert not found["for_release"]


class TestExperiment:
    def test_a_seed_repeats_an_experiment_that_says_what_it_is(self, tmp_path, source, kind):
        for name in ("first", "second"):
            result = run("publish", source, *ROLES, *EXPERIMENT, "--out", tmp_path / name)
            assert "NOT FOR RELEASE" in result.stderr
        tables = [read(tmp_path / name / f"public/published.{kind}") for name in ("first", "second")]
        pd.testing.assert_frame_equal(*tables)
        about = json.loads((tmp_path / "first/public/release.json").read_text())
        assert not about["noise"]["for_release"]
        assert "not for release" in about["noise"]["repeatable"]
        assert "NOT FOR RELEASE" in run("check", tmp_path / "first").stderr

    def test_what_is_published_is_drawn_anew(self, tmp_path, source, kind):
        for name in ("first", "second"):
            run("publish", source, *ROLES, *NOISY, "--public-values", "--out", tmp_path / name)
        tables = [read(tmp_path / name / f"public/published.{kind}") for name in ("first", "second")]
        assert not tables[0].equals(tables[1])
        assert "Passed" in run("check", tmp_path / "first").stdout


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
        assert run("check", tmp_path / "b").stdout.count(" yes ") == 7

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
        """What to install is said before a file is read; an experiment needs no OpenDP."""
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
        about["noise"]["scale"] = 1.0
        path.write_text(json.dumps(about))
        result = run("check", tmp_path / "out", status=1)  # its checksum is another
        assert "release.json is changed" in result.stdout
        shown = series_at(tmp_path / "out")
        assert [holds for _, holds, _ in promise_checks(shown)][:2] == [False, False]

    def test_thresholds_of_groups_are_refused(self, tmp_path, source):
        run("publish", source, *ROLES, *EXPERIMENT, "--out", tmp_path / "out")
        assert "no requirement of groups" in str(run("check", tmp_path / "out", "-k", 3, status=None).exception)
        found = json.loads(run("check", tmp_path / "out", "--json").stdout)
        assert not found["failed"]
        assert all(row["holds"] for row in found["checks"])


def test_the_series_of_groups_is_none(published):
    _, out, _ = published
    assert series_at(out) is None
    assert series_at(Path("nowhere")) is None
