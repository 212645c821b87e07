#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cpu_llm/decoder.h"

namespace cpu_llm_server {

enum class FaultKind : uint8_t { pause, evict, slow_layer };

// What goes wrong on request, so that a profiler can be tested on it. Times count from the arrival
// of the first request.
struct Fault {
  FaultKind kind = FaultKind::pause;
  int64_t at_ns = 0;
  int64_t for_ns = 0;
  cpu_llm::SlowLayer slow;  // of slow_layer
};

std::string_view name_of(FaultKind kind);

// "pause=at:2s,for:80ms": the host sleeps before a step. "evict=at:2s,for:100ms": the youngest
// request in decode is preempted, and waits at least that long. "slow_layer=at:2s,for:1s,layer:1,
// by:3x": the operators of a layer take longer. A pause waits until a request runs, an eviction
// until one is in decode.
llmprof::Result<Fault> parse_fault(std::string_view text);

// Which faults begin and end, as time passes.
class FaultSchedule {
 public:
  explicit FaultSchedule(std::vector<Fault> faults) : pending_(std::move(faults)) {}

  void first_request_at(int64_t now_ns) {
    if (!begin_ns_) begin_ns_ = now_ns;
  }

  struct Changes {
    std::vector<Fault> begin;
    std::vector<Fault> end;  // evictions and slow layers
  };
  // Requests that the next step could have.
  struct Running {
    bool any = false;
    bool in_decode = false;
  };
  Changes changes_at(int64_t now_ns, const Running& running);
  // When the next fault ends; none if none goes on.
  [[nodiscard]] std::optional<int64_t> next_end_ns() const;

 private:
  struct Ongoing {
    Fault fault;
    int64_t end_ns;
  };

  static bool may_begin(FaultKind kind, const Running& running);

  std::optional<int64_t> begin_ns_;
  std::vector<Fault> pending_;
  std::vector<Ongoing> ongoing_;
};

}  // namespace cpu_llm_server
