"""Publications and attacks from disk that are run again: after an interruption at each step, and with --overwrite."""

import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import ROLES, records, run, write
from large_history import bytes_of

from foreknow.app import disk as large
from foreknow.app.disk.large_table import check_records
from foreknow.evaluation.file_lock import locked

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("wide")]

DISK = [*ROLES, "--from-disk", "--defense", "mondrian", "--block", 40]


def refused(*arguments):
    return str(run(*arguments, status=1).exception)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("again")


@pytest.fixture(scope="module")
def source(folder):
    return write(records(weeks=(1, 2)), folder / "r.parquet")


@pytest.fixture(scope="module")
def uncertified(folder, source):
    """Files of a run that was interrupted after its last block, before anything is certified."""

    def interrupted(*_, **__):
        raise InterruptedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "verify_large", interrupted)
        run(*publish(folder, source, "--seed", 5), status=1)
    return bytes_of(folder / "out")


@pytest.fixture(scope="module")
def whole(folder, source, uncertified):
    """Files of a publication with a seed that ran without an interruption."""
    shutil.rmtree(folder / "out")
    run(*publish(folder, source, "--seed", 5))
    return bytes_of(folder / "out")


@pytest.fixture
def out(folder, whole):
    """The folder with these files."""
    yield filled(folder / "out", whole)
    shutil.rmtree(folder / "out", ignore_errors=True)


