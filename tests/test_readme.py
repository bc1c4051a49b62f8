"""The README's example runs as printed, and prints what stands below it."""

import contextlib
import io
import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_example_prints_what_the_readme_shows():
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL).group(1)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == [line.rstrip() for line in shown.splitlines()]
