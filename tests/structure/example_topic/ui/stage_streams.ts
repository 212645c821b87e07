// On which CUDA streams the kernels of a stage run.
import type { App } from "../app";
import { section } from "../dom/parts";
import { table } from "../dom/table";
import { count, ms } from "../format/figures";

export function stageStreams(app: App): HTMLElement | null {
  const rows = app.profile.stage_streams;
  if (rows.length === 0) return null;
  return section(
    "CUDA streams",
    table({
      caption: "Kernels by stage and CUDA stream",
      rows,
      columns: [
        { id: "stage", title: "stage", value: (row) => row.stage, heads: true },
        { id: "device", title: "device", value: (row) => row.device },
        { id: "stream", title: "stream", value: (row) => String(row.stream) },
        { id: "kernels", title: "kernels", value: (row) => row.kernels, format: count },
        { id: "total", title: "total (ms)", value: (row) => row.total_ms, format: ms },
      ],
    }).element,
  );
}
