// Each GPU from its first work to its last: busy and idle time, why it was idle, copies, launches.
import type { App, MountedView, ViewDescription } from "../app";
import { h } from "../dom/dom";
import { note } from "../dom/parts";
import { copies, deviceTime, launches } from "./device_tables";

function mount(app: App, options: URLSearchParams): MountedView {
  const element = h(
    "div",
    { class: "view" },
    h("h1", {}, "GPU time, copies and launches"),
    note("Over the whole recorded timeline, including warm-up and work outside stages."),
    deviceTime(app),
    copies(app),
    launches(app),
  );
  return {
    element,
    arrive: () =>
      options.get("at") === "copies" && element.querySelector("#copies")?.scrollIntoView({ block: "start" }),
  };
}

export const gpuView: ViewDescription = { id: "gpu", title: "GPU", mount };
