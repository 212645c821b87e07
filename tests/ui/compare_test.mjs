// The page of a comparison in a real browser: what it shows is what diff.json says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { after, test } from "node:test";
import { close, closeBrowser, compare, data, folder, open, repository } from "./browser.mjs";

const VIEWS = ["comparison", "kernels", "sides"];
const HOSTILE = "<img src=x onerror=alert(1)>_gemm_512x16";
const captures = process.env.H200_CAPTURES ?? path.join(repository, "build/captures");
const dense = path.join(captures, "h200-dense-graph/nsys_node.sqlite");

/** A real capture whose norms are fused, whose products are 3 % slower, and one of them another. */
function editedCapture() {
  const edited = path.join(folder, "edited.sqlite");
  const script = `
import pathlib, sqlite3, sys
from edited_capture import fuse_norms, rename, slow_down
source, target, hostile = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
fused, slowed = target.with_suffix(".fused"), target.with_suffix(".slowed")
assert fuse_norms(source, fused) > 0 and slow_down(fused, slowed, "nvjet", 1.03) > 0
name = min(row[0] for row in sqlite3.connect(slowed).execute("SELECT value FROM StringIds WHERE value LIKE 'nvjet%'"))
assert rename(slowed, target, name, hostile) == 1
`;
  execFileSync("python3", ["-c", script, dense, edited, HOSTILE], {
    stdio: "pipe",
    cwd: path.join(repository, "tests/end_to_end"),
  });
  return edited;
}

const rules = [
  "--gate",
  "decode.step.p50<=+2%",
  "--gate",
  "class.gemm.ms<=+1%",
  "--gate",
  "prefill.wall.mean<=+5%&+0.2ms",
];
const changed = compare("changed", dense, editedCapture(), ...rules);

after(closeBrowser);

const texts = (page, selector) => page.$$eval(selector, (found) => found.map((each) => each.textContent.trim()));
const frame = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** A stage has rows of one unit: steps, or instances of a stage without them. */
function shownRows(diff, stage) {
  const left =
    stage.unit === "step" ? ["wall", "busy", "idle", "kernels"] : ["step", "step_busy", "step_idle", "step_kernels"];
  return diff.comparisons.filter((row) => row.stage === stage.stage && !left.includes(row.quantity));
}

async function visit(page, view) {
  await page.evaluate((place) => (location.hash = place), `#${view}`);
  await page.waitForSelector(`main[data-view="${view.split("?")[0]}"]`);
  await frame(page);
}

test("every view of every verdict opens without an error and without the network", async () => {
  const pages = {
    changed,
    identical: compare("identical", dense, dense),
    "not comparable": compare("not_comparable", dense, data("cpu-llm")),
    "without stages": compare(
      "summary",
      data("h200-decoder/nsys_cuda_gpu_kern_sum.csv"),
      data("h200-decoder/nsys_cuda_gpu_kern_sum.csv"),
    ),
  };
  assert.equal(pages["not comparable"].diff.verdict, "not_comparable");
  for (const [name, { page: file, diff }] of Object.entries(pages)) {
    const opened = await open(file);
    for (const view of VIEWS) {
      await visit(opened.page, view);
      assert.equal((await texts(opened.page, "main h1")).length, 1, `${name}: ${view}`);
    }
    await visit(opened.page, "comparison");
    assert.ok(await opened.page.$(`.verdict.${diff.verdict}`), name);
    const blocking = diff.aspects.filter((aspect) => aspect.blocking).map((aspect) => aspect.text);
    assert.deepEqual(await texts(opened.page, ".compare > .warning"), blocking, name);
    await close(opened);
  }
});

test("verdict, why, gate and quantities are diff.json's", async () => {
  const opened = await open(changed.page);
  const { page } = opened;
  const { diff } = changed;
  assert.equal(diff.verdict, "fail");
  assert.match(await page.textContent(".verdict"), /Verdict: fail\. 1 gate rule failed\./);
  assert.deepEqual(
    await texts(page, ".why p"),
    diff.stages.map((stage) => stage.why.replaceAll("`", "")),
  );
  const outcomes = await page.$$eval(".outcome", (all) => all.map((each) => each.className.split(" ")[1]));
  assert.deepEqual(
    outcomes,
    diff.gates.map((gate) => gate.outcome),
  );
  for (const stage of diff.stages) {
    const rows = shownRows(diff, stage);
    const shown = await page.$$eval(`[aria-label^="Quantities of ${stage.stage}:"] tbody tr`, (all) =>
      all.map((row) => [...row.querySelectorAll(".figure")].map((each) => each.dataset.exact ?? null)),
    );
    const exact = (value) => (value === null ? null : String(value));
    const expected = rows.map((row) =>
      [
        row.base,
        row.new,
        row.relative,
        ...(row.relative_low === null ? [] : [row.relative_low, row.relative_high]),
      ].map(exact),
    );
    assert.deepEqual(shown, expected, stage.stage);
  }
  const markdown = fs.readFileSync(path.join(changed.out, "diff.md"), "utf8");
  for (const answer of await texts(page, ".stage-diff .answer"))
    assert.ok(markdown.includes(answer.replace(/^[▲▼?] /, "")), answer);
  await close(opened);
});

