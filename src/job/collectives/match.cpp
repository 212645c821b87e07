#include "job/collectives/match.h"

#include <algorithm>
#include <map>

namespace llmprof::job {
namespace {

using analysis::CollectiveKey;
using analysis::Collectives;

// The message has the same length on all ranks.
bool has_common_size(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
         kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::broadcast ||
         kind == CollectiveKind::reduce || kind == CollectiveKind::send ||
         kind == CollectiveKind::receive;
}

// No rank leaves before all have arrived.
bool holds_all(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
         kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_to_all ||
         kind == CollectiveKind::barrier;
}

uint64_t token_of(const CollectiveKey& key, bool with_size) {
  // A send and its receive match.
  const auto kind = key.kind == CollectiveKind::receive ? CollectiveKind::send : key.kind;
  constexpr uint64_t kKinds = 16;
  const uint64_t size = with_size && has_common_size(kind) ? key.bytes.value_or(0) : 0;
  return size * kKinds + static_cast<uint64_t>(kind);
}

// Sizes are ignored unless a capture states all of them; it states none for CUDA graphs.
bool all_have_sizes(const std::vector<RankPart>& parts, const Lane& lane) {
  for (const Sequence& sequence : lane.sequences) {
    const PackedCollectives& of = parts[sequence.part].collectives;
    std::vector<uint8_t> seen(of.keys.size(), 0);
    for (size_t i = 0; i < sequence.rows.size(); ++i) seen[of.key(sequence.rows[i])] = 1;
    for (size_t key = 0; key < seen.size(); ++key) {
      if (seen[key] != 0 && has_common_size(of.keys[key].kind) && !of.keys[key].bytes) return false;
    }
  }
  return true;
}

LaneCalls compared(const RankPart& part, const Sequence& sequence, bool with_size) {
  const PackedCollectives& of = part.collectives;
  std::vector<uint64_t> tokens;
  tokens.reserve(of.keys.size());
  for (const CollectiveKey& key : of.keys) tokens.push_back(token_of(key, with_size));
  LaneCalls made;
  made.token.reserve(sequence.rows.size());
  made.end.reserve(sequence.rows.size());
  bool numbered = true;
  for (size_t i = 0; i < sequence.rows.size(); ++i) {
    const uint32_t row = sequence.rows[i];
    made.token.push_back(tokens[of.key(row)]);
    made.end.push_back(of.end(row));
    if (numbered) made.sequence.push_back(of.sequence(row));
    numbered = numbered && of.sequence(row) != trace::kNoSequence;
  }
  if (!numbered) made.sequence = {};
  return made;
}

std::optional<RoughClock> rough_clock(const RankIdentity& first, const RankIdentity& second) {
  const StatedClocks stated = stated_clocks(first, second);
  // Clocks of hosts synchronized by NTP differ by milliseconds; a second is generous.
  constexpr Nanoseconds kWallTolerance = 1'000'000'000;
  if (stated.shared) return RoughClock{stated.offset, kWallTolerance, true};
  if (stated.wall) return RoughClock{stated.offset, kWallTolerance, false};
  return std::nullopt;
}

PackedRows packed(const std::vector<uint32_t>& rows) {
  PackedRows made;
  for (const uint32_t row : rows) made.push_back(row);
  made.shrink();
  return made;
}

MatchedLane matched(const std::vector<RankPart>& parts, const Lane& lane) {
  MatchedLane made;
  made.group = lane.group;
  made.point_to_point = lane.point_to_point;
  if (lane.sequences.size() < 2) return made;
  const auto longest = std::ranges::max_element(
      lane.sequences, {}, [](const Sequence& each) { return each.rows.size(); });
  const bool with_size = all_have_sizes(parts, lane);
  const LaneCalls first = compared(parts[longest->part], *longest, with_size);
  std::vector<PackedRows> places;  // by sequence, by place in the longest
  for (const Sequence& sequence : lane.sequences) {
    made.parts.push_back(sequence.part);
    if (&sequence == &*longest) {
      places.emplace_back();
      continue;
    }
    places.push_back(packed(align_sequences(
        first, compared(parts[sequence.part], sequence, with_size),
        rough_clock(parts[longest->part].identity, parts[sequence.part].identity))));
  }
  made.rows.resize(lane.sequences.size());
  for (size_t place = 0; place < longest->rows.size(); ++place) {
    const bool complete = std::ranges::all_of(
        places, [&](const auto& of) { return of.empty() || of[place] != kNoRow; });
    if (!complete) continue;
    for (size_t k = 0; k < places.size(); ++k) {
      made.rows[k].push_back(places[k].empty() ? longest->rows[place]
                                               : lane.sequences[k].rows[places[k][place]]);
    }
  }
  for (PackedRows& rows : made.rows) rows.shrink();
  return made;
}

using PairOfParts = std::pair<uint32_t, uint32_t>;

// Sorts by time, which the drift estimate requires; keeps at most `most`, evenly spaced.
void thin_out(size_t most, SameMoments& moments) {
  std::vector<size_t> order(moments.on_first.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return moments.on_second[i]; });
  const size_t kept = std::min(most, order.size());
  std::vector<Nanoseconds> first;
  std::vector<Nanoseconds> second;
  for (size_t i = 0; i < kept; ++i) {
    const size_t from = order[i * order.size() / kept];
    first.push_back(moments.on_first[from]);
    second.push_back(moments.on_second[from]);
  }
  moments.on_first = std::move(first);
  moments.on_second = std::move(second);
}

}  // namespace

