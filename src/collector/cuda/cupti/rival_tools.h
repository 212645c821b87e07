#pragma once

namespace llmprof::collector {

// CUPTI has room for one subscriber, and we come first: a profiler within the program
// (torch.profiler) would find it taken. From here on, whoever in the process asks for CUPTI through
// the loader's tables gets it, once `give_way` has returned. Again where libraries were loaded
// since.
void watch_for_rivals(void (*give_way)());

}  // namespace llmprof::collector
