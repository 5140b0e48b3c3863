// Drives Chromium through a page that was made with a script: what the script dropped is not there,
// and what it added is in every view, with the figures of the command line.
// Usage and environment: as page_test.mjs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { cells, count, directory, duration, endBrowser, open, settled, shoot, sojourn, startBrowser } from "./page_driver.mjs";

const { MAKE_TRACE } = process.env;
const trace = path.join(directory, "scripted.sjt");
const script = path.join(directory, "made.lua");
const html = path.join(directory, "scripted.html");
const jsonOf = (command, ...more) => JSON.parse(sojourn(command, trace, "--json", "--script", script, ...more));

before(async () => {
  execFileSync(MAKE_TRACE, [trace, "20000", "12"]);
  const [{ src, dest }, second] = JSON.parse(sojourn("journeys", trace, "--json", "--dir", "D", "--limit", "1")).events;
  // A thread is busy from one event to its next one, but before a packet comes in.
  fs.writeFileSync(script, `filter(function(e) return e.dir ~= 'U' end)
local since, busy, big = {}, activity('busy', { 'size' }), marker('big')
column { name = 'kilo', role = 'property', points = 'D *', value = function(e) return (e.len or 0) // 1000 end }
on('D *', function(e)
  if since[e.tid] and e.point ~= '${src}--${dest}' then busy(since[e.tid], e.len or 0) end
  if e.point == '${second.point}' and (e.len or 0) > 700 then big() end
  since[e.tid] = e.t_ns
end)\n`);
  sojourn("report", trace, "--html", html, "--script", script);
  await startBrowser();
});
after(endBrowser);

test("the first screen says whose the events are, and what the script found", async () => {
  const { page, close } = await open(html);
  await settled(page);
  assert.equal(await page.textContent("#scripted"), "as made.lua has it");
  const { activities, markers, journeys } = jsonOf("report", "--raw");
  assert.ok(activities[0].count > 0 && markers[0].count > 0);
  assert.equal(journeys.U.count, 0);
  const { mean, p50, p90, p99, max } = activities[0].duration_us;
  assert.deepEqual(await cells(page, ".activities"), [["busy", count(activities[0].count), ...[mean, p50, p90, p99, max].map((us) => duration(1000 * us))]]);
  assert.deepEqual(await cells(page, ".markers"), [["big", count(markers[0].count)]]);
  await shoot(page, "scripted");
  await close();
});

test("a packet has lanes of what was made around it", async () => {
  const { page, close } = await open(html);
  await settled(page);
  await page.click(".slowest button");
  await page.waitForSelector("dialog[open] svg.waterfall");
  const id = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("packet");
  const { activities, markers, events } = jsonOf("journeys", "--id", id);
  assert.ok(activities.length > 0);
  assert.equal(await page.$$eval("svg.waterfall .bar.made", (found) => found.length), activities.length + markers.length);
  assert.equal(await page.$$eval("svg.waterfall .bar:not(.other):not(.made)", (found) => found.length),
               events.reduce((sum, event) => sum + event.parents.length, 0));
  const lanes = await page.$$eval("svg.waterfall .name", (found) => found.map((one) => one.textContent));
  assert.ok(lanes.includes("A busy"));
  const titles = await page.$$eval("svg.waterfall .bar.made title", (found) => found.map((one) => one.textContent));
  const { begin_ns: begin, end_ns: end, tid, fields } = activities[0];
  assert.ok(titles.includes(`busy for ${duration(end - begin)} by thread ${tid}\nsize ${fields.size}`), titles[0]);
  await shoot(page, "scripted-packet");
  await close();
});

test("the time line and the events have what was made", async () => {
  const { page, close } = await open(html, { hash: "view=timeline" });
  await page.waitForSelector(".timeline canvas");
  assert.match(await page.textContent(".timeline"), /A thin bar on top of a row is an activity of the script/);
  await close();
  const events = await open(html, { hash: `view=events&where=${encodeURIComponent("dir == A")}` });
  await events.page.waitForSelector("tbody tr");
  const shown = await events.page.$$eval("tbody tr", (rows) => rows.map((row) => [...row.children].slice(1, 3).map((cell) => cell.textContent)));
  const made = sojourn("events", trace, "--script", script, "--json", "--points", "A *", "--limit", String(shown.length)).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(shown, made.map(({ dir, point }) => [dir, point]));
  const columns = await open(html, { hash: `view=events&where=${encodeURIComponent("dir == D && kilo == 1")}` });
  await columns.page.waitForSelector("tbody tr");
  assert.match(await columns.page.textContent("tbody"), /kilo 1/);
  await columns.close();
  await events.close();
});