test("what happened comes first, and each change has one percentage, of the two values beside it", async () => {
  const opened = await open(changed.page);
  const { page } = opened;
  assert.equal(await page.textContent(".verdict .happened"), changed.diff.summary);
  const rows = await page.$$eval('[aria-label^="Quantities of"] tbody tr', (all) =>
    all.map((row) => [...row.querySelectorAll(".figure")].slice(0, 3).map((each) => Number(each.dataset.exact))),
  );
  assert.ok(rows.length > 10);
  for (const [base, next, change] of rows)
    if (base > 0) assert.ok(Math.abs(change - (next / base - 1)) < 1e-9, `${base} ${next} ${change}`);
  for (const stage of changed.diff.stages) {
    const text = await page.textContent(`.stage-diff[data-stage="${stage.stage}"] .difference-parts`);
    assert.ok(!/%|points/.test(text), text);
  }
  await close(opened);
});

test("damage stands below the verdict, and on a CPU nothing is called GPU", async () => {
  const log = zlib.gunzipSync(fs.readFileSync(data("h200-repeats/run-01.llmtrace.gz")));
  const cut = path.join(folder, "cut.llmtrace");
  fs.writeFileSync(cut, log.subarray(0, Math.floor(log.length * 0.6)));
  const damaged = compare("damaged", data("h200-repeats/run-02.llmtrace.gz"), cut, "--gate", "default");
  let opened = await open(damaged.page);
  assert.match(
    await opened.page.textContent(".verdict .happened"),
    /^The new side is damaged, so no change can be determined: /,
  );
  assert.equal((await texts(opened.page, ".compare > .damage")).length, damaged.diff.damage.length);
  assert.deepEqual(await texts(opened.page, ".answer.better, .answer.worse, .answer.changed"), []);
  await close(opened);
  opened = await open(compare("cpu", data("cpu-llm"), data("cpu-llm")).page);
  for (const view of VIEWS) {
    await visit(opened.page, view);
    assert.ok(!(await opened.page.textContent("main")).includes("GPU"), view);
  }
  await close(opened);
});

test("intervals are drawn where they are: around 0, beside it, in the order of their ends", async () => {
  const opened = await open(changed.page);
  const { diff } = changed;
  const rows = shownRows(
    diff,
    diff.stages.find((stage) => stage.stage === "decode"),
  ).filter((row) => row.relative !== null);
  const drawn = await opened.page.$$eval('.stage-diff[data-stage="decode"] .interval', (all) =>
    all.map((each) => {
      const box = (name) => each.querySelector(name)?.getBoundingClientRect();
      const zero = box(".zero");
      const range = box(".range");
      return { zero: zero.left, low: range.left, high: range.right, band: [box(".band").left, box(".band").right] };
    }),
  );
  assert.equal(drawn.length, rows.length);
  for (const [index, row] of rows.entries()) {
    const { zero, low, high, band } = drawn[index];
    const name = `${row.quantity} ${row.relative_low} to ${row.relative_high}`;
    if (row.relative_low > 0) assert.ok(low > zero, name);
    if (row.relative_high < 0) assert.ok(high < zero + 2, name);
    if (row.relative_low > diff.threshold) assert.ok(low >= band[1] - 1, name);
    assert.ok(high > low, name);
  }
  for (const [i, a] of rows.entries())
    for (const [j, b] of rows.entries())
      if (a.relative_low < b.relative_low - 0.001)
        assert.ok(drawn[i].low < drawn[j].low, `${a.quantity} before ${b.quantity}`);
  await close(opened);
});

test("budgets stand side by side on one scale, and their differences sum to the wall time's", async () => {
  const opened = await open(changed.page);
  const { page } = opened;
  for (const stage of changed.diff.stages) {
    const at = `.stage-diff[data-stage="${stage.stage}"]`;
    const widths = await page.$$eval(`${at} .side-row .budget-bar`, (bars) =>
      bars.map((bar) => ({
        width: bar.getBoundingClientRect().width,
        parts: [...bar.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0),
      })),
    );
    assert.equal(widths.length, 2);
    for (const bar of widths) assert.ok(Math.abs(bar.width - bar.parts) < 1, "the parts fill the bar");
    assert.ok(Math.abs(widths[1].width / widths[0].width - stage.new_wall_ns / stage.base_wall_ns) < 0.005);
    const differences = await page.$$eval(`${at} .difference-parts tbody td.strong .figure`, (cells) =>
      cells.map((cell) => Number(cell.dataset.exact)),
    );
    assert.equal(
      differences.reduce((a, b) => a + b, 0),
      stage.difference_ns,
    );
    assert.deepEqual(
      differences,
      stage.budget.map((part) => part.difference_ns),
    );
  }
  await close(opened);
});

