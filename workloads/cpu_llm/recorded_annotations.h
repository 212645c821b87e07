#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cpu_llm::testing {

// What the code under test annotated; the tests replace the collector.
struct RecordedOperator {
  std::string name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  std::vector<std::string> within;  // open ranges, the outermost first
};

struct RecordedStep {
  uint32_t kind = 0;
  uint32_t batch = 0;
  uint64_t tokens = 0;
  std::string within;  // the innermost open range
};

struct RecordedCollective {
  uint32_t kind = 0;
  std::string name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t bytes = 0;
  std::string group;
  std::string members;
  uint32_t group_size = 0;
};

struct RecordedAnnotations {
  std::vector<std::string> open;
  std::vector<std::string> ranges;  // in the order of their starts
  std::vector<RecordedStep> steps;
  std::vector<RecordedOperator> operators;
  std::vector<RecordedCollective> collectives;
};

// While it lives, nothing is recorded: for tests with several threads.
class RecordingPaused {
 public:
  RecordingPaused();
  ~RecordingPaused();
  RecordingPaused(const RecordingPaused&) = delete;
  RecordingPaused& operator=(const RecordingPaused&) = delete;
};

// Removes what was recorded before.
RecordedAnnotations& record_annotations();

}  // namespace cpu_llm::testing
