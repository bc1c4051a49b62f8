"""UCI Adult: the census table used to evaluate anonymization, as a history of one view, or of random views."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from foreknow.models.settings import as_generator, check_kind, check_whole
from foreknow.models.tables.hierarchy import Hierarchy
from foreknow.models.tables.history import History
from foreknow.models.tables.schema import Categorical, Schema
from foreknow.models.tables.table_files import existing_file
from foreknow.models.tables.view import View

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
)
"""Columns in the order of adult.names; the name of the last, which it does not give, is that of ARX's hierarchies."""

QUASI_IDENTIFIERS = ("age", "workclass", "education", "marital-status", "race", "sex")
"""Default quasi-identifiers; a sensitive attribute among them is left out."""


def adult(
    folder: str | Path,
    sensitive: str = "occupation",
    quasi_identifiers: Sequence[str] | None = None,
    hierarchies: str | Path | None = None,
) -> History:
    """Read the Adult census table as a history of one view: 45,222 records, those of adult.data and then those of adult.test.

    Parameters
    ----------
    folder : path
        Folder of adult.data and adult.test, as the UCI Machine Learning Repository gives them.
    sensitive : str
        Sensitive attribute. Its domain is the sorted values of the table.
    quasi_identifiers : sequence of str, optional
        Attributes that identify respondents; by default `QUASI_IDENTIFIERS` without the sensitive one. A column of numbers is
        numeric, from its smallest to its largest; any other is categorical, its values sorted.
    hierarchies : path, optional
        Folder of ARX's files ``adult_hierarchy_<attribute>.csv``. A categorical attribute with a file there has its hierarchy;
        the others, and all numbers, have none.

    Returns
    -------
    History
        One view, at time 0: all 15 columns, and ``id``, the row number, 0 to 45,221.

    Raises
    ------
    FileNotFoundError
        If a file of the table or the folder of hierarchies is not there.
    ValueError
        If an attribute is no column, has two roles, or has a value that is not in its hierarchy.
    TypeError
        If a path is no path, or ``quasi_identifiers`` is no sequence of names.

    Notes
    -----
    B. Becker, R. Kohavi, Adult (1996), UCI Machine Learning Repository. The 3,620 of 48,842 rows that hold an unknown
    value, ``?``, are dropped. The first line of adult.test is no record, and its salary classes end in a full stop,
    which is removed. Records that are equal in all columns are kept.
    """
    check_kind("adult", "folder", folder, (str, Path), "is the path of the folder that holds adult.data and adult.test")
    parts = [_part(Path(folder) / name, header) for name, header in (("adult.data", 0), ("adult.test", 1))]
    frame = pd.concat(parts).dropna().reset_index(drop=True)
    frame["salary-class"] = frame["salary-class"].str.rstrip(".")
    frame.insert(0, "id", frame.index)
    if quasi_identifiers is None:
        quasi_identifiers = [name for name in QUASI_IDENTIFIERS if name != sensitive]
    schema = Schema.infer(frame, quasi_identifiers, sensitive, "id")
    return History([View(frame, schema if hierarchies is None else _with_hierarchies(schema, Path(hierarchies)))])


def adult_history(
    folder: str | Path,
    views: int = 24,
    records: int = 4000,
    deleted: int = 400,
    inserted: int = 400,
    updated: int = 400,
    *,
    rng: np.random.Generator | int,
) -> History:
    """Random views of the Adult census table, for the experiments of BayFrame.

    The first view has random records. Before each later one some records are deleted, some that were in no view are inserted, and
    of the others some draw a new occupation from all 14, which may be the same.

    Parameters
    ----------
    folder : path
        As of `adult`.
    views, records : int
        Number of views, whose times are 1, ..., views; number of records of the first.
    deleted, inserted, updated : int
        Numbers of records that are deleted, inserted and updated before each later view.
    rng : numpy.random.Generator or int
        Random generator, or a seed. By keyword.

    Returns
    -------
    History
        Columns id, time, age, sex, education and occupation, the sensitive attribute; ``id`` is that of `adult`.

    Raises
    ------
    FileNotFoundError
        If a file of the table is not there.
    ValueError
        If a number is not whole, a view has too few records to delete and update, or all views together need more than there are.

    Notes
    -----
    Amiri et al., Transactions on Data Privacy 12 (2019), section 6.1, whose numbers are the defaults. A respondent keeps the
    occupation with probability 1 - u + u / 14, where u is ``updated`` over the number of records that stay: values depend on the
    last ones, although the paper gives its adversary uniform transitions.
    """
    numbers = {"views": views, "records": records, "deleted": deleted, "inserted": inserted, "updated": updated}
    for name, number in numbers.items():
        check_whole("adult_history", name, number, name, int(name in ("views", "records")))
    generator, (table,) = (
        as_generator("adult_history", rng),
        adult(folder, quasi_identifiers=["age", "sex", "education"]),
    )
    smallest = records + min(0, (views - 2) * (inserted - deleted))
    if (views > 1 and smallest < deleted + updated) or records + (views - 1) * inserted > len(table):
        raise ValueError(
            f"adult_history: a view of {smallest:,} records cannot lose {deleted:,} and update {updated:,} others, or all views "
            f"together need {records + (views - 1) * inserted:,} respondents of {len(table):,}; lower deleted, updated or inserted."
        )
    order, occupation = generator.permutation(len(table)), table.sensitive.copy()
    present, names = order[:records], ["id", "age", "sex", "education"]
    values, made = np.array(table.schema.values, dtype=object), []
    for time in range(1, views + 1):
        if time > 1:
            present = generator.permutation(present)[deleted:]
            occupation[present[:updated]] = generator.integers(0, len(values), updated)
            start = records + (time - 2) * inserted
            present = np.append(present, order[start : start + inserted])
        frame = table.frame.loc[present, names].assign(time=time, occupation=values[occupation[present]])
        made.append(View(frame.reset_index(drop=True), table.schema, time))
    return History(made)


def _part(path: Path, header: int) -> pd.DataFrame:
    """Records of one of the two files, after ``header`` lines."""
    existing_file(
        path,
        'Adult\'s adult.data and adult.test can be had from the UCI Machine Learning Repository, "Adult" '
        "(archive.ics.uci.edu/dataset/2/adult); name the folder that holds them",
    )
    return pd.read_csv(
        path, names=list(COLUMNS), skiprows=header, skipinitialspace=True, na_values="?", keep_default_na=False
    )


def _with_hierarchies(schema: Schema, folder: Path) -> Schema:
    if not folder.is_dir():
        raise FileNotFoundError(
            f"there is no folder {folder}; name the one that holds adult_hierarchy_<attribute>.csv."
        )
    attributes = dict(schema.quasi_identifiers)
    for name, kind in attributes.items():
        path = folder / f"adult_hierarchy_{name}.csv"
        if isinstance(kind, Categorical) and path.is_file():
            attributes[name] = Categorical(kind.values, Hierarchy.read(path))
    return replace(schema, quasi_identifiers=attributes)
