// Drives Chromium through pages of traces that are too large for them (--html-size): what they say of
// all packets is what the command line says of the whole trace, what they cannot say they refuse,
// and the trace itself makes them whole. Usage and environment: as page_test.mjs.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";

import { cells, count, directory, duration, endBrowser, json, jsonLines, newPage, open, openTables, settled, shoot, showsCauses, showsGroups, showsIds, showsTheFirstScreen,
         showsTheOtherViews, sojourn, startBrowser, until } from "./page_driver.mjs";

const { SOJOURN, MAKE_TRACE, MAKE_SCHEDULED_TRACE } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const trace = path.join(directory, "large.sjt");
const other = path.join(directory, "other.sjt");
const html = path.join(directory, "large.html");

before(async () => {
  // Jitter makes a trace of so few events larger than a page may be.
  execFileSync(MAKE_TRACE, [trace, "600000", "12", "6000", "DU", "8000"]);
  execFileSync(MAKE_TRACE, [other, "560000", "9", "7000", "DU", "8000"]);
  assert.ok(Math.min(fs.statSync(trace).size, fs.statSync(other).size) > 1_000_000);
  sojourn("report", trace, "--html", html, "--html-size", "1");
  await startBrowser();
});
after(endBrowser);

const go = async (page, view) => {
  await page.click(`[data-view=${view}]`);
  await settled(page);
};
const type = async (page, text) => {
  await page.fill("#where", text);
  await page.press("#where", "Enter");
  await settled(page);
};

// Files as the system gives them: too large to be passed as text.
async function drop(page, files, shiftKey = false) {
  await page.evaluate(() => {
    const input = document.createElement("input");
    Object.assign(input, { type: "file", multiple: true, id: "dropped" });
    document.body.append(input);
  });
  await page.setInputFiles("#dropped", files);
  await page.evaluate((isShift) => {
    const input = document.querySelector("#dropped");
    const data = new DataTransfer();
    for (const file of input.files) data.items.add(file);
    input.remove();
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, shiftKey: isShift, bubbles: true, cancelable: true }));
  }, shiftKey);
}

async function isWhole(page) {
  await until(page, () => document.querySelector("#inside").hidden);
  await settled(page);
}

test("a page of a trace that is too large has its figures, and is smaller", async () => {
  const empty = path.join(directory, "empty.html");
  sojourn("page", "-o", empty);
  assert.ok(fs.statSync(html).size - fs.statSync(empty).size < 1_500_000);
  const { page, close } = await open(html);
  await showsTheFirstScreen(page, trace);
  const told = await page.textContent("#inside");
  assert.ok(await page.isVisible("#inside"));
  assert.match(told, /^large\.sjt has \d[\d.]* MB: too much for one page\. Inside are its summary and the slowest packets of each direction \(\d+\)/);
  assert.match(told, /drop large\.sjt onto this page\.$/);
  await shoot(page, "summary-overview-light");
  await close();
});

test("the heat map's counts are those of all packets", async () => {
  const { page, close } = await open(html);
  const report = json("report", trace);
  for (const [i, dir] of ["D", "U"].filter((name) => report.journeys[name].complete > 0).entries()) {
    await openTables(page.locator("figure").nth(i));
    const rows = await cells(page, `figure:nth-of-type(${i + 1}) details`);
    const sum = rows.flatMap((row) => row.slice(1)).reduce((all, figure) => all + Number(figure), 0);
    assert.equal(sum, json("report", trace, "--by", "direction").groups.find((group) => group.dir === dir).count);
  }
  await close();
});

