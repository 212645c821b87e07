#pragma once

#include <cstdint>

// Whose CLOCK_MONOTONIC it is: processes of one boot of a machine and one time namespace read the
// same clock.
namespace llmprof::collector {

// All zero if the system does not tell.
void read_boot_id(uint8_t (&id)[16]);

// 0 if the system has none.
[[nodiscard]] uint64_t time_namespace();

}  // namespace llmprof::collector
