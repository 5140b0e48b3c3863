// What the tests of the report page share: the browser, and comparisons of what a page shows with the
// command line's JSON of the same trace.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

const { SOJOURN, UNITS, SCREENSHOTS } = process.env;
export const { count, duration, identifier, share } = await import(pathToFileURL(UNITS));

export const directory = fs.mkdtempSync(path.join(os.tmpdir(), "sojourn-page-"));
let browser;
export const sojourn = (...args) => execFileSync(SOJOURN, args, { maxBuffer: 1 << 28, encoding: "utf8" });
export const json = (...args) => JSON.parse(sojourn(...args, "--json"));
export const jsonLines = (...args) => sojourn(...args, "--json").trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));

export async function startBrowser() {
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
}
// How long something may take before it counts as hung: beside compilers a pass takes ten times as long.
export const patience = 240_000;
export async function newPage(options) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 }, ...options });
  page.setDefaultTimeout(patience);
  return page;
}
export async function endBrowser() {
  await browser?.close();
  fs.rmSync(directory, { recursive: true });
}

export function pageOf(file, name = "run.html") {
  const html = path.join(directory, name);
  sojourn("report", file, "--html", html);
  return html;
}

// Opens a page, and fails the test for each error on its console and each request that is not for
// itself.
// `prepare`: what runs in the page before its own script.
export async function open(html, { hash = "", scheme = "light", prepare } = {}) {
  const page = await newPage({ colorScheme: scheme });
  if (prepare) await page.addInitScript(prepare);
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
export async function until(page, holds, argument) {
  const end = Date.now() + patience;
  while (!(await page.evaluate(holds, argument))) {
    assert.ok(Date.now() < end, `never: ${holds}`);
    await page.waitForTimeout(30);
  }
}

export const settled = (page) => until(page, () => {
  const main = document.querySelector("main");
  return main && main.childElementCount > 0 && !main.hasAttribute("aria-busy");
});

export const shoot = async (page, name) => {
  if (SCREENSHOTS) await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) });
};

// The cells of the rows of a table, as texts.
export const cells = (page, selector) => page.$$eval(`${selector} tbody tr`, (rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent)));

// Opens the tables below pictures. A picture makes its table only when the browser says that it was
// opened, which is later than the click.
export async function openTables(pictures) {
  for (const details of await pictures.locator("details").all()) {
    await details.locator("summary").click();
    await details.locator("table").waitFor();
  }
}

async function go(page, view) {
  await page.click(`[data-view=${view}]`);
  await settled(page);
}

export async function showsTheFirstScreen(page, file) {
  const report = json("report", file);
  const explained = json("explain", file);
  const verdict = await page.textContent("#verdict");
  for (const [dir, name] of [["D", "Downlink"], ["U", "Uplink"]]) {
    const { complete, latency_us: latency } = report.journeys[dir];
    if (complete === 1) assert.ok(verdict.includes(`${name}: 1 packet took ${duration(1000 * latency.p50)}.`), verdict);
    if (complete > 1)
      assert.ok(verdict.includes(`${name}: half of ${count(complete)} packets took ${duration(1000 * latency.p50)} or less, ` +
          `the slowest 1 % more than ${duration(1000 * latency.p99)}.`), verdict);
  }
  assert.ok((await page.textContent(".subject")).endsWith(`, ${count(report.events)} events`));
  const kinds = new Map();
  for (const { dir, cause, packets } of explained.causes) kinds.set(`${dir} ${cause}`, (kinds.get(`${dir} ${cause}`) ?? 0) + packets);
  const largest = Math.max(0, ...kinds.values());
  if (largest > 0) assert.ok(verdict.includes(`Commonest cause of lateness (${share(largest / explained.late)} of the late ones): `), verdict);
  const health = await page.$$eval(".health li", (items) => items.map((item) => item.textContent));
  const sum = (key) => Object.values(report.journeys).reduce((all, direction) => all + direction[key], 0);
  // An import and a damaged file do not say what was lost: nor does the first line of the report.
  const [losses] = /none lost|[\d,]+ lost|losses unknown/.exec(sojourn("report", file));
  assert.ok(health.includes(losses.replace("none", "0")), `${losses}: ${health}`);
  const cost = report.tracing?.share ?? null;
  assert.ok(health.includes(cost === null ? "cost unknown" : `${share(cost)} of the target's CPU was tracing`), health);
  const off = new Set((report.tracing?.shed ?? []).map(({ point }) => point)).size;
  assert.equal(health.filter((words) => words.startsWith(`${count(off)} point`) && words.includes(" off for up to ")).length, off > 0 ? 1 : 0);
  const unplaced = (report.unplaced ?? []).length;
  assert.equal(health.filter((words) => words.startsWith(`${count(unplaced)} point`) && words.endsWith(" of the map not placed")).length, unplaced > 0 ? 1 : 0);
  for (const [words, figure] of [["events", report.events], ["dropped", sum("dropped")], ["censored", sum("censored")],
                                 ["incomplete", sum("incomplete")], ["ambiguous", sum("ambiguous")]])
    assert.ok(health.includes(`${count(figure)} ${words}`), `${figure} ${words}: ${health}`);
  assert.ok(health.includes(report.file.whole ? "whole file" : `${count(report.file.damaged_places)} damaged places`));
  const hops = (await cells(page, ".bars")).map((row) => row.join("|"));
  const wanted = ["D", "U"].flatMap((dir) => {
    const places = report.queues.filter((place) => place.dir === dir && place.decisive_us > 0);
    const all = places.reduce((total, place) => total + place.decisive_us, 0);
    const late = explained.causes.filter((cause) => cause.dir === dir);
    const lateNs = (of) => of.reduce((total, cause) => total + cause.ns, 0);
    return places.map((place) => {
      const part = late.length > 0 ? share(lateNs(late.filter(({ at }) => at === place.name)) / lateNs(late)) : "";
      return [place.name, share(place.decisive_us / all), "", part, "", ...["p50", "p99", "max"].map((key) => place.stay_us ? duration(1000 * place.stay_us[key]) : "")].join("|");
    });
  });
  assert.deepEqual(hops, wanted);
  assert.ok(wanted.length > 0);
  const slowest = await page.$$eval(".slowest li", (items) => items.map((item) => item.querySelector(".why").textContent));
  assert.deepEqual(slowest, explained.worst.map(({ why }) => why));
}

