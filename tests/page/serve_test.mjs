// Drives Chromium through a page of `sojourn serve`, beside a running base station: figures grow,
// panning stops them, points are switched, a flight recorder dumps, the capture is stopped; and the
// page's figures of the finished capture are those of the command line. Usage: node --test
// serve_test.mjs, with SOJOURN, BASESTATION (programs) and SCREENSHOTS in the environment, as root.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { count, directory, endBrowser, json, newPage, patience, settled, shoot, showsTheFirstScreen, startBrowser, until } from "./page_driver.mjs";

const { SOJOURN, BASESTATION } = process.env;
const children = [];
let station;

// Reads one of its descriptors until the text is there.
function heard(child, descriptor, text) {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdio[descriptor].on("data", (bytes) => {
      said += bytes;
      if (said.includes(text)) resolve(said);
    });
    child.on("exit", () => reject(new Error(`ended without "${text}": ${said}`)));
  });
}

function start(program, ...args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe", "pipe"] });
  children.push(child);
  return child;
}

const ended = (child) => new Promise((resolve) => (child.exitCode !== null ? resolve() : child.on("exit", resolve)));

async function serve(...args) {
  const child = start(SOJOURN, "serve", ...args);
  const said = await heard(child, 1, "\n");
  return { child, link: said.trim() };
}

// Opens a link, and fails the test for each error on the console, and for each request that is not
// for the server that the page is of.
async function open(link) {
  const wrong = [];
  const page = await newPage();
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(link).origin) && !/^(blob|data):/.test(request.url())) wrong.push(`asked for ${request.url()}`);
  });
  await page.goto(link);
  await settled(page);
  return { page, async close(expected = /^$/) {
    assert.deepEqual(wrong.filter((line) => !expected.test(line)), []);
    await page.close();
  } };
}

before(async () => {
  await startBrowser();
  station = start(BASESTATION, "--rate-dl", "200", "--rate-ul", "100", "--ready-fd", "3");
  await heard(station, 3, "\n");
});
after(async () => {
  for (const child of children) child.kill("SIGINT");
  await Promise.all(children.map(ended));
  await endBrowser();
});

const seconds = async (page) => parseFloat(await page.textContent("#live-now"));
const follows = (page) => page.getAttribute("#follow", "aria-pressed").then((pressed) => pressed === "true");
const answered = async (page, action) => {
  await page.click(`[data-action=${action}]`);
  await until(page, () => !["", "..."].includes(document.querySelector("#control-answer").textContent));
  return page.textContent("#control-answer");
};
const eventsSaid = async (page) => Number((await page.textContent(".health li")).replace(/\D/g, ""));

