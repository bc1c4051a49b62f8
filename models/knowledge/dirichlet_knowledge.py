"""Dirichlet posteriors over the rows of class frequencies and of transition tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.knowledge.markov_chain import MarkovChain, check_chain_order
from foreknow.models.knowledge.priors import ClassFrequencies, class_codes
from foreknow.models.knowledge.sequences import GapRule, Sequences
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People


@dataclass(frozen=True, eq=False)
class DirichletFrequencies:
    """Knowledge of the frequencies in every class, and its certainty, of an adversary who has counted a corpus.

    Each class's frequencies are ``Dirichlet(a)``, independent of the other classes', where a are the prior's
    concentration plus the counts. It is a `Prior`, and so may stand wherever `ClassFrequencies` may.

    Parameters
    ----------
    cuts : mapping of str to tuple of float
        Which class a person belongs to, as in `ClassFrequencies`.
    concentrations : float array, shape (c_1, ..., c_a, m)
        The a of every class, all positive.

    Raises
    ------
    ValueError
        If the shape does not fit the cuts, or a concentration is not a positive number.

    Notes
    -----
    As a prior it gives the posterior mean, which is the exact predictive law of one person's value. People of one class
    share the same unknown frequencies, so of several together it is an approximation: what is learned of one bears on
    the others. `release_model` has their joint law. To see what follows from other frequencies that the corpus also
    allows, give an adversary each of some that are drawn by `sample`.

    Examples
    --------
    Of four people without a class, three have flu:

    >>> import numpy as np
    >>> knowledge = DirichletFrequencies({}, np.array([1.0 + 3, 1.0 + 1]))
    >>> knowledge.mean.probabilities.round(3)
    array([0.667, 0.333])
    >>> knowledge.standard_deviation.round(3)
    array([0.178, 0.178])
    >>> [end.round(3).tolist() for end in knowledge.interval(mass=0.5)]
    [[0.546, 0.194], [0.806, 0.454]]
    """

    cuts: Mapping[str, tuple[float, ...]]
    concentrations: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "concentrations", positive_concentrations(self.concentrations, "class"))
        _ = self.mean  # refuses a shape that does not fit the cuts

    @classmethod
    def fit(
        cls, history: History, classes: Mapping[str, int | None], concentration: float = 1.0
    ) -> "DirichletFrequencies":
        """Count a corpus: every record of a history, class by class.

        Parameters
        ----------
        history : History
            The corpus, with its true values.
        classes : mapping of str to int or None
            Which attributes tell classes apart, and how, as for `ClassFrequencies.fit`.
        concentration : float
            Of the symmetric Dirichlet distribution before anything was counted; 1 is uniform over all frequencies.

        Raises
        ------
        ValueError
            If the concentration is not a positive number, or as `ClassFrequencies.fit` does.
        """
        check_concentration(concentration)
        point = ClassFrequencies.fit(history, classes, pseudo_count=concentration)
        shape, m = point.probabilities.shape, point.probabilities.shape[-1]
        cells = np.concatenate([class_codes(point.cuts, view.people) * m + view.sensitive for view in history])
        counts = np.bincount(cells, minlength=point.probabilities.size).reshape(shape).astype(np.float64)
        return cls(point.cuts, counts + concentration)

    def __call__(self, people: People) -> FloatArray:
        """Each person's class's posterior mean: float array, shape ``(n, m)``."""
        return self.mean(people)

    @property
    def mean(self) -> ClassFrequencies:
        """The posterior mean, ``a_s / sum_v a_v``: what `ClassFrequencies.fit` gives with the concentration as pseudo-count."""
        return ClassFrequencies(self.cuts, _mean(self.concentrations))

    @property
    def standard_deviation(self) -> FloatArray:
        """The posterior standard deviation of every frequency: float array, shape ``(c_1, ..., c_a, m)``."""
        return _standard_deviation(self.concentrations)

    def interval(self, mass: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """The ends between which each frequency lies with that probability: two float arrays, shape ``(c_1, ..., c_a, m)``.

        Equal tails of its marginal, ``Beta(a_s, sum_v a_v - a_s)``; not a region for a class's frequencies together.

        Raises
        ------
        ValueError
            If the mass does not lie between 0 and 1.
        """
        return _interval(self.concentrations, mass)

    def sample(self, *, rng: np.random.Generator) -> ClassFrequencies:
        """Frequencies that the corpus allows: one draw from the posterior, every class by itself."""
        return ClassFrequencies(self.cuts, _drawn(self.concentrations, rng))


@dataclass(frozen=True, eq=False)
class DirichletChain:
    """Knowledge of the transitions between values, and its certainty, of an adversary who has counted a corpus.

    The distribution of the next value after each sequence is ``Dirichlet(a)``, independent of the others, where a are the
    prior's concentration plus the counts. It is sequential knowledge (`Transitions`), and so may stand wherever a
    `MarkovChain` may.

    Parameters
    ----------
    concentrations : tuple of float array, of shapes (m, m), ..., (m,) * (order + 1)
        The a after sequences of 1, 2, ..., order values, oldest first; all positive.

    Raises
    ------
    ValueError
        If there is no table, a shape is wrong, or a concentration is not a positive number.

    Notes
    -----
    An adversary who is given this reasons with the posterior mean, which is the exact predictive law of one step. Over
    several steps, and over people together, it is an approximation: all of them share the same unknown rows.
    `release_model` has the joint law. To see what follows from other chains that the corpus also allows, give an adversary
    each of some that are drawn by `sample`.

    The tables for shorter sequences, used for respondents of whom fewer values are known, are posteriors of their own
    from the same corpus; no draw or row of one is derived from another.

    Examples
    --------
    >>> knowledge = DirichletChain.fit([[0, 0, 1], [0, 1, 1]])
    >>> knowledge.concentrations[0]
    array([[2., 3.],
           [1., 2.]])
    >>> knowledge.at(0).probabilities.round(2)
    array([[0.4 , 0.6 ],
           [0.33, 0.67]])
    """

    concentrations: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        tables = tuple(positive_concentrations(table, "the sequence") for table in self.concentrations)
        m = tables[-1].shape[-1] if tables and tables[-1].ndim else 0
        shapes = [table.shape for table in tables]
        if not m or shapes != [(m,) * (length + 1) for length in range(1, len(tables) + 1)]:
            raise ValueError(
                f"a Dirichlet chain needs a table for sequences of 1, 2, ..., order values, of shapes (m, m), (m, m, m), ...; "
                f"got {shapes}."
            )
        object.__setattr__(self, "concentrations", tables)

    @classmethod
    def fit(
        cls,
        sequences: "History | Iterable[Sequence[int]]",
        order: int = 1,
        concentration: float = 1.0,
        values: int | None = None,
        gaps: GapRule = "ignore",
    ) -> "DirichletChain":
        """Count a corpus: how often each sequence of values was followed by each value.

        Parameters
        ----------
        sequences : History, or iterable of sequences of int
            Each person's values in the order of time, as positions in the sensitive domain.
        order : int
            The longest sequence counted.
        concentration : float
            Of every row's symmetric Dirichlet distribution before anything was counted; 1 is uniform.
        values : int, optional
            The size m of the sensitive domain; a history knows it, otherwise it is the largest value plus one.
        gaps : {"ignore", "power"}
            As for `MarkovChain.fit`. `markov_model` also reads what the values on both sides of a gap say of each other.

        Raises
        ------
        ValueError
            If the concentration is not a positive number, or as `MarkovChain.fit` does.

        Notes
        -----
        Cost: O(records * order + m^(order + 1)).
        """
        check_concentration(concentration)
        source = sequences if isinstance(sequences, History) else [list(sequence) for sequence in sequences]
        MarkovChain.fit(
            source, order, pseudo_count=concentration, values=values, gaps=gaps
        )  # refuses what cannot be counted
        counted = Sequences.of(source, values, gaps)
        return cls(tuple(counted.followed(length) + concentration for length in range(1, order + 1)))

    @property
    def order(self) -> int:
        """Number of past values that matter."""
        return len(self.concentrations)

    @property
    def values(self) -> int:
        """The size m of the sensitive domain."""
        return int(self.concentrations[0].shape[-1])

    def at(self, release: int) -> MarkovChain:  # noqa: ARG002 - the same question as to an IncrementalChain
        """The posterior mean, at every release."""
        return self.mean

    def truncate(self, steps: int) -> "DirichletChain":
        """The knowledge of somebody who looks back only ``steps`` values, as `MarkovChain.truncate`."""
        check_chain_order(steps)
        return DirichletChain(self.concentrations[:steps])

    @property
    def mean(self) -> MarkovChain:
        """The posterior mean: what `MarkovChain.fit` gives with the concentration as pseudo-count."""
        return _chain([_mean(table) for table in self.concentrations])

    @property
    def standard_deviation(self) -> FloatArray:
        """The posterior standard deviation of every transition of the longest table: float array, shape ``(m,) * (order + 1)``."""
        return _standard_deviation(self.concentrations[-1])

    def interval(self, mass: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """The ends between which each transition lies with that probability: two float arrays, shape ``(m,) * (order + 1)``.

        Of the longest table; those of shorter sequences are ``truncate(steps).interval(mass)``. Equal tails of the
        marginal, ``Beta(a_s, sum_v a_v - a_s)``; not a region for a row together.

        Raises
        ------
        ValueError
            If the mass does not lie between 0 and 1.
        """
        return _interval(self.concentrations[-1], mass)

    def sample(self, *, rng: np.random.Generator) -> MarkovChain:
        """A chain that the corpus allows: one draw from the posterior, every row of every table by itself."""
        return _chain([_drawn(table, rng) for table in self.concentrations])


def _chain(tables: list[FloatArray]) -> MarkovChain:
    return MarkovChain(len(tables), tables[-1], tuple(tables[:-1]))


def _mean(concentrations: FloatArray) -> FloatArray:
    return np.asarray(concentrations / concentrations.sum(axis=-1, keepdims=True))


def _standard_deviation(concentrations: FloatArray) -> FloatArray:
    mean = _mean(concentrations)
    return np.asarray(np.sqrt(mean * (1 - mean) / (concentrations.sum(axis=-1, keepdims=True) + 1)))


def _interval(concentrations: FloatArray, mass: float) -> tuple[FloatArray, FloatArray]:
    if not 0 < mass < 1:
        raise ValueError(f"the mass of the interval is {mass}; it is a probability between 0 and 1, as 0.95.")
    from scipy.stats import beta  # its import takes long, and few ask for intervals

    others = concentrations.sum(axis=-1, keepdims=True) - concentrations
    sure = others <= 0  # a domain of one value
    tails = (beta.ppf(tail, concentrations, np.where(sure, 1.0, others)) for tail in ((1 - mass) / 2, (1 + mass) / 2))
    low, high = (np.where(sure, 1.0, end) for end in tails)
    return low, high


def _drawn(concentrations: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One draw of every row, as gamma variates in proportion.

    Their logarithms, since variates of small concentrations are below the smallest float: if G has ``Gamma(a + 1)`` and
    E the standard exponential distribution, ``G exp(-E / a)`` has ``Gamma(a)``.
    """
    logs = (
        np.log(rng.standard_gamma(concentrations + 1)) - rng.standard_exponential(concentrations.shape) / concentrations
    )
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def check_concentration(concentration: float) -> None:
    """Raise ValueError unless a concentration is positive and finite."""
    if not (np.isfinite(concentration) and concentration > 0):
        raise ValueError(
            f"concentration is {concentration}; that of a Dirichlet distribution is a positive number: 1 for a uniform one, less "
            "where rows are expected to be sharp."
        )


def positive_concentrations(concentrations: FloatArray, row: str) -> FloatArray:
    """The concentrations as floats; raises ValueError, naming the row, unless all are positive and finite."""
    concentrations = np.asarray(concentrations, dtype=np.float64)
    wrong = ~(np.isfinite(concentrations) & (concentrations > 0))
    if wrong.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        raise ValueError(
            f"the concentration of value {where[-1]} in {row} {where[:-1]} is {concentrations[where]:g}; a Dirichlet "
            "distribution has positive ones. Add a concentration to the counts."
        )
    return concentrations
