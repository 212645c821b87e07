#include "readers/collector_log/counter_rows.h"

#include <cmath>

namespace llmprof::readers::collector_log {
namespace {

bool is_sane(const wire::CounterSet& set) { return set.set != 0; }
bool is_sane(const wire::CounterSample& sample) {
  return sample.set != 0 && is_interval(sample.start, sample.end);
}

bool is_sane(const wire::ShortCounterSample& sample) {
  return sample.set != 0 && sample.start >= 0 && sample.start < trace::kOpenEnd - UINT32_MAX;
}

// The `place`th of the values that follow a record's head.
template <class Head, class Value>
Value value_behind(const Record& record, uint32_t place) {
  Value value{};
  std::memcpy(&value, record.payload.data() + sizeof(Head) + place * sizeof value, sizeof value);
  return value;
}

template <class Head, class Value>
bool holds(const Record& record, uint32_t count) {
  return count <= (record.payload.size() - sizeof(Head)) / sizeof(Value);
}

}  // namespace

void CounterRows::add_set(const Record& record) {
  wire::CounterSet head{};
  if (!take(record, head, findings_, is_sane)) return;
  if (!holds<wire::CounterSet, wire::CounterColumn>(record, head.count)) {
    ++findings_.bad_values;
    return;
  }
  Set set;
  set.device = head.device;
  for (uint32_t i = 0; i < head.count; ++i) {
    set.columns.push_back(value_behind<wire::CounterSet, wire::CounterColumn>(record, i));
  }
  sets_.try_emplace(head.set, std::move(set));
}

void CounterRows::add_sample(const Record& record) {
  wire::CounterSample sample{};
  if (!take(record, sample, findings_, is_sane)) return;
  if (!holds<wire::CounterSample, double>(record, sample.count)) {
    ++findings_.bad_values;
    return;
  }
  for (uint32_t i = 0; i < sample.count; ++i) {
    add_value(sample, i, value_behind<wire::CounterSample, double>(record, i));
  }
}

void CounterRows::add_short_sample(const Record& record) {
  wire::ShortCounterSample sample{};
  if (!take(record, sample, findings_, is_sane)) return;
  if (!holds<wire::ShortCounterSample, float>(record, sample.count)) {
    ++findings_.bad_values;
    return;
  }
  const wire::CounterSample as_long = {sample.start, sample.start + sample.duration, sample.set,
                                       sample.count};
  for (uint32_t i = 0; i < sample.count; ++i) {
    add_value(as_long, i, double{value_behind<wire::ShortCounterSample, float>(record, i)});
  }
}

void CounterRows::add_value(const wire::CounterSample& sample, uint32_t place, double value) {
  if (std::isnan(value)) return;
  if (std::isinf(value)) {
    ++findings_.bad_values;
    return;
  }
  trace::CounterTable& counters = builder_.trace().counters;
  counters.start.push_back(sample.start);
  counters.end.push_back(sample.end);
  counters.device.emplace_back(sample.set);
  counters.metric.emplace_back(place);
  counters.value.push_back(value);
}

std::map<uint32_t, CounterRows::Named> CounterRows::named_sets(Texts& texts) {
  std::map<uint32_t, Named> named;
  for (const auto& [number, set] : sets_) {
    Named& to = named[number];
    to.device = builder_.device(set.device);
    for (const wire::CounterColumn& column : set.columns) {
      const trace::StringId name = texts.find(column.name, findings_);
      const trace::StringId unit = texts.find(column.unit, findings_);
      to.metrics.push_back(name.valid() ? builder_.trace().metrics.intern({name, unit})
                                        : trace::MetricId());
    }
  }
  return named;
}

void CounterRows::finish(Texts& texts) {
  const auto sets = named_sets(texts);
  trace::CounterTable& counters = builder_.trace().counters;
  size_t kept = first_;
  for (size_t i = first_; i < counters.size(); ++i) {
    const auto set = sets.find(counters.device[i].value);
    const size_t place = counters.metric[i].index();
    if (set == sets.end() || place >= set->second.metrics.size() ||
        !set->second.metrics[place].valid()) {
      ++findings_.lost_definitions;
      continue;
    }
    counters.start[kept] = counters.start[i];
    counters.end[kept] = counters.end[i];
    counters.value[kept] = counters.value[i];
    counters.device[kept] = set->second.device;
    counters.metric[kept] = set->second.metrics[place];
    ++kept;
  }
  shorten(counters, kept);
}

}  // namespace llmprof::readers::collector_log
