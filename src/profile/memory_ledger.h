#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/kernels.h"
#include "profile/memory_contents.h"
#include "profile/quantity.h"
#include "profile/vocabulary.h"

// What every byte of a GPU's memory is used for, at moments of a run (docs/memory.md).
namespace llmprof::profile {

enum class LedgerMomentKind : uint8_t { after_load, stage_peak, steady_decode, peak, end };
constexpr auto words_of(LedgerMomentKind /*of*/) {
  using enum LedgerMomentKind;
  return vocabulary<LedgerMomentKind>({
      {after_load, "the last reading before the first stage, without readings its start"},
      {stage_peak, "the time in a stage with most memory in use"},
      {steady_decode, "the middle of the longest decode"},
      {peak, "the time with most memory in use"},
      {end, "the last reading, without readings the last event"},
  });
}

enum class LedgerPart : uint8_t {
  other_processes,
  driver_reserved,
  context,
  weights,
  kv_cache,
  graphs,
  library_workspace,
  framework,
  allocations,
  pool,
  pool_unused,
  vmm,
  managed,
  rounding,
  profiler,
  rest,
};
constexpr auto words_of(LedgerPart /*of*/) {
  using enum LedgerPart;
  return vocabulary<LedgerPart>({
      {other_processes, "processes other than the recorded one"},
      {driver_reserved, "what the driver keeps for itself"},
      {context, "the CUDA context and the code of loaded modules"},
      {weights, "allocations of the size of the model's weights"},
      {kv_cache, "allocations of the size of the model's KV cache"},
      {graphs, "instantiated CUDA graphs"},
      {library_workspace, "allocations of NVIDIA's libraries"},
      {framework, "what a framework's allocator holds, whatever the program uses of it"},
      {allocations, "other allocations, by the library that made them"},
      {pool, "allocations in pools (cudaMallocAsync)"},
      {pool_unused, "free memory of pools"},
      {vmm, "virtual memory (cuMemCreate), as expandable segments of PyTorch"},
      {managed, "managed memory on the GPU"},
      {rounding, "what the driver adds to allocations: it gives out 2 MiB at a time"},
      {profiler, "buffers of CUPTI"},
      {rest, "used, but explained by nothing above; negative if the rows explain more"},
  });
}

enum class LedgerBasis : uint8_t {
  reading,
  recorded,
  addresses,
  stated,
  model_size,
  difference,
  remainder,
};
constexpr auto words_of(LedgerBasis /*of*/) {
  using enum LedgerBasis;
  return vocabulary<LedgerBasis>({
      {reading, "read from NVML"},
      {recorded, "sum of recorded allocations that were not released"},
      {addresses, "pages of 2 MiB that recorded allocations touch, without their own bytes"},
      {stated, "stated by the driver (pools) or CUPTI (its buffers)"},
      {model_size, "recorded, and of the size that follows from the model's configuration"},
      {difference, "growth between readings that no recorded allocation explains"},
      {remainder, "what is used minus all other rows"},
  });
}

// What the figures of a GPU rest on.
enum class LedgerEvidence : uint8_t { readings, events };
constexpr auto words_of(LedgerEvidence /*of*/) {
  using enum LedgerEvidence;
  return vocabulary<LedgerEvidence>({
      {readings, "readings of NVML, to whose sum the rows add up"},
      {events,
       "recorded allocations alone: what else is used, and what is left of the GPU, is unknown"},
  });
}

// A GPU as one process uses it.
struct LedgerGpu {
  std::string device;
  uint64_t process = 0;
  LedgerEvidence evidence = LedgerEvidence::readings;
  WholeNanoseconds start;
  std::optional<Bytes> total;

  void fields(auto& field) const {
    field("device", device, "the GPU");
    field("process", process, "number of the recorded process");
    field("evidence", evidence, "what its figures rest on");
    field("start_ns", start,
          "the time that is 0 in time_ms of its moments and points: its first reading after the "
          "program began to use it (without readings its first event), on the clock of "
          "stages.instances.start_ns");
    field("total_bytes", total, "the GPU's memory; null without readings");
  }
};

struct LedgerMoment {
  uint64_t gpu = 0;
  std::string device;
  LedgerMomentKind kind = LedgerMomentKind::peak;
  std::optional<std::string> stage;
  Milliseconds time;
  std::optional<Bytes> total;
  std::optional<Bytes> used;
  std::optional<Share> used_share;
  std::optional<Bytes> own;
  Bytes recorded;
  std::optional<bool> closes;

