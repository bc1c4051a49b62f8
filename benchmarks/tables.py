"""Tables of the findings: losses of publications and measures of attacks on them, one row each, printed as Markdown."""

import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from subjects import seeded

from foreknow.attacks import Attack, JointAttack, SequentialAttack, SignatureAttack
from foreknow.defenses import Defense, publish
from foreknow.evaluation import (
    adversary_gain,
    disclosures,
    gcp,
    log_score,
    record_linkage,
    score_decomposition,
    suppressed,
)
from foreknow.models import (
    Adversary,
    Auto,
    Beliefs,
    Estimator,
    History,
    MaxEntropy,
    Omega,
    PathSampler,
    Release,
    Sinkhorn,
)

DOCS = Path(__file__).resolve().parents[1] / "docs"
SEQUENTIAL: dict[str, Estimator] = {"Omega": Omega(), "Sinkhorn": Sinkhorn(), "Auto": Auto()}
FORWARD, HINDSIGHT = "joint, forward", "joint, in hindsight"

type Row = dict[str, Any]
type Releases = tuple[Release, ...]


def joint_attacks(adversary: Adversary) -> dict[str, Attack]:
    """Joint attacks by `MaxEntropy`: beliefs given the releases up to each one, and given all."""
    return {
        FORWARD: JointAttack(adversary, MaxEntropy(), hindsight=False),
        HINDSIGHT: JointAttack(adversary, MaxEntropy()),
    }


def signature_attacks(adversary: Adversary) -> dict[str, Attack]:
    """Attacks of an adversary who knows the rule of m-invariance: sequential, and joint."""
    return {
        "signature": SignatureAttack(adversary),
        f"{FORWARD}, rule known": JointAttack(adversary, MaxEntropy(), hindsight=False, signatures=True),
        f"{HINDSIGHT}, rule known": JointAttack(adversary, MaxEntropy(), signatures=True),
    }


def sampled_attacks(adversary: Adversary, seed: int, chains: int = 2) -> dict[str, Attack]:
    """Joint attacks whose groups have exactly the published counts, by Markov chains; for small histories."""
    return {
        name: JointAttack(adversary, PathSampler(400, chains, rng=seeded(seed)), hindsight=hindsight)
        for name, hindsight in (("sampled, forward", False), ("sampled, in hindsight", True))
    }


def sequential_attacks(prior: Any, transitions: Any, estimators: Mapping[str, Estimator]) -> dict[str, Attack]:
    return {
        f"sequential, {name}": SequentialAttack(Adversary(prior, transitions, estimator=estimator))
        for name, estimator in estimators.items()
    }


def all_attacks(prior: Any, transitions: Any) -> dict[str, Attack]:
    """Sequential attacks by three estimators, and the joint ones, with one knowledge."""
    return sequential_attacks(prior, transitions, SEQUENTIAL) | joint_attacks(Adversary(prior, transitions))


def losses(releases: Releases) -> Row:
    """Suppressed records, group sizes, certainty penalties and record linkage of a publication, over all releases."""
    lost, plain = suppressed(releases), gcp(releases)
    total, linkage = gcp(releases, width="table")["gcp_total"], record_linkage(releases)
    records, published = lost["records"].sum(), plain["measured"].sum()
    attributes = len(releases[0].view.schema.quasi_identifiers)
    penalized = gcp(releases, penalize_suppressed=True)["gcp_total"].sum()
    return {
        "suppressed": lost["suppressed"].sum() / records,
        "most suppressed": int(lost["suppressed"].max()),
        "empty releases": int((lost["suppressed"] == lost["records"]).sum()),
        "distorted": int(lost["distorted"].sum()),
        "size": published / max(sum(release.groups for release in releases), 1),
        "gcp": plain["gcp_total"].sum() / max(attributes * published, 1),
        "penalized": penalized / (attributes * records),
        "linkage": linkage["linkage_sum"].sum() / records,
        "linked": linkage["linked"].sum() / max(published, 1),
        "GCP, sums": f"{total.min():.0f}-{total.max():.0f}",
        "RL, sums": f"{linkage['linkage_sum'].min():.0f}-{linkage['linkage_sum'].max():.0f}",
    }


