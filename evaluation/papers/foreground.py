"""Foreground knowledge (R. Wong, A. Fu, K. Wang, Y. Xu, P. Yu, arXiv:0905.1755): its numbers and figures on UCI Adult."""

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
import pandas as pd

from foreknow.attacks import Attack, DeFinettiAttack, ForegroundAttack
from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.defenses import MASK, Anatomy, Defense, ForegroundSafe, FullDomain, Injector, KAnonymity, TCloseness
from foreknow.evaluation.cells import Cell, Experiment
from foreknow.evaluation.datasets.adult import adult
from foreknow.evaluation.loss.queries import Workload, query_error
from foreknow.evaluation.papers.figures import ADULT, Figure, Paper, adult_folder
from foreknow.evaluation.risk.breaches import breaches
from foreknow.evaluation.risk.global_errors import global_errors, global_probabilities, greatest_differences
from foreknow.models import (
    Auto,
    Categorical,
    Evidence,
    Exact,
    ExpectationMaximization,
    GibbsSampling,
    Hierarchy,
    History,
    Release,
    SampleSize,
    UniformPrior,
    View,
)
from foreknow.models.foreground.attribute_signatures import supported_sets
from foreknow.models.foreground.expectation import expectation
from foreknow.models.foreground.global_distribution import Unmatched

ATTRIBUTES = ("age", "workclass", "marital-status", "occupation", "race", "sex", "native-country", "salary-class")
"""Quasi-identifiers in the order of the paper; the first five by default."""

DEFAULT_SIZE = 5
SIZES = range(3, 9)

LOW = ("Preschool", "1st-4th", "5th-6th", "7th-8th")
"""Sensitive set: education before secondary, 3.46 % of the records."""

PRINTED = SampleSize(epsilon=0.01, sigma=0.9).records
"""Least number of records of a signature: 3,993."""

READINGS: tuple[Unmatched, ...] = ("table", "uniform", "classes", "groups")
"""Distribution of records of rarer signatures."""

SUPPORTS = (1000, 500, 100)
"""Further least numbers of records of a signature, for the default quasi-identifiers."""

SEEDS = range(1, 11)
"""Draws of the groups; the paper averages 100."""

QUERIES = 10_000

