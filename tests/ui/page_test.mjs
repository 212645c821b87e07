// The page of real captures in a real browser: what it shows is what profile.json and report.md say.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { analyze, browser, close, closeBrowser, data, folder, open, reportOf } from "./browser.mjs";

const VIEWS = ["overview", "timeline", "kernels", "steps", "gpu", "layers", "roofline", "operators", "provenance"];
const run = analyze("run", data("h200-runs/llama_1b"));

after(closeBrowser);

const texts = (page, selector) => page.$$eval(selector, (found) => found.map((each) => each.textContent.trim()));
const frame = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Rows of a Markdown table below a heading, as lists of cells. */
function reportTable(file, heading) {
  const lines = fs.readFileSync(file, "utf8").split("\n");
  const from = lines.indexOf(heading);
  const first = lines.findIndex((line, index) => index > from && line.startsWith("| ---"));
  const rows = [];
  for (let i = first + 1; lines[i]?.startsWith("|"); i++)
    rows.push(lines[i].split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim()));
  return rows;
}

/** The views that a page has. */
const viewsOf = (page) => page.$$eval("nav a", (links) => links.map((link) => link.getAttribute("href").slice(1)));

async function visit(page, view) {
  await page.evaluate((place) => (location.hash = place), `#${view}`);
  await page.waitForSelector(`main[data-view="${view}"]`);
  if (view === "timeline") await page.waitForSelector(".timeline-mount[data-ready=true], .not-known");
  await frame(page);
}

test("every view of every kind of capture opens without an error and without the network", async () => {
  const captures = {
    timeline: ["nsys_sqlite/eager.sqlite"],
    graphs: ["nsys_sqlite/graph_level.sqlite"],
    both: ["nsys_sqlite/eager.sqlite", "ncu/decode_raw.csv"],
    metrics: ["ncu/decode_raw.csv"],
    summary: ["h200-decoder/nsys_cuda_gpu_kern_sum.csv"],
    torch: ["kineto/h200_graph_small.json"],
    cpu: ["cpu-llm"],
    serving: ["h200-serving/nsys.sqlite"],
  };
  const pages = {
    run,
    ...Object.fromEntries(
      Object.entries(captures).map(([name, inputs]) => [name, analyze(name, ...inputs.map(data))]),
    ),
  };
  for (const [name, { page: file }] of Object.entries(pages)) {
    const opened = await open(file);
    for (const view of await viewsOf(opened.page)) {
      await visit(opened.page, view);
      const heading = await texts(opened.page, "main h1");
      assert.equal(heading.length, 1, `${name}: ${view}`);
      assert.ok((await opened.page.textContent("main")).length > 40, `${name}: ${view} is empty`);
    }
    await close(opened);
  }
});

test("the overview shows the figures of report.md", async () => {
  const opened = await open(run.page);
  const { page } = opened;
  const report = path.join(run.out, "report.md");
  const figures = Object.fromEntries(reportTable(report, "## Key figures").map(([figure, value]) => [figure, value]));
  const tiles = Object.fromEntries(
    await page.$$eval(".tiles > div", (all) =>
      all.map((tile) => [tile.querySelector("dt").textContent, tile.querySelector(".value").textContent]),
    ),
  );
  assert.equal(tiles["Time to first token"], figures["time to first token"]);
  assert.equal(tiles["Time per output token"], figures["time per output token"]);
  assert.equal(tiles["GPU busy"], figures["GPU busy"]);
  assert.equal(tiles["Largest opportunity"], figures["largest opportunity"]);
  const text = await page.textContent("main");
  for (const [figure, value] of Object.entries(figures))
    if (/^M[FB]U/.test(figure)) assert.ok(text.includes(value), `${figure} ${value}`);
  for (const stage of run.profile.stages) {
    const rows = reportTable(report, `### Budget of ${stage.name}`);
    const shown = await page.$$eval(
      ".budget",
      (all, name) => {
        const own = all.find((each) => each.querySelector("h3").firstChild.textContent === name);
        return [...own.querySelectorAll("tbody tr, tfoot tr")].map((row) =>
          [...row.children].map((cell) => cell.textContent.trim()),
        );
      },
      stage.name,
    );
    assert.deepEqual(shown, rows, stage.name);
    const cells = await texts(page, `.table-block th[scope=row]:text-is("${stage.name}") ~ td`);
    assert.equal(cells[1], stage.unwatched.wall_ms.toFixed(3));
    assert.equal(cells[2], stage.wall_ms.mean.toFixed(3));
  }
  const summary = fs.readFileSync(path.join(run.out, "stakeholder_summary.md"), "utf8");
  for (const sentence of await texts(page, ".lead li")) assert.ok(summary.includes(sentence), sentence);
  await close(opened);
});

