// What C++ words for the page: colors and labels of kernel classes and of parts of the budget.

export interface Color {
  light: string;
  dark: string;
}

export interface View {
  made_by: string;
  title: string;
  classes: { id: string; label: string; plain?: string; color: Color }[];
  parts: Record<string, { label: string; plain?: string; class: string | null; color?: Color }>;
  timeline_missing: string | null;
  /** Of a job: sentences on it, evidence of stragglers and groups in their order, names as readers know them. */
  job: { sentences: string[]; stragglers: string[]; groups: string[]; names: Record<string, string> } | null;
}

const NO_COLOR: Color = { light: "#6d6560", dark: "#a39a92" };

/** Names and colors of classes and parts, the same in every view. */
export class Palette {
  private readonly colors = new Map<string, Color>();
  private readonly labels = new Map<string, string>();

  constructor(private readonly view: Pick<View, "classes" | "parts">) {
    for (const each of view.classes) {
      this.colors.set(each.id, each.color);
      this.labels.set(each.id, each.label);
    }
    for (const [part, each] of Object.entries(view.parts)) {
      const color = each.color ?? (each.class === null ? undefined : this.colors.get(each.class));
      if (color) this.colors.set(part, color);
      this.labels.set(part, each.label);
    }
  }

  label(part: string): string {
    return this.labels.get(part) ?? part;
  }

  /** The class whose kernels are behind a part of the budget; null of idle time. */
  classOf(part: string): string | null {
    const known = this.view.parts[part];
    if (known) return known.class;
    return this.view.classes.some((each) => each.id === part) ? part : null;
  }

  color(part: string): Color {
    return this.colors.get(part) ?? NO_COLOR;
  }

  /** A CSS value that follows the theme. */
  css(part: string): string {
    const { light, dark } = this.color(part);
    return `light-dark(${light}, ${dark})`;
  }

  /** For canvases, which know no theme. */
  now(part: string): string {
    return this.color(part)[isDark() ? "dark" : "light"];
  }
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}
