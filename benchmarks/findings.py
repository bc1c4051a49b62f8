"""Recompute sections 1 to 11 of docs/findings.md: ``python benchmarks/findings.py``, some minutes on two cores."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "findings"))

from cascade_rules import cascades_on_exams, mixed_cascades, reach_of_a_record
from estimator_rules import fixed_adversary, mixed_rules, rules_on_exams
from knowledge_and_memory import attack_on_exams, counted_twice, knowledge, nothing_to_learn
from publications import divergence_on_exams, js_reduce_on_exams, pbc_over_splits, settling
from revision_rules import revisions

SECTIONS = (
    attack_on_exams, knowledge, js_reduce_on_exams, divergence_on_exams, pbc_over_splits, settling, counted_twice, nothing_to_learn,
    rules_on_exams, fixed_adversary, mixed_rules, revisions, cascades_on_exams, mixed_cascades, reach_of_a_record,
)  # fmt: skip

if __name__ == "__main__":
    for section in SECTIONS:
        if len(sys.argv) < 2 or section.__name__ in sys.argv[1:]:
            print(f"\n{section.__name__} ({Path(__file__).name}): {section.__doc__}", flush=True)
            for line in section():
                print(f"  {line}", flush=True)
