#include "analysis/detection/pass_boundary.h"

#include <algorithm>

#include "analysis/detection/copies_to_host.h"

namespace llmprof::analysis {
namespace {

// Kernels that were asked for this long before the next one do not prepare the pass.
constexpr Nanoseconds kBreak = 10'000'000;

// After the last pass: as many at most belong to its results.
constexpr uint32_t kFewKernels = 8;

bool closes_a_pass(KernelClass kernel_class) {
  return kernel_class == KernelClass::gemm || kernel_class == KernelClass::gemv ||
         kernel_class == KernelClass::softmax || kernel_class == KernelClass::sampling;
}

class BoundarySearch {
 public:
  BoundarySearch(const KernelSequence& sequence, const PassGap& gap,
                 std::span<const PassMarker> markers, const ReadBacks& read_backs)
      : sequence_(sequence), gap_(gap), markers_(markers), read_backs_(read_backs) {}

  PassBoundary find() {
    find_selection();
    find_embedding();
    const auto closing = find_closing();
    if (closing) {
      found_.end = behind_results(*closing + 1);
    } else if (found_.embedding || gap_.replay_behind) {
      found_.end = gap_.first;  // the pass before was a replay
    }
    if (found_.embedding || gap_.replay_behind) {
      found_.begin =
          preparation(found_.end.value_or(gap_.first), found_.embedding.value_or(gap_.last));
    } else if (found_.selection) {
      found_.begin = found_.end;
    }
    return found_;
  }

 private:
  void find_selection() {
    if (!gap_.pass_before) return;
    for (const PassMarker& marker : markers_) {
      if (!marker.selects) continue;
      // Behind the last pass, later ones may be another program part's.
      if (!gap_.pass_behind && marker.position >= gap_.first + gap_.usual_tail) {
        if (!found_.selection) found_.selection = marker.position;
        break;
      }
      found_.selection = marker.position;
    }
    if (found_.selection) find_row_gather();
  }

  // Serving engines gather the rows that get a token in front of the last GEMM.
  void find_row_gather() {
    for (const PassMarker& marker : markers_) {
      if (marker.selects || marker.position >= *found_.selection) continue;
      for (uint32_t at = marker.position; at < *found_.selection; ++at) {
        if (sequence_.kernel_class(at) == KernelClass::gemm) found_.row_gather = marker.position;
      }
    }
  }

  // The last gather after the selection; one that is known to come back in every pass if any is.
  void find_embedding() {
    if (!gap_.pass_behind || gap_.replay_behind) return;
    bool strong = false;
    for (const PassMarker& marker : markers_) {
      if (marker.selects || (strong && !marker.strong)) continue;
      if (found_.selection && marker.position < *found_.selection) continue;
      found_.embedding = marker.position;
      strong = marker.strong;
    }
  }

  // The last kernel that only a pass before can have.
  [[nodiscard]] std::optional<uint32_t> find_closing() const {
    if (found_.selection) return found_.selection;
    if (!found_.embedding && !gap_.replay_behind) return std::nullopt;
    for (uint32_t at = found_.embedding.value_or(gap_.last); at-- > gap_.first;) {
      if (closes_a_pass(sequence_.kernel_class(at))) return at;
    }
    return std::nullopt;
  }

  // What the host reads back, and what is left of the same graph, belongs to the pass before.
  [[nodiscard]] uint32_t behind_results(uint32_t end) const {
    const uint32_t limit = gap_.pass_behind ? found_.embedding.value_or(gap_.last)
                                            : std::min(gap_.last, end + kFewKernels);
    const auto read =
        std::lower_bound(read_backs_.begin(), read_backs_.end(), sequence_.start(end - 1));
    uint32_t until = end;
    while (read != read_backs_.end() && until < limit && sequence_.start(until) < *read) ++until;
    const bool read_here = read != read_backs_.end() &&
                           (until < limit || !gap_.pass_behind || *read < sequence_.start(limit));
    if (read_here) end = until;
    const auto in_next_pass = [&](uint32_t at) {
      return gap_.last < sequence_.size() && sequence_.same_graph_launch(at, gap_.last);
    };
    while (end < gap_.last && sequence_.same_graph_launch(end - 1, end) && !in_next_pass(end)) {
      ++end;
    }
    return end;
  }

  // Back from the embedding to where the host began to prepare it.
  [[nodiscard]] uint32_t preparation(uint32_t from, uint32_t embedding) const {
    uint32_t begin = std::max(from, std::min(embedding, gap_.last));
    while (begin > from && begin < sequence_.size() &&
           sequence_.asked(begin) - sequence_.asked(begin - 1) < kBreak) {
      --begin;
    }
    return begin;
  }

  const KernelSequence& sequence_;
  const PassGap& gap_;
  std::span<const PassMarker> markers_;
  const ReadBacks& read_backs_;
  PassBoundary found_;
};

}  // namespace

ReadBacks find_read_backs(const KernelSequence& sequence) {
  ReadBacks found;
  for (const CopyToHost& copy : copies_to_host(sequence)) found.push_back(copy.start);
  return found;
}

PassBoundary find_boundary(const KernelSequence& sequence, const PassGap& gap,
                           std::span<const PassMarker> markers, const ReadBacks& read_backs) {
  return BoundarySearch(sequence, gap, markers, read_backs).find();
}

}  // namespace llmprof::analysis
