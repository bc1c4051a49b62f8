"""Outputs of the Python interface for `net`, as functions by name."""

# A table of cases; its lines are long and not wrapped.
# ruff: noqa: ARG005, E501, E731
# fmt: off

import dataclasses
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from foreknow import attacks as a
from foreknow import defenses as d
from foreknow import evaluation as e
from foreknow import models as m
from foreknow.attacks.minimality import merge_credibility
from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.defenses.negative_rules import negative_rules
from foreknow.evaluation.checks.verify import m_invariance
from foreknow.evaluation.loss.queries import query_errors
from foreknow.evaluation.measures import BELIEF_MEASURES, MEASURES
from foreknow.evaluation.plots.risk_utility import group_sizes
from foreknow.evaluation.risk.global_errors import global_errors
from foreknow.models.estimators.exact import log_evidence

HISTORIES = ("exams", "pbc")


@cache
def simulated():
    return e.exams(3, 90, rng=1)


@cache
def history(name):
    return simulated().history if name == "exams" else m.History(list(e.pbc())[:4])


@cache
def adversary(name, estimator="auto"):
    """Adversary who knows class frequencies and transitions."""
    records = history(name)
    chain = m.MarkovChain.fit(records, 1, pseudo_count=0.1)
    return m.Adversary(m.ClassFrequencies.fit(records, {}, 0.1), chain, estimator=m.ESTIMATORS[estimator]())


@cache
def releases(name, defense="mondrian"):
    made = {"mondrian": lambda: d.Mondrian(d.KAnonymity(4)), "anatomy": lambda: d.Anatomy(2, rng=1), "m-invariance": lambda: d.MInvariance(2, rng=1)}
    return d.publish(history(name), made[defense](), rng=2)


@cache
def attacked(name):
    return a.SequentialAttack(adversary(name))(releases(name))


@cache
def foreground(name):
    value = history(name).schema.values[0]
    return a.ForegroundAttack(sensitive_set={value}, support=5)(releases(name))


def of_releases(defense, records, who=None, **settings):
    """Publications: members, published tables and notes of each release."""

    def made():
        found = d.publish(history(records), defense(), who and who(), rng=3, **settings)
        return [(release.time, release.group, release.table, release.bucketized, [str(n) for n in release.grouping.notes]) for release in found]

    return made


def first_values(records, number=2):
    return set(history(records).schema.values[-number:])


def each_defense():
    one = {
        "anatomy": lambda: d.Anatomy(2, rng=1),
        "anatomy, deterministic": lambda: d.Anatomy(2, deterministic=True),
        "anatomy, sensitive set": lambda: d.Anatomy(2, first_values("exams"), bound="each", rng=1),
        "bkaa": lambda: d.BKAA(3, 5.0, 0.7),
        "bkaa, basic": lambda: d.BKAA(3, 5.0, 0.7, enhanced=False, leftovers="suppress", patience=10),
        "full-domain": lambda: d.FullDomain(d.KAnonymity(4)),
        "full-domain, diverse": lambda: d.FullDomain(d.KAnonymity(3) & d.DistinctDiversity(3)),
        "injector": lambda: d.Injector(2, rng=1),
        "js-reduce": lambda: d.JSReduce(3, 0.8, 0.7, patience=20),
        "js-reduce, relax": lambda: d.JSReduce(3, 0.5, 0.4, leftovers="relax", patience=20),
        "js-reduce, counterfeit": lambda: d.JSReduce(3, 0.6, 0.5, leftovers="counterfeit", patience=20),
        "js-reduce, also": lambda: d.JSReduce(3, 0.7, 0.7, also=d.DistinctDiversity(3), leftovers="suppress"),
        "k-primacy": lambda: d.KPrimacy(3, 5.0, 0.7),
        "m-invariance": lambda: d.MInvariance(2, rng=1),
        "m-invariance, deterministic": lambda: d.MInvariance(2, deterministic=True),
        "mondrian": lambda: d.Mondrian(d.KAnonymity(4)),
        "mondrian, relaxed": lambda: d.Mondrian(d.KAnonymity(4), strict=False),
        "mondrian, posterior bound": lambda: d.Mondrian(d.PosteriorBound(0.6)),
        "mondrian, bt-privacy": lambda: d.Mondrian(d.BTPrivacy(0.5, 0.4)),
        "uhra": lambda: d.UHRA(3, 0.8, 0.7),
        "uhra, repaired": lambda: d.UHRA(3, 0.7, 0.6, repaired=True, patience=10),
    }
    for records in HISTORIES:
        one["mask"] = lambda r=records: d.MASK(3, 2, first_values(r), rng=1)
        one["foreground-safe"] = lambda r=records: d.ForegroundSafe(3.0, first_values(r), support=10, rng=1)
        for name, defense in one.items():
            if records == "exams" or "," not in name:
                yield (f"defense/{name}/{records}", of_releases(defense, records, lambda r=records: adversary(r), infeasible="suppress"))
    for name in ("js-reduce", "bkaa", "uhra", "k-primacy", "mondrian, bt-privacy"):
        yield (f"defense/{name}/exams, omega", of_releases(one[name], "exams", lambda: adversary("exams", "omega"), infeasible="suppress"))
    yield "defense/bucketized", of_releases(one["mondrian"], "exams", bucketized=True)
    yield "defense/unknown option", lambda: d.publish(history("exams"), one["anatomy"](), infeasible="no")
    yield "defense/infeasible", of_releases(lambda: d.Mondrian(d.KAnonymity(400)), "exams")
    yield "defense/rules", lambda: negative_rules(history("pbc")[0], 0.9, 0.5)
    yield "defense/orders", lambda: [d.hilbert_order(view.people) for view in history("exams")]
    yield "defense/nearest points", lambda: [nearest_point_order(view.people) for view in history("pbc")]


