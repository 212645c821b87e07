#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/requests/like_passes.h"
#include "analysis/requests/prompts.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {

// What the engine did at a time, before it is known who waited for it.
enum class TimeKind : uint8_t {
  host,          // no pass: the host prepares one, or has not read its results
  prefill,       // of `owner`'s prompt
  decode_alone,  // what decode of a single sequence takes
  decode_more,   // what more sequences add
  graph_miss,
  lowered_clocks,
  communication,
  not_recorded,
};

struct TimePiece {
  Nanoseconds end = 0;  // it starts where the one before it ends
  TimeKind kind = TimeKind::not_recorded;
  uint32_t batch = kNoBatch;
  uint32_t owner = kNoRequest;
};

// The engine's recorded time, without holes.
struct EngineTime {
  Nanoseconds start = 0;
  std::vector<TimePiece> pieces;
  std::vector<bool> decodes;        // by batch: it has sequences in decode
  std::vector<Nanoseconds> begins;  // by batch: when the host could first work on it
  Summary alone;                    // decode batches of one sequence; count 0: none
  bool alone_estimated = false;     // from larger ones
  uint64_t split_by_tokens = 0;     // passes of both kinds without like decode passes

  [[nodiscard]] Nanoseconds end() const { return pieces.empty() ? start : pieces.back().end; }
};

// `facts`: by pass. `parts`: whose prompts the passes hold, by pass. `breaks`: by batch, whether
// batches before it were not recorded.
EngineTime engine_time(const EngineBatches& engine, std::span<const PassFacts> facts,
                       std::span<const PromptPart> parts, const std::vector<bool>& breaks);

}  // namespace llmprof::analysis
