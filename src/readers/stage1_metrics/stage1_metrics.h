#pragma once

#include "readers/shared/reader.h"

namespace llmprof::readers {

// metrics.json: what a workload measured itself, unprofiled. Gives
// Trace::workload; of several such files the first is kept. All keys are optional:
//   aggregates       per stage a time in milliseconds, as
//                    "prefill_ms": {"mean": 8.5, "std": 0.1}, as "prefill": {"mean_ms": 8.5, ...},
//                    or within "stage_ms": {"prefill": {...}, ...}; "tokens_per_s" and "tokens"
//                    (new tokens per request) likewise
//   tokens_per_s     a number, or an object with its mean
//   mfu_model_level  0 to 1; mfu_per_stage: {"prefill": 0.3, ...}; peak_tflops
//   prompt_tokens, new_tokens, batch, images, requests, seed: integers; model: a name
//   config           the model's, with the keys of a Hugging Face config.json
//   device           what it ran on: {"kind": "cpu", "name": "Neoverse-N1", "threads": 2,
//                    "peak_flops_per_s": 6e10, "peak_bytes_per_s": 2e10, "number_format": "f32",
//                    "method": how the peaks were measured}
extern const Reader kStage1MetricsReader;

}  // namespace llmprof::readers
