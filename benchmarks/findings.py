"""Recompute sections 1 to 11 and 26 of docs/findings.md: ``python benchmarks/findings.py``, an hour on two cores."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "findings"))

from cascade_rules import cascades_on_exams, mixed_cascades, reach_of_a_record
from estimator_rules import fixed_adversary, joint_rules, mixed_rules, rules_on_exams
from every_defense import exact_counts, joint_on_exams, joint_on_pbc, learned_on_exams
from knowledge_and_memory import attack_on_exams, counted_twice, joint_knowledge, knowledge, nothing_to_learn
from publications import (
    divergence_on_exams,
    joint_on_js_reduce,
    joint_over_splits,
    js_reduce_on_exams,
    pbc_over_splits,
    settling,
)
from revision_rules import revisions

SECTIONS = (
    attack_on_exams, knowledge, joint_knowledge, js_reduce_on_exams, joint_on_js_reduce, divergence_on_exams, pbc_over_splits,
    joint_over_splits, settling, counted_twice, nothing_to_learn, rules_on_exams, joint_rules, fixed_adversary, mixed_rules,
    revisions, cascades_on_exams, mixed_cascades, reach_of_a_record, joint_on_exams, exact_counts,
    joint_on_pbc, learned_on_exams,
)  # fmt: skip

if __name__ == "__main__":
    for section in SECTIONS:
        if len(sys.argv) < 2 or section.__name__ in sys.argv[1:]:
            print(f"\n{section.__name__} ({Path(__file__).name}): {section.__doc__}", flush=True)
            for line in section():
                print(f"  {line}", flush=True)
