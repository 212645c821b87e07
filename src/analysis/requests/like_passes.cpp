#include "analysis/requests/like_passes.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {

namespace {

// A decode pass that a CUDA graph ran.
bool is_graph(const BatchPass& pass) {
  return pass.kind == StepKind::decode && pass.replayed && pass.launches != 0 &&
         pass.rows.value_or(0) > 0;
}

}  // namespace

std::vector<PassTime> pass_times(const EngineBatches& engine) {
  std::vector<PassTime> times(engine.passes.size());
  Nanoseconds reached = INT64_MIN;
  for (const EngineBatch& batch : engine.batches) {
    for (uint32_t row = batch.first_pass; row < batch.first_pass + batch.passes; ++row) {
      const BatchPass& pass = engine.passes[row];
      PassTime& time = times[row];
      time.first = row == batch.first_pass;
      time.start = time.first ? std::max(pass.start, reached) : reached;
      time.end = std::max(pass.end, time.start);
      reached = time.end;
    }
  }
  return times;
}

LikePasses::LikePasses(const EngineBatches& engine, std::span<const PassTime> times,
                       std::span<const PassFacts> facts) {
  std::map<Size, std::vector<Nanoseconds>> all;
  std::map<Size, std::vector<Nanoseconds>> graphs;
  std::map<Size, std::vector<Nanoseconds>> full;
  for (const BatchPass& pass : engine.passes) {
    if (!is_graph(pass)) continue;
    uint64_t& most = most_rows_[pass.launches];
    most = std::max(most, *pass.rows);
  }
  for (size_t row = 0; row < engine.passes.size(); ++row) {
    const BatchPass& pass = engine.passes[row];
    if (facts[row].slowed) continue;
    const Size size = size_of(pass, times[row].first);
    all[size].push_back(times[row].length());
    if (pass.replayed) graphs[size].push_back(times[row].length());
    if (is_graph(pass) && most_rows_[pass.launches] == *pass.rows) {
      full[size].push_back(times[row].length());
    }
  }
  const auto medians = [](std::map<Size, std::vector<Nanoseconds>>& from, size_t fewest) {
    BySize found;
    for (auto& [size, values] : from) {
      if (values.size() >= fewest) found[size] = median(std::span(values));
    }
    return found;
  };
  for (const auto& [size, time] : medians(all, 1)) {
    if (size.kind == StepKind::decode && size.rows > 0) decode_[size.first][size.rows] = time;
  }
  for (const auto& [size, time] : medians(full, 1)) full_[size.first][size.rows] = time;
  replayed_ = medians(graphs, threshold::kSeveral);
  usual_ = medians(all, threshold::kSeveral);
}

LikePasses::Size LikePasses::size_of(const BatchPass& pass, bool first) {
  // The tokens of a decode pass follow from its rows.
  const uint64_t tokens = pass.takes_prompts() ? pass.tokens.value_or(0) : 0;
  return {pass.kind, first, pass.rows.value_or(0), tokens};
}

std::optional<Nanoseconds> LikePasses::usual(const BatchPass& pass, bool first) const {
  const auto found = usual_.find(size_of(pass, first));
  return found == usual_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Nanoseconds> LikePasses::replayed(uint64_t rows, bool first) const {
  const auto found = replayed_.find({StepKind::decode, first, rows, 0});
  return found == replayed_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Nanoseconds> LikePasses::decode(uint64_t rows, bool first) const {
  return between(decode_, rows, first);
}

std::optional<Nanoseconds> LikePasses::unpadded(const BatchPass& pass, bool first) const {
  if (!is_graph(pass)) return std::nullopt;
  const auto most = most_rows_.find(pass.launches);
  if (most == most_rows_.end() || most->second <= *pass.rows) return std::nullopt;
  return between(full_, *pass.rows, first);
}

std::optional<Nanoseconds> LikePasses::between(const ByRows& known, uint64_t rows, bool first) {
  const auto place = known.find(first);
  if (place == known.end()) return std::nullopt;
  const auto& sizes = place->second;
  const auto above = sizes.lower_bound(rows);
  if (above == sizes.end()) return std::nullopt;
  if (above->first == rows) return above->second;
  if (above == sizes.begin()) return std::nullopt;
  const auto below = std::prev(above);
  const auto part =
      static_cast<double>(rows - below->first) / static_cast<double>(above->first - below->first);
  return below->second + std::llround(part * as_double(above->second - below->second));
}

}  // namespace llmprof::analysis
