// The view of GPU memory: the ledger over time and at one time, its peak, and PyTorch's snapshots.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { analyze, close, closeBrowser, data, folder, open, reportOf } from "./browser.mjs";
import { withLedger } from "./made_memory.mjs";

after(closeBrowser);

const run = analyze("run", data("h200-runs/llama_1b"));
const made = withLedger(run.profile);
const ledger = made.memory_ledger;
const madeFile = path.join(folder, "memory.json");
fs.writeFileSync(madeFile, JSON.stringify(made));
const madePage = reportOf("memory", madeFile);
const recorded = analyze("allocations", data("collector_log/memory.llmtrace"));
const gb = (bytes) => `${(bytes / 1e9).toFixed(2)} GB`;

/** The exact bytes of the table of one time, by the names of its rows. */
const tableRows = (page) =>
  page.$$eval('table:has(caption:text("Use of GPU memory: ")) tbody tr', (rows) =>
    rows.map((row) => ({
      name: row.querySelector("th").textContent.trim(),
      bytes: Number(row.querySelector("td [data-of=B]").dataset.exact),
    })),
  );
const sumOf = (rows) => rows.reduce((sum, row) => sum + row.bytes, 0);
const pressed = (page) =>
  page.$$eval(".moments button[aria-pressed=true]", (all) => all.map((each) => each.textContent));

test("the view opens with the peak, whose rows sum to what is used", async () => {
  const opened = await open(madePage, "#memory");
  const { page } = opened;
  const peak = ledger.moments.find((moment) => moment.gpu === 0 && moment.kind === "peak");
  assert.deepEqual(await pressed(page), [`peak ${gb(peak.used_bytes)}`]);
  assert.equal(sumOf(await tableRows(page)), peak.used_bytes);
  assert.ok((await page.textContent("main")).includes(`${gb(peak.used_bytes)} of ${gb(peak.total_bytes)} are used`));
  await close(opened);
});

test("each moment shows its rows, and the address restores it", async () => {
  const opened = await open(recorded.page, "#memory");
  const { page } = opened;
  const { moments, rows } = recorded.profile.memory_ledger;
  assert.equal(await page.locator(".moments button").count(), moments.length);
  for (const [index, moment] of moments.entries()) {
    await page.click(`.moments button >> nth=${index}`);
    const shown = await tableRows(page);
    assert.equal(sumOf(shown), moment.used_bytes);
    assert.deepEqual(
      shown.map((row) => row.bytes).sort((a, b) => a - b),
      rows
        .filter((row) => row.moment === index)
        .map((row) => row.bytes)
        .sort((a, b) => a - b),
    );
  }
  await page.click(".moments button >> nth=0");
  assert.match(page.url(), /#memory\?moment=0$/);
  await page.reload();
  await page.waitForSelector("#app[data-ready=true]");
  assert.equal(await page.getAttribute(".moments button >> nth=0", "aria-pressed"), "true");
  await close(opened);
});

test("readings are reached by keyboard, and each has the rows of its time", async () => {
  const opened = await open(madePage, "#memory");
  const { page } = opened;
  const points = ledger.timeline.filter((point) => point.gpu === 0);
  const announced = () => page.textContent(".area-chart [aria-live]");
  await page.focus(".area-chart");
  await page.keyboard.press("Home");
  assert.ok((await announced()).startsWith(`0.000 ms: ${gb(points[0].used_bytes)} in use`), await announced());
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await pressed(page), []);
  assert.equal(sumOf(await tableRows(page)), points[2].used_bytes);
  assert.ok(page.url().endsWith(`t=${points[2].time_ms}`), page.url());
  await page.reload();
  await page.waitForSelector("#app[data-ready=true]");
  assert.equal(sumOf(await tableRows(page)), points[2].used_bytes, "the address restores it");
  await page.focus(".area-chart");
  await page.keyboard.press("PageDown");
  assert.equal(sumOf(await tableRows(page)), points[22].used_bytes);
  await page.keyboard.press("End");
  assert.equal(sumOf(await tableRows(page)), points.at(-1).used_bytes);
  assert.equal((await pressed(page)).length, 1, "the last reading is the moment at the end");
  await close(opened);
});

/** Where the chart draws a time, in ms since the first reading. */
async function placeOf(page, share) {
  const box = await page.locator(".area-chart svg").first().boundingBox();
  const left = await page.$eval(".area-chart .grid", (line) => Number(line.getAttribute("x1")));
  const right = await page.$eval(".area-chart .grid", (line) => Number(line.getAttribute("x2")));
  return { x: box.x + left + share * (right - left), y: box.y + 100 };
}

/** The first decode, and when it began on the axis of the first GPU's ledger. */
function firstDecode() {
  const decode = made.stages.find((stage) => stage.name === "decode").instances[0];
  const from = (decode.start_ns - ledger.gpus[0].start_ns) / 1e6;
  return { points: ledger.timeline.filter((point) => point.gpu === 0), decode, from };
}

