"""Law of integer noise: against sums, mpmath, convolutions and simulation; what its promise means over time."""

import itertools

import mpmath
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2, norm

from foreknow.defenses import Promise, temporal_leakage
from foreknow.defenses.noisy_counts import _carried, noisy_by_opendp
from foreknow.models import MarkovChain, Noise
from foreknow.models.noise import scale_of_gain

LAWS = ("gaussian", "laplace")
NOISES = [Noise(law, scale) for law in LAWS for scale in (0.25, 1.0, 4.0, 30.0)]


def whole(noise):
    """Integers that hold all but 1e-17 of a law."""
    reach = int(40 * noise.scale) + 2
    return np.arange(-reach, reach + 1)


def fit(drawn, noise):
    """p-value of Pearson's test of draws against a law; bins with few expected draws are merged with the tails."""
    k = whole(noise)
    expected = np.exp(noise.log_probability(k)) * drawn.size
    kept = np.flatnonzero(expected >= 5)
    low, high = k[kept[0]], k[kept[-1]]
    bins = np.clip(drawn.reshape(-1), low, high) - low
    expected = np.concatenate([[expected[: kept[0] + 1].sum()], expected[kept[1:-1]], [expected[kept[-1] :].sum()]])
    found = np.bincount(bins, minlength=len(expected))
    return float(chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1))


@pytest.mark.parametrize("noise", NOISES, ids=str)
class TestLaw:
    def test_probabilities_sum_to_one_and_have_the_variance(self, noise):
        k = whole(noise)
        probability = np.exp(noise.log_probability(k))
        assert probability.sum() == pytest.approx(1, abs=1e-13)
        assert (probability * k**2).sum() == pytest.approx(noise.variance, rel=1e-10)
        np.testing.assert_allclose(np.exp(noise.log_at_most(k)), np.cumsum(probability), atol=1e-13)

    @pytest.mark.parametrize("clamped", [False, True])
    def test_likelihood_is_the_law_of_the_published_count(self, noise, clamped):
        noise = Noise(noise.law, noise.scale, clamped)
        k, most = whole(noise), 6
        expected = np.zeros((len(k) + most, most + 1))
        for n in range(most + 1):
            np.add.at(
                expected[:, n], np.maximum(k + n, 0 if clamped else k[0]) - k[0], np.exp(noise.log_probability(k))
            )
        published = np.arange(len(expected)) + k[0]
        some = (published >= 0) if clamped else np.ones(len(published), bool)
        found = np.exp(noise.log_likelihood(published[some], most))
        np.testing.assert_allclose(found, expected[some], rtol=1e-9, atol=1e-16)
        np.testing.assert_allclose(found.sum(axis=0), 1, atol=1e-12)

    def test_draws_have_the_law(self, noise):
        drawn = noise.draw((100, 200), 5)
        assert drawn.dtype == np.int64
        assert fit(drawn, noise) > 1e-4
        np.testing.assert_array_equal(noise.draw((100, 200), np.random.default_rng(5)), drawn)


@pytest.mark.parametrize("scale", [0.3, 3.7, 250.0, 9e5])
@pytest.mark.parametrize("at", [-40, -1, 0, 1, 7, 2000])
def test_probabilities_to_fifty_digits(scale, at):
    """The Gaussian normalizer is a theta function, to which 9e5 adds nothing that 250 does not show."""
    with mpmath.workdps(50):
        s = mpmath.mpf(scale)
        q = mpmath.exp(-1 / s)
        exact = mpmath.log((1 - q) / (1 + q)) - abs(at) / s
        below = q ** (-at) / (1 + q) if at < 0 else 1 - q ** (at + 1) / (1 + q)
        assert Noise("laplace", scale).log_probability(at) == pytest.approx(float(exact), rel=1e-14)
        assert Noise("laplace", scale).log_at_most(at) == pytest.approx(float(mpmath.log(below)), rel=1e-14, abs=1e-40)
        if scale < 1e3:  # the sum of the discrete Gaussian
            terms = range(1, int(14 * scale) + 60)
            total = 1 + 2 * mpmath.fsum(mpmath.exp(-((k / s) ** 2) / 2) for k in terms)
            exact = -((at / s) ** 2) / 2 - mpmath.log(total)
            assert Noise("gaussian", scale).log_probability(at) == pytest.approx(float(exact), rel=1e-13)
            if at < 0:
                tail = mpmath.fsum(mpmath.exp(-((k / s) ** 2) / 2) for k in range(-at, int(14 * scale) + 100))
                exact = mpmath.log(tail / total)
                assert Noise("gaussian", scale).log_at_most(at) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize(("law", "scale"), [("gaussian", 0.3), ("gaussian", 0.9), ("laplace", 0.2), ("laplace", 0.5)])
