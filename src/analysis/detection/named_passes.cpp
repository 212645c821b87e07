#include "analysis/detection/named_passes.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

using profile::make_reason;
using profile::ReasonKind;

bool closes_a_pass(KernelClass kernel_class) {
  return is_product(kernel_class) || kernel_class == KernelClass::softmax ||
         kernel_class == KernelClass::sampling;
}

class PassSearch {
 public:
  PassSearch(const KernelSequence& sequence, std::span<const LayerBeat> beats,
             const PassMarkers& markers)
      : sequence_(sequence), beats_(beats), markers_(markers), reads_(find_read_backs(sequence)) {}

  std::vector<ForwardPass> find() {
    group();
    set_boundaries();
    settle_preparations();
    fill_in(&ForwardPass::end_seen, [&](size_t row, const Grouped* like) { set_end(row, like); });
    fill_in(&ForwardPass::start_seen,
            [&](size_t row, const Grouped* like) { set_begin(row, like); });
    return {passes_.begin(), passes_.end()};
  }

 private:
  // A pass with the rows of its beats.
  struct Grouped : ForwardPass {
    uint32_t beats_begin = 0;
    uint32_t beats_end = 0;
    uint32_t free_from =
        0;  // end of the previous pass, or of kernels that only another pass can have
    bool follows_a_pass = false;
  };
  using Position = std::optional<uint32_t>;
  using Markers = std::span<const PassMarker>;
  using Kind = std::pair<uint32_t, uint32_t>;  // layers, name of the attention

  [[nodiscard]] bool marked(size_t gap) const {
    return std::ranges::any_of(markers_.in_gap(gap), &PassMarker::strong) ||
           (gap > 0 && beats_[gap - 1].replay) || (gap < beats_.size() && beats_[gap].replay);
  }

  // Beats between two marked gaps are a pass if their number fits. If a boundary has no marker
  // (another model's pass after a prefill), a different attention shape still shows it.
  void group() {
    for (size_t begin = 0; begin < beats_.size();) {
      size_t end = begin + 1;
      while (end < beats_.size() && !marked(end)) ++end;
      if (!add(begin, end)) {
        for (size_t first = begin; first < end;) {
          size_t last = first + 1;
          while (last < end && same_attention(beats_[first], beats_[last])) ++last;
          add(first, last);
          first = last;
        }
      }
      begin = end;
    }
  }

  [[nodiscard]] bool same_attention(const LayerBeat& a, const LayerBeat& b) const {
    return sequence_.name(a.first) == sequence_.name(b.first) &&
           sequence_.shape(a.first) == sequence_.shape(b.first);
  }

  // False if their number does not fit.
  bool add(size_t begin, size_t end) {
    const auto layers = static_cast<uint32_t>(end - begin);
    if (!beats_[begin].replay && std::ranges::count(markers_.layers, layers) == 0) return false;
    if (!marked(begin) && !marked(end)) return true;
    Grouped& pass = passes_.emplace_back();
    pass.layers = beats_[begin].replay ? 0 : layers;
    pass.begin = pass.first_beat = beats_[begin].first;
    pass.last_beat = beats_[end - 1].last;
    pass.end = pass.last_beat + 1;
    pass.beats_begin = static_cast<uint32_t>(begin);
    pass.beats_end = static_cast<uint32_t>(end);
    return true;
  }

  // Consecutive passes come first: they show what is usual.
  void set_boundaries() {
    const auto adjacent = [&](size_t i) {
      return i > 0 && i < passes_.size() && passes_[i - 1].beats_end == passes_[i].beats_begin;
    };
    for (size_t i = 1; i < passes_.size(); ++i) {
      if (adjacent(i)) set_boundary(&passes_[i - 1], &passes_[i]);
    }
    for (size_t i = 0; i <= passes_.size(); ++i) {
      if (adjacent(i)) continue;
      if (i > 0) set_boundary(&passes_[i - 1], nullptr);
      if (i < passes_.size()) set_boundary(nullptr, &passes_[i]);
    }
  }

