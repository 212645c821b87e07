#pragma once

#include <string_view>

#include "readers/collector_log/definitions.h"
#include "readers/collector_log/findings.h"
#include "readers/collector_log/records.h"
#include "trace/builder.h"
#include "wire/log_format.h"

namespace llmprof::readers::collector_log {

// The strings of a log by their keys. A string may stand after its use in the file: ask when all
// records are read.
class Texts {
 public:
  explicit Texts(trace::TraceBuilder& builder) : builder_(builder) {}

  void add(const Record& record, Findings& findings);

  // None for key 0, and for a lost string, which is counted.
  trace::StringId find(wire::StringKey key, Findings& findings) const;
  // Its name where it is lost.
  trace::StringId find_name(wire::StringKey key, Findings& findings);
  [[nodiscard]] std::string_view text(trace::StringId id) const {
    return id.valid() ? builder_.trace().strings[id] : std::string_view();
  }

 private:
  trace::TraceBuilder& builder_;
  Definitions<trace::StringId> texts_;
};

}  // namespace llmprof::readers::collector_log
