"""Tables of the documentation: each stands below a marker that names the function and the experiments that make it.

``<!-- table: pages.hindsight(presence, exams) -->``: a function of a module of this package, and its arguments; the name of an
experiment stands for the rows of its kept cells, any other for itself. ``make cells`` writes the tables, and a test compares them.
Means over seeds have half of their 95 % interval behind ±.
"""

import re
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from experiments import groups_or_noise, groups_or_noise_attacks
from experiments.cohorts import SETTINGS as COHORTS
from experiments.defenders import DEFENSES as BELIEVING
from experiments.groups_or_noise_more import MOST, answered, whole_map
from experiments.knowledge_of_pbc import CORPORA, KNOWLEDGE
from experiments.learned_law import SETTINGS as LAWS
from experiments.learned_law import USUAL
from experiments.presence import PANELS
from experiments.presence import SETTINGS as THRESHOLDS
from experiments.redrawn_worlds import SIZES, SOLVERS
from experiments.subjects import ten
from foreknow.evaluation import expected_gain_bound, risk_utility_map
from foreknow.evaluation.cells import read
from foreknow.evaluation.papers import PAPERS, paper
from foreknow.evaluation.papers.claims import all_claims, judged
from foreknow.evaluation.papers.drawing import interval, with_interval
from foreknow.evaluation.papers.reproduction import markdown_table
from foreknow.evaluation.papers.reproduction import tables as of_papers

CELLS = Path(__file__).resolve().parent / "cells"
REPRODUCTION = CELLS.parents[1] / "docs" / "reproduction"

MARKED = re.compile(r"(<!-- table: (\w+)\.(\w+)\(([^)]*)\) -->\n\n)(?:\|.*\n)*(?:\n\*Kept so far: .*\n)?\n*")


def tables():
    """Rows of all kept cells by the name of the experiment: those of this package, and of the papers."""
    from experiments import EXPERIMENTS

    papers = [paper(name) for name in PAPERS]
    found = {name: rows.infer_objects() for name, rows in read(EXPERIMENTS, CELLS).groupby("experiment")}
    nothing = {each.name: pd.DataFrame() for each in EXPERIMENTS}
    return nothing | found | of_papers(papers, REPRODUCTION)


def filled(text, tables):
    """Text of a page with each marked table made anew from the rows of the experiments, a mapping of names to DataFrames."""

    def made(match):
        mark, module, function, given = match.groups()
        arguments = [tables.get(name, name) for name in given.split(", ")]
        if any(isinstance(one, pd.DataFrame) and one.empty for one in arguments):
            return f"{mark}| no cells are kept yet |\n|---|\n\n"
        lines = getattr(import_module(f"experiments.{module}"), function)(
            *([tables] if function == "verdicts" else []), *arguments
        )
        return mark + "\n".join([*lines, *_unfinished(given.split(", "), tables)]) + "\n\n"

    return MARKED.sub(made, text).rstrip("\n") + "\n"


def _unfinished(names, tables):
    """A line on the experiments that lack cells, so that a table of some seeds is not read as one of all."""
    from experiments import EXPERIMENTS

    planned = {each.name: len(each.cells) for each in EXPERIMENTS if each.name in names}
    kept = {name: tables[name]["key"].nunique() for name in planned}
    lacking = [f"{kept[name]} of {number} cells of `{name}`" for name, number in planned.items() if kept[name] < number]
    return ["", f"*Kept so far: {', '.join(lacking)}.*"] if lacking else []


def hindsight(rows):
    """Gain of three adversaries from each defense on simulated exams and on patients, mean of the seeds."""
    attacks = {"sequential": "one by one", "unread": "hindsight", "learned": "law learned"}
    heads = ("defense", *(f"{panel}: {title}" for panel in ("exams", "pbc") for title in attacks.values()))
    lines = []
    for names in zip(*(ten(1, PANELS[panel][2]) for panel in ("exams", "pbc")), strict=True):
        both = [_of(rows, panel=panel, defense=name) for panel, name in zip(("exams", "pbc"), names, strict=True)]
        lines.append([_short(names[0]), *(_mean(_of(own, attack=one)["gain"]) for own in both for one in attacks)])
    return markdown_table(heads, lines)


