#include "analysis/detection/forward_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "analysis/detection/lone_prefill.h"
#include "analysis/detection/pass_boundary.h"
#include "analysis/detection/pass_markers.h"
#include "analysis/detection/vision_passes.h"

namespace llmprof::analysis {
namespace {

// A longer preparation holds the program's own set-up.
constexpr uint32_t kLongPreparation = 64;

class PassSearch {
 public:
  PassSearch(const KernelSequence& sequence, std::span<const LayerBeat> beats,
             const PassMarkers& markers)
      : sequence_(sequence), beats_(beats), markers_(markers) {}

  std::vector<ForwardPass> find() {
    group();
    set_boundaries();
    settle_preparations();
    fill_in(&ForwardPass::end_seen, &PassSearch::set_end);
    fill_in(&ForwardPass::start_seen, &PassSearch::set_begin);
    return {passes_.begin(), passes_.end()};
  }

 private:
  // A pass with the rows of its beats.
  struct Grouped : ForwardPass {
    uint32_t beats_begin = 0;
    uint32_t beats_end = 0;
    uint32_t free_from = 0;  // end of the pass before, or of what only another pass can have
    bool follows_a_pass = false;
  };

  [[nodiscard]] bool marked(size_t gap) const {
    return markers_.strong_in_gap(gap) || (gap > 0 && beats_[gap - 1].replay) ||
           (gap < beats_.size() && beats_[gap].replay);
  }
  [[nodiscard]] bool right_length(size_t layers) const {
    return std::find(markers_.layers.begin(), markers_.layers.end(), layers) !=
           markers_.layers.end();
  }
  [[nodiscard]] bool same_attention(const LayerBeat& a, const LayerBeat& b) const {
    return sequence_.name(a.first) == sequence_.name(b.first) &&
           sequence_.shape(a.first) == sequence_.shape(b.first);
  }

  // Beats between two marked gaps are a pass where their number is right.
  void group() {
    for (size_t begin = 0; begin < beats_.size();) {
      size_t end = begin + 1;
      while (end < beats_.size() && !marked(end)) ++end;
      if (beats_[begin].replay || right_length(end - begin)) {
        add(begin, end);
      } else {
        add_parts(begin, end);
      }
      begin = end;
    }
  }

  // Where a boundary shows no marker (another model's pass after a prefill), attention of another
  // shape still tells.
  void add_parts(size_t first, size_t last) {
    for (size_t begin = first; begin < last;) {
      size_t end = begin + 1;
      while (end < last && same_attention(beats_[begin], beats_[end])) ++end;
      if (right_length(end - begin)) add(begin, end);
      begin = end;
    }
  }

  void add(size_t begin, size_t end) {
    if (!marked(begin) && !marked(end)) return;
    Grouped pass;
    pass.layers = beats_[begin].replay ? 0 : static_cast<uint32_t>(end - begin);
    pass.first_beat = beats_[begin].first;
    pass.last_beat = beats_[end - 1].last;
    pass.begin = pass.first_beat;
    pass.end = pass.last_beat + 1;
    pass.beats_begin = static_cast<uint32_t>(begin);
    pass.beats_end = static_cast<uint32_t>(end);
    passes_.push_back(pass);
  }

  void set_boundaries() {
    const ReadBacks read_backs = find_read_backs(sequence_);
    const auto adjacent = [&](size_t i) {
      return i > 0 && i < passes_.size() && passes_[i - 1].beats_end == passes_[i].beats_begin;
    };
    for (size_t i = 1; i < passes_.size(); ++i) {
      if (adjacent(i)) set_boundary(&passes_[i - 1], &passes_[i], read_backs);
    }
    for (size_t i = 0; i <= passes_.size(); ++i) {
      if (adjacent(i)) continue;
      if (i > 0) set_boundary(&passes_[i - 1], nullptr, read_backs);
      if (i < passes_.size()) set_boundary(nullptr, &passes_[i], read_backs);
    }
  }

