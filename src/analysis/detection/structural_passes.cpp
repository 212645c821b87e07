#include "analysis/detection/structural_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/detection/pass_boundary.h"

namespace llmprof::analysis {
namespace {

// Share of the passes that another one follows at once.
constexpr double kLeastFollowing = 0.4;
// What so many passes have is usual.
constexpr size_t kUsual = 3;
// Between two passes that follow each other lies less than a pass.
constexpr uint32_t kMostBetween = 1;

class BoundarySetter {
 public:
  BoundarySetter(const KernelSequence& sequence, std::vector<PassCore> cores)
      : sequence_(sequence), cores_(std::move(cores)), read_backs_(find_read_backs(sequence)) {
    for (PassCore& core : cores_) {
      begin_behind_read_back(core);
      end_before_read_back(core);
    }
    for (const PassCore& core : cores_) {
      ForwardPass pass;
      pass.begin = pass.first_beat = core.begin;
      pass.end = core.end;
      pass.last_beat = core.end - 1;
      pass.layers = core.layers;
      passes_.push_back(pass);
    }
  }

  std::vector<ForwardPass> set() {
    take_graphs();
    for (size_t i = 0; i + 1 < passes_.size(); ++i) {
      if (adjacent(i)) split(passes_[i], passes_[i + 1]);
    }
    leave_what_is_between();
    fill_in();
    return std::move(passes_);
  }

 private:
  // What ends the pass before (a norm, a product) may look like the begin of a layer; but results
  // are read between passes, unless they are read in every layer.
  void begin_behind_read_back(PassCore& core) const {
    if (core.period == 0 || core.end - core.begin < 3 * core.period) return;
    const auto next_read = [&](uint32_t at) {
      return std::lower_bound(read_backs_.begin(), read_backs_.end(), sequence_.start(at));
    };
    const uint32_t second = core.begin + core.period;
    const auto read = next_read(core.begin);
    if (read == read_backs_.end() || *read > sequence_.start(second)) return;
    const auto inside = next_read(second);
    if (inside != read_backs_.end() && *inside < sequence_.start(core.end - core.period)) return;
    while (core.begin < second && sequence_.start(core.begin) < *std::prev(inside)) ++core.begin;
  }

  // Likewise the begin of the next pass may look like one more layer.
  void end_before_read_back(PassCore& core) const {
    if (core.period == 0 || core.end - core.begin < 3 * core.period) return;
    const uint32_t last = core.end - core.period;
    const auto inside = std::lower_bound(read_backs_.begin(), read_backs_.end(),
                                         sequence_.start(core.begin + core.period));
    if (inside == read_backs_.end() || *inside < sequence_.start(last)) return;
    while (core.end > last && sequence_.start(core.end - 1) > *inside) --core.end;
  }

  // A graph launch belongs to one pass as a whole.
  void take_graphs() {
    for (size_t i = 0; i < passes_.size(); ++i) {
      ForwardPass& pass = passes_[i];
      const uint32_t from = i > 0 ? passes_[i - 1].end : 0;
      const uint32_t until =
          i + 1 < passes_.size() ? passes_[i + 1].begin : static_cast<uint32_t>(sequence_.size());
      if (pass.end > pass.begin + 1) {
        while (pass.begin > from && sequence_.same_graph_launch(pass.begin - 1, pass.begin)) {
          --pass.begin;
          pass.start_seen = true;
        }
        while (pass.end < until && sequence_.same_graph_launch(pass.end - 1, pass.end)) {
          ++pass.end;
          pass.end_seen = true;
        }
      }
    }
  }

  [[nodiscard]] bool adjacent(size_t row) const {
    const ForwardPass& before = passes_[row];
    const ForwardPass& behind = passes_[row + 1];
    const uint32_t length = std::max(before.end - before.begin, behind.end - behind.begin);
    if (before.replay() || behind.replay()) return behind.begin - before.end <= kFewBetweenReplays;
    return behind.begin - before.end <= kMostBetween * length;
  }

  // Where the host had read the results of the one, it began with the other; else where it paused
  // longest between two launches.
  void split(ForwardPass& before, ForwardPass& behind) const {
    const uint32_t first = before.end;
    const uint32_t last = behind.begin;
    uint32_t at = last;
    const auto read = std::lower_bound(read_backs_.begin(), read_backs_.end(),
                                       sequence_.start(first > 0 ? first - 1 : 0));
    bool was_read = false;
    if (read != read_backs_.end() && *read <= sequence_.start(last)) {
      was_read = true;
      at = first;
      const auto behind_last = std::upper_bound(read, read_backs_.end(), sequence_.start(last));
      const Nanoseconds time = *std::prev(behind_last);
      while (at < last && sequence_.start(at) < time) ++at;
    } else if (!behind.start_seen) {
      Nanoseconds longest = 0;
      for (uint32_t i = first; i <= last && i > 0; ++i) {
        const Nanoseconds pause = sequence_.asked(i) - sequence_.asked(i - 1);
        if (pause > longest) {
          longest = pause;
          at = i;
        }
      }
    }
    before.end = at;
    behind.begin = at;
    before.end_seen = before.end_seen || was_read || behind.start_seen;
    behind.start_seen = behind.start_seen || was_read;
  }

