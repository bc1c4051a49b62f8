"""Joint law of a history in plain NumPy, by enumeration of all assignments; and random small histories."""

import itertools

import numpy as np

MAX_ASSIGNMENTS = 20_000
"""Largest number of joint assignments of a random history."""


# --- the law of the arrays of a problem -------------------------------------------------------------------------------


def arrangements(counts):
    """All distinct orders of a multiset."""
    shown = [value for value, count in enumerate(counts) for _ in range(count)]
    return sorted(set(itertools.permutations(shown)))


def group_options(size, counts, emission):
    """All tuples of own values of a group, and the weight of its multiset given each."""
    m = len(counts)
    if not any(counts):
        return [(values, 1.0) for values in itertools.product(range(m), repeat=size)]
    if emission is None:
        return [(values, 1.0) for values in arrangements(counts)]
    published = arrangements(counts)
    return [
        (values, sum(np.prod([emission[x, y] for x, y in zip(values, shown, strict=True)]) for shown in published))
        for values in itertools.product(range(m), repeat=size)
    ]


def number_of_assignments(arrays):
    sizes = np.bincount(arrays["group"], minlength=len(arrays["counts"]))
    rows = arrays.get("emission_row", np.full(len(sizes), -1))
    m, total = arrays["counts"].shape[1], 1
    for size, counts, row in zip(sizes, arrays["counts"], rows, strict=True):
        free = row >= 0 or not counts.any()
        total *= m**size if free else len(arrangements(counts))
        if total > MAX_ASSIGNMENTS:
            return total
    return total


def joint_law(arrays):
    """All joint assignments, shape ``(a, R)``, and their weights, shape ``(a,)``, by the definition of `JointProblem`."""
    group, path, release = arrays["group"], arrays["path"], arrays["release"]
    tables = arrays["tables"]
    emissions = [
        None if row < 0 else arrays["emission"][row] for row in arrays.get("emission_row", [-1] * len(release))
    ]
    options = [
        group_options(int((group == g).sum()), counts.tolist(), emissions[g])
        for g, counts in enumerate(arrays["counts"])
    ]
    joint = list(itertools.product(*options))
    values = np.array([sum((part for part, _ in each), ()) for each in joint], dtype=int).reshape(
        len(joint), len(group)
    )
    weight = np.array([np.prod([w for _, w in each]) for each in joint])
    for i in np.unique(path):
        records = sorted(np.flatnonzero(path == i), key=lambda r: release[group[r]])
        for j, r in enumerate(records):
            known = min(j, len(tables))
            last = tuple(values[:, before] for before in records[j - known : j])
            weight = weight * (
                tables[known - 1][(arrays["chain"][r], *last, values[:, r])]
                if known
                else arrays["prior"][i][values[:, r]]
            )
    for r, row in enumerate(arrays.get("evidence_row", [])):
        if row >= 0:
            weight = weight * arrays["evidence"][row][values[:, r]]
    for (r, q), table in zip(arrays.get("pairs", []), arrays.get("pair_table", []), strict=True):
        weight = weight * arrays["pair_tables"][table][values[:, r], values[:, q]]
    for g, shown in arrays.get("noisy", {}).items():
        number = (values[:, group == g, None] == np.arange(len(shown))).sum(axis=1)
        weight = weight * noise_probability(arrays["noise"], shown, number).prod(axis=1)
    return values, weight


def noise_probability(noise, shown, number):
    """Probability of shown counts given the true ones, by sums over the whole law of the noise: ``(law, scale, clamped)``."""
    law, scale, clamped = noise
    reach = int(40 * scale) + 60
    k = np.abs(np.arange(-reach, reach + 1)) / scale
    weight = np.exp(-(k**2) / 2 if law == "gaussian" else -k)
    weight /= weight.sum()
    exact = weight[shown - number + reach]
    return np.where(shown == 0, np.cumsum(weight)[-number + reach], exact) if clamped else exact


def shares(values, weight, m):
    """Fraction of the weight of the assignments in which each record has each value; None if all weights are 0."""
    if not weight.sum() > 0:
        return None
    return np.array([np.bincount(column, weights=weight, minlength=m) for column in values.T]) / weight.sum()


