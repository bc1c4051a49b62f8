"""State of the adversary that a publisher assumes: what each draw of its knowledge remembers of the releases."""

import numpy as np

from foreknow.defenses.requirements.drawn_prior import DrawnPrior
from foreknow.models import Adversary, Averaged, Memory, Observation, UniformPrior, View, log_evidence
from foreknow.models.arrays import FloatArray


class AssumedAdversary:
    """Adversary that `publish` assumes, with its memory of the releases so far.

    Parameters
    ----------
    adversary : Adversary, Averaged or None
        None for uniform priors, which are not revised.
    """

    def __init__(self, adversary: Adversary | Averaged | None) -> None:
        self._averaged = adversary if isinstance(adversary, Averaged) else None
        self._observes = adversary is not None
        one = adversary if isinstance(adversary, Adversary) else Adversary(UniformPrior())
        self._adversaries = (one,) if self._averaged is None else self._averaged.adversaries
        self._memories = [Memory()] * len(self._adversaries)
        self._log_evidence = np.zeros(len(self._adversaries))
        self._priors: list[FloatArray] = []

    def prior(self, view: View) -> FloatArray:
        """Revised prior of the records of the next view, shape ``(n, m)``; a `DrawnPrior` for an `Averaged` adversary."""
        self._priors = [
            adversary.revise(memory, view.people, view.time)
            for adversary, memory in zip(self._adversaries, self._memories, strict=True)
        ]
        if self._averaged is None:
            return self._priors[0]
        weights = self._averaged.weights_given(self._log_evidence)
        return DrawnPrior.of(np.stack(self._priors), weights, self._averaged.first_weights, self._averaged.groups)

    def observe(self, observation: Observation) -> None:
        """Revise the beliefs about a view by its release, and the weights of the draws."""
        if not self._observes:
            return
        for d, adversary in enumerate(self._adversaries):
            if self._averaged is not None and self._averaged.updated:
                self._log_evidence[d] += log_evidence(observation.problem(self._priors[d])).sum()
            posterior = adversary.posterior(self._priors[d], observation)
            self._memories[d] = adversary.update_memory(self._memories[d], observation, posterior)

    def check_claim_times(self, times: list[object]) -> None:
        """Raise ValueError if a compromised record is about a time without a release."""
        for adversary in self._adversaries:
            adversary.check_claim_times(times)