std::vector<MatchedLane> match_collectives(const std::vector<RankPart>& parts, const Lanes& lanes) {
  std::vector<MatchedLane> all;
  all.reserve(lanes.lanes.size());
  for (const Lane& lane : lanes.lanes) all.push_back(matched(parts, lane));
  return all;
}

std::vector<SameMoments> same_moments(const std::vector<RankPart>& parts,
                                      const std::vector<MatchedLane>& lanes, size_t most) {
  std::map<PairOfParts, SameMoments> strict;
  std::map<PairOfParts, SameMoments> loose;
  for (const MatchedLane& lane : lanes) {
    if (lane.size() == 0) continue;
    const PackedCollectives& first = parts[lane.parts[0]].collectives;
    // Long sequences are thinned before they are copied.
    const size_t step = std::max<size_t>(1, lane.size() / most);
    for (size_t k = 1; k < lane.parts.size(); ++k) {
      const PairOfParts pair(lane.parts[0], lane.parts[k]);
      const PackedCollectives& second = parts[pair.second].collectives;
      for (size_t match = 0; match < lane.size(); match += step) {
        const uint32_t row = lane.row(match, 0);
        auto& into = holds_all(first.keys[first.key(row)].kind) ? strict[pair] : loose[pair];
        into.first = pair.first;
        into.second = pair.second;
        into.on_first.push_back(first.end(row));
        into.on_second.push_back(second.end(lane.row(match, k)));
      }
    }
  }
  std::vector<SameMoments> all;
  all.reserve(strict.size());
  for (auto& [pair, moments] : strict) all.push_back(std::move(moments));
  for (auto& [pair, moments] : loose) {
    if (!strict.contains(pair) && !strict.contains({pair.second, pair.first})) {
      all.push_back(std::move(moments));
    }
  }
  for (SameMoments& moments : all) thin_out(most, moments);
  return all;
}

std::vector<SameSteps> same_steps(const std::vector<RankPart>& parts,
                                  const std::vector<MatchedLane>& lanes) {
  std::vector<SameSteps> all;
  for (const MatchedLane& lane : lanes) {
    for (size_t k = 1; k < lane.parts.size(); ++k) {
      const PackedCollectives& first = parts[lane.parts[0]].collectives;
      const PackedCollectives& second = parts[lane.parts[k]].collectives;
      SameSteps same{lane.parts[0], lane.parts[k], {}};
      for (size_t match = 0; match < lane.size(); ++match) {
        const uint32_t a = first.step(lane.row(match, 0));
        const uint32_t b = second.step(lane.row(match, k));
        if (a == Collectives::kNoStep || b == Collectives::kNoStep) continue;
        if (same.steps.empty() || same.steps.back() != std::pair(a, b))
          same.steps.emplace_back(a, b);
      }
      if (!same.steps.empty()) all.push_back(std::move(same));
    }
  }
  return all;
}

}  // namespace llmprof::job
