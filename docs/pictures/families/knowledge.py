"""Pictures of knowledge: priors of people beside the law, chains beside the law, and cascades of one compromised record."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pymc as pm
from example import STAYS, VALUES, Example, example
from matplotlib.figure import Figure

from families.drawing import BLUE, GREY, ORANGE, Pictures
from foreknow import attacks, models
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.models import Adversary, History, Release

DIABETES = VALUES.index("diabetes")
PERSON = 2


def knowledge_pictures() -> Pictures:
    """Priors, transitions and cascades."""
    shown = example()
    corpus = example(people=240, seed=5)
    for name, series in priors(shown, corpus.history).items():
        yield name, by_age(shown, series)
    for name, series in transitions(corpus.history).items():
        yield name, staying(series)
    yield "Averaged", averaged(shown, corpus.history)
    for name, found in cascades().items():
        yield name, members(*found)


def priors(shown: Example, corpus: History) -> dict[str, dict[str, np.ndarray]]:
    """Prior of one value for each person, by kind and label; learned from the first records of other people."""
    classes = {"age": 3, "weight": 3}
    people, later = (view.people for view in shown.history[:2])
    first, second = (History([view]) for view in corpus[:2])
    fit, dirichlet = models.ClassFrequencies.fit, models.DirichletFrequencies.fit(first, classes)
    by_time = models.PriorByTime({1: fit(first, {"age": 2}), 2: fit(second, {"age": 2})})
    rng = np.random.default_rng(1)
    draws = np.array([dirichlet.sample(rng=rng)(people)[:, DIABETES] for _ in range(400)])
    with models.prior_model(first):
        trace = pm.sample(200, tune=300, chains=2, random_seed=1, nuts_sampler="pymc", progressbar=False)
    found = {
        "UniformPrior": {"prior": models.UniformPrior()(people)},
        "ClassFrequencies": {"3 x 3 classes": fit(first, classes, pseudo_count=0.1)(people)},
        "KernelPrior": {f"bandwidth {b:g}": models.KernelPrior.fit(first, b)(people) for b in (0.3,)},
        "RegressionPrior": {
            "prior": models.RegressionPrior.from_posterior(trace, models.RegressionDesign.fit(first))(people)
        },
        "GivenPrior": {"given": given_prior(shown)(people)},
        "PriorByTime": {"first seen at release 1": by_time(people), "first seen at release 2": by_time(later)},
    }
    shares = {name: {label: rows[:, DIABETES] for label, rows in series.items()} for name, series in found.items()}
    return shares | {"DirichletFrequencies": {"mean, 90 % interval": np.vstack([draws.mean(axis=0), *interval(draws)])}}


def given_prior(shown: Example) -> models.GivenPrior:
    """A table of two probabilities of diabetes, by age; the other values have equal shares of the rest."""
    frame = shown.history[0].frame
    diabetes = np.where(frame["age"] > 50, 0.7, 0.1)
    others = dict.fromkeys(("flu", "asthma", "HIV"), (1 - diabetes) / 3)
    return models.GivenPrior(pd.DataFrame({"diabetes": diabetes, **others}, index=frame["person"]))


def interval(draws: np.ndarray) -> np.ndarray:
    """Ends of the central interval of 90 % of draws."""
    return np.quantile(draws, [0.05, 0.95], axis=0)


def by_age(shown: Example, series: dict[str, np.ndarray]) -> Figure:
    """Prior of one value for each person, beside the law from which the records are drawn."""
    age = shown.history[0].frame["age"].to_numpy()
    figure, axes = plt.subplots(figsize=(4.8, 2.7), layout="constrained")
    law = shown.prior(shown.history[0].people)[:, DIABETES]
    axes.scatter(age, law, facecolors="none", edgecolors="black", s=42, label="law")
    for (label, belief), colour, marker in zip(series.items(), (BLUE, ORANGE), "os", strict=False):
        axes.scatter(age, np.atleast_2d(belief)[0], color=colour, marker=marker, s=14, label=label)
        if belief.ndim > 1:
            axes.vlines(age, belief[1], belief[2], color=colour, linewidth=1)
    axes.set(xlabel="age (weights differ)", ylabel="prior of diabetes", ylim=(-0.03, 1.03))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def transitions(corpus: History) -> dict[str, dict[str, np.ndarray]]:
    """Probability that each value stays, by kind and label; learned from other people, or from their releases."""
    releases = publish(corpus, Mondrian(KAnonymity(4)), rng=1)
    by_step = models.ChainByRelease.fit(corpus)
    by_class = models.TransitionsByClass.fit(corpus, {"age": 2}, shrinkage=2.0)
    dirichlet = models.DirichletChain.fit(corpus)
    learned = models.LearnedKnowledge.fit(releases, classes={"age": 2}).transitions
    sampled = models.SampledKnowledge.fit(releases, sampler=models.PathSampler(rng=1))
    draws = np.array(sampled.draws["posterior"]["transitions"]).reshape(-1, 4, 4)
    ends = [np.diag(end) for end in dirichlet.interval(0.9)]
    return {
        "MarkovChain": {"all people and steps": stays(models.MarkovChain.fit(corpus, pseudo_count=0.1))},
        "ChainByRelease": {f"to release {t + 1}": stays(by_step.at(t)) for t in (1, 2, 3)},
        "TransitionsByClass": {
            label: stays(chain)
            for label, chain in zip(("younger half of the ages", "older half"), by_class.chains_at(1), strict=True)
        },
        "DirichletChain": {"mean, 90 % interval": np.array([stays(dirichlet), *ends])},
        "LearnedKnowledge": {"learned from releases": stays(learned)},
        "SampledKnowledge": {
            "mean, 90 % interval": np.array([np.diag(rows) for rows in (draws.mean(axis=0), *interval(draws))])
        },
    }


def stays(chain: models.Transitions) -> np.ndarray:
    """Probability that each value stays."""
    return np.diag(chain.at(1).probabilities)


def staying(series: dict[str, np.ndarray]) -> Figure:
    """Bars of the probability that each value stays, beside that of the law."""
    figure, axes = plt.subplots(figsize=(4.8, 2.7), layout="constrained")
    width, places = 0.75 / len(series), np.arange(len(VALUES))
    for number, ((label, found), colour) in enumerate(zip(series.items(), (BLUE, ORANGE, GREY), strict=False)):
        means, x = np.atleast_2d(found)[0], places + width * (number - (len(series) - 1) / 2)
        axes.bar(x, means, width * 0.92, color=colour, label=label, hatch=("", "//", "..")[number], edgecolor="white")
        if found.ndim > 1:
            axes.vlines(x, found[1], found[2], color="black", linewidth=1.6)
    axes.axhline(STAYS, color="black", linestyle="--", linewidth=1, label="law")
    axes.set_xticks(places, VALUES)
    axes.set(ylabel="probability that it stays", ylim=(0, 1.32), yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)
    return figure


def averaged(shown: Example, corpus: History) -> Figure:
    """Belief in the true value of the person about whom draws differ most, under each draw and under their mixture."""
    rng = np.random.default_rng(1)
    posterior = models.DirichletChain.fit(corpus.of(range(1, 7)))
    adversaries = tuple(Adversary(shown.prior, posterior.sample(rng=rng)) for _ in range(20))
    releases = publish(shown.history, Mondrian(KAnonymity(4)), rng=1)
    draws = np.array([in_truth(shown, adversary, releases) for adversary in adversaries])
    person = draws.std(axis=0).max(axis=1).argmax()
    figure, axes = plt.subplots(figsize=(4.8, 2.7), layout="constrained")
    for number, belief in enumerate(draws[:, person]):
        axes.plot(range(1, 5), belief, color=GREY, linewidth=0.8, alpha=0.7, label="" if number else "one draw")
    mixture = in_truth(shown, models.Averaged(adversaries), releases)[person]
    axes.plot(range(1, 5), mixture, "o-", color=BLUE, linewidth=2, label="Averaged")
    axes.set(xlabel="release", ylabel="belief in the true value", xticks=range(1, 5), ylim=(0, 1.03))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def in_truth(shown: Example, adversary: Adversary | models.Averaged, releases: tuple[Release, ...]) -> np.ndarray:
    """Belief of the sequential attack in the true value of each person at each release: float array, shape (people, releases)."""
    beliefs = attacks.SequentialAttack(adversary)(releases)
    rows = [
        beliefs.at(view.time).posterior.probabilities[np.arange(len(view)), view.sensitive] for view in shown.history
    ]
    return np.array(rows).T


def cascades() -> dict[str, tuple[str, np.ndarray, np.ndarray, list[str]]]:
    """Beliefs of group members in one value, without and with a claim about the first of them."""
    shown = example()
    release = publish(shown.history, Mondrian(KAnonymity(4)), rng=1)[0]
    respondents = release.view.people.respondents
    group = release.group[list(respondents).index(PERSON)]
    members = [PERSON, *(name for name in respondents[release.group == group].tolist() if name != PERSON)]
    value = release.view.frame.set_index("person").loc[PERSON, "diagnosis"]
    rules = {
        "RemoveKnown": (models.RemoveKnown(), 1.0, models.Exact()),
        "EvidenceCascade": (models.EvidenceCascade(), 0.9, models.Exact()),
        "PriorCascade": (models.PriorCascade(), 0.9, models.Exact()),
        "PosteriorCascade": (models.PosteriorCascade(), 0.9, models.DirichletMultinomial()),
    }
    found = {}
    for name, (rule, confidence, estimator) in rules.items():
        claim = pd.DataFrame({"respondent": [PERSON], "value": [value], "time": [1], "confidence": [confidence]})
        knowing = Adversary(
            shown.prior, estimator=estimator, cascade=rule, compromised=models.CompromisedRecords(claim)
        )
        told = f"claim that person {PERSON} has it, confidence {confidence:g}"
        before, after = (
            attacks.SnapshotAttack(each)([release]).posterior(1).loc[members, value].to_numpy()
            for each in (Adversary(shown.prior, estimator=estimator), knowing)
        )
        found[name] = (value, before, after, [told, *(f"person {member}" for member in members)])
    return found


def members(value: str, before: np.ndarray, after: np.ndarray, labels: list[str]) -> Figure:
    """Beliefs in one value, without and with a claim."""
    told, *names = labels
    figure, axes = plt.subplots(figsize=(4.8, 2.7), layout="constrained")
    places = np.arange(len(names))
    axes.bar(places, after, 0.6, color=BLUE, label=told)
    axes.bar(places, before, 0.74, fill=False, edgecolor=ORANGE, linewidth=1.8, label="without the claim")
    for place, height, belief in zip(places, np.maximum(before, after), after, strict=True):
        axes.text(place, height + 0.02, f"{belief:.2f}", ha="center", fontsize=8)
    axes.set_xticks(places, names, fontsize=8)
    axes.set(ylim=(0, 1.35), ylabel=f"belief in {value}", yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    return figure
