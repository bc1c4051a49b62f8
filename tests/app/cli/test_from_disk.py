"""The command line from disk to disk: publish, attack, check, and what it refuses."""

import errno
import json
import os
import shutil

import pandas as pd
import pytest
from commands import ROLES, proposed, records, run, write
from large_history import bytes_of
from printed_tables import printed

from foreknow.app.disk import LargeTable, bounds, engine, measures, parts, publish_large, sorted_records
from foreknow.app.disk import attack as attack_module
from foreknow.app.disk import partition as partition_beliefs
from foreknow.defenses import KAnonymity, Mondrian

pytestmark = pytest.mark.usefixtures("wide")

DISK = ["--from-disk", "--block", 20]


def refused(*arguments):
    return str(run(*arguments, status=1).exception)


def rows(folder, columns):
    """Published rows of all parts in sorted order, as text."""
    parts = [pd.read_parquet(part) for part in sorted(folder.rglob("part-*.parquet"))]
    return sorted(map(tuple, pd.concat(parts)[columns].astype(str).to_numpy().tolist()))


@pytest.fixture
def published(tmp_path):
    source, out = write(records(), tmp_path / "r.parquet"), tmp_path / "out"
    return source, out, run("publish", source, *ROLES, *DISK, "--defense", "mondrian", "--seed", 3, "--out", out)


def test_the_files_and_what_they_say(published):
    source, out, result = published
    stated = json.loads((out / "public" / "certificate.json").read_text())
    assert stated["verdict"] == "passed"
    assert [one["records"] for one in stated["measured"]["releases"]] == [24, 24, 24]
    told = json.loads((out / "public" / "release.json").read_text())
    assert (told["times"], told["columns"]["time"]) == (["1", "2", "3"], "week")
    assert {name[: len("published.parquet/release-0000")] for name in told["sha256"]} == {
        f"published.parquet/release-{n:04d}" for n in range(3)
    }
    settings = json.loads((out / "private" / "settings.json").read_text())
    assert settings["options"]["seed"] == 3
    public = b"".join(path.read_bytes() for path in (out / "public").rglob("*") if path.is_file())
    assert b"p07" not in public
    assert (out / "private").stat().st_mode & 0o077 == 0
    told = " ".join(result.stdout.replace("\\\n", " ").split())
    assert f"--from-disk --groups {out} --out risk" in told
    assert "is already there" in refused("publish", source, *ROLES, *DISK, "--defense", "mondrian", "--out", out)


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_private_files_are_readable_by_their_owner_only(tmp_path, monkeypatch):
    """Files and folders of a publication and of an attack, with the mask of a user who shares all, while they run and after."""
    seen = {}

    def noted(connection, query, path, write=engine.write_rows):
        write(connection, query, path)
        seen[path.name] = path.stat().st_mode & 0o777
        return path

    for module in (attack_module, bounds, measures, partition_beliefs, parts, sorted_records):
        monkeypatch.setattr(module, "write_rows", noted)
    source, out, mask = write(records(), tmp_path / "r.parquet"), tmp_path / "out", os.umask(0)
    try:
        run("publish", source, *ROLES, *DISK, "--defense", "mondrian", "--seed", 3, "--out", out)
        run("attack", source, *ROLES, "--from-disk", "--groups", out, "--out", tmp_path / "risk")
    finally:
        os.umask(mask)
    assert "records.parquet" in seen
    assert set(seen.values()) == {0o600}
    beliefs = tmp_path / "risk" / "beliefs"
    kept = [*(out / "private").rglob("*"), *beliefs.rglob("*"), out / "private", beliefs]
    assert {path.stat().st_mode & 0o777 for path in kept if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in kept if path.is_file()} == {0o600}
    assert (tmp_path / "risk" / "at-risk.parquet").stat().st_mode & 0o777 == 0o600


def test_csv_is_read_as_parquet_is(published, tmp_path):
    _, out, _ = published
    source = write(records(), tmp_path / "r.csv")
    run("publish", source, *ROLES, *DISK, "--defense", "mondrian", "--seed", 3, "--out", tmp_path / "csv")
    columns = ["group", "age", "town", "result"]
    assert rows(tmp_path / "csv" / "public", columns) == rows(out / "public", columns)


