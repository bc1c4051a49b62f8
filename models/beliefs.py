"""Beliefs before and after each release, labelled by respondent and value, and their DataTree."""

import json
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, object_array
from foreknow.models.equality import equal_by_fields
from foreknow.models.html_tables import html_table
from foreknow.models.problem import Posterior, Problem, Status
from foreknow.models.settings import as_list, check_choice, check_kind
from foreknow.models.tables.atomic_file import saved_file
from foreknow.models.tables.columns import check_order, check_time, coordinates, lookalike
from foreknow.models.tables.hierarchy import Hierarchy
from foreknow.models.tables.people import Observation, People
from foreknow.models.tables.schema import Categorical, Numeric, Schema
from foreknow.models.tables.table_files import existing_file
from foreknow.models.tables.view_files import Notation
from foreknow.models.unknown_draws import UnknownDraws, unknowns_tree

if TYPE_CHECKING:
    import xarray


type Stage = Literal["prior", "revised", "posterior"]
STAGES: tuple[Stage, ...] = ("prior", "revised", "posterior")


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ReleaseBeliefs:
    """Beliefs before and after one release.

    Attributes
    ----------
    observation : Observation
        Release, as the adversary sees it.
    prior, revised : float array, shape (n, m)
        Beliefs before any release, and before this release.
    posterior : Posterior
        Beliefs after this release. The row of a suppressed respondent is that of the revised prior.
    ghosts : float array, shape (ghosts, m), optional
        Beliefs about the ghosts of the release before it.
    law : float array, shape (n, m), optional
        Law of each value at this release without any release: the prior carried on by the chain, without what presence and
        compromised records tell. Of `JointAttack` and attacks that use it.
    """

    observation: Observation
    prior: FloatArray
    revised: FloatArray
    posterior: Posterior
    ghosts: FloatArray | None = None
    law: FloatArray | None = None

    @property
    def problem(self) -> Problem:
        """The estimation problem under the revised prior, ghosts among the respondents.

        Raises
        ------
        ValueError
            If the release has ghosts, and the attack keeps no beliefs about them.
        """
        if self.ghosts is None:
            return self.observation.problem(self.revised)
        return self.observation.with_ghosts.problem(np.vstack([self.revised, self.ghosts]))

    def beliefs(self, stage: Stage) -> FloatArray:
        """Beliefs at a stage: "prior", "revised" or "posterior". Float array, shape ``(n, m)``."""
        check_choice("ReleaseBeliefs", "stage", stage, STAGES)
        stages = {"prior": self.prior, "revised": self.revised, "posterior": self.posterior.probabilities}
        return stages[stage]

    def frame(self, stage: Stage) -> pd.DataFrame:
        """Beliefs at a stage as a table: one row per respondent, one column per value."""
        return _frame(self.observation.people, self.beliefs(stage))


def release_at(releases: Sequence[Any], time: Any) -> Any:
    """Beliefs about the release of a time; ValueError if there is none."""
    for release in releases:
        if release.observation.time == time:
            return release
    times = [release.observation.time for release in releases]
    raise ValueError(
        f"there is no release at {time!r}; there are {', '.join(map(repr, times))}.{lookalike(time, times)}"
    )


