#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// The push/pop ranges open on a thread at a given time, as one path per combination.
class OpenRanges {
 public:
  explicit OpenRanges(const trace::Trace& trace);

  // Index of the path open at `time`; 0 is "none".
  [[nodiscard]] uint32_t at(trace::ThreadId thread, Nanoseconds time) const;
  // Range labels from the outermost, "decode_all/decode_step"; a label outside the default domain
  // is "domain@name". Empty for "none".
  [[nodiscard]] const std::string& path(uint32_t index) const { return paths_[index]; }
  [[nodiscard]] size_t path_count() const { return paths_.size(); }

 private:
  struct Change {
    Nanoseconds time;
    uint32_t path;
  };
  std::vector<std::string> paths_;
  std::vector<std::vector<Change>> changes_;  // by thread, in time order
};

}  // namespace llmprof::analysis
