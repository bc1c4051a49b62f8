"""help() of each public name: a summary, NumPy sections in order, each parameter once and in order, a signature without noise."""

import enum
import inspect
import re

from failing_cases import failing

from foreknow import attacks, defenses, evaluation, models

SECTIONS = (
    "Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "Notes", "References", "Examples",
)  # fmt: skip
"""Sections in the order of NumPy."""
ADDRESS = re.compile(r"0x[0-9a-f]{6,}|<function|<lambda|object at")


def public_names():
    """Each public class and function, and each public method of a class, by its full name."""
    for package in (models, attacks, defenses, evaluation):
        for name in package.__all__:
            target = getattr(package, name)
            if inspect.isfunction(target):
                yield name, target
            elif inspect.isclass(target):
                yield name, target
                for method in dir(target):
                    found = inspect.getattr_static(target, method)
                    if (not method.startswith("_") or method == "__call__") and owner_of(target, method):
                        found = getattr(found, "__func__", found)
                        if inspect.isfunction(found) or isinstance(found, property):
                            yield f"{name}.{method}", found


def owner_of(target, name):
    """The class of this project in which a name is defined, or None."""
    owner = next((each for each in target.__mro__ if name in vars(each)), object)
    return owner if owner.__module__.startswith("foreknow") and not issubclass(owner, enum.Enum) else None


NAMES = dict(public_names())
MADE_BY_OTHERS = (Exception, enum.Enum)
"""Classes that Python constructs: their signatures are not those of this project."""
FUNCTIONS = {name: each for name, each in NAMES.items() if inspect.isfunction(each)}
CLASSES = {
    name: each
    for name, each in NAMES.items()
    if inspect.isclass(each)
    and not issubclass(each, MADE_BY_OTHERS)
    and not inspect.isabstract(each)
    and not getattr(each, "_is_protocol", False)
}


def sections(text):
    """Lines of each section of a docstring, by its title, in order; the text before is the section ""."""
    found, title = {"": []}, ""
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below and set(below) == {"-"} and line.strip() and not line.startswith(" "):
            title = line.strip()
            assert title not in found, f"two sections {title}"
            assert len(below) == len(title), f"the line below {title}"
            found[title] = []
        elif not (set(line) == {"-"} and line):
            found[title].append(line)
    return found


def entries(lines):
    """Names that entries of a section are about: "sure, least : float" is about two."""
    heads = [line.split(" : ")[0] for line in lines if line.strip() and not line.startswith(" ")]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def parameters(target):
    """Parameters that a caller gives, in the order of the signature."""
    names = list(inspect.signature(target).parameters)
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def test_a_summary_stands_first():
    def check(name):
        text = inspect.getdoc(NAMES[name])
        assert text, "no docstring"
        summary, _, rest = text.partition("\n")
        assert summary.endswith("."), summary
        assert not rest or rest.startswith("\n"), "no empty line after the summary"

    assert not failing(check, NAMES)


def test_sections_are_those_of_numpy_in_their_order():
    def check(name):
        found = [title for title in sections(inspect.getdoc(NAMES[name])) if title]
        assert set(found) <= set(SECTIONS)
        assert found == sorted(found, key=SECTIONS.index)

    assert not failing(check, NAMES)


def test_each_parameter_is_described_once_and_in_order():
    def check(name):
        target, found = NAMES[name], sections(inspect.getdoc(NAMES[name]))
        described = entries(found.get("Parameters", []) or found.get("Attributes", []))
        wanted = parameters(target)
        if "." not in name or described:
            assert described == wanted

    assert not failing(check, [*FUNCTIONS, *CLASSES])


def test_the_signature_is_readable():
    def check(name):
        shown = str(inspect.signature(NAMES[name]))
        assert not ADDRESS.search(shown), shown
        assert all(len(repr(each.default)) < 60 for each in inspect.signature(NAMES[name]).parameters.values())

    assert not failing(check, [*FUNCTIONS, *CLASSES])