def assessed(beliefs: Beliefs, history: History, leaving_out: Any = None, draws: int = 0) -> Row:
    """Gain, Equation 8, log score in bits and sure beliefs of an attack, over all published records and by release."""
    gain, score = (measure(beliefs, history, leaving_out=leaving_out) for measure in (adversary_gain, log_score))
    held = disclosures(beliefs, history)[["sure", "expected", "right", "measured"]].sum()
    terms = score_decomposition(beliefs, history, score="log", draws=draws, rng=1).set_index("term")
    interval = terms.loc["miscalibration", ["low", "high"]].to_dict() if draws else {}
    equation_8 = adversary_gain(beliefs, history, absolute=True, leaving_out=leaving_out)["gain"]
    status = np.concatenate([release.posterior.status for release in beliefs])
    return {
        "gain": weighted(gain, "gain"),
        "gain, first": gain["gain"].iloc[0],
        "gain, largest": gain["gain"].max(),
        "gain, last": gain["gain"].iloc[-1],
        "Equation 8": equation_8.mean(),
        "log score": weighted(score, "log_score"),
        "log score, first": score["log_score"].iloc[0],
        "log score, last": score["log_score"].iloc[-1],
        "sure": int(held["sure"]),
        "sure, share": held["sure"] / max(held["measured"], 1),
        "expected": held["expected"] / held["sure"] if held["sure"] else np.nan,
        "right": held["right"] / held["sure"] if held["sure"] else np.nan,
        "miscalibration": terms.loc["miscalibration", "amount"],
        **interval,
        "flagged groups": float((status != 0).mean()),
        "gain by release": gain["gain"].round(3).tolist(),
    }


def weighted(table: pd.DataFrame, column: str) -> float:
    """Mean of a measure over the published records of all releases that have one."""
    known = table[table[column].notna()]
    return float(np.average(known[column], weights=known["measured"])) if len(known) else np.nan


def attacked(
    history: History,
    publications: Iterable[tuple[str, Releases]],
    attacks: Mapping[str, Attack],
    rule_known: Adversary | None = None,
    **options: Any,
) -> Iterator[Row]:
    """One row per publication and attack: its losses and measures; ``rule_known`` also attacks by the rule of m-invariance."""
    for name, releases in publications:
        lost = losses(releases)
        by_rule = signature_attacks(rule_known) if rule_known and name.startswith("MInvariance") else {}
        for attack, carried_out in (attacks | by_rule).items():
            yield {"defense": name} | lost | {"adversary": attack} | assessed(carried_out(releases), history, **options)


def published(
    history: History, defenses: Mapping[str, Defense], defender: Adversary | None = None
) -> Iterator[tuple[str, Releases]]:
    return ((name, publish(history, defense, defender, rng=seeded(1))) for name, defense in defenses.items())


def markdown(found: Iterable[Row | str]) -> Iterator[str]:
    """Lines as they are, and rows as lines of Markdown; a row with other columns than the one before begins a table."""
    columns: list[str] = []
    for each in found:
        if isinstance(each, dict):
            if list(each) != columns:
                columns = list(each)
                yield f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
            yield f"| {' | '.join(map(cell, each.values()))} |"
        else:
            yield each


def cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 1 else f"{value:.4f}"


def print_sections(sections: Iterable[Callable[[], Any]]) -> None:
    """Print the sections named on the command line, or all; each returns rows and lines, or a table of pandas."""
    of_name = {section.__name__: section for section in sections}
    if unknown := set(sys.argv[1:]) - set(of_name):
        raise SystemExit(f"there is no section {', '.join(sorted(unknown))}; there are {', '.join(of_name)}.")
    for name in sys.argv[1:] or of_name:
        print(f"\n## {name}: {of_name[name].__doc__}", flush=True)
        found = of_name[name]()
        for line in markdown([found.round(4).to_string()] if isinstance(found, pd.DataFrame) else found):
            print(line, flush=True)


def machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pandas"))
    return f"{hardware()}; Python {platform.python_version()}, {packages}"


def hardware() -> str:
    """Processor and cores of the machine: runs are compared whatever the versions of the programs."""
    described = Path("/proc/cpuinfo").read_text().split("\n") if Path("/proc/cpuinfo").exists() else []
    models = [line.split(":")[1].strip() for line in described if line.startswith("model name")]
    return f"{[*models, platform.machine()][0]}, {len(models) or 1} cores"


def fill(page: Path, mark: str, lines: Iterable[str]) -> None:
    """Write lines between a mark of a page and the end of its part."""
    before, _, rest = page.read_text().partition(f"<!-- measured: {mark} -->")
    _, _, after = rest.partition("<!-- end -->")
    page.write_text("\n".join([f"{before}<!-- measured: {mark} -->", "", *lines, "", f"<!-- end -->{after}"]))


def keep_section(section: str, page: Path, title: str) -> None:
    """Write the section of a machine to a page, in place of its earlier one."""
    head, *parts = (page.read_text() if page.exists() else title).split("\n## ")
    name = section.split("\n", 1)[0]
    kept = [f"## {part.rstrip()}" for part in parts if f"## {part.split(chr(10), 1)[0]}" != name]
    page.write_text("\n\n".join([head.rstrip(), *kept, section.rstrip()]) + "\n")