def check_respondent(rows: Collection[Any], respondent: Hashable, releases: Sequence[Any]) -> None:
    """Raise ValueError if a respondent has no row in any of some releases."""
    if not rows:
        times = ", ".join(repr(release.observation.time) for release in releases)
        near = lookalike(respondent, (each for release in releases for each in release.observation.people.respondents))
        raise ValueError(f"respondent {respondent!r} is in no release; the times of the releases are {times}.{near}")


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Beliefs:
    """Beliefs over a history of releases: the result of an attack.

    A sequence like the releases: ``beliefs[0]`` has the beliefs around the first release, ``beliefs[-1]`` those around the last,
    ``beliefs[1:]`` is a tuple, and ``len`` and iteration count releases. ``beliefs.at(time)`` takes the time of a release.

    Parameters
    ----------
    releases : tuple of ReleaseBeliefs
        Beliefs around each release, in the order of time.
    notes : tuple of str
        Sentences that qualify the beliefs, as on evidence that is counted twice. A note about one release begins with its time.
        Keyword only.
    draws : BeliefDraws, optional
        Beliefs under each draw of uncertain knowledge, of which these are the mixture (`Averaged`). Keyword only.

    Raises
    ------
    TypeError
        If a release is not `ReleaseBeliefs`.
    ValueError
        If the times do not increase.
    """

    releases: tuple[ReleaseBeliefs, ...]
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    draws: "BeliefDraws | None" = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        takes = "is an iterable of ReleaseBeliefs, in the order of time"
        object.__setattr__(self, "releases", tuple(as_list("Beliefs", "releases", self.releases, takes)))
        for number, release in enumerate(self.releases):
            made = "is ReleaseBeliefs, as an attack makes them"
            check_kind("Beliefs", f"release {number}", release, ReleaseBeliefs, made)
        for before, after in pairwise(self.times):
            check_order(before, after)

    def __len__(self) -> int:
        return len(self.releases)

    def __repr__(self) -> str:
        return f"Beliefs(times={self.times!r})"

    def _repr_html_(self) -> str:
        rows = [[*_counted(release)] for release in self.releases]
        values = len(self.releases[0].observation.people.schema.values) if self.releases else 0
        facts: dict[str, object] = {"releases": len(self), "values": values}
        facts |= {} if self.draws is None else {"draws": len(self.draws)}
        columns = ["time", "respondents", "suppressed", "groups", "contradicted", "unconverged"]
        return html_table(type(self).__name__, facts, columns, rows, self.notes)

    def __iter__(self) -> Iterator[ReleaseBeliefs]:
        return iter(self.releases)

    @overload
    def __getitem__(self, position: SupportsIndex) -> ReleaseBeliefs: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[ReleaseBeliefs, ...]: ...
    def __getitem__(self, position: SupportsIndex | slice) -> ReleaseBeliefs | tuple[ReleaseBeliefs, ...]:
        """Beliefs around the release at a position, 0 for the first, -1 for the last; a tuple for a slice.

        Raises
        ------
        TypeError
            If the position is neither a whole number nor a slice; `at` takes a time.
        IndexError
            If there are fewer releases.
        """
        if isinstance(position, slice):
            return self.releases[position]
        if not isinstance(position, SupportsIndex):
            raise TypeError(
                f"Beliefs: {position!r} is no position, as 0 for the first release; use .at(time), as beliefs.at({position!r})."
            )
        try:
            return self.releases[position]
        except IndexError:
            raise IndexError(
                f"Beliefs: there are {len(self)} releases, and none at position {position!r}; .at(time) takes a time."
            ) from None

    @property
    def times(self) -> tuple[Any, ...]:
        """Times of the releases."""
        return tuple(release.observation.time for release in self.releases)

    @property
    def unknowns(self) -> "xarray.DataTree | None":
        """Draws of the free variables of a program (`ProgramEstimator`); None without any.

        A group ``posterior`` for ArviZ, as `Posterior.unknowns`, with one more dimension ``release`` after chain and draw. Under an
        `Averaged` adversary each draw has its own: ``beliefs.draws.beliefs[d].unknowns``.
        """
        return unknowns_tree({release.observation.time: release.posterior.unknown_draws for release in self.releases})

    def prior(self, time: Any) -> pd.DataFrame:
        """Beliefs before any release: a table with one row per respondent of the release of a time, one column per value."""
        return self.at(time).frame("prior")

    def revised(self, time: Any) -> pd.DataFrame:
        """Beliefs before the release of a time: one row per respondent, one column per value."""
        return self.at(time).frame("revised")

    def posterior(self, time: Any) -> pd.DataFrame:
        """Beliefs after the release of a time: one row per respondent, one column per value."""
        return self.at(time).frame("posterior")

    def of(self, respondent: Hashable) -> pd.DataFrame:
        """Beliefs about one respondent over time: one row per time and stage (prior, revised, posterior), one column per value.

        Raises
        ------
        ValueError
            If the respondent is in no release.
        """
        rows: dict[tuple[Any, str], FloatArray] = {}
        for release in self.releases:
            for row in release.observation.people.rows(respondent):
                rows |= {(release.observation.time, stage): release.beliefs(stage)[row] for stage in STAGES}
        check_respondent(rows, respondent, self.releases)
        schema = self.releases[0].observation.people.schema
        index = pd.MultiIndex.from_tuples(list(rows), names=["time", "stage"])
        return pd.DataFrame(list(rows.values()), index=index, columns=_columns(schema))

    def to_datatree(self) -> "xarray.DataTree":
        """Beliefs as a DataTree for ArviZ: groups ``prior``, ``revised`` and ``posterior``, each with the variable ``belief``.

        The dimensions are chain and draw, which ArviZ requires, then release, respondent and value. Chain and draw have length 1,
        since a belief is a probability and not a sample. With draws of uncertain knowledge (`Averaged`), ``draw`` has one entry for
        each: draws are resampled systematically by their weights at the release, so that the mean over ``draw`` is about the
        mixture. Where an estimator samples, a group ``diagnostics`` has ``standard_error``, ``ess`` and ``rhat`` of the posterior,
        by release, respondent and value. Where it samples by NUTS, ``divergences`` has the number of divergent draws of the
        respondent's group, by release and respondent. ``unknowns`` has the draws of a program's free variables. A number is NaN
        where a respondent is not in the release. Labels of one axis that are neither all numbers nor all dates become text. The
        group ``foreknow`` has what `from_datatree` needs beside these arrays. `save` writes the tree to a file, whole or not at
        all. Cost: t N m numbers for N respondents in all, and each draw.
        """
        import arviz_base
        import xarray

        fields = {name: getattr(self, name) for name in ("releases", "notes", "draws")}
        if not self.releases:
            return xarray.DataTree.from_dict({GROUP: stored(fields, (), (), False)})
        schema = self.releases[0].observation.people.schema
        respondents = self._respondents
        rows = {respondent: row for row, respondent in enumerate(respondents)}
        coords: dict[Hashable, Any] = {
            "release": coordinates(self.times),
            "respondent": coordinates(respondents),
            "value": coordinates(schema.values),
        }
        dims = ["release", "respondent", "value"]
        shape = (len(self), len(respondents), len(schema.values))
        placed = [[rows[r] for r in release.observation.people.respondents] for release in self]
        groups: dict[str, Any] = {}
        for stage in STAGES:
            each = [self._drawn(stage, t) for t in range(len(self))]
            belief = np.full((1, len(each[0]), *shape), np.nan)
            for t, draws in enumerate(each):
                belief[0, :, t, placed[t]] = np.swapaxes(draws, 0, 1)
            groups[stage] = arviz_base.dict_to_dataset({"belief": belief}, coords=coords, dims={"belief": dims})
        found: dict[str, Any] = {}
        for name in ("standard_error", "ess", "rhat", "divergences"):
            of_groups = name == "divergences"
            numbers = np.full(shape[:2] if of_groups else shape, np.nan)
            for t, release in enumerate(self):
                diagnostic = getattr(release.posterior, name)
                if diagnostic is not None:
                    # Of the group of each respondent, 0 outside all groups.
                    own = np.append(diagnostic, 0)[release.observation.group] if of_groups else diagnostic
                    numbers[t, placed[t]] = own
            if not np.isnan(numbers).all():
                found[name] = (dims[: numbers.ndim], numbers)
        if found:
            groups["diagnostics"] = xarray.Dataset(found, coords=coords)
        unknowns = self.unknowns
        if unknowns is not None:
            groups["unknowns"] = unknowns["posterior"].to_dataset()
        groups[GROUP] = stored(fields, respondents, placed, self.draws is not None)
        return xarray.DataTree.from_dict(groups)

    @classmethod
    def from_datatree(cls, tree: "xarray.DataTree") -> "Beliefs":
        """Beliefs from the tree that `to_datatree` made, equal to what they were.

        Notes, statuses, Monte Carlo diagnostics and draws are restored. Those of a subclass, as `ForegroundBeliefs`, become
        `Beliefs`, without its own fields. The tree may come from a file, by ``xarray.open_datatree``.

        Raises
        ------
        TypeError
            If the argument is no DataTree.
        ValueError
            If the tree lacks the group ``foreknow``, or one that it refers to.
        """
        import xarray

        check_kind("Beliefs.from_datatree", "tree", tree, xarray.DataTree, "is a DataTree, as beliefs.to_datatree()")
        try:
            return Beliefs(**restored(tree))
        except (KeyError, IndexError, AttributeError) as error:
            raise ValueError(
                f"Beliefs.from_datatree: the tree is not whole, it lacks {error}; give one that to_datatree returned."
            ) from None

    def save(self, path: "str | Path", *, overwrite: bool = False) -> None:
        """Write the beliefs to a NetCDF file, which `load` reads and ArviZ and xarray open.

        The file is written completely or not at all, and only its owner can read it. It names the respondents.

        Parameters
        ----------
        path : path
            A name that ends in ``.nc``.
        overwrite : bool
            True to replace an earlier file.

        Raises
        ------
        ValueError
            If the name has another ending, there is no such folder, or, without ``overwrite``, the file is already there; if a
            label is neither a number, a date, a text nor a tuple of these.
        """
        with saved_file("Beliefs.save", path, ".nc", overwrite) as scratch:
            self.to_datatree().to_netcdf(scratch, engine="h5netcdf")

    @classmethod
    def load(cls, path: "str | Path") -> "Beliefs":
        """Read the beliefs that `save` wrote, equal to what they were; see `from_datatree`.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file holds something else.
        """
        import xarray

        takes = "is the path of a file that Beliefs.save wrote"
        check_kind("Beliefs.load", "path", path, (str, PathLike), takes)
        path = existing_file(path, "name a file that Beliefs.save wrote")
        try:
            with xarray.open_datatree(path, engine="h5netcdf") as tree:
                return cls.from_datatree(tree.load())
        except Exception as error:  # a damaged file raises errors of any kind in HDF5, h5netcdf and xarray
            raise ValueError(f"Beliefs.load: {path} is not a file that Beliefs.save wrote: {error}") from None

    def spread(self, time: Any) -> pd.DataFrame:
        """Standard deviation between draws of the beliefs after a release: one row per respondent, one column per value.

        Raises
        ------
        ValueError
            If there is no release of that time, or the beliefs have no draws.
        """
        release = self.at(time)
        if self.draws is None:
            raise ValueError(
                "these beliefs are those of one knowledge and have no draws; attack with an Averaged adversary for a spread."
            )
        return _frame(release.observation.people, self.draws.spread(self.times.index(time)))

    def at(self, time: Any) -> ReleaseBeliefs:
        """Beliefs around the release of a time, as arrays; their ``posterior`` has the status of each group.

        Raises
        ------
        TypeError
            If it cannot be a time, as None or a list.
        ValueError
            If there is no release of that time.
        """
        time = check_time("Beliefs.at", time)
        found: ReleaseBeliefs = release_at(self.releases, time)
        return found

    def _drawn(self, stage: Stage, t: int) -> FloatArray:
        """Beliefs at a stage of release t, by resampled draws: float array, shape ``(D, n, m)``, D = 1 without draws."""
        if self.draws is None:
            return self.releases[t].beliefs(stage)[None]
        number = len(self.draws)
        places = (np.arange(number) + 0.5) / number
        chosen = np.minimum(np.searchsorted(np.cumsum(self.draws.weights[t]), places), number - 1)
        return np.stack([self.draws.beliefs[d].releases[t].beliefs(stage) for d in chosen])

    @property
    def _respondents(self) -> list[Hashable]:
        """All respondents, in the order of first appearance."""
        return list(dict.fromkeys(r for release in self for r in release.observation.people.respondents))


