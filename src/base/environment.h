#pragma once

#include <cstdlib>
#include <string>

namespace llmprof {

// A variable of this process's environment; empty where it is not set.
inline std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

}  // namespace llmprof
