#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/detection/pass_kind.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

uint64_t blocks_of(const trace::Extent& extent) {
  return uint64_t{extent[0]} * extent[1] * extent[2];
}

// The value with the most votes, if it has at least half.
std::optional<uint64_t> majority(const std::vector<uint64_t>& votes) {
  if (votes.empty()) return std::nullopt;
  const uint64_t value = median(votes);
  const auto same = static_cast<size_t>(std::ranges::count(votes, value));
  return 2 * same < votes.size() ? std::nullopt : std::optional(value);
}

// Number of tokens for `blocks`, if `known_blocks` are for `known_tokens`. The last block may be
// partly filled; none if that makes the number ambiguous.
std::optional<uint64_t> tokens_of(uint64_t blocks, uint64_t known_blocks, uint64_t known_tokens) {
  if (blocks == 0 || known_blocks < 2) return std::nullopt;
  const uint64_t fewest = (blocks - 1) * known_tokens / known_blocks + 1;
  const uint64_t most = blocks * known_tokens / (known_blocks - 1);
  return fewest == most ? std::optional(fewest) : std::nullopt;
}

class Measure {
 public:
  Measure(const KernelSequence& sequence, std::span<ForwardPass> passes)
      : sequence_(sequence), passes_(passes) {}

  void all() {
    for (ForwardPass& pass : passes_) look_at(pass);
    compare_with_known();
    find_growth();
    count_selections();
    count_outputs();
  }

 private:
  // The first extent of a grid with one block per row.
  [[nodiscard]] std::optional<uint64_t> rows_at(std::optional<uint32_t> at) const {
    const uint64_t rows = at ? sequence_.grid(*at)[0] : 0;
    return rows > 0 ? std::optional(rows) : std::nullopt;
  }

  [[nodiscard]] std::optional<uint64_t> gathered_rows(std::optional<uint32_t> at) const {
    return at && sequence_.has(*at, KernelTrait::block_per_row) ? rows_at(at) : std::nullopt;
  }

  void look_at(ForwardPass& pass) const {
    PassSize& size = pass.size;
    std::vector<uint64_t> threads;
    std::vector<uint64_t> norm_rows;
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      size.names = trace::hash_mix(size.names, sequence_.name(at).value);
      if (pass.replay() || !sequence_.works_by_row(at)) continue;
      threads.push_back(sequence_.threads(at));
      const trace::Extent grid = sequence_.grid(at);
      const bool by_row = grid[0] > 0 && grid[1] == 1 && grid[2] == 1;
      if (sequence_.kernel_class(at) == KernelClass::norm && by_row) norm_rows.push_back(grid[0]);
    }
    if (pass.replay()) return;
    if (!threads.empty()) size.threads = median(std::move(threads));
    size.tokens = gathered_rows(pass.embedding);
    if (!size.tokens && norm_rows.size() >= pass.layers) size.tokens = majority(norm_rows);
    size.sequences = gathered_rows(pass.row_gather);
  }

  // Rows that grow by one from pass to pass are context positions (a bias is looked up for each),
  // not tokens that pass through the layers. Several in a row are not a coincidence.
  void find_growth() {
    const auto grows = [&](size_t row) {
      const auto tokens = passes_[row].size.tokens;
      const auto before = passes_[row - 1].size.tokens;
      return passes_[row].layers == passes_[row - 1].layers && tokens && before &&
             *tokens == *before + 1;
    };
    for (size_t first = 0; first < passes_.size();) {
      size_t end = first + 1;
      while (end < passes_.size() && grows(end)) ++end;
      const bool run = end - first > threshold::kSeveral;
      for (; first < end; ++first) {
        if (run) passes_[first].size.grows = true;
      }
    }
    for (ForwardPass& pass : passes_) {
      if (pass.size.grows) pass.size.tokens.reset();
    }
  }

  // Compares a pass of unknown tokens with one of as many layers and known tokens: from the
  // embedding to the first attention, both run the same kernels in the same order, with equally
  // many blocks per token.
  void compare_with_known() {
    std::map<uint32_t, const ForwardPass*> known;  // by layers
    const auto note = [&](const ForwardPass& pass) {
      if (gathered_rows(pass.embedding).value_or(0) > 1) known[pass.layers] = &pass;
    };
    for (size_t i = passes_.size(); i-- > 0;) note(passes_[i]);
    for (ForwardPass& pass : passes_) {
      note(pass);
      if (pass.size.tokens || !pass.embedding || !known.contains(pass.layers)) continue;
      pass.size.tokens = held_against(pass, *known[pass.layers]);
    }
  }

  [[nodiscard]] std::optional<uint64_t> held_against(const ForwardPass& pass,
                                                     const ForwardPass& other) const {
    std::vector<uint64_t> votes;
    const uint64_t tokens = *gathered_rows(other.embedding);
    const uint32_t steps =
        std::min(pass.first_beat - *pass.embedding, other.first_beat - *other.embedding);
    for (uint32_t i = 1; i < steps; ++i) {
      const uint32_t at = *pass.embedding + i;
      const uint32_t there = *other.embedding + i;
      if (!sequence_.works_by_row(at) ||
          sequence_.kernel_class(at) != sequence_.kernel_class(there)) {
        continue;
      }
      const auto vote =
          tokens_of(blocks_of(sequence_.grid(at)), blocks_of(sequence_.grid(there)), tokens);
      if (vote) votes.push_back(*vote);
    }
    return majority(votes);
  }

  // A selection's grid gives the number of sequences only if it equals the tokens in decode steps:
  // at least one pass must show that, and none may have more sequences than tokens.
  void count_selections() {
    bool any_equal = false;
    for (const ForwardPass& pass : passes_) {
      const auto rows = rows_at(pass.selection);
      if (!rows || !pass.size.tokens) continue;
      if (*pass.size.tokens < *rows) return;
      any_equal = any_equal || *pass.size.tokens == *rows;
    }
    for (ForwardPass& pass : passes_) {
      if (any_equal && !pass.size.sequences) pass.size.sequences = rows_at(pass.selection);
    }
  }

  // An engine that chooses tokens on the host copies the logits of each sequence that gets one:
  // equally many bytes per sequence.
  void count_outputs() {
    const std::vector<uint64_t> bytes = bytes_read();
    const uint64_t of_row = row_bytes(bytes);
    for (size_t i = 0; of_row > 0 && i < bytes.size(); ++i) {
      if (passes_[i].size.sequences || bytes[i] == 0 || bytes[i] % of_row != 0) continue;
      passes_[i].size.sequences = bytes[i] / of_row;
    }
  }

  // Of the first copy to the host after the layers of each pass and before the next pass; 0: none.
  [[nodiscard]] std::vector<uint64_t> bytes_read() const {
    const std::vector<CopyToHost> reads = find_read_backs(sequence_);
    std::vector<uint64_t> bytes(passes_.size(), 0);
    for (size_t i = 0; i < passes_.size(); ++i) {
      const auto read = read_from(reads, sequence_.start(passes_[i].last_beat));
      const Nanoseconds until = i + 1 < passes_.size()
                                    ? sequence_.start(passes_[i + 1].begin)
                                    : sequence_.end(passes_[i].end - 1) + threshold::kNear;
      if (read != reads.end() && read->start < until) bytes[i] = read->bytes;
    }
    return bytes;
  }

  // Bytes per row, if passes of several sizes copied that many per token, as decode steps do; 0:
  // unknown.
  [[nodiscard]] uint64_t row_bytes(const std::vector<uint64_t>& bytes) const {
    std::map<uint64_t, std::vector<uint64_t>> tokens_by_row;
    size_t asked = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const uint64_t tokens = passes_[i].size.tokens.value_or(0);
      if (bytes[i] == 0 || tokens == 0) continue;
      ++asked;
      if (bytes[i] % tokens == 0) tokens_by_row[bytes[i] / tokens].push_back(tokens);
    }
    if (tokens_by_row.empty()) return 0;
    const auto& [of_row, tokens] = *std::ranges::max_element(
        tokens_by_row, {}, [](const auto& entry) { return entry.second.size(); });
    if (2 * tokens.size() < asked ||
        std::ranges::count(tokens, tokens.front()) == std::ssize(tokens)) {
      return 0;
    }
    return of_row;
  }

  const KernelSequence& sequence_;
  std::span<ForwardPass> passes_;
};