test("budget bars sum to 100 % and lead to the kernels behind them", async () => {
  const opened = await open(run.page);
  const { page } = opened;
  for (const bar of await page.$$(".budget-bar")) {
    const widths = await bar.$$eval(".part", (parts) => parts.map((part) => parseFloat(part.style.width)));
    // Browsers keep six digits of a width.
    assert.ok(Math.abs(widths.reduce((a, b) => a + b) - 100) < 1e-3);
    const box = await bar.boundingBox();
    const pixels = await bar.$$eval(".part", (parts) =>
      parts.reduce((sum, part) => sum + part.getBoundingClientRect().width, 0),
    );
    assert.ok(Math.abs(pixels - box.width) < 1, "the parts fill the bar");
  }
  await page.click('.budget:nth-of-type(2) .budget-bar a[data-part="gemm"]');
  await page.waitForSelector('main[data-view="kernels"]');
  const expected = run.profile.kernels.filter((kernel) => kernel.class === "gemm" && kernel.stages.decode).length;
  assert.equal((await page.$$("main .table-scroll > table > tbody > tr[data-key]")).length, expected);
  await close(opened);
});

const kernelRows = (page) =>
  page.$$eval("main tbody > tr[data-key]", (all) =>
    all.map((row) => ({
      key: Number(row.dataset.key),
      exact: [...row.querySelectorAll("[data-exact]")].map((cell) => cell.dataset.exact),
    })),
  );

