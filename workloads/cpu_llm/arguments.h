#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "cpu_llm/model_shape.h"

namespace cpu_llm {

struct Arguments {
  std::string name = "cpu_llm";
  ModelShape shape;
  size_t prompt_tokens = 64;
  size_t new_tokens = 16;  // per sequence, including the one from prefill
  size_t batch = 1;
  size_t requests = 3;
  size_t warm_up = 1;
  uint64_t seed = 1;
  size_t threads = 0;  // 0: one per available CPU
  bool measure_peaks = true;
  double peak_seconds = 1.8;
  std::optional<size_t> slow_rank;  // whose operators are slowed down
  double slow_by = 1;
};

// The program exits immediately, with this text and exit code.
struct Ending {
  std::string text;
  int exit_code = 0;
};

// `ranks`: the number of processes that share the model (cpu_llm_tp); none: this is cpu_llm.
std::variant<Arguments, Ending> read_arguments(int count, const char* const* values,
                                               std::optional<size_t> ranks = std::nullopt);

}  // namespace cpu_llm