  // Kernels between the end of `before` and the start of `behind` belong to neither.
  void set_boundary(Grouped* before, Grouped* behind) {
    const uint32_t gap = before != nullptr ? before->beats_end : behind->beats_begin;
    const uint32_t first = gap > 0 ? beats_[gap - 1].last + 1 : 0;
    const auto last =
        gap < beats_.size() ? beats_[gap].first : static_cast<uint32_t>(sequence_.size());
    const Markers here = markers_.in_gap(gap);
    const bool replay_behind = behind != nullptr && behind->replay();
    Position selection;
    if (before != nullptr) {
      const uint32_t usual = behind != nullptr ? last : first + tails_[before->layers];
      selection = selection_among(here, usual);
    }
    Position embedding;
    if (behind != nullptr && !replay_behind) embedding = embedding_among(here, selection);
    const bool begins = embedding || replay_behind;
    Position closing = selection;
    if (begins) {
      for (uint32_t at = embedding.value_or(last); !closing && at-- > first;) {
        if (closes_a_pass(sequence_.kernel_class(at))) closing = at;
      }
    }
    Position end;
    if (closing) {
      end = behind_results(*closing + 1, last, behind != nullptr, embedding);
    } else if (begins) {
      end = first;  // the previous pass was a replay
    }
    if (before != nullptr) {
      before->selection = selection;
      if (selection) before->row_gather = row_gather_among(here, *selection);
      if (behind != nullptr && selection) {
        uint32_t& tail = tails_[before->layers];
        tail = std::max(tail, *selection + 1 - first);
      }
      before->end_seen = end.has_value();
      before->end = end.value_or(before->end);
    }
    if (behind != nullptr) {
      behind->embedding = embedding;
      behind->start_seen = begins || selection;
      behind->free_from = end.value_or(first);
      behind->follows_a_pass = before != nullptr && behind->start_seen;
      if (begins) {
        behind->begin = preparation(behind->free_from, embedding.value_or(last), last);
      } else if (selection) {
        behind->begin = *end;
      }
    }
  }

  // The last one; those beyond `usual` may belong to another part of the program.
  static Position selection_among(Markers here, uint32_t usual) {
    Position found;
    for (const PassMarker& marker : here) {
      if (!marker.selects) continue;
      if (found && marker.position >= usual) break;
      found = marker.position;
      if (marker.position >= usual) break;
    }
    return found;
  }

  // Serving engines gather the rows that get a token before the last GEMM.
  [[nodiscard]] Position row_gather_among(Markers here, uint32_t selection) const {
    Position found;
    for (const PassMarker& marker : here) {
      for (uint32_t at = marker.position; !marker.selects && at < selection; ++at) {
        if (sequence_.kernel_class(at) == KernelClass::gemm) found = marker.position;
      }
    }
    return found;
  }

  // The last gather after the selection.
  static Position embedding_among(Markers here, Position selection) {
    Position found;
    for (const PassMarker& marker : here) {
      if (!marker.selects && marker.position >= selection.value_or(0)) found = marker.position;
    }
    return found;
  }

  // Read-backs by the host, and the rest of the same graph, belong to the previous pass.
  [[nodiscard]] uint32_t behind_results(uint32_t end, uint32_t last, bool pass_behind,
                                        Position embedding) const {
    const uint32_t limit =
        pass_behind ? embedding.value_or(last) : std::min(last, end + threshold::kResultKernels);
    const auto read = read_from(reads_, sequence_.start(end - 1));
    if (read != reads_.end()) {
      uint32_t until = end;
      while (until < limit && sequence_.start(until) < read->start) ++until;
      if (until < limit || !pass_behind || read->start < sequence_.start(limit)) end = until;
    }
    const auto in_next_pass = [&](uint32_t at) {
      return last < sequence_.size() && sequence_.same_graph_launch(at, last);
    };
    while (end < last && sequence_.same_graph_launch(end - 1, end) && !in_next_pass(end)) ++end;
    return end;
  }

  // Goes back from the embedding to where the host started to prepare it.
  [[nodiscard]] uint32_t preparation(uint32_t from, uint32_t embedding, uint32_t last) const {
    uint32_t begin = std::max(from, std::min(embedding, last));
    while (begin > from && begin < sequence_.size() &&
           sequence_.asked(begin) - sequence_.asked(begin - 1) < threshold::kBreak) {
      --begin;
    }
    return begin;
  }

  [[nodiscard]] Kind kind_of(const ForwardPass& pass) const {
    return {pass.layers, sequence_.name(pass.first_beat).value};
  }

