"""anonymity-api: Mondrian for numbers only; categorical values are passed as numbers in the order of their trees."""

import re

from anonymity_api import anonymity
from records import CATEGORICAL, QUASI_IDENTIFIERS, SENSITIVE, K, L, T, asked, clocked, hand_over, in_order, records


def readable(label, values):
    """Values covered by a range of numbers."""
    ends = [int(end) for end in re.findall(r"\d+", str(label))]
    return ",".join(values[ends[0] : ends[-1] + 1])


def joined(published, data, name):
    """Values of a label, joined by commas; the program joins them by hyphens, which also occur within values."""
    shown = published["row"].map(data.set_index("row")[name])
    return shown.groupby(published[name]).agg(lambda found: ",".join(sorted(set(found))))


def main() -> None:
    folder, call = asked()
    data = records(folder)
    values = {name: in_order(folder, name) for name in CATEGORICAL}
    values = {name: [value for value in values[name] if (data[name] == value).any()] for name in CATEGORICAL}
    if call != "k, words":
        for name in CATEGORICAL:
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
            published[name] = published[name].map(joined(published, data, name))
        else:
            published[name] = [readable(label, values[name]) for label in published[name]]
    hand_over(published[["row", *QUASI_IDENTIFIERS, SENSITIVE]], seconds, folder, f"anonymity-api {call}")


if __name__ == "__main__":
    main()
