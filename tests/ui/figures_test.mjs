// Headlines and other figures of profiles that were edited by hand: the page says what report.md of the same profile
// says.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { analyze, close, closeBrowser, data, folder, open, reportOf } from "./browser.mjs";

after(closeBrowser);

const run = analyze("run", data("h200-runs/llama_1b"));

/** The page and report.md of an edited profile. */
function edited(name, profile, edit) {
  const copy = structuredClone(profile);
  edit(copy);
  // What is shown follows from the rest, as of a file of an earlier llmprof.
  delete copy.token_times.shown;
  const file = path.join(folder, `${name}.json`);
  fs.writeFileSync(file, JSON.stringify(copy));
  const page = reportOf(name, file);
  return { page, report: fs.readFileSync(path.join(path.dirname(page), "report.md"), "utf8"), profile: copy };
}

/** Figures of the report's first table: [value, of]. */
function keyFigures(report) {
  const lines = report
    .slice(report.indexOf("## Key figures"))
    .split("\n")
    .filter((line) => line.startsWith("|"));
  return Object.fromEntries(
    lines
      .map((line) =>
        line
          .split("|")
          .slice(1, 4)
          .map((cell) => cell.trim()),
      )
      .map(([name, value, of]) => [name, { value, of }]),
  );
}

const tilesOf = (page) =>
  page.$$eval(".tiles > div", (all) =>
    Object.fromEntries(
      all.map((tile) => [
        tile.querySelector("dt").textContent,
        {
          value: tile.querySelector(".value").textContent,
          of: tile.querySelector(".of").textContent,
          beside: tile.querySelector(".beside")?.textContent ?? null,
        },
      ]),
    ),
  );

test("a run in windows of tracing has the program's own times", async () => {
  const { page: file, report } = edited("windows", run.profile, (profile) => {
    const decode = profile.stages.find((stage) => stage.name === "decode");
    Object.assign(decode.unwatched, {
      source: "between_windows",
      wall_ms: 24,
      wall_ms_per_step: 2.4,
      steps_recorded: 40,
      steps_all: 400,
    });
    Object.assign(profile.token_times.time_per_output_token_ms, {
      mean: 8,
      std: 10.18,
      min: 0.8,
      p50: 0.8,
      p99: 15.2,
      max: 15.2,
      count: 2,
    });
    Object.assign(profile.token_times, { tokens_per_s: 125, tokens_per_s_per_sequence: 125 });
  });
  const opened = await open(file);
  const tiles = await tilesOf(opened.page);
  const figures = keyFigures(report);
  assert.equal(figures["time per output token"].value, "2.400 ms");
  assert.equal(tiles["Time per output token"].value, "2.400 ms");
  assert.match(tiles["Time per output token"].of, /without tracing$/);
  assert.equal(tiles["Output rate"].value, "416.7 tokens/s");
  for (const [tile, figure] of [
    ["Time to first token", "time to first token"],
    ["GPU busy", "GPU busy"],
  ])
    assert.equal(tiles[tile].value, figures[figure].value, tile);
  assert.doesNotMatch(await opened.page.textContent("main"), /15\.200|125\.0/);
  await opened.page.evaluate(() => (location.hash = "#steps"));
  await opened.page.waitForSelector('main[data-view="steps"]');
  assert.match(
    await opened.page.textContent('tr:has(th:text-is("output token (a decode\'s wall time over its steps)"))'),
    /2\.400/,
  );
  await close(opened);
});

test("a server's headlines are what its requests saw", async () => {
  const window = (start_ms, tokens, token_ms) => ({
    start_ms,
    span_ms: 4000,
    batches: 588,
    passes: 1344,
    sequences_mean: 5.1,
    sequences_max: 8,
    prompts: 64,
    prompt_ms: 29.811,
    tokens,
    token_ms,
  });
  const { page: file, report } = edited("server", run.profile, (profile) => {
    profile.stages_found.serving = true;
    profile.token_times.served = [window(0, 329, 1.642), window(5000, 3008, 6.747)];
  });
  const opened = await open(file);
  const { page } = opened;
  const tiles = await tilesOf(page);
  const figures = keyFigures(report);
  for (const [tile, figure] of [
    ["Time to first token", "time to first token"],
    ["Time per output token", "time per output token"],
  ]) {
    assert.equal(tiles[tile].value, figures[figure].value);
    assert.equal(tiles[tile].of, `${figures[figure].of}, traced`);
  }
  assert.equal(tiles["Time per output token"].value, "6.747 ms");
  assert.equal(tiles["Output rate"].value, "148.2 tokens/s");
  await page.evaluate(() => (location.hash = "#steps"));
  await page.waitForSelector('main[data-view="steps"]');
  const requests = await page.$$eval(
    'table:has(caption:text-is("Requests, as the engine sees them")) tbody tr',
    (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)),
  );
  assert.equal(requests[1][4], "6.747");
  assert.doesNotMatch(await page.textContent("main"), /output token \(a decode/);
  await close(opened);
});

