// Words of tables are not broken where they fit: at every width a reader may have.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { analyze, close, closeBrowser, data, open, openTimeline, shownSpan } from "./browser.mjs";

const WIDTHS = [375, 700, 900, 1100, 1280, 1600];
const VIEWS = ["overview", "timeline", "kernels", "steps", "layers", "roofline", "operators", "provenance"];
const run = analyze("words", data("h200-runs/llama_1b"));

after(closeBrowser);

/** Words that take two lines: up to `longest` letters, such as "embedding/gather", which fit into any cell. */
const broken = (page, longest) =>
  page.evaluate((most) => {
    const found = [];
    for (const cell of document.querySelectorAll("th, td, dt, dd, .name")) {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const word of node.data.matchAll(/[^\s\u200b]+/g)) {
          if (word[0].length > most) continue;
          const range = document.createRange();
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          const tops = new Set(
            [...range.getClientRects()].filter((rect) => rect.width > 0).map((rect) => Math.round(rect.top)),
          );
          // A break behind a hyphen is one between words.
          if (tops.size > 1 && !word[0].includes("-")) found.push(word[0]);
        }
      }
    }
    return [...new Set(found)];
  }, longest);

test("words of up to 18 letters stay whole in every view", async () => {
  for (const width of WIDTHS) {
    const opened = await open(run.page, "", { viewport: { width, height: 900 } });
    const { page } = opened;
    for (const view of VIEWS) {
      await page.evaluate((place) => (location.hash = place), `#${view}`);
      await page.waitForSelector(`main[data-view="${view}"]`);
      if (view === "timeline") await page.waitForSelector(".timeline-mount[data-ready=true], .not-known");
      assert.deepEqual(await broken(page, 18), [], `${view} at ${width} pixels`);
    }
    await close(opened);
  }
});

test("words of the memory view stay whole", async () => {
  const memory = analyze("words_of_memory", data("collector_log/memory.llmtrace"), data("h200-memory/size.pickle"));
  for (const width of WIDTHS) {
    const opened = await open(memory.page, "#memory", { viewport: { width, height: 900 } });
    assert.deepEqual(await broken(opened.page, 18), [], `${width} pixels`);
    await close(opened);
  }
});

test("the sums of a selected span keep their words whole", async () => {
  for (const width of WIDTHS) {
    const opened = await openTimeline(run.page, "#timeline", { viewport: { width, height: 900 } });
    const { page } = opened;
    const [from, to] = await shownSpan(page);
    await page.evaluate((place) => (location.hash = place), `#timeline?sel=${Math.round(from)},${Math.round(to)}`);
    await page.waitForSelector(".side .selection table");
    assert.deepEqual(await broken(page, 18), [], `${width} pixels`);
    const [table, room] = await page.evaluate(() => [
      Math.max(...[...document.querySelectorAll(".side table")].map((each) => each.getBoundingClientRect().right)),
      document.querySelector(".side").getBoundingClientRect().right,
    ]);
    assert.ok(table <= room, `a table ends at ${table}, its panel at ${room}, of ${width} pixels`);
    await close(opened);
  }
});
