// What ran, how fast, how far from the limit, where the time goes, what to fix first, and how sure all of it is.
import type { App, MountedView, ViewDescription } from "../app";
import { boundIsKnown, deviceWord, instanceWord, isServing, onCpu, type Finding, type Stage, type Times } from "../data/profile";
import { figure } from "../dom/copy";
import { failedCaptureWords, formatWords } from "../data/profile";
import { h, type Child } from "../dom/dom";
import { bar, note, prose, section, swatch } from "../dom/parts";
import { facts, table } from "../dom/table";
import { bytes, clock, count, counted, energy, fineMs, ms, percent, rate } from "../format/figures";
import { typical } from "../format/typical";
import { jobSummary } from "../job/summary";
import { placeHash } from "../state/fragment";
import { savingsByPart } from "./savings";

const SHOWN_FINDINGS = 5;

export function perUnit(finding: Finding): string {
  if (!finding.unit) return "";
  return finding.unit.startsWith("traced part of ") ? `in the ${finding.unit}` : `per ${finding.unit}`;
}

interface Tile {
  label: string;
  value: Child;
  unit: string;
  of: string;
  beside?: Child;
}

function timeTile(label: string, shown: Times | null, recorded: Times | null, one: string, many: string): Tile | null {
  if (!shown || shown.count === 0) return null;
  const own = typical(shown, one, many);
  const differs = recorded && recorded.mean !== shown.mean;
  const traced = differs ? typical(recorded, one, many) : null;
  return {
    label,
    value: figure(own.text, own.exact, `ms, ${own.of}`),
    unit: "ms",
    of: traced ? `${own.of}, without tracing` : own.of,
    beside: traced && ["traced ", figure(`${traced.text} ms`, traced.exact, `ms, ${traced.of}, traced`)],
  };
}

function rateTile(app: App): Tile | null {
  const { shown, recorded } = app;
  const whole = shown.workload.batch_source !== "assumed" && shown.token_times.tokens_per_s !== null;
  const key = whole ? "tokens_per_s" : "tokens_per_s_per_sequence";
  const value = shown.token_times[key];
  if (value === null) return null;
  const traced = recorded.token_times[key];
  const of = whole ? "tokens per second, all sequences" : "tokens per second per sequence";
  return {
    label: "Output rate",
    value: figure(rate(value), value, of),
    unit: "tokens/s",
    of: whole ? "of all sequences" : "per sequence",
    beside: traced !== value && traced !== null && ["traced ", figure(rate(traced), traced, `${of}, traced`)],
  };
}

function tiles(app: App): HTMLElement {
  const { shown, recorded } = app;
  const serving = isServing(shown);
  const all: (Tile | null)[] = [
    timeTile("Time to first token", shown.token_times.time_to_first_token_ms, recorded.token_times.time_to_first_token_ms, "prefill", "prefills"),
    timeTile("Time per output token", shown.token_times.time_per_output_token_ms, recorded.token_times.time_per_output_token_ms, serving ? "engine step of decode" : "decode", serving ? "engine steps of decode" : "decodes"),
    rateTile(app),
  ];
  const busy = shown.token_times.gpu_busy_share_of_wall;
  if (busy !== null) {
    const traced = recorded.token_times.gpu_busy_share_of_wall;
    all.push({ label: `${deviceWord(shown)} busy`, value: figure(percent(busy), busy, "of the stages' wall time"), unit: "", of: "of the stages' wall time", beside: traced !== busy && ["traced ", figure(percent(traced), traced, "of the stages' traced wall time")] });
  }
  if (shown.stages.length === 0) {
    const { totals } = shown;
    all.push({ label: "Kernels", value: figure(count(totals.kernel_count), totals.kernel_count, "kernels in the whole capture"), unit: "", of: "in the whole capture" });
    all.push({ label: "Kernel time", value: figure(ms(totals.kernel_sum_ms), totals.kernel_sum_ms, "ms, sum of all kernels"), unit: "ms", of: "sum of all kernels" });
  }
  const whole = shown.stages.length === 0 && shown.device_time.length > 0 ? shown.device_time.reduce((a, b) => (b.span_ms > a.span_ms ? b : a)) : null;
  if (whole) all.push({ label: "GPU busy", value: figure(percent(whole.busy_share_of_span), whole.busy_share_of_span, `of ${whole.device}'s timeline, first work to last`), unit: "", of: `of ${ms(whole.span_ms)} ms, first work to last${shown.device_time.length > 1 ? ` (${whole.device})` : ""}` });
  const first = shown.findings.find((finding) => finding.recoverable_ms !== null);
  if (first) {
    all.push({ label: "Largest opportunity", value: ["up to ", figure(ms(first.recoverable_ms), first.recoverable_ms, `ms ${perUnit(first)}`)], unit: "ms", of: `${perUnit(first)}: ${first.title.charAt(0).toLowerCase()}${first.title.slice(1)}` });
  }
  const known = all.filter((tile): tile is Tile => tile !== null);
  return h("dl", { class: "tiles" }, known.map((tile) => h("div", {}, h("dt", {}, tile.label), h("dd", { class: "value" }, tile.value, tile.unit && h("span", { class: "unit" }, ` ${tile.unit}`)), h("dd", { class: "of" }, tile.of), tile.beside && h("dd", { class: "beside" }, tile.beside))));
}

