"""Short HTML tables of records, for notebooks."""

from collections.abc import Mapping, Sequence
from html import escape

MOST_ROWS = 12
"""Largest number of rows, and of notes, that are shown; the number of the others is said."""


def html_table(
    title: str,
    facts: Mapping[str, object],
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[object]] = (),
    notes: Sequence[str] = (),
) -> str:
    """HTML of a title, a line of facts, a table of at most `MOST_ROWS` rows, and notes. All text is escaped."""
    line = ", ".join(f"{name}: {value}" for name, value in facts.items())
    parts = [f"<div><strong>{escape(title)}</strong> {escape(line)}"]
    if rows:
        head = "".join(
            f'<th scope="col" {_aligned(cell)}>{escape(name)}</th>' for name, cell in zip(columns, rows[0], strict=True)
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>")
        parts += [f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:MOST_ROWS]]
        parts.append("</tbody></table>")
        parts += _others(len(rows))
    parts += [f"<p>{escape(note)}</p>" for note in notes[:MOST_ROWS]] + _others(len(notes))
    return "".join([*parts, "</div>"])


def _others(number: int) -> list[str]:
    return [f"<p>and {number - MOST_ROWS} more</p>"] if number > MOST_ROWS else []


def _cell(value: object) -> str:
    text = escape(f"{value:.3g}" if isinstance(value, float) else str(value))
    return f"<td {_aligned(value)}>{text}</td>"


def _aligned(value: object) -> str:
    """Attribute of a cell: numbers are aligned right."""
    return f'style="text-align: {"right" if isinstance(value, int | float) else "left"}"'
