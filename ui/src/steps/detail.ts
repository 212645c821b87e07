// The selected step: why it was slow, what it contains, its place in the timeline.
import type { App } from "../app";
import { onCpu } from "../data/profile";
import { h } from "../dom/dom";
import { facts } from "../dom/table";
import { bytes, count, ms, percent } from "../format/figures";
import { stepSpan } from "../state/links";
import { where } from "./state";

export function stepDetail(app: App, index: number): HTMLElement | null {
  const step = app.profile.steps[index];
  if (!step) return null;
  const inTimeline = stepSpan(app, index);
  const slow = app.profile.slow_steps.find((each) => each.step === index);
  return h(
    "div",
    { class: "panel", role: "region", "aria-label": "The chosen step" },
    h("h3", {}, `${step.stage}, ${where(app, step.instance, step.step_of_instance)}`),
    slow
      ? [
          h("p", {}, `${ms(slow.above_median_ms)} ms above the median of comparable steps:`),
          h(
            "ul",
            {},
            slow.reasons.map((reason) =>
              h(
                "li",
                {},
                `${reason.what}: ${ms(Math.abs(reason.longer_ms))} ms ${reason.longer_ms < 0 ? "shorter" : "longer"}`,
              ),
            ),
          ),
        ]
      : null,
    facts([
      ["wall, recorded", `${ms(step.wall_ms)} ms`],
      [
        `${onCpu(app.profile) ? "CPU" : "GPU"} busy`,
        `${ms(step.gpu_busy_ms)} ms, ${percent(app.view.step_busy_shares[index])} of its wall time`,
      ],
      ["kernels", `${count(step.kernel_count)}, ${ms(step.gpu_sum_ms)} ms together`],
      ["sequences", step.batch !== null && count(step.batch)],
      ["tokens", step.tokens !== null && count(step.tokens)],
      ["context tokens", step.context_tokens !== null && count(step.context_tokens)],
      ["DRAM bytes", step.dram_bytes !== null && bytes(step.dram_bytes)],
    ]),
    inTimeline && h("p", {}, h("a", { href: inTimeline }, "Show in the timeline")),
  );
}
