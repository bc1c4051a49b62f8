"""Priors: beliefs about a respondent before any release, BK^sv of JS-reduce, section 4.2."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.posterior_variable import (
    VALUE,
    posterior_dataset,
    posterior_variable,
    warn_of_divergences,
)
from foreknow.models.problem import probability_rows
from foreknow.models.settings import check_kind, check_shape, shown
from foreknow.models.tables.columns import lookalike
from foreknow.models.tables.people import People

if TYPE_CHECKING:
    import xarray


class Prior(Protocol):
    """Distribution of the sensitive value given quasi-identifiers, and given ``people.time``."""

    def __call__(self, people: People) -> FloatArray:
        """One distribution per respondent: float array, shape ``(n, m)``."""
        ...


@dataclass(frozen=True)
class UniformPrior:
    """Uniform prior: all values are equally probable."""

    def __call__(self, people: People) -> FloatArray:
        """One distribution per respondent: float array, shape ``(n, m)``, all ``1 / m``."""
        check_kind("UniformPrior", "people", people, People)
        m = len(people.schema.values)
        return np.full((len(people), m), 1.0 / m)


@equal_by_fields
@dataclass(frozen=True, eq=False)
class GivenPrior:
    """Prior of each respondent from a table with one row per respondent and one column per sensitive value.

    Parameters
    ----------
    frame : DataFrame
        Indexed by respondent. Each value of the domain needs a column, and each column a value. It is stored as floats, rows
        normalized.

    Raises
    ------
    TypeError
        If ``frame`` is not a DataFrame.
    ValueError
        If a respondent or a value appears twice, or a row is negative, NaN or does not sum to 1. The message names the
        respondent.
    """

    frame: pd.DataFrame

    def __post_init__(self) -> None:
        takes = "is a DataFrame with one row per respondent and one column per value"
        check_kind("GivenPrior", "frame", self.frame, pd.DataFrame, takes)
        columns = self.frame.columns[self.frame.columns.duplicated()]
        if len(columns):
            raise ValueError(f"the prior has two columns {columns[0]!r}; give one column per value.")
        twice = self.frame.index[self.frame.index.duplicated()]
        if len(twice):
            raise ValueError(f"respondent {twice[0]!r} has two rows in the prior; keep one.")
        # A cell that is no number becomes NaN.
        numbers = self.frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        rows = probability_rows(numbers, "the prior of respondent", self.frame.index)
        object.__setattr__(self, "frame", pd.DataFrame(rows, self.frame.index, self.frame.columns))

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        respondents: Sequence[Hashable] | None = None,
        variable: str = "belief",
        values: Sequence[Hashable] | None = None,
    ) -> "GivenPrior":
        """Posterior mean of the beliefs of a sampled PyMC model, as the prior of its respondents.

        Parameters
        ----------
        tree
            As for `MarkovChain.from_posterior`.
        respondents : sequence, optional
            Names of the model's respondents, in their order. By default the coordinate ``respondent``, which in
            `release_model`, `foreground_model` and `permutation_model` holds positions.
        variable : str
            With the dimensions chain and draw, and ``respondent, value``; or ``release, respondent, value`` with one release.
        values : sequence, optional
            Sensitive domain, as for `MarkovChain.from_posterior`. By default the coordinate ``value``.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`, or if the number of respondents does not fit.

        Notes
        -----
        The beliefs contain the evidence of the releases that the model saw. As the prior of an attack on the same releases they
        count it twice.
        """
        owner = "GivenPrior.from_posterior"
        orders = [("respondent", VALUE), ("release", "respondent", VALUE)]
        found = posterior_variable(tree, variable, orders, values)
        mean, named = found.mean, found.labels[-2] if respondents is None else respondents
        if mean.ndim == 3 and len(mean) != 1:
            raise ValueError(
                f"{owner}: {variable!r} has {len(mean)} releases, and a prior is of one; select it, as "
                "tree.posterior.to_dataset().isel(release=[0])."
            )
        check_kind(owner, "respondents", named, (Sequence, np.ndarray), "is a sequence of identifiers, one per row")
        check_shape(f"{owner}: respondents", list(named), (mean.shape[-2],), f"one for each row of {variable!r}")
        columns = found.labels[-1] if values is None else list(values)
        index = pd.Index(list(named), dtype=object, tupleize_cols=False)
        return cls(
            pd.DataFrame(mean.reshape(mean.shape[-2:]), index, pd.Index(columns, dtype=object, tupleize_cols=False))
        )

    def __call__(self, people: People) -> FloatArray:
        """Rows of some respondents: float array, shape ``(n, m)``.

        Raises
        ------
        ValueError
            If a respondent has no row, or the columns are not the sensitive domain.
        """
        check_kind("GivenPrior", "people", people, People)
        values = people.schema.values
        if set(self.frame.columns) != set(values):
            odd = sorted(set(self.frame.columns) ^ set(values), key=str)[0]
            raise ValueError(
                f"the prior's columns and the sensitive domain differ in {odd!r}; give one column per value."
                f"{lookalike(odd, [*self.frame.columns, *values])}"
            )
        rows = self.frame.index.get_indexer(pd.Index(people.respondents, dtype=object))
        if (rows < 0).any():
            absent = people.respondents[int((rows < 0).argmax())]
            raise ValueError(
                f"the prior has no row for respondent {absent!r}; add one.{lookalike(absent, self.frame.index.tolist())}"
            )
        return self.frame[list(values)].to_numpy(dtype=np.float64)[rows]


@equal_by_fields
@dataclass(frozen=True, eq=False)
class PriorByTime:
    """Prior that depends on time: respondents first seen at a later release have the prior of that time.

    Parameters
    ----------
    priors : mapping of time to Prior
        One prior for the time of every release.

    Raises
    ------
    TypeError
        If ``priors`` is no mapping of times to priors.

    Notes
    -----
    It can be used as any other prior: it reads ``people.time``, which a `View` sets. The ``prior`` in the `Beliefs` of an
    attack, with which gains are computed, is the prior of the time of each release.

    Examples
    --------
    The frequency of b increases from one year to the next:

    >>> import pandas as pd
    >>> from foreknow.models import ClassFrequencies, History, Numeric, Schema
    >>> frame = pd.DataFrame({"id": [1, 2, 3, 4], "age": 30, "result": list("aabb"), "year": [1, 1, 1, 2]})
    >>> history = History.read(frame, Schema({"age": Numeric(0, 99)}, "result", ("a", "b")), time="year")
    >>> fit = ClassFrequencies.fit
    >>> prior = PriorByTime({view.time: fit(History([view]), {}, pseudo_count=1.0) for view in history})
    >>> [prior(view.people)[0].round(2).tolist() for view in history]
    [[0.6, 0.4], [0.33, 0.67]]
    """

    priors: Mapping[Any, Prior]

    def __post_init__(self) -> None:
        if not isinstance(self.priors, Mapping) or not all(map(_is_prior, self.priors.values())):
            raise TypeError(
                f"PriorByTime: priors is {shown(self.priors)}; it maps each time to a Prior, as {{1: UniformPrior()}}."
            )

    @classmethod
    def from_posterior(
        cls, tree: Any, prior: "Callable[[xarray.Dataset], Prior]", times: Sequence[Hashable] | None = None
    ) -> "PriorByTime":
        """Prior of each time of a sampled PyMC model whose variables have the dimension ``time``.

        Parameters
        ----------
        tree
            As for `MarkovChain.from_posterior`.
        prior : function of a Dataset to a Prior
            It receives the posterior of one time: ``lambda one: ClassFrequencies.from_posterior(one, cuts)``. Variables without
            the dimension ``time`` are in each.
        times : sequence, optional
            Times of the releases, in the order of the dimension. By default its coordinate.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`; if no variable has the dimension ``time``; if the number of times does not fit, or one
            is given twice; or if the function returns no prior.
        """
        owner = "PriorByTime.from_posterior"
        dataset = posterior_dataset(tree)
        takes = "is a function of the posterior of one time, as lambda one: ClassFrequencies.from_posterior(one, cuts)"
        check_kind(owner, "prior", prior, Callable, takes)
        named = _times(owner, dataset, times)
        warn_of_divergences(tree, callers=1)
        return cls({time: prior(dataset.isel(time=t)) for t, time in enumerate(named)})

    def __call__(self, people: People) -> FloatArray:
        """One distribution per respondent, by the prior of ``people.time``: float array, shape ``(n, m)``.

        Raises
        ------
        ValueError
            If there is no prior of that time.
        """
        check_kind("PriorByTime", "people", people, People)
        if people.time not in self.priors:
            raise ValueError(
                f"there is no prior of the time {people.time!r}; there are those of {', '.join(map(repr, self.priors))}. Give one "
                "for the time of every release."
            )
        return self.priors[people.time](people)


def _times(owner: str, dataset: "xarray.Dataset", times: Sequence[Hashable] | None) -> list[Hashable]:
    """Times of the dimension ``time`` of a posterior."""
    if "time" not in dataset.dims:
        raise ValueError(
            f"{owner}: the posterior has the dimensions {', '.join(map(repr, dataset.dims))}; 'time' is missing. Rename the one "
            "over the times, as tree.posterior.to_dataset().rename(year='time'), or use the knowledge of one time for all."
        )
    if times is None:
        named = dataset.indexes["time"].tolist() if "time" in dataset.indexes else list(range(dataset.sizes["time"]))
    else:
        takes = "is a sequence of the times of the releases, in the order of the dimension time"
        check_kind(owner, "times", times, (Sequence, np.ndarray), takes)
        named = list(times)
    if len(named) != dataset.sizes["time"] or len(set(named)) != len(named):
        raise ValueError(
            f"{owner}: there are {len(set(named))} different times, and the dimension 'time' has {dataset.sizes['time']} entries; "
            "give one time for each."
        )
    return named


def _is_prior(given: Any) -> bool:
    return callable(given) and not isinstance(given, type)
