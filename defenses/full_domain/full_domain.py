"""Full-domain generalization: every attribute is coarsened to one level, the same for the whole table."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from foreknow.defenses.full_domain.generalization_levels import Ladder, check_widths, ladders
from foreknow.defenses.full_domain.lattice import Node, minimal_nodes
from foreknow.defenses.requirements.requirement import (
    GroupPredicate,
    Infeasible,
    Requirement,
    check_requirement,
    shortfall,
)
from foreknow.defenses.requirements.summary import Summary, prior_of, summarize_groups, summarize_records
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import FloatArray, IntArray

RECENT = 16
"""How many generalized tables are kept, to generalize further ones from."""


@dataclass(frozen=True)
class FullDomain:
    """Give every quasi-identifier one level of generalization, as low as the requirement allows, for the whole table.

    Records that are alike at the levels chosen are a group. A categorical attribute has the levels of its hierarchy,
    without one its values and ``*``. A number has its values, intervals of growing width that are counted from the low end
    of its domain, and one interval.

    Parameters
    ----------
    requirement : Requirement
        What every group satisfies.
    widths : mapping of str to sequence of float, optional
        The widths of a number's intervals, increasing, each a whole multiple of the one before. Where an attribute is not
        named: twice the smallest difference between two of its values in the view, doubled until it is at least one in 64
        of the domain, and from there on doubled as long as there are two intervals.
    choose : {"discernibility", "height", "classes"}
        Which of the minimal satisfying level vectors is taken: that with the least sum of squared group sizes, the least
        sum of levels, or the most groups. Ties go to the lesser height, or of equal heights to the lesser
        discernibility, and then to the lexicographically smallest.

    Raises
    ------
    ValueError
        If widths do not increase in whole multiples. When called, if widths are given for what is no number.
    Infeasible
        When called, if no level vector satisfies, not even the highest, which makes one group of all.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, "Incognito", SIGMOD 2005, with any requirement in k-anonymity's place, as Li, Li,
    Venkatasubramanian, ICDE 2007, have t-closeness. A satisfying vector is minimal if no other below it satisfies. The search
    prunes if the requirement is monotone (``requirement.is_monotone``); for all others,
    as those on beliefs, it looks at every vector, so that the answer is right for any. Which of the minimal vectors is
    published the papers leave open. Nothing is suppressed.

    What is published of a group is what is published of any: the tightest intervals and the lowest labels that its members
    share, which show at least as much as the levels do. The levels are in ``notes``.

    Cost: O(c m + c log c) for each vector that is looked at, of which there can be as many as the product of the numbers of
    levels; c are the groups of a finer one, at most the distinct quasi-identifiers.

    Examples
    --------
    >>> from foreknow.defenses import KAnonymity
    >>> FullDomain(KAnonymity(5), widths={"age": (5, 10, 20)})
    FullDomain(requirement=KAnonymity(k=5), widths={'age': (5.0, 10.0, 20.0)}, choose='discernibility')
    """

    requirement: Requirement
    widths: Mapping[str, Sequence[float]] | None = None
    choose: Literal["discernibility", "height", "classes"] = "discernibility"

    def __post_init__(self) -> None:
        check_requirement("FullDomain", self.requirement)
        if self.choose not in ("discernibility", "height", "classes"):
            raise ValueError(f"FullDomain: choose is {self.choose!r}; it is 'discernibility', 'height' or 'classes'.")
        widths = {name: tuple(map(float, steps)) for name, steps in (self.widths or {}).items()}
        check_widths(widths)
        object.__setattr__(self, "widths", widths or None)

    def __hash__(self) -> int:
        return hash((self.requirement, tuple((self.widths or {}).items()), self.choose))

    @property
    def smallest(self) -> int:
        """The fewest records of a group that can satisfy the requirement."""
        return self.requirement.smallest

    @property
    def weighs_beliefs(self) -> bool:
        """True if the requirement depends on the prior given to the defense."""
        return self.requirement.weighs_beliefs

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, matters only to requirements that read it."""
        if self.requirement.smallest > len(view):
            raise Infeasible(
                f"{self.requirement!r} needs groups of {self.requirement.smallest} records, and the view at {view.time!r} has "
                f"{len(view)}; ask for less, or publish more at once."
            )
        rows = prior_of(view, prior)
        requirement = self.requirement.bind(view, rows)
        steps = ladders(view.people, self.widths or {})
        records = summarize_records(view, rows, requirement.reads_members)
        generalized = _Generalized(steps, records)
        best = self._best(generalized, requirement, view)
        labels = generalized.alike(best, np.array([step.values for step in steps]))[0]
        return Grouping(labels, notes=(_words(steps, best),))

    def _best(self, generalized: "_Generalized", requirement: GroupPredicate, view: View) -> Node:
        """The minimal satisfying level vector that is chosen."""
        nodes = minimal_nodes(
            [step.height for step in generalized.ladders],
            lambda node: bool(requirement(generalized(node)).all()),
            requirement.is_monotone,
        )
        if nodes:
            return min(nodes, key=lambda node: (*self._loss(node, generalized(node).size), node))
        whole = generalized(tuple(step.height for step in generalized.ladders))
        raise Infeasible(
            f"no levels of generalization of the view at {view.time!r} satisfy {self.requirement!r}: even all records as one group "
            f"do not keep {shortfall(requirement, whole)}. Ask for less."
        )

    def _loss(self, node: Node, sizes: IntArray) -> tuple[int, int]:
        """What is to be least, and then what is."""
        discernibility, height = int((sizes**2).sum()), sum(node)
        if self.choose == "height":
            return height, discernibility
        return (discernibility if self.choose == "discernibility" else -len(sizes)), height


