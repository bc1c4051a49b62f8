"""Markov chains of sensitive values: BK^seq of JS-reduce, section 4.3."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.knowledge.sequences import GapRule, Sequences, check_longest
from foreknow.models.problem import TOLERANCE
from foreknow.models.tables.history import History

LARGEST_TABLE = 2**27
"""The number of transition probabilities a chain may hold (1 GiB)."""


class Transitions(Protocol):
    """Sequential knowledge, which may depend on the release; its chains are all of one order."""

    def at(self, release: int) -> "MarkovChain":
        """The chain by which values at the release of that number (0 is the first) follow earlier ones."""
        ...


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """The probability of the next value, given the last ``order`` ones.

    Parameters
    ----------
    order : int
        How many past values matter.
    probabilities : float array, shape (m,) * (order + 1)
        ``probabilities[s_1, ..., s_d]`` is the distribution of the value after the sequence s_1, ..., s_d, oldest first.
    shorter : tuple of float array, optional
        The same for sequences of 1, ..., order - 1 values, used for respondents of whom fewer values are known. Where
        it is left out, each is the longer table averaged over the oldest value, all being equally likely.
    substochastic : bool
        Whether rows may sum to less than 1, as those counted by Algorithm 5 as printed do.

    Raises
    ------
    ValueError
        If the order is not positive, a shape is wrong, or a row is not a distribution; it names the row.

    Notes
    -----
    Knowledge from a domain (DK of the paper) is given to the constructor; mined from a corpus (SPM) it comes from
    `fit`; extracted from the history that is being published (IE) it is an `IncrementalChain`.
    """

    order: int
    probabilities: FloatArray
    shorter: tuple[FloatArray, ...] = ()
    substochastic: bool = False

    def __post_init__(self) -> None:
        check_chain_order(self.order)
        longest = np.asarray(self.probabilities, dtype=np.float64)
        m = longest.shape[-1] if longest.ndim else 0
        if longest.shape != (m,) * (self.order + 1) or not m:
            raise ValueError(
                f"a chain of order {self.order} needs an array of shape (m,) * {self.order + 1}; got {longest.shape}."
            )
        longest = _checked(longest, self.substochastic)
        tables = [*map(np.asarray, self.shorter), longest] if self.shorter else _averaged(longest)
        if [table.shape for table in tables] != [(m,) * (length + 1) for length in range(1, self.order + 1)]:
            raise ValueError(
                f"shorter must hold tables for sequences of 1 to {self.order - 1} values, each over {m} values."
            )
        object.__setattr__(self, "probabilities", longest)
        object.__setattr__(self, "shorter", tuple(_checked(table, self.substochastic) for table in tables[:-1]))

    @classmethod
    def fit(
        cls,
        sequences: "History | Iterable[Sequence[int]]",
        order: int = 1,
        pseudo_count: float = 0.0,
        as_printed: bool = False,
        values: int | None = None,
        gaps: GapRule = "ignore",
    ) -> "MarkovChain":
        """Mine a corpus: how often each sequence of values was followed by each value.

        Parameters
        ----------
        sequences : History, or iterable of sequences of int
            Each person's values in the order of time, as positions in the sensitive domain. With ``gaps="power"``, -1 is a
            visit of which no value is known.
        order : int
            The longest sequence counted.
        pseudo_count : float
            Added to every count (a symmetric Dirichlet prior's concentration).
        as_printed : bool
            Algorithm 5 to the letter: a sequence at the end of somebody's records is counted although nothing could
            follow it, so rows sum to less than 1, and unseen sequences have rows of zeros. Otherwise the counts are of
            sequences with a continuation, and a sequence never seen has the row of its own end, which is shorter;
            a value never followed has the frequencies of all values that followed another.
        values : int, optional
            The size m of the sensitive domain; a history knows it, otherwise it is the largest value plus one.
        gaps : {"ignore", "power"}
            The visits at which a person has no value, as in `Adversary`: give both the same. ``"ignore"``: a value follows the
            person's last known one, whatever lies between, as in the papers. ``"power"``: a transition is one step, so only
            values of consecutive views (or positions) are counted.

        Raises
        ------
        ValueError
            If the order is not positive, or longer than anybody's sequence allows, a value lies outside the domain, the
            pseudo-count is negative, ``gaps`` is another word, or nothing can be counted.

        Notes
        -----
        With ``gaps="power"`` the values on both sides of a gap say nothing of each other. `markov_model` also reads what they
        say: it sums over the missing values, exactly.

        JS-reduce, Algorithm 5. Its loop counts, for every release h and person, the person's last 1, 2, ... values up
        to h: read as "sequences that end at h", each once. Cost: O(records * order + m^(order + 1)).
        """
        check_chain_order(order)
        if not (np.isfinite(pseudo_count) and pseudo_count >= 0):
            raise ValueError(f"pseudo_count is {pseudo_count}; it is added to counts, so it must be 0 or more.")
        counted = Sequences.of(sequences, values, gaps)
        m = counted.domain
        if m ** (order + 1) > LARGEST_TABLE:
            raise ValueError(
                f"a chain of order {order} over {m} values has {m}^{order + 1} probabilities, more than {LARGEST_TABLE}; "
                "choose a smaller order."
            )
        check_longest(order, counted.longest, gaps)
        return cls._mined(counted, order, pseudo_count, as_printed)

    @classmethod
    def _mined(cls, counted: Sequences, order: int, pseudo_count: float, as_printed: bool) -> "MarkovChain":
        """The chain of what was counted; sequences longer than anybody's have the rows of their ends."""
        m = counted.domain
        tables: list[FloatArray] = []
        row = _spread(counted.followed(0) + pseudo_count)
        for length in range(1, order + 1):
            pairs = counted.followed(length) + pseudo_count
            if as_printed:
                totals = counted.occurring(length) + pseudo_count * m
                table = np.divide(pairs, totals[..., None], out=np.zeros_like(pairs), where=totals[..., None] > 0)
            else:
                totals = pairs.sum(axis=-1)
                known = totals[..., None] > 0
                table = np.where(known, pairs / np.where(known, totals[..., None], 1.0), row)
            tables.append(table)
            row = table
        return cls(order, tables[-1], tuple(tables[:-1]), substochastic=as_printed)

    def at(self, release: int) -> "MarkovChain":  # noqa: ARG002 - the same question as to an IncrementalChain
        """The chain itself, at every release."""
        return self

    def truncate(self, steps: int) -> "MarkovChain":
        """The chain of order at most ``steps``, of the shorter tables: n-steps DK of JS-reduce, section 7.3."""
        check_chain_order(steps)
        steps = min(steps, self.order)
        return MarkovChain(steps, self.tables[steps - 1], self.tables[: steps - 1], self.substochastic)

    @property
    def tables(self) -> tuple[FloatArray, ...]:
        """The tables for sequences of 1, ..., order values."""
        return (*self.shorter, self.probabilities)

    @property
    def values(self) -> int:
        """The size m of the sensitive domain."""
        return int(self.probabilities.shape[-1])


@dataclass(frozen=True, eq=False)
class IncrementalChain:
    """Knowledge extracted from the very history that is being published, as far as it has come: IE-BK^seq.

    Only a publisher can have it, who sees the original records (JS-reduce, section 5.1). It is used by the defender, or
    held against a release as the knowledge an adversary could at most have mined from such data.

    Parameters
    ----------
    chains : tuple of MarkovChain
        The chain extracted from the first 1, 2, ..., t views.
    inclusive : bool
        Whether the knowledge for a release has the view that is then published. The paper's "at each time, based on
        V_i" may be read so; but then it holds the very transitions that are to be guessed, and gains where nothing can be
        learned from the past (docs/findings.md).

    Raises
    ------
    ValueError
        If there is no chain, or the chains differ in their order or their values.
    """

    chains: tuple[MarkovChain, ...]
    inclusive: bool = False

    def __post_init__(self) -> None:
        check_alike(self.chains)

    @classmethod
    def fit(
        cls,
        history: History,
        order: int = 1,
        pseudo_count: float = 0.0,
        as_printed: bool = False,
        inclusive: bool = False,
        gaps: GapRule = "ignore",
    ) -> "IncrementalChain":
        """Mine the first 1, 2, ..., t views of a history; the other parameters are those of `MarkovChain.fit`.

        As long as no transition has been seen, every value follows any other with probability 1/m.
        """
        m = len(history.schema.values)
        # The whole history is checked here; its beginnings may be shorter than the order.
        MarkovChain.fit(history, order, pseudo_count, as_printed, gaps=gaps)
        chains = []
        for upto in range(1, len(history) + 1):
            seen = Sequences.of(History(history.views[:upto]), gaps=gaps)
            if seen.longest < 2:
                chains.append(MarkovChain(order, np.full((m,) * (order + 1), 1.0 / m)))
            else:
                chains.append(MarkovChain._mined(seen, order, pseudo_count, as_printed))
        return cls(tuple(chains), inclusive)

    def at(self, release: int) -> MarkovChain:
        """The chain extracted from the views before that release, or up to it; of the first view for the first."""
        last = release if self.inclusive else release - 1
        return self.chains[min(max(last, 0), len(self.chains) - 1)]

    def truncate(self, steps: int) -> "IncrementalChain":
        """The chains of order at most ``steps``, as `MarkovChain.truncate`."""
        return IncrementalChain(tuple(chain.truncate(steps) for chain in self.chains), self.inclusive)


def check_alike(chains: Sequence[MarkovChain]) -> None:
    """Raise ValueError unless some chains, at least one, are of one order and one domain."""
    kinds = [(chain.order, chain.values) for chain in chains]
    if not kinds:
        raise ValueError("there is no chain; give one per release.")
    for number, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise ValueError(
                f"chain {number} is of order {kind[0]} over {kind[1]} values, chain 0 of order {kinds[0][0]} over "
                f"{kinds[0][1]}; all must be alike. Truncate the longer ones."
            )


def _spread(counts: FloatArray) -> FloatArray:
    return np.asarray(counts / counts.sum())


def _averaged(longest: FloatArray) -> list[FloatArray]:
    tables = [longest]
    while tables[0].ndim > 2:
        tables.insert(0, tables[0].mean(axis=0))
    return tables


def check_chain_order(order: int) -> None:
    """Raise ValueError unless an order is a whole number, 1 or more."""
    if order != int(order) or order < 1:
        raise ValueError(f"a chain looks back over {order} values; it must be a whole number, 1 or more.")


def _checked(table: FloatArray, substochastic: bool) -> FloatArray:
    """The table with rows that sum to 1 exactly, or as they are where they may sum to less."""
    with np.errstate(invalid="ignore"):
        sums = table.sum(axis=-1)
        far = (sums - 1 > TOLERANCE) if substochastic else (np.abs(sums - 1) > TOLERANCE)
        wrong = far | (table < -TOLERANCE).any(axis=-1) | ~np.isfinite(sums)
    if wrong.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        raise ValueError(
            f"after the values {where} the next value's probabilities are {table[where].tolist()}, which sum to "
            f"{sums[where]:.6g}; every row must be a distribution over the whole sensitive domain. Normalize the row."
        )
    table = np.maximum(table, 0.0)
    return table if substochastic else np.asarray(table / table.sum(axis=-1, keepdims=True))
