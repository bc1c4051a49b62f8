"""Input files with encodings, codes, missing cells, large numbers and metadata of pandas."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, read, records, run, write
from rich.console import Console

from foreknow.app.cli import command_line, terminal
from foreknow.app.cli.adversary_knowledge import Learning, informed_adversary
from foreknow.app.cli.files.columns import Columns
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian
from foreknow.models import Categorical, History, Numeric, Omega
from foreknow.models.advice import Advice, Named, Setting, Wording
from foreknow.models.tables.cell_types import ordered_times

pytestmark = pytest.mark.slow

COLUMNS = Columns("id", "week", "result", ("age", "town"))
BIG = 2**53 + 1


@pytest.fixture(params=["csv", "parquet"])
def kind(request):
    return request.param


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Consoles wide enough for tables without wrapped lines."""
    monkeypatch.setattr(terminal, "console", Console(width=250))
    monkeypatch.setattr(terminal, "error_console", Console(width=250, stderr=True))


def refused(*arguments):
    return str(run(*arguments, status=1).exception)


def shown(out, kind):
    """Number of published records of each value."""
    path = out / "public" / f"published.{kind}"
    table = pd.read_csv(path, dtype=str, keep_default_na=False) if kind == "csv" else pd.read_parquet(path)
    return Counter(table["result"])


MONDRIAN = ["--defense", "mondrian", "-k", 2, "-l", 1]
REPEATED = ["--seed", 1]
"""For what is published twice."""


class TestEncoding:
    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_it_is_that_of_hierarchies_too(self, tmp_path, kind, capsys, monkeypatch):
        table = records().replace({"town": {"Rome": "Zürich"}})
        if kind == "csv":
            table.to_csv(tmp_path / "r.csv", index=False, encoding="latin-1")
        else:
            table.to_parquet(tmp_path / "r.parquet", index=False)
        tree = tmp_path / "town.csv"
        tree.write_text("".join(f"{town};*\n" for town in sorted(set(table["town"]))), encoding="latin-1")
        rest = [*ROLES, "--hierarchy", f"town={tree}", *MONDRIAN]
        run("publish", tmp_path / f"r.{kind}", *rest, "--out", tmp_path / "o", "--encoding", "latin-1")
        table.to_csv(tmp_path / "u.csv", index=False)
        error = TestAdvice().error(capsys, monkeypatch, "publish", tmp_path / "u.csv", *rest, "--out", tmp_path / "p")
        assert (
            "that of Excel on Windows, it reads 'Zürich'. Name it if that is right, or another as --encoding latin-1"
            in error
        )

    @pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
    def test_named_ones_give_the_same_publication(self, tmp_path, encoding):
        table = records().replace({"town": {"Rome": "Zürich"}, "result": {"a": "né"}})
        table.to_csv(tmp_path / "r.csv", index=False, encoding=encoding)
        write(table, tmp_path / "utf8.csv")
        for name, more in [("r", ["--encoding", encoding]), ("utf8", [])]:
            run("publish", tmp_path / f"{name}.csv", *ROLES, "--out", tmp_path / name, *MONDRIAN, *REPEATED, *more)
        key = tmp_path / "r" / "private" / "groups.csv"
        run("attack", tmp_path / "r.csv", *ROLES, "--groups", key, "--encoding", encoding)
        for name in ("public/published.csv", "private/groups.csv"):
            assert (tmp_path / "r" / name).read_bytes() == (tmp_path / "utf8" / name).read_bytes()

    def test_check(self, tmp_path):
        table = pd.DataFrame({"group": [0, 0], "result": ["né", "flu"]})
        table.to_csv(tmp_path / "t.csv", index=False, encoding="latin-1")
        message = refused("check", tmp_path / "t.csv", "--sensitive", "result")
        assert "byte 16 (0xe9, in line 2) is not utf-8" in message
        run("check", tmp_path / "t.csv", "--sensitive", "result", "--encoding", "latin-1", "-k", 2)

    def test_the_way_out_is_an_option(self, tmp_path, capsys, monkeypatch):
        records().replace({"town": {"Rome": "Zürich"}}).to_csv(tmp_path / "r.csv", index=False, encoding="latin-1")
        arguments = ["publish", tmp_path / "r.csv", *ROLES, "--out", tmp_path / "out"]
        monkeypatch.setattr("sys.argv", ["foreknow", *map(str, arguments)])
        with pytest.raises(SystemExit):
            command_line.main()
        assert (
            "is not utf-8; with --encoding cp1252, that of Excel on Windows, it reads 'Zürich'. Name it"
            in capsys.readouterr().err
        )