def joint_beliefs(arrays):
    """Beliefs by enumeration: float array, shape ``(R, m)``; None where the knowledge rules out what is published."""
    return shares(*joint_law(arrays), arrays["counts"].shape[1])


# --- random small histories -------------------------------------------------------------------------------------------


def rows_with_zeros(rng, shape, zeros):
    rows = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    rows[rng.random(shape) < zeros] = 0.0
    rows[..., 0] += rows.sum(axis=-1) == 0
    return rows / rows.sum(axis=-1, keepdims=True)


def random_arrays(rng, emission=False):
    """Arguments of a `JointProblem`: some releases, respondents who come and go, claims, counterfeits and zeros in the chain."""
    while True:
        arrays = _random_arrays(rng, emission)
        if arrays is not None and number_of_assignments(arrays) <= MAX_ASSIGNMENTS:
            return arrays


def _random_arrays(rng, emission):
    releases, m, order = rng.integers(2, 5), rng.integers(2, 4), rng.integers(0, 3)
    people, chains, zeros = rng.integers(2, 7), rng.integers(1, 4), rng.choice([0, 0.3])
    prior = rows_with_zeros(rng, (people, m), zeros)
    tables = tuple(rows_with_zeros(rng, (chains, *(m,) * (length + 1)), zeros) for length in range(1, order + 1))
    channel = rows_with_zeros(rng, (1, m, m), zeros) + 0.5 * np.eye(m)
    channel /= channel.sum(axis=-1, keepdims=True)
    rows, counts, when, channels, evidence, priors = [], [], [], [], [], []
    truth, paths = {}, {}

    def add_path(row):
        priors.append(row)
        return len(priors) - 1

    invented = []
    for t in range(releases):
        present = rng.permutation(np.flatnonzero(rng.random(people) < 0.75)).tolist()
        while present:
            members = [present.pop() for _ in range(min(len(present), rng.integers(1, 5)))]
            published, distorted = rng.random() < 0.9, emission and rng.random() < 0.5
            shown = np.zeros(m, dtype=int)
            for i in members:
                past, chain = truth.setdefault(i, []) if order else [], int(rng.integers(chains))
                known = min(len(past), order)
                law = tables[known - 1][(chain, *past[len(past) - known :])] if known else prior[i]
                x = int(rng.choice(m, p=law))
                past.append(x)
                path = paths.setdefault(i, None) if order else None
                if path is None:
                    path = paths[i] = add_path(prior[i])
                claim = rng.random() < 0.15
                rows.append((path, len(counts), chain if order else 0, len(evidence) if claim else -1))
                if claim:
                    evidence.append(rng.choice([0.0, 0.5]) + 3.0 * (np.arange(m) == x))
                shown[rng.choice(m, p=channel[0][x]) if distorted else x] += 1
            if published and rng.random() < 0.15:
                invented.append(len(counts))
                shown[rng.integers(m)] += 1
            counts.append(shown if published else np.zeros(m, dtype=int))
            channels.append(0 if distorted and published else -1)
            when.append(t)
    if not rows:
        return None
    respondents = len(priors)
    rows += [(add_path(np.full(m, 1 / m)), g, 0, -1) for g in invented]
    rows.sort(key=lambda row: row[1])
    path, group, chain, evidence_row = np.array(rows).T
    return {
        "prior": np.array(priors),
        "tables": tables,
        "path": path,
        "group": group,
        "chain": chain,
        "counts": np.array(counts),
        "release": np.array(when),
        "evidence": np.array(evidence).reshape(-1, m),
        "evidence_row": evidence_row,
        "emission": channel,
        "emission_row": np.array(channels),
        "respondents": respondents,
    }


def noisy(rng, arrays, noise, share=1.0):
    """The arrays with noise on the counts of a ``share`` of the published groups; a drawn noise of `Noise` is added."""
    shown, counts = {}, arrays["counts"].copy()
    for g in np.flatnonzero(counts.any(axis=1) & (rng.random(len(counts)) < share)):
        shown[int(g)] = counts[g] + noise.draw(counts.shape[1], rng)
        if noise.clamped:
            shown[int(g)] = np.maximum(shown[int(g)], 0)
        counts[g] = 0
    return arrays | {"counts": counts, "noisy": shown, "noise": (noise.law, noise.scale, noise.clamped)}


