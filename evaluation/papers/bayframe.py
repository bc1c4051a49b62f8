"""BayFrame (Amiri, Yazdani, Shakery, Ho 2019): its experiments in its own setting, and its figures.

A framework is a defense and the adversary that it assumes; its gain is that of this adversary, by Equation 8. Where it assumes one
step, the adversary of the joint law attacks it too: in hindsight, and forward at the releases `FORWARD_AT` of some frameworks.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.attacks import Attack, JointAttack, SequentialAttack
from foreknow.defenses import BKAA, Defense, JSReduce, TCloseness, publish
from foreknow.evaluation.cells import Cell, Experiment
from foreknow.evaluation.datasets.adult import adult_history
from foreknow.evaluation.datasets.exams import exams
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.evaluation.papers.figures import ADULT, Figure, Paper, adult_folder
from foreknow.evaluation.papers.stronger import STRONGER_SEEDS, forward_beliefs, stronger, stronger_figure
from foreknow.evaluation.risk.adversary_gain import adversary_gain
from foreknow.evaluation.risk.record_linkage import record_linkage
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    CompromisedRecords,
    ConfidenceSum,
    DirichletMultinomial,
    Estimator,
    EvidenceCascade,
    History,
    MarkovChain,
    Mixed,
    Omega,
    PosteriorCascade,
    Prior,
    PriorCascade,
    Release,
)
from foreknow.models.knowledge.cascades import Cascade

VIEWS, RECORDS, CHANGED = 24, 4000, 400
K, LARGE_K, T, J, BETA = 3, 8, 0.5, 0.6, 5
SIGMAS, CONFIDENCE = (0.01, 0.1), 0.9
STEPS = {1: "FDTMM", 2: "SDTMM"}
"""Names of the knowledge of one and two steps."""

SEEDS = range(1, 11)
FORWARD_AT = (4, 12, 20)
"""Releases at which the joint adversary attacks forward, each of which takes a solution of all releases up to it."""

READINGS: dict[str, dict[str, float]] = {
    "stated": {},
    "size 4": {"size": 4},
    "size 16": {"size": 16},
    "nats": {"base": math.e},
}
"""Choices that the paper leaves open: the largest small group, 8 otherwise, and the base of the divergence, 2 otherwise."""


def joined(rows: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Rows of several attacks, with numbers in single precision."""
    table = pd.concat(rows)
    return table.astype(dict.fromkeys(table.select_dtypes("number").columns.difference(["steps", "time"]), np.float32))


class Knowledge(NamedTuple):
    """A history, and what its adversaries know: the law of first values, and chains of one and two steps."""

    history: History
    prior: Prior
    chains: Mapping[int, MarkovChain]


class Framework(NamedTuple):
    """A defense, and the rules of the adversary that it assumes."""

    name: str
    defense: Defense
    estimator: Estimator
    steps: int = 1
    cascade: Cascade | None = None
    sigma: float = 0.0

    def adversary(self, known: Knowledge, claims: CompromisedRecords | None) -> Adversary:
        """The assumed adversary; two steps are revised by Equations 3 and 4."""
        chain, own = known.chains[self.steps], self.cascade
        return Adversary(
            known.prior,
            chain,
            None if own is None else claims,
            self.estimator,
            own,
            "filter" if self.steps == 1 else "chain",
        )


@lru_cache(maxsize=1)
def bkseq(seed: int) -> Knowledge:
    """Simulated exams, the law of first results, and chains mined from the microdata that are published."""
    history, prior, _ = exams(VIEWS, RECORDS, rng=seed)
    return Knowledge(history, prior, {steps: MarkovChain.fit(history, steps) for steps in STEPS})


@lru_cache(maxsize=1)
def adult_releases(seed: int) -> Knowledge:
    """The history of Adult, frequencies of its classes, and uniform transitions."""
    history = adult_history(adult_folder(), VIEWS, RECORDS, CHANGED, CHANGED, CHANGED, rng=seed)
    m = len(history.schema.values)
    prior = ClassFrequencies.fit(history, {"age": 3, "sex": None, "education": None})
    return Knowledge(history, prior, {1: MarkovChain(1, np.full((m, m), 1 / m))})


def mixed(cell: Cell) -> Mixed:
    """Estimator of section 4.3.1: the Dirichlet rule with random ties in small groups, Omega in the others."""
    size = int(READINGS[cell["reading"]].get("size", 8))
    return Mixed(DirichletMultinomial(ties="random", rng=cell["seed"]), Omega(), size)


