#include "analysis/counters/kernel_samples.h"

#include <algorithm>
#include <utility>

#include "analysis/counters/counter_series.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

constexpr double kFullPercent = 100;

// Time in which launches of one kernel, and nothing else, ran on a GPU. `row` indexes the ranking.
struct AloneSpan {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  size_t row = 0;
};

// GPU work as start and end events.
class DeviceWork {
 public:
  // `others`: the row for all work that is not a ranked kernel.
  explicit DeviceWork(size_t others) : running_(others + 1, 0) {}

  void add(Nanoseconds start, Nanoseconds end, size_t row) {
    if (end <= start) return;
    begins_.push_back({start, static_cast<uint32_t>(row)});
    ends_.push_back({end, static_cast<uint32_t>(row)});
  }

  // In time order.
  std::vector<AloneSpan> alone() {
    sort(begins_);
    sort(ends_);
    std::vector<AloneSpan> spans;
    Nanoseconds since = 0;
    size_t begun = 0;
    for (const Change& end : ends_) {
      while (begun < begins_.size() && begins_[begun].time < end.time) {
        apply(begins_[begun++], +1, since, spans);
      }
      apply(end, -1, since, spans);
    }
    return spans;
  }

 private:
  struct Change {
    Nanoseconds time = 0;
    uint32_t row = 0;
  };

  // Each table was recorded nearly in order, so a few merges usually suffice.
  static void sort(std::vector<Change>& changes) {
    constexpr int kFewRuns = 8;
    const auto earlier = [](const Change& a, const Change& b) { return a.time < b.time; };
    auto sorted = std::is_sorted_until(changes.begin(), changes.end(), earlier);
    for (int run = 0; run < kFewRuns && sorted != changes.end(); ++run) {
      const auto next = std::is_sorted_until(sorted, changes.end(), earlier);
      std::inplace_merge(changes.begin(), sorted, next, earlier);
      sorted = next;
    }
    if (sorted != changes.end()) std::ranges::sort(changes, earlier);
  }

  void apply(const Change& change, int32_t launches, Nanoseconds& since,
             std::vector<AloneSpan>& spans) {
    if (kernels_running_ == 1 && change.time > since) add_span(spans, since, change.time);
    since = change.time;
    int32_t& own = running_[change.row];
    const bool was = own > 0;
    own += launches;
    const bool is = own > 0;
    if (was == is) return;
    kernels_running_ += is ? 1 : -1;
    sum_of_rows_ += is ? int64_t{change.row} : -int64_t{change.row};
  }

  void add_span(std::vector<AloneSpan>& spans, Nanoseconds start, Nanoseconds end) const {
    const auto row = static_cast<size_t>(sum_of_rows_);  // only one kernel runs: its row
    if (row + 1 == running_.size()) return;
    spans.push_back({start, end, row});
  }

  std::vector<Change> begins_;
  std::vector<Change> ends_;
  std::vector<int32_t> running_;  // running launches, by row
  int64_t kernels_running_ = 0;   // number of distinct kernels
  int64_t sum_of_rows_ = 0;       // over the distinct running kernels
};

size_t device_of(const trace::Trace& trace, size_t kernel) {
  return trace.queues[trace.kernels.queue[kernel]].device.index();
}

std::vector<AloneSpan> alone_on(size_t device, const trace::Trace& trace,
                                const KernelRanking& ranking) {
  const size_t others = ranking.rows.size();
  DeviceWork work(others);
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    if (device_of(trace, i) != device) continue;
    work.add(trace.kernels.start[i], trace.kernels.end[i], ranking.row_of(i));
  }
  const auto add_others = [&](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (trace.queues[table.queue[i]].device.index() != device) continue;
      work.add(table.start[i], table.end[i], others);
    }
  };
  add_others(trace.memory_operations);
  add_others(trace.graph_replays);
  return work.alone();
}

using Spans = std::vector<std::pair<Nanoseconds, Nanoseconds>>;

// Whether one of the spans, which are ordered and disjoint, overlaps [start, end).
bool meets(const Spans& spans, Nanoseconds start, Nanoseconds end) {
  const auto next =
      std::lower_bound(spans.begin(), spans.end(), start,
                       [](const auto& span, Nanoseconds at) { return span.second <= at; });
  return next != spans.end() && next->first < end;
}