def leaving(rows):
    """Gain of the joint adversary who reads presence or does not, and of the control: Mondrian, and its rise over ten defenses."""
    heads = (
        "panel",
        "`Mondrian`: not read",
        "read",
        "control",
        "ten defenses: rise of the gain",
        "sure beliefs, times",
    )
    lines = []
    for panel, (_, _, size) in PANELS.items():
        own, name = _of(rows, panel=panel), next(iter(ten(1, size)))
        if own.empty:
            continue
        first = _of(own, defense=name)
        three = [_mean(first[first["attack"] == one]["gain"]) for one in ("unread", "read", "control")]
        gain, sure = (
            own[own["attack"].isin(["unread", "read"])].pivot_table(each, "defense", "attack")
            for each in ("gain", "sure")
        )
        rise, times = gain["read"] - gain["unread"], sure["read"].sum() / sure["unread"].sum()
        lines.append([panel, *three, f"{_text(rise.min())} to {_text(rise.max())}", _text(times, 1)])
    return markdown_table(heads, lines)


def thresholds(rows):
    """Gains, withheld records and generalization of JS-reduce and Mondrian on `pbc`."""
    heads = ("defense", "one by one", "hindsight", "leaving read", "withheld", "GCP, withheld as 1")
    lines = []
    for name in THRESHOLDS:
        own = _of(rows, defense=name)
        gains = [_mean(own[own["attack"] == one]["gain"]) for one in ("sequential", "unread", "read")]
        lost = [_mean(own[own["attack"] == "read"][each]) for each in ("withheld", "gcp")]
        lines.append([f"`{name}`", *gains, *lost])
    return markdown_table(heads, lines)


def signatures(rows):
    """The joint adversary in hindsight on m-invariant releases, without the rule and with it."""
    heads = ("panel", "gain without the rule", "sure, right (expected)", "gain with the rule", "sure, right (expected)")
    lines, own = [], rows[rows["defense"].str.startswith("MInvariance")]
    for panel in PANELS:
        both = [_of(own, panel=panel, attack=one) for one in ("unread", "rule")]
        lines.append([panel, *(text for one in both for text in (_mean(one["gain"]), _sure(one)))])
    return markdown_table(heads, lines)


def overconfidence(rows):
    """Sure beliefs over the defenses but `MInvariance`: their number, the share that is right, and the share that is expected."""
    heads = ("panel", *(f"{name}: sure, right (expected)" for name in ("one by one", "forward", "hindsight")))
    lines, some = [], rows[~rows["defense"].str.startswith("MInvariance")]
    for panel in PANELS:
        own = _of(some, panel=panel).groupby(["attack", "seed"])[["sure", "right", "expected"]].sum()
        if own.empty:
            continue
        each = [own.loc[name] for name in ("sequential", "forward", "unread")]
        texts = [
            f"{one['sure'].sum():,.0f}, {_percent(one['right'] / one['sure'])} ({_percent(one['expected'] / one['sure'])})"
            for one in each
        ]
        lines.append([panel, *texts])
    return markdown_table(heads, lines)


def price(rows, of_cohorts):
    """Gain in hindsight from ten defenses and from cohorts on `exams`, the price of each, and its query error."""
    heads = ("defense", "hindsight", "leaving read", "withheld", "invented", "query error")
    lines, exams = [], _of(of_cohorts, panel="exams").assign(invented=lambda own: own["ghosts"])
    each = [(_short(name), _of(rows, panel="exams", defense=name)) for name in ten(1)]
    each += [(f"`Cohorts({name})`", _of(exams, cohorts=name)) for name in ("10, 40", "10, 40, ends=1", "4, 4")]
    for name, own in each:
        read = own[own["attack"] == "read"]
        gains = [_mean(own[own["attack"] == one]["gain"]) for one in ("unread", "read")]
        lines.append([name, *gains, *(_mean(read[one]) for one in ("withheld", "invented", "query_error"))])
    return markdown_table(heads, lines)


