#pragma once

#include <cupti.h>

#include <cstddef>

// How large records are in the CUPTI that is played: 13's, or 12's with FAKE_CUPTI_VERSION=12,
// whose kernel record lacks the last fields.
namespace llmprof::fake {

[[nodiscard]] uint32_t played_version();
// 0: no kind of ours.
[[nodiscard]] size_t delivered_bytes(CUpti_ActivityKind kind);

}  // namespace llmprof::fake