  // What other passes of the kind have behind their layers, where one like them follows at once, is
  // all that a pass has there if it is a graph's. The rest, before a pass of another kind, belongs
  // to neither: the caches of the next request are filled, say.
  void leave_what_is_between() {
    std::map<std::pair<uint32_t, uint32_t>, std::map<uint32_t, size_t>> tails;
    for (size_t i = 0; i + 1 < passes_.size(); ++i) {
      if (adjacent_now(i) && kind(i) == kind(i + 1))
        ++tails[kind(i)][passes_[i].end - cores_[i].end];
    }
    for (size_t i = 0; i + 1 < passes_.size(); ++i) {
      const auto known = tails.find(kind(i));
      if (known == tails.end() || kind(i) == kind(i + 1) || !is_graph(cores_[i])) continue;
      const auto usual = std::max_element(known->second.begin(), known->second.end(),
                                          [](auto& a, auto& b) { return a.second < b.second; });
      if (usual->second < kUsual) continue;
      passes_[i].end = std::min(passes_[i].end, cores_[i].end + usual->first);
    }
  }

  // At the edge of the capture, or of something else, a pass has what others of its kind have.
  void fill_in() {
    using Kind = std::pair<uint32_t, uint32_t>;           // period, layers
    std::map<Kind, std::pair<uint32_t, uint32_t>> usual;  // kernels before and behind the layers
    for (size_t i = 0; i + 1 < passes_.size(); ++i) {
      if (!adjacent_now(i)) continue;
      usual[kind(i)].second = passes_[i].end - cores_[i].end;
      usual[kind(i + 1)].first = cores_[i + 1].begin - passes_[i + 1].begin;
    }
    for (size_t i = 0; i < passes_.size(); ++i) {
      const auto known = usual.find(kind(i));
      if (known == usual.end()) continue;
      const uint32_t from = i > 0 ? passes_[i - 1].end : 0;
      const uint32_t until =
          i + 1 < passes_.size() ? passes_[i + 1].begin : static_cast<uint32_t>(sequence_.size());
      if (i == 0 || !adjacent_now(i - 1)) {
        const uint32_t begin = cores_[i].begin - std::min(cores_[i].begin, known->second.first);
        passes_[i].begin = std::min(passes_[i].begin, std::max(from, begin));
      }
      if (i + 1 == passes_.size() || !adjacent_now(i)) {
        passes_[i].end =
            std::max(passes_[i].end, std::min(until, cores_[i].end + known->second.second));
      }
    }
  }
  [[nodiscard]] bool is_graph(const PassCore& core) const {
    return sequence_.same_graph_launch(core.begin, core.end - 1);
  }
  [[nodiscard]] bool adjacent_now(size_t row) const {
    return passes_[row].end == passes_[row + 1].begin;
  }
  [[nodiscard]] std::pair<uint32_t, uint32_t> kind(size_t row) const {
    return {cores_[row].period, cores_[row].layers};
  }

  static constexpr uint32_t kFewBetweenReplays = 64;
  const KernelSequence& sequence_;
  std::vector<PassCore> cores_;
  ReadBacks read_backs_;
  std::vector<ForwardPass> passes_;
};

bool any_repeats_at_once(std::span<const PassCore> cores) {
  for (size_t i = 1; i < cores.size(); ++i) {
    if (cores[i].period == cores[i - 1].period && cores[i].layers == cores[i - 1].layers) {
      return true;
    }
  }
  return false;
}

// Forward passes of a training step are launched by the program, backward passes by a thread of the
// framework.
bool two_threads_in_turn(const KernelSequence& sequence, std::span<const PassCore> cores) {
  const trace::Trace& trace = sequence.trace();
  const auto thread = [&](const PassCore& core) {
    const trace::LaunchRow launch = sequence.launch(core.begin);
    return launch.valid() ? trace.launches.thread[launch.index()] : trace::ThreadId();
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
  const std::vector<PassCore> cores = find_pass_cores(sequence);
  if (cores.size() < 2) {
    found.reason = "the kernel sequence does not repeat as layers and forward passes do";
    return found;
  }
  for (const PassCore& core : cores) found.layers += std::max(core.layers, 1U);
  found.layers_in_passes = found.layers;
  found.passes = BoundarySetter(sequence, cores).set();
  size_t following = 0;
  for (size_t i = 0; i + 1 < found.passes.size(); ++i) {
    if (found.passes[i].end == found.passes[i + 1].begin) ++following;
  }
  if (two_threads_in_turn(sequence, cores)) {
    found.reason =
        "this is a training run: passes are launched by two threads in turn, forward and backward";
    found.training = true;
    found.passes.clear();
    return found;
  }
  if (!any_repeats_at_once(cores)) {
    found.reason = fmt::format(
        "{} stretches repeat as layers do, but none is followed by its like, as decode steps are: "
        "a training step, or another program",
        cores.size());
    found.passes.clear();
    return found;
  }
  if (static_cast<double>(following) < kLeastFollowing * static_cast<double>(cores.size())) {
    found.reason = fmt::format(
        "{} stretches repeat as layers do, but only {} follow each other as forward passes do",
        cores.size(), following);
    found.passes.clear();
  }
  return found;
}

}  // namespace llmprof::analysis
