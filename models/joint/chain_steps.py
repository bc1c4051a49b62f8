"""Steps of the chains of all respondents: paths, and the transition tables between consecutive records."""

from typing import NamedTuple

import numpy as np

from foreknow.models.adversary import Adversary
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.personal_transitions import chains_at


class ChainSteps(NamedTuple):
    """Paths of records, and the chain that leads to each record.

    Attributes
    ----------
    path : int array, shape (R,)
        Path of each record. Without transitions each record is a path of its own.
    chain : int array, shape (R,)
        Chain that leads to each record from the previous one of its path; 0 for the first.
    tables : tuple of float array, shapes (K, m, m), (K, m, m, m), ..., d arrays
        Transition tables of each chain.
    """

    path: IntArray
    chain: IntArray
    tables: tuple[FloatArray, ...]


def chain_steps(
    adversary: Adversary, release: IntArray, respondent: IntArray, m: int, classes: IntArray | None = None
) -> ChainSteps:
    """Steps of an adversary's chain along records that are sorted by release.

    ``classes``, shape ``(R,)``, is the class of the respondent at each record, for transitions by class; 0 by default. A step is
    by the class at the release to which it leads, and by the class of the earlier record where there is no record of it.

    Raises
    ------
    ValueError
        If the chain is not over m values, or its order changes between two releases.
    """
    chain = np.zeros(len(release), dtype=np.int64)
    if adversary.transitions is None or not len(release):
        return ChainSteps(np.arange(len(release)), chain, ())
    _, path = np.unique(respondent, return_inverse=True)
    by_path = np.lexsort((release, path))
    earlier, later = by_path[:-1], by_path[1:]
    continued = path[earlier] == path[later]
    earlier, later = earlier[continued], later[continued]
    by_steps = adversary.gaps == "power" and chains_at(adversary.transitions, 0)[0].order == 1
    start = release[earlier] if by_steps else release[later] - 1
    classes = np.zeros(len(release), dtype=np.int64) if classes is None else classes
    through = np.where(release[later] - start > 1, classes[earlier], classes[later])
    kinds = np.stack([start, release[later], through, classes[later]], axis=1)
    kinds, number = np.unique(kinds, axis=0, return_inverse=True)
    chains, distinct = _distinct_chains(adversary, kinds.tolist() or [[0, 1, 0, 0]], m)
    chain[later] = chains[number.reshape(-1)]
    return ChainSteps(path, chain, _stacked(distinct))


def _distinct_chains(adversary: Adversary, kinds: list[list[int]], m: int) -> tuple[IntArray, list[MarkovChain]]:
    """Chain of each kind of step, as numbers of distinct chains: start, end, and the classes before the end and at it."""
    assert adversary.transitions is not None
    at = [chains_at(adversary.transitions, release) for release in range(max(stop for _, stop, _, _ in kinds) + 1)]
    numbers: dict[tuple[int, ...], int] = {}
    distinct: list[MarkovChain] = []
    chosen = []
    for start, stop, through, last in kinds:
        links = [at[release][last if release == stop else through] for release in range(start + 1, stop + 1)]
        key = tuple(map(id, links))
        if key not in numbers:
            numbers[key] = len(distinct)
            distinct.append(_product(links, m))
        chosen.append(numbers[key])
    return np.array(chosen, dtype=np.int64), distinct


def _product(links: list[MarkovChain], m: int) -> MarkovChain:
    """Chain over several steps of chains of order 1, or the only step."""
    for link in links:
        if link.values != m:
            raise ValueError(
                f"the transitions are over {link.values} values, and the releases over {m}. Fit or give a chain over the "
                "sensitive domain."
            )
    if len(links) == 1:
        return links[0]
    table = np.linalg.multi_dot([link.probabilities for link in links])
    return MarkovChain(1, np.minimum(table, 1.0), substochastic=True)


def _stacked(chains: list[MarkovChain]) -> tuple[FloatArray, ...]:
    orders = {chain.order for chain in chains}
    if len(orders) > 1:
        raise ValueError(
            f"the transitions have orders {sorted(orders)} at different releases; the joint law needs one order."
        )
    return tuple(np.stack(tables) for tables in zip(*(chain.tables for chain in chains), strict=True))
