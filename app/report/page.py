"""The page of a report: one HTML file without network access."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from foreknow.app.cli.defense_choices import defense_text
from foreknow.app.report.adversaries import SHORT_TITLES
from foreknow.app.report.charts import EXPLORED, EXPLORED_LINES, charts
from foreknow.app.report.contents import ReportContents
from foreknow.app.report.exposure import percent
from foreknow.app.report.pseudonyms import label
from foreknow.app.report.sentences import (
    calibration_sentence,
    cards,
    influence_sentence,
    leak_sentence,
    stricter_sentence,
    strongest_sentence,
    utility_sentence,
    verdict,
    what_it_knows,
)
from foreknow.evaluation.program_version import program_version
from foreknow.models.settings import installing

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = "templates"
"""Folder of the template, the style sheet and the script, within this package."""

MISSING = (
    "the report needs the packages altair, jinja2 and vl-convert-python, and {name} is not installed. Install them: "
    "{command}."
)
"""Message of the error where a package is missing."""


def check_packages() -> None:
    """Raise ModuleNotFoundError unless the packages of the page are installed."""
    from importlib.util import find_spec

    for module, package in (("altair", "altair"), ("jinja2", "jinja2"), ("vl_convert", "vl-convert-python")):
        if find_spec(module) is None:
            raise ModuleNotFoundError(MISSING.format(name=package, command=installing("report")))


def page(contents: ReportContents) -> str:
    """The report as HTML.

    The Content-Security-Policy of the page forbids all network access, and all scripts but its own two, which it names by their
    checksums. Every value is escaped. Cost: O(records of the explorer).
    """
    check_packages()
    script = _part("report.js")
    with ThreadPoolExecutor(1) as thread:  # vl_convert works outside the interpreter's lock, while Altair is imported
        bundling = thread.submit(vega_bundle)
        data = {
            "charts": charts(contents),
            "explorer": _explorer(contents),
            "explored": EXPLORED,
            "lines": EXPLORED_LINES,
        }
        bundle = bundling.result()
    return (
        _environment()
        .get_template("report.html")
        .render(
            contents=contents,
            verdict=verdict(contents),
            cards={name: cards(contents, name) for name in contents.inferences},
            short=SHORT_TITLES,
            knowledge={name: what_it_knows(one) for name, one in contents.inferences.items()},
            leak_sentence=leak_sentence(contents.leak),
            calibration_sentence=calibration_sentence(contents),
            influence_sentence=influence_sentence(contents.trials),
            strongest_sentence=strongest_sentence(contents.attacks),
            utility_sentence=utility_sentence(contents.utility),
            defense=None if contents.defense is None else defense_text(contents.defense),
            stricter_sentence=stricter_sentence(contents),
            program=program_version(),
            policy=_policy([bundle, script]),
            bundle=bundle,
            script=script,
            style=_part("report.css"),
            data=data,
        )
    )


@cache
def vega_bundle() -> str:
    """JavaScript of Vega, Vega-Lite and Vega-Embed, which defines ``vegaEmbed``. It has no closing script tag."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")).replace("</script", "<\\/script")


def json_in_html(value: Any) -> str:
    r"""JSON that is safe within a script tag: ``<``, ``>`` and ``&`` are written as escape sequences.

    >>> json_in_html({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _explorer(contents: ReportContents) -> dict[str, Any]:
    one = contents.explorer
    return {"times": one.times, "values": one.values, "people": one.people, "first": one.most_exposed}


def _policy(scripts: Sequence[str]) -> str:
    """Content-Security-Policy that allows the scripts of these texts, and no network access."""
    sums = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in sums)
    others = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {others}"


@cache
def _part(name: str) -> str:
    return files("foreknow.app.report").joinpath(TEMPLATES, name).read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    sources: Mapping[str, str] = {name: _part(name) for name in ("report.html", "macros.html")}
    made = Environment(
        loader=DictLoader(sources), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    made.filters |= {
        "percent": percent,
        "label": label,
        "json_in_html": lambda value: Markup(json_in_html(value)),
        "count": lambda number: f"{int(number):,}",
    }
    return made
