#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The fate of every record of GPU work, which tests compare with the collector's log: a line
//   FATE KIND START END CORRELATION DEVICE CONTEXT STREAM GRAPH NODE BYTES NAME
// in the file FAKE_CUPTI_ORACLE, written as soon as the fate is known, so that a killed process
// leaves it.
namespace llmprof::fake {

enum class Fate {
  delivered,   // the subscriber has returned from bufferCompleted
  off,         // its kind was not enabled when it was launched, or there was no subscriber
  dropped,     // lost, and counted for cuptiActivityGetNumDroppedRecords
  unfinished,  // forced out before its end, and delivered without times
  broken,      // it would have failed: graphs_are_broken
  lost,        // not delivered when CUPTI was finalized
};

void write_fate(Fate fate, const void* record);

// The lines of a buffer, made before the subscriber may reuse it.
class BufferLines {
 public:
  BufferLines(const uint8_t* buffer, size_t bytes);
  void write_fate(Fate fate) const;

 private:
  std::vector<std::string> lines_;  // without their fate
};

}  // namespace llmprof::fake
