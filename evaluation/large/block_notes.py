"""Notes of the blocks of a release, where those that differ in their number alone become one note with the sum."""

import re
from collections.abc import Sequence

COUNT = re.compile(r"(\d[\d,]*) (.*)", re.DOTALL)
"""A note that begins with a number."""

PLURALS = {
    "record fits": "records fit",
    "group was": "groups were",
    " and is ": " and are ",
    "it satisfies": "they satisfy",
}
"""Singular forms in notes of defenses."""


def notes_of_blocks(notes: Sequence[Sequence[str]]) -> list[str]:
    """Notes of a release, from those of each of its blocks; with the number of blocks that have them, if there are several."""
    if len(notes) == 1:
        return list(dict.fromkeys(notes[0]))
    found: dict[str, list[str]] = {}
    for block in notes:
        for note in dict.fromkeys(block):
            found.setdefault(_without_count(note), []).append(note)
    return [f"in {len(each)} of {len(notes)} blocks: {_summed(each, rest)}" for rest, each in found.items()]


def _without_count(note: str) -> str:
    """The note in the plural and without its first number; the note itself where it does not begin with one."""
    counted = COUNT.fullmatch(note)
    if counted is None:
        return note
    rest = counted[2]
    for one, several in PLURALS.items():
        rest = rest.replace(one, several)
    return rest


def _summed(notes: Sequence[str], rest: str) -> str:
    """The note with the sum of the first numbers."""
    if len(notes) == 1 or COUNT.fullmatch(notes[0]) is None:
        return notes[0]
    total = sum(int(counted[1].replace(",", "")) for note in notes if (counted := COUNT.fullmatch(note)))
    return f"{total:,} {rest}"
