// Columns of the kernel table.
import type { App } from "../app";
import type { KernelSum } from "../data/kernel_scope";
import { onCpu, type Kernel } from "../data/profile";
import { h, svg } from "../dom/dom";
import { swatch } from "../dom/parts";
import type { Column } from "../dom/table";
import { count, counted, exactMs, fineMs, percent } from "../format/figures";

/**
 * Shortest to longest launch as a line, median to 99th percentile as a box, on one logarithmic axis for all kernels.
 */
function distribution(kernel: Kernel, low: number, high: number): SVGElement | string {
  const { min_ms, p50_ms, p99_ms, max_ms } = kernel;
  if (min_ms === null || p50_ms === null || p99_ms === null || max_ms === null) return "-";
  const width = 120;
  const x = (value: number) =>
    2 + (high > low ? (Math.log(Math.max(value, low) / low) / Math.log(high / low)) * (width - 4) : 0);
  const words =
    `min ${exactMs(min_ms)}, p50 ${exactMs(p50_ms)}, p99 ${exactMs(p99_ms)}, max ${exactMs(max_ms)} ms of all ` +
    `${counted(kernel.calls, "launch", "launches")}`;
  return svg(
    "svg",
    { class: "distribution", viewBox: `0 0 ${width} 14`, width, height: 14, role: "img", "aria-label": words },
    svg("title", {}, words),
    svg("line", { x1: x(min_ms), x2: Math.max(x(max_ms), x(min_ms) + 1), y1: 7, y2: 7 }),
    svg("rect", { x: x(p50_ms), width: Math.max(x(p99_ms) - x(p50_ms), 1), y: 4, height: 6 }),
    svg("rect", { class: "median", x: x(p50_ms) - 1, width: 2, y: 1, height: 12 }),
  );
}

/** `of` names the scope of sums and shares. */
export function kernelColumns(app: App, kernels: Kernel[], of: () => string): Column<KernelSum>[] {
  const { profile } = app;
  const low = Math.min(...kernels.map((k) => k.min_ms ?? Infinity).filter((v) => v > 0));
  const high = Math.max(...kernels.map((k) => k.max_ms ?? 0));
  const devices = new Set(kernels.map((kernel) => kernel.device)).size > 1;
  const libraries = kernels.some((kernel) => kernel.library !== null);
  const all = "of all launches in the capture";
  const words = (text: string) => `${text} in ${of()}`;
  return [
    {
      id: "name",
      title: onCpu(profile) ? "operator" : "kernel",
      value: ({ kernel }) => kernel.short_name,
      heads: true,
      className: "name",
      cell: ({ kernel }) =>
        h("span", { class: "with-swatch", title: kernel.kernel_name }, swatch(app, kernel.class), kernel.short_name),
    },
    { id: "class", title: "class", value: ({ kernel }) => app.palette.label(kernel.class), className: "wide-only" },
    ...(libraries
      ? [
          {
            id: "library",
            title: "library",
            value: ({ kernel }: KernelSum) => kernel.library ?? "",
            className: "wide-only",
          },
        ]
      : []),
    ...(devices ? [{ id: "device", title: "device", value: ({ kernel }: KernelSum) => kernel.device }] : []),
    { id: "calls", title: "calls", of: words("launches"), value: (k) => k.calls, format: count },
    { id: "total", title: "total (ms)", of: words("ms, sum of the launches"), value: (k) => k.total, format: exactMs },
    { id: "share", title: "share", of: words("of the time of all kernels"), value: (k) => k.share, format: percent },
    { id: "mean", title: "mean (ms)", of: words("ms per launch"), value: (k) => k.mean, format: exactMs },
    {
      id: "p99",
      title: "p99 (ms)",
      of: `ms, 99th percentile ${all}`,
      value: ({ kernel }) => kernel.p99_ms,
      text: ({ kernel }) => exactMs(kernel.p99_ms),
    },
    {
      id: "spread",
      title: "min, p50 to p99, max",
      of: `single launches, ${all}, logarithmic axis; sorts by p99 over p50`,
      value: ({ kernel }) => (kernel.p99_ms && kernel.p50_ms ? kernel.p99_ms / kernel.p50_ms : null),
      numeric: true,
      cell: ({ kernel }) => distribution(kernel, low, high),
      className: "spread wide-only",
    },
    ...profile.stages.map(
      (stage): Column<KernelSum> => ({
        id: `in:${stage.name}`,
        title: `${stage.name} (ms)`,
        of: `ms in ${stage.name}, all measured instances, warm-up excluded`,
        value: ({ kernel }) => kernel.stages[stage.name]?.steady_total_ms ?? null,
        text: ({ kernel }) => exactMs(kernel.stages[stage.name]?.steady_total_ms),
      }),
    ),
    ...(kernels.some((kernel) => kernel.ms_per_token !== null)
      ? [
          {
            id: "token",
            title: "ms per decode step",
            of: "ms in decode over its steps, warm-up excluded",
            value: ({ kernel }: KernelSum) => kernel.ms_per_token,
            text: ({ kernel }: KernelSum) => fineMs(kernel.ms_per_token),
          },
        ]
      : []),
  ];
}
