"""DeFinetti attack: rounds written out over all assignments, its likelihood, and its calibration on data from its model."""

import itertools
import math

import numpy as np
import oracle
import pandas as pd
import pytest

from foreknow.attacks import DeFinettiAttack, ForegroundAttack
from foreknow.attacks.definetti import attribute_levels, best_assignment
from foreknow.models import Categorical, Exact, Numeric, Release, Schema, Status, View

SCHEMA = Schema({"town": Categorical(("x", "y", "z")), "sex": Categorical(("f", "m"))}, "ill", ("a", "b", "c"), "id")


def tiny(seed, time=1, records=9):
    """A release of groups of two to four records, one record suppressed."""
    rng = np.random.default_rng([seed, time])
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(records)],
            "town": rng.choice(list("xyz"), records),
            "sex": rng.choice(list("fm"), records),
            "ill": rng.choice(list("abc"), records),
        }
    )
    return Release(View(frame, SCHEMA, time), [0, 0, 1, 1, 1, 2, 2, 2, 2][: records - 1] + [-1])  # noqa: RUF005


def rows_of(release):
    """Records of a release as tuples of town, sex, group, and the counts of each group."""
    frame = release.view.frame
    return list(zip(frame["town"], frame["sex"], release.group, strict=True)), release.counts


def fitted(rows, weights, c):
    """Naive Bayes by its definition: P(s) and P(attribute = level | s), as functions of a record."""
    domains, total = (("x", "y", "z"), ("f", "m")), sum(map(sum, weights))

    def prior(record):
        scores = []
        for s in range(3):
            of_value = sum(w[s] for w in weights)
            score = (of_value + c) / (total + 3 * c)
            for a, domain in enumerate(domains):
                same = sum(w[s] for w, other in zip(weights, rows, strict=True) if other[a] == record[a])
                score *= (same + c) / (of_value + c * len(domain))
            scores.append(score)
        return [score / sum(scores) for score in scores]

    return prior


def by_groups(rows, counts, row_of):
    """Values of all records from the values of each group; zeros outside groups."""
    found = [[0.0] * 3 for _ in rows]
    for j, count in enumerate(counts):
        members = [i for i, record in enumerate(rows) if record[2] == j]
        for i, row in zip(members, row_of(members, count), strict=True):
            found[i] = row
    return found


