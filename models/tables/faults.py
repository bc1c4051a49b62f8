"""Faults of a table that cleaning finds, by distinct cell: spellings and missing cells."""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import BoolArray, IntArray, object_array
from foreknow.models.settings import counted

MAX_EXAMPLES = 3
"""Number of examples of a fault that are named."""

MAX_SHOWN = 40
"""Number of characters of a cell that an example shows."""

type Places = Callable[[Sequence[int]], Sequence[str]]
"""A function from positions of rows to their places in words, as "line 7"."""


class Example(NamedTuple):
    """One row of a fault, and what it holds; the text is empty if the place alone is named."""

    row: int
    text: str = ""


class Fault(NamedTuple):
    """A fault of a table."""

    column: str  # the column; empty if records as a whole are at fault
    problem: str  # the rule that is broken and the number of cells, as a clause
    examples: tuple[Example, ...]  # at most a few
    records: int  # number of records at fault
    way_out: str  # what to write or to set, in Python: ``missing='drop'``. `Advice` where it names a setting.
    every_kind: bool = False  # True if the examples are the first of each kind, so that there are no others


class Change(NamedTuple):
    """A change of a table: the column, or empty for whole records; the number of cells or records; and a sentence."""

    column: str
    cells: int
    sentence: str


type CleanedColumn = tuple["pd.Series[Any]", list[Fault], list[Change]]
"""A cleaned column, and the faults or changes."""


class InputFaults(ValueError):  # noqa: N818 - it holds several
    """A table with faults, all of them in one error.

    Attributes
    ----------
    faults : tuple of Fault
    lines : tuple of str
        One sentence for each fault.
    """

    def __init__(self, faults: Sequence[Fault], lines: Sequence[str]) -> None:
        super().__init__(faults, lines)
        self.faults, self.lines = tuple(faults), tuple(lines)

    def __str__(self) -> str:
        return "\n".join([*([f"{len(self.lines)} faults:"] if len(self.lines) > 1 else []), *self.lines])


def faults_in(faults: Sequence[Fault], places: Places) -> InputFaults:
    """The error of some faults, with the places of their rows in words."""
    rows = [example.row for fault in faults for example in fault.examples]
    named = dict(zip(rows, places(rows), strict=True))
    return InputFaults(faults, [_sentence(fault, named) for fault in faults])


def rows_in_words(rows: Sequence[int]) -> list[str]:
    """The places of rows of a table that was not read from a file: positions from 0."""
    return [f"row {row}" for row in rows]


def shown(cell: Any) -> str:
    """A cell in quotes, shortened to `MAX_SHOWN` characters."""
    text = str(cell)
    return repr(text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}...")


def first_rows(chosen: "pd.Series[bool] | BoolArray", texts: "pd.Series[Any] | None" = None) -> tuple[Example, ...]:
    """The first rows of a mask as examples, with their cells if a column is given."""
    rows = np.flatnonzero(np.asarray(chosen))[:MAX_EXAMPLES].tolist()
    return tuple(Example(row, "" if texts is None else shown(texts.iloc[row])) for row in rows)


def _sentence(fault: Fault, places: dict[int, str]) -> str:
    where = [
        f"{example.text} ({places[example.row]})" if example.text else places[example.row] for example in fault.examples
    ]
    more = ", ..." if fault.records > len(fault.examples) and not fault.every_kind else ""
    listed = f": {', '.join(where)}{more}" if where else ""
    owner = f"{fault.column!r} " if fault.column else ""
    return Advice(f"{owner}{fault.problem}{listed}; ", fault.way_out, ".")


