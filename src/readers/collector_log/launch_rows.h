#pragma once

#include <cstdint>

#include "readers/collector_log/records.h"

namespace llmprof::readers::collector_log {

// Add a record's call to `calls`, all but its thread; its name is the log's code. What is not sane
// is left out and counted.
void decode_launch(const Record& record, trace::LaunchTable& calls, Findings& findings);
void decode_call(const Record& record, trace::LaunchTable& calls, Findings& findings);

// CUDA API calls, each by the thread that made it.
class LaunchRows {
 public:
  LaunchRows(trace::TraceBuilder& builder, Findings& findings)
      : builder_(builder), findings_(findings), first_(builder.trace().launches.size()) {}

  void add(const wire::ApiName& named) { names_.add(named.code, {named.name, {}}); }
  // Rows [first, end) of decoded calls.
  void add_calls(const trace::LaunchTable& calls, size_t first, size_t end, trace::ThreadId thread);

  // A call that the light watch noted.
  void add(const wire::HostCall& call, trace::ThreadId thread);

  // Names the calls: until then their names hold the log's codes.
  void finish(Texts& texts);

  [[nodiscard]] size_t rows() const { return builder_.trace().launches.size() - first_; }
  [[nodiscard]] uint32_t largest_correlation() const;

 private:
  struct Api {
    wire::StringKey key = 0;
    trace::StringId name;
  };

  trace::TraceBuilder& builder_;
  Findings& findings_;
  size_t first_;
  Definitions<Api> names_;
};

}  // namespace llmprof::readers::collector_log
