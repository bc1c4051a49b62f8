"""pycanon: measures of a published table, with the group as the quasi-identifier and with the published quasi-identifiers."""

import json
import sys
from pathlib import Path

import pandas as pd
from pycanon import anonymity
from records import QUASI_IDENTIFIERS, SENSITIVE, peak

MEASURES = {
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


def main() -> None:
    table = pd.read_csv(Path(sys.argv[1]), dtype=str)
    found = {}
    for by in sys.argv[2:]:
        identifiers = ["group"] if by == "group" else QUASI_IDENTIFIERS
        for name, measure in MEASURES.items():
            found[f"{name} by {by}"] = measure(table, identifiers, [SENSITIVE])
    print(json.dumps({"found": found, "peak": peak()}))


if __name__ == "__main__":
    main()
