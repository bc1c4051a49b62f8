"""UHRA: Amiri, Khan, Anjum, Syed, Rehman, Enhancing Utility in Anonymized Data against the Adversary's Background Knowledge."""

import math
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd

from foreknow.attacks import Attack, JointAttack, SequentialAttack
from foreknow.defenses import UHRA, Defense, JSReduce, KPrimacy, publish
from foreknow.defenses.algorithms.clustering import Cluster, ClusterGrouping, prior_clusters
from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.evaluation.cells import Cell, Experiment
from foreknow.evaluation.datasets.adult import adult
from foreknow.evaluation.datasets.exams import exams
from foreknow.evaluation.loss.generalization_loss import gcp
from foreknow.evaluation.papers.figures import ADULT, Figure, Paper, adult_folder
from foreknow.evaluation.papers.stronger import STRONGER_SEEDS, stronger, stronger_figure
from foreknow.evaluation.risk.adversary_gain import adversary_gain
from foreknow.evaluation.risk.record_linkage import record_linkage
from foreknow.models import Adversary, ClassFrequencies, History, Release, Simulation, View

K, T, J = (3, 5, 10, 15, 20), (0.5, 0.6, 0.7, 0.8), (0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
"""Values of the parameters; where one varies the others are `AT`, in the tables and in the figures."""
AT = (5, 0.5, 0.8)
J_OF_TIMES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)

TABLES, RECORDS = 24, 4000
"""Size of BKseq."""

BETA = 5.0
"""Of k-primacy; the paper gives none."""

PATIENCE = 50

CLASSES = {"age": 3, "sex": 2, "education-num": 16}
"""Intervals of the classes of respondents of Adult whose frequencies are the background knowledge."""

TIMED = 4
"""Number of tables that a time is the mean of."""

SEEDS = range(1, 11)
"""The paper's ten runs."""


@dataclass(frozen=True)
class OnCurve(UHRA):
    """UHRA whose groups grow along a Hilbert curve."""

    def _group_cluster(self, requirement: GroupPredicate, cluster: Cluster) -> ClusterGrouping:
        return super()._group_cluster(requirement, replace(cluster, order=hilbert_order(cluster.people)))


def defenses(k: int, t: float, j: float) -> dict[str, Defense]:
    """The three algorithms of the paper as printed, and BKA-JS as this package has it by default but for its patience."""
    return {
        "UHRA": UHRA(k, t, j, judged="view"),
        "BKA-JS": JSReduce(k, t, j, judged="view"),
        f"BKA-JS, patience {PATIENCE}": JSReduce(k, t, j, patience=PATIENCE),
        "k-primacy": KPrimacy(k, BETA, j, judged="view"),
    }


def variants(k: int, t: float, j: float) -> dict[str, Defense]:
    """UHRA without refinement, and along another order."""
    return {
        "UHRA, not refined": UHRA(k, t, j, judged="view", sweeps=0),
        "UHRA, Hilbert curve": OnCurve(k, t, j, judged="view"),
    }


def census() -> tuple[View, ClassFrequencies]:
    """Adult with age, gender and the number of education, and the knowledge of income that its classes give."""
    view = adult(adult_folder(), "salary-class", ("age", "sex", "education-num"))[0]
    return view, ClassFrequencies.fit(History([view]), CLASSES)


@lru_cache(1)
def exam_tables(seed: int) -> Simulation:
    """BKseq: simulated exams."""
    return exams(TABLES, RECORDS, rng=seed)


def settings(along: str) -> list[tuple[int, float, float]]:
    """Values of k, t and J where one of them varies; `AT` is among those of k."""
    k, t, j = AT
    found = {"k": [(each, t, j) for each in K], "t": [(k, each, j) for each in T], "j": [(k, t, each) for each in J]}
    return [each for each in found[along] if along == "k" or each != AT]


