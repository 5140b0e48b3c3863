// Drives Chromium through the page's view of the machine, and holds it against the JSON that
// `sojourn host` printed and against the words of `sojourn host diff` for the same figures.
// Usage and environment: as page_test.mjs. machine.json is a recorded `sojourn host --json`, cut to
// some rows.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

import { cells, count, directory, endBrowser, open, pageOf, patience, settled, shoot, sojourn, startBrowser } from "./page_driver.mjs";

const { SOJOURN, MAKE_SCHEDULED_TRACE } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const recorded = fileURLToPath(new URL("machine.json", import.meta.url));
const machine = JSON.parse(fs.readFileSync(recorded, "utf8"));
let bare;  // a page of a trace without a profile

before(async () => {
  const trace = path.join(directory, "bare.sjt");
  execFileSync(MAKE_SCHEDULED_TRACE, [trace]);
  bare = pageOf(trace, "bare.html");
  await startBrowser();
});
after(endBrowser);

const fileOf = (name, text) => {
  const file = path.join(directory, name);
  fs.writeFileSync(file, text);
  return file;
};

const measurement = (id, median, unit) => ({
  id, group: "made", name: `name of ${id}`, unit, measured: { count: 9, mean: median, stdev: median, min: median, q1: median, median, q3: median, max: median },
});

// Pairs of a value and its unit, as the command line words them.
function worded(figures) {
  const file = fileOf("worded.json", JSON.stringify({ measurements: figures.map(([value, unit], i) => measurement(`no.${i}`, value, unit)) }));
  const found = [];
  for (const line of sojourn("host", "diff", file, file).split("\n")) {
    const row = /^name of no\.(\d+) +(.*)/.exec(line);
    if (row) found[Number(row[1])] = row[2].split(/ {2,}/)[0];
  }
  assert.equal(found.filter(Boolean).length, figures.length);
  return found;
}

const isMeasured = ({ measured }) => measured !== null && measured.count > 0;
const deviation = (of) => (of === null ? "-" : of >= 9.995 ? `x${Math.round(of + 1)}` : `${of >= 0 ? "+" : ""}${(100 * of).toFixed(0)} %`);

// Compares all figures on the page with those of the profile.
async function showsTheProfile(page, profile) {
  assert.deepEqual(await cells(page, ".facts"), profile.machine.map(({ name, value, source }) => [name, value || "not told", source]));
  const rows = profile.measurements.filter(isMeasured);
  const figures = rows.flatMap(({ unit, hardware, software, predicted, measured }) =>
      [hardware, software, predicted, measured.median, measured.mean, measured.stdev, measured.q1, measured.q3].map((value) => [value, unit]));
  const words = worded(figures.filter(([value]) => value !== null));
  const all = figures.map(([value]) => (value === null ? "-" : words.shift()));
  const wanted = rows.map(({ name, deviation: of, measured }, i) => {
    const [hardware, software, predicted, median, mean, stdev, q1, q3] = all.slice(8 * i, 8 * i + 8);
    return [name, hardware, software, predicted, median, deviation(of), mean, stdev, `${q1} .. ${q3}`, count(measured.count)];
  });
  const shown = await page.$$eval(".costs tbody tr", (found) => found.map((row) => [...row.children].slice(0, 10).map((cell) => cell.textContent)));
  assert.ok(shown.length > 0);
  assert.deepEqual(shown, wanted);
  const remarks = await page.$$eval(".costs tbody tr", (found) => found.map((row) => row.lastChild.textContent));
  rows.forEach(({ note, unstable }, i) => assert.ok(remarks[i].includes(note) && remarks[i].includes(unstable), remarks[i]));
  assert.deepEqual(await page.$$eval(".absent li", (found) => found.map((one) => one.textContent)),
                   profile.measurements.filter((one) => !isMeasured(one)).map(({ name, left_out: why }) => `${name}: ${why}`));
  assert.deepEqual(await page.$$eval(".disturbed", (found) => found.map((one) => one.textContent)), profile.warnings.map((one) => `disturbed: ${one}`));
}

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return fs.readFileSync(await download.path(), "utf8");
}

