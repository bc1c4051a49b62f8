"""Messages of the command line: what a full disk means, whatever found it."""

import errno
import os

import pytest

from foreknow.app.cli.typed_commands import NO_SPACE, error_lines


@pytest.mark.parametrize(
    "text", [os.strerror(errno.ENOSPC), "Error writing bytes to file. Detail: [errno 28] No space"]
)
def test_a_full_disk_has_one_message(text):
    assert error_lines(OSError(errno.ENOSPC, text)) == [NO_SPACE]


def test_other_errors_of_the_system_keep_their_message():
    assert error_lines(FileNotFoundError(errno.ENOENT, "No such file", "a.csv")) == ["[Errno 2] No such file: 'a.csv'"]
