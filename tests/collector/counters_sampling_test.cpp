// The collector's counters and sensors from set-up to records, on tests/fakes/cupti and
// tests/fakes/nvml, which describe the values that they make up. Time passes only while a test
// sleeps (played_clock.cpp).
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <ostream>

#include "collector/cuda/counters/counters.h"
#include "collector/cuda/counters/samples.h"
#include "collector/environment.h"
#include "counters_stubs.h"

namespace llmprof::collector {
namespace {

using counter_tests::machine;
using counter_tests::Recorded;
using counter_tests::run;
using counter_tests::Sample;

constexpr int64_t kMillisecond = 1'000'000;
constexpr CounterSettings kCountersAlone = {true, 10'000, false};
constexpr CounterSettings kSensorsAlone = {false, 0, true};

void sleep_ms(int ms) { usleep(static_cast<useconds_t>(ms) * 1000); }

// Like the collector's thread.
void drain_for(int ms) {
  for (int i = 0; i < ms / 20; ++i) {
    sleep_ms(20);
    drain_counters();
  }
}

void sample_for(int ms, const CounterSettings& settings = kCountersAlone) {
  prepare_counters(settings);
  start_counters();
  drain_for(ms);
  stop_counters();
}

size_t column(const counter_tests::Set& set, const std::string& name) {
  for (size_t i = 0; i < set.columns.size(); ++i) {
    if (set.columns[i].name == name) return i;
  }
  ADD_FAILURE() << "no column " << name;
  return 0;
}

std::vector<Sample> of_set(const Recorded& recorded, uint32_t set) {
  std::vector<Sample> samples;
  for (const Sample& sample : recorded.samples) {
    if (sample.head.set == set) samples.push_back(sample);
  }
  return samples;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Counters, SamplesAreContiguousAndHaveTheSumsOfTheirTime) {
  const int64_t before = now_ns();
  const Recorded recorded = run([] { sample_for(300); });
  const int64_t after = now_ns();
  ASSERT_EQ(recorded.exit_status, 0);
  ASSERT_EQ(recorded.sets.size(), 1U);
  const auto& set = recorded.sets[0];
  EXPECT_EQ(set.head.device, 0U);
  EXPECT_EQ(set.head.period, 100'000);
  EXPECT_TRUE(recorded.off.empty());
  const size_t read = column(set, "dram__bytes_read.sum");
  const size_t write = column(set, "dram__bytes_write.sum");
  const size_t active = column(set, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed");
  EXPECT_EQ(set.columns[read].unit, "byte");
  EXPECT_EQ(set.columns[active].unit, "%");
  ASSERT_GT(recorded.samples.size(), 1U);
  for (const Sample& sample : recorded.samples) {
    EXPECT_EQ(sample.head.set, set.head.set);
    ASSERT_EQ(sample.values.size(), set.columns.size());
    EXPECT_EQ(sample.head.end - sample.head.start, 100'000);
    EXPECT_EQ(sample.values[read], 100'000);
    EXPECT_EQ(sample.values[write], 50'000);
    EXPECT_EQ(sample.values[active], 75);
    // The fake's first sample starts a second before sampling does.
    EXPECT_GE(sample.head.start, before);
    EXPECT_LE(sample.head.end, after);
  }
  size_t holes = 0;
  for (size_t i = 1; i < recorded.samples.size(); ++i) {
    EXPECT_GE(recorded.samples[i].head.start, recorded.samples[i - 1].head.end);
    if (recorded.samples[i].head.start > recorded.samples[i - 1].head.end) ++holes;
  }
  EXPECT_LE(holes, recorded.lost) << "nothing is lost without being counted";
}

// Bytes, percent of SMs active, Hz.
MetricChoice three_metrics() {
  MetricChoice choice;
  const WantedMetric metrics[] = {{Quantity::dram_read, "read", "byte"},
                                  {Quantity::sm_active, "active", "%"},
                                  {Quantity::sm_clock, "clock", "Hz"}};
  for (const WantedMetric& metric : metrics) {
    choice.names[choice.count] = metric.name;
    choice.units[choice.count] = metric.unit;
    choice.quantities[choice.count] = metric.quantity;
    ++choice.count;
  }
  return choice;
}

TEST(Counters, IdleSamplesAreMergedWithTheirSumsAndAverages) {
  const Recorded recorded = run([] {
    const MetricChoice choice = three_metrics();
    QuietSamples samples(choice,
                         write_counter_set(0, kMillisecond, {choice.names, choice.units, 3}));
    const auto add = [&](int64_t begin_ms, int64_t end_ms, double bytes, double active, double hz) {
      const double values[] = {bytes, active, hz};
      samples.add({begin_ms * kMillisecond, end_ms * kMillisecond}, values);
    };
    add(0, 1, 100, 0, 1000);
    add(1, 4, 300, 0, 3000);
    add(4, 5, 10e6, 0, 2000);  // a copy
    add(5, 6, 0, 0, 2000);
    add(7, 8, 0, 0, 2000);  // after a lost sample
    add(8, 9, std::nan(""), 0, 2000);
    add(9, 10, 0, 0.1, 2000);
  });
  ASSERT_EQ(recorded.exit_status, 0);
  const std::vector<std::pair<int64_t, int64_t>> times = {{0, 4}, {4, 5}, {5, 6},
                                                          {7, 8}, {8, 9}, {9, 10}};
  ASSERT_EQ(recorded.samples.size(), times.size());
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(recorded.samples[i].head.start, times[i].first * kMillisecond);
    EXPECT_EQ(recorded.samples[i].head.end, times[i].second * kMillisecond);
  }
  EXPECT_EQ(recorded.samples[0].values, (std::vector<double>{400, 0, 2500}));
}

TEST(Counters, StopDeliversTheRestAndSamplingCanStartAgain) {
  const Recorded recorded = run([] {
    prepare_counters(kCountersAlone);
    for (int i = 0; i < 2; ++i) {
      start_counters();
      sleep_ms(5);  // too short for a drain
      stop_counters();
      sleep_ms(20);
    }
    start_counters();
    stop_counters();
    drain_counters();
  });
  EXPECT_EQ(recorded.exit_status, 0);
  EXPECT_EQ(recorded.sets.size(), 1U);
  ASSERT_GE(recorded.samples.size(), 2U * 40);
  int64_t longest_pause = 0;
  for (size_t i = 1; i < recorded.samples.size(); ++i) {
    longest_pause =
        std::max(longest_pause, recorded.samples[i].head.start - recorded.samples[i - 1].head.end);
  }
  EXPECT_GE(longest_pause, 20 * kMillisecond) << "nothing was sampled between stop and start";
}

TEST(Counters, ChoosingThemDoesNotReserveTheGpu) {
  const Recorded recorded = run([] {
    setenv("FAKE_PM_FAIL", "cuptiPmSamplingEnable:43,cuptiPmSamplingSetConfig:43", 1);
    prepare_counters(kCountersAlone);
  });
  EXPECT_EQ(recorded.exit_status, 0);
  EXPECT_TRUE(recorded.off.empty()) << recorded.off[0];
}

TEST(Counters, TheyAreSampledAgainAfterAPause) {
  const Recorded recorded = run([] {
    prepare_counters(kCountersAlone);
    for (int i = 0; i < 2; ++i) {
      start_counters();
      sleep_ms(5);
      pause_counters();
      pause_counters();  // no effect
      sleep_ms(20);
    }
    // The counters are released: a failure to enable them is reported at the next start, not
    // before.
    setenv("FAKE_PM_FAIL", "cuptiPmSamplingEnable:26", 1);
    drain_counters();
    start_counters();
    drain_counters();
    stop_counters();
    end_counters();
  });
  EXPECT_EQ(recorded.exit_status, 0);
  EXPECT_EQ(recorded.sets.size(), 1U);
  EXPECT_GE(recorded.samples.size(), 2U * 40);
  ASSERT_EQ(recorded.off.size(), 1U);
  EXPECT_TRUE(holds(recorded.off[0], "another program uses the GPU's counters")) << recorded.off[0];
}

TEST(Counters, AnotherSystemClockIsRecognized) {
  const int64_t before = now_ns();
  const Recorded recorded = run([] {
    setenv("FAKE_PM_CLOCK", "realtime", 1);
    sample_for(100);
  });
  const int64_t after = now_ns();
  EXPECT_TRUE(recorded.off.empty());
  ASSERT_FALSE(recorded.samples.empty());
  for (const Sample& sample : recorded.samples) {
    EXPECT_GE(sample.head.start, before);
    EXPECT_LE(sample.head.end, after + kMillisecond);
  }
}

TEST(Counters, TimesOnAnUnknownClockAreNotRecorded) {
  const Recorded recorded = run([] {
    setenv("FAKE_PM_CLOCK", "none", 1);
    sample_for(400);
  });
  EXPECT_EQ(recorded.exit_status, 0);
  EXPECT_TRUE(recorded.samples.empty());
  EXPECT_GE(recorded.lost, 1U);
  ASSERT_EQ(recorded.off.size(), 1U);
  EXPECT_TRUE(holds(recorded.off[0], "clock")) << recorded.off[0];
}

TEST(Counters, SamplingContinuesAfterABufferOverflow) {
  const Recorded recorded = run([] {
    setenv("FAKE_PM_BUFFER_SAMPLES", "3000", 1);
    prepare_counters(kCountersAlone);
    start_counters();
    sleep_ms(350);  // 3,500 samples
    drain_counters();
    drain_for(200);
    stop_counters();
  });
  EXPECT_GE(recorded.lost, 1U);
  EXPECT_TRUE(recorded.off.empty());
  EXPECT_FALSE(recorded.samples.empty());
}

TEST(Counters, SamplesThatDoNotFitIntoTheImageAreCountedAsLost) {
  const Recorded recorded = run([] {
    prepare_counters(kCountersAlone);
    start_counters();
    sleep_ms(300);  // 3,000 samples; the image has room for 2,000
    drain_counters();
    stop_counters();
  });
  EXPECT_GE(recorded.lost, 1U);
  EXPECT_TRUE(recorded.off.empty());
  EXPECT_GE(recorded.samples.size(), 1999U);
}

TEST(Counters, ABufferThatNeverDrainsEndsSampling) {
  const Recorded recorded = run([] {
    setenv("FAKE_PM_BUFFER_SAMPLES", "0", 1);
    sample_for(600);
  });
  EXPECT_EQ(recorded.lost, 4U);
  ASSERT_EQ(recorded.off.size(), 1U);
  EXPECT_TRUE(holds(recorded.off[0], "cuptiPmSamplingDecodeData failed with CUPTI result 8"))
      << recorded.off[0];
}

TEST(Counters, SmallerHardwareBuffersAreTried) {
  const Recorded recorded = run([] {
    setenv("FAKE_PM_BUFFER_LIMIT", "10000000", 1);
    sample_for(100);
  });
  EXPECT_TRUE(recorded.off.empty());
  EXPECT_FALSE(recorded.samples.empty());
}

struct Refusal {
  const char* name;
  const char* failure;
  uint32_t devices;
  std::vector<std::string> parts;  // of the message, one per record

  friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }
};

class CountersOff : public testing::TestWithParam<Refusal> {};

TEST_P(CountersOff, IsReportedWithItsRemedy) {
  const Recorded recorded = run([] {
    setenv("FAKE_PM_FAIL", GetParam().failure, 1);
    machine().devices = GetParam().devices;
    machine().in_use = {0, 1};
    sample_for(60);
  });
  EXPECT_EQ(recorded.exit_status, 0);
  EXPECT_TRUE(recorded.samples.empty());
  ASSERT_EQ(recorded.off.size(), GetParam().parts.size());
  for (size_t i = 0; i < recorded.off.size(); ++i) {
    EXPECT_TRUE(holds(recorded.off[i], GetParam().parts[i])) << recorded.off[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Refusals, CountersOff,
    testing::Values(
        Refusal{"Permission",
                "cuptiPmSamplingSetConfig:35",
                2,
                {"NVreg_RestrictProfilingToAdminUsers=0"}},
        Refusal{"PermissionEarly",
                "cuptiPmSamplingGetCounterAvailability:35",
                1,
                {"GPU 0 (GH100): the driver restricts counters to administrators"}},
        Refusal{"Busy",
                "cuptiPmSamplingStart:26",
                2,
                {"GPU 0 (GH100): another program", "GPU 1 (GH100): another program"}},
        Refusal{"Mig", "cuptiPmSamplingEnable:43", 1, {"has no PM sampling"}},
        Refusal{"NoDriver",
                "cuptiProfilerInitialize:999",
                1,
                {"cuptiProfilerInitialize failed with CUPTI result 999"}},
        Refusal{"ChipUnknown", "cuptiProfilerHostInitialize:46", 1, {"has no PM sampling"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Counters, AnOldCuptiIsNamedWithItsVersion) {
  const Recorded recorded = run([] {
    machine().missing_symbol = "cuptiPmSamplingEnable";
    sample_for(40);
  });
  ASSERT_EQ(recorded.off.size(), 1U);
  EXPECT_TRUE(holds(recorded.off[0], "/opt/fake/libcupti.so.12 (version 18)"));
  EXPECT_TRUE(holds(recorded.off[0], "CUDA 12.6"));
  EXPECT_TRUE(recorded.samples.empty());
}

TEST(Counters, MissingMetricsAreReportedAndTheOthersSampled) {
  const Recorded recorded = run([] {
    setenv("FAKE_PM_REFUSE", "dram__", 1);
    setenv("FAKE_PM_CHIP", "GB10B", 1);
    sample_for(60);
  });
  ASSERT_EQ(recorded.off.size(), 1U);
  EXPECT_EQ(recorded.off[0],
            "GPU 0 (GB10B) cannot sample DRAM bytes; its other counters are recorded");
  EXPECT_FALSE(recorded.samples.empty());
}

TEST(Counters, MetricsThatNeedASecondPassAreLeftOut) {
  const Recorded recorded = run([] {
    setenv("FAKE_PM_ONE_PASS", "4", 1);
    sample_for(60);
  });
  ASSERT_EQ(recorded.sets.size(), 1U);
  EXPECT_EQ(recorded.sets[0].columns.size(), 4U);
  EXPECT_EQ(recorded.sets[0].columns[0].name, "dram__bytes_read.sum");
  EXPECT_TRUE(recorded.off.empty());
}

TEST(Counters, ChipsWithoutATriggerByTimeHaveNoPeriod) {
  const Recorded recorded = run([] {
    setenv("FAKE_PM_CHIP", "GA100", 1);
    sample_for(60);
  });
  ASSERT_EQ(recorded.sets.size(), 1U);
  EXPECT_EQ(recorded.sets[0].head.period, 0);
}

TEST(Counters, OnlyDevicesInUseAreSampled) {
  const Recorded recorded = run([] {
    machine().devices = 4;
    machine().in_use = {1};
    prepare_counters(kCountersAlone);
    start_counters();
    drain_for(60);
    machine().in_use = {1, 3};
    drain_for(400);  // devices in use are checked every 250 ms
    stop_counters();
  });
  ASSERT_EQ(recorded.sets.size(), 2U);
  EXPECT_EQ(recorded.sets[0].head.device, 1U);
  EXPECT_EQ(recorded.sets[1].head.device, 3U);
  const auto first = of_set(recorded, recorded.sets[0].head.set);
  const auto second = of_set(recorded, recorded.sets[1].head.set);
  ASSERT_FALSE(first.empty());
  ASSERT_FALSE(second.empty());
  EXPECT_LT(first.front().head.start, second.front().head.start);
}

TEST(Counters, TheRateIsChosenByTheNumberOfDevices) {
  for (const auto& [devices, period] : {std::pair{1U, 1'000'000}, std::pair{8U, 2'000'000}}) {
    const Recorded recorded = run([count = devices] {
      machine().devices = count;
      sample_for(40, {true, 0, false});
    });
    ASSERT_EQ(recorded.sets.size(), 1U);
    EXPECT_EQ(recorded.sets[0].head.period, period) << devices;
  }
}

TEST(Counters, InRoundsTheyAreSampledTwiceAsOften) {
  const Recorded recorded = run([] {
    prepare_counters({true, 0, false});
    for (const bool round : {false, true, true}) {
      start_counters(round);
      sleep_ms(10);
      pause_counters();
    }
  });
  ASSERT_EQ(recorded.sets.size(), 2U);
  EXPECT_EQ(recorded.sets[0].head.period, 1'000'000);
  EXPECT_EQ(recorded.sets[1].head.period, 500'000);
  EXPECT_FALSE(of_set(recorded, recorded.sets[0].head.set).empty());
  EXPECT_FALSE(of_set(recorded, recorded.sets[1].head.set).empty());
  for (const Sample& sample : of_set(recorded, recorded.sets[1].head.set)) {
    EXPECT_EQ(sample.head.end - sample.head.start, 500'000);
  }
}

TEST(Counters, ARequestedRateAlsoAppliesInRounds) {
  const Recorded recorded = run([] {
    prepare_counters({true, 100, false});
    start_counters(true);
  });
  ASSERT_EQ(recorded.sets.size(), 1U);
  EXPECT_EQ(recorded.sets[0].head.period, 10'000'000);
}

TEST(Counters, NoFasterThanItCanBeDrained) {
  const Recorded recorded = run([] { sample_for(40, {true, 1'000'000, false}); });
  ASSERT_EQ(recorded.sets.size(), 1U);
  EXPECT_EQ(recorded.sets[0].head.period, 100'000);
}

TEST(Counters, NothingIfNothingIsRequested) {
  const Recorded recorded = run([] {
    sample_for(40, {false, 0, false});
    sample_sensors();
  });
  EXPECT_EQ(recorded.exit_status, 0);
  EXPECT_TRUE(recorded.writers.empty());
}

TEST(Counters, NothingBeforeTheyArePrepared) {
  const Recorded recorded = run([] {
    start_counters();
    drain_counters();
    stop_counters();
    request_sensors();
    sample_sensors();
  });
  EXPECT_EQ(recorded.exit_status, 0);
  EXPECT_TRUE(recorded.writers.empty());
}

TEST(Counters, AForkedChildRecordsNothingAndTheParentContinues) {
  const Recorded recorded = run([] {
    setenv("LLMPROF_NVML", LLMPROF_FAKE_NVML, 1);
    prepare_counters({true, 10'000, true});
    start_counters();
    drain_for(60);
    const pid_t child = fork();
    if (child == 0) {
      request_sensors();
      sample_sensors();
      drain_for(60);
      stop_counters();
      start_counters();
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    drain_for(60);
    stop_counters();
    sample_sensors();
  });
  EXPECT_EQ(recorded.exit_status, 0);
  ASSERT_FALSE(recorded.writers.empty());
  for (const pid_t writer : recorded.writers) EXPECT_EQ(writer, recorded.writers[0]);
  EXPECT_EQ(recorded.sets.size(), 2U);
}

Recorded run_sensors(const std::function<void()>& scenario) {
  return run([&] {
    setenv("LLMPROF_NVML", LLMPROF_FAKE_NVML, 1);
    prepare_counters(kSensorsAlone);
    scenario();
  });
}

TEST(Sensors, OneReadingHasTheUnitsOfItsColumns) {
  const Recorded recorded = run_sensors([] {
    sample_sensors();
    sample_sensors();  // not yet due
  });
  ASSERT_EQ(recorded.sets.size(), 1U);
  std::string columns;
  for (const auto& one : recorded.sets[0].columns) columns += one.name + '/' + one.unit + ' ';
  EXPECT_EQ(columns,
            "sm_clock/MHz memory_clock/MHz power/W temperature/C throttle_reasons/mask energy/J ");
  ASSERT_EQ(recorded.samples.size(), 1U);
  const Sample& sample = recorded.samples[0];
  EXPECT_EQ(sample.head.start, sample.head.end);
  ASSERT_EQ(sample.values.size(), 6U);
  EXPECT_EQ(sample.values[0], 1980);
  EXPECT_EQ(sample.values[1], 3201);
  EXPECT_DOUBLE_EQ(sample.values[2], 145.25);
  EXPECT_TRUE(std::isnan(sample.values[3])) << "the board has no such sensor";
  EXPECT_EQ(sample.values[4], 4);
  EXPECT_DOUBLE_EQ(sample.values[5], 22'002.5);
}

TEST(Sensors, AreReadOnRequestButNotFasterThanTheyChange) {
  const Recorded recorded = run_sensors([] {
    sample_sensors();
    request_sensors();
    sample_sensors();
    for (int i = 0; i < 20; ++i) {
      sleep_ms(10);
      sample_sensors();
    }
  });
  ASSERT_GE(recorded.samples.size(), 2U);
  const int64_t between = recorded.samples[1].head.end - recorded.samples[0].head.end;
  EXPECT_GE(between, 99 * kMillisecond);
  EXPECT_LT(between, 1000 * kMillisecond) << "sooner than without a request";
}

TEST(Sensors, TakeNoMoreThanTheirShareOfTheTime) {
  constexpr double kShare = 0.1;
  const Recorded recorded = run([] {
    setenv("LLMPROF_NVML", LLMPROF_FAKE_NVML, 1);
    setenv("FAKE_NVML_ENERGY_MS", "20", 1);
    prepare_counters({false, 0, true, false, kShare});
    for (int i = 0; i < 50; ++i) {
      request_sensors();
      sample_sensors();
      sleep_ms(10);
    }
  });
  ASSERT_GE(recorded.samples.size(), 2U);
  const int64_t between = recorded.samples[1].head.end - recorded.samples[0].head.end;
  EXPECT_GE(between, 200 * kMillisecond) << "20 ms are a tenth of it";
}

TEST(Sensors, ADeviceIsAlsoFoundByItsUuid) {
  for (const char* bus_id : {"", "unknown"}) {
    machine().pci_bus_id = bus_id;
    const Recorded recorded = run_sensors([] { sample_sensors(); });
    EXPECT_EQ(recorded.samples.size(), 1U) << bus_id;
  }
  machine() = {};
}

TEST(Sensors, OnlyDevicesInUseAreRead) {
  const Recorded recorded = run_sensors([] {
    machine().in_use = {};
    sample_sensors();
  });
  EXPECT_TRUE(recorded.writers.empty());
}

TEST(Sensors, WithoutNvmlThereIsOneMessage) {
  const Recorded recorded = run([] {
    setenv("LLMPROF_NVML", "/nowhere/libnvidia-ml.so.1", 1);
    prepare_counters(kSensorsAlone);
    for (int i = 0; i < 3; ++i) sample_sensors();
  });
  EXPECT_TRUE(recorded.samples.empty());
  ASSERT_EQ(recorded.off.size(), 1U);
  EXPECT_TRUE(holds(recorded.off[0], "NVIDIA_DRIVER_CAPABILITIES=compute,utility"));
}

}  // namespace
}  // namespace llmprof::collector
