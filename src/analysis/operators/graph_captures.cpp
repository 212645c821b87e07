#include "analysis/operators/graph_captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "analysis/ranking/same_work.h"

namespace llmprof::analysis {
namespace {

// The kernels of one replay, by start.
struct CapturedReplay {
  trace::CaptureId capture;
  std::vector<uint32_t> kernels;
};

// The captured graphs that a replay can come from, and which call captured each of its kernels.
struct Match {
  std::vector<size_t> graphs;    // rows of the captured graphs; empty: none
  std::vector<uint32_t> places;  // by kernel of the replay: index of its call in the graph
  bool by_name = false;
  bool known = false;  // looked up
};

class GraphCaptures {
 public:
  GraphCaptures(trace::Trace& trace, Diagnostics& diagnostics)
      : trace_(trace), diagnostics_(diagnostics), graphs_(captured_graphs(trace)) {}

  void run() {
    if (graphs_.empty()) return;
    find_replays();
    for (const CapturedReplay& replay : replays_) matches_.try_emplace(key_of(replay));
    for (auto& [key, match] : matches_) ++sequences_of_[{key.front(), key.size() - 1}];
    for (const CapturedReplay& replay : replays_) {
      const Match& match = match_of(replay);
      if (match.graphs.empty()) {
        ++unmatched_;
        continue;
      }
      use(replay, match);
    }
    report();
    leave_out_captures_alone();
  }

 private:
  [[nodiscard]] trace::CaptureId capture_of_kernel(size_t kernel) const {
    return trace_.device_of(trace_.kernels.queue[kernel]).capture;
  }

  void find_replays() {
    const trace::KernelTable& kernels = trace_.kernels;
    std::map<trace::LaunchRow, size_t> known;
    for (uint32_t i = 0; i < kernels.size(); ++i) {
      const trace::LaunchRow launch = kernels.launch[i];
      if (!launch.valid() || !trace_.queues[kernels.queue[i]].device.valid()) continue;
      if (trace_.api_kind(trace_.launches.api[launch.index()]) != trace::ApiKind::graph_launch) {
        continue;
      }
      const trace::CaptureId capture = capture_of_kernel(i);
      if (trace_.captures[capture.index()].format != trace::kPyTorchTrace) continue;
      const auto [place, fresh] = known.try_emplace(launch, replays_.size());
      if (fresh) replays_.push_back({capture, {}});
      replays_[place->second].kernels.push_back(i);
    }
  }

  // A capture and the names of a replay's kernels.
  using Key = std::vector<uint32_t>;
  [[nodiscard]] Key key_of(const CapturedReplay& replay) const {
    Key key = {replay.capture.value};
    for (const uint32_t kernel : replay.kernels) key.push_back(trace_.kernels.name[kernel].value);
    return key;
  }

  // Replays of a graph are equal: each sequence of names is looked up once per capture.
  const Match& match_of(const CapturedReplay& replay) {
    Match& match = matches_.at(key_of(replay));
    if (!match.known) match = find_match(replay);
    match.known = true;
    return match;
  }

  Match find_match(const CapturedReplay& replay) const {
    Match best;
    for (const bool same_rank : {true, false}) {
      for (size_t i = 0; i < graphs_.size(); ++i) {
        if (same_rank && !of_one_rank(graphs_[i].capture, replay.capture)) continue;
        std::optional<std::vector<uint32_t>> places = places_in(graphs_[i], replay);
        if (!places) continue;
        const bool by_name = !graphs_[i].names.empty();
        if (!by_name && !number_decides(replay)) continue;
        // Matching names are better evidence than a matching number of kernels.
        if (by_name && !best.by_name) best = {};
        if (!best.graphs.empty() && (best.by_name != by_name || best.places != *places)) continue;
        best.graphs.push_back(i);
        best.places = std::move(*places);
        best.by_name = by_name;
      }
      if (!best.graphs.empty()) return best;
    }
    return best;
  }

  // The number of kernels does not distinguish different graphs that have the same number.
  [[nodiscard]] bool number_decides(const CapturedReplay& replay) const {
    return sequences_of_.at({replay.capture.value, replay.kernels.size()}) == 1;
  }

  [[nodiscard]] bool of_one_rank(trace::CaptureId a, trace::CaptureId b) const {
    return trace_.captures[a.index()].rank == trace_.captures[b.index()].rank;
  }

  [[nodiscard]] std::optional<std::vector<uint32_t>> places_in(const CapturedGraph& graph,
                                                               const CapturedReplay& replay) const {
    const size_t count = replay.kernels.size();
    if (graph.launches.size() != count) return std::nullopt;
    std::vector<uint32_t> places(count);
    std::iota(places.begin(), places.end(), 0U);
    if (graph.names.empty()) return in_order_of_nodes(replay, std::move(places));
    const auto name = [&](uint32_t i) { return trace_.kernels.name[replay.kernels[i]]; };
    const bool in_order =
        std::ranges::all_of(places, [&](uint32_t i) { return name(i) == graph.names[i]; });
    if (in_order) return places;
    std::map<trace::StringId, std::vector<uint32_t>> of_name;  // in reverse order
    for (auto i = static_cast<uint32_t>(count); i-- > 0;) of_name[graph.names[i]].push_back(i);
    for (uint32_t i = 0; i < count; ++i) {
      const auto left = of_name.find(name(i));
      if (left == of_name.end() || left->second.empty()) return std::nullopt;
      places[i] = left->second.back();
      left->second.pop_back();
    }
    return places;
  }