def test_codes_of_a_csv_stay_as_written(tmp_path):
    table = records().assign(result=lambda rows: rows["result"].map({"a": "042", "b": "10", "c": "7"}))
    source = write(table, tmp_path / "r.csv")
    run("publish", source, *ROLES, *DISK, "--defense", "anatomy", "--out", tmp_path / "out")
    assert {row[0] for row in rows(tmp_path / "out" / "public", ["result"])} == {"042", "10", "7"}


@pytest.mark.parametrize("solver", ["group-graph", "group-messages"])
def test_who_leaves_is_read_with_presence(tmp_path, solver):
    """All with the value c leave, and no others; without presence leaving says nothing."""
    first = pd.DataFrame({"id": [f"p{i:02d}" for i in range(36)], "week": 1, "result": list("abc") * 12})
    later = first[first["result"] != "c"].assign(week=2)
    source = write(pd.concat([first, later]).assign(age=30, town="Rome"), tmp_path / "records.parquet")
    run("publish", source, *ROLES, *DISK, "--defense", "mondrian", "--seed", 3, "--out", tmp_path / "out")
    attack = ["attack", source, *ROLES, "--from-disk", "--groups", tmp_path / "out", "--solver", solver]
    exposed = []
    for number, options in enumerate([["--presence"], []]):
        run(*attack, *options, "--sure", 0.8, "--out", tmp_path / f"risk{number}")
        exposed.append({*pd.read_parquet(tmp_path / f"risk{number}" / "at-risk.parquet")["respondent"]})
    assert exposed == [{f"p{i:02d}" for i in range(2, 36, 3)}, set()]


def test_publish_attack_and_check(tmp_path):
    source, out = write(records(people=60, present=50), tmp_path / "r.parquet"), tmp_path / "out"
    run("publish", source, *ROLES, *DISK, "-t", 0.9, "--out", out, "--memory", 1)
    attack = ["attack", source, *ROLES, "--from-disk", "--groups", out]
    result = run(*attack, "--sure", 0.7, "--out", tmp_path / "risk", "--json")
    assert "\n\n\n" not in result.stderr
    found = json.loads(result.stdout)
    assert found["exposed"] == len(pd.read_parquet(tmp_path / "risk" / "at-risk.parquet"))
    assert len(found["releases"]) == 3
    assert (found["attack"], found["solver"]) == ("joint", "group-messages")
    assert proposed(result.stderr) == [["check", str(tmp_path / "risk")], ["check", str(out)]]
    assert len(list((tmp_path / "risk" / "beliefs").rglob("part-*.parquet"))) >= 6
    assert "is already there" in refused(*attack, "--out", tmp_path / "risk")
    whole = bytes_of(tmp_path / "risk")
    run(*attack, "--sure", 0.7, "--out", tmp_path / "risk", "--overwrite")
    assert bytes_of(tmp_path / "risk").keys() == whole.keys()
    assert run(*attack, "--sure", 0.51, "--fail-over", 0, status=1).exit_code == 1
    result = run("check", out)
    assert "Checked" in result.stdout
    assert "Not recomputed here: JSimilarity" in result.stderr
    assert {row["requirement"] for row in printed(result.stdout)} == {
        "KAnonymity(k=3)", "DistinctDiversity(l=2)", "TCloseness(t=0.9)",
    }  # fmt: skip
    assert "FAILED" in run("check", out, "-k", 20, status=1).stdout


@pytest.fixture(scope="module")
def one_attack(tmp_path_factory):
    """A publication and an attack on it, which no test changes."""
    place = tmp_path_factory.mktemp("one")
    source, out = write(records(), place / "r.parquet"), place / "out"
    run("publish", source, *ROLES, *DISK, "--defense", "mondrian", "--seed", 3, "--out", out)
    run("attack", source, *ROLES, "--from-disk", "--groups", out, "--attack", "snapshot", "--out", place / "risk")
    return out, place / "risk"


@pytest.fixture
def attacked(one_attack, tmp_path):
    """The publication, and a copy of the attack."""
    out, risk = one_attack
    return out, shutil.copytree(risk, tmp_path / "risk")


def test_check_of_the_files_of_an_attack(attacked):
    out, risk = attacked
    of_run, of_beliefs = run("check", risk).stdout, run("check", risk / "beliefs").stdout
    parts = len(list((risk / "beliefs").rglob("part-*.parquet")))
    assert f"Checked: {parts + 3} files are as settings.json lists them." in of_run
    assert f"Checked: {parts + 1} files are as manifest.json lists them." in of_beliefs
    assert proposed(of_run) == [["check", str(out)]]
    assert proposed(of_beliefs) == [["check", str(risk)]]
    told = json.loads(run("check", risk, "--json").stdout)
    assert (told["failed"], told["files"]) == (False, [])


