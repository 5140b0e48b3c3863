// Measures one page, for the script page-speed beside it.
// Usage: node page_speed.mjs DIRECTORY_OF_PLAYWRIGHT PAGE.html TRACE, with SOJOURN in the environment.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [packages, html, trace] = process.argv.slice(2);
const { chromium } = createRequire(path.join(path.resolve(packages), "here.js"))("playwright-core");
const kTicks = 100;  // ticks a second, the unit of processor time in /proc

// Every process below this one.
function family() {
  const parents = new Map();
  for (const name of fs.readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const fields = fs.readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      parents.set(Number(name), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch {
      // It ended.
    }
  }
  const isBelow = (pid) => pid === process.pid || (parents.has(pid) && isBelow(parents.get(pid).parent));
  return [...parents].filter(([pid]) => pid !== process.pid && isBelow(pid)).map(([pid, { ticks }]) => ({ pid, ticks }));
}

const processorMs = () => family().reduce((sum, { ticks }) => sum + ticks, 0) * (1000 / kTicks);

function residentMb() {
  let kilobytes = 0;
  for (const { pid } of family()) {
    try {
      const status = fs.readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    } catch {
      // It ended.
    }
  }
  return kilobytes / 1000;
}

async function measured(what, work, of = 1) {
  const before = processorMs(), began = performance.now();
  await work();
  const wall = performance.now() - began;
  const taken = processorMs() - before;
  const each = of > 1 ? `, ${(taken / of).toFixed(1)} each of ${of}` : "";
  console.log(`  ${what.padEnd(44)} ${taken.toFixed(0).padStart(7)} (${wall.toFixed(0)})${each}`);
  return taken;
}

async function settled(page) {
  for (;;) {
    const isDone = await page.evaluate(() => {
      const main = document.querySelector("main");
      return main !== null && main.childElementCount > 0 && !main.hasAttribute("aria-busy");
    });
    if (isDone) return;
    await page.waitForTimeout(20);
  }
}

async function filter(page, text) {
  await page.fill("#where", text);
  await page.press("#where", "Enter");
  await settled(page);
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
await page.goto("about:blank");
const idle = residentMb();
await measured("first screen", async () => {
  await page.goto(pathToFileURL(path.resolve(html)).href);
  await settled(page);
});
console.log(`  ${"memory of the tab".padEnd(44)} ${(residentMb() - idle).toFixed(0).padStart(7)} MB more than an empty one`);
await measured("filter segments > 1, whole first screen", () => filter(page, "segments > 1"));
await measured("back to all, from memory", () => filter(page, ""));
const box = await page.locator("canvas").first().boundingBox();
const kMoves = 60;
await measured("drag a box, a frame a move", async () => {
  await page.mouse.move(box.x + 100, box.y + 20);
  await page.mouse.down();
  for (let i = 0; i < kMoves; ++i) await page.mouse.move(box.x + 100 + 8 * i, box.y + 20 + 2 * i);
}, kMoves);
await measured("what is different in the box", async () => {
  await page.mouse.up();
  await page.waitForSelector(".differences p");
});
await page.click("[data-view=arrivals]");
await settled(page);
await page.focus("canvas[role=img]");
await measured("zoom of the arrivals to single pieces", async () => {
  for (let i = 0; i < 10; ++i) await page.keyboard.press("w");
});
const kPans = 30;
await measured("pan of the arrivals, a frame a key", async () => {
  for (let i = 0; i < kPans; ++i) {
    await page.keyboard.press(i % 2 ? "a" : "d");
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve())));
  }
}, kPans);
await browser.close();

// The same answer from both, as whole commands including Node's start.
const directory = path.resolve(packages, "../../page-engine/analysis/page");
const report = path.resolve(import.meta.dirname, "../wasm/report.mjs");
const timed = (command, args) => {
  const before = childMs();
  const ended = spawnSync(command, args, { maxBuffer: 1 << 28 });
  if (ended.status !== 0) throw new Error(`${command}: ${ended.stderr}`);
  return childMs() - before;
};
// The processor time of children that ended and were waited for.
function childMs() {
  const fields = fs.readFileSync("/proc/self/stat", "utf8").replace(/^.*\) /, "").split(" ");
  return (Number(fields[13]) + Number(fields[14])) * (1000 / kTicks);
}
const native = timed(process.env.SOJOURN, ["report", "--json", trace]);
const wasm = timed("node", [report, directory, trace]);
console.log(`  report: native ${native.toFixed(0)}, as WebAssembly under Node ${wasm.toFixed(0)}: ${(native / wasm).toFixed(2)} x the native speed`);
