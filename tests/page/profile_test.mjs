// Drives Chromium through the page's view of a profile, and holds it against `sojourn profile`.
// Usage and environment: as page_test.mjs, with MAKE_PROFILED_TRACE as well.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";

import { cells, count, directory, duration, endBrowser, json, open, pageOf, settled, share, shoot, sojourn, startBrowser, until } from "./page_driver.mjs";

const { MAKE_PROFILED_TRACE, MAKE_TRACE } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const trace = path.join(directory, "profiled.sjt");
let html;

before(async () => {
  execFileSync(MAKE_PROFILED_TRACE, [trace]);
  html = pageOf(trace, "profiled.html");
  await startBrowser();
});
after(endBrowser);

const nameOf = ({ function: name, kernel }) => (name ? `${name}${kernel ? " [k]" : ""}` : "(no stack)");

// Compares the table of functions with `profile --json` for the same work.
async function showsFunctions(page, told) {
  assert.ok(told.functions.length > 0);
  assert.deepEqual(await cells(page, ".hot"), told.functions.map((hot) => [
    nameOf(hot), duration(hot.self_ns), share(hot.self_ns / told.ns), "", duration(hot.total_ns), share(hot.total_ns / told.ns), hot.module]));
}

// The flame graph's table against the folded stacks, by samples.
async function showsStacks(page, ...args) {
  const totals = new Map();
  for (const line of sojourn("profile", trace, "--folded", ...args).trim().split("\n")) {
    const [, stack, samples] = /^(.*) (\d+)$/.exec(line);
    const functions = stack.split(";").slice(2);
    const names = functions.length === 0 ? ["(no stack)"] : functions.map((name) => (name.endsWith("_[k]") ? `${name.slice(0, -4)} [k]` : name));
    for (let depth = 1; depth <= names.length; ++depth) {
      const key = names.slice(0, depth).join(" > ");
      totals.set(key, (totals.get(key) ?? 0) + Number(samples));
    }
  }
  if (!(await page.locator(".flame details").getAttribute("open").then((value) => value !== null))) await page.click(".flame summary");
  await page.waitForSelector(".flame table");
  const shown = new Map((await cells(page, ".flame")).map((row) => [row[0].replaceAll(";", ":"), Number(row[3])]));
  assert.deepEqual([...shown].sort(), [...totals].sort());
}

test("a profile's functions, hops, threads and stacks are those of sojourn profile", async () => {
  const { page, close } = await open(html, { hash: "view=profile" });
  const told = json("profile", trace);
  assert.ok(told.samples > 80);
  assert.ok((await page.textContent("#profile-of")).startsWith(`${count(told.samples)} samples, one every ${duration(told.period_ns)} of a thread's CPU time: ` +
      `${duration(told.ns)}, ${share(told.kernel_ns / told.ns)} of it in the kernel.`));
  await showsFunctions(page, told);
  const hopOf = ({ dir, at }) => (at === null ? "between units" : `${dir} ${at}`);
  const row = (name, part) => [name, duration(part.ns), share(part.ns / told.ns), "", count(part.samples)];
  assert.deepEqual(await cells(page, ".hops"), told.hops.map((hop) => row(hopOf(hop), hop)));
  assert.deepEqual(await cells(page, ".threads"), told.threads.map((thread) => row(`${thread.name} (${thread.tid})`, thread)));
  assert.deepEqual(await cells(page, ".between"), told.between_units.map((part) =>
      [part.after || "(none)", part.before || "(none)", duration(part.ns), share(part.ns / told.ns), count(part.samples)]));
  await showsStacks(page);
  await shoot(page, "profile-light");
  for (const hop of told.hops) {
    await page.selectOption("#option-work", `hop ${hopOf(hop)}`);
    await settled(page);
    await showsFunctions(page, json("profile", trace, "--hop", hopOf(hop)));
    await showsStacks(page, "--hop", hopOf(hop));
  }
  for (const { tid } of told.threads) {
    await page.selectOption("#option-work", `thread ${tid}`);
    await settled(page);
    await showsFunctions(page, json("profile", trace, "--thread", String(tid)));
    await showsStacks(page, "--thread", String(tid));
  }
  await close();
});

test("a filter chooses samples, as with profile --where, and a link has the hop", async () => {
  const { page, close } = await open(html, { hash: "view=profile&work=hop+D+pdcp" });
  await showsFunctions(page, json("profile", trace, "--hop", "D pdcp"));
  const where = "time < 2ms && thread == 'dl-worker'";
  await page.fill("#where", where);
  await page.press("#where", "Enter");
  await settled(page);
  await showsFunctions(page, json("profile", trace, "--hop", "D pdcp", "--where", where));
  await page.fill("#where", "latency > 1ms");
  await page.press("#where", "Enter");
  await until(page, () => document.querySelector("#refused").textContent.includes("latency"));
  await close();
});

test("by keyboard one goes from function to function, shows one wide, and comes back", async () => {
  const { page, close } = await open(html, { hash: "view=profile" });
  const told = () => page.textContent(".flame .told");
  const all = await told();
  assert.match(all, /^all: /);
  await page.focus(".flame canvas");
  await page.keyboard.press("ArrowDown");
  assert.match(await told(), /^main: /);
  await page.keyboard.press("ArrowDown");
  const first = await told();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await told(), first);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await told(), first);
  await page.keyboard.press("Enter");
  await page.waitForTimeout(50);
  await shoot(page, "profile-wide-light");
  await page.keyboard.press("ArrowUp");
  assert.match(await told(), /^main: /);
  await page.keyboard.press("0");
  assert.equal(await told(), all);
  assert.equal(await page.inputValue("#where"), "");
  // The mouse shows the same for the box below it.
  const box = await page.locator(".flame canvas").boundingBox();
  await page.mouse.move(box.x + 20, box.y + 18 + 9);
  assert.match(await told(), /^main: /);
  assert.equal(await page.locator(".flame canvas").getAttribute("title"), await told());
  await close();
});

test("a trace without a profile says how to make one", async () => {
  const plain = path.join(directory, "plain.sjt");
  execFileSync(MAKE_TRACE, [plain, "2000", "3"]);
  const { page, close } = await open(pageOf(plain, "plain.html"), { hash: "view=profile" });
  assert.match(await page.textContent("#no-profile"), /`sojourn record --profile 999Hz` makes one/);
  await close();
});

test("accessibility: axe finds nothing serious in the profile, light or dark", async () => {
  for (const scheme of ["light", "dark"]) {
    const { page, close } = await open(html, { hash: "view=profile", scheme });
    assert.equal(await page.locator("main b, main i").count(), 0);  // names are text
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes[0].html]), [], scheme);
    await shoot(page, `profile-${scheme}`);
    await close();
  }
});
