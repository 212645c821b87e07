#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "trace/builder.h"

namespace llmprof::analysis {
namespace {

using Rank = std::optional<uint32_t>;

// Labels for captures a.llmtrace, b.llmtrace, ..., each with one GPU and, except `idle`, a queue on
// it.
std::vector<std::string> labels(const std::vector<Rank>& ranks, size_t idle = SIZE_MAX) {
  trace::TraceBuilder builder;
  std::vector<trace::DeviceId> devices;
  for (size_t i = 0; i < ranks.size(); ++i) {
    trace::Capture capture;
    capture.path = std::string("runs/") + static_cast<char>('a' + i) + ".llmtrace";
    capture.rank = ranks[i];
    builder.begin_capture(capture);
    devices.push_back(builder.device(0));
    if (i != idle) builder.queue({builder.process(i, i), devices[i], 0, 0});
  }
  const trace::Trace trace = std::move(builder).freeze();
  std::vector<std::string> names;
  for (const trace::DeviceId device : devices) names.push_back(device_label(trace, device));
  return names;
}

TEST(DeviceLabel, IsTheOrdinalAloneInOneCapture) {
  EXPECT_EQ(labels({std::nullopt}), std::vector<std::string>{"cuda:0"});
  EXPECT_EQ(labels({3}), std::vector<std::string>{"cuda:0"});
}

TEST(DeviceLabel, NamesTheRankWhereRanksTellCapturesApart) {
  EXPECT_EQ(labels({3, 0}), (std::vector<std::string>{"rank3/cuda:0", "rank0/cuda:0"}));
  // A capture without work does not matter.
  EXPECT_EQ(labels({1, 0, std::nullopt}, 2)[0], "rank1/cuda:0");
}

TEST(DeviceLabel, NamesTheFileWhereTheyDoNot) {
  const std::vector<std::string> files = {"a.llmtrace/cuda:0", "b.llmtrace/cuda:0"};
  EXPECT_EQ(labels({1, 1}), files);
  EXPECT_EQ(labels({1, std::nullopt}), files);
  EXPECT_EQ(labels({std::nullopt, std::nullopt}), files);
}

}  // namespace
}  // namespace llmprof::analysis
