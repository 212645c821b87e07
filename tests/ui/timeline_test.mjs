// The timeline in a real browser: a made capture whose every row is known, and real ones against profile.json.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { analyze, close, closeBrowser, data, folder, llmprof, open, openTimeline, shownSpan } from "./browser.mjs";
import { encodeTimeline, unpackBlock, withBlocks } from "./encode.mjs";
import { makeTimeline } from "./made_timeline.mjs";

after(closeBrowser);

const real = analyze("eager", data("nsys_sqlite/eager.sqlite"));
const made = makeTimeline();
const { slices } = made.tables;
const madePage = path.join(folder, "made.html");
const classes = JSON.parse(unpackBlock(fs.readFileSync(real.page, "utf8"), "view")).classes;
fs.writeFileSync(madePage, withBlocks(fs.readFileSync(real.page, "utf8"), encodeTimeline(made)));

const TOP = 50;
const gutterOf = async (page) => Number(await page.getAttribute("canvas.timeline", "data-gutter"));
const box = (page) => page.locator("canvas.timeline").boundingBox();
const panel = (page, selector) => page.locator(`.side .${selector}`);

/** A step's name: its place in its instance, of which the real profile beside the made timeline knows some. */
const stepWords = (index) => `step ${real.profile.steps[index]?.step_of_instance ?? index}`;

/** Where a time lies on the screen. */
async function xOf(page, time) {
  const [start, end] = await shownSpan(page);
  const canvas = await box(page);
  const gutter = await gutterOf(page);
  return canvas.x + gutter + ((time - start) / (end - start)) * (canvas.width - gutter);
}

const timeAt = ([start, end], canvas, gutter, x) =>
  start + ((x - canvas.x - gutter) / (canvas.width - gutter)) * (end - start);

/** The middle of a track by its label, found as the page lays them out: it pins what lies there. */
async function yOfStream(page) {
  const canvas = await box(page);
  // Three tracks above the stream: stages, steps, layers of 20, 16 and 16 pixels, gaps of 4, a heading of 20.
  return canvas.y + TOP + 4 + 24 + 20 + 20 + 20 + 15;
}

/** Sums over rows, clipped, without the page's code. */
function expectedSums(start, end) {
  const byClass = new Map();
  const byKernel = new Map();
  const edges = [];
  for (let row = 0; row < slices.start.length; row++) {
    const from = Math.max(slices.start[row], start);
    const to = Math.min(slices.start[row] + slices.duration[row], end);
    if (to <= from) continue;
    const kernel = made.kernels[slices.kernel[row]];
    for (const [map, key] of [
      [byClass, classes[kernel.class].label],
      [byKernel, made.names[kernel.short]],
    ]) {
      const sum = map.get(key) ?? { ns: 0, count: 0 };
      map.set(key, { ns: sum.ns + to - from, count: sum.count + 1 });
    }
    edges.push([from, 1], [to, -1]);
  }
  edges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let busy = 0;
  let depth = 0;
  edges.forEach(([time, change], i) => {
    if (depth > 0) busy += time - edges[i - 1][0];
    depth += change;
  });
  return { byClass, byKernel, busy };
}

async function assertSums(page, start, end) {
  const expected = expectedSums(start, end);
  const number = async (attribute) => Number(await page.getAttribute(`.side .selection [${attribute}]`, attribute));
  assert.equal(await number("data-busy-ns"), expected.busy);
  assert.equal(await number("data-idle-ns"), end - start - expected.busy);
  for (const [caption, sums] of [
    ["Selected span by class", expected.byClass],
    ["Selected span by kernel", expected.byKernel],
  ]) {
    const shown = await page.$$eval(`.side table:has(caption:text-is("${caption}")) tbody tr`, (rows) =>
      rows.map((row) => [
        row.querySelector("th").textContent.trim(),
        ...[...row.querySelectorAll("[data-exact]")].map((cell) => Number(cell.dataset.exact)),
      ]),
    );
    assert.equal(shown.length, sums.size, caption);
    for (const [name, count, us, share] of shown) {
      assert.equal(count, sums.get(name).count, name);
      assert.ok(Math.abs(us * 1000 - sums.get(name).ns) < 1e-6, `${name}: ${us} us`);
      assert.ok(Math.abs(share - sums.get(name).ns / (end - start)) < 1e-12, name);
    }
  }
}

