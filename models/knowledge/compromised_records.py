"""Compromised records: values that an adversary knows from outside all releases (CR of BayFrame, Definition 4)."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.problem import TOLERANCE
from foreknow.models.tables.attributes import Numeric
from foreknow.models.tables.history import History
from foreknow.models.tables.lookalikes import lookalike
from foreknow.models.tables.people import People
from foreknow.models.tables.plain_columns import describe_missing, plain_columns, plain_value

COLUMNS = ("respondent", "value", "time", "confidence")


class Claims(NamedTuple):
    """The compromised records that bear on one release, as arrays; the c claims are about rows of that release.

    Attributes
    ----------
    rows, values : int array, shape (c,)
        The row of each claim's respondent, and the claimed value as a position in the sensitive domain.
    confidence : float array, shape (c,)
        The adversary's confidence, over 0 up to 1.
    """

    rows: IntArray
    values: IntArray
    confidence: FloatArray

    @property
    def sure(self) -> "Claims":
        """The claims of confidence 1."""
        return self._where(self.confidence == 1)

    @property
    def unsure(self) -> "Claims":
        """The others."""
        return self._where(self.confidence < 1)

    def _where(self, kept: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> "Claims":
        return Claims(self.rows[kept], self.values[kept], self.confidence[kept])


@dataclass(frozen=True, eq=False)
class CompromisedRecords:
    """Some people's values at some times, known with some confidence from elsewhere.

    Parameters
    ----------
    frame : DataFrame
        Columns respondent, value, time and confidence, one row per claim. A claim repeated word for word counts once; one
        of confidence 0 says nothing of the other values, and is refused.
    contradicted : {"raise", "report"}
        What happens where a respondent's group does not show the claimed value: an error that names the claim, or the
        group is reported as `Status.CONTRADICTED` and beliefs are those of the cascade's docstring.

    Raises
    ------
    ValueError
        If a column is missing or stands twice, a cell is missing or not one value, a confidence is not over 0 and up to 1, a
        claim stands twice with different confidences, or the confidences in one respondent's values at one time sum over 1.
        When used on a release: if a claim is about
        somebody who has no record there, or a value that is not in the sensitive domain.
    """

    frame: pd.DataFrame
    contradicted: Literal["raise", "report"] = "raise"

    def __post_init__(self) -> None:
        if self.contradicted not in ("raise", "report"):
            raise ValueError(f"contradicted is {self.contradicted!r}; it is 'raise' or 'report'.")
        if not isinstance(self.frame, pd.DataFrame):
            raise TypeError(
                f"compromised records are a DataFrame with the columns {', '.join(COLUMNS)}, not {type(self.frame)}."
            )
        columns = list(self.frame.columns)
        wrong = [name for name in COLUMNS if columns.count(name) != 1]
        if wrong:
            state = "is missing. Rename or add it" if wrong[0] not in columns else "stands twice. Drop one"
            raise ValueError(f"compromised records need the columns {', '.join(COLUMNS)}; {wrong[0]!r} {state}.")
        given = plain_columns(self.frame.reset_index(drop=True)[list(COLUMNS)], COLUMNS, "the compromised records")
        for name in COLUMNS[:3]:
            missing = given[name].isna().to_numpy()
            if missing.any():
                raise ValueError(
                    f"{describe_missing(missing, name, 'the compromised records')} (a missing cell, as NaN); fill it in, or "
                    "leave it out."
                )
        confidence = Numeric().codes(given["confidence"])
        outside = ~((confidence > 0) & (confidence <= 1))
        if outside.any():
            row = int(outside.argmax())
            raise ValueError(
                f"{_claim(given, row)} has the confidence {given['confidence'].tolist()[row]!r}; it must be over 0 and at most 1. "
                "Leave out what is not known."
            )
        frame = given.assign(confidence=confidence).drop_duplicates().reset_index(drop=True)
        twice = frame.duplicated(["respondent", "value", "time"], keep=False)
        if twice.any():
            claims = list(zip(*(frame[name].tolist() for name in COLUMNS[:3]), strict=True))
            first = int(twice.to_numpy().argmax())
            both = [c for claim, c in zip(claims, frame["confidence"], strict=True) if claim == claims[first]]
            raise ValueError(
                f"{_claim(frame, first)} stands twice, with the confidences {', '.join(f'{c:g}' for c in both)}; keep one."
            )
        sums = frame.groupby(["respondent", "time"], sort=False)["confidence"].sum()
        if len(sums) and sums.max() > 1 + TOLERANCE:
            place: Any = sums.idxmax()
            respondent, time = place
            raise ValueError(
                f"the confidences in the values of respondent {plain_value(respondent)!r} at {plain_value(time)!r} sum to "
                f"{sums.max():g}; one value is true, so they can sum to at most 1. Lower them."
            )
        object.__setattr__(self, "frame", frame)

    def __repr__(self) -> str:
        return f"CompromisedRecords({len(self)})"

    def __len__(self) -> int:
        return len(self.frame)

    @classmethod
    def sample(
        cls, history: History, share: float, confidence: float, *, rng: np.random.Generator
    ) -> "CompromisedRecords":
        """Compromise a share of every view's records, drawn without replacement: the true values, all equally sure.

        The share is BayFrame's sigma; each view loses that share of its records, rounded to the nearest number.

        Raises
        ------
        ValueError
            If the share is not in 0..1.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"the share is {share}; it is a part of the records, 0 to 1.")
        parts = []
        for view in history:
            rows = np.sort(rng.choice(len(view), round(share * len(view)), replace=False))
            values = [view.schema.values[code] for code in view.sensitive[rows]]
            who = view.people.respondents[rows]
            columns = {"respondent": who, "value": values, "time": [view.time] * len(rows)}
            parts.append(pd.DataFrame(columns, dtype=object))
        return cls(pd.concat(parts, ignore_index=True).assign(confidence=float(confidence)))

    @property
    def times(self) -> list[Any]:
        """The times that claims are about, each once."""
        return list(dict.fromkeys(self.frame["time"]))

    def at(self, time: Any, people: People) -> Claims:
        """The claims about a time, as arrays over some people. Cost: O(claims + n)."""
        frame = self.frame[[when == time for when in self.frame["time"].tolist()]]
        if not len(frame):
            nothing = np.zeros(0, dtype=np.int64)
            return Claims(nothing, nothing, np.zeros(0))
        rows: dict[Hashable, int] = {respondent: row for row, respondent in enumerate(people.respondents)}
        named = frame["respondent"].tolist()
        for respondent in named:
            if respondent not in rows:
                raise ValueError(
                    f"a compromised record is about respondent {respondent!r} at {time!r}, who has no record in that view."
                    f"{lookalike(respondent, rows)} Correct the respondent or the time, or leave it out."
                )
        values = people.schema.codes(frame["value"])
        if np.isnan(values).any():
            row, domain = int(np.isnan(values).argmax()), people.schema.values
            raise ValueError(
                f"{_claim(frame, row)} is about a value that is not in the sensitive domain "
                f"({', '.join(map(str, domain[:8]))}{', ...' if len(domain) > 8 else ''})."
                f"{lookalike(frame['value'].tolist()[row], domain)} Correct it."
            )
        places = np.array([rows[respondent] for respondent in named], dtype=np.int64)
        return Claims(places, values.astype(np.int64), frame["confidence"].to_numpy(dtype=np.float64))


def _said(frame: pd.DataFrame, row: int) -> tuple[Any, ...]:
    """The respondent, the value and the time of a claim, each in its own type."""
    return tuple(frame[name].tolist()[row] for name in COLUMNS[:3])


def _claim(frame: pd.DataFrame, row: int) -> str:
    respondent, value, time = _said(frame, row)
    return f"the compromised record of respondent {respondent!r} with value {value!r} at {time!r}"
