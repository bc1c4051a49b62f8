"""Combination of several estimators in one release, one for each group."""

from collections.abc import Sequence

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.problem import Estimator, Posterior, Problem


def by_group(parts: Sequence[tuple[Estimator, Problem]], choice: IntArray) -> Posterior:
    """Posterior of a release whose group j is computed by ``parts[choice[j]]``.

    Parameters
    ----------
    parts : sequence of (Estimator, Problem)
        Each estimator with the problem that it reads. The problems have the same groups and counts.
    choice : int array, shape (g,)

    Returns
    -------
    Posterior
        ``rule`` has the name of each group's estimator. Standard errors, effective sample sizes, R-hats and numbers of divergent
        draws are those of the chosen estimators that give them; elsewhere they are 0, infinity, 1 and 0. A respondent outside all
        groups keeps the prior of the first problem.

    Notes
    -----
    Cost: that of the chosen estimators, and O(n m) for each.
    """
    first = parts[0][1]
    choice_of_row = np.append(choice, -1)[first.group]
    # An estimator without groups is called only to refuse evidence: its kernels would be compiled for nothing.
    answers = {
        number: estimator(_part(problem, choice == number))
        for number, (estimator, problem) in enumerate(parts)
        if (choice == number).any() or problem.evidence is not None
    }
    probabilities, status = first.prior.copy(), np.zeros(len(choice), dtype=np.int64)
    for number, answer in answers.items():
        probabilities[choice_of_row == number] = answer.probabilities[choice_of_row == number]
        status |= answer.status
    names = np.array([type(estimator).__name__ for estimator, _ in parts], dtype=object)
    sampled = {
        name: _merged({number: getattr(answer, name) for number, answer in answers.items()}, choice_of_row, default)
        for name, default in (("standard_error", 0.0), ("ess", np.inf), ("rhat", 1.0))
    }
    given = [answer.divergences for answer in answers.values() if answer.divergences is not None]
    divergences = np.sum(given, axis=0) if given else None
    return Posterior(probabilities, status, **sampled, rule=names[choice], divergences=divergences)


def _part(problem: Problem, chosen: BoolArray) -> Problem:
    """The problem with the chosen groups only; respondents of other groups are outside all groups."""
    rows = np.append(chosen, False)[problem.group]
    counts = np.where(chosen[:, None], problem.counts, 0)
    return Problem(problem.prior, np.where(rows, problem.group, -1), counts, problem.evidence)


def _merged(arrays: dict[int, FloatArray | None], choice_of_row: IntArray, default: float) -> FloatArray | None:
    """Rows of each array where its estimator was chosen, and the default elsewhere; None if no estimator gives an array."""
    given = {number: array for number, array in arrays.items() if array is not None}
    if not given:
        return None
    merged = np.full(next(iter(given.values())).shape, default)
    for number, array in given.items():
        merged[choice_of_row == number] = array[choice_of_row == number]
    return merged
