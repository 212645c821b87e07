// What is clicked in the timeline is explained: gaps by their cause, stages and steps by their sums; filters of
// kernels and of the timeline are the same. On a made capture whose every row is known.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { analyze, close, closeBrowser, data, folder, open, openTimeline, shownSpan } from "./browser.mjs";
import { encodeTimeline, unpackBlock, withBlocks } from "./encode.mjs";
import { CAUSES, makeTimeline } from "./made_timeline.mjs";

after(closeBrowser);

const real = analyze("eager", data("nsys_sqlite/eager.sqlite"));
const run = analyze("run", data("h200-runs/llama_1b"));
const html = fs.readFileSync(real.page, "utf8");
const view = JSON.parse(unpackBlock(html, "view"));
const made = makeTimeline();
const { slices, steps } = made.tables;
const madePage = path.join(folder, "explained.html");
fs.writeFileSync(madePage, withBlocks(html, encodeTimeline(made)));

const STREAM_Y = 50 + 4 + 24 + 20 + 20 + 20 + 15;
const side = (page, kind) => page.locator(`.side .${kind}`);
const nameOf = (row) => made.names[made.kernels[slices.kernel[row]].short];

/** When no stream works: [start, end, row that ends it]. */
function idleTimes() {
  const order = slices.start.map((_, row) => row).sort((a, b) => slices.start[a] - slices.start[b]);
  const found = [];
  let until = slices.start[order[0]];
  let last = order[0];
  for (const row of order) {
    if (slices.start[row] > until) found.push({ start: until, end: slices.start[row], before: last, after: row });
    if (slices.start[row] + slices.duration[row] >= until) {
      until = slices.start[row] + slices.duration[row];
      last = row;
    }
  }
  return found;
}

const us = (ns) => (ns < 1000 ? `${ns} ns` : `${(ns / 1e3).toFixed(3)} us`);

test("a click on a gap explains it, and the address restores the explanation", async () => {
  const gap = idleTimes().filter(({ end, start }) => end - start > 1500)[20];
  const opened = await openTimeline(madePage, `#timeline?t=${gap.start - 3000},${gap.end + 3000}`);
  const { page } = opened;
  const [start, end] = await shownSpan(page);
  const box = await page.locator("canvas.timeline").boundingBox();
  const gutter = Number(await page.getAttribute("canvas.timeline", "data-gutter"));
  const x = box.x + gutter + (((gap.start + gap.end) / 2 - start) / (end - start)) * (box.width - gutter);
  await page.mouse.move(x, box.y + STREAM_Y);
  assert.match(await page.textContent(".tooltip:visible"), new RegExp(`^Idle for ${us(gap.end - gap.start)}`));
  await page.mouse.down();
  await page.mouse.up();
  const cause = CAUSES[slices.gap[gap.after] - 1];
  const check = async () => {
    const words = await side(page, "gap").textContent();
    const call = slices.call[gap.after] - 1;
    const after = made.tables.calls.start[call] - gap.start;
    const { start: called, duration: took } = made.tables.calls;
    const inCalls = called.reduce(
      (sum, at, i) => sum + Math.max(0, Math.min(at + took[i], gap.end) - Math.max(at, gap.start)),
      0,
    );
    assert.ok(
      words.includes(`outside of CUDA calls for ${us(gap.end - gap.start - inCalls)}`) &&
        words.includes(`in CUDA calls for ${us(inCalls)}`),
      words,
    );
    for (const part of [
      `GPU 0 idle for ${us(gap.end - gap.start)}`,
      view.parts[cause].label,
      view.parts[cause].why,
      nameOf(gap.before),
      nameOf(gap.after),
      "decode 0",
      made.names[made.tables.calls.name[call]],
      `${us(Math.abs(after))} ${after >= 0 ? "after" : "before"}`,
    ])
      assert.ok(words.includes(part), `${part} in ${words}`);
  };
  await check();
  await page.waitForFunction((text) => location.hash.includes(text), `sel=${gap.start}%2C${gap.end}`);
  await page.reload();
  await page.waitForSelector(".timeline-mount[data-ready=true]");
  await check();
  // The work at its edges is one click away.
  await side(page, "gap")
    .locator("button", { hasText: nameOf(gap.after) })
    .last()
    .click();
  assert.match(await side(page, "pinned").textContent(), new RegExp(nameOf(gap.after).replace(/[()]/g, ".")));
  await close(opened);
});

