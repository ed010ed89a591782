"""The notebooks in `examples/` run, and print what they show.

``WINDLASS_BLESS=1`` writes what was printed into the notebooks.
"""

from __future__ import annotations

import os

import nbformat
import pytest
from common import ROOT
from nbclient import NotebookClient

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def texts(notebook):
    """What each cell printed, without plots."""
    return [
        "".join(out.get("text") or out["data"]["text/plain"] for out in cell.get("outputs", []))
        for cell in notebook.cells
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_show_what_is_printed(path):
    notebook = nbformat.read(path, as_version=4)
    shown = texts(notebook)
    resources = {"metadata": {"path": ROOT / "examples"}}
    NotebookClient(notebook, timeout=600, resources=resources, record_timing=False).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # Warnings name temporary files.
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
    if os.environ.get("WINDLASS_BLESS"):
        nbformat.write(notebook, path)
    else:
        assert texts(notebook) == shown, "WINDLASS_BLESS=1 accepts what was printed"
