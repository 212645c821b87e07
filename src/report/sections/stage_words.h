#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profile/profile.h"
#include "report/document.h"
#include "report/findings/per_unit.h"

namespace llmprof::report {

// What all kernels of this profile ran on.
bool on_cpu(const profile::Profile& profile);
std::string_view device_word(const profile::Profile& profile);  // "GPU", "CPU"

// Instances are an engine's steps (continuous batching).
bool is_serving(const profile::Profile& profile);
// Null where there is none.
const profile::Stage* find_stage(const profile::Profile& profile, std::string_view name);

// Whether any stage decodes step by step.
bool has_decode_steps(const profile::Profile& profile);

// Of the kernel time after initialization, inside stages; a profile of an earlier llmprof has that
// of all kernel time.
std::optional<profile::Share> covered_share(const profile::Profile& profile);

// Not where stages are forward passes of a model that is not recognized as an LLM.
bool has_tokens(const profile::Profile& profile);
// "confidence high, 95 %": of detected stages; empty of others.
std::string confidence_words(const profile::Profile& profile);
// "Stages are guessed from the kernel sequence (confidence high, 95 %). "; of a model that is no
// LLM that it is not taken for one. Empty where stages were not detected.
std::string guess_sentence(const profile::Profile& profile);

// What one instance of a stage is called: "prefill"; under continuous batching "engine step".
std::string instance_name(const profile::Profile& profile, std::string_view stage);
// The steps of a stage: "8", or "4 of 8 traced"; "-" for prefills of one pass each, which is no
// step count.
Cell step_count_cell(const profile::Stage& stage);
// What is shown of token times; empty of a profile that analysis/shown has not completed.
const profile::TokenTimesShown& shown_tokens(const profile::Profile& profile);
// The value; "1 (assumed)" where nobody said it.
std::string token_count_words(uint64_t value, const std::optional<std::string>& source);
// "the whole capture", or "the selection".
std::string_view scope_words(const profile::Profile& profile);

// The least time that a stage could take; none where what limits it is not known.
std::optional<profile::Milliseconds> known_floor(const profile::Stage& stage);
std::string bound_words(const profile::Stage& stage);  // "memory", "compute", or "-"

// The stage's largest part that is not idle time, and the largest that is; null where there is
// none.
const profile::BudgetPart* largest_part(const profile::Stage& stage, bool idle);

// The largest opportunity: the first finding whose saving is known; null where there is none.
const profile::Finding* first_gain(const profile::Profile& profile);
// per_unit of all findings; empty where they differ or there are none.
std::string per_unit(const profile::Profile& profile);

}  // namespace llmprof::report