  void set_boundary(Grouped* before, Grouped* behind, const ReadBacks& read_backs) {
    const uint32_t gap = before != nullptr ? before->beats_end : behind->beats_begin;
    PassGap where;
    where.first = gap > 0 ? beats_[gap - 1].last + 1 : 0;
    where.last = gap < beats_.size() ? beats_[gap].first : static_cast<uint32_t>(sequence_.size());
    where.pass_before = before != nullptr;
    where.pass_behind = behind != nullptr;
    where.replay_behind = behind != nullptr && behind->replay();
    if (before != nullptr) where.usual_tail = tails_[before->layers];
    const PassBoundary found = find_boundary(sequence_, where, markers_.in_gap(gap), read_backs);
    if (before != nullptr) {
      before->selection = found.selection;
      if (behind != nullptr && found.selection) {
        uint32_t& tail = tails_[before->layers];
        tail = std::max(tail, *found.selection + 1 - where.first);
      }
      before->row_gather = found.row_gather;
      before->end_seen = found.end.has_value();
      if (found.end) before->end = *found.end;
    }
    if (behind != nullptr) {
      behind->embedding = found.embedding;
      behind->start_seen = found.begin.has_value();
      behind->free_from = found.end.value_or(where.first);
      behind->follows_a_pass = before != nullptr && behind->start_seen;
      if (found.begin) behind->begin = *found.begin;
    }
  }

  [[nodiscard]] uint32_t prepared_for(const ForwardPass& pass) const {
    return pass.embedding.value_or(pass.first_beat);
  }

  using Kind = std::pair<uint32_t, uint32_t>;  // layers, name of the attention
  [[nodiscard]] Kind kind_of(const ForwardPass& pass) const {
    return {pass.layers, sequence_.name(pass.first_beat).value};
  }

  // What other passes of the kind do between the end of the pass before and their embedding tells
  // where the preparation begins, better than time does.
  void settle_preparations() {
    std::map<Kind, std::unordered_set<uint32_t>> known;
    for (const Grouped& pass : passes_) {
      const uint32_t until = prepared_for(pass);
      if (!pass.follows_a_pass || until - pass.begin > kLongPreparation) continue;
      auto& names = known[kind_of(pass)];
      for (uint32_t at = pass.begin; at < until; ++at) names.insert(sequence_.name(at).value);
    }
    for (Grouped& pass : passes_) {
      if (!pass.start_seen) continue;
      const uint32_t until = prepared_for(pass);
      const auto names = known.find(kind_of(pass));
      uint32_t begin = until;
      while (names != known.end() && begin > pass.free_from &&
             names->second.contains(sequence_.name(begin - 1).value)) {
        --begin;
      }
      const bool set_up =
          until - pass.begin > kLongPreparation || (!pass.follows_a_pass && names != known.end());
      pass.begin = set_up ? begin : std::min(pass.begin, begin);
    }
  }

  // Passes of the same kind get the boundary that the capture does not show from the last one
  // before them that has it, or else from the first that has it.
  void fill_in(bool ForwardPass::* seen, void (PassSearch::*set)(size_t, const ForwardPass*)) {
    std::map<Kind, size_t> models;
    for (size_t i = passes_.size(); i-- > 0;) {
      if (passes_[i].*seen) models[kind_of(passes_[i])] = i;
    }
    for (size_t i = 0; i < passes_.size(); ++i) {
      if (passes_[i].*seen) {
        models[kind_of(passes_[i])] = i;
        continue;
      }
      const auto model = models.find(kind_of(passes_[i]));
      (this->*set)(i, model == models.end() ? nullptr : &passes_[model->second]);
    }
  }

  // Kernels of one layer, as a measure of what lies before the first and after the last attention.
  [[nodiscard]] uint32_t period(const ForwardPass& pass) const {
    return pass.layers < 2 ? 0 : (pass.last_beat - pass.first_beat) / (pass.layers - 1);
  }

