#include "job/waits/measure_waits.h"

#include <algorithm>

namespace llmprof::job {
namespace {

using analysis::CollectiveKey;

class WaitMeter {
 public:
  WaitMeter(const std::vector<RankPart>& parts, const std::vector<profile::RankClock>& clocks,
            const Units& units, uint64_t units_per_bin)
      : parts_(parts), clocks_(clocks), units_(units), units_per_bin_(units_per_bin) {
    found_.by_stage.assign(units.stages().size(), std::vector<RankCommunication>(parts.size()));
    const size_t bins = (units.units().size() + units_per_bin - 1) / units_per_bin;
    found_.by_bin.assign(parts.size(), std::vector<double>(bins, 0));
  }

  // All of it is transfer, until a match tells the wait.
  void add_all_transfers() {
    for (uint32_t part = 0; part < parts_.size(); ++part) {
      const PackedCollectives& of = parts_[part].collectives;
      for (uint32_t row = 0; row < of.size(); ++row) {
        RankCommunication* into = counted(part, units_.unit_of(part, row));
        if (into == nullptr) continue;
        const auto exposed = static_cast<double>(of.exposed(row));
        into->transfer += exposed;
        into->hidden += static_cast<double>(of.duration(row)) - exposed;
      }
    }
  }

  void add_lane(const MatchedLane& lane) {
    for (size_t match = 0; match < lane.size(); ++match) add_match(lane, match);
  }

  void add_unmatched(const Lane& lane, const MatchedLane& matched) {
    for (const Sequence& sequence : lane.sequences) {
      const auto at = std::find(matched.parts.begin(), matched.parts.end(), sequence.part);
      std::vector<uint32_t> known;
      if (at != matched.parts.end()) {
        const auto k = static_cast<size_t>(at - matched.parts.begin());
        known.reserve(matched.size());
        for (size_t match = 0; match < matched.size(); ++match)
          known.push_back(matched.row(match, k));
        std::sort(known.begin(), known.end());
      }
      for (size_t i = 0; i < sequence.rows.size(); ++i) {
        const uint32_t row = sequence.rows[i];
        if (std::binary_search(known.begin(), known.end(), row)) continue;
        const uint32_t unit = units_.unit_of(sequence.part, row);
        if (!told(unit)) continue;
        CollectiveSums& into = sums(lane.group, sequence.part, row, unit);
        ++into.unmatched;
        if (parts_[sequence.part].collectives.in_graph(row)) ++into.in_graph;
      }
    }
  }

  Waits take() { return std::move(found_); }

 private:
  [[nodiscard]] RankCommunication* counted(uint32_t part, uint32_t unit) {
    if (unit >= units_.units().size() || !units_.units()[unit].counted) return nullptr;
    return &found_.by_stage[units_.units()[unit].stage][part];
  }

  // Collectives outside of stages are told, too; those of warm-ups and of steps that not all ranks
  // have are not.
  [[nodiscard]] bool told(uint32_t unit) const {
    if (unit == Units::kOutside) return true;
    return unit < units_.units().size() && units_.units()[unit].counted;
  }

  CollectiveSums& sums(uint32_t group, uint32_t part, uint32_t row, uint32_t unit) {
    const PackedCollectives& of = parts_[part].collectives;
    const CollectiveKey& key = of.keys[of.key(row)];
    const uint32_t stage = unit == Units::kOutside ? Units::kOutside : units_.units()[unit].stage;
    CollectiveSumsKey wanted{stage, group, key.kind, key.bytes};
    // What one rank sends, the other receives: told once.
    if (wanted.kind == trace::CollectiveKind::receive) wanted.kind = trace::CollectiveKind::send;
    if (last_sums_ != nullptr && wanted == last_key_) return *last_sums_;
    last_key_ = wanted;
    last_sums_ = &found_.collectives[wanted];
    return *last_sums_;
  }

