// Stragglers, collectives, groups and clocks of a job.
import type { App } from "../app";
import type { Collective, Rank, Straggler } from "../data/profile";
import { h, type Child } from "../dom/dom";
import { prose } from "../dom/parts";
import { table } from "../dom/table";
import { bytes, bytesPerS, count, counted, fineMs, fixed, ms, percent } from "../format/figures";
import { nameOf, rankList, stageWords } from "./words";

export function stragglersTable(app: App, rows: Straggler[]): HTMLElement {
  if (rows.length === 0)
    return h(
      "p",
      {},
      app.profile.job?.why_not
        ? ["Not available: ", prose(app.profile.job.why_not)]
        : "None: no rank delays the others much more than the rest.",
    );
  const evidence = (straggler: Straggler) => app.view.job?.stragglers[rows.indexOf(straggler)] ?? "";
  return table<Straggler>({
    caption: "Ranks that others wait for",
    fit: true,
    rows,
    columns: [
      {
        id: "rank",
        title: "rank",
        value: (s) => s.rank,
        heads: true,
        cell: (s) => `rank ${s.rank}`,
        className: "as-text",
      },
      { id: "stage", title: "stage", value: (s) => stageWords(s.stage) },
      {
        id: "wait",
        title: "wait (ms per step)",
        of: "ms per step of the job that the longest-waiting rank waited for it",
        value: (s) => s.wait_ms_per_step,
        format: fineMs,
        className: "strong",
      },
      {
        id: "share",
        title: "share of step",
        of: "of the job's mean step",
        value: (s) => s.share_of_step,
        format: percent,
      },
      {
        id: "last",
        title: "came last",
        of: "of the matched collectives of this stage",
        value: (s) => s.last_share,
        format: percent,
      },
      {
        id: "total",
        title: "all ranks' waits (ms)",
        of: "ms that all ranks waited for it, whole capture",
        value: (s) => s.wait_total_ms,
        format: ms,
      },
      { id: "cause", title: "because", value: (s) => nameOf(app, s.cause), className: "nowrap" },
      {
        id: "evidence",
        title: "evidence",
        value: evidence,
        cell: (s) => prose(evidence(s) || "-"),
        className: "prose wide",
      },
    ],
  }).element;
}

/** Waiting and transfer as shares of these kernels' time on all ranks. */
function splitBar(app: App, row: Collective): Child {
  const wait = row.share_waiting;
  if (wait === null) return "-";
  return h(
    "span",
    { class: "split" },
    h(
      "span",
      { class: "rank-bar", "aria-hidden": "true" },
      h("span", {
        style: `width: ${((1 - wait) * 100).toFixed(2)}%; background-color: ${app.palette.css("communication")}`,
      }),
      h("span", {
        class: "swatch-fill idle",
        style: `width: ${(wait * 100).toFixed(2)}%; background-color: ${app.palette.css("communication")}`,
      }),
    ),
    h("span", {}, percent(wait), " wait"),
  );
}