test("kernels sort and filter, and every number is profile.json's", async () => {
  const opened = await open(run.page, "#kernels");
  const { page } = opened;
  const rows = () => kernelRows(page);
  const { kernels } = run.profile;
  const initial = await rows();
  // As the terminal ranks them: in the measured stages, without warm-up and initialization.
  const measured = kernels.filter((kernel) => kernel.measured);
  assert.equal(initial.length, measured.length);
  for (const { key, exact } of initial) {
    const kernel = kernels[key];
    for (const value of [
      kernel.measured.calls,
      kernel.measured.total_ms,
      kernel.measured.share,
      kernel.measured.mean_ms,
      kernel.p99_ms,
    ])
      assert.ok(exact.includes(String(value)), `${kernel.short_name}: ${value}`);
  }
  const order = async (by) => {
    await page.click(`main thead th[data-column="${by}"] button`);
    return (await rows()).map(({ key }) => kernels[key]);
  };
  const isSorted = (values) => values.every((value, i) => i === 0 || values[i - 1] >= value);
  assert.ok(isSorted(initial.map(({ key }) => kernels[key].measured.total_ms)));
  assert.ok(isSorted((await order("calls")).map((kernel) => kernel.measured.calls)));
  assert.equal(await page.getAttribute('main th[data-column="calls"]', "aria-sort"), "descending");
  assert.ok(isSorted((await order("calls")).map((kernel) => -kernel.measured.calls)));
  assert.ok(isSorted((await order("mean")).map((kernel) => kernel.measured.mean_ms)));
  const chosen = async (name) =>
    (await rows())
      .map(({ key }) => kernels[key].short_name)
      .sort()
      .join() ===
    kernels
      .filter(name)
      .map((kernel) => kernel.short_name)
      .sort()
      .join();
  const filter = (label) => page.locator(".field", { hasText: label }).locator("select, input");
  await filter("Class").selectOption("elementwise");
  assert.ok(await chosen((kernel) => kernel.class === "elementwise"));
  await filter("Stage").selectOption("prefill");
  assert.ok(await chosen((kernel) => kernel.class === "elementwise" && kernel.stages.prefill));
  await filter("Class").selectOption("");
  await filter("Library").selectOption("cuBLAS");
  await filter("Name").fill("splitk");
  const wanted = (kernel) =>
    kernel.stages.prefill &&
    kernel.library === "cuBLAS" &&
    `${kernel.kernel_name} ${kernel.short_name}`.toLowerCase().includes("splitk");
  assert.ok(await chosen(wanted));
  const address = page.url();
  assert.match(address, /#kernels\?.*library=cuBLAS/);
  await page.reload();
  await page.waitForSelector("#app[data-ready=true]");
  assert.ok(await chosen(wanted), "the fragment restores the filters");
  assert.equal(await page.getAttribute('main th[data-column="mean"]', "aria-sort"), "descending");
  await filter("Name").fill("");
  await page.click("main .expander");
  const first = kernels[(await rows())[0].key];
  assert.ok((await page.textContent(".kernel-detail")).includes(first.kernel_name));
  await close(opened);
});

test("sums of kernels are over what is filtered", async () => {
  const opened = await open(run.page, "#kernels?stage=prefill");
  const { page } = opened;
  const { kernels } = run.profile;
  const summary = () => page.textContent("main .summary");
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const sum = (rows, value) => rows.reduce((all, row) => all + value(row), 0);
  const prefill = kernels.filter((kernel) => kernel.stages.prefill);
  const calls = sum(prefill, (kernel) => kernel.stages.prefill.steady_calls);
  const total = sum(prefill, (kernel) => kernel.stages.prefill.steady_total_ms);
  assert.ok(
    (await summary()).includes(
      `${grouped(calls)} calls, ${total.toFixed(6)} ms, 100.0 % of the kernel time of prefill.`,
    ),
    await summary(),
  );
  for (const { key, exact } of await kernelRows(page)) {
    const own = kernels[key].stages.prefill;
    for (const value of [own.steady_calls, own.steady_total_ms])
      assert.ok(exact.includes(String(value)), kernels[key].short_name);
  }
  const bar = await page.getAttribute(".class-bar .segment", "aria-label");
  const byClass = Map.groupBy ? Map.groupBy(prefill, (kernel) => kernel.class) : null;
  if (byClass)
    assert.ok(
      [...byClass].some(([, own]) =>
        bar.includes(`${sum(own, (kernel) => kernel.stages.prefill.steady_total_ms).toFixed(6)} ms`),
      ),
      bar,
    );
  await page.locator(".field", { hasText: "Stage" }).locator("select").selectOption("*");
  assert.ok(
    (await summary()).includes(
      `${grouped(sum(kernels, (kernel) => kernel.calls))} calls, ` +
        `${sum(kernels, (kernel) => kernel.total_ms).toFixed(6)} ms, 100.0 % of the kernel time of the whole ` +
        "capture.",
    ),
    await summary(),
  );
  assert.equal((await kernelRows(page)).length, kernels.length);
  await close(opened);
});

test("steps are reached by keyboard", async () => {
  const opened = await open(run.page, "#steps?stage=decode");
  const { page } = opened;
  const steps = run.profile.steps
    .map((step, index) => ({ step, index }))
    .filter(({ step }) => step.stage === "decode" && !step.after_untraced);
  await page.focus(".chart");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const announced = () => page.textContent(".chart [aria-live]");
  assert.ok((await announced()).includes(`${steps[2].step.wall_ms.toFixed(3)} ms wall`), await announced());
  assert.ok(await page.isVisible(".tooltip"));
  await page.keyboard.press("End");
  assert.ok((await announced()).includes(`${steps.at(-1).step.wall_ms.toFixed(3)} ms wall`), await announced());
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  assert.ok(page.url().endsWith(`step=${steps.at(-2).index}`), page.url());
  assert.match(await page.textContent(".panel"), /decode, instance/);
  await close(opened);
});

test("steps, layers and roofline show profile.json's numbers", async () => {
  const opened = await open(run.page, "#steps");
  const { page } = opened;
  const { profile } = run;
  const decode = profile.stages.find((stage) => stage.name === "decode");
  const added = 1 + decode.unwatched.added_by_tracing_share;
  const p99 = await page.locator('th:text-is("step of decode") ~ td').nth(4).textContent();
  assert.equal(p99, (decode.step_wall_ms.p99 / added).toFixed(3));
  const canvas = await page.locator(".chart .u-over").boundingBox();
  await page.mouse.move(canvas.x + canvas.width / 2, canvas.y + canvas.height / 2);
  // The points are few: some step is found by moving over the chart's width.
  let found = false;
  for (let y = 10; y < canvas.height && !found; y += 12) {
    for (let x = 10; x < canvas.width && !found; x += 25) {
      await page.mouse.move(canvas.x + x, canvas.y + y);
      found = (await page.locator(".tooltip:visible").count()) > 0;
    }
  }
  assert.ok(found, "a step's tooltip");
  await page.mouse.down();
  await page.mouse.up();
  assert.match(await page.textContent(".panel"), /decode, instance 0, step \d+/);
  assert.match(page.url(), /step=\d+/);
  await visit(page, "layers");
  const layers = profile.layers.filter((layer) => layer.stage === "decode" && !layer.part);
  const totals = await page.$$eval(".heat-map td.total .figure", (cells) =>
    cells.map((cell) => Number(cell.dataset.exact)),
  );
  assert.deepEqual(
    totals,
    layers.map((layer) => layer.ms_per_step),
  );
  const heat = await page.$$eval(".heat-map td.heat .figure", (cells) =>
    cells.reduce((sum, cell) => sum + Number(cell.dataset.exact), 0),
  );
  const all = layers.flatMap((layer) => Object.values(layer.classes)).reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(heat - all) < 1e-9);
  await visit(page, "roofline");
  const shares = await page.$$eval(".tiles.small .figure", (cells) => cells.map((cell) => Number(cell.dataset.exact)));
  assert.deepEqual(
    shares,
    ["memory", "compute", "latency", "unknown"].map((bound) => profile.roofline.share_of_kernel_time[bound]),
  );
  assert.equal(
    (await page.$$('table:has(caption:text-is("Kernels on the roofline")) tbody tr')).length,
    profile.roofline.kernels.length,
  );
  await close(opened);
});

