"""privattacks: success rate of the best guess of the sensitive value, given the exact quasi-identifiers."""

import json

import privattacks
from records import QUASI_IDENTIFIERS, SENSITIVE, asked, clocked, peak, records


def main() -> None:
    folder, _ = asked()
    attack = privattacks.Attack(privattacks.Data(dataframe=records(folder)[[*QUASI_IDENTIFIERS, SENSITIVE]]))
    found, seconds = clocked(lambda: attack.posterior_vulnerability("ai", QUASI_IDENTIFIERS, [SENSITIVE]))
    prior = attack.prior_vulnerability("ai", [SENSITIVE])[SENSITIVE]
    answer = {"seconds": seconds, "peak": peak(), "vulnerability": float(found[SENSITIVE]), "prior": float(prior)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
