#include "analysis/requests/mixed_passes.h"

#include <algorithm>
#include <cmath>

#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {

MixedPasses::MixedPasses(const EngineBatches& engine, std::span<const PassTime> times,
                         std::span<const PassLoad> loads, const LikePasses& like)
    : passes_(engine.passes), times_(times), loads_(loads), like_(like) {
  fit_decode();
  set_expected();
}

void MixedPasses::fit_decode() {
  std::vector<MeasuredPoint> points;
  for (uint32_t pass = 0; pass < passes_.size(); ++pass) {
    if (passes_[pass].kind != StepKind::decode || loads_[pass].decode_rows == 0) continue;
    decode_[times_[pass].first ? 1 : 0].push_back(pass);
    points.push_back(
        {static_cast<double>(loads_[pass].decode_rows), as_double(times_[pass].length())});
  }
  decode_by_rows_ = fit_line(points);
}

std::optional<double> MixedPasses::time_beside_decode(uint32_t pass) const {
  if (!passes_[pass].takes_prompts() || loads_[pass].prompt_tokens == 0) return std::nullopt;
  Nanoseconds decode = 0;
  if (loads_[pass].decode_rows > 0) {
    const auto usual = like_.decode(loads_[pass].decode_rows, times_[pass].first);
    if (!usual) return std::nullopt;
    decode = *usual;
  }
  return as_double(times_[pass].length() - decode);
}

// Prompts take the median of those of about as many tokens.
void MixedPasses::set_expected() {
  expected_.assign(passes_.size(), 0);
  std::vector<uint32_t> by_tokens;
  for (uint32_t pass = 0; pass < passes_.size(); ++pass) {
    if (time_beside_decode(pass)) by_tokens.push_back(pass);
  }
  std::ranges::stable_sort(by_tokens, {},
                           [&](uint32_t pass) { return loads_[pass].prompt_tokens; });
  for (size_t at = 0; at < by_tokens.size(); ++at) {
    const size_t from = at - std::min<size_t>(at, threshold::kMany);
    const size_t to = std::min<size_t>(at + threshold::kMany + 1, by_tokens.size());
    std::vector<double> beside;
    for (size_t near = from; near < to; ++near) {
      beside.push_back(*time_beside_decode(by_tokens[near]));
    }
    const uint32_t pass = by_tokens[at];
    const double decode = as_double(times_[pass].length()) - *time_beside_decode(pass);
    expected_[pass] = decode + median(std::move(beside));
  }
}

// A decode pass of `from` sequences takes so many times as long with `to`.
std::optional<double> MixedPasses::scale(uint64_t from, uint64_t to) const {
  if (from == to) return 1;
  if (!decode_by_rows_) return std::nullopt;
  return ratio(decode_by_rows_->at(static_cast<double>(to)),
               decode_by_rows_->at(static_cast<double>(from)));
}

// The median of decode passes, each as long as it would be with this pass's sequences.
std::optional<double> MixedPasses::scaled_median(uint32_t pass,
                                                 std::span<const uint32_t> decode) const {
  std::vector<double> times;
  for (const uint32_t near : decode) {
    const auto times_as_long = scale(loads_[near].decode_rows, loads_[pass].decode_rows);
    if (times_as_long) times.push_back(as_double(times_[near].length()) * *times_as_long);
  }
  if (times.empty()) return std::nullopt;
  return median(std::move(times));
}

std::optional<MixedPasses::Bounds> MixedPasses::around(uint32_t pass) const {
  const std::span<const uint32_t> decode(decode_[times_[pass].first ? 1 : 0]);
  const auto at = static_cast<size_t>(std::ranges::upper_bound(decode, pass) - decode.begin());
  const size_t first = at - std::min<size_t>(at, threshold::kSeveral);
  const size_t count = std::min<size_t>(decode.size() - at, threshold::kSeveral);
  const auto before = scaled_median(pass, decode.subspan(first, at - first));
  const auto behind = scaled_median(pass, decode.subspan(at, count));
  if (!before || !behind) return std::nullopt;
  return Bounds{std::min(*before, *behind), std::max(*before, *behind)};
}

std::optional<Nanoseconds> MixedPasses::decode_in(uint32_t pass) const {
  const auto usual = like_.decode(loads_[pass].decode_rows, times_[pass].first);
  if (!usual || expected_[pass] <= 0) return usual;
  const auto bounds = around(pass);
  if (!bounds) return usual;
  const double pace = as_double(times_[pass].length()) / expected_[pass];
  return std::llround(std::clamp(as_double(*usual) * pace, bounds->low, bounds->high));
}

}  // namespace llmprof::analysis
