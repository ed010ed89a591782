"""Files that other projects test their readers with: what ``inspect`` and ``augment`` read is what
pyarrow or Python's ``csv`` read, or they refuse it for a reason of ``third_party_refusals.toml``.

``WINDLASS_THIRD_PARTY`` names the folder with the files. As a script, this module judges them and
prints JSON: in processes of their own, because some of the files crash pyarrow.
"""

from __future__ import annotations

import csv
import fnmatch
import gzip
import io
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

SECONDS = 30
MEMORY = 128 << 20
MORE_MEMORY = 200_000_000
LIST = Path(__file__).with_name("third_party_refusals.toml")
SUITES = ("parquet-testing", "arrow-testing", "csv-spectrum/csvs", "csv-test-data/csv")
# Companions of tables: expected rows, schemas, licenses, keys, bloom filters, a column of numbers.
COMPANIONS = (".json", ".json.gz", ".txt", ".md", ".yaml", ".proto", ".bin", ".data")
FORMATS = {".stream": "arrows", ".arrow_file": "arrow", ".encrypted": "parquet"}


VERDICTS = {
    "equal": "read with the values of pyarrow or csv",
    "equal, as far as inspect shows": "read with the same names, counts, ranges and levels; no numbers to augment",
    "refused by both": "refused by both, or without rows",
    "refused": "refused by Windlass only, for a listed reason",
    "read, reference refuses": "read by Windlass only, for a listed reason",
}


def tables(folder):
    """The tables of the suites."""
    for suite in SUITES:
        for path in sorted((folder / suite).rglob("*")):
            if path.is_file() and not path.name.endswith(COMPANIONS):
                yield path


def format_of(path):
    if path.suffix in FORMATS:
        return FORMATS[path.suffix]
    if "csv" in path.name.split(".") or "csv" in path.parts:
        return "csv"
    if path.suffix == ".parquet" or "parquet" in path.parts:
        return "parquet"
    return "arrow" if "arrow-ipc-file" in path.parts else "arrows"


# The command.


class Fault(Exception):
    """What no file may cause: a panic, a signal, more time or memory than allowed."""


def run(command, path, *options, first=()):
    """Run the command on a file; its exit code, output and errors."""
    words = [os.environ["WINDLASS"], command, *first, path, *options, "--memory", MEMORY]
    if path.suffix not in (".parquet", ".csv", ".gz"):
        words += ["--format", format_of(path)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(list(map(str, words)), stdout=out, stderr=err)
        signal.signal(signal.SIGALRM, lambda *_: child.kill())
        signal.alarm(2 * SECONDS)
        _, status, used = os.wait4(child.pid, 0)
        signal.alarm(0)
        seconds, memory = time.monotonic() - start, 1024 * used.ru_maxrss
        code = child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        said, errors = out.read().decode(), err.read().decode()
    if code not in (0, 1) or "panicked" in errors:
        raise Fault(f"{command}: exit code {code}: {errors[-300:]}")
    if seconds > SECONDS:
        raise Fault(f"{command}: {seconds:.0f} s")
    if memory > MEMORY + MORE_MEMORY:
        raise Fault(f"{command}: {memory / 1e6:.0f} MB")
    if code == 1 and command == "inspect" and path.name not in errors:
        raise Fault(f"{command}: the error does not name the file: {errors}")
    return code, said, errors


# The reference.


class Refused(Exception):
    """The reference does not read a file, or finds no rows in it."""


class Table:
    """Names, columns of plain values, and the kind of each column."""

    def __init__(self, names, columns, kinds):
        self.names, self.columns, self.kinds = names, columns, kinds
        self.rows = len(columns[0]) if columns else 0


def read_reference(path):
    if format_of(path) == "csv":
        return read_csv(path.read_bytes(), path.suffix == ".gz")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, limits[1]))
    try:
        table = read_arrow(path, format_of(path))
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    if not table.rows:
        raise Refused("no rows")
    return table


