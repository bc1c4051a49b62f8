"""Defenses as options: the options make the defense again, and a defense that none make is Python text."""

import pytest

from foreknow.app.cli.defense_choices import BUILT_IN, DefenseOptions, defense_name, defense_options, defense_text
from foreknow.defenses import KAnonymity, Mondrian, TCloseness
from foreknow.evaluation.checks.program import settings


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_default_defense_is_its_options(name):
    defense = BUILT_IN[name].make(DefenseOptions())
    assert defense_name(defense) == name
    assert defense_text(defense).split()[0] == name


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("js-reduce", {}, "js-reduce -k 3 -l 2 -t 0.5 -j 0.6"),
        ("js-reduce", {"l": 1}, "js-reduce -k 3 -l 1 -t 0.5 -j 0.6"),
        (
            "js-reduce",
            {"leftovers": "relax", "patience": 0},
            "js-reduce -k 3 -l 2 -t 0.5 -j 0.6 --leftovers relax --patience 0",
        ),
        ("js-reduce", {"k": 24}, "js-reduce -k 24 -l 2 -t 0.5 -j 0.6"),
        ("bkaa", {"k": 24, "patience": 50}, "bkaa -k 24 -l 2 -j 0.6 --beta 5.0 --patience 50"),
        ("uhra", {"k": 4, "tolerance": 0.1}, "uhra -k 4 -l 2 -t 0.5 -j 0.6 --tolerance 0.1"),
        ("mondrian", {"k": 2_000_000, "l": 3, "beta": 2.5}, "mondrian -k 2000000 -l 3 --beta 2.5"),
        ("anatomy", {"l": 4, "deterministic": True}, "anatomy -l 4 --deterministic"),
        ("m-invariance", {"m": 3}, "m-invariance -m 3"),
    ],
)
def test_options(name, given, told):
    assert defense_text(BUILT_IN[name].make(DefenseOptions(**given))) == told


@pytest.mark.parametrize("defense", [Mondrian(KAnonymity(3)), Mondrian(KAnonymity(3) | TCloseness(0.5))])
def test_a_defense_that_no_options_make(defense):
    assert defense_options(defense) is None
    assert defense_text(defense) == settings(defense)
    assert defense_name(defense) == "mondrian"


def test_the_name_of_a_defense_that_is_not_built_in_is_that_of_its_class():
    class Halving(Mondrian):
        """A defense of another package."""

    assert defense_name(Halving(KAnonymity(3))) == "Halving"
