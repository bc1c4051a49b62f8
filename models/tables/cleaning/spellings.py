"""Values of one column that are equal but for spaces and letter case: found, and written in one spelling."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import pandas as pd

from foreknow.models.advice import Advice, Setting
from foreknow.models.settings import counted
from foreknow.models.tables.cleaning.distinct_cells import distinct_cells
from foreknow.models.tables.cleaning.faults import Change, Example, Fault, shown

type EqualValues = Literal["refuse", "merge", "keep"]

EQUAL_VALUES = ("refuse", "merge", "keep")

INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060"
"""Characters without width: marks of byte order, and joiners."""


MAX_PAIRS = 4
"""Number of merged spellings that a change names."""


class Spelling(NamedTuple):
    """One spelling of a value, the number of its cells and the first of them."""

    text: str
    cells: int
    row: int


def stripped(text: str) -> str:
    r"""A text without spaces and invisible characters at its ends.

    >>> stripped(" flu\u200b ")
    'flu'
    """
    before = None
    while before != text:
        before, text = text, text.strip().strip(INVISIBLE)
    return text


def folded(text: str) -> str:
    """A text without letter case, surplus spaces and invisible characters; equal for spellings of one value.

    >>> folded("  Heart  Failure ") == folded("heart failure")
    True
    """
    plain = text.translate(dict.fromkeys(map(ord, INVISIBLE)))
    composed = unicodedata.normalize("NFC", unicodedata.normalize("NFC", plain).casefold())
    return " ".join(composed.split())


def spellings(column: "pd.Series[Any]") -> list[list[Spelling]]:
    """The spellings of each value that has several, the most frequent one first.

    A tie is decided by the first row. Cells that are no text are not read. Cost: O(n).
    """
    by_value: dict[str, list[Spelling]] = {}
    for spelling in _distinct(column):
        by_value.setdefault(folded(spelling.text), []).append(spelling)
    several = [sorted(group, key=lambda one: (-one.cells, one.row)) for group in by_value.values() if len(group) > 1]
    return sorted(several, key=lambda group: group[0].row)


def respelled(column: "pd.Series[Any]", winners: Mapping[str, str]) -> "pd.Series[Any]":
    """A column whose texts are stripped and, where their folded text is a key, replaced by its value. Cost: O(n)."""
    found = distinct_cells(column)
    new = [winners.get(folded(cell), stripped(cell)) if isinstance(cell, str) else cell for cell in found.cells]
    cells = found.replaced(column, new)
    return cells.astype(column.dtype) if isinstance(column.dtype, pd.StringDtype) else cells


def one_spelling(column: "pd.Series[Any]", rule: EqualValues) -> tuple["pd.Series[Any]", list[Fault], list[Change]]:
    """A column with one spelling per value, and the faults or changes.

    Parameters
    ----------
    column : Series
    rule : {"refuse", "merge", "keep"}
        Values equal but for spaces and letter case are a fault, are written in their most frequent spelling, or stay different
        values. Spaces at the ends of other values are removed, except by ``keep``.
    """
    several, name = spellings(column), str(column.name)
    if several and rule == "refuse":
        return column, [_fault(name, several)], []
    if rule == "keep":
        return column, [], [_kept(name, several)] if several else []
    # A winner is stripped: the most frequent spelling may have spaces at its ends.
    winners = {folded(group[0].text): stripped(group[0].text) for group in several}
    new = respelled(column, winners)
    return new, [], _changes(name, column, new, several)


def common_spelling(cells: "pd.Series[Any]", reference: Iterable[Any]) -> "pd.Series[Any]":
    """A column respelled like the cells of another one: the key of a release like the cleaned records."""
    return respelled(cells, {folded(cell): cell for cell in set(reference) if isinstance(cell, str)})


def _distinct(column: "pd.Series[Any]") -> list[Spelling]:
    """The distinct texts of a column, with the number of cells and the first row of each."""
    found = distinct_cells(column)
    return [
        Spelling(text, int(number), int(first))
        for text, number, first in zip(found.cells, found.number, found.first, strict=True)
        if isinstance(text, str)
    ]


def _listed(groups: list[list[Spelling]]) -> tuple[Example, ...]:
    """The two most frequent spellings of the first two values."""
    return tuple(
        Example(spelling.row, f"{shown(spelling.text)} in {counted(spelling.cells, 'record')}")
        for group in groups[:2]
        for spelling in group[:2]
    )


def _fault(name: str, several: list[list[Spelling]]) -> Fault:
    more = [spelling for group in several for spelling in group[1:]]
    records = sum(spelling.cells for spelling in more)
    rarer = "spelling is" if len(more) == 1 else f"{len(more):,} spellings are"
    problem = (
        f"writes {counted(len(several), 'value')} in several spellings, which differ in spaces or letter case only; the rarer "
        f"{rarer} in {counted(records, 'record')}"
    )
    merge, keep = Setting("equal_values", "merge", settles=True), Setting("equal_values", "keep")
    way_out = Advice("set ", merge, " to write the most frequent one, or ", keep, " if they mean different things")
    return Fault(name, problem, _listed(several), records, way_out, every_kind=len(several) <= 2)


def _kept(name: str, several: list[list[Spelling]]) -> Change:
    one, other = several[0][:2]
    return Change(
        name,
        0,
        f"{name!r}: {counted(len(several), 'value')} in several spellings are kept apart, as {shown(one.text)} and "
        f"{shown(other.text)}.",
    )


def _changes(name: str, old: "pd.Series[Any]", new: "pd.Series[Any]", several: list[list[Spelling]]) -> list[Change]:
    """The merged spellings, and the other cells from which spaces were removed."""
    changed = int((old.notna() & (old != new)).sum())
    merged = {spelling.text for group in several for spelling in group}
    respelled_cells = int((old.isin(merged) & (old != new)).sum())
    changes = []
    if several:
        pairs = [
            f"{shown(stripped(group[0].text))} for {shown(spelling.text)} ({spelling.cells:,})"
            for group in several
            for spelling in group
            if spelling.text != stripped(group[0].text)
        ]
        more = f" and {len(pairs) - MAX_PAIRS} more spellings" if len(pairs) > MAX_PAIRS else ""
        sentence = (
            f"{name!r}: {counted(len(several), 'value')} in several spellings merged, {counted(respelled_cells, 'cell')} "
            f"changed: {', '.join(pairs[:MAX_PAIRS])}{more}."
        )
        changes.append(Change(name, respelled_cells, sentence))
    if changed > respelled_cells:
        spaces = changed - respelled_cells
        changes.append(Change(name, spaces, f"{name!r}: spaces around {counted(spaces, 'cell')} removed."))
    return changes
