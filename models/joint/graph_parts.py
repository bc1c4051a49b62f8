"""Graph of groups as arrays: supports, edges of members who move together, blocks of a group, and their arrangements.

An *edge* is a set of links from group g to group h: from the members of g whose next record is in h to these records, or from
members of g to related ones of h in one release. A *block* of a group is a set of members whom edges, or relations within the
group, link; given what the blocks show in all, they are independent. An *arrangement* of a block gives each of its members a
value, no value more often than the group shows it. A block of a whole group has k! / product of n_s!
arrangements, fewer where the knowledge rules some out.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled, inlined
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.joint.problem import JointProblem, Layout, belief_starts

type ValueArray = NDArray[np.int16]
"""Positions of values among those that a group shows, or all of the domain in a group without counts."""

type Zeros = Callable[[int, type[np.generic]], NDArray[Any]]
"""Function that allocates an array of zeros, given its length and its type of number, as `numpy.zeros`."""

MAX_KEY = 2.0**62
"""Bound of the integers that number the arrangements of the members of an edge."""

VISITS = 30
"""Partial arrangements that an enumeration may visit, as a multiple of the limit of arrangements."""

MOST_RELATED = 1_000_000
"""Largest number of arrangements of the members of a group whom relations link, who are not split by the limit."""

SUMS = 8.0
"""Operations that the sums over the counts of a group may take, as a multiple of the limit of arrangements."""

TABLE = 8
"""Largest number of places, as a multiple of the numbers, of a table in which distinct numbers are found."""

COUNTS_IN_BLOCK, COUNTS_BY_BLOCKS, COUNTS_BY_NORMAL = range(3)
"""How the multiset of a group is kept: by the arrangements of its one block, by sums over the counts of its blocks, or by a normal
approximation of these sums."""


class Parts(NamedTuple):
    """Blocks, edges and arrangements of all groups, numbered in the order of the groups.

    In a group without counts each record is a block of its own. Blocks of group g are ``block_starts[g]`` to
    ``block_starts[g + 1]``.

    Attributes
    ----------
    limit : int
        Largest number of arrangements of a block.
    mode : int array, shape (G,)
        `COUNTS_IN_BLOCK`, `COUNTS_BY_BLOCKS` or `COUNTS_BY_NORMAL`; the first for groups without counts.
    states : int array, shape (G,)
        Number of codes of counts of each group with `COUNTS_BY_BLOCKS`; 0 in others.
    block_starts : int array, shape (G + 1,)
    member_starts : int array, shape (blocks + 1,)
        Members of block b: ``member_starts[b]`` to ``member_starts[b + 1]`` of ``members``.
    members : int array, shape (R,)
        Records, by block.
    arrangement_starts : int array, shape (blocks + 1,)
    value_starts : int array, shape (blocks + 1,)
        Position in ``values`` of the arrangements of each block; one row of its members' values for each.
    values : int array of 16 bits
        Positions among the values that the group shows.
    weight : float array, shape (arrangements,)
        Priors of first records and evidence, of each arrangement.
    code : int array of 32 bits, shape (arrangements,)
        Position among the codes of its block.
    code_starts : int array, shape (blocks + 1,)
    codes : int array
        Distinct codes of counts of each block, ascending.
    edge_starts : int array, shape (edges + 1,)
        Members of edge e: ``edge_starts[e]`` to ``edge_starts[e + 1]`` of ``edge_members``.
    edge_members : int array
        Links of the edge, ascending: record r for the step to the next one of its path, R + p for pair p of related records
        (`ends_of`).
    tilted : bool array, shape (edges,)
        Edges of one member that carry tilts instead of exact counts, but for groups of one block, which have no tilts.
    port_starts : int array, shape (blocks + 1,)
        Ports of block b, the ends of its edges. A port is number 2 e where edge e leaves and 2 e + 1 where it arrives.
    ports : int array, shape (2 edges,)
        Numbers of ports, by block.
    position_starts : int array, shape (2 edges + 1,)
    positions : int array of 32 bits
        For each port, the position of each arrangement of its block, restricted to the edge's members, among those of the port.
    key_starts : int array, shape (2 edges + 1,)
        Arrangements of the members of the edge at each port; the positions of messages.
    level_starts : int array, shape (2 (members of edges) + 2 edges + 1,)
        Levels of the tree of the arrangements of each port: those of port 2 e + i begin at ``2 (edge_starts[e] + e) + i (c + 1)``.
        Level j of a port where an edge leaves has the arrangements without the first j of its c members, of one where it
        arrives those of the first j.
    digit : int array of 16 bits
        Value of the member by which an arrangement of a level is longer than the next shorter one, ascending in each level.
    link : int array of 32 bits
        Position of that shorter one in its level.
    """

    limit: int
    mode: IntArray
    states: IntArray
    block_starts: IntArray
    member_starts: IntArray
    members: IntArray
    arrangement_starts: IntArray
    value_starts: IntArray
    values: ValueArray
    weight: FloatArray
    code: IntArray
    code_starts: IntArray
    codes: IntArray
    edge_starts: IntArray
    edge_members: IntArray
    tilted: BoolArray
    port_starts: IntArray
    ports: IntArray
    position_starts: IntArray
    positions: IntArray
    key_starts: IntArray
    level_starts: IntArray
    digit: ValueArray
    link: NDArray[np.int32]


@compiled
def supports(at: Layout, starts: IntArray, tied: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Possible values of each record, shape ``(B,)``, and the groups where some record has none, shape ``(G,)``.

    Arc consistency along paths and of the counts of each group: a value is left out if the prior, the evidence or every possible
    value of a neighbour on the path rules it out, or if the members who must have it use up its count. A record
    without a possible value keeps all of them. Cost: O(B m) for each round, a few rounds.
    """
    groups, support = len(at.group_starts) - 1, np.ones(starts[-1], dtype=np.bool_)
    empty = np.zeros(groups, dtype=np.bool_)
    for r in range(len(at.group)):
        first, width = at.value_starts[at.group[r]], starts[r + 1] - starts[r]
        for s in range(width):
            value = at.values[first + s]
            if at.previous[r] < 0 and at.prior[at.path[r], value] <= 0.0:
                support[starts[r] + s] = False
            if at.evidence_row[r] >= 0 and at.evidence[at.evidence_row[r], value] <= 0.0:
                support[starts[r] + s] = False
    for g in range(groups):
        _restore_empty(g, at, starts, support, empty)
    changed, forward = True, True
    while changed:
        changed = False
        for step in range(groups):
            g = step if forward else groups - 1 - step
            first, last = at.group_starts[g], at.group_starts[g + 1]
            if empty[g]:
                continue
            for r in range(first, last):
                if forward:
                    if at.previous[r] >= 0:
                        changed |= _keep_reached(at.previous[r], r, at, starts, support, True)
                elif at.following[r] >= 0:
                    changed |= _keep_reached(r, at.following[r], at, starts, support, False)
            if tied[g]:
                shown = at.shown[at.value_starts[g] : at.value_starts[g + 1]]
                changed |= _keep_countable(first, last, shown, starts, support)
            _restore_empty(g, at, starts, support, empty)
        forward = not forward
        changed |= not forward
    return support, empty