def frontier(rows, of_cohorts):
    """Picture of `price`: gain in hindsight against query error, means of the seeds."""
    exams = _of(of_cohorts, panel="exams", attack="unread")
    mean = _of(rows, panel="exams", attack="unread").groupby("defense")[["gain", "query_error"]].mean()
    points = [(_short(name).strip("`"), 5, *mean.loc[name]) for name in ten(1) if name in mean.index]
    for name, own in exams.groupby("cohorts") if len(exams) else ():
        if "ends" not in name:
            points.append(("Cohorts", int(name.partition(",")[0]), *own[["gain", "query_error"]].mean()))
    return risk_utility_map(pd.DataFrame(points, columns=["defense", "k", "gain", "query"]), "gain", "query", "k")


def pictures(found):
    """Pictures of docs/ and their functions: each takes no argument and returns a figure or its axes."""
    large = whole_map(found["groups_or_noise"], found["groups_or_noise_large"])
    return {
        "gain-and-query-error.png": lambda: frontier(found["presence"], found["cohorts_presence"]).figure,
        "groups-or-noise.png": lambda: groups_or_noise.picture(large, answered(found["groups_or_noise_panels"])),
        "groups-or-noise-frontier.png": lambda: groups_or_noise_attacks.picture(found["groups_or_noise_attacks"]),
    }


def cohorts_held(rows):
    """Gain from cohorts beside its bound, share of respondents whose bound stays below .9 and .5, price and query error."""
    heads = (
        "a, size",
        "gain, law known",
        "law learned",
        "K",
        "below .9",
        "below .5",
        "ghosts",
        "withheld",
        "query error",
    )
    lines = []
    for name, (a, size) in COHORTS.items():
        known, learned = (_of(rows, defense=name, adversary=one) for one in ("known", "learned"))
        gains = [_mean(one["gain"], 3) for one in (known, learned)]
        shares = [_mean(known[one]) for one in ("below_90", "below_50", "ghosts", "withheld")]
        bound = _text(float(expected_gain_bound(a, size)), 3)
        lines.append([name, *gains, bound, *shares, _mean(known["query_error"], 3)])
    return markdown_table(heads, lines)


def cohorts_left(rows):
    """Gain of the adversary who reads presence from cohorts on five panels, and the price, by the records withheld at an end."""
    heads = ("panel", "`Cohorts`", "not read", "read", "below .9", "ghosts", "withheld")
    lines = []
    for panel, name in product(PANELS, ("10, 40", "10, 40, ends=1", "10, 40, ends=2")):
        unread, read = (_of(rows, panel=panel, cohorts=name, attack=one) for one in ("unread", "read"))
        shares = [_mean(read[one]) for one in ("below_90", "ghosts", "withheld")]
        lines.append([panel, name, *(_mean(one["gain"], 3) for one in (unread, read)), *shares])
    return markdown_table(heads, lines)


def believing(rows):
    """Gain in hindsight and withheld records where the defender's beliefs are revised one by one, and where they are joint."""
    heads = ("panel", "defense", "gain: one by one", "joint", "withheld: one by one", "joint")
    lines = []
    for panel, names in BELIEVING.items():
        for name in names:
            both = [_of(rows, panel=panel, defense=name, defender=one) for one in ("release by release", "joint")]
            lines.append([panel, _short(name), *(_mean(one[each]) for each in ("gain", "withheld") for one in both)])
    return markdown_table(heads, lines)


