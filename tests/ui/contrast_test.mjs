// All text stands out from what is behind it by 4.5 to 1 (WCAG 2, AA), in both themes, as the browser computes colors.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { analyze, close, closeBrowser, compare, data, folder, open, reportOf } from "./browser.mjs";
import { withLedger } from "./made_memory.mjs";

after(closeBrowser);

/** In the page: texts whose contrast is too low, each once by its element's class, with the contrast. */
function faintTexts() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  /** Any CSS color as [r, g, b, alpha], by drawing it: computed values come as rgb(), color(srgb ...) and others. */
  function parse(color) {
    if (known.has(color)) return known.get(color);
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    known.set(color, [r, g, b, a / 255]);
    return known.get(color);
  }
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const channel = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  function contrast(a, b) {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  }
  function backgroundOf(element) {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((below, color) => over(color, below), [255, 255, 255]);
  }
  const opacityOf = (element) =>
    element ? Number(getComputedStyle(element).opacity) * opacityOf(element.parentElement) : 1;
  function isSeen(element) {
    const box = element.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1 || box.right <= 0) return false;
    return element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  }
  const faint = new Map();
  function check(element, color, words) {
    const background = backgroundOf(element);
    const text = parse(color);
    const found = contrast(over([text[0], text[1], text[2], text[3] * opacityOf(element)], background), background);
    if (found < 4.5)
      faint.set(
        `${element.tagName.toLowerCase()}.${element.className} in ${element.parentElement.className}`,
        `${found.toFixed(2)}: ${words.slice(0, 40)}`,
      );
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walker.nextNode()) {
    const words = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!words || ["SCRIPT", "STYLE", "OPTION", "title"].includes(element.tagName) || !isSeen(element)) continue;
    count++;
    check(element, getComputedStyle(element).color, words);
  }
  for (const input of document.querySelectorAll("input"))
    check(input, getComputedStyle(input, "::placeholder").color, `placeholder ${input.placeholder}`);
  return { count, faint: [...faint].map((each) => each.join(" ")) };
}

async function checkPage(file, places, { themes = ["light", "dark"], onlyPlaces = false } = {}) {
  for (const colorScheme of themes) {
    const opened = await open(file, "", { colorScheme });
    const { page } = opened;
    const views = onlyPlaces
      ? []
      : await page.$$eval("nav a", (links) => links.map((link) => link.getAttribute("href")));
    for (const place of [...views, ...places]) {
      await page.evaluate((hash) => (location.hash = hash), place);
      await page.waitForSelector(`main[data-view="${place.slice(1).split("?")[0]}"]`);
      if (place.startsWith("#timeline")) await page.waitForSelector(".timeline-mount[data-ready=true], .not-known");
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("main details")) details.open = true;
        document.querySelector("main .expander[aria-expanded=false]")?.click();
      });
      const { count, faint } = await page.evaluate(faintTexts);
      assert.ok(count > 10, `${place}: ${count} texts`);
      assert.deepEqual(faint, [], `${colorScheme} ${place}`);
    }
    await close(opened);
  }
}

test("text stands out in every view of a run", async () => {
  const { page, profile } = analyze("run", data("h200-runs/llama_1b"));
  const step = profile.steps[3];
  const span = `${Math.round(step.start_ms * 1e6)},${Math.round((step.start_ms + step.wall_ms) * 1e6)}`;
  await checkPage(page, [
    `#timeline?span=${span}`,
    "#timeline?class=gemm",
    "#timeline?pin=slices:40",
    "#kernels?class=gemm&stage=decode",
    "#steps?step=3",
  ]);
});

test("text stands out in the view of memory", async () => {
  const { profile } = analyze("run", data("h200-runs/llama_1b"));
  const file = path.join(folder, "faint_memory.json");
  fs.writeFileSync(file, JSON.stringify(withLedger(profile)));
  await checkPage(reportOf("faint_memory", file), ["#memory", "#memory?gpu=1"], { onlyPlaces: true });
  await checkPage(analyze("faint_snapshot", data("h200-memory/size.pickle")).page, ["#memory"], { onlyPlaces: true });
});

test("text stands out in every view of a server and of a comparison", async () => {
  await checkPage(analyze("serving", data("h200-serving/nsys.sqlite")).page, ["#overview", "#steps"], {
    themes: ["dark"],
    onlyPlaces: true,
  });
  await checkPage(
    compare("faint", data("h200-repeats/run-01.llmtrace.gz"), data("h200-repeats/run-02.llmtrace.gz")).page,
    [],
  );
});
