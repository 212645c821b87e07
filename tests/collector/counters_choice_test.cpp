// Which counters are sampled on a chip, by the real libcupti's host API, which needs no GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "collector/cuda/counters/pm_metrics.h"
#include "counters_stubs.h"

namespace llmprof::collector {
namespace {

const char* cupti_file() { return LLMPROF_CUPTI_LIBRARY; }

bool use_the_real_cupti() {
  void* library = dlopen(cupti_file(), RTLD_NOW | RTLD_LOCAL);
  counter_tests::machine().cupti = library;
  return library != nullptr && pm.load();
}

// Queried again, independently of the code under test.
size_t passes_of(const std::string& chip, const std::vector<const char*>& names) {
  CUpti_Profiler_Host_Initialize_Params begin{.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING,
                                              .pChipName = chip.c_str()};
  EXPECT_FALSE(pm.host_begin(begin));
  auto list = names;
  EXPECT_FALSE(pm.add_metrics(
      {.pHostObject = begin.pHostObject, .ppMetricNames = list.data(), .numMetrics = list.size()}));
  CUpti_Profiler_Host_GetConfigImageSize_Params size{.pHostObject = begin.pHostObject};
  EXPECT_FALSE(pm.config_size(size));
  std::vector<uint8_t> image(size.configImageSize);
  EXPECT_FALSE(pm.config({.pHostObject = begin.pHostObject,
                          .configImageSize = image.size(),
                          .pConfigImage = image.data()}));
  CUpti_Profiler_Host_GetNumOfPasses_Params passes{.configImageSize = image.size(),
                                                   .pConfigImage = image.data()};
  EXPECT_FALSE(pm.passes(passes));
  pm.host_end({.pHostObject = begin.pHostObject});
  return passes.numOfPasses;
}

struct Chip {
  const char* name;
  std::set<std::string> expected;  // a subset
};

class CounterChoice : public testing::TestWithParam<Chip> {
 protected:
  void SetUp() override {
    if (!use_the_real_cupti()) {
      GTEST_SKIP() << "no libcupti with PM sampling (" << cupti_file()
                   << "): it comes with the CUDA toolkit, 12.6 and later";
    }
  }
};

TEST_P(CounterChoice, FitsIntoOnePass) {
  MetricChoice choice;
  const PmFailure failure = choose_metrics(GetParam().name, nullptr, choice);
  ASSERT_FALSE(failure) << failure.call << ' ' << failure.result;
  const std::vector<const char*> names(choice.names, choice.names + choice.count);
  EXPECT_EQ(passes_of(GetParam().name, names), 1U);
  const std::set<std::string> taken(names.begin(), names.end());
  for (const std::string& name : GetParam().expected) EXPECT_TRUE(taken.contains(name)) << name;
  std::set<Quantity> quantities(choice.quantities, choice.quantities + choice.count);
  EXPECT_EQ(quantities.size(), choice.count) << "one metric for a quantity";
  EXPECT_GT(choice.config_bytes, 0U);
  release(choice);
}

constexpr char kSmActive[] = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr char kTensor[] =
    "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed";

INSTANTIATE_TEST_SUITE_P(
    Chips, CounterChoice,
    testing::Values(
        Chip{"GH100", {"dram__bytes_read.sum", "dram__bytes_write.sum", kSmActive, kTensor}},
        Chip{"GA100", {"dram__bytes_read.sum", "dram__bytes_write.sum", kSmActive}},
        Chip{"AD102", {"dram__bytes_read.sum", "dram__bytes_write.sum", kSmActive}},
        Chip{"GB100", {"dram__bytes_read.sum", "dram__bytes_write.sum", kSmActive}},
        Chip{"GB202", {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum", kSmActive}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(CounterChoice, IncludesAllThatReportsUseOnTensorChips) {
  for (const char* chip : {"GH100", "GA100", "AD102", "GB100", "GB202"}) {
    MetricChoice choice;
    ASSERT_FALSE(choose_metrics(chip, nullptr, choice));
    for (const Quantity quantity : {Quantity::dram_read, Quantity::dram_write, Quantity::sm_active,
                                    Quantity::tensor_active}) {
      EXPECT_TRUE(has(choice, quantity)) << chip << ' ' << static_cast<int>(quantity);
    }
    release(choice);
  }
}

TEST_F(CounterChoice, AnUnknownChipIsAFailure) {
  MetricChoice choice;
  const PmFailure failure = choose_metrics("XX999", nullptr, choice);
  ASSERT_TRUE(failure);
  EXPECT_STREQ(failure.call, "cuptiProfilerHostInitialize");
  EXPECT_EQ(choice.count, 0U);
}

}  // namespace
}  // namespace llmprof::collector