def rule_read(rows):
    """Shares of published records that the rule of a defense discloses, over all tables of six respondents."""
    heads = ("defense", "over the group's share", "certain", "certain for an insider")
    lines = []
    for _, one in rows.sort_values(["four_of_one_age"], kind="stable").iterrows():
        name = f"`{one['defense']}`" + (", four of one age" if one["four_of_one_age"] else "")
        lines.append([name, *(f"{one[each]:.0%}" for each in ("over_share", "certain", "certain_for_insider"))])
    return markdown_table(heads, lines)


def law_errors(rows):
    """Errors of transitions learned from releases, by history: exact and expected counts, and the true values."""
    heads = ("", "exact counts", "expected counts", "true values known")
    names, lines = ("exact", "expected", "known"), []
    for setting in LAWS:
        own = _of(rows, **(USUAL | setting))
        lines.append([_described(setting), *(_mean(own[each], 3) for each in names)])
    return markdown_table(heads, lines)


def _described(setting):
    groups = f"groups of {setting['size']}" if "size" in setting else "groups of 3"
    others = [
        f"{value:,g} {name}".replace("0.", ".") for name, value in setting.items() if name in ("people", "releases")
    ]
    others += [f"staying {_text(value)}" for name, value in setting.items() if name == "stay"]
    return ", ".join(["the same " + groups if setting.get("fixed") else groups, *others])


def parts_of_knowledge(rows):
    """Log score of the joint attack in hindsight on `pbc` over that without knowledge, by what is known."""
    heads = ("knowledge", *(f"from {corpus} patients" for corpus in CORPORA))
    wide = rows.pivot_table("log_score", ["corpus", "seed"], "knowledge")
    lines = []
    for name in list(KNOWLEDGE)[1:]:
        gained = (wide[name] - wide["nothing"]).groupby("corpus")
        lines.append([name, *(_mean(gained.get_group(corpus)) for corpus in CORPORA)])
    return markdown_table(heads, lines)


def uncertain_attacks(rows):
    """Log score in bits by what the adversary has of the transitions, sequential and joint, by the size of the corpus."""
    corpora = sorted(rows["corpus"].unique())
    heads = ("", *(f"{part}, {corpus}" for part in ("sequential", "joint") for corpus in corpora))
    lines, names = [], rows[rows["part"] == "sequential"]["knowledge"].unique()
    for name in sorted(names, key=lambda one: ("true" in one, one)):
        own = rows[rows["knowledge"] == name]
        scores = [
            _of(own, part=part, corpus=corpus)["log_score"] for part in ("sequential", "joint") for corpus in corpora
        ]
        lines.append([name, *(_mean(one) for one in scores)])
    return markdown_table(heads, lines)


def uncertain_publisher(rows):
    """Gain of an adversary who knows the law, and withheld records, by what the publisher's requirement is held against."""
    corpora, lines = sorted(rows["corpus"].unique()), []
    heads = ("held against", *(f"{what}, {corpus}" for corpus in corpora for what in ("gain", "withheld")))
    for name in ("one law, the mean", "draws", "draws, the worst", "true law"):
        own = _of(rows, part="publisher", knowledge=name)
        lines.append(
            [name, *(_mean(_of(own, corpus=corpus)[each]) for corpus in corpora for each in ("gain", "withheld"))]
        )
    return markdown_table(heads, lines)


def revised(rows):
    """Gain, log score and sure beliefs by the rule of revision for a chain of order 2."""
    heads = ("revision", "gain", "log score, bits", "sure, right (expected)")
    each = [(name, rows[rows["rule"] == name]) for name in ("product", "chain", "filter")]
    return markdown_table(
        heads, [[f"`{name}`", *(_mean(own[one]) for one in ("gain", "log_score")), _sure(own)] for name, own in each]
    )


def counted(rows):
    """Belief in one value after each of five equal releases."""
    wide = rows.pivot_table("belief", "attack", "release")
    heads = ("after release", *map(str, wide.columns))
    return markdown_table(
        heads, [[name, *(_text(one, 3) for one in wide.loc[name])] for name in ("sequential", "joint")]
    )


