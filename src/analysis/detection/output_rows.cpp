#include "analysis/detection/output_rows.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/detection/copies_to_host.h"

namespace llmprof::analysis {
namespace {

// Behind the last pass of a capture.
constexpr Nanoseconds kLatestRead = 2'000'000;

// Of the first copy to the host behind the layers of each pass and before the next one; 0: none.
std::vector<uint64_t> bytes_read(const KernelSequence& sequence,
                                 std::span<const ForwardPass> passes) {
  const std::vector<CopyToHost> reads = copies_to_host(sequence);
  std::vector<uint64_t> bytes(passes.size(), 0);
  size_t next = 0;
  for (size_t i = 0; i < passes.size(); ++i) {
    const Nanoseconds from = sequence.start(passes[i].last_beat);
    const Nanoseconds until = i + 1 < passes.size() ? sequence.start(passes[i + 1].begin)
                                                    : sequence.end(passes[i].end - 1) + kLatestRead;
    while (next < reads.size() && reads[next].start < from) ++next;
    if (next < reads.size() && reads[next].start < until) bytes[i] = reads[next].bytes;
  }
  return bytes;
}

// The bytes of one row; 0: not known.
uint64_t row_bytes(std::span<const uint64_t> bytes, std::span<const PassSize> sizes) {
  struct Support {
    size_t passes = 0;
    std::set<uint64_t> tokens;
  };
  std::map<uint64_t, Support> support;
  size_t asked = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint64_t tokens = sizes[i].tokens.value_or(0);
    if (bytes[i] == 0 || tokens == 0) continue;
    ++asked;
    if (bytes[i] % tokens != 0) continue;
    Support& of_row = support[bytes[i] / tokens];
    ++of_row.passes;
    of_row.tokens.insert(tokens);
  }
  const auto most = std::max_element(
      support.begin(), support.end(),
      [](const auto& a, const auto& b) { return a.second.passes < b.second.passes; });
  if (most == support.end() || 2 * most->second.passes < asked) return 0;
  if (most->second.tokens.size() < 2) return 0;
  // No pass has more results than tokens.
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint64_t tokens = sizes[i].tokens.value_or(0);
    if (tokens > 0 && bytes[i] % most->first == 0 && bytes[i] / most->first > tokens) return 0;
  }
  return most->first;
}

}  // namespace

std::vector<std::optional<uint64_t>> output_rows(const KernelSequence& sequence,
                                                 std::span<const ForwardPass> passes,
                                                 std::span<const PassSize> sizes) {
  std::vector<std::optional<uint64_t>> rows(passes.size());
  const std::vector<uint64_t> bytes = bytes_read(sequence, passes);
  const uint64_t of_row = row_bytes(bytes, sizes);
  if (of_row == 0) return rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (bytes[i] > 0 && bytes[i] % of_row == 0) rows[i] = bytes[i] / of_row;
  }
  return rows;
}

}  // namespace llmprof::analysis
