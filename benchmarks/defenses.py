"""Comparisons of defenses from the papers: ``python benchmarks/defenses.py [section ...]``, about half an hour on two cores.

The script prints the tables of docs/findings.md on defenses and writes the risk-utility maps to docs/. It reads Adult from
../shared/data/adult and ARX's hierarchies from ../shared/data/adult-hierarchies.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "defenses"))

from adult_statements import claims
from bayframe_comparisons import bayframe, bayframe_joint, bayframe_sizes, two_steps
from mechanism_laws import laws
from ten_defenses import ten_joint, ten_on_adult, ten_on_exams
from uhra_comparisons import uhra_j, uhra_joint, uhra_joint_over, uhra_k, uhra_t, uhra_why

SECTIONS = (
    uhra_k, uhra_j, uhra_t, uhra_why, uhra_joint, uhra_joint_over, bayframe, bayframe_joint, bayframe_sizes, two_steps,
    ten_on_exams, ten_joint, ten_on_adult, laws, claims,
)  # fmt: skip

if __name__ == "__main__":
    for section in SECTIONS:
        if len(sys.argv) < 2 or section.__name__ in sys.argv[1:]:
            print(f"\n{section.__name__} ({Path(__file__).name}): {section.__doc__}", flush=True)
            for line in section():
                print(f"  {line}", flush=True)