test("areas and stages are drawn at their times", async () => {
  const opened = await open(madePage, "#memory");
  const { page } = opened;
  const { points, decode, from } = firstDecode();
  const end = points.at(-1).time_ms;
  const parts = new Set(points.flatMap((point) => Object.keys(point.parts_bytes)));
  assert.equal(await page.locator(".area-chart .layer").count(), parts.size);
  const { x } = await placeOf(page, from / end);
  const spans = await page.$$eval(".area-chart .span", (all) =>
    all.map((each) => {
      const box = each.getBoundingClientRect();
      return [box.left, box.width];
    }),
  );
  const width = (await placeOf(page, (from + decode.wall_ms) / end)).x - x;
  assert.ok(
    spans.some(([left, size]) => Math.abs(left - x) < 1 && Math.abs(size - width) < 1),
    `a span at ${x} of ${width}: ${spans}`,
  );
  await close(opened);
});

test("the pointer shows what is used, a click chooses it, dragging zooms", async () => {
  const opened = await open(madePage, "#memory");
  const { page } = opened;
  const points = ledger.timeline.filter((point) => point.gpu === 0);
  const share = 100.5 / (points.length - 1);
  const { x, y } = await placeOf(page, share);
  await page.mouse.move(x, y);
  assert.ok((await page.textContent(".tooltip")).startsWith(`${gb(points[100].used_bytes)} in use`));
  await page.mouse.down();
  await page.mouse.up();
  assert.equal(sumOf(await tableRows(page)), points[100].used_bytes);
  const layer = () => page.getAttribute(".area-chart .layer", "d");
  const whole = await layer();
  assert.ok(!(await page.isVisible(".area-block button")));
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 200, y);
  await page.mouse.up();
  assert.notEqual(await layer(), whole);
  await page.click('.area-block button:text("Show all")');
  assert.equal(await layer(), whole);
  await page.focus(".area-chart");
  await page.keyboard.press("+");
  assert.notEqual(await layer(), whole);
  await page.keyboard.press("-");
  assert.equal(await layer(), whole);
  await close(opened);
});

test("a time within a stage leads to that stage in the timeline", async () => {
  const { points, decode, from } = firstDecode();
  const at = points.find((point) => point.time_ms > from && point.time_ms < from + decode.wall_ms);
  const folderOfRun = path.join(folder, "run_with_memory");
  fs.cpSync(run.out, folderOfRun, { recursive: true });
  fs.writeFileSync(path.join(folderOfRun, "profile.json"), JSON.stringify(made));
  // Of a run's folder, the captures are read again for the timeline.
  const opened = await open(reportOf("run_with_memory", folderOfRun), `#memory?t=${at.time_ms}`);
  const { page } = opened;
  const link = page.locator('a:text("Show decode, instance 0, in the timeline")');
  assert.match(await page.textContent("main"), /ms after the first reading, in decode/);
  await link.click();
  await page.waitForSelector('main[data-view="timeline"] .timeline-mount[data-ready=true]');
  await page.waitForSelector(".side .selection");
  await close(opened);
});

test("another GPU has its own ledger", async () => {
  const opened = await open(madePage, "#memory");
  const { page } = opened;
  await page.locator(".field", { hasText: "GPU" }).locator("select").selectOption("1");
  const peak = ledger.moments.find((moment) => moment.gpu === 1 && moment.kind === "peak");
  assert.equal(sumOf(await tableRows(page)), peak.used_bytes);
  assert.match(page.url(), /gpu=1/);
  assert.equal(await page.locator(".area-chart .span").count(), 0, "no stage ran there");
  await page.reload();
  await page.waitForSelector("#app[data-ready=true]");
  assert.equal(sumOf(await tableRows(page)), peak.used_bytes);
  await close(opened);
});

test("the treemap of the peak has a tile for each row, as large as its bytes", async () => {
  const opened = await open(recorded.page, "#memory");
  const { page } = opened;
  const { moments, rows } = recorded.profile.memory_ledger;
  const peak = moments.findIndex((moment) => moment.kind === "peak");
  const sizes = rows
    .filter((row) => row.moment === peak && row.bytes > 0)
    .map((row) => row.bytes)
    .sort((a, b) => b - a);
  const all = sizes.reduce((sum, size) => sum + size);
  const frame = await page.locator(".treemap").boundingBox();
  const areas = await page.$$eval(".treemap .tile", (tiles) =>
    tiles.map((tile) => {
      const box = tile.getBoundingClientRect();
      return box.width * box.height;
    }),
  );
  assert.equal(areas.length, sizes.length);
  areas.forEach((area, index) => {
    const share = area / (frame.width * frame.height);
    assert.ok(Math.abs(share - sizes[index] / all) < 2e-3, `tile ${index}: ${share}`);
  });
  assert.match(await page.getAttribute(".treemap", "aria-label"), /at the peak, largest first: /);
  await close(opened);
});

