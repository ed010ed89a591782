"""The Big List of Naughty Strings as column names, categories, keys, domains and file names: they
come back as they are, no page runs them, and no control character of theirs reaches a terminal.

``WINDLASS_THIRD_PARTY`` names the folder with the list.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from common import reliability, third_party

TARGET = "the target"
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
FORMATS = ["parquet", "csv", "arrow"]
PAGES = "report pages in a browser that show them as text and run no script"


def is_control(character):
    """Whether it moves the cursor, changes colors or reorders text."""
    code = ord(character)
    reorders = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
    return reorders or character not in "\n\t" and (code < 32 or 127 <= code < 160)


class Desk:
    """A folder in which commands run; all that they print is checked."""

    def __init__(self, folder):
        self.folder, self.runs, self.counts = folder, 0, {}
        self.random = np.random.default_rng(0)

    def run(self, *words, code=0):
        done = subprocess.run(
            [os.environ["WINDLASS"], *map(str, words)], cwd=self.folder, capture_output=True
        )
        printed = (done.stdout + done.stderr).decode()
        raw = {character for character in printed if is_control(character)}
        assert not raw, f"{words} prints {raw}"
        assert done.returncode == code, f"{words}: {printed}"
        self.runs += 1
        return printed

    def numbers(self, count):
        return self.random.normal(size=count).round(3)

    def write(self, name, columns):
        """A Parquet file, and the same as CSV with quoted text."""
        table = pa.table(columns)
        pq.write_table(table, self.folder / f"{name}.parquet")
        with (self.folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
            writer.writerow(table.column_names)
            writer.writerows(zip(*(column.to_pylist() for column in table.columns)))
        return table

    def read(self, name):
        path = self.folder / name
        if path.suffix == ".parquet":
            return pq.read_table(path)
        if path.suffix == ".arrow":
            with path.open("rb") as file:
                return pa.ipc.open_file(file).read_all()
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        return pa.table([list(column) for column in zip(*rows)], names=header)

    def augmented(self, name, *options):
        """The tables that ``augment`` writes in all formats, each verified, with its manifest."""
        for source in ("parquet", "csv"):
            for format in FORMATS:
                out = f"out.{format}"
                files = ["--provenance", "--manifest", "manifest.json", "--output", out, "--force"]
                self.run("augment", f"{name}.{source}", "--target", TARGET, *options, *files)
                manifest = ["--manifest", "manifest.json"] * (format == "csv")
                said = self.run("verify", out, "--against", f"{name}.{source}", *manifest)
                assert "all match" in said
                yield self.read(out), (self.folder / "manifest.json").read_text(encoding="utf-8")
                self.run("show", out if format != "csv" else "manifest.json")


def column_names(desk, strings):
    columns = {string: desk.numbers(40) for string in strings}
    table = desk.write("columns", {**columns, TARGET: desk.numbers(40)})
    for made, _ in desk.augmented("columns"):
        own = [name for name in made.column_names if not name.startswith("windlass_")]
        assert own == table.column_names
    desk.run("inspect", "columns.csv", "--target", TARGET)
    fitted = ["--save-fitted", "fitted.json", "--report", "columns.html", "--plot", "columns.svg"]
    desk.run("augment", "columns.csv", "--target", TARGET, *fitted, "--output", "out.csv", "--force")
    assert set(strings) <= set(all_strings(json.loads((desk.folder / "fitted.json").read_text())))
    desk.counts["as column names"] = len(strings)


def all_strings(item):
    """The strings of JSON, keys among them."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, dict):
        yield from item
        for value in item.values():
            yield from all_strings(value)
    elif isinstance(item, list):
        for value in item:
            yield from all_strings(value)


def categories_and_keys(desk, strings):
    count = len(strings)
    columns = {"key": strings, "x": desk.numbers(count), "category": strings[::-1]}
    desk.write("rows", {**columns, TARGET: desk.numbers(count)})
    for made, manifest in desk.augmented("rows", "--rows-by", "column:key"):
        for name in ("key", "category"):
            assert made[name].to_pylist() == 2 * columns[name]
        assert made["windlass_source"].to_pylist()[count:] == strings
        assert json.loads(manifest)
    desk.counts["as categories"] = desk.counts["as keys, in provenance"] = count


def domains(desk, strings):
    count = 2 * len(strings)
    desk.write("domains", {"x": desk.numbers(count), "site": 2 * strings, TARGET: desk.numbers(count)})
    anchors = ["--anchors", "column:site"]
    for made, _ in desk.augmented("domains", *anchors):
        assert made["site"].to_pylist() == 4 * strings
    for command in (["inspect"], ["inspect", "--json"], ["regress"], ["regress", "--json"]):
        desk.run(command[0], "domains.parquet", "--target", TARGET, *anchors, *command[1:])
    report = ["--within", "site", "--clusters", "1", "--report", "domains.html", "--plot", "domains.svg"]
    desk.run("augment", "domains.csv", "--target", TARGET, *report, "--output", "out.csv", "--force")
    desk.counts["as groups and domains"] = len(strings)


