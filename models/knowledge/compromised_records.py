"""Compromised records: values known to the adversary from outside all releases (CR of BayFrame, Definition 4)."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.posterior_variable import posterior_variable
from foreknow.models.problem import ROW_SUM_TOLERANCE
from foreknow.models.settings import as_generator, check_choice, check_kind, check_range
from foreknow.models.tables.columns import (
    check_columns,
    check_time,
    describe_missing,
    lookalike,
    plain_columns,
    plain_value,
)
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Numeric

COLUMNS = ("respondent", "value", "time", "confidence")


class Claims(NamedTuple):
    """Compromised records of one release as arrays: c claims about rows of the release.

    Attributes
    ----------
    rows, values : int array, shape (c,)
        Row of the respondent of each claim, and the claimed value as a position in the sensitive domain.
    confidence : float array, shape (c,)
        Confidence of the adversary, over 0 and at most 1.
    """

    rows: IntArray
    values: IntArray
    confidence: FloatArray

    @property
    def sure(self) -> "Claims":
        """Claims of confidence 1."""
        return self.of(self.confidence == 1)

    @property
    def unsure(self) -> "Claims":
        """Claims of a confidence below 1."""
        return self.of(self.confidence < 1)

    def of(self, kept: BoolArray) -> "Claims":
        """Some of the claims."""
        return Claims(self.rows[kept], self.values[kept], self.confidence[kept])


@equal_by_fields
@dataclass(frozen=True, eq=False)
class CompromisedRecords:
    """Values of some respondents at some times, known with some confidence from other sources.

    Parameters
    ----------
    frame : DataFrame
        Columns respondent, value, time and confidence, one row per claim. Repeated equal rows count once. A claim of
        confidence 0 does not determine the other values and is refused.
    contradicted : {"raise", "report"}
        Reaction to a respondent whose group does not show the claimed value. ``"raise"``: an error that names the claim.
        ``"report"``: the group has `Status.CONTRADICTED`, and its beliefs are those of the docstring of the cascade.

    Raises
    ------
    TypeError
        If ``frame`` is not a DataFrame.
    ValueError
        If a column is missing or appears twice, a cell is missing or not one value, a confidence is not over 0 and at most 1, a
        claim appears with different confidences, or the confidences in the values of one respondent at one time sum to more
        than 1. When used on a release: if the respondent of a claim has no record there, or its value is not in the sensitive
        domain.
    """

    frame: pd.DataFrame
    contradicted: Literal["raise", "report"] = "raise"

    def __post_init__(self) -> None:
        check_choice("CompromisedRecords", "contradicted", self.contradicted, ("raise", "report"))
        given = _complete(self.frame)
        confidence = Numeric().codes(given["confidence"])
        outside = ~((confidence > 0) & (confidence <= 1))
        if outside.any():
            row = int(outside.argmax())
            raise ValueError(
                f"{_claim(given, row)} has the confidence {given['confidence'].tolist()[row]!r}; it must be over 0 and at most 1. "
                "Leave out what is not known."
            )
        frame = given.assign(confidence=confidence).drop_duplicates().reset_index(drop=True)
        _check_distinct(frame)
        _check_sums(frame)
        object.__setattr__(self, "frame", frame)

    def __repr__(self) -> str:
        return f"CompromisedRecords({len(self)})"

    def __len__(self) -> int:
        return len(self.frame)

    @classmethod
    def sample(
        cls, history: History, share: float, confidence: float, *, rng: "np.random.Generator | int"
    ) -> "CompromisedRecords":
        """Compromise a share of the records of every view: true values, drawn without replacement.

        Parameters
        ----------
        history : History
        share : float
            Share of the records of each view, 0 to 1 (sigma of BayFrame); their number is rounded.
        confidence : float
            Confidence of every claim, over 0 and at most 1.
        rng : numpy.random.Generator or int

        Raises
        ------
        TypeError
            If ``history`` is no `History`, or ``rng`` no generator and no integer seed.
        ValueError
            If the share or the confidence lies outside its range.
        """
        owner = "CompromisedRecords.sample"
        check_kind(owner, "history", history, History)
        check_range(owner, "share", share, 0, 1, "a part of the records")
        check_range(owner, "confidence", confidence, 0, 1, "a probability", excluded=(0,))
        draws = as_generator(owner, rng)
        parts = []
        for view in history:
            rows = np.sort(draws.choice(len(view), round(share * len(view)), replace=False))
            values = [view.schema.values[code] for code in view.sensitive[rows]]
            respondents = view.people.respondents[rows]
            columns = {"respondent": respondents, "value": values, "time": [view.time] * len(rows)}
            parts.append(pd.DataFrame(columns, dtype=object))
        return cls(pd.concat(parts, ignore_index=True).assign(confidence=float(confidence)))

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        claims: pd.DataFrame,
        variable: str = "reliability",
        contradicted: Literal["raise", "report"] = "raise",
    ) -> "CompromisedRecords":
        """Claims of a source, with the posterior mean of a sampled `compromised_model` as their confidence.

        Parameters
        ----------
        tree
            As for `MarkovChain.from_posterior`.
        claims : DataFrame
            Columns respondent, value and time, one row per claim; a column confidence is replaced.
        variable : str
            ``"reliability"``, the fraction of right claims of the source: the confidence before the releases say which. Or
            ``"right"``, of the dimension ``claim``: the probability that each claim is right, by the releases that the model
            saw. Give ``"right"`` to no attack on the same releases, since it would count their evidence twice. With
            ``"reliability"`` and `EvidenceCascade` the likelihood of a claim is that of the model.
        contradicted : {"raise", "report"}
            As in the constructor.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`; if ``claims`` is no table of claims; or if the model has other claims.
        """
        owner = "CompromisedRecords.from_posterior"
        found = posterior_variable(tree, variable, [(), ("claim",)])
        check_kind(owner, "claims", claims, pd.DataFrame, "is a DataFrame with the columns respondent, value and time")
        if found.dims:
            check_columns(claims, COLUMNS[:3], owner)
            of_label = dict(zip(found.labels[0], found.mean.tolist(), strict=True))
            labels = claim_labels(claims)
            if unknown := [label for label in labels if label not in of_label]:
                raise ValueError(
                    f"{owner}: the posterior has no claim {unknown[0]!r}; give the claims that the model was made with."
                )
            confidence = [of_label[label] for label in labels]
        else:
            confidence = [float(found.mean)] * len(claims)
        return cls(claims.assign(confidence=confidence), contradicted)

    @classmethod
    def of_terminal_values(
        cls, releases: Sequence[Any], values: Sequence[Any], ends: int = 0
    ) -> "CompromisedRecords | None":
        """Records of which a rule tells that counts a terminal value as a departure (``terminal`` of `foreknow.defenses.Cohorts`).

        Who was published in the release before, is listed and withheld, and is listed in the next ``ends`` releases as well, has
        one of the terminal values.

        Parameters
        ----------
        releases : sequence of Release or Observation
            In the order of time, of a rule that withholds a member for no other reason, as with ``departures="ghosts"``. What is
            known of a release by the lists of the next ``ends`` is used at once.
        values : sequence
            The terminal values; of several, each is as likely.
        ends : int
            Number of records before a departure that are withheld as well. Nothing is known of the last ``ends`` releases.

        Returns
        -------
        CompromisedRecords or None
            To be given with ``cascade=EvidenceCascade()``; None if there is no such respondent.

        Notes
        -----
        Cost: O(n).
        """
        seen, values = [getattr(release, "observation", release) for release in releases], list(dict.fromkeys(values))
        rows: list[tuple[Hashable, Any, Any, float]] = []
        for t in range(1, len(seen) - ends):
            before, now = seen[t - 1], seen[t]
            members = set(before.people.respondents[before.group >= 0])
            for later in seen[t + 1 : t + ends + 1]:
                members &= set(later.people.respondents)
            ended = [who for who in now.people.respondents[now.group < 0] if who in members]
            rows += [(who, now.time, value, 1 / len(values)) for who in ended for value in values]
        return cls(pd.DataFrame(rows, columns=["respondent", "time", "value", "confidence"])) if rows else None

    def check_times(self, times: Sequence[Any]) -> None:
        """Raise ValueError if a claim is about a time without a release: it would never be used."""
        for time in self.times:
            if time not in times:
                raise ValueError(
                    f"a compromised record is about {time!r}, and the times of the releases are {', '.join(map(repr, times))}. "
                    "Correct the time, or leave the record out."
                )

    @property
    def times(self) -> list[Any]:
        """Distinct times of the claims."""
        return list(dict.fromkeys(self.frame["time"]))

    def at(self, time: Any, people: People) -> Claims:
        """Claims about a time, as arrays over some respondents. Cost: O(claims + n).

        Raises
        ------
        TypeError, ValueError
            If the time cannot be ordered, a respondent of a claim is not among the people, or a value is not in their sensitive
            domain.
        """
        time = check_time("CompromisedRecords.at", time)
        check_kind("CompromisedRecords.at", "people", people, People)
        frame = self.frame.loc[np.array([bool(when == time) for when in self.frame["time"].tolist()], dtype=np.bool_)]
        row_of: dict[Hashable, int] = {respondent: row for row, respondent in enumerate(people.respondents)}
        named, values = frame["respondent"].tolist(), people.schema.codes(frame["value"])
        if absent := [respondent for respondent in named if respondent not in row_of]:
            raise ValueError(
                f"a compromised record is about respondent {absent[0]!r} at {time!r}, who has no record in that view."
                f"{lookalike(absent[0], row_of)} Correct the respondent or the time, or leave it out."
            )
        if np.isnan(values).any():
            row, domain = int(np.isnan(values).argmax()), people.schema.values
            raise ValueError(
                f"{_claim(frame, row)} is about a value that is not in the sensitive domain "
                f"({', '.join(map(str, domain[:8]))}{', ...' if len(domain) > 8 else ''})."
                f"{lookalike(frame['value'].tolist()[row], domain)} Correct it."
            )
        rows = np.array([row_of[respondent] for respondent in named], dtype=np.int64)
        return Claims(rows, values.astype(np.int64), frame["confidence"].to_numpy(dtype=np.float64))


def claim_labels(claims: pd.DataFrame) -> list[str]:
    """Coordinate of each claim in `compromised_model`."""
    return [f"{respondent} at {time}" for respondent, time in zip(claims["respondent"], claims["time"], strict=True)]


def _complete(frame: pd.DataFrame) -> pd.DataFrame:
    """The four columns as plain values, none of them missing."""
    takes = f"is a DataFrame with the columns {', '.join(COLUMNS)}, one row per claim"
    check_kind("CompromisedRecords", "frame", frame, pd.DataFrame, takes)
    check_columns(frame, COLUMNS, "CompromisedRecords")
    plain = plain_columns(frame.reset_index(drop=True)[list(COLUMNS)], COLUMNS, "the compromised records")
    for name in COLUMNS[:3]:
        missing = plain[name].isna().to_numpy()
        if missing.any():
            raise ValueError(
                f"{describe_missing(missing, name, 'the compromised records')} (a missing cell, as NaN); fill it in, or "
                "leave it out."
            )
    return plain


def _check_distinct(frame: pd.DataFrame) -> None:
    """Raise ValueError if a claim has two confidences."""
    twice = frame.duplicated(["respondent", "value", "time"], keep=False)
    if twice.any():
        claims = list(zip(*(frame[name].tolist() for name in COLUMNS[:3]), strict=True))
        first = int(twice.to_numpy().argmax())
        both = [c for claim, c in zip(claims, frame["confidence"], strict=True) if claim == claims[first]]
        raise ValueError(
            f"{_claim(frame, first)} stands twice, with the confidences {', '.join(f'{c:g}' for c in both)}; keep one."
        )


def _check_sums(frame: pd.DataFrame) -> None:
    """Raise ValueError if the confidences in the values of one respondent at one time sum to more than 1."""
    sums = frame.groupby(["respondent", "time"], sort=False)["confidence"].sum()
    if len(sums) and sums.max() > 1 + ROW_SUM_TOLERANCE:
        place: Any = sums.idxmax()
        respondent, time = place
        raise ValueError(
            f"the confidences in the values of respondent {plain_value(respondent)!r} at {plain_value(time)!r} sum to "
            f"{sums.max():g}; one value is true, so they can sum to at most 1. Lower them."
        )


def _claim(frame: pd.DataFrame, row: int) -> str:
    """A claim in an error message; each cell keeps its own type, which ``frame.loc`` would not."""
    respondent, value, time = (frame[name].tolist()[row] for name in COLUMNS[:3])
    return f"the compromised record of respondent {respondent!r} with value {value!r} at {time!r}"
