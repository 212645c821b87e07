#pragma once

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analysis/requests/batches.h"

namespace llmprof::analysis {

// What other analyses found about a pass.
struct PassFacts {
  bool slowed = false;            // heat or power lowered the clocks
  Nanoseconds communication = 0;  // exposed
};

// A pass within its batch: from the end of the pass before it (or its own first GPU work, if it is
// the first) to its end.
struct PassTime {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  bool first = true;  // of its batch

  [[nodiscard]] Nanoseconds length() const { return end - start; }
};

// One per pass. Passes that overlap an earlier one begin where that ends.
std::vector<PassTime> pass_times(const EngineBatches& engine);

// How long passes of one kind and size usually take in this capture: medians. A first pass is only
// compared with first ones, since the others include what the host prepared between them.
class LikePasses {
 public:
  LikePasses(const EngineBatches& engine, std::span<const PassTime> times,
             std::span<const PassFacts> facts);

  // Of passes of this kind and size, whose clocks were not lowered; none without several.
  [[nodiscard]] std::optional<Nanoseconds> usual(const BatchPass& pass, bool first) const;
  // Of decode passes with these rows that were a CUDA graph; none without several.
  [[nodiscard]] std::optional<Nanoseconds> replayed(uint64_t rows, bool first) const;
  // What a decode pass would take in a graph of its own size: it ran in one that also served more
  // rows, with equal kernels of equal shapes. Between two graphs that were full, by interpolation;
  // none outside, and none for a full one.
  [[nodiscard]] std::optional<Nanoseconds> unpadded(const BatchPass& pass, bool first) const;
  // Of decode passes with these rows; between two known sizes by interpolation. None outside.
  [[nodiscard]] std::optional<Nanoseconds> decode(uint64_t rows, bool first) const;

 private:
  struct Size {
    StepKind kind = StepKind::decode;
    bool first = true;
    uint64_t rows = 0;
    uint64_t tokens = 0;
    auto operator<=>(const Size&) const = default;
  };
  using BySize = std::map<Size, Nanoseconds>;
  // By whether it is the first, then rows.
  using ByRows = std::map<bool, std::map<uint64_t, Nanoseconds>>;

  static Size size_of(const BatchPass& pass, bool first);
  static std::optional<Nanoseconds> between(const ByRows& known, uint64_t rows, bool first);

  BySize usual_;
  BySize replayed_;
  ByRows decode_;
  ByRows full_;                             // of graphs with as many rows as they ever served
  std::map<uint64_t, uint64_t> most_rows_;  // by launches of a graph
};

}  // namespace llmprof::analysis