  void fields(auto& field) const {
    field("gpu", gpu, "index in gpus");
    field("device", device, "the GPU");
    field("kind", kind, "which moment");
    field("stage", stage, "the stage of a stage_peak or steady_decode; null otherwise");
    field("time_ms", time, "time since start_ns of this GPU");
    field("total_bytes", total, "the GPU's memory; null without readings");
    field(
        "used_bytes", used,
        "what is used or reserved, according to NVML: the sum of the moment's rows, exactly; null "
        "without readings");
    field("used_share", used_share, "used_bytes over total_bytes; null without readings");
    field("own_bytes", own,
          "what NVML attributes to the recorded process; null if it does not say");
    field(
        "recorded_bytes", recorded,
        "what recorded allocations hold, pools with all their memory: without readings the sum of "
        "the moment's rows");
    field("closes", closes,
          "whether the rest is below 8 MiB, or below 1 % of used_bytes, in either direction; null "
          "without readings: there is no rest to judge");
  }
};

struct LedgerRow {
  uint64_t moment = 0;
  LedgerPart part = LedgerPart::rest;
  std::string owner;
  Bytes bytes;
  std::optional<Share> share;
  uint64_t allocations = 0;
  LedgerBasis basis = LedgerBasis::remainder;
  std::optional<Bytes> stated = {};

  void fields(auto& field) const {
    field("moment", moment, "index in moments");
    field("part", part, "what the memory is used for");
    field("owner", owner, "the library that allocated it; empty if unknown, or if none did");
    field("bytes", bytes, "bytes, without rounding by the driver");
    field("share", share,
          "bytes over the moment's used_bytes, without readings over recorded_bytes");
    field("allocations", allocations, "recorded allocations among them");
    field("basis", basis, "how it is known");
    field("stated_bytes", stated,
          "what the engine says of this part in its log (memory_statements); null if nothing");
  }
};

// What a snapshot of PyTorch shows of the rows framework (of PyTorch) and vmm of a moment.
struct LedgerContents {
  uint64_t moment = 0;
  uint64_t snapshot = 0;
  MemoryContent content = MemoryContent::other;
  ContentBasis basis = ContentBasis::remainder;
  Bytes bytes;
  std::optional<Share> share;

  void fields(auto& field) const {
    field("moment", moment, "index in moments");
    field("snapshot", snapshot, "index in memory.snapshots; it may be of another recording");
    field("content", content, "what the memory is used for");
    field("basis", basis, "how it is known");
    field("bytes", bytes,
          "bytes; those of a moment sum to its rows framework (of PyTorch) and vmm, exactly");
    field("share", share, "bytes over these rows' bytes");
  }
};

// Formats of a KV cache that are compared.
enum class CacheFormat : uint8_t { bf16, fp8 };
constexpr auto words_of(CacheFormat /*of*/) {
  using enum CacheFormat;
  return vocabulary<CacheFormat>({{bf16, "2 bytes per value"}, {fp8, "1 byte per value"}});
}

// What is left of a GPU's memory at its peak.
struct MemoryHeadroom {
  std::string device;
  std::optional<Bytes> free;
  std::optional<Bytes> bytes_per_token;
  std::optional<uint64_t> tokens_left;
  std::optional<uint64_t> tokens_left_bf16;
  std::optional<uint64_t> tokens_left_fp8;
  std::optional<uint64_t> cache_tokens;
  std::optional<uint64_t> cache_used_tokens;
  std::optional<Share> cache_used_share;
  std::optional<uint64_t> weight_sets;
  uint64_t requests = 0;

  void fields(auto& field) const {
    field("device", device, "the GPU");
    field("free_bytes", free, "free memory of the GPU at the peak; null without readings");
    field("bytes_per_token", bytes_per_token,
          "what the KV cache takes for one token of one sequence; null without a model");
    field("tokens_left", tokens_left,
          "tokens whose KV cache fits into free_bytes; null without a model, or without readings");
    field("tokens_left_bf16", tokens_left_bf16, "tokens_left with a KV cache in bf16");
    field("tokens_left_fp8", tokens_left_fp8, "tokens_left with a KV cache in fp8");
    field("cache_tokens", cache_tokens,
          "tokens that fit into the kv_cache of the peak; null if no allocation is known as such");
    field("cache_used_tokens", cache_used_tokens,
          "most tokens that requests had in the cache at a time, prefixes that they share counted "
          "for each; null if not known");
    field("cache_used_share", cache_used_share, "cache_used_tokens over cache_tokens");
    field("weight_sets", weight_sets,
          "allocations of the size of all the model's weights at the peak; null without a model");
    field("requests", requests,
          "requests over which growth was followed: instances of prefill after warm-up; 0 if fewer "
          "than 20");
  }
};

// How many more sequences fit into the memory that is free at the peak.
struct MemoryRoom {
  std::string device;
  CacheFormat cache = CacheFormat::bf16;
  uint64_t context = 0;
  Bytes per_sequence;
  uint64_t sequences = 0;

