// A profile with requests of a client, made of a server's profile: each request gets a token from each of some steps
// that follow one another. All parts sum as an analysis' do.

const NS = 1e6;

function rank(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

function times(values) {
  const count = values.length;
  const mean = values.reduce((sum, each) => sum + each, 0) / Math.max(1, count);
  const some = (value) => (count > 0 ? value : null);
  return {
    mean: some(mean),
    std: null,
    min: some(Math.min(...values)),
    p50: some(rank(values, 0.5)),
    p99: some(rank(values, 0.99)),
    max: some(Math.max(...values)),
    count,
    p90: some(rank(values, 0.9)),
  };
}

const noLoad = {
  arrivals: "constant",
  rate: 10,
  concurrency: null,
  sent_rate: 9.5,
  completed_rate: 9.25,
  output_tokens_per_s: 120.5,
  most_concurrent: 4,
  lateness_ms: times([0.1, 0.25]),
  verdict: "steady",
  ramp_up_end_ms: null,
  drain_start_ms: 100.5,
  objectives: [{ figure: "ttft", limit_ms: 50, attained: 0.75 }],
  goodput: 7.25,
  goodput_low: 6.5,
  goodput_high: 8,
};

/** The wait for one token: prompts of others in each fifth, the host otherwise; it sums to `ns`. */
function partsOf(ns, slow) {
  const own = Math.floor(ns * 0.5);
  return slow
    ? { own_decode: own, others_prefill: ns - own - 1000, delivery: 1000 }
    : { own_decode: ns - 2000, host: 1000, delivery: 1000 };
}

const sum = (all, parts) => {
  for (const [part, ns] of Object.entries(parts)) all[part] = (all[part] ?? 0) + ns;
  return all;
};

export const SLOW_EVERY = 5;
export const SLOW_FACTOR = 4;

/** `count` requests of `tokens` tokens each; the last one broke off. */
export function withRequests(profile, { count, tokens }) {
  const steps = profile.steps.map((step, index) => ({ ...step, index })).sort((a, b) => a.start_ms - b.start_ms);
  const batches = steps.map((step) => ({
    start_ms: step.start_ms,
    end_ms: step.start_ms + step.wall_ms,
    results_ms: step.start_ms + step.wall_ms + 0.01,
    first_step: step.index,
    steps: 1,
    rows: 2,
    joined: 2,
    unjoined: 0,
    prompt_tokens: step.kind === "decode" ? 0 : 128,
    context_tokens: 512,
  }));
  const gaps = [];
  const items = Array.from({ length: count }, (_, index) => {
    const completed = index < count - 1;
    const first = index % Math.max(1, batches.length - tokens);
    const sent = Math.round(batches[first].start_ms * NS) - 500_000;
    const token_ns = [];
    const waits = [];
    let parts = {};
    let at = 500_000 + Math.round(steps[first].wall_ms * NS) + 100_000;
    const ttft = at;
    const ttftParts = { queue: 500_000, own_prefill: ttft - 600_000, delivery: 100_000 };
    token_ns.push(at);
    parts = sum(parts, ttftParts);
    for (let chunk = 1; chunk < tokens; chunk++) {
      const slow = chunk % SLOW_EVERY === 0;
      const ns = (slow ? SLOW_FACTOR : 1) * 1_000_000 + index;
      const own = partsOf(ns, slow);
      parts = sum(parts, own);
      if (slow) waits.push({ chunk, part: "others_prefill" });
      gaps.push({
        request: index,
        chunk,
        start_ms: (sent + at) / NS,
        ns,
        batch: first + chunk,
        step: batches[first + chunk]?.first_step ?? null,
        parts_ns: own,
        most_delayed_by: slow ? "r0" : null,
      });
      at += ns;
      token_ns.push(at);
    }
    return {
      id: `r${index}`,
      status: completed ? "completed" : "cut",
      warm_up: false,
      scheduled_ms: sent / NS,
      sent_ms: sent / NS,
      client_delay_ns: 0,
      ttft_ns: ttft,
      e2e_ns: completed ? at : null,
      tpot_ms: (at - ttft) / NS / (tokens - 1),
      longest_gap_ns: SLOW_FACTOR * 1_000_000 + index,
      prompt_tokens: 128,
      output_tokens: tokens,
      cached_tokens: null,
      joined_tokens: tokens,
      preemptions: 0,
      parts_ns: completed ? parts : {},
      ttft_parts_ns: ttftParts,
      token_ns,
      token_batches: token_ns.map((_, chunk) => (first + chunk < batches.length ? first + chunk : -1)),
      waits,
    };
  });
  const completed = items.filter((item) => item.status === "completed");
  const all = completed.reduce((total, item) => sum(total, item.parts_ns), {});
  const whole = Object.values(all).reduce((total, ns) => total + ns, 0);
  gaps.sort((a, b) => b.ns - a.ns);
  const ms = (values) => times(values.map((ns) => ns / NS));
  const figures = {
    ttft_ms: ms(completed.map((item) => item.ttft_ns)),
    itl_ms: ms(gaps.filter((gap) => gap.request < count - 1).map((gap) => gap.ns)),
    tpot_ms: times(completed.map((item) => item.tpot_ms)),
    e2e_ms: ms(completed.map((item) => item.e2e_ns)),
  };
  const requests = {
    file: "requests.json",
    source: "llmprof",
    sent: count,
    completed: completed.length,
    failed: 1,
    warm_up: 0,
    output_tokens: completed.length * tokens,
    ...figures,
    queue_ms: ms(completed.map(() => 500_000)),
    load: noLoad,
    join: {
      state: "joined",
      tokens: completed.length * tokens,
      tokens_joined: completed.length * tokens,
      tokens_ambiguous: 3,
      tokens_outside: 0,
      tokens_miscounted: 0,
      rows: 640,
      rows_joined: 630,
      rows_named: 10,
      coverage: 1,
      coverage_of_rows: 0.99,
      delivery_ms: times([0.2, 0.3]),
      confirmed: null,
      contradicted: null,
      decode_alone_ms: times([1.25]),
      reasons: [],
    },
    parts_ns: all,
    tail: [
      {
        figure: "itl",
        quantile: 0.99,
        above_ms: SLOW_FACTOR,
        count: 4,
        around_median: 9,
        parts: [
          { part: "others_prefill", tail_ms: 1.999, median_ms: 0, more_ms: 1.999 },
          { part: "own_decode", tail_ms: 2, median_ms: 0.998, more_ms: 1.002 },
        ],
        most_delayed_by: "r0",
      },
    ],
    delayers: [{ by: "r0", ns: 7_500_000, of_first_tokens_ns: 250_000, requests: 2, gaps: 3 }],
    delays: [
      { by: "r0", of: "r1", ns: 5_000_000, of_first_token_ns: 250_000, gaps: 2 },
      { by: "r0", of: "r2", ns: 2_500_000, of_first_token_ns: 0, gaps: 1 },
    ],
    steps_by_size: [
      { rows: 2, steps: 12, context_tokens: 512, ms: times([1.5, 1.75]), floor_ms: null, per_token_ms: 0.8125 },
    ],
    slowest_gaps: gaps.slice(0, 40),
    items,
    batches,
    stated: [],
    unrecorded: { file: "unrecorded.json", completed: completed.length, ...figures, load: noLoad },
    shown: {
      parts: Object.entries(all)
        .map(([part, ns]) => ({ part, ms: ns / NS / completed.length, share_of_time: ns / whole }))
        .sort((a, b) => b.ms - a.ms),
      recording: [],
    },
  };
  return { ...structuredClone(profile), requests };
}