const drop = (page, name, text) => page.evaluate(([of, inside]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([inside], of));
  document.querySelector("main").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}, [name, text]);

// Why the file was refused.
async function refusal(page, file) {
  for (const end = Date.now() + patience;;) {
    const told = await page.textContent("#machine-refused");
    if (told.startsWith(`${file}: `)) return told;
    assert.ok(Date.now() < end, `${file} was not refused: ${told}`);
    await page.waitForTimeout(20);
  }
}

test("a trace's page shows what host --json said of the machine, and how to get curves", async () => {
  const profile = JSON.parse(sojourn("host", "--quick", "--only", "clocks,calls", "--json"));
  const trace = path.join(directory, "measured.sjt");
  execFileSync(MAKE_SCHEDULED_TRACE, [trace, fileOf("measured.json", JSON.stringify(profile))]);  // on one line, as record does
  const { page, close } = await open(pageOf(trace, "measured.html"));
  await page.keyboard.press("m");
  await page.waitForSelector("#machine-of");
  assert.match(page.url(), /view=machine/);
  assert.equal(profile.curves.length, 0);
  await showsTheProfile(page, profile);
  assert.match(await page.textContent("#machine-of"), /^From the trace: quick form, .* s, .* UTC, sojourn /);
  assert.match(await page.textContent("#no-curves"), /sojourn host --json > m\.json/);
  await close();
});

test("a trace without a profile says so, and a file with curves can be opened there", async () => {
  const { page, close } = await open(bare, { hash: "view=machine" });
  assert.match(await page.textContent("#machine-of"), /^The trace has no profile of its machine: .* It only says: A CPU, 2 processors, 6\.1\.0-made\. sojourn host --json > m\.json /);
  assert.equal(await page.locator(".costs").count(), 0);
  await page.setInputFiles(".machine input[type=file]", recorded);
  await page.waitForSelector("svg.curve");
  await showsTheProfile(page, machine);
  assert.match(await page.textContent("#machine-of"), /^From machine\.json: full form, 171\.9 s, /);
  assert.equal(await page.locator("#no-curves").count(), 0);
  assert.equal(await page.locator("svg.curve").count(), machine.curves.length);
  assert.deepEqual(await page.$$eval(".matrix tbody td", (found) => found.map((cell) => cell.textContent)),
                   machine.matrices.flatMap(({ values }) => values.map((value) => (value === null ? "-" : value.toFixed(0)))));

  // Another view and back: it is still there. Then the trace again.
  await page.click("[data-view=events]");
  await settled(page);
  await page.click("[data-view=machine]");
  await page.waitForSelector("svg.curve");
  await page.click("#machine-back");
  assert.match(await page.textContent("#machine-of"), /^The trace has no profile/);
  await close();
});

