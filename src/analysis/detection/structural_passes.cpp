#include <algorithm>
#include <map>
#include <utility>

#include "analysis/detection/forward_passes.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

using profile::make_reason;
using profile::ReasonKind;

class BoundarySetter {
 public:
  BoundarySetter(const KernelSequence& sequence, std::vector<PassCore> cores)
      : sequence_(sequence), cores_(std::move(cores)), reads_(find_read_backs(sequence)) {
    for (PassCore& core : cores_) {
      stay_between_reads(core);
      ForwardPass pass;
      pass.begin = pass.first_beat = core.begin;
      pass.end = core.end;
      pass.last_beat = core.end - 1;
      pass.layers = core.layers;
      passes_.push_back(pass);
    }
  }

  std::vector<ForwardPass> set() {
    for (size_t i = 0; i < passes_.size(); ++i) take_graph(i);
    for (size_t i = 0; i + 1 < passes_.size(); ++i) {
      if (near(passes_[i], passes_[i + 1])) split(passes_[i], passes_[i + 1]);
    }
    leave_what_is_between();
    fill_in();
    return std::move(passes_);
  }

 private:
  // The end of the previous pass (a norm, a GEMM) may look like the start of a layer, and the start
  // of the next pass like another layer. But results are read between passes, unless they are read
  // in every layer.
  void stay_between_reads(PassCore& core) const {
    if (core.period == 0 || core.length() < threshold::kRepeats * core.period) return;
    const uint32_t second = core.begin + core.period;
    const auto read = read_from(reads_, sequence_.start(core.begin));
    const auto inside = read_from(reads_, sequence_.start(second));
    const auto read_in = [&](uint32_t until) {
      return inside != reads_.end() && inside->start < sequence_.start(until);
    };
    if (read != reads_.end() && read->start <= sequence_.start(second) &&
        !read_in(core.end - core.period)) {
      while (core.begin < second && sequence_.start(core.begin) < std::prev(inside)->start) {
        ++core.begin;
      }
    }
    if (core.length() < threshold::kRepeats * core.period) return;
    const uint32_t last = core.end - core.period;
    const auto later = read_from(reads_, sequence_.start(core.begin + core.period));
    if (later == reads_.end() || later->start < sequence_.start(last)) return;
    while (core.end > last && sequence_.start(core.end - 1) > later->start) --core.end;
  }

  // Free positions between the neighboring passes.
  [[nodiscard]] std::pair<uint32_t, uint32_t> room_of(size_t row) const {
    return {row > 0 ? passes_[row - 1].end : 0, row + 1 < passes_.size()
                                                    ? passes_[row + 1].begin
                                                    : static_cast<uint32_t>(sequence_.size())};
  }

  // A graph launch is never split between passes.
  void take_graph(size_t row) {
    ForwardPass& pass = passes_[row];
    const auto [from, until] = room_of(row);
    if (pass.length() < 2) return;
    for (; pass.begin > from && sequence_.same_graph_launch(pass.begin - 1, pass.begin);
         --pass.begin) {
      pass.start_seen = true;
    }
    for (; pass.end < until && sequence_.same_graph_launch(pass.end - 1, pass.end); ++pass.end) {
      pass.end_seen = true;
    }
  }

  // Two consecutive passes are less than a pass apart.
  static bool near(const ForwardPass& before, const ForwardPass& behind) {
    const bool hidden = before.replay() || behind.replay();
    return behind.begin - before.end <=
           (hidden ? threshold::kLongPreparation : std::max(before.length(), behind.length()));
  }

  // The second pass starts after the host has read the first one's results; otherwise at the host's
  // longest pause between launches.
  void split(ForwardPass& before, ForwardPass& behind) const {
    const uint32_t first = before.end;
    const uint32_t last = behind.begin;
    uint32_t at = last;
    const auto read = read_from(reads_, sequence_.start(first > 0 ? first - 1 : 0));
    const bool was_read = read != reads_.end() && read->start <= sequence_.start(last);
    if (was_read) {
      const auto behind_last = read_from(reads_, sequence_.start(last) + 1);
      at = first;
      while (at < last && sequence_.start(at) < std::prev(behind_last)->start) ++at;
    } else if (!behind.start_seen) {
      Nanoseconds longest = 0;
      for (uint32_t i = std::max(first, 1U); i <= last; ++i) {
        const Nanoseconds pause = sequence_.asked(i) - sequence_.asked(i - 1);
        if (pause > longest) at = i;
        longest = std::max(longest, pause);
      }
    }
    before.end = behind.begin = at;
    before.end_seen = before.end_seen || was_read || behind.start_seen;
    behind.start_seen = behind.start_seen || was_read;
  }

