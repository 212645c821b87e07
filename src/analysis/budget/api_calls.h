#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// Whether a CUDA call of this name makes its thread wait for the GPU: cudaStreamSynchronize,
// cuEventSynchronize, cudaMemcpy (not cudaMemcpyAsync), ... with or without nsys's version suffix.
bool is_synchronising(std::string_view api);

// "cudaLaunchKernel" for nsys's "cudaLaunchKernel_v7000".
std::string_view plain_api_name(std::string_view api);

// What is_synchronising says of each API name in a trace, asked once a name.
class SynchronisingCalls {
 public:
  explicit SynchronisingCalls(const trace::Trace& trace);
  [[nodiscard]] bool operator[](trace::StringId api) const {
    return api.valid() && answers_[api.index()] == kYes;
  }

 private:
  static constexpr uint8_t kYes = 2;
  std::vector<uint8_t> answers_;  // by string: 0 not asked, 1 no
};

}  // namespace llmprof::analysis