def maps(views: History, adversary: Adversary, along: str, rng: np.random.Generator) -> pd.DataFrame:
    """One row per setting and algorithm: means over the tables of GCP, RL, group sizes and suppressed records."""
    rows = []
    for at in settings(along):
        for name, defense in (defenses(*at) | (variants(*at) if at == AT else {})).items():
            releases = publish(views, defense, adversary, rng=rng)
            rows.append({"algorithm": name, "k": at[0], "t": at[1], "j": at[2], **losses(releases)})
    return pd.DataFrame(rows)


def losses(releases: tuple[Release, ...]) -> dict[str, float]:
    """GCP is a sum over the published records, or over all, with suppressed ones as wide as the table."""
    lost = gcp(releases, width="distinct")
    everything, linked = gcp(releases, width="distinct", penalize_suppressed=True), record_linkage(releases)
    sizes = np.concatenate([np.bincount(release.group[release.group >= 0]) for release in releases])
    return {
        "smallest": int(sizes.min(initial=RECORDS)),
        "size": round(float(sizes.mean()), 4),
        "suppressed": round(float(lost["suppressed"].sum() / linked["records"].sum()), 6),
        "gcp": round(float(lost["gcp_total"].mean()), 3),
        "gcp_all": round(float(everything["gcp_total"].mean()), 3),
        "linkage": round(float(linked["linkage"].mean()), 6),
    }


