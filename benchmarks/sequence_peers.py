"""Risk tools on a sequence: a joint adversary beside a forest as RAPID trains it and anonymeter, on the same releases.

``python benchmarks/sequence_peers.py`` writes a section of benchmarks/peers.md. scikit-learn and anonymeter have an environment of
their own under build/peers, which needs the network once. All gains are ``(p - b) / (1 - b)``, with b the share of the true value
among the published people of the release, the baseline of RAPID, unless stated; anonymeter's b is its success with people held out.
"""

import json
import shutil
import sys
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from comparisons import table  # noqa: E402
from environments import FOLDER, Program, output_of, python_of  # noqa: E402
from subjects import seeded  # noqa: E402
from tables import keep_section  # noqa: E402

from foreknow.attacks import JointAttack, WithoutGroups  # noqa: E402
from foreknow.defenses import (  # noqa: E402
    Cohorts,
    DistinctDiversity,
    JSReduce,
    KAnonymity,
    Mondrian,
    NoisyCounts,
    publish,
)
from foreknow.evaluation import exams  # noqa: E402
from foreknow.models import (  # noqa: E402
    Adversary,
    Beliefs,
    GhostChain,
    GivenPrior,
    Grouping,
    History,
    LearnedKnowledge,
    NoisyRelease,
    Omega,
    Release,
    View,
)

ANONYMETER = Program("anonymeter", ("anonymeter==1.1.0", "scikit-learn==1.9.1"), ("3.12", "3.11"), ())
RESULTS = HERE / "peers.md"
VIEWS, RECORDS, SEEDS = 12, 1500, (1, 2)
OVER = 0.3
"""Gain over which RAPID counts a record."""
NEAR_CERTAIN = 1e-9

DEFENSES = {
    "Mondrian k=5, l=5": lambda _: Mondrian(KAnonymity(5) & DistinctDiversity(5)),
    "JSReduce(5, .5, .6)": lambda _: JSReduce(5, 0.5, 0.6, patience=50),
    "Cohorts(10, 40)": lambda chain: Cohorts(10, 40, transitions=chain, rng=seeded(3)),
    "Cohorts(10, 10)": lambda chain: Cohorts(10, 10, transitions=chain, rng=seeded(3)),
    "NoisyCounts, gain .1": lambda _: NoisyCounts(16, VIEWS, gain=0.1, processing="totals", rng=seeded(3)),
}
EXACT, SHUFFLED = "exact records", "values shuffled"
"""Publications that give away everything, and nothing but counts: groups of one, and one group for each release."""

ABOUT = f"""\
Written by `python benchmarks/sequence_peers.py`, {date.today().isoformat()}; {ANONYMETER.packages[0]}, {ANONYMETER.packages[1]}.
`exams`, {VIEWS} releases, {len(SEEDS)} seeds; of {RECORDS:,} respondents of a release a third is held out, not published.

A cell is a mean of (p - b) / (1 - b), and in brackets the share of records over {OVER}; for anonymeter its risk and
interval, from the sum of all attacks. b is the share of the true value in the release, unless stated; for anonymeter
its success with people held out. *alone*: each release by itself. *all*: beliefs about each release given all. The
joint adversary knows prior and transitions, or learns them from the releases. The forest, as of RAPID, and anonymeter
learn from published records: the middle of each interval and a value of the group, or records as of the processed
noisy counts; with all releases the time is a column. *forest, groups linked* is more than RAPID: its columns are the
shares in a respondent's group in the release, before and after. *held out*: the forest's gain about people who are
not published. *law alone*: without any group. Both are statistics. Records that are withheld are not measured."""


def published(name, history, simulation):
    """Releases of a history by a defense of a name."""
    if name in DEFENSES:
        own = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
        rule = DEFENSES[name](simulation.transitions)
        return publish(history, rule, own, infeasible="suppress", rng=seeded(4))
    labels = np.arange if name == EXACT else np.zeros
    return tuple(Release(view, Grouping(labels(len(view), dtype=int), bucketized=True)) for view in history)


