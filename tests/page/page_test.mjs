// Drives Chromium through the report page, and holds what it shows against the command line's JSON.
// Usage: node --test page_test.mjs, with SOJOURN (the program), MAKE_TRACE, UNITS (web/units.ts
// bundled for Node) and SCREENSHOTS (a directory, may be empty) in the environment.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

const { SOJOURN, MAKE_TRACE, UNITS, SCREENSHOTS } = process.env;
const { count, duration, share } = await import(pathToFileURL(UNITS));
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const directory = fs.mkdtempSync(path.join(os.tmpdir(), "sojourn-page-"));
const trace = path.join(directory, "run.sjt");
let browser;
const sojourn = (...args) => execFileSync(SOJOURN, args, { maxBuffer: 1 << 28, encoding: "utf8" });
const json = (...args) => JSON.parse(sojourn(...args, "--json"));

before(async () => {
  execFileSync(MAKE_TRACE, [trace, "60000", "12"]);
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(async () => {
  await browser?.close();
  fs.rmSync(directory, { recursive: true });
});

function pageOf(file, name = "run.html") {
  const html = path.join(directory, name);
  sojourn("report", file, "--html", html);
  return html;
}

// Opens a page, and fails the test for each error on its console and each request that is not for
// itself.
async function open(html, { hash = "", scheme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 }, colorScheme: scheme });
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|blob|data):/.test(request.url())) wrong.push(`asked for ${request.url()}`);
  });
  await page.goto(pathToFileURL(html) + (hash && `#${hash}`));
  await settled(page);
  return { page, async close() {
    assert.deepEqual(wrong, []);
    await page.close();
  } };
}

// Asks again and again from here: the page's policy lets nothing in it evaluate text later on.
async function until(page, holds) {
  const end = Date.now() + 60_000;
  while (!(await page.evaluate(holds))) {
    assert.ok(Date.now() < end, `never: ${holds}`);
    await page.waitForTimeout(30);
  }
}

const settled = (page) => until(page, () => {
  const main = document.querySelector("main");
  return main && main.childElementCount > 0 && !main.hasAttribute("aria-busy");
});

const shoot = async (page, name) => {
  if (SCREENSHOTS) await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) });
};

// The cells of the rows of a table, as texts.
const cells = (page, selector) => page.$$eval(`${selector} tbody tr`, (rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent)));

test("the first screen says what report and explain say", async () => {
  const { page, close } = await open(pageOf(trace));
  const report = json("report", trace);
  const explained = json("explain", trace);
  const verdict = await page.textContent("#verdict");
  for (const [dir, name] of [["D", "Downlink"], ["U", "Uplink"]]) {
    const { complete, latency_us: latency } = report.journeys[dir];
    assert.ok(verdict.includes(`${name}: half of ${count(complete)} packets took ${duration(1000 * latency.p50)} or less, ` +
        `the slowest 1 % more than ${duration(1000 * latency.p99)}.`), verdict);
  }
  const health = await page.$$eval(".health li", (items) => items.map((item) => item.textContent));
  assert.ok(health.includes(`${count(report.events)} events`));
  assert.ok(health.includes(`${count(report.lost)} lost`));
  const hops = await cells(page, ".bars");
  let compared = 0;
  for (const dir of ["D", "U"]) {
    const places = report.queues.filter((place) => place.dir === dir && place.decisive_us > 0);
    const all = places.reduce((sum, place) => sum + place.decisive_us, 0);
    for (const place of places) {
      const hop = report.hops.find((one) => one.dir === dir && one.at === place.name);
      const wanted = [place.name, share(place.decisive_us / all), "", ...["p50", "p99", "max"].map((key) => duration(1000 * hop.latency_us[key]))];
      assert.ok(hops.some((row) => row.join("|") === wanted.join("|")), wanted.join(" "));
      ++compared;
    }
  }
  assert.ok(compared >= 6);
  const slowest = await page.$$eval(".slowest li", (items) => items.map((item) => item.querySelector(".why").textContent));
  assert.deepEqual(slowest, explained.worst.map(({ why }) => why));
  await shoot(page, "overview-light");
  await close();
});

test("the slowest packet and its reason are two clicks away", async () => {
  const { page, close } = await open(pageOf(trace));
  const [worst] = json("explain", trace, "--worst", "1").worst;
  await page.click(".slowest button");
  await page.waitForSelector("dialog[open] svg.waterfall");
  assert.equal(await page.textContent("#why"), `${duration(worst.latency_ns)}: ${worst.why}`);
  const bars = await page.$$eval("svg.waterfall .bar", (found) => found.length);
  const journey = JSON.parse(sojourn("journeys", trace, "--json", "--id", String(worst.id)));
  assert.equal(bars, journey.events.reduce((sum, event) => sum + event.parents.length, 0));
  assert.match(page.url(), new RegExp(`packet=${worst.id}`));
  await shoot(page, "packet-light");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog[open]", { state: "detached" });
  await close();
});

