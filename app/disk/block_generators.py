"""Random generators of blocks, so that results depend neither on the order of the blocks nor on the processes."""

import dataclasses
import hashlib
import json
from typing import Any

import numpy as np

from foreknow.models import Adversary


def place_generator(seed: object, release: int, block: int) -> np.random.Generator:
    """Generator of a block of a release, by the text of a seed."""
    place = f"{seed} {release} {block}".encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(place).digest()))


def block_adversary(adversary: Adversary, release: int, block: int) -> Adversary:
    """Adversary whose estimator draws by generators of a block; itself if its estimator has none.

    Each generator is replaced by one of its state, the release and the block. The states of the given generators do not change.
    """
    estimator = _with_generators(adversary.estimator, release, block)
    return adversary if estimator is adversary.estimator else dataclasses.replace(adversary, estimator=estimator)


def check_generators(owner: str, adversary: Adversary) -> None:
    """Raise ValueError if an estimator holds a generator that `block_adversary` cannot replace.

    Generators are sought in the attributes of the estimator and of its parts; those of plain functions are not seen.
    """
    estimator = adversary.estimator
    left = {id(one) for one in _generators(_with_generators(estimator, 0, 0), set())}
    if left & {id(one) for one in _generators(estimator, set())}:
        raise ValueError(
            f"{owner}: {type(estimator).__name__} holds a random generator that is not a field of a dataclass, so that results "
            "would depend on the order of the blocks. Make it a field of a frozen dataclass, or use SequentialAttack, in memory."
        )


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


def _generators(setting: Any, seen: set[int]) -> list[np.random.Generator]:
    """Generators in the attributes of an object, and in theirs; ``seen`` are the objects that were looked into."""
    if isinstance(setting, np.random.Generator):
        return [setting]
    if id(setting) in seen:
        return []
    seen.add(id(setting))
    return [one for value in getattr(setting, "__dict__", {}).values() for one in _generators(value, seen)]
