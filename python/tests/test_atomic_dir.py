"""Folders that workers write: whole or not at all, and every part once."""

from __future__ import annotations

import os
import pathlib
import pickle

import pytest

import windlass

folders = pytest.importorskip("windlass._atomic_dir", reason="pyarrow is absent")


def write(path: str) -> int:
    """Write a part of three rows, of a kind."""
    pathlib.Path(path).write_text("rows")
    return 3


@pytest.mark.parametrize("kind", ["", "file://", "fsspec+file://"])
def test_only_parts_that_count_are_there(tmp_path: pathlib.Path, kind: str) -> None:
    """A part may be written twice, and a worker may be lost in the middle of one."""
    if kind.startswith("fsspec"):
        pytest.importorskip("fsspec")
    path = tmp_path / "deep" / "table"
    with folders.Folder(f"{kind}{path}") as folder:
        elsewhere = pickle.loads(pickle.dumps(folder))
        first, second, again = (elsewhere.write(write) for _ in range(3))
        pathlib.Path(folder.staging, ".windlass-begun.tmp").touch()
        assert not path.exists()
        folder.complete([first[0], second[0]])
    assert {first[1], second[1], again[1]} == {3}
    assert sorted(os.listdir(path)) == sorted(["_SUCCESS", first[0], second[0]])
    assert os.listdir(path.parent) == ["table"]
    with pytest.raises(windlass.InputError, match="already exists"):
        folders.Folder(f"{kind}{path}")


def test_nothing_is_left_of_what_fails(tmp_path: pathlib.Path) -> None:
    """Neither the folder nor its staging folder."""
    with pytest.raises(ZeroDivisionError), folders.Folder(tmp_path / "table") as folder:
        folder.write(write)
        folder.write(lambda path: write(path) // 0)
    assert list(tmp_path.iterdir()) == []


def test_a_atomic_dir_that_workers_do_not_see_is_named(tmp_path: pathlib.Path) -> None:
    """With what to do."""
    folder = folders.Folder(tmp_path / "table")  # Nobody made the staging folder.
    with pytest.raises(windlass.InputError, match="does not exist on a worker\nhint: write to a file system"):
        folder.write(write)


def test_what_is_no_atomic_dir_is_refused() -> None:
    """Before anything is done."""
    for path in ("nowhere://a/b", "://"):
        with pytest.raises(windlass.InputError, match="cannot write to"):
            folders.Folder(path)
    with pytest.raises(windlass.InputError, match="already exists"):
        folders.Folder("/")
