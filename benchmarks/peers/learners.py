"""A forest as RAPID trains it, and anonymeter's inference attack: ``learners.py FOLDER``, in the environment of anonymeter.

FOLDER has a folder for each seed with the tables of benchmarks/sequence_peers.py. Prints a list: tool, releases read, mean of
``(p - b) / (1 - b)``, and the share of records over .3 or both ends of anonymeter's interval.
"""

import json
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator
from anonymeter.stats.confidence import EvaluationResults
from sklearn.ensemble import RandomForestClassifier

QUASI_IDENTIFIERS = ["age", "gender", "weight"]
SECRET = "result"
TREES, OVER = 100, 0.3
ATTACKS = {"alone": np.inf, "all": 1000}
"""Most records attacked by anonymeter, in each table."""


def gains(probabilities, model, people):
    """Gain of each record over the share of its value in its release."""
    p = pd.DataFrame(probabilities, columns=model.classes_).reindex(
        columns=range(people["true"].max() + 1), fill_value=0
    )
    p = p.to_numpy()[np.arange(len(people)), people["true"]]
    return (p - people["share"]) / (1 - people["share"])


def forest(table, columns):
    return RandomForestClassifier(TREES, oob_score=True, random_state=1).fit(table[columns], table[SECRET])


def anonymeter(published, people, columns, attacks):
    """Numbers of attacks on people who are published and on those held out, and of right guesses about both."""
    ori, control = (people[people["held_out"] == held].rename(columns={"true": SECRET}) for held in (False, True))
    found = (
        InferenceEvaluator(ori, published, columns, SECRET, n_attacks=attacks, control=control)
        .evaluate(n_jobs=1)
        .results()
    )
    return np.array([found.n_attacks_ori, found.n_attacks_control, found.n_success, found.n_control])


def attacked(folder):
    """Gains, or anonymeter's numbers, of each table of a seed."""
    published, people, linked = (pd.read_csv(folder / f"{name}.csv") for name in ("published", "people", "linked"))
    alone = [(table, people[people["time"] == time]) for time, table in published.groupby("time")]
    for reads, tables in (("alone", alone), ("all", [(published, people)])):
        columns = QUASI_IDENTIFIERS if reads == "alone" else [*QUASI_IDENTIFIERS, "time"]
        for table, told in tables:
            model = forest(table, columns)
            for held, some in told.groupby("held_out"):
                yield (
                    "forest, held out" if held else "forest",
                    reads,
                    gains(model.predict_proba(some[columns]), model, some),
                )
            yield "anonymeter", reads, anonymeter(table, told, columns, ATTACKS[reads])
    model = forest(linked, [name for name in linked if name not in ("held_out", "true", "share", SECRET)])
    yield "forest, groups linked", "all", gains(model.oob_decision_function_, model, linked)


def main():
    np.random.seed(1)  # noqa: NPY002 - anonymeter draws by the global generator
    warnings.simplefilter("ignore")
    found, answer = defaultdict(list), []
    for seed in sorted(Path(sys.argv[1]).iterdir()):
        for tool, reads, numbers in attacked(seed):
            found[tool, reads].append(numbers)
    for (tool, reads), numbers in found.items():
        if tool == "anonymeter":
            ours, control, success, of_control = map(int, sum(numbers))
            risk = EvaluationResults((ours, ours, control), success, 0, of_control).risk()
            answer.append((tool, reads, risk.value, *risk.ci))
        else:
            gain = np.concatenate(numbers)
            answer.append((tool, reads, gain.mean(), (gain > OVER).mean()))
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
