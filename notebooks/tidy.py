"""Remove from the notebooks what changes whenever they run, and says nothing: times of execution, ids, the kernel's version."""

from pathlib import Path

import nbformat

for path in sorted(Path(__file__).parent.glob("*.ipynb")):
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(notebook.cells):
        cell.metadata = {}
        cell.id = f"cell-{number}"
    nbformat.write(notebook, path)