def each_requirement():
    """Levels of each requirement, by `verify` and by the enforced table."""
    one = {
        "basic-beta-likeness": lambda: d.BasicBetaLikeness(3.0),
        "beta-likeness": lambda: d.BetaLikeness(3.0),
        "bt-privacy": lambda: d.BTPrivacy(0.5, 0.4),
        "distinct-diversity": lambda: d.DistinctDiversity(2),
        "entropy-diversity": lambda: d.EntropyDiversity(1.5),
        "frequency-diversity": lambda: d.FrequencyDiversity(2),
        "j-similarity": lambda: d.JSimilarity(0.6),
        "k-anonymity": lambda: d.KAnonymity(4),
        "posterior-bound": lambda: d.PosteriorBound(0.7),
        "recursive-diversity": lambda: d.RecursiveDiversity(3.0, 2),
        "t-closeness": lambda: d.TCloseness(0.5),
        "t-closeness, ordered": lambda: d.TCloseness(0.3, "ordered"),
        "all of": lambda: d.all_of(d.KAnonymity(3), d.TCloseness(0.6)),
        "any of": lambda: d.any_of(d.KAnonymity(3), d.TCloseness(0.2)),
    }
    for name, requirement in one.items():
        for records in HISTORIES:
            yield (
                f"requirement/{name}/{records}",
                lambda requirement=requirement, records=records: [
                    e.verify(release, requirement(), attacked(records).revised(release.time).to_numpy()) for release in releases(records)
                ],
            )
        yield (f"requirement/{name}/enforced", of_releases(lambda r=requirement: d.Mondrian(r()), "pbc", lambda: adversary("pbc"), infeasible="suppress"))