@dataclass(frozen=True, eq=False)
class _Table:
    """The groups at a level vector: a value of each attribute that one of their members has, ``(d, c)``, and summaries."""

    node: Node
    values: IntArray
    groups: Summary


class _Generalized:
    """The summaries of the groups at each level vector, made from the smallest finer table among the latest ones."""

    def __init__(self, ladders: Sequence[Ladder], records: Summary) -> None:
        self.ladders = ladders
        bottom = (0,) * len(ladders)
        everybody = _Table(bottom, np.array([ladder.values for ladder in ladders]), records)
        self.finest = self._from(everybody, bottom)
        self.latest: deque[_Table] = deque(maxlen=RECENT)

    def __call__(self, node: Node) -> Summary:
        finer = [
            table for table in (self.finest, *self.latest) if all(a <= b for a, b in zip(table.node, node, strict=True))
        ]
        smallest = min(finer, key=lambda table: len(table.groups))
        if smallest.node != node:
            smallest = self._from(smallest, node)
            self.latest.append(smallest)
        return smallest.groups

    def alike(self, node: Node, values: IntArray) -> tuple[IntArray, IntArray]:
        """Columns of ``values`` that are alike at a level vector: each one's number, and the first of each number."""
        numbers, largest = np.zeros(values.shape[1], dtype=np.int64), 1
        for ladder, level, column in zip(self.ladders, node, values, strict=True):
            classes = ladder.levels[level]
            size = int(classes.max()) + 1
            if largest > 2**62 // size:
                numbers = np.unique(numbers, return_inverse=True)[1]
                largest = len(numbers)
            numbers = numbers * size + classes[column]
            largest *= size
        _, first, labels = np.unique(numbers, return_index=True, return_inverse=True)
        return labels, first

    def _from(self, finer: _Table, node: Node) -> _Table:
        labels, first = self.alike(node, finer.values)
        return _Table(node, finer.values[:, first], summarize_groups(finer.groups, labels))


def _words(ladders: Sequence[Ladder], node: Node) -> str:
    return ", ".join(ladder.words[level] for ladder, level in zip(ladders, node, strict=True)) + "."