TREES = {
    "workclass": {
        "government": "Federal-gov Local-gov State-gov",
        "private": "Private Self-emp-inc Self-emp-not-inc",
        "unemployed": "Without-pay Never-worked",
    },
    "marital-status": {
        "spouse present": "Married-civ-spouse Married-AF-spouse",
        "spouse not present": "Divorced Never-married Separated Widowed Married-spouse-absent",
    },
    "occupation": {
        "technical": "Tech-support Craft-repair Prof-specialty Machine-op-inspct",
        "nontechnical": "Sales Exec-managerial Handlers-cleaners",
        "other": "Other-service Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    },
    "native-country": {
        "North America": "United-States Canada Puerto-Rico Outlying-US(Guam-USVI-etc) Cuba Honduras Jamaica Mexico "
        "Dominican-Republic Haiti Guatemala Nicaragua El-Salvador",
        "South America": "Ecuador Columbia Trinadad&Tobago Peru",
        "Europe": "England Germany Greece Italy Poland Portugal Ireland France Hungary Scotland Yugoslavia Holand-Netherlands",
        "Asia": "Cambodia India Japan China Iran Philippines Vietnam Laos Taiwan Thailand Hong",
        "Africa": "South",
    },
}
"""Hierarchies of two levels below the root; the other attributes have their values, or intervals, and the root."""


@cache
def census(names: tuple[str, ...]) -> View:
    """Adult with education as the sensitive attribute."""
    view = adult(adult_folder(), sensitive="education", quasi_identifiers=names)[0]
    kinds = dict(view.schema.quasi_identifiers)
    for name, tree in TREES.items():
        if isinstance(kind := kinds.get(name), Categorical):
            rows = [(value, label, "*") for label, values in tree.items() for value in values.split()]
            kinds[name] = Categorical(kind.values, Hierarchy(rows))
    return View(view.frame, replace(view.schema, quasi_identifiers=kinds))


def binary(release: Release) -> Release:
    """The release with two values, the sensitive set and its complement."""
    view, grouping = release.view, release.grouping
    frame = view.frame.assign(education=np.where(view.frame["education"].isin(LOW), "low", "other"))
    two = View(frame, replace(view.schema, values=("low", "other")))
    if grouping.values is not None:
        domain = np.array(view.schema.values, dtype=object)
        grouping = replace(grouping, values=(~np.isin(domain[grouping.values], LOW)).astype(np.int64))
    return Release(two, grouping)


def defense_of(technique: str, r: int, seed: int) -> Defense:
    """Technique of section 5.2 in its setting: l = r, MASK with k = m = r, and t = 0.2; or a defense against this attack."""
    if technique == "Anatomy":
        return Anatomy(r, LOW, rng=seed)
    if technique == "Injector":
        return Injector(r, min_confidence=1.0, min_expectation=0.9, sensitive_set=LOW, rng=seed)
    if technique == "MASK":
        return MASK(r, r, LOW, rng=seed)
    if technique == "t-closeness":
        return FullDomain(KAnonymity(r) & TCloseness(0.2))
    return ForegroundSafe(r, LOW, support=PRINTED, rng=seed)


def released(view: View, defense: Defense) -> Release:
    """Release of a view by a defense."""
    return Release(view, defense(view, UniformPrior()(view.people), ()))


MEASURES = {
    "belief_of_holders": "belief",
    "breached": "breached",
    "flagged": "flagged",
    "breached_of_shares": "known",
    "precision": "precision",
    "expected_precision": "expected",
    "brier": "brier",
    "brier_of_shares": "brier_of_shares",
    "auc_within": "auc",
    "top_c_precision": "top",
    "top_c_by_chance": "top_by_chance",
}
"""Measures of `breaches`, and their columns here."""


def breach_row(release: Release, attack: Attack, r: int) -> dict[str, object]:
    """Measures of a breach at the threshold 1/r, with the processor seconds of the attack and its beliefs."""
    sensitive = tuple(value for value in release.view.schema.values if value in (*LOW, "low"))
    start = time.process_time()
    beliefs = attack([release])
    seconds = time.process_time() - start
    measured = breaches(beliefs, History([release.view]), sensitive, r).iloc[0]
    found: dict[str, object] = {column: float(measured[name]) for name, column in MEASURES.items()}
    return found | {"attack_seconds": seconds, "beliefs": beliefs}


def rounded(rows: list[dict[str, object]]) -> pd.DataFrame:
    """Rows without beliefs, their numbers to four digits."""
    table = pd.DataFrame(rows).drop(columns="beliefs", errors="ignore")
    numbers = table.select_dtypes("float").map(lambda number: float(f"{number:.4g}"))
    return table.assign(**{str(name): numbers[name] for name in numbers})


@cache
def compile_kernels(technique: str) -> None:
    """Run a technique and the attack on a few records, so that no measured time has the compilation of kernels."""
    view = census(ATTRIBUTES[:3])
    small = View(view.frame.sample(500, random_state=1), view.schema)
    breach_row(released(small, defense_of(technique, 2, 1)), ForegroundAttack(sensitive_set=LOW, support=50), 2)


@lru_cache(maxsize=1)
def workload_of(qi: int, seed: int) -> Workload:
    """Queries that all techniques answer."""
    return Workload.draw([census(ATTRIBUTES[:qi])], rng=seed, queries=QUERIES)


def foreground_techniques(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:  # noqa: ARG001
    """Section 5.2: one release under the attack of the paper and, if ``strong``, under two others.

    They are the same attack with smaller samples, and naive Bayes of all attributes, learned from a release of small groups.
    """
    r, technique, view = cell["r"], cell["technique"], census(ATTRIBUTES[: cell["qi"]])
    compile_kernels(technique)
    start = time.process_time()
    release = released(view, defense_of(technique, r, cell["seed"]))
    about = {"making_seconds": time.process_time() - start}
    about["group_size"] = float((release.group >= 0).sum() / release.groups)
    about["suppressed"] = float((release.group < 0).mean())
    about["query_error"] = float(query_error([release], workload_of(cell["qi"], cell["seed"]))["query_mean"][0])
    paper = breach_row(release, ForegroundAttack(sensitive_set=LOW, support=PRINTED), r)
    beliefs = paper["beliefs"]
    assert isinstance(beliefs, ForegroundBeliefs)
    about["delta"] = float(greatest_differences(beliefs)["greatest_difference"][0])
    rows = {"paper": paper}
    if cell["strong"]:
        rows["500 records"] = breach_row(release, ForegroundAttack(sensitive_set=LOW, support=500), r)
        if technique in OF_SMALL_GROUPS:
            rows["learned"] = breach_row(binary(release), DeFinettiAttack(), r)
    return rounded([{"attacker": attacker} | about | row for attacker, row in rows.items()])


def anatomy_of(bound: str, r: int, seed: int) -> Anatomy:
    """Anatomy by the values that no two records of a group share; ``near`` groups neighbours, and draws nothing."""
    if bound == "every value":
        return Anatomy(r, rng=seed)
    if bound == "near":
        return Anatomy(r, LOW, deterministic=True)
    kinds = {"set": "together", "values of the set": "each", "set and other values": "all"}
    return Anatomy(r, LOW, kinds[bound], rng=seed)  # type: ignore[arg-type]


def foreground_anatomy(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:  # noqa: ARG001
    """Section 5.1: Anatomy under each reading of "uniform", and for smaller samples."""
    r, view = cell["r"], census(ATTRIBUTES[: cell["qi"]])
    release = released(view, anatomy_of(cell["bound"], r, cell["seed"]))
    whole = [
        found.attributes for found in supported_sets(view.people, min_support=PRINTED) if (found.signature >= 0).all()
    ]
    attacks: list[tuple[int, str, ForegroundAttack]] = [
        (PRINTED, name, ForegroundAttack("all", LOW, support=PRINTED, unmatched=name)) for name in READINGS
    ]
    if whole:
        attacks.append((PRINTED, "left out", ForegroundAttack(whole, LOW, support=PRINTED)))
    if cell["qi"] == DEFAULT_SIZE:
        attacks += [(support, "table", ForegroundAttack("all", LOW, support=support)) for support in SUPPORTS]
    rows = []
    for support, unmatched, attack in attacks:
        row = breach_row(release, attack, r)
        beliefs = row["beliefs"]
        assert isinstance(beliefs, ForegroundBeliefs)
        errors = global_errors(beliefs, History([view]), LOW).iloc[0]
        table = global_probabilities(beliefs, History([view]), LOW)
        gap = (table["probability"] - table["frequency"]).abs()
        row |= {name: float(errors[name]) for name in ("relative_error", "absolute_error")}
        row["complement_error"] = float((gap / (1 - table["frequency"])).mean())
        row["sets"] = len(beliefs.knowledge[0])
        rows.append({"support": support, "unmatched": unmatched} | row)
    rows.append({"support": 1, "unmatched": "learned"} | breach_row(binary(release), DeFinettiAttack(), r))
    return rounded(rows)


CASE = ("age", "marital-status", "occupation")
CLERK, CRAFT = "Adm-clerical", "Craft-repair"


def foreground_case(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:  # noqa: ARG001
    """Case study of section 5.1: mined and true probabilities of two occupations, and the belief in a pair of them."""
    release = released(census(CASE), anatomy_of(cell["bound"], 2, cell["seed"]))
    beliefs = ForegroundAttack([("occupation",)], LOW, support=PRINTED)([release])
    table = global_probabilities(beliefs, History([release.view]), LOW).set_index("signature")
    row: dict[str, object] = {}
    for name in ("probability", "frequency"):
        clerk, craft = table[name].loc[[CLERK, CRAFT]].to_numpy(dtype=np.float64).tolist()
        row |= {f"{name}_clerk": clerk, f"{name}_craft": craft}
        row[f"pair_by_{name}"] = craft * (1 - clerk) / (craft * (1 - clerk) + clerk * (1 - craft))
    frame = release.view.frame
    pairs = pd.DataFrame({"group": release.group, "job": frame["occupation"], "low": frame["education"].isin(LOW)})
    pairs = pairs[pairs["job"].isin((CLERK, CRAFT))].groupby("group").agg(n=("job", "nunique"), low=("low", "sum"))
    chosen = pairs.index[(pairs["n"] == 2) & (pairs["low"] == 1) & (release.counts.sum(axis=1)[pairs.index] == 2)]
    of_craft = frame["education"].isin(LOW) & (frame["occupation"] == CRAFT) & np.isin(release.group, chosen)
    return rounded([row | {"pairs": len(chosen), "craft_is_holder": float(of_craft.sum() / max(len(chosen), 1))}])


def foreground_intervals(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """Beyond the paper: draws from the posterior of the global distributions, and breaches of which 95 % of the draws are sure."""
    r, view = cell["r"], census(ATTRIBUTES[:DEFAULT_SIZE])
    release = released(view, Anatomy(r, LOW, rng=cell["seed"]))
    fit = GibbsSampling(rng=rng)
    row = breach_row(release, ForegroundAttack("all", LOW, support=cell["support"], fit=fit), r)
    beliefs = row["beliefs"]
    assert isinstance(beliefs, ForegroundBeliefs)
    assert beliefs.intervals is not None
    low = view.frame["education"].isin(LOW).to_numpy()
    sure = beliefs.intervals[0][:, 0] > 1 / r
    row |= {"breached_surely": float(sure[low].mean()), "flagged_surely": float(sure[~low].mean())}
    row["precision_surely"] = float(low[sure].mean()) if sure.any() else float("nan")
    return rounded([row])


STARTS = (1, 2, 4, 8)


def foreground_starts(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """Expectation-maximization on small random releases of two signatures, against a grid of 41 x 41 answers."""
    grid, gaps = np.linspace(0, 1, 41), dict[int, list[float]]((number, []) for number in STARTS)
    while len(gaps[1]) < cell["releases"]:
        sizes = rng.integers(2, 5, size=rng.integers(1, 4))
        group = np.repeat(np.arange(len(sizes)), sizes)
        signature = rng.integers(0, 2, size=len(group))
        having = np.array([rng.integers(0, size + 1) for size in sizes])
        if len(set(signature.tolist())) < 2:
            continue
        evidence = Evidence(signature, group, np.column_stack([having, sizes - having]), np.array([0.5, 0.5]))
        expect = expectation(evidence, Exact())
        best = max(expect(np.array([[a, 1 - a], [b, 1 - b]])).log_likelihood for a in grid for b in grid)
        for number, found in gaps.items():
            found.append(best - ExpectationMaximization(starts=number)(evidence, Auto()).log_likelihood)
    rows = [(number, np.array(found)) for number, found in gaps.items()]
    return rounded([{"starts": number, "missed": (gap > 1e-3).mean(), "worst": gap.max()} for number, gap in rows])


TECHNIQUES = ("Anatomy", "Injector", "MASK", "t-closeness")

OF_SMALL_GROUPS = ("Anatomy", "Injector", "ForegroundSafe")
"""Techniques with groups of about r records, in which naive Bayes is learned in seconds."""

SETTINGS = ((2, 3), (2, 5), (2, 8), (4, 5), (10, 5))
"""r and number of quasi-identifiers of section 5.1."""

EXPERIMENTS = [
    Experiment(
        "foreground_anatomy",
        foreground_anatomy,
        [
            {"r": r, "qi": qi, "bound": bound, "seed": seed}
            for seed in SEEDS
            for r, qi in SETTINGS
            for bound in ("set", "every value", "values of the set", "set and other values", "near")
            # Over one in four records have the most frequent value; neighbours are grouped without a draw.
            if (r == 2 or bound not in ("every value", "set and other values"))
            and (bound != "near" or seed in SEEDS[:3])
        ],
        data=ADULT,
    ),
    Experiment(
        "foreground_case",
        foreground_case,
        [{"bound": bound, "seed": seed} for seed in SEEDS for bound in ("set", "every value")],
        data=ADULT,
    ),
    Experiment(
        "foreground_techniques",
        foreground_techniques,
        [
            {"r": r, "qi": qi, "technique": technique, "strong": qi in (3, 5, 8), "seed": seed}
            for seed in SEEDS
            for r in (2, 10)
            for qi in SIZES
            for technique in (*TECHNIQUES, "ForegroundSafe")
        ],
        data=ADULT,
    ),
    Experiment(
        "foreground_intervals",
        foreground_intervals,
        [{"r": r, "support": support, "seed": seed} for seed in SEEDS for r in (2,) for support in (PRINTED, 500, 1)],
        data=ADULT,
    ),
    Experiment("foreground_starts", foreground_starts, [{"releases": 40, "seed": seed} for seed in SEEDS]),
]


def fast(cell: Cell) -> bool:
    """One draw with three and five quasi-identifiers, without the posterior of global distributions."""
    return cell["seed"] == 1 and cell.get("qi", DEFAULT_SIZE) in (3, DEFAULT_SIZE) and "support" not in cell


SETTING = (
    "UCI Adult, 45,222 records; quasi-identifiers in the order age, work class, marital status, occupation, race, sex, native "
    "country, salary class, the first five by default; education before secondary is the sensitive set; signatures of 3,993 "
    "records (epsilon .01, sigma .9); the largest belief over all attribute sets. Anatomy l = r; MASK k = m = r; Injector "
    "minConf 1, minExp .9, l = r; t-closeness t = .2. Means of 100 runs, 10,000 queries."
)
READINGS_OF_ALL = (
    "Anatomy and Injector bound the sensitive set alone, as l = 10 requires: a third of the records have one value. Tables of "
    "section 5.1 name the values of which no two may share a group: those of the set together, every value, each value of the set, "
    "or the set as one of the values; near: groups of neighbours in place of random ones.",
    "Records whose signature has fewer than 3,993 records have the distribution of the whole table. Tables of section 5.1 have "
    "others too: equally likely values (uniform), equally likely classes (1/2), or their group's shares (groups); left out: only "
    "attribute sets without such records, of which there are none with up to five attributes.",
    "MASK, Injector and the choice among full-domain generalizations are reconstructions; hierarchies have two levels below the "
    "root, and t-closeness is full-domain with the equal distance.",
    "Times are processor seconds of this machine; that of the attack includes the beliefs, which take a small part of it.",
    "Figures 1c and 2c have further panels: the attack with signatures of 500 records, and naive Bayes over all quasi-identifiers, "
    "learned from the same release (deFinetti) where groups are small. ForegroundSafe defends against the attack of the paper.",
)
PANELS = (
    "WHEN 'paper' THEN 'attack of the paper' WHEN 'learned' THEN 'learned law of all attributes' "
    "ELSE 'signatures of 500 records'"
)


def of_techniques(name: str, r: int, column: str, title: str, label: str) -> Figure:
    """Figure of section 5.2: a column by the number of quasi-identifiers, a line for each technique."""
    both = column == "breached"
    panel = f"CASE attacker {PANELS} END AS panel," if both else ""
    chosen = "" if both else "AND attacker = 'paper'"
    chosen += "" if both or column == "query_error" else " AND technique <> 'ForegroundSafe'"
    return Figure(
        name=name,
        title=f"{title}, r = {r}",
        query=f"SELECT qi AS x, {column} AS y, technique AS line, {panel} seed FROM foreground_techniques "
        f"WHERE r = {r} {chosen} ORDER BY attacker <> 'paper', attacker, technique = 'ForegroundSafe', technique",
        kind="curves",
        x_label="number of quasi-identifiers",
        y_label=label,
        log=not both,
        within=(0, 1) if both else (0, math.inf),
    )


def listed(columns: Mapping[str, str]) -> str:
    """Columns of a table as rows of ``place``, ``x``, their name in a figure, and ``y``."""
    texts = [f"{{'place': {place}, 'x': '{x}', 'y': {column}}}" for place, (x, column) in enumerate(columns.items())]
    return f"UNNEST([{', '.join(texts)}], recursive := true)"


def of_anatomy(
    name: str,
    title: str,
    columns: dict[str, str],
    label: str,
    printed: dict[str, float],
    *readings: str,
    where: str = "y IS NOT NULL",
) -> Figure:
    """Table of section 5.1: readings of Anatomy and of "uniform" in rows, and the printed numbers."""
    return Figure(
        name=f"Section 5.1, {name}",
        title=title,
        query="SELECT 'r = ' || r || ', ' || qi || ' attributes' || x AS x, y, line, seed FROM ("
        "SELECT r, qi, bound, seed, support, bound || '; ' || CASE unmatched WHEN 'learned' "
        "THEN 'learned law of all attributes' ELSE unmatched || ', ' || support || ' records' END AS line, "
        f"{listed(columns)} FROM foreground_anatomy "
        f"WHERE bound = 'set' OR (support = {PRINTED} AND unmatched IN ('table', 'uniform'))) "
        f"WHERE {where} ORDER BY r, qi, place, bound <> 'set', bound, support IN (1, 3993) DESC, support DESC, line",
        kind="table",
        x_label="",
        y_label=label,
        setting="Anatomy with l = r.",
        readings=readings,
        printed=[("", "printed", x, y) for x, y in printed.items()],
    )


OF_CASE = {
    "Adm-clerical, mined": "probability_clerk",
    "Craft-repair, mined": "probability_craft",
    "Adm-clerical, true": "frequency_clerk",
    "Craft-repair, true": "frequency_craft",
    "belief, mined": "pair_by_probability",
    "belief, true": "pair_by_frequency",
    "craft worker is the holder": "craft_is_holder",
}
OF_BELIEFS = {
    "breached by shares": "known",
    "precision": "precision",
    "expected": "expected",
    "Brier": "brier",
    "Brier of shares": "brier_of_shares",
    "AUC in groups": "auc",
    "top c": "top",
    "top c by chance": "top_by_chance",
}
OF_DRAWS = {
    "in breach": "breached",
    "surely": "breached_surely",
    "flagged": "flagged",
    "flagged surely": "flagged_surely",
    "precision": "precision",
    "of the sure": "precision_surely",
}

FIGURES = [
    of_anatomy(
        "beliefs",
        "mean belief in the set about sensitive records",
        {"": "belief"},
        "mean belief",
        {
            "r = 2, 3 attributes": 0.80307,
            "r = 2, 5 attributes": 0.8917,
            "r = 2, 8 attributes": 0.943526,
            "r = 4, 5 attributes": 0.4640,
        },
    ),
    of_anatomy(
        "breaches",
        "fractions of sensitive records in breach and of others flagged",
        {", in breach": "breached", ", flagged": "flagged"},
        "fraction",
        {"r = 2, 5 attributes, in breach": 0.99, "r = 2, 5 attributes, flagged": 0.06},
        "Printed: more than .99, and less than .06, in most cases.",
    ),
    of_anatomy(
        "errors",
        "errors of mined global probabilities",
        {", relative": "relative_error", ", of the complement": "complement_error"},
        "mean relative error",
        {"r = 2, 5 attributes, relative": 0.007, "r = 10, 5 attributes, relative": 0.0526},
        "Of the complement: the same difference, relative to the probability not to have a value of the set.",
        where=f"y IS NOT NULL AND qi = {DEFAULT_SIZE}",
    ),
    Figure(
        name="Section 5.1, case study",
        title="probabilities of a low education for two occupations, and of a craft worker in a group with a clerk",
        query=f"SELECT x, y, line, seed FROM (SELECT seed, bound AS line, {listed(OF_CASE)} "
        "FROM foreground_case) ORDER BY place, line = 'every value'",
        kind="table",
        x_label="",
        y_label="probability",
        setting="Age, marital status and occupation; Anatomy with l = 2; the attribute set is occupation.",
        readings=("The last column: of the groups of one clerk and one craft worker, one of them sensitive.",),
        printed=[
            ("", "printed", "Adm-clerical, mined", 0.02),
            ("", "printed", "Craft-repair, mined", 0.04),
            ("", "printed", "Adm-clerical, true", 0.01),
            ("", "printed", "Craft-repair, true", 0.04),
            ("", "printed", "belief, mined", 0.67),
        ],
    ),
    *(
        figure
        for number, r in ((1, 2), (2, 10))
        for figure in (
            of_techniques(f"{number}a", r, "attack_seconds", "time of the attack", "seconds"),
            of_techniques(f"{number}b", r, "making_seconds", "time of the technique", "seconds"),
            of_techniques(f"{number}c", r, "breached", "sensitive records in breach", "share of sensitive records"),
            of_techniques(f"{number}d", r, "delta", "mean difference of global probabilities in a group", "mean Delta"),
        )
    ),
    of_techniques("3a", 2, "query_error", "relative error of queries", "mean relative error"),
    of_techniques("3b", 10, "query_error", "relative error of queries", "mean relative error"),
    Figure(
        name="Section 5.2, other measures",
        title="what the beliefs add to the shares of the groups, r = 2, 5 attributes: not in the paper",
        query=f"SELECT x, y, technique || ', ' || CASE attacker {PANELS} END AS line, seed FROM ("
        f"SELECT technique, attacker, seed, {listed(OF_BELIEFS)} FROM foreground_techniques WHERE r = 2 AND qi = {DEFAULT_SIZE}) "
        "ORDER BY place, attacker <> 'paper', line",
        kind="table",
        x_label="",
        y_label="technique, attack",
    ),
    Figure(
        name="Section 5.1, intervals",
        title="breaches that 95 % of the draws from the posterior of the global distributions show: not in the paper",
        query=f"SELECT x, y, 'signatures of ' || support || ' records' AS line, seed FROM ("
        f"SELECT support, seed, {listed(OF_DRAWS)} FROM foreground_intervals) ORDER BY place, support DESC",
        kind="table",
        x_label="",
        y_label="fraction",
    ),
    Figure(
        name="Section 4.1",
        title="expectation-maximization that misses the best likelihood, by the number of starts: not in the paper",
        query="SELECT starts AS x, missed AS y, 'fraction of releases' AS line, seed FROM foreground_starts UNION ALL "
        "SELECT starts, worst, 'largest loss of log-likelihood', seed FROM foreground_starts",
        kind="table",
        x_label="starts:",
        y_label="",
        setting="Releases of two signatures, against a grid of 41 x 41 answers.",
    ),
]

PAPER = Paper(
    "foreground",
    'R. Wong, A. Fu, K. Wang, Y. Xu, P. Yu, "Can the utility of anonymized data be used for privacy breaches?", arXiv:0905.1755',
    EXPERIMENTS,
    FIGURES,
    fast,
    SETTING,
    READINGS_OF_ALL,
)
