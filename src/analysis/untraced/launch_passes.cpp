#include "analysis/untraced/launch_passes.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "analysis/stages/thresholds.h"
#include "analysis/statistics/middle.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kMostLengths = 64;  // of signatures that are searched for

constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;

uint64_t next_hash(uint64_t hash, uint32_t token) {
  constexpr uint64_t kSpread = 0xD6E8FEB86659FD93;
  return hash * kMultiplier + (token + 1) * kSpread;
}

// Hashes of spans of tokens that do not depend on what was launched before the
// span.
class SpanHash {
 public:
  explicit SpanHash(std::span<const uint32_t> tokens)
      : tokens_(tokens), prefixes_(tokens.size() + 1, 0) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      prefixes_[i + 1] = next_hash(prefixes_[i], tokens[i]);
    }
  }

  [[nodiscard]] uint64_t of(size_t first, size_t length) {
    if (length <= kShort) return of_short(first, length);
    // Tokens beyond the farthest distance do not reach before the span.
    return of_prefixes(first + kFarthestLaunch, length - kFarthestLaunch);
  }

 private:
  static constexpr size_t kShort = size_t{2} * kFarthestLaunch;

  // A function that was last launched before the span is new in it.
  [[nodiscard]] uint64_t of_short(size_t first, size_t length) const {
    uint64_t hash = 0;
    for (size_t i = 0; i < length; ++i) {
      const uint32_t token = tokens_[first + i];
      const bool reaches_before = token <= kFarthestLaunch && token > i;
      hash = next_hash(hash, reaches_before ? 0 : token);
    }
    return hash;
  }
  [[nodiscard]] uint64_t of_prefixes(size_t first, size_t length) {
    while (powers_.size() <= length) powers_.push_back(powers_.back() * kMultiplier);
    return prefixes_[first + length] - prefixes_[first] * powers_[length];
  }

  std::span<const uint32_t> tokens_;
  std::vector<uint64_t> prefixes_;
  std::vector<uint64_t> powers_ = {1};
};

}  // namespace

void PassSignatures::learn(std::span<const uint32_t> tokens, const LaunchSequence& sequence,
                           const std::vector<LaunchPass>& passes) {
  SpanHash hash(tokens);
  for (const LaunchPass& pass : passes) {
    const size_t length = pass.end - pass.first;
    size_t kernels = 0;
    while (kernels < length && !sequence.graph[pass.first + kernels]) ++kernels;
    if (length < threshold::kMany && kernels == length) continue;
    Signature& signature = by_length_[length][hash.of(pass.first, length)];
    signature.first = pass.first;
    signature.lead = pass.lead;
    ++signature.stages[pass.stage];
  }
  for (const size_t length : lengths()) {
    std::erase_if(by_length_[length], [&](const auto& entry) {
      // Shorter ones in a row, from its first launch to its last.
      size_t reached = entry.second.first;
      for (const LaunchPass& part : find(tokens, reached, reached + length, length - 1)) {
        if (part.first != reached) return false;
        reached = part.end;
      }
      return reached == entry.second.first + length;
    });
  }
}

std::vector<size_t> PassSignatures::lengths() const {
  std::vector<size_t> lengths;
  for (const auto& [length, signatures] : by_length_) {
    if (!signatures.empty()) lengths.push_back(length);
  }
  std::ranges::sort(lengths, std::greater<>());
  if (lengths.size() > kMostLengths) lengths.resize(kMostLengths);
  return lengths;
}

std::vector<LaunchPass> PassSignatures::find(std::span<const uint32_t> tokens, size_t first,
                                             size_t end, size_t longest) const {
  std::vector<size_t> lengths = this->lengths();
  std::erase_if(lengths, [&](size_t length) { return length > longest; });
  // Only what is looked at.
  SpanHash hash(tokens.subspan(first, end - first));
  const size_t offset = first;
  std::vector<LaunchPass> found;
  while (first < end) {
    std::optional<LaunchPass> pass;
    for (const size_t length : lengths) {
      if (length > end - first) continue;
      const auto& signatures = by_length_.at(length);
      const auto known = signatures.find(hash.of(first - offset, length));
      if (known == signatures.end()) continue;
      // No launch is of two passes.
      const size_t free = first - (found.empty() ? offset : found.back().end);
      pass = LaunchPass{.stage = most_frequent(known->second.stages).first,
                        .first = first,
                        .end = first + length,
                        .lead = std::min(known->second.lead, free)};
      break;
    }
    if (pass) found.push_back(*pass);
    first = pass ? pass->end : first + 1;
  }
  return found;
}

}  // namespace llmprof::analysis
