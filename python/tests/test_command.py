"""The command that the wheel installs: a console script, and ``python -m windlass``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CARS = Path(__file__).resolve().parents[2] / "examples/auto_mpg.csv"
NATIVE = os.environ.get("WINDLASS")


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "windlass", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, **options)  # type: ignore[call-overload]


def test_it_writes_what_the_native_command_writes(tmp_path: Path) -> None:
    if NATIVE is None:
        pytest.skip("WINDLASS does not name the command: cargo xtask test sets it")
    arguments = ["augment", CARS, "--target", "mpg", "--copies", "2", "--output"]
    done = run(*arguments, tmp_path / "ours.csv")
    assert (done.returncode, done.stdout) == (0, "")
    subprocess.run([NATIVE, *arguments, tmp_path / "native.csv"], check=True, capture_output=True)
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "native.csv").read_bytes()


def test_exit_codes(tmp_path: Path) -> None:
    import windlass

    version = run("--version")
    assert (version.returncode, version.stdout) == (0, f"windlass {windlass.__version__}\n")
    refused = run("inspect", tmp_path / "none.csv", "--target", "y")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: ")
    assert "Usage: windlass" in run("--no-such-option").stderr
    # `compare` finds no help in noise: 3, and its advice names the command as it was typed.
    table = tmp_path / "noise.csv"
    table.write_text("x,y\n" + "".join(f"{i * 37 % 19}.5,{i * 53 % 23}.25\n" for i in range(40)))
    words = ["compare", table, "--target", "y", "--folds", "2", "--repeats", "1", "--epochs", "2"]
    compared = run(*words, "--methods", "none,noise", "--output", tmp_path / "out", "--json")
    assert compared.returncode == 3
    results = (tmp_path / "out/results.json").read_text()
    # Folders of a machine are not published.
    assert f"windlass compare {table.name}" in results


@pytest.mark.skipif(os.name == "nt", reason="shells of Unix")
def test_a_closed_pipe_is_not_a_fault() -> None:
    line = f"'{sys.executable}' -m windlass augment '{CARS}' -t mpg -c 200 -o - --format csv | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("mpg,")


def test_standard_input() -> None:
    with CARS.open() as cars:
        done = run("inspect", "-", "--target", "mpg", "--json", stdin=cars)
    assert done.returncode == 0
    assert '"displacement"' in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "windlass", "train", str(CARS), "-t", "mpg", "--epochs", "1000000"]
    process = subprocess.Popen([*words, "-o", str(tmp_path / "m")], stderr=subprocess.PIPE)
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert list(tmp_path.iterdir()) == []


def test_the_console_script_calls_main(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import entry_points

    scripts = entry_points(group="console_scripts")
    script = next(script for script in scripts if script.name == "windlass")
    assert script.value == "windlass.__main__:main"
    monkeypatch.setattr(sys, "argv", ["windlass", "--version"])
    assert script.load()() == 0
    assert capfd.readouterr().out.startswith("windlass ")
