"""Conformance of all fits of a global distribution."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import evidences

from foreknow.models import Auto, Evidence, ExpectationMaximization, GibbsSampling
from foreknow.models.foreground.fit import FitStatus

FITTINGS = {
    "expectation-maximization": lambda: ExpectationMaximization(iterations=200),
    "gibbs-sampling": lambda: GibbsSampling(draws=20, chains=2, kept=10, rng=np.random.default_rng(1)),
}
"""One of each; a function makes it, because a fit may hold a random generator."""


@pytest.mark.parametrize("name", FITTINGS)
class TestEveryFitting:
    @given(evidence=evidences())
    @settings(max_examples=20)
    def test_its_rows_are_distributions(self, name, evidence):
        before = [array.copy() for array in (evidence.signature, evidence.group, evidence.counts, evidence.rest)]
        fit = FITTINGS[name]()(evidence, Auto())
        shape = (evidence.signatures, 2)
        assert fit.probabilities.shape == shape
        assert fit.others.shape[1:] == shape
        assert isinstance(fit.status, FitStatus)
        for rows in (fit.probabilities, fit.others, *([] if fit.draws is None else [fit.draws])):
            assert ((rows >= 0) & (rows <= 1)).all()
            assert np.allclose(rows.sum(axis=-1), 1, rtol=0, atol=1e-12)
        for array, kept in zip(
            (evidence.signature, evidence.group, evidence.counts, evidence.rest), before, strict=True
        ):
            assert np.array_equal(array, kept)

    @given(evidence=evidences())
    @settings(max_examples=20)
    def test_signatures_without_published_records_have_the_rest(self, name, evidence):
        inside = set(evidence.signature[evidence.group >= 0].tolist())
        fit = FITTINGS[name]()(evidence, Auto())
        for signature in set(range(evidence.signatures)) - inside:
            assert np.allclose(fit.probabilities[signature], evidence.rest, rtol=0, atol=1e-12)

    @given(evidence=evidences(signatures=1))
    @settings(max_examples=20)
    def test_one_signature_has_the_tables_shares(self, name, evidence):
        """All values belong to its records, whatever the groups."""
        total = evidence.counts.sum(axis=0)
        alike = dataclasses.replace(evidence, signature=np.zeros_like(evidence.signature), rest=total / total.sum())
        assert np.allclose(FITTINGS[name]()(alike, Auto()).probabilities, total / total.sum(), rtol=0, atol=1e-9)

    def test_the_same_seed_gives_the_same_result(self, name):
        rng = np.random.default_rng(5)
        group = np.repeat(np.arange(20), 3)
        having = rng.integers(0, 4, 20)
        evidence = Evidence(rng.integers(0, 4, 60), group, np.column_stack([having, 3 - having]), np.array([0.5, 0.5]))
        one, other = (FITTINGS[name]()(evidence, Auto()) for _ in range(2))
        assert np.array_equal(one.probabilities, other.probabilities)
        assert one.status == other.status
