// Walks through the page in the system's Chromium, and compares its results with the command's.
//
//   WINDLASS=path/to/windlass node tests/studio.mjs            the tests
//   WINDLASS=path/to/windlass node tests/studio.mjs FOLDER     also writes the pictures of the documentation
//
// Prints lines that `cargo xtask test` counts: `test result: …` and `skipped: …`.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const windlass = process.env.WINDLASS;
const pictures = process.argv[2];
const examples = resolve(import.meta.dirname, "../../../../examples");
const work = mkdtempSync(join(tmpdir(), "windlass-studio-test-"));
const cars = join(work, "auto_mpg.csv");
writeFileSync(cars, readFileSync(join(examples, "auto_mpg.csv")));

/** Runs the command in the folder of the tests. */
function command(line) {
  const shell = spawnSync("sh", ["-c", line.replace(/^windlass/, '"$WINDLASS"')], { cwd: work, env: process.env });
  assert.ok([0, 3].includes(shell.status), `${line}\n${shell.stderr}`);
  return String(shell.stdout);
}

/** Servers that a test that failed left behind. */
const children = new Set();

/** Starts the server; `end` is Ctrl-C. */
async function serve(...options) {
  const temporary = mkdtempSync(join(work, "tmp-"));
  const child = spawn(windlass, ["studio", "--no-open", ...options], { cwd: work, env: { ...process.env, TMPDIR: temporary } });
  children.add(child);
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  const exit = new Promise((done) => child.on("exit", done));
  void exit.then(() => children.delete(child));
  const address = await new Promise((done, fail) => {
    child.stdout.once("data", (text) => done(String(text).trim()));
    exit.then(() => fail(new Error(said)));
  });
  const end = async () => {
    child.kill("SIGINT");
    assert.equal(await exit, 0, said);
    assert.deepEqual(readdirSync(temporary), [], "the temporary folder is removed");
  };
  const memory = () => {
    const line = readFileSync(`/proc/${child.pid}/status`, "utf8").match(/VmHWM:\s+(\d+) kB/);
    return Number(line[1]) / 1000;
  };
  return { address, end, memory };
}

/** The status and the text of an answer; `headers` may replace those of a browser. */
function request(address, { path = "", method = "GET", headers = {}, body = "" } = {}) {
  const { hostname, port, pathname } = new URL(address);
  return new Promise((done, fail) => {
    const sent = http.request({ hostname, port, path: pathname + path, method, headers: { Connection: "close", ...headers } }, (answer) => {
      let text = "";
      answer.on("data", (part) => (text += part));
      answer.on("end", () => done({ status: answer.statusCode, text, headers: answer.headers }));
    });
    sent.on("error", fail);
    sent.end(body);
  });
}

const tests = [];
const test = (name, run) => tests.push({ name, run });
let browser;

/** A page that fails the test on errors, and on requests to other servers. */
async function open(address, { width = 1300, dark = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? "dark" : "light",
    acceptDownloads: true,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  // Settings that are refused, such as a typed value, are answered by 422.
  page.on("console", (message) => message.type() === "error" && !message.text().includes("422") && faults.push(message.text()));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (sent) => sent.url().startsWith(new URL(address).origin) || sent.url().startsWith("data:") || faults.push(sent.url()));
  await page.goto(address);
  const close = async () => {
    assert.deepEqual(faults, []);
    await context.close();
  };
  return { page, close };
}

