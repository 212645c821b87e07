#include "base/machine.h"

#include <gtest/gtest.h>

namespace llmprof {
namespace {

TEST(UsableMemory, IsSomethingHere) { EXPECT_GT(usable_memory_bytes(), size_t{64} << 20U); }

}  // namespace
}  // namespace llmprof