@compiled
def _restore_empty(g: int, at: Layout, starts: IntArray, support: BoolArray, empty: BoolArray) -> None:
    """Give all values back to the records of a group where some record has none, and mark the group."""
    for r in range(at.group_starts[g], at.group_starts[g + 1]):
        if not support[starts[r] : starts[r + 1]].any():
            empty[g] = True
    if empty[g]:
        support[starts[at.group_starts[g]] : starts[at.group_starts[g + 1]]] = True


@compiled
def _keep_reached(p: int, r: int, at: Layout, starts: IntArray, support: BoolArray, forward: bool) -> bool:
    """Leave out the values of record r that no possible value of the record p before it reaches, or the other way round."""
    start, changed = at.value_starts[at.group[r]], False
    width, before = starts[r + 1] - starts[r], starts[p + 1] - starts[p]
    for s in range(width if forward else before):
        own = starts[r] + s if forward else starts[p] + s
        if not support[own]:
            continue
        met = False
        for u in range(before if forward else width):
            x, y = (u, s) if forward else (s, u)
            if support[starts[p] + x] and support[starts[r] + y]:
                met |= at.table[at.state_rows[at.state_starts[p] + x], at.values[start + y]] > 0.0
        if not met:
            support[own] = False
            changed = True
    return changed