def read_arrow(path, kind):
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet

    if kind == "parquet":
        table = pyarrow.parquet.ParquetFile(path).read(use_threads=False)
    else:
        options = pyarrow.ipc.IpcReadOptions(use_threads=False)
        open_ipc = pyarrow.ipc.open_stream if kind == "arrows" else pyarrow.ipc.open_file
        table = open_ipc(pyarrow.BufferReader(path.read_bytes()), options=options).read_all()
    # Values of the other files may exceed their types: the precision of a decimal, whole days.
    if "fuzz" in str(path) or "crash" in path.name:
        table.validate(full=True)
    types = pyarrow.types
    tests = {
        "number": (types.is_integer, types.is_floating, types.is_decimal),
        "time": (types.is_timestamp, types.is_date),
        "text": (types.is_string, types.is_large_string, types.is_string_view),
        "boolean": (types.is_boolean,),
    }

    def kind_of(type):
        if types.is_dictionary(type):
            return "text" if kind_of(type.value_type) == "text" else "other"
        return next((kind for kind, of in tests.items() if any(is_kind(type) for is_kind in of)), "other")

    kinds = [kind_of(field.type) for field in table.schema]
    columns = [[plain(item) for chunk in column.chunks for item in chunk] for column in table.columns]
    return Table(table.column_names, columns, kinds)


def plain(scalar):
    """A value of Python; a time is its stored integer, because Python has fewer years."""
    import pyarrow

    if isinstance(scalar, pyarrow.DictionaryScalar):
        return plain(scalar.dictionary[scalar.index.as_py()]) if scalar.is_valid else None
    if isinstance(scalar, (pyarrow.RunEndEncodedScalar, pyarrow.ExtensionScalar, pyarrow.UnionScalar)):
        return None if scalar.value is None else plain(scalar.value)
    if not scalar.is_valid:
        return None
    if isinstance(scalar, pyarrow.MapScalar):
        return [[plain(value) for value in entry.values()] for entry in scalar.values]
    if isinstance(scalar, pyarrow.ListScalar):
        return [plain(item) for item in scalar.values]
    if isinstance(scalar, pyarrow.StructScalar):
        return [plain(item) for item in scalar.values()]
    try:
        return scalar.value if hasattr(scalar, "value") else scalar.as_py()
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes()


def decoded(content):
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def records(content):
    """The records of CSV as their text and as fields; lines without any are skipped."""
    lines = io.StringIO(decoded(content), newline="").readlines()
    reader, start = csv.reader(lines, strict=True), 0
    for fields in reader:
        if fields:
            yield "".join(lines[start : reader.line_num]), fields
        start = reader.line_num


def read_csv(content, compressed=False):
    try:
        header, *rows = [fields for _, fields in records(gzip.decompress(content) if compressed else content)]
    except (csv.Error, ValueError) as error:
        raise Refused(f"csv: {error}") from error
    if not rows or any(len(fields) != len(header) for fields in rows):
        raise Refused("csv: not a table")
    return Table(header, [list(column) for column in zip(*rows)], ["text"] * len(header))


# The comparison.


def missing(value):
    return value is None or isinstance(value, float) and math.isnan(value)


def finite(value):
    try:
        return not missing(value) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def same(got, wanted):
    """Equal values; text is also equal if its numbers are, or if it is blank."""
    if isinstance(got, str) and isinstance(wanted, str) and got != wanted:
        if got == "":
            return not wanted.strip()
        return finite(got) and finite(wanted) and float(got) == float(wanted)
    return repr(got) == repr(wanted)


def level(value):
    return repr(0.0 if value == 0 and isinstance(value, float) else value)


def differences_of_inspect(found, table, text):
    """What ``inspect`` says of a table, compared with the table."""
    if (found["rows"], [column["name"] for column in found["columns"]]) != (table.rows, table.names):
        yield f"{found['rows']} rows of {[column['name'] for column in found['columns']]}"
        return
    for column, values, kind in zip(found["columns"], table.columns, table.kinds):
        present = [value for value in values if not missing(value)]
        expected = {}
        if not text:
            expected["missing"] = len(values) - len(present)
            if column["levels"] is not None:
                expected["levels"] = len(set(map(level, present)))
            if kind == "number" and present:
                expected["range"] = [float(min(present)), float(max(present))]
        for what, value in expected.items():
            if column[what] != value:
                yield f"{column['name']}: {what} {column[what]}, not {value}"


