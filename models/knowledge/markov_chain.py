"""Markov chains of sensitive values, one for all releases or one for each: BK^seq of JS-reduce, section 4.3."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.knowledge.posterior_variable import TABLE, posterior_dataset, posterior_variable
from foreknow.models.knowledge.sequences import GapRule, Sequences, sequences_for_order
from foreknow.models.problem import ROW_SUM_TOLERANCE, rows_of_counts
from foreknow.models.settings import (
    MAX_FLOAT,
    as_floats,
    as_integers,
    as_list,
    check_flag,
    check_kind,
    check_range,
    check_whole,
)
from foreknow.models.tables.history import History


@runtime_checkable
class Transitions(Protocol):
    """Sequential knowledge, which may depend on the release; its chains have one order."""

    def at(self, release: int) -> "MarkovChain":
        """Chain that leads to the values at a release; ``release`` is its number, 0 for the first."""
        ...


@equal_by_fields
@dataclass(frozen=True, eq=False)
class MarkovChain:
    """Probabilities of the next value given the last ``order`` values.

    Parameters
    ----------
    order : int
        Number d of past values that the next value depends on.
    probabilities : float array, shape (m,) * (order + 1)
        ``probabilities[s_1, ..., s_d]`` is the distribution of the value after the sequence s_1, ..., s_d, oldest first.
    shorter : tuple of float array, optional
        Tables for sequences of 1, ..., order - 1 values, used for respondents of whom fewer values are known. By default each is
        the next longer table averaged over the oldest value, with equal weights.
    substochastic : bool
        True for a chain after whose values there may be no next value, as after leaving: the sum of a row is the chance that there
        is one. Being listed again is then evidence against a value whose row sums to little; not being listed again is none.
        `Presence` reads both, beside a chain whose rows sum to 1. Algorithm 5 of JS-reduce as printed has such rows, too (`fit`).

    Raises
    ------
    TypeError
        If the probabilities are no array of numbers, or ``substochastic`` is not True or False.
    ValueError
        If the order is not a whole number of at least 1, a shape is wrong, or a row is not a distribution. The message names the
        row.

    Notes
    -----
    Domain knowledge (DK of the paper) is given to the constructor. Knowledge mined from a corpus (SPM) is the result of `fit`.
    Knowledge extracted from the history that is being published (IE) is a `ChainByRelease`.

    Examples
    --------
    A substochastic chain: half of those with the second value leave.

    >>> MarkovChain(1, [[0.5, 0.5], [0.25, 0.25]], substochastic=True).probabilities.sum(axis=1)
    array([1. , 0.5])
    """

    order: int
    probabilities: FloatArray
    shorter: tuple[FloatArray, ...] = ()
    substochastic: bool = False

    def __post_init__(self) -> None:
        check_whole("MarkovChain", "order", self.order, "past values")
        check_flag("MarkovChain", "substochastic", self.substochastic)
        takes = "is a float array of shape (m,) * (order + 1), a distribution over the m values per row"
        longest = as_floats("MarkovChain", "probabilities", self.probabilities, takes)
        order, m = int(self.order), longest.shape[-1] if longest.ndim else 0
        if longest.ndim != order + 1 or set(longest.shape) != {m} or not m:
            raise ValueError(
                f"a chain of order {order} needs an array of shape (m,) * {order + 1}; got {longest.shape}."
            )
        longest = _checked(longest, self.substochastic)
        shorter = [as_floats("MarkovChain", "a table of shorter", table, takes) for table in self.shorter]
        tables = [*shorter, longest]
        while not shorter and tables[0].ndim > 2:
            tables.insert(0, tables[0].mean(axis=0))
        if [table.shape for table in tables] != [(m,) * (length + 1) for length in range(1, order + 1)]:
            raise ValueError(
                f"shorter must hold tables for sequences of 1 to {order - 1} values, each over {m} values."
            )
        checked = tuple(_checked(table, self.substochastic) for table in tables[:-1])
        set_fields(self, order=order, probabilities=longest, shorter=checked)

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
        """Estimate transition probabilities from a corpus by the frequency of each value after each sequence.

        Parameters
        ----------
        sequences : History, or iterable of sequences of int
            Values of each respondent in the order of time, as positions in the sensitive domain. With ``gaps="power"``, -1 is a
            visit without a known value.
        order : int
            Length of the longest sequence counted.
        pseudo_count : float
            Number added to every count (concentration of a symmetric Dirichlet prior).
        as_printed : bool
            True for Algorithm 5 as printed: a sequence at the end of the records of a respondent is counted although it has no
            continuation, so rows sum to less than 1, and unseen sequences have rows of zeros. False: only sequences with a
            continuation count; an unseen sequence has the row of the sequence without its oldest value, and a single value
            without continuation has the frequencies of all values that follow another.
        values : int, optional
            Size m of the sensitive domain. By default that of the history, or the largest value plus one.
        gaps : {"ignore", "power"}
            Treatment of visits without a value; give `Adversary` the same. ``"ignore"``: a value follows the last known value of
            the respondent across any gap, as in the papers. ``"power"``: a transition is one step, so only values of consecutive
            views (or positions) are counted.

        Raises
        ------
        TypeError
            If ``sequences`` is neither a history nor sequences of integers.
        ValueError
            If the order is not a whole number of at least 1, or no sequence is longer; a value lies outside the domain; the
            pseudo-count is negative; or ``gaps`` is not one of its choices.

        Notes
        -----
        With ``gaps="power"`` values on both sides of a gap are not compared. `markov_model` compares them: it sums over the
        missing values, exactly.

        JS-reduce, Algorithm 5. For every release h and respondent, its loop counts the last 1, 2, ... values up to h. This is
        read as "sequences that end at h", each counted once. Cost: O(records * order + m^(order + 1)).
        """
        check_pseudo_count("MarkovChain.fit", pseudo_count)
        check_flag("MarkovChain.fit", "as_printed", as_printed)
        return chain_of_counts(sequences_for_order(sequences, order, values, gaps), order, pseudo_count, as_printed)

    @classmethod
    def from_posterior(
        cls, tree: Any, variable: str = "transitions", values: Sequence[Hashable] | None = None
    ) -> "MarkovChain":
        """Posterior mean of the transitions of a sampled PyMC model.

        Parameters
        ----------
        tree : DataTree or Dataset
            With the group ``posterior``, as `pymc.sample` returns it for `markov_model`, `history_model` or `release_model`.
        variable : str
            With the dimensions chain and draw, and ``last, value`` or ``value_1, ..., value_d, value``.
        values : sequence, optional
            Sensitive domain, as ``schema.values``. The coordinates of the variable are compared with it and sorted by it. Without
            it their order is taken, and it is not checked that it is that of the schema.

        Raises
        ------
        TypeError
            If ``tree`` is no DataTree and no Dataset.
        ValueError
            If it has no posterior, no draws or no such variable; if the variable has other dimensions, a NaN, a coordinate of
            other values, or a row that is no distribution.

        Warns
        -----
        UserWarning
            If draws diverged.

        Notes
        -----
        The mean leaves out the uncertainty of the rows. For one chain per draw, call it with each tree of `posterior_draws`.
        Tables for fewer than d values are averages, as those of the constructor.

        Examples
        --------
        >>> import arviz
        >>> draws = np.array([[[[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]]])
        >>> tree = arviz.from_dict({"posterior": {"transitions": draws}}, dims={"transitions": ["last", "value"]})
        >>> MarkovChain.from_posterior(tree).probabilities.round(3).tolist()
        [[0.7, 0.3], [0.3, 0.7]]
        """
        table = posterior_variable(tree, variable, [TABLE], values).mean
        return cls(table.ndim - 1, table)

    def at(self, release: int) -> "MarkovChain":  # noqa: ARG002 - the interface of `Transitions`
        """The chain itself, for every release."""
        return self

    def truncate(self, steps: int) -> "MarkovChain":
        """Chain of order at most ``steps``, of the shorter tables: n-steps DK of JS-reduce, section 7.3."""
        check_whole("MarkovChain.truncate", "steps", steps, "past values")
        return chain_of_tables(self.tables[: int(steps)], self.substochastic)

    @property
    def tables(self) -> tuple[FloatArray, ...]:
        """Tables for sequences of 1, ..., order values."""
        return (*self.shorter, self.probabilities)

    @property
    def values(self) -> int:
        """Size m of the sensitive domain."""
        return int(self.probabilities.shape[-1])


def chain_of_counts(counted: Sequences, order: int, pseudo_count: float, as_printed: bool = False) -> MarkovChain:
    """Chain of the frequencies of counted sequences, with the rules of `MarkovChain.fit`."""
    lengths = range(1, int(order) + 1)
    if not as_printed:
        return chain_of_followed([counted.followed(length) for length in (0, *lengths)], pseudo_count)
    tables = []
    for length in lengths:
        pairs = counted.followed(length) + pseudo_count
        totals = (counted.occurring(length) + pseudo_count * counted.domain)[..., None]
        tables.append(np.divide(pairs, totals, out=np.zeros_like(pairs), where=totals > 0))
    return chain_of_tables(tables, substochastic=True)


def chain_of_followed(followed: Sequence[FloatArray], pseudo_count: float) -> MarkovChain:
    """Chain of the number of times that each value follows each sequence of 0, 1, ..., d values, as `chain_of_counts`."""
    tables = [rows_of_counts(followed[0], pseudo_count, followed[0])]
    for counts in followed[1:]:
        tables.append(rows_of_counts(counts, pseudo_count, tables[-1]))
    return chain_of_tables(tables[1:])


def chain_of_tables(tables: Sequence[FloatArray], substochastic: bool = False) -> MarkovChain:
    """Chain of the tables for sequences of 1, ..., d values."""
    return MarkovChain(len(tables), tables[-1], tuple(tables[:-1]), substochastic)


def shrunk_chain(counted: Sequences, pooled: MarkovChain, pseudo_count: float, shrinkage: float) -> MarkovChain:
    """Chain of counted sequences, shrunk towards the rows of a pooled chain; a row without counts is the pooled one."""
    counts = [counted.followed(length) + pseudo_count for length in range(1, pooled.order + 1)]
    pairs = zip(counts, pooled.tables, strict=True)
    return chain_of_tables([rows_of_counts(count + shrinkage * row, 0.0, row) for count, row in pairs])


def check_alike(chains: Sequence[MarkovChain]) -> None:
    """Raise ValueError unless there is at least one chain, and all have one order and one domain."""
    kinds = sorted({(chain.order, chain.values) for chain in chains})
    if len(kinds) != 1:
        found = ", ".join(f"of order {order} over {values} values" for order, values in kinds) or "absent"
        raise ValueError(
            f"the chains are {found}; give at least one, all of one order and domain (truncate longer ones)."
        )


def check_domain_size(chain: MarkovChain, values: int) -> None:
    """Raise ValueError unless a chain is over a number of sensitive values."""
    if chain.values != values:
        raise ValueError(
            f"the transitions are over {chain.values} values, and the sensitive domain has {values}; fit or give a chain over it."
        )


def check_pseudo_count(owner: str, pseudo_count: float) -> None:
    """Raise ValueError unless a pseudo-count is a finite number of at least 0."""
    check_range(owner, "pseudo_count", pseudo_count, 0, MAX_FLOAT, "added to counts")


def _checked(table: FloatArray, substochastic: bool) -> FloatArray:
    """Table with rows normalized to sum to 1; as they are if they may sum to less."""
    with np.errstate(invalid="ignore", over="ignore"):
        sums = table.sum(axis=-1)
        far = (sums - 1 > ROW_SUM_TOLERANCE) if substochastic else (np.abs(sums - 1) > ROW_SUM_TOLERANCE)
        wrong = far | (table < -ROW_SUM_TOLERANCE).any(axis=-1) | ~np.isfinite(sums)
    if wrong.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        raise ValueError(
            f"after the values {where} the next value's probabilities are {table[where].tolist()}, which sum to "
            f"{sums[where]:.6g}; every row must be a distribution over the whole sensitive domain. Normalize the row."
        )
    table = np.maximum(table, 0.0)
    return table if substochastic else np.asarray(table / table.sum(axis=-1, keepdims=True))


@equal_by_fields
@dataclass(frozen=True, eq=False)
class VariableOrderChain:
    """Markov chain whose next value depends on the longest known end of the past values, of any length up to ``order``.

    Offered for the reproduction of JS-reduce: sequences of every length (Algorithm 5, "full" DK, SPM and IE), where the tables of a
    `MarkovChain` would be too large. `Adversary` reads it with ``revision="product"`` (Algorithm 3); `truncate` gives the n-step
    knowledge of the paper's section 7.3, for other rules one of order 1.

    Parameters
    ----------
    order : int
        Number of past values that the next value depends on at most, 2 or more.
    oldest, rest : int array, shape (c,)
        The c contexts, which are sequences of past values. Context i is the value ``oldest[i]`` followed by context ``rest[i]``,
        with ``rest[i] < i``; context 0 is empty, and its two numbers are not read.
    probabilities : float array, shape (c, m)
        Distribution of the next value after each context, where no longer context is the end of the past values.
    substochastic : bool
        True for Algorithm 5 as printed: a sequence of the known past values, of ``order`` at most, that is no context has no next
        value. False: it has that of its longest end that is a context (back-off).

    Raises
    ------
    TypeError, ValueError
        If the arrays are not of these shapes, a context has a wrong number, or a row is no distribution.

    Examples
    --------
    After two equal values, the third is the same; otherwise both are equally likely:

    >>> rows = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [1, 0], [0, 1]]
    >>> chain = VariableOrderChain(2, [0, 0, 1, 0, 1], [0, 0, 0, 1, 2], np.array(rows))
    >>> chain.truncate(1)
    MarkovChain(order=1, probabilities=array([[0.5, 0.5],
           [0.5, 0.5]]), shorter=(), substochastic=False)
    """

    order: int
    oldest: IntArray
    rest: IntArray
    probabilities: FloatArray
    substochastic: bool = False

    def __post_init__(self) -> None:
        owner = "VariableOrderChain"
        check_whole(owner, "order", self.order, "past values", 2)
        check_flag(owner, "substochastic", self.substochastic)
        takes = "is a float array of shape (c, m), a distribution over the m values per context"
        rows = as_floats(owner, "probabilities", self.probabilities, takes)
        if rows.ndim != 2 or not rows.size:
            raise ValueError(f"{owner}: probabilities {takes}; got {rows.shape}.")
        oldest, rest = (
            as_integers(f"{owner}: {name}", numbers, (len(rows),), "one number per context")
            for name, numbers in (("oldest", self.oldest), ("rest", self.rest))
        )
        wrong = np.flatnonzero((oldest < 0) | (oldest >= rows.shape[1]) | (rest < 0) | (rest >= np.arange(len(rows))))
        if (wrong > 0).any():
            i = wrong[wrong > 0][0]
            raise ValueError(
                f"{owner}: context {i} is the value {oldest[i]} followed by context {rest[i]}; the value is one of 0 to "
                f"{rows.shape[1] - 1}, and the context stands before it."
            )
        set_fields(
            self, order=int(self.order), oldest=oldest, rest=rest, probabilities=_checked(rows, self.substochastic)
        )

    @classmethod
    def fit(
        cls,
        sequences: "History | Iterable[Sequence[int]]",
        order: int | None = None,
        as_printed: bool = False,
        values: int | None = None,
    ) -> "VariableOrderChain":
        """Estimate the probabilities after every sequence of a corpus by the frequency of each value after it.

        Parameters
        ----------
        order : int, optional
            Length of the longest sequence counted. By default every length.
        sequences, as_printed, values
            As for `MarkovChain.fit`, with gaps ignored.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.fit`. A corpus in which no value follows another gives equal probabilities.

        Notes
        -----
        Cost: O(records order) time, O(distinct sequences m) memory.
        """
        check_flag("VariableOrderChain.fit", "as_printed", as_printed)
        seen = Sequences.from_source(sequences, values)
        order = max(seen.longest - 1, 2) if order is None else order
        check_whole("VariableOrderChain.fit", "order", order, "past values", 2)
        m, following = seen.domain, np.append(seen.values[1:], 0)
        followed = np.append(seen.before[1:] > 0, False)
        ends = np.arange(len(followed)) if as_printed else np.flatnonzero(followed)
        context = np.zeros(len(followed), dtype=np.int64)
        oldest, rest = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
        counts, occurring = [], []
        for length in range(int(order) + 1):
            if length:
                ends = ends[seen.before[ends] >= length - 1]
                if not len(ends):
                    break
                found, number = np.unique(context[ends] * m + seen.values[ends - length + 1], return_inverse=True)
                context[ends] = sum(map(len, oldest)) + number
                oldest.append(found % m)
                rest.append(found // m)
            first, arrivals = sum(map(len, oldest[:-1])), ends[followed[ends]]
            cells = (context[arrivals] - first) * m + following[arrivals]
            counts.append(np.bincount(cells, minlength=len(oldest[-1]) * m).reshape(-1, m))
            occurring.append(np.bincount(context[ends] - first, minlength=len(oldest[-1])))
        pairs, totals = np.vstack(counts), np.concatenate(occurring)[:, None]
        rows = np.divide(pairs, totals, out=np.full(pairs.shape, 0.0 if as_printed else 1 / m), where=totals > 0)
        return cls(int(order), np.concatenate(oldest), np.concatenate(rest), rows, as_printed)

    def at(self, release: int) -> Any:  # noqa: ARG002 - the interface of `Transitions`, without dense tables
        """The chain itself, for every release."""
        return self

    def truncate(self, steps: int) -> "VariableOrderChain | MarkovChain":
        """Chain of the contexts of at most ``steps`` values; for one value a `MarkovChain`."""
        check_whole("VariableOrderChain.truncate", "steps", steps, "past values")
        length = np.zeros(len(self.rest), dtype=np.int64)
        for i in range(1, len(length)):
            length[i] = length[self.rest[i]] + 1
        if steps == 1:
            unseen = 0.0 if self.substochastic else self.probabilities[0]
            table = np.full((self.values, self.values), unseen)
            table[self.oldest[length == 1]] = self.probabilities[length == 1]
            return MarkovChain(1, table, substochastic=self.substochastic)
        kept = length <= steps
        number = np.cumsum(kept) - 1
        return VariableOrderChain(
            min(int(steps), self.order),
            self.oldest[kept],
            number[self.rest[kept]],
            self.probabilities[kept],
            self.substochastic,
        )

    @property
    def longer(self) -> IntArray:
        """Number of the context that is a value followed by a context, -1 if there is none: int array, shape ``(c, m)``."""
        longer = np.full(self.probabilities.shape, -1)
        longer[self.rest[1:], self.oldest[1:]] = np.arange(1, len(self.rest))
        return longer

    @property
    def tables(self) -> tuple[FloatArray, ...]:
        """There are none: raise ValueError, which names what reads the chain."""
        raise ValueError(
            "a chain of variable order has no dense tables; give a MarkovChain, as chain.truncate(1), or attack by "
            'SequentialAttack of an Adversary with revision="product".'
        )

    @property
    def values(self) -> int:
        """Size m of the sensitive domain."""
        return int(self.probabilities.shape[1])


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ChainByRelease:
    """Markov chain with its own transition probabilities for each release: sequential knowledge (`Transitions`).

    `fit` estimates them from the steps of a corpus, for a law that changes with time. `extracted` estimates them from the views
    before each release, for a publisher who learns while publishing.

    Parameters
    ----------
    chains : tuple of MarkovChain
        ``chains[r]`` is the distribution of the values at release r, given earlier values. The first release is number 0, and no
        transition leads to it.
    later : MarkovChain, optional
        Chain of the releases after these. By default the last of them.

    Raises
    ------
    TypeError
        If a chain is not a `MarkovChain`.
    ValueError
        If there is no chain, or the chains differ in their order or in their number of values.

    Notes
    -----
    Releases are matched by number, not by time: release r of an attack, or of `publish`, corresponds to view r of the corpus.

    Examples
    --------
    Two respondents keep their value in the first step and change it in the second:

    >>> chain = ChainByRelease.fit([[0, 0, 1], [1, 1, 0]], shrinkage=0.0)
    >>> chain.at(1).probabilities.tolist(), chain.at(2).probabilities.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    >>> chain.at(3).probabilities.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    chains: tuple[MarkovChain, ...]
    later: MarkovChain | None = None

    def __post_init__(self) -> None:
        chains = tuple(as_list("ChainByRelease", "chains", self.chains, "is a tuple of MarkovChain, one per release"))
        every = chains if self.later is None else (*chains, self.later)
        for number, chain in enumerate(every):
            check_kind(
                "ChainByRelease", f"chain {number}", chain, (MarkovChain, VariableOrderChain), "is a MarkovChain"
            )
        check_alike(every)
        object.__setattr__(self, "chains", chains)

    @classmethod
    def fit(
        cls,
        sequences: "History | Iterable[Sequence[int]]",
        order: int = 1,
        pseudo_count: float = 0.0,
        shrinkage: float = 1.0,
        values: int | None = None,
        gaps: GapRule = "ignore",
    ) -> "ChainByRelease":
        """Estimate transition probabilities for each step of a corpus, shrunk towards those of the whole corpus.

        A row of a step is ``(counts + shrinkage * pooled row) / (sum of counts + shrinkage)``, the posterior mean under a
        Dirichlet prior with the pooled row as its mean. Releases after those of the corpus have the pooled chain.

        Parameters
        ----------
        sequences : History, or iterable of sequences of int
            As for `MarkovChain.fit`, with the same start and the same distance between visits for all respondents.
        order, pseudo_count
            As for `MarkovChain.fit`, which computes the pooled chain.
        shrinkage : float
            Number of observations that the pooled row counts as. With 0, a row has the frequencies of the step, and is the pooled
            row where the step has no observation. Steps with fewer respondents need a larger number.
        values, gaps
            As for `MarkovChain.fit`.

        Raises
        ------
        ValueError
            If the shrinkage is negative or not finite, or as `MarkovChain.fit`.

        Notes
        -----
        Cost: O(t records order + t m^(order + 1)) for t views.
        """
        owner = "ChainByRelease.fit"
        check_range(owner, "shrinkage", shrinkage, 0, MAX_FLOAT, "of observations that the pooled row counts as")
        check_pseudo_count(owner, pseudo_count)
        counted = sequences_for_order(sequences, order, values, gaps)
        pooled = chain_of_counts(counted, order, pseudo_count)
        steps = (counted.ending_in(counted.visit == step) for step in range(1, int(counted.visit.max()) + 1))
        return cls((pooled, *(shrunk_chain(step, pooled, 0.0, shrinkage) for step in steps)), pooled)

    @classmethod
    def extracted(
        cls,
        history: History,
        order: int = 1,
        pseudo_count: float = 0.0,
        as_printed: bool = False,
        inclusive: bool = False,
        gaps: GapRule = "ignore",
    ) -> "ChainByRelease":
        """Estimate the chain of each release from the views before it: IE-BK^seq of JS-reduce, section 5.1.

        Only a publisher has this knowledge, since it needs the original records. A defender uses it, or compares a release with
        it, as an upper bound of what an adversary could mine from such data.

        Parameters
        ----------
        history : History
            The history that is being published. While no transition has been seen, every value follows any other with probability
            1/m.
        order, pseudo_count, as_printed
            As for `MarkovChain.fit`.
        inclusive : bool
            True if the knowledge for a release includes the view that is then published. The paper's "at each time, based on V_i"
            permits this reading. But such knowledge contains the transitions that are to be guessed, and gains where nothing can
            be learned from the past (docs/findings.md).
        gaps
            As for `MarkovChain.fit`.
        """
        owner = "ChainByRelease.extracted"
        check_kind(owner, "history", history, History)
        check_pseudo_count(owner, pseudo_count)
        check_flag(owner, "as_printed", as_printed)
        # The whole history is checked here; its first views may hold fewer values than the order needs.
        sequences_for_order(history, order, None, gaps)
        order, m = int(order), len(history.schema.values)
        chains = []
        for views in range(1, len(history) + 1):
            seen = Sequences.from_source(History(history.views[:views]), gaps=gaps)
            if seen.longest < 2:
                chains.append(MarkovChain(order, np.full((m,) * (order + 1), 1.0 / m)))
            else:
                chains.append(chain_of_counts(seen, order, pseudo_count, as_printed))
        return cls.of_views(chains, inclusive)

    @classmethod
    def of_views(cls, chains: Sequence[MarkovChain], inclusive: bool = False) -> "ChainByRelease":
        """Chain of each release from chains extracted from the first 1, 2, ..., t views; ``inclusive`` as for `extracted`."""
        return cls((*chains,) if inclusive else (*chains[:1], *chains))

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        variable: str = "transitions",
        later: str | None = None,
        values: Sequence[Hashable] | None = None,
        inclusive: bool = False,
    ) -> "ChainByRelease":
        """Posterior mean of the transitions of each release, of a sampled PyMC model.

        Parameters
        ----------
        tree : DataTree or Dataset
            As for `MarkovChain.from_posterior`. Posteriors of several runs are one by
            ``xarray.concat([run.posterior.to_dataset() for run in runs], "view")``, given equal numbers of draws.
        variable : str
            With the dimensions chain and draw, then ``step`` or ``view``, then those of `MarkovChain.from_posterior`. The first
            step leads to the second release. The chain of view v is given the views up to v, as that of `extracted`.
        later : str, optional
            Variable of the chain of all later steps, without the dimension ``step``. By default these have the mean of the steps.
        values, inclusive
            As for `MarkovChain.from_posterior` and `extracted`.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`, or if numbers of the steps or views do not increase.

        Examples
        --------
        >>> import arviz
        >>> steps = np.array([[[[[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]]]])
        >>> dims = {"transitions": ["step", "last", "value"]}
        >>> chain = ChainByRelease.from_posterior(arviz.from_dict({"posterior": {"transitions": steps}}, dims=dims))
        >>> chain.at(1).probabilities.tolist(), chain.at(3).probabilities.round(3).tolist()
        ([[0.8, 0.2], [0.5, 0.5]], [[0.7, 0.3], [0.3, 0.7]])
        """
        found = posterior_variable(tree, variable, [("step", *TABLE), ("view", *TABLE)], values)
        for before, after in pairwise(found.labels[0]):
            if isinstance(before, int | float) and not before < after:
                raise ValueError(
                    f"from_posterior: the coordinate {found.dims[0]!r} has {after!r} after {before!r}; it is in the order of time. "
                    f"Sort it, as tree.posterior.to_dataset().sortby({found.dims[0]!r})."
                )
        order = found.mean.ndim - 2
        chains = [MarkovChain(order, table) for table in found.mean]
        if found.dims[0] == "view":
            return cls.of_views(chains, inclusive)
        mean = (
            found.mean.mean(axis=0)
            if later is None
            else posterior_variable(posterior_dataset(tree), later, [TABLE], values).mean
        )
        pooled = MarkovChain(mean.ndim - 1, mean)
        return cls((pooled, *chains), pooled)

    def at(self, release: int) -> MarkovChain:
        """Chain that leads to the values at a release; ``release`` is its number, 0 for the first."""
        return self.chains[release] if release < len(self.chains) else self.later or self.chains[-1]

    def truncate(self, steps: int) -> "ChainByRelease":
        """Chains of order at most ``steps``, as `MarkovChain.truncate`."""
        later = None if self.later is None else self.later.truncate(steps)
        return ChainByRelease(tuple(chain.truncate(steps) for chain in self.chains), later)
