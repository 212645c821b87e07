#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "readers/collector_log/records.h"
#include "trace/builder.h"
#include "wire/cuda_records.h"

namespace llmprof::readers::collector_log {

// What a log says of the process, its GPUs and what was recorded when.
class SessionFacts {
 public:
  SessionFacts(trace::TraceBuilder& builder, trace::ProcessId process, Findings& findings)
      : builder_(builder), process_(process), findings_(findings) {}

  void add_session(const Record& record);
  void add_device(const Record& record);
  void add_variable(const Record& record);
  void add_collection(const Record& record);
  void add_waiting(const Record& record);
  void add_cupti_dropped(const Record& record);
  void add_counters_off(const Record& record);
  void add_counters_lost(const Record& record);

  // What needed the log's strings.
  void finish(Texts& texts);

 private:
  void tell_driver_and_cupti(const Texts& texts);
  void tell_never_armed(const Texts& texts);
  void tell_counters_off(const Texts& texts);
  void find_place_in_job(const Texts& texts);

  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  Findings& findings_;
  std::vector<wire::CudaSession> sessions_;
  std::optional<wire::Waiting> waiting_;
  bool armed_ = false;  // or it was tried
  std::vector<wire::Variable> variables_;
  std::vector<wire::CountersOff> counters_off_;
};

}  // namespace llmprof::readers::collector_log
