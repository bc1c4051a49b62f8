"""Laws of tables on disk, by a Hypothesis state machine: a population is recorded, published, attacked and measured in any order.

Groups, beliefs and measures are those in memory. Runs are interrupted and go on, and damaged files are named.
A twentieth of the examples of the profile, and a sixtieth for defenses whose blocks are not of near records.
"""

import tempfile
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from large_history import beliefs_of, bytes_of, in_memory

from foreknow.app.disk import (
    Engine,
    LargeTable,
    attack_large,
    measure_large,
    publish_large,
    published_block,
    verify_large,
)
from foreknow.app.disk import attack as attack_module
from foreknow.app.disk import partition as exact_counts
from foreknow.app.disk import partition as partition_beliefs
from foreknow.app.disk.begun_runs import AlreadyComplete
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.publication import differences, listing_of
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import (
    BKAA,
    Anatomy,
    DistinctDiversity,
    FrequencyDiversity,
    FullDomain,
    Infeasible,
    JSReduce,
    KAnonymity,
    Mondrian,
    TCloseness,
    publish,
)
from foreknow.evaluation import (
    adversary_gain,
    brier_score,
    discernibility,
    success_rate,
    suppressed,
    total_risk,
    verify,
)
from foreknow.models import (
    Adversary,
    Auto,
    Exact,
    GroupMessages,
    History,
    MarkovChain,
    MaxEntropy,
    Omega,
    Sinkhorn,
    UniformPrior,
)

pytestmark = pytest.mark.slow

NAMES, VALUES = [f"p{number}" for number in range(30)], ("a", "b", "c")
STAYS, CYCLE = MarkovChain(1, 0.7 * np.eye(3) + 0.1), MarkovChain(1, np.eye(3)[[1, 2, 0]])
ASSUMED = Adversary(UniformPrior(), STAYS, estimator=Omega())
CLOSE = TCloseness(0.45)
NEAR = (
    *((Mondrian(KAnonymity(2) & CLOSE), None), (JSReduce(2, 0.45, 0.9, patience=6), None)),
    *((BKAA(2, 1.5, 0.9, patience=6), None), (BKAA(2, 1.5, 0.9, patience=6, leftovers="suppress"), None)),
    (JSReduce(2, 0.6, 0.9, also=DistinctDiversity(2), judged="view"), KAnonymity(2) & DistinctDiversity(2)),
)  # fmt: skip
"""Defenses, each with what it promises in the published table if that is not its requirement."""
LEVELS = ((FullDomain(KAnonymity(2)), None), (FullDomain(KAnonymity(2) & TCloseness(0.7)), None))
RANDOM = ((Anatomy(2), FrequencyDiversity(2)),)
ATTACKS = (
    *(partial(SequentialAttack), partial(JointAttack, solver=GroupMessages(1e-7, 50_000))),
    partial(JointAttack, solver=MaxEntropy(1e-7, 50_000), hindsight=False),
)  # fmt: skip
cells = st.tuples(st.integers(20, 27), st.sampled_from("fm"), st.sampled_from(VALUES))