class TestRounds:
    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("rounds", [1, 2, 5])
    @pytest.mark.parametrize("c", [1.0, 0.2])
    def test_soft_rounds_over_all_assignments(self, seed, rounds, c):
        release = tiny(seed)
        rows, counts = rows_of(release)
        weights = by_groups(rows, counts, lambda members, count: [list(count / len(members))] * len(members))
        for _ in range(rounds):
            law = fitted(rows, weights, c)
            prior = [law(record) for record in rows]
            weights = by_groups(
                rows,
                counts,
                lambda members, count, prior=prior: oracle.product_posterior([prior[i] for i in members], count),
            )
        attack = DeFinettiAttack(rounds=rounds, pseudo_count=c, tolerance=1e-300, estimator=Exact())
        (found,) = attack([release])
        np.testing.assert_allclose(found.prior, prior, atol=1e-12)
        np.testing.assert_allclose(found.posterior.probabilities[:-1], weights[:-1], atol=1e-12)
        np.testing.assert_allclose(found.posterior.probabilities[-1], prior[-1], atol=1e-12)

    def test_rounds_that_end_at_the_limit_are_reported(self):
        beliefs = DeFinettiAttack(rounds=2, tolerance=1e-300)([tiny(0)])
        assert (beliefs.releases[0].posterior.status & Status.UNCONVERGED).all()
        assert any("did not converge" in note for note in beliefs.notes)
        assert not DeFinettiAttack()([tiny(0)]).releases[0].posterior.status.any()

    @pytest.mark.parametrize("seed", range(6))
    def test_rounds_climb_the_posterior_density_of_the_law(self, seed):
        """Likelihood of the groups times Dirichlet densities with parameters c + 1, from the definition."""
        release, c = tiny(seed), 0.7
        rows, counts = rows_of(release)

        def density(weights):
            total = sum(map(sum, weights))
            joint, value = {}, 0.0
            for s in range(3):
                of_value = sum(w[s] for w in weights)
                share = (of_value + c) / (total + 3 * c)
                value += c * math.log(share)
                levels = {}
                for a, domain in enumerate((("x", "y", "z"), ("f", "m"))):
                    for level in domain:
                        same = sum(w[s] for w, other in zip(weights, rows, strict=True) if other[a] == level)
                        levels[a, level] = (same + c) / (of_value + c * len(domain))
                        value += c * math.log(levels[a, level])
                for record in rows:
                    joint[record[:2], s] = share * levels[0, record[0]] * levels[1, record[1]]
            for j, count in enumerate(counts):
                members = [record[:2] for record in rows if record[2] == j]
                shown = np.repeat(range(3), count)
                worlds = set(itertools.permutations(shown))
                value += math.log(sum(math.prod(joint[m, s] for m, s in zip(members, w, strict=True)) for w in worlds))
            return value

        weights = by_groups(rows, counts, lambda members, count: [list(count / len(members))] * len(members))
        densities = [density(weights)]
        for rounds in range(1, 8):
            attack = DeFinettiAttack(rounds=rounds, pseudo_count=c, tolerance=1e-300, estimator=Exact())
            beliefs = attack([release]).releases[0].posterior.probabilities
            densities.append(density([*beliefs[:-1].tolist(), [0.0] * 3]))
        assert (np.diff(densities) > -1e-10).all()

    @pytest.mark.parametrize("seed", range(12))
    def test_hard_rounds_over_all_assignments(self, seed):
        """The most probable assignment of each group, by enumeration; ties between unlike records are left out."""
        release, c, rounds = tiny(seed), 0.3, 3
        rows, counts = rows_of(release)
        weights, ties = by_groups(rows, counts, lambda m, count: [list(count / len(m))] * len(m)), []

        def best(members, count):
            """Assignments that exchange equal records count as one."""
            kinds = {
                tuple(sorted((rows[i], s) for i, s in zip(members, w, strict=True))): w
                for w in itertools.permutations(np.repeat(range(3), count))
            }
            likely = {w: math.prod(prior[i][s] for i, s in zip(members, w, strict=True)) for w in kinds.values()}
            first, *others = sorted(likely, key=likely.__getitem__, reverse=True)
            ties.append(bool(others) and likely[first] - likely[others[0]] < 1e-9)
            return [[float(s == v) for v in range(3)] for s in first]

        for _ in range(rounds):
            law = fitted(rows, weights, c)
            prior = [law(record) for record in rows]
            weights = by_groups(rows, counts, best)
        if any(ties):
            pytest.skip("an assignment is not the only best one")
        attack = DeFinettiAttack("hard", rounds=rounds, pseudo_count=c, estimator=Exact())
        np.testing.assert_allclose(attack([release]).releases[0].prior, prior, atol=1e-12)

    def test_best_assignment_is_one_of_the_best(self):
        rng = np.random.default_rng(0)
        release = tiny(3)
        prior = rng.dirichlet(np.ones(3), len(release.view))
        chosen = best_assignment(release.observation, prior)
        assert not chosen[-1].any()
        for j, count in enumerate(release.counts):
            rows = np.flatnonzero(release.group == j)
            np.testing.assert_array_equal(chosen[rows].sum(axis=0), count)
            worlds = itertools.permutations(np.repeat(range(3), count))
            largest = max(prior[rows, world].prod() for world in worlds)
            assert (prior[rows] ** chosen[rows]).prod() == pytest.approx(largest)


