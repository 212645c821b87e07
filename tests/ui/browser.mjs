// One browser for all tests, and pages in it that are watched: what they log, what they ask the network for.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const data = (name) => path.join(repository, "tests/data", name);
const SKIPPED = 77;

function skip(why) {
  console.log(`ui/page is skipped: ${why}`);
  process.exit(SKIPPED);
}

function findChromium() {
  const names = [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome"].filter(Boolean);
  for (const name of names) {
    for (const folder of name.includes("/") ? [""] : (process.env.PATH ?? "").split(":")) {
      const file = folder ? path.join(folder, name) : name;
      if (fs.existsSync(file)) return file;
    }
  }
  return skip("Chromium was not found; scripts/setup.sh test installs it");
}

function loadPlaywright() {
  try {
    return createRequire(path.join(repository, "ui/package.json"))("playwright-core");
  } catch {
    return skip("playwright-core is not installed; run npm ci in ui/");
  }
}

const executablePath = findChromium();
const { chromium } = loadPlaywright();
export const llmprof = process.env.LLMPROF ?? path.join(repository, "build/bin/llmprof");
if (!fs.existsSync(llmprof)) throw new Error(`${llmprof} does not exist; LLMPROF names the program under test`);

export const folder = fs.mkdtempSync(path.join(os.tmpdir(), "llmprof-page-"));
// A sandbox needs rights that a container does not give; the pages are our own.
export const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

let closing = null;

/** Every file of tests asks for it; the last ones run in the same process. */
export function closeBrowser() {
  closing ??= shut();
  return closing;
}

async function shut() {
  await browser.close();
  fs.rmSync(folder, { recursive: true, force: true });
}

const analyzed = new Map();

/** Analyzes captures, once for all tests; gives the page's path, its profile and the folder of the reports. */
export function analyze(name, ...inputs) {
  const key = [name, ...inputs].join("\n");
  if (!analyzed.has(key)) analyzed.set(key, analyzeNow(name, inputs));
  return analyzed.get(key);
}

function analyzeNow(name, inputs) {
  const out = path.join(folder, name);
  execFileSync(llmprof, ["analyze", ...inputs, "--out", out, "--force"], { stdio: "pipe", cwd: repository });
  const page = path.join(out, "report.html");
  if (!fs.existsSync(page)) skip(`${llmprof} was built without the page (Node.js was missing then)`);
  return { page, out, profile: JSON.parse(fs.readFileSync(path.join(out, "profile.json"), "utf8")) };
}

/** The page of a profile.json. */
export function reportOf(name, profile) {
  const out = path.join(folder, `report_${name}`);
  execFileSync(llmprof, ["report", profile, "--out", out], { stdio: "pipe", cwd: repository });
  return path.join(out, "report.html");
}

/** Compares two captures, whatever the verdict; gives the page's path, diff.json and the folder of the reports. */
export function compare(name, base, next, ...options) {
  const out = path.join(folder, `diff_${name}`);
  const done = spawnSync(llmprof, ["diff", base, next, "--out", out, "--force", ...options], {
    encoding: "utf8",
    cwd: repository,
  });
  const file = path.join(out, "diff.json");
  if (!fs.existsSync(file)) throw new Error(`llmprof diff ended with ${done.status}: ${done.stderr}`);
  const page = path.join(out, "report.html");
  if (!fs.existsSync(page)) skip(`${llmprof} was built without the page (Node.js was missing then)`);
  return { page, out, diff: JSON.parse(fs.readFileSync(file, "utf8")) };
}

/** Opens a page at a place; its problems are in the list beside it. */
export async function open(file, place = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(pathToFileURL(file).href)) problems.push(`request: ${request.url()}`);
  });
  await page.goto(`${pathToFileURL(file).href}${place}`);
  if (options.javaScriptEnabled !== false) await page.waitForSelector("#app[data-ready=true]");
  return { page, context, problems };
}

export async function openTimeline(file, place = "#timeline", options = {}) {
  const opened = await open(file, place, options);
  await opened.page.waitForSelector(".timeline-mount[data-ready=true]");
  return opened;
}

export async function close({ context, problems }) {
  await context.close();
  assert.deepEqual(problems, []);
}

/** The span that the timeline shows, in ns, once it has drawn. */
export async function shownSpan(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return (await page.getAttribute("canvas.timeline", "data-window")).split(",").map(Number);
}
