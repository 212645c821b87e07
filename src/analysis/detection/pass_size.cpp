#include "analysis/detection/pass_size.h"

#include <algorithm>
#include <map>

#include "analysis/detection/output_rows.h"
#include "analysis/detection/relative_size.h"

namespace llmprof::analysis {
namespace {

uint64_t volume(const trace::Extent& extent) { return uint64_t{extent[0]} * extent[1] * extent[2]; }

uint64_t hash_of_names(const KernelSequence& sequence, const ForwardPass& pass) {
  size_t hash = 0;
  for (uint32_t at = pass.begin; at < pass.end; ++at) {
    hash = trace::hash_mix(hash, sequence.name(at).value);
  }
  return hash;
}

// The value that most of the votes name, where at least half do.
std::optional<uint64_t> majority(std::vector<uint64_t>& votes) {
  if (votes.empty()) return std::nullopt;
  const auto middle = votes.begin() + static_cast<std::ptrdiff_t>(votes.size() / 2);
  std::nth_element(votes.begin(), middle, votes.end());
  const auto same = static_cast<size_t>(std::count(votes.begin(), votes.end(), *middle));
  if (2 * same < votes.size()) return std::nullopt;
  return *middle;
}

// How many tokens `blocks` are for, where `known_blocks` are for `known_tokens`. The last block may
// be filled in part; none where that leaves several numbers possible.
std::optional<uint64_t> tokens_of(uint64_t blocks, uint64_t known_blocks, uint64_t known_tokens) {
  if (blocks == 0 || known_blocks < 2) return std::nullopt;
  const uint64_t fewest = (blocks - 1) * known_tokens / known_blocks + 1;
  const uint64_t most = blocks * known_tokens / (known_blocks - 1);
  return fewest == most ? std::optional(fewest) : std::nullopt;
}

class Measure {
 public:
  Measure(const KernelSequence& sequence, std::span<const ForwardPass> passes)
      : sequence_(sequence), passes_(passes), sizes_(passes.size()) {}

  std::vector<PassSize> all() {
    for (size_t i = 0; i < passes_.size(); ++i) look_at(passes_[i], sizes_[i]);
    compare_sizes();
    compare_with_known();
    find_growth();
    count_selections();
    count_outputs();
    return std::move(sizes_);
  }

 private:
  // One block per row is how these gathers are launched.
  [[nodiscard]] std::optional<uint64_t> gathered_rows(std::optional<uint32_t> at) const {
    if (!at) return std::nullopt;
    if (!sequence_.has(*at, KernelTrait::block_per_row)) return std::nullopt;
    const uint64_t rows = sequence_.grid(*at)[0];
    return rows > 0 ? std::optional(rows) : std::nullopt;
  }

  void look_at(const ForwardPass& pass, PassSize& size) {
    size.names = hash_of_names(sequence_, pass);
    if (pass.replay()) return;
    std::vector<uint64_t> threads;
    std::vector<uint64_t> norm_rows;
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      const KernelClass kernel_class = sequence_.kernel_class(at);
      if (!sequence_.works_by_row(at)) continue;
      threads.push_back(sequence_.threads(at));
      const trace::Extent grid = sequence_.grid(at);
      const bool by_row = grid[0] > 0 && grid[1] == 1 && grid[2] == 1;
      if (kernel_class == KernelClass::norm && by_row) norm_rows.push_back(grid[0]);
    }
    if (!threads.empty()) {
      const auto middle = threads.begin() + static_cast<std::ptrdiff_t>(threads.size() / 2);
      std::nth_element(threads.begin(), middle, threads.end());
      size.threads = *middle;
    }
    size.tokens = gathered_rows(pass.embedding);
    if (!size.tokens && norm_rows.size() >= pass.layers) size.tokens = majority(norm_rows);
    size.sequences = gathered_rows(pass.row_gather);
  }

  // Rows that grow by one from pass to pass are positions of the context (a bias for each of them
  // is looked up), not tokens that pass through the layers.
  void find_growth() {
    constexpr size_t kRun = 4;  // so many in a row are no chance
    const auto grows = [&](size_t row) {
      return row > 0 && passes_[row].layers == passes_[row - 1].layers && sizes_[row].tokens &&
             sizes_[row - 1].tokens && *sizes_[row].tokens == *sizes_[row - 1].tokens + 1;
    };
    std::vector<bool> growing(sizes_.size(), false);
    for (size_t first = 0; first < sizes_.size();) {
      size_t end = first + 1;
      while (end < sizes_.size() && grows(end)) ++end;
      for (size_t i = first; end - first >= kRun && i < end; ++i) growing[i] = true;
      first = end;
    }
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (!growing[i]) continue;
      sizes_[i].tokens.reset();
      sizes_[i].grows = true;
    }
  }

