"""qif: vulnerability before and after a channel, and min-entropy leakage, of the cases in a file."""

import json
import sys
from pathlib import Path

import numpy as np
from qif import measure


def main() -> None:
    found = []
    for case in json.loads(Path(sys.argv[1]).read_text()):
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


if __name__ == "__main__":
    main()