test("a dot of the heat map opens its packet", async () => {
  const { page, close } = await open(pageOf(trace));
  const canvas = page.locator("canvas").first();
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open] svg.waterfall");
  const [worst] = json("explain", trace, "--worst", "1", "--dir", "D").worst;
  assert.match(await page.textContent("#packet-title"), new RegExp(`^Journey ${worst.id}:`));
  await close();
});

async function dragOverHeatMap(page, [x1, y1], [x2, y2]) {
  const box = await page.locator("canvas").first().boundingBox();
  await page.mouse.move(box.x + x1, box.y + y1);
  await page.mouse.down();
  await page.mouse.move(box.x + x2, box.y + y2, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector(".differences p");
}

// The box in the page's address as the filter language has it.
async function boxFilter(page) {
  const [dir, ...sides] = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("box").split(",");
  const [from, to, low, high] = sides.map((ns) => `${ns}ns`);
  return `dir == ${dir} && time in ${from}..${to} && latency in ${low}..${high}`;
}

test("a box over the heat map says what is different in there, as why-slow does", async () => {
  const filter = "segments < 9";
  const { page, close } = await open(pageOf(trace), { hash: `where=${encodeURIComponent(filter)}` });
  await dragOverHeatMap(page, [80, 12], [1300, 130]);
  const told = json("why-slow", trace, "--where", filter, "--slow", await boxFilter(page)).D;
  assert.ok((await page.textContent(".differences p")).startsWith(`${count(told.slow)} of ${count(told.packets)} downlink packets are in the box.`));
  const rows = await cells(page, ".traits");
  assert.ok(told.traits.length > 0);
  assert.deepEqual(rows.map((row) => [row[0], row[1], row[3], row[4], row[5]]), told.traits.map((trait) => [
    Object.entries(trait.what).map(([name, value]) => `${name} ${value}`).join(" and ") + (trait.alike ? ` (${trait.alike} alike)` : ""),
    share(trait.support), share(trait.risk),
    trait.risk_ratio === null ? "only these" : trait.risk_ratio.toFixed(1), trait.p === null ? "?" : trait.p.toFixed(3)]));
  await shoot(page, "differences-light");

  // Each row's filter finds the packets that the row counts.
  const sayable = told.traits.filter(({ where }) => where !== null);
  assert.ok(sayable.length > 0);
  for (const { where, packets } of sayable)
    assert.equal(json("report", trace, "--where", `dir == D && ${filter} && (${where})`).journeys.D.complete, packets, where);
  const first = sayable[0];
  await page.click(".traits button");
  await until(page, () => document.querySelector("#where").value.includes("&&"));
  await settled(page);
  assert.equal(await page.inputValue("#where"), `(${filter}) && ${first.where}`);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".differences", { state: "detached" });
  await close();
});

test("the box is a filter that the command line takes", async () => {
  const { page, close } = await open(pageOf(trace));
  await dragOverHeatMap(page, [300, 20], [700, 180]);
  await page.click("#only-box");
  await until(page, () => document.querySelector("#where").value !== "");
  await settled(page);
  const where = await page.inputValue("#where");
  const { journeys } = json("report", trace, "--where", where);
  const all = Object.values(journeys).reduce((sum, direction) => sum + direction.count, 0);
  assert.ok(all > 0, where);
  await page.click("[data-view=packets]");
  await settled(page);
  assert.equal(await page.textContent("main h2"), `Packets (${count(all)})`);
  await close();
});

