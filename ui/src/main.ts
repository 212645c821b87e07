import "./style/page.css";
import type { App, ViewDescription } from "./app";
import { compareViews } from "./compare/views";
import type { CompareApp, CompareView } from "./compare/app";
import { hasBlock, readJson } from "./data/blocks";
import type { Diff } from "./data/diff";
import type { Profile } from "./data/profile";
import { Palette } from "./data/palette";
import type { View } from "./data/view";
import { Words } from "./data/words";
import { h } from "./dom/dom";
import type { TopicView } from "./generated/profile";
import { startShell } from "./shell";
import { isGpuViewShown } from "./state/links";
import { hasTimeline, readHeader } from "./timeline/header";
import { gpuView } from "./views/gpu";
import { jobView } from "./views/job";
import { kernelsView } from "./views/kernels";
import { layersView } from "./views/layers";
import { isMemoryViewShown, memoryView } from "./views/memory";
import { operatorsView } from "./views/operators";
import { overviewView } from "./views/overview";
import { provenanceView } from "./views/provenance";
import { requestsView } from "./views/requests";
import { rooflineView } from "./views/roofline";
import { stepsView } from "./views/steps";
import { timelineView } from "./views/timeline";

/** In the order of the links; every view that a topic names is here. Some are shown only if they have content. */
const VIEWS: Record<TopicView | "timeline", { view: ViewDescription; isShown?: (profile: Profile) => boolean }> = {
  overview: { view: overviewView },
  timeline: { view: timelineView },
  requests: { view: requestsView, isShown: (profile) => profile.requests !== null },
  job: { view: jobView, isShown: (profile) => profile.job !== null },
  kernels: { view: kernelsView },
  steps: { view: stepsView },
  gpu: { view: gpuView, isShown: isGpuViewShown },
  memory: { view: memoryView, isShown: isMemoryViewShown },
  layers: { view: layersView },
  roofline: { view: rooflineView },
  operators: { view: operatorsView },
  provenance: { view: provenanceView },
};

async function startRun(root: HTMLElement, overview: HTMLElement | null): Promise<void> {
  // If the timeline cannot be read, its own view says so.
  const gaps = hasTimeline()
    ? readHeader().then(
        (header) => header.gaps ?? [],
        () => [],
      )
    : [];
  const [profile, view] = await Promise.all([readJson<Profile>("profile"), readJson<View>("view")]);
  const words = new Words(overview);
  overview?.remove();
  const app: App = { profile, view, palette: new Palette(view), words, gaps: await gaps };
  startShell(
    app,
    Object.values(VIEWS)
      .filter(({ isShown }) => isShown?.(profile) ?? true)
      .map(({ view }) => view),
    root,
  );
}

async function startComparison(root: HTMLElement, overview: HTMLElement | null): Promise<void> {
  const [diff, view] = await Promise.all([readJson<Diff>("diff"), readJson<CompareView>("view")]);
  const words = new Words(overview);
  overview?.remove();
  const app: CompareApp = { diff, view, palette: new Palette(view), words };
  startShell(app, compareViews, root);
}

async function main(): Promise<void> {
  const root = document.getElementById("app");
  const overview = document.getElementById("overview");
  if (!root) return;
  try {
    await (hasBlock("diff") ? startComparison : startRun)(root, overview);
    root.dataset["ready"] = "true";
    performance.mark("llmprof-open");
  } catch (error) {
    // The text from C++ stays: it says the same as the data.
    root.replaceChildren(
      h(
        "p",
        { class: "warning", role: "alert" },
        `The interactive page could not be started: ${error instanceof Error ? error.message : String(error)} ` +
          "The overview is shown as text.",
      ),
    );
    root.after(overview ?? "");
    throw error;
  }
}

void main();
