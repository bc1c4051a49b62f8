"""The reference: each family has a row for each of its members, and each public name has a page."""

import sys

import pytest
from places import ROOT

from foreknow import attacks, defenses, evaluation, models, testing

sys.path.insert(0, str(ROOT / "docs"))
from site_extensions import api_pages, public_names

PACKAGES = (models, attacks, defenses, evaluation, testing)

FAMILIES = {
    "attacks": {rule.__name__ for rule in attacks.ATTACKS.values()},
    "estimators": {rule.__name__ for rule in models.ESTIMATORS.values()},
    "joint-solvers": {rule.__name__ for rule in models.JOINT_SOLVERS.values()},
    "programs": {name for name in models.__all__ if name.endswith("_model")},
    "defenses": {rule.__name__ for rule in defenses.DEFENSES.values()},
    "requirements": {rule.__name__ for rule in defenses.REQUIREMENTS.values()},
    "measures": set(evaluation.MEASURES),
    "data-sets": set(evaluation.DATASETS),
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