  void set_end(size_t row, const ForwardPass* other) {
    Grouped& pass = passes_[row];
    const uint32_t limit =
        row + 1 < passes_.size() ? passes_[row + 1].begin : static_cast<uint32_t>(sequence_.size());
    uint32_t length = period(pass);
    if (other != nullptr) {
      length = 0;
      const uint32_t longest = other->end - other->last_beat - 1;
      while (length < longest && pass.last_beat + 1 + length < limit &&
             sequence_.name(pass.last_beat + 1 + length) ==
                 sequence_.name(other->last_beat + 1 + length)) {
        ++length;
      }
    }
    pass.end = std::min(limit, pass.last_beat + 1 + length);
    // What lies before the begin of the next pass can only be the last layer's and the results'.
    const bool next_begins = row + 1 < passes_.size() && passes_[row + 1].start_seen &&
                             passes_[row + 1].beats_begin == pass.beats_end;
    if (next_begins && limit - pass.last_beat <= 2 * period(pass)) pass.end = limit;
  }

  void set_begin(size_t row, const ForwardPass* other) {
    Grouped& pass = passes_[row];
    const uint32_t limit = row > 0 ? passes_[row - 1].end : 0;
    uint32_t length = period(pass);
    if (other != nullptr) {
      length = 0;
      const uint32_t longest = other->first_beat - other->begin;
      while (length < longest && pass.first_beat - length > limit &&
             sequence_.name(pass.first_beat - length - 1) ==
                 sequence_.name(other->first_beat - length - 1)) {
        ++length;
      }
    }
    pass.begin = pass.first_beat - std::min(length, pass.first_beat - limit);
    // A capture may begin within the first layer.
    if (row == 0 && pass.first_beat < period(pass)) pass.begin = 0;
  }

  const KernelSequence& sequence_;
  std::span<const LayerBeat> beats_;
  const PassMarkers& markers_;
  std::vector<Grouped> passes_;
  std::map<uint32_t, uint32_t> tails_;  // PassGap::usual_tail by layers
};

}  // namespace

ForwardPasses find_named_passes(const KernelSequence& sequence) {
  ForwardPasses found;
  const std::vector<LayerBeat> beats = find_layer_beats(sequence);
  found.layers = beats.size();
  if (beats.empty()) {
    found.reason = "no kernel is known as attention, and no softmax runs between two GEMMs";
    return found;
  }
  found.attention_by_softmax = std::any_of(beats.begin(), beats.end(), [&](const LayerBeat& beat) {
    return !beat.replay && sequence.kernel_class(beat.first) == KernelClass::softmax;
  });
  const PassMarkers markers = find_pass_markers(sequence, beats);
  if (markers.layers.empty()) {
    if (const auto lone = find_lone_prefill(sequence, beats)) {
      found.passes = {*lone};
      found.layers_in_passes = lone->layers;
      return found;
    }
    found.reason = fmt::format(
        "{} runs {} times, but no embedding, gather or token selection recurs after equal "
        "numbers of layers, as it does from one forward pass to the next",
        found.attention_by_softmax ? "a softmax between two GEMMs" : "attention", beats.size());
    return found;
  }
  found.passes = PassSearch(sequence, beats, markers).find();
  for (const ForwardPass& pass : found.passes) {
    found.layers_in_passes += std::max(pass.layers, 1U);
  }
  if (found.passes.size() < 2 || 2 * found.layers_in_passes < found.layers) {
    found.reason =
        fmt::format("only {} of {} attention layers fit into {} forward passes of equal length",
                    found.layers_in_passes, found.layers, found.passes.size());
    found.passes.clear();
    return found;
  }
  found.vision = find_vision_passes(sequence, beats, found.passes);
  return found;
}

}  // namespace llmprof::analysis
