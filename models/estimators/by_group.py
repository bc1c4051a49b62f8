"""Several estimators for one release, each for some of its groups."""

from collections.abc import Sequence

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.problem import Estimator, Posterior, Problem


def by_group(parts: Sequence[tuple[Estimator, Problem]], choice: IntArray) -> Posterior:
    """The posterior of a release whose group j is computed by the estimator of ``parts[choice[j]]``, from the problem beside it.

    The problems have the same groups and counts. A person outside all groups has the prior of the first. ``rule`` has the name of
    each group's estimator. Standard errors, effective sample sizes and R-hats are those of the estimators that give them; 0,
    infinity and 1 elsewhere. Cost: that of the estimators, and O(n m) for each.
    """
    first = parts[0][1]
    of_row = np.append(choice, -1)[first.group]
    answers = [estimator(_part(problem, choice == number)) for number, (estimator, problem) in enumerate(parts)]
    probabilities, status = first.prior.copy(), np.zeros(len(choice), dtype=np.int64)
    for number, answer in enumerate(answers):
        probabilities[of_row == number] = answer.probabilities[of_row == number]
        status |= answer.status
    names = np.array([type(estimator).__name__ for estimator, _ in parts], dtype=object)
    sampled = {
        name: _merged([getattr(answer, name) for answer in answers], of_row, undrawn)
        for name, undrawn in (("standard_error", 0.0), ("ess", np.inf), ("rhat", 1.0))
    }
    return Posterior(probabilities, status, **sampled, rule=names[choice])


def _part(problem: Problem, chosen: BoolArray) -> Problem:
    """The problem with some groups only; everybody else is outside all groups."""
    rows = np.append(chosen, False)[problem.group]
    counts = np.where(chosen[:, None], problem.counts, 0)
    return Problem(problem.prior, np.where(rows, problem.group, -1), counts, problem.evidence)


def _merged(each: list[FloatArray | None], of_row: IntArray, undrawn: float) -> FloatArray | None:
    given = [(number, array) for number, array in enumerate(each) if array is not None]
    if not given:
        return None
    merged = np.full(given[0][1].shape, undrawn)
    for number, array in given:
        merged[of_row == number] = array[of_row == number]
    return merged
