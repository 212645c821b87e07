#include "collector/roles.h"

#include <cstdlib>
#include <cstring>

namespace llmprof::collector {
namespace {

constexpr size_t kLongestRole = 128;
constexpr const char* kStages[] = {"prefill", "decode_all", "decode"};
constexpr const char* kFirstStage = kStages[0];

struct RoleName {
  char text[kLongestRole] = {};
  size_t length = 0;

  // "LLM@decode_all" is the range decode_all.
  void set(const char* name) {
    const char* at = std::strchr(name, '@');
    const char* begin = at == nullptr ? name : at + 1;
    length = strnlen(begin, kLongestRole - 1);
    std::memcpy(text, begin, length);
  }
  [[nodiscard]] bool is(const char* name, size_t bytes) const {
    return length > 0 && bytes == length && std::memcmp(name, text, length) == 0;
  }
};

constinit RoleName step_range;
constinit RoleName arm_range;

bool is(const char* role, const char* name, size_t bytes) {
  return std::strlen(role) == bytes && std::memcmp(role, name, bytes) == 0;
}

}  // namespace

void read_roles() {
  const char* step = secure_getenv("LLMPROF_STEP_RANGE");
  step_range.set(step != nullptr && *step != '\0' ? step : "decode_step");
  const char* arm = secure_getenv("LLMPROF_ARM");
  const bool names_range =
      arm != nullptr && std::strcmp(arm, "start") != 0 && std::strcmp(arm, "command") != 0;
  if (names_range) arm_range.set(arm);
}

uint8_t roles_of(const NameText& name) {
  // Programs without NVTX domains use the name "LLM@prefill".
  constexpr char kPrefix[] = "LLM@";
  constexpr size_t kPrefixBytes = sizeof kPrefix - 1;
  const char* begin = name.bytes;
  size_t length = name.length;
  if (length > kPrefixBytes && std::memcmp(begin, kPrefix, kPrefixBytes) == 0) {
    begin += kPrefixBytes;
    length -= kPrefixBytes;
  }
  unsigned roles = kNoRole;
  if (step_range.is(begin, length)) roles |= kStepRole;
  if (arm_range.is(begin, length)) roles |= kArmRole;
  for (const char* stage : kStages) {
    if (is(stage, begin, length)) roles |= kStageRole;
  }
  if (is(kFirstStage, begin, length)) roles |= kRequestRole;
  return static_cast<uint8_t>(roles);
}

}  // namespace llmprof::collector
