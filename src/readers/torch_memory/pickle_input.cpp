#include "readers/torch_memory/pickle_input.h"

#include <fmt/format.h>

namespace llmprof::readers::torch_memory {

void PickleInput::refuse(uint64_t offset, const std::string& why) const {
  give_up(ErrorKind::input, fmt::format("byte {}: {}", offset, why));
}

void PickleInput::refill() {
  before_ += end_;
  at_ = 0;
  end_ = needed(stream_.read(buffer_));
  if (end_ > 0) return;
  const std::string damage = stream_.damage();
  refuse(before_, fmt::format("the file ends before its pickle does ({}); copy the file again, or "
                              "dump the snapshot again",
                              damage.empty() ? "it is cut off" : damage));
}

}  // namespace llmprof::readers::torch_memory