test("the roofline distinguishes kernels by counters from those that ncu measured", async () => {
  const profile = structuredClone(run.profile);
  const [measured, counted, alone] = profile.roofline.kernels;
  const by = {
    source: "counters",
    samples: 41,
    sampled_ms: 20.5,
    own_share_of_samples: 0.96,
    tensor_active_share: 0.4,
  };
  Object.assign(counted, by, {
    flops_per_s: 791.6e12,
    flops_per_byte: 791.6,
    bytes_per_s: 1e12,
    peak_name: "fp8 dense",
    peak_flops_per_s: 1979e12,
    number_format_source: "kernel name",
  });
  Object.assign(alone, by, {
    samples: 1,
    flops_per_s: null,
    flops_per_byte: null,
    bytes_per_s: 2e12,
    compute_share_of_peak: null,
    why_no_flops: "no_tensor_activity",
  });
  profile.roofline.why_not = "9 of 12 kernels are too short";
  const file = path.join(folder, "counters.json");
  fs.writeFileSync(file, JSON.stringify(profile));
  const opened = await open(reportOf("counters", file), "#roofline");
  const { page } = opened;
  const marks = await texts(page, ".legend.marks li");
  assert.deepEqual(marks.slice(0, 2), [
    "● kernels that ncu measured",
    "▲ kernels that fill samples of the GPU's counters: tensor cores alone, an upper bound",
  ]);
  const row = (kernel) =>
    page
      .locator('table:has(caption:text-is("Kernels on the roofline")) tbody tr')
      .filter({ has: page.locator(`a[title="${kernel.kernel_name}"]`) });
  assert.match(await row(measured).first().textContent(), /ncu$/);
  assert.match(await row(counted).first().textContent(), /791\.60 TFLOP\/s.*counters, 41 samples$/);
  assert.match(await row(alone).first().textContent(), /no tensor activity2\.00 TB\/s.*counters, 1 sample$/);
  assert.match(await page.textContent("main"), /9 of 12 kernels are too short\./);
  // The point without FLOP/s is not drawn: of the chart's label, kernels, stages and stages by counters.
  const drawn = profile.roofline.kernels.filter((kernel) => kernel.flops_per_byte && kernel.flops_per_s).length;
  const stages = profile.stages.filter((stage) => stage.flops && stage.flops_per_byte && stage.wall_ms.mean);
  const points = drawn + stages.length + stages.filter((stage) => stage.measured?.dram_bytes).length;
  assert.match(await page.getAttribute(".chart", "aria-label"), new RegExp(`Roofline of ${points} points`));
  await page.focus(".chart");
  let described = "";
  for (let i = 0; i < points && !described.includes("41 samples"); i++) {
    await page.keyboard.press(i === 0 ? "Home" : "ArrowRight");
    described = await page.textContent(".chart [aria-live]");
  }
  assert.match(
    described,
    /counters, 41 samples of 20\.500 ms, alone in 96\.0 % of it; tensor cores active 40\.0 % of /,
  );
  assert.match(described, / of 1\.98 PFLOP\/s \(fp8 dense, by the kernel name\)/);
  await close(opened);
});

