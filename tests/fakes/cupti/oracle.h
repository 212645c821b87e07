#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// What became of every record of GPU work, for tests to hold the collector's log against: a line
//   FATE KIND START END CORRELATION DEVICE CONTEXT STREAM GRAPH NODE BYTES NAME
// in the file FAKE_CUPTI_ORACLE, written when the fate is known, so that a killed process leaves
// it.
namespace llmprof::fake {

enum class Fate {
  delivered,  // the subscriber has returned from bufferCompleted
  off,        // its kind was not enabled when it was launched, or nobody had subscribed
  dropped,    // lost, and counted for cuptiActivityGetNumDroppedRecords
};

void tell(Fate fate, const void* record);

// The lines of a buffer, made before the subscriber may reuse it.
class Delivery {
 public:
  Delivery(const uint8_t* buffer, size_t bytes);
  void tell_delivered() const;

 private:
  std::string lines_;
};

}  // namespace llmprof::fake
