#include "query/described/profile_tables.h"

namespace llmprof::query {
namespace {

std::optional<std::string> lack_of_memory(const profile::Profile& profile, size_t /*rows*/) {
  if (profile.memory) return std::nullopt;
  return "neither a memory snapshot of PyTorch nor memory events of its traces were read. Dump a "
         "snapshot with torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") and name it: "
         "`llmprof analyze CAPTURE snapshot.pickle --out RUN`; or record a trace with "
         "profile_memory=True (docs/memory.md)";
}

std::optional<std::string> lack_of_model(const profile::Profile& profile, size_t rows) {
  if (auto none = lack_of_memory(profile, rows)) return none;
  if (rows > 0) return std::nullopt;
  return "the model is not known: name it with --model";
}

std::optional<std::string> lack_of_events(const profile::Profile& profile, size_t rows) {
  if (auto none = lack_of_memory(profile, rows)) return none;
  if (rows > 0) return std::nullopt;
  return "the memory snapshot has no such events. Call torch.cuda.memory._record_memory_history() "
         "at the start of the program (docs/memory.md)";
}

std::optional<std::string> lack_of_ledger(const profile::Profile& profile, size_t /*rows*/) {
  if (profile.memory_ledger) return std::nullopt;
  return "the run has no allocations of GPU memory from the program's start. Record them: `llmprof "
         "run -- PROGRAM`, or `nsys profile --cuda-memory-usage true PROGRAM` (docs/memory.md)";
}

std::optional<std::string> lack_of_room(const profile::Profile& profile, size_t rows) {
  if (auto none = lack_of_ledger(profile, rows)) return none;
  if (rows > 0) return std::nullopt;
  return "the model is unknown, or NVML was not read. Record the run with `llmprof run --model "
         "MODEL -- PROGRAM` (docs/memory.md)";
}

std::optional<std::string> lack_of_contents(const profile::Profile& profile, size_t rows) {
  if (auto none = lack_of_ledger(profile, rows)) return none;
  if (rows > 0) return std::nullopt;
  return lack_of_memory(profile, rows)
      .value_or(
          "no memory snapshot of PyTorch describes the same GPU after loading or at its peak");
}

std::optional<std::string> lack_of_statements(const profile::Profile& /*profile*/, size_t rows) {
  if (rows > 0) return std::nullopt;
  return "the log of the recording has no line in which the engine states its memory "
         "(docs/memory.md)";
}

}  // namespace

std::vector<DescribedTable> memory_tables() {
  return {
      {.name = "memory_ledger",
       .meaning = "what GPU memory is used for, at moments: the rows of a moment sum to what is "
                  "used, without readings of NVML to what is recorded; moment is an index in "
                  "memory_moments",
       .path = "memory_ledger.rows",
       .lack = lack_of_ledger},
      {.name = "memory_moments",
       .meaning = "the moments of memory_ledger",
       .path = "memory_ledger.moments",
       .keys = {"moment"},
       .lack = lack_of_ledger},
      {.name = "memory_ledger_contents",
       .meaning = "what is inside PyTorch's rows of memory_ledger, by a memory snapshot; moment is "
                  "an index in memory_moments",
       .path = "memory_ledger.contents",
       .lack = lack_of_contents},
      {.name = "memory_statements",
       .meaning = "what the engine says of its memory in its log, beside what was recorded",
       .path = "memory_statements",
       .lack = lack_of_statements},
      {.name = "memory_headroom",
       .meaning = "what is left of GPU memory at its peak, and how many tokens fit into it",
       .path = "memory_ledger.headroom",
       .lack = lack_of_ledger},
      {.name = "memory_room",
       .meaning = "how many more sequences fit into what is left of GPU memory, by context and "
                  "format of the KV cache",
       .path = "memory_ledger.room",
       .lack = lack_of_room},
      {.name = "memory_forecasts",
       .meaning = "whether larger batches and contexts fit into what is left of GPU memory",
       .path = "memory_ledger.forecasts",
       .lack = lack_of_room},
      {.name = "memory_growth",
       .meaning = "GPU memory that grew from request to request, and whether it leaks",
       .path = "memory_ledger.growth",
       .lack = lack_of_ledger},
      {.name = "memory_ledger_gpus",
       .meaning = "the GPUs of memory_ledger, each as one process uses it",
       .path = "memory_ledger.gpus",
       .keys = {"gpu"},
       .lack = lack_of_ledger},
      {.name = "memory_ledger_points",
       .meaning = "GPU memory in use over time: in each stretch of time the reading with most",
       .path = "memory_ledger.timeline",
       .keys = {"point"},
       .lack = lack_of_ledger},
      {.name = "memory_ledger_timeline",
       .meaning = "what GPU memory is used for over time: the parts of a point sum to what is "
                  "used; point is an index in memory_ledger_points",
       .path = "memory_ledger.timeline.parts_bytes",
       .keys = {"point", "part"},
       .value = "bytes",
       .lack = lack_of_ledger},
      {.name = "memory",
       .meaning = "GPU memory inside PyTorch: one row per GPU of a memory snapshot or trace",
       .path = "memory.devices",
       .lack = lack_of_memory},
      {.name = "memory_contents",
       .meaning = "what the memory that PyTorch holds is used for: weights, KV cache, activations "
                  "and the rest",
       .path = "memory.contents",
       .lack = lack_of_memory},
      {.name = "memory_models",
       .meaning = "the model's memory by its configuration, beside what a snapshot shows",
       .path = "memory.models",
       .lack = lack_of_model},
      {.name = "memory_snapshots",
       .meaning = "what states PyTorch's memory: snapshots, and traces with memory events; without "
                  "their paths",
       .path = "memory.snapshots",
       .keys = {"snapshot"},
       .lack = lack_of_memory},
      {.name = "memory_settings",
       .meaning = "settings of PyTorch's allocator",
       .path = "memory.snapshots.settings",
       .keys = {"snapshot"},
       .lack = lack_of_memory},
      {.name = "memory_pools",
       .meaning = "pools of PyTorch's allocator by GPU and stream, most reserved bytes first",
       .path = "memory.pools",
       .lack = lack_of_memory},
      {.name = "memory_stacks",
       .meaning = "call stacks, or operators of traces, that hold most GPU memory, at the peak and "
                  "at the snapshot or the trace's end",
       .path = "memory.stacks",
       .lack = lack_of_memory},
      {.name = "memory_oom",
       .meaning = "allocations that failed, with what was free and why that did not fit",
       .path = "memory.out_of_memory",
       .lack = lack_of_events},
      {.name = "memory_annotations",
       .meaning = "times that the program named in a memory snapshot",
       .path = "memory.annotations",
       .lack = lack_of_events},
      {.name = "memory_timeline",
       .meaning = "GPU memory over time: the highest points of up to 1,000 stretches of events",
       .path = "memory.timeline",
       .lack = lack_of_events},
  };
}

}  // namespace llmprof::query