@compiled
def _keep_countable(first: int, last: int, shown: FloatArray, starts: IntArray, support: BoolArray) -> bool:
    """Leave out values whose counts others use up, and all other values of members without whom a count is not reached."""
    any_change, changed, width = False, True, len(shown)
    while changed:
        changed = False
        for s in range(width):
            able = forced = 0
            for r in range(first, last):
                if support[starts[r] + s]:
                    able += 1
                    others = 0
                    for other in range(width):
                        others += support[starts[r] + other]
                    forced += others == 1
            for r in range(first, last):
                if not support[starts[r] + s]:
                    continue
                others = 0
                for other in range(width):
                    others += support[starts[r] + other]
                if others > 1 and forced >= shown[s]:
                    support[starts[r] + s] = False
                    changed = True
                elif others > 1 and able <= shown[s]:
                    for other in range(width):
                        support[starts[r] + other] = other == s
                    changed = True
        any_change |= changed
    return any_change


@compiled
def arrange(
    records: IntArray, left: FloatArray, starts: IntArray, support: BoolArray, limit: int, found: ValueArray
) -> int:
    """Number of arrangements of some records of a group, at most ``limit + 1``; depth first, in the order of their keys.

    ``left``, shape (values,), are the counts of the group, infinite where it shows none; it is restored. Arrangements
    are written to ``found``, shape ``(n, len(records))``, up to its length.
    """
    size, width, number, visits = len(records), len(left), 0, 0
    choice = np.full(size, -1, dtype=np.int64)
    i = 0
    while i >= 0:
        if choice[i] >= 0:
            left[choice[i]] += 1.0
        s = choice[i] + 1
        while s < width and not (left[s] > 0.0 and support[starts[records[i]] + s]):
            s += 1
        if s == width:
            choice[i] = -1
            i -= 1
            continue
        choice[i] = s
        left[s] -= 1.0
        visits += 1
        if i == size - 1:
            if number < len(found):
                for j in range(size):
                    found[number, j] = choice[j]
            number += 1
        else:
            i += 1
        if number > limit or visits > limit * VISITS + 1000:
            number = limit + 1
            break
    for j in range(size):
        if choice[j] >= 0:
            left[choice[j]] += 1.0
    return number


@inlined
def ends_of(at: Layout, link: int) -> tuple[int, int]:
    """Record from which a link leaves, and the one where it arrives."""
    if link < len(at.group):
        return link, at.following[link]
    return at.pairs[link - len(at.group), 0], at.pairs[link - len(at.group), 1]


@inlined
def links_of(at: Layout, r: int) -> int:
    """Number of places of links of a record, of which `link_of` returns one each."""
    return int(2 + at.related_starts[r + 1] - at.related_starts[r])


@inlined
def link_of(at: Layout, r: int, place: int) -> int:
    """Link of a record: from it, to it, or that of a pair; -1 where there is none."""
    if place > 1:
        return int(len(at.group) + at.related[at.related_starts[r] + place - 2])
    if place == 1:
        return int(at.previous[r])
    return r if at.following[r] >= 0 else -1


@compiled
def _link(
    first: int, last: int, at: Layout, leader: IntArray, label: IntArray, tied: BoolArray, of_edge: IntArray
) -> None:
    """Label the members of a group by blocks: the smallest record of each. ``leader`` labels the edge of each link.

    ``of_edge``, shape ``(R + P,)``, holds the label of each edge meanwhile; -1 throughout before and after.
    """
    for r in range(first, last):
        label[r] = r
    if not tied[at.group[first]]:
        return
    changed = True
    while changed:
        changed = False
        for r in range(first, last):
            for place in range(2, links_of(at, r)):
                # Linked to the other record of a pair within the group, or to the member at which the edge of the pair begins.
                link = link_of(at, r, place)
                for end in ends_of(at, link if leader[link] < 0 else leader[link]):
                    if at.group[end] == at.group[r] and label[end] != label[r]:
                        least = min(label[r], label[end])
                        label[r] = label[end] = least
                        changed = True
        for r in range(first, last):
            for place in range(2):
                link = link_of(at, r, place)
                if link < 0:
                    continue
                edge = leader[link]
                if of_edge[edge] < 0:
                    of_edge[edge] = label[r]
                elif of_edge[edge] != label[r]:
                    of_edge[edge] = label[r] = min(of_edge[edge], label[r])
                    changed = True
    for r in range(first, last):
        for place in range(2):
            link = link_of(at, r, place)
            if link >= 0:
                of_edge[leader[link]] = -1


