// Requests as rows of a waterfall: what each waited for, from sent to its end, in ns since the first one.
import type { Request, RequestBatch, RequestGap, Requests } from "../data/profile";

export type Parts = Record<string, number>;

/** What one request waited for at a time. */
export interface Wait {
  /** Index of the chunk that ends it; 0: the first token; the number of chunks: after the last one. */
  chunk: number;
  start: number;
  end: number;
}

/** A request's rows of time. */
export interface Row {
  index: number;
  request: Request;
  start: number;
  end: number;
  lane: number;
}

/** More requests than this share lanes. */
const MOST_OWN_LANES = 64;
/** Room between two requests in a lane, as a share of all time. */
const LANE_ROOM = 0.004;

export const NO_PART = "";
const OWN_DECODE = "own_decode";
const DELIVERY = "delivery";

/** In the order of RequestPart: within one wait, parts are drawn in it. */
const ORDER = [
  "queue",
  "not_recorded",
  "host",
  "others_prefill",
  "own_prefill",
  "others_decode",
  OWN_DECODE,
  "graph_miss",
  "lowered_clocks",
  "communication",
  "out_of_batch",
  DELIVERY,
];

export const inOrder = (parts: Parts): [string, number][] =>
  Object.entries(parts)
    .filter(([, ns]) => ns > 0)
    .sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));

/** The largest parts first. */
export const bySize = (parts: Parts): [string, number][] =>
  Object.entries(parts)
    .filter(([, ns]) => ns > 0)
    .sort(([, a], [, b]) => b - a);

export class RequestsModel {
  readonly rows: Row[] = [];
  readonly lanes: number;
  /** On the capture's clock, in ns. */
  readonly origin: number;
  readonly span: number;
  readonly isJoined: boolean;
  /** Whether times are on the capture's clock. */
  readonly isOnCapturesClock: boolean;
  private readonly slow = new Map<string, RequestGap>();
  private readonly waits = new Map<number, Map<number, string>>();

  constructor(readonly requests: Requests) {
    const placed = requests.items.flatMap((request, index) =>
      request.sent_ms === null ? [] : [{ request, index, sent: request.sent_ms * 1e6 }],
    );
    placed.sort((a, b) => a.sent - b.sent);
    this.origin = placed[0]?.sent ?? 0;
    this.rows = placed.map(({ request, index, sent }) => {
      const start = sent - this.origin;
      const last = request.token_ns[request.token_ns.length - 1] ?? 0;
      return { index, request, start, end: start + Math.max(request.e2e_ns ?? 0, last, 1), lane: 0 };
    });
    this.span = this.rows.reduce((most, row) => Math.max(most, row.end), 1);
    this.lanes = this.placeLanes();
    this.isJoined = requests.join.state === "joined";
    this.isOnCapturesClock = ["joined", "low_coverage", "no_token_times"].includes(requests.join.state);
    for (const gap of requests.slowest_gaps) this.slow.set(`${gap.request}/${gap.chunk}`, gap);
  }

  get hasOwnLanes(): boolean {
    return this.rows.length <= MOST_OWN_LANES;
  }

  /** One lane each, or the first lane that is free. */
  private placeLanes(): number {
    if (this.hasOwnLanes) {
      for (const [lane, row] of this.rows.entries()) row.lane = lane;
      return this.rows.length;
    }
    const room = this.span * LANE_ROOM;
    const ends: number[] = [];
    for (const row of this.rows) {
      const free = ends.findIndex((end) => end + room <= row.start);
      row.lane = free < 0 ? ends.length : free;
      ends[row.lane] = row.end;
    }
    return ends.length;
  }

  rowOf(index: number): Row | undefined {
    return this.rows.find((row) => row.index === index);
  }

  /** Of a chunk, the time before it. */
  wait(row: Row, chunk: number): Wait {
    const { token_ns } = row.request;
    const start = row.start + (chunk === 0 ? 0 : token_ns[chunk - 1]!);
    return { chunk, start, end: chunk < token_ns.length ? row.start + token_ns[chunk]! : row.end };
  }

  /** The parts of a wait, as far as profile.json has them. */
  partsOf(row: Row, chunk: number): Parts | null {
    if (!this.isJoined) return null;
    if (chunk === 0) return isEmpty(row.request.ttft_parts_ns) ? null : row.request.ttft_parts_ns;
    return this.slow.get(`${row.index}/${chunk}`)?.parts_ns ?? null;
  }

  gapOf(row: Row, chunk: number): RequestGap | null {
    return this.slow.get(`${row.index}/${chunk}`) ?? null;
  }

  /** The part that takes most of a wait. */
  largestPart(row: Row, chunk: number): string {
    if (!this.isJoined || isEmpty(row.request.ttft_parts_ns)) return NO_PART;
    if (chunk >= row.request.token_ns.length) return DELIVERY;
    if (chunk === 0) return bySize(row.request.ttft_parts_ns)[0]?.[0] ?? NO_PART;
    let known = this.waits.get(row.index);
    if (!known) {
      known = new Map(row.request.waits.map((each) => [each.chunk, each.part]));
      this.waits.set(row.index, known);
    }
    return known.get(chunk) ?? OWN_DECODE;
  }

  batchOf(row: Row, chunk: number): RequestBatch | null {
    const index = row.request.token_batches[chunk] ?? -1;
    return index < 0 ? null : (this.requests.batches[index] ?? null);
  }

  /** The chunk whose wait contains that time. */
  chunkAt(row: Row, time: number): number {
    const { token_ns } = row.request;
    let low = 0;
    let high = token_ns.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row.start + token_ns[middle]! < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const isEmpty = (parts: Parts): boolean => Object.keys(parts).length === 0;