export function collectivesTable(app: App, rows: Collective[]): HTMLElement {
  if (rows.length === 0) return h("p", {}, "None were matched across ranks.");
  return table<Collective>({
    caption: "Collectives, matched across ranks",
    rows,
    columns: [
      {
        id: "kind",
        title: "collective",
        value: (c) => nameOf(app, c.kind),
        heads: true,
        cell: (c) => [nameOf(app, c.kind), c.in_graph && h("span", { class: "chip" }, "CUDA graph")],
        className: "nowrap",
      },
      { id: "stage", title: "stage", value: (c) => c.stage ?? "outside of stages", className: "nowrap" },
      { id: "group", title: "group", value: (c) => c.group, className: "prose group-name" },
      { id: "bytes", title: "message", of: "bytes of the message of one rank", value: (c) => c.bytes, format: bytes },
      { id: "ranks", title: "ranks", of: "that took part and were recorded", value: (c) => c.ranks, format: count },
      {
        id: "matched",
        title: "matched",
        of: "collectives that all these ranks have, and unmatched ones",
        value: (c) => c.matched,
        text: (c) => (c.unmatched > 0 ? `${count(c.matched)} (+ ${count(c.unmatched)} not)` : count(c.matched)),
      },
      { id: "perStep", title: "per step", of: "in a step of the job, mean", value: (c) => c.per_step, format: count },
      {
        id: "latency",
        title: "latency p50 (ms)",
        of: "ms from the last rank's arrival to the last end, median",
        value: (c) => c.latency_ms.p50,
        format: fineMs,
      },
      {
        id: "wait",
        title: "longest wait p50 (ms)",
        of: "ms of the rank that waited longest, median",
        value: (c) => c.wait_ms.p50,
        text: (c) => `${c.lower_bound && c.wait_ms.p50 !== null ? "at least " : ""}${fineMs(c.wait_ms.p50)}`,
      },
      {
        id: "split",
        title: "transfer against wait",
        of: "of the time of these kernels on all ranks",
        value: (c) => c.share_waiting,
        cell: (c) => splitBar(app, c),
        className: "rank-drawn",
      },
      {
        id: "total",
        title: "transfer + wait (ms)",
        of: "ms, of all ranks together, whole capture",
        value: (c) => c.total_ms,
        format: ms,
      },
      {
        id: "exposed",
        title: "exposed",
        of: "share of that time without compute",
        value: (c) => c.share_exposed,
        format: percent,
      },
      {
        id: "wire",
        title: "on the wire",
        of: "bytes/s that the algorithm must move over each rank's link, over the median latency",
        value: (c) => c.wire_bandwidth_bytes_per_s,
        format: bytesPerS,
      },
      {
        id: "peak",
        title: "of the link's peak",
        of: "share of the link's peak in one direction",
        value: (c) => c.share_of_peak,
        text: (c) =>
          c.share_of_peak === null ? "-" : `${percent(c.share_of_peak)}${c.link ? ` of ${nameOf(app, c.link)}` : ""}`,
      },
      {
        id: "last",
        title: "comes last",
        of: "the rank that came last most often, and its share of the matched collectives",
        value: (c) => c.last_rank_share,
        text: (c) => (c.last_rank === null ? "-" : `rank ${c.last_rank} (${percent(c.last_rank_share)})`),
      },
    ],
  }).element;
}

export function groupsTable(app: App): Child {
  const rows = app.profile.job?.groups ?? [];
  if (rows.length === 0) return null;
  return table({
    caption: "Groups of ranks that communicate",
    fit: true,
    rows,
    columns: [
      { id: "group", title: "group", value: (g) => g.group, heads: true, className: "prose" },
      { id: "parallelism", title: "parallelism", value: (g) => g.parallelism },
      {
        id: "size",
        title: "size",
        of: "ranks of the group, those without a capture included",
        value: (g) => g.size,
        format: count,
      },
      { id: "ranks", title: "recorded ranks", value: (g) => rankList(g.ranks), className: "prose" },
      {
        id: "evidence",
        title: "evidence",
        value: (g) => app.view.job?.groups[rows.indexOf(g)] ?? "",
        className: "prose wide",
      },
    ],
  }).element;
}

export function clocksTable(app: App, ranks: Rank[]): Child {
  const rows = ranks.filter((rank): rank is Rank & { clock: NonNullable<Rank["clock"]> } => rank.clock !== null);
  if (rows.length === 0) return null;
  return table({
    caption: "How each rank's clock is brought to the job's",
    fit: true,
    limit: 64,
    rows,
    columns: [
      {
        id: "rank",
        title: "rank",
        value: (r) => r.rank,
        heads: true,
        cell: (r) => `rank ${r.rank}`,
        className: "as-text",
      },
      { id: "host", title: "host", value: (r) => r.host ?? "-" },
      { id: "method", title: "by", value: (r) => nameOf(app, r.clock.method), className: "one-line" },
      {
        id: "offset",
        title: "offset (ms)",
        of: "ns added to a time of this rank at its time 0",
        value: (r) => r.clock.offset_ns,
        text: (r) => ms(r.clock.offset_ns / 1e6),
      },
      {
        id: "drift",
        title: "drift (ppm)",
        of: "microseconds added per second",
        value: (r) => r.clock.drift_ppm,
        text: (r) => fixed(r.clock.drift_ppm, 3),
      },
      {
        id: "from",
        title: "from",
        of: "matched collectives",
        value: (r) => r.clock.collectives,
        text: (r) => (r.clock.collectives > 0 ? counted(r.clock.collectives, "collective") : "-"),
      },
      {
        id: "p50",
        title: "residual p50 (us)",
        of: "ms left between the ends of matched collectives, median of absolute values",
        value: (r) => r.clock.residual_p50_ms,
        text: (r) => (r.clock.residual_p50_ms === null ? "-" : fixed(r.clock.residual_p50_ms * 1000, 2)),
      },
      {
        id: "max",
        title: "residual max (us)",
        of: "ms, the largest",
        value: (r) => r.clock.residual_max_ms,
        text: (r) => (r.clock.residual_max_ms === null ? "-" : fixed(r.clock.residual_max_ms * 1000, 2)),
      },
    ],
  }).element;
}