def on_adult(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """Figures 1a, 2a, 3a and Tables 3 to 5: one release of 45,222 records, in a random order."""
    view, knowledge = census()
    return maps(History([view]), Adversary(knowledge), cell["along"], rng)


def on_exams(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """Figures 1b, 2b, 3b: each of the tables as a release of its own, with the prior knowledge of first results alone."""
    simulation = exam_tables(cell["seed"])
    return maps(simulation.history, Adversary(simulation.prior), cell["along"], rng)


def times(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:  # noqa: ARG001 - the tables depend on the seed alone
    """Figures 4 and 5: processor time of an algorithm for one table."""
    simulation = exam_tables(cell["seed"])
    views = list(simulation.history)[:: TABLES // TIMED][:TIMED]
    grid = [(f"j = {j}", 5, j) for j in J_OF_TIMES] + [(f"k = {k}", k, 0.8) for k in K]
    rows = []
    for number, (_, k, j) in enumerate([grid[0], *grid]):  # the first one compiles
        for name, defense in defenses(k, 0.5, j).items():
            start = time.process_time()
            for view in views:
                defense(view, simulation.prior(view.people), ())
            rows.append([number, name, k, j, round((time.process_time() - start) / len(views), 5)])
    found = pd.DataFrame(rows, columns=pd.Index(["number", "algorithm", "k", "j", "call_seconds"]))
    return found[found["number"] > 0].drop(columns="number")


def clusters(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:  # noqa: ARG001
    """Largest number of clusters of similar priors in a table, by J in bits and in nats."""
    simulation = exam_tables(cell["seed"])
    priors = [simulation.prior(view.people) for view in simulation.history]
    rows = [
        [unit, j, max(int(prior_clusters(prior, j, base).max()) + 1 for prior in priors)]
        for (unit, base), j in product((("bits", 2.0), ("nats", np.e)), J_OF_TIMES)
    ]
    return pd.DataFrame(rows, columns=pd.Index(["unit", "j", "clusters"]))


def attackers(simulation: Simulation) -> dict[str, Attack]:
    """The adversary of the paper, and two who know how results change from table to table."""
    known = Adversary(simulation.prior, simulation.transitions)
    return {
        "priors alone": SequentialAttack(Adversary(simulation.prior)),
        "with transitions": SequentialAttack(known),
        "joint": JointAttack(known),
    }


def attacked(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """Not in the paper: gain over the tables as a sequence of releases, at k = 5, t = .5, J = .8."""
    simulation = exam_tables(cell["seed"])
    defense = defenses(*AT)[cell["algorithm"]]
    releases = publish(simulation.history, defense, Adversary(simulation.prior), rng=rng)
    rows = []
    for name, attack in attackers(simulation).items():
        table = adversary_gain(attack(releases), simulation.history)
        rows.append([name, float(np.average(table["gain"], weights=table["measured"])), *table["gain"].iloc[[0, -1]]])
    return pd.DataFrame(rows, columns=pd.Index(["adversary", "gain", "first", "last"])).round(4)


def against_stronger(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """Not in the paper: the algorithm against further adversaries of the joint law."""
    simulation = exam_tables(cell["seed"])
    releases = publish(simulation.history, defenses(*AT)["UHRA"], Adversary(simulation.prior), rng=rng)
    return stronger("UHRA", simulation.history, releases, Adversary(simulation.prior, simulation.transitions))


ALONG = [{"along": along, "seed": seed} for seed in SEEDS for along in ("k", "t", "j")]
BY_SEED = [{"seed": seed} for seed in SEEDS]
EXPERIMENTS = (
    Experiment("uhra_adult", on_adult, ALONG, data=ADULT),
    Experiment("uhra_exams", on_exams, ALONG),
    Experiment("uhra_times", times, BY_SEED),
    Experiment("uhra_clusters", clusters, BY_SEED),
    Experiment(
        "uhra_sequence",
        attacked,
        [{"algorithm": name, "seed": seed} for seed in SEEDS for name in ("UHRA", "BKA-JS", "k-primacy")],
    ),
    Experiment("uhra_stronger", against_stronger, [{"seed": seed} for seed in STRONGER_SEEDS]),
)

BOTH = "(SELECT *, 'Adult' AS source FROM uhra_adult UNION ALL BY NAME SELECT *, 'BKseq' AS source FROM uhra_exams)"

SETTING = (
    "Adult (45,222 records, income) and BKseq (24 tables of 4,000); k = 3 to 20, t = .5 to .8, J = .1 to .8, of which two are "
    "fixed at k = 5, t = .5, J = .8; mean of ten runs."
)
READINGS = (
    "BKseq is replaced by simulated exams, 24 tables of 4,000 records; measures are means over tables. The ten runs are ten such "
    "histories, and ten random orders of the records of Adult.",
    "Background knowledge has no transitions. It is P(result | age, gender, weight) of the exams, exactly, and the frequencies of "
    "classes of Adult: three intervals of age, each gender, each level of education.",
    "Education is its number in Adult, 1 to 16, since Equation 2 is for numbers. The Jensen-Shannon divergence is in bits; the "
    "ground distance of t-closeness is equal.",
    "BKA-JS is JS-reduce as printed: no limit of patience, judged against the view; another line has patience 50. k-primacy is a "
    "reconstruction, with beta = 5; the paper gives none.",
    "A suppressed record counts in GCP as wide as the table, and in RL as 0.",
)


def shown(along: str) -> str:
    """Name of a parameter."""
    return along.upper() if along == "j" else along


def risk_map(name: str, along: str, where: str) -> Figure:
    """Figures 1 to 3."""
    query = f"""SELECT linkage AS x, gcp_all AS y, {along} AS point, algorithm AS line, source AS panel, seed
        FROM {BOTH} WHERE {where} AND algorithm NOT LIKE 'UHRA,%' ORDER BY source, line, {along}"""
    return Figure(
        name,
        f"information loss against record linkage, by {shown(along)}",
        query,
        "points",
        "record linkage",
        "GCP, sum over a table",
        where.replace("0.", ".").replace(" AND ", ", ").replace("j =", "J =") + ".",
        log=True,
        within=(0, math.inf),
        point_label=shown(along),
    )


def sizes(name: str, along: str, where: str, printed: dict[str, tuple[float, ...]]) -> Figure:
    """Tables 3 to 5."""
    values = {"k": K, "j": J[:-1], "t": T}[along]
    query = f"""SELECT {along} AS x, size AS y, 'mean' AS panel, algorithm AS line, seed
        FROM uhra_adult WHERE {where} AND algorithm NOT LIKE 'UHRA,%' UNION ALL
        SELECT {along}, smallest, 'smallest', algorithm, seed
        FROM uhra_adult WHERE {where} AND algorithm NOT LIKE 'UHRA,%' ORDER BY panel, line, x"""
    means = [("mean", line, x, y) for line, of in printed.items() for x, y in zip(values, of, strict=True)]
    least = [("smallest", line, x, float(x if along == "k" else 5)) for line in printed for x in values]
    return Figure(
        name,
        f"size of groups on Adult, by {shown(along)}",
        query,
        "table",
        f"{shown(along)} =",
        "size of a group",
        printed=(*means, *least),
    )


def run_times(name: str, along: str, where: str) -> Figure:
    """Figures 4 and 5."""
    query = f"""SELECT {along} AS x, 1000 * call_seconds AS y, algorithm AS line, seed
        FROM uhra_times WHERE {where} ORDER BY line, x"""
    return Figure(
        name,
        f"run time by {shown(along)}",
        query,
        "curves",
        shown(along),
        "milliseconds per table",
        "BKseq.",
        (
            "Milliseconds of one processor for one table, compiled by Numba; the paper's are of MATLAB. UHRA clusters the distinct "
            "priors, which gives the clusters of all records.",
        ),
        log=True,
        within=(0, math.inf),
    )


FIGURES = (
    risk_map("1", "k", "t = 0.5 AND j = 0.8"),
    risk_map("2", "j", "t = 0.5 AND k = 5"),
    risk_map("3", "t", "k = 5 AND j = 0.8"),
    sizes(
        "Table 3",
        "k",
        "t = 0.5 AND j = 0.8",
        {"UHRA": (8, 9, 11, 17, 23), "BKA-JS": (8.8, 13, 14, 20, 25), "k-primacy": (8, 11, 14, 18, 24)},
    ),
    sizes(
        "Table 4",
        "j",
        "t = 0.5 AND k = 5 AND j < 0.8",
        {"UHRA": (9, 9, 10, 11, 10), "BKA-JS": (11, 11.8, 13, 13, 13), "k-primacy": (10, 11, 12, 12, 12)},
    ),
    sizes(
        "Table 5",
        "t",
        "k = 5 AND j = 0.8",
        {"UHRA": (9, 10, 11, 11), "BKA-JS": (13, 13, 15, 17), "k-primacy": (11, 12, 12, 12.8)},
    ),
    run_times("4", "j", "k = 5 AND j < 0.8"),
    run_times("5", "k", "j = 0.8"),
    Figure(
        "Section 6",
        "gain over the tables as a sequence: not in the paper, which leaves it to future work",
        "SELECT adversary AS x, y, algorithm AS line, panel, seed FROM (SELECT *, UNNEST(["
        "{'panel': 'mean over the tables', 'y': gain}, {'panel': 'first table', 'y': first}, "
        "{'panel': 'last table', 'y': last}], recursive := true) FROM uhra_sequence) "
        "ORDER BY panel <> 'mean over the tables', panel, x <> 'priors alone', x = 'joint', line <> 'UHRA', line",
        "bars",
        "",
        "gain over all records",
        readings=(
            "The 24 tables are published each on its own at k = 5, t = .5, J = .8, under static priors. The joint adversary uses "
            "all tables at once, and the exact transitions of results.",
        ),
        within=(-1, 1),
    ),
    stronger_figure("Section 6, further adversaries", "uhra_stronger"),
)

PAPER = Paper(
    "uhra",
    "Amiri et al., Enhancing Utility in Anonymized Data against the Adversary's Background Knowledge, Appl. Sci. 13:4091 (2023)",
    EXPERIMENTS,
    FIGURES,
    lambda cell: bool(cell["seed"] == 1),
    SETTING,
    READINGS,
)
