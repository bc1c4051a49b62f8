"""Comparison with other programs: the same records, the same requirements, the same measures.

``python benchmarks/peers.py`` runs every program and writes the result to benchmarks/peers.md, in the section of this machine. With
arguments (``pycanon``, ``foreknow``, ...) it runs the named programs and prints the result. Each program has an environment of its
own under build/peers, which needs the network once.
"""

import json
import shutil
import statistics
import sys
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

import pandas as pd  # noqa: E402
from comparisons import LEAKAGES, agreed, agreement, leakages, table  # noqa: E402
from environments import FOLDER, Program, Unavailable, output_of, runner  # noqa: E402
from judged import judged  # noqa: E402
from runners import QUASI_IDENTIFIERS, SENSITIVE, K, L, T, records  # noqa: E402
from tables import keep_section, machine  # noqa: E402

from foreknow.evaluation import adult  # noqa: E402
from foreknow.models import View  # noqa: E402

SHARED = HERE.parents[1] / "shared" / "data"
DATA = FOLDER / "data"
RESULTS = HERE / "peers.md"
LIMIT = 1800.0

MEASURED = (
    "program",
    "call",
    "seconds",
    "MiB",
    "groups",
    "distinct by labels",
    "suppressed",
    "discernibility, 10^6",
    "GCP of groups",
    "suppressed as 1",
    "as published",
    "k, l, t",
    "satisfied",
)

NOT_RUN = """\
Not run: ARX 3.9 (Java), which is on no package index. An earlier measurement used a bootstrap of 45,222 from Adult's 30,162
training rows, full-domain generalization, at most a tenth of the records suppressed, and warm runs: 0.08 s for k (798
groups, 1,899 records suppressed), 0.12 s for l (747 groups), 0.15 s for t (169 groups, 4,118 suppressed)."""

ANY = ("3.13", "3.12", "3.11")
COMPARED = ("pycanon", "qif")
"""Programs that publish nothing: their measures are compared with those of foreknow."""
PROGRAMS = {
    program.name: program
    for program in (
        Program("foreknow", (), ANY, ()),
        Program("anjana", ("anjana==1.2.3",), ANY, ("k", "k, l", "k, t")),
        Program("umbra-k", ("umbra-k==0.1.0",), ANY, ("k",)),
        Program("lighthouse", ("project-lighthouse-anonymize==1.0.0",), ("3.12", "3.11"), ("k",)),
        # The program always imports Spark, which it lists as optional.
        Program("polarfrost", ("polarfrost==0.2.1", "pyspark==3.5.5"), ("3.11", "3.10"), ("k",)),
        # The program lists no dependencies.
        Program(
            "anonymity-api",
            ("anonymity-api==1.0.4", "pandas==2.3.3"),
            ANY,
            ("k", "k, words", "l", "t"),
        ),
        Program("privattacks", ("privattacks==1.4",), ANY, ("posterior vulnerability",)),
        Program("pycanon", ("pycanon==1.3.5",), ANY, ()),
        Program("qif", ("qif==1.6.0",), ANY, ()),
    )
}


def prepare() -> View:
    DATA.mkdir(parents=True, exist_ok=True)
    (view,) = adult(SHARED / "adult", SENSITIVE, QUASI_IDENTIFIERS, SHARED / "adult-hierarchies")
    frame = view.frame[["id", *QUASI_IDENTIFIERS, SENSITIVE]].rename(columns={"id": "row"})
    frame.to_csv(DATA / "records.csv", index=False)
    shutil.copytree(SHARED / "adult-hierarchies", DATA / "hierarchies", dirs_exist_ok=True)
    source = {"adult": str(SHARED / "adult"), "hierarchies": str(SHARED / "adult-hierarchies")}
    (DATA / "source.json").write_text(json.dumps(source))
    return view


