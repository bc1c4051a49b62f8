"""The demo: its split of the patients, its plots, its tables and its results."""

import io
from collections import Counter, defaultdict

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from rich.text import Text

from foreknow.app.cli.commands import demo_command as demo
from foreknow.defenses import DistinctDiversity, JSReduce, KAnonymity, TCloseness
from foreknow.evaluation import pbc, verify
from foreknow.models import Adversary, UniformPrior

EXAMPLE = Adversary(UniformPrior())
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def found():
    return demo.run()


@pytest.fixture(scope="module")
def folder(found, tmp_path_factory):
    out = tmp_path_factory.mktemp("demo")
    demo.write_output(found, out)
    return out


class TestPatients:
    def test_a_third_teaches_and_the_others_are_published(self, found):
        everybody = set(pbc().respondents)
        taught, published = set(found.corpus.respondents), set(found.comparison.history.respondents)
        assert not taught & published
        assert taught | published <= everybody
        assert len(taught) == len(everybody) // 3
        assert len(published) == pytest.approx(len(everybody) * 2 / 3, rel=0.05)

    def test_their_records_are_the_real_ones(self, found):
        real = {(row.id, row.year): row.state for view in pbc() for row in view.frame.itertuples()}
        for history in (found.corpus, found.comparison.history):
            for view in history:
                assert all(real[row.id, view.time] == row.state for row in view.frame.itertuples())

    def test_years_with_few_patients_are_not_published(self, found):
        taught, sizes = set(found.corpus.respondents), Counter()
        for view in pbc():
            sizes[view.time] = sum(who not in taught for who in view.frame["id"])
        expected = {year: size for year, size in sizes.items() if size >= demo.MIN_PATIENTS}
        assert {view.time: len(view) for view in found.comparison.history} == expected

    @pytest.mark.slow
    def test_the_split_is_the_same_every_time(self, found):
        again = demo.run()
        assert again.patient == found.patient
        pd.testing.assert_frame_equal(again.comparison.summary(), found.comparison.summary())


class TestReleases:
    def test_they_are_what_the_names_say(self, found):
        safe = KAnonymity(3) & DistinctDiversity(2)
        for name, releases in found.comparison.releases.items():
            defense = demo.PUBLICATIONS[name]
            for release in releases:
                asked = safe & TCloseness(defense.t) if isinstance(defense, JSReduce) else safe
                assert verify(release, asked)["holds"].all()

    def test_who_remembers_gains_more(self, found):
        """Both joint attacks have higher log scores than the sequential one under every defense, and the snapshot gains nothing.

        On these small tables the knowledge of 104 other patients is no better than that of the releases themselves.
        """
        summary = found.comparison.summary().set_index(["defense", "attack"])
        gain, score = summary["gain"], summary["log_score"]
        assert gain[demo.BASELINE, demo.SEQUENTIAL_ATTACK] > gain[demo.BASELINE, demo.SNAPSHOT_ATTACK]
        assert gain[demo.BASELINE, demo.SNAPSHOT_ATTACK] == pytest.approx(0, abs=0.05)
        for name in demo.PUBLICATIONS:
            least = min(score[name, demo.STRONGEST_ATTACK], score[name, demo.LEARNED_ATTACK])
            assert least > score[name, demo.SEQUENTIAL_ATTACK] > score[name, demo.SNAPSHOT_ATTACK]
            assert score[name, demo.LEARNED_ATTACK] > score[name, demo.STRONGEST_ATTACK] - 0.05

    def test_the_first_release_is_disclosed_in_hindsight_only(self, found):
        risk = found.comparison.risk().set_index(["defense", "attack", "time"]).sort_index()
        first = {attack: risk.loc[(demo.BASELINE, attack)]["gain"].iloc[0] for attack in demo.attacks(EXAMPLE)}
        assert first[demo.SEQUENTIAL_ATTACK] == pytest.approx(first[demo.SNAPSHOT_ATTACK])
        assert first[demo.STRONGEST_ATTACK] > first[demo.SEQUENTIAL_ATTACK] + 0.03


