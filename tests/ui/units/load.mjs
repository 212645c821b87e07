// Modules of the page for unit tests: TypeScript bundled in memory by the page's own bundler, without a browser.
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ui = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../ui");
const SKIPPED = 77;

function loadBundler() {
  try {
    return createRequire(path.join(ui, "package.json"))("esbuild");
  } catch {
    console.log("ui/units is skipped: esbuild is not installed; run npm ci in ui/");
    return process.exit(SKIPPED);
  }
}

const esbuild = loadBundler();

/** What src/NAME.ts exports, of each name: load("format/figures", "data/columns"). */
export async function load(...names) {
  const contents = names.map((name) => `export * from "./src/${name}";`).join("\n");
  const bundle = await esbuild.build({
    stdin: { contents, resolveDir: ui, loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "neutral",
    write: false,
    logLevel: "error",
  });
  return import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString("base64")}`);
}
