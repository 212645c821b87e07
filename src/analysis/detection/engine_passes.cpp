#include <algorithm>
#include <map>
#include <set>

#include "analysis/detection/forward_passes.h"

namespace llmprof::analysis {
namespace {

// When each thread of the process started its passes, in order.
using Begins = std::map<trace::ThreadId, std::vector<Nanoseconds>>;

Begins begins_of(const MeaningfulRanges& ranges, trace::ProcessId process) {
  const trace::Trace& trace = ranges.trace();
  std::map<std::string_view, Begins> parts;
  for (size_t i = 0; i < ranges.ranges().size(); ++i) {
    const RangeMeaning& meaning = ranges.meaning(OpenRangeId(i));
    if (meaning.kind != RangeMeaning::Kind::pass_part) continue;
    Begins& of_part = parts[meaning.name];
    const uint32_t row = ranges.ranges()[i].row;
    const trace::ThreadId thread = trace.ranges.thread[row];
    if (trace.threads[thread.index()].process != process) continue;
    of_part[thread].push_back(trace.ranges.start[row]);
  }
  if (!parts.contains("forward")) return {};
  Begins begins = parts[parts.contains("preprocess") ? "preprocess" : "forward"];
  for (auto& [thread, starts] : begins) std::ranges::sort(starts);
  return begins;
}

// Kernels launched from one start to the next, in order; none if kernels of two passes interleave.
std::vector<ForwardPass> passes_between(const KernelSequence& sequence, const Begins& begins) {
  using Begin = std::pair<trace::ThreadId, Nanoseconds>;
  const trace::LaunchTable& launches = sequence.trace().launches;
  const auto begin_of = [&](uint32_t at) -> std::optional<Begin> {
    const trace::LaunchRow launch = sequence.launch(at);
    if (!launch.valid()) return std::nullopt;
    const auto thread = begins.find(launches.thread[launch.index()]);
    if (thread == begins.end()) return std::nullopt;
    const auto behind = std::ranges::upper_bound(thread->second, launches.start[launch.index()]);
    if (behind == thread->second.begin()) return std::nullopt;
    return Begin(thread->first, *std::prev(behind));
  };
  std::vector<ForwardPass> passes;
  std::set<Begin> seen;
  std::optional<Begin> current;
  for (uint32_t at = 0; at < sequence.size(); ++at) {
    const auto begin = begin_of(at);
    if (!begin) continue;
    if (begin != current) {
      if (!seen.insert(*begin).second) return {};
      current = begin;
      passes.emplace_back().begin = at;
    }
    passes.back().end = at + 1;
  }
  return passes;
}

// A pass without attention does not run the model (a draft head, a dummy run).
void count_layers(std::span<const LayerBeat> beats, ForwardPasses& found) {
  found.layers = beats.size();
  size_t next = 0;
  std::erase_if(found.passes, [&](ForwardPass& pass) {
    while (next < beats.size() && beats[next].first < pass.begin) ++next;
    const size_t first = next;
    while (next < beats.size() && beats[next].last < pass.end) ++next;
    if (next == first) return true;
    pass.first_beat = beats[first].first;
    pass.last_beat = beats[next - 1].last;
    pass.layers = beats[first].replay ? 0 : static_cast<uint32_t>(next - first);
    pass.start_seen = pass.end_seen = true;
    found.layers_in_passes += next - first;
    return false;
  });
}

void mark(const KernelSequence& sequence, ForwardPass& pass) {
  for (uint32_t at = pass.begin; at < pass.first_beat; ++at) {
    if (sequence.kernel_class(at) == KernelClass::gather) pass.embedding = at;
  }
  std::optional<uint32_t> gather;
  for (uint32_t at = pass.last_beat + 1; at < pass.end; ++at) {
    const KernelClass kernel_class = sequence.kernel_class(at);
    if (kernel_class == KernelClass::gather) gather = at;
    if (kernel_class == KernelClass::gemm && !pass.row_gather) pass.row_gather = gather;
    if (kernel_class == KernelClass::sampling) pass.selection = at;
  }
}

}  // namespace

ForwardPasses find_engine_passes(const KernelSequence& sequence, const MeaningfulRanges& ranges) {
  ForwardPasses found;
  found.basis = ForwardPasses::Basis::ranges;
  found.passes = passes_between(sequence, begins_of(ranges, sequence.process()));
  if (found.passes.size() < 2) return {};
  count_layers(find_layer_beats(sequence), found);
  if (found.passes.size() < 2) return {};
  for (ForwardPass& pass : found.passes) mark(sequence, pass);
  return found;
}

}  // namespace llmprof::analysis
