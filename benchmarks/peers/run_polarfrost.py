"""polarfrost: Mondrian for k-anonymity on Polars. It publishes one row per group, with the set of its sensitive values."""

import pandas as pd
import polars
from polarfrost import mondrian_k_anonymity_polars
from records import CATEGORICAL, QUASI_IDENTIFIERS, SENSITIVE, K, asked, clocked, hand_over, records


def main() -> None:
    folder, call = asked()
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


if __name__ == "__main__":
    main()
