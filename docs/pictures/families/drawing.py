"""Colours, and shapes of pictures that several families share."""

import io
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from foreknow.defenses import DistinctDiversity, KAnonymity

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
PLAIN = KAnonymity(4) & DistinctDiversity(2)
"""Requirement of the groups of most pictures."""

Pictures = Iterator[tuple[str, Figure]]
"""Names of members, each with its picture."""


def save(figure: Figure, path: Path) -> None:
    """Write a picture of at most 64 colours, which has a third of the bytes."""
    stream = io.BytesIO()
    figure.savefig(stream, dpi=130, format="png")
    plt.close(figure)
    stream.seek(0)
    with Image.open(stream) as image:
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