/** On wall time as the bar, on busy time as a mark: what idle time alone costs lies between them. */
function useBar(share: { wall: number | null; gpu_busy: number | null }, of: string, bounds: boolean): Child {
  if (share.wall === null) return "-";
  const busy = share.gpu_busy;
  const mark = busy !== null && h("span", { class: "busy-mark", style: `left: ${Math.min(1, busy) * 100}%` });
  return h("span", { class: bounds ? "use bounds" : "use" }, figure(percent(share.wall), share.wall, `${of}, on wall time`), h("span", { class: "bar wide", "aria-hidden": "true" }, h("span", { style: `width: ${Math.min(1, share.wall) * 100}%` }), mark), busy !== null && h("span", { class: "muted" }, figure(percent(busy), busy, `${of}, on busy time`), " busy"));
}

function stagesTable(app: App): HTMLElement {
  const { shown, recorded } = app;
  const traced = (stage: Stage) => recorded.stages.find((each) => each.name === stage.name)!;
  const known = shown.stages.some((stage) => stage.mfu.wall !== null || stage.mbu.wall !== null);
  const unwatched = shown.stages.some((stage) => stage.unwatched);
  const unit = instanceWord(shown);
  const peak = onCpu(shown) ? "the CPU's measured peak" : "the peak";
  const view = table<Stage>({
    caption: "Stages: mean wall time, use of the hardware",
    sortable: false,
    rows: shown.stages,
    columns: [
      { id: "stage", title: "stage", value: (s) => s.name, heads: true },
      { id: "count", title: `${unit}s`, of: `${unit}s measured, warm-up excluded`, value: (s) => s.wall_ms.count, text: (s) => count(s.wall_ms.count) },
      ...(unwatched ? [{ id: "unwatched", title: "without tracing (ms)", of: `ms per ${unit}, mean wall time of the program without tracing`, value: (s: Stage) => s.unwatched?.wall_ms ?? null, text: (s: Stage) => ms(s.unwatched?.wall_ms), className: "strong" }] : []),
      { id: "traced", title: unwatched ? "traced (ms)" : "wall, traced (ms)", of: `ms per ${unit}, mean wall time as recorded`, value: (s) => traced(s).wall_ms.mean, text: (s) => ms(traced(s).wall_ms.mean), className: unwatched ? "" : "strong" },
      { id: "busy", title: `${deviceWord(shown)} busy`, of: "share of wall time with work running", value: (s) => s.gpu_busy_share_of_wall, text: (s) => percent(s.gpu_busy_share_of_wall) },
      ...(known
        ? [
            { id: "mfu", title: "MFU", of: `of ${peak} FLOP/s`, value: (s: Stage) => s.mfu.wall, cell: (s: Stage) => useBar(s.mfu, `of ${peak} FLOP/s`, boundIsKnown(s) && s.memory_bound === false), className: "use-cell" },
            { id: "mbu", title: "MBU", of: `of ${peak} memory bandwidth`, value: (s: Stage) => s.mbu.wall, cell: (s: Stage) => useBar(s.mbu, `of ${peak} memory bandwidth`, boundIsKnown(s) && s.memory_bound === true), className: "use-cell" },
            { id: "floor", title: "lower bound (ms)", of: `ms per ${unit} at the hardware's limit`, value: (s: Stage) => (boundIsKnown(s) ? s.floor_ms : null), text: (s: Stage) => ms(boundIsKnown(s) ? s.floor_ms : null) },
          ]
        : []),
      { id: "share", title: "share of stages", of: "of all stages' wall time", value: (s) => s.share_of_stage_time, text: (s) => percent(s.share_of_stage_time) },
    ],
  });
  return section(
    "Stages",
    view.element,
    app.words.of("Key figures"),
    known && note("Bars are shares of the peak: the bar on wall time, the mark on busy time. The stronger bar is the limit that binds the stage."),
    !known && app.words.of("MFU and MBU"),
  );
}