@equal_by_fields
@dataclass(frozen=True, eq=False)
class BeliefDraws:
    """Beliefs under each of D draws of uncertain knowledge, and the weight of each draw.

    Attributes
    ----------
    beliefs : tuple of Beliefs
        One for each draw, of the same releases.
    weights : float array, shape (t, D)
        Weight of each draw given the releases that the posterior of each release is given; rows sum to 1.
    """

    beliefs: tuple[Beliefs, ...]
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.beliefs)

    @property
    def effective(self) -> FloatArray:
        """Effective number of draws at each release, ``1 / sum of squared weights``: float array, shape ``(t,)``."""
        return np.asarray(1.0 / (self.weights**2).sum(axis=1))

    def spread(self, t: int) -> FloatArray:
        """Standard deviation between draws of the beliefs after release number t: float array, shape ``(n, m)``."""
        rows = np.stack([beliefs.releases[t].posterior.probabilities for beliefs in self.beliefs])
        mean = np.tensordot(self.weights[t], rows, axes=1)
        return np.asarray(np.sqrt(np.tensordot(self.weights[t], (rows - mean) ** 2, axes=1)))


def _counted(release: ReleaseBeliefs) -> tuple[Any, ...]:
    """Time, and numbers of respondents, suppressed ones, groups, contradicted groups and unconverged groups."""
    seen, status = release.observation, release.posterior.status
    flagged = [int((status & int(flag) != 0).sum()) for flag in (Status.CONTRADICTED, Status.UNCONVERGED)]
    return seen.time, len(seen.people), int((seen.group < 0).sum()), len(seen.counts), *flagged


