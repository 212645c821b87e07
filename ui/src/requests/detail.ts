// The chosen token or batch: what was waited for, and its way to the step, its kernels and the timeline.
import type { App } from "../app";
import { h, type Child } from "../dom/dom";
import { facts } from "../dom/table";
import { count, counted, ms } from "../format/figures";
import { placeHash } from "../state/fragment";
import { spanLink, stepSpan } from "../state/links";
import { bySize, type Parts, type RequestsModel } from "./model";
import { chunkName } from "./waterfall";
import type { Chosen } from "./waterfall_paint";
import { nsInMs, partsBar, swatchOf, type RequestWords } from "./words";

const panel = (label: string, ...children: Child[]): HTMLElement =>
  h("div", { class: "panel request-panel", role: "region", "aria-label": label }, ...children);

function stepLinks(app: App, step: number): Child {
  const inTimeline = stepSpan(app, step);
  return [
    h("a", { href: placeHash("steps", { step: String(step) }) }, `Step ${count(step)}`),
    inTimeline && [", ", h("a", { href: inTimeline }, "its kernels in the timeline")],
  ];
}

function partRows(words: RequestWords, parts: Parts): HTMLElement {
  return h(
    "ul",
    { class: "part-list" },
    bySize(parts).map(([part, ns]) =>
      h(
        "li",
        { title: words.palette.why(part) },
        swatchOf(words, part),
        h("span", { class: "label" }, words.palette.label(part)),
        h("span", { class: "number" }, `${nsInMs(ns)} ms`),
      ),
    ),
  );
}

const withParts = (words: RequestWords, title: string, parts: Parts): Child =>
  Object.keys(parts).length > 0 && h("div", {}, h("h4", {}, title), partsBar(words, parts), partRows(words, parts));

/** The last pass of the batch that made a token. */
function stepOf(model: RequestsModel, { row, chunk }: Chosen): number | null {
  const known = model.gapOf(row, chunk)?.step;
  if (known !== null && known !== undefined) return known;
  const batch = model.batchOf(row, chunk);
  return batch === null ? null : batch.first_step + Math.max(1, batch.steps) - 1;
}

export function chosenDetail(app: App, model: RequestsModel, words: RequestWords, chosen: Chosen): HTMLElement {
  const { row, chunk } = chosen;
  const { request } = row;
  const wait = model.wait(row, chunk);
  const gap = model.gapOf(row, chunk);
  const batch = model.batchOf(row, chunk);
  const step = stepOf(model, chosen);
  const parts = model.partsOf(row, chunk);
  const span = model.isOnCapturesClock ? spanLink(model.origin + wait.start, wait.end - wait.start) : null;
  const part = model.largestPart(row, chunk);
  return panel(
    "The chosen token",
    h(
      "h3",
      {},
      `Request ${request.id}, ${chunkName(chunk, request.token_ns.length)}: ${nsInMs(wait.end - wait.start)} ms`,
    ),
    facts([
      ["status", request.status !== "completed" && words.view.names[request.status]],
      [
        "largest part",
        model.isJoined && !parts && h("span", {}, swatchOf(words, part), ` ${words.palette.label(part)}`),
      ],
      ["most delayed by", gap?.most_delayed_by && `request ${gap.most_delayed_by}`],
      [
        "made by",
        batch &&
          `a batch of ${counted(batch.rows, "sequence")} in ${counted(batch.steps, "pass", "passes")}` +
            (batch.prompt_tokens ? `, with ${count(batch.prompt_tokens)} prompt tokens` : ""),
      ],
      ["step", step !== null && stepLinks(app, step)],
      ["timeline", span && h("a", { href: span }, "the whole wait")],
    ]),
    h(
      "div",
      { class: "part-columns" },
      parts && withParts(words, "This wait", parts),
      model.isJoined && withParts(words, "The whole request", request.parts_ns),
    ),
    facts([
      [
        "sent",
        request.sent_ms !== null &&
          `${ms(request.sent_ms)} ms${model.isOnCapturesClock ? " on the capture's clock" : ""}`,
      ],
      [
        "client's own delay",
        request.client_delay_ns !== null && `${nsInMs(request.client_delay_ns)} ms after it was scheduled`,
      ],
      ["time to first token", request.ttft_ns !== null && `${nsInMs(request.ttft_ns)} ms`],
      ["end to end", request.e2e_ns !== null && `${nsInMs(request.e2e_ns)} ms`],
      ["time per output token", request.tpot_ms !== null && `${ms(request.tpot_ms)} ms`],
      ["longest gap", request.longest_gap_ns !== null && `${nsInMs(request.longest_gap_ns)} ms`],
      [
        "tokens",
        [
          request.prompt_tokens !== null && `${count(request.prompt_tokens)} of the prompt`,
          request.cached_tokens && `${count(request.cached_tokens)} of them cached`,
          request.output_tokens !== null && `${count(request.output_tokens)} answered`,
          model.isJoined && `${count(request.joined_tokens)} joined to steps`,
        ]
          .filter(Boolean)
          .join(", "),
      ],
      ["left the batch", request.preemptions > 0 && counted(request.preemptions, "time")],
    ]),
  );
}

export function batchDetail(app: App, model: RequestsModel, index: number): HTMLElement | null {
  const batch = model.requests.batches[index];
  if (!batch) return null;
  return panel(
    "The chosen batch",
    h("h3", {}, `Batch ${count(index)}: ${counted(batch.rows, "sequence")}`),
    facts([
      ["passes", count(batch.steps)],
      ["prompt tokens", batch.prompt_tokens !== null && count(batch.prompt_tokens)],
      ["tokens in their caches", batch.context_tokens !== null && count(batch.context_tokens)],
      ["tokens of requests", `${count(batch.joined)} of ${counted(batch.rows, "row")}`],
      ["first step", stepLinks(app, batch.first_step)],
    ]),
  );
}
