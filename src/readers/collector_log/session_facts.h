#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "readers/collector_log/records.h"

namespace llmprof::readers::collector_log {

// What a log says of the process, its GPUs and what was recorded when.
class SessionFacts {
 public:
  SessionFacts(trace::TraceBuilder& builder, trace::ProcessId process, Findings& findings)
      : builder_(builder), process_(process), findings_(findings) {}

  void add(const wire::CudaSession& session);
  void add(const wire::CudaDevice& record);
  void add(const wire::Variable& variable) { variables_.push_back(variable); }
  void add(const wire::Collection& change);
  void add(const wire::Waiting& waiting) { waiting_ = waiting; }
  void add(const wire::CuptiDropped& dropped) { findings_.cupti_dropped += dropped.records; }
  void add(const wire::CountersOff& off) { counters_off_.push_back(off); }
  void add(const wire::CountersLost& lost) { findings_.counters_lost += lost.times; }
  void add(const wire::Dropped& dropped);
  void add(const wire::CleanEnd& end);

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