def augmented(path, table, folder):
    """The original rows that ``augment`` writes, and those that it should.

    Without numbers to augment, those that ``predict`` writes; none if no model can use the table.
    """
    if format_of(path) == "csv":
        return augmented_csv(path, table, folder)
    number = [place for place, kind in enumerate(table.kinds) if kind == "number"]
    unusable = {place: sum(not finite(value) for value in table.columns[place]) for place in number}
    targets = [place for place in number if unusable[place] < table.rows]
    if not targets:
        return predicted(path, table, folder)
    target = min(targets, key=unusable.get)
    infinite = {
        place
        for place in number
        if any(not missing(value) and math.isinf(float(value)) for value in table.columns[place])
    }
    features = [
        place
        for place, kind in enumerate(table.kinds)
        if place != target and kind in ("number", "time") and place not in infinite
        if any(not missing(value) for value in table.columns[place])
    ]
    if not features:
        return predicted(path, table, folder)
    options = ["--target", table.names[target], "--continuous", table.names[features[0]]]
    options += [word for place in infinite - {target} for word in ("--carry", table.names[place])]
    options += ["--drop-missing-target"] * (unusable[target] > 0)
    out = folder / "out.arrows"
    code, _, errors = run("augment", path, *options, "--output", out, "--force")
    if code:
        raise Refused(errors)
    rows = [row for row in range(table.rows) if finite(table.columns[target][row])]
    wanted = [[column[row] for row in rows] for column in table.columns]
    return read_arrow(out, "arrows"), Table(table.names, wanted, table.kinds)


# Values of a column by which a model of two rows is trained.
VALUES = {
    "number": ("1.5", "2.5"),
    "text": ("a", "b"),
    "boolean": ("true", "false"),
}


def predicted(path, table, folder):
    """The rows to which ``predict`` adds predictions of a model that uses one column."""
    usable = [place for place, kind in enumerate(table.kinds) if kind in VALUES]
    if not usable:
        return None
    place = usable[0]
    train, model, out = (folder / name for name in ("train.csv", "model", "out.arrows"))
    with train.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([table.names[place], "the target"])
        writer.writerows(zip(VALUES[table.kinds[place]], (1, 2)))
    words = ["train", train, "--target", "the target", "--model", "ridge", "--valid", "none"]
    trained = [os.environ["WINDLASS"], *words, "--output", model, "--force"]
    subprocess.run(trained, check=True, capture_output=True)
    code, _, errors = run("predict", path, "--output", out, "--force", first=[model])
    if code:
        raise Refused(errors)
    got = read_arrow(out, "arrows")
    width = len(table.names)
    assert got.names[width:] == ["prediction"], got.names
    return Table(got.names[:width], got.columns[:width], got.kinds[:width]), table


def augmented_csv(path, table, folder):
    """Two columns of numbers before the first, so that there is something to augment."""
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    lines = [text for text, _ in records(content)]
    numbers = ["number 1,number 2", *(f"{row}.5,{row * row}.25" for row in range(1, len(lines)))]
    wide = folder / f"{path.name.split('.')[0]}.csv"
    with wide.open("w", newline="", encoding="utf-8") as file:
        file.write("".join(f"{pair},{line}" for pair, line in zip(numbers, lines)))
    out = folder / "out.csv"
    options = ["--method", "noise", "--target", "number 2", "--continuous", "number 1"]
    code, _, errors = run("augment", wide, *options, "--output", out, "--force", "--delimiter", ",")
    if code:
        raise Refused(errors)
    got = read_csv(out.read_bytes())
    got.names, got.columns = got.names[2:], got.columns[2:]
    return got, table