def js_reduce(cell: Cell) -> JSReduce:
    """Algorithm 4 of JS-reduce as printed, with its thresholds."""
    return JSReduce(K, T, J, _base(cell), patience=None, judged="view")


def bkaa(cell: Cell, k: int = K, beta: float | None = BETA) -> BKAA:
    """Algorithm 1 as printed; without beta with the t-closeness of JS-reduce in its place."""
    also = TCloseness(T) if beta is None else None
    return BKAA(k, beta, J, base=_base(cell), also=also, patience=None, judged="view")


def _base(cell: Cell) -> float:
    return READINGS[cell["reading"]].get("base", 2.0)


def measured(
    cell: Cell, known: Knowledge, frameworks: Sequence[Framework], forward: Sequence[str] = ()
) -> pd.DataFrame:
    """Gain, loss and linkage of each release of frameworks, under their own adversary and under the joint ones.

    ``forward`` names the frameworks that the joint adversary attacks forward too.
    """
    rows: list[pd.DataFrame] = []
    for each in frameworks:
        claims = claimed(known, each.sigma, cell) if each.sigma else None
        own = each.adversary(known, claims)
        releases = publish(known.history, each.defense, own, rng=cell["seed"])
        attacks: dict[str, Attack] = {"own": SequentialAttack(own)}
        if cell["reading"] == "stated" and each.steps == 1:
            attacks |= joint(known, claims, each.name in forward)
        rows += attacked(each, known.history, releases, attacks, claims)
    return joined(rows)


def claimed(known: Knowledge, sigma: float, cell: Cell) -> CompromisedRecords:
    """Compromised records of every view; those of a smaller sigma are not among those of a larger one."""
    rng = np.random.default_rng([cell["seed"], round(100 * sigma)])
    return CompromisedRecords.sample(known.history, sigma, CONFIDENCE, rng=rng)


def joint(known: Knowledge, claims: CompromisedRecords | None, forward: bool = False) -> dict[str, Attack]:
    """The adversary of the joint law, with the chain of one step that the data have, and claims by Bayes' rule."""
    cascade = None if claims is None else EvidenceCascade()
    adversary = Adversary(known.prior, MarkovChain.fit(known.history), claims, cascade=cascade)
    attacks: dict[str, Attack] = {"joint": JointAttack(adversary)}
    return attacks | ({"joint, forward": JointAttack(adversary)} if forward else {})


def attacked(
    framework: Framework,
    history: History,
    releases: Sequence[Release],
    attacks: Mapping[str, Attack],
    claims: CompromisedRecords | None,
) -> Iterator[pd.DataFrame]:
    """One row per attack and release, with what the release costs beside the first attack; forward, of `FORWARD_AT`.

    ``others`` is the gain of the records that are not compromised. GCP is relative to the table.
    """
    cost = {
        "gcp": gcp(releases, width="table")["gcp_total"].round(1),
        "linkage": record_linkage(releases)["linkage_sum"].round(1),
        "suppressed": suppressed(releases)["suppressed"],
    }
    for attacker, attack in attacks.items():
        at = FORWARD_AT if attacker == "joint, forward" else None
        beliefs, seen = (attack(releases), history) if at is None else forward_beliefs(attack, history, releases, at)
        gains = {"gain": {"absolute": True}, "signed": {}} | (
            {} if claims is None else {"others": {"absolute": True, "leaving_out": claims}}
        )
        yield pd.DataFrame(
            {
                "framework": framework.name,
                "steps": framework.steps,
                "sigma": framework.sigma,
                "attacker": attacker,
                "time": [view.time for view in seen.views],
                **{name: adversary_gain(beliefs, seen, **how)["gain"].round(4) for name, how in gains.items()},
                **cost,
            }
        )
        cost = {}


def estimators(cell: Cell, _rng: np.random.Generator) -> pd.DataFrame:
    """Figures 3, 9 and 10: the estimators under the algorithm of JS-reduce, and BKAA with the constraints of JS-reduce."""
    frameworks = []
    for steps in STEPS:
        frameworks += [
            Framework("JS-reduce", js_reduce(cell), ConfidenceSum(), steps),
            Framework("JS-reduce, Omega", js_reduce(cell), Omega(), steps),
            Framework("BayFrame, algorithm of JS-reduce", js_reduce(cell), mixed(cell), steps),
            Framework("BayFrame", bkaa(cell, beta=None), mixed(cell), steps),
        ]
    return measured(cell, bkseq(cell["seed"]), frameworks, ("JS-reduce, Omega", "BayFrame"))