def purchased(rows):
    """Gain, success and sure beliefs of attacks on purchases."""
    heads, each = ("adversary", "gain", "success", "sure", "right"), rows.groupby("adversary", sort=False)
    digits = {"gain": 3, "success": 3, "sure": 0, "right": 0}
    return markdown_table(
        heads, [[name, *(_mean(own[one], places) for one, places in digits.items())] for name, own in each]
    )


def unknown_values(rows):
    """Accuracy, log score and overconfidence of attacks without knowledge."""
    heads = ("attack", "accuracy", "log score, bits", "overconfidence")
    each = rows.groupby("attack", sort=False)
    return markdown_table(
        heads, [[name, *(_mean(own[one], 3) for one in ("accuracy", "log_score", "over"))] for name, own in each]
    )


def redrawn(rows):
    """Sure beliefs in worlds redrawn from the adversary's law, and the number of publications within three standard deviations."""
    heads = (
        "history",
        "solver",
        "sure, right (expected)",
        "publications within 3 standard deviations",
        "largest error of the log score, bits",
    )
    lines = []
    for history, solver in product(SIZES, SOLVERS):
        own = _of(rows, history=history, solver=solver)
        total, within = own[["sure", "right", "expected"]].sum(), int((own["z"].abs() < 3).sum())
        sure = f"{total['sure']:,.0f}, {total['right']:,.0f} ({total['expected']:,.0f})"
        title = "".join(part.title() for part in solver.split("-"))
        lines.append([history, f"`{title}`", sure, f"{within} of {len(own)}", _text(own["difference"].abs().max(), 3)])
    return markdown_table(heads, lines)


def attacked_promises(rows, by_value):
    """Excess of the worst gain over the 1/c of exact counts, where respondents leave at random and where they leave by value."""
    attacks, lines = groups_or_noise_attacks, []
    names = ("Mondrian", "Cohorts(10, 10)", "Cohorts(10, 40)", "NoisyCounts(gain=.10)")
    for found, points, leaving in (
        (attacks.worst(rows, attacks.ADVERSARIES), attacks.POINTS, ""),
        (attacks.worst(by_value, attacks.BY_VALUE_ADVERSARIES), attacks.BY_VALUE_POINTS, " by value"),
    ):
        for shape in points:
            own = found.loc[shape].loc[[*names]]
            texts = [_with_half(mean, half, 3) for mean, half in zip(own["mean"], own["half"], strict=True)]
            lines.append([attacks.point_name(shape).replace("%", f"%{leaving}"), *texts])
    return markdown_table(("records x releases, leaving, values", *(f"`{name}`" for name in names)), lines)


def on_real_panels(rows):
    """Query errors of cohorts and of noise on each real panel, at a gain of at most .10, and the price of cohorts."""
    heads = ("panel", "respondents x releases", "cohorts", "as shown", "ghosts", "withheld", "noise")
    first, lines = groups_or_noise.best(answered(rows), MOST, shape=["panel", "seed"]).reset_index(), []
    own = rows[["panel", "seed", "defense", "records", "releases", "ghosts", "withheld", "query_median"]]
    first = first.merge(own, left_on=["panel", "seed", "best_cohorts"], right_on=["panel", "seed", "defense"])
    for name, each in sorted(first.groupby("panel"), key=lambda one: one[1]["ratio"].mean()):
        errors = [_mean(each[one], 3) for one in ("cohorts", "query_median", "noise")]
        price = [_mean(each[one]) for one in ("ghosts", "withheld")]
        size = f"{each['records'].median():,.0f} x {each['releases'].median():.0f}"
        lines.append([name, size, *errors[:2], *price, errors[2]])
    return markdown_table(heads, lines)


CASCADES = ("prior", "prior, as printed", "evidence", "posterior", "none", "removal")