using ThreadsByName = std::unordered_map<uint32_t, uint64_t>;

// Starts at the middle: the first layers may contain the end of the previous pass.
ThreadsByName threads_by_name(const KernelSequence& sequence, const ForwardPass& pass) {
  ThreadsByName threads;
  const uint32_t middle = pass.first_beat + (pass.last_beat - pass.first_beat) / 2;
  for (uint32_t at = middle; at <= pass.last_beat; ++at) {
    if (!sequence.replay(at)) threads.try_emplace(sequence.name(at).value, sequence.threads(at));
  }
  return threads;
}

// What at least half of the common kernels reach; 0 if there are too few. Half of them may not
// depend on the number of tokens.
double ratio_of(const ThreadsByName& own, const ThreadsByName& reference) {
  std::vector<double> ratios;
  for (const auto& [name, threads] : own) {
    const auto known = reference.find(name);
    if (known == reference.end() || known->second == 0) continue;
    ratios.push_back(static_cast<double>(threads) / static_cast<double>(known->second));
  }
  if (ratios.size() < threshold::kSeveral) return 0;
  return value_of_rank(std::span(ratios), ratios.size() / 2);
}

}  // namespace

void measure_passes(const KernelSequence& sequence, std::span<ForwardPass> passes) {
  Measure(sequence, passes).all();
}

std::vector<double> relative_sizes(const KernelSequence& sequence,
                                   std::span<const ForwardPass> passes) {
  std::vector<double> sizes(passes.size(), 0);
  std::vector<Nanoseconds> times(passes.size(), 0);
  std::map<uint32_t, size_t> smallest;  // by layers
  for (size_t i = 0; i < passes.size(); ++i) {
    for (uint32_t at = passes[i].begin; at < passes[i].end; ++at) times[i] += sequence.time(at);
    if (passes[i].replay()) continue;
    const auto known = smallest.try_emplace(passes[i].layers, i).first;
    if (times[i] < times[known->second]) known->second = i;
  }
  std::map<uint32_t, ThreadsByName> references;
  for (const auto& [layers, row] : smallest) {
    references[layers] = threads_by_name(sequence, passes[row]);
  }
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].replay()) continue;
    const uint32_t layers = passes[i].layers;
    sizes[i] = ratio_of(threads_by_name(sequence, passes[i]), references[layers]);
    const Nanoseconds least = times[smallest[layers]];
    if (sizes[i] == 0 && least > 0) {
      sizes[i] = static_cast<double>(times[i]) / static_cast<double>(least);
    }
  }
  return sizes;
}

}  // namespace llmprof::analysis
