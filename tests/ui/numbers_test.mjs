// Every number of the page's tables and tiles is one that profile.json holds: the page shows what analysis found, and
// computes none of it. The judge is that of report.md (tests/end_to_end/check_report_numbers.py).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { analyze, close, closeBrowser, data, folder, open, reportOf, repository } from "./browser.mjs";

after(closeBrowser);

/** The tables and tiles of the shown view, as Markdown. */
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
      const titles = [...table.querySelectorAll("thead th")].map(words);
      const rows = [...table.querySelectorAll(":scope > tbody > tr, :scope > tfoot > tr")]
        .map((row) => [...row.children].map(words))
        .filter((cells) => cells.length === titles.length);
      add(table.caption ? words(table.caption) : "Table", titles, rows);
    }
    return lines.join("\n");
  });
}

async function checkPage(name, file, profile) {
  const opened = await open(file);
  const views = await opened.page.$$eval("nav a[href^='#']", (links) => links.map((each) => each.hash));
  assert.ok(views.length > 3, `views: ${views}`);
  let markdown = "";
  for (const view of views) {
    await opened.page.evaluate((hash) => (location.hash = hash), view);
    await opened.page.waitForFunction((hash) => location.hash.startsWith(hash), view);
    markdown += `# View ${view.slice(1)}\n\n${await tablesOf(opened.page)}\n`;
  }
  await close(opened);
  const written = path.join(folder, `${name}.md`);
  fs.writeFileSync(written, markdown);
  const judged = spawnSync("python3", ["-B", "check_report_numbers.py", profile, written], {
    cwd: path.join(repository, "tests/end_to_end"),
    encoding: "utf8",
  });
  assert.equal(judged.status, 0, `${judged.stdout}${judged.stderr}`);
  assert.ok((markdown.match(/\d/g) ?? []).length > 200, "there are numbers to judge");
}

const CAPTURES = {
  run: ["h200-runs/llama_1b"],
  serving: ["h200-serving/nsys.sqlite"],
  cpu: ["cpu-llm"],
  eager: ["nsys_sqlite/eager.sqlite"],
  duty: ["h200-untraced"],
};

for (const [name, inputs] of Object.entries(CAPTURES)) {
  test(`every number of the page's tables is in profile.json: ${inputs}`, async () => {
    const { page, out } = analyze(name, ...inputs.map(data));
    await checkPage(name, page, path.join(out, "profile.json"));
  });
}

test("so it is of a profile.json that an earlier llmprof wrote, which has nothing that is shown", async () => {
  const { profile, out } = analyze("run", data("h200-runs/llama_1b"));
  const earlier = structuredClone(profile);
  delete earlier.token_times.shown;
  for (const stage of earlier.stages) delete stage.shown;
  const file = path.join(folder, "earlier.json");
  fs.writeFileSync(file, JSON.stringify(earlier));
  const page = reportOf("earlier", file);
  await checkPage("earlier", page, path.join(out, "profile.json"));
  const report = (folder) => fs.readFileSync(path.join(folder, "report.md"), "utf8");
  assert.equal(report(path.dirname(page)), report(out));
});