async function download(page, click) {
  const waiting = page.waitForEvent("download");
  await click();
  const file = await waiting;
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/** No part of the page is wider than the window. */
async function fits(page, what) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${what} is ${wide} pixels too wide`);
}

const shots = {};
async function picture(page, name) {
  if (!pictures) return;
  await page.evaluate(() => {
    document.activeElement?.blur();
    window.scrollTo(0, 0);
  });
  // A frame below the window is not painted.
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width, height: 1600 });
  await page.waitForTimeout(500);
  shots[name] = (await page.screenshot({ fullPage: true })).toString("base64");
  await page.setViewportSize({ width, height });
}

const step = (page, name) => page.getByRole("navigation").getByRole("button", { name }).click();
const script = (page) => page.locator(".script pre").last().innerText();

async function choose(page, target) {
  await page.getByLabel("Target: the column to predict").selectOption(target);
  await page.getByRole("button", { name: "See augmentation" }).waitFor();
}

for (const { width, dark } of [{ width: 1300, dark: false }, { width: 400, dark: true }])
  test(`the whole way, ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
    const server = await serve();
    const { page, close } = await open(server.address, { width, dark });
    await page.getByRole("button", { name: "Choose a file" }).waitFor();
    const ready = await page.evaluate(() => performance.now());
    console.log(`page ready in ${Math.round(ready)} ms`);
    assert.ok(ready < 3000);
    await fits(page, "the start");
    // The table, from the dialog.
    await page.getByLabel("Table file").setInputFiles(cars);
    await page.getByText("398 rows, 9 columns").waitFor();
    await page.getByText("Which column do you want to predict?").waitFor();
    await choose(page, "mpg");
    await page.getByText("too many different texts").waitFor();
    await page.getByText("The table drifts").waitFor();
    await page.getByLabel("Role of cylinders").selectOption("categorical");
    await page.getByText("chosen (--categorical)").waitFor();
    assert.equal(await script(page), "windlass inspect auto_mpg.csv --target mpg --categorical cylinders");
    await page.getByLabel("Role of cylinders").selectOption("auto");
    await page.getByText("chosen (--categorical)").waitFor({ state: "detached" });
    await fits(page, "the table");
    await picture(page, `table-${width}`);

    // Augmentation.
    await step(page, "Augment");
    await page.locator("canvas").waitFor();
    await page.getByText("Correlations before and after").waitFor();
    await page.getByLabel("number of groups").focus();
    for (let press = 0; press < 7; press++) await page.keyboard.press("ArrowRight");
    await page.getByLabel("strength α").focus();
    for (let press = 0; press < 30; press++) await page.keyboard.press("ArrowRight");
    await page.getByLabel("synthetic rows per row").fill("2");
    await page.waitForFunction(() => document.querySelector(".script pre").textContent.includes("--copies 2"));
    const line = await script(page);
    assert.match(line, /^windlass augment auto_mpg\.csv --target mpg --alpha \S+ --clusters 8 --copies 2 --provenance --output augmented\.csv$/);
    await page.waitForTimeout(700);
    await fits(page, "the augmentation");
    await picture(page, `augment-${width}`);
    for (const [name, ending] of [["CSV", "csv"], ["Parquet", "parquet"]]) {
      const { bytes } = await download(page, () => page.getByRole("button", { name: `Download ${name}` }).click());
      command(line.replace("augmented.csv", `${width}.${ending}`));
      assert.ok(bytes.equals(readFileSync(join(work, `${width}.${ending}`))), `${name} differs from the command's`);
    }
    await page.getByRole("button", { name: "Python", exact: true }).click();
    assert.match(await script(page), /windlass\.augment\(table, target="mpg", alpha=[\d.]+, clusters=8, copies=2, provenance=True\)/);
    await page.getByRole("button", { name: "Copy" }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await script(page));
    // Where a synthetic row comes from, by keyboard.
    await page.locator("canvas").focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator(".tip").innerText(), /Synthetic row[\s\S]*from row 0: [\s\S]*γ = /);
    await page.keyboard.press("Escape");

    // Comparison: stopped, resumed, and equal to the command's.
    await step(page, "Does it help?");
    for (const name of ["manifold-mixup", "local-mixup", "c-mixup", "ada-manifold", "noise", "forest", "auto"]) await page.getByLabel(name, { exact: true }).uncheck();
    await page.getByLabel("repeats").fill("2");
    await page.getByLabel("repeats").blur();
    await page.waitForFunction(() => /--models mlp,ridge .*--repeats 2/.test(document.querySelector(".script pre").textContent));
    const compared = await script(page);
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator(".dots circle").nth(3).waitFor({ timeout: 120_000 });
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("which are kept").waitFor();
    await picture(page, `stopped-${width}`);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.locator(".answer").first().waitFor({ timeout: 240_000 });
    const frame = page.frameLocator("iframe");
    await frame.getByText("Does augmentation help on auto_mpg.csv?").waitFor();
    // The report's own script runs, by its hash.
    assert.match(await frame.locator("label.slider output").innerText(), /γ = /);
    await fits(page, "the comparison");
    await picture(page, `compare-${width}`);
    const { bytes } = await download(page, () => page.getByText("Download all numbers").click());
    command(`${compared} --quiet`.replace("--output comparison", `--output comparison-${width}`));
    const numbers = (text) => {
      const results = JSON.parse(text);
      return results.runs.map(({ seconds, ...run }) => run);
    };
    assert.deepEqual(numbers(bytes), numbers(readFileSync(join(work, `comparison-${width}/results.json`))));

    // The model.
    await step(page, "Model");
    const trained = await script(page);
    await page.getByRole("button", { name: "Train a model" }).click();
    await page.getByText("Expected error for new rows").waitFor({ timeout: 240_000 });
    await page.getByText(/90 % of new rows are between/).waitFor();
    const weight = page.locator(".typed label", { hasText: "weight" }).locator("input");
    await weight.fill("9999");
    await page.getByText("outside the range of the training rows").waitFor();
    await weight.fill("heavy");
    await page.getByText("`heavy` is not one of its integers").waitFor();
    await weight.fill("3504");
    await page.getByText(/90 % of new rows are between/).waitFor();
    command(trained.replace("model.windlass", `model-${width}.windlass`));
    const model = await download(page, () => page.getByRole("link", { name: /^Model/ }).click());
    assert.ok(model.bytes.equals(readFileSync(join(work, `model-${width}.windlass`))), "the model differs from the command's");
    writeFileSync(join(work, "model.windlass"), model.bytes);
    for (const [name, file] of [["ONNX", "model.onnx"], ["C code", "model.h"]]) {
      command(`windlass export model.windlass ${file} --force`);
      const { bytes } = await download(page, () => page.getByRole("link", { name, exact: true }).click());
      assert.ok(bytes.equals(readFileSync(join(work, file))), `${file} differs from the command's`);
    }
    await page.getByLabel("File of rows to predict").setInputFiles(cars);
    await page.getByText("Download 398 predictions").waitFor();
    const predicted = await download(page, () => page.getByText("Download 398 predictions").click());
    command("windlass predict model.windlass auto_mpg.csv --interval 90% --output predictions.csv --force");
    assert.ok(predicted.bytes.equals(readFileSync(join(work, "predictions.csv"))), "predictions differ from the command's");
    await page.getByRole("button", { name: "Distill" }).click();
    await page.getByText("Small C code").waitFor({ timeout: 240_000 });
    const small = await download(page, () => page.getByText(/^Small model/).click());
    command("windlass distill model.windlass auto_mpg.csv --output small.windlass --force");
    assert.ok(small.bytes.equals(readFileSync(join(work, "small.windlass"))), "the student differs from the command's");
    await fits(page, "the model");
    await page.evaluate(() => window.scrollTo(0, 0));
    await picture(page, `model-${width}`);
    await close();
    await server.end();
  });

