// Every link of every view of a set of pages is followed, and must arrive at something.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { analyze, close, closeBrowser, compare, data, open } from "./browser.mjs";

after(closeBrowser);

/**
 * In the page: follows links one by one and says which lead nowhere, and how many there are by the view that they lead
 * to.
 */
async function followAll(from) {
  const pause = () => new Promise((done) => setTimeout(done, 0));
  const parse = (hash) => ({
    view: hash.slice(1).split("?")[0],
    options: new URLSearchParams(hash.split("?")[1] ?? ""),
  });
  const main = () => document.querySelector("main");

  async function until(test) {
    const start = performance.now();
    while (performance.now() - start < 5000) {
      if (test()) return true;
      await pause();
    }
    return false;
  }

  async function go(hash) {
    if (location.hash === hash) return;
    const arrived = new Promise((done) => addEventListener("hashchange", done, { once: true }));
    location.hash = hash;
    await arrived;
  }

  const rows = (scope) =>
    scope.querySelectorAll("tbody tr:not(.detail)").length - scope.querySelectorAll("td.empty").length;
  const sectionOf = (title) =>
    [...document.querySelectorAll("main section")].find((each) => each.querySelector("h2")?.textContent === title);

  const problems = {
    async timeline(options) {
      if (!(await until(() => document.querySelector(".timeline-mount[data-ready=true]"))))
        return "the timeline does not open";
      const selected = options.has("span") || options.has("sel");
      if (selected && !document.querySelector(".side .selection, .side .gap")) return "nothing is selected";
      if (options.has("pin") && !document.querySelector(".side .pinned")) return "nothing is pinned";
      if (
        ["q", "class", "stage", "layer"].some((key) => options.has(key)) &&
        !/^[\d,]+ hits?, /.test(document.querySelector(".counts").textContent)
      )
        return "nothing is found";
      return null;
    },
    async kernels(options) {
      await until(() => !/Reading/.test(document.querySelector(".summary")?.textContent ?? ""));
      if (rows(main().querySelector(".table-block")) === 0) return "no kernel";
      for (const key of (options.get("open") ?? "").split(" ").filter(Boolean))
        if (!document.querySelector(`tr[data-key="${key}"]`)) return `kernel ${key} is not among them`;
      return null;
    },
    async steps(options) {
      if (options.has("step") && !document.querySelector(".panel")) return "no step";
      if (options.get("at") === "slow" && rows(sectionOf("Slowest steps")) === 0) return "no slow step";
      if (!options.has("cause")) return null;
      const gaps = document.querySelector("main .gaps");
      if (!gaps) return "no gaps";
      return (await until(() => rows(gaps) > 0)) ? null : "no gap";
    },
  };

  async function problemOf(hash) {
    const { view, options } = parse(hash);
    await go(hash);
    if (main().dataset.view !== view) return `it leads to ${main().dataset.view}`;
    const own = await problems[view]?.(options);
    if (own) return own;
    if (main().querySelector("td.empty")) return "no row matches";
    return main().textContent.trim().length > 40 ? null : "it is empty";
  }

  /** What a view shows when its rows are open, too. */
  async function linksOf(view) {
    await go(view);
    if (view === "#timeline") {
      await until(() => document.querySelector(".timeline-mount[data-ready=true], .not-known"));
      const lists = [];
      for (let i = 0; i < document.querySelectorAll(".legend button").length; i++) {
        document.querySelectorAll(".legend button")[i].click();
        lists.push(document.querySelector(".counts a")?.getAttribute("href"));
        document.querySelectorAll(".legend button")[i].click();
      }
      return lists.filter(Boolean);
    }
    const first = main().querySelector(".expander");
    if (first && first.getAttribute("aria-expanded") === "false") first.click();
    for (const details of main().querySelectorAll("details")) details.open = true;
    await until(() => ![...main().querySelectorAll("[role=status]")].some((each) => /Reading/.test(each.textContent)));
    return [...main().querySelectorAll("a[href^='#']")].map((each) => each.getAttribute("href"));
  }

  const views = from ?? [...document.querySelectorAll("nav a")].map((each) => each.getAttribute("href"));
  const found = new Map();
  for (const view of views) for (const href of await linksOf(view)) if (!found.has(href)) found.set(href, view);
  const broken = [];
  const followed = {};
  for (const [href, view] of found) {
    const problem = await problemOf(href);
    const target = parse(href).view;
    followed[target] = (followed[target] ?? 0) + 1;
    if (problem) broken.push(`${view} -> ${href}: ${problem}`);
  }
  return { broken, followed };
}

/** Links of all views, unless only some of them differ from those of other pages. */
async function follow(file, views = null) {
  // A small window: hundreds of pictures are drawn.
  const opened = await open(file, "", { viewport: { width: 700, height: 420 } });
  const result = await opened.page.evaluate(followAll, views);
  await close(opened);
  return result;
}

test("every link of every view leads to rows", async () => {
  const captures = {
    run: ["h200-runs/llama_1b"],
    summary: ["h200-decoder/nsys_cuda_gpu_kern_sum.csv"],
    cpu: ["cpu-llm"],
    serving: ["h200-serving/nsys.sqlite"],
  };
  const targets = {};
  for (const [name, inputs] of Object.entries(captures)) {
    const { broken, followed } = await follow(
      analyze(name, ...inputs.map(data)).page,
      name === "cpu" ? ["#overview", "#steps"] : null,
    );
    assert.deepEqual(broken, [], name);
    for (const [view, count] of Object.entries(followed)) targets[view] = (targets[view] ?? 0) + count;
  }
  for (const view of ["kernels", "steps", "timeline", "gpu", "roofline", "provenance"])
    assert.ok(targets[view] > 0, `no link leads to ${view}`);
  assert.ok(targets.timeline > 100 && targets.kernels > 100, JSON.stringify(targets));
});

test("every link of a comparison leads to rows", async () => {
  const { page } = compare("links", data("h200-repeats/run-01.llmtrace.gz"), data("h200-repeats/run-02.llmtrace.gz"));
  assert.deepEqual((await follow(page)).broken, []);
});
