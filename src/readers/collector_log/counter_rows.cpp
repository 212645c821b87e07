#include "readers/collector_log/rows.h"

#include <cmath>
#include <cstring>

namespace llmprof::readers::collector_log {
namespace {

// Calls use(index, value) for each value that follows a record's head. A count larger than the
// record is counted as bad instead.
template <class Value, class Use>
void each_value(std::span<const char> bytes, uint32_t count, Findings& findings, const Use& use) {
  if (count > bytes.size() / sizeof(Value)) {
    ++findings.bad_values;
    return;
  }
  for (uint32_t place = 0; place < count; ++place) {
    Value value{};
    std::memcpy(&value, bytes.data() + place * sizeof value, sizeof value);
    use(place, value);
  }
}

}  // namespace

void CounterRows::add(const wire::CounterSet& head, std::span<const char> values) {
  const uint64_t bad_before = findings_.bad_values;
  Set set;
  set.device = head.device;
  each_value<wire::CounterColumn>(
      values, head.count, findings_,
      [&](uint32_t, const wire::CounterColumn& column) { set.columns.push_back(column); });
  if (findings_.bad_values == bad_before) sets_.try_emplace(head.set, std::move(set));
}

void CounterRows::add(const wire::CounterSample& sample, std::span<const char> values) {
  each_value<double>(values, sample.count, findings_,
                     [&](uint32_t place, double value) { add_value(sample, place, value); });
}

void CounterRows::add(const wire::ShortCounterSample& sample, std::span<const char> values) {
  const wire::CounterSample as_long = {sample.start, sample.start + sample.duration, sample.set,
                                       sample.count};
  each_value<float>(values, sample.count, findings_,
                    [&](uint32_t place, float value) { add_value(as_long, place, double{value}); });
}

void CounterRows::add_value(const wire::CounterSample& sample, uint32_t place, double value) {
  if (std::isnan(value)) return;
  if (std::isinf(value)) {
    ++findings_.bad_values;
    return;
  }
  trace::add_row(builder_.trace().counters, sample.start, sample.end, sample.set, place, value);
}

std::map<uint32_t, CounterRows::Named> CounterRows::named_sets() {
  std::map<uint32_t, Named> named;
  for (const auto& [number, set] : sets_) {
    Named& to = named[number];
    to.device = builder_.device(set.device);
    for (const wire::CounterColumn& column : set.columns) {
      const trace::StringId name = texts_.find(column.name);
      const trace::StringId unit = texts_.find(column.unit);
      to.metrics.push_back(name.valid() ? builder_.trace().metrics.intern({name, unit})
                                        : trace::MetricId());
    }
  }
  return named;
}

void CounterRows::finish() {
  const auto sets = named_sets();
  trace::CounterTable& counters = builder_.trace().counters;
  settle_rows(counters, first_, [&](size_t i) {
    const auto set = sets.find(counters.device[i].value);
    const size_t place = counters.metric[i].index();
    if (set == sets.end() || place >= set->second.metrics.size() ||
        !set->second.metrics[place].valid()) {
      ++findings_.lost_definitions;
      return false;
    }
    counters.device[i] = set->second.device;
    counters.metric[i] = set->second.metrics[place];
    return true;
  });
}

}  // namespace llmprof::readers::collector_log
