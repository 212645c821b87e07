// A profile with a memory ledger, made of a run's profile: two GPUs, the first with the run's stages. Memory grows
// while the program loads, and in each decode. All rows sum as an analysis' do.

const GB = 1e9;
const TOTAL = 150_754_820_096;
const LOAD_MS = 4000;
const READINGS = 240;

const BASES = {
  other_processes: "reading",
  driver_reserved: "reading",
  context: "difference",
  weights: "model_size",
  kv_cache: "model_size",
  library_workspace: "recorded",
  framework: "recorded",
  rounding: "addresses",
  profiler: "stated",
  rest: "remainder",
};

/** What each part takes at a share of the run's time; `loaded`: how much of the model is loaded. */
function partsAt(share, scale) {
  const loaded = Math.min(1, share * 4);
  const sizes = {
    other_processes: 0.42 * GB,
    driver_reserved: 0.645 * GB,
    context: 0.52 * GB,
    weights: loaded * 16.06 * GB * scale,
    kv_cache: share > 0.3 ? 34.36 * GB * scale : 0,
    library_workspace: loaded > 0.9 ? 0.067 * GB : 0,
    framework: loaded > 0.5 ? (2 + 9 * Math.abs(Math.sin(share * 9))) * GB * scale : 0,
    rounding: loaded * 0.0021 * GB,
    profiler: 0.0096 * GB,
    rest: share > 0.6 ? -0.0021 * GB : 0.0011 * GB,
  };
  return Object.fromEntries(
    Object.entries(sizes)
      .map(([part, size]) => [part, Math.round(size)])
      .filter(([, size]) => size !== 0),
  );
}

const sumOf = (parts) => Object.values(parts).reduce((all, size) => all + size, 0);

function addGpu(ledger, device, startNs, spanMs, scale) {
  const gpu = ledger.gpus.length;
  ledger.gpus.push({ device, process: 4711 + gpu, start_ns: startNs, total_bytes: TOTAL });
  const points = Array.from({ length: READINGS }, (_, index) => {
    const share = index / (READINGS - 1);
    const parts = partsAt(share, scale);
    return { gpu, time_ms: share * spanMs, used_bytes: sumOf(parts), parts_bytes: parts };
  });
  ledger.timeline.push(...points);
  const highest = points.reduce((best, each) => (each.used_bytes > best.used_bytes ? each : best));
  const chosen = [
    ["after_load", null, points[Math.floor(READINGS * 0.27)]],
    ["stage_peak", "decode", points[Math.floor(READINGS * 0.7)]],
    ["peak", null, highest],
    ["end", null, points[READINGS - 1]],
  ];
  for (const [kind, stage, point] of chosen) {
    const moment = ledger.moments.length;
    const used = point.used_bytes;
    ledger.moments.push({
      gpu,
      device,
      kind,
      stage,
      time_ms: point.time_ms,
      total_bytes: TOTAL,
      used_bytes: used,
      used_share: used / TOTAL,
      own_bytes: null,
      closes: true,
    });
    const add = (part, owner, size, allocations) =>
      ledger.rows.push({ moment, part, owner, bytes: size, share: size / used, allocations, basis: BASES[part] });
    for (const [part, size] of Object.entries(point.parts_bytes)) {
      if (part === "library_workspace") {
        const half = Math.floor(size / 2);
        add(part, "cuBLAS", half, 1);
        add(part, "NCCL", size - half, 3);
      } else add(part, part === "framework" ? "PyTorch" : "", size, part === "framework" ? 212 : 0);
    }
  }
}

/** A copy of a run's profile with a ledger that begins before its first stage. */
export function withLedger(profile) {
  const made = structuredClone(profile);
  const instances = made.stages.flatMap((stage) => stage.instances);
  const first = Math.min(...instances.map((each) => each.start_ns));
  const last = Math.max(...instances.map((each) => each.start_ns + each.wall_ms * 1e6));
  const ledger = {
    events: 1234,
    readings: 5678,
    gpus: [],
    moments: [],
    rows: [],
    headroom: [
      {
        device: "cuda:1",
        free_bytes: 61_000_000_000,
        bytes_per_token: 32_768,
        tokens_left: 1_861_572,
        tokens_left_bf16: 1_861_572,
        tokens_left_fp8: 3_723_144,
        cache_tokens: 16_384,
        requests: 48,
      },
    ],
    room: [
      { device: "cuda:1", kv_cache: "bf16", context: 4096, per_sequence_bytes: 134_217_728, sequences: 454 },
      { device: "cuda:1", kv_cache: "fp8", context: 4096, per_sequence_bytes: 67_108_864, sequences: 908 },
    ],
    forecasts: [
      {
        device: "cuda:1",
        change: "double_context",
        basis: "static",
        more_bytes: 62_000_000_000,
        free_bytes: 61_000_000_000,
        fits: false,
      },
    ],
    growth: [
      {
        device: "cuda:1",
        part: "framework",
        owner: "PyTorch",
        increases: 21,
        grown_bytes: 50_331_648,
        per_request_bytes: 1_048_576,
        per_request_lower_bytes: 1_006_632.96,
        per_request_upper_bytes: 1_048_577,
        leak: true,
        requests_left: 58_174,
      },
    ],
    timeline: [],
  };
  const before = Math.max(LOAD_MS, (last - first) / 1e6);
  const spanMs = before + (last - first) / 1e6 + 200;
  addGpu(ledger, instances[0].device, first - before * 1e6, spanMs, 1);
  addGpu(ledger, "cuda:1", first - before * 1e6, spanMs, 0.5);
  made.memory_ledger = ledger;
  return made;
}
