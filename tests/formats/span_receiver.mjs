// A small receiver of OpenTelemetry's spans in JSON over HTTP. It decodes each request with the message types of
// OpenTelemetry's own package, and answers 400 if they do not hold everything that was sent.
//
//     node span_receiver.mjs
//
// Prints its port. POST /v1/traces takes spans, GET /spans answers with all of them, as decoded.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";

const { opentelemetry } = createRequire(import.meta.url)("@opentelemetry/otlp-transformer/build/src/generated/root.js");
const Request = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
const IDS = new Set(["traceId", "spanId", "parentSpanId"]);

// OTLP's JSON has ids in hexadecimal digits, protobuf's has bytes.
function mapIds(value, map) {
  if (Array.isArray(value)) return value.map((item) => mapIds(item, map));
  if (value === null || typeof value !== "object" || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, IDS.has(key) ? map(item) : mapIds(item, map)]),
  );
}

function decoded(sent) {
  const message = Request.fromObject(mapIds(sent, (digits) => Buffer.from(digits, "hex")));
  const fault = Request.verify(message);
  if (fault) throw new Error(fault);
  const back = Request.decode(Request.encode(message).finish());
  const object = Request.toObject(back, { longs: String, enums: Number });
  const result = mapIds(object, (bytes) => Buffer.from(bytes).toString("hex"));
  if (!isDeepStrictEqual(result, sent)) {
    throw new Error(`not as sent: ${JSON.stringify(result).slice(0, 2000)}\n${JSON.stringify(sent).slice(0, 2000)}`);
  }
  return result;
}

const received = [];
const server = createServer((request, response) => {
  const answer = (status, body) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  if (request.method === "GET" && request.url === "/spans") return answer(200, received);
  if (request.method !== "POST" || request.url !== "/v1/traces") return answer(404, {});
  if (request.headers["content-type"] !== "application/json") return answer(415, {});
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    try {
      received.push(decoded(JSON.parse(Buffer.concat(pieces).toString("utf8"))));
      answer(200, { partialSuccess: {} });
    } catch (error) {
      answer(400, { message: String(error) });
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
