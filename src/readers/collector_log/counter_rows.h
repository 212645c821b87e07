#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "readers/collector_log/records.h"
#include "trace/builder.h"
#include "wire/cuda_records.h"

namespace llmprof::readers::collector_log {

// Samples of hardware counters and sensors: one row a value.
class CounterRows {
 public:
  CounterRows(trace::TraceBuilder& builder, Findings& findings)
      : builder_(builder), findings_(findings), first_(builder.trace().counters.size()) {}

  void add_set(const Record& record);
  void add_sample(const Record& record);
  void add_short_sample(const Record& record);

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
