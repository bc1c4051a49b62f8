"""Report on the risk of a publication: computing it, and writing its page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from foreknow.app.atomic_output import atomic_output
from foreknow.app.cli.adversary_knowledge import (
    DEFAULT_LEARNING,
    assumed_adversary,
    informed_adversary,
    knowing_ghosts,
    knowing_terminal,
    learned_adversary,
)
from foreknow.app.cli.options import refuse_first
from foreknow.app.report.adversaries import INFORMED, LEARNED, SHORT_TITLES, inference, stricter_settings
from foreknow.app.report.contents import ReportContents, ReportSettings, report_contents, tries_cohorts
from foreknow.app.report.page import page
from foreknow.app.report.sentences import Told, verdict
from foreknow.attacks import Attack
from foreknow.defenses import Defense
from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.experiment import check_named
from foreknow.models import Adversary, Averaged, GroupGraph, History, Release
from foreknow.models.advice import Advice, Setting
from foreknow.models.equality import equal_by_fields
from foreknow.models.joint import JointSolver
from foreknow.models.joint.problem import check_is_solver
from foreknow.models.progress import Progress, check_progress, stepping
from foreknow.models.settings import as_generator, check_flag, check_kind, check_whole, is_number, is_whole

MAX_STRICTER = 3
"""Largest number of stricter settings."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Report:
    """Report of a publication, for its publisher alone: it has true values.

    Attributes
    ----------
    contents : ReportContents
        All tables and numbers of the page.
    """

    contents: ReportContents

    @property
    def verdict(self) -> Told:
        """Sentences of the verdict, and the advice."""
        return verdict(self.contents)

    @cached_property
    def html(self) -> str:
        """The page: HTML without network access.

        Raises
        ------
        ModuleNotFoundError
            If one of the packages of the extra ``report`` is not installed.
        """
        return page(self.contents)

    def save(self, path: "str | Path", *, overwrite: bool = False) -> Path:
        """Write the page, readable by its owner alone, completely or not at all.

        Parameters
        ----------
        path : path
            A file whose name ends with .html.
        overwrite : bool
            Replace a file with this name.

        Raises
        ------
        ValueError
            As `check_page_path`.
        ModuleNotFoundError
            As `html`.
        """
        check_flag("Report.save", "overwrite", overwrite)
        check_kind("Report.save", "path", path, (str, Path), "is the path of a file whose name ends with .html")
        target = Path(path)
        check_page_path(target, overwrite)
        text = self.html
        with atomic_output(target.parent, overwrite=overwrite) as folder:
            written = folder / target.name
            written.touch(mode=0o600)
            written.write_text(text, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"Report({self.verdict.sentence!r})"

    def _repr_html_(self) -> str:
        """The page in a frame of its own."""
        return (
            f'<iframe title="foreknow report" sandbox="allow-scripts" width="100%" height="700" srcdoc="{escape(self.html)}">'
            "</iframe>"
        )


def check_page_path(path: Path, overwrite: bool, keep: Iterable[Path] = ()) -> None:
    """Raise ValueError unless a page may be written to a path: it ends with .html, and is no folder, input or earlier file."""
    is_input = path.exists() and any(each.exists() and path.samefile(each) for each in keep)
    there = f"{path} is already there; name another file, or replace it with "
    refuse_first(
        {
            f"{path} does not end with .html; name a file, as report.html.": path.suffix.lower()
            not in (".html", ".htm"),
            f"{path} is a folder; name a file, as {path / 'report.html'}.": path.is_dir(),
            f"{path} is an input file, and would be written over; name another file.": is_input,
            Advice(there, Setting("overwrite", True), "."): path.exists() and not overwrite,
        }
    )


def report(
    releases: Iterable[Release],
    informed: Adversary | None = None,
    learned: Callable[[Sequence[Release]], Adversary] | None = None,
    *,
    also: Mapping[str, Attack] | None = None,
    defense: Defense | None = None,
    assumed: Defense | None = None,
    defender: Adversary | Averaged | None = None,
    solver: JointSolver | None = None,
    sure: float = 0.9,
    bound: float | None = None,
    level: float = 0.9,
    draws: int = 200,
    details: str | None = None,
    names: bool = False,
    stricter: int = MAX_STRICTER,
    notes: Sequence[str] = (),
    rng: np.random.Generator | int | None = None,
    progress: Progress = iter,
) -> Report:
    """Report of a publication: risk under two adversaries, exposed respondents and why, utility, and what to change.

    Parameters
    ----------
    releases : iterable of Release
        In the order of time, with their original records in ``release.view``.
    informed : Adversary, optional
        The adversary with prior knowledge; by default one who knows the class frequencies and the transitions of the records.
    learned : callable, optional
        From releases to the adversary who learned from them alone; by default by `LearnedKnowledge`.
    also : mapping of name to Attack, optional
        Further attacks, for the comparison of attacks.
    defense : Defense, optional
        The defense that made the releases. Its settings are made stricter.
    assumed : Defense, optional
        A defense in place of one that is not known; the page says so. Without both, no stricter setting is tried.
    defender : Adversary or Averaged, optional
        The adversary that this defense assumes; by default as in ``foreknow publish``.
    solver : JointSolver, optional
        Of the joint law; by default `GroupGraph`.
    sure : float
        Belief from which an adversary is sure, over 0.5 and at most 1.
    bound : float, optional
        Share of the respondents that may be exposed, 0 to 1, for the verdict and the advice; by default none may.
    level : float
        Probability of an interval, over 0 and under 1.
    draws : int
        Number of bootstrap draws; fewer are made of very large data.
    details : {"informed", "learned"}, optional
        The adversary of the tables of respondents and groups; by default the one who exposes more respondents.
    names : bool
        If True, the page has the identifiers of respondents; otherwise numbers in the order of exposure.
    stricter : int
        Number of stricter settings to try, from 0 to 3. Each is a publication and two attacks. Unless it is 0, and where
        respondents are exposed in several releases by another defense, the cheapest `Cohorts` by
        `foreknow.evaluation.recommend` are tried too.
    notes : sequence of str
        Sentences for the notes of the page.
    rng : numpy.random.Generator or int, optional
        Source of the bootstrap, of samples and of the stricter publications. By default, fresh entropy.
    progress : callable
        Function of the steps that returns an iterable of the same length, as ``rich.progress.track``. One item is taken before
        each: what an adversary learns, each attack, each measure, and each stricter setting. A step has a ``title`` and a ``cost``.

    Returns
    -------
    Report

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If a number is out of range, no release has a group, or both ``defense`` and ``assumed`` are given.

    Notes
    -----
    A respondent is exposed if the belief in the true value is at least ``sure`` at a release, in hindsight, and was not before
    any release. Cost: five attacks, one sequential attack for each of six compromised records, the joint law of each prefix of
    at most 20,000 records, at most five redrawn worlds of 10,000 records in all, and the stricter publications. The page shows the
    adversaries that were given; another who knows more may infer more.

    Examples
    --------
    >>> from foreknow.defenses import KAnonymity, Mondrian, publish
    >>> from foreknow.evaluation import exams
    >>> releases = publish(exams(views=2, records=60, rng=1).history, Mondrian(KAnonymity(3)), rng=1)
    >>> made = report(releases, stricter=0, draws=20, rng=1)
    >>> made.contents.headlines["informed"].respondents >= 60
    True
    """
    published = check_releases("report", releases)
    settings = _settings(published, sure, bound, level, draws, names, stricter, details, rng)
    check_kind("report", "informed", informed, (Adversary, type(None)), "is an Adversary, or None")
    check_progress("report", progress, "the steps")
    for name, value in {"learned": learned, "defense": defense, "assumed": assumed}.items():
        is_class = isinstance(value, type) and name in ("defense", "assumed")
        if value is not None and (not callable(value) or is_class):
            raise TypeError(f"report: {name} is {value!r}; it is a function, or an object as Mondrian(KAnonymity(3)).")
    if defense is not None and assumed is not None:
        raise ValueError(
            "report: both defense and assumed are given; assumed is for groups whose defense is not known. Give one."
        )
    rule = GroupGraph() if solver is None else solver
    check_is_solver("report", "solver", rule)
    further = {} if also is None else also
    check_named("report", "also", further, '{"snapshot": SnapshotAttack(adversary)}')
    check_kind("report", "notes", notes, (tuple, list), "is a list of sentences")
    history = History([release.view for release in published])
    learn = learned_adversary if learned is None else learned
    changed = assumed if defense is None else defense
    tried = () if changed is None else stricter_settings(changed, settings.stricter, history, settings.seed)
    cohorts = tries_cohorts(published, settings, changed)
    step = stepping(progress, report_steps(further, [*(setting.title for setting in tried), *["cohorts"] * cohorts]))
    known = {
        INFORMED: lambda: knowing_ghosts(informed_adversary(history), published) if informed is None else informed,
        LEARNED: lambda: learn(published),
    }
    inferences = [
        inference(name, knowing_terminal(each, published, changed), published, rule, step, each)
        for name, each in _each(known, step)
    ]
    others = dict(_each({name: partial(attack, published) for name, attack in further.items()}, step))
    if defender is None and (cohorts or getattr(changed, "reads", None)):
        defender = assumed_adversary(history, None, DEFAULT_LEARNING)
    contents = report_contents(
        published,
        inferences,
        settings,
        solver=rule,
        learned=learn,
        also=others,
        tried=tried,
        defense=defense,
        assumed=assumed,
        defender=defender,
        notes=notes,
        step=step,
    )
    step()  # after the last one, so that progress ends
    return Report(contents)


def _each[T](made: Mapping[str, Callable[[], T]], step: Callable[[], None]) -> Iterator[tuple[str, T]]:
    """Each name with the result of its function; ``step`` is called before each."""
    for name, make in made.items():
        step()
        yield name, make()


def _settings(
    releases: tuple[Release, ...],
    sure: Any,
    bound: Any,
    level: Any,
    draws: Any,
    names: Any,
    stricter: Any,
    details: Any,
    rng: Any,
) -> ReportSettings:
    check_flag("report", "names", names)
    check_whole("report", "draws", draws, "bootstrap draws")
    if not any(release.groups for release in releases):
        raise ValueError("report: no release has a group, so nothing is published; choose weaker thresholds.")
    checks = {
        "sure": (sure, is_number(sure, 0.5, 1) and sure > 0.5, "a belief over 0.5 and at most 1, as 0.9"),
        "bound": (bound, bound is None or is_number(bound, 0, 1), "a share of the respondents, 0 to 1, or None"),
        "level": (
            level,
            is_number(level, 0, 1) and 0 < level < 1,
            "the probability of an interval, over 0 and under 1",
        ),
        "stricter": (
            stricter,
            is_whole(stricter, 0) and stricter <= MAX_STRICTER,
            f"a number from 0 to {MAX_STRICTER}",
        ),
        "details": (details, details in (None, INFORMED, LEARNED), f"{INFORMED!r}, {LEARNED!r} or None"),
    }
    for name, (value, holds, rule) in checks.items():
        if not holds:
            raise ValueError(f"report: {name} is {value!r}; it is {rule}.")
    seed = int(rng) if is_whole(rng, 0) else int(as_generator("report", rng, optional=True).integers(2**32))
    most = None if bound is None else float(bound)
    return ReportSettings(float(sure), float(level), int(draws), names, int(stricter), seed, details, most)


@dataclass(frozen=True)
class Step:
    """One step of a report."""

    title: str
    cost: float  # processor time of the step as a share of that of the whole report, up to a common factor

    def __str__(self) -> str:
        return self.title


KNOWLEDGE = {INFORMED: 0.1, LEARNED: 2.5}
"""Cost of what each adversary learns: counts of records, and expectation-maximization."""

ATTACKS = {"all releases in hindsight": 1.5, "release by release": 0.5}
"""Cost of each attack of an adversary, in the order in which they are made."""

MEASURES = {
    "headline risk": 0.5,
    "beliefs given the releases so far": 2.5,
    "single records that become known": 0.5,
    "most exposed people": 0.5,
    "tables": 1.5,
}
"""Cost of what is measured. Costs are processor seconds by `GroupMessages` at 60,000 records of `exams` in 12 releases, roughly."""

PUBLICATION = 6.0
"""Cost of a publication by `Mondrian` and of the measures of its price; other defenses take longer."""


def report_steps(also: Iterable[str], settings: Sequence[str]) -> tuple[Step, ...]:
    """Steps of a report with further attacks and stricter settings, by their names, in the order in which they are made."""
    steps = [
        Step(f"{SHORT_TITLES[name].lower()}: {title}", cost)
        for name, learning in KNOWLEDGE.items()
        for title, cost in {"learning what is known": learning, **ATTACKS}.items()
    ]
    steps += [Step(name, ATTACKS["release by release"]) for name in also]
    steps += [Step(f"measuring: {name}", cost) for name, cost in MEASURES.items()]
    setting = PUBLICATION + KNOWLEDGE[LEARNED] + 2 * ATTACKS["all releases in hindsight"]
    return (*steps, *(Step(f"publishing and attacking with {title}", setting) for title in settings))
