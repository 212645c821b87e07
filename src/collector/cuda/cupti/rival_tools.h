#pragma once

namespace llmprof::collector {

// CUPTI has room for one subscriber, and we come first: a profiler inside the program
// (torch.profiler) would be refused. From now on, calls of cuptiSubscribe through the import tables
// of the loaded libraries call `give_way` first. To be called again when libraries were loaded
// since.
void watch_for_rivals(void (*give_way)());

}  // namespace llmprof::collector
