"""Sessions of the command line for `net`: a function that writes files, and commands that run in their folder in this order."""

# A table of cases; its lines are long and not wrapped.
# ruff: noqa: E501
# fmt: off

import numpy as np
import pandas as pd

TOWNS = {"Rome": "Italy", "Milan": "Italy", "Turin": "Italy", "Paris": "France", "Lyon": "France"}
R = "--qi age --qi town --sensitive result"


def visits():
    """The file of the tutorial for a data steward, and its file of options."""
    rng = np.random.default_rng(1)
    diagnoses = np.array(["flu", "asthma", "diabetes", "hypertension", "depression", "HIV"])
    people = 400
    age, city = rng.integers(18, 90, people), rng.choice(["Rome", "Milan", "Turin"], people)
    current, parts = rng.integers(0, 6, people), []
    for month in ["2024-01", "2024-02", "2024-03", "2024-04"]:
        same = rng.random(people) < 0.8
        current = np.where(same, current, rng.integers(0, 6, people))
        seen = rng.random(people) < 0.85
        table = {"person": np.arange(people), "month": month, "age": age, "city": city}
        parts.append(pd.DataFrame(table).assign(diagnosis=diagnoses[current])[seen])
    table = pd.concat(parts, ignore_index=True)
    typed = rng.random(len(table)) < 0.1
    table["diagnosis"] = np.where(typed, table["diagnosis"].str.upper() + " ", table["diagnosis"])
    table["age"] = table["age"].astype(str) + np.where(rng.random(len(table)) < 0.3, " y", "")
    table.loc[rng.random(len(table)) < 0.01, "city"] = ""
    pd.concat([table, table.iloc[[3, 8]]]).to_csv("visits.csv", index=False, sep=";")
    options = 'id = "person"\ntime = "month"\nqi = ["age", "city"]\nsensitive = "diagnosis"\nnumber = ["age"]\n'
    settled = 'missing = "drop"\nequal-values = "merge"\nduplicates = "drop"\n'
    with open("visits.toml", "w") as file:
        file.write(options + settled)


