// GPU memory: what every byte is used for, over time and at moments, and what PyTorch does with its part.
import type { App, MountedView, ViewDescription } from "../app";
import { h, replace } from "../dom/dom";
import { note, notKnown, section, select } from "../dom/parts";
import { count } from "../format/figures";
import { statementTable } from "../memory/contents_tables";
import { ledgerSection, type LedgerSection } from "../memory/ledger_section";
import { usedAt, type Ledger } from "../memory/model";
import { outlookSection } from "../memory/outlook_tables";
import { snapshotSections } from "../memory/snapshot_section";
import { memoryWords } from "../memory/words";
import type { Profile } from "../data/profile";
import { setOptions } from "../state/fragment";

const VIEW = "memory";

export const isMemoryViewShown = (profile: Profile): boolean =>
  profile.memory_ledger !== null || profile.memory !== null;

/** The GPU with most memory in use at its peak. */
function firstGpu(ledger: Ledger): number {
  let best = 0;
  let most = -1;
  for (const moment of ledger.moments) {
    if (usedAt(moment) <= most) continue;
    most = usedAt(moment);
    best = moment.gpu;
  }
  return best;
}

function mount(app: App, options: URLSearchParams, printing: boolean): MountedView {
  const { memory_ledger: ledger, memory, memory_statements: statements } = app.profile;
  const words = memoryWords(app);
  const gpus = ledger?.gpus ?? [];
  const names = gpus.map(({ device, process }) => `${device}, process ${process}`);
  const holder = h("div");
  let shown: LedgerSection[] = [];

  /** One GPU, or all on paper. */
  function showGpus(indices: number[], at: URLSearchParams): void {
    for (const each of shown) each.close();
    shown = indices.map((gpu) => ledgerSection(app, words, ledger!, gpu, at));
    replace(
      holder,
      shown.map((each, index) => [shown.length > 1 && h("h2", {}, names[indices[index]!]), each.element]),
    );
  }

  const asked = Number(options.get("gpu") ?? Number.NaN);
  const first = ledger ? (gpus[asked] ? asked : firstGpu(ledger)) : 0;
  if (gpus.length > 0) showGpus(printing ? gpus.map((_, index) => index) : [first], options);
  const choices = names.map((name, index): [string, string] => [String(index), name]);
  const inside = memory && snapshotSections(words, memory);
  const redraw = () => {
    for (const each of [...shown, ...(inside?.charts ?? [])]) each.redraw();
  };
  const element = h(
    "div",
    { class: "view memory" },
    h("h1", {}, "GPU memory"),
    ledger
      ? note(
          ledger.readings > 0
            ? `From ${count(ledger.events)} recorded allocations and releases and ${count(ledger.readings)} ` +
                "readings of NVML. The rows of each time sum to what NVML reports as used and reserved, exactly; " +
                "what nothing explains is a row of its own."
            : `From ${count(ledger.events)} recorded allocations and releases, without readings of NVML: what else ` +
                "is used of the GPU, and what is left, is unknown.",
        )
      : notKnown(
          null,
          "what every byte of the GPU is used for. `llmprof run -- PROGRAM` records it; a memory snapshot knows " +
            "PyTorch's own allocations only",
        ),
    gpus.length > 1 &&
      !printing &&
      h(
        "div",
        { class: "filters" },
        select("GPU", choices, String(first), (value) => {
          setOptions(VIEW, { gpu: value, moment: "", t: "" });
          showGpus([Number(value)], new URLSearchParams());
          redraw();
        }),
      ),
    holder,
    statements?.length > 0 && section("What the engine says", statementTable(words, statements)),
    ledger && outlookSection(words, ledger),
    inside?.element,
  );
  const leave = () => {
    for (const each of [...shown, ...(inside?.charts ?? [])]) each.close();
  };
  return { element, redraw, leave, close: leave };
}

export const memoryView: ViewDescription = { id: VIEW, title: "Memory", mount };