test("a snapshot alone has its tables, and says what is missing", async () => {
  const snapshot = analyze("snapshot", data("h200-memory/size.pickle"));
  const opened = await open(snapshot.page, "#memory");
  const { page } = opened;
  const text = await page.textContent("main");
  assert.match(text, /Not available: what every byte of the GPU is used for/);
  const captions = await page.$$eval("main caption", (all) => all.map((each) => each.textContent));
  for (const caption of [
    "Failed allocations",
    "PyTorch's memory at the snapshot",
    "When PyTorch's memory was highest",
    "What allocates most, by call stack",
    "Pools of PyTorch's allocator, by stream",
  ])
    assert.ok(captions.includes(caption), caption);
  assert.match(text, /An allocation of .* failed on cuda:0/, "why it failed is open");
  const { memory } = snapshot.profile;
  const reserved = await page.$eval(
    'table:has(caption:text("at the snapshot")) tbody td [data-exact]',
    (cell) => cell.dataset.exact,
  );
  assert.equal(Number(reserved), memory.devices[0].reserved_bytes);
  assert.equal(await page.locator(".moments").count(), 0);
  await page.click('table:has(caption:text("by call stack")) .expander');
  assert.ok((await page.textContent(".frames")).includes(memory.stacks[0].frames[0].split(" ")[0]));
  await close(opened);
});

test("a trace with memory events has a peak by operator, and no pools", async () => {
  const trace = analyze("traced_memory", data("kineto/profile_memory.json"));
  const opened = await open(trace.page, "#memory");
  const { page } = opened;
  const text = await page.textContent("main");
  assert.match(text, /Peak of cuda:0: 11\.78 kB, by operator/);
  assert.match(text, /\(before the trace's first event\)/);
  assert.match(text, /aten::addmm/);
  assert.match(text, /Only snapshots state pools/);
  const captions = await page.$$eval("main caption", (all) => all.map((each) => each.textContent));
  assert.ok(captions.includes("PyTorch's memory at the end of the trace"), captions.join());
  assert.equal(await page.locator(".area-chart").count(), 2, "one for each GPU");
  await close(opened);
});

test("what PyTorch's memory is used for sums to what it holds", async () => {
  const folderOf = "h200-memory-contents";
  const llama = analyze("contents", data(`${folderOf}/graph.pickle.gz`), "--model", data(`${folderOf}/config.json`));
  const { memory } = llama.profile;
  const opened = await open(llama.page, "#memory");
  const rows = await opened.page.$$eval('table:has(caption:text("is used for")) tbody tr', (all) =>
    all.map((row) => [...row.querySelectorAll("td [data-exact]")].map((cell) => Number(cell.dataset.exact))),
  );
  assert.equal(rows.length, memory.contents.length);
  const sumOfColumn = (column) => rows.reduce((sum, row) => sum + row[column], 0);
  assert.equal(sumOfColumn(2), memory.devices[0].peak.reserved_bytes, "at the peak");
  assert.equal(sumOfColumn(3), memory.devices[0].reserved_bytes, "at the snapshot");
  const text = await opened.page.textContent("main");
  for (const words of ["KV cache", "private pools (CUDA graphs)", "code that allocated it, and a size of the model"]) {
    assert.ok(text.includes(words), words);
  }
  await close(opened);
});

test("a ledger and a snapshot are shown together; without both there is no view", async () => {
  const both = analyze("both_memories", data("collector_log/memory.llmtrace"), data("h200-memory/graph.pickle"));
  const opened = await open(both.page, "#memory");
  assert.equal(await opened.page.locator(".treemap").count(), 2);
  assert.equal(await opened.page.locator(".area-chart").count(), 2);
  await close(opened);
  const without = await open(run.page);
  const views = await without.page.$$eval("nav a", (links) => links.map((each) => each.hash));
  assert.ok(!views.includes("#memory"), views);
  await close(without);
});

test("what is left and what leaks are tables", async () => {
  const opened = await open(madePage, "#memory");
  const cells = (caption) =>
    opened.page.$$eval(`table:has(caption:text("${caption}")) tbody tr`, (rows) =>
      rows.map((row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent.trim())),
    );
  const [left] = await cells("What is left of GPU memory at its peak");
  assert.deepEqual(left, ["cuda:1", "61.00 GB", "32.77 kB", "1,861,572", "1,861,572", "3,723,144", "16,384", "48"]);
  const room = await cells("Further sequences that fit into what is left of GPU memory");
  assert.deepEqual(room, [
    ["cuda:1", "bf16", "4,096", "134.22 MB", "454"],
    ["cuda:1", "fp8", "4,096", "67.11 MB", "908"],
  ]);
  const [forecast] = await cells("Whether larger runs fit");
  assert.deepEqual(forecast, ["cuda:1", "twice the context", "62.00 GB", "61.00 GB", "no"]);
  const [growth] = await cells("GPU memory that grew from request to request");
  assert.equal(growth[0], "cuda:1");
  assert.deepEqual(growth.slice(-2), ["yes", "58,174"]);
  await close(opened);
});
