"""Values and records as JSON text that gives them back exactly, arrays apart."""

import dataclasses
import datetime
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.notes import Note

type Store = Callable[["np.ndarray[Any, Any]"], Any]
"""Function that keeps an array and returns its reference, of which JSON can be made."""
type Load = Callable[[Any], "np.ndarray[Any, Any]"]
"""Function that returns the array of a reference."""

CONTAINERS: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}
TEXTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "date": (datetime.date.isoformat, datetime.date.fromisoformat),
    "datetime": (datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "time": (datetime.time.isoformat, datetime.time.fromisoformat),
    "Decimal": (str, Decimal),
    "bytes": (bytes.hex, bytes.fromhex),
    "float": (repr, float),
    "complex": (repr, complex),
    "NAType": (str, lambda _: pd.NA),
    "NaTType": (str, lambda _: pd.NaT),
    "Timestamp": (
        lambda time: [time.isoformat(), None if time.tz is None else str(time.tz), time.unit],
        lambda kept: _timestamp(*kept),
    ),
    "Timedelta": (lambda span: [span.value, span.unit], lambda kept: pd.Timedelta(kept[0], "ns").as_unit(kept[1])),
    "Period": (lambda period: [str(period), period.freqstr], lambda kept: pd.Period(kept[0], kept[1])),
}
"""Types of single values that JSON lacks: each as text, and back."""


@dataclass(frozen=True)
class Notation:
    """JSON notation of values, containers, and the records of some classes.

    A record is written as the name of its class and the fields that its constructor takes, and read by its constructor.

    Attributes
    ----------
    records : mapping of str to class
        Dataclasses by their names. No other class is read, so that a file cannot run code.
    """

    records: Mapping[str, type]

    def text(self, value: Any, store: Store | None = None) -> str:
        """JSON text of a value; raises ValueError for a value of a type without notation."""
        return json.dumps(self._plain(value, store))

    def value(self, text: str, load: Load | None = None) -> Any:
        """Value of a JSON text that `text` made."""
        return self._made(json.loads(text), load)

    def _plain(self, value: Any, store: Store | None) -> Any:
        kind = type(value)
        if value is None or kind in (bool, str, int) or (kind is float and np.isfinite(value)):
            return value
        if kind is Note:
            return str(value)
        name = kind.__name__
        if kind is np.ndarray and store is not None:
            return {"array": store(value)}
        if name in CONTAINERS and kind is CONTAINERS[name]:
            items = [self._plain(item, store) for item in value]
            return {name: sorted(items, key=json.dumps) if name in ("set", "frozenset") else items}
        if kind is dict:
            return {"dict": [[self._plain(key, store), self._plain(item, store)] for key, item in value.items()]}
        if name in TEXTS:
            return {name: TEXTS[name][0](value)}
        if self.records.get(name) is kind:
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
            return {"record": name, "fields": {key: self._plain(item, store) for key, item in fields.items()}}
        raise ValueError(f"{value!r} is a {name}, which cannot be saved; write it as a number, a date or a text.")

    def _made(self, plain: Any, load: Load | None) -> Any:
        if not isinstance(plain, dict):
            return plain
        if "record" in plain:
            return self.records[plain["record"]](
                **{name: self._made(item, load) for name, item in plain["fields"].items()}
            )
        ((name, kept),) = plain.items()
        if name == "array":
            assert load is not None
            return load(kept)
        if name == "dict":
            return {self._made(key, load): self._made(item, load) for key, item in kept}
        if name in CONTAINERS:
            return CONTAINERS[name](self._made(item, load) for item in kept)
        return TEXTS[name][1](kept)


def _timestamp(text: str, zone: str | None, unit: Any) -> pd.Timestamp:
    time = pd.Timestamp(text)
    return (time if zone is None else time.tz_convert(zone)).as_unit(unit)