test("a curve has the profile's points and knees, by table, by keyboard and in what is saved", async () => {
  const { page, close } = await open(bare, { hash: "view=machine" });
  await page.setInputFiles(".machine input[type=file]", recorded);
  const [curve] = machine.curves;
  assert.ok(curve.points.length > 30 && curve.knees.length > 2);
  const figure = page.locator("figure", { has: page.locator("svg.curve") }).filter({ hasText: `${curve.name}: ` });
  await figure.locator("summary").click();
  const isKnee = ({ x }) => curve.knees.some((knee) => knee.x === x);
  const words = worded(curve.points.flatMap(({ x, y, q1, q3 }) => [[x, curve.x.unit], [y, curve.y.unit], [q1, curve.y.unit], [q3, curve.y.unit]]));
  const wanted = curve.points.map((point, i) => [...words.slice(4 * i, 4 * i + 4), isKnee(point) ? "knee" : ""]);
  assert.deepEqual(await figure.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent))), wanted);
  assert.equal(await figure.locator("circle.knee").count(), curve.knees.length);
  const knees = worded(curve.knees.flatMap(({ x, before, after: behind }) => [[x, curve.x.unit], [before, curve.y.unit], [behind, curve.y.unit]]));
  assert.deepEqual(await figure.locator("p.knee").allTextContents(),
                   curve.knees.map((_, i) => `knee at ${knees[3 * i]}: ${knees[3 * i + 1]} before, ${knees[3 * i + 2]} behind`));
  // Points stand where logarithmic axes have them.
  const at = await figure.locator("circle.point").evaluateAll((points) => points.map((point) => [Number(point.getAttribute("cx")), Number(point.getAttribute("cy"))]));
  const along = (key, i) => Math.log(curve.points[i][key] / curve.points[0][key]);
  const last = at.length - 1;
  for (let i = 1; i < last; ++i)
    for (const [axis, key] of [[0, "x"], [1, "y"]])
      assert.ok(Math.abs((at[i][axis] - at[0][axis]) / (at[last][axis] - at[0][axis]) - along(key, i) / along(key, last)) < 1e-6);

  await figure.locator("[role=region]").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.ok((await figure.locator(".told").textContent()).startsWith(`${wanted[1][0]}: ${wanted[1][1]}, middle half ${wanted[1][2]} .. ${wanted[1][3]}`));

  const [, ...lines] = (await saved(page, figure.getByText("CSV"))).trim().split("\n");
  assert.deepEqual(lines.map((line) => line.split(",").slice(0, 4).map(Number)), curve.points.map(({ x, y, q1, q3 }) => [x, y, q1, q3]));
  const drawn = await saved(page, figure.getByText("SVG"));
  assert.ok(drawn.startsWith("<svg") && drawn.includes("stroke: rgb("), drawn.slice(0, 300));
  const [head, ...rows] = (await saved(page, page.locator("#machine-csv"))).trim().split("\n").map((line) => line.split(","));
  assert.deepEqual(rows.map((row) => [row[0], Number(row[head.indexOf("median")])]),
                   machine.measurements.filter(isMeasured).map(({ id, measured }) => [id, measured.median]));
  await page.evaluate(() => window.scrollTo(0, document.querySelector("svg.curve").getBoundingClientRect().top - 200));
  await shoot(page, "machine-light");
  await close();
});

test("figures are worded and rounded as by the command line", async () => {
  const figures = [[0.125, "ns"], [0.375, "ns"], [62.25, "ns"], [100.5, "ns"], [101.5, "ns"], [999.49, "ns"], [999.5, "ns"], [-260.4, "ns"], [-1500, "ns"],
                   [99_949_999, "ns"], [2.5e9, "ns"], [1023, "B"], [1023.6, "B"], [3 << 20, "B"], [999.5, "B/s"], [12_345_678_901, "B/s"], [2.596e9, "Hz"],
                   [0.125, "%"], [12, "%"], [328.17, "count"], [1000.5, "count"], [12_345, "count"], [99_999, "count"], [0.00001234, "count"], [0, "ns"], [0, "count"]];
  const { page, close } = await open(bare, { hash: "view=machine" });
  await page.setInputFiles(".machine input[type=file]",
                           fileOf("figures.json", JSON.stringify({ measurements: figures.map(([value, unit], i) => measurement(`m.${i}`, value, unit)) })));
  await page.waitForSelector(".costs");
  assert.deepEqual((await cells(page, ".costs")).map((row) => row[4]), worded(figures));
  await close();
});

