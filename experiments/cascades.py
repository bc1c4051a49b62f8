"""Cascades against the exact laws of three readings of confidence: 10^5 small histories, and two panels.

A row is a cascade under a reading, about one kind of records (`compare_cascades`). Small histories have two groups of equal size,
three values and two releases, between which the groups exchange a member. The prior of each respondent is drawn; a value stays with
the probability ``stays``, and else is drawn uniformly. A claim is true with its confidence, and else names another value that the
group shows: no release refutes it.
"""

from dataclasses import replace
from functools import reduce
from itertools import product as product_of

import numpy as np
import pandas as pd

from experiments.subjects import seeded
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import compare_cascades, exams, pbc
from foreknow.evaluation.cells import Experiment
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    CompromisedRecords,
    DirichletMultinomial,
    EvidenceCascade,
    Exact,
    GivenPrior,
    History,
    JointPosterior,
    MarkovChain,
    Mixed,
    Numeric,
    PosteriorCascade,
    PriorCascade,
    Release,
    RemoveKnown,
    Schema,
    View,
)

HISTORIES, RELEASES, VALUES = {2: 900, 3: 800, 4: 160}, 2, 3
CONFIDENCES, TOLD = (0.5, 0.7, 0.9), ("first", "last", "each")


def cascades(estimator):
    """Cascades with the exact posterior, or another estimator; pseudo-counts have an estimator of their own."""
    return {
        "none": None,
        "removal": RemoveKnown(),
        "prior": PriorCascade(),
        "prior, as printed": PriorCascade(normalized=False),
        "evidence": EvidenceCascade(),
        "none, pseudo-counts": (None, estimator),
        "posterior": (PosteriorCascade(), estimator),
        "posterior, as printed": (PosteriorCascade(keep_stated=True), estimator),
    }


class SmallHistories:
    """Exact solver of many histories of two groups each, by all assignments that the groups of a release allow.

    They are found once: an object is for one publication, whose prefixes and evidence may vary.
    """

    exact = True
    reads = ()

    def __init__(self, people):
        self.people, self.states, self.moves = people, [], []

    def __call__(self, problem):
        """Posterior of all histories."""
        m = problem.values
        record = np.zeros((problem.release.max() + 1, len(problem.prior)), dtype=int)
        record[problem.release[problem.group], problem.path] = np.arange(len(problem.path))
        for t in range(len(self.states), len(record)):
            self.states.append(self._allowed(problem, record[t]))
            if t:
                before, after = self.states[t - 1][0], self.states[t][0]
                each = (problem.tables[0][0][a[:, :, None], b[:, None]] for a, b in zip(before, after, strict=True))
                self.moves.append(reduce(np.multiply, each))
        evidence = np.vstack([problem.evidence, np.ones(m)])[problem.evidence_row]
        seen = [fits * product(evidence[row], x) for row, (x, fits) in zip(record, self.states, strict=False)]
        ahead, after = [product(problem.prior, self.states[0][0]) * seen[0]], [np.ones(seen[-1].shape)]
        for move, own in zip(self.moves, seen[1:], strict=False):
            ahead.append(own * np.einsum("hs,hst->ht", ahead[-1], move))
        for move, own in zip(self.moves[: len(seen) - 1][::-1], seen[:0:-1], strict=True):
            after.append(np.einsum("hst,ht->hs", move, own * after[-1]))
        beliefs = np.zeros((len(problem.path), m))
        for row, one, other, (x, _) in zip(record, ahead, after[::-1], self.states, strict=False):
            sums = [[(one * other * (values == s)).sum(axis=1) for s in range(m)] for values in x]
            beliefs[row] = np.transpose(sums, (2, 0, 1)).reshape(-1, m)
        shown = (beliefs / beliefs.sum(axis=1, keepdims=True))[(problem.counts > 0)[problem.group]]
        return JointPosterior(problem, shown, *np.zeros((2, len(problem.counts)), dtype=int), rule="sum")

    def forward(self, problem):
        """Not used."""
        raise NotImplementedError

    def _allowed(self, problem, record):
        """Values of each member in each assignment of each history, shape ``(n, h, s)``, and those that are one, ``(h, s)``."""
        values = np.indices((problem.values,) * self.people).reshape(self.people, -1)
        group = problem.group[record].reshape(-1, self.people)
        first = group == group[:, :1]
        other = group[np.arange(len(group)), first.argmin(axis=1)]
        fits = np.ones((len(group), values.shape[1]), dtype=bool)
        for s in range(problem.values):
            for members, shows in ((first, group[:, 0]), (~first, other)):
                fits &= members @ (values == s).astype(float) == problem.counts[shows, s][:, None]
        order = np.argsort(~fits, axis=1, kind="stable")[:, : fits.sum(axis=1).max()]
        return values[:, order], np.take_along_axis(fits, order, axis=1)


def product(rows, values):
    """Product over the members of each history of the entries of their rows at their values, shape ``(h, s)``."""
    members = rows.reshape(values.shape[1], len(values), -1)
    return reduce(np.multiply, (np.take_along_axis(members[:, i], x, axis=1) for i, x in enumerate(values)))


def drawn(rows, rng):
    """A value from each row of probabilities."""
    return np.minimum((rng.random(len(rows))[:, None] > rows.cumsum(axis=1)).sum(axis=1), rows.shape[1] - 1)


