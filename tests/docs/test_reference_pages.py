"""The reference: each family has a row for each of its members, and each public name has a page."""

import re
import sys
from pathlib import Path

import public_api
import pytest
from commands import run
from latex2mathml import converter as latex2mathml
from places import ROOT

from foreknow import app, attacks, defenses, evaluation, models, testing
from foreknow.app import disk
from foreknow.evaluation.datasets import DATASETS
from foreknow.evaluation.measures import MEASURES

sys.path.insert(0, str(ROOT / "docs"))
from site_extensions import api_pages, command_options, member_sections, public_names

PACKAGES = (models, attacks, defenses, evaluation, app, disk, testing)

FAMILIES = {
    "attacks": {rule.__name__ for rule in attacks.ATTACKS.values()},
    "estimators": {rule.__name__ for rule in models.ESTIMATORS.values()},
    "joint-solvers": {rule.__name__ for rule in models.JOINT_SOLVERS.values()},
    "programs": {name for name in models.__all__ if name.endswith("_model")},
    "defenses": {rule.__name__ for rule in defenses.DEFENSES.values()},
    "requirements": {rule.__name__ for rule in defenses.REQUIREMENTS.values()},
    "measures": set(MEASURES),
    "data-sets": set(DATASETS),
}
"""Members that the table of a page must have; it may have others."""


@pytest.mark.parametrize("page", FAMILIES)
def test_each_member_of_a_family_has_a_row(page: str) -> None:
    rows = {name for name, (path, _) in public_names.choices().items() if path.stem == page}
    assert FAMILIES[page] - rows == set()
    assert rows <= set(public_names.public_names())


def test_each_row_says_when_to_use_it() -> None:
    assert [name for name, (_, cells) in public_names.choices().items() if not cells["use it when"]] == []


def test_each_public_name_has_a_page_with_its_docstring() -> None:
    names = {f"{package.__name__}.{name}" for package in PACKAGES for name in package.__all__}
    assert set(public_names.public_names().values()) == names
    rows = public_names.choices()
    for name in names:
        text = api_pages.page_of(name, rows)
        assert f":: {name}" in text or (f":: {name.rpartition('.')[2]}" in text and api_pages.documentation(name))


def test_pages_of_packages_list_all_names() -> None:
    for package in PACKAGES:
        text = api_pages.package_page(package.__name__)
        assert [name for name in package.__all__ if f"`~{package.__name__}.{name}`" not in text] == []


def test_a_name_that_does_not_exist_is_noticed() -> None:
    assert public_names.is_importable("foreknow.models.Exact")
    assert public_names.is_importable("foreknow.models.estimators.exact.Exact.limit")
    assert not public_names.is_importable("foreknow.models.estimators.Exakt")
    assert not public_names.is_importable("foreknow.nothing")


PARTS = ("attacks", "defenses", "estimators", "joint-solvers", "programs", "measures", "requirements", "knowledge")
"""Families whose members have a page with six parts."""

MEMBERS = sorted(name for name, (path, _) in public_names.choices().items() if path.stem in PARTS)


@pytest.mark.parametrize("name", MEMBERS)
def test_each_member_of_a_family_has_six_parts(name: str) -> None:
    """Formula, picture, when to use it, when to use another, cost and source."""
    rows = public_names.choices()
    cells, section = rows[name][1], member_sections.member_sections()[name]
    assert set(cells) == {"use it when", "use another when", "cost", "source"}
    assert all(cells.values()), cells
    assert "$$" in section.text
    assert section.page == rows[name][0]
    assert section.description
    assert (section.page.parent / section.picture).stem == name
    page = api_pages.page_of(public_names.public_names()[name], rows)
    parts = (
        "**Use it when**",
        "**Use another when**",
        "**Cost**",
        "**Source**",
        ".. math::",
        f".. image:: {section.picture}",
    )
    assert [part for part in parts if part not in page] == []


def test_each_family_has_members_with_six_parts() -> None:
    assert {path.stem for name, (path, _) in public_names.choices().items() if name in MEMBERS} == set(PARTS)


def test_each_picture_is_of_a_member_and_small() -> None:
    """No picture is left of a name that is gone, and all together have less than 1.5 MB."""
    pictures = [path for family in PARTS for path in (ROOT / "docs" / "pictures" / family).glob("*.png")]
    assert sorted(path.stem for path in pictures) == MEMBERS
    assert sum(path.stat().st_size for path in pictures) < 1_500_000


def formulas() -> list[tuple[str, str]]:
    """Name of the page and text of each formula of the documentation."""
    found = []
    for path in sorted((ROOT / "docs").glob("*/*.md")):
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        found += [
            (path.name, part)
            for parts in re.findall(r"\$\$\n(.*?)\n\$\$|(?<!\$)\$([^$\n]+)\$(?!\$)", text, re.DOTALL)
            for part in parts
            if part
        ]
    return found


def test_each_formula_becomes_mathematics() -> None:
    """A command that the converter does not know would be shown as text with a backslash."""
    found = formulas()
    assert len(found) > 200
    assert [(page, formula) for page, formula in found if "\\" in latex2mathml.convert(formula)] == []


def test_markdown_becomes_restructured_text() -> None:
    text = api_pages.rst_of("the share $n_s / k$ of `Exact` and `no name`, see [joint](../methods/joint.md#the-law)")
    assert text == "the share :math:`n_s / k` of `Exact` and ``no name``, see :doc:`joint </docs/methods/joint>`"
    assert member_sections.rst_blocks("text\n\n$$\na\n$$", str) == ["text", "", ".. math::", "", "   a", ""]


def options_by_command() -> dict[str, list[str]]:
    """Flags of the options and words for the arguments of each command, as the public API lists them."""
    found: dict[str, list[str]] = {}
    for line in public_api.command_lines():
        if line.startswith("foreknow "):
            found[line.removeprefix("foreknow ")] = []
        elif line.startswith("    "):
            name, word = line.split()[:2]
            found[list(found)[-1]].append(name if name.startswith("-") else word)
    return found


COMMAND_OPTIONS = options_by_command()


@pytest.mark.parametrize("command", COMMAND_OPTIONS)
def test_each_command_and_its_options_are_on_the_page_of_commands(command: str) -> None:
    """The page has a heading and the directive of each command, which writes an entry for each option."""
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    heading = f"## `foreknow {command}`\n\n```{{foreknow-command}} {command}\n"
    assert heading in page
    text = command_options.command_text(command)
    entries = [line.removeprefix("````{option} ") for line in text.splitlines() if line.startswith("````{option}")]
    shown = {word for entry in entries for word in re.split(r",? ", entry)}
    shown |= set(re.findall(r"^`(--[a-z]+) ?[A-Z]*` is an option of every command", page, re.MULTILINE))
    for option in COMMAND_OPTIONS[command]:
        assert set(option.split("/")) <= shown, option


@pytest.mark.parametrize("command", ["publish", "attack"])
def test_the_settings_of_the_page_are_read(command: str, tmp_path: Path) -> None:
    """The options are accepted: the file of records is missed next."""
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    settings = tmp_path / "foreknow.toml"
    settings.write_text(block, encoding="utf-8")
    failed = run(command, tmp_path / "none.csv", "--config", settings, "--out", tmp_path / "out", status=1)
    assert "none.csv" in str(failed.exception)


def test_help_text_becomes_markdown() -> None:
    assert command_options.markdown_of("-k 3, a*b and [x>=0]; see --fail-over.") == (
        r"`-k` 3, a\*b and \[x\>=0\]; see `--fail-over`."
    )
