"""Notes on results: sentences that keep their kinds and numbers, by which notes of blocks or of draws are added."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


class Note(str):
    """Value with a kind and numbers that is also its sentence, a `str`.

    The sentence is formatted once, when the note is made, so that a note is shown, compared and written as any text. Notes of
    several blocks or draws are added by their kinds and numbers, and no text is read. Operations of `str` lose both: a text is
    put before a note by `prefixed`.

    Parameters
    ----------
    kind : str
        Template of the sentence, in the notation of `str.format`. A field with a bar has the form for 1 and that for other numbers:
        ``"{records:,} {records:record is|records are} suppressed."``.
    **of : int, float or str
        What the fields are: integers are counts, which are added over blocks; floats are figures of one result; texts are
        settings, also those with a number, by which notes differ. A pair is the range of a number over draws. The setting
        ``example`` is that of the first draw.

    Examples
    --------
    >>> Note("{records:,} {records:record is|records are} suppressed.", records=1)
    '1 record is suppressed.'
    """

    kind: str
    of: dict[str, Any]

    def __new__(cls, kind: str, /, **of: Any) -> "Note":
        """Make the sentence."""
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in of.items()}
        note = super().__new__(
            cls,
            kind.format_map({name: each if isinstance(each, str) else _Number(each) for name, each in plain.items()}),
        )
        note.kind, note.of = kind, plain
        return note

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.kind,), self.of


def as_note(text: str) -> Note:
    """A note, or another text as a note without numbers."""
    return text if isinstance(text, Note) else Note("{text}", text=str(text))


def prefixed(prefix: str, text: str) -> Note:
    """A note that begins with another text, which is a part of its kind; its numbers are kept."""
    note = as_note(text)
    return Note(prefix.replace("{", "{{").replace("}", "}}") + note.kind, **note.of)


def notes_of_blocks(blocks: Sequence[Iterable[str]]) -> list[Note]:
    """Notes of a release, from those of each of its blocks; with the number of blocks that have them, if there are several.

    Counts are summed over notes of one kind with equal settings and figures, also over those of one block, as it has them after
    several passes.
    """
    found: dict[object, list[tuple[int, Note]]] = {}
    for place, notes in enumerate(blocks):
        for note in map(as_note, notes):
            found.setdefault(_apart(note, int), []).append((place, note))
    return [_summed(each, len(blocks)) for each in found.values()]


def notes_of_draws(draws: Sequence[Iterable[str]]) -> list[Note]:
    """Notes on uncertain knowledge, from those under each draw: notes of one kind are one, with the range of each number.

    A note that differs between draws begins with the number of draws that have it. Cost: O(number of notes).
    """
    found: dict[object, list[Note]] = {}
    for note in (as_note(note) for notes in draws for note in notes):
        found.setdefault(_apart(note, (int, float)), []).append(note)
    return [_ranged(each, len(draws)) for each in found.values()]


def _apart(note: Note, merged: type | tuple[type, ...]) -> object:
    """All by which a note differs from those that are merged with it: all but its numbers of some types and its example."""
    of = {name: None if isinstance(each, merged) or name == "example" else each for name, each in note.of.items()}
    return note.kind, tuple(of.items())


def _summed(found: Sequence[tuple[int, Note]], blocks: int) -> Note:
    note = found[0][1]
    sums = {name: sum(each.of[name] for _, each in found) for name, value in note.of.items() if isinstance(value, int)}
    holders = len({place for place, _ in found})
    return prefixed(f"in {holders} of {blocks} blocks: " if blocks > 1 else "", Note(note.kind, **note.of | sums))


def _ranged(notes: Sequence[Note], draws: int) -> Note:
    note = notes[0]
    if len(set(notes)) == 1 and len(notes) == draws:
        return note
    columns = {name: [each.of[name] for each in notes] for name, value in note.of.items() if not isinstance(value, str)}
    ranges: dict[str, Any] = {name: (min(column), max(column)) for name, column in columns.items()}
    return prefixed(f"under {len(notes)} of {draws} draws: ", Note(note.kind, **note.of | ranges))


class _Number:
    """Number of a note, or its range over draws."""

    def __init__(self, value: Any) -> None:
        self.least, self.most = value if isinstance(value, tuple) else (value, value)

    def __format__(self, form: str) -> str:
        one, bar, several = form.partition("|")
        if bar:
            return one if self.least == self.most == 1 else several
        least, most = format(self.least, form), format(self.most, form)
        return most if least == most else f"{least.removesuffix('%')} to {most}"