class DistinctCells(NamedTuple):
    """The distinct cells of a column."""

    name: str
    cells: list[Any]  # m distinct cells, in order of first appearance
    codes: IntArray  # (n,): the distinct cell of each row; -1 for a missing one
    number: IntArray  # (m,): number of rows of each
    first: IntArray  # (m,): first row of each

    def example(self, code: int, records: int | None = None) -> Example:
        """A cell as an example, with a number of records if one is given."""
        text = shown(self.cells[code])
        return Example(int(self.first[code]), text if records is None else f"{text} in {counted(records, 'record')}")

    def fault(self, problem: str, among: list[int], way_out: str) -> Fault:
        """A fault of some of the cells."""
        examples = tuple(self.example(code) for code in sorted(among, key=lambda code: self.first[code])[:MAX_EXAMPLES])
        return Fault(self.name, problem, examples, self.records(among), way_out)

    def records(self, *among: list[int]) -> int:
        """Number of rows of some of the cells."""
        return sum(int(self.number[codes].sum()) for codes in among if codes)

    def first_of_each(self, kinds: Iterable[list[int]]) -> tuple[Example, ...]:
        """The first cell of each of some kinds, with the number of records of the kind."""
        return tuple(
            self.example(min(codes, key=lambda code: self.first[code]), self.records(codes)) for codes in kinds
        )[: MAX_EXAMPLES + 1]

    def replaced(self, column: "pd.Series[Any]", new: list[Any]) -> "pd.Series[Any]":
        """The column with a new value for each distinct cell; a missing cell stays missing."""
        values = object_array([*new, None])
        return pd.Series(values[self.codes], index=column.index, name=column.name, dtype=object)


RECORDS = "foreknow:records"
"""Name of the index of a column that has one row for each of its distinct cells: the number of records of each."""


def records_of(column: "pd.Series[Any]") -> IntArray:
    """Number of records of each row of a column: 1, unless it has one row for each of its distinct cells."""
    return column.index.to_numpy() if column.index.name == RECORDS else np.ones(len(column), dtype=np.int64)


def distinct_cells(column: "pd.Series[Any]") -> DistinctCells:
    """The distinct cells of a column. Cost: O(n)."""
    codes, distinct = pd.factorize(column)
    known = np.flatnonzero(codes >= 0)
    number = np.bincount(codes[known], records_of(column)[known], len(distinct)).astype(np.int64)
    _, first = np.unique(codes[known], return_index=True)
    return DistinctCells(str(column.name), pd.Index(distinct).tolist(), codes, number, known[first])


type EqualValues = Literal["refuse", "merge", "keep"]

INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060"
"""Characters without width: marks of byte order, and joiners."""


MAX_PAIRS = 4
"""Number of merged spellings that a change names."""


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


def one_spelling(column: "pd.Series[Any]", rule: EqualValues) -> CleanedColumn:
    """A column with one spelling per value, and the faults or changes. Cells that are no text stay.

    Parameters
    ----------
    column : Series
    rule : {"refuse", "merge", "keep"}
        Values equal but for spaces and letter case are a fault, are written in their most frequent spelling (of equally frequent
        ones, the first), or stay different values. Spaces at the ends of other values are removed, except by ``keep``.
    """
    found = distinct_cells(column)
    spelled: dict[str, list[int]] = {}
    for code, cell in enumerate(found.cells):
        if isinstance(cell, str):
            spelled.setdefault(folded(cell), []).append(code)
    several = [sorted(codes, key=lambda code: -found.number[code]) for codes in spelled.values() if len(codes) > 1]
    if several and rule == "refuse":
        return column, [_several_spellings(found, several)], []
    if rule == "keep":
        return column, [], [_kept(found, several)] if several else []
    # A winner is stripped: the most frequent spelling may have spaces at its ends.
    winner = {code: stripped(found.cells[codes[0]]) for codes in several for code in codes}
    cells = enumerate(found.cells)
    new = [winner.get(code, stripped(cell)) if isinstance(cell, str) else cell for code, cell in cells]
    changed = [code for code, cell in enumerate(found.cells) if isinstance(cell, str) and new[code] != cell]
    merged, trimmed = ([code for code in changed if (code in winner) == is_merged] for is_merged in (True, False))
    changes = [_merged(found, several, merged)] if several else []
    if trimmed:
        number = found.records(trimmed)
        changes.append(Change(found.name, number, f"{found.name!r}: spaces around {counted(number, 'cell')} removed."))
    return _as_read(found.replaced(column, new), column), [], changes


def merged(column: "pd.Series[Any]", pairs: Mapping[str, str]) -> CleanedColumn:
    """A column in which some texts are written as others, and the changes; a text that no cell has is a fault."""
    found = distinct_cells(column)
    places = {str(cell): code for code, cell in enumerate(found.cells)}
    if absent := [text for text in pairs if text not in places]:
        fault = Fault(found.name, f"has no cell {shown(absent[0])}", (), 0, "leave it out of those that are merged")
        return column, [fault], []
    new = [pairs.get(str(cell), cell) for cell in found.cells]
    changes = [
        Change(found.name, number, f"{found.name!r}: {shown(text)} written as {shown(to)} ({counted(number, 'cell')}).")
        for text, to in pairs.items()
        if (number := found.records([places[text]]))
    ]
    return _as_read(found.replaced(column, new), column), [], changes