  // Before a pass of another kind, a graph's pass has no more kernels after its layers than before
  // one of its own kind. The rest belongs to neither (filling the next request's caches, for
  // example).
  void leave_what_is_between() {
    std::map<std::pair<uint32_t, uint32_t>, std::map<uint32_t, size_t>> tails;
    const auto followed_by_like = [&](size_t i) {
      return cores_[i].kind() == cores_[i + 1].kind();
    };
    for (size_t i = 0; i + 1 < passes_.size(); ++i) {
      if (adjacent(i) && followed_by_like(i)) {
        ++tails[cores_[i].kind()][passes_[i].end - cores_[i].end];
      }
    }
    for (size_t i = 0; i + 1 < passes_.size(); ++i) {
      const auto known = tails.find(cores_[i].kind());
      const bool graph = sequence_.same_graph_launch(cores_[i].begin, cores_[i].end - 1);
      if (known == tails.end() || followed_by_like(i) || !graph) continue;
      const auto [tail, passes] = most_frequent(known->second);
      if (passes < threshold::kSeveral) continue;
      passes_[i].end = std::min(passes_[i].end, cores_[i].end + tail);
    }
  }

  // At an edge of the capture, or next to other work, a pass extends as far as others of its kind.
  void fill_in() {
    // Kernels before and after the layers, by kind.
    std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>> usual;
    for (size_t i = 0; i + 1 < passes_.size(); ++i) {
      if (!adjacent(i)) continue;
      usual[cores_[i].kind()].second = passes_[i].end - cores_[i].end;
      usual[cores_[i + 1].kind()].first = cores_[i + 1].begin - passes_[i + 1].begin;
    }
    for (size_t i = 0; i < passes_.size(); ++i) {
      const auto known = usual.find(cores_[i].kind());
      if (known == usual.end()) continue;
      const auto [from, until] = room_of(i);
      const auto [before, behind] = known->second;
      if (i == 0 || !adjacent(i - 1)) {
        const uint32_t begin = cores_[i].begin - std::min(cores_[i].begin, before);
        passes_[i].begin = std::min(passes_[i].begin, std::max(from, begin));
      }
      if (i + 1 == passes_.size() || !adjacent(i)) {
        passes_[i].end = std::max(passes_[i].end, std::min(until, cores_[i].end + behind));
      }
    }
  }

  [[nodiscard]] bool adjacent(size_t row) const {
    return passes_[row].end == passes_[row + 1].begin;
  }

  const KernelSequence& sequence_;
  std::vector<PassCore> cores_;
  std::vector<CopyToHost> reads_;
  std::vector<ForwardPass> passes_;
};

// In a training step, the program launches forward passes and a framework thread backward passes.
bool two_threads_in_turn(const KernelSequence& sequence, const std::vector<PassCore>& cores) {
  const auto thread = [&](const PassCore& core) {
    const trace::LaunchRow launch = sequence.launch(core.begin);
    return launch.valid() ? sequence.trace().launches.thread[launch.index()] : trace::ThreadId();
  };
  size_t changes = 0;
  for (size_t i = 1; i < cores.size(); ++i) {
    if (thread(cores[i]) != thread(cores[i - 1])) ++changes;
  }
  return 2 * changes >= cores.size();
}

}  // namespace

ForwardPasses find_structural_passes(const KernelSequence& sequence) {
  ForwardPasses found;
  found.basis = ForwardPasses::Basis::structure;
  const std::vector<PassCore> cores = find_pass_cores(sequence);
  if (cores.size() < 2) {
    found.reason = {make_reason(ReasonKind::nothing_repeats)};
    return found;
  }
  for (const PassCore& core : cores) found.layers += std::max(core.layers, 1U);
  found.layers_in_passes = found.layers;
  found.passes = BoundarySetter(sequence, cores).set();
  size_t following = 0;
  bool repeats_at_once = false;
  for (size_t i = 1; i < cores.size(); ++i) {
    if (found.follows(i)) ++following;
    repeats_at_once = repeats_at_once || cores[i].kind() == cores[i - 1].kind();
  }
  profile::FindingValues values = profile::FindingValues().add("stretches", cores.size());
  if (two_threads_in_turn(sequence, cores)) {
    found.reason = {make_reason(ReasonKind::training_by_threads)};
    found.training = true;
  } else if (!repeats_at_once) {
    found.reason = {make_reason(ReasonKind::none_equal_behind, values)};
  } else if (static_cast<double>(following) <
             threshold::kMuch * static_cast<double>(cores.size())) {
    found.reason = {
        make_reason(ReasonKind::few_behind_each_other, values.add("following", following))};
  }
  if (!found.reason.empty()) found.passes.clear();
  return found;
}

}  // namespace llmprof::analysis
