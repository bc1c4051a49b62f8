"""Measures of a published table, recomputed in plain pandas from the table alone, for all programs.

The file shares no code with any program that is compared, including foreknow.
"""

from pathlib import Path

import pandas as pd
from runners import CATEGORICAL, QUASI_IDENTIFIERS, SENSITIVE, ladder


def judged(published: pd.DataFrame, data: pd.DataFrame, folder: Path) -> dict[str, float]:
    """Utility and privacy of a published table.

    Records are in one group if their sensitive values cannot be assigned to them: records of one ``group`` where a program
    publishes that column, otherwise records with equal published quasi-identifiers. Suppressed records are in no group.
    """
    number = published.groupby("group" if "group" in published else QUASI_IDENTIFIERS, sort=False).ngroup()
    sizes = number.value_counts()
    values = pd.crosstab(number, published[SENSITIVE])
    whole = values.sum() / values.to_numpy().sum()
    shares = values.div(values.sum(axis=1), axis=0)
    suppressed = len(data) - published["row"].isin(data["row"]).sum()
    blurred = gcp_of_groups(published["row"], number, data, folder)
    return {
        "groups": len(sizes),
        "labels": published.groupby(QUASI_IDENTIFIERS).ngroups,
        "suppressed": int(suppressed),
        "discernibility": int((sizes**2).sum() + suppressed * len(data)),
        "gcp of groups": blurred,
        "gcp of all": float((blurred * (len(data) - suppressed) + suppressed) / len(data)),
        "gcp as published": gcp_as_published(published, data, folder),
        "k": int(sizes.min()),
        "l": int((values > 0).sum(axis=1).min()),
        "t": float((shares - whole).clip(lower=0).sum(axis=1).max()),
    }


def gcp_of_groups(row: pd.Series, number: pd.Series, data: pd.DataFrame, folder: Path) -> float:
    """Global certainty penalty, 0 to 1, of the tightest interval and the lowest label that the members of each group share."""
    members = data.set_index("row").loc[row].assign(number=number.to_numpy())
    size = members.groupby("number").size()
    age = members.groupby("number")["age"].agg(["min", "max"])
    total = ((age["max"] - age["min"]) / width(data) * size).sum()
    for name in CATEGORICAL:
        total += (lowest_common(members, name, data, folder) * size).sum()
    return float(total / (len(QUASI_IDENTIFIERS) * len(members)))


def lowest_common(members: pd.DataFrame, name: str, data: pd.DataFrame, folder: Path) -> pd.Series:
    """Share of an attribute's values under the lowest common label of each group; 0 where the label is a value."""
    levels = ladder(folder, name)
    levels = levels[levels[0].isin(data[name])].set_index(0, drop=False)
    penalty = pd.Series(float("nan"), index=members["number"].unique())
    for level in levels:
        under = levels[level].value_counts() / len(levels)
        label = members[name].map(levels[level])
        alike = label.groupby(members["number"]).agg(["nunique", "first"])
        here = alike.index[(alike["nunique"] == 1) & penalty.reindex(alike.index).isna()]
        penalty[here] = [0.0 if level == 0 else float(under[text]) for text in alike.loc[here, "first"]]
    return penalty


def gcp_as_published(published: pd.DataFrame, data: pd.DataFrame, folder: Path) -> float:
    """Global certainty penalty, 0 to 1, of the intervals, labels and sets of values that a program published."""
    age = published["age"].astype(str).str.extract(r"^\[?(-?[\d.]+)(?:,([\d.]+))?\]?$").astype(float)
    total = (age[1].fillna(age[0]) - age[0]).sum() / width(data)
    for name in CATEGORICAL:
        levels = ladder(folder, name)
        levels = levels[levels[0].isin(data[name])]
        under = {label: set(levels.loc[levels[level] == label, 0]) for level in levels for label in levels[level]}
        covered = {label: len(values(str(label), under)) for label in published[name].unique()}
        total += published[name].map({label: n / len(levels) if n > 1 else 0.0 for label, n in covered.items()}).sum()
    return float(total / (len(QUASI_IDENTIFIERS) * len(published)))


def values(label: str, under: dict[str, set[str]]) -> set[str]:
    """Values that a label stands for: those under it in the hierarchy, or the listed values, joined by commas."""
    return under[label] if label in under else set().union(*(under[part] for part in label.split(",")))


def width(data: pd.DataFrame) -> float:
    return float(data["age"].max() - data["age"].min())