def each_attack():
    plain = {
        "foreground": lambda: a.ForegroundAttack(support=5),
        "definetti": lambda: a.DeFinettiAttack(rounds=5),
        "composition": lambda: a.CompositionAttack(),
        "minimality": lambda: a.MinimalityAttack(2),
    }
    for records in HISTORIES:
        first = history(records).schema.values[0]
        of_name = {
            **{name: (lambda name=name, r=records: a.ATTACKS[name](adversary(r))) for name in a.ATTACKS},
            **plain,
            "maxent": lambda first=first: a.PrivacyMaxEntAttack([a.ConditionalProbability(first, {}, 0.05, 0.2)]),
            "maxent, two": lambda first=first: a.PrivacyMaxEntAttack(
                [a.ConditionalProbability(first, {}, 0.05, 0.2), a.ConditionalProbability(first, {"age": (30, 60)}, 0.1)]
            ),
            "joint, forward": lambda r=records: a.JointAttack(adversary(r), hindsight=False),
            "joint, max-entropy": lambda r=records: a.JointAttack(adversary(r), m.MaxEntropy()),
            "joint, sampler": lambda r=records: a.JointAttack(adversary(r), m.PathSampler(30, 2, rng=1)),
            "joint, signatures": lambda r=records: a.JointAttack(adversary(r), signatures=True),
            "sequential, omega": lambda r=records: a.SequentialAttack(adversary(r, "omega")),
            "sequential, chain": lambda r=records: a.SequentialAttack(dataclasses.replace(adversary(r), revision="chain", gaps="power")),
            "sequential, product": lambda r=records: a.SequentialAttack(dataclasses.replace(adversary(r), revision="product")),
            "sequential, averaged": lambda r=records: a.SequentialAttack(m.Averaged([adversary(r), m.Adversary(m.UniformPrior())])),
            "joint, averaged": lambda r=records: a.JointAttack(m.Averaged([adversary(r), m.Adversary(m.UniformPrior())])),
            "learned": a.LearnedAttack,
            "learned, forward": lambda: a.LearnedAttack(pseudo_count=1.0, hindsight=False, gaps="power"),
            "data augmentation": lambda r=records: a.DataAugmentationAttack(m.Adversary(m.UniformPrior(), m.DirichletChain.fit(history(r), 1)), 4, 2, rng=1),
            "definetti, hard": lambda: a.DeFinettiAttack("hard", "past", rounds=5),
            "composition, product": lambda: a.CompositionAttack("product", "table"),
            "minimality, classes": lambda first=first: a.MinimalityAttack(2, {first}, rule="classes"),
            "foreground, gibbs": lambda first=first: a.ForegroundAttack(sensitive_set={first}, support=20, fit=m.GibbsSampling(draws=50, chains=2, rng=1)),
            "foreground, set": lambda first=first: a.ForegroundAttack([("age",)], {first}, support=1),
        }
        for name, make in of_name.items():
            by = "m-invariance" if "signature" in name or "minimality" in name else "mondrian"
            yield f"attack/{name}/{records}", lambda make=make, r=records, by=by: make()(releases(r, by))
        yield f"attack/joint, anatomy/{records}", lambda r=records: a.JointAttack(adversary(r))(releases(r, "anatomy"))
        yield f"attack/foreground, what it learned/{records}", lambda r=records: (list(foreground(r).knowledge), foreground(r).worst, foreground(r).over(3.0))
        for name in ("remove", "prior", "posterior", "evidence"):
            yield (f"cascade/{name}/{records}", lambda name=name, r=records: a.SequentialAttack(compromised(name, r))(releases(r)))
        yield f"influence/{records}", lambda r=records: influence(r)
    yield "attack/credibility", lambda: [merge_credibility(i, j, 3, 2) for i in range(2, 5) for j in range(2, 5)]


def compromised(cascade, records, confidence=0.8):
    rules = {"remove": m.RemoveKnown, "prior": m.PriorCascade, "posterior": m.PosteriorCascade, "evidence": m.EvidenceCascade}
    claims = m.CompromisedRecords.sample(history(records), 0.2, 1.0 if cascade == "remove" else confidence, rng=5)
    return dataclasses.replace(adversary(records, "dirichlet-multinomial" if cascade == "posterior" else "auto"), compromised=claims, cascade=rules[cascade]())


def influence(records):
    view = history(records)[0]
    who = dataclasses.replace(adversary(records), cascade=m.PriorCascade())
    value = view.schema.values[int(view.sensitive[0])]
    return a.Influence(who)(releases(records), view.people.respondents[0], value, view.time)


