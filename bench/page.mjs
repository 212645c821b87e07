// How fast report.html opens, pans and zooms with a million kernels, measured in the page.
//   node bench/page.mjs [--llmprof build/bin/llmprof] [--kernels 1000000] [--page report.html]
// Needs Chromium and `npm ci` in ui/. Prints one JSON object; fails if a limit is exceeded.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const LIMITS = { page_mb: 15, open_ms: 2000, timeline_ms: 2000, frame_p95_ms: 33 };
const FRAMES = 300;

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const { values } = parseArgs({
  options: {
    llmprof: { type: "string", default: path.join(repository, "build/bin/llmprof") },
    kernels: { type: "string", default: "1000000" },
    page: { type: "string" },
    chromium: { type: "string", default: "/usr/bin/chromium" },
  },
});

// The generator repeats one capture; random ends keep columns from being compressed away.
const GENERATE = `
import sqlite3, sys
sys.path.insert(0, sys.argv[1])
import generate
generate.nsys_sqlite(sys.argv[2], int(sys.argv[3]))
database = sqlite3.connect(sys.argv[2])
for table in ("KERNEL", "RUNTIME"):
    database.execute(f'UPDATE CUPTI_ACTIVITY_KIND_{table} SET "end" = "end" + abs(random()) % 400')
database.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - abs(random()) % 300")
database.commit()
`;

function makePage(folder) {
  const capture = path.join(folder, "capture.sqlite");
  execFileSync("python3", ["-c", GENERATE, path.join(repository, "bench"), capture, values.kernels], { stdio: "inherit" });
  execFileSync(values.llmprof, ["analyze", capture, "--out", path.join(folder, "out")], { stdio: ["ignore", "ignore", "inherit"] });
  return path.join(folder, "out", "report.html");
}

/** In the page: turns the wheel every frame, in and out and sideways, and notes each frame's length and drawing time. */
async function panAndZoom(frames) {
  const canvas = document.querySelector("canvas.timeline");
  const box = canvas.getBoundingClientRect();
  const frame = () => new Promise((done) => requestAnimationFrame(() => done(performance.now())));
  const lengths = [];
  const drawing = [];
  let last = await frame();
  for (let i = 0; i < frames; i++) {
    const phase = i % 100;
    const wheel = phase < 40 ? { deltaY: -120 } : phase < 60 ? { deltaX: 180 } : { deltaY: 120 };
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaX: 0, deltaY: 0, ...wheel, clientX: box.left + box.width * (0.3 + (0.4 * i) / frames), clientY: box.top + 120, bubbles: true, cancelable: true }));
    const now = await frame();
    lengths.push(now - last);
    drawing.push(Number(canvas.dataset.drawMs));
    last = now;
  }
  return { lengths, drawing };
}

const quantile = (all, share) => [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))];
const marks = (page) => page.evaluate(() => Object.fromEntries(performance.getEntriesByType("mark").map((mark) => [mark.name, mark.startTime])));

const { chromium } = createRequire(path.join(repository, "ui/package.json"))("playwright-core");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "llmprof-bench-page-"));
const browser = await chromium.launch({ executablePath: values.chromium, args: ["--no-sandbox"] });
try {
  const file = path.resolve(values.page ?? makePage(folder));
  const url = pathToFileURL(file).href;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  // The first page of a browser includes the start of its processes.
  await (await context.newPage()).goto("about:blank");

  const overview = await context.newPage();
  await overview.goto(url);
  await overview.waitForSelector("#app[data-ready=true]");
  const open = (await marks(overview))["llmprof-open"];
  await overview.close();

  const page = await context.newPage();
  await page.goto(`${url}#timeline`);
  await page.waitForSelector(".timeline-mount[data-ready=true]");
  const timeline = (await marks(page))["llmprof-timeline"];
  const { lengths, drawing } = await page.evaluate(panAndZoom, FRAMES);

  const result = {
    page_mb: fs.statSync(file).size / 1e6,
    open_ms: open,
    timeline_ms: timeline,
    frame_p50_ms: quantile(lengths, 0.5),
    frame_p95_ms: quantile(lengths, 0.95),
    frame_max_ms: Math.max(...lengths),
    draw_p95_ms: quantile(drawing, 0.95),
    frames: FRAMES,
  };
  for (const key of Object.keys(result)) result[key] = Math.round(result[key] * 100) / 100;
  console.log(JSON.stringify(result, null, 1));
  for (const [key, limit] of Object.entries(LIMITS)) {
    if (result[key] > limit) {
      console.error(`page: ${key} is ${result[key]}, more than ${limit}`);
      process.exitCode = 1;
    }
  }
} finally {
  await browser.close();
  fs.rmSync(folder, { recursive: true, force: true });
}
