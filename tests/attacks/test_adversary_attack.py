"""Attacks with an averaged adversary, against enumeration over draws and assignments."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from strategies import history_of, view_of

from foreknow.attacks import (
    Influence,
    JointAttack,
    RetrospectiveAttack,
    SequentialAttack,
    SignatureAttack,
    SnapshotAttack,
)
from foreknow.attacks.adversary_attack import DrawWeights, mixture
from foreknow.defenses import KAnonymity, MInvariance, Mondrian, publish
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    Enumeration,
    Exact,
    GivenPrior,
    GroupGraph,
    MarkovChain,
    MaxEntropy,
    PathSampler,
    PriorCascade,
    Release,
    SwapChain,
    UniformPrior,
)
from foreknow.models.joint.signatures import read_signatures
from foreknow.models.notes import Note
from foreknow.testing import check_attack

IDS = "ABCD"
ATTACKS = (SequentialAttack, SnapshotAttack, JointAttack, RetrospectiveAttack, SignatureAttack)
"""Every attack with an adversary that has beliefs."""


def releases(seed=0, times=3):
    rng = np.random.default_rng(seed)
    views = [(IDS, "".join(rng.choice(list("abc"), len(IDS)))) for _ in range(times)]
    return publish(history_of(*views), Mondrian(KAnonymity(2)), rng=seed)


def releases_for(attack):
    """Releases that an attack reads: of m-invariance for the attack on it."""
    if attack is not SignatureAttack:
        return releases()
    return publish(history_of((IDS, "abca"), (IDS, "abba"), (IDS, "cbba"), domain="abc"), MInvariance(2), rng=1)


def priors(rng):
    return GivenPrior(pd.DataFrame(rng.dirichlet(np.ones(3), len(IDS)), index=list(IDS), columns=list("abc")))


def chains(number, rng):
    return [MarkovChain(1, rng.dirichlet(np.ones(3), 3)) for _ in range(number)]


def joint_mixture(published, adversaries, weights):
    """Beliefs at each release given all, by enumeration of (draw, joint assignment)."""
    observations = [release.observation for release in published]
    options = []
    for seen in observations:
        possible = []
        for values in itertools.product(range(3), repeat=len(IDS)):
            counts = np.zeros_like(seen.counts)
            np.add.at(counts, (seen.group, np.array(values)), 1)
            if (counts == seen.counts).all():
                possible.append(values)
        options.append(possible)
    rows = [{r: i for i, r in enumerate(seen.people.respondents)} for seen in observations]
    found, total = [np.zeros((len(IDS), 3)) for _ in observations], 0.0
    for adversary, weight in zip(adversaries, weights, strict=True):
        prior, table = adversary.prior_rows(observations[0].people), adversary.transitions.probabilities
        for paths in itertools.product(*options):
            product = weight
            for person in IDS:
                values = [paths[t][rows[t][person]] for t in range(len(paths))]
                product *= prior[rows[0][person], values[0]]
                product *= np.prod([table[a, b] for a, b in itertools.pairwise(values)])
            total += product
            for t, values in enumerate(paths):
                found[t][np.arange(len(IDS)), list(values)] += product
    return [one / total for one in found]


class TestJoint:
    @pytest.mark.parametrize("solver", [Enumeration(), GroupGraph()])
    def test_beliefs_in_hindsight_are_those_of_enumeration_over_draws_and_assignments(self, solver):
        rng = np.random.default_rng(7)
        prior, published = priors(rng), releases()
        adversaries = [Adversary(prior, chain) for chain in chains(5, rng)]
        weights = rng.dirichlet(np.ones(5))
        beliefs = JointAttack(Averaged(adversaries, weights), solver)(published)
        for one, wanted in zip(beliefs, joint_mixture(published, adversaries, weights), strict=True):
            assert one.posterior.probabilities == pytest.approx(wanted, abs=1e-10)

    def test_beliefs_at_the_last_release_are_the_same_forward_and_in_hindsight(self):
        rng = np.random.default_rng(8)
        adversary = Averaged([Adversary(priors(rng), chain) for chain in chains(3, rng)], updated=False)
        forward, hindsight = (JointAttack(adversary, Enumeration(), h)(releases()) for h in (False, True))
        last = [list(beliefs)[-1].posterior.probabilities for beliefs in (forward, hindsight)]
        assert last[0] == pytest.approx(last[1], abs=1e-10)


class TestForward:
    def test_beliefs_at_one_release_are_those_of_enumeration_over_draws_and_assignments(self):
        rng = np.random.default_rng(9)
        adversaries = [Adversary(priors(rng), chain, estimator=Exact()) for chain in chains(4, rng)]
        published = releases(times=1)
        wanted = joint_mixture(published, adversaries, np.full(4, 0.25))[0]
        for attack in (SequentialAttack, SnapshotAttack):
            [one] = attack(Averaged(adversaries))(published)
            assert one.posterior.probabilities == pytest.approx(wanted, abs=1e-9)

    @pytest.mark.parametrize("attack", ATTACKS)
    def test_one_draw_is_that_adversary(self, attack):
        rng = np.random.default_rng(10)
        adversary, published = Adversary(priors(rng), chains(1, rng)[0]), releases_for(attack)
        for one, other in zip(attack(Averaged([adversary]))(published), attack(adversary)(published), strict=True):
            for stage in ("prior", "revised", "posterior"):
                assert one.beliefs(stage) == pytest.approx(other.beliefs(stage), abs=1e-12)

    @pytest.mark.parametrize("attack", ATTACKS)
    def test_equal_draws_are_that_adversary(self, attack):
        rng = np.random.default_rng(11)
        adversary, published = Adversary(priors(rng), chains(1, rng)[0]), releases_for(attack)
        averaged = attack(Averaged([adversary] * 3, weights=[1, 2, 3]))(published)
        for one, other in zip(averaged, attack(adversary)(published), strict=True):
            for stage in ("prior", "revised", "posterior"):
                assert one.beliefs(stage) == pytest.approx(other.beliefs(stage), abs=1e-12)

    def test_the_mixture_is_not_the_belief_under_the_mean(self):
        stay = [MarkovChain(1, np.array([[p, 1 - p], [1 - p, p]])) for p in (0.01, 0.99)]
        mean = MarkovChain(1, np.full((2, 2), 0.5))
        published = publish(history_of(("AB", "ab"), ("AB", "ab"), domain="ab"), Mondrian(KAnonymity(2)), rng=1)
        sure = GivenPrior(pd.DataFrame([[0.99, 0.01], [0.5, 0.5]], index=["A", "B"], columns=["a", "b"]))
        averaged = SequentialAttack(Averaged([Adversary(sure, chain) for chain in stay], [0.2, 0.8]))(published)
        under_mean = SequentialAttack(Adversary(sure, mean))(published)
        assert averaged.posterior(2).loc["A", "a"] == pytest.approx(0.8, abs=0.05)
        assert under_mean.posterior(2).loc["A", "a"] == pytest.approx(0.5, abs=1e-9)


FOLLOWED = (("AB", "ab"), ("AC", "bc"), ("AD", "cb"))
"""Respondents and values of the group of each release. Only A is in several, so that a filter of marginal beliefs is exact."""

SIGNED = (("AB", "ab"), ("AC", "ba"), ("AD", "cb"))
"""The same for m-invariance. Each value has one signature in each release, so that every share is 1; no one is a counterfeit."""


def published_of(groups):
    return [Release(view_of(ids, values, time=t), [0, 0]) for t, (ids, values) in enumerate(groups, 1)]


def weights_of_paths(adversary, groups, factor=lambda release, before, after: 1.0):  # noqa: ARG005
    """Probability of the groups and of each path of A, by enumeration: float array, shape ``(3,) * len(groups)``."""
    found = np.zeros((3,) * len(groups))
    prior = dict(zip(IDS, adversary.prior_rows(view_of(IDS, "aaaa").people), strict=True))
    table = adversary.transitions.probabilities
    for path in itertools.product(range(3), repeat=len(groups)):
        if all("abc"[own] in values for own, (_, values) in zip(path, groups, strict=True)):
            steps = enumerate(itertools.pairwise(path), 1)
            weight = prior["A"][path[0]] * np.prod([table[a, b] * factor(t, a, b) for t, (a, b) in steps])
            for own, (ids, values) in zip(path, groups, strict=True):
                weight *= prior[ids[1]]["abc".index(values.replace("abc"[own], ""))]
            found[path] = weight
    return found


def mixed_belief(weights, axis):
    """Belief about A at a release: mixture over draws of unnormalized weights of paths."""
    total = sum(weights)
    rows = total.sum(axis=tuple(a for a in range(total.ndim) if a != axis))
    return rows / rows.sum()


class TestRetrospective:
    def test_beliefs_about_a_follower_are_those_of_enumeration_over_draws_and_paths(self):
        rng = np.random.default_rng(20)
        adversaries = [Adversary(priors(rng), chain, estimator=Exact()) for chain in chains(4, rng)]
        weights = rng.dirichlet(np.ones(4))
        published = published_of(FOLLOWED)
        beliefs = RetrospectiveAttack(Averaged(adversaries, weights))(published)
        each = [w * weights_of_paths(one, FOLLOWED) for w, one in zip(weights, adversaries, strict=True)]
        evidence = np.array([one.sum() for one in each])
        assert beliefs.draws.weights == pytest.approx(np.tile(evidence / evidence.sum(), (3, 1)), abs=1e-9)
        for t in range(3):
            assert beliefs.posterior(t + 1).loc["A"].to_numpy() == pytest.approx(mixed_belief(each, t), abs=1e-9)

    def test_revised_priors_are_weighed_by_the_releases_before(self):
        rng = np.random.default_rng(21)
        adversaries = [Adversary(priors(rng), chain, estimator=Exact()) for chain in chains(4, rng)]
        published = published_of(FOLLOWED)
        averaged = Averaged(adversaries)
        beliefs, forward = (attack(averaged)(published) for attack in (RetrospectiveAttack, SequentialAttack))
        each = [weights_of_paths(one, FOLLOWED[:2]).sum(axis=0) @ one.transitions.probabilities for one in adversaries]
        wanted = sum(each) / sum(one.sum() for one in each)
        assert beliefs.revised(3).loc["A"].to_numpy() == pytest.approx(wanted, abs=1e-9)
        for t in (1, 2, 3):
            assert beliefs.revised(t).to_numpy() == pytest.approx(forward.revised(t).to_numpy(), abs=1e-12)


class TestSignatures:
    def test_beliefs_are_those_of_enumeration_over_draws_and_paths(self):
        def factor(release, before, after):
            """A kept value keeps the signature. The second release has that of the first, the third another."""
            return float(before != after or release == 1)

        rng = np.random.default_rng(22)
        adversaries = [Adversary(priors(rng), chain, estimator=Exact()) for chain in chains(4, rng)]
        weights = rng.dirichlet(np.ones(4))
        beliefs = SignatureAttack(Averaged(adversaries, weights))(published_of(SIGNED))
        for times in (1, 2, 3):
            each = [
                w * weights_of_paths(one, SIGNED[:times], factor) for w, one in zip(weights, adversaries, strict=True)
            ]
            evidence = np.array([one.sum() for one in each])
            assert beliefs.draws.weights[times - 1] == pytest.approx(evidence / evidence.sum(), abs=1e-9)
            row = beliefs.posterior(times).loc["A"].to_numpy()
            assert row == pytest.approx(mixed_belief(each, times - 1), abs=1e-9)

    def test_the_joint_attack_forward_has_the_same_weights(self):
        rng = np.random.default_rng(23)
        averaged = Averaged([Adversary(priors(rng), chain, estimator=Exact()) for chain in chains(3, rng)])
        one = SignatureAttack(averaged)(published_of(SIGNED))
        other = JointAttack(averaged, Enumeration(), hindsight=False, signatures=True)(published_of(SIGNED))
        assert other.draws.weights == pytest.approx(one.draws.weights, abs=1e-12)
        assert other.posterior(3).loc["A"].to_numpy() == pytest.approx(one.posterior(3).loc["A"].to_numpy(), abs=1e-9)

    @pytest.mark.parametrize("solver", [Enumeration(), PathSampler(rng=1)])
    def test_the_joint_attack_in_hindsight_weighs_all_signatures(self, solver):
        """Sum over all assignments of four respondents with the rule written out, given the shares of each draw."""
        groups = (("ab", "bc"), ("ba", "bc"), ("cb", "ab"))
        published = [Release(view_of(IDS, "".join(values), time=t), [0, 0, 1, 1]) for t, values in enumerate(groups, 1)]
        rng, found = np.random.default_rng(25), []
        adversaries = [Adversary(priors(rng), chain, estimator=Exact()) for chain in chains(4, rng)]
        weights = rng.dirichlet(np.ones(4))
        shown = [[frozenset(values) for values in of_release] for of_release in groups]
        options = [
            [
                "".join(pair)
                for pair in itertools.product(*(map("".join, itertools.permutations(v)) for v in of_release))
            ]
            for of_release in groups
        ]
        for adversary in adversaries:
            _, laws = read_signatures(adversary, [release.observation for release in published])
            prior, table = adversary.prior_rows(published[0].view.people), adversary.transitions.probabilities
            total = 0.0
            for values in itertools.product(*options):
                weight = 1.0
                for person in range(4):
                    own = ["abc".index(row[person]) for row in values]
                    received = [law.shares[person // 2, code] for law, code in zip(laws, own, strict=True)]
                    weight *= prior[person, own[0]] * received[0]
                    for t in (1, 2):
                        same = shown[t][person // 2] == shown[t - 1][person // 2]
                        kept = own[t] == own[t - 1]
                        weight *= table[own[t - 1], own[t]] * (float(same) if kept else received[t])
                total += weight
            found.append(total)
        beliefs = JointAttack(Averaged(adversaries, weights), solver, signatures=True)(published)
        wanted = weights * found / (weights @ found)
        assert beliefs.draws.weights[0] == pytest.approx(wanted, abs=1e-9 if isinstance(solver, Enumeration) else 0.1)


class TestDraws:
    def test_the_spread_is_the_weighted_standard_deviation(self):
        rng = np.random.default_rng(12)
        adversaries = [Adversary(priors(rng), chain) for chain in chains(3, rng)]
        beliefs = SequentialAttack(Averaged(adversaries))(releases())
        each = [SequentialAttack(one)(releases()) for one in adversaries]
        weights, rows = beliefs.draws.weights[2], np.stack([b.posterior(3).to_numpy() for b in each])
        mean = np.einsum("d,dnm->nm", weights, rows)
        assert beliefs.posterior(3).to_numpy() == pytest.approx(mean)
        wanted = np.sqrt(np.einsum("d,dnm->nm", weights, (rows - mean) ** 2))
        assert beliefs.spread(3).to_numpy() == pytest.approx(wanted)

    def test_a_draw_that_the_releases_contradict_has_no_weight(self):
        published = publish(history_of(("AB", "aa"), domain="ab"), Mondrian(KAnonymity(2)), rng=1)
        good, bad = (
            Adversary(GivenPrior(pd.DataFrame([[p, 1 - p]] * 2, index=["A", "B"], columns=["a", "b"])))
            for p in (0.5, 0.0)
        )
        beliefs = SequentialAttack(Averaged([good, bad]))(published)
        assert beliefs.draws.weights[0] == pytest.approx([1, 0], abs=1e-12)
        assert any("effective number of 1.0 of 2 draws" in note for note in beliefs.notes)

    def test_weights_stay_where_the_releases_do_not_update_them(self):
        rng = np.random.default_rng(13)
        averaged = Averaged([Adversary(priors(rng), chain) for chain in chains(3, rng)], updated=False)
        assert JointAttack(averaged, MaxEntropy())(releases()).draws.weights == pytest.approx(1 / 3)

    def test_beliefs_of_one_knowledge_have_no_spread(self):
        with pytest.raises(ValueError, match="have no draws; attack with an Averaged adversary"):
            SequentialAttack(Adversary(UniformPrior()))(releases()).spread(1)

    def test_a_tree_for_arviz_holds_draws_resampled_by_weight(self):
        rng = np.random.default_rng(15)
        averaged = Averaged(
            [Adversary(priors(rng), chain) for chain in chains(4, rng)], [0.5, 0.25, 0.25, 0], updated=False
        )
        beliefs = SequentialAttack(averaged)(releases())
        belief = beliefs.to_datatree()["posterior"]["belief"]
        assert belief.shape == (1, 4, 3, 4, 3)
        mean = belief.mean(("chain", "draw")).sel(release=2).to_numpy()
        assert mean == pytest.approx(beliefs.posterior(2).loc[belief["respondent"].values].to_numpy())

    def test_a_tree_for_arviz_holds_the_diagnostics_of_a_sampler(self):
        adversary = Adversary(UniformPrior(), estimator=SwapChain(rng=1))
        tree = SequentialAttack(adversary)(releases()).to_datatree()
        assert set(tree["diagnostics"].data_vars) == {"standard_error", "ess", "rhat"}
        assert tree["diagnostics"]["rhat"].dims == ("release", "respondent", "value")


class TestNotes:
    """Beliefs under three draws with notes, and numbers of divergent draws, that a sampler might have given."""

    HEAD = "the beliefs in {number:,} of {groups:,} groups did not converge, with an error of at most {error:.1e}."
    OTHER = "knowledge excludes {number} groups. The first is group {example} at 2, of 'p7'."

    def mixed(self, notes, divergences=((0, 1), (2, 0), (5, 5)), weights=((0.5, 0.495, 0.005),)):
        [one] = SequentialAttack(Adversary(UniformPrior()))(releases(times=1))
        each = [
            Beliefs(
                (dataclasses.replace(one, posterior=dataclasses.replace(one.posterior, divergences=np.array(count))),),
                notes=note,
            )
            for note, count in zip(notes, divergences, strict=True)
        ]
        return mixture(each, DrawWeights(np.full(3, 1 / 3), np.array(weights), np.array(weights)))

    def test_notes_that_differ_in_numbers_are_one_with_ranges(self):
        notes = [
            ("repeated.", Note(self.HEAD, number=7, groups=1200, error=2.5e-5)),
            (
                "repeated.",
                Note(self.HEAD, number=1100, groups=1200, error=0.3),
                Note(self.OTHER, number=1, example="5"),
            ),
            (
                "repeated.",
                Note(self.HEAD, number=11, groups=1200, error=1e-7),
                Note(self.OTHER, number=3, example="9"),
            ),
        ]
        assert self.mixed(notes).notes == (
            "repeated.",
            "under 3 of 3 draws: the beliefs in 7 to 1,100 of 1,200 groups did not converge, with an error of at most 1.0e-07 to "
            "3.0e-01.",
            "under 2 of 3 draws: knowledge excludes 1 to 3 groups. The first is group 5 at 2, of 'p7'.",
        )

    def test_a_note_of_some_draws_has_their_number(self):
        assert self.mixed([("alone.",), (), ("alone.",)]).notes == ("under 2 of 3 draws: alone.",)

    def test_divergent_draws_are_the_total_of_the_draws_with_weight(self):
        assert self.mixed([(), (), ()]).releases[0].posterior.divergences.tolist() == [2, 1]

    def test_tempering_is_that_of_the_last_release(self):
        rng = np.random.default_rng(14)
        adversaries = [Adversary(priors(rng), chain) for chain in chains(4, rng)]
        beliefs = SequentialAttack(Averaged(adversaries, min_effective=0.99))(releases())
        assert any("At the last release, their probability is raised to the power of 0." in n for n in beliefs.notes)


class TestMonteCarlo:
    """Standard error, effective sample size and R-hat of a mixture, by hand and for one draw."""

    def mixed(self, weights, *each):
        """Mixture of draws of (standard error, effective sample size, R-hat), None for those that are not sampled."""
        [one] = SequentialAttack(Adversary(UniformPrior()))(releases(times=1))
        shape = one.posterior.probabilities.shape
        draws = []
        for numbers in each:
            given = (None, None, None) if numbers is None else [np.full(shape, float(number)) for number in numbers]
            posterior = dataclasses.replace(one.posterior, standard_error=given[0], ess=given[1], rhat=given[2])
            draws.append(Beliefs((dataclasses.replace(one, posterior=posterior),)))
        rows = np.array([weights])
        posterior = mixture(draws, DrawWeights(rows[0], rows, rows)).releases[0].posterior
        return [None if x is None else x[0, 0] for x in (posterior.standard_error, posterior.ess, posterior.rhat)]

    def test_draws_with_weights_in_proportion_to_their_sizes_have_the_sum_of_the_sizes(self):
        found = self.mixed([0.25, 0.75], (0.04, 100, 1.0), (0.02, 300, 1.2))
        assert found == pytest.approx([np.hypot(0.01, 0.015), 400, 1.2])

    def test_a_draw_without_weight_does_not_count(self):
        found = self.mixed([0.5, 0.5, 0.0], (0.04, 100, 1.0), (0.03, 100, 1.1), (np.inf, 1, np.inf))
        assert found == pytest.approx([0.025, 200, 1.1])

    def test_a_value_that_is_impossible_under_a_draw_has_no_error_there(self):
        assert self.mixed([0.5, 0.5], (0.04, 100, 1.1), (0.0, 0, np.nan)) == pytest.approx([0.02, 400, 1.1])
        assert self.mixed([0.5, 0.5], (0.0, 0, 1.0), (0.0, 0, 1.0)) == [0.0, 0.0, 1.0]

    def test_a_draw_that_is_not_sampled_has_no_error(self):
        assert self.mixed([0.5, 0.5], (0.04, 100, 1.1), None) == pytest.approx([0.02, 400, 1.1])
        assert self.mixed([0.5, 0.5], None, None) == [None] * 3

    def test_the_mean_of_independent_chains_has_that_size(self):
        """Means of 20 and 60 normal numbers, with weights of one half: 1 / (.25 / 20 + .25 / 60) = 60 numbers."""
        rng = np.random.default_rng(6)
        means = [rng.normal(size=(40_000, size)).mean(axis=1) for size in (20, 60)]
        found = self.mixed([0.5, 0.5], (1, 20, 1), (1, 60, 1))
        assert found[1] == pytest.approx(1 / np.var((means[0] + means[1]) / 2), rel=0.05)

    def test_one_draw_has_its_own(self):
        adversary = Adversary(UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3)), estimator=SwapChain(rng=1))
        one, other = (SequentialAttack(each)(releases()).at(2).posterior for each in (Averaged([adversary]), adversary))
        for name in ("standard_error", "ess", "rhat"):
            assert getattr(one, name) == pytest.approx(getattr(other, name))


class TestConformance:
    @pytest.mark.slow
    @pytest.mark.parametrize("attack", ATTACKS)
    def test_attacks_with_an_averaged_adversary_conform(self, attack):
        hindsight = attack in (JointAttack, RetrospectiveAttack)
        check_attack(lambda adversary: attack(Averaged([adversary, adversary])), hindsight=hindsight)

    @pytest.mark.parametrize("attack", ATTACKS)
    def test_no_release_gives_no_beliefs(self, attack):
        rng = np.random.default_rng(24)
        beliefs = attack(Averaged([Adversary(priors(rng), chain) for chain in chains(2, rng)]))([])
        assert len(beliefs) == 0
        assert beliefs.draws.weights.shape == (0, 2)

    @pytest.mark.parametrize("attack", [RetrospectiveAttack, SignatureAttack])
    def test_every_draw_needs_transitions_of_order_1(self, attack):
        chain = MarkovChain(1, np.eye(3))
        with pytest.raises(ValueError, match=f"{attack.__name__} needs transitions of order 1"):
            attack(Averaged([Adversary(UniformPrior(), chain), Adversary(UniformPrior())]))

    def test_influence_takes_no_draws(self):
        with pytest.raises(TypeError, match="and not Averaged"):
            Influence(Averaged([Adversary(UniformPrior(), cascade=PriorCascade())]))
