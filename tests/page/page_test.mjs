// Drives Chromium through the report page, and compares it with the command line's JSON. Usage:
// node --test page_test.mjs, with SOJOURN, MAKE_TRACE, MAKE_SCHEDULED_TRACE and MAKE_EXPORT_TRACES
// (programs), UNITS (web/units.ts bundled for Node), GOLDEN (tests/golden) and SCREENSHOTS (a
// directory, may be empty) in the environment.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";

import { cells, count, directory, duration, endBrowser, identifier, json, jsonLines, open, pageOf, settled, share, shoot, showsGroups, showsIds,
         showsTheFirstScreen, showsTheOtherViews, sojourn, startBrowser, until } from "./page_driver.mjs";

const { SOJOURN, MAKE_TRACE, MAKE_SCHEDULED_TRACE, MAKE_EXPORT_TRACES, GOLDEN } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const trace = path.join(directory, "run.sjt");

before(async () => {
  execFileSync(MAKE_TRACE, [trace, "60000", "12"]);
  await startBrowser();
});
after(endBrowser);

test("the first screen says what report and explain say", async () => {
  const { page, close } = await open(pageOf(trace));
  await showsTheFirstScreen(page, trace);
  await shoot(page, "overview-light");
  await close();
});

test("the slowest packet and its reason are two clicks away", async () => {
  const { page, close } = await open(pageOf(trace));
  const [worst] = json("explain", trace, "--worst", "1").worst;
  await page.click(".slowest button");
  await page.waitForSelector("dialog[open] svg.waterfall");
  assert.equal(await page.textContent("#why"), `${duration(worst.latency_ns)}: ${worst.why}`);
  const bars = await page.$$eval("svg.waterfall .bar:not(.other)", (found) => found.length);
  const journey = JSON.parse(sojourn("journeys", trace, "--json", "--id", String(worst.id)));
  assert.equal(bars, journey.events.reduce((sum, event) => sum + event.parents.length, 0));
  assert.match(page.url(), new RegExp(`packet=${worst.id}`));
  const ids = Object.entries(journey.known_ids ?? journey.ids).map(([name, value]) => identifier(name, value)).join(" ");
  assert.equal(await page.textContent("#packet-title"), `Journey ${worst.id}: ${worst.dir} ${ids}`);
  const legend = await page.$$eval(".legend li", (items) => items.map((item) => item.textContent));
  assert.deepEqual(legend.sort(), [...new Set(worst.parts.map(({ cause }) => cause))].sort());
  const cut = await page.$$eval("svg.waterfall:not(.turned) text.whom", (texts) => texts.filter((text) => {
    const { x, width } = text.getBBox();
    return x < 0 || x + width > text.ownerSVGElement.viewBox.baseVal.width;
  }).map((text) => text.textContent));
  assert.deepEqual(cut, []);
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

// The box in the page's address as a filter.
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
  const { page, close } = await open(pageOf(trace));
  await showsTheOtherViews(page, trace, "dir == D && segments > 1", "dir == U");
  await close();
});

test("packets are listed a page at a time, by latency or by start", async () => {
  const { page, close } = await open(pageOf(trace), { hash: "view=packets" });
  const journeys = jsonLines("journeys", trace);
  const latencies = journeys.filter(({ complete }) => complete).map(({ latency_ns: ns }) => ns).sort((a, b) => b - a);
  assert.ok(latencies.length > 400);
  await page.getByRole("button", { name: "more" }).click();
  const shown = await cells(page, ".packets");
  assert.deepEqual(shown.map((row) => row[6]), latencies.slice(200, 400).map(duration));
  await showsIds(page, journeys);
  // The owner, the bearer and the number stand in columns of their own.
  for (const [, , ue, bearer, number] of await cells(page, ".packets")) {
    assert.match(ue, /^rnti 0x[0-9a-f]+$/);
    assert.match(bearer, /^(drb|lcid) \d+/);
    assert.match(number, /sn \d+/);
  }
  for (const [id, , , , , , latency] of shown) assert.equal(latency, duration(journeys.find((one) => String(one.id) === id).latency_ns), id);
  await page.getByRole("button", { name: "start" }).click();
  const [[first]] = await cells(page, ".packets");
  assert.equal(journeys.find(({ id }) => String(id) === first).start_ns, Math.min(...journeys.map(({ start_ns: ns }) => ns)));
  await close();
});

