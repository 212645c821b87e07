// What is left of GPU memory at its peak, and what grows from request to request.
import { h } from "../dom/dom";
import { note, section } from "../dom/parts";
import { table, type Column } from "../dom/table";
import { bytes, count, percent } from "../format/figures";
import type { Ledger } from "./model";
import { partLabel, type MemoryWords } from "./words";

type Headroom = Ledger["headroom"][number];
type Room = Ledger["room"][number];
type Forecast = Ledger["forecasts"][number];
type Growth = Ledger["growth"][number];

const CACHE_USE: Column<Headroom>[] = [
  {
    id: "cache-used",
    title: "used at a time",
    of: "tokens of the KV cache",
    value: (row) => row.cache_used_tokens,
    format: count,
  },
  {
    id: "cache-used-share",
    title: "of the KV cache",
    of: "tokens used at a time over those that it holds",
    value: (row) => row.cache_used_share,
    format: percent,
  },
];

function headroomTable(rows: Headroom[]): HTMLElement {
  return table<Headroom>({
    caption: "What is left of GPU memory at its peak",
    rows,
    sort: "-free",
    fit: true,
    columns: [
      { id: "device", title: "device", value: (row) => row.device, heads: true },
      { id: "free", title: "free", of: "B, at the peak", value: (row) => row.free_bytes, format: bytes },
      { id: "per-token", title: "KV cache per token", of: "B", value: (row) => row.bytes_per_token, format: bytes },
      {
        id: "tokens",
        title: "tokens that fit",
        of: "tokens whose KV cache fits into the free memory",
        value: (row) => row.tokens_left,
        format: count,
      },
      {
        id: "tokens-bf16",
        title: "in bf16",
        of: "tokens that fit with a KV cache in bf16",
        value: (row) => row.tokens_left_bf16,
        format: count,
      },
      {
        id: "tokens-fp8",
        title: "in fp8",
        of: "tokens that fit with a KV cache in fp8",
        value: (row) => row.tokens_left_fp8,
        format: count,
      },
      {
        id: "cache",
        title: "tokens of the KV cache",
        of: "tokens that the allocated KV cache holds",
        value: (row) => row.cache_tokens,
        format: count,
      },
      ...(rows.some((row) => (row.cache_used_tokens ?? null) !== null) ? CACHE_USE : []),
      {
        id: "requests",
        title: "requests followed",
        of: "requests over which growth was followed",
        value: (row) => row.requests,
        format: count,
      },
    ],
  }).element;
}

function roomTable(rows: Room[]): HTMLElement {
  return table<Room>({
    caption: "Further sequences that fit into what is left of GPU memory",
    rows,
    fit: true,
    columns: [
      { id: "device", title: "device", value: (row) => row.device, heads: true },
      { id: "format", title: "KV cache", value: (row) => row.kv_cache },
      { id: "context", title: "context", of: "tokens of each sequence", value: (row) => row.context, format: count },
      { id: "one", title: "one sequence", of: "B of KV cache", value: (row) => row.per_sequence_bytes, format: bytes },
      { id: "sequences", title: "fit", of: "further sequences", value: (row) => row.sequences, format: count },
    ],
  }).element;
}

const CHANGES: Record<Forecast["change"], string> = {
  next_sequence: "one more sequence",
  double_batch: "twice the batch",
  double_context: "twice the context",
  largest_request: "PyTorch's largest allocation again",
};

function forecastTable(rows: Forecast[]): HTMLElement {
  return table<Forecast>({
    caption: "Whether larger runs fit",
    rows,
    fit: true,
    columns: [
      { id: "device", title: "device", value: (row) => row.device, heads: true },
      { id: "change", title: "if", value: (row) => CHANGES[row.change] },
      { id: "more", title: "needs", of: "B more", value: (row) => row.more_bytes, format: bytes },
      { id: "free", title: "free", of: "B", value: (row) => row.free_bytes, format: bytes },
      { id: "fits", title: "fits", value: (row) => (row.fits ? "yes" : "no") },
    ],
  }).element;
}

function growthTable(words: MemoryWords, rows: Growth[]): HTMLElement {
  const perRequest = "B per request";
  return table<Growth>({
    caption: "GPU memory that grew from request to request",
    rows,
    sort: "-grown",
    fit: true,
    columns: [
      { id: "device", title: "device", value: (row) => row.device, heads: true },
      {
        id: "part",
        title: "used for",
        value: (row) => words.palette.label(row.part),
        cell: (row) => partLabel(words, row.part),
      },
      { id: "owner", title: "by", of: "the library that allocated it", value: (row) => row.owner },
      {
        id: "times",
        title: "grew",
        of: "requests after which it was more",
        value: (row) => row.increases,
        format: count,
      },
      { id: "grown", title: "grew by", of: "B", value: (row) => row.grown_bytes, format: bytes },
      { id: "slope", title: "per request", of: perRequest, value: (row) => row.per_request_bytes, format: bytes },
      {
        id: "lower",
        title: "at least",
        of: `${perRequest}, lower end of the 95 % interval`,
        value: (row) => row.per_request_lower_bytes,
        format: bytes,
      },
      {
        id: "upper",
        title: "at most",
        of: `${perRequest}, upper end of the 95 % interval`,
        value: (row) => row.per_request_upper_bytes,
        format: bytes,
      },
      { id: "leak", title: "leak", value: (row) => (row.leak ? "yes" : "no") },
      {
        id: "left",
        title: "requests until full",
        of: "requests until the memory that is free at the peak is used up",
        value: (row) => row.requests_left,
        format: count,
      },
    ],
  }).element;
}

/** Null if nothing is known. */
export function outlookSection(words: MemoryWords, ledger: Ledger): HTMLElement | null {
  if (ledger.headroom.length === 0) return null;
  return section(
    "What is left",
    headroomTable(ledger.headroom),
    (ledger.room ?? []).length > 0 && roomTable(ledger.room),
    (ledger.forecasts ?? []).length > 0 &&
      h(
        "div",
        {},
        note("For larger runs the KV cache alone is counted here; llmprof fit computes what else they need."),
        forecastTable(ledger.forecasts),
      ),
    ledger.growth.length > 0 &&
      h(
        "div",
        {},
        note(
          "A leak grew at least five times, also in the last third of the requests, and the interval excludes 0. " +
            "The first fifth of the requests, in which allocators fill their caches, does not count.",
        ),
        growthTable(words, ledger.growth),
      ),
  );
}
