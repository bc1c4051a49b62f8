"""Messages of the command line: what a full disk means, whatever found it."""

import errno
import os

import pytest

from foreknow.app.cli.typed_commands import NO_SPACE, error_lines
from foreknow.app.disk.begun_runs import OfAnotherRun, begin_run


@pytest.mark.parametrize(
    "text", [os.strerror(errno.ENOSPC), "Error writing bytes to file. Detail: [errno 28] No space"]
)
def test_a_full_disk_has_one_message(text):
    assert error_lines(OSError(errno.ENOSPC, text)) == [NO_SPACE]


def test_other_errors_of_the_system_keep_their_message():
    assert error_lines(FileNotFoundError(errno.ENOENT, "No such file", "a.csv")) == ["[Errno 2] No such file: 'a.csv'"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("JSReduce: patience is 10; it is 24 or more.", "patience is 10; it is 24 or more."),
        ("History.save: there is no folder 'a'.", "there is no folder 'a'."),
        ("publish_large: out holds something else.", "out holds something else."),
        ("visits.csv: it is empty.", "visits.csv: it is empty."),
        ("2 faults:", "2 faults:"),
    ],
)
def test_a_message_begins_without_a_name_of_python(text, told):
    assert error_lines(ValueError(text)) == [told]


def test_an_earlier_run_is_told_by_the_options_that_differ(tmp_path):
    settings = {"defense": "Mondrian", "files": {"a.csv": "1"}, "adversary": "1"}
    begin_run("publish_large", tmp_path / "out", tmp_path / "out", settings, {})
    with pytest.raises(OfAnotherRun) as error:
        begin_run(
            "publish_large", tmp_path / "out", tmp_path / "out", {**settings, "defense": "Anatomy", "files": {}}, {}
        )
    assert str(error.value).endswith("a run with another defense and another input; name a folder that does not exist.")
    (line,) = error_lines(error.value)
    ways = "--defense, or another option of it and another input; name another folder, or replace it with --overwrite."
    assert line.endswith(f"a run with another {ways}")
