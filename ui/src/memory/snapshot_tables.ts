// What PyTorch's memory snapshots state, as tables.
import type { Profile } from "../data/profile";
import { h, type Child } from "../dom/dom";
import { table, type Column } from "../dom/table";
import { bytes, count, ms, percent } from "../format/figures";
import type { MemoryWords } from "./words";

export type Snapshots = NonNullable<Profile["memory"]>;
export type Device = Snapshots["devices"][number];
type Pool = Snapshots["pools"][number];
export type Stack = Snapshots["stacks"][number];
type Failure = Snapshots["out_of_memory"][number];
interface Highest {
  device: Device;
  what: string;
  moment: NonNullable<Device["peak"]>;
}

/** What is known of who made allocations. */
export function stackName(stack: Stack): string {
  if (stack.place) return stack.place;
  if (stack.made === "before_trace") return "(before the trace's first event)";
  return stack.made === "no_operator" ? "(outside of operators)" : "(stack not recorded)";
}

/** Whether it is what a trace reported. */
export const isOfTrace = (device: Device): boolean => device.source === "trace";

interface OfDevice {
  snapshot: number;
  device: string;
}

/** The columns that name a GPU; that of the snapshot only if there are several. */
export function placeColumns<Row>(memory: Snapshots, of: (row: Row) => OfDevice): Column<Row>[] {
  const device: Column<Row> = { id: "device", title: "device", value: (row) => of(row).device, heads: true };
  return memory.snapshots.length > 1
    ? [
        device,
        {
          id: "snapshot",
          title: "source",
          of: "the snapshot, or the trace",
          value: (row) => `${memory.snapshots[of(row).snapshot]?.source ?? "snapshot"} ${of(row).snapshot}`,
        },
      ]
    : [device];
}

export const sized = <Row>(
  id: string,
  title: string,
  of: string,
  value: (row: Row) => number | null,
): Column<Row> => ({
  id,
  title,
  of,
  value,
  format: bytes,
});

export function deviceTable(memory: Snapshots): HTMLElement {
  return table<Device>({
    caption: memory.devices.every(isOfTrace)
      ? "PyTorch's memory at the end of the trace"
      : "PyTorch's memory at the snapshot",
    rows: memory.devices,
    columns: [
      ...placeColumns<Device>(memory, (row) => row),
      sized("reserved", "reserved", "B held from the driver", (row) => row.reserved_bytes),
      sized("allocated", "allocated", "B of blocks in use", (row) => row.allocated_bytes),
      sized("active", "active", "B that cannot be allocated again", (row) => row.active_bytes),
      sized("requested", "requested", "B that the program asked for", (row) => row.requested_bytes),
      sized("rounding", "rounding", "B: active minus requested", (row) => row.rounding_bytes),
      sized("inactive", "free in the allocator", "B: reserved minus active", (row) => row.inactive_bytes),
      {
        id: "inactive_share",
        title: "of reserved",
        of: "free in the allocator over reserved",
        value: (row) => row.inactive_share,
        format: percent,
      },
      sized("free_block", "largest free block", "B", (row) => row.largest_free_block_bytes),
      sized("request", "largest request", "B", (row) => row.largest_request_bytes),
    ],
  }).element;
}

export function peakTable(memory: Snapshots): HTMLElement | null {
  const rows = memory.devices.flatMap((device): Highest[] => [
    ...(device.peak ? [{ device, what: isOfTrace(device) ? "allocated" : "active", moment: device.peak }] : []),
    ...(device.reserved_peak ? [{ device, what: "reserved", moment: device.reserved_peak }] : []),
  ]);
  if (rows.length === 0) return null;
  return table<Highest>({
    caption: "When PyTorch's memory was highest",
    rows,
    columns: [
      ...placeColumns<Highest>(memory, (row) => row.device),
      { id: "what", title: "highest", value: (row) => row.what },
      {
        id: "time",
        title: "after (ms)",
        of: "ms after the first event of the snapshot or trace",
        value: (row) => row.moment.time_ms,
        format: ms,
      },
      sized("active", "active", "B, in the size that events state", (row) => row.moment.active_bytes),
      sized("allocated", "allocated", "B, in the size that events state", (row) => row.moment.allocated_bytes),
      sized("reserved", "reserved", "B held from the driver", (row) => row.moment.reserved_bytes),
      {
        id: "allocations",
        title: "allocations",
        of: "that were not yet free",
        value: (row) => row.moment.allocations,
        format: count,
      },
    ],
  }).element;
}

