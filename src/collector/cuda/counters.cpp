#include "collector/cuda/counters.h"
namespace llmprof::collector {
void configure_counters(const CounterSettings&) {}
void prepare_counters() {}
void start_counters() {}
void drain_counters() {}
void stop_counters() {}
void sample_sensors() {}
void ask_for_sensors() {}
}  // namespace llmprof::collector
