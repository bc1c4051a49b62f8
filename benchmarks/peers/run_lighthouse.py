"""project-lighthouse-anonymize: Mondrian for k-anonymity along generalization trees; it also computes quality measures."""

import logging

from project_lighthouse_anonymize.gtrees import GTree
from project_lighthouse_anonymize.wrappers.k_anonymize import k_anonymize
from records import CATEGORICAL, QUASI_IDENTIFIERS, K, asked, clocked, hand_over, interval, ladder, records


def tree(folder, name):
    """Hierarchy as a generalization tree."""
    table = ladder(folder, name)
    grown = GTree()
    nodes = {(): grown.create_node("*")}
    for row in table.to_numpy().tolist():
        for depth in range(2, len(row) + 1):
            path = tuple(row[-1 : -depth - 1 : -1])[1:]
            if path not in nodes:
                nodes[path] = grown.create_node(path[-1], parent=nodes[path[:-1]])
    grown.add_default_geometric_sizes()
    return grown


def label(age):
    return interval(*age) if isinstance(age, tuple) else f"{age:g}"


def main() -> None:
    folder, call = asked()
    data = records(folder).astype({"age": float}).astype(dict.fromkeys(CATEGORICAL, object))
    trees = {name: tree(folder, name) for name in CATEGORICAL}
    quiet = logging.getLogger("lighthouse")
    quiet.setLevel(logging.ERROR)
    (published, _, _), seconds = clocked(
        lambda: k_anonymize(quiet, data, QUASI_IDENTIFIERS, K, dict(trees), "row", parallelism=2)
    )
    published["age"] = published["age"].map(label)
    hand_over(published, seconds, folder, f"lighthouse {call}")


if __name__ == "__main__":
    main()
