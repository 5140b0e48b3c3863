// Drives Chromium through the page's view of two traces, and compares it with `sojourn diff --json`
// of the same traces. Usage and environment: as page_test.mjs.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";

import { cells, count, directory, duration, endBrowser, json, jsonLines, open, openTables, settled, share, shoot, showsTheFirstScreen, sojourn, startBrowser,
         until } from "./page_driver.mjs";

const { SOJOURN, MAKE_TRACE } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const base = path.join(directory, "old.sjt");
const now = path.join(directory, "new build.sjt");
const both = path.join(directory, "both.html");

before(async () => {
  execFileSync(MAKE_TRACE, [base, "60000", "12"]);
  execFileSync(MAKE_TRACE, [now, "60000", "9", "11000"]);
  sojourn("diff", base, "--against", now, "--html", both);
  await startBrowser();
});
after(endBrowser);

const us = (value) => duration(1000 * value);
const shiftOf = (each, of) => each.shifts.find((shift) => shift.of === of);

function changeOf(shift, unit, figure) {
  const by = shift[`by${unit}`], from = shift[`base${unit}`], low = shift[`low${unit}`], high = shift[`high${unit}`];
  const none = Number.parseFloat(figure(Math.abs(by))) === 0;
  const sign = none ? "" : by < 0 ? "-" : "+";
  const part = none || from === 0 ? "" : ` (${sign}${(100 * Math.abs(by / from)).toFixed(1)} %)`;
  return `${sign}${figure(Math.abs(by))}${part} ±${low === undefined ? "?" : figure((high - low) / 2)}`;
}

// Every figure of the view is one of `diff --json`.
async function showsTheDifference(page, files, ...filter) {
  const told = json("diff", files[0], "--against", files[1], ...filter);
  assert.ok(told.times.length > 3);
  const shares = (each) => {
    if (each.name === "latency") return ["", ""];
    const whole = told.times.find(({ dir, name }) => dir === each.dir && name === "latency");
    return [["base_us", 0], ["new_us", 1]].map(([figure, i]) => (shiftOf(each, "mean") && shiftOf(whole, "mean")
        ? share(each.count[i] * shiftOf(each, "mean")[figure] / (whole.count[i] * shiftOf(whole, "mean")[figure])) : ""));
  };
  const wanted = told.times.map((each) => [
    `${each.dir} ${each.name}`,
    each.count[0] === 0 ? "only in new" : each.count[1] === 0 ? "only in base"
        : each.p === null ? each.verdict : `${each.verdict} (p ${each.adjusted_p < 1e-9 ? "< 1e-9" : Number(each.adjusted_p.toPrecision(2))})`,
    ...shares(each),
    ...["p50", "p99", "mean"].flatMap((of) => {
      const shift = shiftOf(each, of);
      return shift ? [us(shift.base_us), us(shift.new_us), changeOf(shift, "_us", us)] : ["", "", ""];
    }),
    each.slowdown === undefined ? "" : each.slowdown.toFixed(2),
  ]);
  assert.deepEqual(await cells(page, ".changes"), wanted);
  const depths = told.depths.filter(({ shifts }) => shifts.length > 0).map((each) => {
    const mean = shiftOf(each, "mean");
    return [`${each.dir} ${each.name}`, mean.base.toFixed(2), mean.new.toFixed(2), changeOf(mean, "", (value) => value.toFixed(2))];
  });
  assert.deepEqual(await cells(page, ".depths"), depths);
  const runs = (await cells(page, ".runs")).map((row) => [row[0], row[1], row[2], row[4], row[5]]);
  assert.deepEqual(runs, ["base", "new"].map((which, i) => {
    const [run] = told[which];
    return [which, path.basename(files[i]), run.target, duration(1e9 * run.duration_s), count(run.events)];
  }));
  const edges = [...told.flow.appeared.map((edge) => `appeared: ${edge}`), ...told.flow.vanished.map((edge) => `vanished: ${edge}`)];
  assert.deepEqual(await page.$$eval(".edges li", (items) => items.map((item) => item.textContent)), edges);
  const latencies = told.times.filter(({ name }) => name === "latency");
  const sentence = await page.textContent("#difference");
  for (const each of latencies) {
    assert.ok(sentence.includes(`half of the packets took ${us(shiftOf(each, "p50").base_us)} or less, in the new trace ${us(shiftOf(each, "p50").new_us)}`), sentence);
    assert.ok((await page.textContent(".compare")).includes(`${each.dir}: ${count(each.count[0])} and ${count(each.count[1])} packets, which say as much as ` +
        `${count(Math.floor(each.effective[0]))} and ${count(Math.floor(each.effective[1]))} independent ones.`));
  }
  return told;
}