test("wheel, drag and keys zoom and pan", async () => {
  const opened = await openTimeline(madePage);
  const { page } = opened;
  const canvas = await box(page);
  const whole = await shownSpan(page);
  assert.ok(whole[0] <= 0 && whole[1] >= made.span);
  const x = canvas.x + 600;
  await page.mouse.move(x, canvas.y + 400);
  const gutter = await gutterOf(page);
  const under = timeAt(whole, canvas, gutter, x);
  await page.mouse.wheel(0, -600);
  const zoomed = await shownSpan(page);
  assert.ok(zoomed[1] - zoomed[0] < (whole[1] - whole[0]) / 2, "the wheel zooms in");
  assert.ok(
    Math.abs(timeAt(zoomed, canvas, gutter, x) - under) < (zoomed[1] - zoomed[0]) / 500,
    "what is under the pointer stays there",
  );
  await page.mouse.down();
  await page.mouse.move(x - 200, canvas.y + 400, { steps: 4 });
  await page.mouse.up();
  const panned = await shownSpan(page);
  const moved = ((zoomed[1] - zoomed[0]) * 200) / (canvas.width - gutter);
  assert.ok(Math.abs(panned[0] - zoomed[0] - moved) < moved / 20, "dragging pans");
  for (const [key, holds] of [
    ["w", (before, after) => after[1] - after[0] < before[1] - before[0]],
    ["s", (before, after) => after[1] - after[0] > before[1] - before[0]],
    ["d", (before, after) => after[0] > before[0]],
    ["a", (before, after) => after[0] < before[0]],
  ]) {
    const before = await shownSpan(page);
    await page.keyboard.press(key);
    assert.ok(holds(before, await shownSpan(page)), key);
  }
  for (let i = 0; i < 12; i++) await page.mouse.wheel(0, -1500);
  const closest = await shownSpan(page);
  assert.ok(closest[1] - closest[0] <= 1000, "down to one kernel");
  await page.click("text=Whole capture");
  assert.deepEqual(await shownSpan(page), whole);
  await close(opened);
});

test("hover shows a kernel's facts, a click pins it, the address restores all", async () => {
  const row = 40;
  const start = slices.start[row];
  const end = start + slices.duration[row];
  const opened = await openTimeline(madePage, `#timeline?t=${start - 20000},${end + 20000}`);
  const { page } = opened;
  const kernel = made.kernels[slices.kernel[row]];
  const y = await yOfStream(page);
  await page.mouse.move(await xOf(page, (start + end) / 2), y);
  const tip = await page.textContent(".tooltip:visible");
  const shape = made.shapes[slices.shape[row] - 1];
  const call = slices.call[row] - 1;
  const delay = ((start - made.tables.calls.start[call]) / 1e3).toFixed(3);
  for (const part of [
    made.names[kernel.short],
    classes[kernel.class].label,
    `${(slices.duration[row] / 1e3).toFixed(3)} us`,
    `${shape[0]} x ${shape[1]} x ${shape[2]}`,
    "decode 0",
    `${stepWords(made.tables.steps.index[slices.step[row] - 1])} (decode)`,
    made.names[slices.layer[row] - 1],
    "cudaLaunchKernel",
    `${delay} us`,
  ])
    assert.ok(tip.includes(part), `${part} in ${tip}`);
  await page.mouse.down();
  await page.mouse.up();
  await panel(page, "pinned").waitFor();
  assert.ok((await panel(page, "pinned").textContent()).includes(made.names[kernel.name]));
  await page.waitForFunction((text) => location.hash.includes(text), `pin=slices%3A${row}`);
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((text) => location.hash.includes(text), `pin=slices%3A${row + 1}`);
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction((text) => location.hash.includes(text), `pin=slices%3A${row}`);
  const shown = await shownSpan(page);
  await page.reload();
  await page.waitForSelector(".timeline-mount[data-ready=true]");
  assert.ok((await panel(page, "pinned").textContent()).includes(made.names[kernel.name]));
  const restored = await shownSpan(page);
  assert.ok(Math.abs(restored[0] - shown[0]) <= 1 && Math.abs(restored[1] - shown[1]) <= 1);
  await page.keyboard.press("Escape");
  assert.equal(await panel(page, "pinned").count(), 0);
  await close(opened);
});