class TestMissing:
    def test_na_and_none_are_names(self, tmp_path, kind):
        """Respondents named NA and a disease named None are ordinary values."""
        table = records().replace({"id": {"p07": "NA", "p08": "null"}, "result": {"a": "None"}, "town": {"Rome": "NA"}})
        source = write(table, tmp_path / f"r.{kind}")
        run("publish", source, *ROLES, "--out", tmp_path, *MONDRIAN)
        assert shown(tmp_path, kind) == Counter(table["result"])
        assert shown(tmp_path, kind)["None"] > 10
        run("attack", source, *ROLES, "--groups", tmp_path / "private" / f"groups.{kind}", "--out", tmp_path)
        path = tmp_path / f"beliefs.{kind}"
        beliefs = pd.read_csv(path, keep_default_na=False) if kind == "csv" else pd.read_parquet(path)
        assert sorted(beliefs["id"]) == sorted(table["id"])

    def test_counterfeits_of_a_value_called_na(self, tmp_path, kind):
        """The key's rows without a respondent, and its empty cells of values, are read as they were written."""
        table = records(people=40, present=36).replace({"result": {"a": "NA", "b": "None"}})
        source = write(table, tmp_path / f"r.{kind}")
        run("publish", source, *ROLES, "--out", tmp_path, "--defense", "m-invariance")
        run("attack", source, *ROLES, "--groups", tmp_path / "private" / f"groups.{kind}")

    def test_what_is_named_is_missing(self, tmp_path):
        table = records().astype({"age": object})
        table.loc[5, "age"] = "unknown"
        source = write(table, tmp_path / "r.csv")
        message = refused("publish", source, *ROLES, "--out", tmp_path / "out", *MONDRIAN)
        assert "other text in 1 of 72 cells: 'unknown' (line 7)" in message
        assert "missing_texts=['NA']" in message
        assert "categorical=['age']" in message
        named = refused("publish", source, *ROLES, "--out", tmp_path / "out", *MONDRIAN, "--missing-value", "unknown")
        assert named.startswith("'age' has 1 missing cell in 72 records: line 7; fill them in, or set missing='drop'")

    def test_advice_names_what_there_is(self, tmp_path):
        """The command line infers the schema, so an error does not mention it."""
        for cell in (None, np.inf):
            table = records().astype({"age": float})
            table.loc[5, "age"] = cell
            message = refused("publish", write(table, tmp_path / "r.csv"), *ROLES, "--out", tmp_path / "out")
            assert "schema" not in message


