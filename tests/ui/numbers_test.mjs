// Every number of the tables and tiles is one that profile.json (diff.json) holds, or that C++ hands to the page
// with its words: the page shows what analysis found, and computes none of it. The judge is that of report.md
// (tests/end_to_end/check_report_numbers.py).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import zlib from "node:zlib";
import { analyze, close, closeBrowser, compare, data, folder, open, reportOf, repository } from "./browser.mjs";
import { realJobCaptures } from "./made_job.mjs";
import { withLedger } from "./made_memory.mjs";
import { withRequests } from "./made_requests.mjs";

after(closeBrowser);

/** The tables and tiles of the shown view, as Markdown. Lists of single launches are of the timeline, not of sums. */
function tablesOf(page) {
  return page.evaluate(() => {
    const words = (element) => {
      const texts = [];
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) texts.push(walker.currentNode.textContent);
      return texts.join(" ").replace(/\s+/g, " ").replaceAll("|", " ").trim();
    };
    const line = (cells) => `| ${cells.join(" | ")} |`;
    const lines = [];
    const add = (caption, titles, rows) => {
      if (rows.length === 0) return;
      lines.push(`## ${caption}`, "", line(titles), line(titles.map(() => "---")), ...rows.map(line), "");
    };
    const tiles = [...document.querySelectorAll(".tiles > div")].map((tile) => [...tile.children].map(words));
    for (const tile of tiles) add("Tiles", ["figure", "value", "of", "beside"].slice(0, tile.length), [tile]);
    for (const table of document.querySelectorAll("table")) {
      const caption = table.caption ? words(table.caption) : "Table";
      if (caption.startsWith("Launches of ")) continue;
      const titles = [...table.querySelectorAll(":scope > thead th")].map(words);
      const rows = [...table.querySelectorAll(":scope > tbody > tr, :scope > tfoot > tr")]
        .map((row) => [...row.children].map(words))
        .filter((cells) => cells.length === titles.length);
      add(caption, titles, rows);
    }
    return lines.join("\n");
  });
}

/** The texts and sums that the page got from C++ beside profile.json. */
function viewOf(file) {
  const [, packed] = fs.readFileSync(file, "utf8").match(/id="block-view">([^<]*)</);
  return JSON.parse(zlib.inflateSync(Buffer.from(packed, "base64")));
}

/** What the judge compares a page with: profile.json, the shares that C++ adds, and ncu's metrics as shown. */
function judged(file, profile) {
  const metrics = profile.kernels.flatMap((kernel) => Object.values(kernel.metrics ?? {}));
  const digits = (value) => Number(value.toPrecision(6));
  return {
    profile,
    operator_shares: viewOf(file).operator_shares,
    clocks: clocksInOtherUnits(profile),
    metrics: metrics.flatMap((metric) => [metric.mean, metric.min, metric.max].map(digits)),
  };
}

const CLOCK_FIELDS = { offset_ns: ["ms", 1e-6], residual_p50_ms: ["us", 1e3], residual_max_ms: ["us", 1e3] };

/** The same fields in the units that the page shows: clocks in us, and offsets in ms. */
function clocksInOtherUnits(profile) {
  const clocks = (profile.ranks ?? []).flatMap((rank) => (rank.clock ? [rank.clock] : []));
  const found = { ms: [], us: [] };
  for (const clock of clocks)
    for (const [field, [unit, factor]] of Object.entries(CLOCK_FIELDS))
      if (clock[field] !== null) found[unit].push(clock[field] * factor);
  if (profile.job?.clock_residual_ms) found.us.push(profile.job.clock_residual_ms * 1e3);
  return found;
}

/** The numbers of diff.json by the units that the judge knows: times are ns there, and what is relative is a share. */
function diffInOtherUnits(diff) {
  const found = { ms: [], share: [], counts: [] };
  const walk = (value) => {
    if (typeof value === "number") {
      found.ms.push(value, Math.abs(value), value / 1e6, Math.abs(value) / 1e6);
      found.share.push(value, Math.abs(value));
      found.counts.push(value, Math.abs(value), Math.abs(value) / 1e6, Math.abs(value) * 100);
    } else if (value && typeof value === "object") Object.values(value).forEach(walk);
  };
  walk(diff);
  return found;
}

/** Goes to a place, waits until its view is drawn, and opens its first row that opens. */
async function show(page, place) {
  const view = place.slice(1).split("?")[0];
  await page.evaluate((hash) => (location.hash = hash), place);
  await page.waitForSelector(`main[data-view="${view}"] h1, main[data-view="timeline"] .timeline-mount`);
  await page.waitForFunction((hash) => location.hash.startsWith(hash), place);
  await page.evaluate(() => document.querySelector("main .expander[aria-expanded=false]")?.click());
}

function unfound(name, markdown, json) {
  const written = path.join(folder, `${name}.md`);
  const judge = path.join(folder, `${name}_judge.json`);
  fs.writeFileSync(written, markdown);
  fs.writeFileSync(judge, JSON.stringify(json));
  return spawnSync("python3", ["-B", "check_report_numbers.py", judge, written], {
    cwd: path.join(repository, "tests/end_to_end"),
    encoding: "utf8",
  });
}