def small_histories(size, stays, rng):
    """Releases of some small histories as one history, and the adversary who knows their law; members of one are consecutive."""
    n, histories = 2 * size, HISTORIES[size]
    prior = rng.dirichlet(np.ones(VALUES), histories * n)
    chain = stays * np.eye(VALUES) + (1 - stays) / VALUES
    values, side, number = (
        drawn(prior, rng),
        np.tile(np.arange(n) // size, histories),
        np.repeat(np.arange(histories), n),
    )
    schema, releases = Schema({"age": Numeric(0, len(prior) - 1)}, "result", tuple(range(VALUES))), []
    for time in range(RELEASES):
        if time:
            values = drawn(chain[values], rng)
            rows = side.reshape(histories, n).copy()
            leaving = [np.argmax(rng.random(rows.shape) * (rows == one), axis=1) for one in (0, 1)]
            rows[np.arange(histories), leaving] = [[1], [0]]
            side = rows.ravel()
        frame = pd.DataFrame({"id": np.arange(len(prior)), "age": np.arange(len(prior)), "result": values})
        releases.append(Release(View(frame, schema, time), 2 * number + side))
    return releases, Adversary(GivenPrior(pd.DataFrame(prior)), MarkovChain(1, chain), estimator=Exact())


def claims(releases, confidence, told, chosen, rng):
    """Claims about a member of some groups of some releases: true with the confidence, else of another value that the group shows.

    ``chosen`` is a function of the number of groups of a release that returns the groups; those of one value have no claim, and no
    group has two, whose confidences could contradict each other.
    """
    rows = []
    for release in {"first": releases[:1], "last": releases[-1:], "each": releases}[told]:
        order = rng.permutation(len(release.view))
        member = dict(zip(release.group[order].tolist(), order.tolist(), strict=True))
        for group in chosen(len(release.observation.counts)).tolist():
            shown, value = np.flatnonzero(release.observation.counts[group]), release.view.sensitive[member[group]]
            if len(shown) > 1:
                said = value if rng.random() < confidence else rng.choice(shown[shown != value])
                rows.append(
                    (release.view.people.respondents[member[group]], release.view.schema.values[said], release.time)
                )
    return CompromisedRecords(pd.DataFrame(rows, columns=["respondent", "value", "time"]).assign(confidence=confidence))


def small_errors(cell, rng):
    """Errors on small histories, for each confidence and time of the claims."""
    tables, half = [], np.arange(0, 2 * HISTORIES[cell["size"]], 2)
    for confidence, told in product_of(CONFIDENCES, TOLD):
        releases, adversary = small_histories(cell["size"], cell["stays"], rng)
        known = claims(releases, confidence, told, (lambda _: half) if cell["claimed"] == 1 else np.arange, rng)
        found = compare_cascades(
            releases,
            cascades(DirichletMultinomial()),
            {"": replace(adversary, compromised=known, cascade=PriorCascade())},
            solver=SmallHistories(2 * cell["size"]),
        )
        others = (found["about"] != "claimed respondent") & (found["cascade"] != "joint law, " + found["reading"])
        tables.append(short(found[others]).assign(confidence=confidence, told=told, unmet=found.attrs["unmet"][""]))
    return pd.concat(tables)


def short(table):
    """Rows of `compare_cascades` with four significant digits."""
    numbers = table.select_dtypes("float")
    digits = numbers.map(lambda x: float(f"{x:.4g}") if abs(x) > 1e-9 else 0.0).astype(np.float32)
    return table.drop(columns="adversary", errors="ignore").assign(**digits)


SMALL = Experiment(
    "cascades_small",
    small_errors,
    [
        {"size": size, "claimed": claimed, "stays": stays}
        for size in (2, 3, 4)
        for claimed in (1, 2)
        for stays in (0.0, 0.5, 0.9)
    ],
)


def on_exams(seed):
    """Four views of 400, and an adversary who knows the law."""
    history, prior, chain = exams(views=4, records=400, rng=seeded(seed))
    return history, Adversary(prior, chain, estimator=Exact())


def on_pbc(seed):
    """Two thirds of the patients, and an adversary who learned from the others."""
    patients = pbc()
    order = seeded(seed).permutation(np.array(patients.respondents, dtype=object))
    corpus, rest = patients.of(order[: len(order) // 3]), patients.of(order[len(order) // 3 :])
    prior = ClassFrequencies.fit(corpus, {"age": 3, "sex": None}, pseudo_count=0.5)
    chain = MarkovChain.fit(corpus, pseudo_count=0.1)
    return History(view for view in rest if len(view) >= 20), Adversary(prior, chain, estimator=Exact())


PANELS = {"exams": on_exams, "pbc": on_pbc}


def panel_errors(cell, rng):
    """Errors on a panel of which a tenth of Mondrian's groups has a claim of .9 at each release."""
    history, adversary = PANELS[cell["history"]](cell["seed"])
    releases = publish(history, Mondrian(KAnonymity(3) & DistinctDiversity(2)), rng=seeded(1))
    known = claims(releases, 0.9, "each", lambda groups: rng.permutation(groups)[: groups // 10 + 1], rng)
    informed = replace(adversary, compromised=known, cascade=PriorCascade())
    found = compare_cascades(releases, cascades(Mixed(size=8)), {"": informed})
    return short(found.assign(unmet=found.attrs["unmet"][""], claims=len(known)))


PANEL = Experiment(
    "cascades_panels",
    panel_errors,
    [{"history": name, "seed": seed} for name in PANELS for seed in range(10)],
    revision=2,
)