@pytest.mark.parametrize("changes", [1, 2, 3])
def test_loss_is_a_convolution(law, scale, changes):
    noise = Noise(law, scale)
    k = np.arange(-16, 17)
    log = noise.log_probability(np.arange(-16, 18))
    ratios, weights = np.zeros(1), np.ones(1)
    for _ in range(changes):
        ratios = (ratios[:, None] + log[:-1] - log[1:]).reshape(-1)
        weights = (weights[:, None] * np.exp(noise.log_probability(k))).reshape(-1)
    values, place = np.unique(ratios.round(8), return_inverse=True)
    expected = dict(zip(values.tolist(), np.bincount(place, weights=weights), strict=True))
    ratio, probability = noise.loss(changes)
    assert (np.diff(ratio) > 0).all()
    found = dict(zip(ratio.round(8).tolist(), probability.tolist(), strict=True))
    for value in expected | found:
        assert found.get(value, 0.0) == pytest.approx(expected.get(value, 0.0), abs=1e-12), value


class TestGain:
    @pytest.mark.parametrize(
        ("scale", "gain", "epsilon"), [(37, 0.009, 1), (19, 0.033, 2), (9.7, 0.113, 4), (5.1, 0.327, 8)]
    )
    def test_two_years_of_months(self, scale, gain, epsilon):
        promise = Promise(Noise("gaussian", scale), 24)
        assert promise.gain == pytest.approx(gain, abs=0.004)
        assert promise.epsilon_delta == pytest.approx(epsilon, abs=0.1)

    def test_belief_in_a_rare_value(self):
        """The sum of 48 noises is nearly normal: log odds move by 48 / 2 sigma^2, with deviation sqrt(48) / sigma."""
        noise = Noise("gaussian", 9.7)
        belief, probability = noise.belief(24, 0.01)
        assert (belief * probability).sum() - 0.01 == pytest.approx(0.006, abs=5e-4)
        for level in (0.5, 0.999, 1 - 1e-6):
            odds = 48 / (2 * 9.7**2) + np.sqrt(48) / 9.7 * norm.ppf(level) + np.log(0.01 / 0.99)
            assert Promise(noise, 24).quantile(0.01, level) == pytest.approx(expit(odds), rel=0.01)

    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize(("releases", "gain"), [(1, 0.3), (24, 0.1), (3, 0.999), (52, 1e-3)])
    def test_scale_of_a_gain(self, law, releases, gain):
        scale = scale_of_gain(law, releases, gain)
        assert gain * (1 - 1e-5) < Noise(law, scale).gain(releases) <= gain

    @pytest.mark.parametrize("law", LAWS)
    def test_little_noise_tells_all(self, law):
        assert Noise(law, 0.01).gain(24) == pytest.approx(1, abs=1e-12)
        assert Noise(law, 0.01).belief(1, 1.0)[0].tolist() == [1.0] * len(Noise(law, 0.01).loss(2)[0])

    @pytest.mark.parametrize("bad", [0, 1, -0.1, np.nan])
    def test_gains_without_a_scale(self, bad):
        with pytest.raises(ValueError, match="scale_of_gain: gain is"):
            scale_of_gain("laplace", 3, bad)

    def test_a_gain_that_needs_too_much_noise(self):
        with pytest.raises(ValueError, match="needs a scale over 1e\\+06; allow more gain"):
            scale_of_gain("laplace", 52, 1e-12)

    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize("m", [2, 3])
    def test_no_prior_of_one_release_has_more(self, law, m):
        """Exactly, by the sum over all noisy counts of a release: ``E sum over v of p_v (p_v - b_v) / (1 - b_v)``."""
        rng, noise = np.random.default_rng(m), Noise(law, 0.7)
        y = np.arange(-16, 18)
        log = np.stack([noise.log_probability(y), noise.log_probability(y - 1)])
        at = np.stack(np.meshgrid(*[np.arange(len(y))] * m, indexing="ij"), axis=-1).reshape(-1, m)
        given = np.stack([sum(log[int(v == s)][at[:, s]] for s in range(m)) for v in range(m)], axis=1)
        most = noise.gain(1)
        for prior in [np.full(m, 1 / m), *rng.dirichlet(np.full(m, 0.5), 30)]:
            weight = np.exp(given) * prior
            weight = weight[weight.sum(axis=1) > 0]
            belief = weight / weight.sum(axis=1, keepdims=True)
            gain = (weight.sum(axis=1) * (belief * (belief - prior) / (1 - prior)).sum(axis=1)).sum()
            assert gain <= most + 1e-8
            if m == 2:
                assert gain == pytest.approx(noise.gain(1, prior[0]), abs=1e-8)

    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize("scale", [0.8, 2.5])
    def test_no_law_of_paths_has_more(self, law, scale):
        """Random laws of paths over up to 3 releases and 2 to 6 values: mean over draws of path and noise, 4 standard errors."""
        rng, noise, draws = np.random.default_rng(8), Noise(law, scale), 4_000
        for _ in range(20):
            releases, m = int(rng.integers(1, 4)), int(rng.integers(2, 7))
            paths = np.array(list(itertools.product(range(m), repeat=releases)))
            law_of_paths = rng.dirichlet(np.full(len(paths), rng.choice([0.02, 0.3, 3.0])))
            law_of_paths = 0.999 * law_of_paths + 0.001 / len(paths)
            true = paths[rng.choice(len(paths), draws, p=law_of_paths)]
            y = noise.draw((draws, releases, m), rng) + (true[..., None] == np.arange(m))
            shift = noise.log_probability(y - 1) - noise.log_probability(y)
            logs = np.log(law_of_paths) + sum(shift[:, t, paths[:, t]] for t in range(releases))
            weight = np.exp(logs - logs.max(axis=1, keepdims=True))
            weight /= weight.sum(axis=1, keepdims=True)
            for t in range(releases):
                of_value = np.eye(m)[paths[:, t]]
                prior, belief = law_of_paths @ of_value, weight @ of_value
                gains = (belief * (belief - prior) / (1 - prior)).sum(axis=1)
                assert gains.mean() <= noise.gain(releases) + 4 * gains.std() / np.sqrt(draws) + 1e-9