test("kernels are ranked by effect, filtered by change, and hostile names stay text", async () => {
  const opened = await open(changed.page, "#kernels?stage=decode");
  const { page } = opened;
  const decode = changed.diff.stages.find((stage) => stage.stage === "decode");
  const differences = () =>
    page.$$eval("main tbody td.strong .figure", (cells) => cells.map((cell) => Number(cell.dataset.exact)));
  const all = await differences();
  assert.deepEqual(
    all,
    decode.kernels.map((kernel) => kernel.difference_ns),
  );
  assert.equal(
    all.reduce((a, b) => a + b, 0),
    decode.kernel_difference_ns,
  );
  const filter = (label) => page.locator(".field", { hasText: label }).locator("select, input");
  await filter("Change").selectOption("fused");
  const fused = decode.kernels.filter((kernel) => kernel.change === "fused");
  assert.ok(fused.length > 0);
  assert.deepEqual(
    await differences(),
    fused.map((kernel) => kernel.difference_ns),
  );
  await page.click("main .expander");
  const names = await texts(page, ".kernel-list li .with-swatch");
  assert.deepEqual(
    names,
    [...fused[0].base_kernels, ...fused[0].new_kernels].map((kernel) => kernel.short_name),
  );
  await page.reload();
  await page.waitForSelector("#app[data-ready=true]");
  assert.deepEqual(
    await differences(),
    fused.map((kernel) => kernel.difference_ns),
    "the fragment restores the filters",
  );
  await visit(page, "kernels?text=onerror");
  assert.ok((await page.textContent("main tbody")).includes(HOSTILE));
  assert.equal(await page.$("img"), null);
  await close(opened);
});

test("findings and sides are listed", async () => {
  const opened = await open(changed.page);
  const { page } = opened;
  const findings = await page.$$eval('[aria-label^="Findings gone"] tbody tr', (rows) =>
    rows.map((row) => [row.children[0].textContent.trim(), row.children[2].textContent.trim()]),
  );
  assert.deepEqual(
    findings,
    changed.diff.findings.map((finding) => [finding.change, finding.title]),
  );
  await visit(page, "sides");
  const text = await page.textContent("main");
  for (const run of [...changed.diff.base, ...changed.diff.new]) assert.ok(text.includes(run.path), run.path);
  assert.equal((await page.$$('[aria-label^="What was left out"] tbody tr')).length, changed.diff.left_out.length);
  await close(opened);
});

test("without JavaScript the comparison is text", async () => {
  const opened = await open(changed.page, "", { javaScriptEnabled: false });
  const text = await opened.page.textContent("#overview");
  assert.ok(text.includes("Verdict: fail."));
  for (const stage of changed.diff.stages) assert.ok(text.includes(stage.why.replaceAll("`", "")), stage.stage);
  for (const gate of changed.diff.gates) assert.ok(text.includes(gate.rule), gate.rule);
  await close(opened);
});

test("it can be read in both widths and themes, and prints", async () => {
  for (const options of [{ viewport: { width: 390, height: 844 } }, { colorScheme: "dark" }]) {
    const opened = await open(changed.page, "", options);
    const { page } = opened;
    for (const view of VIEWS) {
      await visit(page, view);
      const width = await page.evaluate(() => document.scrollingElement.scrollWidth);
      assert.ok(width <= (options.viewport?.width ?? 1280), `${view} is ${width} pixels wide`);
      const bare = await page.$$eval(
        "main table",
        (found) =>
          found.filter((table) => !table.caption || [...table.querySelectorAll("th")].some((cell) => !cell.scope))
            .length,
      );
      assert.equal(bare, 0, `${view}: tables without caption or scope`);
      const nameless = await page.$$eval(
        "main button, main select, main input, main [role=img]",
        (found) =>
          found.filter(
            (each) => !(each.textContent.trim() || each.getAttribute("aria-label") || each.closest("label")),
          ).length,
      );
      assert.equal(nameless, 0, `${view}: controls without a name`);
    }
    await close(opened);
  }
  const opened = await open(changed.page);
  await opened.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const printed = await texts(opened.page, ".printed h1");
  for (const title of ["Kernels", "What was compared"]) assert.ok(printed.includes(title), title);
  await opened.page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await close(opened);
});
