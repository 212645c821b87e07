#include "cpu_llm/recorded_annotations.h"

#include <llmprof/annotate.h>

namespace cpu_llm::testing {
namespace {

RecordedAnnotations recorded;
bool paused = false;

void push(const char* name) {
  if (paused) return;
  recorded.open.emplace_back(name);
  recorded.ranges.emplace_back(name);
}
void pop() {
  if (!paused) recorded.open.pop_back();
}
void step(uint32_t kind, uint32_t batch, uint64_t tokens) {
  if (paused) return;
  recorded.steps.push_back(
      {kind, batch, tokens, recorded.open.empty() ? "" : recorded.open.back()});
}
void cpu_operator(const char* name, int64_t start_ns, int64_t end_ns, uint64_t flops,
                  uint64_t bytes) {
  if (paused) return;
  recorded.operators.push_back({name, start_ns, end_ns, flops, bytes, recorded.open});
}

void collective(uint32_t kind, const char* name, int64_t start_ns, int64_t end_ns, uint64_t bytes,
                const char* group, const char* members, uint32_t group_size) {
  if (paused) return;
  recorded.collectives.push_back({kind, name, start_ns, end_ns, bytes, group, members, group_size});
}

const llmprof_annotation_table kTable = {sizeof(llmprof_annotation_table),
                                         push,
                                         pop,
                                         llmprof_ignore_start_,
                                         llmprof_ignore_end_,
                                         llmprof_ignore_name_,
                                         step,
                                         cpu_operator,
                                         collective};

}  // namespace

RecordingPaused::RecordingPaused() { paused = true; }
RecordingPaused::~RecordingPaused() { paused = false; }

RecordedAnnotations& record_annotations() {
  recorded = {};
  return recorded;
}

}  // namespace cpu_llm::testing

// annotate.h looks up this name in the process first.
extern "C" const llmprof_annotation_table* llmprof_annotation_functions() {
  return &cpu_llm::testing::kTable;
}
