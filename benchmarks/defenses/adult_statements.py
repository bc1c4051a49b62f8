"""Statements of docs/findings.md about Adult."""

import math
from collections.abc import Iterator

import numpy as np
from comparison_settings import census, seeded

from foreknow.defenses import MASK, FullDomain, KAnonymity, Mondrian
from foreknow.models import Release, UniformPrior

LOW = ("Preschool", "1st-4th", "5th-6th", "7th-8th")


def claims() -> Iterator[str]:
    """MASK's groups in the setting of the foreground-knowledge paper, eligibility for Anatomy, full-domain levels."""
    view = census("education", "age", "workclass", "marital-status", "occupation", "race")
    prior, codes = UniformPrior()(view.people), [view.schema.values.index(value) for value in LOW]
    for k in (2, 10):
        for name, defense in (("Mondrian", Mondrian(KAnonymity(k))), ("MASK", MASK(k, k, LOW, rng=seeded(1)))):
            release = Release(view, defense(view, prior, ()))
            sizes, low = release.counts.sum(axis=1), release.counts[:, codes].sum(axis=1)
            most = np.lexsort((sizes, low))[-1]
            worlds = max(math.comb(int(n), int(x)) for n, x in zip(sizes, low, strict=True))
            yield (
                f"{name}, k = l = {k}: {release.groups} groups; at most {low[most]} of the set in a group, of {sizes[most]}: "
                f"{math.comb(int(sizes[most]), int(low[most])):,} assignments; the most of any group: {worlds:,}"
            )
    counts = np.bincount(view.sensitive)
    worst = int(counts.argmax())
    yield f"{view.schema.values[worst]} is {counts[worst]:,} of {len(view):,}: l at most {len(view) // counts[worst]}"
    table = census("occupation")
    for widths in (None, {"age": (5, 10, 20)}):
        grouping = FullDomain(KAnonymity(5), widths=widths)(table, UniformPrior()(table.people), ())
        yield f"FullDomain k=5, widths {widths}: {grouping.labels.max() + 1} groups; {' '.join(grouping.notes)}"
