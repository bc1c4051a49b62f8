"""The command `foreknow run`: a grid of defenses, scenarios and seeds from a file, measured cell by cell."""

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np
import pandas as pd
import typer

from foreknow.app.atomic_output import atomic_output, check_output
from foreknow.app.cli.adversary_knowledge import Learning, assumed_adversary
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.compare_command import Compared, fingerprint_of, kept_cells
from foreknow.app.cli.defense_choices import BUILT_IN, FLAGS, DefenseOptions, seeded_generator
from foreknow.app.cli.files.written_tables import write_table
from foreknow.app.cli.options import OUTPUT_PANEL, Overwrite, TableOptions, option
from foreknow.app.cli.terminal import PrintedTable, say, show, tracked
from foreknow.defenses import publish
from foreknow.evaluation.cells import Cell, Experiment
from foreknow.evaluation.cells import run as run_cells
from foreknow.evaluation.datasets.exams import exams
from foreknow.evaluation.datasets.pbc import pbc
from foreknow.evaluation.measures import ALONE, BELIEF_MEASURES, MEASURES
from foreknow.evaluation.scenario import Scenario, check_near
from foreknow.models import History
from foreknow.models.settings import is_whole
from foreknow.models.tables.table_files import existing_file

KEYS = ("seeds", "scenarios", "measures", "history", "knowledge", "defense")
"""Keys of an experiment."""

DATA, SIZES = ("exams", "pbc"), ("releases", "records")
"""Histories that need no file, and the keys of the size of the first."""

DEFAULT_MEASURES = ("risk_table", "suppressed", "gcp")

FIRST = ("gain", "confidence", "suppressed_share", "gcp")
MOST_SHOWN = 4
"""Columns of the summary, before others, and their largest number."""


@dataclass(frozen=True)
class GridRun:
    """Options of `foreknow run`."""

    context: typer.Context
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="TOML file of the experiment.")]
    keep: Annotated[
        Path | None,
        option(
            "Folder of the measurements, with which a run that was killed goes on; by default EXPERIMENT.cells beside the "
            "file. It holds no records.",
            "FOLDER",
            OUTPUT_PANEL,
        ),
    ] = None
    out: Annotated[
        Path | None,
        option("File of the table: .csv or .parquet, one row per cell and release.", "FILE", OUTPUT_PANEL),
    ] = None
    workers: Annotated[int, option("Number of processes.", "N", min=1)] = 1
    overwrite: Overwrite = False


@dataclass(frozen=True)
class Grid:
    """An experiment as its file describes it: `read_grid`."""

    seeds: tuple[int, ...]
    scenarios: Mapping[str, Scenario]
    measures: tuple[str, ...]
    table: TableOptions | None
    corpus: Path | None
    simulated: tuple[Any, ...]  # name and size of a history that needs no file
    knowledge: tuple[dict[str, Any], ...]
    defenses: tuple[tuple[str, dict[str, Any]], ...]

    @property
    def cells(self) -> list[dict[str, Any]]:
        """All cells: each defense with each knowledge that it reads, under each scenario, for each seed."""
        listed = []
        for (name, options), scenario, seed in itertools.product(self.defenses, self.scenarios, self.seeds):
            settings = None if not Path(scenario).suffix else "; ".join(self.scenarios[scenario].to_toml().splitlines())
            for known in self.knowledge if BUILT_IN[name].assumes_adversary else [{}]:
                end = {"scenario": scenario, "scenario_settings": settings, "measures": " ".join(self.measures)}
                listed.append({"defense": name, **options, **known, **end, "seed": seed})
        return listed

    def histories(self, seed: int) -> tuple[History, History | None, History | None]:
        """The history, the corpus of the defender, and the corpus of the scenarios."""
        if self.table is not None:
            read = self.table.read(self.corpus)
            return read.history, read.corpus, read.corpus
        name, *size = self.simulated
        if name == "pbc":
            return pbc(), None, None
        one, other = (exams(*size, rng=rng).history for rng in (seed, seeded_generator(seed, 1)))
        return one, None, other