  // Kernels of other passes of the kind, between the end of the previous pass and their embedding,
  // show where the preparation starts better than time does.
  void settle_preparations() {
    const auto until_of = [](const Grouped& pass) {
      return pass.embedding.value_or(pass.first_beat);
    };
    std::map<Kind, std::unordered_set<uint32_t>> known;
    for (const Grouped& pass : passes_) {
      const uint32_t until = until_of(pass);
      if (!pass.follows_a_pass || until - pass.begin > threshold::kLongPreparation) continue;
      auto& names = known[kind_of(pass)];
      for (uint32_t at = pass.begin; at < until; ++at) names.insert(sequence_.name(at).value);
    }
    for (Grouped& pass : passes_) {
      if (!pass.start_seen) continue;
      const uint32_t until = until_of(pass);
      const auto names = known.find(kind_of(pass));
      uint32_t begin = until;
      while (names != known.end() && begin > pass.free_from &&
             names->second.contains(sequence_.name(begin - 1).value)) {
        --begin;
      }
      const bool set_up = until - pass.begin > threshold::kLongPreparation ||
                          (!pass.follows_a_pass && names != known.end());
      pass.begin = set_up ? begin : std::min(pass.begin, begin);
    }
  }

  // Passes whose boundary the capture does not show copy it from the last earlier pass of their
  // kind that has it, otherwise from the first that has it.
  template <class Set>
  void fill_in(bool ForwardPass::* seen, const Set& set) {
    std::map<Kind, const Grouped*> models;
    for (size_t i = passes_.size(); i-- > 0;) {
      if (passes_[i].*seen) models[kind_of(passes_[i])] = &passes_[i];
    }
    for (size_t i = 0; i < passes_.size(); ++i) {
      const auto model = models.find(kind_of(passes_[i]));
      if (passes_[i].*seen) {
        model->second = &passes_[i];
      } else {
        set(i, model == models.end() ? nullptr : model->second);
      }
    }
  }

  // Kernels per layer, an estimate of the kernels before the first and after the last attention.
  static uint32_t period(const ForwardPass& pass) {
    return pass.layers < 2 ? 0 : (pass.last_beat - pass.first_beat) / (pass.layers - 1);
  }

  void set_end(size_t row, const Grouped* like) {
    Grouped& pass = passes_[row];
    const auto limit =
        row + 1 < passes_.size() ? passes_[row + 1].begin : static_cast<uint32_t>(sequence_.size());
    const uint32_t length = like != nullptr ? like->end - like->last_beat - 1 : period(pass);
    pass.end = std::min(limit, pass.last_beat + 1 + length);
  }

  void set_begin(size_t row, const Grouped* like) {
    Grouped& pass = passes_[row];
    const uint32_t room = pass.first_beat - (row > 0 ? passes_[row - 1].end : 0);
    const uint32_t length = like != nullptr ? like->first_beat - like->begin : period(pass);
    pass.begin = pass.first_beat - std::min(length, room);
  }

  const KernelSequence& sequence_;
  std::span<const LayerBeat> beats_;
  const PassMarkers& markers_;
  std::vector<CopyToHost> reads_;
  std::vector<Grouped> passes_;
  // Kernels from the last layer to the token selection in passes that another pass follows
  // immediately, by layers.
  std::map<uint32_t, uint32_t> tails_;
};

}  // namespace

ForwardPasses find_named_passes(const KernelSequence& sequence, std::span<const LayerBeat> beats) {
  ForwardPasses found;
  profile::FindingValues values;
  found.layers = beats.size();
  if (beats.empty()) {
    found.reason = {make_reason(ReasonKind::no_attention)};
    return found;
  }
  found.attention_by_softmax = std::ranges::any_of(beats, [&](const LayerBeat& beat) {
    return !beat.replay && sequence.kernel_class(beat.first) == KernelClass::softmax;
  });
  const PassMarkers markers = find_pass_markers(sequence, beats);
  if (markers.layers.empty()) {
    if (const auto lone = find_lone_prefill(sequence, beats)) {
      found.passes = {*lone};
      found.layers_in_passes = lone->layers;
      return found;
    }
    values.add("layers", beats.size()).add("by_softmax", found.attention_by_softmax);
    found.reason = {make_reason(ReasonKind::no_pass_ends, values)};
    return found;
  }
  found.passes = PassSearch(sequence, beats, markers).find();
  for (const ForwardPass& pass : found.passes) {
    found.layers_in_passes += std::max(pass.layers, 1U);
  }
  if (found.passes.size() < 2 || 2 * found.layers_in_passes < found.layers) {
    values.add("layers_in_passes", found.layers_in_passes)
        .add("layers", found.layers)
        .add("passes", found.passes.size());
    found.reason = {make_reason(ReasonKind::few_layers_in_passes, values)};
    found.passes.clear();
    return found;
  }
  found.vision = find_vision_passes(sequence, beats, found.passes);
  return found;
}

}  // namespace llmprof::analysis
