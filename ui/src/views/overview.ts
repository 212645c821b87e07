// What ran, how fast, how far from the limit, where the time goes, what to fix first, how reliable the figures are.
import type { App, MountedView, ViewDescription } from "../app";
import { h } from "../dom/dom";
import { prose, section } from "../dom/parts";
import { jobSummary } from "../job/summary";
import { budgets } from "../overview/budgets";
import { howSure, whatRan } from "../overview/facts";
import { findings } from "../overview/findings";
import { measured } from "../overview/measured";
import { stagesTable } from "../overview/stages_table";
import { tiles } from "../overview/tiles";
import { savingsByPart } from "./savings";

/** The summary's sentences one by one: how long, where, how far from the limit, what to fix, caveats. */
function lead(app: App): HTMLElement {
  const sentences = app.view.summary;
  const rest = app.words.of("").slice(sentences.length > 0 ? 1 : 0); // the first holds them
  return h(
    "div",
    { class: "lead" },
    sentences.length > 0 &&
      h(
        "ul",
        {},
        sentences.map((each) => h("li", { class: each.kind === "caveat" ? "caveat" : null }, prose(each.text))),
      ),
    rest,
  );
}

function mount(app: App): MountedView {
  const selection = app.profile.selection;
  const element = h(
    "div",
    { class: "view overview" },
    h("h1", {}, app.view.title),
    selection && h("p", { class: "note" }, selection.words),
    tiles(app),
    lead(app),
    jobSummary(app),
    app.profile.stages.length > 0 ? stagesTable(app) : section("Stages", app.words.of("Stages")),
    budgets(app),
    measured(app),
    findings(app),
    savingsByPart(app),
    h("div", { class: "pair" }, section("What ran", whatRan(app)), section("Confidence", howSure(app))),
  );
  return { element };
}

export const overviewView: ViewDescription = { id: "overview", title: "Overview", mount };
