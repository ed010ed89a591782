"""The report of `windlass compare` in a browser: it renders, the slider moves rows, text can be read."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

WINDLASS = os.environ["WINDLASS"]
CARS = Path(__file__).resolve().parents[4] / "examples/auto_mpg.csv"
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
QUICK = "--epochs 5 --hidden 16 --folds 3 --repeats 1 --sizes 50,all".split()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    words = [WINDLASS, "compare", CARS, "--target", "mpg", *QUICK, "--output", folder / "out"]
    assert subprocess.run(words, stdout=subprocess.DEVNULL).returncode in (0, 3)
    return folder / "out/report.html"


@pytest.fixture(scope="module")
def browser():
    if BROWSER is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield launched
        launched.close()


def opened(browser, report, width, scheme="light"):
    """The page, and whatever its console says or it asks of others."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if "file:" not in request.url else None)
    page.goto(report.as_uri())
    return page, said


# Of every text that is drawn, how many pixels high its letters' box is and where it ends.
TEXTS = """() => [...document.querySelectorAll("main *")]
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
    .map(e => {
        const box = e.getBoundingClientRect();
        const scale = e.getScreenCTM ? Math.abs(e.getScreenCTM().a) || Math.abs(e.getScreenCTM().b) : 1;
        const size = parseFloat(getComputedStyle(e).fontSize) * scale;
        return [e.textContent.trim().slice(0, 40), size, box.left, box.right, !!e.closest(".scroll, pre")];
    })"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_renders(browser, report, width, scheme):
    page, said = opened(browser, report, width, scheme)
    assert said == []
    assert page.locator("#verdict").inner_text().strip()
    assert page.locator("figure svg").count() == 7
    assert page.locator("#answer").inner_text().strip() and "%" in page.locator("#number").inner_text()
    assert "windlass train " in page.locator(".verdict pre").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    texts = page.evaluate(TEXTS)
    assert len(texts) > 100
    for text, size, left, right, scrolls in texts:
        assert size >= 10, (text, size)
        assert scrolls or (left >= -1 and right <= width + 1), (text, left, right)


def test_difference_interval_and_p_come_first_on_a_phone(browser, report):
    page, _ = opened(browser, report, 400)
    head = page.locator("table").first.locator("thead th").all_inner_texts()
    assert head[:4] == ["method", "change", "95 % interval", "p"]
    rows = page.locator("table").first.locator("tbody tr:has(td)")
    for row in rows.all():
        right = row.locator("td").evaluate_all("cells => cells.map(e => e.getBoundingClientRect().right)")
        # Seen without scrolling.
        assert max(right[:4]) <= 400, (row.inner_text(), right)


def luminance(color):
    numbers = color[color.index("(") + 1 : -1].split(",")[:3]
    red, green, blue = (int(number) / 255 for number in numbers)
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(browser, report, scheme):
    page, _ = opened(browser, report, 1280, scheme)
    paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (paper < 0.1) == (scheme == "dark")
    words = page.evaluate(
        "() => [...document.querySelectorAll('p, li, td, figcaption, h1, h2')]"
        ".map(e => getComputedStyle(e).color)"
        ".concat([...document.querySelectorAll('svg text')].map(e => getComputedStyle(e).fill))"
    )
    for color in set(words):
        light, dark = sorted([luminance(color), paper], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, color


def places(page):
    return page.evaluate(
        "() => [...document.querySelectorAll('#synthetic circle[data-mx]')]"
        ".map(e => [+e.getAttribute('cx'), +e.getAttribute('cy'),"
        " +e.dataset.x, +e.dataset.y, +e.dataset.mx, +e.dataset.my])"
    )


def test_slider_moves_rows(browser, report):
    page, said = opened(browser, report, 390)
    slider = page.locator("#synthetic input")
    for exponent in (-1, 0, 2):
        slider.evaluate("(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", exponent)
        shrink = (2**exponent) ** -0.5
        moved = places(page)
        assert len(moved) > 50
        for cx, cy, x, y, mx, my in moved:
            assert abs(cx - (mx + (x - mx) * shrink)) < 0.01
            assert abs(cy - (my + (y - my) * shrink)) < 0.01
        assert page.locator("#synthetic output").inner_text() == f"γ = {2**exponent:.2f}"
    assert said == []


def test_keyboard_moves_slider(browser, report):
    page, _ = opened(browser, report, 1280)
    before = places(page)
    page.locator("#synthetic input").focus()
    page.keyboard.press("ArrowRight")
    assert places(page) != before


def test_page_prints(browser, report, tmp_path):
    page, _ = opened(browser, report, 1280, "dark")
    page.pdf(path=tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").stat().st_size > 10_000
    page.emulate_media(media="print", color_scheme="dark")
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9
