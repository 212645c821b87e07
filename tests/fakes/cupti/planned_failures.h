#pragma once

#include <cupti.h>

namespace llmprof::fake {

// What FAKE_CUPTI_FAIL wants of this call of the function `name`.
[[nodiscard]] CUptiResult planned_failure(const char* name);

}  // namespace llmprof::fake