@pytest.mark.parametrize(
    ("change", "name", "state"),
    [
        (lambda path: path.write_bytes(b"x"), "beliefs/release-0001/part-00000.parquet", "changed"),
        (lambda path: path.unlink(), "beliefs/release-0000/part-00000.parquet", "missing"),
        (lambda path: path.touch(), "beliefs/release-0002/part-00009.parquet", "extra"),
        (lambda path: path.write_text("{}"), "beliefs/begun.json", "changed"),
        (lambda path: path.unlink(), "beliefs/begun.json", "missing"),
    ],
)
def test_check_names_the_file_of_an_attack(attacked, change, name, state):
    _, risk = attacked
    change(risk / name)
    for folder in (risk, risk / "beliefs"):
        of_folder = (risk / name).relative_to(folder).as_posix()
        told = json.loads(run("check", folder, "--json", status=1).stdout)
        assert told["failed"]
        assert told["files"] == [{"file": of_folder, "state": state}]
        assert told["verdict"].startswith(f"FAILED: {of_folder} is {state}.")
        next_line = "move the extra files" if state == "extra" else f"attack --config {risk / 'settings.json'} --out"
        assert next_line in " ".join(run("check", folder, status=1).stdout.replace("\\\n", " ").split())


@pytest.mark.parametrize(
    ("change", "name", "state"),
    [
        (lambda path: path.write_bytes(b"x"), "at-risk.parquet", "changed"),
        (lambda path: path.unlink(), "at-risk.parquet", "missing"),
        (lambda path: path.touch(), "notes.txt", "extra"),
        (lambda path: path.unlink(), "beliefs/manifest.json", "missing"),
        (lambda path: path.write_text("{"), "beliefs/manifest.json", "changed"),
        (lambda path: path.write_text(path.read_text() + "\n"), "beliefs/manifest.json", "changed"),
    ],
)
def test_check_names_the_file_beside_the_beliefs(attacked, change, name, state):
    _, risk = attacked
    change(risk / name)
    assert json.loads(run("check", risk, "--json", status=1).stdout)["files"] == [{"file": name, "state": state}]


def test_the_attack_that_check_proposes_again(attacked):
    """It writes the same beliefs and the same exposed respondents, which pass."""
    _, risk = attacked
    before = bytes_of(risk)
    (risk / "at-risk.parquet").unlink()
    (again,) = proposed(run("check", risk, status=1).stdout)
    again[-1] = str(risk.with_name("again"))
    run(*again)
    after = bytes_of(risk.with_name("again"))
    assert after | {"settings.json": before["settings.json"]} == before
    run("check", again[-1])


def test_check_of_an_attack_recomputes_nothing(attacked):
    _, risk = attacked
    for option in (["-k", 3], ["-l", 2], ["-t", 0.5], ["--beta", 1], ["--memory", 1], ["--out", risk / "levels"]):
        told = refused("check", risk, *option)
        assert told.startswith(f"{option[0]} is read for published tables; {risk} holds the beliefs of an attack")
    assert "--qi is read for files" in refused("check", risk, "--qi", "age")


def test_check_of_an_attack_that_is_not_complete(attacked):
    _, risk = attacked
    (risk / "settings.json").write_text("{")
    assert "settings.json is not a file that foreknow wrote" in refused("check", risk)
    (risk / "settings.json").unlink()
    assert "holds an attack that is not complete: settings.json is written last" in refused("check", risk)
    assert "measure_large" in run("check", risk / "beliefs").stdout
    (risk / "beliefs" / "manifest.json").unlink()
    assert "holds beliefs that are not complete; run the attack" in refused("check", risk / "beliefs")


def test_check_of_an_attack_in_memory(tmp_path):
    """Its folder has no checksums of its files."""
    source = write(records(), tmp_path / "r.csv")
    run("publish", source, *ROLES, "--defense", "mondrian", "--seed", 3, "--out", tmp_path / "out")
    key = tmp_path / "out" / "private" / "groups.csv"
    run(
        "attack",
        source,
        *ROLES,
        "--attack",
        "snapshot",
        "--estimator",
        "omega",
        "--groups",
        key,
        "--out",
        tmp_path / "risk",
    )
    assert f"{tmp_path / 'risk'} is no publication" in refused("check", tmp_path / "risk")


