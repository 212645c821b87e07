#pragma once

#include <cstdint>
#include <string_view>

namespace llmprof::analysis {

enum class StepKind : uint8_t {
  prefill,
  decode,
  mixed,
  forward,  // of a model that is not known to generate tokens
};
std::string_view to_string(StepKind kind);

}  // namespace llmprof::analysis
