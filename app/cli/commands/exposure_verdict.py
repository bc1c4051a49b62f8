"""The verdict of an attack: the number of exposed respondents, the first release that exposes, and --fail-over."""

from typing import Any

from foreknow.app.exposure import Exposure
from foreknow.app.report.respondents import label, percent


def verdict_line(found: Exposure) -> str:
    """The verdict in one line."""
    n, number = found.respondents, found.exposed
    known = f" ({found.known:,} more were known before any release)" if found.known else ""
    if not number:
        return f"None of {n:,} respondents is exposed to {found.to}: no belief in a true value reaches {found.sure:g}{known}."
    verb = "respondents are" if number > 1 else "respondents is"
    return (
        f"{number:,} of {n:,} {verb} exposed to {found.to}: a belief of at least {found.sure:g} in their true value at some "
        f"release, the first that of {label(found.first)}{known}."
    )


def is_over(found: Exposure, fail_over: float | None) -> bool:
    """Return whether the share of exposed respondents is over --fail-over."""
    return fail_over is not None and found.share > fail_over


def fail_over_lines(share: float, fail_over: float | None, of: str = "respondents") -> list[str]:
    """The line on --fail-over, if it was given, for the share that is exposed."""
    if fail_over is None:
        return []
    if share > fail_over:
        return [f"FAILED: {percent(share)} of the {of} are exposed, over --fail-over {fail_over:g}."]
    return [f"Passed: {percent(share)} of the {of} are exposed, not over --fail-over {fail_over:g}."]


def exposure_content(found: Exposure, fail_over: float | None) -> dict[str, Any]:
    """The verdict as JSON has it."""
    return {
        "verdict": verdict_line(found),
        "respondents": found.respondents,
        "exposed": found.exposed,
        "exposed_share": found.share,
        "known_before": found.known,
        "sure": found.sure,
        "first_release": found.first,
        "fail_over": fail_over,
        "failed": is_over(found, fail_over),
    }