def random_noisy(rng, noise, share=1.0, most=MAX_ASSIGNMENTS, orders=(0, 1, 2)):
    """A random history with noise on a ``share`` of its published groups."""
    while True:
        arrays = random_arrays(rng)
        if len(arrays["tables"]) in orders:
            arrays = noisy(rng, arrays, noise, share)
            if arrays["noisy"] and number_of_assignments(arrays) <= most:
                return arrays


def related(rng, arrays, share=0.3, sharp=1.0, across=None):
    """The arrays with random pairs among the records of each release: a ``share`` of all, or of those across groups or within them.

    Tables are ``exp(sharp * symmetric normal numbers)``, of two kinds.
    """
    m, group = arrays["counts"].shape[1], arrays["group"]
    when = arrays["release"][group]
    normal = rng.normal(size=(2, m, m))
    pairs = [
        (r, q)
        for r, q in itertools.combinations(range(len(group)), 2)
        if when[r] == when[q] and arrays["path"][r] != arrays["path"][q] and across in (None, group[r] != group[q])
    ]
    kept = [pair[:: rng.choice([-1, 1])] for pair in pairs if rng.random() < share]
    return arrays | {
        "pairs": np.array(kept, dtype=int).reshape(-1, 2),
        "pair_table": rng.integers(2, size=len(kept)),
        "pair_tables": np.exp(sharp * (normal + normal.transpose(0, 2, 1)) / 2),
    }


