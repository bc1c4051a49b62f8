"""--scenario of `foreknow attack` and `foreknow compare`: the numbers of the options that it replaces, and what it excludes."""

import json

import pytest
from commands import ROLES, read, records, run, write

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture
def source(tmp_path):
    return write(records(), tmp_path / "r.csv")


@pytest.fixture
def corpus(tmp_path):
    return ["--corpus", write(records(seed=5), tmp_path / "c.csv")]


@pytest.fixture
def attacked(source, tmp_path):
    """Records and the key of a publication by Mondrian, as arguments."""
    run("publish", source, *ROLES, "--out", tmp_path / "o", "--defense", "mondrian")
    return [source, *ROLES, "--groups", tmp_path / "o" / "private" / "groups.csv"]


def scenario(folder, text):
    (folder / "mine.toml").write_text(text)
    return ["--scenario", folder / "mine.toml"]


def as_json(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def refusal(*arguments):
    """The message of an error."""
    return str(run(*arguments, status=1).exception)


SAME = ("exposed", "exposed_share", "known_before", "releases", "sure", "suppressed")


@pytest.mark.parametrize(
    ("text", "options", "reads_corpus"),
    [
        ('law = "corpus"\nthreshold = 0.7', ["--sure", 0.7], True),
        ('law = "learned"\nthreshold = 0.7\nsolver = "max-entropy"',
         ["--sure", 0.7, "--knowledge", "learned", "--solver", "max-entropy"], False),
        ('law = "known"\npresence = "read"\ntime = "forward"', ["--knowledge", "records", "--presence", "--forward"], False),
        ('law = "corpus"\nsolver = "sequential"\ntime = "forward"\nestimator = "omega"\norder = 2\nrevision = "product"',
         ["--attack", "sequential", "--estimator", "omega", "--order", 2, "--revision", "product"], True),
        ('law = "corpus"\nclasses = 2\npseudo_count = 1\ngaps = "power"',
         ["--classes", 2, "--pseudo-count", 1, "--gaps", "power"], True),
    ],
)  # fmt: skip
def test_the_numbers_are_those_of_the_options(text, options, reads_corpus, attacked, corpus, tmp_path):
    more = corpus if reads_corpus else []
    found = as_json("attack", *attacked, *more, *scenario(tmp_path, text))
    expected = as_json("attack", *attacked, *more, *options)
    assert [found[name] for name in SAME] == [expected[name] for name in SAME]
    assert found["attack"] == "mine"
    assert found["adversaries"][0]["adversary"] is None


def test_exact_but_one_exposes_all(attacked):
    found = as_json("attack", *attacked, "--scenario", "exact-but-one")
    assert found["exposed"] + found["known_before"] == found["respondents"] > 0
    assert "To the exact-but-one attack: " in found["verdict"]


def test_files_of_a_run_and_its_repetition(attacked, corpus, tmp_path):
    given = [*attacked, *corpus, *scenario(tmp_path, 'law = "corpus"\nthreshold = 0.7')]
    told = run("attack", *given, "--out", tmp_path / "risk").stdout
    assert "scenario mine" in told
    risky = read(tmp_path / "risk" / "at-risk.csv")
    assert (risky["belief"] >= 0.7).all()
    made = json.loads((tmp_path / "risk" / "settings.json").read_text())
    assert str(tmp_path / "mine.toml") in made["sha256"]
    again = run("attack", given[0], "--config", tmp_path / "risk" / "settings.json", "--out", tmp_path / "again")
    assert again.exit_code == 0
    assert read(tmp_path / "again" / "beliefs.csv").equals(read(tmp_path / "risk" / "beliefs.csv"))


@pytest.mark.parametrize(("goal", "label"), [("change", "time"), ("path", "releases")])
def test_another_goal_has_a_table_of_its_own(goal, label, attacked, corpus, tmp_path):
    given = [*attacked, *corpus, *scenario(tmp_path, f'law = "corpus"\ngoal = "{goal}"')]
    found = as_json("attack", *given)
    assert all({label, "measured", "sure", "right", "confidence_low"} <= set(row) for row in found["goal"])
    assert sum(row["measured"] for row in found["goal"]) > 0
    assert f"Beliefs about a {goal}" in run("attack", *given).stdout


class TestCompare:
    def test_the_risk_is_that_of_attack(self, source, corpus, tmp_path, attacked):
        """Mondrian draws nothing that changes the groups."""
        text = 'law = "corpus"\npresence = "read"\nthreshold = 0.7'
        mine = scenario(tmp_path, text)
        given = [source, *ROLES, "--defense", "mondrian", *mine, "--scenario", "releases-only", *corpus]
        found = as_json("compare", *given)
        (row,) = found["settings"]
        numbers = {
            name: as_json("attack", *attacked, "--scenario", name, *more)["exposed"]
            for name, more in ((mine[1], corpus), ("releases-only", []))
        }
        assert {name: row[f"exposed_{name}"] for name in numbers} == numbers
        assert row["exposed"] == max(numbers.values()) > 0
        assert found["sure"] == {str(mine[1]): 0.7, "releases-only": 0.9}

    def test_options_of_the_defender_stay(self, source, corpus):
        run(
            "compare",
            source,
            *ROLES,
            "--defense",
            "mondrian",
            "-k",
            4,
            "--classes",
            2,
            *corpus,
            "--scenario",
            "releases-only",
        )

    @pytest.mark.parametrize("option", [["--sure", 0.8], ["--solver", "max-entropy"]])
    def test_options_of_the_adversary_are_excluded(self, option, source):
        message = refusal("compare", source, *ROLES, "--scenario", "releases-only", *option)
        assert f"--scenario and {option[0]} exclude each other" in message


EXCLUDED = (
    ["--estimator", "omega"], ["--attack", "snapshot"], ["--solver", "max-entropy"], ["--knowledge", "learned"], ["--presence"],
    ["--forward"], ["--signatures"], ["--sure", 0.8], ["--order", 2], ["--classes", 2], ["--from-disk"], ["--published"],
    ["--sensitive-set", "a"], ["--memory", 2],
)  # fmt: skip


@pytest.mark.parametrize("option", EXCLUDED, ids=lambda option: option[0])
def test_an_option_that_the_scenario_settles_is_refused(option, attacked):
    message = refusal("attack", *attacked, "--scenario", "releases-only", *option)
    assert f"--scenario and {option[0]} exclude each other" in message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--scenario", "papers"],
            "--scenario papers has the law 'corpus': name the records of other people by --corpus FILE.",
        ),
        (["--scenario", "releases-only", "--corpus", "c.csv"], "--scenario releases-only does not read --corpus"),
        (
            ["--scenario", "papers", "--scenario", "presence"],
            "--scenario is given 2 times, as papers and presence; foreknow attack takes one.",
        ),
        (["--scenario", "paper"], "'paper' is not a built-in scenario or a file. The nearest is 'papers'."),
    ],
)
def test_what_is_missing_or_not_read(given, message, attacked):
    assert message in refusal("attack", *attacked, *given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tresh = 0.8", "'tresh' is not a key. The nearest is 'threshold'"),
        ("compromised = 0.1", "compromised = 0.1 is not read on the command line"),
        ("law = 1", "1 is not a law"),
    ],
)
def test_a_wrong_file_is_named(text, message, attacked, tmp_path):
    told = refusal("attack", *attacked, *scenario(tmp_path, text))
    assert message in told
    assert "mine.toml" in told