  void fields(auto& field) const {
    field("device", device, "the GPU");
    field("kv_cache", cache, "format of the KV cache");
    field("context", context, "tokens of each sequence");
    field("per_sequence_bytes", per_sequence,
          "KV cache of one sequence; layers with a window hold at most its tokens");
    field("sequences", sequences,
          "sequences beyond those of the peak whose KV cache fits into free_bytes");
  }
};

// A larger run that is asked about.
enum class ForecastChange : uint8_t {
  next_sequence,
  double_batch,
  double_context,
  largest_request,
};
constexpr auto words_of(ForecastChange /*of*/) {
  using enum ForecastChange;
  return vocabulary<ForecastChange>({
      {next_sequence, "one more sequence of the same length"},
      {double_batch, "twice as many sequences"},
      {double_context, "sequences twice as long"},
      {largest_request, "PyTorch's largest allocation once more, in one piece"},
  });
}

// What a forecast rests on.
enum class ForecastBasis : uint8_t { from_sizes, from_blocks };
constexpr auto words_of(ForecastBasis /*of*/) {
  using enum ForecastBasis;
  return vocabulary<ForecastBasis>({
      {from_sizes, "sizes alone: the KV cache that the change adds, and what is free", "static"},
      {from_blocks, "free blocks of a memory snapshot, and what is free on the GPU",
       "fragmentation"},
  });
}

struct MemoryForecast {
  std::string device;
  ForecastChange change{};
  ForecastBasis basis{};
  Bytes more;
  Bytes free;
  bool fits = false;

  void fields(auto& field) const {
    field("device", device, "the GPU");
    field("change", change, "what would change");
    field("basis", basis, "what the forecast rests on");
    field("more_bytes", more,
          "KV cache that it adds, in the format of the run (larger tensors of a pass are not "
          "counted); of largest_request what it asks for");
    field("free_bytes", free,
          "free memory of the GPU at the peak; for largest_request the largest piece: this, or the "
          "largest free block of PyTorch at the snapshot");
    field("fits", fits, "whether more_bytes is at most free_bytes");
  }
};

// Memory that more requests left behind.
struct MemoryGrowth {
  std::string device;
  LedgerPart part = LedgerPart::allocations;
  std::string owner;
  uint64_t increases = 0;
  Bytes grown;
  Bytes per_request;
  Bytes per_request_lower;
  Bytes per_request_upper;
  bool leak = false;
  std::optional<uint64_t> requests_left;

  void fields(auto& field) const {
    field("device", device, "the GPU");
    field("part", part, "what the memory is used for");
    field("owner", owner, "the library that allocated it; empty if unknown");
    field("increases", increases, "requests after which more was allocated than before");
    field("grown_bytes", grown, "growth from the first to the last of these requests");
    field("per_request_bytes", per_request,
          "growth per request: the median slope of all pairs of requests");
    field("per_request_lower_bytes", per_request_lower, "lower end of its 95 % interval");
    field("per_request_upper_bytes", per_request_upper, "upper end of its 95 % interval");
    field("leak", leak,
          "whether it grew at least five times, also in the last third of the requests, and the "
          "interval excludes 0");
    field("requests_left", requests_left,
          "requests until the memory that is free at the peak is used up, at per_request_bytes; "
          "null if it is no leak, or without readings");
  }
};

struct LedgerPoint {
  uint64_t gpu = 0;
  Milliseconds time;
  std::optional<Bytes> used;
  ByWord<LedgerPart, Bytes> parts;

  void fields(auto& field) const {
    field("gpu", gpu, "index in gpus");
    field("time_ms", time, "time since the GPU's start_ns");
    field("used_bytes", used, "what is used or reserved, according to NVML; null without readings");
    field("parts_bytes", parts,
          "what it is used for; the values sum to used_bytes, exactly, and parts without bytes are "
          "left out");
  }
};

struct MemoryLedger {
  uint64_t events = 0;
  uint64_t readings = 0;
  std::vector<LedgerGpu> gpus;
  std::vector<LedgerMoment> moments;
  std::vector<LedgerRow> rows;
  std::vector<LedgerContents> contents;
  std::vector<MemoryHeadroom> headroom;
  std::vector<MemoryRoom> room;
  std::vector<MemoryForecast> forecasts;
  std::vector<MemoryGrowth> growth;
  std::vector<LedgerPoint> timeline;

  void fields(auto& field) const {
    field("events", events, "recorded allocations, releases and mappings");
    field("readings", readings, "readings of GPU memory by NVML; 0: the ledger rests on events");
    field("gpus", gpus, "GPUs that recorded processes use");
    field("moments", moments, "moments, by GPU");
    field("rows", rows, "what the memory is used for, by moment");
    field("contents", contents,
          "what is inside the rows of PyTorch, by a memory snapshot: after loading, and at the "
          "peak");
    field("headroom", headroom, "what is left, by GPU");
    field(
        "room", room,
        "how many more sequences fit, by GPU, format of the KV cache and context; empty without a "
        "model or readings");
    field(
        "forecasts", forecasts,
        "whether larger runs fit, by GPU; empty unless model, batch and context are known, or the "
        "KV cache is");
    field("growth", growth, "memory that grew from request to request, most first");
    field("timeline", timeline,
          "memory over time, by GPU: in each of up to 500 stretches of equal length the reading "
          "(without readings: event) with most memory in use, and those of the moments, the first "
          "and the last");
  }
};

}  // namespace llmprof::profile
