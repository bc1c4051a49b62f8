"""Programs of a data publisher: the command line, the report, and tables larger than memory."""

from typing import TYPE_CHECKING

from foreknow.models.lazy_names import import_lazily

if TYPE_CHECKING:
    from foreknow.app.exposure import exposed as exposed
    from foreknow.app.ledger import Ledger as Ledger
    from foreknow.app.report.report import report as report

PLACES = {
    "Ledger": "foreknow.app.ledger",
    "exposed": "foreknow.app.exposure",
    "report": "foreknow.app.report.report",
}
"""Module of each public name."""

__all__ = list(PLACES)

import_lazily(__name__, PLACES)
