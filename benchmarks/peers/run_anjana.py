"""anjana: full-domain generalization along hierarchies, at most a tenth of the records suppressed."""

import contextlib
import io

import anjana.anonymity
import pandas as pd
from records import QUASI_IDENTIFIERS, SENSITIVE, K, L, T, asked, clocked, hand_over, interval, ladder, records

SUPPRESSED = 10


def levels(folder, name):
    """Hierarchy in the form that anjana takes: level to labels, value by value."""
    table = ladder(folder, name)
    first = table["number"] if name == "age" else table[0]
    return {
        0: first.to_numpy(),
        **{level: table[level].to_numpy() for level in range(1, table.columns[-1 - (name == "age")] + 1)},
    }


def ages(folder):
    """Interval of each label of the age hierarchy: the range of the values under it, limited to the ages of the data."""
    table, values = ladder(folder, "age"), records(folder)["age"]
    table = table[table["number"].between(values.min(), values.max())]
    under = pd.concat([table.set_index(level)["number"] for level in range(5)])
    return {label: interval(numbers.min(), numbers.max()) for label, numbers in under.groupby(level=0)}


def main() -> None:
    folder, call = asked()
    data, tiers = records(folder), {name: levels(folder, name) for name in QUASI_IDENTIFIERS}

    def work():
        common = {"ident": [], "quasi_ident": list(QUASI_IDENTIFIERS), "supp_level": SUPPRESSED, "hierarchies": tiers}
        with contextlib.redirect_stdout(io.StringIO()):
            if call == "k":
                return anjana.anonymity.k_anonymity(data, k=K, **common)
            if call == "k, l":
                return anjana.anonymity.l_diversity(data, sens_att=SENSITIVE, k=K, l_div=L, **common)
            return anjana.anonymity.t_closeness(data, sens_att=SENSITIVE, k=K, t=T, **common)

    published, seconds = clocked(work)
    published["age"] = published["age"].astype(str).map(ages(folder))
    hand_over(published[["row", *QUASI_IDENTIFIERS, SENSITIVE]], seconds, folder, f"anjana {call}")


if __name__ == "__main__":
    main()
