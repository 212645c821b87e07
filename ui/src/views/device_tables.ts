// What each GPU did over the whole timeline: its time, why it was idle, copies, launches.
import type { App } from "../app";
import type { Profile } from "../data/profile";
import { note, section, swatch } from "../dom/parts";
import { h } from "../dom/dom";
import { table } from "../dom/table";
import { link } from "../dom/link";
import { bytes, bytesPerS, count, exactMs, ms, percent } from "../format/figures";
import { gapsLink } from "../state/links";

type Device = Profile["device_time"][number];
type Copies = Profile["copies"][number];

export function deviceTime(app: App): HTMLElement | null {
  const rows = app.profile.device_time;
  if (rows.length === 0) return null;
  const causes = rows.flatMap((device) => device.idle_causes.map((cause) => ({ device: device.device, ...cause })));
  return section(
    "GPU time, whole timeline",
    table({
      caption: "What each GPU did from its first work to its last",
      sortable: false,
      rows,
      columns: [
        { id: "device", title: "device", value: (d) => d.device, heads: true },
        {
          id: "span",
          title: "span (ms)",
          of: "ms, first start to last end of any work",
          value: (d) => d.span_ms,
          format: ms,
        },
        {
          id: "busy",
          title: "busy (ms)",
          of: "ms with at least one operation running",
          value: (d) => d.busy_ms,
          format: ms,
        },
        { id: "share", title: "busy share of span", value: (d) => d.busy_share_of_span, format: percent },
        { id: "compute", title: "compute (ms)", value: (d) => d.compute_ms, format: ms },
        {
          id: "communication",
          title: "communication, exposed (ms)",
          value: (d) => d.exposed_communication_ms,
          format: ms,
        },
        { id: "copies", title: "copies, exposed (ms)", value: (d) => d.exposed_copies_ms, format: ms },
        { id: "idle", title: "idle (ms)", value: (d) => d.idle_ms, format: ms },
      ],
    }).element,
    causes.length > 0 && [
      h("h3", {}, "Idle time by cause"),
      table({
        caption: "Idle time by cause",
        fit: true,
        rows: causes,
        columns: [
          { id: "device", title: "device", value: (c) => c.device },
          {
            id: "cause",
            title: "idle because of",
            value: (c) => app.palette.label(c.cause),
            heads: true,
            cell: (c) =>
              link(
                gapsLink(app, "", [c.cause]),
                { class: "with-swatch" },
                swatch(app, c.cause),
                app.palette.label(c.cause),
              ),
          },
          { id: "ms", title: "ms", of: "ms of the whole timeline", value: (c) => c.ms, format: ms },
          {
            id: "share",
            title: "share of span",
            of: "of the GPU's span",
            value: (c) => c.share_of_span,
            format: percent,
          },
          {
            id: "gaps",
            title: "gaps",
            of: "gaps for which this is the largest cause",
            value: (c) => c.gaps,
            format: count,
          },
          {
            id: "why",
            title: "what that means",
            className: "prose wide",
            value: (c) => app.palette.why(c.cause) ?? "",
          },
        ],
      }).element,
    ],
  );
}

/** The kinds of memory that copies read and write. */
function memoryWords(copies: Copies): string {
  return copies.from === null ? (copies.to ?? "") : `${copies.from} to ${copies.to ?? "-"}`;
}