type Identifiers = Literal["refuse", "text", "number"]


def one_number(column: "pd.Series[Any]", rule: Identifiers) -> CleanedColumn:
    """A column of respondents in which equal whole numbers are one respondent, and the faults or changes.

    Parameters
    ----------
    column : Series
    rule : {"refuse", "text", "number"}
        Texts of equal numbers, as 000013, 13 and 13.0, are a fault, stay different respondents, or are written in their most
        frequent spelling.
    """
    found = distinct_cells(column)
    written: dict[str, list[int]] = {}
    for code, cell in enumerate(found.cells):
        digits = stripped(str(cell)).removesuffix(".0")
        if digits.isascii() and digits.isdigit():
            written.setdefault(digits.lstrip("0"), []).append(code)
    several = [sorted(codes, key=lambda code: -found.number[code]) for codes in written.values() if len(codes) > 1]
    if not several:
        return column, [], []
    rarer = [code for codes in several for code in codes[1:]]
    examples = tuple(found.example(code, int(found.number[code])) for codes in several[:2] for code in codes[:2])
    said = f"writes {counted(len(several), 'number')} in several ways"
    if rule == "refuse":
        ways = (Setting("ids", "number", settles=True), Setting("ids", "text"))
        way_out = Advice(
            "set ", ways[0], " if they are the same respondents, or ", ways[1], " if they are different ones"
        )
        return column, [Fault(found.name, said, examples, found.records(rarer), way_out, len(several) <= 2)], []
    said = f"{found.name!r} {said}, as {examples[0].text} and {examples[1].text}"
    if rule == "text":
        return column, [], [Change(found.name, 0, f"{said}; they are kept apart.")]
    winner = {code: found.cells[codes[0]] for codes in several for code in codes}
    new = [winner.get(code, cell) for code, cell in enumerate(found.cells)]
    sentence = f"{said}; {counted(found.records(rarer), 'cell')} changed to the most frequent one."
    return _as_read(found.replaced(column, new), column), [], [Change(found.name, found.records(rarer), sentence)]


def common_spelling(cells: "pd.Series[Any]", reference: Iterable[Any]) -> "pd.Series[Any]":
    """A column respelled like the cells of another one: the key of a release like the cleaned records."""
    found, as_written = distinct_cells(cells), {folded(cell): cell for cell in set(reference) if isinstance(cell, str)}
    new = [as_written.get(folded(cell), stripped(cell)) if isinstance(cell, str) else cell for cell in found.cells]
    return _as_read(found.replaced(cells, new), cells)


def _as_read(new: "pd.Series[Any]", column: "pd.Series[Any]") -> "pd.Series[Any]":
    return new.astype(column.dtype) if isinstance(column.dtype, pd.StringDtype) else new


def _several_spellings(found: DistinctCells, several: list[list[int]]) -> Fault:
    """The fault of several spellings, with the two most frequent ones of the first two values."""
    rarer = [code for codes in several for code in codes[1:]]
    records = found.records(rarer)
    are = "spelling is" if len(rarer) == 1 else f"{len(rarer):,} spellings are"
    problem = (
        f"writes {counted(len(several), 'value')} in several spellings, which differ in spaces or letter case only; the rarer "
        f"{are} in {counted(records, 'record')}"
    )
    merge, keep = Setting("equal_values", "merge", settles=True), Setting("equal_values", "keep")
    way_out = Advice("set ", merge, " to write the most frequent one, or ", keep, " if they mean different things")
    examples = tuple(found.example(code, found.records([code])) for codes in several[:2] for code in codes[:2])
    return Fault(found.name, problem, examples, records, way_out, every_kind=len(several) <= 2)


def _kept(found: DistinctCells, several: list[list[int]]) -> Change:
    one, other = (shown(found.cells[code]) for code in several[0][:2])
    values = counted(len(several), "value")
    return Change(found.name, 0, f"{found.name!r}: {values} in several spellings are kept apart, as {one} and {other}.")


