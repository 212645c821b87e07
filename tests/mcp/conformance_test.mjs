// The official conformance suite, over HTTP. It needs Node.js 22, which the package `node` brings.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { serveHttp } from "./server.mjs";

const FOLDER = dirname(fileURLToPath(import.meta.url));
const NODE = join(FOLDER, "node_modules", "node", "bin", "node");
const SUITE = join(FOLDER, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
const server = await serveHttp();

for (const revision of ["2026-07-28", "2025-11-25"]) {
  test(`revision ${revision}: nothing fails but what the list of exceptions has`, async () => {
    const exceptions = join(FOLDER, `exceptions-${revision}.yml`);
    const words = ["server", "--url", server.url, "--requirements", revision, "--expected-failures", exceptions];
    const [code, said] = await new Promise((resolve) =>
      execFile(NODE, [SUITE, ...words], { timeout: 120_000 }, (error, out, err) =>
        resolve([error ? error.code : 0, `${out}\n${err}`]),
      ),
    );
    assert.equal(code, 0, said);
  });
}

test.after(() => server.stop());
