#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/requests/like_passes.h"
#include "analysis/statistics/line_fit.h"

namespace llmprof::analysis {

// What a pass has to do.
struct PassLoad {
  uint64_t decode_rows = 0;
  uint64_t prompt_tokens = 0;
};

// What decode takes in passes that also process prompts. Usually as much as in passes without
// prompts. A slow pass is slow for both, as far as the decode passes around it are slow too.
class MixedPasses {
 public:
  // `loads`: by pass. All arguments must outlive this object.
  MixedPasses(const EngineBatches& engine, std::span<const PassTime> times,
              std::span<const PassLoad> loads, const LikePasses& like);

  // None without decode passes of at least and at most as many rows.
  [[nodiscard]] std::optional<Nanoseconds> decode_in(uint32_t pass) const;

 private:
  struct Bounds {
    double low = 0;
    double high = 0;
  };

  void fit_decode();
  void set_expected();
  [[nodiscard]] std::optional<double> time_beside_decode(uint32_t pass) const;
  [[nodiscard]] std::optional<double> scale(uint64_t from, uint64_t to) const;
  [[nodiscard]] std::optional<double> scaled_median(uint32_t pass,
                                                    std::span<const uint32_t> decode) const;
  // What decode takes before and behind it.
  [[nodiscard]] std::optional<Bounds> around(uint32_t pass) const;

  std::span<const BatchPass> passes_;
  std::span<const PassTime> times_;
  std::span<const PassLoad> loads_;
  const LikePasses& like_;
  std::array<std::vector<uint32_t>, 2> decode_;  // decode passes, by whether they are first ones
  std::optional<FittedLine> decode_by_rows_;
  std::vector<double> expected_;  // by pass: its usual length; 0: unknown
};

}  // namespace llmprof::analysis