@pytest.mark.parametrize(
    ("module", "fails", "solver"),
    [
        (attack_module, "write_part", "group-graph"),
        (partition_beliefs, "write_part", "group-messages"),
        (attack_module, "write_json", "group-graph"),
        (measures, "exposed_respondents", "group-graph"),
    ],
)
def test_an_interrupted_attack_goes_on(published, tmp_path, monkeypatch, module, fails, solver):
    """Interrupted in the middle of the beliefs, before their manifest, and before the exposed respondents are written."""
    source, out, _ = published
    attack = ["attack", source, *ROLES, "--from-disk", "--groups", out, "--solver", solver, "--out", tmp_path / "risk"]

    def interrupted(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, fails, interrupted)
    assert "No space left" in refused(*attack)
    assert not list((tmp_path / "risk").glob("*.*"))
    monkeypatch.undo()
    assert "holds something else: a run with another" in refused(*attack, "--forward")
    run(*attack)
    run(*attack[:-1], tmp_path / "whole")
    resumed, whole = bytes_of(tmp_path / "risk"), bytes_of(tmp_path / "whole")
    assert resumed | {"settings.json": whole["settings.json"]} == whole


@pytest.mark.slow
def test_an_attack_that_goes_on_tells_what_is_done(published, tmp_path, monkeypatch):
    source, out, _ = published
    attack = ["attack", source, *ROLES, "--from-disk", "--groups", out, "--attack", "sequential", "--out"]
    write_part, written = attack_module.write_part, []

    def third_fails(path, table):
        written.append(path)
        if len(written) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_part(path, table)

    monkeypatch.setattr(attack_module, "write_part", third_fails)
    assert "No space left" in refused(*attack, tmp_path / "risk")
    monkeypatch.undo()
    told = run(*attack, tmp_path / "risk").stderr
    assert f"An interrupted run left 2 whole blocks in {tmp_path / 'risk' / 'beliefs'}." in told
    run(*attack, tmp_path / "whole")
    resumed, whole = bytes_of(tmp_path / "risk"), bytes_of(tmp_path / "whole")
    assert resumed | {"settings.json": whole["settings.json"]} == whole


@pytest.mark.parametrize(
    ("options", "tolerance"),
    [
        (["--attack", "joint", "--solver", "group-messages"], 2e-2),
        (["--attack", "joint", "--solver", "group-graph"], 1e-9),
        (["--attack", "joint", "--solver", "max-entropy", "--forward"], 2e-2),
        (["--attack", "sequential", "--estimator", "omega"], 1e-9),
        (["--attack", "snapshot"], 1e-9),
    ],
    ids=["joint", "graph", "forward", "sequential", "snapshot"],
)
def test_the_attack_is_that_in_memory(tmp_path, options, tolerance):
    """The solvers of the joint attack end within half a percent of the members of each group."""
    source, out = write(records(), tmp_path / "r.parquet"), tmp_path / "out"
    run("publish", source, *ROLES, *DISK, "--defense", "mondrian", "-k", 2, "-l", 1, "--seed", 3, "--out", out)
    common = [source, *ROLES, "--knowledge", "records", *options, "--sure", 0.7, "--json"]
    found = json.loads(run("attack", *common, "--from-disk", "--groups", out).stdout)
    expected = json.loads(run("attack", *common, "--groups", out).stdout)
    assert found["exposed"] > 0
    names = ["attack", "respondents", "exposed", "known_before", "first_release"]
    if "--forward" in options:
        assert found["at_most"] is None
        assert "no upper side, as from disk bounds are on beliefs given all releases" in found["verdict"]
    else:
        names += ["verdict", "at_most", "not_decided", "bound"]
    assert {name: found[name] for name in names} == {name: expected[name] for name in names}
    pd.testing.assert_frame_equal(*(pd.DataFrame(one["releases"]) for one in (found, expected)), atol=tolerance)