test("savings, the model's cost, copies and launches are those of report.md", async () => {
  const { profile } = run;
  const report = path.join(run.out, "report.md");
  const cells = (page, caption, column) =>
    page.$$eval(
      `table:has(caption:text-is("${caption}")) tbody tr`,
      (rows, at) => rows.map((row) => row.children[at].textContent.trim()),
      column,
    );
  const opened = await open(run.page);
  const { page } = opened;
  for (const stage of profile.recoverable) {
    const rows = reportTable(report, `### Potential savings in ${stage.stage}`);
    assert.deepEqual(
      await cells(page, `Potential savings in ${stage.stage}, by part`, 3),
      rows.map((row) => row[3]),
      stage.stage,
    );
  }
  await visit(page, "kernels");
  for (const stage of profile.recoverable) {
    const kernels = stage.kernels.filter((kernel) => kernel.recoverable_ms > 0).slice(0, 8);
    assert.deepEqual(
      await cells(page, `Potential savings in ${stage.stage}, by kernel`, 0),
      kernels.map((kernel) => kernel.short_name),
    );
    assert.deepEqual(
      await cells(page, `Potential savings in ${stage.stage}, by kernel`, 3),
      kernels.map((kernel) => kernel.recoverable_ms.toFixed(3)),
    );
  }
  await visit(page, "roofline");
  for (const stage of profile.stages.filter((each) => each.cost.length > 0)) {
    const rows = reportTable(report, `### What ${stage.name} must compute and move`);
    for (const column of [0, 1, 2, 3])
      assert.deepEqual(
        await cells(page, `FLOPs and bytes of ${stage.name}`, column),
        rows.map((row) => row[column]),
        stage.name,
      );
  }
  const headings = await texts(page, 'details:has(caption:text-is("FLOPs and bytes of decode")) tfoot td');
  const decode = profile.stages.find((each) => each.name === "decode");
  const inGb = (value) => `${(value / 1e9).toFixed(2)} GB`;
  const [weights, cache] = ["weight_bytes", "kv_bytes"].map((key) =>
    decode.cost.reduce((sum, part) => sum + part[key], 0),
  );
  assert.deepEqual(
    headings.slice(1),
    [inGb(weights), `${(cache / 1e6).toFixed(2)} MB`, inGb(decode.bytes)],
    "each column has its own sum",
  );
  await visit(page, "gpu");
  const copies = reportTable(report, "## Copies and fills");
  assert.deepEqual(
    (await cells(page, "Copies and fills of the whole timeline", 5)).slice(0, copies.length),
    copies.map((row) => row[5]),
  );
  assert.deepEqual(
    await cells(page, "Launches of each GPU's work", 3),
    reportTable(report, "## Launches and short kernels").map((row) => row[3]),
  );
  await close(opened);
});

