"""Files and content of `foreknow report`: the page, the settings of the run beside it, and the verdict as JSON."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from foreknow.app.cli.files.atomic_output import atomic_output
from foreknow.app.cli.files.run_settings import SETTINGS, write_settings
from foreknow.app.report.report import Report


def settings_path(page: Path) -> Path:
    """Path of the settings of a page: report.settings.json for report.html."""
    return page.with_suffix(f".{SETTINGS}")


def save_report(
    found: Report, out: Path, settings: dict[str, Any], keep: Iterable[Path] = (), overwrite: bool = False
) -> None:
    """Write the page, and the settings of the run beside it."""
    found.save(out, overwrite=overwrite)
    with atomic_output(out.parent, keep, overwrite) as folder:
        write_settings(folder / settings_path(out).name, settings)


def report_content(found: Report, out: Path, seed: int) -> dict[str, Any]:
    """A report as JSON has it: the verdict, the headline of each adversary, and the stricter settings."""
    told, contents = found.verdict, found.contents
    return {
        "verdict": f"{told.word}. {told.sentence}",
        "advice": told.advice,
        "sure": contents.settings.sure,
        "adversaries": {
            name: {
                "respondents": each.respondents,
                "exposed": each.exposed,
                "known_before": each.known,
                "measures": each.table,
            }
            for name, each in contents.headlines.items()
        },
        "stricter": contents.stricter,
        "seed": seed,
        "page": str(out),
        "settings": str(settings_path(out)),
    }