class TestPictures:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["pictures/gain.png", "pictures/belief.png", "pictures/groups.png"])
    def test_they_show_something(self, folder, name):
        assert (folder / name).read_bytes()[:8] == PNG
        pixels = mpl.image.imread(folder / name)[..., :3]
        assert min(pixels.shape[:2]) > 300
        assert len(np.unique((pixels * 255).astype(int).reshape(-1, 3), axis=0)) > 20
        assert pixels.std() > 0.05

    def test_the_tables_are_those_of_the_comparison(self, found, folder):
        for name in ("summary", "risk", "cost"):
            table = getattr(found.comparison, name)()
            pd.testing.assert_frame_equal(pd.read_csv(folder / f"{name}.csv"), table, check_dtype=False)

    def test_nothing_else_is_written(self, folder):
        assert {file.relative_to(folder).as_posix() for file in folder.rglob("*.*")} == {
            "pictures/belief.png", "pictures/gain.png", "pictures/groups.png", "summary.csv", "risk.csv", "cost.csv",
        }  # fmt: skip


class TestStory:
    def test_a_row_is_what_was_published_believed_and_true(self, found):
        told = demo.patient_history(found).set_index("year")
        beliefs = found.comparison.beliefs[demo.BASELINE, demo.STRONGEST_ATTACK]
        posterior = beliefs.of(found.patient).xs("posterior", level="stage")
        assert told.index.tolist() == posterior.index.tolist()
        for release, view in zip(found.comparison.releases[demo.BASELINE], found.comparison.history, strict=True):
            place = np.flatnonzero((view.frame["id"] == found.patient).to_numpy())
            if not len(place):
                continue
            row = told.loc[view.time]
            assert row["true value"] == view.frame["state"].iloc[place[0]]
            assert row["most probable"] == posterior.loc[view.time].idxmax()
            assert row["belief"] == pytest.approx(posterior.loc[view.time].max())
            together = release.group == release.group[place[0]]
            shown = Counter(view.frame["state"][together])
            assert Counter({state: int(n) for n, state in (p.split(" ", 1) for p in row["group"].split(", "))}) == shown

    def test_it_is_of_the_patient_read_best(self, found):
        gained = defaultdict(float)
        releases = found.comparison.releases[demo.BASELINE]
        beliefs = found.comparison.beliefs[demo.BASELINE, demo.STRONGEST_ATTACK]
        for release, view in zip(releases, found.comparison.history, strict=True):
            posterior = beliefs.posterior(view.time)
            for row, (who, truth) in enumerate(zip(view.frame["id"], view.frame["state"], strict=True)):
                shown = view.frame["state"][release.group == release.group[row]].tolist()
                gained[who] += posterior.loc[who, truth] - shown.count(truth) / len(shown)
        assert gained[found.patient] == pytest.approx(max(gained.values()))

    def test_the_report_fits_a_terminal_and_has_the_numbers(self, found):
        console = Console(width=80, file=io.StringIO())
        for part in demo.demo_tables(found):
            console.print(part)
        text = console.file.getvalue()
        assert max(map(len, text.splitlines())) <= 80
        summary = found.comparison.summary()
        strongest = summary[summary["attack"] == demo.STRONGEST_ATTACK]
        for value in [*summary["gain"], *summary["total_risk"], *summary["log_score"], *strongest["expected"]]:
            assert (f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.2g}") in text
        for words in ("certain", "Total risk", "expected", "log score"):
            assert words in text
        assert str(found.patient) in text
        assert f"{len(found.comparison.history.respondents)} patients" in text

    def test_the_report_says_what_counts_evidence_twice(self, found):
        notes = "".join(part.plain for part in demo.demo_tables(found) if isinstance(part, Text))
        for name in found.comparison.releases:
            (note,) = found.comparison.beliefs[name, demo.SEQUENTIAL_ATTACK].notes
            assert "counts the evidence of a release again" in note
            assert f"sequential attack on {name}: {note}" in notes
            for other in found.comparison.beliefs[name, demo.STRONGEST_ATTACK].notes:
                assert notes.count(other) == 1

    def test_no_group_shows_one_value(self, found):
        assert (found.comparison.risk()["certain"] == 0).all()
