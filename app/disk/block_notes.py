"""Notes of the blocks of a release, where those that differ in their counts alone become one note with the sums."""

import re
from collections.abc import Sequence

NUMBER = re.compile(r"\d[\d,]*")

COUNTED = re.compile(
    r"(?:the last )?N (?:of N groups|(?:leftover )?records?(?:, in N groups?)?|groups?)\b".replace("N", NUMBER.pattern)
)
"""Beginning of a note with the numbers that are counts. Numbers after it are settings, or those of one block alone."""

PLURALS = (
    (r"# ((?:leftover )?(?:record|group))\b", r"# \1s"),
    (r"(?<=records) fits\b", " fit"),
    (r"(?<=groups) was\b", " were"),
    (r" (and|saves) is suppressed", r" \1 are suppressed"),
    (r"\bit satisfies\b", "they satisfy"),
    (r"(?<=records) of a block are\b", " of these blocks are"),
)
"""Singular forms in notes of defenses, after their numbers have become #."""


def notes_of_blocks(notes: Sequence[Sequence[str]]) -> list[str]:
    """Notes of a release, from those of each of its blocks; with the number of blocks that have them, if there are several.

    Counts of records and of groups are summed, also those of several notes of one block, as it has them after several passes. Notes
    with other thresholds remain separate.
    """
    found: dict[str, list[tuple[int, str]]] = {}
    for place, block in enumerate(notes):
        for note in block:
            found.setdefault(_without_counts(note), []).append((place, note))
    return [_place(each, len(notes)) + _summed([note for _, note in each], text) for text, each in found.items()]


def _place(each: Sequence[tuple[int, str]], blocks: int) -> str:
    """The number of blocks that have a note, in words; empty if there is one block."""
    return f"in {len({place for place, _ in each})} of {blocks} blocks: " if blocks > 1 else ""


def _without_counts(note: str) -> str:
    """The note in the plural with # for its counts; the note itself where it does not begin with one."""
    head = COUNTED.match(note)
    if head is None:
        return note
    text = NUMBER.sub("#", head[0]) + note[head.end() :]
    for one, several in PLURALS:
        text = re.sub(one, several, text)
    return text


def _summed(notes: Sequence[str], text: str) -> str:
    """The note with the sum of each count."""
    if len(notes) == 1 or COUNTED.match(notes[0]) is None:
        return notes[0]
    for total in map(sum, zip(*map(_counts, notes), strict=True)):
        text = text.replace("#", f"{total:,}", 1)
    return text


def _counts(note: str) -> list[int]:
    head = COUNTED.match(note)
    return [] if head is None else [int(number.replace(",", "")) for number in NUMBER.findall(head[0])]
