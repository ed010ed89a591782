"""Folders of Parquet files that many processes write and that appear when complete."""

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

# File systems on which a folder is moved atomically; on others files are moved one by one.
_MOVED_AT_ONCE = ("local", "hdfs")

# The marker of Spark for a complete folder.
_COMPLETE = "_SUCCESS"


class Folder:
    """A folder that is being written.

    Files are written to a temporary folder next to it. :meth:`complete` moves the files of
    successful tasks, so a file that was written twice, after a worker was lost, is moved once.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.files, self.path = _resolved(os.fspath(path))
        if self.files.get_file_info(self.path).type != pyarrow.fs.FileType.NotFound:
            raise InputError(f"`{path}` already exists\nhint: choose another folder, or remove it")
        above, slash, name = self.path.rpartition("/")
        if not (slash and name):
            raise InputError(f"`{path}` is not a folder\nhint: name a folder inside the bucket")
        self.staging = f"{above}/.{name}-{uuid.uuid4().hex}"

    def __enter__(self) -> Folder:
        self.files.create_dir(self.staging)
        return self

    def __exit__(self, *_: object) -> None:
        self.files.delete_dir(self.staging)

    @property
    def _is_local(self) -> bool:
        return isinstance(self.files, pyarrow.fs.LocalFileSystem)

    def write(self, write: Callable[[str], int]) -> tuple[str, int]:
        """Write a file on any worker with ``write``; return its name and number of rows."""
        name = f"part-{uuid.uuid4().hex}.parquet"
        if self._is_local:
            if not os.path.isdir(self.staging):
                raise InputError(
                    f"the folder `{self.staging}` does not exist on a worker\n"
                    "hint: write to a file system that the driver and all workers share"
                )
            return name, write(f"{self.staging}/{name}")
        local = tempfile.mkdtemp(prefix="windlass-")
        try:
            rows = write(f"{local}/{name}")
            pyarrow.fs.copy_files(
                f"{local}/{name}",
                f"{self.staging}/{name}",
                source_filesystem=pyarrow.fs.LocalFileSystem(),
                destination_filesystem=self.files,
            )
        finally:
            shutil.rmtree(local, ignore_errors=True)
        return name, rows

    def complete(self, parts: Iterable[str]) -> None:
        """Move these files to the folder."""
        whole = self.path
        if self.files.type_name in _MOVED_AT_ONCE:
            whole = f"{self.staging}/whole"
        self.files.create_dir(whole)
        for name in parts:
            self.files.move(f"{self.staging}/{name}", f"{whole}/{name}")
        self.files.open_output_stream(f"{whole}/{_COMPLETE}").close()
        if whole != self.path:
            self.files.move(whole, self.path)


def _resolved(path: str) -> tuple[Any, str]:
    """Return the file system of a path or URI, and the path in it."""
    if "://" not in path:
        return pyarrow.fs.LocalFileSystem(), os.path.abspath(path)
    # Schemes of Hadoop that pyarrow does not have.
    for theirs, ours in (("s3a://", "s3://"), ("s3n://", "s3://")):
        if path.startswith(theirs):
            path = ours + path[len(theirs) :]
    try:
        files, place = pyarrow.fs.FileSystem.from_uri(path)
    except (ValueError, NotImplementedError) as error:
        raise InputError(
            f"cannot write to `{path}`: {error}\n"
            "hint: write the result of augment(...) with Spark or Ray"
        ) from None
    return files, place.rstrip("/")
