"""Minimality attack: inference from the rule of a publisher who merges groups only as far as needed."""

import math
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from math import ceil, comb
from typing import Literal, NamedTuple

import numpy as np

from foreknow.attacks.attack import Published, beliefs_of_each, each_release, group_shares, table_shares
from foreknow.models import Beliefs, Observation, Posterior
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.problem import CONTRADICTED, UNCONVERGED, group_rows
from foreknow.models.settings import MAX_FLOAT, check_choice, check_range, check_state_limit, check_whole
from foreknow.models.tables.schema import SensitiveSet, as_sensitive_values

type Rule = Literal["cuts", "classes"]


@dataclass(frozen=True)
class MinimalityAttack:
    """Exclude the worlds in which the publisher would have divided a group further.

    The publisher divides the table as far as each part satisfies a requirement of the sensitive values. That a group was not
    divided therefore discloses that in each admissible partition of it a part would have violated. All assignments of a group's
    values to its members with this property are equally likely; the others are excluded. The belief is the *credibility* of
    the paper; m-confidentiality requires that no credibility of a sensitive value is over 1/m. The ``notes`` give the largest m.

    Parameters
    ----------
    l : float
        Parameter of the publisher's requirement.
    sensitive_set : collection of values, optional
        The sensitive set: a part violates if over one in l of its records have a value of the set. By default each value is bounded
        on its own.
    k : int
        Smallest number of records of a part. A partition with a smaller part discloses nothing, because its size alone forbids it.
    rule : {"cuts", "classes"}
        Partitions that the publisher would have preferred to a group. ``"cuts"``: for each numeric or categorical attribute the
        strict median cut of `foreknow.defenses.Mondrian`, with its default settings. ``"classes"``: the division into classes
        of equal quasi-identifiers, which are merged only if one violates, as in the paper.
    diversity : {"frequency", "distinct"}
        A part violates if a value's share is over 1/l, or if it has fewer than l distinct values.
    limit : int
        Largest number of worlds of a group, up to exchanges of members in the same parts, that are enumerated. Larger groups keep
        their shares; their status is ``UNCONVERGED``.

    Notes
    -----
    R. Wong, A. Fu, K. Wang, J. Pei, "Minimality Attack in Privacy Preserving Data Publishing", VLDB 2007.

    **Defenses on which a known rule bears.** ``"cuts"`` is the rule of `Mondrian` with frequency or distinct l-diversity and
    k-anonymity. Exact for one quasi-identifier. With several, the rejected cuts of *larger* parts, which an adversary can
    also replay, constrain several groups jointly and are not read: no true world is excluded, and more could be. ``"classes"``
    is the rule of local recoding that merges classes (exact if only classes of one group could have been merged). `FullDomain`
    divides no single group further: its rule constrains the whole table, and is not computed. `JSReduce`, `BKAA`, `UHRA` and
    `KPrimacy` grow groups until they satisfy, so that their rules disclose as well, by the order of growth; this attack does not
    replay it. Groups of `Anatomy`, `Injector` and `MInvariance` are drawn at random, and those of `MASK` do not depend on
    sensitive values: the attack has nothing to read there and must not be used.

    The release is not checked to be of this rule. Where no world of a group agrees with it, the beliefs are the shares and
    the status is ``CONTRADICTED``. Releases with distorted values and groups with counterfeits keep their shares.

    Each release is attacked on its own, without other knowledge. Exact by enumeration; `merge_credibility` is the closed form
    for two classes. Cost: O(p q m) for each world of a group of q cells (members in the same parts of p partitions).

    Examples
    --------
    Two of six records are HIV, one in two is allowed. Only if both are in the first class does a class violate.

    >>> import pandas as pd
    >>> from foreknow.models import PublishedTable
    >>> rows = pd.DataFrame({"nation": ["A"] * 2 + ["B"] * 4, "group": 1, "disease": ["HIV", "flu", "HIV", "flu", "flu", "flu"]})
    >>> attack = MinimalityAttack(2, {"HIV"}, rule="classes")
    >>> attack([PublishedTable(rows, sensitive="disease")]).posterior(0)["HIV"].to_list()
    [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """

    l: float  # noqa: E741 - the field's own letter
    sensitive_set: Collection[Hashable] | None = None
    k: int = 1
    rule: Rule = "cuts"
    diversity: Literal["frequency", "distinct"] = "frequency"
    limit: int = 2**16

    def __post_init__(self) -> None:
        owner = "MinimalityAttack"
        check_range(owner, "l", self.l, 1, MAX_FLOAT, "at most one in l records has a value")
        if self.sensitive_set is not None:
            object.__setattr__(self, "sensitive_set", as_sensitive_values(owner, self.sensitive_set))
        check_whole(owner, "k", self.k, "records")
        check_choice(owner, "rule", self.rule, ("cuts", "classes"))
        check_choice(owner, "diversity", self.diversity, ("frequency", "distinct"))
        check_state_limit(owner, self.limit)
        if self.diversity == "distinct" and self.sensitive_set is not None:
            raise ValueError(
                f"{owner}: distinct l-diversity counts all values, and a sensitive set is given; leave out one of them."
            )

    def __call__(self, releases: Iterable[Published]) -> Beliefs:
        """Beliefs before and after each release, each on its own. Only observations are read."""
        return beliefs_of_each((release.observation for release in each_release(self, releases)), self._attack)

    def _attack(self, seen: Observation) -> tuple[ReleaseBeliefs, Iterator[str]]:
        """Beliefs around one release, and notes on it."""
        sensitive_set = SensitiveSet.within(seen.people.schema.values, self.sensitive_set, "MinimalityAttack")
        n, groups = len(seen.people), len(seen.counts)
        prior = np.tile(table_shares(seen), (n, 1))
        posterior = np.where((seen.group >= 0)[:, None], group_shares(seen), prior)
        status, read = np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.bool_)
        order, starts = group_rows(seen.group, groups)
        for j in range(0 if seen.distorted else groups):
            rows = order[starts[j] : starts[j + 1]]
            cells = self._cells(seen.people.quasi_identifiers[rows])
            if cells is None or len(rows) < seen.counts[j].sum():
                continue
            beliefs, kept = self._group_beliefs(cells, seen.counts[j], sensitive_set)
            if kept > 0:
                posterior[rows], read[j] = beliefs[cells.cell], True
            else:
                status[j] = UNCONVERGED if np.isnan(kept) else CONTRADICTED
        belief = ReleaseBeliefs(seen, prior, prior, Posterior(posterior, status))
        return belief, self._notes(belief, sensitive_set, int(read.sum()))

    @property
    def _smallest(self) -> int:
        """Size below which every part violates."""
        by_values = 1 if self.sensitive_set is not None else min(ceil(self.l - 1e-9), 2**62)
        return max(int(self.k), by_values)

    def _cells(self, codes: FloatArray) -> "_Cells | None":
        """Cells of a group's members by all partitions that could disclose something; None without such a partition."""
        divisions = [equal_rows(codes)] if self.rule == "classes" else median_cuts(codes, self._smallest)
        telling = [each for each in divisions if each.max(initial=0) and np.bincount(each).min() >= self._smallest]
        if not telling:
            return None
        parts, cell, sizes = np.unique(np.array(telling).T, axis=0, return_inverse=True, return_counts=True)
        return _Cells(cell.reshape(-1), sizes.astype(np.int64), np.ascontiguousarray(parts.T.astype(np.int64)))

    def _group_beliefs(
        self, cells: "_Cells", counts: IntArray, sensitive_set: SensitiveSet
    ) -> tuple[FloatArray, float]:
        """Belief about the members of each cell, shape ``(q, m)``, and the share of worlds that are kept."""
        in_classes = sensitive_set.class_counts(counts[None])[0]
        bounded = 1 if sensitive_set.is_proper_subset else len(in_classes)
        shown = np.flatnonzero((in_classes > 0) | (np.arange(len(in_classes)) < (bounded == 1)))
        worlds = merge_worlds(
            cells.sizes,
            in_classes[shown],
            cells.parts,
            float(self.l),
            min(bounded, len(shown)),
            self.diversity == "distinct",
            int(self.limit),
        )
        beliefs = np.zeros((len(cells.sizes), len(in_classes)))
        beliefs[:, shown] = worlds.beliefs
        return sensitive_set.value_probabilities(beliefs, counts), worlds.kept

    def _notes(self, belief: ReleaseBeliefs, sensitive_set: SensitiveSet, read: int) -> Iterator[str]:
        seen, status = belief.observation, belief.posterior.status
        if seen.distorted:
            yield f"{seen.distorted:,} values are distorted, and the rule reads true values; the beliefs are the groups' shares."
            return
        yield f"the rule discloses something of {read:,} of {len(seen.counts):,} groups; the others keep their shares."
        contradicted, large = int((status == CONTRADICTED).sum()), int((status == UNCONVERGED).sum())
        if contradicted:
            yield (
                f"{contradicted:,} groups would have been divided by this rule (status CONTRADICTED): the release is of another "
                "rule or of other parameters."
            )
        if large:
            yield f"{large:,} groups have more than {self.limit:,} worlds (status UNCONVERGED); give a larger limit."
        published = belief.posterior.probabilities[seen.group >= 0]
        if len(published):
            of_set = published[:, sensitive_set.codes].sum(axis=1) if sensitive_set.is_proper_subset else published
            most = float(of_set.max())
            yield (
                f"the largest credibility of a sensitive value is {most:.3f}; m-confidentiality holds for m up to {1 / most:.3g}."
                if most > 0
                else "no sensitive value is published."
            )


