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
          text: (d) => ms(d.span_ms),
        },
        {
          id: "busy",
          title: "busy (ms)",
          of: "ms with at least one operation running",
          value: (d) => d.busy_ms,
          text: (d) => ms(d.busy_ms),
        },
        {
          id: "share",
          title: "busy share of span",
          value: (d) => d.busy_share_of_span,
          text: (d) => percent(d.busy_share_of_span),
        },
        { id: "compute", title: "compute (ms)", value: (d) => d.compute_ms, text: (d) => ms(d.compute_ms) },
        {
          id: "communication",
          title: "communication, exposed (ms)",
          value: (d) => d.exposed_communication_ms,
          text: (d) => ms(d.exposed_communication_ms),
        },
        {
          id: "copies",
          title: "copies, exposed (ms)",
          value: (d) => d.exposed_copies_ms,
          text: (d) => ms(d.exposed_copies_ms),
        },
        { id: "idle", title: "idle (ms)", value: (d) => d.idle_ms, text: (d) => ms(d.idle_ms) },
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
          { id: "ms", title: "ms", of: "ms of the whole timeline", value: (c) => c.ms, text: (c) => ms(c.ms) },
          {
            id: "share",
            title: "share of span",
            of: "of the GPU's span",
            value: (c) => c.share_of_span,
            text: (c) => percent(c.share_of_span),
          },
          {
            id: "gaps",
            title: "gaps",
            of: "gaps for which this is the largest cause",
            value: (c) => c.gaps,
            text: (c) => count(c.gaps),
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

/** The kinds of memory that are read and written. */
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
        { id: "count", title: "operations", value: (c) => c.count, text: (c) => count(c.count) },
        {
          id: "total",
          title: "total (ms)",
          of: "ms; overlapping operations count in full",
          value: (c) => c.total_ms,
          text: (c) => ms(c.total_ms),
        },
        { id: "size", title: "size", of: "bytes moved or filled", value: (c) => c.bytes, text: (c) => bytes(c.bytes) },
        {
          id: "bandwidth",
          title: "bandwidth",
          of: "size over the operations' time",
          value: (c) => c.bytes_per_s,
          text: (c) => bytesPerS(c.bytes_per_s),
        },
        { id: "largest", title: "largest size", value: (c) => c.max_bytes, text: (c) => bytes(c.max_bytes) },
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
            text: (d) => count(d.launches.launches),
          },
          {
            id: "call",
            title: "call, median (ms)",
            of: "ms of a launching call on the CPU",
            value: (d) => d.launches.call_ms.p50,
            text: (d) => exactMs(d.launches.call_ms.p50),
          },
          {
            id: "latency",
            title: "latency, median (ms)",
            of: "ms from the call to its work, of calls to an idle GPU",
            value: (d) => d.launches.launch_latency_ms.p50,
            text: (d) => exactMs(d.launches.launch_latency_ms.p50),
          },
          {
            id: "latency99",
            title: "latency, p99 (ms)",
            of: "ms from the call to its work, of calls to an idle GPU",
            value: (d) => d.launches.launch_latency_ms.p99,
            text: (d) => exactMs(d.launches.launch_latency_ms.p99),
          },
          {
            id: "start99",
            title: "launch to start, p99 (ms)",
            of: "ms from the call to its work, of all calls",
            value: (d) => d.launches.launch_to_start_ms.p99,
            text: (d) => exactMs(d.launches.launch_to_start_ms.p99),
          },
          {
            id: "depth",
            title: "queue depth, median",
            of: "earlier launches whose work had not begun",
            value: (d) => d.launches.queue_depth.p50,
            text: (d) => count(d.launches.queue_depth.p50),
          },
          {
            id: "deepest",
            title: "queue depth, largest",
            of: "earlier launches whose work had not begun",
            value: (d) => d.launches.queue_depth.max,
            text: (d) => count(d.launches.queue_depth.max),
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
          { id: "below", title: "shorter than (ms)", value: (k) => k.below_ms, text: (k) => exactMs(k.below_ms) },
          { id: "kernels", title: "kernels", value: (k) => k.count, text: (k) => count(k.count) },
          {
            id: "share",
            title: "share of kernels",
            of: "of the GPU's kernels",
            value: (k) => k.share_of_kernels,
            text: (k) => percent(k.share_of_kernels),
          },
          { id: "total", title: "total (ms)", value: (k) => k.total_ms, text: (k) => ms(k.total_ms) },
          {
            id: "time",
            title: "share of kernel time",
            of: "of the time of the GPU's kernels",
            value: (k) => k.share_of_kernel_time,
            text: (k) => percent(k.share_of_kernel_time),
          },
        ],
      }).element,
    ],
  );
}
