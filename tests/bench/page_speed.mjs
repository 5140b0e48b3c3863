// Measures one page, for the script page-speed beside it.
// Usage: node page_speed.mjs DIRECTORY_OF_PLAYWRIGHT PAGE.html EVENTS
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [packages, html, events] = process.argv.slice(2);
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

// The limits of the figures, by the number of events, on the tests' machine when it is idle.
const kBudgets = {
  "first screen, ms": (of) => (of <= 2e6 ? 2500 : 8000),
  "memory of the tab, MB": () => 400,
  "filter segments > 1, whole first screen, ms": (of) => (of <= 2e6 ? 1000 : undefined),
  "drag a box, ms a frame": () => 50,
  "pan of the arrivals, ms a frame": () => 16,
};
let isOver = false;

function row(what, figure, wall) {
  const budget = kBudgets[what]?.(Number(events));
  const verdict = budget === undefined ? "" : figure <= budget ? "within" : "over";
  isOver ||= verdict === "over";
  console.log(`| ${events} | ${what} | ${figure < 100 ? figure.toFixed(1) : figure.toFixed(0)} | ${wall?.toFixed(0) ?? ""} | ${budget ?? ""} | ${verdict} |`);
}

async function measured(what, work, of = 1) {
  const before = processorMs(), began = performance.now();
  await work();
  const wall = performance.now() - began;
  const taken = processorMs() - before;
  row(of > 1 ? `${what}, ms a frame` : `${what}, ms`, taken / of, wall / of);
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
page.setDefaultTimeout(600_000);  // where other programs run as well
await page.goto("about:blank");
const idle = residentMb();
await measured("first screen", async () => {
  await page.goto(pathToFileURL(path.resolve(html)).href);
  await settled(page);
});
row("memory of the tab, MB", residentMb() - idle);
await measured("filter segments > 1, whole first screen", () => filter(page, "segments > 1"));
await measured("back to all, from memory", () => filter(page, ""));
const box = await page.locator("canvas").first().boundingBox();
const kMoves = 60;
await measured("drag a box", async () => {
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
await measured("pan of the arrivals", async () => {
  for (let i = 0; i < kPans; ++i) {
    await page.keyboard.press(i % 2 ? "a" : "d");
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve())));
  }
}, kPans);
await browser.close();
if (isOver) process.exitCode = 3;