test("a number is copied with a click, a table with its button", async () => {
  const opened = await open(run.page, "#kernels", { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = opened;
  await page.click("main tbody tr:first-child td:nth-of-type(4) .figure");
  await page.waitForSelector(".toast.shown");
  const value = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(Number(value), Math.max(...run.profile.kernels.map((kernel) => kernel.measured?.total_ms ?? 0)));
  await page.click("main .table-tools button");
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith("kernel\t"));
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).split("\n");
  assert.equal(lines.length, run.profile.kernels.filter((kernel) => kernel.measured).length + 1);
  await close(opened);
});

test("without JavaScript the overview is text", async () => {
  const opened = await open(run.page, "", { javaScriptEnabled: false });
  const text = await opened.page.textContent("#overview");
  for (const [, value] of reportTable(path.join(run.out, "report.md"), "## Key figures"))
    assert.ok(text.includes(value), value);
  for (const stage of run.profile.stages) {
    assert.ok(
      text.includes(stage.unwatched.wall_ms.toFixed(3)) && text.includes(stage.wall_ms.mean.toFixed(3)),
      stage.name,
    );
  }
  await close(opened);
});

test("views can be read by keyboard, by a screen reader, in both widths and themes", async () => {
  for (const options of [{ viewport: { width: 390, height: 844 } }, { colorScheme: "dark" }]) {
    const opened = await open(run.page, "", options);
    const { page } = opened;
    for (const view of VIEWS) {
      await visit(page, view);
      const width = await page.evaluate(() => document.scrollingElement.scrollWidth);
      assert.ok(width <= (options.viewport?.width ?? 1280), `${view} is ${width} pixels wide`);
      assert.deepEqual(await texts(page, "nav a[aria-current=page]").then((all) => all.length), 1);
      const bare = await page.$$eval(
        "main table",
        (all) =>
          all.filter((table) => !table.caption || [...table.querySelectorAll("th")].some((cell) => !cell.scope))
            .length,
      );
      assert.equal(bare, 0, `${view}: tables without caption or scope`);
      const nameless = await page.$$eval(
        "main button, main select, main input, main canvas.timeline, main svg[role=img], main [role=img]",
        (all) =>
          all.filter((each) => !(each.textContent.trim() || each.getAttribute("aria-label") || each.closest("label")))
            .length,
      );
      assert.equal(nameless, 0, `${view}: controls without a name`);
    }
    await close(opened);
  }
  const opened = await open(run.page);
  await opened.page.keyboard.press("Tab");
  assert.equal(await opened.page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await opened.page.keyboard.press("Enter");
  assert.equal(await opened.page.evaluate(() => document.activeElement.id), "content");
  const background = () => opened.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await opened.page.selectOption(".theme", "dark");
  assert.notEqual(await background(), light);
  await close(opened);
});

test("it prints all views as one light document", async () => {
  const opened = await open(run.page, "#kernels", { colorScheme: "dark" });
  const { page } = opened;
  const pdf = await page.pdf({ format: "A4" });
  assert.ok((pdf.toString("latin1").match(/\/Type \/Page\b/g) ?? []).length >= VIEWS.length - 1);
  assert.equal(await page.$(".printed"), null, "what was printed is taken away again");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const printed = await texts(page, ".printed h1, .printed > section > h2");
  for (const title of [
    "Kernels",
    "Steps",
    "Layers",
    "Roofline",
    "Operators",
    "Provenance and diagnostics",
    "Timeline",
  ])
    assert.ok(printed.includes(title), title);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await close(opened);
});

test("a damaged page says so and keeps its text", async () => {
  const file = path.join(folder, "damaged.html");
  fs.writeFileSync(file, fs.readFileSync(run.page, "utf8").replace(/id="block-profile">/, 'id="block-lost">'));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`file://${file}`);
  await page.waitForSelector("#app .warning");
  assert.match(await page.textContent("#app"), /no data block "profile"/);
  assert.ok(await page.isVisible("#overview"));
  await context.close();
});