def measured(beliefs, releases, baseline=None):
    """Mean gain over a baseline, by default the share in the release, and the share of records over .3; None if b is always 1."""
    found = []
    for t, (one, release) in enumerate(zip(beliefs, releases, strict=True)):
        kept = np.flatnonzero(release.group >= 0)
        true = release.view.sensitive[kept]
        b = shares(release)[true] if baseline is None else baseline[t][kept, true]
        p, open_to_gain = one.posterior.probabilities[kept, true], b < 1 - NEAR_CERTAIN
        found.append((p - b)[open_to_gain] / (1 - b[open_to_gain]))
    gain = np.concatenate(found)
    return (gain.mean(), (gain > OVER).mean()) if len(gain) else (None, None)


def shares(release):
    """Share of each value among the published people of a release."""
    true = release.view.sensitive[release.group >= 0]
    return np.bincount(true, minlength=len(release.view.schema.values)) / len(true)


def counts(release):
    """Published counts of each group or cell, as whole numbers."""
    return release.made.processed if isinstance(release, NoisyRelease) else release.counts


def alone(releases, adversary, beliefs):
    """Beliefs of an adversary who attacks each release alone and knows the same law of each value at its time."""
    laws, found = pd.DataFrame(columns=range(len(releases[0].view.schema.values)), dtype=float), []
    for release, one in zip(releases, beliefs, strict=True):
        now = pd.DataFrame(one.law, one.observation.people.respondents)
        # Ghosts have no row of their own: the law of those they follow is carried on.
        laws = pd.concat([(laws @ adversary.transitions.probabilities).drop(now.index, errors="ignore"), now])
        prior = GivenPrior(laws.set_axis(list(release.view.schema.values), axis=1))
        found += JointAttack(Adversary(prior, mechanism=adversary.mechanism))([release])
    return Beliefs(tuple(found))


def by_joint(name, releases, simulation):
    """Rows of the joint adversary: tool, releases read, mean gain and share over .3."""
    options = {"mechanism": GhostChain()} if name.startswith("Cohorts") else {}
    adversary = Adversary(simulation.prior, simulation.transitions, **options)
    joint = JointAttack(adversary)(releases)
    single = alone(releases, adversary, joint)
    learned = LearnedKnowledge.fit(releases, classes={"age": 3, "gender": 2, "weight": 3})
    guess = JointAttack(Adversary(learned.prior, learned.transitions, **options))(releases)
    law = [one.law for one in joint]
    yield "joint", "alone", *measured(single, releases)
    yield "joint", "all", *measured(joint, releases)
    yield "joint, law learned", "all", *measured(guess, releases)
    yield "law alone", "all", *measured(WithoutGroups(JointAttack(adversary))(releases), releases)
    yield "joint, over the law", "alone", *measured(single, releases, law)
    yield "joint, over the law", "all", *measured(joint, releases, law)
    if name.startswith("Noisy"):
        return
    share = [(one.counts / one.counts.sum(axis=1, keepdims=True))[one.group] for one in releases]
    yield "joint, over the group's share", "alone", *measured(single, releases, share)
    yield "joint, over the group's share", "all", *measured(joint, releases, share)


def as_records(release, rng):
    """Release as records in random order: the middle of each interval of quasi-identifiers, and a value of the group or cell."""
    people, group = (release.view.people, release.group) if isinstance(release, NoisyRelease) else release.everyone
    codes = pd.DataFrame(people.quasi_identifiers, columns=list(people.schema.quasi_identifiers))[group >= 0]
    group, numbers = group[group >= 0], counts(release)
    row, value = np.nonzero(numbers)
    row, value = (np.repeat(each, numbers[row, value].astype(int)) for each in (row, value))
    value = value[np.lexsort((rng.random(len(row)), row))]
    if isinstance(release, Release) and release.bucketized:
        shown = codes.iloc[np.argsort(group, kind="stable")]
    else:
        shown = ((codes.groupby(group).min() + codes.groupby(group).max()) / 2).loc[row]
    return shown.assign(time=release.time, result=value).sample(frac=1, random_state=rng)