// Of the packets that `where` selects; of the events that `ofEvents` selects.
export async function showsTheOtherViews(page, file, where = "", ofEvents = "") {
  const filter = where ? ["--where", where] : [];
  const eventFilter = ofEvents ? ["--where", ofEvents] : [];
  const type = async (text) => {
    await page.fill("#where", text);
    await page.press("#where", "Enter");
    await settled(page);
  };
  await go(page, "packets");
  await type(where);
  const journeys = jsonLines("journeys", file, ...filter);
  assert.equal(await page.textContent("main h2"), `Packets (${count(journeys.length)})`);
  const slowest = journeys.filter((one) => one.complete).sort((a, b) => b.latency_ns - a.latency_ns || a.id - b.id)[0];
  const [first] = await cells(page, ".packets");
  assert.equal(first[6], duration(slowest.latency_ns));
  await showsIds(page, journeys);

  await go(page, "causes");
  const explained = json("explain", file, ...filter);
  await showsCauses(page, explained);

  await go(page, "distribution");
  await showsGroups(page, file, "direction", filter);

  await go(page, "flow");
  const { hops, queues } = json("report", file, ...filter);
  await openTables(page.locator("main"));
  assert.deepEqual((await cells(page, "details")).map((row) => row.join("|")), ["D", "U"].flatMap((dir) => {
    const mine = hops.filter((hop) => hop.dir === dir);
    return mine.some((hop) => hop.count > 0) ? mine.map((hop) => [hop.from, hop.at, hop.to, hop.count,
        duration(1000 * hop.latency_us.p50), duration(1000 * hop.latency_us.p99)].join("|")) : [];
  }));
  const drawn = await page.$$eval("svg.flow", (drawings) => drawings.map((drawing) => {
    const texts = (what) => [...drawing.querySelectorAll(what)].map((text) => text.textContent);
    const figures = texts(".figures");
    return [...drawing.querySelectorAll(".place")].map((text, at) => [text.dataset.place, figures[at]]);
  }));
  assert.deepEqual(await overlapsInFlow(page), []);
  const dirs = ["D", "U"].filter((dir) => hops.some((hop) => hop.dir === dir && hop.count > 0));
  assert.equal(drawn.length, dirs.length);
  for (const [at, dir] of dirs.entries())
    for (const [place, figures] of drawn[at]) {
      const stay = queues.find((one) => one.dir === dir && one.name === place)?.stay_us;
      assert.equal(figures, stay ? `${duration(1000 * stay.p50)}, p99 ${duration(1000 * stay.p99)}` : "");
    }

  await type(ofEvents);
  await go(page, "queues");
  const { places } = json("queues", file, ...eventFilter);
  assert.deepEqual((await cells(page, ".bars")).map((row) => [row[0], row[4], row[8]]), places.map((place) =>
      [`${place.dir} ${place.at}`, place.depth_known ? String(place.high_water.depth) : "unknown",
       place.wait_ns.count ? duration(place.wait_ns.p50) : ""]));
  assert.equal(await page.locator(".unknown-depths").count(), places.some((place) => !place.depth_known) ? 1 : 0);
  if (places.length > 0) {
    // The words of `queues`, for depths as for waits.
    const heads = await page.$$eval(".bars thead tr > *", (names) => names.map((name) => name.textContent));
    assert.deepEqual(heads.slice(1, 5), ["depth: mean", "p50", "p99", "max"]);
    assert.deepEqual(heads.slice(8, 11), ["wait: p50", "p99", "max"]);
  }

  await go(page, "events");
  const lines = jsonLines("events", file, ...eventFilter, "--limit", "1000");
  assert.deepEqual((await cells(page, "main")).map((row) => row[2]), lines.map(({ point }) => point));
}

