"""Setting of the link from records to sensitive labels: the column of items, and the external knowledge."""

from collections.abc import Hashable
from dataclasses import dataclass

from foreknow.models.quasi_sensitive.external_knowledge import ExternalKnowledge
from foreknow.models.quasi_sensitive.items import Items, check_separator
from foreknow.models.quasi_sensitive.links import Links, links
from foreknow.models.settings import check_kind
from foreknow.models.tables.columns.required_columns import check_columns
from foreknow.models.tables.view import View


@dataclass(frozen=True)
class Linking:
    """Setting of the link from records to labels: the column of items, and the external knowledge about them.

    Parameters
    ----------
    knowledge : ExternalKnowledge
        Items of each label.
    items : str
        Column of the view's frame with each record's items, in the form that `Items.from_cells` reads. It must not be a
        quasi-identifier; it may be the sensitive attribute.
    separator : str
        Text between two items of a cell.

    Raises
    ------
    TypeError
        If ``knowledge`` is no `ExternalKnowledge`, or ``items`` or ``separator`` is no text.
    ValueError
        If the separator is empty.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import Numeric, Schema
    >>> patients = pd.DataFrame({"id": [1, 2], "age": [22, 30], "ward": "A", "symptoms": ["cough, headache", "vomiting, headache"]})
    >>> view = View(patients, Schema({"age": Numeric()}, "ward", ("A",)))
    >>> knowledge = ExternalKnowledge({"flu": ["cough", "headache"], "hepatitis B": ["vomiting", "dark urine"]})
    >>> list(Linking(knowledge, items="symptoms")(view))
    [('flu',), ()]
    """

    knowledge: ExternalKnowledge
    items: str
    separator: str = ","

    def __post_init__(self) -> None:
        if not isinstance(self.knowledge, ExternalKnowledge):
            raise TypeError(
                f"Linking: the knowledge is a {type(self.knowledge).__name__}; make it an ExternalKnowledge, as "
                "ExternalKnowledge({'flu': ['cough']})."
            )
        check_kind("Linking", "items", self.items, str, "is the name of the column of items, as 'symptoms'")
        check_separator(self.separator)

    def items_of(self, view: View) -> Items:
        """Items of a view's records.

        Raises
        ------
        TypeError
            If ``view`` is no `View`.
        ValueError
            If the view has no such column, or it is a quasi-identifier, which would be published with all items; if an item
            contains the separator, or two items have the same text, so that the published table could not be read back.
        """
        check_kind("Linking", "view", view, View, "is a View, as View(frame, schema) makes it")
        check_columns(view.frame, [self.items])
        if self.items in view.schema.quasi_identifiers:
            raise ValueError(
                f"the column {self.items!r} of items is a quasi-identifier of the view at {view.time!r}, and published as one; "
                "take it out of the schema's quasi-identifiers."
            )
        items = Items.from_cells(view.frame[self.items], self.separator)
        self._check_readable(items, view)
        return items

    def _check_readable(self, items: Items, view: View) -> None:
        """Raise ValueError if the published text of an item could not be read back."""
        by_text: dict[str, Hashable] = {}
        for item in items.vocabulary:
            text = str(item)
            if self.separator in text:
                raise ValueError(
                    f"the item {item!r} of the view at {view.time!r} contains the separator {self.separator!r}, and would be read "
                    "as several where it is published; rename it, or give the Linking another separator."
                )
            if text in by_text:
                raise ValueError(
                    f"the items {by_text[text]!r} and {item!r} of the view at {view.time!r} read the same where they are "
                    "published; rename one, or write both alike."
                )
            by_text[text] = item

    def __call__(self, view: View) -> "Links":
        """Labels of each record of a view."""
        return links(self.items_of(view), self.knowledge)
