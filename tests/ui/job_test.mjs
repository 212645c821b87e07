// The page of a job in a real browser: its ranks, who waits for whom, and what is between them, as profile.json says.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import {
  analyze,
  close,
  closeBrowser,
  compare,
  data,
  folder,
  open,
  openTimeline,
  reportOf,
  shownSpan,
} from "./browser.mjs";
import { jobProfile, realJobCaptures } from "./made_job.mjs";

const one = analyze("run", data("h200-runs/llama_1b"));
const SLOW = 5;

function jobPage(name, options) {
  const profile = jobProfile(one.profile, options);
  const file = path.join(folder, `${name}.json`);
  fs.writeFileSync(file, JSON.stringify(profile));
  return { page: reportOf(name, file), profile };
}

const job = jobPage("job", { ranks: 8, slow: SLOW, by: 1.3, died: [3], missing: [6] });

after(closeBrowser);

const texts = (page, selector) => page.$$eval(selector, (found) => found.map((each) => each.textContent.trim()));

test("a profile of one rank has no view of a job", async () => {
  const opened = await open(one.page, "#job");
  assert.ok(!(await texts(opened.page, "nav a")).includes("Job"));
  assert.equal(await opened.page.getAttribute("main", "data-view"), "overview");
  await close(opened);
});

test("missing and dead ranks are named, and waits are lower bounds", async () => {
  const opened = await open(job.page, "#job");
  const { page } = opened;
  assert.deepEqual(await texts(page, ".notices .warning"), [
    "Rank 3 (signal 9) ended before the program did.",
    "No capture of rank 6 was read: 7 ranks of 8 are here.",
  ]);
  assert.match(await page.textContent(".notices .note"), /lower bounds/);
  assert.match(await page.textContent('tr[data-key="3"] th'), /died/);
  assert.match(await page.textContent('tr[data-key="6"] th'), /missing/);
  await page.evaluate(() => (location.hash = "#overview"));
  await page.waitForSelector('main[data-view="overview"]');
  const overview = await page.textContent("main");
  assert.ok(
    overview.includes(
      `Other ranks wait for rank ${SLOW} in decode, ${job.profile.job.stragglers[0].wait_ms_per_step.toFixed(4)} ` +
        "ms per step",
    ),
  );
  assert.ok(overview.includes("Job of 8 ranks (slurm 4711.0) on 4 hosts, 7 recorded: tensor parallelism of 8."));
  await close(opened);
});

test("where each rank's time goes: numbers of profile.json, bars that sum to the wall time", async () => {
  const opened = await open(job.page, "#job");
  const { page } = opened;
  const keys = [
    "wall_ms",
    "compute_ms",
    "transfer_ms",
    "wait_ms",
    "copies_ms",
    "idle_ms",
    "hidden_communication_ms",
    "caused_wait_ms",
  ];
  for (const rank of job.profile.ranks.filter((each) => each.state !== "missing")) {
    const own = rank.between.find((each) => each.stage === "decode");
    const shown = await page.$$eval(`tr[data-key="${rank.rank}"] td .figure`, (all) =>
      all.map((each) => Number(each.dataset.exact)),
    );
    assert.deepEqual(
      shown.slice(0, keys.length),
      keys.map((key) => own[key]),
      `rank ${rank.rank}`,
    );
    const [bar, parts] = await page.$eval(`tr[data-key="${rank.rank}"] .rank-bar`, (each) => [
      each.getBoundingClientRect().width,
      [...each.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0),
    ]);
    const longest = Math.max(
      ...job.profile.ranks.flatMap((each) =>
        each.between.filter((stage) => stage.stage === "decode").map((stage) => stage.wall_ms),
      ),
    );
    assert.ok(Math.abs(parts / bar - own.wall_ms / longest) < 0.01, `rank ${rank.rank}`);
  }
  await page.click('[aria-label^="Ranks in decode"] th[data-column="caused"] button');
  assert.equal(await page.getAttribute('[aria-label^="Ranks in decode"] tbody tr', "data-key"), String(SLOW));
  await close(opened);
});

test("the heat map describes its cells by pointer, by keys and in words", async () => {
  const opened = await open(job.page, "#job");
  const { page } = opened;
  const canvas = page.locator("canvas.heat-canvas");
  assert.match(
    await canvas.getAttribute("aria-label"),
    new RegExp(`Rank ${SLOW}'s own time is 2\\d\\.\\d % above the median rank's`),
  );
  const rows = job.profile.job.heat.rows;
  const row = rows.findIndex((each) => each.rank === SLOW);
  const words = (index, bin) => [
    `Rank ${rows[index].rank}, step ${bin}`,
    `${rows[index].wall_ms[bin].toFixed(4)} ms per step of its own`,
    `${rows[index].wait_ms[bin].toFixed(4)} ms per step waiting for others`,
  ];
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  for (let i = 0; i < row; i++) await page.keyboard.press("ArrowDown");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  const description = await page.textContent(".heat-text");
  for (const text of words(row, 3)) assert.ok(description.includes(text), `${description}: ${text}`);
  await page.keyboard.press("Enter");
  assert.match(page.url(), new RegExp(`rank=${SLOW}&bin=3`));
  assert.match(await page.textContent(".panel"), new RegExp(`Rank ${SLOW}, step 3`));
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width - 10, box.y + 18 + 4);
  const tooltip = await page.textContent(".tooltip");
  for (const text of words(0, rows[0].wall_ms.length - 1)) assert.ok(tooltip.includes(text), `${tooltip}: ${text}`);
  await page.mouse.move(0, 0);
  /** The color in the middle of a rank's first cells. */
  const color = (index) =>
    page.evaluate((at) => {
      // Of a copy: reading a canvas that is drawn on again makes the browser complain.
      const copy = document.createElement("canvas");
      copy.width = copy.height = 1;
      const context = copy.getContext("2d");
      context.drawImage(
        document.querySelector("canvas.heat-canvas"),
        -70 * devicePixelRatio,
        -(18 + (at + 0.5) * 26) * devicePixelRatio,
      );
      return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    }, index);
  const [slow, other] = [await color(row), await color(0)];
  assert.ok(slow[0] - slow[2] > 80, `the slow rank is orange: ${slow}`);
  assert.ok(Math.abs(other[0] - other[2]) < 40, `the others are pale: ${other}`);
  await page.locator(".heat-filters select").selectOption("wait");
  assert.match(page.url(), /show=wait/);
  const [slowWait, otherWait] = [await color(row), await color(0)];
  assert.ok(otherWait[0] < slowWait[0] - 80, `the others wait: ${otherWait} against ${slowWait}`);
  await close(opened);
});