def differences_of_augment(got, wanted):
    if got.names != wanted.names:
        yield f"columns {got.names}, not {wanted.names}"
        return
    for name, ours, theirs in zip(wanted.names, got.columns, wanted.columns):
        wrong = [pair for pair in zip(ours, theirs) if not same(*pair)]
        if wrong or len(ours) < len(theirs):
            yield f"{name}: {wrong[:2]}, {len(ours)} rows"


def judge(path, found, errors, folder):
    """The verdict on a file that ``inspect`` has read, or refused with errors."""
    try:
        table = read_reference(path)
    except Refused as refusal:
        return ("refused by both", "") if found is None else ("read, reference refuses", str(refusal))
    if found is None:
        return "refused", errors
    wrong = list(differences_of_inspect(found, table, format_of(path) == "csv"))
    try:
        both = augmented(path, table, folder)
    except Refused as refusal:
        return "refused", str(refusal)
    wrong += differences_of_augment(*both) if both else []
    if wrong:
        return "differs", "; ".join(wrong)[:2000]
    return "equal" if both else "equal, as far as inspect shows", ""


def judged(path, folder):
    """:func:`judge` in a process of its own."""
    try:
        code, said, errors = run("inspect", path, "--json")
        if run("inspect", path)[0] != code:
            raise Fault("inspect: refuses with --json only, or without")
        if code == 1:
            out = ["--target", "y", "--output", folder / "out.csv", "--force"]
            code, _, others = run("augment", path, *out)
            if code == 0 or path.name not in others:
                raise Fault(f"augment: {others or 'reads what inspect refuses'}")
    except Fault as fault:
        return "fault", str(fault)
    found = None if code else json.loads(said)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            verdict = judge(path, found, errors, folder)
        except Fault as fault:
            verdict = "fault", str(fault)
        except BaseException as error:
            verdict = "fault", f"the test failed: {type(error).__name__}: {error}"
        os.write(write, json.dumps(verdict).encode()[: 1 << 16])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    if text:
        return tuple(json.loads(text))
    return ("refused by both", "") if found is None else ("read, reference refuses", "crash")


def main():
    import pyarrow.ipc
    import pyarrow.parquet

    assert pyarrow.parquet
    root = Path(os.environ["WINDLASS_THIRD_PARTY"])
    with tempfile.TemporaryDirectory() as folder:
        for path in tables(root):
            verdict, detail = judged(path, Path(folder))
            print(json.dumps([str(path.relative_to(root)), verdict, detail]), flush=True)


def test_files_are_read_as_others_read_them(capsys):
    import pytest
    from common import reliability, third_party

    if "WINDLASS" not in os.environ:
        pytest.skip("WINDLASS does not name the command: cargo xtask test sets it")
    third_party(".")
    start = time.monotonic()
    done = subprocess.run([sys.executable, __file__], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0
    listed = tomllib.loads(LIST.read_text())["listed"]
    unused, counts, wrong = set(range(len(listed))), Counter(), []
    for line in done.stdout.splitlines():
        file, verdict, detail = json.loads(line)
        matching = [
            place
            for place, entry in enumerate(listed)
            if fnmatch.fnmatchcase(file, entry["files"]) and verdict == entry["verdict"] and entry["says"] in detail
        ]
        unused.difference_update(matching)
        counts[verdict] += 1
        if not verdict.startswith(("equal", "refused by both")) and not matching:
            wrong.append(f"{file}: {verdict}: {detail}")
    rows = [["files", sum(counts.values())]]
    rows += [[what, counts[verdict]] for verdict, what in VERDICTS.items()]
    rows += [["panics, aborts, more than 30 s or more than --memory + 200 MB", counts["fault"]]]
    reliability("third_party", "Files of other projects", rows, time.monotonic() - start)
    with capsys.disabled():
        print(f"\nfiles of other projects: {dict(counts)}", end="")
    assert not wrong, "\n".join(wrong)
    assert not unused, f"entries of {LIST.name} without a file: {[listed[place] for place in unused]}"
    assert counts["equal"] > 150


if __name__ == "__main__":
    main()