def run_command(run: GridRun) -> Outcome:
    """Run `foreknow run`; its help text has the paragraphs below.

    The file names a history, defenses and the knowledge that they assume, scenarios, measures and seeds; a list of values of a
    setting is a sweep. The cells are all combinations; each publishes and attacks as foreknow compare --scenario with its seed.


    For example:
    experiment.toml has seeds = [1, 2], scenarios = ["releases-only"], a table [history] with data = "exams", releases = 3 and
    records = 200, and a table [[defense]] with name = "mondrian" and k = [3, 6]:
      foreknow run experiment.toml --out table.csv
    """
    grid = read_grid(run.experiment)
    if run.out is not None:
        if run.out.suffix.lower() not in (".csv", ".parquet"):
            raise ValueError(f"--out {run.out} does not end with .csv or .parquet; name a file, as table.csv.")
        inputs = [run.experiment, *([] if grid.table is None else grid.table.files)]
        check_output(run.out.parent, [run.out.name], inputs, run.overwrite)
    experiment = experiment_of(grid)
    keep = run.experiment.with_suffix(".cells") if run.keep is None else run.keep
    kept_cells(experiment, keep)
    rows = run_cells([experiment], keep, workers=run.workers, progress=lambda cells: tracked(cells, "measuring cells"))
    table = tidy(rows, experiment.cells)
    found = summary(table, experiment.cells)
    show(PrintedTable(found, "Means over releases, and half of the 95 % interval over seeds"))
    say(f"{len(experiment.cells)} cells, kept in {keep}.")
    if run.out is not None:
        with atomic_output(run.out.parent, [run.experiment], run.overwrite) as folder:
            write_table(table, folder / run.out.name)
        say(f"The table, one row per cell and release: {run.out}.")
    return Outcome({"cells": len(experiment.cells), "summary": found})


def read_grid(path: Path) -> Grid:
    """Read an experiment from a TOML file; names of files in it are relative to its folder.

    Raises
    ------
    ValueError
        If the file is no TOML, a key is unknown, of which the message has the nearest known one, seeds, scenarios, a defense or the
        history are missing, or a value is not one that its setting takes.
    """
    file = existing_file(path, "name a TOML file of an experiment")
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        return _grid(content, file.parent)
    except (TypeError, ValueError) as error:  # a tomllib.TOMLDecodeError too
        raise ValueError(f"{path}: {error}") from None


def _grid(content: dict[str, Any], folder: Path) -> Grid:
    _check_keys("the experiment", content, KEYS)
    seeds = _listed(content.get("seeds", []))
    if not seeds or not all(type(seed) is int and is_whole(seed, 0) for seed in seeds) or len(set(seeds)) < len(seeds):
        raise ValueError(
            f"seeds is {content.get('seeds')!r}; an experiment has distinct whole numbers, as seeds = [1, 2, 3]."
        )
    named = [str(name) for name in _listed(content.get("scenarios", []))]
    scenarios = {name: Scenario.read(folder / name) if Path(name).suffix else Scenario.named(name) for name in named}
    measures = tuple(map(str, _listed(content.get("measures", DEFAULT_MEASURES))))
    for name in measures:
        check_near("measures", "a measure that needs no setting", name, ALONE)
    history = _table("history", content.get("history"))
    defenses = [_table("[[defense]]", each) for each in _listed(content.get("defense", []))]
    for name, given, example in (
        ("scenarios", scenarios, 'scenarios = ["releases-only"]'),
        ("[history]", history, 'records = "records.csv", qi = ["age"] and sensitive = "illness", or data = "exams"'),
        ("[[defense]]", defenses, 'name = "mondrian" and k = [3, 6]'),
    ):
        if not given:
            raise ValueError(f"there is no {name}; an experiment has one, as {example}.")
    knowledge = _table("knowledge", content.get("knowledge", {}))
    _check_keys("[knowledge]", knowledge, [each.name for each in fields(Learning)])
    for key, values in knowledge.items():
        default = getattr(Learning(), key)
        for value in _listed(values):
            if type(value) is not type(default) and not (isinstance(default, float) and type(value) is int):
                raise ValueError(f"[knowledge]: {key} has {value!r}; it takes values such as {default!r}.")
    grid = Grid(
        tuple(seeds),
        scenarios,
        measures,
        *_history(history, folder),
        tuple(_combined(knowledge)),
        tuple((each["name"], options) for each in defenses for options in _defense(each)),
    )
    for name, one in scenarios.items():
        if one.reads_corpus and grid.corpus is None and grid.simulated[:1] != DATA[:1]:
            raise ValueError(f'the scenario {name} reads a corpus; name one in [history], as corpus = "others.csv".')
        if one.goal == "path":
            raise ValueError(
                f"the scenario {name} has the goal 'path', with no measure of a release; use Scenario in Python."
            )
    for name, options in grid.defenses:
        _ = compared(name, options, 0).defense  # a threshold out of its range is refused before anything is measured
    return grid


