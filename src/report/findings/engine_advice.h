#pragma once

#include <string>

#include "report/findings/evidence.h"

namespace llmprof::report {

// What to do, in the words and options of the engine that was seen. No advice that the program
// already follows, and none for a framework that it does not use.

// Small kernels that can be fused.
std::string fusion_advice(const Evidence& evidence);
// Steps that are launched kernel by kernel.
std::string graph_advice(const Evidence& evidence);
// Steps that are replayed already: what to do about the time between replays.
std::string outside_of_graphs_advice(const Evidence& evidence);
// A launch-bound stage whose shapes change: prefill.
std::string fewer_launches_advice(const Evidence& evidence);
// The host waits for the GPU in the loop.
std::string synchronization_advice(const Evidence& evidence);
// The host works between steps.
std::string between_steps_advice(const Evidence& evidence);
// Products that read their weights below the memory bandwidth, and products below the compute peak.
std::string memory_bound_product_advice(const Evidence& evidence);
std::string compute_bound_product_advice(const Evidence& evidence);
std::string decode_attention_advice(const Evidence& evidence);
std::string prefill_attention_advice(const Evidence& evidence);

}  // namespace llmprof::report
