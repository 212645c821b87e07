// The view of requests in a real browser: the waterfall, its way to steps and the timeline, tables, many requests.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import zlib from "node:zlib";
import { analyze, close, closeBrowser, data, folder, open, reportOf } from "./browser.mjs";
import { SLOW_FACTOR, withRequests } from "./made_requests.mjs";

const server = analyze("serving", data("h200-serving/nsys.sqlite"));

function requestsPage(name, options, change = () => {}) {
  const profile = withRequests(server.profile, options);
  change(profile);
  const file = path.join(folder, `${name}.json`);
  fs.writeFileSync(file, JSON.stringify(profile));
  return { page: reportOf(name, file), profile };
}

const few = requestsPage("requests", { count: 12, tokens: 10 });

after(closeBrowser);

const texts = (page, selector) => page.$$eval(selector, (found) => found.map((each) => each.textContent.trim()));

/** How many different colors the canvas has. */
const colorsOf = (page) =>
  page.$eval("canvas.waterfall", (canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const colors = new Set();
    for (let i = 0; i < data.length; i += 4) colors.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return [...colors].map((color) => `#${color.toString(16).padStart(6, "0")}`);
  });

test("a profile without requests has no such view", async () => {
  const opened = await open(server.page, "#requests");
  assert.ok(!(await texts(opened.page, "nav a")).includes("Requests"));
  assert.equal(await opened.page.getAttribute("main", "data-view"), "overview");
  await close(opened);
});

test("the key figures of a server are its client's", async () => {
  const opened = await open(few.page, "#overview");
  const tiles = await texts(opened.page, ".tiles > div");
  assert.match(tiles[0], /^Time to first token/);
  assert.match(tiles[0], /by the client, without a recorder/);
  assert.match(tiles[1], /^Inter-token latency1\.0000 ms/);
  await close(opened);
});

test("the waterfall shows the parts in their colors", async () => {
  const opened = await open(few.page, "#requests");
  const early = await open(few.page, "#requests?t=0,20000000");
  const colors = [...(await colorsOf(opened.page)), ...(await colorsOf(early.page))];
  await close(early);
  const [, packed] = fs.readFileSync(few.page, "utf8").match(/id="block-view">([^<]*)</);
  const { parts } = JSON.parse(zlib.inflateSync(Buffer.from(packed, "base64"))).requests;
  for (const part of ["queue", "own_prefill", "own_decode", "others_prefill"])
    assert.ok(colors.includes(parts[part].color.light), part);
  assert.ok(!colors.includes(parts.out_of_batch.color.light));
  await close(opened);
});

test("the slowest tokens start on the capture's clock, as in the profile", async () => {
  const opened = await open(few.page, "#requests");
  const starts = await opened.page.$$eval("table", (tables) => {
    const slowest = tables.find((each) => each.caption?.textContent.includes("Slowest tokens"));
    return [...slowest.tBodies[0].rows].map((row) => row.lastElementChild.textContent.trim());
  });
  assert.ok(starts.length > 0);
  assert.deepEqual(
    starts.map(Number),
    few.profile.requests.slowest_gaps.slice(0, starts.length).map((gap) => Number(gap.start_ms.toFixed(3))),
  );
  await close(opened);
});

test("a slow token leads to its step and from there to its kernels", async () => {
  const opened = await open(few.page, "#requests");
  const { page } = opened;
  const slowest = few.profile.requests.slowest_gaps[0];
  await page.click("button.link");
  const panel = page.locator(".request-panel");
  assert.equal(
    await panel.locator("h3").textContent(),
    `Request r${slowest.request}, chunk ${slowest.chunk}: ${(slowest.ns / 1e6).toFixed(3)} ms`,
  );
  assert.match(await panel.textContent(), /most delayed byrequest r0/);
  assert.match(new URL(page.url()).hash, new RegExp(`request=${slowest.request}&chunk=${slowest.chunk}`));
  const listed = await texts(page, ".part-columns > div:first-child li .number");
  const shown = listed.map((text) => Math.round(Number(text.replace(" ms", "")) * 1e6));
  assert.deepEqual(
    shown,
    Object.values(slowest.parts_ns)
      .map((ns) => Math.round(ns / 1e3) * 1e3)
      .sort((a, b) => b - a),
  );
  await panel.locator("a", { hasText: /^Step / }).click();
  await page.waitForSelector('main[data-view="steps"] .panel');
  assert.equal(new URL(page.url()).hash, `#steps?step=${slowest.step}`);
  await page.goBack();
  await page.waitForSelector('main[data-view="requests"] .request-panel');
  await close(opened);
});

test("arrow keys go from token to token and from request to request", async () => {
  const opened = await open(few.page, "#requests");
  const { page } = opened;
  const heading = () => page.textContent(".request-panel h3");
  await page.focus("canvas.waterfall");
  await page.keyboard.press("ArrowRight");
  const [first, second] = [...few.profile.requests.items].sort((a, b) => a.sent_ms - b.sent_ms);
  assert.ok((await heading()).startsWith(`Request ${first.id}, first token`));
  await page.keyboard.press("ArrowRight");
  assert.ok((await heading()).startsWith(`Request ${first.id}, chunk 1`));
  await page.keyboard.press("ArrowDown");
  assert.ok((await heading()).startsWith(`Request ${second.id}, first token`));
  await page.keyboard.press("Escape");
  assert.equal(await page.$(".request-panel"), null);
  await close(opened);
});

test("an address opens the chosen token", async () => {
  const opened = await open(few.page, "#requests?request=3&chunk=5");
  const ns = few.profile.requests.items[3].token_ns;
  assert.equal(
    await opened.page.textContent(".request-panel h3"),
    `Request r3, chunk 5: ${((ns[5] - ns[4]) / 1e6).toFixed(3)} ms`,
  );
  assert.ok(ns[5] - ns[4] >= SLOW_FACTOR * 1e6);
  await close(opened);
});

test("thousands of requests share lanes, and none is a row of the document", async () => {
  const many = requestsPage("many_requests", { count: 4000, tokens: 20 });
  const opened = await open(many.page, "#requests");
  const { page } = opened;
  assert.ok((await colorsOf(page)).length > 4);
  assert.ok((await page.$$eval("main *", (all) => all.length)) < 4000);
  await page.click("canvas.waterfall", { position: { x: 300, y: 200 } });
  await page.keyboard.press("w");
  await page.keyboard.press("d");
  assert.ok((await colorsOf(page)).length > 3);
  await close(opened);
});

test("without absolute times there are figures and no waterfall", async () => {
  const placeless = requestsPage("placeless", { count: 5, tokens: 6 }, (profile) => {
    const { requests } = profile;
    for (const item of requests.items) {
      item.sent_ms = item.scheduled_ms = null;
      item.parts_ns = item.ttft_parts_ns = {};
      item.token_batches = item.waits = [];
    }
    Object.assign(requests, { tail: [], slowest_gaps: [], delayers: [], delays: [], batches: [], parts_ns: {} });
    requests.shown.parts = [];
    requests.join = { ...requests.join, state: "no_clock", coverage: null, coverage_of_rows: null, delivery_ms: null };
  });
  const opened = await open(placeless.page, "#requests");
  assert.equal(await opened.page.$("canvas.waterfall"), null);
  const text = await opened.page.textContent("main");
  assert.match(text, /the file of requests has no absolute times/);
  assert.match(text, /Times that the client saw/);
  await close(opened);
});