def filled(folder, content):
    """A folder with the given files alone."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, each in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(each)
    return folder


def publish(folder, source, *more):
    return ["publish", source, *DISK, *more, "--out", folder / "out"]


def steps(monkeypatch, fails_at, error=InterruptedError):
    """Count the writes and the renames of JSON files; the given one is half done, as at a full disk, or not done."""
    write_text, replace, made = Path.write_text, os.replace, []

    def fails(path):
        made.append(path)
        return len(made) - 1 == fails_at

    def write_half(path, text, **settings):
        if fails(path):
            write_text(path, text[: len(text) // 2], **settings)
            raise error(path.name)
        return write_text(path, text, **settings)

    def no_rename(scratch, path):
        if fails(path):
            raise error(path.name)
        replace(scratch, path)

    monkeypatch.setattr(Path, "write_text", write_half)
    monkeypatch.setattr(os, "replace", no_rename)
    # A process that is killed removes nothing.
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    return made


STEPS = ["release.json", "release.json renamed", "settings.json", "certificate.json", "manifest.json"]
STEPS += ["manifest.json renamed", "certificate.json renamed"]


def test_the_steps_of_the_certifying(folder, source, uncertified, out, monkeypatch):
    filled(out, uncertified)
    made = steps(monkeypatch, None)
    run(*publish(folder, source, "--seed", 5))
    assert len(made) == len(STEPS)
    assert all(step.split()[0] in Path(path).name for path, step in zip(made, STEPS, strict=True))


@pytest.mark.parametrize("fails_at", range(len(STEPS)), ids=STEPS)
def test_a_run_that_is_interrupted_while_it_certifies(folder, source, uncertified, whole, out, monkeypatch, fails_at):
    again = publish(folder, source, "--seed", 5)
    filled(out, uncertified)
    with monkeypatch.context() as patch:
        steps(patch, fails_at)
        run(*again, status=1)
    assert not (out / "release" / "certificate.json").exists()
    blocks = len(list((out / "private" / "done").rglob("*.json")))
    assert f"An interrupted run left {blocks} whole blocks in {out}." in run(*again).stderr
    assert bytes_of(out) == whole


def test_a_certificate_that_was_removed(folder, source, whole, out):
    (out / "release" / "certificate.json").unlink()
    run(*publish(folder, source, "--seed", 5))
    assert bytes_of(out) == whole
    run("check", out)
    assert "the public folder alone" in refused("check", out / "release")


@pytest.mark.parametrize(("first", "seed"), [(["--seed", 5], "chosen"), ([], "128 bits of fresh entropy")])
def test_the_certificate_tells_how_the_seed_was_chosen_at_first(folder, source, out, first, seed):
    """Also where the seed is read from the settings of the run, or left out."""
    run(*publish(folder, source, *first, "--overwrite"))
    kept = json.loads((out / "private" / "begun.json").read_text())["settings"]["seed"]
    for again in ([], ["--seed", kept]):
        (out / "release" / "certificate.json").unlink()
        run(*publish(folder, source, *again))
        stated = json.loads((out / "release" / "certificate.json").read_text())
        assert stated["enforced"]["seed"].startswith(seed)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--qi", "agee"], "agee"),
        (["--defense", "mondrian", "-t", 0.5, "-k", 0], "k"),
        (["--hierarchy", "town=nowhere.csv"], "nowhere.csv"),
    ],
    ids=["column", "threshold", "hierarchy"],
)
def test_a_publication_that_is_refused_leaves_the_earlier_one(folder, source, whole, out, change, words):
    result = run(*publish(folder, source, *change, "--overwrite"), status=None)
    assert result.exit_code
    assert words in f"{result.exception} {result.stderr}"
    assert bytes_of(out) == whole


def test_a_source_that_is_missing_leaves_the_earlier_publication(folder, whole, out):
    assert "nowhere.parquet" in refused(*publish(folder, folder / "nowhere.parquet", "--overwrite"))
    assert bytes_of(out) == whole


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.assign(age=table["age"].where(table.index != 3)), "'age' is missing in 1 record;"),
        (
            lambda table: table.assign(result=table["result"].where(table.index > 3)),
            "'result' is missing in 4 records;",
        ),
        (lambda table: table.assign(id=table["id"].where(table.index != 3)), "'id' is missing in 1 record;"),
        (lambda table: pd.concat([table, table[:1]]), "appears twice in the release at 1;"),
        (lambda table: table.rename(columns={"week": "month"}), "appears twice; a release holds one record"),
    ],
    ids=["quasi-identifier", "value", "respondent", "twice", "without a time"],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_records_that_are_refused_leave_the_earlier_publication(folder, whole, out, tmp_path, change, words, suffix):
    faulty = write(change(records(weeks=(1, 2))), tmp_path / f"faulty.{suffix}")
    assert words in refused(*publish(folder, faulty, "--overwrite"))
    assert bytes_of(out) == whole


@pytest.mark.parametrize(("respondent", "time"), [("records", "respondent"), ("time", "records")])
def test_columns_with_the_names_of_a_query(tmp_path, respondent, time):
    """As the columns of the aggregation."""
    table = records(weeks=(1, 2)).rename(columns={"id": respondent, "week": time})
    for faulty in (table, pd.concat([table, table[:1]])):
        source = write(faulty, tmp_path / "r.parquet")
        large_table = large.LargeTable.infer(source, ["age", "town"], respondent=respondent, time=time)
        with large.Engine().connection() as connection:
            if faulty is table:
                check_records(large_table, connection)
            else:
                with pytest.raises(ValueError, match="appears twice in the release at 1;"):
                    check_records(large_table, connection)


def test_a_nan_is_no_respondent(tmp_path):
    numbers = pa.array([1.0, float("nan"), 3.0])
    columns = {"id": numbers, "age": [20, 30, 40], "result": ["a", "b", "a"]}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    table = large.LargeTable.infer(tmp_path / "r.parquet", ["age"])
    with large.Engine().connection() as connection, pytest.raises(ValueError, match="'id' is missing in 1 record;"):
        check_records(table, connection)


def test_a_publication_that_another_run_writes_into_is_left(folder, source, whole, out):
    with locked(out):
        assert "another run is writing into it" in refused(*publish(folder, source, "--overwrite"))
    assert bytes_of(out) == whole


@pytest.mark.parametrize(
    "change",
    [["-l", 50], ["--defense", "full-domain", "-k", 10**6]],
    ids=["no group to publish", "no level vector"],
)
def test_an_overwrite_that_fails_while_it_publishes_puts_the_earlier_publication_back(
    folder, source, whole, out, change
):
    refused(*publish(folder, source, *change, "--overwrite"))
    assert bytes_of(out) == whole


@pytest.mark.parametrize("name", ["mine.txt", "release/mine.txt", "private/notes/mine.txt", "private/records/mine.txt"])
def test_a_file_of_another_origin_is_not_removed(folder, source, whole, out, name):
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text("mine")
    assert f"{name} is not of the publication that would be replaced" in refused(
        *publish(folder, source, "--overwrite")
    )
    assert bytes_of(out) == {**whole, name: b"mine"}


@pytest.mark.parametrize("fails_at", range(2))
def test_setting_aside_that_was_interrupted(folder, source, whole, out, monkeypatch, fails_at):
    """The next run finishes it, and publishes."""
    rename, made = Path.rename, []

    def interrupted(path, target):
        if len(made) == fails_at:
            raise KeyboardInterrupt
        made.append(path)
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupted)
        run(*publish(folder, source, "--seed", 6, "--overwrite"), status=None)
    refused(*publish(folder, source, "-l", 50, "--overwrite"))
    assert bytes_of(out) == whole
    run(*publish(folder, source, "--seed", 6, "--overwrite"))
    assert bytes_of(out).keys() == whole.keys()


@pytest.mark.parametrize("fails_at", [0, 5, 9])
def test_an_overwrite_that_was_interrupted(folder, source, whole, out, monkeypatch, fails_at):
    """The earlier publication stays aside until a run ends, and is put back where one fails."""
    again = publish(folder, source, "--seed", 6)
    with monkeypatch.context() as patch:
        steps(patch, fails_at, KeyboardInterrupt)
        run(*again, "--overwrite", status=None)
    kept = {
        name.removeprefix(".earlier/"): each for name, each in bytes_of(out).items() if name.startswith(".earlier/")
    }
    assert kept == whole
    refused(*publish(folder, source, "-l", 50, "--overwrite"))
    assert bytes_of(out) == whole
    with monkeypatch.context() as patch:
        steps(patch, fails_at, KeyboardInterrupt)
        run(*again, "--overwrite", status=None)
    run(*again)
    assert bytes_of(out).keys() == whole.keys()


@pytest.fixture
def attacked(folder, source, out):
    """An attack with its files, and the command that repeats it."""
    command = ["attack", source, *ROLES, "--from-disk", "--groups", out, "--attack", "snapshot"]
    run(*command, "--out", folder / "risk")
    yield [*command, "--overwrite", "--out", folder / "risk"]
    shutil.rmtree(folder / "risk")


def test_an_attack_that_is_refused_leaves_the_earlier_one(folder, out, attacked):
    earlier = bytes_of(folder / "risk")
    for place in (folder / "risk", folder / "risk" / "beliefs"):
        with locked(place):
            assert "another run is writing into it" in refused(*attacked)
    assert "give the same" in refused(*attacked, "--qi", "agee")
    assert "nowhere.parquet" in refused("attack", folder / "nowhere.parquet", *attacked[2:])
    next((out / "private" / "records").rglob("*.parquet")).unlink()
    assert "is missing" in refused(*attacked)
    assert bytes_of(folder / "risk") == earlier


def test_a_folder_with_the_name_of_the_one_set_aside_is_kept(folder, source, out):
    shutil.rmtree(out)
    (out / ".earlier").mkdir(parents=True)
    (out / ".earlier" / "mine.txt").write_text("mine")
    run(*publish(folder, source, "--seed", 5))
    run(*publish(folder, source, "--seed", 6, "--overwrite"))
    assert bytes_of(out / ".earlier") == {"mine.txt": b"mine"}


def test_a_file_beside_the_beliefs_is_not_removed(folder, attacked):
    earlier = bytes_of(folder / "risk")
    (folder / "risk" / "beliefs" / "mine.txt").write_text("mine")
    assert "mine.txt is not of the beliefs that would be replaced" in refused(*attacked)
    assert bytes_of(folder / "risk") == {**earlier, "beliefs/mine.txt": b"mine"}


def test_a_publication_from_disk_is_not_overwritten_by_one_in_memory(folder, source, whole, out):
    assert "holds a publication from disk" in refused("publish", source, *ROLES, "--overwrite", "--out", out)
    assert bytes_of(out) == whole


def test_an_attack_over_an_earlier_one(folder, attacked):
    earlier = bytes_of(folder / "risk")
    run(*attacked)
    assert bytes_of(folder / "risk").keys() == earlier.keys()
