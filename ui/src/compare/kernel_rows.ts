// Kernels of both sides as matched rows: the same, replaced, fused, split, added, removed.
import { msOf, type ChangedKernel, type KernelChange } from "../data/diff";
import { h, type Child } from "../dom/dom";
import { swatch } from "../dom/parts";
import { table, type Column, type TableOptions, type TableView } from "../dom/table";
import { count, fineMs, timeChange } from "../format/figures";
import type { CompareApp, Launches } from "./app";
import { differenceBar } from "./interval";

const MOST_NAMES = 3;

export interface KernelRow {
  stage: string;
  unit: string;
  kernel: KernelChange;
  launches: Launches;
}

interface Named {
  name: string;
  class: string;
  places: number;
}

/** A kernel that occurs several times in a sequence is named once. */
function distinct(kernels: ChangedKernel[]): Named[] {
  const found = new Map<string, Named>();
  for (const { short_name, class: kernelClass } of kernels) {
    const known = found.get(short_name);
    if (known) known.places++;
    else found.set(short_name, { name: short_name, class: kernelClass, places: 1 });
  }
  return [...found.values()];
}

const nameText = (each: Named): string => (each.places > 1 ? `${each.name} x ${each.places}` : each.name);
const namesText = (kernels: ChangedKernel[]): string => distinct(kernels).map(nameText).join(" + ");

function names(app: CompareApp, kernels: ChangedKernel[]): Child {
  const all = distinct(kernels);
  if (all.length === 0) return h("span", { class: "muted" }, "-");
  const rest = all.length - MOST_NAMES;
  return [
    all
      .slice(0, MOST_NAMES)
      .map((each) => h("div", { class: "kernel-name" }, swatch(app, each.class), h("span", {}, nameText(each)))),
    rest > 0 && h("div", { class: "muted" }, `and ${rest} more`),
  ];
}

function launchesText({ launches }: KernelRow): string {
  const [base, now] = [count(launches.base), count(launches.new)];
  return base === now ? base : `${base} to ${now}`;
}

function sideList(app: CompareApp, side: string, unit: string, kernels: ChangedKernel[]): Child {
  if (kernels.length === 0) return null;
  return h(
    "div",
    {},
    h("h4", {}, side),
    h(
      "ol",
      { class: "kernel-list" },
      kernels.map((each) =>
        h(
          "li",
          {},
          h("span", { class: "with-swatch" }, swatch(app, each.class), h("span", {}, each.short_name)),
          h(
            "span",
            { class: "muted" },
            ` ${app.palette.label(each.class)}, ${count(each.calls_per_unit)} per ${unit}`,
          ),
        ),
      ),
    ),
  );
}

function detail(app: CompareApp, row: KernelRow): Child {
  const { kernel } = row;
  const how = kernel.matched_by && app.view.matched_by[kernel.matched_by];
  return h(
    "div",
    { class: "kernel-detail" },
    h(
      "p",
      { class: "muted" },
      [how && `Matched by ${how}`, kernel.block && `in ${kernel.block}`].filter(Boolean).join(", ") ||
        "On one side alone",
    ),
    h(
      "div",
      { class: "pair" },
      sideList(app, "base", row.unit, kernel.base_kernels),
      sideList(app, "new", row.unit, kernel.new_kernels),
    ),
  );
}

/** Largest effect on time first, as in diff.json. */
export function kernelTable(
  app: CompareApp,
  caption: string,
  rows: KernelRow[],
  withStage: boolean,
  options: Partial<TableOptions<KernelRow>> = {},
): TableView<KernelRow> {
  const largest = Math.max(...rows.map((row) => Math.abs(row.kernel.difference_ns)), 1);
  const unit = rows[0]?.unit ?? "unit";
  const per = withStage ? "step (or instance)" : unit;
  const columns: Column<KernelRow>[] = [
    {
      id: "change",
      title: "change",
      value: (r) => r.kernel.change,
      cell: (r) => h("span", { class: `chip change-${r.kernel.change}` }, r.kernel.change),
      className: "nowrap",
    },
    ...(withStage ? [{ id: "stage", title: "stage", value: (r: KernelRow) => r.stage }] : []),
    {
      id: "base",
      title: "base",
      value: (r) => namesText(r.kernel.base_kernels),
      cell: (r) => names(app, r.kernel.base_kernels),
      className: "name",
      heads: true,
    },
    {
      id: "new",
      title: "new",
      value: (r) => (r.kernel.change === "matched" ? "the same" : namesText(r.kernel.new_kernels)),
      cell: (r) =>
        r.kernel.change === "matched" ? h("span", { class: "muted" }, "the same") : names(app, r.kernel.new_kernels),
      className: "name",
    },
    {
      id: "launches",
      title: `launches per ${per}`,
      of: `launches per ${per}, base to new`,
      value: (r) => r.launches.new - r.launches.base,
      text: launchesText,
    },
    {
      id: "baseMs",
      title: "base (ms)",
      of: `ns per ${per}, overlap not removed`,
      value: (r) => r.kernel.base_ns,
      text: (r) => fineMs(msOf(r.kernel.base_ns)),
    },
    {
      id: "newMs",
      title: "new (ms)",
      of: `ns per ${per}, overlap not removed`,
      value: (r) => r.kernel.new_ns,
      text: (r) => fineMs(msOf(r.kernel.new_ns)),
    },
    {
      id: "difference",
      title: "difference (ms)",
      of: `ns per ${per}`,
      value: (r) => r.kernel.difference_ns,
      text: (r) => timeChange(msOf(r.kernel.difference_ns)),
      className: "strong",
    },
    {
      id: "drawn",
      title: "drawn",
      value: (r) => Math.abs(r.kernel.difference_ns),
      cell: (r) => differenceBar(r.kernel.difference_ns, largest),
      className: "drawn narrow",
    },
  ];
  return table<KernelRow>({ caption, rows, columns, detail: (row) => detail(app, row), ...options });
}

export function kernelRowsOf(app: CompareApp, index: number): KernelRow[] {
  const { stage, unit, kernels } = app.diff.stages[index]!;
  const launches = app.view.stages[index]!.launches;
  return kernels.map((kernel, row) => ({ stage, unit, kernel, launches: launches[row]! }));
}

export const kernelRows = (app: CompareApp): KernelRow[] =>
  app.diff.stages.flatMap((_, index) => kernelRowsOf(app, index));