def bits_of_cascades(rows):
    """Bits of log score that each cascade loses per record under three laws of a confidence, and the largest errors of a belief."""
    groups = rows.groupby(["about", "cascade", "reading"])
    bits, error = groups["bits_lost"].mean(), groups["largest_error"].max()
    readings = ("mixture", "likelihood", "Jeffrey")
    lines = [
        [
            name,
            *(f"{_text(bits['others', name, one], 3)} ({_text(error['others', name, one])})" for one in readings),
            *(_text(bits["claimed record", name, one]) for one in readings),
        ]
        for name in CASCADES
    ]
    return markdown_table(("cascade", *readings, *(f"claimed: {one}" for one in readings)), lines)


def cascades_on_panels(rows):
    """Bits that each cascade loses per record without a claim on two panels, and the largest error of a belief."""
    columns = list(product(("exams", "pbc"), ("mixture", "likelihood", "Jeffrey")))
    own = _of(rows, about="others").set_index(["history", "reading", "cascade"]).sort_index()
    lines = [
        [
            name,
            *(
                f"{_mean(own.loc[(*each, name), 'bits_lost'], 3)} ({_text(own.loc[(*each, name), 'largest_error'].max())})"
                for each in columns
            ),
        ]
        for name in CASCADES
    ]
    return markdown_table(("cascade", *(f"{history}: {reading}" for history, reading in columns)), lines)


def verdicts(tables, *numbers):
    """Claims of the papers with the values that the kept cells give, and their verdicts."""
    asked, lines = [claim for claim in all_claims() if str(claim.number) in numbers], []
    if not asked:
        return ["| not judged yet |", "|---|"]
    for claim, own, under, _ in judged(asked, tables):
        value = f"{with_interval(own.mean, own.half)} ({own.seeds})" if own.seeds else ""
        strongest = f"{under.verdict}: {under.mean:.3g}" if under.verdict and not np.isnan(under.mean) else ""
        lines.append([claim.says, claim.asked if claim.query else "", value, own.verdict, strongest])
    return markdown_table(("claim", "asked", "measured (seeds)", "verdict", asked[0].stronger), lines)


def shown(*numbers):
    """Theorems and examples of the papers with their verdicts, and the tests that show them."""
    lines = [
        [
            claim.says,
            claim.verdict,
            "; ".join(f"`{each.rpartition('::')[2]}`" for each in claim.shown_by if "::" in each),
        ]
        for claim in all_claims()
        if str(claim.number) in numbers
    ]
    return markdown_table(("claim", "verdict", "test"), lines)


def by_divergence(rows):
    """Gain with full knowledge from JS-reduce as printed, and suppressed records of a release, by the largest divergence."""
    heads = ("j", "mean gain", "largest gain", "suppressed, of 5,000", "seeds")
    lines, some = [], _of(rows, law="past and class", attacker="DK")
    for name in sorted(name for name in some["variant"].unique() if name.endswith(" bits")):
        own = _of(some, variant=name).groupby("seed")
        gains = [_mean(own["gain"].mean()), _mean(own["gain"].max())]
        lines.append(
            [name.removeprefix("j = "), *gains, with_interval(*interval(own["suppressed"].mean())), str(len(own))]
        )
    return markdown_table(heads, lines)


def frameworks(rows):
    """Gain by each framework's own estimator and by the joint attack, and the price of a release that is not empty."""
    heads = ("framework, one step", "own gain", "joint gain", "suppressed, of 4,000", "GCP", "seeds")
    lines, stated = [], _of(rows, reading="stated", steps=1)
    for name, each in stated.groupby("framework"):
        own, joint = (_of(each, attacker=one).groupby("seed") for one in ("own", "joint"))
        left = each[(each["attacker"] == "own") & (each["suppressed"] < 4000)].groupby("seed")
        price = [with_interval(*interval(one.mean())) for one in (own["suppressed"], left["gcp"])]
        lines.append([name, _mean(own["gain"].mean()), _mean(joint["gain"].mean()), *price, str(len(own))])
    return markdown_table(heads, lines)


