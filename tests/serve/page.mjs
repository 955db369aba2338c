// Drives the web page: node page.mjs URL CLIP [SCREENSHOT]. Exit code 0 when all went as it should.
// PLAYWRIGHT is the folder of playwright-core, CHROMIUM the browser.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const [url, clip, screenshot] = process.argv.slice(2);
const WORDS = "ask not what your country can do for you";
const PATIENCE_MS = 240_000;

const plain = (text) => text.toLowerCase().replace(/[^a-z ]/g, "");
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "sotto-page-"));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM, env: { ...process.env, HOME: profile },
  args: ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
    `--use-file-for-fake-audio-capture=${clip}`, "--autoplay-policy=no-user-gesture-required"],
});

try {
  const context = await browser.newContext({ permissions: ["microphone"], viewport: { width: 900, height: 760 } });
  const page = await context.newPage();
  const strangers = [];
  const faults = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !/^(blob|data):/.test(request.url())) strangers.push(request.url());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.goto(url);
  await page.waitForFunction(() => document.getElementById("device").textContent !== "…");

  const done = () => page.waitForFunction(
    () => document.getElementById("work").hidden, null, { timeout: PATIENCE_MS });
  const text = () => page.locator("#segments .text").allTextContents().then((all) => plain(all.join(" ")));

  // Upload: the text arrives, a word plays, an edit reaches the downloads.
  await page.setInputFiles("#file", clip);
  await page.waitForSelector("#segments li", { timeout: PATIENCE_MS });
  await done();
  assert.ok((await text()).includes(WORDS), await text());
  assert.equal(await page.locator("#error").isVisible(), false);
  const word = page.locator(".word", { hasText: "country" }).first();
  await word.click();
  const start = Number(await word.getAttribute("data-start"));
  assert.ok(start > 0);
  const position = await page.evaluate(() => document.getElementById("audio").currentTime);
  assert.ok(position >= start - 0.01, `${position} after a click at ${start}`);
  if (screenshot) {
    await page.locator("#health").evaluate((element) => { element.open = true; });
    await page.evaluate(() => document.getElementById("audio").pause());
    await page.screenshot({ path: screenshot });
  }

  await page.click("#edit");
  await page.locator("#segments .text").first().fill("Edited & <short>.");
  await page.click("#edit");
  for (const [format, expected] of [
    ["srt", /^1\n00:00:\d\d,\d{3} --> 00:00:\d\d,\d{3}\nEdited & <short>\.\n/],
    ["vtt", /^WEBVTT\n\n00:00:\d\d\.\d{3} --> 00:00:\d\d\.\d{3}\nEdited &amp; &lt;short>\.\n/],
    ["txt", /^Edited & <short>\.\n/], ["json", /"Edited & <short>\."/]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-format=${format}]`)]);
    assert.equal(download.suggestedFilename(), `jfk.${format}`);
    assert.match(fs.readFileSync(await download.path(), "utf8"), expected);
  }

  // A file that is no recording: the server's words, and the page can go on.
  await page.setInputFiles("#file", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no sound") });
  await page.waitForSelector("#error:visible", { timeout: PATIENCE_MS });
  await done();
  faults.length = 0; // the browser itself reports the refused request

  // The microphone: the fake device plays the clip.
  await page.click("#record");
  await page.waitForSelector("#record[aria-pressed=true]");
  await page.waitForTimeout(12_000);
  await page.click("#record");
  await page.waitForSelector("#segments li", { timeout: PATIENCE_MS });
  await done();
  assert.ok((await text()).includes("your country"), await text());

  assert.deepEqual(strangers, []);
  assert.deepEqual(faults, []);
} finally {
  await browser.close();
  fs.rmSync(profile, { recursive: true, force: true });
}