class Tables(RuleBasedStateMachine):
    """A population with a growing table on disk, its last publication, and the beliefs of its last attack."""

    defenses = NEAR

    def __init__(self):
        super().__init__()
        self.folder, self.numbers = tempfile.TemporaryDirectory(), count()
        self.present, self.rows, self.weeks = {}, [], 0
        self.published = self.attacked = None

    def teardown(self):
        self.folder.cleanup()

    def path(self, name):
        return Path(self.folder.name) / f"{next(self.numbers)}-{name}"

    # --- the population -----------------------------------------------------------------------------------------------

    # Hypothesis leaves out some rules in each example; without a first publication, most had nothing to attack.
    @initialize(
        people=st.dictionaries(st.sampled_from(NAMES), cells, min_size=18),
        weeks=st.integers(1, 3),
        number=st.integers(0, 9),
        block=st.integers(3, 8),
    )
    def first_publication(self, people, weeks, number, block):
        assume({value for *_, value in people.values()} == set(VALUES))  # the chains are over all values
        self.present = dict(people)
        for _ in range(weeks):
            self.record()
        self.publish(number, block, 0, None)

    @rule(people=st.dictionaries(st.sampled_from(NAMES), cells, min_size=1, max_size=8))
    def arrive_or_change(self, people):
        self.present |= people

    @precondition(lambda self: len(self.present) > 2)
    @rule(data=st.data())
    def depart(self, data):
        del self.present[data.draw(st.sampled_from(sorted(self.present)))]

    @precondition(lambda self: self.present and self.weeks < 4)
    @rule()
    def record(self):
        self.rows += [(name, *cells, self.weeks) for name, cells in self.present.items()]
        self.weeks += 1

    # --- publication --------------------------------------------------------------------------------------------------

    @rule(
        number=st.integers(0, 9),
        block=st.integers(3, 20),
        seed=st.integers(0, 9),
        stop=st.none() | st.integers(1, 20),
    )
    def publish(self, number, block, seed, stop):
        """Publish the table, of which each file has another order of the records; the last publication replaces the one before."""
        frame = pd.DataFrame(self.rows, columns=["id", "age", "sex", "result", "week"])
        defense, promised = self.defenses[number % len(self.defenses)]
        arguments = (self.table(frame, seed), defense)
        run = partial(publish_large, *arguments, adversary=ASSUMED, block=block, seed=seed)
        folder = self.path("published")
        try:
            resumed(partial(run, folder), [published_block], stop, AlreadyComplete)
        except Infeasible:
            assert is_infeasible(frame, *arguments)
            return
        self.published, self.attacked, self.frame = LargeReleases(folder), None, frame
        assert bytes_of(folder) == bytes_of(run(self.path("again"), engine=Engine(memory=1)).folder)
        self.check_publication(defense, promised)

    def table(self, frame, seed):
        source = self.path("visits.parquet")
        frame.sample(frac=1, random_state=seed).to_parquet(source)
        return LargeTable.infer(source, ["age", "sex"], sensitive="result", respondent="id", time="week")

    def check_publication(self, defense, promised):
        """The published rows are those of the groups in memory, which satisfy the requirement by `verify`."""
        releases = in_memory(self.published, self.frame)
        beliefs = SequentialAttack(ASSUMED)(releases)
        requirement = defense.requirement if promised is None else promised
        for number, (release, told) in enumerate(zip(releases, self.published.releases, strict=True)):
            assert (told.records, told.groups) == (len(release.view), release.groups)
            assert told.suppressed == int((release.group < 0).sum())
            if release.groups:
                assert verify(release, requirement, beliefs.revised(release.time))["holds"].all()
            parts = sorted((self.published.folder / "public" / "published.parquet" / f"release-{number:04d}").iterdir())
            rows = pd.concat([pq.read_table(part).to_pandas() for part in parts], ignore_index=True)
            columns = ["result"] if isinstance(defense, Anatomy) else ["age", "sex", "result"]
            assert sorted(rows[columns].values.tolist()) == sorted(release.table[columns].values.tolist())
            counts = pd.crosstab(rows["group"], rows["result"]).reindex(columns=list(VALUES), fill_value=0)
            inferred = [VALUES.index(value) for value in release.view.schema.values]
            assert sorted(counts.to_numpy()[:, inferred].tolist()) == sorted(release.counts.tolist())
        assert verify_large(self.published, requirement, ASSUMED)["failing"].sum() == 0

    # --- attacks ------------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.published)
    @rule(
        attack=st.sampled_from(ATTACKS),
        estimator=st.sampled_from([Omega(), Exact(), Sinkhorn(), Auto()]),
        cyclic=st.booleans(),
        gaps=st.sampled_from(["ignore", "power"]),
        stop=st.none() | st.integers(1, 12),
    )
    def attack(self, attack, estimator, cyclic, gaps, stop):
        """The beliefs of the attack are those in memory."""
        is_sequential = attack.func is SequentialAttack
        chain = CYCLE if cyclic and is_sequential else STAYS  # the joint attack has no answer to contradicted groups
        adversary = Adversary(UniformPrior(), chain, gaps=gaps, **({"estimator": estimator} if is_sequential else {}))
        by, folder = attack(adversary), self.path("beliefs")
        run = partial(attack_large, self.published, by)
        resumed(partial(run, folder), [attack_module, partition_beliefs, exact_counts], stop, AlreadyComplete)
        assert bytes_of(folder) == bytes_of(run(self.path("again"), engine=Engine(memory=1)))
        releases = in_memory(self.published, self.frame)
        beliefs, atol = by(releases), 1e-9 if is_sequential else 1e-4
        for number, release in enumerate(releases):
            found, shown = beliefs_of(folder, number, len(release.view.schema.values)), release.group >= 0
            assert set(found) == set(release.view.people.respondents[shown])
            for row in np.flatnonzero(shown):
                expected = beliefs.releases[number].posterior.probabilities[row]
                np.testing.assert_allclose(found[release.view.people.respondents[row]], expected, atol=atol)
        self.attacked = (folder, adversary, beliefs, atol)

    @precondition(lambda self: self.attacked)
    @rule()
    def measure(self):
        """The measures are those in memory."""
        folder, adversary, beliefs, atol = self.attacked
        found = measure_large(self.published, folder, adversary)
        releases = in_memory(self.published, self.frame)
        history = History([release.view for release in releases])
        scores = pd.concat([success_rate(beliefs, history), brier_score(beliefs, history)], axis=1)
        gains = pd.concat([adversary_gain(beliefs, history)[["gain"]], total_risk(beliefs, history)], axis=1)
        expected = pd.concat([scores, gains], axis=1).loc[:, lambda table: ~table.columns.duplicated()]
        shared = [name for name in found.risk if name in expected]
        assert {"gain", "success", "brier_score"} <= {*shared}, expected.columns
        pd.testing.assert_frame_equal(found.risk[shared], expected[shared], atol=10 * atol, rtol=10 * atol)
        lost = pd.concat([discernibility(releases), suppressed(releases)], axis=1)
        shared = [name for name in found.loss if name in lost]
        assert {"discernibility", "suppressed"} <= {*shared}, lost.columns
        pd.testing.assert_frame_equal(found.loss[shared], lost.loc[:, ~lost.columns.duplicated()][shared])

    # --- faults -------------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.published)
    @rule(data=st.data())
    def damage(self, data):
        """A file of a publication that was changed is named; one of beliefs is refused."""
        folders = [self.published.folder, *([self.attacked[0]] if self.attacked else [])]
        folder = data.draw(st.sampled_from(folders))
        names = sorted(name for name in bytes_of(folder) if not name.endswith("manifest.json"))
        path = folder / data.draw(st.sampled_from(names))
        before, is_publication = path.read_bytes(), folder is self.published.folder
        assert not is_publication or differences(folder, listing_of(folder)) == []
        path.write_bytes(before + b" ")
        if is_publication:
            named = [one.file for one in differences(folder, listing_of(folder))]
            assert named == [path.relative_to(folder).as_posix()]
        elif path.suffix == ".parquet":
            with pytest.raises(ValueError, match=path.name):
                measure_large(self.published, folder, self.attacked[1])
        path.write_bytes(before)

    @precondition(lambda self: self.published)
    @rule()
    def publish_over_another(self):
        with pytest.raises(ValueError, match="holds something else"):
            publish_large(self.table(self.frame, 1), Anatomy(4), self.published.folder, ASSUMED)


