// Matrix products by dimensions and role, against the lower bound of their FLOPs and bytes.
import type { App } from "../app";
import type { Profile } from "../data/profile";
import { h } from "../dom/dom";
import { link } from "../dom/link";
import { note, section } from "../dom/parts";
import { table } from "../dom/table";
import { bytes, bytesPerS, count, exactMs, flops, flopsPerS, intensity, percent } from "../format/figures";
import { kernelLink, kernelPlaces } from "../state/links";

type Product = Profile["products"][number];
type Unknown = Profile["products_found"]["without_shape"][number];

/** "bf16", or "f8_e4m3 x f8_e4m3 to bf16". */
function typeWords({ type_a, type_b, type_output }: Product): string {
  return type_a === type_b && type_a === type_output ? type_a : `${type_a} x ${type_b} to ${type_output}`;
}

/** Which operands are stored by column. */
function transposedWords({ layout_a, layout_b }: Product): string {
  const names = [layout_a === "transposed" ? "A" : "", layout_b === "transposed" ? "B" : ""].filter(Boolean);
  if (names.length > 0) return names.join(", ");
  return layout_a === "unknown" || layout_b === "unknown" ? "" : "none";
}

function unknownProducts(app: App, rows: Unknown[]): HTMLElement | null {
  if (rows.length === 0) return null;
  return h(
    "div",
    {},
    h("h3", {}, "Kernels without dimensions"),
    table<Unknown>({
      caption: "Matrix products whose dimensions are unknown",
      rows,
      limit: 20,
      columns: [
        { id: "kernel", title: "kernel", value: (r) => r.short_name, heads: true },
        { id: "operator", title: "operator", value: (r) => r.operator },
        { id: "why", title: "why", value: (r) => app.view.names[r.why] ?? r.why },
        { id: "kernels", title: "kernels", value: (r) => r.kernels, format: count },
        { id: "total", title: "total (ms)", of: "ms of these kernels", value: (r) => r.total_ms, format: exactMs },
      ],
    }).element,
  );
}

export function matrixProducts(app: App, printing: boolean): HTMLElement | null {
  const { products, products_found: found } = app.profile;
  if (products.length === 0) return null;
  const places = kernelPlaces(app.profile);
  const label = ({ role }: Product): string => app.view.names[role] ?? role;
  return section(
    "Matrix products",
    table<Product>({
      caption: "Matrix products by dimensions and role",
      rows: products,
      sort: "-total",
      limit: printing ? 40 : 100,
      columns: [
        { id: "role", title: "role", value: label, heads: true },
        { id: "stage", title: "stage", value: (r) => r.stage },
        { id: "m", title: "m", of: "rows of A and of the result", value: (r) => r.m, format: count },
        { id: "n", title: "n", of: "columns of B and of the result", value: (r) => r.n, format: count },
        { id: "k", title: "k", of: "columns of A, rows of B", value: (r) => r.k, format: count },
        { id: "batch", title: "batch", of: "products per call", value: (r) => r.batch, format: count },
        { id: "types", title: "types", value: typeWords },
        { id: "transposed", title: "transposed", of: "operands stored by column", value: transposedWords },
        {
          id: "kernel",
          title: "kernel",
          value: (r) => r.short_name,
          cell: (r) => link(kernelLink(app, places.byName(r.kernel_name, r.device)), {}, r.short_name),
        },
        { id: "calls", title: "calls", value: (r) => r.calls, format: count },
        { id: "total", title: "total (ms)", of: "ms of all calls", value: (r) => r.total_ms, format: exactMs },
        {
          id: "share",
          title: "share of products",
          of: "of the time of all matrix products",
          value: (r) => r.share,
          format: percent,
        },
        { id: "mean", title: "mean (ms)", of: "ms per call", value: (r) => r.mean_ms, format: exactMs },
        {
          id: "floor",
          title: "lower bound (ms)",
          of: "ms per call, at the GPU's peaks",
          value: (r) => r.floor_ms,
          format: exactMs,
        },
        {
          id: "floor_share",
          title: "lower bound over mean",
          of: "1 is the roof; above it, operands were in a cache",
          value: (r) => r.floor_share,
          format: percent,
        },
        { id: "bound", title: "bound by", value: (r) => (r.floor_ms === null ? null : r.floor_bound) },
        { id: "flops", title: "FLOPs", of: "2 m n k per call and product", value: (r) => r.flops, format: flops },
        {
          id: "bytes",
          title: "bytes",
          of: "A, B and result of a call, each once",
          value: (r) => r.bytes,
          format: bytes,
        },
        { id: "intensity", title: "FLOP/B", value: (r) => r.flops_per_byte, format: intensity },
        { id: "flops_per_s", title: "FLOP/s", value: (r) => r.flops_per_s, format: flopsPerS },
        { id: "bytes_per_s", title: "bandwidth", value: (r) => r.bytes_per_s, format: bytesPerS },
      ],
    }).element,
    note(
      `Dimensions are known for ${percent(found.with_shape_share)} of the ${exactMs(found.time_ms)} ms of all ` +
        `matrix products, the role in the model for ${percent(found.with_role_share)}. FLOPs are what the product ` +
        "needs; a kernel may execute more, because its tiles are larger.",
    ),
    unknownProducts(app, found.without_shape),
  );
}
