"""Commands and Python examples of the documentation print what its pages show.

The blocks ``console`` and ``pycon`` of a page are one session in a folder with ``examples/``. A
line ``…`` stands for lines that are not shown; durations may differ. ``WINDLASS_BLESS=1`` writes
what was printed into the pages.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from common import CARS, ROOT

BLESS = bool(os.environ.get("WINDLASS_BLESS"))
BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DURATION = re.compile(r"\d+(\.\d+)? (ms|s|min|h)\b")
OMITTED = "…\n"
# Plots that the README's commands draw, and where pages show them.
PLOTS = {"rows.svg": "auto_mpg.svg", "cars/pictures/differences.svg": "compare.svg"}


def pages():
    """All pages with a block to run."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if BLOCK.search(page.read_text())]


def shown_or_printed(shown, printed):
    """What the page shows if it agrees with what was printed, else what it should show."""

    def same(left, right):
        return DURATION.sub("", left) == DURATION.sub("", right)

    if OMITTED not in shown:
        return shown if same(shown, printed) else printed
    before, after = (text.splitlines(keepends=True) for text in shown.split(OMITTED))
    lines = printed.splitlines(keepends=True)
    first, last = lines[: len(before)], lines[len(lines) - len(after) :]
    new = "".join([*first, OMITTED, *last])
    return shown if same(shown, new) else new


def run_console(block, folder):
    """Run the commands after ``$``, and give the block with what they print."""
    path = f"{Path(os.environ['WINDLASS']).parent}{os.pathsep}{os.environ['PATH']}"
    out = ""
    for command, shown in re.findall(
        r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", block, re.MULTILINE
    ):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode in (0, 3), f"{command}{done.stdout}"
        printed = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
        out += f"$ {command}{shown_or_printed(shown, printed)}"
    return out


def run_python(block, names):
    """Run the examples after ``>>>``, and give the block with what they print."""
    check = doctest.OutputChecker().check_output
    out = ""
    for part in doctest.DocTestParser().parse(block):
        if isinstance(part, str):
            out += part
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(part.source, "<page>", "single"), names)  # noqa: S102
            except Exception as error:
                only = "".join(traceback.format_exception_only(error))
                print(f"Traceback (most recent call last):\n  ...\n{only}", end="")
        prompts = zip(part.source.splitlines(), [">>>"] + ["..."] * part.source.count("\n"))
        out += "".join(f"{prompt} {line}".rstrip() + "\n" for line, prompt in prompts)
        agrees = check(part.want, printed.getvalue(), doctest.NORMALIZE_WHITESPACE)
        out += part.want if agrees else printed.getvalue()
    return out


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.skipif(sys.platform != "linux", reason="pages show what is printed on Linux")
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_show_what_is_printed(page, tmp_path, monkeypatch):
    if "WINDLASS" not in os.environ:
        pytest.skip("WINDLASS names no command")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    shutil.copy(CARS, tmp_path / "examples")
    names: dict[str, object] = {}

    def run(match):
        language, block = match.groups()
        if language == "console":
            block = run_console(block, tmp_path)
        else:
            block = run_python(block, names)
        return f"```{language}\n{block}```"

    text = page.read_text()
    printed = BLOCK.sub(run, text)
    plots = PLOTS if page.name == "README.md" and page.parent == ROOT else {}
    if BLESS:
        page.write_text(printed)
        for drawn, shown in plots.items():
            shutil.copy(tmp_path / drawn, ROOT / "docs/images" / shown)
        return
    assert printed == text, "WINDLASS_BLESS=1 accepts what was printed"
    for drawn, shown in plots.items():
        same = (tmp_path / drawn).read_bytes() == (ROOT / "docs/images" / shown).read_bytes()
        assert same, f"docs/images/{shown} is another plot: WINDLASS_BLESS=1 accepts it"