function partLink(app: App, stage: Stage, part: string): string {
  const kernelClass = app.palette.classOf(part);
  return kernelClass !== null ? placeHash("kernels", { class: kernelClass, stage: stage.name }) : placeHash("steps", { stage: stage.name, cause: part });
}

function budgetBar(app: App, stage: Stage): HTMLElement {
  const unit = instanceWord(app.shown);
  return h(
    "div",
    { class: "budget-bar", role: "group", "aria-label": `Time budget of ${stage.name}: ${ms(stage.wall_ms.mean)} ms per ${unit}` },
    (stage.budget ?? []).map((part) => {
      const label = app.palette.label(part.part);
      const words = `${label}: ${ms(part.ms)} ms per ${unit}, ${percent(part.share)} of wall time`;
      const idle = app.palette.classOf(part.part) === null;
      const short = `${label.replace(/^idle: /, "")} ${percent(part.share)}`;
      return h("a", { href: partLink(app, stage, part.part), class: idle ? "idle" : "work", style: `width: ${part.share * 100}%; background-color: ${app.palette.css(part.part)}`, title: words, "aria-label": words, "data-part": part.part }, hasRoom(short, part.share) && h("span", {}, short));
    }),
  );
}

function budgetOf(app: App, stage: Stage): HTMLElement {
  const unit = instanceWord(app.shown);
  const stepped = stage.wall_ms_per_step !== null && !isServing(app.shown);
  const view = table({
    caption: `Budget of ${stage.name}`,
    sortable: false,
    rows: stage.budget!,
    columns: [
      { id: "part", title: "part", value: (p) => app.palette.label(p.part), heads: true, cell: (p) => h("a", { class: "with-swatch", href: partLink(app, stage, p.part) }, swatch(app, p.part), app.palette.label(p.part)) },
      { id: "ms", title: `ms per ${unit}`, of: `ms per ${unit}, mean`, value: (p) => p.ms, text: (p) => ms(p.ms) },
      { id: "share", title: "share of wall", of: "of wall time", value: (p) => p.share, text: (p) => percent(p.share) },
      ...(stepped ? [{ id: "step", title: "ms per step", of: "ms per decode step", value: (p: { ms_per_step: number | null }) => p.ms_per_step, text: (p: { ms_per_step: number | null }) => fineMs(p.ms_per_step) }] : []),
    ],
    foot: h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "sum (wall time)"), h("td", { class: "number" }, figure(ms(stage.wall_ms.mean), stage.wall_ms.mean, `ms per ${unit}, mean wall time`)), h("td", { class: "number" }, percent(1)), stepped && h("td", { class: "number" }, figure(fineMs(stage.wall_ms_per_step), stage.wall_ms_per_step, "ms per decode step")))),
  });
  return h("div", { class: "budget" }, h("h3", {}, stage.name, h("span", { class: "muted" }, ` ${ms(stage.wall_ms.mean)} ms per ${unit}${stage.unwatched ? ", without tracing" : ""}`)), budgetBar(app, stage), view.element, app.words.of(`Time budget/Budget of ${stage.name}`));
}