class TestLeakage:
    def test_chain_that_stays(self):
        """Six values that stay with .95: epsilon .1 in each of 24 releases is 1.78 about one of them."""
        chain = MarkovChain(1, np.full((6, 6), 0.01) + 0.94 * np.eye(6))
        assert temporal_leakage(chain, 0.1, 24).max() == pytest.approx(1.78, abs=0.005)

    @pytest.mark.parametrize("epsilon", [0.1, 3.0, 100.0])
    def test_limits(self, epsilon):
        forgets, stays = MarkovChain(1, np.full((3, 3), 1 / 3)), MarkovChain(1, np.eye(3))
        np.testing.assert_allclose(temporal_leakage(forgets, epsilon, 24), epsilon)
        np.testing.assert_allclose(temporal_leakage(stays, epsilon, 24), 24 * epsilon)
        assert temporal_leakage(stays, epsilon, 1).tolist() == [epsilon]

    def test_carried_is_the_largest_ratio_over_subsets(self):
        rng = np.random.default_rng(2)
        for leak in (0.05, 1.0, 6.0):
            steps = rng.dirichlet(np.full(4, 0.5), 4) * (rng.random((4, 4)) < 0.8)
            steps[:, 0] += 1 - steps.sum(axis=1)
            grown, subsets = np.expm1(leak), list(itertools.product((0, 1), repeat=4))
            ratios = [
                (q @ s * grown + 1) / (d @ s * grown + 1) for q in steps for d in steps for s in np.array(subsets)
            ]
            assert _carried(steps, leak) == pytest.approx(np.log(max(ratios)), abs=1e-12)

    def test_no_law_of_two_releases_leaks_more(self):
        """Posterior odds of each value after all noisy counts, over the prior odds: at most e to the leakage, by enumeration."""
        rng, noise = np.random.default_rng(3), Noise("laplace", 2.0)
        table = rng.dirichlet(np.ones(2), 2)
        shift = np.array([-1.0, 1.0]) / noise.scale  # log ratio of a count of a value given a record of it, and none
        first = np.linalg.matrix_power(table, 60)[0]
        for t, leak in enumerate(temporal_leakage(MarkovChain(1, table), 2 / noise.scale, 2)):
            for signs in itertools.product((0, 1), repeat=4):
                likelihood = np.exp(shift[list(signs)]).reshape(2, 2)
                joint = first[:, None] * likelihood[0][:, None] * table * likelihood[1]
                after, before = joint.sum(axis=1 - t), (first[:, None] * table).sum(axis=1 - t)
                assert np.log(after / before).max() - np.log(after / before).min() <= leak + 1e-12

    def test_chains_of_a_larger_order_are_refused(self):
        with pytest.raises(ValueError, match="of order 2; give a chain of order 1"):
            temporal_leakage(MarkovChain(2, np.full((2, 2, 2), 0.5)), 0.1, 3)


class TestOpenDP:
    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize("scale", [1.5, 9.7])
    def test_draws_have_our_law_and_promise(self, law, scale):
        dp = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed")
        noise, counts = Noise(law, scale), np.arange(4_000).reshape(40, 100)
        drawn = noisy_by_opendp(counts, noise) - counts
        assert fit(drawn, noise) > 1e-7  # another draw in each run
        assert abs(drawn.mean()) < 6 * np.sqrt(noise.variance / drawn.size)
        assert drawn.var() == pytest.approx(noise.variance, rel=6 * np.sqrt(5 / drawn.size))
        dp.enable_features("contrib")
        releases, promise = 24, Promise(noise, 24)
        if law == "laplace":
            space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
            assert dp.m.make_laplace(*space, scale).map(2 * releases) == pytest.approx(promise.epsilon, rel=1e-9)
        else:
            space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
            found = dp.m.make_gaussian(*space, scale).map(np.sqrt(2.0 * releases))
            assert found == pytest.approx(promise.rho, rel=1e-9)