def _frame(people: People, rows: FloatArray) -> pd.DataFrame:
    """Table of one row per respondent and one column per value."""
    index = pd.Index(people.respondents, name=people.schema.respondent, tupleize_cols=False)
    return pd.DataFrame(rows, index=index, columns=_columns(people.schema))


def _columns(schema: Schema) -> "pd.Index[Any]":
    return pd.Index(schema.values, name=schema.sensitive, dtype=object, tupleize_cols=False)


GROUP = "foreknow"
"""Group of the tree that only `Beliefs.from_datatree` reads."""
CLASSES = (
    Schema,
    Numeric,
    Categorical,
    Hierarchy,
    People,
    Observation,
    Posterior,
    UnknownDraws,
    ReleaseBeliefs,
    Beliefs,
    BeliefDraws,
)
WORDS = Notation({each.__name__: each for each in CLASSES})
"""Notation of beliefs."""


def stored(
    fields: Mapping[str, Any], respondents: Sequence[Hashable], placed: Sequence[Sequence[int]], drawn: bool
) -> "xarray.Dataset":
    """Fields of beliefs as a Dataset: the arrays, each once, and the structure as JSON text.

    Beliefs of the stages are in the tree already, unless they are ``drawn``. They and the respondents of each release are
    references to the tree. Cost: O(size of the observations and statuses), and of all beliefs if drawn.
    """
    import xarray

    variables: dict[str, Any] = {}
    known: dict[int, Any] = {}
    kept: list[Any] = []  # Numbers of objects are reused after these are gone.

    def store(array: "np.ndarray[Any, Any]") -> Any:
        if id(array) not in known:
            kept.append(array)
            if array.dtype == object:
                return {"objects": WORDS.text(array.tolist())}
            name = f"array_{len(variables)}"
            dims = [f"{name}_{axis}" for axis in range(array.ndim)]
            # An axis of length 0 is unlimited in a NetCDF file: the shape is kept in the structure.
            variables[name] = (dims, array if array.size else np.zeros((1,) * array.ndim, dtype=array.dtype))
            known[id(array)] = {"name": name, "empty": None if array.size else list(array.shape)}
        return known[id(array)]

    rows = [np.asarray(each, dtype=np.int64) for each in placed]
    for t, (release, row) in enumerate(zip(fields["releases"], rows, strict=True)):
        known[id(release.observation.people.respondents)] = {"respondents": t}
        store(row)
        for stage in () if drawn else STAGES:
            belief = release.beliefs(stage)
            if belief.dtype == np.float64:
                known[id(belief)] = {"stage": stage, "release": t}
    parts = {"respondents": list(respondents), "rows": rows, "fields": dict(fields)}
    text = json.dumps([[name, WORDS.text(part, store)] for name, part in parts.items()])
    return xarray.Dataset({"structure": ((), text), **variables})


