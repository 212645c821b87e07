// Which kernels are shown, and which of their launches the sums cover: options of the address.
import type { KernelSum, Scope } from "../data/kernel_scope";
import type { Options } from "../state/fragment";

export interface KernelFilter {
  text: string;
  /** All if empty. */
  classes: string[];
  scope: Scope;
  layer: string;
  library: string;
}

export const NO_LIBRARY = "(none)";
export const NO_FILTER: KernelFilter = { text: "", classes: [], scope: "", layer: "", library: "" };

export function filterOf(options: URLSearchParams): KernelFilter {
  return {
    text: options.get("q") ?? "",
    classes: (options.get("class") ?? "").split(",").filter(Boolean),
    scope: options.get("stage") ?? "",
    layer: options.get("layer") ?? "",
    library: options.get("library") ?? "",
  };
}

export const filterOptions = (filter: KernelFilter): Options => ({
  q: filter.text,
  class: filter.classes.join(","),
  stage: filter.scope,
  layer: filter.layer,
  library: filter.library,
});

/** Ignores the class, because the class bar shows all classes. */
export function matchesButClass({ kernel }: KernelSum, filter: KernelFilter): boolean {
  const text = filter.text.toLowerCase();
  return (
    (!filter.library || (kernel.library ?? NO_LIBRARY) === filter.library) &&
    (!text || kernel.kernel_name.toLowerCase().includes(text) || kernel.short_name.toLowerCase().includes(text))
  );
}

export const matchesClass = ({ kernel }: KernelSum, filter: KernelFilter): boolean =>
  filter.classes.length === 0 || filter.classes.includes(kernel.class);
