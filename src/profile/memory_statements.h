#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profile/quantity.h"
#include "profile/vocabulary.h"

// What an engine itself says of its memory, in its log (docs/memory.md).
namespace llmprof::profile {

enum class StatedPart : uint8_t { weights, kv_cache, compute, graphs };
constexpr auto words_of(StatedPart /*of*/) {
  using enum StatedPart;
  return vocabulary<StatedPart>({
      {weights, "the model's weights"},
      {kv_cache, "the KV cache"},
      {compute, "buffers for the results of operators"},
      {graphs, "CUDA graphs"},
  });
}

struct MemoryStatement {
  std::string file;
  std::string engine;
  StatedPart part = StatedPart::weights;
  std::optional<std::string> device;
  std::optional<Bytes> stated;
  std::optional<Bytes> resolution;
  std::optional<uint64_t> tokens;
  uint64_t lines = 0;
  std::optional<Bytes> recorded;
  std::optional<Bytes> difference;

  void fields(auto& field) const {
    field("file", file, "the log");
    field("engine", engine, "the engine whose lines these are");
    field("part", part, "what the memory is used for");
    field("device", device, "the GPU; null if the lines do not name one");
    field("stated_bytes", stated,
          "what the engine says; the sum if it says it of several buffers; null if it says tokens "
          "only");
    field("resolution_bytes", resolution, "the last digit of what it says, summed over lines");
    field("tokens", tokens, "tokens that fit into its KV cache; null if not stated");
    field("lines", lines, "lines of the log that say so");
    field("recorded_bytes", recorded,
          "what the rows of that part hold at the GPU's peak; null if there are none");
    field("difference_bytes", difference,
          "stated_bytes (or tokens times the KV cache per token) less recorded_bytes");
  }
};

}  // namespace llmprof::profile