def compromised(cell: Cell, _rng: np.random.Generator) -> pd.DataFrame:
    """Figure 4: the releases of BayFrame under an adversary with and without compromised records."""
    known = bkseq(cell["seed"])
    rows: list[pd.DataFrame] = []
    claims = claimed(known, SIGMAS[-1], cell)
    for k in (K, LARGE_K):
        plain = Framework(f"k={k}", bkaa(cell, k), mixed(cell), sigma=SIGMAS[-1])
        own = plain.adversary(known, None)
        releases = publish(known.history, plain.defense, own, rng=cell["seed"])
        attacks: dict[str, Attack] = {"BayFrame": SequentialAttack(own)}
        for name, cascade in (("prior", PriorCascade(normalized=False)), ("posterior", PosteriorCascade())):
            attacks[f"BayFrame+Compromised, {name}"] = SequentialAttack(
                replace(own, compromised=claims, cascade=cascade)
            )
        if cell["reading"] == "stated":
            attacks |= joint(known, None)
            attacks["joint, compromised"] = joint(known, claims)["joint"]
        rows += attacked(plain, known.history, releases, attacks, claims)
    return joined(rows)


def cascading(cell: Cell, beta: float | None, sigmas: Sequence[float], steps: Sequence[int]) -> list[Framework]:
    """BayFrame+Prior and BayFrame+Posterior."""
    cascades = {"Prior": PriorCascade(normalized=False), "Posterior": PosteriorCascade()}
    return [
        Framework(f"BayFrame+{name}", bkaa(cell, beta=beta), mixed(cell), each, cascade, sigma)
        for each in steps
        for sigma in sigmas
        for name, cascade in cascades.items()
    ]


def cascades(cell: Cell, _rng: np.random.Generator) -> pd.DataFrame:
    """Figures 5 and 7."""
    return measured(cell, bkseq(cell["seed"]), cascading(cell, BETA, SIGMAS, (*STEPS,)))


def cascades_on_adult(cell: Cell, _rng: np.random.Generator) -> pd.DataFrame:
    """Figures 6 and 8."""
    return measured(cell, adult_releases(cell["seed"]), cascading(cell, BETA, SIGMAS, (1,)))


def frameworks(cell: Cell, _rng: np.random.Generator) -> pd.DataFrame:
    """Figure 11."""
    found = cascading(cell, None, SIGMAS[-1:], (*STEPS,))
    prior = PriorCascade(normalized=False)
    rules: dict[str, Estimator] = {"JS-reduce+Prior": ConfidenceSum(), "JS-reduce+Prior, Omega": Omega()}
    found += [
        Framework(name, js_reduce(cell), rule, steps, prior, SIGMAS[-1])
        for steps in STEPS
        for name, rule in rules.items()
    ]
    return measured(cell, bkseq(cell["seed"]), found)


def against_stronger(cell: Cell, _rng: np.random.Generator) -> pd.DataFrame:
    """Not in the paper: frameworks of Figures 9 and 6 against further adversaries.

    All know the chain of one step that is counted in the published history.
    """
    rows, stated = [], {**cell, "reading": "stated"}
    cases = {
        "BayFrame, one step": (bkseq(cell["seed"]), Framework("", bkaa(stated, beta=None), mixed(stated))),
        "BayFrame+Prior, sigma=0.01, Adult": (
            adult_releases(cell["seed"]),
            cascading(stated, BETA, SIGMAS[:1], (1,))[0],
        ),
    }
    for name, (known, each) in cases.items():
        own = each.adversary(known, claimed(known, each.sigma, cell) if each.sigma else None)
        releases = publish(known.history, each.defense, own, rng=cell["seed"])
        rows.append(stronger(name, known.history, releases, Adversary(known.prior, MarkovChain.fit(known.history))))
    return pd.concat(rows)


def cells_of(*readings: str) -> list[Cell]:
    """The stated setting, and other readings."""
    return [{"seed": seed, "reading": reading} for reading in ("stated", *readings) for seed in SEEDS]


EXPERIMENTS = (
    Experiment("bayframe_estimators", estimators, cells_of("size 4", "size 16", "nats"), revision=2),
    Experiment("bayframe_compromised", compromised, cells_of("size 16")),
    Experiment("bayframe_cascades", cascades, cells_of("size 16")),
    Experiment("bayframe_adult", cascades_on_adult, cells_of(), data=ADULT),
    Experiment("bayframe_frameworks", frameworks, cells_of("size 16")),
    Experiment(
        "bayframe_stronger", against_stronger, [{"seed": seed} for seed in STRONGER_SEEDS], revision=2, data=ADULT
    ),
)