// Assigns each sample of a device to the kernel that fills it.
class SampleOwners {
 public:
  SampleOwners(const DeviceCounters& counters, std::vector<AloneSpan> alone, SampledRows& into)
      : read_(series_of(counters, CounterRole::dram_read)),
        written_(series_of(counters, CounterRole::dram_write)),
        tensor_(series_of(counters, CounterRole::tensor_active)),
        alone_(std::move(alone)),
        into_(into),
        time_(into.rows.size(), 0),
        owned_(into.rows.size()),
        tensor_percent_(into.rows.size()) {}

  void find() {
    for (const CounterSeries::Sample& sample : read_.samples()) {
      if (sample.end <= sample.start) continue;
      all_.emplace_back(sample.start, sample.end);
      ++into_.samples;
      give(sample);
    }
    for (size_t row = 0; row < tensor_percent_.size(); ++row) {
      const CounterSeries::Share& share = tensor_percent_[row];
      if (share.covered <= 0 || share.covered != into_.rows[row].time) continue;
      into_.rows[row].tensor_active = *share.mean() / kFullPercent;
    }
  }

  void count_launch(size_t row, Nanoseconds start, Nanoseconds end) const {
    KernelSamples& kernel = into_.rows[row];
    kernel.met = kernel.met || meets(all_, start, end);
    if (!owned_[row].empty() && meets(owned_[row], start, end)) ++kernel.launches;
  }
  [[nodiscard]] const Spans& samples() const { return all_; }

 private:
  void give(const CounterSeries::Sample& sample) {
    while (next_ < alone_.size() && alone_[next_].end <= sample.start) ++next_;
    std::vector<size_t> seen;
    for (size_t i = next_; i < alone_.size() && alone_[i].start < sample.end; ++i) {
      Nanoseconds& own = time_[alone_[i].row];
      if (own == 0) seen.push_back(alone_[i].row);
      own += std::min(alone_[i].end, sample.end) - std::max(alone_[i].start, sample.start);
    }
    const Nanoseconds whole = sample.end - sample.start;
    for (const size_t row : seen) {
      const Nanoseconds own = std::exchange(time_[row], 0);
      if (static_cast<double>(own) < kLeastShareOfSample * static_cast<double>(whole)) continue;
      take(row, own, sample);
    }
  }

  void take(size_t row, Nanoseconds own, const CounterSeries::Sample& sample) {
    const Nanoseconds whole = sample.end - sample.start;
    const CounterSeries::Share written = written_.over(sample.start, sample.end);
    if (written.covered != whole) return;
    KernelSamples& kernel = into_.rows[row];
    ++into_.attributed_samples;
    ++kernel.samples;
    kernel.time += whole;
    kernel.own += own;
    kernel.bytes += sample.value + written.sum;
    tensor_percent_[row].add(tensor_.over(sample.start, sample.end));
    owned_[row].emplace_back(sample.start, sample.end);
  }

  const CounterSeries& read_;
  const CounterSeries& written_;
  const CounterSeries& tensor_;
  std::vector<AloneSpan> alone_;
  SampledRows& into_;
  size_t next_ = 0;                // first span of alone_ that may overlap the next sample
  std::vector<Nanoseconds> time_;  // in the current sample, by row
  std::vector<Spans> owned_;       // samples, by row
  std::vector<CounterSeries::Share> tensor_percent_;
  Spans all_;
};

}  // namespace

std::optional<SampledRows> sample_kernels(const trace::Trace& trace, const KernelRanking& ranking) {
  if (trace.counters.size() == 0 || ranking.source != KernelSource::timeline) return std::nullopt;
  const std::vector<DeviceCounters> counters = counters_by_device(trace);
  SampledRows sampled;
  sampled.rows.resize(ranking.rows.size());
  std::vector<Nanoseconds> intervals;
  for (size_t device = 0; device < counters.size(); ++device) {
    if (series_of(counters[device], CounterRole::dram_read).empty() ||
        series_of(counters[device], CounterRole::dram_write).empty()) {
      continue;
    }
    SampleOwners owners(counters[device], alone_on(device, trace, ranking), sampled);
    owners.find();
    for (size_t i = 0; i < trace.kernels.size(); ++i) {
      if (device_of(trace, i) != device) continue;
      owners.count_launch(ranking.row_of(i), trace.kernels.start[i], trace.kernels.end[i]);
    }
    for (const auto& [start, end] : owners.samples()) intervals.push_back(end - start);
  }
  if (intervals.empty()) return std::nullopt;
  sampled.interval = to_milliseconds(median(std::span(intervals)));
  sampled.least_share_of_sample = {kLeastShareOfSample};
  return sampled;
}

}  // namespace llmprof::analysis
