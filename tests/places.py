"""Places of the tree: its root, and the data that lie beside it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
ADULT = DATA / "adult"
