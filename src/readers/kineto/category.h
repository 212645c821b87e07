#pragma once

#include <cstdint>
#include <string_view>

namespace llmprof::readers {

// What an event with a duration is about, as its "cat" tells.
enum class KinetoCategory : uint8_t {
  kernel,
  copy,
  fill,
  api_call,
  cpu_operator,
  annotation,
  gpu_annotation,
  python_function,
  known_but_unused,
  unknown,
};

// Traces of 2021 spell them differently.
KinetoCategory kineto_category(std::string_view text);

}  // namespace llmprof::readers
