// Describes a row of the timeline in words: for the tooltip, the pinned details and screen readers.
import { count, duration } from "../format/figures";
import { bytes } from "../format/figures";
import type { RowRef, Timeline, Track } from "./model";
import type { View } from "../data/view";

export interface Description {
  title: string;
  /** The full name if the title is a short one. */
  full: string | null;
  /** A kernel's class, by index in view.classes. */
  classIndex: number | null;
  rows: [string, string][];
  startNs: number;
  durationNs: number;
}

const CALL_KINDS = ["CUDA call", "launch", "synchronization", "copy call"];
const SLICE_KINDS = ["kernel", "copy", "fill", "CUDA graph replay, kernels not recorded"];

/** "decode 1" for a stage's instance, "step 7 (decode)" for a step. */
export function instanceWords(timeline: Timeline, table: "stages" | "steps", row: number): string {
  const columns = timeline.tables[table];
  const name = timeline.names[columns["name"]?.[row] ?? -1] ?? "";
  const index = columns["index"]?.[row] ?? 0;
  if (table === "steps") return `${timeline.stepWords(index)}${name ? ` (${name})` : ""}`;
  const warmup = ((columns["flags"]?.[row] ?? 0) & 1) === 1;
  return `${name} ${index}${warmup ? " (warm-up)" : ""}`;
}

function shapeRows(shape: number[]): [string, string][] {
  const [gx, gy, gz, bx, by, bz, registers, shared] = shape;
  const rows: [string, string][] = [
    ["grid", `${gx} x ${gy} x ${gz}`],
    ["block", `${bx} x ${by} x ${bz}`],
  ];
  if (registers) rows.push(["registers per thread", count(registers)]);
  if (shared) rows.push(["shared memory per block", bytes(shared)]);
  return rows;
}

function describeSlice(timeline: Timeline, view: View, track: Track, row: number): Description {
  const columns = timeline.tables.slices;
  const value = (column: string) => columns[column]?.[row] ?? 0;
  const kernel = timeline.kernels[value("kernel")]!;
  const start = track.start[row]!;
  const rows: [string, string][] = [
    ["class", view.classes[kernel.class]?.label ?? "other"],
    ["kind", SLICE_KINDS[value("kind")] ?? "GPU work"],
  ];
  if (value("shape") > 0) rows.push(...shapeRows(timeline.shapes[value("shape") - 1]!));
  if (value("bytes") > 0)
    rows.push(
      ["size", bytes(value("bytes"))],
      ["bandwidth", `${bytes((value("bytes") / track.duration![row]!) * 1e9)}/s`],
    );
  rows.push([
    "stage",
    value("instance") > 0 ? instanceWords(timeline, "stages", value("instance") - 1) : "outside stages",
  ]);
  if (value("step") > 0) rows.push(["step", instanceWords(timeline, "steps", value("step") - 1)]);
  if (value("layer") > 0) rows.push(["layer", timeline.names[value("layer") - 1] ?? ""]);
  const call = value("call") - 1;
  if (call >= 0) {
    rows.push(["launched by", timeline.names[timeline.tables.calls["name"]![call]!] ?? ""]);
    rows.push([
      "launch delay",
      `${duration(start - timeline.tables.calls["start"]![call]!)} from the call's start to its own`,
    ]);
  }
  rows.push(["on", `${track.group} ${track.label}`.trim()]);
  const title = timeline.names[kernel.short] ?? "";
  const full = timeline.names[kernel.name] ?? "";
  return {
    title,
    full: full === title ? null : full,
    classIndex: kernel.class,
    rows,
    startNs: start,
    durationNs: track.duration![row]!,
  };
}

function describeOther(timeline: Timeline, track: Track, row: number): Description {
  const columns = timeline.tables[track.table];
  const start = track.start[row]!;
  const rows: [string, string][] = [];
  let title = timeline.names[columns["name"]?.[row] ?? -1] ?? "";
  if (track.table === "samples") {
    title = track.label;
    rows.push(["value", `${count(columns["value"]![row]!)} ${track.unit ?? ""}`.trim()]);
  } else if (track.table === "calls") rows.push(["kind", CALL_KINDS[columns["kind"]?.[row] ?? 0] ?? "call"]);
  else if (track.table === "stages") title = instanceWords(timeline, "stages", row);
  else if (track.table === "steps") title = instanceWords(timeline, "steps", row);
  else if (track.table === "layers") rows.push(["kind", "layer"]);
  rows.push(["on", `${track.group} ${track.label}`.trim()]);
  return {
    title,
    full: null,
    classIndex: null,
    rows,
    startNs: start,
    durationNs: track.duration ? track.duration[row]! : 0,
  };
}

export function describe(timeline: Timeline, view: View, ref: RowRef): Description {
  const track = timeline.tracks[ref.track]!;
  return track.table === "slices"
    ? describeSlice(timeline, view, track, ref.row)
    : describeOther(timeline, track, ref.row);
}