test("a clicked step, and a clicked stage, show the sums of their own work", async () => {
  const step = 7;
  const opened = await openTimeline(madePage, `#timeline?pin=steps:${step}`);
  const { page } = opened;
  const rows = slices.step.flatMap((own, row) => (own === step + 1 ? [row] : []));
  const inside = (row) =>
    Math.min(slices.start[row] + slices.duration[row], steps.start[step] + steps.duration[step]) -
    Math.max(slices.start[row], steps.start[step]);
  const own = rows.filter((row) => inside(row) > 0);
  const sums = async (caption) =>
    Object.fromEntries(
      await page.$$eval(`.side table:has(caption:text-is("${caption}")) tbody tr`, (all) =>
        all.map((row) => [
          row.querySelector("th").textContent.trim(),
          [...row.querySelectorAll("[data-exact]")].slice(0, 2).map((cell) => Number(cell.dataset.exact)),
        ]),
      ),
    );
  const expected = {};
  for (const row of own) {
    const name = nameOf(row);
    const [count, time] = expected[name] ?? [0, 0];
    expected[name] = [count + 1, time + inside(row)];
  }
  const shown = await sums("Pinned step by kernel");
  assert.deepEqual(Object.keys(shown).sort(), Object.keys(expected).sort());
  for (const [name, [count, time]] of Object.entries(shown)) {
    assert.equal(count, expected[name][0], name);
    assert.ok(Math.abs(time * 1e3 - expected[name][1]) < 1e-6, name);
  }
  assert.match(await side(page, "pinned").textContent(), new RegExp(`${own.length} operations`));
  await page.evaluate(() => (location.hash = "#timeline?pin=stages:0"));
  await page.waitForFunction(() => document.querySelector(".side .pinned h2")?.textContent.startsWith("decode 0"));
  const counts = Object.values(await sums("Pinned stage by class")).reduce((sum, [count]) => sum + count, 0);
  assert.equal(counts, slices.start.length);
  await close(opened);
});