@compiled
def first_leaders(at: Layout, tied: BoolArray) -> IntArray:
    """Edge of each link, as its smallest link; -1 for none. A record of a group without counts has one of its own.

    Pairs within a group with counts have no edge: they are factors of its arrangements.
    """
    leader = np.full(len(at.group) + len(at.pairs), -1, dtype=np.int64)
    for p in range(len(at.pairs)):
        r, link = at.pairs[p, 0], len(at.group) + p
        g, h = at.group[r], at.group[at.pairs[p, 1]]
        if g == h and tied[g]:
            continue
        leader[link] = link
        if not (tied[g] and tied[h]):
            continue
        # Pairs are sorted by their first record.
        q = p - 1
        while q >= 0 and at.group[at.pairs[q, 0]] == g:
            if at.group[at.pairs[q, 1]] == h:
                leader[link] = leader[len(at.group) + q]
                break
            q -= 1
    for g in range(len(at.group_starts) - 1):
        for r in range(at.group_starts[g], at.group_starts[g + 1]):
            f = at.following[r]
            if f < 0:
                continue
            leader[r] = r
            if not (tied[g] and tied[at.group[f]]):
                continue
            for q in range(at.group_starts[g], r):
                if at.following[q] >= 0 and at.group[at.following[q]] == at.group[f]:
                    leader[r] = leader[q]
                    break
    return leader


class Split(NamedTuple):
    """Choice of `split_large`, shapes ``(R + P,)``, ``(R,)``, ``(G,)`` and, for ``radix``, ``(V,)``.

    ``leader`` is the edge of each link, as its smallest link, ``split`` whether it was split, ``label`` the smallest record of each
    record's block, ``radix`` the number that stands for one record of each shown value in a code of counts. The
    others are those of `Parts`.
    """

    leader: IntArray
    split: BoolArray
    label: IntArray
    mode: IntArray
    states: IntArray
    radix: IntArray


@compiled
def split_large(
    at: Layout,
    starts: IntArray,
    support: BoolArray,
    tied: BoolArray,
    found: Split,
    limit: int,
    most_sums: float,
) -> None:
    """Split edges by member until each block has at most ``limit`` arrangements, and choose how each group keeps its counts.

    In a block with too many arrangements the largest edge is split; what relations within the group link stays together. Where the
    sums over the counts of blocks cost more than ``most_sums`` operations, the counts are kept by a normal law. ``found`` is
    overwritten.
    """
    leader, split, label, mode, states, radix = found
    groups = len(at.group_starts) - 1
    nothing = np.zeros((0, 1), dtype=np.int16)
    dirty = np.ones(groups, dtype=np.bool_)
    # Number of members of each edge, in the place of its leader.
    members = np.bincount(leader[leader >= 0], minlength=len(leader))
    for r in range(len(leader)):
        if leader[r] == r and _longest_key(r, at, members[r]) >= MAX_KEY:
            _split_edge(r, at, leader, split, dirty)
    of_edge, members[:] = np.full(len(leader), -1, dtype=np.int64), 0
    some = True
    while some:
        some = False
        for g in range(groups):
            if not dirty[g]:
                continue
            dirty[g], some = False, True
            first, last, start = at.group_starts[g], at.group_starts[g + 1], at.value_starts[g]
            if first == last:
                continue
            _link(first, last, at, leader, label, tied, of_edge)
            if not tied[g]:
                mode[g] = COUNTS_IN_BLOCK
                continue
            width = at.value_starts[g + 1] - start
            left = at.shown[start : start + width].copy()
            size, blocks, cost, bits = 1.0, 0, 0.0, 0
            for s in range(width):
                bits += 2 + int(np.log2(max(left[s], 1.0)))
                radix[start + s] = int(size) if size < 2.0**31 else 0
                size *= left[s] + 1.0
            order = first + np.argsort(label[first:last], kind="mergesort")
            begin = 0
            while begin < len(order):
                end = begin + 1
                while end < len(order) and label[order[end]] == label[order[begin]]:
                    end += 1
                block, begin = order[begin:end], end
                number = arrange(block, left, starts, support, limit, nothing)
                if number > limit and _split_largest(block, at, leader, split, dirty, members):
                    dirty[g] = True
                blocks += 1
                cost += number
            if dirty[g]:
                continue
            if blocks == 1:
                mode[g], states[g] = COUNTS_IN_BLOCK, 0
            elif size < 2.0**31 and bits < 62 and cost * size <= most_sums * blocks:
                mode[g], states[g] = COUNTS_BY_BLOCKS, int(size)
            else:
                mode[g], states[g] = COUNTS_BY_NORMAL, 0
                for s in range(width):
                    radix[start + s] = _scrambled(s)


