"""Short HTML tables of records, for notebooks."""

from collections.abc import Mapping, Sequence
from html import escape

MOST_ROWS = 12
"""Largest number of rows that a table shows; the number of the others is said."""


def html_table(
    title: str, facts: Mapping[str, object], columns: Sequence[str] = (), rows: Sequence[Sequence[object]] = ()
) -> str:
    """HTML of a title, a line of facts, and a table of at most `MOST_ROWS` rows. All text is escaped."""
    line = ", ".join(f"{name}: {value}" for name, value in facts.items())
    parts = [f"<div><strong>{escape(title)}</strong> {escape(line)}"]
    if rows:
        head = "".join(f'<th scope="col" style="text-align: left">{escape(name)}</th>' for name in columns)
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>")
        parts += [f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:MOST_ROWS]]
        parts.append("</tbody></table>")
    if len(rows) > MOST_ROWS:
        parts.append(f"<p>and {len(rows) - MOST_ROWS} more</p>")
    return "".join([*parts, "</div>"])


def _cell(value: object) -> str:
    text = escape(f"{value:.3g}" if isinstance(value, float) else str(value))
    return f'<td style="text-align: {"right" if isinstance(value, int | float) else "left"}">{text}</td>'
