#include "query/described/profile_tables.h"

namespace llmprof::query {

std::vector<DescribedTable> run_tables() {
  return {
      {.name = "runs",
       .meaning = "one row per run: what ran, and its totals",
       .path = "",
       .only = {"tool|engine|model|workload|totals|coverage|stages_found|token_times"}},
      {.name = "captures",
       .meaning = "the captures of a run, without their paths",
       .path = "context.captures"},
      {.name = "devices", .meaning = "GPUs in the captures", .path = "context.gpus"},
      {.name = "cpus",
       .meaning = "CPUs whose operators are in the captures",
       .path = "context.cpus"},
      {.name = "device_totals",
       .meaning = "kernels of each device together",
       .path = "totals.devices"},
      {.name = "device_time",
       .meaning = "what each GPU did over its whole timeline",
       .path = "device_time"},
      {.name = "device_idle",
       .meaning = "idle time of each GPU over its whole timeline, by cause",
       .path = "device_time.idle_causes",
       .keys = {"device=device"}},
      {.name = "copy_totals",
       .meaning = "copies and fills by device, direction and kind of memory",
       .path = "copies"},
      {.name = "diagnostics",
       .meaning = "what to know about the input: defects and gaps of the captures",
       .path = "diagnostics"},
  };
}

}  // namespace llmprof::query
