"""Every public object can be copied and pickled, and is equal to its copy."""

import copy
import pickle
import re

import pytest
from public_objects import public_classes, public_objects

OBJECTS = public_objects()
ADDRESS = re.compile("0x[0-9A-F]+")
"""Address of a random generator in memory."""
WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda each: pickle.loads(pickle.dumps(each))}


def test_every_public_class_has_an_object():
    assert {name for name, _ in public_classes()} <= {name for name, _ in OBJECTS}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "each"), OBJECTS, ids=[name for name, _ in OBJECTS])
def test_a_copy_is_equal(name, each, way):
    made = WAYS[way](each)
    assert type(made) is type(each)
    assert ADDRESS.sub("", repr(made)) == ADDRESS.sub("", repr(each))
    assert isinstance(each, Exception | tuple) or (made == each and hash(made) == hash(each))
