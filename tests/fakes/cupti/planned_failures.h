#pragma once

#include <cupti.h>

namespace llmprof::fake {

// The result that FAKE_CUPTI_FAIL plans for this call of the function `name`.
[[nodiscard]] CUptiResult planned_failure(const char* name);

}  // namespace llmprof::fake