test("a selected span sums its rows, clipped at its edges", async () => {
  const opened = await openTimeline(madePage);
  const { page } = opened;
  const canvas = await box(page);
  await page.keyboard.down("Shift");
  await page.mouse.move(canvas.x + 400, canvas.y + 300);
  await page.mouse.down();
  await page.mouse.move(canvas.x + 777, canvas.y + 300, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.waitForFunction(() => location.hash.includes("sel="));
  const [start, end] = new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get("sel").split(",").map(Number);
  assert.ok(end > start && end < made.span);
  await assertSums(page, start, end);
  // One that cuts two kernels in half.
  const from = slices.start[10] + Math.floor(slices.duration[10] / 2);
  const to = slices.start[14] + Math.floor(slices.duration[14] / 3);
  await page.evaluate((place) => (location.hash = place), `#timeline?sel=${from},${to}`);
  await page.waitForFunction(
    (text) => document.querySelector(".side .selection h2")?.textContent.includes(text),
    ((to - from) / 1e3).toFixed(3),
  );
  await assertSums(page, from, to);
  await close(opened);
});

test("Enter right after typing goes to the first hit and stays there", async () => {
  const opened = await openTimeline(madePage);
  const { page } = opened;
  await page.keyboard.press("/");
  await page.keyboard.type("attention");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".counts").textContent.startsWith("1 of "));
  await page.waitForTimeout(600);
  assert.ok((await page.textContent(".counts")).startsWith("1 of "));
  await close(opened);
});

test("search counts hits in the whole capture and goes from one to the next", async () => {
  const opened = await openTimeline(madePage);
  const { page } = opened;
  const wanted = made.kernels.findIndex((kernel) => made.names[kernel.short] === "attention forward");
  const rows = slices.kernel.flatMap((kernel, row) => (kernel === wanted ? [row] : []));
  const time = rows.reduce((sum, row) => sum + slices.duration[row], 0);
  await page.keyboard.press("/");
  await page.keyboard.type("ATTENTION");
  await page.waitForFunction(
    (count) => document.querySelector(".counts").textContent.startsWith(`${count} hits`),
    String(rows.length),
  );
  assert.ok((await page.textContent(".counts")).includes(`${(time / 1e6).toFixed(3)} ms`));
  await page.keyboard.press("Enter");
  await page.waitForFunction((row) => location.hash.includes(`pin=slices%3A${row}`), rows[0]);
  await page.waitForFunction(() => document.querySelector(".counts").textContent.startsWith("1 of "));
  await page.click('button[aria-label="Next hit"]');
  await page.waitForFunction((row) => location.hash.includes(`pin=slices%3A${row}`), rows[1]);
  await page.click('button[aria-label="Previous hit"]');
  await page.click('button[aria-label="Previous hit"]');
  await page.waitForFunction((row) => location.hash.includes(`pin=slices%3A${row}`), rows[rows.length - 1]);
  const [start, end] = await shownSpan(page);
  const last = rows[rows.length - 1];
  assert.ok(start < slices.start[last] && end > slices.start[last], "the hit is in view");
  await page.fill(".search input", "no such kernel");
  await page.waitForFunction(() => document.querySelector(".counts").textContent === "no hit");
  await close(opened);
});

/** How many pixels of each color a part of the canvas has. */
async function colorsOf(page, x, y, width, height) {
  await shownSpan(page);
  return page.evaluate(([x, y, width, height]) => {
    const copy = document.createElement("canvas");
    copy.width = width;
    copy.height = height;
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(document.querySelector("canvas.timeline"), -x, -y);
    const { data } = context.getImageData(0, 0, width, height);
    const found = {};
    for (let i = 0; i < data.length; i += 4) {
      const channels = [data[i], data[i + 1], data[i + 2]].map((value) => value.toString(16).padStart(2, "0"));
      const color = `#${channels.join("")}`;
      found[color] = (found[color] ?? 0) + 1;
    }
    return found;
  }, [x, y, width, height].map(Math.round));
}

/** A window that all tracks just fit into; with more room streams and counters grow. */
const NO_ROOM = 499;

