#pragma once

#include <cstdlib>

namespace llmprof::collector {

// Null if it is not set, or empty; programs that run with more rights than their user have none.
inline const char* value_of(const char* variable) {
  const char* value = secure_getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace llmprof::collector
