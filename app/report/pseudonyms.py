"""Names of respondents on the page: pseudonyms, or their identifiers on request."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from foreknow.app.cli.printing.terminal import visible

MAX_LABEL = 60
"""Characters of a label that are shown; a cell may have any length."""


@dataclass(frozen=True, eq=False)
class Pseudonyms:
    """Names of the respondents of a report.

    Attributes
    ----------
    numbers : dict of respondent to int
        Number of each respondent, from 1 on, in the order of exposure: it says nothing of the identifier.
    shown : bool
        If True, names are the identifiers.
    """

    numbers: dict[Hashable, int]
    shown: bool = False

    @classmethod
    def of(cls, respondents: Iterable[Hashable], shown: bool) -> "Pseudonyms":
        """Names of respondents in the order of exposure."""
        return cls({name: number for number, name in enumerate(dict.fromkeys(respondents), 1)}, shown)

    def __call__(self, respondent: Hashable) -> str:
        """Name of a respondent on the page."""
        return label(respondent) if self.shown else f"Person {self.numbers[respondent]}"


def label(cell: Any) -> str:
    """A value, a time or an identifier as text of at most `MAX_LABEL` characters."""
    text = visible(str(cell))
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"