def _history(given: dict[str, Any], folder: Path) -> tuple[TableOptions | None, Path | None, tuple[Any, ...]]:
    """Files of the records and of the corpus, or the name and size of a history that needs no file."""
    if "data" in given:
        check_near("[history] data", "a history", given["data"], DATA)
        _check_keys("[history]", given, ["data", *(SIZES if given["data"] == DATA[0] else ())])
        size = [given.get(name, usual) for name, usual in zip(SIZES, (12, 5000), strict=True)]
        if not all(map(is_whole, size)):
            raise ValueError(f"[history]: releases and records are {size}; they are whole numbers.")
        return None, None, (given["data"], *(size if given["data"] == DATA[0] else ()))
    hints = get_type_hints(TableOptions)
    keys = {name.strip("_"): name for name in hints}
    _check_keys("[history]", given, ["data", "corpus", *keys])
    for name in ("records", "qi", "sensitive"):
        if name not in given:
            raise ValueError(
                f"[history]: there is no {name}; name the records, their qi and sensitive column, or data."
            )
    options: dict[str, Any] = {}
    for key, value in given.items():
        if not all(isinstance(each, str) for each in _listed(value)):
            raise ValueError(f"[history]: {key} is {value!r}; it is a text or a list of texts.")
        if key != "corpus":
            options[keys[key]] = _listed(value) if hints[keys[key]] == list[str] else value
    options["records"] = folder / options["records"]
    parts = [text.partition("=") for text in options.get("hierarchy", ())]
    options["hierarchy"] = [f"{column}={folder / file}" for column, _, file in parts]
    return TableOptions(**options), folder / given["corpus"] if "corpus" in given else None, ()