def records():
    """Records of 30 people at three weeks out of order: r.csv and r.parquet, groups, a hierarchy, a register, statements."""
    rng = np.random.default_rng(1)
    ages, towns = rng.integers(20, 60, 30), rng.choice(list(TOWNS), 30)
    results, rows = rng.choice(list("abc"), 30), []
    for week in (3, 1, 2):
        results = np.where(rng.random(30) < 0.7, results, rng.choice(list("abc"), 30))
        rows += [(f"p{i:02d}", week, ages[i], towns[i], results[i]) for i in rng.permutation(30)[:24]]
    table = pd.DataFrame(rows, columns=["id", "week", "age", "town", "result"])
    table.to_csv("r.csv", index=False)
    table.to_parquet("r.parquet", index=False)
    table.assign(group=table.groupby("week").cumcount() // 4).to_csv("grouped.csv", index=False)
    pd.DataFrame([(a, b, "*") for a, b in TOWNS.items()]).to_csv("towns.csv", index=False, header=False)
    table[["id", "week", "age", "town"]].to_csv("people.csv", index=False)
    table[table["week"] == 1].drop(columns="week").to_csv("one.csv", index=False)
    with open("statements.csv", "w") as file:
        file.write("value,low,high,age,town\na,0.2,,,Rome\nb,0.1,0.3,20..40,\n")
    with open("bad.toml", "w") as file:
        file.write('qi = ["age"]\nsensitive = "result"\nkk = 3\n')


KEY = "--config visits.toml --groups release/private/groups.csv"
STEWARD = (
    "describe visits.csv",
    "describe visits.csv --json",
    "publish visits.csv --id person --time month --qi age --qi city --sensitive diagnosis --out refused",
    "publish visits.csv --config visits.toml --defense mondrian -k 5 -l 3 --seed 1 --out release",
    "publish visits.csv --config visits.toml --defense mondrian -k 5 -l 3 --seed 1 --out release --json",
    "check release",
    "check release --json",
    "check release/public/published.csv --time month --sensitive diagnosis -k 5 -l 3",
    "check release/public/published.csv --time month --sensitive diagnosis -k 5 -l 5 -t 0.3 --out check --pictures",
    f"attack visits.csv {KEY} --out attack",
    f"attack visits.csv {KEY} --knowledge records --json",
    f"attack visits.csv {KEY} --attack sequential --knowledge records --fail-over 0.01",
    f"attack visits.csv {KEY} --forward --sure 0.8 --out forward --pictures",
    f"attack visits.csv {KEY} --attack foreground --sensitive-set HIV --support 20 -r 2",
    f"report visits.csv {KEY} --out report.html --seed 1",
    "compare visits.csv --config visits.toml --defense mondrian -l 3 --sweep k=5,10 --fail-over 0.02 --seed 1",
)
OF_DEFENSE = {
    "js-reduce": "-j 1.2",
    "bkaa": "--beta 4 -j 1",
    "uhra": "-t 1 -j 1.2",
    "k-primacy": "--beta 4 -j 1",
    "mondrian": "-k 3 -t 0.7",
    "anatomy": "-l 2",
    "m-invariance": "-m 2",
    "mask": "-l 2",
    "injector": "-l 2",
    "full-domain": "-k 4 --hierarchy town=towns.csv",
    "foreground-safe": "",
}
ATTACKS = ("joint", "sequential", "snapshot", "retrospective", "signature", "foreground", "definetti", "composition", "maxent", "minimality")
SOLVERS = ("max-entropy", "group-messages", "enumeration", "auto", "path-sampler")
ESTIMATORS = ("random-worlds", "confidence-sum", "dirichlet-multinomial", "omega", "mixed", "sinkhorn", "belief-propagation", "exact", "counting")
G = f"grouped.csv {R}"
RECORDS = (
    "describe r.csv",
    "describe r.parquet",
    "describe grouped.csv --json",
    "describe no.csv",
    *(f"publish r.csv {R} --defense {name} {more} --seed 1 --out {name}" for name, more in OF_DEFENSE.items()),
    *(f"check {name}" for name in OF_DEFENSE if name != "foreground-safe"),
    f"publish r.parquet {R} --defense mondrian -k 3 --seed 1 --out parquet --pictures --json",
    f"publish r.csv {R} --defense mondrian -k 3 --seed 1 --bucketized --out bucketized",
    f"publish r.csv {R} --defense js-reduce -j 0.4 -t 0.3 --seed 1 --leftovers relax --infeasible suppress --out relaxed --no-verify",
    f"publish r.csv {R} --defense anatomy --deterministic --generalized --seed 1 --out deterministic",
    f"publish r.csv {R} --defense bkaa --beta 4 -j 1 --corpus r.csv --seed 1 --out corpus",
    f"attack r.csv {R} --groups mondrian/private/groups.csv --out told",
    f"attack r.csv {R} --groups m-invariance/private/groups.csv --attack signature --knowledge records --json",
    f"attack r.csv {R} --groups m-invariance/private/groups.csv --attack minimality",
    "check told",
    f"attack r.parquet {R} --groups parquet/private/groups.parquet --out told-parquet --pictures",
    *(f"attack {G} --attack {name} --knowledge records" for name in ATTACKS[:5]),
    *(f"attack {G} --attack {name}" for name in (*ATTACKS[:5], "definetti", "composition", "minimality")),
    f"attack {G} --attack foreground --support 5 -r 3 --sensitive-set a --out foreground",
    f"attack {G} --attack maxent --statements statements.csv",
    f"attack {G} --attack minimality -k 2 -l 3",
    *(f"attack {G} --solver {name} --knowledge records" for name in SOLVERS),
    *(f"attack {G} --attack snapshot --estimator {name} --knowledge records" for name in ESTIMATORS),
    f"attack {G} --order 2 --gaps power --revision chain --classes 2 --attack sequential --knowledge records",
    f"attack {G} --corpus r.csv --json --out corpus-attack --overwrite",
    f"attack {G} --fail-over 0.0 --sure 0.6",
    f"attack mondrian/public/published.csv --published {R} --time week --out alone",
    f"attack mondrian/public/published.csv --published --people people.csv {R} --time week --out persons",
    "check mondrian/public/published.csv --sensitive result --time week -k 9",
    "check grouped.csv --sensitive result --qi age --qi town --time week -k 3 -l 2 --beta 2 --json",
    f"report {G} --out r.html --stricter 1 --seed 5 --names",
    f"report r.csv {R} --groups anatomy/private/groups.csv --attack snapshot --knowledge records --out s.html --stricter 0 --seed 1 --json",
    f"compare r.csv {R} --defense mondrian --defense anatomy --seed 1 --out compared",
    f"compare r.csv {R} --defense js-reduce -j 1.2 --seed 1 --json",
)
ERRORS = (
    "",
    "--help",
    "publish --help",
    "attack --help",
    "nothing",
    "publish r.csv",
    "--version",
    f"publish r.csv {R} --defense unknown --out x",
    f"publish r.csv {R} --defense mondrian -k 0 --out x",
    f"publish r.csv {R} --defense mondrian -k 300 --out x",
    f"publish r.csv {R} --defense anatomy -l 9 --out x",
    f"publish r.csv {R} --defense js-reduce -t 7 --seed 1 --out x",
    f"publish r.csv {R} --defense m-invariance -m 3 --out x",
    "publish r.csv --qi ages --qi town --sensitive result --out x",
    "publish r.csv --qi age --sensitive age --out x",
    "publish r.csv --config bad.toml --out x",
    f"publish no.csv {R} --out x",
    f"publish r.csv {R} --out x --time day",
    f"publish r.csv {R} --id who --out x",
    f"publish r.csv {R} --hierarchy town=no.csv --out x",
    f"publish r.csv {R} --out r.csv",
    f"attack r.csv {R}",
    f"attack {G} --attack unknown",
    f"attack {G} --solver unknown",
    f"attack {G} --estimator unknown",
    f"attack {G} --sure 2",
    f"attack {G} --attack minimality -l 0",
    f"attack {G} --attack foreground --sensitive-set z",
    f"attack {G} --statements statements.csv",
    f"attack {G} --attack maxent",
    f"attack {G} --groups no.csv",
    f"attack {G} --order 2 --attack retrospective",
    f"attack {G} --corpus no.csv",
    f"attack {G} --pictures",
    "check no.csv",
    "check r.csv",
    "check r.csv --sensitive result",
    "check r.csv --sensitive result -k 0",
    f"report {G} --out r.txt",
    f"report {G} --out r.html --stricter -1",
    f"compare r.csv {R} --seed 1",
    f"compare r.csv {R} --defense mondrian --sweep q=1,2",
    f"compare r.csv {R} --defense mondrian --sweep k=0,2",
    f"publish r.csv {R} --from-disk --defense uhra --out x",
    f"publish r.csv {R} --from-disk --missing drop --defense mondrian --out x",
    f"attack r.csv {R} --from-disk --groups no",
)
D = "--from-disk --block 20 --seed 3"
DISK = (
    *(
        f"publish r.parquet {R} {D} --defense {name} {more} --out {name}"
        for name, more in {**OF_DEFENSE, "full-domain": "-k 4"}.items()
        if name in ("mondrian", "js-reduce", "bkaa", "anatomy", "full-domain")
    ),
    *(f"check {name}" for name in ("mondrian", "js-reduce", "anatomy")),
    "check mondrian -k 4 --json",
    f"publish r.csv {R} {D} --defense mondrian -k 3 -t 0.7 --workers 2 --out again",
    f"publish r.csv {R} {D} --defense mondrian --out again",
    f"attack r.parquet {R} --from-disk --groups mondrian --out risk",
    "check risk",
    f"attack r.parquet {R} --from-disk --groups mondrian --out forward --forward --json",
    f"attack r.parquet {R} --from-disk --groups anatomy --out sequential --attack sequential --estimator omega --sure 0.7",
    f"attack r.parquet {R} --from-disk --groups anatomy --out snapshot --attack snapshot --fail-over 0",
    f"attack r.parquet {R} --from-disk --groups mondrian --out entropy --solver max-entropy --corpus r.csv",
    f"attack r.parquet {R} --from-disk --groups mondrian --out risk --json",
)
ROUND = (
    "simulate exams --releases 3 --records 60 --seed 7 --out exams.csv",
    "simulate exams --releases 2 --records 40 --seed 7 --out exams.parquet --json",
    "simulate homes --out x.csv",
    "describe exams.csv",
    "publish exams.csv --qi age --qi gender --qi weight --sensitive result -k 4 -j 1.2 --seed 1 --out release",
    "attack exams.csv --qi age --qi gender --qi weight --sensitive result --groups release/private/groups.csv --out risk",
    "demo --out demo --json",
)


def sessions():
    return {"steward": (visits, STEWARD), "records": (records, RECORDS), "errors": (records, ERRORS), "disk": (records, DISK), "exams": (lambda: None, ROUND)}
