"""umbra-k: Mondrian for k-anonymity, as a scikit-learn transformer."""

from records import CATEGORICAL, QUASI_IDENTIFIERS, K, asked, clocked, hand_over, records
from umbra_k import MondrianAnonymizer


def main() -> None:
    folder, call = asked()
    data = records(folder)
    published, seconds = clocked(lambda: MondrianAnonymizer(k=K, quasi_id=QUASI_IDENTIFIERS).fit_transform(data))
    published["age"] = "[" + published["age"].astype(str).str.replace("-", ",") + "]"
    published[CATEGORICAL] = published[CATEGORICAL].astype(str)
    hand_over(published, seconds, folder, f"umbra-k {call}")


if __name__ == "__main__":
    main()
