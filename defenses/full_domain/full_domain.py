"""Full-domain generalization: the minimal level vectors that satisfy a requirement, and the choice among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from foreknow.defenses.full_domain.generalization_levels import (
    GeneralizationLevels,
    checked_widths,
    generalization_levels,
)
from foreknow.defenses.full_domain.generalized_tables import (
    GeneralizedTables,
    group_numbers,
    merged_sizes,
    summaries_at,
)
from foreknow.defenses.full_domain.lattice import Node, minimal_nodes
from foreknow.defenses.publish import RequirementDefense
from foreknow.defenses.requirements.feasibility import Infeasible, check_smallest, shortfall
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement, check_requirement
from foreknow.defenses.requirements.summary import Summary, prior_of, summarize_groups, summarize_records
from foreknow.models import Grouping, People, Release, View
from foreknow.models.advice import VIEW, Advice
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import check_choice, check_kind

CRITERIA: tuple[Literal["discernibility", "height", "classes"], ...] = ("discernibility", "height", "classes")
"""Criteria of the choice among minimal level vectors."""


@dataclass(frozen=True)
class FullDomain(RequirementDefense):
    """Generalize every quasi-identifier to one level for the whole table, as low as the requirement allows.

    Records with equal values at the chosen levels are a group. A categorical attribute has the levels of its hierarchy; without
    one, its values and ``*``. A number has its values, intervals of growing width counted from the low end of its domain,
    and one interval.

    Parameters
    ----------
    requirement : Requirement
        Requirement of every group.
    widths : mapping of str to sequence of float, optional
        Widths of the intervals of some numeric attributes, increasing, each a whole multiple of the one before. The default of
        an attribute starts at twice the smallest difference between two of its values in the view, doubled until it is at
        least 1/64 of the domain, and doubles while it is at most the domain.
    choose : {"discernibility", "height", "classes"}
        Choice among the minimal satisfying level vectors: the smallest sum of squared group sizes, the smallest sum of levels,
        or the largest number of groups. Ties go to the smaller height, or among equal heights to the smaller discernibility,
        then to the lexicographically smallest vector.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If widths do not increase in whole multiples. When called, if widths are given for an attribute that is not numeric,
        or if there are more than `MAX_NODES` level vectors (`foreknow.defenses.full_domain.lattice`).
    Infeasible
        When called, if no level vector satisfies, not even the highest one, which makes a single group.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, "Incognito", SIGMOD 2005, with any requirement in place of k-anonymity, as Li, Li,
    Venkatasubramanian, ICDE 2007, do for t-closeness. A satisfying vector is minimal if no vector below it satisfies. The
    search prunes if the requirement is monotone (``requirement.is_monotone``). For other requirements, as those on beliefs, it
    evaluates every vector, so that the result is exact for any requirement. The papers do not say which minimal vector is
    published. No record is suppressed.

    As for every defense, a published group shows the tightest intervals and lowest labels that its members share. These are
    at least as precise as the levels. The levels are in ``notes``.

    Cost: O(c d) for each vector that is evaluated, with c groups of a finer vector, at most the number of distinct
    quasi-identifiers; and that of summaries, O(u + g m) for u distinct pairs of quasi-identifiers and value and g groups, for each
    vector without a group smaller than ``requirement.smallest``. Requirements that read priors or members take O(c m + c log c) for
    each vector. The number of vectors is at most the product of the numbers of levels.

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
        check_choice("FullDomain", "choose", self.choose, CRITERIA)
        object.__setattr__(self, "widths", checked_widths(self.widths) or None)

    def __hash__(self) -> int:
        return hash((self.requirement, tuple((self.widths or {}).items()), self.choose))

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, matters only to requirements that depend on it."""
        prior = prior_of(view, prior)
        check_smallest(self.requirement, view)
        requirement = self.requirement.bind(view, prior)
        return self.group_rows(view.people, summarize_records(view, prior, requirement.reads_members), requirement)

    def group_rows(self, people: People, records: Summary, requirement: GroupPredicate) -> Grouping:
        """Group rows of which each stands for the records that its summary counts.

        Parameters
        ----------
        people : People
            Quasi-identifiers of the rows.
        records : Summary
            Batch of one summary for each row.
        requirement : GroupPredicate
            Requirement of this defense, bound to the table.

        Raises
        ------
        Infeasible
            As when called.
        """
        check_kind("FullDomain.group_rows", "people", people, People, "is People, as view.people")
        check_kind(
            "FullDomain.group_rows", "records", records, Summary, "is a Summary, as summarize_records(view, prior)"
        )
        takes = "is a bound requirement, as requirement.bind(view, prior)"
        check_kind("FullDomain.group_rows", "requirement", requirement, GroupPredicate, takes)
        levels = generalization_levels(people, self.widths or {})
        rows = np.array([attribute.values for attribute in levels])
        best = self._best(_Search(levels, rows, records, requirement), people.time)
        labels = np.unique(group_numbers(levels, best, rows), return_inverse=True)[1]
        note = ", ".join(attribute.descriptions[level] for attribute, level in zip(levels, best, strict=True)) + "."
        return Grouping(labels, notes=(note,))

    def _best(self, search: "_Search", time: Any) -> Node:
        """Chosen minimal satisfying level vector."""
        nodes = minimal_nodes(search.heights, search.satisfies, search.requirement.is_monotone)
        if nodes:
            return min(nodes, key=lambda node: (*self._loss(node, search.sizes(node)), node))
        whole = search.summaries(tuple(search.heights))
        raise Infeasible(
            Advice(
                "no levels of generalization of the ",
                VIEW,
                f" at {time!r} satisfy {self.requirement!r}: even all records as one group do not satisfy "
                f"{shortfall(search.requirement, whole)}. Lower the requirement.",
            )
        )

    def _loss(self, node: Node, sizes: IntArray) -> tuple[int, int]:
        """Criterion to minimize, and the one that decides ties."""
        discernibility, height = int((sizes**2).sum()), sum(node)
        if self.choose == "height":
            return height, discernibility
        return (discernibility if self.choose == "discernibility" else -len(sizes)), height


class _Search:
    """Groups of a table at each level vector, and the vectors that satisfy a requirement."""

    def __init__(
        self, levels: Sequence[GeneralizationLevels], rows: IntArray, records: Summary, requirement: GroupPredicate
    ) -> None:
        self.heights, self.requirement = [attribute.height for attribute in levels], requirement
        _, first, labels = np.unique(
            group_numbers(levels, (0,) * len(levels), rows), return_index=True, return_inverse=True
        )
        values, groups = rows[:, first], summarize_groups(records, labels)
        self.sizes = GeneralizedTables(levels, values, groups.size, merged_sizes)
        self.summaries = summaries_at(levels, values, groups, requirement)

    def satisfies(self, node: Node) -> bool:
        """True if every group at a level vector satisfies. Groups that are too small are found by their sizes alone."""
        if self.sizes(node).min() < self.requirement.smallest:
            return False
        return bool(self.requirement(self.summaries(node)).all())