class TestLevels:
    def test_numbers_are_cut_at_quantiles_of_the_published_records(self):
        schema = Schema({"age": Numeric(0, 99), "town": Categorical(("x", "y"))}, "ill", ("a", "b"), "id")
        ages, towns = [10, 20, 30, 40, 50, 60, 70, 80, 99], list("xyxyxyxyx")
        frame = pd.DataFrame({"id": range(9), "age": ages, "town": towns, "ill": list("ababababa")})
        seen = Release(View(frame, schema), [0] * 8 + [-1]).observation
        levels, attribute = attribute_levels([seen], 4)
        assert levels[:, 0].tolist() == [0, 1, 1, 2, 2, 3, 3, 3, 3]  # the cuts are 20, 40 and 60
        assert (levels[:, 1] - 4).tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 0]
        assert attribute.tolist() == [0] * 4 + [1] * 2

    def test_few_numbers_are_levels_of_their_own(self):
        schema = Schema({"age": Numeric(0, 99)}, "ill", ("a", "b"), "id")
        frame = pd.DataFrame({"id": range(4), "age": [7, 3, 7, 90], "ill": list("abab")})
        levels, _ = attribute_levels([Release(View(frame, schema), [0] * 4).observation], 8)
        assert levels[:, 0].tolist() == [1, 0, 1, 2]


class TestSettings:
    RELEASES = (tiny(1, 1), tiny(2, 2), tiny(3, 3))

    def test_learned_from_each_release_alone(self):
        together = DeFinettiAttack()(self.RELEASES)
        for release in self.RELEASES:
            assert together.posterior(release.time).equals(DeFinettiAttack()([release]).posterior(release.time))

    def test_learned_from_the_past(self):
        """The last release's law is that of all; earlier beliefs do not change with later releases."""
        past, whole = (DeFinettiAttack(learned_from=how)(self.RELEASES) for how in ("past", "all"))
        assert past.posterior(3).equals(whole.posterior(3))
        assert past.posterior(1).equals(DeFinettiAttack()(self.RELEASES[:1]).posterior(1))
        assert not whole.posterior(1).equals(past.posterior(1))

    def test_pooled_releases_are_one_large_table(self):
        """Three releases together, and one release of all their records, teach the same law."""
        frame = pd.concat([r.view.frame.assign(id=r.view.frame["id"] + f"-{r.time}") for r in self.RELEASES])
        group = np.concatenate([np.where(r.group < 0, -1, r.group + 3 * i) for i, r in enumerate(self.RELEASES)])
        one = DeFinettiAttack()([Release(View(frame, SCHEMA, 9), group)]).posterior(9)
        pooled = pd.concat([DeFinettiAttack(learned_from="all")(self.RELEASES).posterior(t) for t in (1, 2, 3)])
        np.testing.assert_allclose(one.to_numpy(), pooled.to_numpy(), atol=1e-12)

    def test_releases_of_other_attributes_are_not_pooled(self):
        schema = Schema({"town": Categorical(("x", "y", "z"))}, "ill", ("a", "b", "c"), "id")
        other = Release(View(self.RELEASES[1].view.frame, schema, 2), self.RELEASES[1].group)
        with pytest.raises(
            ValueError, match=r"quasi-identifiers or the sensitive domain at 2 are not those at 1; learn"
        ):
            DeFinettiAttack(learned_from="all")([self.RELEASES[0], other])
        assert DeFinettiAttack()([self.RELEASES[0], other]).times == (1, 2)

    @pytest.mark.parametrize("assignments", ["soft", "hard"])
    def test_groups_of_equal_shares_teach_nothing(self, assignments):
        frame = pd.DataFrame({"id": range(6), "town": list("xyzxyz"), "sex": list("fmfmfm"), "ill": list("abcabc")})
        beliefs = DeFinettiAttack(assignments)([Release(View(frame, SCHEMA, 1), [0, 0, 0, 1, 1, 1])])
        assert any("all groups show the same shares" in note for note in beliefs.notes)
        if assignments == "soft":
            np.testing.assert_allclose(beliefs.posterior(1), 1 / 3)

    @pytest.mark.parametrize(
        ("settings", "match"),
        [
            ({"assignments": "both"}, "assignments is 'both'; it is one of 'soft', 'hard'"),
            ({"learned_from": 1}, "learned_from is 1; it is one of 'release', 'past', 'all'"),
            ({"bins": 0}, "bins is 0; it is a number of bins"),
            ({"pseudo_count": 0}, "pseudo_count is 0; it is a positive finite number"),
            ({"estimator": Exact}, "estimator is the class Exact"),
            ({"tolerance": -1}, "tolerance is -1"),
            ({"rounds": 1.5}, "iterations is 1.5"),
        ],
    )
    def test_wrong_settings(self, settings, match):
        with pytest.raises((TypeError, ValueError), match=f"DeFinettiAttack: {match}"):
            DeFinettiAttack(**settings)


