"""Programs of a data publisher: the command line, the report, and tables larger than memory."""

from typing import TYPE_CHECKING

from foreknow.models.lazy_names import import_lazily

if TYPE_CHECKING:
    from foreknow.app.report.report import Report, report

__all__ = ["Report", "report"]

import_lazily(__name__)