/** Where no stage was found: the kernel time by class, of everything that was recorded. */
function classShares(app: App): HTMLElement | null {
  const { classes } = app.shown;
  if (classes.length === 0) return null;
  const words = (each: (typeof classes)[number]) => `${app.palette.label(each.class)}: ${ms(each.total_ms)} ms, ${percent(each.share)} of kernel time`;
  const view = table({
    caption: "Kernel time by class",
    fit: true,
    rows: classes,
    columns: [
      { id: "class", title: "class", value: (c) => app.palette.label(c.class), heads: true, cell: (c) => h("a", { class: "with-swatch", href: placeHash("kernels", { class: c.class }) }, swatch(app, c.class), app.palette.label(c.class)) },
      { id: "total", title: "total (ms)", of: "ms, sum of its kernels", value: (c) => c.total_ms, text: (c) => ms(c.total_ms) },
      { id: "share", title: "share of kernel time", value: (c) => c.share, text: (c) => percent(c.share) },
      { id: "calls", title: "calls", value: (c) => c.calls, text: (c) => count(c.calls) },
    ],
  });
  return h("div", {}, h("div", { class: "budget-bar", role: "group", "aria-label": "Kernel time by class" }, classes.map((each) => h("a", { href: placeHash("kernels", { class: each.class }), class: "work", style: `width: ${each.share * 100}%; background-color: ${app.palette.css(each.class)}`, title: words(each), "aria-label": words(each) }, each.share > 0.07 && h("span", {}, `${app.palette.label(each.class)} ${percent(each.share)}`)))), view.element);
}

function budgets(app: App): HTMLElement {
  const stages = app.shown.stages.filter((stage) => stage.budget && stage.budget.length > 0);
  return section("Where the time goes", stages.length > 0 ? h("div", { class: "budgets" }, stages.map((stage) => budgetOf(app, stage))) : [app.words.of("Time budget"), classShares(app)], stages.length > 0 && h("div", { class: "muted" }, app.words.of("Time budget")));
}

type MeasuredStage = Stage & { measured: NonNullable<Stage["measured"]> };

/** What the GPU's counters and sensors say of the stages. */
function measured(app: App): HTMLElement | null {
  const stages = app.shown.stages.filter((stage): stage is MeasuredStage => stage.measured !== null);
  if (stages.length === 0) return null;
  const range = (values: { mean: number; min: number; max: number } | null, text: (value: number) => string, unit = "") => (values ? `${text(values.mean)}${unit} (${text(values.min)} to ${text(values.max)})` : "-");
  const reasons = (stage: MeasuredStage) => stage.measured.throttle_reasons.filter((each) => each.slowing).map((each) => `${each.reason} ${percent(each.share_of_samples)}`).join(", ");
  const why = [...new Set(stages.flatMap((stage) => [stage.measured.why_not, stage.measured.energy_why_not]).filter((text) => text !== null))];
  const view = table<MeasuredStage>({
    caption: "What the GPU's counters and sensors measured",
    sortable: false,
    rows: stages,
    columns: [
      { id: "stage", title: "stage", value: (s) => s.name, heads: true },
      { id: "dram", title: "DRAM bytes per step", of: "read and written, per step", value: (s) => s.measured.dram_bytes_per_step, text: (s) => bytes(s.measured.dram_bytes_per_step) },
      { id: "mbu", title: "measured MBU", of: "measured bytes over what the peak bandwidth could move in the wall time", value: (s) => s.measured.mbu.wall, text: (s) => percent(s.measured.mbu.wall) },
      { id: "sm", title: "SMs active", of: "mean over wall time", value: (s) => s.measured.sm_active_share, text: (s) => percent(s.measured.sm_active_share) },
      { id: "tensor", title: "tensor cores active", of: "mean over wall time", value: (s) => s.measured.tensor_active_share, text: (s) => percent(s.measured.tensor_active_share) },
      { id: "power", title: "power (W), mean (range)", of: "W of the whole GPU", value: (s) => s.measured.power_w?.mean ?? null, text: (s) => range(s.measured.power_w, rate) },
      { id: "energy", title: "energy per token", of: "J of the whole GPU per token", value: (s) => s.measured.energy_per_token_j, text: (s) => energy(s.measured.energy_per_token_j) },
      { id: "clock", title: "SM clock", of: "Hz, mean of the samples", value: (s) => s.measured.sm_clock_hz?.mean ?? null, text: (s) => clock(s.measured.sm_clock_hz?.mean) },
      { id: "throttle", title: "clocks lowered by", value: (s) => (s.measured.throttle_samples === 0 ? "not known" : reasons(s) || "nothing") },
    ],
  });
  return section("Measured on the GPU", view.element, why.map((text) => note(`${asSentence(text)}.`)));
}