def cohorts(rng, people, releases, values, kind, zeros=0.0, spread=0.4, groups=2):
    """Arrays of groups of about equal size at each release, values drawn from the law; no gaps.

    ``kind`` says who is in which group: "closed" for the same people throughout, "exchanged" if before each release each group of
    the first half exchanges a member with one of the second half, "drawn" if all are drawn anew. A share ``zeros`` of transitions
    is 0.
    """
    table = rng.dirichlet(np.full(values, spread), values)
    table = np.where((rng.random(table.shape) < zeros) & ~np.eye(values, dtype=bool), 0.0, table)
    table /= table.sum(axis=1, keepdims=True)
    prior = rng.dirichlet(np.ones(values), people)
    current = np.array([rng.choice(values, p=row) for row in prior])
    part, path, group, counts = np.arange(people) * groups // people, [], [], []
    for t in range(releases):
        if t:
            current = np.array([rng.choice(values, p=table[value]) for value in current])
        if t and kind == "exchanged":
            for one, half in enumerate([groups // 2] * (groups // 2)):
                other = half + (one + t) % half
                out, into = rng.choice(np.flatnonzero(part == one)), rng.choice(np.flatnonzero(part == other))
                part[out], part[into] = other, one
        if t and kind == "drawn":
            part = rng.permutation(part)
        for side in range(groups):
            members = np.flatnonzero(part == side)
            path.extend(members)
            group.extend(np.full(len(members), len(counts)))
            counts.append(np.bincount(current[members], minlength=values))
    return {
        "prior": prior,
        "tables": (table[None],),
        "path": np.array(path),
        "group": np.array(group),
        "chain": np.zeros(len(path), dtype=int),
        "counts": np.array(counts),
        "release": np.arange(len(counts)) // groups,
    }


# --- respondents with ghosts ------------------------------------------------------------------------------------------


def courses(person, knowledge):
    """All values of a respondent's places, and the weight of each: by the tree of the respondent's values and the ghosts' ones.

    A person has ``listed``, the releases of the own records; ``places``, the releases of published records and of ghosts, in order;
    ``ghosts``, those of the ghosts. Every value of every listed record is enumerated, and of every ghost. With ``power`` the chain
    takes a step at each release, and else from one published record to the next.
    """
    prior, table, ghost, leave, power, releases = knowledge
    listed, places, ghosts = person["listed"], person["places"], person["ghosts"]
    own = list(range(listed[0], listed[-1] + 1)) if power else [t for t in places if t not in ghosts]
    m, weights = len(table), {}
    for values in itertools.product(range(m), repeat=len(own)):
        at = dict(zip(own, values, strict=True))
        weight = prior[person["number"]][values[0]] * np.prod(
            [table[x, y] for x, y in itertools.pairwise(values)] or [1.0]
        )
        for t in own:
            if leave is not None and t in listed and t < releases - 1:
                weight *= 1 - leave[at[t]] if any(u > t for u in listed) else leave[at[t]]
        for carried in itertools.product(range(m), repeat=len(ghosts)):
            factor, last = weight, None
            for t, x in zip(ghosts, carried, strict=True):
                before = last if last is not None else at[max(u for u in places if u < t and u not in ghosts)]
                factor, last = factor * ghost[before, x], x
            shown = tuple(carried[ghosts.index(t)] if t in ghosts else at[t] for t in places)
            weights[shown] = weights.get(shown, 0.0) + factor
    return weights


def ghost_beliefs(people, groups, counts, knowledge):
    """Belief in each value of each place, by enumeration: one array of shape ``(places, m)`` for each person.

    ``groups[t]`` are the groups of release t, each a list of numbers of people; ``counts[t]`` what they show.
    """
    m = len(knowledge[1])
    each = [list(courses(person, knowledge).items()) for person in people]
    found, total = [np.zeros((len(person["places"]), m)) for person in people], 0.0
    for joint in itertools.product(*each):
        weight = np.prod([part for _, part in joint])
        for t, shown in enumerate(groups):
            for members, expected in zip(shown, counts[t], strict=True):
                values = [joint[i][0][people[i]["places"].index(t)] for i in members]
                if weight and not np.array_equal(np.bincount(values, minlength=m), expected):
                    weight = 0.0
        if weight:
            total += weight
            for beliefs, (values, _) in zip(found, joint, strict=True):
                beliefs[np.arange(len(values)), list(values)] += weight
    return [beliefs / total for beliefs in found]


def random_ghosts(rng, returners=False):
    """People who leave and whose places are carried on, groups, what these show, and their knowledge.

    Some are withheld before they leave; with ``returners``, some come back after their ghosts have ended.
    """
    n, releases, m = int(rng.integers(2, 5)), int(rng.integers(3, 5)), 2
    table, ghost = rng.dirichlet(np.ones(m), m), rng.dirichlet(np.ones(m), m)
    power, presence = bool(rng.random() < 0.5), rng.random() < 0.5 and not returners
    leave = rng.uniform(0.05, 0.9, m) if presence else None
    prior = rng.dirichlet(np.ones(m), n)
    people, values = [], []
    for i in range(n):
        first = int(rng.integers(0, 2)) if i else 0
        stop = int(rng.integers(first + 1, releases + 1))  # first release without own record
        withheld = int(rng.integers(0, min(2, stop - first)))
        end = int(rng.integers(stop, releases + 1)) if rng.random() < 0.8 else stop - withheld
        listed, ghosts = list(range(first, stop)), list(range(stop - withheld, end))
        if not ghosts:
            listed = list(range(first, stop - withheld))
        published = list(range(first, stop - withheld))
        if returners and ghosts and end < releases and rng.random() < 0.7:
            listed, published = [*listed, end], [*published, end]
        people.append({"number": i, "listed": listed, "places": sorted([*published, *ghosts]), "ghosts": ghosts})
        last, own = None, {}
        for t in people[-1]["places"]:
            law = prior[i] if last is None else (ghost if t in ghosts else table)[last]
            last = own[t] = int(rng.choice(m, p=law))
        values.append(own)
    groups = []
    for t in range(releases):
        here = rng.permutation([i for i in range(n) if t in people[i]["places"]]).tolist()
        cut = int(rng.integers(0, len(here) + 1))
        groups.append([part for part in (here[:cut], here[cut:]) if part])
    counts = [
        [np.bincount([values[i][t] for i in part], minlength=m) for part in shown] for t, shown in enumerate(groups)
    ]
    return people, values, groups, counts, (prior, table, ghost, leave, power, releases)


def likelihoods(logs, groups, size):
    """Arguments of a problem for likelihoods of some of its groups, shape ``(K, m, N + 1)``."""
    start = np.full((size, logs.shape[1]), -1)
    start[groups] = np.arange(0, logs.size, logs.shape[2]).reshape(logs.shape[:2])
    return {"count_logs": logs.ravel(), "count_start": start, "largest_count": logs.shape[2] - 1}