def drawn_from_the_model(people, size, rng):
    """Records of naive Bayes with four attributes, in random groups of equal size."""
    kinds = {
        name: Categorical(tuple(f"{name}{i}" for i in range(levels)))
        for name, levels in zip("pqrs", (2, 3, 4, 5), strict=True)
    }
    schema = Schema(kinds, "ill", tuple("abcd"), "id")
    value = rng.choice(4, people, p=[0.4, 0.3, 0.2, 0.1])
    frame = pd.DataFrame({"id": np.arange(people), "ill": np.array(list("abcd"))[value]})
    for name, kind in kinds.items():
        law = rng.dirichlet(np.full(len(kind.values), 0.7), 4)
        level = (rng.random(people)[:, None] > law[value].cumsum(axis=1)[:, :-1]).sum(axis=1)
        frame[name] = np.array(kind.values, dtype=object)[level]
    return value, Release(View(frame, schema), np.arange(people) // size)


class TestCalibration:
    """Data drawn from the model: the mean belief equals the frequency of the true value, within four standard errors."""

    @staticmethod
    def excess(beliefs, value, size):
        """Mean of the largest belief less the frequency with which it is right, and its standard error over groups."""
        rows = beliefs.releases[0].posterior.probabilities
        difference = (rows.max(axis=1) - (rows.argmax(axis=1) == value)).reshape(-1, size).mean(axis=1)
        return difference.mean(), difference.std(ddof=1) / math.sqrt(len(difference))

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(3))
    def test_all_attributes_at_once_are_calibrated_and_the_worst_set_is_not(self, seed):
        value, release = drawn_from_the_model(6000, 4, np.random.default_rng(seed))
        learned, error = self.excess(DeFinettiAttack(tolerance=1e-4)([release]), value, 4)
        assert abs(learned) < 4 * error
        worst, error = self.excess(ForegroundAttack(support=30)([release]), value, 4)
        assert worst > 0.02
        assert worst > 4 * error

    @pytest.mark.parametrize("seed", range(3))
    def test_beliefs_of_each_size_are_right_as_often(self, seed):
        value, release = drawn_from_the_model(6000, 4, np.random.default_rng(seed))
        rows = DeFinettiAttack(tolerance=1e-4)([release]).releases[0].posterior.probabilities
        truth = np.eye(4)[value]
        for low in np.arange(0, 1, 0.1):
            chosen = (rows >= low) & (rows < low + 0.1)
            if chosen.sum() > 200:
                difference = ((rows - truth) * chosen).reshape(-1, 4, 4).sum(axis=(1, 2))
                error = math.sqrt(len(difference)) * difference.std(ddof=1)
                assert abs(difference.sum()) < 4.5 * error

    def test_it_learns_more_than_the_shares_of_the_groups(self):
        value, release = drawn_from_the_model(6000, 4, np.random.default_rng(0))
        rows = DeFinettiAttack()([release]).releases[0].posterior.probabilities
        shares = (release.counts / 4)[release.group]
        truth = np.arange(len(value)), value
        assert np.log2(rows[truth]).mean() > np.log2(shares[truth]).mean() + 0.3