def test_knowledge_that_bounds_do_not_read_is_named(published, monkeypatch):
    source, out, _ = published
    monkeypatch.setattr(bounds, "READS", ("prior",))
    found = json.loads(run("attack", source, *ROLES, "--from-disk", "--groups", out, "--json").stdout)
    assert (found["at_most"], found["not_decided"]) == (None, None)
    assert "no upper side, as bound_large does not read the part 'transitions'" in found["verdict"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda out: (out / "public" / "published.parquet" / "release-0001" / "part-00000.parquet").write_bytes(
                b"x"
            ),
            "0.parquet is changed",
        ),
        (
            lambda out: (out / "private" / "groups.parquet" / "release-0000" / "part-00000.parquet").unlink(),
            "0.parquet is missing",
        ),
        (lambda out: (out / "public" / "extra.csv").touch(), "public/extra.csv is extra"),
        (lambda out: (out / "private" / "done" / "y.txt").touch(), "private/done/y.txt is extra"),
        (lambda out: (out / "private" / "settings.json").write_text("{}"), "private/settings.json is changed"),
        (lambda out: (out / "public" / "certificate.json").write_text("{}"), "public/certificate.json is changed"),
    ],
)
def test_check_names_the_file(published, change, words):
    _, out, _ = published
    assert "files are as private/manifest.json lists them" in run("check", out).stdout
    change(out)
    told = run("check", out, status=1).stdout
    assert words in told
    assert ("Next: move the extra files out of the folder" in told) == words.endswith("extra")


def test_the_public_folder_alone(published):
    _, out, _ = published
    assert "Checked, each release alone: every group satisfies the requirements." in run("check", out / "public").stdout
    (out / "public" / "release.json").write_text("{}")
    assert "release.json is changed" in run("check", out / "public", status=1).stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--defense", "uhra"], "UHRA needs all records of a release in memory, some 0.7 to 1.8 KiB each"),
        (["--repeated", "last"], "--repeated is not read with --from-disk. Clean the file first"),
        (["--pictures"], "--pictures is not read with --from-disk"),
        (["--order", 2], "--order 2 is not read with --from-disk"),
        (["--leftovers", "counterfeit"], "with leftovers counterfeit changes values"),
        (["--scratch", "nowhere"], "scratch is 'nowhere', which is no folder"),
    ],
)
def test_options_of_publish_that_need_memory(tmp_path, options, words):
    source = write(records(), tmp_path / "r.csv")
    assert words in refused("publish", source, *ROLES, *DISK, *options, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--from-disk", "--attack", "retrospective"], "--attack retrospective needs all releases in memory"),
        (["--from-disk", "--solver", "enumeration"], "--solver enumeration needs all releases in memory"),
        (["--from-disk", "--estimator", "omega"], "--estimator is not read by the joint attack from disk"),
        (["--from-disk", "--attack", "sequential", "--forward"], "sequential does not read --forward"),
        (["--from-disk", "--knowledge", "learned"], "--knowledge learned needs all releases in memory"),
        (
            ["--from-disk", "--attack", "sequential", "--presence"],
            "--presence is not read by --attack sequential from disk; leave it out, or choose --attack joint.",
        ),
        (["--from-disk", "--groups", "nowhere"], "needs --groups FOLDER"),
        (["--from-disk", "--statements", "s.csv"], "--statements is not read with --from-disk"),
        (["--workers", 2], "--workers is read with --from-disk alone"),
    ],
)
def test_options_of_attack_that_need_memory(tmp_path, options, words):
    source = write(records(), tmp_path / "r.csv")
    assert words in refused("attack", source, *ROLES, *options)


def test_records_that_were_not_published(published, tmp_path):
    _, out, _ = published
    other = write(records(seed=5), tmp_path / "other.parquet")
    assert "is not the file that" in refused("attack", other, *ROLES, "--from-disk", "--groups", out)
    roles = ["--qi", "age", "--sensitive", "result"]
    assert "was published with --qi age --qi town" in refused("attack", other, *roles, "--from-disk", "--groups", out)


def test_a_publication_in_memory_is_not_one_from_disk(tmp_path):
    source, out = write(records(), tmp_path / "r.csv"), tmp_path / "out"
    run("publish", source, *ROLES, "--defense", "mondrian", "--out", out)
    told = refused("attack", source, *ROLES, "--from-disk", "--groups", out)
    assert f"{out} is not a publication from disk; leave out --from-disk" in told


