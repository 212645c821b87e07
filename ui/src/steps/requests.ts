// Times that an engine's requests saw, one row per recording window.
import type { App } from "../app";
import type { Child } from "../dom/dom";
import { link } from "../dom/link";
import { note, section } from "../dom/parts";
import { table } from "../dom/table";
import { count, ms } from "../format/figures";
import { spanLink } from "../state/links";

export function requests(app: App): Child {
  const rows = app.profile.token_times.served.filter((row) => row.source === "steps");
  if (rows.length === 0) return null;
  return section(
    "Requests",
    table({
      caption: "Requests, as the engine sees them",
      fit: true,
      rows,
      columns: [
        {
          id: "from",
          title: "from (ms)",
          heads: true,
          value: (r) => r.start_ms,
          cell: (r) => link(spanLink(r.start_ms * 1e6, r.span_ms * 1e6), {}, ms(r.start_ms)),
        },
        { id: "prompts", title: "prompts", value: (r) => r.prompts, format: count },
        {
          id: "prompt",
          title: "time per prompt (ms)",
          of: "ms, mean over prompts, including tracing overhead",
          value: (r) => r.prompt_ms,
          format: ms,
        },
        { id: "tokens", title: "tokens after the first", value: (r) => r.tokens, format: count },
        {
          id: "token",
          title: "time per token (ms)",
          of: "ms, mean over tokens, including tracing overhead",
          value: (r) => r.token_ms,
          format: ms,
        },
        {
          id: "most",
          title: "sequences, at most",
          of: "that get a token in one batch",
          value: (r) => r.sequences_max,
          format: count,
        },
        { id: "batches", title: "batches", value: (r) => r.batches, format: count },
        { id: "passes", title: "passes", value: (r) => r.passes, format: count },
      ],
    }).element,
    note(
      "Times as the engine sees them, including tracing overhead. Time per token runs from the previous batch; " +
        "time per prompt ends when its first token is chosen.",
    ),
  );
}
