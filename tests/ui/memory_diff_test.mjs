// What grew in GPU memory, on the page of a comparison: what it shows is what diff.json says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { after, test } from "node:test";
import { closeBrowser, compare, folder, open, repository } from "./browser.mjs";

/** Two logs of a program whose key-value cache doubles. */
function recordings() {
  const script = `
import sys
from memory_log import recorded_run
recorded_run(sys.argv[1])
recorded_run(sys.argv[2], kv_tokens=16384)
`;
  const logs = ["base", "new"].map((name) => path.join(folder, `memory_${name}.llmtrace`));
  execFileSync("python3", ["-c", script, ...logs], { stdio: "pipe", cwd: path.join(repository, "tests/end_to_end") });
  return logs;
}

const grown = compare("memory", ...recordings(), "--gate", "memory.peak<=+1%");

after(closeBrowser);

const GREW = 'table:has(caption:text("What grew on"))';

test("the rows that grew are listed once, with their bytes and words", async () => {
  const { page, context, problems } = await open(grown.page, "#comparison");
  const { moments } = grown.diff.memory;
  const captions = await page.$$eval("caption", (found) => found.map((each) => each.textContent));
  assert.equal(captions.filter((text) => text.startsWith("What grew on cuda:0")).length, 1);
  const rows = await page.locator(GREW).locator("tbody tr").allTextContents();
  const changed = moments[0].rows.filter((row) => row.change !== "same");
  assert.equal(rows.length, changed.length);
  assert.ok(
    rows.some((text) => text.includes("+268.44 MB")),
    rows.join("; "),
  );
  const memory = page.locator("section", { has: page.locator("h2", { hasText: /^GPU memory$/ }) });
  assert.equal(await memory.locator("table").first().locator("tbody tr").count(), moments.length);
  assert.deepEqual(problems, []);
  await context.close();
});

test("a rule on memory is shown with its GPU", async () => {
  const { page, context } = await open(grown.page, "#comparison");
  const text = await page.locator("main").textContent();
  assert.ok(text.includes("memory.peak<=+1%"));
  assert.ok(text.includes("cuda:0: GPU memory at the peak"));
  assert.ok(text.includes(grown.diff.memory.why[0].slice(0, 40)));
  await context.close();
});