class TestCategorical:
    def test_codes_are_not_averaged(self, tmp_path, kind):
        table = records().assign(race=lambda rows: rows["age"] % 3 + 1)
        source = write(table, tmp_path / f"r.{kind}")
        roles = [*ROLES, "--qi", "race"]
        plain = run("publish", source, *roles, "--out", tmp_path / "a", *MONDRIAN)
        assert (
            "Read as numbers, with few distinct values: race. If they are codes, add --categorical race."
            in plain.stderr
        )
        coded = run("publish", source, *roles, "--out", tmp_path / "b", *MONDRIAN, "--categorical", "race")
        assert "Read as numbers" not in coded.stderr
        labels = [set(read(tmp_path / out / "public" / f"published.{kind}")["race"].astype(str)) for out in "ab"]
        assert any("," in label for label in labels[0])
        assert labels[1] <= {"1", "2", "3", "*"}
        key = tmp_path / "b" / "private" / f"groups.{kind}"
        run("attack", source, *roles, "--groups", key, "--categorical", "race")

    def test_both_kinds_of_file_give_the_same(self, tmp_path):
        columns = Columns("id", "week", "result", ("race",), categorical=("race",))
        table = records().assign(race=lambda rows: np.arange(len(rows)) % 12)
        found = [
            columns.schema(*columns.read(tmp_path / write(table, tmp_path / f"r.{kind}")))
            for kind in ("csv", "parquet")
        ]
        assert found[0] == found[1]
        assert found[0].quasi_identifiers["race"] == Categorical(tuple(range(12)))

    def test_codes_are_published_as_they_are_written(self, tmp_path):
        """250.1 and 250.10 are two diagnoses, and 042 is not 42."""
        codes = {"a": "250.1", "b": "250.10", "c": "042"}
        table = records().assign(result=lambda rows: rows["result"].map(codes), zip=[f"{i % 4:05d}" for i in range(72)])
        source = write(table, tmp_path / "r.csv")
        roles = [*ROLES, "--qi", "zip", "--categorical", "zip"]
        run("publish", source, *roles, "--out", tmp_path, "--defense", "anatomy")
        assert shown(tmp_path, "csv") == Counter(table["result"])
        public = pd.read_csv(tmp_path / "public" / "published.csv", dtype=str)
        assert set(public["zip"]) == set(table["zip"])
        run("attack", source, *roles, "--groups", tmp_path / "private" / "groups.csv")

    def test_a_corpus_decides_with_the_records(self, tmp_path):
        columns = Columns("id", "week", "result", ("age",))
        ones, codes = records().assign(result="1"), records().assign(result="01")
        paths = [tmp_path / write(table, tmp_path / f"{i}.csv") for i, table in enumerate([ones, codes])]
        assert columns.schema(*columns.read(*paths)).values == ("01", "1")
        assert columns.schema(*columns.read(paths[0])).values == (1,)

    def test_of_no_column(self, tmp_path):
        source = write(records(), tmp_path / "r.csv")
        message = refused("publish", source, *ROLES, "--out", tmp_path, "--categorical", "race")
        assert "--categorical 'race' is not a column named by --qi" in message


class TestWholeNumbers:
    def test_they_are_published_exactly(self, tmp_path, kind):
        table = (
            records().replace({"result": {"a": BIG, "b": BIG + 2, "c": 5}}).assign(week=lambda rows: rows["week"] + BIG)
        )
        table = table.astype({"result": np.int64}).assign(id=lambda rows: rows["id"].str[1:].astype(int) + BIG)
        source = write(table, tmp_path / f"r.{kind}")
        run("publish", source, *ROLES, "--out", tmp_path, "--defense", "mask")
        public = read(tmp_path / "public" / f"published.{kind}")
        assert set(public["result"]) == {BIG, BIG + 2, 5}
        assert set(public["week"]) == {BIG + 1, BIG + 2, BIG + 3}
        run("attack", source, *ROLES, "--groups", tmp_path / "private" / f"groups.{kind}", "--out", tmp_path)
        assert set(read(tmp_path / f"beliefs.{kind}")["id"]) == set(table["id"])

    @pytest.mark.parametrize("largest", [BIG, 2**63 + 5, -BIG])
    def test_as_quasi_identifiers_they_are_refused(self, tmp_path, largest, kind):
        ages = records()["age"].astype("uint64" if largest > 2**63 else "int64")
        ages[5] = largest
        source = write(records().assign(age=ages), tmp_path / f"r.{kind}")
        message = refused("publish", source, *ROLES, "--out", tmp_path, *MONDRIAN)
        assert "'age' of respondent 'p" in message
        assert f"is {largest}; a numeric quasi-identifier is stored as float64" in message
        run("publish", source, *ROLES, "--out", tmp_path, "--defense", "anatomy", "--categorical", "age")
        assert str(largest) in set(read(tmp_path / "public" / f"published.{kind}")["age"].astype(str))

    def test_digits_without_end(self, tmp_path):
        """Neither int() nor pandas reads them."""
        table = records().assign(week=lambda rows: rows["week"].astype(str))
        table.loc[table["week"] == "3", "week"] = "9" * 100_000
        assert "comes before" not in refused(
            "publish", write(table, tmp_path / "r.csv"), *ROLES, "--out", tmp_path, "-k", 60
        )

    @pytest.mark.parametrize(
        ("times", "good"),
        [
            (["9" * 5000 + "x", "9" * 5001 + "x"], False),
            (["10x", "9x"], False),
            (["w09", "w10"], True),
            (["²", "10"], False),
            ([10**30, 3], True),
        ],
    )
    def test_times_of_many_digits(self, times, good):
        column = pd.Series(times, name="week", dtype=object)
        cleaned, faults, _ = ordered_times(column)
        assert bool(faults) is not good
        assert cleaned.tolist() == times or faults


