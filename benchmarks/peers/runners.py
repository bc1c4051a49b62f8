"""Calls of the programs that are compared: ``runners.py PROGRAM FOLDER CALL``, in the environment of each program.

Only pandas is imported by all; a program is imported by its own function.
"""

import contextlib
import io
import json
import logging
import re
import resource
import sys
import time
from pathlib import Path

import pandas as pd

QUASI_IDENTIFIERS = ["age", "sex", "race", "marital-status", "education"]
CATEGORICAL = QUASI_IDENTIFIERS[1:]
SENSITIVE = "occupation"
K, L, T = 5, 2, 0.5
LONG = 5.0
RUNS = 3


def records(folder: Path) -> pd.DataFrame:
    """Records of Adult: ``row``, the quasi-identifiers and the sensitive attribute."""
    return pd.read_csv(folder / "records.csv")


def ladder(folder: Path, name: str) -> pd.DataFrame:
    """Hierarchy as rows, one per value, from the value itself to ``*``; ages are whole numbers."""
    table = pd.read_csv(folder / "hierarchies" / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
    return table.assign(**{"0": table[0].astype(int)}).rename(columns={"0": "number"}) if name == "age" else table


def in_order(folder: Path, name: str) -> list[str]:
    """Values of a categorical attribute, ordered so that values under one label are adjacent."""
    table = ladder(folder, name)
    return table.sort_values(list(table.columns[::-1]), kind="stable")[0].tolist()


def interval(low: float, high: float) -> str:
    """Published interval of a number, in the form that ``judged.py`` reads."""
    return f"{low:g}" if low == high else f"[{low:g},{high:g}]"


def clocked(work, compiles: bool = False):
    """Last result, and the seconds of three runs after a warm-up run; of one run alone if it is long.

    A first run that compiles is never counted.
    """
    seconds: list[float] = []
    for run in range(1 + RUNS):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > LONG and (run or not compiles):
            return result, seconds[-1:]
    return result, seconds[1:]


def peak() -> float:
    """Peak memory of this process in MiB, including imports and data."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss starts from the memory of the parent process
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def hand_over(published: pd.DataFrame, seconds: list, folder: Path, name: str, **more: object) -> None:
    """Write the published table, and print the measurements as one line of JSON."""
    path = folder / "published" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    published.to_csv(path, index=False)
    print(json.dumps({"seconds": seconds, "peak": peak(), "path": str(path), **more}))


def anjana(folder: Path, call: str) -> None:
    """Full-domain generalization along hierarchies, at most a tenth of the records suppressed."""
    import anjana.anonymity

    data = records(folder)
    tiers = {}
    for name in QUASI_IDENTIFIERS:
        table = ladder(folder, name)
        first = table["number"] if name == "age" else table[0]
        others = range(1, table.columns[-1 - (name == "age")] + 1)
        tiers[name] = {0: first.to_numpy(), **{level: table[level].to_numpy() for level in others}}

    def work():
        common = {"ident": [], "quasi_ident": list(QUASI_IDENTIFIERS), "supp_level": 10, "hierarchies": tiers}
        with contextlib.redirect_stdout(io.StringIO()):
            if call == "k":
                return anjana.anonymity.k_anonymity(data, k=K, **common)
            if call == "k, l":
                return anjana.anonymity.l_diversity(data, sens_att=SENSITIVE, k=K, l_div=L, **common)
            return anjana.anonymity.t_closeness(data, sens_att=SENSITIVE, k=K, t=T, **common)

    published, seconds = clocked(work)
    published["age"] = published["age"].astype(str).map(ages(folder))
    hand_over(published[["row", *QUASI_IDENTIFIERS, SENSITIVE]], seconds, folder, f"anjana {call}")


def ages(folder: Path) -> dict[str, str]:
    """Interval of each label of the age hierarchy: the range of the values under it, limited to the ages of the data."""
    table, values = ladder(folder, "age"), records(folder)["age"]
    table = table[table["number"].between(values.min(), values.max())]
    under = pd.concat([table.set_index(level)["number"] for level in range(5)])
    return {label: interval(numbers.min(), numbers.max()) for label, numbers in under.groupby(level=0)}


def umbra_k(folder: Path, call: str) -> None:
    """Mondrian for k-anonymity, as a scikit-learn transformer."""
    from umbra_k import MondrianAnonymizer

    data = records(folder)
    published, seconds = clocked(lambda: MondrianAnonymizer(k=K, quasi_id=QUASI_IDENTIFIERS).fit_transform(data))
    published["age"] = "[" + published["age"].astype(str).str.replace("-", ",") + "]"
    published[CATEGORICAL] = published[CATEGORICAL].astype(str)
    hand_over(published, seconds, folder, f"umbra-k {call}")


def lighthouse(folder: Path, call: str) -> None:
    """Mondrian for k-anonymity along generalization trees; the program also computes quality measures."""
    from project_lighthouse_anonymize.gtrees import GTree
    from project_lighthouse_anonymize.wrappers.k_anonymize import k_anonymize

    trees = {}
    for name in CATEGORICAL:
        trees[name] = GTree()
        nodes = {(): trees[name].create_node("*")}
        for row in ladder(folder, name).to_numpy().tolist():
            for depth in range(2, len(row) + 1):
                path = tuple(row[-1 : -depth - 1 : -1])[1:]
                if path not in nodes:
                    nodes[path] = trees[name].create_node(path[-1], parent=nodes[path[:-1]])
        trees[name].add_default_geometric_sizes()
    data = records(folder).astype({"age": float}).astype(dict.fromkeys(CATEGORICAL, object))
    quiet = logging.getLogger("lighthouse")
    quiet.setLevel(logging.ERROR)
    (published, _, _), seconds = clocked(
        lambda: k_anonymize(quiet, data, QUASI_IDENTIFIERS, K, dict(trees), "row", parallelism=2)
    )
    published["age"] = published["age"].map(lambda age: interval(*age) if isinstance(age, tuple) else f"{age:g}")
    hand_over(published, seconds, folder, f"lighthouse {call}")


def polarfrost(folder: Path, call: str) -> None:
    """Mondrian for k-anonymity on Polars. It publishes one row per group, with the set of its sensitive values."""
    import polars
    from polarfrost import mondrian_k_anonymity_polars

    data = records(folder)
    frame = polars.DataFrame(data.to_dict("list"))

    def work(sensitive=SENSITIVE):
        return mondrian_k_anonymity_polars(frame, QUASI_IDENTIFIERS, sensitive, K, categorical=CATEGORICAL)

    _, seconds = clocked(work)
    # The members of a group are not published; with the row number as the sensitive value they are. Runs differ in their result.
    groups = pd.DataFrame(work("row").to_dict(as_series=False))
    published = groups.assign(row=groups["row"].str.split(",")).explode("row").astype({"row": int})
    published["age"] = "[" + published["age"].str.replace("-", ",") + "]"
    published = published.merge(data[["row", SENSITIVE]], on="row")
    hand_over(published[["row", *QUASI_IDENTIFIERS, SENSITIVE]], seconds, folder, f"polarfrost {call}")


def anonymity_api(folder: Path, call: str) -> None:
    """Mondrian for numbers only; categorical values are passed as numbers in the order of their trees."""
    from anonymity_api import anonymity

    data, values = records(folder), {}
    for name in CATEGORICAL:
        values[name] = [value for value in in_order(folder, name) if (data[name] == value).any()]
        if call != "k, words":
            data[name] = data[name].map(values[name].index)

    def work():
        if call.startswith("k"):
            return anonymity.k_anonymity(data.copy(), list(QUASI_IDENTIFIERS), K)
        if call == "l":
            return anonymity.distinct_l_diversity(data.copy(), list(QUASI_IDENTIFIERS), [SENSITIVE], L)
        return anonymity.t_closeness(data.copy(), list(QUASI_IDENTIFIERS), [SENSITIVE], T)

    published, seconds = clocked(work)
    published["age"] = "[" + published["age"].astype(str).str.replace(" - ", ",") + "]"
    for name in CATEGORICAL:
        if call == "k, words":
            # The program joins the values of a label by hyphens, which also occur within values.
            shown = published["row"].map(data.set_index("row")[name])
            joined = shown.groupby(published[name]).agg(lambda found: ",".join(sorted(set(found))))
            published[name] = published[name].map(joined)
        else:
            ends = [[int(end) for end in re.findall(r"\d+", str(label))] for label in published[name]]
            published[name] = [",".join(values[name][end[0] : end[-1] + 1]) for end in ends]
    hand_over(published[["row", *QUASI_IDENTIFIERS, SENSITIVE]], seconds, folder, f"anonymity-api {call}")


def privattacks(folder: Path, _: str) -> None:
    """Success rate of the best guess of the sensitive value, given the exact quasi-identifiers."""
    import privattacks

    attack = privattacks.Attack(privattacks.Data(dataframe=records(folder)[[*QUASI_IDENTIFIERS, SENSITIVE]]))
    found, seconds = clocked(lambda: attack.posterior_vulnerability("ai", QUASI_IDENTIFIERS, [SENSITIVE]))
    prior = attack.prior_vulnerability("ai", [SENSITIVE])[SENSITIVE]
    answer = {"seconds": seconds, "peak": peak(), "vulnerability": float(found[SENSITIVE]), "prior": float(prior)}
    print(json.dumps(answer))


def pycanon(path: Path, call: str) -> None:
    """Measures of a published table, by the column ``group`` and by the published quasi-identifiers."""
    from pycanon import anonymity

    measures = {
        "k": lambda *of: int(anonymity.k_anonymity(*of[:2])),
        "alpha": lambda *of: float(anonymity.alpha_k_anonymity(*of)[0]),
        "distinct l": lambda *of: int(anonymity.l_diversity(*of)),
        "entropy l": lambda *of: int(anonymity.entropy_l_diversity(*of)),
        "recursive c": lambda *of: float(anonymity.recursive_c_l_diversity(*of)[0]),
        "t": lambda *of: float(anonymity.t_closeness(*of)),
        "basic beta": lambda *of: float(anonymity.basic_beta_likeness(*of)),
        "enhanced beta": lambda *of: float(anonymity.enhanced_beta_likeness(*of)),
        "delta": lambda *of: float(anonymity.delta_disclosure(*of)),
    }
    table, found = pd.read_csv(path, dtype=str), {}
    for by in call.split(","):
        identifiers = ["group"] if by == "group" else QUASI_IDENTIFIERS
        found |= {f"{name} by {by}": measure(table, identifiers, [SENSITIVE]) for name, measure in measures.items()}
    print(json.dumps({"found": found, "peak": peak()}))


def qif(path: Path, _: str) -> None:
    """Vulnerability before and after a channel, and min-entropy leakage, of the cases in a file."""
    import numpy as np
    from qif import measure

    found = []
    for case in json.loads(path.read_text()):
        prior, channel, gains = (np.array(case[name], dtype=float) for name in ("prior", "channel", "gains"))
        found.append(
            {
                "Bayes vulnerability, prior": measure.bayes_vuln.prior(prior),
                "Bayes vulnerability, posterior": measure.bayes_vuln.posterior(prior, channel),
                "min-entropy leakage": measure.bayes_vuln.min_entropy_leakage(prior, channel),
                "g-vulnerability, prior": measure.g_vuln.prior(gains, prior),
                "g-vulnerability, posterior": measure.g_vuln.posterior(gains, prior, channel),
            }
        )
    print(json.dumps(found))


def foreknow(folder: Path, call: str) -> None:
    """Each defense with the requirements that it takes; ``list`` prints the calls."""
    from own_calls import run

    run(folder, call)


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](Path(sys.argv[2]), sys.argv[3])
