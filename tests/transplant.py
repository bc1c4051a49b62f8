"""Functions and constants of a mutated text in the place of those of an imported module."""

import gc
import sys
from types import FunctionType, ModuleType


class UnfitCodeError(Exception):
    """A mutated function has other variables of an enclosing function, so that its code does not fit the imported one."""


PLAIN = (int, float, str, tuple, frozenset)
"""Types of constants that are replaced wherever they were imported."""


def functions_by_file(files):
    """Live functions of each file by their names and first lines."""
    found = {file: {} for file in files}
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in found:
            place = each.__code__.co_qualname, each.__code__.co_firstlineno
            found[each.__code__.co_filename].setdefault(place, []).append(each)
    return found


def transplant(module, text, original):
    """Execute a mutated text as a module of the same name, and give its code, defaults and constants to the imported one.

    Parameters
    ----------
    module : module
        Imported from the text without the mutation.
    text : str
        Mutated text, with the same lines.
    original : dict
        Functions of the module, by `functions_by_file`; they must be frozen (`gc.freeze`), so that they are not found again.

    Raises
    ------
    UnfitCodeError
        If the code of a function does not fit.
    """
    fresh = ModuleType(module.__name__)
    fresh.__file__ = module.__file__
    exec(compile(text, module.__file__, "exec"), fresh.__dict__)
    for place, mutated in functions_by_file([module.__file__])[module.__file__].items():
        for old, new in zip(original.get(place, ()), mutated, strict=False):
            if old.__code__.co_freevars != new.__code__.co_freevars:
                raise UnfitCodeError(place)
            old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
    for name, new in vars(fresh).items():
        old = vars(module).get(name)
        if isinstance(new, type) and new.__module__ == module.__name__ and isinstance(old, type):
            _take_defaults(old, new)
        elif isinstance(new, PLAIN) and new != old and not name.startswith("__"):
            _replace_everywhere(name, old, new)


def _take_defaults(old, new):
    """Give the defaults of the fields of a record or of its methods to the imported class."""
    for name, value in vars(new).items():
        before = vars(old).get(name)
        if isinstance(value, FunctionType) and isinstance(before, FunctionType):
            before.__defaults__, before.__kwdefaults__ = value.__defaults__, value.__kwdefaults__
        elif isinstance(value, PLAIN) and not name.startswith("__"):
            setattr(old, name, value)


def _replace_everywhere(name, old, new):
    for module in list(sys.modules.values()):
        if str(getattr(module, "__name__", "")).startswith("foreknow.") and vars(module).get(name) is old:
            setattr(module, name, new)