// Numbers and places of the flow's drawings that cover one another, and texts that leave their boxes.
const overlapsInFlow = (page) => page.$$eval("svg.flow", (drawings) => drawings.flatMap((drawing) => {
  const boxed = (selector) => [...drawing.querySelectorAll(selector)].map((shape) => ({ words: shape.textContent, box: shape.getBBox() }));
  const inside = (box, x, y) => x >= box.x - 1 && x <= box.x + box.width + 1 && y >= box.y - 1 && y <= box.y + box.height + 1;
  const covers = ({ box: a }, { box: b }) => a.x + 1 < b.x + b.width && b.x + 1 < a.x + a.width && a.y + 1 < b.y + b.height && b.y + 1 < a.y + a.height;
  const nodes = boxed(".node"), backs = boxed(".behind"), amounts = boxed(".amount");
  const all = [...nodes, ...backs];
  const pairs = all.flatMap((one, at) => all.slice(at + 1).filter((other) => covers(one, other)).map((other) => `${one.words} covers ${other.words}`));
  const out = (texts, boxes) => texts.filter(({ box }, at) => {
    const around = boxes[at].box;
    return box.width > 0 && !(inside(around, box.x, box.y) && inside(around, box.x + box.width, box.y + box.height));
  }).map(({ words }) => `${words} leaves its box`);
  return [...pairs, ...out(boxed(".place"), nodes), ...out(boxed(".figures"), nodes), ...out(amounts, backs)];
}));

// The table has the main causes; what it does not have is named below it.
export async function showsCauses(page, { causes, missing, late }) {
  const main = causes.filter(({ packets }) => packets > 0), others = causes.filter(({ packets }) => packets === 0);
  assert.deepEqual((await cells(page, ".bars")).map((row) => [row[0], row[1], row[4]]),
                   main.map((cause) => [cause.words, count(cause.packets), duration(cause.ns)]));
  assert.deepEqual((await cells(page, ".smaller")).map((row) => row.slice(0, 2)), others.map((cause) => [cause.words, duration(cause.ns)]));
  if (late === 0) return;
  const named = (kind) => page.$$eval(`.looked .${kind}`, (spans) => spans.map((span) => span.dataset.cause));
  const absent = await named("absent"), unrecorded = await named("unrecorded");
  const found = [...new Set(causes.map(({ cause }) => cause))].filter((cause) => cause !== "unknown");
  assert.deepEqual([...found, ...absent, ...unrecorded].sort(),
                   ["again", "blocked", "cpu", "handover", "held", "interrupted", "order", "pieces", "queue", "slot", "work"]);
  const lacks = (what) => missing.some((one) => one.what === what);
  const needs = { sched: ["work", "cpu", "blocked", "handover", "held", "interrupted"], irq: ["interrupted"] };
  const hidden = Object.keys(needs).filter(lacks).flatMap((what) => needs[what]);
  assert.deepEqual(unrecorded.sort(), [...new Set(hidden)].filter((cause) => !found.includes(cause)).sort());
}

// The ids of the packets that are listed are those that `journeys` names them by.
export async function showsIds(page, journeys) {
  await until(page, () => document.querySelector(".packets:not([aria-busy])"));
  const byId = new Map(journeys.map((journey) => [String(journey.id), journey.known_ids ?? journey.ids]));
  const rows = await cells(page, ".packets");
  assert.ok(rows.length > 0);
  for (const [id, , ...texts] of rows) {
    const words = texts.slice(0, 3).join(" ").split(" ").filter(Boolean);
    const shown = {};
    for (let at = 0; at < words.length; at += 2) shown[words[at]] = words[at + 1] === "?" ? null : Number(words[at + 1]);
    const known = byId.get(id);
    if (Object.keys(known).some((name) => /^[a-z_]+$/.test(name))) assert.ok(words.length > 0, id);
    for (const [name, value] of Object.entries(shown)) assert.ok([known[name]].flat().includes(value), `${id}: ${name} ${value}`);
  }
}

export async function showsGroups(page, file, by, filter) {
  const groups = json("report", file, "--by", by, ...filter).groups.filter((group) => group.latency_us);
  const wanted = groups.map(({ dir, name, latency_us: of, count: packets }) =>
      [` ${dir} ${name}`, count(packets), ...["p50", "p90", "p99", "p999", "p9999", "p99999", "max"].map((key) => duration(1000 * of[key]))].join("|"));
  const shown = (await cells(page, ".groups")).map((row) => row.join("|"));
  assert.deepEqual(shown.sort(), wanted.sort());
  assert.ok(shown.length > 0);
}
