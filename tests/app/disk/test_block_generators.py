"""Estimators that draw: beliefs from disk depend neither on the order of the blocks, the processes nor on interruptions."""

import numpy as np
import pytest
from large_history import beliefs_of, bytes_of, in_memory, parts_of, visits

from foreknow.app.disk import Engine, LargeTable, attack_large, publish_large
from foreknow.app.disk import attack as attack_module
from foreknow.app.disk.block_adversary import block_adversary
from foreknow.attacks import SequentialAttack
from foreknow.defenses import JSReduce, KAnonymity, Mondrian
from foreknow.models import Adversary, Auto, Exact, MarkovChain, Mixed, Omega, SwapChain, UniformPrior

pytestmark = pytest.mark.slow

CHAIN = MarkovChain(1, 0.6 * np.eye(4) + 0.1)


def drawing(**settings):
    return SwapChain(draws=40, chains=2, rng=1, **settings)


def adversary_with(estimator):
    return Adversary(UniformPrior(), CHAIN, estimator=estimator)


def on_disk(tmp_path, **settings):
    visits(**settings).to_parquet(tmp_path / "visits.parquet")
    return LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")


@pytest.fixture
def backwards(monkeypatch):
    """Engine whose blocks are treated from the last to the first, as processes may."""

    def results(self, function, tasks):
        return iter([function(task) for task in tasks[::-1]][::-1])

    def reverse():
        monkeypatch.setattr(Engine, "_results", results)

    return reverse


def test_an_attack_with_draws_is_the_same_in_any_order_of_the_blocks_and_goes_on(tmp_path, monkeypatch, backwards):
    published = publish_large(on_disk(tmp_path, people=80), Mondrian(KAnonymity(4)), tmp_path / "out", block=30, seed=7)
    attack_large(published, adversary_with(drawing()), tmp_path / "one")
    adversary = adversary_with(drawing())
    write_part, written = attack_module.write_part, []

    def fails(path, part):
        written.append(path)
        if len(written) == 3:
            raise KeyboardInterrupt
        write_part(path, part)

    monkeypatch.setattr(attack_module, "write_part", fails)
    with pytest.raises(KeyboardInterrupt):
        attack_large(published, adversary, tmp_path / "resumed")
    monkeypatch.undo()
    attack_large(published, adversary, tmp_path / "resumed")
    assert bytes_of(tmp_path / "resumed") == bytes_of(tmp_path / "one")
    backwards()
    attack_large(published, adversary_with(drawing()), tmp_path / "two")
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "one")
    attack_large(published, adversary_with(SwapChain(draws=40, chains=2, rng=2)), tmp_path / "other")
    assert parts_of(tmp_path / "other") != parts_of(tmp_path / "one")


def test_a_publication_with_draws_is_the_same_in_any_order_of_the_blocks(tmp_path, backwards):
    table, defense = on_disk(tmp_path, people=80, releases=2), JSReduce(3, 0.7, 0.6)
    adversary = adversary_with(drawing())
    published = publish_large(table, defense, tmp_path / "one", adversary, block=30, seed=7)
    backwards()
    publish_large(table, defense, tmp_path / "two", adversary_with(drawing()), block=30, seed=7)
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "one")
    attack_large(published, adversary, tmp_path / "beliefs")
    assert parts_of(tmp_path / "beliefs") == bytes_of(tmp_path / "one" / "private" / "beliefs")


def test_an_attack_with_draws_is_the_same_with_two_processes(tmp_path):
    published = publish_large(on_disk(tmp_path, people=80), Mondrian(KAnonymity(4)), tmp_path / "out", block=30, seed=7)
    for workers in (1, 2):
        attack_large(published, adversary_with(drawing()), tmp_path / f"{workers}", engine=Engine(1, workers))
    assert bytes_of(tmp_path / "1") == bytes_of(tmp_path / "2")


def test_a_sampled_attack_is_near_the_exact_one(tmp_path):
    """A standard error is at most .5 / sqrt(effective draws); of 800 draws at least 400 are effective in such groups."""
    frame = visits(people=80, releases=2)
    table = on_disk(tmp_path, people=80, releases=2)
    published = publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out", block=30, seed=7)
    attack_large(published, adversary_with(SwapChain(draws=400, chains=2, rng=1)), tmp_path / "sampled")
    expected = SequentialAttack(adversary_with(Exact()))(in_memory(published, frame))
    for number, release in enumerate(expected.releases):
        found = beliefs_of(tmp_path / "sampled", number, 4)
        rows = np.array([found[who] for who in release.observation.people.respondents])
        np.testing.assert_allclose(rows, release.posterior.probabilities, atol=4 * 0.5 / 20)


def test_generators_within_estimators_are_those_of_the_block():
    for estimator in (drawing(), Auto(beyond=drawing()), Mixed(large=drawing())):
        adversary = adversary_with(estimator)
        first, again, other = (block_adversary(adversary, 0, block) for block in (1, 1, 2))
        states = [generator_in(one.estimator).bit_generator.state["state"] for one in (first, again, other)]
        assert states[0] == states[1] != states[2]
        assert generator_in(estimator) is not generator_in(first.estimator)
    plain = adversary_with(Omega())
    assert block_adversary(plain, 0, 1) is plain


def generator_in(setting):
    if isinstance(setting, np.random.Generator):
        return setting
    return next(filter(None, map(generator_in, getattr(setting, "__dict__", {}).values())), None)
