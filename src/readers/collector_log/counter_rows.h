#pragma once

#include <map>
#include <span>
#include <vector>

#include "readers/collector_log/records.h"

namespace llmprof::readers::collector_log {

// Samples of hardware counters and sensors: one row a value.
class CounterRows {
 public:
  CounterRows(trace::TraceBuilder& builder, Findings& findings)
      : builder_(builder), findings_(findings), first_(builder.trace().counters.size()) {}

  // `values` are the bytes behind the record's head.
  void add(const wire::CounterSet& head, std::span<const char> values);
  void add(const wire::CounterSample& sample, std::span<const char> values);
  void add(const wire::ShortCounterSample& sample, std::span<const char> values);

  // Gives samples their device and metric: until then these columns hold the set and the place in
  // it. Samples of a lost set are left out and counted.
  void finish(Texts& texts);

  [[nodiscard]] size_t rows() const { return builder_.trace().counters.size() - first_; }

 private:
  void add_value(const wire::CounterSample& sample, uint32_t place, double value);

  struct Set {
    uint32_t device = 0;
    std::vector<wire::CounterColumn> columns;
  };
  struct Named {
    trace::DeviceId device;
    std::vector<trace::MetricId> metrics;  // none: its name is lost
  };
  std::map<uint32_t, Named> named_sets(Texts& texts);

  trace::TraceBuilder& builder_;
  Findings& findings_;
  size_t first_;
  std::map<uint32_t, Set> sets_;
};

}  // namespace llmprof::readers::collector_log