def _merged(found: DistinctCells, several: list[list[int]], changed: list[int]) -> Change:
    """The change of merged spellings, the first `MAX_PAIRS` of them in words."""
    among = set(changed)
    pairs = [
        f"{shown(stripped(found.cells[codes[0]]))} for {shown(found.cells[code])} ({found.number[code]:,})"
        for codes in several
        for code in codes
        if code in among
    ]
    more = f" and {len(pairs) - MAX_PAIRS} more spellings" if len(pairs) > MAX_PAIRS else ""
    sentence = (
        f"{found.name!r}: {counted(len(several), 'value')} in several spellings merged, "
        f"{counted(found.records(changed), 'cell')} changed: {', '.join(pairs[:MAX_PAIRS])}{more}."
    )
    return Change(found.name, found.records(changed), sentence)


type Missing = Literal["refuse", "drop", "category"]

DROP = Setting("missing", "drop", settles=True)

CATEGORY = "missing"
"""The category of missing cells."""


def blank_as_missing(column: "pd.Series[Any]", texts: Collection[str]) -> "pd.Series[Any]":
    """A column in which cells of spaces alone, and cells with one of some texts, are missing. Cost: O(n)."""
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    found = distinct_cells(column)
    absent = [isinstance(cell, str) and (not stripped(cell) or stripped(cell) in texts) for cell in found.cells]
    return column.mask(np.array([*absent, False], dtype=np.bool_)[found.codes]) if any(absent) else column


def missing_faults(columns: Sequence["pd.Series[Any]"], rule: Missing, may_be_category: Collection[str]) -> list[Fault]:
    """The faults of missing cells under the rule ``refuse``, and of those that cannot be a category under ``category``."""
    faults = []
    for column in columns:
        name, missing = str(column.name), column.isna().to_numpy()
        number, records = int(records_of(column)[missing].sum()), int(records_of(column).sum())
        if not number or (rule == "category" and name in may_be_category):
            continue
        problem = f"has {counted(number, 'missing cell')} in {records:,} records"
        faults.append(Fault(name, problem, first_rows(missing), number, _way_out(name, rule, may_be_category)))
    return faults


def _way_out(name: str, rule: Missing, may_be_category: Collection[str]) -> Advice:
    if rule == "category":
        reason = "it cannot be a category, being the respondent, the time or a number; fill the cells in, or set "
        return Advice(reason, DROP, " to leave out the records")
    category = Advice(", or ", Setting("missing", "category"), " for a category of their own")
    return Advice(
        "fill them in, or set ", DROP, " to leave out the records", category if name in may_be_category else ""
    )


def complete_rows(columns: Sequence["pd.Series[Any]"]) -> tuple[BoolArray, list[Change]]:
    """The rows without a missing cell, and the change of dropping the others."""
    missing = {str(column.name): column.isna().to_numpy() for column in columns}
    keep = ~np.any(list(missing.values()), axis=0)
    return keep, dropped_records(int((~keep).sum()), len(keep), {name: int(of.sum()) for name, of in missing.items()})


def dropped_records(dropped: int, records: int, missing: Mapping[str, int]) -> list[Change]:
    """The change of dropping some of the records, by the number of missing cells of each column; none if none is dropped."""
    counts = ", ".join(f"{name!r} in {number:,}" for name, number in missing.items() if number)
    sentence = f"{counted(dropped, 'record')} of {records:,} dropped for missing cells: {counts}."
    return [Change("", dropped, sentence)] if dropped else []


def as_category(column: "pd.Series[Any]") -> CleanedColumn:
    """A column whose missing cells are the category ``missing``, or a cell that differs from it in spaces and case only."""
    missing = column.isna().to_numpy()
    if not missing.any():
        return column, [], []
    known = column[~missing]
    name = next(
        (cell for cell in known.unique().tolist() if isinstance(cell, str) and folded(cell) == CATEGORY), CATEGORY
    )
    filled = pd.Series(name, index=column.index, name=column.name, dtype=object)
    filled[~missing] = known.map(str).to_numpy(dtype=object)
    number = int(records_of(column)[missing].sum())
    sentence = f"{str(column.name)!r}: {counted(number, 'missing cell')} made the category {name!r}."
    return filled, [], [Change(str(column.name), number, sentence)]
