// Token and step times in one table, and by the number of sequences.
import type { App } from "../app";
import { isServing } from "../data/profile";
import type { Child } from "../dom/dom";
import { section } from "../dom/parts";
import { table } from "../dom/table";
import { count, meanAndStd, ms, rate } from "../format/figures";

export function statistics(app: App): HTMLElement {
  const {
    token_times: { shown: times },
    stages,
  } = app.profile;
  const rows = [
    { name: "first token", times: times?.time_to_first_token_ms ?? null },
    // An engine's requests have their own table: an engine step is not the time of a token.
    {
      name: "output token (a decode's wall time over its steps)",
      times: isServing(app.profile) ? null : (times?.time_per_output_token_ms ?? null),
    },
    ...stages.map((stage) => ({ name: `step of ${stage.name}`, times: stage.shown.step_wall_ms })),
  ].filter(
    (row): row is { name: string; times: NonNullable<typeof row.times> } => row.times !== null && row.times.count > 0,
  );
  return table({
    caption: "Times of steps and tokens",
    sortable: false,
    fit: true,
    rows,
    columns: [
      { id: "name", title: "time of", value: (r) => r.name, heads: true },
      { id: "count", title: "count", value: (r) => r.times.count, format: count },
      { id: "mean", title: "mean ± std (ms)", value: (r) => r.times.mean, text: (r) => meanAndStd(r.times) },
      { id: "min", title: "min (ms)", value: (r) => r.times.min, format: ms },
      { id: "p50", title: "p50 (ms)", of: "ms, median by nearest rank", value: (r) => r.times.p50, format: ms },
      {
        id: "p99",
        title: "p99 (ms)",
        of: "ms, 99th percentile by nearest rank",
        value: (r) => r.times.p99,
        format: ms,
      },
      { id: "max", title: "max (ms)", value: (r) => r.times.max, format: ms },
    ],
  }).element;
}

export function byBatch(app: App): Child {
  const rows = app.profile.token_times.shown?.by_batch ?? [];
  if (rows.length === 0) return null;
  return section(
    "Decode steps by the number of sequences in them",
    table({
      caption: "Decode steps by the number of sequences in them",
      fit: true,
      rows,
      columns: [
        { id: "batch", title: "sequences", heads: true, value: (r) => r.batch, format: count },
        { id: "count", title: "steps", value: (r) => r.step_wall_ms.count, format: count },
        {
          id: "mean",
          title: "mean ± std (ms)",
          of: "ms per step",
          value: (r) => r.step_wall_ms.mean,
          text: (r) => meanAndStd(r.step_wall_ms),
        },
        { id: "p50", title: "p50 (ms)", of: "ms per step", value: (r) => r.step_wall_ms.p50, format: ms },
        { id: "p99", title: "p99 (ms)", of: "ms per step", value: (r) => r.step_wall_ms.p99, format: ms },
        {
          id: "rate",
          title: "tokens per second",
          of: "sequences over the mean step",
          value: (r) => r.tokens_per_s,
          format: rate,
        },
      ],
    }).element,
  );
}