test("the slowest packets open with their reason, as in the whole trace", async () => {
  const { page, close } = await open(html);
  const { worst } = json("explain", trace);
  for (const number of [0, worst.length - 1]) {
    await page.locator(".slowest button").nth(number).click();
    await page.waitForSelector("dialog[open] svg.waterfall");
    assert.equal(await page.textContent("#why"), `${duration(worst[number].latency_ns)}: ${worst[number].why}`);
    const journey = JSON.parse(sojourn("journeys", trace, "--json", "--id", String(worst[number].id)));
    assert.equal(await page.$$eval("svg.waterfall .bar:not(.other)", (found) => found.length),
                 journey.events.reduce((sum, event) => sum + event.parents.length, 0));
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog[open]", { state: "detached" });
  }
  await page.locator("canvas").first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open] svg.waterfall");
  await close();
});

test("the views of all packets have the command line's figures", async () => {
  const { page, close } = await open(html);
  await go(page, "packets");
  const all = Object.values(json("report", trace).journeys).reduce((sum, { count: packets }) => sum + packets, 0);
  assert.equal(await page.textContent("main h2"), `Packets (${count(all)})`);
  assert.match(await page.textContent(".only"), /^The slowest of each direction are in this page: \d+\.$/);
  await showsIds(page, ["D", "U"].flatMap((dir) => jsonLines("journeys", trace, "--dir", dir, "--worst", "100")));
  await go(page, "causes");
  await showsCauses(page, json("explain", trace));
  await go(page, "distribution");
  for (const by of ["direction", "ue", "bearer", "path", "hop", "layer"]) {
    await page.selectOption("#option-by", by);
    await settled(page);
    await showsGroups(page, trace, by, []);
  }
  await shoot(page, "summary-distribution-light");
  await go(page, "flow");
  assert.ok((await page.$$("svg.flow .node")).length > 2);
  await go(page, "queues");
  const { places } = json("queues", trace);
  assert.deepEqual((await cells(page, ".bars")).map((row) => [row[0], row[4], row[8]]), places.map((place) =>
      [`${place.dir} ${place.at}`, place.depth_known ? String(place.high_water.depth) : "unknown",
       place.wait_ns.count ? duration(place.wait_ns.p50) : ""]));
  await go(page, "events");
  assert.deepEqual((await cells(page, "main")).map((row) => row[2]), jsonLines("events", trace, "--limit", "1000").map(({ point }) => point));
  await go(page, "machine");
  assert.equal(await page.locator(".drop").count(), 0);
  await close();
});