test("a LatSeq recording shows what the command line says of it when it is imported", async () => {
  const html = path.join(directory, "empty.html");
  sojourn("page", "-o", html);
  const { page, close } = await open(html);
  const recording = path.join(GOLDEN, "latseq/upstream/main.lseq.gz");
  const imported = path.join(directory, "main.sjt");
  sojourn("import", recording, "-o", imported);
  await page.setInputFiles("input[type=file]", recording);
  await page.waitForSelector("#verdict");
  await settled(page);
  await showsTheFirstScreen(page, imported);
  await shoot(page, "latseq-light");
  await showsTheOtherViews(page, imported);
  await close();
});

test("the distribution of each group is that of report --by", async () => {
  const where = "segments < 9";
  const { page, close } = await open(pageOf(trace), { hash: `view=distribution&where=${encodeURIComponent(where)}` });
  for (const by of ["direction", "ue", "bearer", "path", "hop", "layer"]) {
    await page.selectOption("#option-by", by);
    await settled(page);
    await showsGroups(page, trace, by, ["--where", where]);
  }
  await page.selectOption("#option-curve", "cdf");
  await page.selectOption("#option-scale", "linear");
  await settled(page);
  assert.match(page.url(), /by=layer&curve=cdf&scale=linear/);
  assert.equal(await page.locator("canvas[role=img]").getAttribute("aria-label"), "How many stays took at most a time");
  await close();
});

test("the bands of a distribution are those of report --cdf json", async () => {
  const { page, close } = await open(pageOf(trace), { hash: "view=distribution" });
  const { cdf } = JSON.parse(sojourn("report", trace, "--cdf", "json", "--by", "direction"));
  const wanted = cdf.flatMap(({ dir, name, points }) => points.map(({ us, longer, longer_95: band }) =>
      [`${dir} ${name}`, Math.round(1000 * us), longer, band ? band[0] : "", band ? band[1] : ""].join()));
  assert.ok(cdf.some(({ points }) => points.some(({ longer_95: band }) => band)), "no band");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(".picture .save button:last-child")]);
  const [head, ...rows] = fs.readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.equal(head, "group,ns,longer,longer_low_95,longer_high_95");
  assert.deepEqual(rows.sort(), wanted.sort());
  assert.match(await page.textContent("p.band"), /^The band around a curve/);
  await close();
});

test("of each packet's pieces the last one to arrive has its latency", async () => {
  const where = "dir == D && segments > 1 && time < 400ms";
  const { page, close } = await open(pageOf(trace), { hash: `view=arrivals&where=${encodeURIComponent(where)}` });
  const journeys = jsonLines("journeys", trace, "--where", where)
      .filter(({ complete }) => complete);
  assert.ok(journeys.length > 10);
  await page.click(".picture summary");
  await page.waitForSelector(".picture table");
  const pieces = new Map();
  for (const [id, , latency] of await cells(page, ".picture")) pieces.set(id, [...(pieces.get(id) ?? []), latency]);
  const told = journeys.slice(0, Math.min(journeys.length, pieces.size) - 1);
  for (const journey of told) assert.ok(pieces.get(String(journey.id)).includes(duration(journey.latency_ns)), journey.id);
  assert.ok([...pieces.values()].some((each) => each.length > 1));
  const all = await page.textContent(".picture p");
  await page.keyboard.press("w");
  assert.notEqual(await page.textContent(".picture p"), all);
  for (let at = 0; at < 2; ++at) await page.keyboard.press("w");
  // Each piece has a dot, in the direction's colour.
  assert.match(await page.textContent(".picture p"), /^[1-9].* a dot each\.$/);
  await until(page, () => {
    const canvas = document.querySelector("canvas[role=img]");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let dotted = 0;
    for (let at = 0; at < data.length; at += 4) dotted += data[at] === 0x1f && data[at + 1] === 0x6f && data[at + 2] === 0xb4;
    return dotted >= parseInt(document.querySelector(".picture p").textContent.replaceAll(",", ""), 10);
  });
  await page.keyboard.press("0");
  assert.equal(await page.textContent(".picture p"), all);
  await close();
});

