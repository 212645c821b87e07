#include "layout.h"

#include <cupti_activity_deprecated.h>

#include <cstdlib>
#include <cstring>

#include "activity_fields.h"

namespace llmprof::fake {
namespace {

constexpr uint32_t kVersion13 = 130001;
constexpr uint32_t kVersion12 = 28;  // 12.9's: versions were small numbers before 13

bool plays_12() {
  static const bool is_12 = [] {
    const char* text = std::getenv("FAKE_CUPTI_VERSION");
    return text != nullptr && std::strcmp(text, "12") == 0;
  }();
  return is_12;
}

}  // namespace

uint32_t played_version() { return plays_12() ? kVersion12 : kVersion13; }

size_t delivered_bytes(CUpti_ActivityKind kind) {
  const bool kernel =
      kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  return kernel && plays_12() ? sizeof(CUpti_ActivityKernel9) : record_bytes(kind);
}

}  // namespace llmprof::fake