test("the page of a capture that runs shows it, follows until somebody pans, and steers it", async () => {
  const recorder = start(SOJOURN, "record", "-p", String(station.pid), "--flight", "5s", "--engine", "bpf", "-o", path.join(directory, "flight.sjt"));
  await heard(recorder, 2, "attached");
  const { child, link } = await serve("-p", String(station.pid));
  const { page, close } = await open(link);

  // The live view comes first, and the token is no longer in the address.
  await until(page, () => document.querySelectorAll("#live-latency tbody tr").length === 4);
  assert.equal(new URL(page.url()).search, "");
  const begin = await seconds(page);
  const packets = async () => Number((await page.textContent("#live-latency tr[data-dir=D][data-span=all] td")).replace(/,/g, ""));
  const few = await packets();
  while (await seconds(page) < begin + 3) await page.waitForTimeout(100);
  assert.ok(await packets() > few + 100);
  const places = await page.$$eval("#live-places tbody th", (heads) => heads.map((head) => head.textContent));
  assert.ok(places.includes("D rlc.tx.am"), places);
  await shoot(page, "live-light");

  // Panning.
  assert.ok(await follows(page));
  await page.focus(".live canvas");
  await page.keyboard.press("ArrowLeft");
  assert.ok(!(await follows(page)));
  const standing = await packets();
  await until(page, () => document.querySelector("#live-now").textContent.includes("stands at"));
  const then = await seconds(page);
  while (await seconds(page) < then + 2) await page.waitForTimeout(100);
  assert.equal(await packets(), standing);
  await page.click("#follow");
  await until(page, () => !document.querySelector("#live-now").textContent.includes("stands at"));
  while (await packets() === standing) await page.waitForTimeout(100);

  // Points.
  const off = () => json("ctl", "-p", String(station.pid), "status").points.filter((point) => !point.on).map(({ name }) => name);
  await page.fill("#points", "phy.*");
  assert.match(await answered(page, "disable"), /^switched \d+ points? off$/);
  assert.ok(off().length > 0 && off().every((name) => name.startsWith("phy.")));
  assert.match(await answered(page, "enable"), /^switched \d+ points? on$/);
  assert.deepEqual(off(), []);
  await page.fill("#points", "no such point");
  assert.match(await answered(page, "disable"), /no point is called/);

  // The flight recorder beside it.
  const dumps = () => fs.readdirSync(directory).filter((name) => /^flight.*\.sjt$/.test(name));
  assert.deepEqual(dumps(), []);
  await answered(page, "dump");
  assert.equal(dumps().length, 1);

  // The whole trace, as far as it is written; it goes on until the user pans.
  await page.click("[data-view=overview]");
  await page.waitForSelector("#verdict");
  assert.match(await page.textContent(".health"), /growing file/);
  const first = await eventsSaid(page);
  assert.ok(first > 1000);
  for (const end = Date.now() + patience; await eventsSaid(page) === first;) {
    assert.ok(Date.now() < end);
    await page.waitForTimeout(100);
  }
  await settled(page);
  // Pressing the button ends following. Data that come in between may still replace the picture:
  // then the second try is on one that stays.
  for (let tries = 0; tries < 3 && !page.url().includes("box="); ++tries) {
    await until(page, () => document.querySelector("main canvas")?.width > 1000);  // it is painted
    await page.locator("main canvas").first().scrollIntoViewIfNeeded();
    const box = await page.locator("main canvas").first().boundingBox();
    await page.mouse.move(box.x + 100, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 900, box.y + 150, { steps: 4 });
    await page.mouse.up();
    await page.waitForTimeout(500);
  }
  await page.waitForSelector(".differences p");
  assert.ok(!(await follows(page)));
  const still = await eventsSaid(page);
  await page.waitForTimeout(8000);
  assert.equal(await eventsSaid(page), still);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".differences", { state: "detached" });

  // Its end: the page's figures are those of the command line for the trace that the page saves.
  await page.keyboard.press("l");
  await page.waitForSelector("#live-now");
  await page.click("#follow");
  assert.equal(await answered(page, "stop"), "stopping;stopping");
  await until(page, () => document.querySelector("#live-now").textContent.includes("the capture has ended"));
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  const saved = path.join(directory, "saved.sjt");
  await download.saveAs(saved);
  const report = json("report", saved);
  assert.ok(report.file.whole);
  await page.click("[data-view=overview]");
  await page.waitForSelector("#verdict");
  for (const end = Date.now() + patience; !(await page.textContent(".health")).includes(`${count(report.events)} events`);) {
    assert.ok(Date.now() < end);
    await page.waitForTimeout(100);
  }
  await settled(page);
  await showsTheFirstScreen(page, saved);
  child.kill("SIGINT");
  await ended(child);
  assert.equal(child.exitCode, 0);
  await until(page, () => document.querySelector("#link").textContent !== "");
  await page.waitForTimeout(100);
  await ended(recorder);
  await close(/409 \(Conflict\)|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE/);
});

test("a page without the right to steer has no buttons, and one without the link gets nothing", async () => {
  const trace = path.join(directory, "saved.sjt");
  const { link } = await serve(trace, path.join(directory, fs.readdirSync(directory).find((name) => /^flight.*\.sjt$/.test(name))), "--readonly");
  const stranger = await newPage();
  const answer = await stranger.goto(new URL("/", link).href);
  assert.equal(answer.status(), 403);
  await stranger.close();
  const { page, close } = await open(link);
  await page.waitForSelector("#verdict");
  await showsTheFirstScreen(page, trace);
  assert.equal(await page.locator("#follow").isVisible(), false);
  await page.keyboard.press("l");
  await page.waitForSelector(".live");
  assert.equal(await page.locator(".controls").count(), 0);
  await page.click("[data-view=overview]");
  // The other trace.
  await page.selectOption("#traces", "1");
  const other = json("report", path.join(directory, fs.readdirSync(directory).find((name) => /^flight.*\.sjt$/.test(name))));
  for (const end = Date.now() + patience; !(await page.textContent(".health")).includes(`${count(other.events)} events`);) {
    assert.ok(Date.now() < end);
    await page.waitForTimeout(100);
  }
  await close();
});
