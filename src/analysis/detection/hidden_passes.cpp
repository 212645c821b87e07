#include "analysis/detection/hidden_passes.h"

#include <algorithm>
#include <unordered_map>

namespace llmprof::analysis {
namespace {

// In nine of ten replays the same graph comes next: they are pieces of one pass.
constexpr size_t kAlmostAlways = 10;

struct Replay {
  uint32_t position = 0;
  uint32_t graph = 0;
};

struct Neighbors {
  size_t times = 0;
  std::unordered_map<uint32_t, size_t> next;
};

class Pieces {
 public:
  explicit Pieces(const std::vector<Replay>& replays) {
    for (size_t i = 0; i < replays.size(); ++i) {
      Neighbors& of_graph = graphs_[replays[i].graph];
      ++of_graph.times;
      if (i + 1 < replays.size()) ++of_graph.next[replays[i + 1].graph];
    }
    if (!replays.empty()) first_ = replays.front().graph;
  }

  // Whether `next` goes on with the pass of `graph`. A loop of pieces begins with the graph that
  // was replayed first.
  [[nodiscard]] bool together(uint32_t graph, uint32_t next) const {
    if (graph == next || next == first_) return false;
    const Neighbors& of_graph = graphs_.at(graph);
    const auto followed = of_graph.next.find(next);
    const size_t times = followed == of_graph.next.end() ? 0 : followed->second;
    return almost_all(times, of_graph.times) && almost_all(times, graphs_.at(next).times);
  }
  [[nodiscard]] bool again() const {
    return std::any_of(graphs_.begin(), graphs_.end(),
                       [](const auto& graph) { return graph.second.times > 1; });
  }

 private:
  static bool almost_all(size_t times, size_t of) {
    return (of - std::min(of, times)) * kAlmostAlways <= of;
  }
  std::unordered_map<uint32_t, Neighbors> graphs_;
  uint32_t first_ = 0;
};

}  // namespace

std::vector<PassCore> find_hidden_passes(const KernelSequence& sequence) {
  std::vector<Replay> replays;
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (!sequence.replay(i)) continue;
    replays.push_back(
        {static_cast<uint32_t>(i), sequence.trace().graph_replays.graph[sequence.item(i).row]});
  }
  const Pieces pieces(replays);
  std::vector<PassCore> cores;
  if (!pieces.again()) return cores;
  for (size_t i = 0; i < replays.size(); ++i) {
    const bool goes_on =
        !cores.empty() && i > 0 && pieces.together(replays[i - 1].graph, replays[i].graph);
    if (!goes_on) cores.push_back({replays[i].position, 0, 0, 0, 1, 1, true});
    cores.back().end = replays[i].position + 1;
  }
  return cores;
}

}  // namespace llmprof::analysis