test("a page of two traces says what diff says, of all packets and of some", async () => {
  const { page, close } = await open(both);
  const all = await showsTheDifference(page, [base, now]);
  assert.ok(all.depths.some(({ shifts }) => shifts.length > 0));
  assert.equal(await page.locator(".pair canvas").count(), 4);
  await shoot(page, "compare-light");
  const where = "segments < 9 && dir == D";
  await page.fill("#where", where);
  await page.press("#where", "Enter");
  await settled(page);
  const some = await showsTheDifference(page, [base, now], "--where", where);
  assert.ok(some.times.every(({ dir }) => dir === "D"));
  await close();
});

test("distributions of both are laid over each other, with the percentiles of each", async () => {
  const { page, close } = await open(both);
  const figure = page.locator("figure", { hasText: "longer than a time, in both" });
  await openTables(figure);
  const rows = await figure.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const wanted = ["D", "U"].flatMap((dir) => [["base", base], ["new", now]].map(([side, file]) => {
    const { complete, latency_us: of } = json("report", file).journeys[dir];
    return [`${dir} ${side}`, String(complete), us(of.p50), us(of.p90), us(of.p99), us(of.p999)];
  }));
  assert.deepEqual(rows.map((row) => row.slice(0, 6)), wanted);
  await page.selectOption("#option-curve", "cdf");
  await settled(page);
  assert.equal(await page.locator("figure", { hasText: "took at most a time, in both" }).count(), 1);
  await close();
});

test("both heat maps have one scale", async () => {
  const { page, close } = await open(both);
  await openTables(page.locator(".pair"));
  const heads = await page.$$eval(".pair details thead", (all) => all.map((head) => head.textContent));
  assert.equal(heads.length, 4);
  assert.equal(heads[0], heads[1]);
  assert.equal(heads[2], heads[3]);
  const firsts = await page.$$eval(".pair details", (all) => all.map((table) => [...table.querySelectorAll("tbody tr")].map((row) => row.firstChild.textContent).join()));
  assert.equal(firsts[0], firsts[1]);
  await close();
});

test("either trace can be looked at in all other views, and a link says which", async () => {
  const { page, close } = await open(both);
  assert.equal(await page.textContent(".sides [data-side='1']"), "new: new build.sjt");
  await page.click(".sides [data-side='1']");
  await page.click("[data-view=overview]");
  await settled(page);
  await showsTheFirstScreen(page, now);
  const [worst] = json("explain", now, "--worst", "1").worst;
  await page.click(".slowest button");
  await page.waitForSelector("dialog[open] svg.waterfall");
  assert.equal(await page.textContent("#why"), `${duration(worst.latency_ns)}: ${worst.why}`);
  await page.keyboard.press("Escape");
  for (const view of ["packets", "distribution", "arrivals", "queues", "causes", "flow", "timeline", "events"]) {
    await page.click(`[data-view=${view}]`);
    await settled(page);
  }
  assert.deepEqual((await cells(page, "main")).map((row) => row[2]), jsonLines("events", now, "--limit", "1000").map(({ point }) => point));
  const link = page.url();
  assert.match(link, /side=new/);
  await page.click(".sides [data-side='0']");
  await page.click("[data-view=overview]");
  await settled(page);
  await showsTheFirstScreen(page, base);
  await close();
  const again = await open(both, { hash: "side=new" });
  await showsTheFirstScreen(again.page, now);
  await again.close();
});

