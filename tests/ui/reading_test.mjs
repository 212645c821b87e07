// Reading the page by keyboard and with the back button: focus stays, places come back, headers stay in sight,
// controls that open something say what.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { analyze, close, closeBrowser, data, open } from "./browser.mjs";

after(closeBrowser);

const run = analyze("run", data("h200-runs/llama_1b"));
const frames = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const focused = (page) =>
  page.evaluate(() => {
    const active = document.activeElement;
    return (
      active.getAttribute("aria-label") ??
      active.closest("label")?.querySelector("span")?.textContent ??
      active.textContent.trim()
    );
  });

async function goBack(page, view) {
  await page.goBack();
  await page.waitForSelector(`main[data-view="${view}"]`);
  await frames(page);
}

test("focus stays on the control that was used", async () => {
  const opened = await open(run.page, "#kernels");
  const { page } = opened;
  await page.focus('th[data-column="calls"] button');
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), "▾calls");
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), "▴calls");
  const segment = page.locator(".class-bar .segment", { hasText: "elementwise" });
  await segment.focus();
  await page.keyboard.press("Enter");
  assert.match(await focused(page), /^elementwise: /);
  for (const [label, value] of [
    ["Stage", "decode"],
    ["Class", "gemm"],
    ["Library", "cuBLAS"],
  ]) {
    const control = page.locator(".field", { hasText: label }).locator("select");
    await control.focus();
    await control.selectOption(value);
    assert.equal(await focused(page), label);
  }
  await page.focus("main .expander");
  const name = await focused(page);
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), name);
  await page.evaluate(() => (location.hash = "#steps"));
  await page.waitForSelector('main[data-view="steps"]');
  for (const [label, value] of [
    ["Stage", "prefill"],
    ["Cause", "idle: host between launches"],
  ]) {
    const control = page.locator(".field", { has: page.locator(`span:text-is("${label}")`) }).locator("select");
    await control.focus();
    await control.selectOption(value);
    assert.equal(await focused(page), label);
  }
  await close(opened);
});

test("back returns to the place: what was open, where it was scrolled to, what had the focus", async () => {
  const opened = await open(run.page);
  const { page } = opened;
  await page.locator(".finding summary").nth(1).click();
  const link = page.locator(".finding-links a").nth(4);
  await link.scrollIntoViewIfNeeded();
  await frames(page);
  const before = await page.evaluate(() => scrollY);
  assert.ok(before > 300, `${before} pixels`);
  const words = (await link.textContent()).trim();
  await link.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("main").dataset.view !== "overview");
  assert.equal(await page.evaluate(() => scrollY), 0, "a view begins at its top");
  await goBack(page, "overview");
  assert.equal(await page.evaluate(() => scrollY), before);
  assert.equal(await focused(page), words);
  assert.ok(await page.evaluate(() => document.querySelectorAll(".finding details")[1].open));
  // Of a table: its order, an open row, and where it stands.
  await page.evaluate(() => (location.hash = "#kernels"));
  await page.waitForSelector('main[data-view="kernels"]');
  await page.click('th[data-column="calls"] button');
  await page.locator("main .expander").nth(12).click();
  await page.waitForSelector(".launches table");
  const launch = page.locator(".launches tbody a").nth(2);
  await launch.scrollIntoViewIfNeeded();
  await frames(page);
  const place = await page.evaluate(() => scrollY);
  await launch.click();
  await page.waitForSelector(".timeline-mount[data-ready=true]");
  await goBack(page, "kernels");
  assert.equal(await page.evaluate(() => scrollY), place);
  assert.equal(await page.locator(".launches table").count(), 1);
  assert.equal(await page.getAttribute('th[data-column="calls"]', "aria-sort"), "descending");
  await page.goForward();
  await page.waitForSelector(".side .pinned");
  await goBack(page, "kernels");
  await page.waitForFunction((wanted) => history.state?.scroll === wanted, place);
  await page.reload();
  await page.waitForSelector("#app[data-ready=true]");
  await page.waitForFunction((wanted) => Math.abs(scrollY - wanted) < 3, place);
  await close(opened);
});

test("headers of tables stay in sight", async () => {
  const opened = await open(run.page, "#kernels");
  const { page } = opened;
  await page.evaluate(() => window.scrollTo(0, 600));
  await frames(page);
  const edges = () =>
    page.evaluate(() => {
      const head = document.querySelector("main thead th").getBoundingClientRect();
      const frame = document.querySelector("main .table-scroll");
      return {
        head: head.top,
        page: document.querySelector("header.top").getBoundingClientRect().bottom,
        frame: frame.getBoundingClientRect().top,
        wide: frame.classList.contains("wide"),
      };
    });
  const wide = await edges();
  assert.ok(!wide.wide && Math.abs(wide.head - wide.page) <= 1, JSON.stringify(wide));
  // One that is wider than the page scrolls in its own frame, with its first column.
  await page.setViewportSize({ width: 800, height: 700 });
  await page.waitForSelector("main .table-scroll.wide");
  await page.evaluate(() => document.querySelector("main .table-scroll").scrollTo(300, 400));
  await frames(page);
  const narrow = await edges();
  assert.ok(Math.abs(narrow.head - narrow.frame) <= 1, JSON.stringify(narrow));
  const first = await page.evaluate(
    () =>
      document.querySelector("main tbody th").getBoundingClientRect().left -
      document.querySelector("main .table-scroll").getBoundingClientRect().left,
  );
  assert.ok(Math.abs(first) <= 1, `the first column is at ${first}`);
  await close(opened);
});

test("what opens something says what", async () => {
  const opened = await open(run.page, "#kernels");
  const { page } = opened;
  const names = (selector) =>
    page.$$eval(selector, (all) => all.map((each) => each.getAttribute("aria-label") ?? each.textContent.trim()));
  const kernels = await names("main .expander");
  assert.ok(kernels.length > 30);
  for (const [index, name] of kernels.entries())
    assert.equal(
      name,
      `Details of ${await page.locator("main tbody tr[data-key] .with-swatch").nth(index).textContent()}`,
    );
  await page.evaluate(() => (location.hash = "#overview"));
  await page.waitForSelector('main[data-view="overview"]');
  const evidence = await names(".finding summary");
  assert.equal(new Set(evidence).size, evidence.length, evidence.join("; "));
  for (const view of ["overview", "kernels", "steps", "gpu", "layers", "roofline"]) {
    await page.evaluate((hash) => (location.hash = hash), `#${view}`);
    await page.waitForSelector(`main[data-view="${view}"]`);
    const copies = await names("main .table-tools button");
    assert.equal(new Set(copies).size, copies.length, `${view}: ${copies.join("; ")}`);
  }
  await close(opened);
});