@cache
def problem(seed):
    """Groups of two to six members with random priors, and three respondents in no group."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat([0, 1, 2, -1], [2 + seed, 4, 6, 3]))
    prior = rng.dirichlet(np.full(4, 0.7), len(group))
    counts = np.zeros((3, 4), dtype=np.int64)
    for row, label in enumerate(group):
        if label >= 0:
            counts[label, rng.choice(4, p=prior[row])] += 1
    return m.Problem(prior, group, counts)


def each_estimator():
    made = {**m.ESTIMATORS, "swap-chain": lambda: m.SwapChain(50, 2, rng=1)}
    for name, make in made.items():
        for seed in range(3):
            yield f"estimator/{name}/{seed}", lambda make=make, seed=seed: make()(problem(seed))
    for records in HISTORIES:
        for name, make in m.JOINT_SOLVERS.items():
            made = (lambda: m.PathSampler(30, 2, rng=1)) if name == "path-sampler" else make
            for way in ("whole", "forward"):
                yield f"solver/{name}, {way}/{records}", lambda made=made, r=records, way=way: solved(made(), r, way)
    small = {"enumeration": m.Enumeration, "group-messages": m.GroupMessages, "max-entropy": m.MaxEntropy, "auto": m.JointAuto}
    for name, made in small.items():
        yield f"solver/{name}/small", lambda made=made: solved(made(), "small", "whole")
    yield "estimator/log evidence", lambda: [log_evidence(problem(seed)) for seed in range(3)]
    yield ("estimator/observed groups", lambda: [m.PerGroup(lambda prior, counts: np.tile(counts / counts.sum(), (len(prior), 1)))(problem(1))])
    for name in ("learned", "sampled"):
        for records in HISTORIES:
            yield f"knowledge/{name}/{records}", lambda name=name, r=records: knowledge(name, r)


def knowledge(name, records):
    seen = [release.observation for release in releases(records)]
    if name == "learned":
        found = m.LearnedKnowledge.fit(seen, order=1)
        return (found.prior.probabilities, found.transitions.probabilities, list(found.trace), found.converged, list(map(str, found.notes)))
    found = m.SampledKnowledge.fit(seen, sampler=m.PathSampler(20, 2, rng=1))
    return found.summary(), found.rhat, list(map(str, found.notes))


def solved(solver, records, way):
    if records == "small":
        few = e.exams(2, 8, rng=4)
        seen = d.publish(few.history, d.Mondrian(d.KAnonymity(3)), rng=1)
        who = m.Adversary(few.prior, few.transitions)
    else:
        seen, who = releases(records), adversary(records)
    joint = m.joint_history(who, [release.observation for release in seen])
    found = [solver(joint.problem)] if way == "whole" else [solver.forward(joint.problem)]
    return [[np.asarray(each.beliefs), each.status, each.gap, each.rounds, each.standard_error, each.ess, each.rhat, each.log_evidence, str(each.rule)] for each in found]


def each_knowledge():
    for records in HISTORIES:
        people = lambda r=records: [view.people for view in history(r)]
        priors = {
            "uniform": lambda r: m.UniformPrior(),
            "class frequencies": lambda r: m.ClassFrequencies.fit(history(r), {"age": 3}, 0.5),
            "kernel": lambda r: m.KernelPrior.fit(history(r), 0.3),
            "kernel, leave one out": lambda r: m.KernelPrior.fit(history(r), 0.3, leave_one_out=True),
            "dirichlet frequencies": lambda r: m.DirichletFrequencies.fit(history(r), {"age": 3}).mean,
            "dirichlet sample": lambda r: m.DirichletFrequencies.fit(history(r), {"age": 3}).sample(rng=1),
            "by time": lambda r: m.PriorByTime({view.time: m.ClassFrequencies.fit(m.History([view]), {}, 1.0) for view in history(r)}),
            "regression": lambda r: m.RegressionPrior(
                m.RegressionDesign.fit(history(r)),
                np.linspace(-1, 1, k := len(history(r).schema.values)),
                np.linspace(-0.3, 0.3, k * (f := len(m.RegressionDesign.fit(history(r)).features))).reshape(f, k),
            ),
        }
        chains = {
            "order 1": lambda r: m.MarkovChain.fit(history(r), 1, 0.1),
            "order 2": lambda r: m.MarkovChain.fit(history(r), 2, 0.1, gaps="power"),
            "as printed": lambda r: m.MarkovChain.fit(history(r), 1, as_printed=True),
            "dirichlet": lambda r: m.DirichletChain.fit(history(r), 1),
            "inhomogeneous": lambda r: m.ChainByRelease.fit(history(r), 1, 0.1, 1.0),
            "incremental": lambda r: m.ChainByRelease.extracted(history(r), 1, 0.1),
            "by class": lambda r: m.TransitionsByClass.fit(history(r), {"age": 2}, 1, 0.1, 1.0),
        }
        for name, make in priors.items():
            yield (f"prior/{name}/{records}", lambda make=make, r=records, people=people: [make(r)(each) for each in people()])
        for name, make in chains.items():
            yield f"chain/{name}/{records}", lambda make=make, r=records: tables_of(make(r))
        yield (
            f"chain/dirichlet, interval/{records}",
            lambda r=records: (m.DirichletChain.fit(history(r), 1).interval(0.9), tables_of(m.DirichletChain.fit(history(r), 1).sample(rng=1))),
        )
        yield f"revision/{records}", lambda r=records: revision(r)
        yield f"history/{records}", lambda r=records: [view.frame for view in history(r)]


def tables_of(chain):
    if not isinstance(chain, m.DirichletChain) and hasattr(chain, "chains_at"):
        return [np.asarray(each.probabilities) for each in chain.chains_at(2)]
    return [np.asarray(table) for table in (getattr(chain.at(0), "tables", None) or [chain.at(0).mean])] + [np.asarray(getattr(chain.at(2), "probabilities", 0.0))]


def revision(records):
    """Memory after each release, step by step."""
    who, memory, found = adversary(records), m.Memory(), []
    for release in releases(records):
        revised = who.revise(memory, release.view.people, release.time)
        posterior = who.posterior(revised, release.observation)
        memory = who.update_memory(memory, release.observation, posterior)
        found += [revised, posterior.probabilities]
    return found


def each_measure():
    needs = {
        "breaches": lambda r: {"sensitive_set": {history(r).schema.values[0]}, "r": 2.0},
        "query_error": lambda r: {"workload": e.Workload.draw(history(r), rng=1, queries=50)},
    }
    for records in HISTORIES:
        value = history(records).schema.values[0]
        out = list(history(records)[0].people.respondents[:5])
        for name in MEASURES:
            options = needs.get(name, lambda r: {})
            if name in BELIEF_MEASURES:
                yield (f"measure/{name}/{records}", lambda n=name, r=records, o=options: MEASURES[n](attacked(r), history(r), **o(r)))
                yield (
                    f"measure/{name}, leaving out/{records}",
                    lambda n=name, r=records, o=options, out=out: MEASURES[n](attacked(r), history(r), leaving_out=out, **o(r)),
                )
            else:
                for by in ("mondrian", "anatomy"):
                    yield (f"measure/{name}, {by}/{records}", lambda n=name, r=records, o=options, by=by: MEASURES[n](releases(r, by), **o(r)))
        more = {
            "reliability curve": lambda r, v: e.reliability_curve(attacked(r), history(r), draws=20, rng=1),
            "score decomposition": lambda r, v: e.score_decomposition(attacked(r), history(r), draws=20, rng=1),
            "consistency test": lambda r, v: e.consistency_test(attacked(r), history(r), draws=50, rng=1),
            "retroactive leak": lambda r, v: e.retroactive_leak(
                a.JointAttack(adversary(r), hindsight=False)(releases(r)), a.JointAttack(adversary(r))(releases(r)), history(r)
            ),
            "respondent risk": lambda r, v: e.respondent_risk(attacked(r), history(r), most=20),
            "greatest differences": lambda r, v: e.greatest_differences(foreground(r), {v}),
            "global errors": lambda r, v: global_errors(foreground(r), history(r), {v}),
            "global probabilities": lambda r, v: e.global_probabilities(foreground(r), history(r), {v}),
            "exposing members": lambda r, v: e.exposing_members(attacked(r), history(r)[0].people.respondents[0], history(r)[0].time),
            "influence by distance": lambda r, v: e.influence_by_distance(influence(r)),
            "influence by release": lambda r, v: e.influence_by_release(influence(r)),
            "m-invariance": lambda r, v: m_invariance(releases(r, "m-invariance"), 2),
            "worst case": lambda r, v: e.worst_case(releases(r), {"a": a.SnapshotAttack(adversary(r)), "b": a.JointAttack(adversary(r))}),
            "worst case, by release": lambda r, v: e.worst_case(releases(r), {"a": a.SnapshotAttack(adversary(r)), "b": a.JointAttack(adversary(r))}, by_release=True),
            "compare knowledge": lambda r, v: e.compare_knowledge(releases(r), {"a": adversary(r), "b": m.Adversary(m.UniformPrior())}, draws=50, rng=1),
            "query errors": lambda r, v: query_errors(releases(r)[0], e.Workload.draw(history(r), rng=1, queries=50)),
            "gcp, penalized": lambda r, v: e.gcp(releases(r), penalize_suppressed=True, width="table"),
            "certificate": lambda r, v: e.certificate(releases(r), d.Mondrian(d.KAnonymity(4)), adversary(r)).content,
            "certificate, failed": lambda r, v: e.certificate(releases(r), d.Mondrian(d.KAnonymity(7))).sentence,
            "compare": lambda r, v: comparison(r),
            "datatree": lambda r, v: attacked(r).to_datatree(),
            "report": lambda r, v: report(r),
        }
        for name, make in more.items():
            yield f"measure/{name}/{records}", lambda make=make, r=records, value=value: make(r, value)
        plots = {
            "belief forest": lambda r, v: e.belief_forest(attacked(r), v),
            "belief over time": lambda r, v: e.belief_over_time(attacked(r), history(r), history(r)[0].people.respondents[0]),
            "breach curve": lambda r, v: e.breach_curve(foreground(r), history(r), {v}, 2.0),
            "convergence": lambda r, v: e.convergence_plot(a.SequentialAttack(dataclasses.replace(adversary(r), estimator=m.SwapChain(50, 2, rng=1)))(releases(r))),
            "foreground map": lambda r, v: e.foreground_map(foreground(r), history(r), {v}, ("age",)),
            "gain over time": lambda r, v: e.gain_over_time(e.risk_table(attacked(r), history(r)).assign(defense="a", attack="b")),
            "group sizes": lambda r, v: group_sizes({"a": releases(r)}),
            "influence map": lambda r, v: e.influence_map(influence(r)),
            "reliability": lambda r, v: e.reliability_plot({"a": e.reliability_curve(attacked(r), history(r), draws=20, rng=1)}),
        }
        for name, make in plots.items():
            yield f"plot/{name}/{records}", lambda make=make, r=records, value=value: make(r, value)


def comparison(records):
    found = e.compare(
        history(records),
        {"mondrian": d.Mondrian(d.KAnonymity(4)), "anatomy": d.Anatomy(2, rng=1)},
        {"sequential": a.SequentialAttack(adversary(records)), "joint": a.JointAttack(adversary(records))},
        rng=1,
    )
    return found.summary(), found.risk(), found.cost(), found.worst_case()


def report(records):
    from foreknow import app

    found = app.report(releases(records), adversary(records), draws=20, stricter=1, rng=1)
    return found.verdict, found.html


@cache
def items():
    return e.random_items(history("exams")[0], 4, 30, rng=1), m.Linking(e.random_knowledge(60, 8.0, 30, rng=2), "items")


def each_item():
    """Quasi-sensitive items: links, label beliefs, requirements and suppression."""
    view = lambda: items()[0]
    linking = lambda: items()[1]
    published = cache(lambda: m.ItemRelease(m.Release(view(), np.arange(len(view())) // 5), linking(), linking().items_of(view())))
    requirements = {
        "diversity": lambda: d.QSDiversity(3.0, 3, linking()),
        "diversity, as printed": lambda: d.QSDiversity(3.0, 3, linking(), as_printed=True),
        "closeness": lambda: d.QSCloseness(0.3, linking()),
    }
    for name, make in requirements.items():
        yield f"items/verify, {name}", lambda make=make: e.verify_items(published(), make())
        yield f"items/suppression, {name}", lambda make=make: suppressed(published().release, make())
    yield "items/table", lambda: published().table
    yield "items/links", lambda: (published().links.bits, published().links.weight, published().links.prior())
    yield "items/linking attack", lambda: linked(published())
    yield "items/label disclosure", lambda: e.label_disclosure(a.LinkingAttack(linking())([published()]))
    yield (
        "items/publish",
        lambda: [
            each.release.table
            for each in d.publish_items([view()], d.Mondrian(d.KAnonymity(5)), d.ItemSuppression(d.QSDiversity(3.0, 3, linking()), seconds=60, nodes=2000), rng=1)
        ],
    )


def suppressed(release, requirement):
    found = d.ItemSuppression(requirement, seconds=60.0, nodes=2000)(release)
    return found.release.table, found.groups.drop(columns=[each for each in found.groups if "seconds" in each])


def linked(release):
    found = a.LinkingAttack(items()[1])([release])
    return [(each.prior, each.posterior, each.likeliest) for each in found.releases], found.certain(0.5)


def each_file():
    """Cleaning, published tables, saved files, and tables on disk."""
    faulty = pd.DataFrame({"who": list("aabcd"), "age": ["20", "20", "30 y", "", "41"], "ill": ["flu", "flu", "FLU ", "gout", None]})
    roles = m.ColumnRoles("ill", ["age"], "who", None, numbers=("age",))
    for name, settings in {"refuse": (), "settle": ("merge", "drop", "drop"), "category": ("merge", "category", "drop")}.items():
        yield f"cleaning/{name}", lambda settings=settings: cleaned(m.Cleaning(*settings)(faulty, roles))
    yield "hierarchy", lambda: [m.Hierarchy([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")]).levels()]
    yield "datasets/households", lambda: next(iter(e.households())).frame.head(50)
    for name in ("mondrian", "anatomy"):
        yield f"files/releases/{name}", lambda name=name: saved(releases("exams", name)[0])
    defenses = {
        "mondrian": lambda: d.Mondrian(d.KAnonymity(4)),
        "js-reduce": lambda: d.JSReduce(3, 0.8, 0.7, patience=20),
        "bkaa": lambda: d.BKAA(3, 5.0, 0.7),
        "anatomy": lambda: d.Anatomy(2),
        "full-domain": lambda: d.FullDomain(d.KAnonymity(4)),
    }
    for name, make in defenses.items():
        yield f"disk/{name}", lambda make=make: on_disk(make())
    for name, make in {"entropy": lambda who: a.JointAttack(who, m.MaxEntropy()), "joint": a.JointAttack, "forward": lambda who: a.JointAttack(who, hindsight=False)}.items():
        yield f"disk/attack, {name}", lambda make=make: on_disk(defenses["mondrian"](), make)
    yield "disk/cluster", lambda: on_disk(defenses["mondrian"](), a.JointAttack, cluster=True)


def cleaned(found):
    return found.table, list(map(str, found.changes))


def saved(release):
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "release.parquet")
        again = m.Release.load(Path(folder) / "release.parquet")
        return again.table, again.group


def on_disk(defense, attack=a.SequentialAttack, cluster=False):
    import pyarrow.parquet as pq

    from foreknow.app import disk

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pd.concat(view.frame for view in history("exams")).to_parquet(folder / "visits.parquet")
        table = disk.LargeTable.infer(folder / "visits.parquet", ["age", "gender", "weight"], time="week")
        who, engine = adversary("exams", "omega"), disk.Engine(workers=2 if cluster else 1)
        who = dataclasses.replace(who, transitions=m.MarkovChain(1, np.full((k := len(table.schema.values), k), 0.3 / k) + 0.7 * np.eye(k)), prior=m.UniformPrior())
        published = disk.publish_large(table, defense, folder / "out", who, block=30, seed=1, engine=engine)
        disk.attack_large(published, attack(who) if attack is not a.SequentialAttack else who, folder / "beliefs", engine=engine)
        measured = disk.measure_large(published, folder / "beliefs", who, engine=engine)
        files = sorted([*(folder / "out").rglob("part-*.parquet"), *(folder / "beliefs").rglob("part-*.parquet")])
        return (
            {str(path.relative_to(folder)): pq.read_table(path).to_pandas() for path in files},
            [(each.time, each.records, each.groups, each.suppressed, list(map(str, each.notes))) for each in published.releases],
            measured.risk,
            measured.loss,
            measured.published_respondents,
            measured.known,
            measured.exposed,
            measured.first,
            disk.verify_large(published, d.KAnonymity(4), who, engine=engine),
        )


def cases():
    parts = (each_defense, each_requirement, each_attack, each_estimator, each_knowledge, each_measure, each_item, each_file)
    return {name: make for part in parts for name, make in part()}