test("traced times say so, and no saving is larger than the unprofiled stage", async () => {
  const cpu = analyze("cpu", data("cpu-llm"));
  const opened = await open(cpu.page);
  const tiles = await tilesOf(opened.page);
  for (const name of ["Time to first token", "Time per output token", "Output rate", "CPU busy"])
    assert.match(tiles[name].of, /, traced$/, name);
  assert.match(tiles["Largest opportunity"].of, /, traced: /);
  const unprofiled = Object.fromEntries(cpu.profile.stage1.stages.map((stage) => [stage.name, stage.mean_ms]));
  assert.equal(tiles["Time to first token"].beside, `not profiled ${unprofiled.prefill.toFixed(3)} ms`);
  for (const finding of cpu.profile.findings)
    assert.ok(finding.recoverable_ms <= unprofiled[finding.stage], finding.title);
  await close(opened);
});

test("the roofline distinguishes kernels of one name on several devices", async () => {
  const { page: file, profile } = edited("devices", run.profile, (copy) => {
    for (const list of [copy.kernels, copy.roofline.kernels])
      list.push(...structuredClone(list).map((kernel) => ({ ...kernel, device: "cuda:1" })));
    for (const kernel of copy.kernels) kernel.share *= kernel.device === "cuda:1" ? 0.25 : 0.75;
  });
  const opened = await open(file, "#roofline");
  const { page } = opened;
  const rows = await page.$$eval('table:has(caption:text-is("Kernels on the roofline")) tbody tr', (all) =>
    all.map((row) => ({
      name: row.querySelector("[title]").title,
      device: row.children[1].textContent,
      share: Number(row.children[2].querySelector(".figure").dataset.exact),
      href: row.querySelector("a").getAttribute("href"),
    })),
  );
  assert.equal(rows.length, profile.roofline.kernels.length);
  for (const { name, device, share, href } of rows) {
    const place = profile.kernels.findIndex((kernel) => kernel.kernel_name === name && kernel.device === device);
    assert.equal(share, profile.kernels[place].share, `${name} on ${device}`);
    assert.ok(href.endsWith(`open=${place}`), href);
  }
  await close(opened);
});

test("one warm-up step does not set the axis of the steps", async () => {
  const { page: file } = edited("warmup", run.profile, (copy) => {
    const decode = copy.stages.find((stage) => stage.name === "decode");
    decode.instances.push({ ...structuredClone(decode.instances[0]), warmup: true });
    const step = copy.steps.find((each) => each.stage === "decode");
    copy.steps.push({ ...structuredClone(step), instance: decode.instances.length - 1, wall_ms: 5000 });
  });
  const opened = await open(file, "#steps?stage=decode");
  const { page } = opened;
  await page.waitForSelector(".chart canvas");
  assert.match(
    await page.textContent("main"),
    /1 step above the axis \(up to 5000\.000 ms, warm-up\) at its upper edge\./,
  );
  // The others take up most of the height: the longest measured step is far above the middle.
  await page.focus(".chart");
  const top = async () => {
    const box = await page.locator(".tooltip").boundingBox();
    return box.y;
  };
  await page.keyboard.press("Home");
  const first = await top();
  await page.keyboard.press("End");
  const chart = await page.locator(".chart .u-over").boundingBox();
  assert.ok((await top()) < chart.y + 60, "the warm-up stands at the upper edge");
  assert.ok(first > chart.y + 60 && first < chart.y + chart.height, "the others are spread below it");
  await close(opened);
});