def linkage_and_gain(rows, sequence):
    """Generalization and record linkage of three algorithms on exams, and the gain of two adversaries from all tables."""
    heads = ("algorithm", "GCP", "RL", "gain, priors alone", "gain, joint in hindsight", "seeds")
    lines, exams = [], _of(rows, k=5, t=0.5, j=0.8)
    for name in ("UHRA", "BKA-JS", "k-primacy"):
        own, each = _of(exams, algorithm=name), _of(sequence, algorithm=name)
        gains = [_mean(_of(each, adversary=one)["gain"], 3) for one in ("priors alone", "joint")]
        lines.append([name, with_interval(*interval(own["gcp_all"])), _mean(own["linkage"], 3), *gains, str(len(own))])
    return markdown_table(heads, lines)


def readings_of_anatomy(rows):
    """Mean belief, breaches and flagged others by what a bucket must not exceed, at r = 2 and 4, beside the printed numbers."""
    heads = (
        "1/r bounds the share of",
        *(f"r = {r}: {what}" for r in (2, 4) for what in ("belief", "in breach", "flagged")),
    )
    lines = [["*printed*", ".892", "over .99", "under .06", ".464", "over .99", "under .06"]]
    some = _of(rows, qi=5, unmatched="table")
    some = some[some["support"] == some["support"].max()]
    bounds = {
        "set": "the set",
        "near": "the set, neighbours in a bucket",
        "set and other values": "the set and each other value",
    }
    for bound, title in (bounds | {one: one for one in ("every value", "values of the set")}).items():
        each = [_of(some, bound=bound, r=r) for r in (2, 4)]
        lines.append([title, *(_mean(own[one], 3) for own in each for one in ("belief", "breached", "flagged"))])
    return markdown_table(heads, lines)


def breach_measures(rows):
    """Measures of the attack on buckets of at most one sensitive record: breaches, precision, ranking and Brier scores."""
    measures = ("breached", "flagged", "precision", "expected", "auc", "brier", "brier_of_shares")
    heads = (
        "r",
        "in breach",
        "others flagged",
        "precision",
        "expected",
        "AUC in groups",
        "Brier",
        "of counting",
        "seeds",
    )
    some, lines = _of(rows, qi=5, bound="set", unmatched="table"), []
    some = some[some["support"] == some["support"].max()]
    for r, own in some.groupby("r"):
        lines.append([f"{r:.0f}", *(_mean(own[one], 3) for one in measures), str(own["seed"].nunique())])
    return markdown_table(heads, lines)


def _short(name):
    """Name of a defense without its settings."""
    return f"`{name.partition('(')[0].partition(' ')[0]}`"


def _of(rows, **values):
    """Rows in which columns have these values; all of an experiment without cells."""
    if rows.empty:
        return rows
    kept = np.ones(len(rows), dtype=bool)
    for name, value in values.items():
        kept &= (rows[name] == value).to_numpy()
    return rows[kept]


def _mean(values, digits=2):
    return _with_half(*interval(pd.Series(values, dtype=float).dropna()), digits)


def _with_half(mean, half, digits):
    return _text(mean, digits) + ("" if np.isnan(half) else f" ± {_text(half, digits)}")


def _text(number, digits=2):
    return (
        ""
        if pd.isna(number)
        else f"{number:z.{digits}f}".replace("0.", ".", 1)
        if abs(number) < 1
        else f"{number:.{digits}f}"
    )


def _percent(shares):
    """Mean of shares in percent, with its interval."""
    mean, half = interval(shares)
    return f"{mean:.1%}" + ("" if np.isnan(half) else f" ± {half:.1%}")


def _sure(rows):
    mean = rows[["sure", "right", "expected"]].mean()
    return "" if rows.empty else f"{mean['sure']:,.0f}, {mean['right']:,.0f} ({mean['expected']:,.0f})"
