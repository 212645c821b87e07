#include <gtest/gtest.h>

#include "report/format/part_names.h"
#include "report/format/sentences.h"

namespace llmprof::report {
namespace {

TEST(PartNames, AreSpelledForReaders) {
  EXPECT_EQ(shown_name("quantise"), "quantization");
  EXPECT_EQ(shown_name("idle: synchronisation"), "idle: synchronization");
  EXPECT_EQ(shown_name("gemm"), "gemm");
}

TEST(PartNames, ArePlainForPeopleWhoWriteNoKernels) {
  EXPECT_EQ(plain_part_name("gemm"), "matrix products");
  EXPECT_EQ(plain_part_name("between operators"), "what runs between operators");
  EXPECT_EQ(plain_part_name("quantise"), "quantization");
  EXPECT_EQ(plain_part_name("attention"), "attention");
}

TEST(Sentences, BeginAndEndAsTheirPlaceAsks) {
  EXPECT_EQ(sentence("no kernel ran"), "No kernel ran.");
  EXPECT_EQ(clause("No kernel ran."), "no kernel ran.");
  EXPECT_EQ(clause("NVTX ranges are missing"), "NVTX ranges are missing.");
  EXPECT_EQ(sentence("llm/llama3_8b is not known"), "llm/llama3_8b is not known.");
}

}  // namespace
}  // namespace llmprof::report
