// Makes the pictures of the report page: page-overview.png and page-packet.png, in this directory.
// Usage: node page.mjs DIRECTORY_OF_PLAYWRIGHT PAGE.html. The directory has the packages that
// tests/page installs (build/ci/tests/page), and the page has a trace in it.
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const [packages, html] = process.argv.slice(2);
if (!html) {
  console.error("usage: node page.mjs DIRECTORY_OF_PLAYWRIGHT PAGE.html");
  process.exit(2);
}
const { chromium } = createRequire(path.join(path.resolve(packages), "here.js"))("playwright-core");
const here = path.dirname(fileURLToPath(import.meta.url));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 820 } });
await page.goto(pathToFileURL(path.resolve(html)).href);
await page.waitForSelector("#verdict", { timeout: 120_000 });
await page.waitForTimeout(500);  // the canvases are drawn in the next frame
await page.screenshot({ path: path.join(here, "page-overview.png") });
await page.click(".slowest button");
const dialog = page.locator("dialog[open]");
await dialog.locator("svg.waterfall").waitFor({ timeout: 120_000 });
await dialog.screenshot({ path: path.join(here, "page-packet.png") });
await browser.close();
