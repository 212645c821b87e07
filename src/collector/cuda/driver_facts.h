#pragma once

namespace llmprof::collector {

// Writes what the driver says of itself and its devices, and the rank variables. False, and nothing
// written, while cuInit has not returned.
bool write_driver_facts();

}  // namespace llmprof::collector
