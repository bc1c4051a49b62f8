"""The command `foreknow compare`: the same records under several defenses or settings, with their risk and price."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
import typer

from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.adversary_knowledge import (
    KNOWLEDGE_OPTIONS,
    Learning,
    assumed_adversary,
    ghost_chain,
    informed_adversary,
    knowing_ghosts,
    knowing_terminal,
    learned_adversary,
)
from foreknow.app.cli.attack_choices import (
    SCENARIO_TEXT,
    Corpus,
    SolverName,
    check_scenarios,
    notice_compilation,
    read_scenario,
    solver_choice,
)
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.defense_choices import (
    CHOICES,
    FLAGS,
    NOISY,
    DefenseChoice,
    DefenseOptions,
    defense_choice,
    defense_text,
    fresh_seed,
    seeded_generator,
)
from foreknow.app.cli.files.run_settings import run_settings
from foreknow.app.cli.files.written_tables import write_table
from foreknow.app.cli.options import (
    KNOWLEDGE_PANEL,
    OUTPUT_PANEL,
    FailOver,
    Overwrite,
    ReadTable,
    Seed,
    Sure,
    TableOptions,
    check_sure,
    checked_name,
    choice_names,
    option,
    option_text,
    output_folder,
)
from foreknow.app.cli.terminal import PrintedTable, TimeLeft, definitions, notice, paragraph, say, say_verdict, show
from foreknow.app.cli.typed_commands import BOUNDS, SUPPRESSED_AS_TRIED, next_lines, unused_path
from foreknow.app.exposure import Verdict
from foreknow.app.publication import SETTINGS
from foreknow.app.report.adversaries import (
    INFEASIBLE,
    LEARNED,
    SIZES,
    Trial,
    best_setting,
    cannot_be_made,
    compared_by,
    detail_lost,
    sides_of_row,
    stricter_sizes,
    trial,
)
from foreknow.app.report.report import ATTACKS, KNOWLEDGE, PUBLICATION, Step
from foreknow.attacks import JointAttack
from foreknow.defenses import Cohorts, Defense, NoisyCounts, Promise
from foreknow.evaluation import Workload
from foreknow.evaluation.boxes import domains
from foreknow.evaluation.cells import Cell, Experiment, fingerprint, keys, read
from foreknow.evaluation.cells import run as run_cells
from foreknow.evaluation.checks.program import checksum
from foreknow.evaluation.scenario import SCENARIOS, Scenario
from foreknow.models import Adversary, Auto, Averaged, Beliefs, History, Release
from foreknow.models.joint.problem import with_progress
from foreknow.models.progress import Progress, stepping
from foreknow.models.tables.table_files import files_of

COMPARED = ("js-reduce", "mondrian", "anatomy")
"""Defenses that are compared if none is named: one that assumes an adversary, one that generalizes, one that does not."""

SWEPT = ("k", "l", "t", "beta", "j", "m", "a", "size", "cells", "epsilon", "rho", "gain")
"""Options that --sweep can vary."""

FRACTIONS = ("t", "beta", "j", "epsilon", "rho", "gain")
"""Those of them that are no whole numbers."""

QUERIES, SANITY_BOUND = 1_000, 0.001
"""Number of counting queries by which noisy counts and groups are compared, and the least share of the records that divides an
error."""


@dataclass(frozen=True)
class CompareRun:
    """Options of `foreknow compare`."""

    context: typer.Context
    table: TableOptions
    thresholds: DefenseOptions
    known: Learning
    defense: Annotated[
        list[str],
        option(
            f"Defense to compare. Repeatable; by default {', '.join(COMPARED)}. "
            f"There are {', '.join(choice_names('defense', CHOICES))}.",
            "NAME",
            callback=lambda names: [checked_name("defense", name, CHOICES) for name in names],
        ),
    ] = field(default_factory=list)
    sweep: Annotated[
        str | None,
        option(
            "Values of one threshold to try with each defense: k=3,5,10. js-reduce alone, if no --defense is named.",
            "NAME=X,X",
        ),
    ] = None
    scenario: Annotated[
        list[str],
        option(
            f"Who attacks, in the place of the two adversaries: {SCENARIO_TEXT} Repeatable.",
            "FILE_OR_NAME",
            KNOWLEDGE_PANEL,
        ),
    ] = field(default_factory=list)
    sure: Sure = 0.9
    fail_over: FailOver = None
    solver: SolverName = "group-graph"
    seed: Seed = None
    corpus: Corpus = None
    out: Annotated[
        Path | None, output_folder("Folder for comparison.csv, the table that is printed, and settings.json.")
    ] = None
    keep: Annotated[
        Path | None,
        option(
            "Folder in which the measures of each setting are kept: the same command with the same --seed goes on with a "
            "comparison that was killed.",
            "FOLDER",
            OUTPUT_PANEL,
        ),
    ] = None
    overwrite: Overwrite = False

    @property
    def inputs(self) -> list[Path]:
        """All input files."""
        named = [Path(text) for text in self.scenario if text not in SCENARIOS]
        return [path for path in (*self.table.files, self.corpus, *named) if path is not None]


class Compared(NamedTuple):
    """A defense that is compared, and its options; the title is its name with the value of the swept option.

    ``problem`` tells why it cannot be made; empty if it can.
    """

    title: str
    name: str
    options: DefenseOptions
    choice: DefenseChoice
    problem: str = ""

    @property
    def defense(self) -> Defense:
        """The defense; each call makes a new one, whose random generator is at its start."""
        return self.choice.make(self.options)

    def given(self, known: History, learning: Learning) -> Defense:
        """The defense with the chain of its ghosts, as `foreknow publish` learns it from the records that are known."""
        made = self.defense
        if isinstance(made, Cohorts) and made.departures == "ghosts":
            return replace(made, transitions=ghost_chain(known, learning))
        if isinstance(made, NoisyCounts):  # on trial, with noise that is not for release
            return replace(made, rng=seeded_generator(self.options.seed, 2))
        return made

    @property
    def promise(self) -> Promise | None:
        """The promise of noisy counts; None for groups."""
        made: Any = None if self.problem else self.defense
        return made.promise if isinstance(made, NoisyCounts) else None

    @property
    def arguments(self) -> str:
        """The defense as `foreknow publish` takes it, with each option that was given and that it reads."""
        given = [name for name in FLAGS if name in self.options.given and name in self.choice.options]
        return " ".join([f"--defense {self.name}", *(option_text(name, getattr(self.options, name)) for name in given)])


def compared(names: Sequence[str], sweep: str | None, options: DefenseOptions) -> list[Compared]:
    """The defenses to compare, each with the options that it reads.

    Raises
    ------
    ValueError
        If an option was given that none of the defenses reads, a sweep is not written as ``k=3,5,10``, or none can be made.
    """
    chosen = list(dict.fromkeys(names)) or list(COMPARED if sweep is None else COMPARED[:1])
    swept, values = ("", [0.0]) if sweep is None else _swept(sweep)
    read = {name for each in chosen for name in defense_choice(each).options}
    for name in sorted((options.given & set(FLAGS)) - read - {"seed"}):
        raise ValueError(f"{', '.join(chosen)}: none reads {FLAGS[name]}; leave it out.")
    tried, errors = [], []
    for name in chosen:
        if swept and swept not in defense_choice(name).options:
            errors.append(
                ValueError(f"{name} does not read {FLAGS[swept]}, which --sweep varies; leave one of them out.")
            )
            tried.append(Compared(name, name, options, defense_choice(name), cannot_be_made(errors[-1])))
            continue
        for value in values:
            changed: dict[str, Any] = {swept: value, "given": options.given | {swept}} if swept else {}
            title = f"{name} {swept}={value:g}" if swept else name
            one = Compared(title, name, replace(options, **changed), defense_choice(name))
            try:
                _ = one.defense  # a threshold out of its range is found before anything is published
            except ValueError as error:
                errors.append(error)
                one = one._replace(problem=cannot_be_made(error))
            tried.append(one)
    if len(errors) == len(tried):
        raise errors[0]
    return tried


def other_settings(tried: Sequence[Compared], weaker: bool) -> str:
    """Options of a comparison with other sizes than those tried: of the groups, or of the numbers of distinct values.

    Stricter ones are those of the report beyond the largest, with the other thresholds that were given. Weaker ones are the
    smallest sizes, without other thresholds.
    """
    size = next((name for name in SIZES if any(name in each.choice.options for each in tried)), None)
    if size is None:
        return ""
    readers = [each for each in tried if size in each.choice.options]
    tried_sizes = [
        int(getattr(each.options, size) or 2) for each in readers
    ]  # numbers of distinct values are 2 by default
    if weaker and min(tried_sizes) <= 2:
        return ""
    sizes, kept = ([2, 3], []) if weaker else (stricter_sizes(size, max(tried_sizes)), list(FLAGS))
    options = readers[0].options
    read = {name for each in readers for name in each.choice.options} & options.given - {size}
    names = [f"--defense {name}" for name in dict.fromkeys(each.name for each in readers)]
    more = [option_text(name, getattr(options, name)) for name in kept if name in read]
    return " ".join([*names, *more, f"--sweep {size}={','.join(map(str, sizes))}"])


def _swept(sweep: str) -> tuple[str, list[float]]:
    name, _, listed = sweep.partition("=")
    name = name.strip().lstrip("-")
    try:
        values: list[float] = [int(text) if name not in FRACTIONS else float(text) for text in listed.split(",")]
    except ValueError:
        values = []
    if name not in SWEPT or not values or min(values) <= 0:
        raise ValueError(f"--sweep {sweep!r} is not one of {', '.join(SWEPT)} with its values; write --sweep k=3,5,10.")
    return name, list(dict.fromkeys(values))


COMPARISON = "comparison.csv"
"""File of the table in --out."""

TERMS = {
    "exposed": "number of respondents with a sure belief in their true value at a release, and not before any release, by the "
    "joint attack in hindsight; the larger of an adversary who knows the records' frequencies and of one who knows the "
    "releases alone; or with --scenario the largest of the scenarios",
    "at most": "number of respondents whom no adversary of the same knowledge can be proved not to expose; none without a bound "
    "(docs/methods/cohorts.md{of_noise})",
    "verdict": "the share of exposed respondents is over the bound of --fail-over, within it with at most, or not decided",
    "suppressed": "share of the records that are suppressed",
    "invented": "share of the published records that are invented",
    "lost": "detail lost: generalization of a record (GCP), all of a suppressed one, and the share invented; 0 exact, 1 no "
    "information. Where quasi-identifiers stay exact it tells nothing of the loss, and the error of queries ranks",
    "size": "mean number of records of a group or a cell",
    "query error": "median relative error of counting queries answered from the publication, mean over the releases",
    "gain": "mean over the records of (belief in the true value - b) / (1 - b), where b is its probability before any release; a "
    "group of c tells 1/c to one who knows nothing else",
    "promise": "mean gain of an adversary who knows all others, at most, and epsilon of a whole path (at delta 1e-06 for "
    "Gaussian noise); groups promise neither",
    "seconds": "time to publish, without the attacks",
}
"""Meaning of the columns."""


OF_NOISE = "; of noisy counts docs/methods/noise.md: each belief passes a bound of Gaussian noise with a chance of at most 1e-06"
"""Addition to the meaning of the upper side where noise is compared."""


def compare_command(run: CompareRun) -> Outcome:
    r"""Run `foreknow compare`; its help text has the paragraphs below.

    Each is a trial, which is not written. The attack is the joint one in hindsight, by the adversaries of foreknow report; or with
    --scenario those of the scenarios.

    With --fail-over the setting of the least detail lost is proposed among those within that bound, or else among those not
    decided. Where one leaves quasi-identifiers exact or adds noise, that is the least error of counting queries.

    Noisy counts need --releases and one of --gain, --epsilon and --rho; the promise stands beside each setting. The exit status is
    1 if no setting publishes a record or, with --fail-over, all are over it.


    For example:
    records.csv has the columns id, week, age, city and diagnosis:
      foreknow compare records.csv --qi age --qi city --sensitive diagnosis \
        --defense mondrian --sweep k=3,6,12
    """
    check_sure(run.sure)
    scenarios = {text: read_scenario(text) for text in run.scenario}
    if scenarios:
        beside = {*(each.name for each in fields(CompareRun)), *FLAGS, *KNOWLEDGE_OPTIONS, "as_json", "config"} - {
            "sure",
            "solver",
        }
        check_scenarios(run.context, scenarios, run.corpus is not None, [*beside])
    if run.keep is not None and run.seed is None:
        raise ValueError("--keep needs a seed, by which the comparison goes on; add --seed, as --seed 1.")
    used = fresh_seed() if run.seed is None else run.seed
    tried = compared(run.defense, run.sweep, run.thresholds.of_run(run.context, used))
    if run.out is not None:
        check_output(run.out, [COMPARISON, SETTINGS], run.inputs, run.overwrite)
    notice_compilation()
    found = measured(run, used, tried, scenarios)
    made = found[found["exposed"].notna()].to_dict("index")
    chosen = None if run.fail_over is None else best_setting(list(made.values()), run.fail_over)
    best = next((int(str(number)) for number, row in made.items() if row is chosen), None)
    verdict = _verdict(found, best, run.fail_over)
    say_verdict(verdict)
    shown, is_known = found[list(SHOWN)].copy(), found["exposed"].notna()
    shown["at_most"] = [
        "–" if not known else "none" if pd.isna(most) else f"{most:,}"
        for known, most in zip(is_known, shown["at_most"], strict=True)
    ]
    shown = shown.drop(columns=["invented"] * (not shown["invented"].any()) + ["verdict"] * (run.fail_over is None))
    promises = [one.promise for one in tried]
    if any(promises):
        shown["lost"] = ["none" if pd.isna(each) else f"{each:.3f}" for each in shown["lost"]]
        shown["promise"] = [_promised(each) for each in promises]
    else:
        shown = shown.drop(columns="gain")
    printed = shown.rename(columns=SHOWN)
    show(PrintedTable(printed, "Risk and price"))
    of_noise = OF_NOISE if any(promises) else ""
    show(definitions({name: text.format(of_noise=of_noise) for name, text in TERMS.items() if name in printed}))
    if made:
        settings = [defense_text(one.defense) for one, known in zip(tried, is_known, strict=True) if known]
        paragraph(f"With the defaults: {'; '.join(dict.fromkeys(settings))}.")
    for row in found[~is_known].itertuples():
        notice(f"{row.setting}: {row.problem}")
    if run.out is not None:
        with atomic_output(run.out, run.inputs, run.overwrite) as folder:
            write_table(found, folder / COMPARISON, private=True)
            write_json(folder / SETTINGS, run_settings(run.context, run.inputs, used))
        say(f"The table, for you alone: {run.out / COMPARISON}. How it was made: {SETTINGS} beside it.")
    say(verdict, f"Seed: {used}.")
    for each, least in zip(tried, found["values"], strict=True):
        if (
            "l" in each.options.given
            and "l" in each.choice.options
            and pd.notna(least)
            and least > (each.options.l or 0)
        ):
            notice(f"{each.title}: each group shows {least:.0f} values or more, over -l {each.options.l}.")
    if best is None and (run.fail_over is not None or not made):
        options = other_settings(tried, weaker=bool(found["exposed"].isna().all()))
        say(*next_lines(run.context, "compare", options, also=("solver", *BOUNDS, *KNOWLEDGE_OPTIONS)))
    elif best is not None:
        noisy = tried[best].name == NOISY
        needed = "--values FILE" if noisy else f"--infeasible {INFEASIBLE} {option_text('seed', used)}"
        more = (tried[best].arguments, needed, f"--out {unused_path('release')}")
        read = [name for name in KNOWLEDGE_OPTIONS if name in tried[best].choice.options]
        said = "FILE lists every sensitive value that may occur, one a line." if noisy else SUPPRESSED_AS_TRIED
        say(said, *next_lines(run.context, "publish", *more, also=read))
    sure: Any = {name: one.threshold for name, one in scenarios.items()} or run.sure
    content = {
        "sure": sure,
        "fail_over": run.fail_over,
        "solver": None if scenarios else run.solver,
        "seed": used,
        "settings": found,
    }
    failed = not made or (run.fail_over is not None and best is None)
    return Outcome(content | {"best": None if best is None else tried[best].title}, failed)


def _promised(promise: Promise | None) -> str:
    """A promise in one cell."""
    return "none" if promise is None else f"gain {promise.gain:.2g}, epsilon {promise.epsilon_delta:.2g}"


def _verdict(found: pd.DataFrame, best: int | None, fail_over: float | None) -> str:
    """The verdict in one line: the settings of the best state, and the one proposed; without a bound, the frontier."""
    if found["exposed"].isna().all():
        return "FAILED: no setting publishes a record. The next command tries weaker ones."
    if fail_over is None:
        names = ", ".join(found.loc[_frontier(found), "setting"])
        return f"No setting exposes fewer people at a lower price than these: {names}. {BOUND_FIRST}"
    if best is None:
        return f"{Verdict.OVER.of(fail_over)}: every setting. The next command tries stricter ones."
    name, state = found["setting"][best], found["verdict"][best]
    of_state = found[found["verdict"] == state]
    under, price = ", ".join(of_state["setting"]), PRICES[compared_by(of_state.to_dict("records"))]
    return f"{Verdict(state).of(fail_over)}: {under}. The least {price} among them: {name}."


BOUND_FIRST = "For a proposal name the share of people that may be exposed: --fail-over, as --fail-over 0.02."
"""What a comparison without a bound lacks."""

PRICES = {"lost": "detail lost (GCP)", "query_error": "error of queries"}
"""Prices by which settings are ranked, in words."""


def _frontier(found: pd.DataFrame) -> list[int]:
    """Rows that no other one beats: no more people exposed on both sides, no higher price, and one of these lower."""
    known = found[found["exposed"].notna()]
    numbers = (
        known[["exposed", "at_most", compared_by(known.to_dict("records"))]].astype(float).fillna(np.inf).to_numpy()
    )
    beaten = [((numbers <= each).all(axis=1) & (numbers < each).any(axis=1)).any() for each in numbers]
    return known.index[~np.array(beaten, dtype=bool)].tolist()


SHOWN = {
    "setting": "defense",
    "exposed": "exposed",
    "at_most": "at most",
    "verdict": "verdict",
    "suppressed": "suppressed",
    "invented": "invented",
    "lost": "lost",
    "group_size": "size",
    "query_error": "query error",
    "gain": "gain",
    "seconds": "seconds",
}
"""Columns that are printed, and their headings."""


PHASES = {
    "publishing": PUBLICATION,
    "attack by the informed adversary": ATTACKS["all releases in hindsight"],
    "learning from the releases": KNOWLEDGE[LEARNED],
    "attack by the one who learned": ATTACKS["all releases in hindsight"],
}
"""Phases of a setting, and their costs."""


def measured(run: CompareRun, seed: int, tried: Sequence[Compared], scenarios: Mapping[str, Scenario]) -> pd.DataFrame:
    """Risk and price, one row per setting, in their order: each is published, and attacked by two adversaries, or by scenarios."""
    records = run.table.read(run.corpus)
    phases, made = PHASES, [each for each in tried if not each.problem]
    workload = _workload(records.history, made, seed)
    if scenarios:
        cost = KNOWLEDGE[LEARNED] + ATTACKS["all releases in hindsight"]
        phases = {"publishing": PUBLICATION} | {f"attack of {name}": cost for name in scenarios}
    adversary: dict[str, Any] = {"known": repr(run.known), "sure": run.sure, "solver": run.solver, "seed": seed}
    described = adversary | {
        f"scenario {number}": f"{name}: {one.to_toml()}" for number, (name, one) in enumerate(scenarios.items())
    }
    cells = [{"setting": each.title, "arguments": each.arguments} | described for each in made]
    data = "" if run.keep is None else fingerprint_of(run.table, run.corpus)
    trials: _Trials

    def measure(cell: Cell, _: np.random.Generator) -> pd.DataFrame:
        return pd.DataFrame([trials.row(each) for each in made if each.title == cell["setting"]])

    experiment = Experiment("compare", measure, cells, data=data)
    kept = [] if run.keep is None else list(kept_cells(experiment, run.keep).get("setting", ()))
    left = [each for each in made if each.title not in kept]
    with TimeLeft("learning what is known") as shown:
        defender = assumed_adversary(records.history, records.corpus, run.known)
        step = stepping(
            shown.steps, [Step(f"{each.title}: {phase}", cost) for each in left for phase, cost in phases.items()]
        )
        if scenarios:
            attacks = _by_scenarios(records.history, records.corpus, scenarios, seed)
        else:
            attacks = _by_adversaries(run, seed, records, shown.parts, step)
        sure = {name: one.threshold for name, one in scenarios.items()} or run.sure
        trials = _Trials(
            records,
            run.known,
            seed=seed,
            defender=defender,
            attacks=attacks,
            sure=sure,
            workload=workload,
            phases=len(phases),
            step=step,
            parts=shown.parts,
        )
        if run.keep is None:
            rows = pd.DataFrame([{"setting": each.title} | trials.row(each) for each in made])
        else:
            rows = run_cells([experiment], run.keep).query("not stale")
    return _by_setting(rows, tried, attacks, run.fail_over)


def _workload(history: History, made: Sequence[Compared], seed: int) -> Workload | None:
    """Queries by which exact and noisy settings are compared with others, where the table has several domains or there is noise."""
    noisy = [each for each in made if each.name == NOISY]
    for each in noisy:
        if len(history) > (each.options.releases or 0):
            raise ValueError(
                f"--releases {each.options.releases} is the number for which the noise is set, and the records have {len(history)} "
                "releases; raise it."
            )
    if noisy or any(len(domain) > 1 for domain in domains(history)):
        return Workload.draw(history, rng=seed, queries=QUERIES, sanity_bound=SANITY_BOUND)
    return None


class _Trials(NamedTuple):
    """Records, attacks and measures of all trials; ``step`` is called before each of the ``phases`` of a trial."""

    records: ReadTable
    known: Learning
    seed: int
    defender: Adversary
    attacks: Mapping[str, Trial]
    sure: float | Mapping[str, float]
    workload: Workload | None
    phases: int
    step: Callable[[], None]
    parts: Progress

    def row(self, each: Compared) -> dict[str, Any]:
        """Risk and price of a setting; the seconds are those until the first attack."""
        self.step()
        history, corpus = self.records.history, self.records.corpus
        start, begun = time.perf_counter(), dict[str, float]()

        def attacked(attack: Trial, *published: Any) -> Any:
            begun.setdefault("attack", time.perf_counter())
            self.step()
            return attack(*published)

        row = trial(
            history,
            each.given(history if corpus is None else corpus, self.known),
            {name: partial(attacked, attack) for name, attack in self.attacks.items()},
            self.sure,
            defender=self.defender if each.choice.assumes_adversary else None,
            # The order of records is drawn anew for each setting, as by a publication with this seed.
            rng=seeded_generator(self.seed, 1),
            within=self.parts,
            workload=self.workload,
        )
        if row["problem"]:
            for _ in range(self.phases - 1):
                self.step()
        else:
            exposed = max(row[f"exposed_{name}"] for name in self.attacks)
            upper = [row[f"at_most_{name}"] for name in self.attacks]
            row |= {"lost": detail_lost(row), "at_most": None if None in upper else max(upper)}
            row |= {"publishing": begun["attack"] - start, "exposed": exposed}
            row["share"] = exposed / max(row["respondents"], 1)
        promise = each.promise
        told = {} if promise is None else {"promised_gain": promise.gain, "promised_epsilon": promise.epsilon_delta}
        return row | told


def _by_setting(
    rows: pd.DataFrame, tried: Sequence[Compared], attacks: Mapping[str, Trial], fail_over: float | None
) -> pd.DataFrame:
    """Rows of trials in the order of the settings, with those that cannot be made, and the verdict of each."""
    refused = [{"setting": each.title, "problem": each.problem} for each in tried if each.problem]
    rows = pd.concat([rows, pd.DataFrame(refused)]).set_index("setting").loc[[each.title for each in tried]]
    rows = rows.reset_index().assign(seconds=rows["publishing"].to_numpy() if "publishing" in rows else np.nan)
    sides = [f"{side}_{name}" for side in ("exposed", "at_most") for name in attacks]
    noisy = any(each.name == NOISY and not each.problem for each in tried)
    promised = ["promised_gain", "promised_epsilon"] if noisy else []
    columns = [*SHOWN, "share", "gcp", "exact", "values", *promised, *sides, "respondents", "problem"]
    whole = dict.fromkeys(("exposed", "at_most", *sides), "Int64")
    rows = rows.reindex(columns=columns).astype(whole).reset_index(drop=True)
    states = [
        None if pd.isna(row["exposed"]) else str(sides_of_row(row).verdict(fail_over))
        for row in rows.to_dict("records")
    ]
    return rows.assign(verdict=pd.Series(states, dtype=object))


def fingerprint_of(table: TableOptions, corpus: Path | None) -> str:
    """Fingerprint of the files of records, and of how they are read."""
    files = [file for path in (*table.files, corpus) if path is not None for file in files_of(path)]
    return fingerprint(list(map(checksum, files)), repr(replace(table, records=Path())))


def kept_cells(experiment: Experiment, folder: Path) -> pd.DataFrame:
    """Rows of the cells that are not measured again; the number of those of other code is printed."""
    rows = read([experiment], folder)
    own = rows[rows["key"].isin(keys([experiment]))]
    if number := own.loc[own["stale"], "key"].nunique():
        notice(f"{folder}: {number} of the kept cells of {experiment.name} are of other code; they are measured again.")
    return own[~own["stale"]]


def _by_adversaries(
    run: CompareRun, seed: int, records: ReadTable, parts: Progress, step: Callable[[], None]
) -> dict[str, Trial]:
    """Joint attacks in hindsight of the two adversaries of `foreknow report`; ``step`` is called after learning."""
    solver = with_progress(solver_choice(run.solver, seed), parts)
    informed = informed_adversary(records.history if records.corpus is None else records.corpus, run.known, Auto())

    def by_informed(releases: tuple[Release, ...], defense: Defense) -> tuple[Beliefs, Adversary]:
        adversary = knowing_terminal(knowing_ghosts(informed, releases), releases, defense)
        return JointAttack(adversary, solver)(releases), adversary

    def by_learned(releases: tuple[Release, ...], defense: Defense) -> tuple[Beliefs, Adversary]:
        learned = knowing_terminal(learned_adversary(releases, run.known, Auto(), parts), releases, defense)
        step()
        return JointAttack(learned, solver)(releases), learned

    return {"informed": by_informed, "learned": by_learned}


def _by_scenarios(
    history: History, corpus: History | None, scenarios: Mapping[str, Scenario], seed: int
) -> dict[str, Trial]:
    def by_scenario(
        one: Scenario, releases: tuple[Release, ...], _defense: Defense
    ) -> tuple[Beliefs, Adversary | Averaged | None]:
        reads = history if one.reads_history else None, corpus if one.reads_corpus else None
        attack, _ = one.attack(*reads, rng=seed).on(releases)
        return attack(releases), getattr(attack, "adversary", None)

    return {name: partial(by_scenario, one) for name, one in scenarios.items()}