ATTACKERS = (
    "CASE WHEN attacker = 'joint, forward' THEN 'joint adversary, forward' WHEN attacker LIKE 'joint%' "
    "THEN 'joint adversary, in hindsight' ELSE 'adversary of the framework' END"
)
LINE = "framework || CASE steps WHEN 1 THEN ' (FDTMM)' ELSE ' (SDTMM)' END"
SIGMA_LINE = "framework || CASE WHEN sigma < 0.05 THEN ', sigma=0.01' ELSE ', sigma=0.1' END"

DATA = "Bkseq: 24 tables of about 4,000 records; PDcor mined from the microdata, of one step (FDTMM) and two (SDTMM)."
READINGS_OF_ALL = (
    "The data set was not found; `exams` is simulated from published rates, and PDsv is its exact law of classes.",
    "'A QI-group is large' has no number: the Dirichlet rule is taken up to 8 members, Omega above (`Mixed`). Best permutations "
    "that tie are drawn at random, as in Example 2.",
    "Algorithms as printed: `patience=None, judged='view'`; the base of J is 2, and e in another reading of the claims. "
    "Beta-likeness is enhanced; a leftover joins the nearest group that still satisfies. The paper gives neither.",
    "The estimator of JS-reduce is that of section 6.3.1, sums of confidence degrees; its own paper approximates them by Omega.",
    "A release without a published record has no gain, and no point in an R-U map: curves have a gap there, and means are over the "
    "other seeds.",
    "Equation 5 is applied as printed to the claimed value, and the row divided by its sum. Definition 6 says nothing of groups "
    "under Omega: there the posterior cascade has no effect.",
    "In the figures the joint adversary attacks the frameworks of one step, with their knowledge; it reads the same claims by "
    f"Bayes' rule. Forward it reads the releases up to one, at {', '.join(map(str, FORWARD_AT))}.",
)
ALIKE = "k=3, t=0.5, J=0.6, Dirichlet rule up to 8 members; no compromised records."
CASCADED = (
    "k=3, beta=5, J=0.6, CR=0.9, sigma 0.01 and 0.1, Dirichlet rule up to 8 members; the framework cascades as its adversary "
    "does."
)
THREE = "k=3, t=0.5, J=0.6, CR=0.9, sigma=0.1, Dirichlet rule up to 8 members; each framework cascades."
UNIFORM = (
    "Adult: 4,000 records, then 400 deleted, 400 inserted and 400 updated before each release; QI age, gender, education; "
    f"occupation sensitive; uniform PDcor. {CASCADED}"
)
ON_ADULT = (
    "Updates draw from all occupations, and deleted records do not return. PDsv are the frequencies of three intervals of age, "
    "gender and education in the history. The joint adversary mines its chain, the others have the uniform one.",
)


def curves(
    name: str, title: str, table: str, line: str, setting: str, where: str = "true", y: str = "gain", **more: Any
) -> Figure:
    """Curves over the releases, a panel for each adversary."""
    query = (
        f"SELECT time AS x, {y} AS y, {line} AS line, {ATTACKERS} AS panel, seed FROM {table} "
        f"WHERE reading = 'stated' AND ({where}) ORDER BY panel, line"
    )
    return Figure(
        name, title, query, "curves", "release", "gain (Equation 8)", setting, **{"within": (0, math.inf), **more}
    )


def maps(name: str, title: str, table: str, line: str, setting: str, where: str = "true", **more: Any) -> Figure:
    """Map of risk and utility: the sums of GCP and RL of each release that has records."""
    query = (
        f"SELECT gcp AS x, linkage AS y, time AS point, {line} AS line, seed FROM {table} "
        f"WHERE reading = 'stated' AND attacker = 'own' AND gain IS NOT NULL AND ({where}) ORDER BY line, time"
    )
    return Figure(
        name,
        f"R-U map of {title}",
        query,
        "points",
        "GCP, sum",
        "RL, sum",
        setting,
        within=(0, math.inf),
        point_label="first and last release",
        **more,
    )


OF_STEPS = (("a", "one step", "steps = 1"), ("b", "two steps", "steps = 2"))
SAME_ALGORITHM, SAME_CONSTRAINTS = "framework <> 'BayFrame'", "framework NOT LIKE '%algorithm%'"