  void add_match(const MatchedLane& lane, size_t match) {
    const uint32_t row = lane.row(match, 0);
    const MatchTimes times = match_times(lane, match, parts_, clocks_, waits_);
    const uint32_t first_unit = units_.unit_of(lane.parts[0], row);
    CollectiveSums* into =
        told(first_unit) ? &sums(lane.group, lane.parts[0], row, first_unit) : nullptr;
    for (size_t k = 0; k < lane.parts.size(); ++k) {
      add_rank(lane.parts[k], lane.row(match, k), static_cast<double>(waits_[k]), into);
    }
    if (RankCommunication* last = counted(lane.parts[times.last], first_unit)) {
      last->caused += static_cast<double>(times.longest_wait);
    }
    if (into == nullptr) return;
    into->latency.push_back(times.end - times.arrival);
    into->wait.push_back(times.longest_wait);
    into->parts = std::max(into->parts, static_cast<uint32_t>(lane.parts.size()));
    if (parts_[lane.parts[0]].collectives.in_graph(row)) ++into->in_graph;
    ++into->last[lane.parts[times.last]];
  }

  void add_rank(uint32_t part, uint32_t row, double wait, CollectiveSums* into) {
    const PackedCollectives& of = parts_[part].collectives;
    const auto duration = static_cast<double>(of.duration(row));
    const auto exposed = static_cast<double>(of.exposed(row));
    // Compute beside a collective is taken to be spread evenly over it.
    const double exposed_wait = duration > 0 ? wait * exposed / duration : 0;
    const uint32_t unit = units_.unit_of(part, row);
    if (RankCommunication* of_rank = counted(part, unit)) {
      of_rank->wait += exposed_wait;
      of_rank->transfer -= exposed_wait;
    }
    if (unit < units_.units().size()) found_.by_bin[part][unit / units_per_bin_] += exposed_wait;
    if (into == nullptr) return;
    into->wait_total += wait;
    into->transfer_total += duration - wait;
    into->exposed_total += exposed;
  }

  const std::vector<RankPart>& parts_;
  const std::vector<profile::RankClock>& clocks_;
  const Units& units_;
  uint64_t units_per_bin_;
  Waits found_;
  std::vector<Nanoseconds> waits_;
  // Consecutive collectives are often alike.
  CollectiveSumsKey last_key_;
  CollectiveSums* last_sums_ = nullptr;
};

}  // namespace

MatchTimes match_times(const MatchedLane& lane, size_t match, const std::vector<RankPart>& parts,
                       const std::vector<profile::RankClock>& clocks,
                       std::vector<Nanoseconds>& waits) {
  MatchTimes times;
  waits.resize(lane.parts.size());
  for (uint32_t k = 0; k < lane.parts.size(); ++k) {
    const PackedCollectives& of = parts[lane.parts[k]].collectives;
    const uint32_t row = lane.row(match, k);
    const Nanoseconds start = job_time(clocks[lane.parts[k]], of.start(row));
    const Nanoseconds end = start + of.duration(row);
    waits[k] = start;
    if (k == 0 || start > times.arrival) {
      times.arrival = start;
      times.last = k;
    }
    times.end = k == 0 ? end : std::max(times.end, end);
  }
  for (uint32_t k = 0; k < lane.parts.size(); ++k) {
    const PackedCollectives& of = parts[lane.parts[k]].collectives;
    waits[k] = std::min(times.arrival - waits[k], of.duration(lane.row(match, k)));
    times.longest_wait = std::max(times.longest_wait, waits[k]);
    times.all_waits += waits[k];
  }
  return times;
}

Waits measure_waits(const std::vector<RankPart>& parts, const Lanes& lanes,
                    const std::vector<MatchedLane>& matched,
                    const std::vector<profile::RankClock>& clocks, const Units& units,
                    uint64_t units_per_bin) {
  WaitMeter meter(parts, clocks, units, units_per_bin);
  meter.add_all_transfers();
  for (size_t lane = 0; lane < matched.size(); ++lane) {
    meter.add_lane(matched[lane]);
    meter.add_unmatched(lanes.lanes[lane], matched[lane]);
  }
  return meter.take();
}

}  // namespace llmprof::job