test("every view shows the command line's figures for the same filter", async () => {
  const where = "dir == D && segments > 1";
  const hash = (view) => `where=${encodeURIComponent(where)}&view=${view}`;
  const html = pageOf(trace);

  const packets = await open(html, { hash: hash("packets") });
  const journeys = sojourn("journeys", trace, "--json", "--where", where).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(await packets.page.textContent("main h2"), `Packets (${count(journeys.length)})`);
  const slowest = journeys.filter((one) => one.complete).sort((a, b) => b.latency_ns - a.latency_ns || a.id - b.id)[0];
  const [first] = await cells(packets.page, ".packets");
  assert.equal(first[3], duration(slowest.latency_ns));
  await shoot(packets.page, "packets-light");
  await packets.close();

  const causes = await open(html, { hash: hash("causes") });
  const explained = json("explain", trace, "--where", where);
  const rows = await cells(causes.page, ".bars");
  assert.deepEqual(rows.map((row) => [row[0], row[1], row[4]]),
                   explained.causes.map((cause) => [cause.words, count(cause.packets), duration(cause.ns)]));
  await shoot(causes.page, "causes-light");
  await causes.close();

  const distribution = await open(html, { hash: hash("distribution") });
  await distribution.page.click("summary");
  await distribution.page.waitForSelector(".picture table");
  const percentiles = await cells(distribution.page, ".picture");
  const { latency_us: latency } = json("report", trace, "--where", where).journeys.D;
  for (const [name, key] of [["p50", "p50"], ["p90", "p90"], ["p99", "p99"], ["p99.9", "p999"]])
    assert.equal(percentiles.find((row) => row[0] === name)?.[1], duration(1000 * latency[key]), name);
  await shoot(distribution.page, "distribution-light");
  await distribution.close();

  const queues = await open(html, { hash: "view=queues" });
  const { places } = json("queues", trace);
  const shown = await cells(queues.page, ".bars");
  assert.deepEqual(shown.map((row) => [row[0], row[4], row[8]]), places.map((place) =>
      [`${place.dir} ${place.at}`, place.depth_known ? String(place.high_water.depth) : "unknown",
       place.wait_ns.count ? duration(place.wait_ns.p50) : ""]));
  await shoot(queues.page, "queues-light");
  await queues.close();

  const events = await open(html, { hash: `where=${encodeURIComponent("dir == U")}&view=events` });
  const lines = sojourn("events", trace, "--json", "--where", "dir == U", "--limit", "1000").trim().split("\n").map((line) => JSON.parse(line));
  const listed = await cells(events.page, "main");
  assert.deepEqual(listed.map((row) => row[2]), lines.map(({ point }) => point));
  await events.close();
});

test("a filter that is refused says why, and leaves the page as it is", async () => {
  const { page, close } = await open(pageOf(trace));
  const before = await page.textContent("#verdict");
  await page.fill("#where", "rnti === 5");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("#refused").textContent !== "");
  const refused = spawnSync(SOJOURN, ["report", trace, "--where", "rnti === 5"], { encoding: "utf8" });
  assert.notEqual(refused.status, 0);
  assert.ok(refused.stderr.includes((await page.textContent("#refused")).split("\n")[0]));
  assert.equal(await page.textContent("#verdict"), before);
  await close();
});

test("the page without a trace takes one that is chosen, and says what is wrong with one that is none", async () => {
  const html = path.join(directory, "empty.html");
  sojourn("page", "-o", html);
  const { page, close } = await open(html);
  const garbage = path.join(directory, "garbage.sjt");
  fs.writeFileSync(garbage, "this is no trace\n".repeat(100));
  await page.setInputFiles("input[type=file]", garbage);
  await until(page, () => document.querySelector("#refused").textContent !== "");
  await page.setInputFiles("input[type=file]", trace);
  await page.waitForSelector("#verdict");
  assert.match(await page.textContent("#verdict"), /^Downlink: half of/);
  assert.equal(await page.textContent("#refused"), "");
  await close();
});

test("a damaged trace is shown as far as it goes, and called damaged", async () => {
  const cut = path.join(directory, "cut.sjt");
  fs.copyFileSync(trace, cut);
  fs.truncateSync(cut, Math.floor(fs.statSync(trace).size * 0.6));
  const { page, close } = await open(pageOf(cut, "cut.html"));
  const report = json("report", cut);
  assert.equal(report.file.whole, false);
  assert.ok((await page.textContent(".health")).includes("damaged places"));
  assert.ok((await page.textContent("#verdict")).includes(count(report.journeys.D.complete)));
  await close();
});

test("a hostile name does nothing", async () => {
  const hostile = path.join(directory, `a"><img src=x onerror=document.title='taken'>.sjt`);
  fs.copyFileSync(trace, hostile);
  const { page, close } = await open(pageOf(hostile, "hostile.html"));
  assert.equal(await page.title(), "sojourn");
  assert.equal(await page.locator("img").count(), 0);
  await close();
});

test("accessibility: axe finds nothing serious, light or dark", async () => {
  const html = pageOf(trace);
  for (const scheme of ["light", "dark"])
    for (const view of ["overview", "packets", "distribution", "queues", "causes", "events", "overview&packet=0", "overview&box=D,0,900000000000,1000,900000000000"]) {
      const { page, close } = await open(html, { hash: `view=${view}`, scheme });
      if (view.includes("box")) await page.waitForSelector(".differences p");
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes[0].html]), [], `${view} ${scheme}`);
      await shoot(page, `${view.replace(/\W/g, "-")}-${scheme}`);
      await close();
    }
});