  // Nodes are numbered in capture order; kernels of several streams may start in another order.
  [[nodiscard]] std::vector<uint32_t> in_order_of_nodes(const CapturedReplay& replay,
                                                        std::vector<uint32_t> places) const {
    const std::vector<uint64_t>& nodes = trace_.kernels.graph_node;
    if (nodes.empty()) return places;
    std::vector<uint32_t> order = places;
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return nodes[replay.kernels[i]]; });
    for (uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
    return places;
  }

  void use(const CapturedReplay& replay, const Match& match) {
    const CapturedGraph& graph = graphs_[match.graphs.front()];
    trace::KernelTable& kernels = trace_.kernels;
    kernels.node_launch.resize(kernels.size());
    kernels.node_range.resize(kernels.size());
    for (size_t i = 0; i < replay.kernels.size(); ++i) {
      const uint32_t place = match.places[i];
      kernels.node_launch[replay.kernels[i]] = graph.launches[place];
      if (is_same_range(match, place)) kernels.node_range[replay.kernels[i]] = graph.ranges[place];
    }
    ++matched_;
    matched_kernels_ += replay.kernels.size();
    by_number_ += match.by_name ? 0 : 1;
    used_.resize(trace_.captures.size(), false);
    used_[graph.capture.index()] = true;
  }

  // Graphs that cannot be distinguished may belong to different layers (one graph per layer).
  [[nodiscard]] bool is_same_range(const Match& match, uint32_t place) const {
    const auto text = [&](size_t graph) {
      const trace::RangeRow range = graphs_[graph].ranges[place];
      return range.valid() ? trace_.ranges.text[range.index()] : trace::StringId();
    };
    return std::ranges::all_of(
        match.graphs, [&](size_t graph) { return text(graph) == text(match.graphs.front()); });
  }

  void report() {
    if (matched_ > 0) {
      diagnostics_.info(
          "graph_captures_used",
          fmt::format(
              "replays of CUDA graphs whose kernels ({}) have their operators from the trace "
              "of the graph's capture ({}){}",
              matched_kernels_, paths(used_),
              by_number_ == 0 ? ""
                              : fmt::format("; for {} of them, by the number of kernels "
                                            "and their order alone, because the trace does "
                                            "not name what was captured",
                                            by_number_)),
          matched_);
    }
    if (unmatched_ > 0) {
      diagnostics_.info("graph_replays_not_captured",
                        "replays of CUDA graphs whose kernels match no graph that the traces saw "
                        "captured; they have no operators",
                        unmatched_);
    }
    if (replays_.empty()) {
      std::vector<bool> captures(trace_.captures.size(), false);
      uint64_t launches = 0;
      for (const CapturedGraph& graph : graphs_) {
        captures[graph.capture.index()] = true;
        launches += graph.launches.size();
      }
      diagnostics_.info("graph_capture_alone",
                        fmt::format("kernel launches that were captured into CUDA graphs and ran "
                                    "nothing in {}; analyze it together with a trace of the "
                                    "execution, whose kernels then get these operators",
                                    paths(captures)),
                        launches);
    }
  }

  [[nodiscard]] std::string paths(const std::vector<bool>& captures) const {
    constexpr size_t kMostNamed = 3;
    std::vector<std::string> names;
    size_t more = 0;
    for (size_t i = 0; i < captures.size(); ++i) {
      if (!captures[i]) continue;
      if (names.size() < kMostNamed) {
        names.push_back(trace_.captures[i].path);
      } else {
        ++more;
      }
    }
    std::string text = fmt::format("{}", fmt::join(names, ", "));
    return more == 0 ? text : text + fmt::format(" and {} more", more);
  }

  // A trace with its own replays also recorded the execution.
  void leave_out_captures_alone() {
    if (matched_ == 0) return;
    std::vector<bool> alone = used_;
    for (const CapturedReplay& replay : replays_) alone[replay.capture.index()] = false;
    const uint64_t kernels = leave_out_gpu_work(trace_, alone);
    if (kernels == 0) return;
    diagnostics_.info(
        "graph_capture_not_executed",
        fmt::format("kernels that ran while CUDA graphs were captured ({}); they are excluded",
                    paths(alone)),
        kernels);
  }

  trace::Trace& trace_;
  Diagnostics& diagnostics_;
  std::vector<CapturedGraph> graphs_;
  std::vector<CapturedReplay> replays_;
  std::map<Key, Match> matches_;
  // By capture and number of kernels: number of distinct name sequences replayed.
  std::map<std::pair<uint32_t, size_t>, uint64_t> sequences_of_;
  std::vector<bool> used_;  // by capture: its graphs were replayed
  uint64_t matched_ = 0;
  uint64_t matched_kernels_ = 0;
  uint64_t by_number_ = 0;
  uint64_t unmatched_ = 0;
};

}  // namespace

void use_graph_captures(trace::Trace& trace, Diagnostics& diagnostics) {
  GraphCaptures(trace, diagnostics).run();
}

}  // namespace llmprof::analysis