/** Capital first, unless the first word is a name such as llama.cpp. */
function asSentence(text: string): string {
  const [first = ""] = text.split(" ");
  return /^[a-z]+[,:;]?$/.test(first) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** Whether a text has room in a part of a bar of some 600 pixels; narrower ones cut it off. */
const hasRoom = (text: string, share: number): boolean => share * 600 > text.length * 6.6 + 12;

function findingItem(finding: Finding): HTMLElement {
  const saving = finding.recoverable_ms === null ? "not known" : ["up to ", figure(ms(finding.recoverable_ms), finding.recoverable_ms, `ms ${perUnit(finding)}, upper bound`), h("span", { class: "unit" }, ` ms ${perUnit(finding)}`)];
  const share = finding.stage && [bar(finding.share_of_wall), " ", figure(percent(finding.share_of_wall), finding.share_of_wall, `of ${finding.stage}'s wall time`), ` of ${finding.stage}'s wall time`];
  return h(
    "li",
    {},
    h("div", { class: "finding" }, h("h3", {}, finding.title, finding.stage && [" ", h("span", { class: "chip" }, finding.stage)]), h("p", {}, prose(asSentence(finding.advice))), h("details", {}, h("summary", {}, "Evidence"), h("p", {}, prose(finding.evidence)))),
    h("div", { class: "saving" }, h("div", { class: "value" }, saving), h("div", { class: "muted" }, share)),
  );
}

function findings(app: App): HTMLElement {
  const all = app.shown.findings;
  if (all.length === 0) return section("What to fix first", app.words.of("Findings"));
  const rest = all.slice(SHOWN_FINDINGS);
  return section(
    "What to fix first",
    h("ol", { class: "findings" }, all.slice(0, SHOWN_FINDINGS).map(findingItem)),
    rest.length > 0 && h("details", { class: "more-findings" }, h("summary", {}, `${counted(rest.length, "more finding")}`), h("ol", { class: "findings", start: SHOWN_FINDINGS + 1 }, rest.map(findingItem))),
    note("Sorted by the potential saving over the whole capture, largest first. Savings overlap, so they do not add up."),
  );
}

function whatRan(app: App): HTMLElement {
  const { shown } = app;
  const { model, workload, context, engine } = shown;
  const tokens = (value: number | null, source: string | null): Child => value !== null && [count(value), source && h("span", { class: "muted" }, ` (${source})`)];
  const graphs = engine.cuda_graphs === null ? null : engine.cuda_graphs ? (engine.kernels_in_graphs === null ? "CUDA graphs" : `${percent(engine.kernels_in_graphs)} of kernels in CUDA graphs`) : "no CUDA graphs";
  const engineWords = [engine.name, engine.compiled === null ? null : engine.compiled ? "compiled" : "not compiled", graphs].filter(Boolean).join(", ");
  const devices = shown.totals.devices.map((device) => `${device.name ?? "unknown"} (${device.device})`);
  return facts([
    ["model", model ? (model.name ?? model.variant) : "not given (--model)"],
    ["parameters", model && [count(model.params), model.active_params !== model.params && h("span", { class: "muted" }, `, ${count(model.active_params)} active per token`)]],
    ["weights", model && `${bytes(model.weight_bytes)}, ${model.weights_dtype}`],
    ["engine", !onCpu(shown) && [engineWords, engine.confidence !== null && h("span", { class: "muted" }, ` (confidence ${percent(engine.confidence)})`)]],
    [deviceWord(shown), devices.length > 4 ? `${devices.slice(0, 4).join(", ")} and ${devices.length - 4} more` : devices.join(", ")],
    ["batch (sequences)", tokens(workload.batch, workload.batch_source)],
    ["prompt tokens per sequence", tokens(workload.prompt_tokens, workload.prompt_tokens_source)],
    ["new tokens per sequence", tokens(workload.new_tokens, workload.new_tokens_source)],
    ["parallelism", workload.tp * workload.pp * workload.ep > 1 && `tensor ${workload.tp}, pipeline ${workload.pp}, expert ${workload.ep}`],
    ["driver, CUDA", [...new Set(context.captures.filter((c) => c.driver || c.cuda).map((c) => [c.driver, c.cuda].filter(Boolean).join(", ")))].join("; ")],
    ["command", workload.command && (workload.command.length > 120 ? h("details", {}, h("summary", {}, h("code", {}, `${workload.command.slice(0, 60)}...`)), h("code", {}, workload.command)) : h("code", {}, workload.command))],
  ]);
}

function howSure(app: App): HTMLElement {
  const { shown } = app;
  const warnings = shown.diagnostics.filter((each) => each.severity !== "info").length;
  const found = shown.stages_found;
  return h(
    "div",
    {},
    facts([
      ["stages", shown.stages.length > 0 && (found.confidence === null ? `annotated (${[...new Set(shown.stages.map((s) => s.source))].join(", ")})` : ["detected in the kernel sequence, confidence ", figure(percent(found.confidence), found.confidence, "confidence of detected stages")])],
      ["coverage", shown.coverage && shown.coverage.kernel_sum_share !== null && shown.stages.length > 0 && [figure(percent(shown.coverage.kernel_sum_share), shown.coverage.kernel_sum_share, "of kernel time is inside stages"), " of kernel time is inside stages"]],
      ["captures", shown.context.captures.map((capture) => h("div", {}, h("code", {}, capture.path.split("/").pop() ?? ""), ` ${formatWords(capture.format)}`))],
      ["diagnostics", h("a", { href: "#provenance" }, warnings > 0 ? counted(warnings, "warning") : "no warning", `, ${counted(shown.diagnostics.length, "message")}`)],
    ]),
    app.words.of("What profiling cost"),
    shown.captures_failed.map((failure) => h("p", { class: "warning" }, failedCaptureWords(shown.context.captures, failure.backend), prose(failure.message))),
  );
}

/** The summary's sentences one by one: how long, where, how far from the limit, what to fix, caveats. */
function lead(app: App): HTMLElement {
  const [summary, ...rest] = app.words.of("");
  const sentences = (summary?.textContent ?? "").split(/(?<=\.) (?=[A-Z])/).filter(Boolean);
  return h("div", { class: "lead" }, sentences.length > 0 && h("ul", {}, sentences.map((each) => h("li", { class: each.startsWith("Caveat") ? "caveat" : null }, each))), rest);
}

function mount(app: App): MountedView {
  const selection = app.shown.selection;
  const element = h(
    "div",
    { class: "view overview" },
    h("h1", {}, app.view.title),
    selection && h("p", { class: "note" }, selection.words),
    tiles(app),
    lead(app),
    jobSummary(app),
    app.shown.stages.length > 0 ? stagesTable(app) : section("Stages", app.words.of("Stages")),
    budgets(app),
    measured(app),
    findings(app),
    savingsByPart(app),
    h("div", { class: "pair" }, section("What ran", whatRan(app)), section("How sure this is", howSure(app))),
  );
  return { element };
}

export const overviewView: ViewDescription = { id: "overview", title: "Overview", mount };
