"""Relative links and anchors of the documentation: each leads to a file of the repository and to a heading of it."""

import json
import re
from pathlib import Path

import pytest
from places import ROOT

FOLDERS = (
    "docs",
    "docs/findings",
    "docs/methods",
    "docs/tutorials",
    "docs/how-to",
    "docs/reference",
    "notebooks",
    "benchmarks",
)
PAGES = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).glob("*.md"))])
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)


def markdown(path: Path) -> str:
    """Text of a page, or of the Markdown cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return text


def links(text: str) -> list[str]:
    """Targets of the relative links of a page; links within code are not links."""
    targets = LINK.findall(CODE.sub("", FENCE.sub("", text)))
    return [target for target in targets if "://" not in target and not target.startswith("mailto:")]


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a page, by the rule of GitHub: lower case, no punctuation, hyphens for spaces."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        slug = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")
        repeated = sum(
            anchor == slug or re.fullmatch(re.escape(slug) + r"-\d+", anchor) is not None for anchor in found
        )
        found.add(f"{slug}-{repeated}" if repeated else slug)
    return found


def broken(page: Path) -> list[str]:
    """Relative links of a page whose file or heading does not exist."""
    missing = []
    for link in links(markdown(page)):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(markdown(target))):
            missing.append(link)
    return missing


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings(page: Path) -> None:
    assert not broken(page)


def test_pages_of_the_documentation_are_reached() -> None:
    """Each page of docs is the target of a link of another page."""
    reached = {(page.parent / link.partition("#")[0]).resolve() for page in PAGES for link in links(markdown(page))}
    pages = [page for page in PAGES if page.is_relative_to(ROOT / "docs")]
    assert not [page.name for page in pages if page.resolve() not in reached]


CODE_FOLDERS = ("app", "attacks", "benchmarks", "defenses", "evaluation", "experiments", "models", "package", "tests")
PATH = re.compile(rf"`((?:{'|'.join(CODE_FOLDERS)})/[\w./-]*|\w+\.py)`")
"""Folders and files between backticks; names such as `test_<name>.py` stand for many."""


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md", "docs/reliability.md"])
def test_paths_in_code_exist(page: str) -> None:
    names = {path.name for folder in CODE_FOLDERS for path in (ROOT / folder).rglob("*.py")}
    paths = PATH.findall(markdown(ROOT / page))
    assert paths
    assert not [path for path in paths if not (path in names or (ROOT / path).exists())]


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One heading, `code`\n\n```\n# no heading\n```\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md#one-heading-code) [b](other.md#no-heading) [c](none.md) `[d](none.md)` [e](https://x.y/z)\n"
    )
    assert broken(page) == ["other.md#no-heading", "none.md"]