def file_names(desk, strings):
    """Each as the name of a file, if the system allows it, and as the name of the target."""
    files = 0
    (desk.folder / "made").mkdir()
    for string in strings:
        allowed = string.strip(".") and not {"/", "\0"} & set(string) and len(string.encode()) < 240
        name = string if allowed else "table"
        path = desk.folder / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["x", string])
            writer.writerows(zip(desk.numbers(12), desk.numbers(12)))
        out = desk.folder / "made" / f"{name}.parquet"
        desk.run("augment", path, f"--target={string}", "--output", out, "--force")
        assert pq.read_schema(out).names == ["x", string]
        path.unlink()
        desk.run("inspect", path, code=1)
        files += bool(allowed)
    desk.counts["as names of targets on the command line"] = len(strings)
    desk.counts["as file names"] = files


def models(desk, strings):
    """Features and levels of a model, in its file, as ONNX and as C."""
    ort = pytest.importorskip("onnxruntime")
    rows = 90
    columns = {string: desk.numbers(rows) for string in strings}
    parts = [strings[start::20] for start in range(20)]
    columns |= {f"part {place}": (rows * part)[:rows] for place, part in enumerate(parts)}
    desk.write("model", {**columns, TARGET: desk.numbers(rows)})
    desk.run("train", "model.csv", "--target", TARGET, "--model", "ridge", "--output", "model")
    desk.run("show", "model")
    desk.run("predict", "model", "model.parquet", "--output", "predicted.csv")
    desk.run("export", "model", "model.onnx")
    session = ort.InferenceSession(desk.folder / "model.onnx")
    notes = session.get_modelmeta().custom_metadata_map
    levels = json.loads(notes["categories"])
    assert json.loads(notes["continuous"]) == strings
    assert {level for _, level in levels} == set(strings)
    given = {
        "continuous": np.column_stack([columns[string] for string in strings]),
        "categories": np.column_stack(
            [[float(value == level) for value in columns[name]] for name, level in levels]
        ).astype(np.float32),
    }
    predicted = [float(value) for value in desk.read("predicted.csv")["prediction"].to_pylist()]
    by_onnx = np.ravel(session.run(["prediction"], given)[0])
    np.testing.assert_allclose(by_onnx, predicted, rtol=1e-4, atol=1e-4)
    desk.run("export", "model", "model.h")
    if compiler := shutil.which("cc"):
        words = [compiler, "-Wall", "-Werror", "-fsyntax-only", "-x", "c", "model.h"]
        subprocess.run(words, cwd=desk.folder, check=True)
    desk.counts["as inputs and levels of ONNX models and C headers"] = len(strings)


def pages(desk, strings):
    """Reports in a browser: text that is shown as it is, and no script but ours."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        return
    markup = [string for string in strings if "<" in string]
    name = f"{markup[0].replace('/', '')[:50]}.parquet"
    desk.write("compared", {"x": desk.numbers(80), "site": 16 * markup[1:6], markup[6]: desk.numbers(80)})
    (desk.folder / "compared.parquet").rename(desk.folder / name)
    quick = "--methods none,ada --models mlp --epochs 1 --hidden 4 --repeats 1 --output compared".split()
    desk.run("compare", f"./{name}", "--target", markup[6], "--split", "domain:site", *quick, code=3)
    expected = {"columns.html": strings, "domains.html": [], "compared/report.html": [markup[6], name]}
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for path, shown in expected.items():
            page, said = chromium.new_page(), []
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
            page.on("request", lambda sent: said.append(sent.url) if "file:" not in sent.url else None)
            page.goto((desk.folder / path).as_uri())
            page.wait_for_timeout(300)
            text = page.evaluate("document.documentElement.textContent")
            assert said == [], path
            # Pages cannot show some characters at all; they are escaped or replaced.
            can_be_shown = [s for s in shown if not any(is_control(c) or c == "\ufffe" for c in s)]
            lost = [string for string in can_be_shown if string not in text]
            assert not lost, (path, lost)
            attributes = page.evaluate(
                "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
            )
            assert not [name for name in attributes if name.startswith("on")]
        chromium.close()
    desk.counts[PAGES] = len(expected)


def test_naughty_strings(tmp_path, capsys):
    if "WINDLASS" not in os.environ:
        pytest.skip("WINDLASS does not name the command: cargo xtask test sets it")
    path = third_party("naughty-strings/blns.json")
    strings = list(dict.fromkeys(json.loads(path.read_text(encoding="utf-8"))))
    assert len(strings) > 500
    start, desk = time.monotonic(), Desk(tmp_path)
    for part in (column_names, categories_and_keys, domains, file_names, models, pages):
        part(desk, strings)
    rows = [["strings", len(strings)], *map(list, desk.counts.items())]
    rows += [["commands", desk.runs], ["control characters printed", 0]]
    reliability("naughty_strings", "Big List of Naughty Strings", rows, time.monotonic() - start)
    with capsys.disabled():
        print(f"\nnaughty strings: {desk.counts}, {time.monotonic() - start:.0f} s", end="")
    if PAGES not in desk.counts:
        pytest.skip("Chromium is not installed, so no report was opened: apt-get install chromium")
