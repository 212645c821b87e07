import { h } from "./dom";

let toast: HTMLElement | null = null;
let hiding = 0;

function say(text: string): void {
  toast ??= document.body.appendChild(h("div", { class: "toast", role: "status", "aria-live": "polite" }));
  toast.textContent = text;
  toast.classList.add("shown");
  window.clearTimeout(hiding);
  hiding = window.setTimeout(() => toast?.classList.remove("shown"), 2600);
}

// Browsers deny the clipboard API to some local files.
function copyBySelection(text: string): boolean {
  const area = document.body.appendChild(h("textarea", { class: "offscreen", "aria-hidden": "true" }));
  area.value = text;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

export async function copyText(text: string, what: string): Promise<void> {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    done = copyBySelection(text);
  }
  say(done ? `Copied ${what}` : "The browser refused the clipboard: select the text and copy it.");
}

/** A number; hovering shows its exact value, unit and denominator, and a click copies the exact value. */
export function figure(
  text: string,
  exact: number | string | null | undefined,
  of: string,
  className = "",
): HTMLElement {
  const classes = className ? `figure ${className}` : "figure";
  if (exact === null || exact === undefined) return h("span", { class: classes, title: of }, text);
  return h(
    "span",
    { class: classes, "data-exact": exact, "data-of": of, title: `${exact} (${of}). Click to copy.` },
    text,
  );
}

export function listenForCopies(): void {
  document.addEventListener("click", (event) => {
    const target = (event.target as Element).closest<HTMLElement>("[data-exact]");
    if (!target || target.closest("a, button") || String(getSelection() ?? "") !== "") return;
    const exact = target.dataset["exact"]!;
    void copyText(exact, `${exact} (${target.dataset["of"] ?? ""})`);
  });
}
