// All kernels of both sides, with filters.
import type { MountedView, ViewDescription } from "../app";
import { msOf } from "../data/diff";
import { h, replace } from "../dom/dom";
import { note, notKnown, select } from "../dom/parts";
import { counted, timeChange } from "../format/figures";
import { setOptions } from "../state/fragment";
import type { CompareApp } from "./app";
import { kernelRows, kernelTable, type KernelRow } from "./kernel_rows";

const VIEW = "kernels";

interface State {
  stage: string;
  change: string;
  class: string;
  text: string;
  sort: string;
}

const stateOf = (options: URLSearchParams): State => ({
  stage: options.get("stage") ?? "",
  change: options.get("change") ?? "",
  class: options.get("class") ?? "",
  text: options.get("text") ?? "",
  sort: options.get("sort") ?? "",
});

const both = ({ kernel }: KernelRow) => [...kernel.base_kernels, ...kernel.new_kernels];

function isWanted(row: KernelRow, state: State): boolean {
  if (state.stage && row.stage !== state.stage) return false;
  if (
    state.change === "not matched"
      ? row.kernel.change === "matched"
      : state.change && row.kernel.change !== state.change
  )
    return false;
  if (state.class && !both(row).some((each) => each.class === state.class)) return false;
  const text = state.text.toLowerCase();
  return !text || both(row).some((each) => each.short_name.toLowerCase().includes(text));
}

function mount(app: CompareApp, options: URLSearchParams, printing: boolean): MountedView {
  const rows = kernelRows(app);
  let state = printing ? stateOf(new URLSearchParams()) : stateOf(options);
  const summary = h("p", { class: "summary", "aria-live": "polite" });
  const filters = h("div", { class: "filters no-print" });
  const body = h("div");
  const search = h("input", { type: "search", placeholder: "part of a name" });
  search.addEventListener("input", () => update({ text: search.value }));

  const choices = (values: string[], all: string): [string, string][] => [
    ["", all],
    ...[...new Set(values)].map((value): [string, string] => [value, value]),
  ];

  function update(changes: Partial<State>): void {
    state = { ...state, ...changes };
    setOptions(VIEW, { ...state });
    draw();
  }

  function drawFilters(): void {
    const classes = [...new Set(rows.flatMap((row) => both(row).map((each) => each.class)))].sort();
    search.value = state.text;
    replace(
      filters,
      select(
        "Stage",
        choices(
          rows.map((row) => row.stage),
          "all stages",
        ),
        state.stage,
        (stage) => update({ stage }),
      ),
      select(
        "Change",
        [
          ["", "all"],
          ["not matched", "all but matched"],
          ...choices(
            rows.map((row) => row.kernel.change),
            "",
          ).slice(1),
        ],
        state.change,
        (change) => update({ change }),
      ),
      select(
        "Class",
        [["", "all classes"], ...classes.map((each): [string, string] => [each, app.palette.label(each)])],
        state.class,
        (kernelClass) => update({ class: kernelClass }),
      ),
      h("label", { class: "field" }, h("span", {}, "Name"), search),
    );
  }

  function draw(): void {
    const wanted = rows.filter((row) => isWanted(row, state));
    const total = wanted.reduce((sum, row) => sum + row.kernel.difference_ns, 0);
    const stages = new Set(wanted.map((row) => row.stage));
    const together = stages.size === 1 ? `, together ${timeChange(msOf(total))} ms per ${wanted[0]!.unit}` : "";
    summary.textContent = `${counted(wanted.length, "row")}${together}.`;
    replace(
      body,
      kernelTable(app, "Kernels of both sides", wanted, true, {
        ...(state.sort ? { sort: state.sort } : {}),
        onSort: (sort) => {
          state = { ...state, sort };
          setOptions(VIEW, { sort });
        },
        limit: printing ? 40 : 200,
      }).element,
    );
  }

  drawFilters();
  draw();
  return {
    element: h(
      "div",
      { class: "view" },
      h("h1", {}, "Kernels"),
      rows.length === 0
        ? notKnown(null, "no stage of both sides has kernels that can be compared")
        : [
            filters,
            summary,
            body,
            note(
              "Times are per step (per instance where a stage has no steps), overlap not removed. All rows of a " +
                "stage sum to the difference of its kernel time exactly.",
            ),
          ],
    ),
  };
}

export const changedKernelsView: ViewDescription<CompareApp> = { id: VIEW, title: "Kernels", mount };
