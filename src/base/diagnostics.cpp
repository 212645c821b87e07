#include "base/diagnostics.h"

#include <algorithm>

namespace llmprof {

void Diagnostics::add(Severity severity, std::string_view code, std::string_view message,
                      uint64_t count) {
  if (count == 0) return;
  const auto same = std::ranges::find_if(
      items_, [&](const Diagnostic& item) { return item.code == code && item.message == message; });
  if (same != items_.end()) {
    same->count += count;
    same->severity = std::max(same->severity, severity);
    return;
  }
  items_.push_back({severity, std::string(code), std::string(message), count});
}

void Diagnostics::merge(const Diagnostics& other) {
  for (const Diagnostic& item : other.items_) {
    add(item.severity, item.code, item.message, item.count);
  }
}

bool Diagnostics::has(std::string_view code) const {
  return std::ranges::find(items_, code, &Diagnostic::code) != items_.end();
}

}  // namespace llmprof
