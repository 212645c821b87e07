// Starts the real llmprof for the tests of this folder.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const LLMPROF = process.env.LLMPROF ?? join(ROOT, "build", "bin", "llmprof");

// Two analyzed runs of one program, in a folder that is removed at the end.
const folder = mkdtempSync(join(tmpdir(), "llmprof-mcp-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
export const RUNS = folder;
for (const number of ["01", "02"]) {
  const capture = join(ROOT, "tests", "data", "h200-repeats", `run-${number}.llmtrace.gz`);
  execFileSync(LLMPROF, ["analyze", capture, "--out", join(folder, `run-${number}`)], { stdio: "pipe" });
}

/** Arguments that every tool accepts, and what its answer must mention. */
export const CALLS = [
  ["overview", {}, "run-01"],
  ["overview", { run: "run-01" }, "decode"],
  ["query", { run: "run-01", sql: "SELECT class, count(*) AS n FROM kernels GROUP BY class" }, "norm"],
  ["query", { run: ["run-01", "run-02"], recipe: "compare_stages" }, "run-02"],
  ["describe", { run: "run-01" }, "kernels"],
  ["describe", { table: "steps" }, "wall_ms"],
  ["describe", { recipe: "top_kernels" }, "SELECT"],
  ["explain", { run: "run-01", kind: "finding", id: 0 }, "finding"],
  ["explain", { run: "run-01", kind: "stage", id: "decode" }, "decode"],
  ["explain", { run: "run-01", kind: "step", id: 3 }, "#steps?step=3"],
  ["slice", { run: "run-01", step: 3 }, "#timeline?span="],
  ["compare", { base: "run-01", new: "run-02" }, "cannot_tell"],
  ["how_to_record", { run: "run-01" }, "llmprof run"],
];

/** A server over HTTP; `stop` ends it. */
export function serveHttp() {
  const child = spawn(LLMPROF, ["mcp", RUNS, "--http", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  process.on("exit", () => child.kill());
  return new Promise((resolve, reject) => {
    let said = "";
    child.on("exit", (code) => reject(new Error(`llmprof mcp ended with ${code}: ${said}`)));
    child.stderr.on("data", (text) => {
      said += text;
      const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said);
      if (url) resolve({ url: url[0], stop: () => child.kill() });
    });
  });
}
