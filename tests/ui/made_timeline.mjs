// A timeline whose every row is known: decode steps of layers on one stream, copies on another, their launches on a
// CPU thread, ranges, counters. The same numbers every time.

/** Multiplicative congruential numbers: no seed of the platform. */
function* numbers(seed) {
  let state = BigInt(seed);
  while (true) {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    yield Number(state >> 33n) / 2 ** 31;
  }
}

const KERNELS = [
  ["void cutlass::gemm<float>(int)", "GEMM 128x128", 0, 9000],
  ["flash_attention_forward", "attention forward", 2, 4000],
  ["rms_norm_kernel", "RMS norm", 3, 1500],
  ["elementwise_mul", "mul (bf16)", 5, 1200],
  ["copy_cast", "copy/cast f32 -> bf16", 6, 900],
  ["[copy Host-to-Device]", "copy Host-to-Device", 14, 2500],
];

export const CAUSES = ["idle: launch-bound", "idle: host between launches", "idle: synchronisation"];

/** Names a cause for each time in which no stream works, and sums them up; the first work has none before it. */
function nameGaps(slices) {
  const order = slices.start.map((_, row) => row).sort((a, b) => slices.start[a] - slices.start[b]);
  const sums = CAUSES.map((cause) => ({
    stage: "decode",
    cause,
    gaps: 0,
    total_ns: 0,
    longest_ns: 0,
    longest_start_ns: 0,
  }));
  let until = null;
  let found = 0;
  for (const row of order) {
    const start = slices.start[row];
    slices.gap[row] = 0;
    if (until !== null && start > until) {
      const cause = found++ % CAUSES.length;
      slices.gap[row] = cause + 1;
      const sum = sums[cause];
      sum.gaps++;
      sum.total_ns += start - until;
      if (start - until > sum.longest_ns) Object.assign(sum, { longest_ns: start - until, longest_start_ns: until });
    }
    until = Math.max(until ?? 0, start + slices.duration[row]);
  }
  return sums;
}

export function makeTimeline({ steps = 24, layers = 8, perLayer = 12, classes = 16 } = {}) {
  const random = numbers(7);
  const next = () => random.next().value;
  const names = [];
  const intern = (text) => {
    const found = names.indexOf(text);
    return found >= 0 ? found : names.push(text) - 1;
  };
  const kernels = KERNELS.map(([name, short, kernelClass]) => ({
    name: intern(name),
    short: intern(short),
    class: kernelClass,
  }));
  const column = (...names) => Object.fromEntries(names.map((name) => [name, []]));
  const tables = {
    slices: column(
      "start",
      "duration",
      "kind",
      "kernel",
      "shape",
      "call",
      "instance",
      "step",
      "layer",
      "bytes",
      "gap",
    ),
    calls: column("start", "duration", "name", "kind"),
    ranges: column("start", "duration", "name", "depth"),
    stages: column("start", "duration", "name", "index", "flags"),
    steps: column("start", "duration", "name", "index"),
    layers: column("start", "duration", "name"),
    samples: column("time", "value"),
  };
  const add = (table, row) => {
    for (const [name, value] of Object.entries(row)) tables[table][name].push(value);
    return tables[table].start?.length ?? tables[table].time.length;
  };
  const launch = intern("cudaLaunchKernel");
  const wait = intern("cudaStreamSynchronize");
  const decode = intern("decode");
  const copies = [];
  let host = 0;
  let gpu = 5000;
  const instanceStart = 0;
  for (let step = 0; step < steps; step++) {
    const stepStart = gpu;
    add("ranges", { start: host, duration: 0, name: intern("decode_step"), depth: 0 });
    const range = tables.ranges.start.length - 1;
    for (let layer = 0; layer < layers; layer++) {
      const layerStart = gpu;
      for (let i = 0; i < perLayer; i++) {
        const kernel = Math.floor(next() * 5);
        const duration = Math.round(KERNELS[kernel][3] * (0.6 + 0.8 * next()));
        const call = add("calls", { start: host, duration: 1800 + Math.round(next() * 500), name: launch, kind: 1 });
        gpu = Math.max(gpu + (next() < 0.2 ? 700 : 0), host + 4000);
        add("slices", {
          start: gpu,
          duration,
          kind: 0,
          kernel,
          shape: 1 + (kernel % 2),
          call,
          instance: 1,
          step: step + 1,
          layer: intern(`layer_${String(layer).padStart(2, "0")}`) + 1,
          bytes: 0,
        });
        gpu += duration;
        host += 2600 + Math.round(next() * 400);
      }
      add("layers", {
        start: layerStart,
        duration: gpu - layerStart,
        name: intern(`layer_${String(layer).padStart(2, "0")}`),
      });
    }
    const call = add("calls", { start: host, duration: Math.max(1000, gpu - host), name: wait, kind: 2 });
    copies.push({
      start: gpu + 500,
      duration: 2500,
      kind: 1,
      kernel: 5,
      shape: 0,
      call,
      instance: 1,
      step: step + 1,
      layer: 0,
      bytes: 65536,
    });
    host = Math.max(host, gpu) + 6000;
    tables.ranges.duration[range] = host - tables.ranges.start[range] - 3000;
    add("steps", { start: stepStart, duration: gpu - stepStart, name: decode, index: step });
    gpu += 4000;
  }
  const first = tables.slices.start.length;
  for (const row of copies) add("slices", row);
  const gaps = nameGaps(tables.slices);
  add("stages", { start: instanceStart, duration: gpu, name: decode, index: 0, flags: 0 });
  const counters = [
    ["DRAM read", "GB/s", 4800],
    ["power", "W", 700],
  ];
  const tracks = [
    { id: "stages", kind: "stages", label: "stages", group: "", table: "stages", first: 0, count: 1 },
    {
      id: "steps",
      kind: "steps",
      label: "steps",
      group: "",
      table: "steps",
      first: 0,
      count: tables.steps.start.length,
    },
    {
      id: "layers",
      kind: "layers",
      label: "layers",
      group: "",
      table: "layers",
      first: 0,
      count: tables.layers.start.length,
    },
    { id: "gpu0/stream7", kind: "stream", label: "stream 7", group: "GPU 0", table: "slices", first: 0, count: first },
    {
      id: "gpu0/stream13",
      kind: "stream",
      label: "stream 13",
      group: "GPU 0",
      table: "slices",
      first,
      count: copies.length,
    },
  ];
  for (const [label, unit, max] of counters) {
    const start = tables.samples.time.length;
    for (let time = 0; time < gpu; time += 20000) add("samples", { time, value: max * (0.4 + 0.5 * next()) });
    tracks.push({
      id: `gpu0/${label}`,
      kind: "counter",
      label,
      group: "GPU 0",
      table: "samples",
      first: start,
      count: tables.samples.time.length - start,
      unit,
      max,
    });
  }
  tracks.push({
    id: "thread/calls",
    kind: "thread",
    label: "thread 4711, calls",
    group: "CPU",
    table: "calls",
    first: 0,
    count: tables.calls.start.length,
  });
  tracks.push({
    id: "thread/ranges",
    kind: "thread",
    label: "thread 4711, ranges",
    group: "CPU",
    table: "ranges",
    first: 0,
    count: tables.ranges.start.length,
  });
  return {
    names,
    kernels,
    shapes: [
      [132, 1, 1, 256, 1, 1, 96, 49152],
      [64, 8, 1, 128, 1, 1, 0, 0],
    ],
    tracks,
    tables,
    span: gpu,
    classes,
    causes: CAUSES,
    gaps,
  };
}