async function checkPage(name, file, json, places = []) {
  const opened = await open(file);
  const views = await opened.page.$$eval("nav a[href^='#']", (links) => links.map((each) => each.hash));
  assert.ok(views.length > 2, `views: ${views}`);
  let markdown = "";
  for (const place of [...views, ...places]) {
    await show(opened.page, place);
    markdown += `# View ${place.slice(1)}\n\n${await tablesOf(opened.page)}\n`;
  }
  await close(opened);
  const { status, stdout, stderr } = unfound(name, markdown, json);
  assert.equal(status, 0, `${stdout}${stderr}`);
  assert.ok((markdown.match(/\d/g) ?? []).length > 200, "there are numbers to judge");
  return markdown;
}

const CAPTURES = {
  run: ["h200-runs/llama_1b"],
  serving: ["h200-serving/nsys.sqlite"],
  cpu: ["cpu-llm"],
  eager: ["nsys_sqlite/eager.sqlite"],
  duty: ["h200-untraced"],
  allocations: ["collector_log/memory.llmtrace", "h200-memory/size.pickle"],
  snapshot: ["h200-memory/graph.pickle"],
};

for (const [name, inputs] of Object.entries(CAPTURES)) {
  test(`every number of the page's tables is in profile.json: ${inputs}`, async () => {
    const { page, profile } = analyze(name, ...inputs.map(data));
    const places = profile.stages.some((stage) => stage.name === "decode") ? ["#kernels?stage=decode"] : [];
    const markdown = await checkPage(name, page, judged(page, profile), places);
    for (const place of places) assert.ok(markdown.includes(`# View ${place.slice(1)}\n\n## `), "there are tables");
  });
}

test("so it is of a job of several ranks", async () => {
  const { page, profile } = analyze("real_job", realJobCaptures());
  const markdown = await checkPage("real_job", page, judged(page, profile), ["#kernels?stage=decode"]);
  for (const caption of ["Ranks in ", "Collectives, ", "Ranks that others ", "How each rank's clock"])
    assert.ok(markdown.includes(`## ${caption}`), caption);
});

test("so it is of requests of a client", async () => {
  const { profile } = analyze("serving", data("h200-serving/nsys.sqlite"));
  const file = path.join(folder, "numbers_of_requests.json");
  const made = withRequests(profile, { count: 12, tokens: 10 });
  fs.writeFileSync(file, JSON.stringify(made));
  const page = reportOf("numbers_of_requests", file);
  const json = JSON.parse(fs.readFileSync(path.join(path.dirname(page), "profile.json"), "utf8"));
  const markdown = await checkPage("numbers_of_requests", page, judged(page, json));
  for (const caption of ["Times that the client saw", "Load", "Slowest tokens", "Who delayed whom", "Join"])
    assert.ok(markdown.includes(`## ${caption}`), caption);
});

test("so it is of a memory ledger at every moment", async () => {
  const { profile } = analyze("run", data("h200-runs/llama_1b"));
  const file = path.join(folder, "numbers_of_memory.json");
  fs.writeFileSync(file, JSON.stringify(withLedger(profile)));
  const page = reportOf("numbers_of_memory", file);
  const json = JSON.parse(fs.readFileSync(path.join(path.dirname(page), "profile.json"), "utf8"));
  const opened = await open(page, "#memory");
  let markdown = "";
  for (let moment = 0; moment < 4; moment++) {
    await opened.page.click(`.moments button >> nth=${moment}`);
    markdown += `${await tablesOf(opened.page)}\n`;
  }
  await close(opened);
  const { status, stdout, stderr } = unfound("numbers_of_memory", markdown, json);
  assert.equal(status, 0, `${stdout}${stderr}`);
  assert.equal(markdown.match(/## Use of GPU memory: /g).length, 4);
});

test("so it is of a comparison", async () => {
  const { page, diff } = compare("numbers", data("nsys_sqlite/eager.sqlite"), data("h200-decoder/nsys.sqlite"));
  const json = { diff, view: viewOf(page), units: diffInOtherUnits({ diff, view: viewOf(page) }) };
  const markdown = await checkPage("diff", page, json, ["#kernels?stage=decode"]);
  assert.ok(markdown.includes("## Budget of "), "there are tables");
});

test("a number of a table that is not in the JSON is found", async () => {
  const { page, profile } = analyze("run", data("h200-runs/llama_1b"));
  const opened = await open(page);
  await show(opened.page, "#kernels?stage=decode");
  const markdown = await tablesOf(opened.page);
  await close(opened);
  const without = structuredClone(profile);
  for (const kernel of without.kernels) for (const stage of Object.values(kernel.stages)) delete stage.mean_ms;
  const { status, stdout } = unfound("without", markdown, judged(page, without));
  assert.equal(status, 1);
  assert.match(stdout, /mean \(ms\)/);
});

test("so it is of a profile.json that an earlier llmprof wrote, which has nothing that is shown", async () => {
  const { profile, out } = analyze("run", data("h200-runs/llama_1b"));
  const earlier = structuredClone(profile);
  delete earlier.token_times.shown;
  for (const stage of earlier.stages) delete stage.shown;
  const file = path.join(folder, "earlier.json");
  fs.writeFileSync(file, JSON.stringify(earlier));
  const page = reportOf("earlier", file);
  await checkPage("earlier", page, judged(page, profile));
  const report = (folder) => fs.readFileSync(path.join(folder, "report.md"), "utf8");
  assert.equal(report(path.dirname(page)), report(out));
});
