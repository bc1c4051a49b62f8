"""Fixed cells of quasi-identifiers, noisy counts of the sensitive values in each, and the release of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray, compiled, object_array
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.noise import Noise
from foreknow.models.settings import as_floats, as_integers, as_list, check_flag, check_kind, check_whole
from foreknow.models.tables.people import Observation, People
from foreknow.models.tables.release import number_text
from foreknow.models.tables.schema import Categorical, Numeric, Schema
from foreknow.models.tables.view import View


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Cells:
    """Boxes of quasi-identifiers that cover the domain without overlap, fixed for all releases.

    Parameters
    ----------
    above, to : float array, shape (C, d)
        Codes of a cell are over ``above`` and at most ``to`` in each quasi-identifier; infinite ends are open.

    Raises
    ------
    ValueError
        If the shapes differ, or a box is empty.

    Notes
    -----
    Not checked: that boxes do not overlap, which `equal_counts` and `grid` ensure. A respondent in two boxes is in the first.
    """

    above: FloatArray
    to: FloatArray

    def __post_init__(self) -> None:
        takes = "is a float array, one row of codes for each cell"
        above, to = (as_floats("Cells", name, getattr(self, name), takes) for name in ("above", "to"))
        if above.ndim != 2 or above.shape != to.shape or not len(above) or not (above < to).all():
            raise ValueError(
                f"Cells: above has shape {above.shape} and to {to.shape}; both have one row for each cell and a column for each "
                "quasi-identifier, and above is below to."
            )
        set_fields(self, above=above, to=to)

    def __len__(self) -> int:
        return len(self.above)

    @classmethod
    def equal_counts(cls, people: People, number: int) -> "Cells":
        """Cells with about equal numbers of some people, by cuts at quantiles of the widest quasi-identifier.

        Parameters
        ----------
        people : People
            A public population, as the respondents of the first view where membership is public. Sensitive values are not read.
        number : int
            Most cells. Fewer where equal quasi-identifiers cannot be cut.

        Notes
        -----
        A box that is to become c cells is cut where the share of its people below is nearest to ``(c // 2) / c``, along the
        quasi-identifier that spans the largest share of its domain. Cost: O(n d log C).
        """
        check_kind("Cells.equal_counts", "people", people, People, "is People, as view.people")
        check_whole("Cells.equal_counts", "number", number, "cells")
        codes = people.quasi_identifiers
        d = codes.shape[1]
        whole = np.array([np.ptp(kind.bounds) or 1.0 for kind in people.schema.quasi_identifiers.values()])
        open_ends = np.full(d, -np.inf), np.full(d, np.inf)
        parts, done = [(np.arange(len(codes)), int(number), *open_ends)], []
        while parts:
            rows, wanted, above, to = parts.pop()
            cut = _best_cut(codes[rows], wanted, whole) if wanted > 1 else None
            if cut is None:
                done.append((above, to))
                continue
            column, at = cut
            lower, upper = to.copy(), above.copy()
            lower[column] = upper[column] = at
            low = codes[rows, column] <= at
            # The other half comes first off the stack: cells are in the order of codes.
            parts.append((rows[~low], wanted - wanted // 2, upper, to))
            parts.append((rows[low], wanted // 2, above, lower))
        return cls(np.array([above for above, _ in done]), np.array([to for _, to in done]))

    @classmethod
    def grid(cls, schema: Schema, cuts: Mapping[str, Sequence[float] | str]) -> "Cells":
        """Cells as the product of given cuts of each quasi-identifier.

        Parameters
        ----------
        schema : Schema
        cuts : mapping
            For a number, where cells end: ``{"age": [54, 64]}`` for up to 54, over 54 up to 64, and over 64. ``"each"`` for a cell
            of each value of a categorical attribute. Attributes that are left out are not cut.
        """
        unknown = [name for name in cuts if name not in schema.quasi_identifiers]
        if unknown:
            raise ValueError(
                f"Cells.grid: {unknown[0]!r} is no quasi-identifier; they are {', '.join(schema.quasi_identifiers)}."
            )
        ends = []
        for name, kind in schema.quasi_identifiers.items():
            given = cuts.get(name, ())
            if isinstance(kind, Categorical):
                if given not in ((), "each"):
                    raise ValueError(f"Cells.grid: {name!r} has categories, and its cuts are 'each', or left out.")
                at = np.arange(len(kind.values) - 1.0) if given == "each" else np.zeros(0)
            else:
                takes = "are numbers at which cells end"
                at = np.unique(
                    as_floats("Cells.grid", f"cuts[{name!r}]", as_list("Cells.grid", "cuts", given, takes), takes)
                )
                if not np.isfinite(at).all():
                    raise ValueError(
                        f"Cells.grid: cuts[{name!r}] has NaN or an infinite number; cells are cut at finite ones."
                    )
            ends.append(np.concatenate([[-np.inf], at, [np.inf]]))
        pairs = list(product(*(list(pairwise(each)) for each in ends)))
        return cls(*(np.array([[end[side] for end in row] for row in pairs]) for side in (0, 1)))

    def of(self, people: People) -> IntArray:
        """Cell of each respondent: int array, shape ``(n,)``. Cost: O(n C d) at most.

        Raises
        ------
        ValueError
            If the quasi-identifiers have another number of columns, or a respondent is in no cell.
        """
        codes = people.quasi_identifiers
        if codes.shape[1] != self.above.shape[1]:
            raise ValueError(
                f"Cells: cells have {self.above.shape[1]} quasi-identifiers, and the view {codes.shape[1]}; cut cells by the same "
                "schema."
            )
        found = _cell_of(codes, self.above, self.to)
        if (found < 0).any():
            raise ValueError(
                f"Cells: respondent {people.respondents[found < 0][0]!r} is in no cell; cells cover the domain."
            )
        return found

    def labels(self, schema: Schema) -> pd.DataFrame:
        """Label of each cell in each quasi-identifier: its values, an interval, or ``*`` for all."""
        columns = {}
        for a, (name, kind) in enumerate(schema.quasi_identifiers.items()):
            columns[name] = object_array(
                [_label(kind, *ends) for ends in zip(self.above[:, a], self.to[:, a], strict=True)]
            )
        return pd.DataFrame(columns)


def _best_cut(codes: FloatArray, wanted: int, whole: FloatArray) -> tuple[int, float] | None:
    """Quasi-identifier and code of the cut of a box into ``wanted`` cells; None if all codes are equal."""
    if not len(codes):
        return None
    spans = np.ptp(codes, axis=0) / whole
    column = int(spans.argmax())
    if spans[column] == 0:
        return None
    values, counts = np.unique(codes[:, column], return_counts=True)
    share = np.cumsum(counts)[:-1] / len(codes)
    return column, float(values[int(np.abs(share - wanted // 2 / wanted).argmin())])


@compiled
def _cell_of(codes: FloatArray, above: FloatArray, to: FloatArray) -> IntArray:
    """First cell that holds each row of codes; -1 for none."""
    found = np.full(len(codes), -1)
    for i in range(len(codes)):
        for c in range(len(above)):
            inside = True
            for a in range(codes.shape[1]):
                if not above[c, a] < codes[i, a] <= to[c, a]:
                    inside = False
                    break
            if inside:
                found[i] = c
                break
    return found


def _label(kind: Numeric | Categorical, above: float, to: float) -> str:
    """Label of the codes over ``above`` and up to ``to``."""
    low, high = kind.bounds
    if above < low and to >= high:
        return "*"
    if isinstance(kind, Categorical):
        shown = kind.values[max(int(np.floor(above)) + 1, 0) if np.isfinite(above) else 0 : int(min(to, high)) + 1]
        return ", ".join(map(str, shown))
    if above < low:
        return f"[{number_text(low)},{number_text(to)}]"
    return f"({number_text(above)},{number_text(min(to, high))}]"


@equal_by_fields
@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Noisy counts of the sensitive values in fixed cells: what a defense returns in place of a `Grouping`.

    Parameters
    ----------
    cells : Cells
    counts : int array, shape (C, m)
        The noisy counts. They may be negative, unless the noise is clamped.
    noise : Noise
        Law of the noise, which is public.
    processed : float array, shape (C, m), optional
        Counts after post-processing, which are published beside the noisy ones.
    for_release : bool
        False if the noise was drawn for an experiment, by a generator that can be seeded.
    notes : tuple of str
    """

    cells: Cells
    counts: IntArray
    noise: Noise
    processed: FloatArray | None = None
    for_release: bool = True
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_kind("NoisyTable", "cells", self.cells, Cells, "is Cells, as Cells.equal_counts(view.people, 16)")
        check_kind("NoisyTable", "noise", self.noise, Noise, "is a Noise, as Noise('gaussian', 10.0)")
        check_flag("NoisyTable", "for_release", self.for_release)
        takes = f"one row for each of the {len(self.cells)} cells, with the noisy number of each sensitive value"
        counts = as_integers("the counts of a NoisyTable", self.counts, (len(self.cells), None), takes)
        processed = self.processed
        if processed is not None:
            processed = as_floats("NoisyTable", "processed", processed, "is a float array of the shape of the counts")
            if processed.shape != counts.shape:
                raise ValueError(f"NoisyTable: processed has shape {processed.shape}, and counts {counts.shape}.")
        notes = as_list("NoisyTable", "notes", self.notes, "is a list of texts")
        set_fields(self, counts=counts, processed=processed, notes=tuple(notes))


@equal_by_fields
@dataclass(frozen=True, eq=False)
class NoisyRelease:
    """A view and its noisy counts: what is published at one time.

    Parameters
    ----------
    view : View
        The original records.
    made : NoisyTable
        The result of a defense.

    Raises
    ------
    ValueError
        If the counts are of another number of values, or a respondent is in no cell.
    """

    view: View
    made: NoisyTable

    def __post_init__(self) -> None:
        check_kind("NoisyRelease", "view", self.view, View)
        check_kind("NoisyRelease", "made", self.made, NoisyTable, "is a NoisyTable, as NoisyCounts returns")
        m = len(self.view.schema.values)
        if self.made.counts.shape[1] != m:
            raise ValueError(
                f"NoisyRelease: the counts are of {self.made.counts.shape[1]} values, and the domain of the view at "
                f"{self.time!r} has {m}."
            )
        _ = self.group  # refuses a respondent in no cell

    @property
    def time(self) -> Any:
        """Time of the release."""
        return self.view.time

    @property
    def counts(self) -> IntArray:
        """The noisy counts: int array, shape ``(C, m)``."""
        return self.made.counts

    @cached_property
    def group(self) -> IntArray:
        """Cell of each respondent, which is public: int array, shape ``(n,)``."""
        return self.made.cells.of(self.view.people)

    @property
    def observation(self) -> Observation:
        """The release as an adversary sees it who knows the quasi-identifiers of all respondents."""
        return Observation(self.view.people, self.group, self.counts, self.time, noise=self.made.noise)

    @property
    def table(self) -> pd.DataFrame:
        """The published table: one row per cell and sensitive value, with the noisy count and, if there is one, the processed."""
        schema = self.view.schema
        cells, m = self.made.cells.labels(schema), len(schema.values)
        table = cells.loc[np.repeat(np.arange(len(cells)), m)].reset_index(drop=True)
        table.insert(0, "cell", np.repeat(np.arange(len(cells)), m))
        values = object_array(list(schema.values) * len(cells))
        table[schema.sensitive] = pd.Series(values).infer_objects()
        table["noisy_count"] = self.counts.reshape(-1)
        if self.made.processed is not None:
            table["count"] = self.made.processed.reshape(-1)
        return table