test("the time line says how long each thread ran, as threads does, and rows can be hidden", async () => {
  const scheduled = path.join(directory, "scheduled.sjt");
  execFileSync(MAKE_SCHEDULED_TRACE, [scheduled]);
  const { page, close } = await open(pageOf(scheduled, "scheduled.html"), { hash: "view=timeline" });
  await page.locator("summary", { hasText: "as a table" }).click();
  await page.waitForSelector(".picture table");
  const { threads } = json("threads", scheduled);
  assert.equal(threads.length, 2);
  const shown = await cells(page, ".picture");
  assert.deepEqual(shown.map((row) => [row[0], row[2]]),
                   threads.map((thread) => [thread.name, duration(thread.running_ns)]).sort());
  await page.locator("summary", { hasText: "rows" }).click();
  const names = await page.$$eval(".rows li", (rows) => rows.map((row) => row.firstChild.textContent.trim()));
  assert.deepEqual(names, ["thread 101", "thread 102", "CPU 0", "CPU 1"]);
  const tall = (await page.locator("canvas[role=img]").boundingBox()).height;
  await page.uncheck(".rows li:nth-child(1) label:nth-child(1) input");
  await page.check(".rows li:nth-child(4) label:nth-child(2) input");
  assert.match(page.url(), /hide=t101&pin=c1/);
  await until(page, () => document.querySelector("canvas[role=img]").ariaLabel.endsWith(": CPU 1, thread 102, CPU 0"));
  assert.ok((await page.locator("canvas[role=img]").boundingBox()).height < tall);
  await shoot(page, "scheduled-light");
  await close();
});

test("rows of the time line can be moved by their arrows and by dragging, and the address keeps it", async () => {
  const { page, close } = await open(pageOf(path.join(directory, "scheduled.sjt"), "scheduled.html"), { hash: "view=timeline" });
  const shown = () => page.getAttribute("canvas[role=img]", "aria-label").then((text) => text.split(": ")[1].split(", "));
  await until(page, () => document.querySelector("canvas[role=img]").ariaLabel.includes("CPU 1"));
  assert.deepEqual(await shown(), ["thread 101", "thread 102", "CPU 0", "CPU 1"]);
  await page.locator("summary", { hasText: "rows" }).click();
  await page.getByRole("button", { name: "Move CPU 1 up" }).click();
  await until(page, () => document.querySelector("canvas[role=img]").ariaLabel.endsWith("thread 102, CPU 1, CPU 0"));
  await page.locator(".rows li", { hasText: "CPU 0" }).dragTo(page.locator(".rows li", { hasText: "thread 101" }));
  await until(page, () => document.querySelector("canvas[role=img]").ariaLabel.endsWith(": CPU 0, thread 101, thread 102, CPU 1"));
  assert.match(page.url(), /order=c0%2Ct101%2Ct102%2Cc1|order=c0,t101,t102,c1/);
  const hash = page.url().split("#")[1];
  await close();
  const again = await open(pageOf(path.join(directory, "scheduled.sjt"), "scheduled.html"), { hash });
  await until(again.page, () => document.querySelector("canvas[role=img]").ariaLabel.endsWith(": CPU 0, thread 101, thread 102, CPU 1"));
  await again.close();
});

