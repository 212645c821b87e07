// Official clients of both eras call every tool, over both transports; each validates what it gets with its own
// schemas. Transcripts of stdio are validated message by message as well.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { CallToolResultSchema, DiscoverResultSchema, JSONRPCMessageSchema, ListToolsResultSchema } from "@modelcontextprotocol/core";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Ajv2020 } from "ajv/dist/2020.js";

import { CALLS, LLMPROF, RUNS, serveHttp } from "./server.mjs";

const INFO = { name: "llmprof-tests", version: "1" };
const STDIO = { command: LLMPROF, args: ["mcp", RUNS], stderr: "ignore" };
const server = await serveHttp();

async function check(client) {
  const { tools } = await client.listTools();
  assert.equal(tools.length, 7);
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  const schemas = new Map(
    tools.map((tool) => [tool.name, { input: ajv.compile(tool.inputSchema), output: ajv.compile(tool.outputSchema) }]),
  );
  const called = new Set();
  for (const [name, args, mentioned] of CALLS) {
    const { input, output } = schemas.get(name);
    assert.ok(input(args), `${name}: ${ajv.errorsText(input.errors)}`);
    const result = await client.callTool({ name, arguments: args });
    const text = result.content[0].text;
    assert.ok(!result.isError, `${name} ${JSON.stringify(args)}: ${text}`);
    assert.ok(output(result.structuredContent), `${name}: ${ajv.errorsText(output.errors)}`);
    assert.deepEqual(JSON.parse(text), result.structuredContent);
    assert.ok(text.includes(mentioned), `${name} does not mention ${mentioned}: ${text.slice(0, 400)}`);
    // What an answer suggests can be called.
    for (const next of result.structuredContent.next) {
      assert.ok(schemas.get(next.tool)?.input(next.arguments), JSON.stringify(next));
    }
    called.add(name);
  }
  assert.equal(called.size, tools.length, "every tool is called");
  const wrong = await client.callTool({ name: "query", arguments: { run: "run-01", sql: "SELECT * FROM kernel" } });
  assert.ok(wrong.isError && wrong.content[0].text.includes("did you mean kernels?"));
  await assert.rejects(client.callTool({ name: "quary", arguments: {} }));
}

const modern = (mode) => new Client(INFO, { versionNegotiation: { mode } });
const transports = {
  stdio: () => new StdioClientTransport(STDIO),
  http: () => new StreamableHTTPClientTransport(new URL(server.url)),
};
for (const [transport, make] of Object.entries(transports)) {
  for (const [mode, version] of [[{ pin: "2026-07-28" }, "2026-07-28"], ["auto", "2026-07-28"], ["legacy", "2025-11-25"]]) {
    test(`client 2.4.0, ${JSON.stringify(mode)}, over ${transport}`, async () => {
      const client = modern(mode);
      await client.connect(make());
      assert.equal(client.getNegotiatedProtocolVersion(), version);
      assert.equal(client.getServerVersion().name, "llmprof");
      await check(client);
      await client.close();
    });
  }
}

for (const [transport, make] of [
  ["stdio", () => new OldStdioTransport(STDIO)],
  ["http", () => new OldHttpTransport(new URL(server.url))],
]) {
  test(`sdk 1.32.2 over ${transport}`, async () => {
    const client = new OldClient(INFO);
    await client.connect(make());
    await client.ping();
    await check(client);
    await client.close();
  });
}

const BOMB = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
for (const [transport, make] of Object.entries(transports)) {
  for (const mode of [{ pin: "2026-07-28" }, "legacy"]) {
    test(`progress, then cancel, over ${transport}, ${JSON.stringify(mode)}`, async () => {
      const client = modern(mode);
      await client.connect(make());
      const abort = new AbortController();
      const progress = [];
      const long = client.callTool(
        { name: "query", arguments: { run: "run-01", sql: BOMB } },
        {
          signal: abort.signal,
          onprogress: (each) => {
            progress.push(each.progress);
            abort.abort();
          },
        },
      );
      await assert.rejects(long);
      assert.ok(progress.length > 0 && progress.every((each, i) => i === 0 || each > progress[i - 1]));
      // The statement has 30 s: the next call does not wait for it.
      const begun = Date.now();
      await client.callTool({ name: "query", arguments: { run: "run-01", sql: "SELECT 1 AS one" } });
      assert.ok(Date.now() - begun < 20_000);
      await client.close();
    });
  }
}

test("each line of a transcript satisfies the wire schema", async () => {
  const child = spawn(LLMPROF, ["mcp", RUNS], { stdio: ["pipe", "pipe", "inherit"] });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const requests = [
    ["server/discover", {}, DiscoverResultSchema],
    ["tools/list", {}, ListToolsResultSchema],
    ...CALLS.map(([name, args]) => ["tools/call", { name, arguments: args }, CallToolResultSchema]),
  ];
  requests.forEach(([method, params], id) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } })}\n`),
  );
  child.stdin.write('{"jsonrpc": "2.0", "id": 99, "method": "ping"}\nno JSON\n{"jsonrpc": "2.0", "id": null}\n');
  child.stdin.end();
  const answered = new Set();
  for await (const line of createInterface({ input: child.stdout })) {
    assert.ok(Buffer.byteLength(line) <= 75_000);
    const message = JSON.parse(line);
    JSONRPCMessageSchema.parse(message);
    if (message.id === undefined || message.id === 99) continue;
    requests[message.id][2].parse(message.result);
    assert.equal(message.result.resultType, "complete");
    answered.add(message.id);
  }
  assert.equal(answered.size, requests.length);
});

test.after(() => server.stop());