def measured(program: Program) -> list[tuple[object, ...]]:
    try:
        command = [*runner(program), str(DATA)]
        calls = program.calls or json.loads(output_of([*command, "list"]))
    except Unavailable as why:
        return [(program.name, "", f"not run: {why}")]
    return [(program.name, call, *row_of(call, command)) for call in calls]


def row_of(call: str, command: list[str]) -> tuple[object, ...]:
    """Row of one call: its time, in a process of its own, and the measures of the published table."""
    print(command[2], call, file=sys.stderr)
    try:
        answer = json.loads(output_of([*command, call], LIMIT).splitlines()[-1])
    except Unavailable as why:
        return (f"not run: {why}",)
    once = " (once)" if len(answer["seconds"]) == 1 else ""
    head = (f"{statistics.median(answer['seconds']):.2f}{once}", f"{answer['peak']:.0f}")
    if "path" not in answer:
        return (*head, f"{answer['vulnerability']:.4f}; plain pandas {vulnerability():.4f}")
    found = judged(pd.read_csv(answer["path"], dtype=dict.fromkeys(QUASI_IDENTIFIERS, str)), records(DATA), DATA)
    counts = (f"{found[name]:,}" for name in ("groups", "labels", "suppressed"))
    blurred = (f"{found[name]:.3f}" for name in ("gcp of groups", "gcp of all", "gcp as published"))
    has = f"{found['k']}, {found['l']}, {found['t']:.3f}"
    return (*head, *counts, f"{found['discernibility'] / 1e6:.2f}", *blurred, has, verdict(call, found))


def verdict(call: str, found: dict[str, float]) -> str:
    """Return "yes" if a published table satisfies the requirements after the colon of the call."""
    claims = {"k": found["k"] >= K, "l": found["l"] >= L, "t": found["t"] <= T + 1e-9}
    broken = [letter for letter in call.split(":")[-1].replace(" ", "").split(",") if not claims.get(letter, True)]
    return f"no: {', '.join(broken)}" if broken else "yes"


def vulnerability() -> float:
    """Success rate of guessing the most frequent value among records with equal quasi-identifiers."""
    counts = records(DATA).groupby([*QUASI_IDENTIFIERS, SENSITIVE]).size()
    return float(counts.groupby(level=QUASI_IDENTIFIERS).max().sum() / counts.sum())


def main() -> None:
    wanted = [PROGRAMS[name] for name in sys.argv[1:] or PROGRAMS]
    view = prepare()
    lines = [
        f"## {machine()}",
        "",
        f"Taken {date.today().isoformat()}. Adult, {len(view):,} rows; quasi-identifiers {', '.join(QUASI_IDENTIFIERS)};",
        f"sensitive {SENSITIVE}; k = {K}, distinct l = {L}, t = {T:g} by equal distance; median of three warm runs, or one",
        "run of more than 5 s. Discernibility counts a suppressed record as the whole table (Bayardo, Agrawal 2005). The three",
        "GCP, 0 to 1, are those of the tightest labels that the members of a group share; the same with suppressed records as",
        "1; and of the labels as published.",
        "",
    ]
    lines += table(MEASURED, [row for program in wanted if program.name not in COMPARED for row in measured(program)])
    lines += ["", NOT_RUN]
    if PROGRAMS["pycanon"] in wanted:
        lines += ["", "### pycanon and foreknow on the same tables", ""]
        lines += agreed(*agreement(PROGRAMS["pycanon"], view, DATA))
    if PROGRAMS["qif"] in wanted:
        lines += ["", "### Information flow by qif, privattacks and foreknow", ""]
        lines += table(LEAKAGES, leakages(PROGRAMS["qif"], PROGRAMS["privattacks"], view, DATA))
    print("\n".join(lines))
    if not sys.argv[1:]:
        keep_section(
            "\n".join(lines), RESULTS, "# Comparison with other programs\n\nWritten by `python benchmarks/peers.py`.\n"
        )


if __name__ == "__main__":
    main()
