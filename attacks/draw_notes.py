"""Notes on the beliefs of an adversary with uncertain knowledge: weights of the draws, and the notes of each draw, merged."""

import re
from collections.abc import Sequence

import numpy as np

from foreknow.models import BeliefDraws, Beliefs

FEW_DRAWS = 2.0
"""Effective number of draws under which a note says that the releases leave few of them."""

NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?")
"""A number in a note."""

EXAMPLE = " The first is "
"""Beginning of an example in a note, which is that of the first draw."""


def weight_notes(draws: BeliefDraws, power: float) -> list[str]:
    """Sentence on the number of draws that the last release leaves, or on the power by which its evidence is tempered."""
    left = float(draws.effective[-1]) if len(draws.weights) else np.inf
    if power < 1:
        return [
            f"the releases weigh {len(draws)} draws of the knowledge. At the last release, their probability is raised to the "
            f"power of {power:.2g} (min_effective), and the effective number of draws is {left:.1f}."
        ]
    if len(draws) < FEW_DRAWS or left >= FEW_DRAWS:
        return []
    return [
        f"the releases leave an effective number of {left:.1f} of {len(draws)} draws of the knowledge. Unless these are "
        "all possible laws, beliefs are overconfident: give Averaged min_effective=0.5, use DataAugmentationAttack, or take draws "
        "from a posterior that has seen the releases."
    ]


def merged_notes(each: Sequence[Beliefs]) -> list[str]:
    """Notes of all draws, where notes that differ in their numbers are one, with the range of each number.

    A note that differs between draws begins with the number of draws that have it. Cost: O(number of notes).
    """
    notes: dict[str, list[str]] = {}
    for beliefs in each:
        for note in beliefs.notes:
            notes.setdefault(NUMBER.sub("0", note.partition(EXAMPLE)[0]), []).append(note)
    return [_merged(found, len(each)) for found in notes.values()]


def _merged(notes: list[str], draws: int) -> str:
    """One note for those of some draws that differ in numbers only."""
    if len(set(notes)) == 1 and len(notes) == draws:
        return notes[0]
    columns = zip(*(NUMBER.findall(note.partition(EXAMPLE)[0]) for note in notes), strict=True)
    ranges = iter([_range(column) for column in columns])
    head, example, tail = notes[0].partition(EXAMPLE)
    return f"under {len(notes)} of {draws} draws: {NUMBER.sub(lambda _: next(ranges), head)}{example}{tail}"


def _range(numbers: Sequence[str]) -> str:
    """Smallest and largest of some numbers, as they are written."""
    ordered = sorted(numbers, key=lambda number: float(number.replace(",", "")))
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"
