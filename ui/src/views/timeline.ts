// The timeline view, shown once the timeline is read.
import type { App, MountedView, ViewDescription } from "../app";
import { h, replace } from "../dom/dom";
import { prose } from "../dom/parts";
import { loadTimeline } from "../timeline/load";
import { TimelineView, VIEW } from "../timeline/timeline_view";

function mount(app: App, options: URLSearchParams): MountedView {
  const element = h("div", { class: "timeline-mount" });
  const loading = loadTimeline(app);
  if (!loading) {
    const why =
      app.view.timeline_missing ?? "The page was made without the captures: `llmprof report RUN` reads them again.";
    replace(
      element,
      h(
        "div",
        { class: "view" },
        h("h1", {}, "Timeline"),
        h("p", { class: "not-known" }, "The timeline is missing. ", prose(why)),
      ),
    );
    return { element };
  }
  let view: TimelineView | null = null;
  let closed = false;
  replace(element, h("p", { class: "muted", role: "status" }, "Reading the timeline..."));
  loading.then(
    (timeline) => {
      if (closed) return;
      view = new TimelineView(app, timeline, options);
      replace(element, view.element);
      view.resize();
      element.dataset["ready"] = "drawn";
      performance.mark("llmprof-timeline");
      void timeline.details.then(() => (element.dataset["ready"] = "true"));
    },
    (error: unknown) =>
      replace(
        element,
        h(
          "p",
          { class: "warning", role: "alert" },
          `The timeline could not be read: ${error instanceof Error ? error.message : String(error)}`,
        ),
      ),
  );
  return {
    element,
    redraw: () => view?.resize(),
    leave: () => view?.leave(),
    close: () => {
      closed = true;
      view?.close();
    },
  };
}

export const timelineView: ViewDescription = { id: VIEW, title: "Timeline", mount };
