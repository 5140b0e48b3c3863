// Drives Chromium through the report pages of traces that this test records itself: of the base
// station under test, and of osmo-bts from its distribution. A page's figures are those of the
// command line for the same trace. Usage and environment: as page_test.mjs, with BASESTATION (the
// program), MAPS (userspace/maps) and OSMO (the configurations in tests/live/osmo) besides. Needs
// root.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";

import { cells, count, directory, duration, endBrowser, json, jsonLines, open, pageOf, settled, shoot, showsGroups, showsTheFirstScreen,
         showsTheOtherViews, sojourn, startBrowser, until } from "./page_driver.mjs";

const { BASESTATION, MAPS, OSMO } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const kOsmo = ["/usr/bin/osmo-bts-virtual", "/usr/bin/osmo-bsc"];
const isRoot = process.getuid() === 0;
const children = [];

before(startBrowser);
after(async () => {
  for (const child of children) child.kill("SIGKILL");
  await endBrowser();
});

function start(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  children.push(child);
  child.text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (child.text += data));
  return child;
}

async function wait(holds, what) {
  for (const end = Date.now() + 120_000;;) {
    const found = holds();
    if (found) return found;
    assert.ok(Date.now() < end, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// Finds the process of that name among this one and its descendants.
function below(pid, name) {
  try {
    if (fs.readFileSync(`/proc/${pid}/comm`, "utf8") === `${name}\n`) return pid;
    for (const child of fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean)) {
      const found = below(Number(child), name);
      if (found) return found;
    }
  } catch {
    return undefined;  // it has ended
  }
  return undefined;
}

async function showsEverything(name, trace) {
  const { page, close } = await open(pageOf(trace, `${name}.html`));
  await showsTheFirstScreen(page, trace);
  await shoot(page, `${name}-overview-light`);
  await showsTheOtherViews(page, trace, "dir == D", "dir == D");
  await close();
  for (const by of ["direction", "path"]) {
    const shown = await open(pageOf(trace, `${name}.html`), { hash: `view=distribution&by=${by}` });
    await showsGroups(shown.page, trace, by, []);
    await shown.close();
  }
  await showsThePacket(name, trace);
  await showsTheChains(name, trace);
  await showsTheThreads(name, trace);
  await isAccessible(name, trace);
}

// The slowest packet: the reason, the events, and how its stays compare with others in their hops.
async function showsThePacket(name, trace) {
  const [worst] = json("explain", trace, "--worst", "1").worst;
  const { page, close } = await open(pageOf(trace, `${name}.html`), { hash: `packet=${worst.id}` });
  await page.waitForSelector("dialog[open] svg.waterfall");
  assert.equal(await page.textContent("#why"), `${duration(worst.latency_ns)}: ${worst.why}`);
  const journey = JSON.parse(sojourn("journeys", trace, "--json", "--id", String(worst.id)));
  assert.equal(await page.locator("svg.waterfall .bar:not(.other)").count(), journey.events.reduce((sum, event) => sum + event.parents.length, 0));
  await page.click("dialog[open] summary");
  const rows = await cells(page, "dialog[open] details");
  assert.deepEqual(rows.map((row) => row[4]), journey.events.map(({ point }) => point));
  // A stay that is longer than p99 of its hop is said to be so.
  const { hops } = json("report", trace);
  let compared = 0;
  journey.events.forEach((event, i) => {
    if (event.parents.length !== 1) return;
    const from = journey.events[event.parents[0]];
    const hop = hops.filter((one) => one.dir === journey.dir && one.at === event.src && one.from === from.src && one.to === event.dest);
    if (hop.length !== 1) return;
    const took = (event.t_ns - from.t_ns) / 1000, { p50, p99, max } = hop[0].latency_us;
    const rank = rows[i][3] === "max" ? 100 : Number(rows[i][3].slice(1));
    assert.ok(rows[i][3] !== "", event.point);
    if (took > p99) assert.ok(rank >= 99, `${event.point}: ${took} us of p99 ${p99}: ${rows[i][3]}`);
    if (took < p50) assert.ok(rank < 50, `${event.point}: ${took} us of p50 ${p50}: ${rows[i][3]}`);
    if (took === max) assert.equal(rows[i][3], "max");
    ++compared;
  });
  assert.ok(compared > 0);
  await shoot(page, `${name}-packet-light`);
  await page.keyboard.press("t");
  await page.waitForSelector("dialog[open] svg.waterfall.turned");
  await shoot(page, `${name}-packet-turned-light`);
  await close();
}

async function showsTheChains(name, trace) {
  const { page, close } = await open(pageOf(trace, `${name}.html`), { hash: "view=queues" });
  const { pressure } = json("queues", trace);
  assert.deepEqual((await cells(page, ".chains")).map((row) => [row[1].replace("\u2190 ", ""), row[3], row[4]]),
                   pressure.flat().map(({ queue, peak, begin_ns: begin, end_ns: end }) => [queue, count(peak), duration(end - begin)]));
  await shoot(page, `${name}-queues-light`);
  await close();
}

async function showsTheThreads(name, trace) {
  const { page, close } = await open(pageOf(trace, `${name}.html`), { hash: "view=timeline" });
  await page.locator("summary", { hasText: "as a table" }).click();
  await page.waitForSelector(".picture table");
  const events = jsonLines("events", trace, "--where", "dir == D || dir == U").length;
  const told = (await cells(page, ".picture")).reduce((sum, row) => sum + Number(row[1]), 0);
  assert.equal(told, events);
  await shoot(page, `${name}-timeline-light`);
  await close();
}

async function isAccessible(name, trace) {
  for (const scheme of ["light", "dark"])
    for (const view of ["overview", "queues", "timeline", "causes", "distribution"]) {
      const { page, close } = await open(pageOf(trace, `${name}.html`), { hash: `view=${view}`, scheme });
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes[0].html]), [], `${name} ${view} ${scheme}`);
      await shoot(page, `${name}-${view}-${scheme}`);
      await close();
    }
}

