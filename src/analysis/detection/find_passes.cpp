#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "analysis/detection/forward_passes.h"
#include "analysis/stages/thresholds.h"
#include "analysis/tracing/untraced_gpu_time.h"

namespace llmprof::analysis {
namespace {

using profile::make_reason;
using profile::ReasonKind;

// When each thread of the process started its passes, in order.
using Begins = std::map<trace::ThreadId, std::vector<Nanoseconds>>;

Begins begins_of(const MeaningfulRanges& ranges, trace::ProcessId process) {
  const trace::Trace& trace = ranges.trace();
  using Part = RangeMeaning::PassPart;
  std::map<Part, Begins> parts;
  for (size_t i = 0; i < ranges.ranges().size(); ++i) {
    const RangeMeaning& meaning = ranges.meaning(OpenRangeId(i));
    if (meaning.kind != RangeMeaning::Kind::pass_part) continue;
    Begins& of_part = parts[meaning.part];
    const uint32_t row = ranges.ranges()[i].row;
    const trace::ThreadId thread = trace.ranges.thread[row];
    if (trace.threads[thread.index()].process != process) continue;
    of_part[thread].push_back(trace.ranges.start[row]);
  }
  if (!parts.contains(Part::model)) return {};
  Begins begins = parts[parts.contains(Part::start) ? Part::start : Part::model];
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

// Positions, in order, before which GPU work may be missing because our collector was detached.
std::vector<uint32_t> untraced_cuts(const KernelSequence& sequence) {
  std::vector<uint32_t> cuts;
  const UntracedGpuTime untraced(sequence.trace());
  const auto positions = std::views::iota(0U, static_cast<uint32_t>(sequence.size()));
  for (const UntracedGpuTime::Window& window : untraced.of(sequence.process(), sequence.device())) {
    const auto cut = static_cast<uint32_t>(
        std::ranges::partition_point(positions,
                                     [&](uint32_t at) { return sequence.start(at) < window.end; }) -
        positions.begin());
    if (cut > 0 && cut < sequence.size()) cuts.push_back(cut);
  }
  return cuts;
}

void drop_beyond(uint32_t begin, uint32_t end, std::optional<uint32_t>& marker) {
  if (marker && (*marker < begin || *marker >= end)) marker.reset();
}

// Whether the pass remains. Kernels beyond a cut from its layers belong to another pass; layers on
// both sides of a cut are parts of two passes.
bool survives(const std::vector<uint32_t>& cuts, ForwardPass& pass) {
  for (auto cut = std::ranges::upper_bound(cuts, pass.begin); cut != cuts.end() && *cut < pass.end;
       ++cut) {
    if (*cut <= pass.first_beat) {
      pass.begin = *cut;
      pass.start_seen = false;
      drop_beyond(*cut, UINT32_MAX, pass.embedding);
    } else if (*cut > pass.last_beat) {
      pass.end = *cut;
      pass.end_seen = false;
      drop_beyond(0, *cut, pass.selection);
      drop_beyond(0, *cut, pass.row_gather);
    } else {
      return false;
    }
  }
  return true;
}

// Splits passes where work is missing. A pass next to a cut, or at either end of the sequence, is
// also partial if no pass elsewhere has as many layers.
void part_at_cuts(const std::vector<uint32_t>& cuts, uint32_t kernels, ForwardPasses& found) {
  found.cuts = cuts;
  if (cuts.empty() || found.passes.empty()) return;
  const auto drop = [&](const auto& is_part) {
    std::erase_if(found.passes, [&](ForwardPass& pass) {
      if (!is_part(pass)) return false;
      found.layers_in_passes -= std::max(pass.layers, 1U);
      return true;
    });
  };
  drop([&](ForwardPass& pass) { return !survives(cuts, pass); });
  // Less than a layer is between the pass and an untraced period.
  const auto at_an_edge = [&](const ForwardPass& pass) {
    const uint32_t layer = pass.length() / std::max(pass.layers, 1U);
    const auto behind = std::ranges::upper_bound(cuts, pass.begin);
    const uint32_t from = behind == cuts.begin() ? 0 : *std::prev(behind);
    const uint32_t until = behind == cuts.end() ? kernels : *behind;
    return pass.begin - from < layer || until - pass.end < layer;
  };
  std::set<uint32_t> whole;
  for (const ForwardPass& pass : found.passes) {
    if (!at_an_edge(pass)) whole.insert(pass.layers);
  }
  if (!whole.empty()) {
    drop([&](const ForwardPass& pass) { return !whole.contains(pass.layers) && at_an_edge(pass); });
  }
  if (found.passes.empty()) {
    found.reason = {make_reason(ReasonKind::passes_cut)};
  }
}

// Share of passes in which known attention, if there is any, occurs once per layer.
double attention_agrees(std::span<const LayerBeat> beats, const ForwardPasses& found) {
  size_t differing = 0;
  size_t beat = 0;
  for (const ForwardPass& pass : found.passes) {
    size_t inside = 0;
    for (; beat < beats.size() && beats[beat].first < pass.end; ++beat) {
      if (beats[beat].first >= pass.begin) ++inside;
    }
    if (inside > 0 && !pass.replay() && inside != pass.layers) ++differing;
  }
  return 1 - static_cast<double>(differing) / static_cast<double>(found.passes.size());
}

// Names may mistake a gather in the last layer for the next pass's embedding. The next pass cannot
// start before the host has read the previous pass's result.
void follow_read_backs(const KernelSequence& sequence, const ForwardPasses& structural,
                       ForwardPasses& named) {
  const std::vector<CopyToHost> reads = find_read_backs(sequence);
  for (size_t i = 0; i + 1 < named.passes.size(); ++i) {
    const ForwardPass& before = structural.passes[i];
    const ForwardPass& behind = structural.passes[i + 1];
    const uint32_t begin = named.passes[i + 1].begin;
    if (!before.end_seen || begin >= behind.begin || begin > behind.first_beat) continue;
    const auto read = read_from(reads, sequence.start(before.last_beat));
    if (read == reads.end() || read->start <= sequence.start(begin)) continue;
    if (read->start > sequence.start(behind.first_beat)) continue;
    named.passes[i].end = behind.begin;
    named.passes[i + 1].begin = behind.begin;
    named.passes[i + 1].embedding.reset();
  }
}

ForwardPasses find_engine_passes(const KernelSequence& sequence, const MeaningfulRanges& ranges,
                                 std::span<const LayerBeat> beats) {
  ForwardPasses found;
  found.basis = ForwardPasses::Basis::ranges;
  found.passes = passes_between(sequence, begins_of(ranges, sequence.process()));
  if (found.passes.size() > 1) count_layers(beats, found);
  if (found.passes.size() < 2) found.passes.clear();
  for (ForwardPass& pass : found.passes) mark(sequence, pass);
  return found;
}

double share_of_count(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// How far two candidates show the same passes.
double agreement(const ForwardPasses& one, const ForwardPasses& other) {
  const size_t passes = one.passes.size();
  const size_t others = other.passes.size();
  return share_of_count(std::min(passes, others), std::max(passes, others));
}

// Scores of what repetition and names show, by how much each explains of the other. Structural
// passes contain everything that repeats; named passes explain attention by passes of equal layers.
// Named passes explain more if they cover all attention and the repeats are not these layers, or
// not in all passes (layers of varying length, a model of two layers, first passes of compiled
// code).
void weigh(const KernelSequence& sequence, std::span<const LayerBeat> beats,
           ForwardPasses& structural, ForwardPasses& named) {
  structural.score = structural.passes.empty() ? 0 : 1;
  if (structural.training) named.reason = structural.reason;
  if (structural.training || named.passes.empty()) return;
  named.score = share_of_count(named.layers_in_passes, named.layers);
  if (structural.passes.empty() && named.attention_by_softmax) {
    // A loss also has a softmax between GEMMs.
    named.reason = {make_reason(ReasonKind::softmax_alone,
                                profile::FindingValues().add("layers", named.layers))};
    named.reason.insert(named.reason.end(), structural.reason.begin(), structural.reason.end());
    named.score = 0;
  } else if (named.passes.size() == structural.passes.size()) {
    named.basis = ForwardPasses::Basis::both;
    named.score = 1;
    structural.score -= threshold::kSmallPart;  // names locate boundaries more exactly
    follow_read_backs(sequence, structural, named);
  } else if (!structural.passes.empty() && named.layers_in_passes == named.layers) {
    structural.score = std::min(1.0, attention_agrees(beats, structural) + threshold::kSmallPart) *
                       std::min(1.0, share_of_count(structural.passes.size(), named.passes.size()));
  }
}

// The candidate with the best score, the first of equals; the last one, which has a reason, if none
// has passes.
ForwardPasses best_of(std::vector<ForwardPasses> candidates) {
  const auto best = std::ranges::max_element(candidates, {}, &ForwardPasses::score);
  if (best->score == 0) {
    candidates.back().passes.clear();
    candidates.back().vision.clear();
    return std::move(candidates.back());
  }
  for (const ForwardPasses& other : candidates) {
    const double margin = best->score - other.score;
    if (other.score == 0 || other.passes.size() == best->passes.size()) continue;
    if (best->alternative && best->alternative->margin <= margin) continue;
    best->alternative = {other.passes.size(), margin};
  }
  return std::move(*best);
}

}  // namespace

bool ForwardPasses::traced_since_last(size_t row) const {
  if (row == 0) return false;
  const auto cut = std::ranges::upper_bound(cuts, passes[row - 1].begin);
  return cut == cuts.end() || *cut > passes[row].begin;
}

ForwardPasses find_forward_passes(const KernelSequence& sequence, const MeaningfulRanges* ranges) {
  const auto kernels = static_cast<uint32_t>(sequence.size());
  const std::vector<uint32_t> cuts = untraced_cuts(sequence);
  const std::vector<LayerBeat> beats = find_layer_beats(sequence);
  ForwardPasses marked;
  if (ranges != nullptr) marked = find_engine_passes(sequence, *ranges, beats);
  ForwardPasses structural = find_structural_passes(sequence);
  part_at_cuts(cuts, kernels, structural);
  ForwardPasses named = find_named_passes(sequence, beats);
  part_at_cuts(cuts, kernels, named);
  weigh(sequence, beats, structural, named);
  if (!marked.passes.empty()) {
    marked.score = 1;
    structural.score *= agreement(structural, marked);
    named.score *= agreement(named, marked);
  }
  return best_of({std::move(marked), std::move(structural), std::move(named)});
}

}  // namespace llmprof::analysis