test("class, stage and layer filter the timeline", async () => {
  const wanted = 2;
  const layer = "layer_03";
  const rows = slices.kernel.flatMap((kernel, row) =>
    made.kernels[kernel].class === wanted && made.names[slices.layer[row] - 1] === layer ? [row] : [],
  );
  const opened = await openTimeline(
    madePage,
    `#timeline?class=${encodeURIComponent(view.classes[wanted].id)}&layer=${layer}`,
  );
  const { page } = opened;
  const time = rows.reduce((sum, row) => sum + slices.duration[row], 0);
  assert.ok(rows.length > 10);
  assert.ok(
    (await page.textContent(".counts")).startsWith(
      `${rows.length} hits, ${time >= 1e6 ? `${(time / 1e6).toFixed(3)} ms` : us(time)} of GPU work`,
    ),
    await page.textContent(".counts"),
  );
  assert.equal(
    await page.getAttribute(`.legend button:has-text("${view.classes[wanted].label}")`, "aria-pressed"),
    "true",
  );
  await page.click('button[aria-label="Next hit"]');
  await page.waitForFunction((row) => location.hash.includes(`pin=slices%3A${row}`), rows[0]);
  // The classes of the legend add up.
  await page.click(`.legend button:has-text("${view.classes[0].label}")`);
  const both = slices.kernel.filter(
    (kernel, row) => [0, wanted].includes(made.kernels[kernel].class) && made.names[slices.layer[row] - 1] === layer,
  ).length;
  assert.ok((await page.textContent(".counts")).startsWith(`${both} hits`));
  assert.match(await page.getAttribute(".counts a", "href"), /^#kernels\?class=.*layer=layer_03/);
  await close(opened);
});

test("kernels of a layer, and a kernel's launches, are those of the timeline", async () => {
  const header = JSON.parse(unpackBlock(fs.readFileSync(run.page, "utf8"), "timeline"));
  const layer = run.profile.layers.find((each) => each.stage === "decode" && !each.part && !each.outside);
  const passes = run.profile.layer_summary.stages.find((each) => each.stage === "decode").passes;
  const opened = await open(run.page, `#kernels?stage=decode&layer=${layer.name}`);
  const { page } = opened;
  await page.waitForFunction(() => / calls, /.test(document.querySelector(".summary").textContent));
  const [, calls, total] = /([\d,]+) calls, ([\d.]+) ms/.exec(await page.textContent(".summary"));
  assert.equal(Number(calls.replace(",", "")), Math.round(layer.kernels_per_step * passes));
  assert.ok(Math.abs(Number(total) - layer.ms_per_step * passes) < 1e-4, `${total} ms`);
  await page.click("main .expander");
  await page.waitForSelector(".launches table");
  const times = await page.$$eval(".launches tbody td:nth-child(2) .figure", (all) =>
    all.map((each) => Number(each.dataset.exact)),
  );
  assert.ok(times.length > 1 && times.every((time, i) => i === 0 || time <= times[i - 1]), "slowest first");
  const place = await page.locator(".launches tbody a").first().getAttribute("href");
  await page.locator(".launches tbody a").first().click();
  await page.waitForSelector(".side .pinned");
  assert.match(place, /^#timeline\?pin=slices%3A\d+$/);
  assert.ok((await page.textContent(".side .pinned")).includes(`${(times[0] * 1e3).toFixed(3)} us`));
  assert.equal(header.version, 1);
  await close(opened);
});

test("links of gaps, steps and findings arrive with their span selected", async () => {
  const { profile } = run;
  const origin = BigInt(JSON.parse(unpackBlock(fs.readFileSync(run.page, "utf8"), "timeline")).origin_ns);
  const opened = await open(run.page, "#steps?step=5");
  const { page } = opened;
  const selected = async () =>
    (await page.textContent('.side .selection dt:text-is("from, to") + dd')).match(/[\d.]+/g).map(Number);
  const arrive = async (locator) => {
    await locator.click();
    await page.waitForSelector(".timeline-mount[data-ready=true] .side .selection");
    const found = await selected();
    await page.goBack();
    await page.waitForSelector('main:not([data-view="timeline"])');
    return found;
  };
  const near = ([from, to], startNs, ms, what) => {
    const start = Number(BigInt(Math.round(startNs)) - origin) / 1e6;
    assert.ok(
      Math.abs(from - start) < 2e-3 && Math.abs(to - start - ms) < 2e-3,
      `${what}: ${from} to ${to}, not ${start} to ${start + ms}`,
    );
  };
  const step = profile.steps[5];
  near(await arrive(page.locator(".panel a")), step.start_ms * 1e6, step.wall_ms, "a step");
  const gap = profile.gaps[3];
  const startOf = (each) =>
    profile.stages.find((stage) => stage.name === each.stage).instances[each.instance].start_ns +
    each.after_start_ms * 1e6;
  near(
    await arrive(page.locator('table:has(caption:text-is("Longest idle gaps")) tbody a').nth(3)),
    startOf(gap),
    gap.ms,
    "a gap",
  );
  await page.evaluate(() => (location.hash = "#overview"));
  await page.waitForSelector('main[data-view="overview"]');
  const finding = page.locator(".findings li").filter({ hasText: "Longest in the timeline" }).first();
  const longest = profile.gaps
    .filter((each) => each.stage === profile.findings[0].stage)
    .reduce((a, b) => (b.ms > a.ms ? b : a));
  near(
    await arrive(finding.locator("a", { hasText: "Longest in the timeline" })),
    startOf(longest),
    longest.ms,
    "a finding",
  );
  await close(opened);
});

/** The made capture with one counter that is a share, and one that was read once. */
function withCounters() {
  const timeline = makeTimeline();
  const power = timeline.tracks.findIndex((track) => track.label === "power");
  Object.assign(timeline.tracks[power], { label: "SM clock", unit: "MHz", count: 1 });
  const share = timeline.tracks.findIndex((track) => track.label === "DRAM read");
  Object.assign(timeline.tracks[share], { label: "SMs active", unit: "%", max: 50 });
  const { samples } = timeline.tables;
  const { first, count } = timeline.tracks[share];
  for (let row = first; row < first + count; row++) samples.value[row] = 50;
  return timeline;
}

test("counters of shares are of 100 %, and one sample takes a line", async () => {
  const file = path.join(folder, "counters.html");
  fs.writeFileSync(file, withBlocks(html, encodeTimeline(withCounters())));
  const opened = await openTimeline(file, "#timeline", {
    deviceScaleFactor: 1,
    viewport: { width: 1280, height: 900 },
  });
  const { page } = opened;
  await shownSpan(page);
  // Runs of lines of the canvas in which most pixels have a color.
  const runsOf = (red, green) =>
    page.evaluate(
      ([red, green]) => {
        const canvas = document.querySelector("canvas.timeline");
        const copy = Object.assign(document.createElement("canvas"), {
          width: canvas.width,
          height: canvas.height,
        }).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data, width, height } = copy.getImageData(0, 0, canvas.width, canvas.height);
        const runs = [];
        for (let y = 0, last = -2; y < height; y++) {
          let count = 0;
          for (let x = 300; x < 900; x++)
            count += data[4 * (y * width + x)] === red && data[4 * (y * width + x) + 1] === green ? 1 : 0;
          if (count < 400) continue;
          if (last !== y - 1) runs.push(0);
          runs[runs.length - 1]++;
          last = y;
        }
        return runs;
      },
      [red, green],
    );
  const [share] = await runsOf(0xb7, 0xc7);
  const clock = (await runsOf(0xf5, 0xf6)).at(-1);
  // Grown to three times its height of 34 pixels, and half full.
  assert.ok(Math.abs(share - 50) <= 3, `a share of 50 % fills ${share} pixels of 102`);
  assert.ok(clock > 4 && clock <= 16, `one sample takes ${clock} pixels`);
  await close(opened);
});
