"""Adversary of the respondents of one block: revised beliefs, and generators that depend on the block alone."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from foreknow.app.disk.parts import dense_beliefs
from foreknow.models import Adversary, GivenPrior, KernelPrior, People
from foreknow.models.adversary import check_reads
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.personal_transitions import PersonalTransitions, chains_at
from foreknow.models.settings import check_kind, shown


def check_large_adversary(owner: str, adversary: Any, joint: bool = False) -> None:
    """Raise ValueError unless an adversary's knowledge is read from disk.

    The state of a sequential attack is the last belief about each respondent. A ``joint`` one reads presence and relations, too.

    Raises
    ------
    TypeError
        If it is no `Adversary`.
    ValueError
        If it has a part that is not read, compromised records, a prior by respondent, transitions by person, or transitions of an
        order over 1.
    """
    check_kind(owner, "adversary", adversary, Adversary, "is an Adversary; an Averaged one needs all records in memory")
    of_joint = ("presence", "relations")
    reads = ("prior", "transitions", "compromised", "mechanism", "program", *(of_joint if joint else ()))
    check_reads(owner, adversary, reads, readers=lambda part: ("JointAttack",) if part in of_joint else ())
    chains = adversary.transitions
    differ = isinstance(chains, PersonalTransitions) or (chains is not None and chains_at(chains, 0)[0].order > 1)
    if adversary.compromised is not None or _reads_respondents(adversary.prior, set()) or differ:
        raise ValueError(
            f"{owner}: adversary is {shown(adversary)}; from disk it has no compromised records, transitions of order 1, the same "
            "for all, and a prior that does not read respondents, as GivenPrior and KernelPrior with leave_one_out do. Change it, "
            f"or use {'publish' if owner == 'publish_large' else 'SequentialAttack'}, in memory."
        )


def _reads_respondents(prior: object, seen: set[int]) -> bool:
    """Return whether a prior reads the identifiers of respondents, for which blocks have numbers.

    Such a prior is sought in a prior, its attributes and theirs, ``seen`` being those that were looked into. Those of plain
    functions are not seen.
    """
    if isinstance(prior, GivenPrior | KernelPrior):
        return isinstance(prior, GivenPrior) or bool(prior.own)
    if id(prior) in seen or isinstance(prior, str | bytes | np.ndarray):
        return False
    seen.add(id(prior))
    held = prior.values() if isinstance(prior, Mapping) else getattr(prior, "__dict__", {}).values()
    listed = prior if isinstance(prior, list | tuple) else ()
    return any(_reads_respondents(part, seen) for part in [*held, *listed])


def revised_beliefs(adversary: Adversary, people: People, block: pa.Table, release: int) -> FloatArray:
    """Prior of the respondents of a block before a release, revised by the earlier ones, as `Adversary.revise`.

    Ghosts take the last step by the chain of the mechanism, as in `Adversary.with_ghosts`.

    Parameters
    ----------
    adversary : Adversary
        With transitions of order 1, or none.
    people : People
        The respondents, in the order of the rows of ``block``.
    block : Table
        With ``step``, ``values`` and ``probabilities``: release and beliefs of the last observation, NULL for none; and ``ghost``
        if there are ghosts.
    release : int
        Number of the release, from 0.

    Returns
    -------
    float array, shape (n, m)
    """
    revised = adversary.prior_rows(people)
    transitions = adversary.transitions
    own = None if transitions is None else chains_at(transitions, release)[0]
    carried = own if adversary.mechanism is None else adversary.mechanism.transitions or own
    if "step" not in block.column_names or carried is None:
        return revised
    m = revised.shape[1]
    beliefs, seen = dense_beliefs(block, m)
    if adversary.gaps == "power" and transitions is not None:
        steps = block["step"].to_numpy()[seen].astype(np.int64)
        for step in range(int(steps.min(initial=release)) + 1, release):
            _take_step(beliefs, np.flatnonzero(steps < step), chains_at(transitions, step)[0])
    ghost = block["ghost"].to_numpy()[seen] if "ghost" in block.column_names else np.zeros(len(seen), dtype=np.bool_)
    for some, chain in ((~ghost, own), (ghost, carried)):
        if chain is not None:
            continued = _take_step(beliefs, np.flatnonzero(some), chain)
            revised[seen[continued]] = beliefs[continued]
    return revised


def _take_step(beliefs: FloatArray, rows: IntArray, chain: MarkovChain) -> IntArray:
    """One step of the chain, in place; a belief without continuation stays. Returns the rows of the others."""
    predicted = beliefs[rows] @ chain.tables[0]
    totals = predicted.sum(axis=1)
    continued = totals > 0
    beliefs[rows[continued]] = predicted[continued] / totals[continued, None]
    return rows[continued]


def place_generator(seed: object, release: int, block: int) -> np.random.Generator:
    """Generator of a block of a release, by the text of a seed."""
    place = f"{seed} {release} {block}".encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(place).digest()))


def block_adversary(adversary: Adversary, release: int, block: int) -> Adversary:
    """Adversary whose estimator draws by generators of a block; itself if its estimator has none.

    Each generator in a field of a dataclass is replaced by one of its state, the release and the block. The states of the given
    generators do not change. Others are not seen: results would then depend on the order of the blocks.
    """
    estimator = _with_generators(adversary.estimator, release, block)
    return adversary if estimator is adversary.estimator else dataclasses.replace(adversary, estimator=estimator)


def _with_generators(setting: Any, release: int, block: int) -> Any:
    """A settings object with the generators of a block, in its fields and in theirs."""
    if isinstance(setting, np.random.Generator):
        state = json.dumps(setting.bit_generator.state, default=lambda numbers: numbers.tolist(), sort_keys=True)
        return place_generator(state, release, block)
    if not dataclasses.is_dataclass(setting) or isinstance(setting, type):
        return setting
    held = {field.name: getattr(setting, field.name) for field in dataclasses.fields(setting) if field.init}
    made = {name: _with_generators(value, release, block) for name, value in held.items()}
    changed = {name: value for name, value in made.items() if value is not held[name]}
    return dataclasses.replace(setting, **changed) if changed else setting
