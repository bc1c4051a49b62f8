"""Sections of the family pages in docs/reference: a formula and a picture of each member, by its name."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from site_extensions.public_names import DOCS

HEADING = re.compile(r"^### `(\w+)`$", re.MULTILINE)
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^)]*)\)\s*$", re.MULTILINE)
CAPTION = re.compile(r"^## Formulas and pictures\n+(.*?)(?=\n\n### )", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^(\$\$|```python)\n(.*?)\n(?:\$\$|```)$", re.MULTILINE | re.DOTALL)
DIRECTIVES = {"$$": ".. math::", "```python": ".. code-block:: python"}


class MemberSection(NamedTuple):
    """Section of one member: its text without the picture, the picture, and what all pictures of the family show."""

    page: Path
    text: str
    picture: str
    description: str
    caption: str


@cache
def member_sections() -> dict[str, MemberSection]:
    """Section of each member by its name, from the headings in code letters below "Formulas and pictures"."""
    found = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        caption = CAPTION.search(text)
        if caption is None:
            continue
        ends = [*(heading.start() for heading in HEADING.finditer(text)), len(text)][1:]
        for heading, end in zip(HEADING.finditer(text), ends, strict=True):
            body = text[heading.end() : end].split("\n## ")[0]
            picture = PICTURE.search(body)
            description, path = picture.groups() if picture else ("", "")
            words = " ".join(caption[1].split())
            found[heading[1]] = MemberSection(page, PICTURE.sub("", body).strip(), path, description, words)
    return found


def rst_blocks(markdown: str, line: Callable[[str], str]) -> list[str]:
    """Lines of reStructuredText: displayed formulas and code become directives, `line` converts the other text."""
    blocks, end = [], 0
    for block in BLOCK.finditer(markdown):
        blocks += _paragraphs(markdown[end : block.start()], line)
        blocks += [DIRECTIVES[block[1]], "", *(f"   {row}" for row in block[2].splitlines()), ""]
        end = block.end()
    return blocks + _paragraphs(markdown[end:], line)


def _paragraphs(markdown: str, line: Callable[[str], str]) -> list[str]:
    return [line(markdown.strip()), ""] if markdown.strip() else []
