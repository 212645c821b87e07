#include "base/machine/usable_memory.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/machine/control_group.h"
#include "base/text.h"

namespace llmprof {
namespace {

// "max" means no limit.
std::optional<size_t> memory_limit(const std::string& content) {
  const auto bytes = parse_int(trim(content));
  if (!bytes || *bytes < 0) return std::nullopt;
  return static_cast<size_t>(*bytes);
}

}  // namespace

size_t usable_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const size_t memory =
      pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
  const auto limit = least_control_group_limit("memory.max", memory_limit);
  return limit ? std::min(*limit, memory == 0 ? *limit : memory) : memory;
}

}  // namespace llmprof
