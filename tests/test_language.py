"""The language of docstrings and comments: first lines that name the thing, roles instead of pronouns."""

import ast
import re
import tokenize

import pytest
from places import ROOT

FOLDERS = ("package", "models", "attacks", "defenses", "evaluation", "app", "benchmarks", "experiments")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if path.name != "test_language.py")
FILES_AND_TESTS = [*FILES, *TESTS]

FOLDERS_OF_PAGES = (
    "docs",
    "docs/findings",
    "docs/methods",
    "docs/tutorials",
    "docs/how-to",
    "docs/reference",
    "notebooks",
    "benchmarks",
)
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
PAGES += sorted(path for folder in FOLDERS_OF_PAGES for path in (ROOT / folder).glob("*.md"))
"""Pages of the documentation."""

LIMITS = {
    "README.md": 1_000,
    "CONTRIBUTING.md": 2_000,
    "CHANGELOG.md": 600,
    "docs/how-to/scale.md": 1_500,
    "docs/reliability.md": 1_300,
    "docs/glossary.md": 2_640,
}
"""Most words of a page, as `wc -w` counts them."""

CLAUSES = {
    "who",
    "whom",
    "whose",
    "which",
    "how",
    "whether",
    "what",
    "where",
    "when",
    "why",
    "that",
    "somebody",
    "whoever",
}
"""Words that open a clause, not the name of a thing."""

MANNERED = re.compile(
    r"\b(somebody|whoever|everybody|nobody|anybody|strangers?|those who hold|so many|just so|by a hair|as many as are wanted)\b",
    re.IGNORECASE,
)
"""Pronouns and turns of phrase for which the field has a word: adversary, respondent, group member, number of."""

OUTSIDE = re.compile(r"\b(METHODS|DESIGN|STYLE|PEERS)(\.md)?\b")
"""Documents that are not in this repository."""


def docstrings(path):
    """Each docstring of a file, with the line of its owner."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text


def prose(path):
    """Each comment and string of a file, with its line."""
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING, tokenize.FSTRING_MIDDLE):
                yield token.start[0], token.string


def place(path, line):
    return f"{path.relative_to(ROOT).as_posix()}:{line}"


def test_first_lines_name_the_thing():
    opening = {place(path, line): text.split("\n")[0] for path in FILES_AND_TESTS for line, text in docstrings(path)}
    assert not {where: first for where, first in opening.items() if first.split()[0].lower().strip("`,.") in CLAUSES}


def test_roles_instead_of_pronouns_and_no_document_outside_the_repository():
    texts = ((place(path, line), text) for path in FILES_AND_TESTS for line, text in prose(path))
    assert not {where: match[0] for where, text in texts if (match := MANNERED.search(text) or OUTSIDE.search(text))}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_use_roles_and_name_no_document_outside_the_repository(path):
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    assert not {number: match[0] for number, line in lines if (match := MANNERED.search(line) or OUTSIDE.search(line))}


@pytest.mark.parametrize(("page", "words"), LIMITS.items())
def test_pages_are_short(page, words):
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= words
