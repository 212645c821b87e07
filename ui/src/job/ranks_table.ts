// Where each rank's time goes in a step of the job, as bars and as numbers.
import type { App } from "../app";
import type { Rank, RankStage } from "../data/profile";
import { h } from "../dom/dom";
import { table } from "../dom/table";
import { clock, count, energy, fineMs, percent } from "../format/figures";

export interface RankRow {
  rank: Rank;
  own: RankStage | null;
}

const PARTS: {
  key: "compute_ms" | "transfer_ms" | "wait_ms" | "copies_ms" | "idle_ms";
  share: keyof NonNullable<RankStage["shares_of_wall"]>;
  label: string;
  css: (app: App) => string;
  className: string;
}[] = [
  { key: "compute_ms", share: "compute", label: "compute", css: () => "var(--ink)", className: "" },
  {
    key: "transfer_ms",
    share: "transfer",
    label: "transfer",
    css: (app) => app.palette.css("communication"),
    className: "",
  },
  {
    key: "wait_ms",
    share: "wait",
    label: "waiting for others",
    css: (app) => app.palette.css("communication"),
    className: "idle",
  },
  {
    key: "copies_ms",
    share: "copies",
    label: "copies",
    css: (app) => app.palette.css("memory copies and fills"),
    className: "",
  },
  { key: "idle_ms", share: "idle", label: "idle", css: () => "var(--faint)", className: "idle" },
];

function rankBar(app: App, own: RankStage, scale: number): HTMLElement {
  return h(
    "span",
    { class: "rank-bar", "aria-hidden": "true" },
    PARTS.map(
      (part) =>
        own[part.key] > 0 &&
        h("span", {
          class: `swatch-fill ${part.className}`.trim(),
          style: `width: ${((own[part.key] / scale) * 100).toFixed(3)}%; background-color: ${part.css(app)}`,
          title:
            `${part.label}: ${fineMs(own[part.key])} ms per step, ` +
            `${percent(own.shares_of_wall?.[part.share] ?? null)} of its wall time`,
        }),
    ),
  );
}

export const rankLegend = (app: App): HTMLElement =>
  h(
    "div",
    { class: "legend-line" },
    PARTS.map((part) =>
      h(
        "span",
        { class: "with-swatch" },
        h("span", {
          class: `swatch ${part.className}`.trim(),
          style: `background-color: ${part.css(app)}`,
          "aria-hidden": "true",
        }),
        part.label,
      ),
    ),
  );

export function ranksTable(app: App, stage: string, rows: RankRow[]): HTMLElement {
  const scale = Math.max(...rows.map((row) => row.own?.wall_ms ?? 0), 1e-12);
  const known = (value: (own: RankStage) => number | null) => rows.some((row) => row.own && value(row.own) !== null);
  const time = (id: string, title: string, of: string, value: (own: RankStage) => number) => ({
    id,
    title,
    of: `ms per step of the job: ${of}`,
    value: (r: RankRow) => (r.own ? value(r.own) : null),
    text: (r: RankRow) => fineMs(r.own ? value(r.own) : null),
  });
  const optional = (
    id: string,
    title: string,
    of: string,
    value: (own: RankStage) => number | null,
    text: (value: number | null) => string,
  ) =>
    known(value)
      ? [
          {
            id,
            title,
            of,
            value: (r: RankRow) => (r.own ? value(r.own) : null),
            text: (r: RankRow) => text(r.own ? value(r.own) : null),
          },
        ]
      : [];
  return table<RankRow>({
    caption: `Ranks in ${stage}: where each one's time goes, ms per step of the job`,
    rows,
    limit: 128,
    key: (r) => String(r.rank.rank),
    columns: [
      {
        id: "rank",
        title: "rank",
        of: "rank in the job",
        value: (r) => r.rank.rank,
        heads: true,
        cell: (r) => [
          `rank ${r.rank.rank}`,
          r.rank.state !== "recorded" && h("span", { class: "chip state" }, r.rank.state),
        ],
        className: "nowrap as-text",
      },
      {
        id: "where",
        title: "on",
        value: (r) => [r.rank.host, r.rank.device?.split("/").pop()].filter(Boolean).join(" "),
        className: "nowrap",
      },
      time(
        "wall",
        "wall (ms)",
        "mean wall time; compute, transfer, wait, copies and idle sum to it",
        (o) => o.wall_ms,
      ),
      {
        id: "drawn",
        title: "drawn",
        value: (r) => r.own?.wall_ms ?? null,
        cell: (r) => (r.own ? rankBar(app, r.own, scale) : "-"),
        className: "rank-drawn",
      },
      time("compute", "compute (ms)", "at least one kernel that is not communication", (o) => o.compute_ms),
      time("transfer", "transfer (ms)", "communication alone, from the last rank's arrival on", (o) => o.transfer_ms),
      time("wait", "wait (ms)", "communication alone, before the last rank arrived", (o) => o.wait_ms),
      time("copies", "copies (ms)", "copies and fills alone", (o) => o.copies_ms),
      time("idle", "idle (ms)", "no work, until the slowest rank ended the step", (o) => o.idle_ms),
      time(
        "hidden",
        "hidden comm. (ms)",
        "communication that overlaps compute; part of compute",
        (o) => o.hidden_communication_ms,
      ),
      {
        ...time(
          "caused",
          "others wait for it (ms)",
          "time that the longest-waiting rank waited for this one",
          (o) => o.caused_wait_ms,
        ),
        className: "strong",
      },
      {
        id: "kernels",
        title: "kernels",
        of: "kernels of this rank, whole capture",
        value: (r) => (r.own ? r.rank.totals.kernel_count : null),
        text: (r) => count(r.own ? r.rank.totals.kernel_count : null),
      },
      ...optional("tokens", "tokens", "of these steps", (o) => o.tokens, count),
      ...optional("mfu", "MFU", "of the rank's own wall time", (o) => o.mfu, percent),
      ...optional("clock", "SM clock", "Hz, mean reading", (o) => o.sm_clock_hz, clock),
      ...optional("energy", "energy", "J per step", (o) => o.energy_j, energy),
    ],
  }).element;
}
