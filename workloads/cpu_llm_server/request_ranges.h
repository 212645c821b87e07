#pragma once

#include <llmprof/annotate.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cpu_llm_server/scheduler.h"

namespace cpu_llm_server {

// Annotates from when to when requests are in the batch: ranges named "request NAME", of those that
// have a name.
class RequestRanges {
 public:
  void name(RequestId request, std::string_view name);
  void enter(RequestId request);
  void leave(RequestId request);
  // It has ended.
  void forget(RequestId request);

 private:
  struct Named {
    std::string label;
    std::optional<llmprof_range> open;
  };
  std::map<RequestId, Named> requests_;
};

}  // namespace cpu_llm_server
