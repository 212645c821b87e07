#include "base/diagnostics.h"

#include <algorithm>

namespace llmprof {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

void Diagnostics::add(Severity severity, std::string_view code, std::string_view message,
                      uint64_t count) {
  if (count == 0) return;
  auto same = std::find_if(items_.begin(), items_.end(), [&](const Diagnostic& item) {
    return item.code == code && item.message == message;
  });
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
  return std::any_of(items_.begin(), items_.end(),
                     [&](const Diagnostic& item) { return item.code == code; });
}

}  // namespace llmprof
