// A profile of a job, made of the profile of one GPU: every rank runs it, one of them slower, and the others wait for
// it.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { folder, repository } from "./browser.mjs";

/** The folder of PyTorch traces of three ranks on three clocks, of which one is late; made once for all tests. */
export function realJobCaptures() {
  const captures = path.join(folder, "captures");
  if (fs.existsSync(captures)) return captures;
  fs.mkdirSync(captures);
  const script = `
import pathlib, sys
from job_captures import Clock, Delay, pytorch_job
clocks = [Clock(), Clock(350_000, 8.0), Clock(-90_000, -3.0)]
delay = Delay(rank=2, at=tuple(range(8, 64, 8)))
pytorch_job(pathlib.Path(sys.argv[1]), ranks=3, clocks=clocks, delays=[delay])
`;
  execFileSync("python3", ["-c", script, captures], { stdio: "pipe", cwd: path.join(repository, "tests/end_to_end") });
  return captures;
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

function statistics(values) {
  const sorted = values.slice().sort((a, b) => a - b);
  const at = (share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  return {
    count: values.length,
    mean: mean(values),
    std: 0,
    min: sorted[0],
    p50: at(0.5),
    p99: at(0.99),
    max: sorted.at(-1),
  };
}

/** Deterministic noise between -1 and 1. */
const noise = (rank, step) => Math.sin(12.9898 * rank + 78.233 * step);

/** `slow` takes `by` times as long as the others; `died` and `missing` are ranks without all of their capture. */
export function jobProfile(profile, { ranks = 4, slow = 1, by = 1.5, died = [], missing = [] } = {}) {
  const recorded = Array.from({ length: ranks }, (_, rank) => rank).filter((rank) => !missing.includes(rank));
  const own = (rank, index) =>
    profile.steps[index].gpu_busy_ms * (rank === slow ? by : 1) * (1 + 0.01 * noise(rank, index));
  const slowest = profile.steps.map((_, index) => Math.max(...recorded.map((rank) => own(rank, index))));
  const rows = recorded.map((rank) => ({
    rank,
    wall_ms: profile.steps.map((_, index) => own(rank, index)),
    wait_ms: profile.steps.map((_, index) => slowest[index] - own(rank, index)),
  }));
  const between = (rank) =>
    profile.stages
      .filter((stage) => profile.steps.some((step) => step.stage === stage.name))
      .map((stage) => {
        const indices = profile.steps.flatMap((step, index) => (step.stage === stage.name ? [index] : []));
        const compute = mean(indices.map((index) => own(rank, index)));
        const wait = mean(indices.map((index) => slowest[index] - own(rank, index)));
        const parts = {
          compute_ms: compute,
          transfer_ms: 0.1 * compute,
          wait_ms: wait,
          copies_ms: 0.01,
          idle_ms: 0.2,
        };
        return {
          stage: stage.name,
          wall_ms: Object.values(parts).reduce((a, b) => a + b, 0),
          ...parts,
          hidden_communication_ms: 0.02,
          caused_wait_ms:
            rank === slow
              ? Math.max(...recorded.map((other) => mean(indices.map((index) => slowest[index] - own(other, index)))))
              : 0,
          steps: indices.length,
          tokens: 64,
          mfu: rank === slow ? 0.21 : 0.32,
          sm_clock_hz: rank === slow ? 1.2e9 : 1.755e9,
          energy_j: 0.5,
        };
      });
  const all = Array.from({ length: ranks }, (_, rank) => ({
    rank,
    local_rank: rank % 2,
    host: missing.includes(rank) ? null : `node${rank >> 1}`,
    device: missing.includes(rank) ? null : `rank${rank}/cuda:0`,
    gpu: missing.includes(rank) ? null : "NVIDIA H200",
    state: missing.includes(rank) ? "missing" : died.includes(rank) ? "died" : "recorded",
    state_detail: died.includes(rank) ? "signal 9" : null,
    captures: [],
    clock: missing.includes(rank)
      ? null
      : {
          method: rank === 0 ? "reference" : rank === 1 ? "shared" : "collectives",
          offset_ns: rank * 350_000,
          drift_ppm: rank * 2.5,
          collectives: rank > 1 ? 128 : 0,
          residual_p50_ms: rank > 1 ? 0.0012 : null,
          residual_max_ms: rank > 1 ? 0.0044 : null,
        },
    between: missing.includes(rank) ? [] : between(rank),
    totals: profile.totals,
    device_time: profile.device_time,
    classes: profile.classes,
    stages_found: profile.stages_found,
    token_times: profile.token_times,
    stages: profile.stages,
    steps: [],
    steps_left_out: missing.includes(rank) ? 0 : profile.steps.length,
    overhead: null,
    diagnostics: [],
  }));
  const stage = "decode";
  const waited = all[slow].between.find((each) => each.stage === stage);
  const collective = (kind, bytes, wait) => ({
    stage,
    group: "tensor <img src=x onerror=alert(1)>",
    kind,
    bytes,
    ranks: recorded.length,
    matched: 128,
    unmatched: kind === "all_gather" ? 2 : 0,
    in_graph: kind === "all_gather",
    lower_bound: missing.length > 0,
    latency_ms: statistics([0.021, 0.022, 0.025]),
    wait_ms: statistics([wait, wait * 1.1, wait * 1.4]),
    wait_total_ms: wait * 128 * 3,
    transfer_total_ms: 128 * 0.088,
    exposed_total_ms: wait * 128 * 3 + 128 * 0.05,
    hidden_total_ms: 128 * 0.038,
    per_step: 8,
    wire_bandwidth_bytes_per_s: 2.1e11,
    peak_bandwidth_bytes_per_s: 4.5e11,
    share_of_peak: 0.4667,
    link: "nvlink",
    last_rank: slow,
    last_rank_share: 0.97,
  });
  return {
    ...profile,
    // llmprof adds the figures that it shows, of the job too.
    token_times: { ...profile.token_times, shown: null },
    job: {
      id: "slurm 4711.0",
      world_size: ranks,
      recorded: recorded.length,
      hosts: Math.ceil(ranks / 2),
      missing,
      died,
      lower_bound: missing.length > 0,
      groups: [
        { group: "tensor <img src=x onerror=alert(1)>", ranks: recorded, size: ranks, parallelism: "tensor", why: [] },
      ],
      collectives: [collective("all_reduce", 16384, 0.06), collective("all_gather", 1 << 20, 0.01)],
      stragglers: [
        {
          rank: slow,
          stage,
          cause: "longer_kernels",
          wait_ms_per_step: waited.caused_wait_ms,
          wait_total_ms: waited.caused_wait_ms * waited.steps * (recorded.length - 1),
          share_of_step: waited.caused_wait_ms / waited.wall_ms,
          last_share: 0.97,
          why: [],
        },
      ],
      steps_matched: profile.steps.length,
      steps_unmatched: 3,
      pipeline_bubble_share: null,
      expert_imbalance: null,
      heat: { steps_per_bin: 1, rows },
      why_not: null,
      why_not_reasons: [],
    },
    ranks: all,
  };
}