async function choose(page, button, file) {
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.click(button)]);
  await chooser.setFiles(file);
}

test("a second trace can be chosen, or dropped with Shift held, and one that is none leaves the page", async () => {
  const html = path.join(directory, "one.html");
  sojourn("report", base, "--html", html);
  const { page, close } = await open(html);
  const garbage = path.join(directory, "garbage.sjt");
  fs.writeFileSync(garbage, "this is no trace\n".repeat(100));
  await choose(page, "#compare-with", garbage);
  await until(page, () => document.querySelector("#refused").textContent !== "");
  await settled(page);
  await showsTheFirstScreen(page, base);
  assert.equal(await page.locator(".sides").isVisible(), false);
  await page.click("[data-view=compare]");
  await settled(page);
  await choose(page, "#second-file", now);
  await page.waitForSelector("#difference");
  await settled(page);
  await showsTheDifference(page, [base, now]);
  await choose(page, "#compare-with", base);
  await until(page, () => document.querySelector(".runs")?.textContent.match(/old\.sjt/g)?.length === 2);
  await settled(page);
  await page.keyboard.press("1");
  await settled(page);
  const bytes = fs.readFileSync(base).toString("base64");
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], "old.sjt"));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, shiftKey: true, bubbles: true, cancelable: true }));
  }, bytes);
  await until(page, () => document.querySelector(".runs")?.textContent.match(/old\.sjt/g)?.length === 2);
  await settled(page);
  const same = await showsTheDifference(page, [base, base]);
  assert.ok(same.times.every(({ shifts }) => shifts.every(({ by_us: by }) => by === 0)));
  await close();
});

test("two traces that are dropped together onto the page without one are compared", async () => {
  const html = path.join(directory, "empty.html");
  sojourn("page", "-o", html);
  const { page, close } = await open(html);
  await page.keyboard.press("c");
  await settled(page);
  const files = [base, now].map((file) => [path.basename(file), fs.readFileSync(file).toString("base64")]);
  await page.evaluate((all) => {
    const data = new DataTransfer();
    for (const [name, text] of all) data.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files);
  await page.waitForSelector("#difference");
  await settled(page);
  await showsTheDifference(page, [base, now]);
  await close();
});

test("diff --html takes one trace of each side and no other option", () => {
  const refused = (...args) => spawnSync(SOJOURN, ["diff", ...args, "--html", path.join(directory, "no.html")], { encoding: "utf8" });
  for (const [args, words] of [
    [[base, base, "--against", now], "--html is a page of two traces: one of each side"],
    [[base, "--json", "--against", now], "no other option"],
    [[base, "--where", "dir == D", "--against", now], "no other option"],
    [[base, "--causes", "--against", now], "no other option"],
    [[base, "--unit", "run", "--against", now], "no other option"],
    [[base, "--fail-on", "p99(D) > +5%", "--against", now], "no other option"],
  ]) {
    const { status, stderr } = refused(...args);
    assert.equal(status, 2, stderr);
    assert.ok(stderr.replace(/\s+/g, " ").includes(words), stderr);
  }
  const { status, stderr } = refused(base, "--against", path.join(directory, "nobody.sjt"));
  assert.equal(status, 1, stderr);
  assert.ok(!fs.existsSync(path.join(directory, "no.html")));
});

test("accessibility: axe finds nothing serious in the view of two traces, light or dark", async () => {
  for (const scheme of ["light", "dark"]) {
    const { page, close } = await open(both, { scheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes[0].html]), [], scheme);
    await shoot(page, `compare-${scheme}`);
    await close();
  }
});