export function poolTable(memory: Snapshots): HTMLElement | null {
  if (memory.pools.length === 0) return null;
  return table<Pool>({
    caption: "Pools of PyTorch's allocator, by stream",
    rows: memory.pools,
    sort: "-reserved",
    limit: 40,
    columns: [
      {
        id: "pool",
        title: "pool",
        value: (row) => (row.is_private ? `private ${row.pool}` : "default"),
        heads: true,
      },
      { id: "stream", title: "stream", value: (row) => row.stream },
      ...placeColumns<Pool>(memory, (row) => row).map((column) => ({ ...column, heads: false })),
      sized("reserved", "reserved", "B held from the driver", (row) => row.reserved_bytes),
      sized("active", "active", "B that cannot be allocated again", (row) => row.active_bytes),
      sized("requested", "requested", "B that the program asked for", (row) => row.requested_bytes),
      sized("inactive", "free", "B: reserved minus active", (row) => row.inactive_bytes),
      sized("free_block", "largest free block", "B", (row) => row.largest_free_block_bytes),
      { id: "segments", title: "segments", value: (row) => row.segments, format: count },
    ],
  }).element;
}

const frames = (stack: Stack): Child =>
  h(
    "ol",
    { class: "frames" },
    stack.frames.map((frame) => h("li", {}, h("code", {}, frame))),
  );

export function stackTable(memory: Snapshots): HTMLElement | null {
  if (memory.stacks.length === 0) return null;
  return table<Stack>({
    caption: "What allocates most, by call stack",
    rows: memory.stacks,
    sort: "-at_peak",
    limit: 40,
    detail: frames,
    columns: [
      { id: "place", title: "allocated by", value: stackName, heads: true, className: "name" },
      ...placeColumns<Stack>(memory, (row) => row).map((column) => ({ ...column, heads: false })),
      sized("at_peak", "at the peak", "B of its allocations at the peak", (row) => row.at_peak_bytes),
      {
        id: "allocations",
        title: "allocations",
        of: "at the peak",
        value: (row) => row.allocations_at_peak,
        format: count,
      },
      sized("now", "now", "B of its active blocks at the snapshot, or at the trace's end", (row) => row.now_bytes),
      { id: "blocks", title: "blocks", of: "active at that time", value: (row) => row.blocks_now, format: count },
    ],
  }).element;
}

export function failureTable(words: MemoryWords, memory: Snapshots): HTMLElement | null {
  if (memory.out_of_memory.length === 0) return null;
  const wordsOf = (row: Failure) => words.view.failures[memory.out_of_memory.indexOf(row)];
  return table<Failure>({
    caption: "Failed allocations",
    rows: memory.out_of_memory,
    limit: 20,
    detail: (row) => h("p", {}, wordsOf(row)?.sentence),
    isOpen: (row) => row === memory.out_of_memory[0],
    columns: [
      ...placeColumns<Failure>(memory, (row) => row),
      {
        id: "time",
        title: "after (ms)",
        of: "ms after the snapshot's first event",
        value: (row) => row.time_ms,
        format: ms,
      },
      sized("requested", "requested", "B that were asked for", (row) => row.requested_bytes),
      { id: "cause", title: "why it failed", value: (row) => wordsOf(row)?.cause ?? row.cause, className: "prose" },
      sized("missing", "missing", "B that must become free in one piece", (row) => row.missing_bytes),
      sized("device_free", "free on the device", "B", (row) => row.device_free_bytes),
      sized("reserved", "reserved", "B held from the driver", (row) => row.reserved_bytes),
      sized("free_same", "free for it", "B in segments that the request could use", (row) => row.free_same_bytes),
      sized("largest", "largest part", "B of these, in one piece", (row) => row.largest_free_same_bytes),
      sized("free_other", "free elsewhere", "B in all other segments", (row) => row.free_other_bytes),
      { id: "place", title: "asked by", value: (row) => row.place, className: "name" },
    ],
  }).element;
}