test("the canvas shows classes in their colors, arrows from launches, and counters", async () => {
  const opened = await openTimeline(madePage, "#timeline", {
    deviceScaleFactor: 1,
    viewport: { width: 1280, height: NO_ROOM },
  });
  const { page } = opened;
  const row = 40;
  const start = slices.start[row];
  const go = (place) => page.evaluate((hash) => (location.hash = hash), place);
  await go(`#timeline?t=${start},${start + slices.duration[row]}`);
  const canvas = await box(page);
  const y = (await yOfStream(page)) - canvas.y;
  assert.deepEqual(await colorsOf(page, 600, y - 12, 4, 2), {
    [classes[made.kernels[slices.kernel[row]].class].color.light]: 8,
  });
  // Between the first stream and the thread of calls lies the second stream.
  const gutter = await gutterOf(page);
  const between = [gutter + 1, y + 16, 700, 30];
  const ink = "#1b1e23";
  const call = made.tables.calls.start[slices.call[row] - 1];
  await go(`#timeline?t=${call - 5000},${start + 10000}`);
  const without = (await colorsOf(page, ...between))[ink] ?? 0;
  await go(`#timeline?t=${call - 5000},${start + 10000}&pin=slices:${row}`);
  await panel(page, "pinned").waitFor();
  const shown = (await colorsOf(page, ...between))[ink] ?? 0;
  assert.ok(shown > without + 15, `an arrow crosses the second stream: ${shown} pixels, ${without} without it`);
  await go("#timeline");
  const { height } = await box(page);
  const all = await colorsOf(page, gutter, TOP, 800, height - TOP);
  const [low, high] = [0.3, 0.98];
  // Two counters of 34 pixels, whose samples lie between 0.4 and 0.9 of their largest value.
  const share = all["#b7c7da"] / (2 * 32 * 800);
  assert.ok(share > low && share < high, `counters fill ${share} of their tracks`);
  await page.setViewportSize({ width: 1280, height: 1000 });
  await page.waitForFunction(
    (before) => document.querySelector("canvas.timeline").getBoundingClientRect().height > before,
    height,
  );
  const grown = await colorsOf(page, gutter, TOP, 800, (await box(page)).height - TOP);
  const growth = grown["#b7c7da"] / all["#b7c7da"];
  assert.ok(Math.abs(growth - 3) < 0.4, `counters are ${growth} times as high where there is room`);
  await close(opened);
});

test("the timeline of a real capture holds what profile.json counts", async () => {
  const header = JSON.parse(unpackBlock(fs.readFileSync(real.page, "utf8"), "timeline"));
  const opened = await openTimeline(real.page, `#timeline?sel=0,${header.span_ns}`);
  const shown = await opened.page.$$eval(
    '.side table:has(caption:text-is("Selected span by class")) tbody tr',
    (rows) =>
      Object.fromEntries(
        rows.map((row) => [
          row.querySelector("th").textContent.trim(),
          [...row.querySelectorAll("[data-exact]")].map((cell) => Number(cell.dataset.exact)),
        ]),
      ),
  );
  for (const each of real.profile.classes) {
    const label = classes.find((one) => one.id === each.class).label;
    assert.equal(shown[label][0], each.calls, label);
    assert.ok(Math.abs(shown[label][1] / 1e3 - each.total_ms) < 1e-9, label);
  }
  const busy = Number(await opened.page.getAttribute(".side [data-busy-ns]", "data-busy-ns"));
  assert.ok(Math.abs(busy / 1e6 - real.profile.device_time[0].busy_ms) < 1e-9);
  await close(opened);
});

test("steps lead to their place in the timeline", async () => {
  const { profile } = real;
  const step = profile.steps.length - 1;
  const opened = await open(real.page, `#steps?step=${step}`);
  const { page } = opened;
  await page.click(".panel >> text=Show in the timeline");
  await page.waitForSelector(".timeline-mount[data-ready=true]");
  const header = JSON.parse(unpackBlock(fs.readFileSync(real.page, "utf8"), "timeline"));
  const [start, end] = await shownSpan(page);
  const from = profile.steps[step].start_ms * 1e6 - Number(header.origin_ns);
  assert.ok(
    start < from &&
      end > from + profile.steps[step].wall_ms * 1e6 &&
      end - start < profile.steps[step].wall_ms * 1e6 * 2,
  );
  await close(opened);
});