test("the base station under test: every view is what the command line says", { skip: !isRoot && "needs root" }, async () => {
  const station = start(BASESTATION, ["--duration", "60"]);
  await wait(() => fs.existsSync(`/proc/${station.pid}/maps`) && station.exitCode === null, "the base station runs");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const trace = path.join(directory, "station.sjt");
  sojourn("record", "-p", String(station.pid), "--context", "sched,irq", "--queues", "1ms", "--for", "1s", "-o", trace);
  station.kill("SIGINT");
  const report = json("report", trace);
  assert.ok(report.journeys.D.complete > 1000 && report.journeys.U.complete > 1000);
  await showsEverything("station", trace);

  // Replaced ids and names: the page says so, and the figures are the same.
  const html = path.join(directory, "redacted.html");
  sojourn("report", trace, "--html", html, "--redact");
  const { page, close } = await open(html);
  assert.match(await page.textContent("#redacted"), /^redacted/);
  await showsTheFirstScreenOf(page, report);
  assert.ok(!fs.readFileSync(html, "latin1").includes("station.sjt"));
  await close();
});

async function showsTheFirstScreenOf(page, report) {
  const verdict = await page.textContent("#verdict");
  for (const [dir, name] of [["D", "Downlink"], ["U", "Uplink"]])
    assert.ok(verdict.includes(`${name}: half of ${count(report.journeys[dir].complete)} packets took ${duration(1000 * report.journeys[dir].latency_us.p50)}`), verdict);
  await page.click("[data-view=packets]");
  await settled(page);
  await until(page, () => document.querySelectorAll(".packets tbody tr").length > 100);
}

test("osmo-bts: every view is what the command line says", {
  skip: (!isRoot && "needs root") || (!kOsmo.every((file) => fs.existsSync(file)) && "osmo-bts and osmo-bsc are not installed: .ci/packages test installs them"),
}, async () => {
  // In namespaces of their own, which go away with the outermost process.
  const started = 'cd "$1" && ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo || exit 1\n' +
      'osmo-bsc -c "$2/bsc.cfg" &\nexec osmo-bts-virtual -c "$2/bts.cfg"';
  const child = start("setpriv", ["--pdeathsig", "KILL", "unshare", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", started, "sh", directory, OSMO]);
  await wait(() => child.text.includes("bootstrapping RSL") || child.exitCode !== null, "osmo-bsc bootstraps the base station");
  assert.equal(child.exitCode, null, child.text);
  const pid = await wait(() => below(child.pid, "osmo-bts-virtua"), "osmo-bts runs");
  const trace = path.join(directory, "osmo.sjt");
  sojourn("record", "-p", String(pid), "--map", path.join(MAPS, "osmo-bts.toml"), "--budget", "none", "--context", "sched,irq", "--for", "4s", "-o", trace);
  child.kill("SIGKILL");
  const report = json("report", trace);
  assert.ok(report.journeys.D.complete > 5 && report.journeys.U.complete > 100);
  await showsEverything("osmo", trace);
});
