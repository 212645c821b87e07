#pragma once

#include <cstdint>

namespace llmprof {

enum class CollectiveKind : uint8_t {
  other,
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  send,
  receive,
  barrier
};

}  // namespace llmprof
