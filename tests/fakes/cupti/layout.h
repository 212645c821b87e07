#pragma once

#include <cupti.h>

#include <cstddef>

// Sizes of records in the CUPTI that is played: version 13, or 12 with FAKE_CUPTI_VERSION=12, whose
// kernel record lacks the last fields.
namespace llmprof::fake {

[[nodiscard]] uint32_t played_version();
// 0: no kind of ours.
[[nodiscard]] size_t delivered_bytes(CUpti_ActivityKind kind);

}  // namespace llmprof::fake