test("the time line and its list of events are in step, and a packet can be followed on it", async () => {
  const [worst] = json("explain", trace, "--worst", "1").worst;
  const { page, close } = await open(pageOf(trace), { hash: `packet=${worst.id}` });
  await page.waitForSelector("dialog[open] svg.waterfall");
  await page.keyboard.press("f");
  await until(page, () => document.querySelector("section.timeline p")?.textContent.includes("Followed: journey"));
  await settled(page);
  assert.match(page.url(), new RegExp(`follow=${worst.id}`));
  const journey = JSON.parse(sojourn("journeys", trace, "--json", "--id", String(worst.id)));
  await page.focus("canvas[role=img]");
  await page.keyboard.press("]");
  await until(page, () => document.querySelector("section.timeline .told").textContent.startsWith("1 of "));
  assert.ok((await page.textContent("section.timeline .told")).startsWith(`1 of ${journey.events.length}: ${journey.events[0].point}`));
  const marked = await page.textContent("section.timeline tr[aria-current]");
  await page.keyboard.press(".");
  await until(page, () => document.querySelector("section.timeline tr[aria-current]"));
  assert.notEqual(await page.textContent("section.timeline tr[aria-current]"), marked);
  await page.locator("section.timeline tbody button").nth(4).click();
  await until(page, () => [...document.querySelectorAll("section.timeline tbody tr")].findIndex((row) => row.ariaCurrent) === 4);
  await shoot(page, "followed-light");
  await close();
});

test("pictures that zoom take their keys without a click, and 0 leaves the filter", async () => {
  const { page, close } = await open(pageOf(trace), { hash: "view=timeline&where=dir+%3D%3D+U" });
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "CANVAS");
  assert.equal(await page.textContent(".unfiltered"), "The time line shows all events, not only those of the filter.");
  const times = (await cells(page, "section.timeline .list")).map(([time]) => time);
  assert.equal(new Set(times).size, new Set(jsonLines("events", trace, "--limit", String(times.length)).map(({ t_ns: ns }) => ns)).size);
  for (const time of times) assert.match(time, /^\d+\.\d{3} \d{3} \d{3} s$/);
  await page.click("[data-view=arrivals]");
  await settled(page);
  const shown = () => page.textContent(".picture p");
  const all = await shown();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("w");
  assert.notEqual(await shown(), all);
  await page.keyboard.press("0");
  assert.equal(await shown(), all);
  assert.equal(await page.inputValue("#where"), "dir == U");
  await close();
});

test("the picture of a packet can be turned, coloured by an id, and walked through", async () => {
  const [worst] = json("explain", trace, "--worst", "1").worst;
  const { page, close } = await open(pageOf(trace), { hash: `packet=${worst.id}` });
  await page.waitForSelector("svg.waterfall .bar");
  const bars = await page.locator("svg.waterfall .bar").count();
  const journey = JSON.parse(sojourn("journeys", trace, "--json", "--id", String(worst.id)));
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  assert.ok((await page.textContent("dialog .told")).startsWith(`2 of ${journey.events.length}, `));
  assert.ok((await page.textContent("dialog .told")).includes(journey.events[1].point));
  await page.keyboard.press("t");
  await page.waitForSelector("svg.waterfall.turned");
  assert.equal(await page.locator("svg.waterfall .bar").count(), bars);
  assert.match(page.url(), /form=turned/);
  const id = Object.keys(journey.ids)[0];
  await page.selectOption("#waterfall-colour", id);
  await until(page, () => location.hash.includes("colour="));
  await page.keyboard.press(".");
  await until(page, () => location.hash.includes("packet="));
  assert.ok(!page.url().includes(`packet=${worst.id}&`) && !page.url().endsWith(`packet=${worst.id}`));
  await close();
});

test("commands are found by their words", async () => {
  const { page, close } = await open(pageOf(trace));
  await page.keyboard.press("Control+Shift+KeyP");
  await page.waitForSelector("dialog.palette[open]");
  await page.keyboard.type("view queu");
  assert.equal(await page.locator("#palette-list li").count(), 1);
  await page.keyboard.press("Enter");
  await until(page, () => location.hash.includes("view=queues"));
  await settled(page);
  await close();
});

