#include "cpu_llm_server/request_ranges.h"

#include <fmt/format.h>

namespace cpu_llm_server {

void RequestRanges::name(RequestId request, std::string_view name) {
  requests_.emplace(request, Named{fmt::format("request {}", name), std::nullopt});
}

void RequestRanges::enter(RequestId request) {
  const auto found = requests_.find(request);
  if (found == requests_.end() || found->second.open) return;
  found->second.open = llmprof_range_start(found->second.label.c_str());
}

void RequestRanges::leave(RequestId request) {
  const auto found = requests_.find(request);
  if (found == requests_.end() || !found->second.open) return;
  llmprof_range_end(*found->second.open);
  found->second.open.reset();
}

void RequestRanges::forget(RequestId request) {
  leave(request);
  requests_.erase(request);
}

}  // namespace cpu_llm_server