class _Cells(NamedTuple):
    """Cell of each member, sizes of the cells, and the part of each cell in each partition: shape ``(p, q)``."""

    cell: IntArray
    sizes: IntArray
    parts: IntArray


def equal_rows(codes: FloatArray) -> IntArray:
    """Number of the class of equal quasi-identifiers of each member: ``(k, d)`` to ``(k,)``."""
    return np.asarray(np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def median_cuts(codes: FloatArray, smallest: int) -> list[IntArray]:
    """Half of each member, 0 or 1, at the strict median cut of each attribute with more than one value.

    The cut is just above the lower median; it is just below where fewer than ``smallest`` members lie above it.
    """
    halves = []
    for column in codes.T:
        median = np.partition(column, (len(column) - 1) // 2)[(len(column) - 1) // 2]
        upper = column > median
        if upper.sum() < smallest:
            upper = column >= median
        if 0 < upper.sum() < len(column):
            halves.append(upper.astype(np.int64))
    return halves


EXCESS = 1e-9  # rounding error of a share that counts as none


class MergeWorlds(NamedTuple):
    """Result of `merge_worlds`."""

    beliefs: FloatArray  # (q, m): belief about the members of each cell over the kept worlds; zeros if there is none
    kept: float  # share of the worlds that are kept; NaN if there are more tables than the limit


@compiled
def merge_worlds(
    sizes: IntArray,
    counts: IntArray,
    parts: IntArray,
    l: float,  # noqa: E741
    bounded: int,
    distinct: bool,
    limit: int,
) -> MergeWorlds:
    """Beliefs over the assignments of a group's values in which every partition has a violating part.

    A world gives x[q, s] values s to the members of cell q; its weight is the number of its assignments, ``Π_q a_q! / Π x!``.

    Exact. Cost: O(p q m) for each table.

    Parameters
    ----------
    sizes : int array, shape (q,)
        Number of members of each cell, whose members are in the same parts.
    counts : int array, shape (m,)
        Values of the group; they sum to the number of members.
    parts : int array, shape (p, q)
        Part of each cell in each partition, numbered from 0.
    l : float
    bounded : int
        The first ``bounded`` values are bounded, each by a share of 1/l in a part.
    distinct : bool
        True if a part violates by having fewer than l distinct values instead.
    limit : int
        Largest number of tables that are enumerated.
    """
    q, m = len(sizes), len(counts)
    table, left, beliefs = np.full(q * m, -1), counts.copy(), np.zeros((q, m))
    low, high = np.zeros(q * m, dtype=np.int64), np.zeros(q * m, dtype=np.int64)
    row_left = sizes.copy()
    # log of Π a_q! Π n_s! / n!: with it, a world weighs its number of assignments over that of all.
    scale = -math.lgamma(sizes.sum() + 1.0)
    for size in sizes:
        scale += math.lgamma(size + 1.0)
    for count in counts:
        scale += math.lgamma(count + 1.0)
    kept, tables, at = 0.0, 0, 0
    low[0], high[0] = max(0, row_left[0] - left[1:].sum()), min(row_left[0], left[0])  # bounds of x[0, 0]
    while at >= 0:
        # Depth first over the entries x[q, s]: put back the present number of an entry, and take the next one.
        cell, value = at // m, at % m
        if table[at] >= 0:
            row_left[cell] += table[at]
            left[value] += table[at]
        table[at] = low[at] if table[at] < 0 else table[at] + 1
        if table[at] > high[at]:
            table[at] = -1
            at -= 1
            continue
        row_left[cell] -= table[at]
        left[value] -= table[at]
        if at < q * m - 1:
            # Bounds of the next entry: the rest of its row must fit what is left of the later values.
            at += 1
            cell, value = at // m, at % m
            low[at] = max(0, row_left[cell] - left[value + 1 :].sum())
            high[at] = min(row_left[cell], left[value])
            continue
        # A complete table: add its weight to the beliefs if each partition has a violating part.
        tables += 1
        if tables > limit:
            return MergeWorlds(np.zeros((q, m)), np.nan)
        world = table.reshape(q, m)
        if _is_kept(world, parts, l, bounded, distinct):
            weight = scale
            for number in table:
                weight -= math.lgamma(number + 1.0)
            weight = math.exp(weight)
            kept += weight
            for c in range(q):
                for s in range(m):
                    beliefs[c, s] += weight * world[c, s] / sizes[c]
    return MergeWorlds(beliefs / kept if kept > 0 else beliefs, kept)


@compiled
def _is_kept(world: IntArray, parts: IntArray, l: float, bounded: int, distinct: bool) -> bool:  # noqa: E741
    """Return whether every partition has a violating part."""
    m = world.shape[1]
    for partition in parts:
        has_violation = False
        for part in range(partition.max() + 1):
            counts = np.zeros(m, dtype=np.int64)
            for cell in range(len(partition)):
                if partition[cell] == part:
                    counts += world[cell]
            few = (counts > 0).sum() < l - EXCESS
            frequent = counts[:bounded].max() * l > counts.sum() * (1 + EXCESS)
            if (distinct and few) or (not distinct and frequent):
                has_violation = True
        if not has_violation:
            return False
    return True


def merge_credibility(first: int, second: int, holders: int, l: int) -> tuple[float, float]:  # noqa: E741
    """Posterior probability that a member of each of two merged classes is sensitive, given that they were merged.

    The adversary knows the members of each class and that the publisher merges two classes only if one of them has more than one
    sensitive record in l. Worlds in which neither class violates this rule are excluded. With s sensitive records, i of them in the
    first class of a records, the second having b, a world has the weight ``C(a, i) C(b, s - i)``, and members are sensitive with
    probabilities ``i / a`` and ``(s - i) / b``.

    Parameters
    ----------
    first, second : int
        Number of records of each class.
    holders : int
        Number of sensitive records of both classes.
    l : int
        A class may have one sensitive record in l.

    Returns
    -------
    tuple of float
        Credibility for a member of the first and of the second class.

    Notes
    -----
    Wong, Fu, Wang, Pei, VLDB 2007, for two classes; a reconstruction. m-confidentiality requires a credibility of at most 1/m.
    Exact. Cost: O(first).

    Examples
    --------
    Two of six records are sensitive, one in three. Only if both are in the first class does a class violate the rule.

    >>> merge_credibility(2, 4, 2, 2)
    (1.0, 0.0)
    """
    if not 0 <= holders <= first + second or min(first, second, l) < 1:
        raise ValueError(
            f"merge_credibility: {holders} of {first} and {second} records are sensitive, one in l = {l} may be; each number is of "
            "records, 1 or more."
        )
    fewest, most = max(0, holders - second), min(first, holders)
    kept = [i for i in range(fewest, most + 1) if i * l > first or (holders - i) * l > second]
    if not kept:
        raise ValueError(
            f"merge_credibility: with {holders} sensitive records, classes of {first} and {second} never violate one in "
            f"{l}; a defense that merges only where it must leaves them apart."
        )
    weights = [comb(first, i) * comb(second, holders - i) for i in kept]
    expected = sum(weight * i for weight, i in zip(weights, kept, strict=True)) / sum(weights)
    return expected / first, (holders - expected) / second
