"""Tables 3 to 5 of UHRA on Adult, with the numbers of the paper: ``python benchmarks/uhra.py [folder]``, some minutes.

The folder contains adult.data and adult.test; adult-hierarchies is in it or beside it. The default is ../shared/data/adult.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from foreknow.defenses import UHRA, Defense, JSReduce, KPrimacy, TCloseness, grow, summarize_records
from foreknow.defenses.algorithms.clustering import prior_clusters
from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.evaluation import adult
from foreknow.models import ClassFrequencies, View
from foreknow.models.arrays import FloatArray

QUASI_IDENTIFIERS = ["age", "sex", "education"]
CLASSES = {"age": 3, "sex": None, "education": None}
"""Classes of the prior "extracted by the incremental method": for one table, the frequencies of classes of people."""

BETA = 1.0
"""Beta of k-primacy, which the paper does not give."""

type Printed = dict[str, list[tuple[float, float]]]

TABLE_3: Printed = {
    "UHRA": [(3, 8), (5, 9), (10, 11), (15, 17), (20, 23)],
    "BKA-JS": [(3, 8.8), (5, 13), (10, 14), (15, 20), (20, 25)],
    "k-primacy": [(3, 8), (5, 11), (10, 14), (15, 18), (20, 24)],
}
TABLE_4: Printed = {
    "UHRA": [(5, 9), (5, 9), (5, 10), (5, 11), (5, 10)],
    "BKA-JS": [(5, 11), (5, 11.8), (5, 13), (5, 13), (5, 13)],
    "k-primacy": [(5, 10), (5, 11), (5, 12), (5, 12), (5, 12)],
}
TABLE_5: Printed = {
    "UHRA": [(5, 9), (5, 10), (5, 11), (5, 11)],
    "BKA-JS": [(5, 13), (5, 13), (5, 15), (5, 17)],
    "k-primacy": [(5, 11), (5, 12), (5, 12), (5, 12.8)],
}


def table_3(view: View, prior: FloatArray) -> Iterator[str]:
    """Table 3: group sizes (min, mean) at t = .5, J = .8, by k."""
    yield from table(view, prior, TABLE_3, [(k, 0.5, 0.8) for k in (3, 5, 10, 15, 20)])


def table_4(view: View, prior: FloatArray) -> Iterator[str]:
    """Table 4: group sizes (min, mean) at t = .5, k = 5, by J."""
    yield from table(view, prior, TABLE_4, [(5, 0.5, j) for j in (0.2, 0.3, 0.4, 0.5, 0.6)])


def table_5(view: View, prior: FloatArray) -> Iterator[str]:
    """Table 5: group sizes (min, mean) at J = .8, k = 5, by t."""
    yield from table(view, prior, TABLE_5, [(5, t, 0.8) for t in (0.5, 0.6, 0.7, 0.8)])


def table(
    view: View, prior: FloatArray, printed: Printed, settings: Sequence[tuple[int, float, float]]
) -> Iterator[str]:
    """One row per algorithm and setting: our numbers, and those of the paper."""
    yield "| algorithm | k | t | J | min, mean | paper | suppressed | groups of k |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, sizes in printed.items():
        for (k, t, j), (least, mean) in zip(settings, sizes, strict=True):
            size, lost = measured(algorithm(name, k, t, j), view, prior)
            yield (
                f"| {name} | {k} | {t} | {j} | {size.min()}, {size.mean():.2f} | {least}, {mean} | {lost} | "
                f"{(size == k).mean():.3f} |"
            )


def algorithm(name: str, k: int, t: float, j: float) -> Defense:
    if name == "UHRA":
        return UHRA(k, t, j)
    return KPrimacy(k, BETA, j) if name == "k-primacy" else JSReduce(k, t, j, patience=50)


def measured(
    defense: Defense, view: View, prior: FloatArray
) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", int]:
    """Sizes of the groups, and the number of suppressed records."""
    labels = defense(view, prior, ()).labels
    return np.unique(labels[labels >= 0], return_counts=True)[1], int((labels < 0).sum())


def why(view: View, prior: FloatArray) -> Iterator[str]:
    """Causes of the differences: the groups for which t and J bind, and the t at which means are as in the paper."""
    share = np.bincount(view.sensitive) / len(view)
    far = (1 - share).round(3).tolist()
    yield f"shares of {view.schema.values}: {share.round(3).tolist()}; largest distances, of groups of one value: {far}"
    for j in (0.2, 0.3, 0.4, 0.5, 0.6, 0.8):
        sizes = np.bincount(prior_clusters(prior, j))
        yield f"J = {j}: {len(sizes)} clusters of {sorted(sizes.tolist(), reverse=True)}"
    order, records = nearest_point_order(view.people), summarize_records(view, prior)
    runs = order[: len(view) // 5 * 5].reshape(-1, 5)
    counts = np.array([np.bincount(view.sensitive[run], minlength=2) for run in runs])
    for t in (0.1, 0.2, 0.25, 0.3, 0.5, 0.8):
        distance = np.abs(counts / 5 - share).sum(axis=1) / 2
        grown = [len(group) for group in grow(records, order, TCloseness(t)).groups]
        size, lost = measured(UHRA(5, t, 0.8), view, prior)
        yield (
            f"t = {t}: {(distance > t).mean():.3f} of runs of 5 fail; grown by t alone {np.mean(grown):.2f}; UHRA min "
            f"{size.min()}, mean {size.mean():.2f}, suppressed {lost}"
        )


SECTIONS = (table_3, table_4, table_5, why)

if __name__ == "__main__":
    folder = (
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
    )
    hierarchies = next(f for f in (folder / "adult-hierarchies", folder.parent / "adult-hierarchies") if f.is_dir())
    history = adult(folder, "salary-class", QUASI_IDENTIFIERS, hierarchies)
    census = history[0]
    beliefs = ClassFrequencies.fit(history, CLASSES)(census.people)
    for section in SECTIONS:
        print(f"\n{section.__name__}: {section.__doc__}", flush=True)
        for line in section(census, beliefs):
            print(f"  {line}", flush=True)