def resumed(run, modules, stop, ended):
    """Interrupt a run before one of the parts that modules write, and run it again; a run that has ended before says so."""
    if stop is None:
        run()
        return
    write_part, calls = published_block.write_part, count(1)

    def interrupted(*arguments, **settings):
        if next(calls) == stop:
            raise KeyboardInterrupt
        return write_part(*arguments, **settings)

    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            patch.setattr(module, "write_part", interrupted)
        try:
            run()
        except KeyboardInterrupt:
            patch.undo()
            run()
        else:
            with pytest.raises(ended):
                run()


def is_infeasible(frame, table, defense):
    """True if the defense cannot publish one of the views in memory either."""
    try:
        publish(History.read(frame, table.schema, "week"), defense)
    except Infeasible:
        return True
    return False


class LevelTables(Tables):
    """Tables with one level of generalization for each attribute."""

    defenses = LEVELS


class RandomTables(Tables):
    """Tables in random blocks."""

    defenses = RANDOM


TestTables, TestLevelTables, TestRandomTables = Tables.TestCase, LevelTables.TestCase, RandomTables.TestCase
TestTables.settings = settings(
    max_examples=settings().max_examples // 20, stateful_step_count=10, suppress_health_check=[*HealthCheck]
)
TestLevelTables.settings = TestRandomTables.settings = settings(
    TestTables.settings, max_examples=settings().max_examples // 60
)
