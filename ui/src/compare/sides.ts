// The compared sides: runs, their differences other than times, which steps were compared and which excluded.
import type { MountedView, ViewDescription } from "../app";
import type { Diff } from "../data/diff";
import { h } from "../dom/dom";
import { note, prose, section } from "../dom/parts";
import { table } from "../dom/table";
import { count, ms, percent } from "../format/figures";
import type { CompareApp } from "./app";

type Run = Diff["base"][number] & { side: string };

function runs(app: CompareApp): HTMLElement {
  const rows: Run[] = [
    ...app.diff.base.map((run) => ({ ...run, side: "base" })),
    ...app.diff.new.map((run) => ({ ...run, side: "new" })),
  ];
  return table<Run>({
    caption: "Runs of both sides",
    sortable: false,
    rows,
    columns: [
      { id: "side", title: "side", value: (r) => r.side, heads: true },
      { id: "path", title: "run", value: (r) => r.path, cell: (r) => h("code", {}, r.path), className: "prose" },
      { id: "kind", title: "kind", value: (r) => r.kind },
      { id: "tool", title: "recorded by", value: (r) => r.recorded_by ?? "-" },
      { id: "steps", title: "steps", of: "steps recorded, of all stages", value: (r) => r.steps, format: count },
      {
        id: "command",
        title: "command",
        value: (r) => r.command,
        cell: (r) => (r.command ? h("code", {}, r.command) : "-"),
        className: "prose",
      },
    ],
  }).element;
}

function aspects(app: CompareApp): HTMLElement {
  const rows = app.diff.aspects;
  if (rows.length === 0) return h("p", {}, "The runs differ only in their times.");
  return table({
    caption: "What differs besides times",
    sortable: false,
    fit: true,
    rows,
    columns: [
      { id: "aspect", title: "what", value: (a) => a.aspect.replaceAll("_", " "), heads: true },
      { id: "base", title: "base", value: (a) => a.base ?? "-", className: "prose" },
      { id: "new", title: "new", value: (a) => a.new ?? "-", className: "prose" },
      { id: "blocking", title: "comparable", value: (a) => (a.blocking ? "no" : "yes, with this note") },
    ],
  }).element;
}

function groups(app: CompareApp): HTMLElement {
  const rows = app.diff.groups;
  if (rows.length === 0) return h("p", {}, "No steps: instances of stages are compared, or whole captures.");
  return table({
    caption: "Which steps are compared with which",
    sortable: false,
    fit: true,
    rows,
    columns: [
      { id: "stage", title: "stage", value: (g) => g.stage, heads: true },
      { id: "kind", title: "kind", value: (g) => g.kind },
      { id: "batch", title: "sequences", value: (g) => g.batch, format: count },
      {
        id: "tokens",
        title: "tokens",
        of: "tokens that pass through the layers",
        value: (g) => g.tokens,
        format: count,
      },
      {
        id: "range",
        title: "range",
        value: (g) =>
          `${g.context_by === "context_tokens" ? "context" : "step"} ${count(g.context_low)} to ` +
          `${count(g.context_high)}`,
      },
      { id: "base", title: "base steps", value: (g) => g.base_steps, format: count },
      { id: "new", title: "new steps", value: (g) => g.new_steps, format: count },
      {
        id: "weight",
        title: "weight",
        of: "share of the base's steps in its stage",
        value: (g) => g.weight,
        format: percent,
      },
    ],
  }).element;
}

function leftOut(app: CompareApp): HTMLElement {
  const rows = app.diff.left_out;
  if (rows.length === 0) return h("p", {}, "Nothing was excluded.");
  return table({
    caption: "What was left out, and by which rule",
    fit: true,
    rows,
    columns: [
      { id: "side", title: "side", value: (l) => l.side, heads: true },
      { id: "run", title: "run", value: (l) => l.run, cell: (l) => h("code", {}, l.run), className: "prose" },
      { id: "stage", title: "stage", value: (l) => l.stage },
      { id: "what", title: "what", value: (l) => l.what },
      { id: "rule", title: "rule", value: (l) => l.rule.replaceAll("_", " ") },
      { id: "count", title: "count", value: (l) => l.count, format: count },
      { id: "total", title: "wall time (ms)", value: (l) => l.total_ms, format: ms },
    ],
  }).element;
}

function mount(app: CompareApp): MountedView {
  return {
    element: h(
      "div",
      { class: "view" },
      h("h1", {}, "What was compared"),
      section("Sides", runs(app)),
      section("What differs besides times", aspects(app)),
      section(
        "Comparable steps",
        groups(app),
        note(
          "Only comparable steps are compared: of one kind, with equal sequences and tokens, in the context " +
            "range that both sides have.",
        ),
      ),
      section(
        "Excluded by rule",
        leftOut(app),
        note(
          prose(
            "Warm-up, first steps and interrupted ones would hide what changed; they are counted here and in " +
              "`diff.json`.",
          ),
        ),
      ),
    ),
  };
}

export const sidesView: ViewDescription<CompareApp> = { id: "sides", title: "What was compared", mount };