test("captures of unrelated clocks each begin at 0, and the view says so", async () => {
  // Up since 5.6 hours and since 40 seconds: on one axis there were nothing to see.
  const two = analyze("two clocks", data("collector_log/request.llmtrace"), data("h200-repeats/run-01.llmtrace.gz"));
  const header = JSON.parse(unpackBlock(fs.readFileSync(two.page, "utf8"), "timeline"));
  assert.deepEqual(
    header.clocks.map((clock) => clock.label),
    ["request.llmtrace", "run-01.llmtrace.gz"],
  );
  assert.equal(header.origin_ns, "0");
  const longest = Math.max(...header.clocks.map((clock) => Number(BigInt(clock.last_ns) - BigInt(clock.first_ns))));
  assert.equal(header.span_ns, longest);
  assert.ok(header.span_ns < 60e6, `${header.span_ns} ns`);
  const opened = await openTimeline(two.page);
  const { page } = opened;
  assert.equal(
    await page.textContent(".timeline-view .notice"),
    "The clocks of these captures are unrelated: each begins at 0 (request.llmtrace; run-01.llmtrace.gz).",
  );
  const [first, last] = await shownSpan(page);
  assert.ok(
    first <= 0 && first > -0.05 * header.span_ns && last >= header.span_ns && last < 1.05 * header.span_ns,
    `${first} ${last}`,
  );
  // Links lead to the capture's own time, wherever its clock stood.
  const step = two.profile.steps.at(-1);
  await page.evaluate((place) => (location.hash = place), `#steps?step=${two.profile.steps.length - 1}`);
  await page.click(".panel >> text=Show in the timeline");
  await page.waitForSelector(".timeline-mount[data-ready=true]");
  const [start, end] = await shownSpan(page);
  const from = step.start_ms * 1e6 - Number(header.clocks[1].first_ns);
  assert.ok(
    start < from + 1 && end > from + step.wall_ms * 1e6 - 1 && end - start < step.wall_ms * 1e6 * 2,
    `${start} ${from} ${end}`,
  );
  await close(opened);
  const one = await openTimeline(real.page);
  assert.equal(await one.page.locator(".timeline-view .notice").count(), 0);
  await close(one);
});

test("without captures the page says that its timeline is missing", async () => {
  const out = path.join(folder, "again");
  fs.mkdirSync(out);
  fs.copyFileSync(path.join(real.out, "profile.json"), path.join(out, "profile.json"));
  execFileSync(llmprof, ["report", path.join(out, "profile.json"), "--out", path.join(out, "reports")], {
    stdio: "pipe",
  });
  const opened = await open(path.join(out, "reports", "report.html"), "#timeline");
  assert.match(await opened.page.textContent("main"), /The timeline is missing/);
  await close(opened);
});

test("a kernel named like HTML stays text", async () => {
  const hostile = `<img src=x onerror="document.title='owned'"></script><script>document.title='owned'</script>`;
  const file = path.join(folder, "hostile.sqlite");
  fs.copyFileSync(data("nsys_sqlite/eager.sqlite"), file);
  const rename = `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
longest = 'SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1 ORDER BY sum("end" - start) DESC LIMIT 1'
database.execute("UPDATE StringIds SET value = ? WHERE id = (" + longest + ")", (sys.argv[2],))
database.commit()
`;
  execFileSync("python3", ["-c", rename, file, hostile]);
  const { page: report, profile } = analyze("hostile", file);
  assert.ok(
    profile.kernels.some((kernel) => kernel.kernel_name === hostile),
    "the capture holds the name",
  );
  const opened = await open(report);
  const { page } = opened;
  for (const view of ["overview", "kernels", "steps", "layers", "roofline", "operators", "provenance", "timeline"]) {
    await page.evaluate((place) => (location.hash = place), `#${view}`);
    await page.waitForSelector(`main[data-view="${view}"]`);
    if (view === "timeline") await page.waitForSelector(".timeline-mount[data-ready=true]");
    if (view === "kernels") {
      await page.click("main .expander");
      assert.equal(await page.textContent(".kernel-detail .full-name"), hostile);
    }
    assert.equal(await page.$("img, main script"), null, view);
    assert.doesNotMatch(await page.title(), /owned/);
  }
  await page.keyboard.press("/");
  await page.keyboard.type("onerror");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".side .pinned");
  assert.ok((await page.textContent(".side .pinned")).includes(hostile.slice(0, 20)));
  assert.equal(await page.$("img"), null);
  assert.doesNotMatch(await page.title(), /owned/);
  await close(opened);
});
