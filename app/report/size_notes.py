"""Notes on what the report of large data leaves out: trials, the search for later releases, bootstrap draws."""

from collections.abc import Sequence

from foreknow.app.report.exposure import MAX_PREFIX_RECORDS
from foreknow.app.report.influence_trials import MAX_TRIAL_RECORDS, TRIALS
from foreknow.models import Release


def size_notes(releases: Sequence[Release], asked: int, of_means: int, of_calibration: int) -> tuple[str, ...]:
    """Sentences that name what is left out because there are many records.

    Parameters
    ----------
    releases : sequence of Release
    asked, of_means, of_calibration : int
        Number of bootstrap draws that the settings ask for, that the intervals of the means have, and those of calibration.
    """
    records = sum(len(release.view) for release in releases)
    told = []
    if len(releases) > 1 and records > MAX_PREFIX_RECORDS:
        told.append(
            f"There are over {MAX_PREFIX_RECORDS:,} records: the reasons do not name the later release that raised a belief most."
        )
    if records > MAX_TRIAL_RECORDS:
        told.append(f"There are over {MAX_TRIAL_RECORDS:,} records: one record is made known, and not {TRIALS}.")
    draws = {"means": of_means, "calibration": of_calibration}
    if fewer := [f"{number} for {name}" for name, number in draws.items() if number < asked]:
        told.append(f"To save time, intervals have fewer bootstrap draws than {asked}: {', '.join(fewer)}.")
    return tuple(told)
