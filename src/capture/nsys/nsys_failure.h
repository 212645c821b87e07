#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/nsys/nsys_capture.h"

namespace llmprof::capture {

// What an attempt left under the name that it was told.
enum class NsysOutput : uint8_t { none, empty, garbage, report };

struct NsysFailure {
  Error error;
  bool is_nsys_own = false;  // then another rung of the ladder may do better
};

// Why an attempt failed, or nothing where it succeeded.
std::optional<NsysFailure> judge_nsys_attempt(const NsysRequest& request,
                                              const CommandRecord& record, NsysOutput output);

}  // namespace llmprof::capture
