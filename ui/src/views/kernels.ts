// All kernels: sorted, filtered by stage, layer and class, with times and distributions; full name, shapes, single
// launches and metrics on demand.
import type { App, MountedView, ViewDescription } from "../app";
import { kernelSums, scopeWords, type KernelSum } from "../data/kernel_scope";
import { h, replace } from "../dom/dom";
import { keepFocus } from "../dom/keep_focus";
import { note } from "../dom/parts";
import { table } from "../dom/table";
import { count, counted, exactMs, percent } from "../format/figures";
import { classBar } from "../kernels/class_bar";
import { kernelColumns } from "../kernels/columns";
import { kernelDetail } from "../kernels/detail";
import { filterOf, filterOptions, matchesButClass, matchesClass, type KernelFilter } from "../kernels/filter";
import { filterControls } from "../kernels/filters";
import { setOptions } from "../state/fragment";
import { isGpuViewShown, timelineFilterLink } from "../state/links";
import { layerSums } from "../timeline/kernel_launches";
import { loadWholeTimeline } from "../timeline/load";
import { matrixProducts } from "./products";
import { savingsByKernel } from "./savings";

const VIEW = "kernels";

/** Kernels outside the measured stages, in words; empty if there are none. */
function leftOutWords(app: App, filter: KernelFilter): string {
  const scopes = app.profile.totals.scopes.filter((scope) => scope.scope !== "measured" && scope.kernel_count > 0);
  if (filter.scope !== "" || scopes.length === 0 || !app.profile.kernels.some((kernel) => kernel.measured)) return "";
  return ` Excluded: ${scopes.map((scope) => `${scope.scope} ${exactMs(scope.kernel_sum_ms)} ms`).join(", ")}.`;
}

function mount(app: App, options: URLSearchParams, printing: boolean): MountedView {
  const { kernels } = app.profile;
  let filter = filterOf(options);
  /** For the scope and layer, whatever the names and classes. */
  let sums: KernelSum[] = [];
  const opened = new Set((options.get("open") ?? "").split(" ").filter(Boolean));
  const keyOf = ({ kernel }: KernelSum) => String(kernels.indexOf(kernel));
  const summary = h("p", { class: "muted summary", role: "status" });
  const bars = h("div", {
    class: "class-bar",
    role: "group",
    "aria-label": "Kernel time by class; each filters the table",
  });
  const controls = h("div", { class: "filters" });
  const input = h("input", {
    type: "search",
    value: filter.text,
    placeholder: "name contains",
    "aria-label": "Filter by name",
  });
  const filters = h(
    "div",
    { class: "filter-line no-print" },
    h("label", { class: "field" }, h("span", {}, "Name"), input),
    controls,
  );
  const list = table<KernelSum>({
    caption: "Kernels",
    columns: kernelColumns(app, kernels, () => scopeWords(app.profile, filter.scope)),
    rows: [],
    sort: options.get("sort") ?? "-total",
    limit: printing ? 40 : 200,
    onSort: (sort) => setOptions(VIEW, { sort }),
    detail: ({ kernel }) => kernelDetail(app, kernel, filter),
    isOpen: (row) => !printing && opened.has(keyOf(row)),
    key: keyOf,
    onOpen: (row, open) => {
      if (open) opened.add(keyOf(row));
      else opened.delete(keyOf(row));
      setOptions(VIEW, { open: [...opened].join(" ") });
    },
  });

  function summaryOf(rows: KernelSum[]): void {
    const total = rows.reduce((sum, row) => sum + row.total, 0);
    const share = rows.reduce((sum, row) => sum + (row.share ?? 0), 0);
    const calls = rows.reduce((sum, row) => sum + row.calls, 0);
    const where = `${scopeWords(app.profile, filter.scope)}${filter.layer ? `, ${filter.layer}` : ""}`;
    const inTimeline = timelineFilterLink({
      q: filter.text,
      class: filter.classes.join(","),
      stage: app.profile.stages.some((stage) => stage.name === filter.scope) ? filter.scope : "",
      layer: filter.layer,
    });
    replace(
      summary,
      `${counted(rows.length, "kernel")} of ${count(sums.length)}, ${counted(calls, "call")}, ${exactMs(total)} ` +
        `ms, ${percent(share)} of the kernel time of ${where}.${leftOutWords(app, filter)}`,
      inTimeline && rows.length > 0 && [" ", h("a", { class: "no-print", href: inTimeline }, "Show in the timeline")],
    );
  }

  function draw(): void {
    const comparable = sums.filter((row) => matchesButClass(row, filter));
    const rows = comparable.filter((row) => matchesClass(row, filter));
    list.setRows(rows);
    summaryOf(rows);
    keepFocus(bars, () =>
      replace(
        bars,
        classBar(app, comparable, filter.classes, (classes) => update({ classes })),
      ),
    );
    keepFocus(controls, () => replace(controls, filterControls(app, filter, update)));
    if (document.activeElement !== input) input.value = filter.text;
  }

  /** Sums of a layer need single launches, which are in the timeline. */
  function sum(): void {
    const loading = filter.layer ? loadWholeTimeline(app) : null;
    if (!loading) {
      sums = kernelSums(app.profile, filter.scope);
      draw();
      return;
    }
    const wanted = filter;
    replace(summary, "Reading the timeline...");
    void loading.then((timeline) => {
      if (wanted.scope !== filter.scope || wanted.layer !== filter.layer) return;
      sums = layerSums(timeline, app.profile, filter.scope, filter.layer);
      draw();
    });
  }

  function update(changes: Partial<KernelFilter>): void {
    filter = { ...filter, ...changes };
    setOptions(VIEW, filterOptions(filter));
    if (changes.scope !== undefined || changes.layer !== undefined) sum();
    else draw();
  }

  input.addEventListener("input", () => update({ text: input.value }));
  sum();
  const empty = kernels.length === 0 && h("p", { class: "not-known" }, "This input holds no kernels.");
  return {
    element: h(
      "div",
      { class: "view" },
      h("h1", {}, "Kernels"),
      empty || [
        bars,
        filters,
        summary,
        list.element,
        note(
          "Sums are over the chosen stage and layer, warm-up excluded; overlapping kernels count in full. " +
            "Percentiles are by nearest rank over all launches in the capture.",
          isGpuViewShown(app.profile) && [" ", h("a", { href: "#gpu" }, "Copies, fills and launches")],
        ),
        matrixProducts(app, printing),
        savingsByKernel(app),
      ],
    ),
  };
}

export const kernelsView: ViewDescription = { id: VIEW, title: "Kernels", mount };
