// Requests of a client: a waterfall over the engine's batches, times over time, the tail, who delayed whom.
import type { App, MountedView, ViewDescription } from "../app";
import type { Scatter } from "../chart/scatter";
import { h, replace } from "../dom/dom";
import { note, notKnown, section } from "../dom/parts";
import { batchDetail, chosenDetail } from "../requests/detail";
import { delayerTable, delayMatrix } from "../requests/delays";
import { NO_PART, RequestsModel } from "../requests/model";
import { overTime } from "../requests/over_time";
import { joinTable, loadTable } from "../requests/load_tables";
import { figuresTable, partsTable, sizesTable, slowestTable } from "../requests/tables";
import { tails } from "../requests/tail";
import { waterfall, type Waterfall } from "../requests/waterfall";
import type { Chosen } from "../requests/waterfall_paint";
import { legend, requestWords } from "../requests/words";
import { setOptions } from "../state/fragment";

const VIEW = "requests";

function spanOf(text: string | null): [number, number] | null {
  const [from, to] = (text ?? "").split(",").map(Number);
  return from !== undefined && to !== undefined && to > from ? [from, to] : null;
}

function mount(app: App, options: URLSearchParams): MountedView {
  const requests = app.profile.requests!;
  const words = requestWords(app);
  const model = new RequestsModel(requests);
  const chosenPanel = h("div", { "aria-live": "polite" });
  const hasTimes = model.rows.length > 0;

  function choose(chosen: Chosen | null): void {
    setOptions(VIEW, {
      request: chosen ? String(chosen.row.index) : "",
      chunk: chosen ? String(chosen.chunk) : "",
    });
    replace(chosenPanel, chosen && chosenDetail(app, model, words, chosen));
  }

  const drawn: Waterfall | null = hasTimes
    ? waterfall(model, words, spanOf(options.get("t")), {
        onChoose: choose,
        onBatch: (index) => {
          setOptions(VIEW, { request: "", chunk: "" });
          drawn?.choose(null, false);
          replace(chosenPanel, batchDetail(app, model, index));
        },
        onWindow: (start, end) => setOptions(VIEW, { t: `${Math.round(start)},${Math.round(end)}` }),
      })
    : null;

  function show(chosen: Chosen): void {
    drawn?.choose(chosen, true);
    choose(chosen);
    drawn?.element.scrollIntoView({ block: "nearest" });
  }

  function chosenOf(index: number, chunk: number): Chosen | null {
    const row = model.rowOf(index);
    return row ? { row, chunk: Math.max(0, Math.min(chunk, row.request.token_ns.length)) } : null;
  }

  const times = hasTimes ? overTime(model, words, show) : null;
  const charts: Scatter[] = times?.charts ?? [];
  const used = model.isJoined
    ? Object.keys(words.view.parts).filter((part) => requests.shown.parts.some((each) => each.part === part))
    : [NO_PART];
  const matrix = delayMatrix(words, requests.delays);

  const at = options.get("request");
  const start = at === null ? null : chosenOf(Number(at), Number(options.get("chunk") ?? 0));
  if (start) {
    drawn?.choose(start, false);
    replace(chosenPanel, chosenDetail(app, model, words, start));
  }

  const element = h(
    "div",
    { class: "view requests" },
    h("h1", {}, "Requests"),
    h(
      "div",
      { class: "lead" },
      h(
        "ul",
        {},
        words.view.sentences.map((sentence) => h("li", {}, sentence)),
      ),
    ),
    figuresTable(words, requests),
    section(
      "Waterfall",
      drawn
        ? [
            legend(words, used),
            drawn.element,
            note(
              "A bar is a request, from sent to its end, in the color of what it waited for. Above are the engine's " +
                "batches, as high as they have sequences, blue with prompts. Within a wait, parts are drawn in a " +
                "fixed order. Drag moves; the wheel with Ctrl, or w and s, zoom; a drag on the axis zooms to it; a " +
                "double click shows all. A click, or the arrow keys, choose a token.",
            ),
            chosenPanel,
          ]
        : notKnown(null, "the file of requests has no absolute times"),
    ),
    charts.length > 0 &&
      section(
        "Over time",
        charts.map((chart) => chart.element),
        times?.left && note(times.left),
        note("Points have the color of the largest part of the wait. A click chooses the token in the waterfall."),
      ),
    requests.tail.length > 0 && section("What makes the slowest ones slow", tails(words, requests.tail)),
    requests.slowest_gaps.length > 0 &&
      section(
        "Slowest tokens",
        slowestTable(words, requests, (gap) => {
          const chosen = chosenOf(gap.request, gap.chunk);
          if (chosen) show(chosen);
        }),
      ),
    requests.delayers.length > 0 &&
      section(
        "Who delayed whom",
        delayerTable(words, requests),
        matrix,
        note(
          "A request waits for another one while the GPU works on the other's prompt in its batches. In the second " +
            "table, each column is a request that waited, each row one that it waited for; times are in ms, those " +
            "with * before the first token of the request that waited.",
        ),
      ),
    requests.shown.parts.length > 0 && section("What the time consists of", partsTable(words, requests)),
    requests.steps_by_size.length > 0 && section("Steps by size", sizesTable(requests)),
    section("Load", loadTable(words, requests), app.words.of("Requests/Load")),
    section(
      "Join with the engine's steps",
      joinTable(requests),
      app.words.of("Requests/Join with the engine's steps"),
    ),
  );
  return {
    element,
    redraw: () => {
      drawn?.redraw();
      for (const chart of charts) chart.redraw();
    },
    arrive: () => {
      if (start) chosenPanel.scrollIntoView({ block: "center" });
    },
    close: () => {
      drawn?.close();
      for (const chart of charts) chart.destroy();
    },
  };
}

export const requestsView: ViewDescription = { id: VIEW, title: "Requests", mount };