test("conditions that are chosen become words of the filter, and mean what they say", async () => {
  const { page, close } = await open(pageOf(trace), { hash: "view=packets" });
  await page.click(".builder summary");
  await page.selectOption("#builder-kind", "subsystem");
  await page.selectOption("#builder-value", { label: "rlc" });
  await page.click(".builder button");
  await settled(page);
  assert.equal(await page.inputValue("#where"), "hop ~ rlc.*");
  await page.selectOption("#builder-kind", "direction");
  await page.selectOption("#builder-is", "!");
  await page.selectOption("#builder-value", { label: "uplink" });
  await page.click(".builder button");
  await settled(page);
  const filter = "(hop ~ rlc.*) && !(dir == U)";
  assert.equal(await page.inputValue("#where"), filter);
  assert.equal(await page.textContent("main h2"), `Packets (${count(jsonLines("journeys", trace, "--where", filter).length)})`);
  for (const kind of ["point", "thread", "CPU"])
    if (await page.locator(`#builder-kind option[value="${kind}"]`).count() > 0) {
      await page.selectOption("#builder-kind", kind);
      await page.click(".builder button");
      await settled(page);
      assert.equal(await page.textContent("#refused"), "", kind);
    }
  await close();
});

test("on paper the page is light and without its controls", async () => {
  const { page, close } = await open(pageOf(trace), { scheme: "dark" });
  await page.emulateMedia({ media: "print" });
  for (const hidden of ["form.filter", "nav", ".save", ".notes form"]) assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
  assert.equal(await page.locator("#verdict").isVisible(), true);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  assert.ok((await page.pdf()).length > 10_000);
  await close();
});

const kViews = ["overview", "packets", "distribution&by=path", "arrivals", "queues", "causes", "flow", "timeline", "events", "machine", "overview&packet=0"];

// Names in the trace never become markup, and never turn the direction of the text.
async function isHarmless(html, hash) {
  const { page, close } = await open(html, { hash });
  assert.equal(await page.title(), "sojourn");
  assert.equal(await page.locator("main img, main script, main iframe, dialog img, dialog script").count(), 0);
  assert.ok(!(await page.textContent("body")).match(/[\u0007\u001b\u202e\u200b]/), hash);
  await close();
}

test("hostile names of points, threads and queues do nothing, in any view", async () => {
  const recording = path.join(directory, "hostile.lseq");
  const point = "</script><img/src=x/onerror=document.title='taken'>";
  const lines = [];
  for (let i = 0; i < 200; ++i)
    lines.push(`${(1 + i / 1000).toFixed(6)} D in--${point} len100:rnti${1 + (i % 3)}:sn${i}`,
               `${(1.0002 + i / 1000).toFixed(6)} D ${point}--out len100:rnti${1 + (i % 3)}:sn${i}`);
  fs.writeFileSync(recording, `${lines.join("\n")}\n`);
  const imported = path.join(directory, "hostile-points.sjt");
  sojourn("import", recording, "-o", imported);
  execFileSync(MAKE_EXPORT_TRACES, [directory]);
  for (const file of [imported, path.join(directory, "hostile.sjt")]) {
    const html = pageOf(file, "hostile-names.html");
    for (const view of kViews) await isHarmless(html, `view=${view}`);
    await isHarmless(html, `where=${encodeURIComponent("</script><img src=x onerror=alert(1)>")}`);
    await isHarmless(html, `note=${encodeURIComponent("view=packets <img src=x onerror=alert(1)>")}&view=packets`);
  }
});

// Counts what each frame of a picture draws. The largest number is mostShapes.
function countShapes() {
  let shapes = 0;
  window.mostShapes = 0;
  const drawing = CanvasRenderingContext2D.prototype;
  for (const name of ["fill", "stroke", "fillRect", "strokeRect", "clearRect", "fillText", "strokeText", "drawImage", "putImageData"]) {
    const original = drawing[name];
    drawing[name] = function (...of) {
      ++shapes;
      return original.apply(this, of);
    };
  }
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => request((now) => {
    shapes = 0;
    draw(now);
    window.mostShapes = Math.max(window.mostShapes, shapes);
  });
}