@compiled
def _scrambled(number: int) -> int:
    """Number below 2^40 for a small one (splitmix64): sums of 2^23 of them fit, and two differ but for a chance of about 2^-39."""
    x = np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int((x ^ (x >> np.uint64(31))) >> np.uint64(24))


@compiled
def _longest_key(r: int, at: Layout, members: int) -> float:
    """Number of keys that the members of an edge need at the end with more values."""
    one, two = ends_of(at, r)
    g, h = at.group[one], at.group[two]
    most = max(at.value_starts[g + 1] - at.value_starts[g], at.value_starts[h + 1] - at.value_starts[h])
    return float(most) ** members


@compiled
def _split_edge(r: int, at: Layout, leader: IntArray, split: BoolArray, dirty: BoolArray) -> bool:
    """Split the edge of a link into one for each link; False if it has only one."""
    one, two = ends_of(at, r)
    edge, g, members = leader[r], at.group[one], 0
    for q in range(at.group_starts[g], at.group_starts[g + 1]):
        for place in range(links_of(at, q)):
            link = link_of(at, q, place)
            members += link >= 0 and leader[link] == edge and ends_of(at, link)[0] == q
    if members < 2:
        return False
    for q in range(at.group_starts[g], at.group_starts[g + 1]):
        for place in range(links_of(at, q)):
            link = link_of(at, q, place)
            if link >= 0 and leader[link] == edge and ends_of(at, link)[0] == q:
                leader[link], split[link] = link, True
    dirty[g] = dirty[at.group[two]] = True
    return True


@compiled
def _split_largest(
    block: IntArray, at: Layout, leader: IntArray, split: BoolArray, dirty: BoolArray, members: IntArray
) -> bool:
    """Split the largest edge of a block, the first of equal ones; False if no edge has several links.

    ``members``, shape ``(R + P,)``, counts the links of each edge in the block meanwhile; 0 throughout before and after.
    """
    best, most = -1, 1
    for change in (1, 0, -1):
        for r in block:
            for place in range(links_of(at, r)):
                link = link_of(at, r, place)
                if link < 0 or leader[link] < 0:
                    continue
                members[leader[link]] += change
                if change == 0 and members[leader[link]] > most:
                    best, most = link, members[leader[link]]
    return best >= 0 and _split_edge(best, at, leader, split, dirty)