  // Where classes of kernels do not tell, what all kernels come to does.
  void compare_sizes() {
    const bool known = std::all_of(sizes_.begin(), sizes_.end(), [&](const PassSize& size) {
      return size.threads > 0 || passes_[static_cast<size_t>(&size - sizes_.data())].replay();
    });
    if (known) return;
    constexpr double kUnit = 1000;
    const std::vector<double> relative = relative_sizes(sequence_, passes_);
    for (size_t i = 0; i < sizes_.size(); ++i) {
      sizes_[i].threads = static_cast<uint64_t>(relative[i] * kUnit);
    }
  }

  // A pass without tokens is held against one of as many layers whose tokens are known: from the
  // embedding to the first attention they run the same kernels in the same order, with so many
  // blocks a token.
  void compare_with_known() {
    std::map<uint32_t, size_t> known;
    for (size_t i = passes_.size(); i-- > 0;) {
      if (can_be_held_against(i)) known[passes_[i].layers] = i;
    }
    for (size_t i = 0; i < passes_.size(); ++i) {
      if (can_be_held_against(i)) known[passes_[i].layers] = i;
      const auto other = known.find(passes_[i].layers);
      if (sizes_[i].tokens || !passes_[i].embedding || other == known.end()) continue;
      sizes_[i].tokens = held_against(passes_[i], passes_[other->second],
                                      *gathered_rows(passes_[other->second].embedding));
    }
  }

  [[nodiscard]] bool can_be_held_against(size_t row) const {
    const auto rows = gathered_rows(passes_[row].embedding);
    return rows && *rows > 1;
  }

  [[nodiscard]] std::optional<uint64_t> held_against(const ForwardPass& pass,
                                                     const ForwardPass& other,
                                                     uint64_t tokens) const {
    std::vector<uint64_t> votes;
    const uint32_t steps =
        std::min(pass.first_beat - *pass.embedding, other.first_beat - *other.embedding);
    for (uint32_t i = 1; i < steps; ++i) {
      const uint32_t at = *pass.embedding + i;
      const uint32_t there = *other.embedding + i;
      const KernelClass kernel_class = sequence_.kernel_class(at);
      if (!sequence_.works_by_row(at) || kernel_class != sequence_.kernel_class(there)) continue;
      const auto vote =
          tokens_of(volume(sequence_.grid(at)), volume(sequence_.grid(there)), tokens);
      if (vote) votes.push_back(*vote);
    }
    return majority(votes);
  }

  // A selection's grid is the number of sequences only if it is so in decode steps, where it equals
  // the tokens; at least one pass must show that, and none more sequences than tokens.
  void count_selections() {
    size_t equal = 0;
    for (size_t i = 0; i < passes_.size(); ++i) {
      const auto rows = selected_rows(i);
      if (!rows || !sizes_[i].tokens) continue;
      if (*sizes_[i].tokens < *rows) return;
      if (*sizes_[i].tokens == *rows) ++equal;
    }
    if (equal == 0) return;
    for (size_t i = 0; i < passes_.size(); ++i) {
      if (!sizes_[i].sequences) sizes_[i].sequences = selected_rows(i);
    }
  }

  void count_outputs() {
    const auto rows = output_rows(sequence_, passes_, sizes_);
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (!sizes_[i].sequences) sizes_[i].sequences = rows[i];
    }
  }

  [[nodiscard]] std::optional<uint64_t> selected_rows(size_t row) const {
    if (!passes_[row].selection) return std::nullopt;
    const uint64_t rows = sequence_.grid(*passes_[row].selection)[0];
    return rows > 0 ? std::optional(rows) : std::nullopt;
  }

  const KernelSequence& sequence_;
  std::span<const ForwardPass> passes_;
  std::vector<PassSize> sizes_;
};

}  // namespace

std::vector<PassSize> measure_passes(const KernelSequence& sequence,
                                     std::span<const ForwardPass> passes) {
  return Measure(sequence, passes).all();
}

}  // namespace llmprof::analysis
