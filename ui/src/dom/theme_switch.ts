// Light, dark, or the system's theme.
import { h } from "./dom";

const KEY = "llmprof-theme";
const CHOICES = ["auto", "light", "dark"] as const;
type Choice = (typeof CHOICES)[number];
const listeners: (() => void)[] = [];

// Some browsers deny storage to local files; the choice then lasts as long as the page.
function stored(): Choice {
  try {
    const value = localStorage.getItem(KEY);
    return CHOICES.find((choice) => choice === value) ?? "auto";
  } catch {
    return "auto";
  }
}

function choose(choice: Choice): void {
  if (choice === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = choice;
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // As above.
  }
  for (const listener of listeners) listener();
}

export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", listener);
}

export function themeSwitch(): HTMLElement {
  const select = h(
    "select",
    { class: "theme", "aria-label": "Theme" },
    CHOICES.map((choice) =>
      h(
        "option",
        { value: choice, selected: choice === stored() },
        { auto: "Auto", light: "Light", dark: "Dark" }[choice],
      ),
    ),
  );
  select.addEventListener("change", () => choose(select.value as Choice));
  choose(stored());
  return select;
}
