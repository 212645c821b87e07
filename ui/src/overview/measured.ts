// Values of the GPU's counters and sensors for each stage.
import type { App } from "../app";
import type { Stage } from "../data/profile";
import { note, section } from "../dom/parts";
import { table } from "../dom/table";
import { bytes, clock, energy, percent, rate } from "../format/figures";
import { asSentence } from "../format/sentences";

type MeasuredStage = Stage & { measured: NonNullable<Stage["measured"]> };

export function measured(app: App): HTMLElement | null {
  const stages = app.profile.stages.filter((stage): stage is MeasuredStage => stage.measured !== null);
  if (stages.length === 0) return null;
  const range = (
    values: { mean: number; min: number; max: number } | null,
    text: (value: number) => string,
    unit = "",
  ) => (values ? `${text(values.mean)}${unit} (${text(values.min)} to ${text(values.max)})` : "-");
  const reasons = (stage: MeasuredStage) =>
    stage.measured.throttle_reasons
      .filter((each) => each.slowing)
      .map((each) => `${each.reason} ${percent(each.share_of_samples)}`)
      .join(", ");
  const why = [
    ...new Set(
      stages
        .flatMap((stage) => [stage.measured.why_not, stage.measured.energy_why_not])
        .filter((text) => text !== null),
    ),
  ];
  const view = table<MeasuredStage>({
    caption: "What the GPU's counters and sensors measured",
    sortable: false,
    rows: stages,
    columns: [
      { id: "stage", title: "stage", value: (s) => s.name, heads: true },
      {
        id: "dram",
        title: "DRAM bytes per step",
        of: "read and written, per step",
        value: (s) => s.measured.dram_bytes_per_step,
        format: bytes,
      },
      {
        id: "mbu",
        title: "measured MBU",
        of: "measured bytes over what the peak bandwidth could move in the wall time",
        value: (s) => s.measured.mbu.wall,
        format: percent,
      },
      {
        id: "sm",
        title: "SMs active",
        of: "mean over wall time",
        value: (s) => s.measured.sm_active_share,
        format: percent,
      },
      {
        id: "tensor",
        title: "tensor cores active",
        of: "mean over wall time",
        value: (s) => s.measured.tensor_active_share,
        format: percent,
      },
      {
        id: "power",
        title: "power (W), mean (range)",
        of: "W of the whole GPU",
        value: (s) => s.measured.power_w?.mean ?? null,
        text: (s) => range(s.measured.power_w, rate),
      },
      ...(stages.some((s) => s.measured.energy_per_token_j !== null)
        ? [
            {
              id: "energy",
              title: "energy per token",
              of: "J of the whole GPU per token",
              value: (s: MeasuredStage) => s.measured.energy_per_token_j,
              format: energy,
            },
          ]
        : []),
      {
        id: "clock",
        title: "SM clock",
        of: "Hz, mean of the samples",
        value: (s) => s.measured.sm_clock_hz?.mean ?? null,
        format: clock,
      },
      {
        id: "throttle",
        title: "clocks lowered by",
        value: (s) => (s.measured.throttle_samples === 0 ? "not known" : reasons(s) || "nothing"),
      },
    ],
  });
  return section(
    "Measured on the GPU",
    view.element,
    why.map((text) => note(`${asSentence(text)}.`)),
  );
}
