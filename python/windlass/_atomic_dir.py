"""Folders of Parquet files that many processes write, and that appear when they are complete."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from typing import TYPE_CHECKING, Any

import pyarrow.fs

from ._windlass import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# File systems on which a folder is moved at once; on others files are moved one by one.
_MOVED_AT_ONCE = ("local", "hdfs")

# What Spark leaves in a folder that is complete.
_COMPLETE = "_SUCCESS"


class Folder:
    """A folder that is being written.

    Parts are written beside it. Those that count are put into it in the end: a part that was
    written twice, because a worker was lost, is there once.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.files, self.path = _resolved(os.fspath(path))
        if self.files.get_file_info(self.path).type != pyarrow.fs.FileType.NotFound:
            raise InputError(f"`{path}` is there already\nhint: choose another folder, or remove it")
        above, slash, name = self.path.rpartition("/")
        if not (slash and name):
            raise InputError(f"`{path}` names no folder\nhint: a bucket is none; name one inside it")
        self.beside = f"{above}/.{name}-{uuid.uuid4().hex}"

    def __enter__(self) -> Folder:
        self.files.create_dir(self.beside)
        return self

    def __exit__(self, *_: object) -> None:
        self.files.delete_dir(self.beside)

    @property
    def _is_local(self) -> bool:
        return isinstance(self.files, pyarrow.fs.LocalFileSystem)

    def write(self, write: Callable[[str], int]) -> tuple[str, int]:
        """Write a part, on any worker: ``write`` does, to a local file; give its name and rows."""
        name = f"part-{uuid.uuid4().hex}.parquet"
        if self._is_local:
            if not os.path.isdir(self.beside):
                raise InputError(
                    f"the folder `{self.beside}` is not there on a worker\n"
                    "hint: write to a file system that the driver and all workers share"
                )
            return name, write(f"{self.beside}/{name}")
        local = tempfile.mkdtemp(prefix="windlass-")
        try:
            rows = write(f"{local}/{name}")
            pyarrow.fs.copy_files(
                f"{local}/{name}",
                f"{self.beside}/{name}",
                source_filesystem=pyarrow.fs.LocalFileSystem(),
                destination_filesystem=self.files,
            )
        finally:
            shutil.rmtree(local, ignore_errors=True)
        return name, rows

    def complete(self, parts: Iterable[str]) -> None:
        """Let the folder appear with these parts, and no others."""
        whole = self.path
        if self.files.type_name in _MOVED_AT_ONCE:
            whole = f"{self.beside}/whole"
        self.files.create_dir(whole)
        for name in parts:
            self.files.move(f"{self.beside}/{name}", f"{whole}/{name}")
        self.files.open_output_stream(f"{whole}/{_COMPLETE}").close()
        if whole != self.path:
            self.files.move(whole, self.path)


def _resolved(path: str) -> tuple[Any, str]:
    """Give the file system of a path or an address, and the place in it."""
    if "://" not in path:
        return pyarrow.fs.LocalFileSystem(), os.path.abspath(path)
    # Hadoop has other names for what is the same to pyarrow.
    for theirs, ours in (("s3a://", "s3://"), ("s3n://", "s3://")):
        if path.startswith(theirs):
            path = ours + path[len(theirs) :]
    try:
        files, place = pyarrow.fs.FileSystem.from_uri(path)
    except (ValueError, NotImplementedError) as error:
        raise InputError(
            f"`{path}` cannot be written to: {error}\n"
            "hint: write what augment(...) gives with the engine, which may know more places"
        ) from None
    return files, place.rstrip("/")