test("what is no profile is refused in one line, in the words of host diff, and what is shown stays", async () => {
  const { page, close } = await open(bare, { hash: "view=machine" });
  await page.setInputFiles(".machine input[type=file]", recorded);
  await page.waitForSelector("svg.curve");
  const wrong = [["", /this is no JSON/], ["\u0000\u0001\u0002", /this is no JSON/], ["[".repeat(200_000), /this is no JSON/], ["[]", /not an object/], ["{}", /there are no measurements/],
                 ['{"measurements": 5}', /"measurements" is not a list/], ['{"measurements": [{"id": "a", "unit": "furlong"}]}', /"furlong" is no unit/],
                 ['{"measurements": [{"unit": "ns"}]}', /a measurement has no id/], ['{"measurements": [], "curves": [{"x": {"unit": "B"}, "y": {"unit": "ns"}, "points": [{"x": "1"}]}]}', /"x" is not a number/],
                 ['{"measurements": [], "matrices": [{"id": "m", "unit": "ns", "cpus": [0, 1], "values": [1]}]}', /"m" has 1 values for 2 CPUs/]];
  for (const [i, [text, why]] of wrong.entries()) {
    const file = fileOf(`wrong${i}.json`, text);
    await page.setInputFiles(".machine input[type=file]", file);
    const told = await refusal(page, path.basename(file));
    assert.match(told, why);
    assert.ok(!told.includes("\n"));
    const refused = spawnSync(SOJOURN, ["host", "diff", file, file], { encoding: "utf8" });
    assert.notEqual(refused.status, 0);
    if (i > 2) assert.ok(refused.stderr.includes(told.slice(told.indexOf(": ") + 2)), `${told}\n${refused.stderr}`);
    assert.equal(await page.locator("svg.curve").count(), machine.curves.length);
  }
  await close();

  // The same fault in a trace.
  const trace = path.join(directory, "broken.sjt");
  execFileSync(MAKE_SCHEDULED_TRACE, [trace, fileOf("broken.json", '{"tool": 7}')]);
  const broken = await open(pageOf(trace, "broken.html"), { hash: "view=machine" });
  assert.equal(await broken.page.textContent("#machine-of"), 'the trace: no profile of a machine: "tool" is not text');
  await broken.close();
});

test("hostile texts in a profile do nothing", async () => {
  const evil = "<img src=x onerror=document.title='taken'>\u202e\u0007";
  const one = { ...measurement("e.1", 5, "ns"), group: evil, name: evil, method: evil, note: evil, reason: evil, unstable: evil };
  const axis = { name: evil, unit: "ns" };
  const profile = { tool: evil, form: evil, measured_at_s: 9e15, machine: [{ name: evil, value: evil, source: evil }],
                    measurements: [one, { id: "e.2", name: evil, unit: "B", left_out: evil, measured: null }], warnings: [evil],
                    curves: [{ name: evil, group: evil, x: axis, y: axis, note: evil, points: [{ x: -1, y: 0 }, { x: 1, y: 1.7e308 }, { x: 1e300, y: 1e-300, q1: 1, q3: 5 }], knees: [{ x: 1e300, before: -1, after: 0 }] }],
                    matrices: [{ id: evil, name: evil, group: evil, unit: "ns", cpus: [0], values: [1], note: evil }] };
  const { page, close } = await open(bare, { hash: "view=machine" });
  await page.setInputFiles(".machine input[type=file]", { name: `${evil}.json`, mimeType: "application/json", buffer: Buffer.from(JSON.stringify(profile)) });
  await page.waitForSelector("svg.curve");
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.title(), "sojourn");
  assert.ok(!(await page.textContent("main")).match(/[\u0007\u202e]/));
  await close();
});

test("a profile that is dropped is shown, with a trace and without, and a trace stays a trace", async () => {
  const { page, close } = await open(bare);
  await drop(page, "m.json", JSON.stringify(machine));
  await page.waitForSelector("svg.curve");
  assert.match(page.url(), /view=machine/);
  await drop(page, "noise.txt", "neither the one nor the other");
  assert.equal(await refusal(page, "noise.txt"), "noise.txt: this is no JSON");
  await page.click("[data-view=events]");
  await settled(page);
  assert.match(await page.textContent("main h2"), /^\d+ events$/);
  await close();

  const html = path.join(directory, "empty.html");
  sojourn("page", "-o", html);
  const empty = await open(html);
  await drop(empty.page, "m.json", JSON.stringify(machine));
  await empty.page.waitForSelector("svg.curve");
  await empty.page.click("#machine-back");
  assert.match(await empty.page.textContent("#machine-of"), /^No trace is open/);
  await empty.page.click("[data-view=overview]");
  await empty.page.setInputFiles("input[type=file]", path.join(directory, "bare.sjt"));
  await empty.page.waitForSelector("#verdict");
  await empty.close();
});

test("accessibility: axe finds nothing serious in the view of the machine, light or dark", async () => {
  for (const scheme of ["light", "dark"]) {
    const { page, close } = await open(bare, { hash: "view=machine", scheme });
    await page.setInputFiles(".machine input[type=file]", recorded);
    await page.waitForSelector("svg.curve");
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes[0].html]), []);
    await shoot(page, `machine-file-${scheme}`);
    await close();
  }
});
