// GPU memory inside PyTorch, by its memory snapshots.
import { areaChart, type AreaChart } from "../chart/area_chart";
import { h } from "../dom/dom";
import { note, section } from "../dom/parts";
import { bytes, counted, ms } from "../format/figures";
import { contentsTable, hasContents, modelTable } from "./contents_tables";
import {
  deviceTable,
  failureTable,
  isOfTrace,
  peakTable,
  poolTable,
  stackName,
  stackTable,
  type Device,
  type Snapshots,
} from "./snapshot_tables";
import { treemapFigure, type Piece } from "./treemap_figure";
import { axisBytes, axisTime, type MemoryWords } from "./words";

export interface SnapshotSections {
  element: HTMLElement;
  charts: AreaChart[];
}

const nameOf = (memory: Snapshots, device: Device): string =>
  memory.snapshots.length > 1 ? `${device.device}, ${device.source ?? "snapshot"} ${device.snapshot}` : device.device;

const RESERVED = "var(--memory-reserved)";
const ACTIVE = "var(--memory-active)";

/** Reserved and active bytes over time; by the order of events if they have no time. */
function overTime(memory: Snapshots, device: Device): AreaChart | null {
  const points = memory.timeline.filter((each) => each.snapshot === device.snapshot && each.device === device.device);
  if (points.length < 2) return null;
  const hasTimes = points.every((point) => point.time_ms !== null || point.event === null);
  const times = points.map((point) => (hasTimes ? (point.time_ms ?? 0) : (point.event ?? -1) + 1));
  const axis = axisTime(hasTimes ? (times[times.length - 1] ?? 0) : 0);
  const what = isOfTrace(device) ? "allocated" : "active";
  const usedOf = (point: (typeof points)[number]): number => point.active_bytes ?? point.allocated_bytes;
  const words = (index: number): string => {
    const { time_ms: time, event, reserved_bytes: reserved } = points[index]!;
    const used = usedOf(points[index]!);
    const when = event === null ? "before the first event" : time === null ? `event ${event}` : `${ms(time)} ms`;
    return `${when}: ${bytes(used)} ${what}, ${bytes(reserved)} reserved`;
  };
  const chart = areaChart({
    label: `PyTorch's memory on ${nameOf(memory, device)}, reserved and ${what}: ${counted(points.length, "event")}`,
    times,
    layers: [
      { id: "reserved", color: RESERVED, values: points.map((point) => point.reserved_bytes) },
      { id: "active", color: ACTIVE, values: points.map(usedOf) },
    ],
    isStacked: false,
    xTitle: hasTimes ? `${axis.unit} after the first event` : "event",
    xText: axis.text,
    yText: axisBytes,
    rows: [],
    tooltip: (index) => words(index),
    words,
    onChoose: () => undefined,
  });
  const peak = points.findIndex((point) => point.event !== null && point.event === device.peak?.event);
  chart.choose(Math.max(0, peak));
  return chart;
}

function peakTreemap(words: MemoryWords, memory: Snapshots, index: number): HTMLElement | null {
  const device = memory.devices[index]!;
  if (!device.peak) return null;
  const by = isOfTrace(device) ? "operator" : "call stack";
  const stacks = memory.stacks.filter(
    (stack) => stack.snapshot === device.snapshot && stack.device === device.device && stack.at_peak_bytes !== null,
  );
  const piece = (label: string, size: number, part: string): Piece => ({
    label,
    bytes: size,
    color: words.palette.css(part),
    textColor: words.palette.textCss(part),
  });
  return h(
    "div",
    {},
    h(
      "h3",
      {},
      `Peak of ${nameOf(memory, device)}: ${bytes(device.peak.active_bytes ?? device.peak.allocated_bytes)}, by ${by}`,
    ),
    treemapFigure(`Memory of PyTorch at the peak of ${nameOf(memory, device)}, by ${by}`, [
      ...stacks.map((stack) => piece(stackName(stack), stack.at_peak_bytes!, "framework")),
      piece(
        isOfTrace(device) ? "operators that are not listed" : "stacks that are not listed",
        words.view.other_stacks_bytes[index] ?? 0,
        "other_processes",
      ),
    ]),
  );
}

export function snapshotSections(words: MemoryWords, memory: Snapshots): SnapshotSections {
  const charts = memory.devices.map((device) => overTime(memory, device));
  const failures = failureTable(words, memory);
  const legend = h(
    "div",
    { class: "legend-line" },
    [
      [memory.devices.every(isOfTrace) ? "allocated" : "active", ACTIVE],
      ["reserved", RESERVED],
    ].map(([name, color]) =>
      h(
        "span",
        { class: "with-swatch" },
        h("span", { class: "swatch", style: `background-color: ${color}`, "aria-hidden": "true" }),
        name,
      ),
    ),
  );
  const element = h(
    "div",
    {},
    failures && section("Out of memory", failures),
    section("Inside PyTorch", words.view.sentence && h("p", {}, words.view.sentence), deviceTable(memory)),
    hasContents(memory) &&
      section(
        "What PyTorch's memory is used for",
        note("Each column of bytes sums to what PyTorch held then. The peak may be while loading."),
        contentsTable(words, memory),
        modelTable(memory),
      ),
    charts.some(Boolean) &&
      section(
        "PyTorch's memory over time",
        legend,
        memory.devices.map((device, index) => [
          memory.devices.length > 1 && charts[index] ? h("h3", {}, nameOf(memory, device)) : null,
          charts[index]?.element,
        ]),
        note(
          memory.devices.every(isOfTrace)
            ? "A trace does not say how much of what is reserved but not allocated waits for a stream. Drag to zoom."
            : "Between reserved and active, memory is free in the allocator. Drag to zoom.",
        ),
      ),
    section(
      "Peak inside PyTorch",
      memory.devices.map((_, index) => peakTreemap(words, memory, index)),
      peakTable(memory) ??
        note(
          "Unknown, because the snapshot has no events: call torch.cuda.memory._record_memory_history() at the start.",
        ),
      stackTable(memory),
    ),
    section("Pools", poolTable(memory) ?? note("Only snapshots state pools; there are none here.")),
  );
  return { element, charts: charts.filter((chart) => chart !== null) };
}