def restored(tree: "xarray.DataTree") -> dict[str, Any]:
    """Fields of beliefs from a tree.

    Raises
    ------
    ValueError
        If the tree has no group that `stored` made.
    """
    if GROUP not in tree.children:
        raise ValueError(
            f"the tree has the groups {', '.join(map(repr, tree.children)) or 'of nothing'} and no {GROUP!r}; it is one that "
            "Beliefs.to_datatree returns, whole."
        )
    kept = tree[GROUP]
    text = str(kept["structure"].item())
    found: dict[str, Any] = {}

    def array(reference: Mapping[str, Any]) -> "np.ndarray[Any, Any]":
        if "objects" in reference:
            return object_array(WORDS.value(reference["objects"]))
        if "respondents" in reference:
            return object_array([found["respondents"][row] for row in found["rows"][reference["respondents"]]])
        if "stage" in reference:
            belief: Any = tree[reference["stage"]]["belief"].to_numpy()[0, 0, reference["release"]]
            return np.array(belief[found["rows"][reference["release"]]], dtype=np.float64)
        if reference["empty"] is not None:
            return np.zeros(reference["empty"], dtype=kept[reference["name"]].dtype)
        return np.array(kept[reference["name"]].values)

    # Respondents and rows come before the fields that refer to them.
    for name, part in json.loads(text):
        found[name] = WORDS.value(part, array)
    fields: dict[str, Any] = found["fields"]
    return fields