def targets(view, release, held_out):
    """People as RAPID and anonymeter are told of them: quasi-identifiers, the true value and its share in the release."""
    people = pd.DataFrame(view.people.quasi_identifiers, columns=list(view.schema.quasi_identifiers))
    share = shares(release)[view.sensitive]
    people = people.assign(time=view.time, held_out=held_out, true=view.sensitive, share=share)
    return people if held_out else people[release.group >= 0]


def linked(releases, rng):
    """Published people with the shares of their group in the release, before and after, and a random value of the group.

    A learner who is given a table does not have this: it takes a reader who knows all quasi-identifiers and finds the groups.
    """
    of_each = []
    for release in releases:
        kept, numbers = release.group >= 0, counts(release)
        share = numbers / np.maximum(numbers.sum(axis=1, keepdims=True), 1)
        of_each.append(pd.DataFrame(share[release.group[kept]], release.view.people.respondents[kept]))
    nothing = of_each[0].iloc[:0]
    triples = zip(releases, [nothing, *of_each], of_each, [*of_each[1:], nothing], strict=False)
    for release, before, now, after in triples:
        near = {"before": before, "now": now, "after": after}
        columns = [one.reindex(now.index).add_prefix(when) for when, one in near.items()]
        drawn = (now.to_numpy().cumsum(axis=1) > rng.random((len(now), 1)) * (1 - NEAR_CERTAIN)).argmax(axis=1)
        told = targets(release.view, release, False).set_index(now.index)
        yield pd.concat([told, *columns], axis=1).assign(result=drawn)


def by_learners(name, publications):
    """Rows of the tools that learn from tables, which are written for them: a folder for each seed."""
    folder = FOLDER / "data" / "sequences" / name.replace(" ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    for seed, (releases, held_out) in enumerate(publications):
        rng, here = seeded([5, seed]), folder / str(seed)
        here.mkdir(parents=True)
        tables = {
            "published": [as_records(release, rng) for release in releases],
            "people": [
                targets(view, release, view is not release.view)
                for release, other in zip(releases, held_out, strict=True)
                for view in (release.view, other)
            ],
            "linked": linked(releases, rng),
        }
        for file, parts in tables.items():
            pd.concat(parts, ignore_index=True).to_csv(here / f"{file}.csv", index=False)
    return json.loads(
        output_of([python_of(ANONYMETER), str(HERE / "peers" / "learners.py"), str(folder)]).splitlines()[-1]
    )


def rows(name):
    """Rows of all tools about one publication: tool, releases read, mean, and the share over .3 or both ends of an interval."""
    publications, ours = [], []
    for seed in SEEDS:
        simulation = exams(VIEWS, RECORDS, rng=seeded([2012, seed]))
        # A third of the respondents is held out, and not published.
        history, held_out = (
            History(
                View(view.frame[(view.frame["id"] % 3 == 0) == out], view.schema, view.time)
                for view in simulation.history
            )
            for out in (False, True)
        )
        releases = published(name, history, simulation)
        publications.append((releases, held_out))
        ours += by_joint(name, releases, simulation)
    means = pd.DataFrame(ours).dropna().groupby([0, 1], sort=False)[[2, 3]].mean()
    return [
        *((*key, *numbers) for key, numbers in zip(means.index, means.to_numpy(), strict=True)),
        *by_learners(name, publications),
    ]


def main():
    names, cells = sys.argv[1:] or [EXACT, *DEFENSES, SHUFFLED], {}
    for name in names:
        for tool, reads, mean, *more in rows(name):
            mean, *more = (f"{number:.2f}".replace("0.", ".", 1) for number in (mean, *more))
            cells.setdefault((tool, reads), {})[name] = f"{mean} ({' to '.join(more)})"
    lines = [
        "## What other tools see of a sequence",
        "",
        ABOUT,
        "",
        *table(
            ("tool", "releases", *names), [(*key, *(of.get(name, "") for name in names)) for key, of in cells.items()]
        ),
    ]
    print("\n".join(lines))
    if not sys.argv[1:]:
        keep_section("\n".join(lines), RESULTS, "# Comparison with other programs\n")


if __name__ == "__main__":
    main()