test("what needs the whole trace says so, and shows no other figures", async () => {
  const { page, close } = await open(html);
  await type(page, "rnti == 1");
  assert.match(await page.textContent("main"), /^A filter needs the whole trace, .* drop large\.sjt onto this page\.$/);
  assert.equal(await page.locator("#verdict").count(), 0);
  await go(page, "queues");
  assert.match(await page.textContent("main"), /^A filter needs the whole trace/);
  await type(page, "");
  assert.ok((await cells(page, ".bars")).length > 0);
  for (const [view, words] of [["arrivals", "The arrivals of all pieces"], ["timeline", "The time line"], ["compare", ""]]) {
    await go(page, view);
    assert.ok((await page.textContent("main")).startsWith(words), view);
  }
  await go(page, "overview");
  const box = await page.locator("canvas").first().boundingBox();
  await page.mouse.move(box.x + 80, box.y + 12);
  await page.mouse.down();
  await page.mouse.move(box.x + 700, box.y + 130, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector(".differences .failed");
  assert.match(await page.textContent(".differences .failed"), /^What is different in a box needs the whole trace/);
  await shoot(page, "summary-box-light");
  await close();

  const filtered = await open(html, { hash: "where=dir%20%3D%3D%20D" });
  assert.match(await filtered.page.textContent("main"), /^A filter needs the whole trace/);
  await filtered.close();

  const slowest = new Set(json("explain", trace, "--worst", "200").worst.map(({ id }) => id));
  let id = 1;
  while (slowest.has(id)) ++id;
  const link = await open(html, { hash: `packet=${id}` });
  await until(link.page, () => /^Packet [0-9]+ is not one of the slowest/.test(document.querySelector("#refused").textContent));
  await link.close();
});

test("the time line of a slow packet has the events around it", async () => {
  const [{ id }] = json("explain", trace, "--worst", "1").worst;
  const { page, close } = await open(html, { hash: `view=timeline&follow=${id}` });
  const journey = JSON.parse(sojourn("journeys", trace, "--json", "--id", String(id)));
  const times = journey.events.map(({ t_ns }) => t_ns);
  const rows = await cells(page, ".timeline .list");
  assert.ok(rows.length > journey.events.length);
  const { open_ns } = json("report", trace);
  // All events of the stretch that is shown, and no others.
  const room = Math.max((Math.max(...times) - Math.min(...times)) / 10, 100);
  const [from, to] = [Math.round(Math.min(...times) - open_ns - room), Math.round(Math.max(...times) - open_ns + room)];
  const wanted = jsonLines("events", trace, "--where", `time in ${Math.max(1, from)}ns..${to}ns`, "--limit", "200");
  assert.deepEqual(rows.map((row) => row[2]), wanted.map(({ point }) => point));
  // It does not go where there is nothing.
  await page.locator("main canvas").focus();
  for (let i = 0; i < 6; ++i) await page.keyboard.press("s");
  await page.waitForTimeout(300);
  assert.match(await page.textContent("main"), /This page has the events around the packet only\./);
  await shoot(page, "summary-timeline-light");
  await close();
});

test("the trace that is dropped onto the page makes it whole, and another one is said to be another", async () => {
  const { page, close } = await open(html, { hash: "where=dir%20%3D%3D%20D" });
  await drop(page, [other]);
  await until(page, () => document.querySelector("#refused").textContent !== "");
  assert.match(await page.textContent("#refused"), /^other\.sjt is another trace: .* events\. This page is of large\.sjt\. show other\.sjt instead$/);
  assert.ok(await page.isVisible("#inside"));
  await drop(page, [{ name: "noise.sjt", mimeType: "", buffer: Buffer.from("neither the one nor the other ".repeat(40)) }]);
  await until(page, () => !/another trace/.test(document.querySelector("#refused").textContent) && document.querySelector("#refused").textContent !== "");
  const copy = path.join(directory, "copy of it.sjt");
  fs.copyFileSync(trace, copy);
  await drop(page, [copy]);
  await isWhole(page);
  // The filter that was asked for is answered now.
  assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("where"), "dir == D");
  const d = json("report", trace, "--where", "dir == D").journeys.D;
  assert.ok((await page.textContent("#verdict")).includes(`half of ${count(d.complete)} packets took ${duration(1000 * d.latency_us.p50)} or less`));
  assert.equal(await page.textContent("#refused"), "");
  await type(page, "");
  await showsTheFirstScreen(page, trace);
  await showsTheOtherViews(page, trace, "rnti == 1", "rnti == 1");
  await close();
});

test("the whole trace can be chosen where it is missed, and another one shown instead", async () => {
  const { page, close } = await open(html, { hash: "view=arrivals" });
  await page.setInputFiles("#whole-file", trace);
  await isWhole(page);
  assert.ok((await page.$$("main canvas")).length > 0);
  await close();
  const again = await open(html);
  await drop(again.page, [other]);
  await again.page.click("#show-other");
  await isWhole(again.page);
  const words = `${count(json("report", other).journeys.D.complete)} packets`;
  await until(again.page, (shown) => document.querySelector("#verdict")?.textContent.includes(shown), words);
  await showsTheFirstScreen(again.page, other);
  await again.close();
});

