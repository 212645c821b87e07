// Names and colors of classes and parts, the same in every view.
import type { Color, View } from "./view";

const NO_COLOR: Color = { light: "#6d6560", dark: "#a39a92" };
const BLACK = "#000000";
const WHITE = "#ffffff";

function luminance(hex: string): number {
  const channel = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

/** Black or white, whichever has more contrast: at least 4.58 to 1 on any color. */
export const textOn = (hex: string): string => (luminance(hex) > 0.179 ? BLACK : WHITE);

/** The page's background, with which tints are mixed. */
const BACKGROUND: Color = { light: "#ffffff", dark: "#15181e" };

function mixed(hex: string, background: string, share: number): string {
  const channel = (at: number) =>
    Math.round(parseInt(hex.slice(at, at + 2), 16) * share + parseInt(background.slice(at, at + 2), 16) * (1 - share));
  return `#${[1, 3, 5].map((at) => channel(at).toString(16).padStart(2, "0")).join("")}`;
}

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

  /** Where it is clear that the GPU is idle. */
  short(part: string): string {
    return this.view.parts[part]?.short ?? this.label(part);
  }

  /** The meaning of a part of the budget, as a sentence; null if its name is enough. */
  why(part: string): string | null {
    return this.view.parts[part]?.why ?? null;
  }

  /** The class of a part's kernels; null for idle time. */
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

  /** Text on that color; also follows the theme. */
  textCss(part: string): string {
    const { light, dark } = this.color(part);
    return `light-dark(${textOn(light)}, ${textOn(dark)})`;
  }

  /** CSS for this share of the color on the page's background, and for text on it. */
  tint(part: string, share: number): string {
    const { light, dark } = this.color(part);
    const onLight = mixed(light, BACKGROUND.light, share);
    const onDark = mixed(dark, BACKGROUND.dark, share);
    return (
      `background-color: light-dark(${onLight}, ${onDark}); color: light-dark(${textOn(onLight)}, ` +
      `${textOn(onDark)})`
    );
  }

  /** For canvases, which do not follow the theme. */
  now(part: string): string {
    return this.color(part)[isDark() ? "dark" : "light"];
  }
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}
