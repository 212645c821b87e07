#include "job/profile/amounts.h"

namespace llmprof::job::result {

std::string device_of_rank(uint64_t rank, const std::string& device) {
  return "rank" + std::to_string(rank) + "/" + device;
}

}  // namespace llmprof::job::result
