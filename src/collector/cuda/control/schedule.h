#pragma once

#include <cstdint>

// When to record: armed by the program's start, a range, a delay or a command; for all steps, some
// of every so many, or as many as an overhead budget allows.
namespace llmprof::collector {

struct Settings;

// Once, when CUDA is initialized.
void begin_schedule(const Settings& settings);

// In a forked child, which has neither CUDA nor the collector's threads: it records annotations
// alone.
void abandon_schedule();

// From `llmprof arm` and `disarm`; what to answer.
const char* arm_by_command();
const char* disarm_by_command();
const char* collection_words();

// Openings of ranges that begin a request.
[[nodiscard]] uint64_t requests_begun();

// What is due by the clock, for the collector's own thread.
void look_at_clock();

}  // namespace llmprof::collector
