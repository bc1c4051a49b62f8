"""Publications and attacks from disk that are run again: after an interruption at each step, and with --overwrite."""

import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from commands import ROLES, records, run, write
from large_history import bytes_of

from foreknow.app import disk as large
from foreknow.models.tables.atomic_file import locked

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


STEPS = ["release.json", "release.json renamed", "settings.json", "settings.json renamed"]
STEPS += ["certificate.json", "manifest.json", "manifest.json renamed", "certificate.json renamed"]


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
    assert not (out / "public" / "certificate.json").exists()
    blocks = len(list((out / "private" / "done").rglob("*.json")))
    assert f"An interrupted run left {blocks} whole blocks in {out}." in run(*again).stderr
    assert bytes_of(out) == whole


def test_a_certificate_that_was_removed(folder, source, whole, out):
    (out / "public" / "certificate.json").unlink()
    run(*publish(folder, source, "--seed", 5))
    assert bytes_of(out) == whole
    run("check", out)
    run("check", out / "public")


@pytest.mark.parametrize(
    ("first", "seed"), [(["--seed", 5], "given by the publisher"), ([], "128 bits of fresh entropy")]
)
def test_the_certificate_tells_how_the_seed_was_chosen_at_first(folder, source, out, first, seed):
    """Also where the seed is read from the settings of the run, or left out."""
    run(*publish(folder, source, *first, "--overwrite"))
    kept = json.loads((out / "private" / "begun.json").read_text())["settings"]["seed"]
    for again in ([], ["--seed", kept]):
        (out / "public" / "certificate.json").unlink()
        run(*publish(folder, source, *again))
        stated = json.loads((out / "public" / "certificate.json").read_text())
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
        (lambda table: table.assign(age=table["age"].where(table.index != 3)), "'age' of respondent"),
        (lambda table: table.assign(result=table["result"].where(table.index > 3)), "'result' of respondent"),
        (lambda table: table.assign(id=table["id"].where(table.index != 3)), "has no 'id';"),
        (lambda table: pd.concat([table, table[:1]]), "appears twice in the release at 1;"),
        (lambda table: table.rename(columns={"week": "month"}), "appears twice in the release at 1;"),
    ],
    ids=["quasi-identifier", "value", "respondent", "twice", "without a time"],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_records_that_are_refused_leave_the_earlier_publication(folder, whole, out, tmp_path, change, words, suffix):
    faulty = write(change(records(weeks=(1, 2))), tmp_path / f"faulty.{suffix}")
    assert words in refused(*publish(folder, faulty, "--overwrite"))
    assert bytes_of(out) == whole


def test_a_publication_that_another_run_writes_into_is_left(folder, source, whole, out):
    with locked(out):
        assert "another run is writing into it" in refused(*publish(folder, source, "--overwrite"))
    assert bytes_of(out) == whole


@pytest.mark.parametrize(
    "change",
    [["-l", 50], ["--defense", "full-domain", "-k", 10**6]],
    ids=["no group to publish", "no level vector"],
)
def test_an_overwrite_that_fails_while_it_publishes_leaves_the_earlier_publication(folder, source, whole, out, change):
    refused(*publish(folder, source, *change, "--overwrite"))
    assert bytes_of(out) == whole


@pytest.mark.parametrize(
    "name",
    ["mine.txt", "public/mine.txt", "private/notes/mine.txt", "private/groups.parquet/mine.txt", ".next/mine.txt"],
)
def test_a_file_of_another_origin_is_not_removed(folder, source, whole, out, name):
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text("mine")
    assert f"{name} is not of the run that would be replaced" in refused(*publish(folder, source, "--overwrite"))
    assert bytes_of(out) == {**whole, name: b"mine"}


@pytest.mark.parametrize("fails_at", range(2))
def test_a_replacement_that_was_interrupted(folder, source, whole, out, monkeypatch, fails_at):
    """The next run finishes it."""
    rename, made, again = Path.rename, [], publish(folder, source, "--seed", 6, "--overwrite")

    def interrupted(path, target):
        if len(made) == fails_at:
            raise KeyboardInterrupt
        made.append(path)
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupted)
        run(*again, status=None)
    new = {name: each for name, each in bytes_of(out).items() if "groups.parquet" in name}
    run(*again)
    assert bytes_of(out).keys() == whole.keys()
    assert {bytes_of(out)[name.removeprefix(".next/")] for name in new} == set(new.values())


@pytest.mark.parametrize("fails_at", [0, 5, 9])
def test_an_overwrite_that_was_interrupted(folder, source, whole, out, monkeypatch, fails_at):
    """The earlier publication stays until the new one is complete; a run of other settings begins anew."""
    again = publish(folder, source, "--seed", 6, "--overwrite")
    for repeated in ([], ["-k", 4]):
        with monkeypatch.context() as patch:
            steps(patch, fails_at, KeyboardInterrupt)
            run(*again, *repeated, status=None)
        files = bytes_of(out)
        assert {name: each for name, each in files.items() if not name.startswith(".next/")} == whole
        assert files.keys() != whole.keys()
    run("check", out)
    run(*again)
    assert bytes_of(out).keys() == whole.keys()
    run("check", out)


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
    next((out / "private" / "groups.parquet").rglob("part-*.parquet")).unlink()
    assert "is missing" in refused(*attacked)
    assert bytes_of(folder / "risk") == earlier


def test_a_file_beside_the_beliefs_is_not_removed(folder, attacked):
    earlier = bytes_of(folder / "risk")
    (folder / "risk" / "beliefs" / "mine.txt").write_text("mine")
    assert "mine.txt is not of the run that would be replaced" in refused(*attacked)
    assert bytes_of(folder / "risk") == {**earlier, "beliefs/mine.txt": b"mine"}


def test_a_publication_from_disk_is_not_overwritten_by_one_in_memory(folder, source, whole, out):
    assert "holds a publication from disk" in refused("publish", source, *ROLES, "--overwrite", "--out", out)
    assert bytes_of(out) == whole


def test_an_attack_over_an_earlier_one(folder, attacked):
    earlier = bytes_of(folder / "risk")
    run(*attacked)
    assert bytes_of(folder / "risk").keys() == earlier.keys()