FIGURES = (
    curves(
        "3a",
        "gain by the estimators of JS-reduce and of BayFrame, with the algorithm of JS-reduce",
        "bayframe_estimators",
        LINE,
        ALIKE,
        SAME_ALGORITHM,
    ),
    maps(
        "3b",
        "the 24 releases, with the algorithm of JS-reduce",
        "bayframe_estimators",
        LINE,
        ALIKE,
        SAME_ALGORITHM,
        printed=(
            ("", "JS-reduce (SDTMM)", (200, 450), (750, 850)),
            ("", "BayFrame, algorithm of JS-reduce (SDTMM)", (200, 3850), (50, 850)),
        ),
    ),
    *(
        curves(
            f"4{letter}",
            f"impact of compromised records on the gain of {which} records",
            "bayframe_compromised",
            "framework || CASE WHEN attacker IN ('BayFrame', 'joint') THEN ', none compromised' WHEN attacker LIKE '%prior' "
            "THEN ', prior-based' WHEN attacker LIKE '%posterior' THEN ', posterior-based' ELSE ', compromised' END",
            "BKAA with k=3 and 8, beta=5, J=0.6, CR=0.9, sigma=0.1, one step, Dirichlet rule up to 8 members.",
            y=column,
            readings=("The cascade of the adversary is not named: both are drawn. The framework itself has none.",),
        )
        for letter, which, column in (("a", "all", "gain"), ("b", "not compromised", "others"))
    ),
    *(
        curves(
            f"5{letter}", f"gain with compromised records, {words}", "bayframe_cascades", SIGMA_LINE, CASCADED, steps
        )
        for letter, words, steps in OF_STEPS
    ),
    curves(
        "6",
        "gain with compromised records, Adult",
        "bayframe_adult",
        SIGMA_LINE,
        UNIFORM,
        readings=ON_ADULT,
        marks={"the text: below .06 after two releases": 0.06},
    ),
    *(
        maps(
            f"7{letter}",
            f"the frameworks with compromised records, {words}",
            "bayframe_cascades",
            SIGMA_LINE,
            CASCADED,
            steps,
        )
        for letter, words, steps in OF_STEPS
    ),
    maps(
        "8",
        "the frameworks with compromised records, Adult",
        "bayframe_adult",
        SIGMA_LINE,
        UNIFORM,
        readings=ON_ADULT,
    ),
    curves(
        "9a",
        "gain of JS-reduce and BayFrame with the same constraints",
        "bayframe_estimators",
        LINE,
        ALIKE,
        SAME_CONSTRAINTS,
    ),
    maps(
        "9b",
        "JS-reduce and BayFrame with the same constraints",
        "bayframe_estimators",
        LINE,
        ALIKE,
        SAME_CONSTRAINTS,
        printed=(
            ("", "JS-reduce (SDTMM)", (200, 400), (750, 850)),
            ("", "BayFrame (SDTMM)", (200, 3500), (100, 850)),
        ),
    ),
    Figure(
        "10",
        "suppressed records of each release",
        f"SELECT time AS x, suppressed AS y, {LINE} AS line, seed FROM bayframe_estimators WHERE reading = 'stated' AND "
        f"attacker = 'own' AND steps = 1 AND {SAME_CONSTRAINTS} ORDER BY line",
        "curves",
        "release",
        "suppressed records",
        ALIKE,
        marks={"the text: at most 13": 13},
        within=(0, RECORDS),
    ),
    curves(
        "11a",
        "gain of three frameworks with compromised records and the same constraints",
        "bayframe_frameworks",
        LINE,
        THREE,
    ),
    maps(
        "11b",
        "three frameworks with compromised records and the same constraints",
        "bayframe_frameworks",
        LINE,
        THREE,
    ),
    stronger_figure(
        "Section 6.3, further adversaries",
        "bayframe_stronger",
        "Every adversary knows the chain of one step counted in the published history (exams are of order 1), and reads no "
        "compromised records.",
    ),
)


def _fast(cell: Cell) -> bool:
    return bool(cell["seed"] == 1 and cell.get("reading", "stated") == "stated")


PAPER = Paper(
    "bayframe",
    "Amiri, Yazdani, Shakery, Ho, Bayesian-based Anonymization Framework against Background Knowledge Attack in Continuous Data "
    "Publishing, Transactions on Data Privacy 12, 2019",
    EXPERIMENTS,
    FIGURES,
    _fast,
    DATA,
    READINGS_OF_ALL,
)
