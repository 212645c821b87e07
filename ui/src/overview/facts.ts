// What ran, and how reliable the figures are.
import type { App } from "../app";
import { deviceWord, onCpu } from "../data/profile";
import { figure } from "../dom/copy";
import { h, type Child } from "../dom/dom";
import { prose } from "../dom/parts";
import { facts } from "../dom/table";
import { bytes, count, counted, percent } from "../format/figures";

export function whatRan(app: App): HTMLElement {
  const { profile } = app;
  const { model, workload, context } = profile;
  const tokens = (value: number | null, source: string | null): Child =>
    value !== null && [count(value), source && h("span", { class: "muted" }, ` (${source})`)];
  const devices = profile.totals.devices.map((device) => `${device.name ?? "unknown"} (${device.device})`);
  return facts([
    ["model", model ? (model.name ?? model.variant) : "not given (--model)"],
    [
      "parameters",
      model && [
        count(model.params),
        model.active_params !== model.params &&
          h("span", { class: "muted" }, `, ${count(model.active_params)} active per token`),
      ],
    ],
    ["weights", model && `${bytes(model.weight_bytes)}, ${model.weights_dtype}`],
    ["engine", !onCpu(profile) && app.view.engine],
    [
      deviceWord(profile),
      devices.length > 4 ? `${devices.slice(0, 4).join(", ")} and ${devices.length - 4} more` : devices.join(", "),
    ],
    ["batch (sequences)", tokens(workload.batch, workload.batch_source)],
    ["prompt tokens per sequence", tokens(workload.prompt_tokens, workload.prompt_tokens_source)],
    ["new tokens per sequence", tokens(workload.new_tokens, workload.new_tokens_source)],
    [
      "parallelism",
      workload.tp * workload.pp * workload.ep > 1 &&
        `tensor ${workload.tp}, pipeline ${workload.pp}, expert ${workload.ep}`,
    ],
    [
      "driver, CUDA",
      [
        ...new Set(
          context.captures.filter((c) => c.driver || c.cuda).map((c) => [c.driver, c.cuda].filter(Boolean).join(", ")),
        ),
      ].join("; "),
    ],
    [
      "command",
      workload.command &&
        (workload.command.length > 120
          ? h(
              "details",
              {},
              h("summary", {}, h("code", {}, `${workload.command.slice(0, 60)}...`)),
              h("code", {}, workload.command),
            )
          : h("code", {}, workload.command)),
    ],
  ]);
}

export function howSure(app: App): HTMLElement {
  const { profile } = app;
  const warnings = profile.diagnostics.filter((each) => each.severity !== "info").length;
  const found = profile.stages_found;
  return h(
    "div",
    {},
    facts([
      [
        "stages",
        profile.stages.length > 0 &&
          (found.confidence === null
            ? `annotated (${[...new Set(profile.stages.map((s) => s.source))].join(", ")})`
            : [
                "detected in the kernel sequence, confidence " +
                  `${found.confidence_level === null ? "" : `${found.confidence_level}, `}`,
                figure(percent(found.confidence), found.confidence, "confidence of detected stages"),
              ]),
      ],
      [
        "coverage",
        profile.coverage &&
          profile.coverage.shown_share !== null &&
          profile.stages.length > 0 && [
            figure(
              percent(profile.coverage.shown_share),
              profile.coverage.shown_share,
              "of kernel time is inside stages",
            ),
            " of kernel time is inside stages",
          ],
      ],
      [
        "captures",
        profile.context.captures.map((capture) =>
          h(
            "div",
            {},
            h("code", {}, capture.path.split("/").pop() ?? ""),
            ` ${app.view.names[capture.format] ?? capture.format}`,
          ),
        ),
      ],
      [
        "diagnostics",
        h(
          "a",
          { href: "#provenance" },
          warnings > 0 ? counted(warnings, "warning") : "no warning",
          `, ${counted(profile.diagnostics.length, "message")}`,
        ),
      ],
    ]),
    app.words.of("What profiling cost"),
    app.view.failed_captures.map((each) => h("p", { class: "warning" }, prose(each))),
  );
}