test("stragglers, collectives and clocks are listed, and hostile names stay text", async () => {
  const opened = await open(job.page, "#job");
  const { page } = opened;
  const { stragglers, collectives } = job.profile.job;
  const straggler = await texts(page, '[aria-label^="Ranks that others wait for"] tbody tr > *');
  assert.deepEqual(straggler.slice(0, 3), [`rank ${SLOW}`, "decode", stragglers[0].wait_ms_per_step.toFixed(4)]);
  assert.ok(straggler.includes("longer kernels"));
  const rows = await page.$$eval('[aria-label^="Collectives"] tbody tr', (all) =>
    all.map((line) => [...line.children].map((cell) => cell.textContent.trim())),
  );
  assert.equal(rows.length, collectives.length);
  assert.equal(rows[0][2], collectives[0].group);
  assert.equal(await page.$("img"), null);
  assert.ok(rows[0].includes(`at least ${collectives[0].wait_ms.p50.toFixed(4)}`));
  assert.ok(rows[0].includes(`rank ${SLOW} (97.0 %)`));
  const clocks = await page.$$eval('[aria-label^="How each rank"] tbody tr', (all) =>
    all.map((line) => [...line.children].map((cell) => cell.textContent.trim())),
  );
  assert.deepEqual(
    clocks.map((line) => line[0]),
    job.profile.ranks.filter((rank) => rank.clock).map((rank) => `rank ${rank.rank}`),
  );
  assert.ok(clocks[2].includes("0.700") && clocks[2].includes("1.20"));
  await close(opened);
});

test("a real job: the delayed rank, and all ranks on one clock in the timeline", async () => {
  const real = analyze("real_job", realJobCaptures());
  assert.deepEqual(
    real.profile.job.stragglers.map((each) => each.rank),
    [2],
  );
  const opened = await openTimeline(real.page);
  const { page } = opened;
  await page.evaluate(() => (location.hash = "#job"));
  await page.waitForSelector('main[data-view="job"]');
  const [row] = await page.$$eval('[aria-label^="Ranks that others wait for"] tbody tr', (all) =>
    all.map((line) => [...line.children].map((cell) => cell.textContent.trim())),
  );
  assert.equal(row[0], "rank 2");
  assert.match(row.at(-1), /its kernels take/);
  assert.match(await page.getAttribute("canvas.heat-canvas", "aria-label"), /Rank 2's own time is/);
  await page.focus("canvas.heat-canvas");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await page.click('.panel a:text-is("Show in the timeline")');
  await page.waitForSelector('main[data-view="timeline"] .timeline-mount[data-ready=true]');
  const step = real.profile.steps[1];
  const [from, to] = await shownSpan(page);
  assert.ok(to - from < 3 * step.wall_ms * 1e6, "the step fills the window");
  await close(opened);
  const same = compare("jobs", real.out, real.out);
  const compared = await open(same.page);
  const rows = await texts(compared.page, '[aria-label^="Ranks of both jobs"] tbody th');
  assert.ok(rows.length > 0);
  assert.deepEqual(
    rows,
    same.diff.ranks.map((each) => `rank ${each.rank}`),
  );
  await close(compared);
});

test("without JavaScript the ranks are text", async () => {
  const opened = await open(job.page, "", { javaScriptEnabled: false });
  const text = await opened.page.textContent("#overview");
  assert.ok(text.includes("Rank 3 ended before the program did (signal 9)."));
  for (const rank of job.profile.ranks)
    for (const own of rank.between) assert.ok(text.includes(own.wall_ms.toFixed(4)), `rank ${rank.rank}`);
  await close(opened);
});

test("it can be read in both widths and themes, and prints", async () => {
  for (const options of [{ viewport: { width: 390, height: 844 } }, { colorScheme: "dark" }]) {
    const opened = await open(job.page, "#job", options);
    const { page } = opened;
    const width = await page.evaluate(() => document.scrollingElement.scrollWidth);
    assert.ok(width <= (options.viewport?.width ?? 1280), `${width} pixels wide`);
    const bare = await page.$$eval(
      "main table",
      (found) =>
        found.filter((table) => !table.caption || [...table.querySelectorAll("th")].some((cell) => !cell.scope))
          .length,
    );
    assert.equal(bare, 0, "tables without caption or scope");
    await close(opened);
  }
  const opened = await open(job.page);
  await opened.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.ok((await texts(opened.page, ".printed h1")).includes("Job"));
  await opened.page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await close(opened);
});

test("hundreds of ranks are one picture", async () => {
  const many = jobPage("many_ranks", { ranks: 256, slow: 200 });
  const opened = await open(many.page, "#job");
  assert.match(await opened.page.textContent(".heat-block ~ p"), /Rank 200's own time is/);
  assert.match(await opened.page.textContent('[aria-label^="Ranks in decode"] ~ .more'), /128 of 256 rows/);
  await close(opened);
});