@pytest.mark.slow
def test_notes_on_the_beliefs_are_told(tmp_path):
    """Constant ages and towns make the same groups in each release."""
    source, out = write(records(people=60, present=50), tmp_path / "r.parquet"), tmp_path / "out"
    run("publish", source, *ROLES, *DISK, "--defense", "mondrian", "-k", 2, "-l", 1, "--out", out)
    for options, words in (
        (["sequential"], "counts the evidence of a release again at the next one"),
        (["joint"], "is approximated (GroupMessages)"),
        (["joint"], "97%, 88% and 74% of the sure beliefs that GroupGraph (--solver group-graph) finds"),
        (["joint", "--solver", "group-graph"], "is approximated on the graph of groups"),
    ):
        result = run("attack", source, *ROLES, "--from-disk", "--groups", out, "--attack", *options, "--json")
        found = json.loads(result.stdout)
        assert any(words in note for note in found["notes"])
        assert words in " ".join(result.stderr.split())
        assert len(found["doubtful_groups"]) == 3


def test_records_without_a_time_are_refused(tmp_path):
    table = records().astype({"week": "Int64"})
    table.loc[:1, "week"] = None
    for suffix in ("csv", "parquet"):
        source = write(table, tmp_path / f"r.{suffix}")
        assert "2 records have no 'week'" in refused("publish", source, *ROLES, *DISK, "--out", tmp_path / "out")


def test_times_that_are_text(tmp_path):
    table = records().assign(week=lambda rows: "week " + (7 + rows["week"]).astype(str))
    source = write(table, tmp_path / "r.parquet")
    assert "'week 10', a text" in refused("publish", source, *ROLES, *DISK, "--out", tmp_path / "out")


@pytest.mark.parametrize("disk", [DISK, []], ids=["from disk", "in memory"])
def test_check_writes_the_levels_of_a_folder(disk, tmp_path):
    source = write(records(), tmp_path / "r.csv")
    out, levels = tmp_path / "out", tmp_path / "levels"
    run("publish", source, *ROLES, *disk, "--defense", "mondrian", "--seed", 3, "--out", out)
    run("check", out, "--out", levels)
    written = pd.read_csv(levels / "levels.csv")
    assert set(written["release"]) == {1, 2, 3}
    assert set(written["requirement"]) == {"KAnonymity(k=3)", "DistinctDiversity(l=2)"}
    assert (written["failing"] == 0).all()


def test_check_of_a_folder_without_a_certificate(tmp_path):
    """As of publish_large: requirements that are named are recomputed."""
    table = LargeTable.infer(write(records(), tmp_path / "r.parquet"), ["age", "town"], time="week")
    out = publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out", block=20).folder
    told = refused("check", out)
    assert f"{out} has no certificate.json, which names the requirements to recompute: publish_large wrote it" in told
    assert "Run that command again, or give thresholds, as -k 3." in told
    result = run("check", out, "-k", 4)
    assert "Checked" in result.stdout
    assert f"--from-disk --groups {out}" in " ".join(result.stdout.replace("\\\n", " ").split())
    assert "FAILED" in run("check", out, "-k", 24, status=1).stdout
    (out / "notes.txt").touch()
    assert "notes.txt is extra" in run("check", out, "-k", 4, status=1).stdout


def test_check_of_a_certificate_that_was_removed(published):
    _, out, _ = published
    (out / "public" / "certificate.json").unlink()
    assert "public/certificate.json is missing" in run("check", out, status=1).stdout


def test_check_refuses_what_a_folder_names_itself(published):
    _, out, _ = published
    assert "--qi is read for files" in refused("check", out, "--qi", "age")
    assert "--pictures is read for tables in memory" in refused("check", out, "--out", out / "levels", "--pictures")


def test_months_are_read_as_in_memory(tmp_path):
    """The releases, and the number of exposed respondents; names of months have another order than time."""
    table = records().assign(week=lambda rows: rows["week"].map({1: "2024-11", 2: "2024-12", 3: "2025-01"}))
    source, out = write(table, tmp_path / "r.csv"), tmp_path / "out"
    _, attack = proposed(run("publish", source, *ROLES, "--from-disk", "--defense", "mondrian", "--out", out).stdout)
    times = json.loads((out / "public" / "release.json").read_text())["times"]
    assert times == ["2024-11", "2024-12", "2025-01"]
    found = json.loads(run(*attack[:-2], "--json").stdout)
    assert found["respondents"] == table["id"].nunique()
    other = write(table.assign(week=lambda rows: rows["week"].str.replace("2024-11", "Nov")), tmp_path / "other.csv")
    assert "a text; write times" in refused("publish", other, *ROLES, *DISK, "--out", tmp_path / "other")
