#include "analysis/detection/engine_passes.h"

#include <algorithm>
#include <map>

#include "analysis/detection/layer_beats.h"

namespace llmprof::analysis {
namespace {

using Kind = RangeMeaning::Kind;
using Begins = std::map<trace::ThreadId, std::vector<Nanoseconds>>;

constexpr std::string_view kFirstPart = "preprocess";
constexpr std::string_view kForward = "forward";
constexpr uint32_t kNoEnginePass = UINT32_MAX;

bool has_part(const MeaningfulRanges& ranges, std::string_view name) {
  for (size_t i = 0; i < ranges.ranges().size(); ++i) {
    const RangeMeaning& meaning = ranges.meaning(OpenRangeId(i));
    if (meaning.kind == Kind::pass_part && meaning.name == name) return true;
  }
  return false;
}

// When each thread of the process began with a pass.
Begins begins_of(const MeaningfulRanges& ranges, trace::ProcessId process) {
  const std::string_view first = has_part(ranges, kFirstPart) ? kFirstPart : kForward;
  const trace::Trace& trace = ranges.trace();
  Begins begins;
  for (size_t i = 0; i < ranges.ranges().size(); ++i) {
    const OpenRangeId id(i);
    const RangeMeaning& meaning = ranges.meaning(id);
    if (meaning.kind != Kind::pass_part || meaning.name != first) continue;
    const trace::ThreadId thread = trace.ranges.thread[ranges[id].row];
    if (trace.threads[thread.index()].process != process) continue;
    begins[thread].push_back(trace.ranges.start[ranges[id].row]);
  }
  for (auto& [thread, starts] : begins) std::sort(starts.begin(), starts.end());
  return begins;
}

class EnginePasses {
 public:
  EnginePasses(const KernelSequence& sequence, Begins begins)
      : sequence_(sequence), begins_(std::move(begins)) {
    uint32_t first = 0;
    for (const auto& [thread, starts] : begins_) {
      first_of_thread_[thread] = first;
      first += static_cast<uint32_t>(starts.size());
    }
  }

  ForwardPasses find() {
    ForwardPasses found;
    found.basis = ForwardPasses::Basis::ranges;
    if (!collect(found.passes) || !count_layers(found)) {
      found.passes.clear();
      return found;
    }
    for (ForwardPass& pass : found.passes) mark(pass);
    return found;
  }

 private:
  [[nodiscard]] uint32_t pass_at(uint32_t at) const {
    const trace::LaunchRow launch = sequence_.launch(at);
    if (!launch.valid()) return kNoEnginePass;
    const trace::LaunchTable& launches = sequence_.trace().launches;
    const auto thread = begins_.find(launches.thread[launch.index()]);
    if (thread == begins_.end()) return kNoEnginePass;
    const auto& starts = thread->second;
    const auto behind =
        std::upper_bound(starts.begin(), starts.end(), launches.start[launch.index()]);
    if (behind == starts.begin()) return kNoEnginePass;
    return first_of_thread_.at(thread->first) + static_cast<uint32_t>(behind - starts.begin()) - 1;
  }

  // False where kernels of one are among those of another.
  bool collect(std::vector<ForwardPass>& passes) const {
    std::vector<bool> seen;
    uint32_t current = kNoEnginePass;
    for (uint32_t at = 0; at < sequence_.size(); ++at) {
      const uint32_t number = pass_at(at);
      if (number == kNoEnginePass) continue;
      if (number != current) {
        if (number >= seen.size()) seen.resize(number + 1, false);
        if (seen[number]) return false;
        seen[number] = true;
        current = number;
        passes.push_back({});
        passes.back().begin = at;
      }
      passes.back().end = at + 1;
    }
    return passes.size() > 1;
  }

  // A pass without attention is no pass through the model (a draft head, a dummy run).
  bool count_layers(ForwardPasses& found) const {
    const std::vector<LayerBeat> beats = find_layer_beats(sequence_);
    found.layers = beats.size();
    size_t next = 0;
    for (ForwardPass& pass : found.passes) {
      while (next < beats.size() && beats[next].first < pass.begin) ++next;
      const size_t first = next;
      while (next < beats.size() && beats[next].last < pass.end) ++next;
      if (next == first) continue;
      pass.first_beat = beats[first].first;
      pass.last_beat = beats[next - 1].last;
      pass.layers = beats[first].replay ? 0 : static_cast<uint32_t>(next - first);
      pass.start_seen = pass.end_seen = true;
      found.layers_in_passes += next - first;
    }
    std::erase_if(found.passes, [](const ForwardPass& pass) { return !pass.start_seen; });
    return found.passes.size() > 1;
  }

  void mark(ForwardPass& pass) const {
    for (uint32_t at = pass.begin; at < pass.first_beat; ++at) {
      if (sequence_.kernel_class(at) == KernelClass::gather) pass.embedding = at;
    }
    std::optional<uint32_t> gather;
    for (uint32_t at = pass.last_beat + 1; at < pass.end; ++at) {
      const KernelClass kernel_class = sequence_.kernel_class(at);
      if (kernel_class == KernelClass::gather) gather = at;
      if (kernel_class == KernelClass::gemm && !pass.row_gather) pass.row_gather = gather;
      if (kernel_class == KernelClass::sampling) pass.selection = at;
    }
  }

  const KernelSequence& sequence_;
  Begins begins_;
  std::map<trace::ThreadId, uint32_t> first_of_thread_;
};

}  // namespace

ForwardPasses find_engine_passes(const KernelSequence& sequence, const MeaningfulRanges& ranges) {
  if (!has_part(ranges, kForward)) return {};
  return EnginePasses(sequence, begins_of(ranges, sequence.process())).find();
}

}  // namespace llmprof::analysis
