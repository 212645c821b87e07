// All tests of this folder, in one process: node --test would start one for each file. 77: skipped.
import { existsSync } from "node:fs";

const packages = new URL("node_modules/@modelcontextprotocol/client/", import.meta.url);
if (!existsSync(packages)) {
  console.log("the clients of the Model Context Protocol are not installed; scripts/setup.sh test installs them");
  process.exit(77);
}
await import("./clients_test.mjs");
await import("./conformance_test.mjs");