export function copies(app: App): HTMLElement | null {
  const rows = app.profile.copies;
  if (rows.length === 0) return null;
  return h(
    "section",
    { id: "copies" },
    h("h2", {}, "Copies and fills"),
    table({
      caption: "Copies and fills of the whole timeline",
      rows,
      limit: 20,
      columns: [
        { id: "direction", title: "direction", value: (c) => c.direction, heads: true },
        { id: "device", title: "device", value: (c) => c.device },
        ...(rows.some((c) => memoryWords(c) !== "") ? [{ id: "memory", title: "memory", value: memoryWords }] : []),
        { id: "count", title: "operations", value: (c) => c.count, format: count },
        {
          id: "total",
          title: "total (ms)",
          of: "ms; overlapping operations count in full",
          value: (c) => c.total_ms,
          format: ms,
        },
        { id: "size", title: "size", of: "bytes moved or filled", value: (c) => c.bytes, format: bytes },
        {
          id: "bandwidth",
          title: "bandwidth",
          of: "size over the operations' time",
          value: (c) => c.bytes_per_s,
          format: bytesPerS,
        },
        { id: "largest", title: "largest size", value: (c) => c.max_bytes, format: bytes },
      ],
    }).element,
  );
}

export function launches(app: App): HTMLElement | null {
  const rows = app.profile.device_time.filter(
    (device): device is Device & { launches: NonNullable<Device["launches"]> } => device.launches !== null,
  );
  const launched = rows.filter((device) => device.launches.launches > 0);
  const short = rows.flatMap((device) =>
    device.launches.short_kernels.map((kernels) => ({ device: device.device, ...kernels })),
  );
  if (launched.length === 0 && short.length === 0) return null;
  return section(
    "Launches and short kernels",
    launched.length > 0 && [
      table({
        caption: "Launches of each GPU's work",
        sortable: false,
        rows: launched,
        columns: [
          { id: "device", title: "device", value: (d) => d.device, heads: true },
          {
            id: "launches",
            title: "launches",
            of: "calls that put kernels or a CUDA graph on the GPU",
            value: (d) => d.launches.launches,
            format: count,
          },
          {
            id: "call",
            title: "call, median (ms)",
            of: "ms of a launching call on the CPU",
            value: (d) => d.launches.call_ms.p50,
            format: exactMs,
          },
          {
            id: "latency",
            title: "latency, median (ms)",
            of: "ms from the call to its work, of calls to an idle GPU",
            value: (d) => d.launches.launch_latency_ms.p50,
            format: exactMs,
          },
          {
            id: "latency99",
            title: "latency, p99 (ms)",
            of: "ms from the call to its work, of calls to an idle GPU",
            value: (d) => d.launches.launch_latency_ms.p99,
            format: exactMs,
          },
          {
            id: "start99",
            title: "launch to start, p99 (ms)",
            of: "ms from the call to its work, of all calls",
            value: (d) => d.launches.launch_to_start_ms.p99,
            format: exactMs,
          },
          {
            id: "depth",
            title: "queue depth, median",
            of: "earlier launches whose work had not begun",
            value: (d) => d.launches.queue_depth.p50,
            format: count,
          },
          {
            id: "deepest",
            title: "queue depth, largest",
            of: "earlier launches whose work had not begun",
            value: (d) => d.launches.queue_depth.max,
            format: count,
          },
        ],
      }).element,
      note(
        "Latency is from the call to the start of its first work, of calls made while the GPU had nothing to do; " +
          "launch to start covers all calls, including waiting in the queue.",
      ),
    ],
    short.length > 0 && [
      h("h3", {}, "Short kernels"),
      table({
        caption: "Short kernels",
        fit: true,
        rows: short,
        columns: [
          { id: "device", title: "device", value: (k) => k.device, heads: true },
          { id: "below", title: "shorter than (ms)", value: (k) => k.below_ms, format: exactMs },
          { id: "kernels", title: "kernels", value: (k) => k.count, format: count },
          {
            id: "share",
            title: "share of kernels",
            of: "of the GPU's kernels",
            value: (k) => k.share_of_kernels,
            format: percent,
          },
          { id: "total", title: "total (ms)", value: (k) => k.total_ms, format: ms },
          {
            id: "time",
            title: "share of kernel time",
            of: "of the time of the GPU's kernels",
            value: (k) => k.share_of_kernel_time,
            format: percent,
          },
        ],
      }).element,
    ],
  );
}
