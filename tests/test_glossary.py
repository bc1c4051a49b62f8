"""The glossary: one row per term, and names that exist in the code."""

import re

import pytest
from places import ROOT

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| term")
]
SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in ("package", "models", "attacks", "defenses", "evaluation", "app")
    for path in (ROOT / folder).rglob("*.py")
)
WORDS = set(re.findall(r"\w+", SOURCES))


def test_each_term_has_one_row():
    terms = [row[0].lower() for row in ROWS]
    assert len(terms) > 100
    assert {term for term in terms if terms.count(term) > 1} == set()


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_names_are_in_the_code(row):
    assert len(row) == 3
    for quoted in re.findall(r"`([^`]+)`", row[2]):
        if "/" in quoted:
            assert (ROOT / quoted).exists(), quoted
        elif not quoted.startswith("--"):
            assert set(re.findall(r"[A-Za-z_]\w+", quoted)) <= WORDS, quoted