class TestPandas:
    """Metadata of pandas in Parquet does not change the publication."""

    @pytest.mark.parametrize("how", ["index like a column", "id as index", "category", "Int64", "pyarrow", "attrs"])
    def test_the_publication_is_that_of_the_plain_table(self, tmp_path, how):
        table = records(people=30, present=24)
        other = {
            "index like a column": lambda t: t.rename_axis("age"),
            "id as index": lambda t: t.set_index("id"),
            "category": lambda t: t.astype({"town": "category", "result": "category", "week": "category"}),
            "Int64": lambda t: t.astype({"age": "Int64", "week": "Int64", "town": "string"}),
            "pyarrow": lambda t: t.convert_dtypes(dtype_backend="pyarrow"),
            "attrs": lambda t: t.rename_axis(columns="axis"),
        }[how](table)
        write(table, tmp_path / "plain.parquet")
        other.to_parquet(tmp_path / "other.parquet")
        for name in ("plain", "other"):
            run("publish", tmp_path / f"{name}.parquet", *ROLES, "--out", tmp_path / name, *MONDRIAN, *REPEATED)
        key = tmp_path / "other" / "private" / "groups.parquet"
        run("attack", tmp_path / "other.parquet", *ROLES, "--groups", key)
        for name in ("public/published.parquet", "private/groups.parquet"):
            pd.testing.assert_frame_equal(read(tmp_path / "other" / name), read(tmp_path / "plain" / name))


