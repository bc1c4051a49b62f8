"""Tables that a command prints, read back as text."""

import re
from itertools import zip_longest


def printed(text):
    """The rows of the last table in a text, as dicts of text."""
    lines = text.splitlines()
    rule = max(i for i, line in enumerate(lines) if line.strip() and set(line.strip()) == {"─"})
    cells = [re.split(r"\s{2,}", line.strip()) for line in [lines[rule - 1], *lines[rule + 1 :]]]
    rows = [row for row in cells[1:] if len(row) >= len(cells[0]) - 1]
    return [dict(zip_longest(cells[0], row, fillvalue="")) for row in rows]


def tables(text):
    """All tables of a text by their titles, each a list of dicts of text."""
    lines = text.splitlines()
    rules = [i for i, line in enumerate(lines) if line.strip() and set(line.strip()) == {"─"}]
    ends = [next(i for i in range(rule, len(lines)) if not lines[i].strip()) for rule in rules]
    return {
        lines[rule - 3].strip(): printed("\n".join(lines[rule - 1 : end]))
        for rule, end in zip(rules, ends, strict=True)
    }


def table_lines(text):
    """Lines of the printed tables of a text: from the line above a rule to the next empty line."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if "───" in line:
            last = next((end for end in range(place, len(lines)) if not lines[end].strip()), len(lines))
            yield from lines[place - 1 : last]
