// An encoder of the page's timeline blocks, written from the format's description alone, so that the page is tested
// against a timeline whose every row is known, and against a second reading of the format.
import crypto from "node:crypto";
import zlib from "node:zlib";

function varints(values, { signed = false, delta = false } = {}) {
  const out = [];
  let previous = 0n;
  for (const each of values) {
    let value = BigInt(each);
    if (delta) {
      const difference = value - previous;
      previous = value;
      value = difference;
    }
    if (signed) value = value >= 0n ? value * 2n : -value * 2n - 1n;
    do {
      const low = Number(value & 0x7fn);
      value >>= 7n;
      out.push(value > 0n ? low | 0x80 : low);
    } while (value > 0n);
  }
  return Buffer.from(out);
}

const encoders = {
  u: (values) => varints(values),
  s: (values) => varints(values, { signed: true }),
  udelta: (values) => varints(values, { delta: true }),
  sdelta: (values) => varints(values, { signed: true, delta: true }),
  u8: (values) => Buffer.from(values),
  f32: (values) => Buffer.from(Float32Array.from(values).buffer),
};

const CODINGS = {
  slices: {
    start: "sdelta",
    duration: "u",
    kind: "u8",
    kernel: "u",
    shape: "u",
    call: "sdelta",
    instance: "sdelta",
    step: "sdelta",
    layer: "sdelta",
    bytes: "u",
    gap: "u8",
  },
  calls: { start: "sdelta", duration: "u", name: "u", kind: "u8" },
  ranges: { start: "sdelta", duration: "u", name: "u", depth: "u" },
  stages: { start: "sdelta", duration: "u", name: "u", index: "u", flags: "u8" },
  steps: { start: "sdelta", duration: "u", name: "u", index: "u" },
  layers: { start: "sdelta", duration: "u", name: "u" },
  samples: { time: "sdelta", value: "f32" },
};

const BINS = 65536;

/** Busy share and class with the most time by bin, of the rows [first, first + count) of slices. */
function pyramidOf(slices, kernels, first, count, span, classes) {
  const binNs = Math.max(1, Math.ceil(span / BINS));
  const bins = Math.ceil(span / binNs);
  let level = { bin: binNs, time: Array.from({ length: classes }, () => new Float64Array(bins)), bins };
  for (let row = first; row < first + count; row++) {
    const end = slices.start[row] + slices.duration[row];
    for (let bin = Math.floor(slices.start[row] / binNs); bin < bins && bin * binNs < end; bin++) {
      level.time[kernels[slices.kernel[row]].class][bin] +=
        Math.min(end, (bin + 1) * binNs) - Math.max(slices.start[row], bin * binNs);
    }
  }
  const levels = [];
  while (level.bins > 64) {
    levels.push(level);
    const bins = Math.ceil(level.bins / 4);
    const time = level.time.map((own) =>
      Float64Array.from(
        { length: bins },
        (_, i) => own[4 * i] + (own[4 * i + 1] ?? 0) + (own[4 * i + 2] ?? 0) + (own[4 * i + 3] ?? 0),
      ),
    );
    level = { bin: level.bin * 4, time, bins };
  }
  return levels;
}

/**
 * Blocks by name. tables: columns as arrays; tracks without levels get a pyramid where they have 4,096 slices and
 * more.
 */
export function encodeTimeline({
  names,
  kernels,
  shapes,
  tracks,
  tables,
  span,
  origin = "0",
  classes,
  causes = [],
  gaps = [],
}) {
  const busy = [];
  const dominant = [];
  const described = tracks.map((track) => {
    if (track.table !== "slices" || track.count < 4096) return { ...track, levels: [] };
    const levels = pyramidOf(tables.slices, kernels, track.first, track.count, span, classes).map((level) => {
      const first = busy.length;
      for (let bin = 0; bin < level.bins; bin++) {
        let all = 0;
        let most = 0;
        let best = 0;
        for (let c = 0; c < classes; c++) {
          const ns = level.time[c][bin];
          all += ns;
          if (ns > most) {
            most = ns;
            best = c;
          }
        }
        busy.push(Math.min(255, Math.ceil((all / level.bin) * 255)));
        dominant.push(best);
      }
      return { bin_ns: level.bin, first, count: level.bins };
    });
    return { ...track, levels };
  });
  const blocks = {};
  const header = {
    version: 1,
    origin_ns: origin,
    span_ns: span,
    names,
    kernels,
    shapes,
    tracks: described,
    tables: {},
    causes,
    gaps,
  };
  for (const [table, columns] of Object.entries(tables)) {
    const codings = CODINGS[table];
    header.tables[table] = { rows: columns[Object.keys(codings)[0]].length, columns: codings };
    for (const [column, coding] of Object.entries(codings))
      blocks[`t.${table}.${column}`] = encoders[coding](columns[column]);
  }
  header.tables.pyramid = { rows: busy.length, columns: { busy: "u8", class: "u8" } };
  blocks["t.pyramid.busy"] = Buffer.from(busy);
  blocks["t.pyramid.class"] = Buffer.from(dominant);
  return { timeline: Buffer.from(JSON.stringify(header)), ...blocks };
}

export const packBlock = (name, bytes) =>
  '<script type="application/octet-stream" ' +
  `id="block-${name}">${zlib.deflateSync(bytes).toString("base64")}</script>\n`;

export function unpackBlock(page, name) {
  const open = `<script type="application/octet-stream" id="block-${name}">`;
  const from = page.indexOf(open);
  if (from < 0) return null;
  return zlib.inflateSync(Buffer.from(page.slice(from + open.length, page.indexOf("</script>", from)), "base64"));
}

/** A page of llmprof with its timeline, or its profile, replaced. */
export function withBlocks(page, blocks) {
  let text = page.replace(
    /<script type="application\/octet-stream" id="block-(t\.[^"]*|timeline)">[^<]*<\/script>\n?/g,
    "",
  );
  if (blocks.profile)
    text = text.replace(/<script type="application\/octet-stream" id="block-profile">[^<]*<\/script>\n?/, "");
  const at = text.lastIndexOf("<script>");
  return (
    text.slice(0, at) +
    Object.entries(blocks)
      .map(([name, bytes]) => packBlock(name, bytes))
      .join("") +
    text.slice(at)
  );
}

/** The page with another script and style, and its policy's hash. */
export function withBundle(page, script, style) {
  let text = page;
  const close = text.indexOf("</style>");
  text = `${text.slice(0, text.indexOf("<style>"))}<style>\n${style}${text.slice(close)}`;
  text = `${text.slice(0, text.lastIndexOf("<script>"))}<script>${script}${text.slice(text.lastIndexOf("</script>"))}`;
  return text.replace(/sha256-[^']*/, `sha256-${crypto.createHash("sha256").update(script).digest("base64")}`);
}
