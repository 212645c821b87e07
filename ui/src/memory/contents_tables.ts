// What PyTorch's memory is used for, and what the engine says of its memory.
import type { Profile } from "../data/profile";
import { table, type Column } from "../dom/table";
import { bytes, count } from "../format/figures";
import { placeColumns, sized, type Snapshots } from "./snapshot_tables";
import type { MemoryWords } from "./words";

type Contents = Snapshots["contents"][number];
type Model = Snapshots["models"][number];
type Statement = Profile["memory_statements"][number];

const tokens = <Row>(id: string, title: string, value: (row: Row) => number | null): Column<Row> => ({
  id,
  title,
  of: "tokens of KV cache",
  value,
  format: count,
});

/** Files of earlier versions have none. */
export const hasContents = (memory: Snapshots): boolean => Boolean(memory.contents?.length);

export function contentsTable({ view }: MemoryWords, memory: Snapshots): HTMLElement | null {
  if (!hasContents(memory)) return null;
  return table<Contents>({
    caption: "What PyTorch's memory is used for",
    rows: memory.contents,
    columns: [
      ...placeColumns<Contents>(memory, (row) => row),
      { id: "content", title: "used for", value: (row) => view.contents[row.content] ?? row.content },
      sized("after_load", "after loading", "B before the first forward pass", (row) => row.after_load_bytes),
      sized("in_passes", "most in passes", "B when most was active since then", (row) => row.in_passes_bytes),
      sized("at_peak", "at the peak", "B when most was active", (row) => row.at_peak_bytes),
      sized("now", "at the snapshot", "B", (row) => row.now_bytes),
      { id: "blocks", title: "blocks", of: "at the snapshot", value: (row) => row.blocks_now, format: count },
      {
        id: "basis",
        title: "how it is known",
        value: (row) => view.content_bases[row.basis] ?? row.basis,
        className: "prose",
      },
    ],
  }).element;
}

export function modelTable(memory: Snapshots): HTMLElement | null {
  if (!memory.models?.length) return null;
  return table<Model>({
    caption: "PyTorch's memory beside the model's configuration",
    rows: memory.models,
    columns: [
      ...placeColumns<Model>(memory, (row) => row),
      sized("weights", "weights by the configuration", "B", (row) => row.weights_bytes),
      sized("found", "weights found", "B at the snapshot", (row) => row.found_weights_bytes),
      { id: "sets", title: "complete sets", of: "sets of tensors", value: (row) => row.weight_sets, format: count },
      sized("per_token", "KV cache per token", "B", (row) => row.bytes_per_token),
      tokens("cache", "KV cache at the snapshot", (row) => row.cache_tokens),
      tokens("cache_in_passes", "KV cache in passes", (row) => row.cache_tokens_in_passes),
    ],
  }).element;
}

export function statementTable({ view }: MemoryWords, rows: Statement[]): HTMLElement {
  return table<Statement>({
    caption: "What the engine says of its memory",
    rows,
    columns: [
      { id: "part", title: "memory", value: (row) => view.stated_parts[row.part] ?? row.part, heads: true },
      { id: "engine", title: "engine", value: (row) => row.engine },
      { id: "device", title: "device", value: (row) => row.device ?? "" },
      { id: "stated", title: "stated", of: "B", value: (row) => row.stated_bytes, format: bytes },
      tokens("tokens", "stated tokens", (row) => row.tokens),
      { id: "recorded", title: "recorded", of: "B at the peak", value: (row) => row.recorded_bytes, format: bytes },
      {
        id: "difference",
        title: "difference",
        of: "B: stated minus recorded",
        value: (row) => row.difference_bytes,
        format: bytes,
      },
    ],
  }).element;
}