test("a picture draws at most 4,000 shapes a frame", async () => {
  const scheduled = path.join(directory, "shapes.sjt");
  execFileSync(MAKE_SCHEDULED_TRACE, [scheduled]);
  for (const [file, view, keys] of [[trace, "overview", []], [trace, "arrivals", ["w", "w", "w", "w", "d", "a"]],
                                    [trace, "timeline", ["w", "d"]], [scheduled, "timeline", ["w", "w"]]]) {
    const { page, close } = await open(pageOf(file, "shapes.html"), { hash: `view=${view}`, prepare: countShapes });
    await page.focus("canvas[role=img]");
    for (const key of keys) {
      await page.keyboard.press(key);
      await page.waitForTimeout(50);
    }
    await until(page, () => window.mostShapes > 0);
    const most = await page.evaluate(() => window.mostShapes);
    // The dots of arrivals are pixels of one image.
    assert.ok(most <= (view === "arrivals" ? 300 : 4000), `${view}: ${most}`);
    if (view === "arrivals") assert.match(await page.textContent(".picture p"), /a dot each\.$/);
    await close();
  }
});

test("a note goes back to what was shown when it was written", async () => {
  const { page, close } = await open(pageOf(trace), { hash: "view=packets&where=dir+%3D%3D+U" });
  await page.click(".notes summary");
  await page.fill("#note", "<b>look</b> here");
  await page.press("#note", "Enter");
  await page.click("[data-view=overview]");
  await settled(page);
  await page.fill("#where", "");
  await page.press("#where", "Enter");
  await settled(page);
  const link = page.url();
  await close();
  const again = await open(link.slice("file://".length).split("#")[0], { hash: link.split("#")[1] });
  await again.page.click(".notes summary");
  assert.equal(await again.page.textContent(".notes li button"), "<b>look</b> here");
  await again.page.click(".notes li button");
  await until(again.page, () => document.querySelector("main h2")?.textContent.startsWith("Packets"));
  assert.equal(await again.page.inputValue("#where"), "dir == U");
  assert.equal(await again.page.textContent(".notes summary"), "notes (1)");
  await again.close();
});

test("a link and a note have the stretch of time and the queue that are shown", async () => {
  const html = pageOf(trace);
  const { page, close } = await open(html, { hash: "view=arrivals" });
  const pieces = (on) => on.textContent(".picture p");
  const hasSpan = (on, name) => until(on, (wanted) => new URLSearchParams(location.hash.slice(1)).has(wanted), name);
  for (const key of ["w", "w", "d"]) await page.keyboard.press(key);
  const inView = await pieces(page);
  await hasSpan(page, "spanD");
  await page.click(".notes summary");
  await page.fill("#note", "look here");
  await page.press("#note", "Enter");
  await page.click("[data-view=timeline]");
  await settled(page);
  const list = (on) => on.textContent("section.timeline .list");
  const all = await list(page);
  for (const key of ["w", "w"]) {
    const before = await list(page);
    await page.keyboard.press(key);
    await until(page, (text) => document.querySelector("section.timeline .list").textContent !== text, before);
  }
  await hasSpan(page, "span");
  const events = await list(page);
  assert.notEqual(events, all);
  await page.click("[data-view=queues]");
  await settled(page);
  await page.locator(".queues .packet").last().click();
  const queue = await page.locator(".queues .packet").last().textContent();
  const link = page.url();
  await close();
  const again = await open(html, { hash: link.split("#")[1] });
  assert.equal(await again.page.locator(".columns canvas").first().getAttribute("aria-label"), `Depth of ${queue} over time`);
  await again.page.click("[data-view=timeline]");
  await settled(again.page);
  assert.equal(await list(again.page), events);
  await again.page.click("[data-view=arrivals]");
  await settled(again.page);
  assert.equal(await pieces(again.page), inView);
  await again.page.keyboard.press("0");
  assert.notEqual(await pieces(again.page), inView);
  await again.page.click(".notes summary");
  await until(again.page, () => !location.hash.includes("spanD="));
  await again.page.click(".notes li button");
  await until(again.page, (text) => document.querySelector(".picture p")?.textContent === text, inView);
  await again.close();
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
  await showsTheFirstScreen(page, cut);
  await showsTheOtherViews(page, cut, "segments > 1");
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
    for (const view of ["overview", "packets", "distribution", "distribution&by=ue", "arrivals", "queues", "causes", "flow", "timeline", "events", "overview&packet=0", "overview&box=D,0,900000000000,1000,900000000000"]) {
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