test("a redacted page has redacted windows, and takes no trace", async () => {
  const redacted = path.join(directory, "redacted.html");
  sojourn("report", trace, "--html", redacted, "--html-size", "1", "--redact");
  const { page, close } = await open(redacted);
  const report = json("report", trace);
  const verdict = await page.textContent("#verdict");
  assert.ok(verdict.includes(`half of ${count(report.journeys.D.complete)} packets took ${duration(1000 * report.journeys.D.latency_us.p50)} or less`), verdict);
  assert.match(await page.textContent("#redacted"), /redacted/);
  assert.match(await page.textContent("#inside"), /^redacted\.sjt has .* redact the trace into a file \(sojourn export --to redacted\) and make the page of that/);
  // The windows are a trace of the redacted ids.
  const windows = path.join(directory, "windows.sjt");
  const [, inside] = /id="trace" data-name="redacted\.sjt" data-bytes="\d+" data-gone="">([^<]*)</.exec(fs.readFileSync(redacted, "latin1"));
  fs.writeFileSync(windows, Buffer.from(inside, "base64"));
  const rntis = (file) => [...new Set(jsonLines("events", file, "--limit", "20000").map(({ fields }) => fields.rnti).filter((rnti) => rnti !== undefined))].sort();
  assert.ok(rntis(windows).length > 0);
  assert.notDeepEqual(rntis(windows), rntis(trace));
  await drop(page, [trace]);
  await until(page, () => /is another trace/.test(document.querySelector("#refused").textContent));
  await close();
  // A trace that was redacted into a file is one as any other.
  const away = path.join(directory, "away.sjt");
  const page2 = path.join(directory, "away.html");
  sojourn("export", trace, "--to", "redacted", "-o", away);
  sojourn("report", away, "--html", page2, "--html-size", "1");
  const second = await open(page2);
  await showsTheFirstScreen(second.page, away);
  await drop(second.page, [away]);
  await isWhole(second.page);
  await showsTheFirstScreen(second.page, away);
  await second.close();
});

test("two traces that are too large together are summarised and compared", async () => {
  const both = path.join(directory, "both.html");
  sojourn("diff", trace, "--against", other, "--html", both, "--html-size", "1");
  const { page, close } = await open(both);
  const told = json("diff", trace, "--against", other);
  assert.equal((await cells(page, ".changes")).length, told.times.length);
  const p50 = (each, figure) => duration(1000 * each.shifts.find(({ of }) => of === "p50")[figure]);
  for (const each of told.times.filter(({ name }) => name === "latency"))
    assert.ok((await page.textContent("#difference")).includes(`half of the packets took ${p50(each, "base_us")} or less, in the new trace ${p50(each, "new_us")}`));
  await shoot(page, "summary-compare-light");
  await page.click("[data-side='1']");
  await go(page, "overview");
  await showsTheFirstScreen(page, other);
  await drop(page, [trace]);
  await until(page, () => /Drop both traces together/.test(document.querySelector("#refused").textContent));
  await drop(page, [other, trace]);
  await isWhole(page);
  await type(page, "rnti == 1");
  await go(page, "compare");
  assert.equal((await cells(page, ".changes")).length, json("diff", trace, "--against", other, "--where", "rnti == 1").times.length);
  await close();
});

test("axe finds nothing serious on a page of a summary, in both schemes", async () => {
  for (const scheme of ["light", "dark"]) {
    const page = await newPage({ colorScheme: scheme, bypassCSP: true });
    await page.goto(`file://${html}`);
    await settled(page);
    await shoot(page, `summary-overview-${scheme}`);
    for (const view of ["overview", "arrivals"]) {
      await go(page, view);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      assert.deepEqual(violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id}: ${nodes[0].html}`), []);
    }
    await page.close();
  }
});

test("a size that is none is wrong usage", () => {
  for (const size of ["0", "-1", "many", "1.5", "2000"]) {
    const { status, stderr } = spawnSync(SOJOURN, ["report", trace, "--html", path.join(directory, "no.html"), "--html-size", size], { encoding: "utf8" });
    assert.equal(status, 2, size);
    assert.ok(stderr.includes("--html-size"), stderr);
  }
  assert.ok(!fs.existsSync(path.join(directory, "no.html")));
});
