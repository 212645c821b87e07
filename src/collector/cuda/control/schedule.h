#pragma once

#include <cstdint>

// When to record: armed at program start, by a range, a delay or a command; all steps, some of
// every period, or as many as an overhead budget allows.
namespace llmprof::collector {

struct Settings;

// Once, when CUDA is initialized.
void begin_schedule(const Settings& settings);

// In a forked child, which has neither CUDA nor the collector's threads: it records annotations
// only.
void abandon_schedule();

// The answers to the commands of `llmprof arm` and `disarm`.
const char* arm_by_command();
const char* disarm_by_command();
const char* describe_state();

// Ranges opened so far that begin a request.
[[nodiscard]] uint64_t requests_begun();

// Arms after the delay, if it is over. For the collector's own thread.
void arm_when_due();

// Opens and closes the windows of an overhead budget in a program that tells of no steps. For the
// collector's own thread.
void follow_time();

}  // namespace llmprof::collector