def _defense(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Options of a defense, one mapping for each combination of the values listed."""
    check_near("[[defense]] name", "a defense that groups records", given.get("name"), list(BUILT_IN))
    read = [name for name in BUILT_IN[given["name"]].options if name in FLAGS]
    _check_keys(f"the defense {given['name']}", given, ["name", *read])
    return _combined({key: value for key, value in given.items() if key != "name"})


def compared(name: str, options: Mapping[str, Any], seed: int) -> Compared:
    """A defense with some options and a seed."""
    values = {**options, **({"terminal": _listed(options["terminal"])} if "terminal" in options else {})}
    return Compared(name, name, replace(DefenseOptions(**values), seed=seed, given=frozenset(options)), BUILT_IN[name])


def _table(name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict | None):
        raise ValueError(f"{name} is {given!r}; it is a table of keys.")
    return {key.replace("-", "_"): value for key, value in (given or {}).items()}


def _check_keys(owner: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in given:
        check_near(owner, "a key", key, known)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _combined(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All combinations of the values listed for each key."""
    return [dict(zip(given, values, strict=True)) for values in itertools.product(*map(_listed, given.values()))]


def experiment_of(grid: Grid) -> Experiment:
    """The experiment of a grid, whose cells are kept."""
    known = [each.name for each in fields(Learning)]
    fixed = None if grid.table is None else grid.histories(0)

    def measure(cell: Cell, _: np.random.Generator) -> pd.DataFrame:
        seed, scenario = cell["seed"], grid.scenarios[cell["scenario"]]
        history, corpus, others = fixed or grid.histories(seed)
        learning = Learning(**{name: cell[name] for name in known if name in cell})
        one = compared(
            cell["defense"],
            {name: cell[name] for name in BUILT_IN[cell["defense"]].options if name in cell and name in FLAGS},
            seed,
        )
        defender = assumed_adversary(history, corpus, learning) if one.choice.assumes_adversary else None
        # Generators as those of foreknow publish and foreknow compare.
        releases = publish(
            history,
            one.given(history if corpus is None else corpus, learning),
            defender,
            infeasible="suppress",
            rng=seeded_generator(seed, 1),
        )
        beliefs = attack = None
        if any(release.groups for release in releases):
            reads = history if scenario.reads_history else None, others if scenario.reads_corpus else None
            attack = scenario.attack(*reads, rng=seed)
            beliefs = attack(releases)
        table = pd.DataFrame({"time": list(history.times)})
        for name in grid.measures:
            if name not in BELIEF_MEASURES:
                found = MEASURES[name](releases)
            elif beliefs is None or attack is None:
                continue
            elif name == "risk_table":
                found = scenario.measure(beliefs, history, leaving_out=attack.compromised)
            else:
                found = MEASURES[name](beliefs, history, leaving_out=attack.compromised)
            table = table.merge(
                found[["time", *(column for column in found if column not in table)]], on="time", how="left"
            )
        return table

    data = " ".join(map(str, grid.simulated)) if grid.table is None else fingerprint_of(grid.table, grid.corpus)
    return Experiment("grid", measure, grid.cells, data=data)


def tidy(rows: pd.DataFrame, cells: Sequence[Cell]) -> pd.DataFrame:
    """The rows of the grid: the description of the cell, the time of the release, measures and seconds."""
    unread = ["experiment", "measures", "key", "revision", "data", "code", "versions", "peak_mib", "stale"]
    own = rows[~rows["stale"]].drop(columns=unread).dropna(axis=1, how="all").reset_index(drop=True)
    described = [name for name in dict.fromkeys(itertools.chain(*cells)) if name in own]
    others = own.drop(columns=[*described, "seconds"])
    return pd.concat([own[described].convert_dtypes(), others, own["seconds"]], axis=1)


def summary(table: pd.DataFrame, cells: Sequence[Cell]) -> pd.DataFrame:
    """Mean of each measure over the releases, and over the seeds with half of its interval, one row per setting and scenario."""
    # Imported here, as Matplotlib is slow to import.
    from foreknow.evaluation.papers.drawing import interval, with_interval

    names = [name for name in dict.fromkeys(itertools.chain(*cells)) if name in table and name != "seed"]
    measured = table.drop(columns=[*names, "seed", "time", "seconds"]).select_dtypes("number")
    shown = ([name for name in FIRST if name in measured] or list(measured.columns.astype(str)))[:MOST_SHOWN]
    by_seed = table.groupby([*names, "seed"], dropna=False, sort=False)[shown].mean()
    groups = by_seed.groupby(level=names, dropna=False, sort=False)
    found = groups.size().reset_index()
    options = found[[name for name in names if name not in ("defense", "scenario", "scenario_settings")]]
    texts = [" ".join(f"{name}={value}" for name, value in row.dropna().items()) for _, row in options.iterrows()]
    cells_of = {
        name: [with_interval(*interval(own)) or "none" for _, own in values]
        for name, values in ((name, groups[name]) for name in shown)
    }
    return pd.DataFrame({"defense": found["defense"], "setting": texts, "scenario": found["scenario"], **cells_of})