class TestHowTheAdversaryRemembers:
    def knowledge(self, **settings):
        history = History.read(records(), COLUMNS.schema(records()), "week")
        learning = Learning(**settings)
        known = informed_adversary(history, learning)
        return learning.adversary(known.prior, known.transitions, Omega())

    def test_the_defaults(self):
        adversary = self.knowledge(order=2)
        assert (adversary.revision, adversary.gaps) == ("filter", "ignore")

    @pytest.mark.parametrize("revision", ["filter", "product", "chain"])
    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    def test_what_is_asked(self, revision, gaps):
        adversary = self.knowledge(order=2, revision=revision, gaps=gaps)
        assert (adversary.revision, adversary.gaps) == (revision, gaps)

    @pytest.mark.parametrize("option", [["--revision", "product"], ["--revision", "chain"], ["--gaps", "power"]])
    def test_it_changes_beliefs(self, tmp_path, option):
        """Three releases and a chain of order 2; some respondents have no record in some releases."""
        table = records(present=20).assign(group=lambda rows: rows.groupby("week").cumcount() // 4)
        source = write(table, tmp_path / "r.csv")
        beliefs = []
        for more in ([], option):
            asked = ["--attack", "sequential", "--order", 2, *more]
            run("attack", source, *ROLES, *asked, "--out", tmp_path, "--overwrite")
            beliefs.append(read(tmp_path / "beliefs.csv")[["a", "b", "c"]].to_numpy())
        assert np.abs(beliefs[0] - beliefs[1]).max() > 1e-3

    def test_the_default_attack_is_the_joint_one(self, tmp_path):
        source = write(records().assign(group=lambda rows: rows.groupby("week").cumcount() // 4), tmp_path / "r.csv")
        assert "joint attack, group-graph solver, in hindsight" in run("attack", source, *ROLES).stdout
        assert "sequential attack, auto posterior" in run("attack", source, *ROLES, "--attack", "sequential").stdout

    def test_numeric_by_default(self):
        assert isinstance(COLUMNS.schema(records()).quasi_identifiers["age"], Numeric)


class TestAdvice:
    """Advice in error messages names options of the command line."""

    def error(self, capsys, monkeypatch, *arguments):
        monkeypatch.setattr("sys.argv", ["foreknow", *map(str, arguments)])
        with pytest.raises(SystemExit):
            command_line.main()
        return capsys.readouterr().err

    def test_a_group_too_large_for_an_estimator(self, tmp_path, capsys, monkeypatch):
        table = pd.DataFrame({"id": range(40), "week": 1, "age": range(40), "town": "Rome", "group": 0})
        source = write(table.assign(result=[f"v{i % 20}" for i in range(40)]), tmp_path / "r.csv")
        attack = ["attack", source, *ROLES, "--classes", 40]
        error = self.error(capsys, monkeypatch, *attack, "--estimator", "exact")
        assert error.strip().endswith("Choose --estimator auto.")
        assert "(" not in error.split("more than")[-1]
        run(*attack, "--estimator", "auto")

    def test_an_unknown_encoding(self, tmp_path, capsys, monkeypatch):
        source = write(records(), tmp_path / "r.csv")
        error = self.error(capsys, monkeypatch, "publish", source, *ROLES, "--out", tmp_path / "o", "--encoding", "foo")
        expected = (
            "--encoding is 'foo', and Python has no encoding of text by this name; name another, as --encoding latin-1."
        )
        assert error == f"error: {expected}\n"

    def test_an_encoding_that_is_not_read(self, tmp_path):
        source = write(records(), tmp_path / "r.parquet")
        for command in (
            ["publish", source, *ROLES, "--out", tmp_path / "o"],
            ["check", source, "--sensitive", "result"],
        ):
            assert "--encoding latin-1 is not read" in refused(*command, "--encoding", "latin-1")

    def test_the_signature_attack_of_order_2(self, tmp_path, capsys, monkeypatch):
        source = write(records().assign(group=0), tmp_path / "r.csv")
        error = self.error(capsys, monkeypatch, "attack", source, *ROLES, "--attack", "signature", "--order", 2)
        assert error.endswith("error: The signature attack needs --order 1.\n")

    @pytest.mark.parametrize(
        ("python", "option"),
        [
            (Advice("or use ", Setting("revision", "product"), "."), "or use --revision product."),
            (Advice("or ", Setting("infeasible", "suppress"), "."), "or --infeasible suppress."),
            (
                Advice("it is large. ", Wording("Use Auto().", "Choose --estimator auto.")),
                "it is large. Choose --estimator auto.",
            ),
            (Advice("replace it with ", Setting("overwrite", True), "."), "replace it with --overwrite."),
            (
                Advice("in: ", Advice("set ", Setting("categorical", ["birth year"]))),
                "in: set --categorical 'birth year'",
            ),
            (Advice("as ", Setting("separator", ";"), "."), "as --separator ';'."),
            (
                Advice("set ", Setting("time_format", "%d.%m.%Y")),
                "set --time-format '%d.%m.%Y'",
            ),
            (
                Advice(Named(Mondrian(KAnonymity(6) & DistinctDiversity(2))), " needs records"),
                "mondrian -k 6 -l 2 needs records",
            ),
            ("the estimator is odd; drop it.", "the estimator is odd; drop it."),
        ],
    )
    def test_settings_are_options(self, python, option, capsys, monkeypatch):
        def fail():
            raise ValueError(python)

        monkeypatch.setattr(command_line, "app", fail)
        assert self.error(capsys, monkeypatch) == f"error: {option}\n"

    def test_continuous_times(self, tmp_path, capsys, monkeypatch):
        table = records().assign(week=np.linspace(1, 3, 72) + 0.001)
        error = self.error(capsys, monkeypatch, "publish", write(table, tmp_path / "r.csv"), *ROLES, "--out", tmp_path)
        assert "72 views" in error
        assert "as --time month" in error
        assert "frame" not in error


def test_long_errors_are_cut(capsys, monkeypatch):
    def fail():
        raise ValueError("9" * 10**6 + " is too long.")

    monkeypatch.setattr(command_line, "app", fail)
    with pytest.raises(SystemExit):
        command_line.main()
    error = capsys.readouterr().err
    assert len(error) < 1100
    assert error.endswith("is too long.\n")


def test_warnings_are_lines_of_their_own(capsys, monkeypatch):
    """Warnings have no code location and no escape sequences."""
    monkeypatch.setattr(command_line, "app", lambda: command_line.warnings.warn("1,025 views\x1b[2J", stacklevel=1))
    with command_line.warnings.catch_warnings():
        command_line.warnings.simplefilter("always")
        command_line.main()
    assert capsys.readouterr().err == "warning: 1,025 views\\x1b[2J\n"
