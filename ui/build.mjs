// Bundles the page into dist/page.js (one script without imports) and dist/page.css.
import { readFileSync } from "node:fs";
import * as esbuild from "esbuild";

// A page holds a copy of it.
const uplotLicense = readFileSync("node_modules/uplot/LICENSE", "ascii").trim();

await esbuild.build({
  entryPoints: { page: "src/main.ts" },
  outdir: "dist",
  bundle: true,
  format: "iife",
  minify: true,
  // What every browser since mid-2024 reads: CSS light-dark() came last.
  target: ["chrome123", "firefox120", "safari17.5"],
  // The page stands in an HTML file: no "</script" may appear in it, and no byte that a charset could change.
  charset: "ascii",
  legalComments: "none",
  banner: { js: `/* uPlot:\n${uplotLicense}\n*/` },
  logLevel: "warning",
});
