#include <gtest/gtest.h>

#include "report/format/request_words.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

TEST(PartNames, AreSpelledForReaders) {
  EXPECT_EQ(shown_text("quantise"), "quantization");
  EXPECT_EQ(shown_text("idle: synchronisation"), "idle: synchronization");
  EXPECT_EQ(in_words(profile::CaptureFormat::workload_metrics), "the workload's own metrics");
  EXPECT_EQ(in_words(profile::CaptureFormat::nsys_sqlite), "nsys SQLite");
  EXPECT_EQ(shown_text("all_reduce"), "all-reduce");
  EXPECT_EQ(shown_text("barrier"), "barrier");
  EXPECT_EQ(shown_text("nvlink"), "NVLink");
  EXPECT_EQ(shown_text("gemm"), "gemm");
}

TEST(PartNames, ArePlainForPeopleWhoWriteNoKernels) {
  EXPECT_EQ(look_of(*profile::find_word<profile::TimePart>("gemm")).plain, "matrix products");
  EXPECT_EQ(look_of(*profile::find_word<profile::TimePart>("between operators")).plain,
            "code between operators");
  EXPECT_EQ(look_of(*profile::find_word<profile::TimePart>("quantise")).plain, "quantization");
  EXPECT_EQ(look_of(*profile::find_word<profile::TimePart>("elementwise")).plain,
            "element-wise operations");
  EXPECT_EQ(look_of(*profile::find_word<profile::TimePart>("attention")).plain, "attention");
}

TEST(RequestWords, HaveATextForEachPart) {
  for (const auto& word : profile::kWords<RequestPart>) {
    EXPECT_FALSE(look_of(word.value).shown.empty()) << word.name;
    EXPECT_FALSE(look_of(word.value).plain.empty()) << word.name;
    EXPECT_TRUE(look_of(word.value).why.ends_with('.')) << word.name;
  }
  const auto later = *profile::read_word<RequestPart>("a part of the future");
  EXPECT_EQ(look_of(later).shown, "a part of the future");
  EXPECT_EQ(in_words(RequestFigure::itl), "inter-token latency");
  EXPECT_EQ(value_word(RequestFigure::itl), "token");
  EXPECT_EQ(value_word(RequestFigure::ttft), "request");
}

TEST(RequestWords, TheTailToShowIsThatOfTokensWithTheHighestQuantile) {
  profile::Requests requests;
  const auto add = [&](RequestFigure figure, double quantile, double more) {
    requests.tail.push_back(
        {figure, {quantile}, {5}, 2, 4, {{RequestPart::host, {3}, {1}, {more}}}, std::nullopt});
  };
  EXPECT_EQ(headline_tail(requests), nullptr);
  add(RequestFigure::ttft, 0.99, 2);
  EXPECT_EQ(headline_tail(requests), &requests.tail[0]);
  add(RequestFigure::itl, 0.9, 2);
  add(RequestFigure::itl, 0.99, 2);
  add(RequestFigure::itl, 0.999, -1);
  EXPECT_EQ(headline_tail(requests), &requests.tail[2]);
  EXPECT_EQ(tail_words(requests.tail[2]),
            "host (2.000 ms more) in inter-token latency of 5.0000 ms and more (2 tokens)");
  EXPECT_EQ(tail_words(requests.tail[3]), "");
}

TEST(Sentences, EnumerateWithOneAnd) {
  EXPECT_EQ(enumeration({}), "");
  EXPECT_EQ(enumeration({"a"}), "a");
  EXPECT_EQ(enumeration({"a", "b"}), "a and b");
  EXPECT_EQ(enumeration({"a", "b", "c"}), "a, b and c");
}

TEST(Sentences, BeginAndEndAsTheirPlaceAsks) {
  EXPECT_EQ(sentence("no kernel ran"), "No kernel ran.");
  EXPECT_EQ(clause("No kernel ran."), "no kernel ran.");
  EXPECT_EQ(clause("NVTX ranges are missing"), "NVTX ranges are missing.");
  EXPECT_EQ(sentence("llm/llama3_8b is not known"), "llm/llama3_8b is not known.");
}

TEST(Sentences, ContinueInSmallLettersBehindAColon) {
  EXPECT_EQ(after_colon("The GPU waits for the host"), "the GPU waits for the host");
  EXPECT_EQ(after_colon("FlashAttention 2 is in use"), "FlashAttention 2 is in use");
  EXPECT_EQ(after_colon("CUDA graphs are in use"), "CUDA graphs are in use");
  EXPECT_EQ(after_colon("40.0 % of GPU time"), "40.0 % of GPU time");
  EXPECT_EQ(after_colon(""), "");
}

}  // namespace
}  // namespace llmprof::report