def blocks_of(
    problem: JointProblem, limit: int, most: float = np.inf, zeros: Zeros = np.zeros
) -> tuple[Parts, BoolArray]:
    """Blocks, edges and arrangements of a problem with chains of order 1 at most, and the groups without a possible arrangement.

    Parameters
    ----------
    problem : JointProblem
    limit : int
        Largest number of arrangements of a block; lowered by factors of 4 while there are more than ``most`` in all.
    most : float
    zeros : callable
        Allocates the arrays whose length is in proportion to the number of arrangements; all others are O(records) in memory.

    Notes
    -----
    Cost: O(R m^2), O(k^2) for a group of k members, and O(limit k) for each block. Groups without a possible arrangement need
    another law before messages are sent.
    """
    at, starts = problem.layout, belief_starts(problem)
    tied = problem.constrained & (problem.emission_row < 0)
    support, empty = supports(at, starts, tied)
    records, groups = len(problem.path), len(problem.counts)
    while True:
        leader, split, label, mode, states, radix = found = Split(
            first_leaders(at, tied),
            np.zeros(records + len(problem.pairs), dtype=np.bool_),
            np.arange(records),
            np.zeros(groups, dtype=np.int64),
            np.zeros(groups, dtype=np.int64),
            np.zeros(len(at.values), dtype=np.int64),
        )
        split_large(at, starts, support, tied, found, limit, limit * SUMS)
        # Blocks in the order of their smallest record, their members ascending.
        members = np.lexsort((np.arange(records), label))
        first = np.flatnonzero(np.diff(label[members], prepend=-1))
        member_starts = np.append(first, records)
        block_starts = np.searchsorted(problem.group[members[first]], np.arange(groups + 1))
        blocks = (block_starts, member_starts, members)
        sizes = block_sizes(at, starts, support, tied, *blocks)
        _check_related(problem, blocks, np.diff(sizes[0]))
        if sizes[0][-1] <= most or limit == 1:
            break
        limit = max(limit // 4, 1)
    # Edges in the order of their smallest record, their members ascending.
    leaving = np.flatnonzero(leader >= 0)
    edge_members = leaving[np.argsort(leader[leaving], kind="stable")]
    begins = np.flatnonzero(np.diff(leader[edge_members], prepend=-1))
    edge_starts = np.append(begins, len(edge_members))
    tilted = split[edge_members[begins]] if len(begins) else np.zeros(0, dtype=np.bool_)
    arrangements = int(sizes[0][-1])
    port_starts, ports, position_starts = _ports(at, members, member_starts, edge_members[begins], sizes[0])
    filled = (
        zeros(int(sizes[1][-1]), np.int16),
        zeros(arrangements, np.float64),
        zeros(arrangements, np.int32),
        zeros(arrangements, np.int64),
        zeros(int(position_starts[-1]), np.int32),
        zeros(int(position_starts[-1]), np.int64),
    )
    places = (edge_starts, edge_members, port_starts, ports, position_starts)
    code_starts, key_starts = fill_blocks(at, starts, support, tied, radix, *blocks, *places, *sizes, *filled)
    values, weight, code, codes, positions, keys = filled
    of_edges = (at, edge_starts, edge_members, key_starts, keys)
    level_starts = tree_levels(*of_edges)
    digit, link = zeros(int(level_starts[-1]), np.int16), zeros(int(level_starts[-1]), np.int32)
    fill_trees(*of_edges, level_starts, digit, link)
    blocks_of = np.repeat(np.arange(groups), np.diff(block_starts))
    np.logical_or.at(empty, blocks_of, np.diff(sizes[0]) == 0)
    parts = Parts(
        limit, mode, states, block_starts, member_starts, members, sizes[0], sizes[1], values,
        weight, code, code_starts, codes[: code_starts[-1]], edge_starts, edge_members, tilted, port_starts, ports,
        position_starts, positions, key_starts, level_starts, digit, link,
    )  # fmt: skip
    return parts, empty


def _check_related(problem: JointProblem, blocks: tuple[IntArray, IntArray, IntArray], sizes: IntArray) -> None:
    """Raise TooLarge if a block, which relations keep together, has more than `MOST_RELATED` arrangements."""
    large = np.flatnonzero(sizes > MOST_RELATED)
    if len(large):
        starts, members = blocks[1], blocks[2]
        records = members[starts[large[0]] : starts[large[0] + 1]]
        raise TooLarge(
            f"GroupGraph: {len(records)} members of group {int(problem.group[records[0]])} are linked by relations, and have "
            f"more than {MOST_RELATED:,} arrangements of their values. Use PathSampler(rng=...), or leave edges "
            "out of the graph of relations."
        )


@compiled
def write_own_weights(at: Layout, parts: Parts) -> None:
    """Write the weights of all arrangements by the priors and the evidence of another law."""
    for g in range(len(parts.block_starts) - 1):
        for b in range(parts.block_starts[g], parts.block_starts[g + 1]):
            block = parts.members[parts.member_starts[b] : parts.member_starts[b + 1]]
            low, high = parts.arrangement_starts[b], parts.arrangement_starts[b + 1]
            own = parts.values[parts.value_starts[b] : parts.value_starts[b + 1]].reshape((high - low, len(block)))
            own_weights(at, block, at.value_starts[g], own, parts.weight[low:high])


@compiled
def block_sizes(
    at: Layout,
    starts: IntArray,
    support: BoolArray,
    tied: BoolArray,
    block_starts: IntArray,
    member_starts: IntArray,
    members: IntArray,
) -> tuple[IntArray, IntArray]:
    """First arrangement and first value of each block."""
    blocks = len(member_starts) - 1
    arrangement_starts, value_starts = np.zeros(blocks + 1, dtype=np.int64), np.zeros(blocks + 1, dtype=np.int64)
    nothing = np.zeros((0, 1), dtype=np.int16)
    for g in range(len(block_starts) - 1):
        start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
        left = at.shown[start : start + width].copy() if tied[g] else np.full(width, np.inf)
        for b in range(block_starts[g], block_starts[g + 1]):
            block = members[member_starts[b] : member_starts[b + 1]]
            number = arrange(block, left, starts, support, MOST_RELATED, nothing)
            arrangement_starts[b + 1] = arrangement_starts[b] + number
            value_starts[b + 1] = value_starts[b] + number * len(block)
    return arrangement_starts, value_starts


@compiled
def fill_blocks(
    at: Layout,
    starts: IntArray,
    support: BoolArray,
    tied: BoolArray,
    radix: IntArray,
    block_starts: IntArray,
    member_starts: IntArray,
    members: IntArray,
    edge_starts: IntArray,
    edge_members: IntArray,
    port_starts: IntArray,
    ports: IntArray,
    position_starts: IntArray,
    arrangement_starts: IntArray,
    value_starts: IntArray,
    values: ValueArray,
    weight: FloatArray,
    code: IntArray,
    codes: IntArray,
    positions: IntArray,
    keys: IntArray,
) -> tuple[IntArray, IntArray]:
    """Write the values, weights and codes of all arrangements, their positions at all ports, and the keys of each port.

    Return the first code of each block, and the first key of each port.
    """
    code_starts, key_starts = np.zeros(len(member_starts), dtype=np.int64), np.zeros(len(ports) + 1, dtype=np.int64)
    place = np.zeros(len(at.group), dtype=np.int64)
    for g in range(len(block_starts) - 1):
        start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
        left = at.shown[start : start + width].copy() if tied[g] else np.full(width, np.inf)
        for b in range(block_starts[g], block_starts[g + 1]):
            block, first = members[member_starts[b] : member_starts[b + 1]], arrangement_starts[b]
            number = arrangement_starts[b + 1] - first
            own = values[value_starts[b] : value_starts[b + 1]].reshape((number, len(block)))
            arrange(block, left, starts, support, 2**31, own)
            raw = np.zeros(number, dtype=np.int64)
            for i in range(len(block)):
                r = block[i]
                place[r] = i
                for a in range(number):
                    raw[a] += radix[start + own[a, i]]
            own_weights(at, block, start, own, weight[first : first + number])
            kept = _distinct(raw, code[first : first + number], codes[code_starts[b] :])
            code_starts[b + 1] = code_starts[b] + kept
            # Keys of the arrangements of each port: positions of values as digits, the highest that of the first member where
            # the edge leaves, of the last one where it arrives.
            for port in ports[port_starts[b] : port_starts[b + 1]]:
                raw[:] = 0
                low, high = edge_starts[port // 2], edge_starts[port // 2 + 1]
                for j in range(low, high):
                    q = edge_members[j if port % 2 == 0 else low + high - 1 - j]
                    i = place[ends_of(at, q)[port % 2]]
                    for a in range(number):
                        raw[a] = raw[a] * width + own[a, i]
                own_place = slice(position_starts[port], position_starts[port] + number)
                key_starts[port + 1] = _distinct(raw, positions[own_place], keys[own_place])
    for port in range(len(ports)):
        number, begin = key_starts[port + 1], position_starts[port]
        key_starts[port + 1] = key_starts[port] + number
        keys[key_starts[port] : key_starts[port + 1]] = keys[begin : begin + number].copy()
    return code_starts, key_starts


@compiled
def own_weights(at: Layout, block: IntArray, start: int, own: ValueArray, weight: FloatArray) -> None:
    """Write the weight of each arrangement of a block by priors and evidence; ``start`` is the first value of its group."""
    weight[:] = 1.0
    for i in range(len(block)):
        r = block[i]
        for a in range(len(weight)):
            value = at.values[start + own[a, i]]
            if at.previous[r] < 0:
                weight[a] *= at.prior[at.path[r], value]
            if at.evidence_row[r] >= 0:
                weight[a] *= at.evidence[at.evidence_row[r], value]
    for i in range(len(block)):
        for place in range(2, links_of(at, block[i])):
            one, two = ends_of(at, link_of(at, block[i], place))
            if one != block[i] or at.group[two] != at.group[one]:
                continue
            table = at.pair_tables[at.pair_table[link_of(at, one, place) - len(at.group)]]
            for k in range(len(block)):
                for a in range(len(weight) if block[k] == two else 0):
                    weight[a] *= table[at.values[start + own[a, i]], at.values[start + own[a, k]]]


def _ports(
    at: Layout, members: IntArray, member_starts: IntArray, first: IntArray, arrangement_starts: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Ports of each block, as ``port_starts`` and ``ports``, and the first position of each; ``first`` has a link of each edge."""
    ends = np.stack([np.arange(len(at.group)), at.following], axis=1)
    block_of = np.zeros(len(at.group), dtype=np.int64)
    block_of[members] = np.repeat(np.arange(len(member_starts) - 1), np.diff(member_starts))
    own = block_of[np.concatenate([ends, at.pairs])[first].reshape(-1)]
    positions = np.cumsum(np.append(0, np.diff(arrangement_starts)[own]))
    ports = np.argsort(own, kind="stable")
    return np.searchsorted(own[ports], np.arange(len(member_starts))), ports, positions


@compiled
def _distinct(raw: IntArray, place: IntArray | NDArray[np.int32], distinct: IntArray) -> int:
    """Write the distinct numbers, none negative, ascending, and the position of each number among them; return how many there are.

    By a table where the largest number is not much over the length of ``raw``, else by a sort.
    """
    number, size = 0, raw.max() + 1 if len(raw) else 0
    if size <= TABLE * len(raw) + TABLE:
        position = np.full(size, -1, dtype=np.int64)
        for i in range(len(raw)):
            position[raw[i]] = 0
        for value in range(size):
            if position[value] == 0:
                position[value] = number
                distinct[number] = value
                number += 1
        for i in range(len(raw)):
            place[i] = position[raw[i]]
        return number
    order = np.argsort(raw)
    for i in range(len(raw)):
        if i == 0 or raw[order[i]] != raw[order[i - 1]]:
            distinct[number] = raw[order[i]]
            number += 1
        place[order[i]] = number - 1
    return number


@compiled
def tree_levels(
    at: Layout, edge_starts: IntArray, edge_members: IntArray, key_starts: IntArray, keys: IntArray
) -> IntArray:
    """First entry of each level of the tree of the arrangements of each port."""
    edges, position = len(edge_starts) - 1, 0
    level_starts = np.zeros(2 * (edge_starts[-1] + edges) + 1, dtype=np.int64)
    for port in range(2 * edges):
        edge, side = port // 2, port % 2
        first, c = edge_starts[edge], edge_starts[edge + 1] - edge_starts[edge]
        g = at.group[ends_of(at, edge_members[first])[side]]
        width = at.value_starts[g + 1] - at.value_starts[g]
        own, lengths = keys[key_starts[port] : key_starts[port + 1]], np.ones(c + 1, dtype=np.int64)
        for length in range(c, 0, -1):
            lengths[length], below = len(own), np.zeros(len(own), dtype=np.int64)
            own = below[: _distinct(own % width ** (length - 1), np.zeros(len(own), dtype=np.int32), below)]
        for j in range(c + 1):
            level_starts[2 * (first + edge) + side * (c + 1) + j] = position
            position += lengths[c - j if side == 0 else j]
    level_starts[-1] = position
    return level_starts


@compiled
def fill_trees(
    at: Layout,
    edge_starts: IntArray,
    edge_members: IntArray,
    key_starts: IntArray,
    keys: IntArray,
    level_starts: IntArray,
    digit: ValueArray,
    link: NDArray[np.int32],
) -> None:
    """Write the digit and the link of each entry of the trees whose levels are those of `tree_levels`."""
    for port in range(2 * (len(edge_starts) - 1)):
        edge, side = port // 2, port % 2
        first, c = edge_starts[edge], edge_starts[edge + 1] - edge_starts[edge]
        g = at.group[ends_of(at, edge_members[first])[side]]
        width = at.value_starts[g + 1] - at.value_starts[g]
        own = keys[key_starts[port] : key_starts[port + 1]]
        for length in range(c, 0, -1):
            begin = level_starts[2 * (first + edge) + side * (c + 1) + (c - length if side == 0 else length)]
            below, high = np.zeros(len(own), dtype=np.int64), width ** (length - 1)
            number = _distinct(own % high, link[begin : begin + len(own)], below)
            for i in range(len(own)):
                digit[begin + i] = own[i] // high
            own = below[:number]