for (const { width, dark } of [{ width: 1300, dark: true }, { width: 400, dark: false }])
  test(`a hostile table, ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
    const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    const names = [hostile, "id", "constant", "dates", ...Array.from({ length: 295 }, (_, place) => `column ${place} <b>`), "y"];
    const cells = (row) =>
      names.map((name, place) => {
        if (name === "id") return row + 1;
        if (name === "constant") return "<i>same</i>";
        if (name === "dates") return `2024-01-${String(1 + (row % 28)).padStart(2, "0")}`;
        if (name === "y") return row === 7 ? "" : Math.sin(row) * 10 + row / 9;
        if (place === 0) return row % 2 ? hostile : "' OR 1=1 --";
        return (row * place) % 11 === 3 ? "" : ((row * 7919 + place * 104729) % 1000) / 10;
      });
    const text = [names, ...Array.from({ length: 60 }, (_, row) => cells(row))].map((line) => line.join(";")).join("\n");
    const server = await serve();
    const { page, close } = await open(server.address, { width, dark });
    await page.getByLabel("Table file").setInputFiles({ name: `${hostile.replaceAll("/", "")}.csv`, mimeType: "text/csv", buffer: Buffer.from(text) });
    await page.getByText("60 rows, 300 columns").waitFor();
    await page.getByText("separator `;` detected").waitFor();
    await page.getByLabel("Target: the column to predict").selectOption("y");
    // The missing target is a problem with a fix.
    await page.getByRole("button", { name: "Drop these rows" }).click();
    await page.getByRole("button", { name: "See augmentation" }).waitFor();
    await page.getByText("is named like an identifier").waitFor();
    assert.equal(await page.locator(".columns img, .columns script, .columns b").count(), 0, "table contents are text");
    await fits(page, "the table");
    await picture(page, `hostile-table-${width}`);
    await step(page, "Augment");
    await page.locator("canvas").waitFor();
    await page.locator(".axes select").first().selectOption(hostile);
    await page.waitForTimeout(500);
    await page.locator("canvas").focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator(".tip").innerText(), /OR 1=1|<img/);
    await page.getByLabel("method").selectOption("mixup");
    await page.getByText("--method mixup").waitFor();
    await fits(page, "the augmentation");
    await picture(page, `hostile-augment-${width}`);
    await step(page, "Does it help?");
    const boxes = page.locator("fieldset input:checked:not(:disabled)");
    while ((await boxes.count()) > 0) await boxes.first().uncheck();
    await page.getByLabel("ridge", { exact: true }).check();
    for (const label of ["folds", "repeats"]) await page.getByLabel(label).fill(label === "folds" ? "2" : "1");
    await page.getByLabel("repeats").blur();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator(".answer").first().waitFor({ timeout: 120_000 });
    await page.frameLocator("iframe").getByText("Does augmentation help on").waitFor();
    await fits(page, "the comparison");
    await close();
    await server.end();
  });

test("a slider moves the picture within 50 ms", async () => {
  const rows = Array.from({ length: 1000 }, (_, row) => {
    const [a, b] = [Math.sin(row * 1.7) * 50, ((row * 7919) % 997) / 10];
    return [a, b, a * 2 + b, ((row * 31) % 101) / 7, a - 3 * b + ((row * 13) % 17)].map((value) => value.toFixed(2)).join(",");
  });
  writeFileSync(join(work, "thousand.csv"), `a,b,c,d,y\n${rows.join("\n")}\n`);
  const server = await serve("thousand.csv");
  const { page, close } = await open(server.address);
  await choose(page, "y");
  await step(page, "Augment");
  await page.locator("canvas").waitFor();
  await page.waitForTimeout(700);
  await page.getByLabel("strength α").focus();
  const times = [];
  for (let press = 0; press < 40; press++) {
    await page.evaluate(() => delete document.querySelector("canvas").dataset.latency);
    await page.keyboard.press(press < 20 ? "ArrowRight" : "ArrowLeft");
    await page.waitForFunction(() => document.querySelector("canvas").dataset.latency !== undefined);
    times.push(Number(await page.locator("canvas").getAttribute("data-latency")));
  }
  times.sort((a, b) => a - b);
  console.log(`slider to picture, 1000 rows: median ${times[20]} ms, 90 % within ${times[36]} ms`);
  // Twice the promise: the machine may be busy with other tests.
  assert.ok(times[20] <= 100, String(times));
  await close();
  await server.end();
});

test("a killed tab leaves the server usable, and its job goes on", async () => {
  const server = await serve("auto_mpg.csv");
  const first = await open(server.address);
  await choose(first.page, "mpg");
  await step(first.page, "Model");
  await first.page.getByRole("button", { name: "Train a model" }).click();
  await first.page.getByRole("button", { name: "Stop" }).waitFor();
  // A tab that dies in the middle of a request.
  const crashed = first.page.waitForEvent("crash");
  first.page.goto("chrome://crash").catch(() => {});
  await crashed;
  const { page, close } = await open(server.address);
  await choose(page, "mpg");
  await step(page, "Model");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped.").waitFor({ timeout: 120_000 });
  await close();
  await first.page.context().close();
  await server.end();
});

test("wrong tokens, hosts, origins and sizes are refused", async () => {
  const server = await serve("auto_mpg.csv");
  const { origin, port } = new URL(server.address);
  assert.equal((await request(server.address)).status, 200);
  assert.equal((await request(`${origin}/${"A".repeat(22)}/`)).status, 403);
  assert.equal((await request(`${origin}/`)).status, 403);
  for (const headers of [{ Host: "evil.example" }, { Host: `evil.example:${port}` }, { Origin: "https://evil.example" }, { "Sec-Fetch-Site": "cross-site" }])
    for (const path of ["", "api/state"]) assert.equal((await request(server.address, { path, headers })).status, 403, JSON.stringify(headers));
  const large = await request(server.address, { path: "api/tables?name=a.csv", method: "POST", headers: { "Content-Length": String(5e9) } }).catch((error) => error);
  assert.equal(large.status, 413, String(large));
  const page = await request(server.address);
  assert.match(page.headers["content-security-policy"], /^default-src 'self';/);
  assert.doesNotMatch(page.headers["content-security-policy"], /unsafe/);
  await server.end();
});

test("a file of 100 MB needs little memory", async () => {
  const line = (row) => `${row},${(row * 7919) % 10007},${((row * 31) % 997) / 10},${((row * 17) % 89) / 3},text${row % 9},${(row % 1000) / 7}\n`;
  const parts = ["key,a,b,c,kind,y\n"];
  let length = 0;
  for (let row = 0; length < 100e6; row++) {
    parts.push(line(row));
    length += parts.at(-1).length;
  }
  const large = join(work, "large.csv");
  writeFileSync(large, parts.join(""));
  const server = await serve();
  const { page, close } = await open(server.address);
  await page.getByLabel("Table file").setInputFiles(large);
  await page.getByText(/\d rows, 6 columns/).waitFor({ timeout: 120_000 });
  await page.getByLabel("Target: the column to predict").selectOption("y");
  await page.getByRole("button", { name: "See augmentation" }).click({ timeout: 120_000 });
  await page.getByText("a sample of").waitFor({ timeout: 60_000 });
  await page.waitForTimeout(1000);
  const looked = server.memory();
  const { bytes } = await download(page, () => page.getByRole("button", { name: "Download CSV" }).click());
  console.log(`a CSV file of 100 MB: ${Math.round(looked)} MB of memory to look at, ${Math.round(server.memory())} MB to augment (${Math.round(bytes.length / 1e6)} MB written)`);
  assert.ok(server.memory() < 300, `${server.memory()} MB`);
  await close();
  await server.end();
  rmSync(large);
});

/** Puts the views side by side into one picture each for wide and for narrow windows. */
async function montage() {
  for (const [name, width, columns, deviceScaleFactor] of [["studio", 1300, 2, 0.6], ["studio-phone", 400, 4, 0.75]]) {
    const viewport = { width: width * columns + 40 * (columns + 1), height: 800 };
    const page = await browser.newPage({ viewport, deviceScaleFactor });
    const views = ["table", "augment", "compare", "model"].map((view) => shots[`${view}-${width}`]);
    const [tall, paper] = width === 400 ? [1500, "#15181c"] : [1150, "#fff"];
    await page.setContent(
      `<style>body { margin: 0; padding: 40px; display: grid; grid-template-columns: repeat(${columns}, ${width}px); gap: 40px; background: #c9d1da }
       div { background: ${paper}; height: ${tall}px; overflow: hidden; border-radius: 16px; box-shadow: 0 4px 24px #0005 } img { width: ${width}px }</style>` +
        views.map((view) => `<div><img src="data:image/png;base64,${view}"></div>`).join(""),
    );
    await page.waitForFunction(() => [...document.images].every((image) => image.complete));
    const bytes = await page.screenshot({ fullPage: true });
    writeFileSync(join(pictures, `${name}.png`), bytes);
    for (const view of Object.keys(shots).filter((view) => view.endsWith(`-${width}`))) writeFileSync(join(work, `${view}.png`), Buffer.from(shots[view], "base64"));
    await page.close();
  }
}

if (!windlass) throw new Error("set WINDLASS to the command");
if (!CHROMIUM) {
  console.log("skipped: Windlass Studio in a browser: Chromium is not installed: apt-get install chromium");
} else {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  let failed = 0;
  const chosen = tests.filter(({ name }) => name.includes(process.env.ONLY ?? ""));
  for (const { name, run } of chosen) {
    try {
      await run();
      console.log(`ok: ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED: ${name}\n${error.stack}`);
    }
    for (const child of children) child.kill("SIGKILL");
    for (const context of browser.contexts()) await context.close();
  }
  if (pictures) await montage();
  await browser.close();
  console.log(`test result: ${failed ? "FAILED" : "ok"}. ${chosen.length - failed} passed; ${failed} failed;`);
  if (!process.env.KEEP) rmSync(work, { recursive: true });
  else console.log(work);
  process.exit(failed ? 1 : 0);
}
