"""Attacks without background knowledge on the command line."""

import numpy as np
import pytest
from commands import ROLES, read, records, run, write

from foreknow.attacks import (
    CompositionAttack,
    ConditionalProbability,
    DeFinettiAttack,
    MinimalityAttack,
    PrivacyMaxEntAttack,
)
from foreknow.models import Release, Schema, View

pytestmark = pytest.mark.usefixtures("wide")


class TestAttacksWithoutAdversary:
    """DeFinetti, composition, maximum entropy and minimality, beside the objects of the package."""

    def attacked(self, folder, name, *more):
        """Beliefs from the command line, and those of an attack of the same records."""
        table = records().assign(group=lambda rows: rows.groupby("week").cumcount() // 4)
        source = write(table, folder / "r.csv")
        result = run("attack", source, *ROLES, "--attack", name, "--out", folder / "out", *more)
        assert "--corpus" not in result.stderr
        schema = Schema.infer(table, ["age", "town"], "result", "id")
        releases = [Release(View(rows, schema, week), rows["group"]) for week, rows in table.groupby("week")]
        return read(folder / "out" / "beliefs.csv"), releases, result

    def compare(self, beliefs, expected):
        for week in expected.times:
            rows = beliefs[beliefs["week"] == week].set_index("id")[["a", "b", "c"]]
            np.testing.assert_allclose(rows.loc[expected.posterior(week).index], expected.posterior(week), atol=1e-9)

    @pytest.mark.parametrize(
        ("name", "attack", "more"),
        [
            ("definetti", DeFinettiAttack(), []),
            ("composition", CompositionAttack(), []),
            ("minimality", MinimalityAttack(2, diversity="distinct"), []),
            ("minimality", MinimalityAttack(3, k=2, diversity="distinct"), ["-k", 2, "-l", 3]),
        ],
    )
    def test_beliefs_are_those_of_the_attack(self, tmp_path, name, attack, more):
        beliefs, releases, _ = self.attacked(tmp_path, name, *more)
        self.compare(beliefs, attack(releases))

    def test_statements(self, tmp_path):
        towns = records()["town"].unique()
        lines = ["value,low,high,age,town", f"a,0.2,,,{towns[0]}", "b,0.1,0.3,20..40,"]
        (tmp_path / "s.csv").write_text("\n".join(lines))
        beliefs, releases, _ = self.attacked(tmp_path, "maxent", "--statements", tmp_path / "s.csv")
        stated = [
            ConditionalProbability("a", {"town": towns[0]}, 0.2),
            ConditionalProbability("b", {"age": (20, 40)}, 0.1, 0.3),
        ]
        self.compare(beliefs, PrivacyMaxEntAttack(stated)(releases))

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("value,age\na,3", "has no column 'low'"),
            ("value,low,land\na,0.1,x", "has the column 'land'; statements have"),
            ("value,low\na,much", "row 2: low is 'much'; it is a number"),
            ("value,low,age\na,0.1,old", "row 2: age is 'old'; it is a number"),
            ("value,low\nz,0.1", "is not in the sensitive domain"),
        ],
    )
    def test_wrong_statements(self, tmp_path, text, match):
        (tmp_path / "s.csv").write_text(text)
        table = records().assign(group=lambda rows: rows.groupby("week").cumcount() // 4)
        source = write(table, tmp_path / "r.csv")
        more = ["--attack", "maxent", "--statements", tmp_path / "s.csv"]
        assert match in str(run("attack", source, *ROLES, *more, status=1).exception)

    def test_no_statements(self, tmp_path):
        result = run("attack", tmp_path / "r.csv", *ROLES, "--attack", "maxent", status=1)
        assert "maxent takes --statements" in str(result.exception)
