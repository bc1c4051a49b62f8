"""A messy file of a hospital: visits of patients over twelve months, with the faults that people make."""

import numpy as np
import pandas as pd

DISEASES = ("Flu", "Asthma", "Diabetes", "Heart Failure", "HIV", "Gastritis", "Hepatitis C", "Müdigkeit")
ROLES = [
    "--id",
    "Patient",
    "--time",
    "Month",
    "--qi",
    "Age",
    "--qi",
    "Sex",
    "--qi",
    "Weight",
    "--sensitive",
    "Diagnosis",
]


def clean_visits(patients=250, months=12, seed=0):
    """One record of each patient in each month, without a fault: 3,000 by default."""
    rng = np.random.default_rng(seed)
    ages, sexes = rng.integers(20, 80, patients), rng.choice(["F", "M"], patients)
    rows = [
        (
            f"P{i:04d}",
            f"2024-{m + 1:02d}",
            ages[i],
            sexes[i],
            rng.integers(500, 900) / 10,
            DISEASES[rng.integers(8)],
            "ok",
        )
        for m in range(months)
        for i in range(patients)
    ]
    return pd.DataFrame(rows, columns=["Patient", "Month", "Age", "Sex", "Weight", "Diagnosis", "Note"])


def messy_visits(mixed_times=True, seed=0):
    """The same records with other spellings, units, decimal commas, missing cells, copies and notes of two lines."""
    visits, rng = clean_visits(seed=seed), np.random.default_rng(seed + 1)
    chance = rng.random((len(visits), 4))
    spelled = [
        (cell.lower(), f"{cell} ", f" {cell}", cell.upper())[i % 4] if p < 0.2 else cell
        for i, (cell, p) in enumerate(zip(visits["Diagnosis"], chance[:, 0], strict=True))
    ]
    visits["Diagnosis"] = spelled
    visits["Age"] = [f"{age} y" if p < 0.6 else str(age) for age, p in zip(visits["Age"], chance[:, 1], strict=True)]
    visits["Sex"] = ["" if p < 0.01 else sex for sex, p in zip(visits["Sex"], chance[:, 2], strict=True)]
    visits["Weight"] = [f"{weight:.1f}".replace(".", ",") for weight in visits["Weight"]]
    visits["Note"] = np.where(chance[:, 3] < 0.05, "two\nlines", "ok")
    if mixed_times:
        visits["Month"] = [f"{cell[5:]}/{cell[:4]}" if i % 2 else cell for i, cell in enumerate(visits["Month"])]
        visits = pd.concat([visits, visits.iloc[[9]].assign(Sex="X")], ignore_index=True)
    return pd.concat([visits, visits.iloc[[4, 5, 6]]], ignore_index=True)


def lines_of(path, encoding, cell):
    """The first line of each record of a file with a text, counted by hand: a quote opens or closes."""
    lines, start, is_open, found = path.read_text(encoding=encoding).splitlines(), 1, False, []
    for number, line in enumerate(lines, 1):
        start = start if is_open else number
        is_open ^= line.count('"') % 2 == 1
        found += [start] if cell in line else []
    return found
