// What a log says about the process, its GPUs, when it was recording, and counters.
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "testing/readers/collector_log.h"
#include "testing/readers/read_collector_log.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::message_of;
using testing::read_or_fail;
using testing::TestLog;
using wire::RecordType;

// A closed log, with `strings` defined at its end under the keys 1, 2, ...
template <class Fill>
std::string log_with(const std::vector<std::string_view>& strings, const Fill& fill) {
  TestLog log;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 1});
  log.chunk(wire::ChunkKind::device, 0);
  fill(log);
  log.chunk(wire::ChunkKind::strings, 0);
  wire::StringKey key = 0;
  for (const std::string_view text : strings) log.add_text(++key, text);
  return log.bytes();
}

TEST(CollectorLogSession, DescribesCudaAndItsDevices) {
  wire::CudaDevice device{};
  device.ordinal = 1;
  device.sm_count = 132;
  device.memory_bytes = 150'109'880'320;
  device.memory_bandwidth = 4'814'304'000'000;
  device.clock_hz = 1'980'000'000;
  device.capability_major = 9;
  const uint8_t uuid[] = {0x3d, 0x79, 0xc6, 0xfb, 0x88, 0x38, 0xe9, 0x18,
                          0x51, 0x93, 0x3f, 0xe6, 0xbf, 0xed, 0xd8, 0xa7};
  std::memcpy(device.uuid, uuid, sizeof uuid);
  std::memcpy(device.name, "NVIDIA H200", sizeof "NVIDIA H200");
  const trace::Trace trace =
      read_or_fail(log_with({"/opt/libcupti.so.13", "580.95.05"}, [&](TestLog& log) {
        log.add(RecordType::cuda_session, wire::CudaSession{10, 13010, 130001, 1, 2});
        log.add(RecordType::cuda_device, device);
      }));
  EXPECT_EQ(trace.captures[0].cuda_version, "13.1");
  EXPECT_EQ(trace.captures[0].driver_version, "580.95.05");
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].ordinal, 1U);
  EXPECT_EQ(trace.devices[0].name, "NVIDIA H200");
  // Same as in nsys's TARGET_INFO_GPU for this GPU.
  EXPECT_EQ(trace.devices[0].uuid, "3d79c6fb-8838-e918-5193-3fe6bfedd8a7");
  EXPECT_EQ(trace.devices[0].sm_count, 132U);
  EXPECT_EQ(trace.devices[0].memory_bytes, 150'109'880'320U);
  EXPECT_EQ(trace.devices[0].memory_bandwidth, 4'814'304'000'000U);
  EXPECT_EQ(trace.devices[0].clock_hz, 1'980'000'000U);
  EXPECT_EQ(trace.devices[0].compute_capability, "9.0");
  EXPECT_NE(message_of(trace, "collector_cupti").find("CUPTI 130001, /opt/libcupti.so.13"),
            std::string::npos);
}

TEST(CollectorLogSession, MayNotKnowTheDriver) {
  const auto driver_of = [](wire::StringKey key, uint64_t lost_names) {
    const trace::Trace trace = read_or_fail(log_with({}, [&](TestLog& log) {
      log.add(RecordType::cuda_session, wire::CudaSession{10, 13010, 0, 0, key});
    }));
    EXPECT_EQ(count_of(trace, "collector_log_lost_names"), lost_names);
    return trace.captures[0].driver_version;
  };
  EXPECT_EQ(driver_of(0, 0), "");
  EXPECT_EQ(driver_of(7, 1), "");
}

trace::Capture capture_of(const std::vector<std::string_view>& names_and_values) {
  const trace::Trace trace = read_or_fail(log_with(names_and_values, [&](TestLog& log) {
    for (wire::StringKey key = 1; key < names_and_values.size(); key += 2) {
      log.add(RecordType::variable, wire::Variable{key, key + 1});
    }
  }));
  return trace.captures[0];
}

std::optional<uint32_t> rank_of(const std::vector<std::string_view>& names_and_values) {
  return capture_of(names_and_values).rank;
}

TEST(CollectorLogSession, KnowsItsRank) {
  EXPECT_EQ(rank_of({"RANK", "3"}), 3U);
  EXPECT_EQ(rank_of({"SLURM_PROCID", "9", "PMI_RANK", "7", "WORLD_SIZE", "16"}), 7U);
  EXPECT_EQ(rank_of({"RANK", "0", "OMPI_COMM_WORLD_RANK", "5"}), 0U);
  EXPECT_EQ(rank_of({"WORLD_SIZE", "16", "LOCAL_RANK", "1"}), std::nullopt);
  EXPECT_EQ(rank_of({"RANK", "first"}), std::nullopt);
  EXPECT_EQ(rank_of({"RANK", "", "SLURM_PROCID", "4"}), 4U);
  // Recorded again after an engine had set it.
  EXPECT_EQ(rank_of({"RANK", "0", "WORLD_SIZE", "4", "RANK", "2"}), 2U);
}

struct Place {
  std::optional<uint32_t> rank;
  std::optional<uint32_t> local_rank;
  std::optional<uint32_t> world_size;
  std::string job;

  friend bool operator==(const Place&, const Place&) = default;
};

Place place_of(const std::vector<std::string_view>& names_and_values) {
  const trace::Capture capture = capture_of(names_and_values);
  return {capture.rank, capture.local_rank, capture.world_size, capture.job};
}

// Values from real launchers: torchrun 2.9 inside srun, Open MPI 4.1, MPICH 4.0, Slurm 22.05.
TEST(CollectorLogSession, KnowsItsPlaceInAJob) {
  EXPECT_EQ(place_of({"RANK", "5", "LOCAL_RANK", "1", "WORLD_SIZE", "8", "TORCHELASTIC_RUN_ID",
                      "f3a", "SLURM_PROCID", "1", "SLURM_NTASKS", "2", "SLURM_JOB_ID", "77",
                      "SLURM_STEP_ID", "0"}),
            (Place{5, 1, 8, "f3a"}));
  EXPECT_EQ(place_of({"OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "4",
                      "OMPI_COMM_WORLD_LOCAL_RANK", "1", "PMIX_RANK", "1", "PMIX_NAMESPACE",
                      "2483617793", "OMPI_MCA_ess_base_jobid", "2483617793"}),
            (Place{1, 1, 4, "2483617793"}));
  EXPECT_EQ(place_of({"PMI_RANK", "3", "PMI_SIZE", "4", "MPI_LOCALRANKID", "0"}),
            (Place{3, 0, 4, ""}));
  EXPECT_EQ(place_of({"SLURM_PROCID", "1", "SLURM_LOCALID", "0", "SLURM_NTASKS", "8",
                      "SLURM_STEP_NUM_TASKS", "2", "SLURM_JOB_ID", "9", "SLURM_STEP_ID", "3"}),
            (Place{1, 0, 2, "9.3"}));
  // Without a rendezvous torchrun has no name for the job.
  EXPECT_EQ(place_of({"RANK", "0", "WORLD_SIZE", "2", "TORCHELASTIC_RUN_ID", "none"}),
            (Place{0, std::nullopt, 2, ""}));
  // A world that does not contain its rank.
  EXPECT_EQ(place_of({"RANK", "4", "WORLD_SIZE", "4"}), (Place{4, std::nullopt, std::nullopt, ""}));
}

TEST(CollectorLogSession, KnowsTheRanksOfEnginesByTheirTitles) {
  EXPECT_EQ(rank_of({"process_title", "sglang::scheduler_TP3"}), 3U);
  EXPECT_EQ(rank_of({"process_title", "VLLM::Worker_TP1_EP1"}), 1U);
  EXPECT_EQ(rank_of({"process_title", "VLLM::EngineCore_DP2"}), 2U);
  EXPECT_EQ(rank_of({"process_title", "VLLM::Worker_PP1_TP0"}), std::nullopt);
  EXPECT_EQ(rank_of({"process_title", "VLLM::EngineCore"}), std::nullopt);
  EXPECT_EQ(rank_of({"process_title", "sglang::scheduler_TPx"}), std::nullopt);
  EXPECT_EQ(rank_of({"process_title", "sglang::scheduler_TP0", "RANK", "6"}), 6U);
}

TEST(CollectorLogSession, KnowsWhoseClockItIs) {
  const auto capture_with = [](const TestLog& log) {
    return read_or_fail(log.bytes()).captures[0];
  };
  TestLog log;
  EXPECT_EQ(capture_with(log).clock_domain, "");
  EXPECT_EQ(capture_with(log).clock_ns, std::nullopt);
  const uint8_t boot[] = {0x08, 0xd4, 0xc0, 0x16, 0x51, 0x91, 0x4d, 0x28,
                          0x89, 0x79, 0xd1, 0x90, 0x11, 0x83, 0x0f, 0x9b};
  std::memcpy(log.header.boot_id, boot, sizeof boot);
  log.header.time_namespace = 4026531834;  // the machine's own
  EXPECT_EQ(capture_with(log).clock_domain, "08d4c016-5191-4d28-8979-d19011830f9b");
  EXPECT_EQ(capture_with(log).clock_ns, 0);
  log.header.time_namespace = 4026532000;
  EXPECT_EQ(capture_with(log).clock_domain,
            "08d4c016-5191-4d28-8979-d19011830f9b/time:[4026532000]");
}

wire::TracingChange change(int64_t time, wire::TracingState state, wire::TracingReason reason,
                           uint64_t step = 0, uint32_t cost_ns = 0, uint32_t result = 0) {
  return {time, state, reason, step, cost_ns, result};
}

TEST(CollectorLogSession, SaysWhatWasRecordedWhen) {
  using State = wire::TracingState;
  using Reason = wire::TracingReason;
  const trace::Trace trace = read_or_fail(log_with({}, [&](TestLog& log) {
    log.add(RecordType::tracing_change, change(50, State::paused, Reason::duty, 4, 21'000));
    log.add(RecordType::tracing_change, change(10, State::tracing, Reason::program_start));
    log.add(RecordType::tracing_change, change(90, State::detached, Reason::process_end, 8));
  }));
  ASSERT_EQ(trace.tracing_changes.size(), 3U);
  EXPECT_EQ(trace.tracing_changes.time, (std::vector<Nanoseconds>{10, 50, 90}));
  EXPECT_EQ(
      trace.tracing_changes.state,
      (std::vector<trace::TracingState>{trace::TracingState::tracing, trace::TracingState::paused,
                                        trace::TracingState::detached}));
  EXPECT_EQ(trace.tracing_changes.reason,
            (std::vector<trace::TracingReason>{trace::TracingReason::program_start,
                                               trace::TracingReason::duty,
                                               trace::TracingReason::process_end}));
  EXPECT_EQ(trace.tracing_changes.step, (std::vector<uint64_t>{0, 4, 8}));
  EXPECT_EQ(trace.tracing_changes.cost, (std::vector<Nanoseconds>{0, 21'000, 0}));
  EXPECT_EQ(trace.tracing_changes.process[0], trace::ProcessId(0));
  EXPECT_FALSE(trace.diagnostics.has("collector_stood_down"));
}

TEST(CollectorLogSession, SaysWhatItWaitedForInVain) {
  const auto message = [](const wire::Waiting& waiting) {
    const trace::Trace trace = read_or_fail(
        log_with({"LLM@decode_al"}, [&](TestLog& log) { log.add(RecordType::waiting, waiting); }));
    EXPECT_EQ(count_of(trace, "collector_never_armed"), 1U);
    // One message about it is enough.
    EXPECT_FALSE(trace.diagnostics.has("collector_log_empty"));
    return message_of(trace, "collector_never_armed");
  };
  using For = wire::WaitsFor;
  EXPECT_TRUE(contains(message({10, For::command, 0, 0, 0}), "`llmprof arm PID`"));
  EXPECT_TRUE(contains(message({10, For::range, 1, 0, 0}), "'LLM@decode_al', which never opened"));
  EXPECT_TRUE(contains(message({10, For::delay, 0, 1500, 0}), "1500 ms"));
}

TEST(CollectorLogSession, IsNotArmedWhileItWatchesMemory) {
  const trace::Trace trace = read_or_fail(log_with({}, [&](TestLog& log) {
    log.add(RecordType::waiting, wire::Waiting{10, wire::WaitsFor::command, 0, 0, 0});
    log.add(RecordType::tracing_change,
            change(20, wire::TracingState::paused, wire::TracingReason::program_start));
    log.add(RecordType::tracing_change,
            change(90, wire::TracingState::detached, wire::TracingReason::process_end));
  }));
  EXPECT_TRUE(contains(message_of(trace, "collector_never_armed"), "GPU memory was recorded"));
}

TEST(CollectorLogSession, IsNotWaitingOnceItTracedOrTriedTo) {
  for (const auto state : {wire::TracingState::tracing, wire::TracingState::stood_down}) {
    const trace::Trace trace = read_or_fail(log_with({}, [&](TestLog& log) {
      log.add(RecordType::waiting, wire::Waiting{10, wire::WaitsFor::command, 0, 0, 0});
      log.add(RecordType::tracing_change, change(20, state, wire::TracingReason::command));
    }));
    EXPECT_FALSE(trace.diagnostics.has("collector_never_armed"));
  }
  const trace::Trace trace = read_or_fail(log_with({}, [&](TestLog& log) {
    log.add(RecordType::waiting, wire::Waiting{10, static_cast<wire::WaitsFor>(4), 0, 0, 0});
  }));
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 1U);
}

TEST(CollectorLogSession, SaysWhyItStoodDown) {
  const auto message = [](wire::TracingReason reason) {
    const trace::Trace trace = read_or_fail(log_with({}, [&](TestLog& log) {
      log.add(RecordType::tracing_change,
              change(10, wire::TracingState::stood_down, reason, 0, 0, 39));
    }));
    EXPECT_EQ(count_of(trace, "collector_stood_down"), 1U);
    return message_of(trace, "collector_stood_down");
  };
  EXPECT_NE(message(wire::TracingReason::other_subscriber).find("another tool"), std::string::npos);
  EXPECT_NE(message(wire::TracingReason::cupti_missing).find("LLMPROF_CUPTI"), std::string::npos);
  EXPECT_NE(message(wire::TracingReason::cupti_failed).find("result 39"), std::string::npos);
}

TEST(CollectorLogSession, CountsWhatCuptiAndTheCountersLost) {
  const trace::Trace trace = read_or_fail(log_with({"permission is missing"}, [&](TestLog& log) {
    log.add(RecordType::cupti_dropped, wire::CuptiDropped{10, 5});
    log.add(RecordType::cupti_dropped, wire::CuptiDropped{20, 7});
    log.add(RecordType::counters_lost, wire::CountersLost{20, 2});
    log.add(RecordType::counters_lost, wire::CountersLost{30, 1});
    log.add(RecordType::counters_off, wire::CountersOff{5, 1, 0});
  }));
  EXPECT_EQ(count_of(trace, "collector_cupti_dropped"), 12U);
  EXPECT_EQ(count_of(trace, "collector_counters_lost"), 3U);
  EXPECT_NE(message_of(trace, "collector_counters_off").find("permission is missing"),
            std::string::npos);
}

TEST(CollectorLogCounters, ShortSamplesAreTheSame) {
  const trace::Trace trace =
      read_or_fail(log_with({"dram__bytes_read.sum", "byte"}, [&](TestLog& log) {
        log.add_list(RecordType::counter_set, wire::CounterSet{3, 0, 500, 1, 0},
                     std::vector<wire::CounterColumn>{{1, 2}});
        log.add_list(RecordType::short_counter_sample, wire::ShortCounterSample{100, 500, 3, 1},
                     std::vector<float>{4096.0F});
        // Longer than the record, and at the maximum time.
        log.add_list(RecordType::short_counter_sample, wire::ShortCounterSample{100, 500, 3, 9},
                     std::vector<float>{1.0F});
        log.add_list(RecordType::short_counter_sample,
                     wire::ShortCounterSample{INT64_MAX - 5, 500, 3, 1}, std::vector<float>{1.0F});
      }));
  ASSERT_EQ(trace.counters.size(), 1U);
  EXPECT_EQ(trace.counters.start[0], 100);
  EXPECT_EQ(trace.counters.end[0], 600);
  EXPECT_EQ(trace.counters.value[0], 4096.0);
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 2U);
}

// The set follows its samples, the names follow both.
TEST(CollectorLogCounters, AreOneRowAValue) {
  const double none = std::nan("");
  const trace::Trace trace =
      read_or_fail(log_with({"dram__bytes_read.sum", "byte", "power", "W"}, [&](TestLog& log) {
        const auto sample = [&](int64_t start, int64_t end, uint32_t set,
                                const std::vector<double>& values) {
          const auto count = static_cast<uint32_t>(values.size());
          log.add_list(RecordType::counter_sample, wire::CounterSample{start, end, set, count},
                       values);
        };
        sample(100, 200, 1, {4096, none});
        sample(200, 300, 1, {8192, 350.5});
        sample(250, 250, 2, {341});
        sample(250, 250, 3, {1, 2});      // of an unknown set
        sample(260, 260, 2, {342, 343});  // more values than its set has
        const std::vector<wire::CounterColumn> columns = {{1, 2}, {3, 4}};
        log.add_list(RecordType::counter_set, wire::CounterSet{1, 0, 100, 2, 0}, columns);
        log.add_list(RecordType::counter_set, wire::CounterSet{2, 1, 0, 1, 0},
                     std::vector<wire::CounterColumn>{{3, 4}});
      }));
  // By device, metric and time.
  EXPECT_EQ(trace.counters.value, (std::vector<double>{4096, 8192, 350.5, 341, 342}));
  EXPECT_EQ(trace.counters.start, (std::vector<Nanoseconds>{100, 200, 200, 250, 260}));
  EXPECT_EQ(trace.counters.end, (std::vector<Nanoseconds>{200, 300, 300, 250, 260}));
  const auto name_of = [&](size_t row) {
    return trace.strings[trace.metrics[trace.counters.metric[row]].name];
  };
  EXPECT_EQ(name_of(1), "dram__bytes_read.sum");
  EXPECT_EQ(trace.strings[trace.metrics[trace.counters.metric[1]].unit], "byte");
  EXPECT_EQ(name_of(2), "power");
  EXPECT_EQ(trace.counters.metric[2], trace.counters.metric[3]);
  EXPECT_EQ(trace.devices[trace.counters.device[2].index()].ordinal, 0U);
  EXPECT_EQ(trace.devices[trace.counters.device[3].index()].ordinal, 1U);
  EXPECT_EQ(count_of(trace, "collector_log_lost_definitions"), 3U);
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 0U);
}

TEST(CollectorLogSession, LeavesOutWhatIsImpossible) {
  const trace::Trace trace = read_or_fail(log_with({}, [&](TestLog& log) {
    const auto state = [](uint32_t number) { return static_cast<wire::TracingState>(number); };
    const auto reason = [](uint32_t number) { return static_cast<wire::TracingReason>(number); };
    log.add(RecordType::tracing_change, change(10, state(0), reason(0)));
    log.add(RecordType::tracing_change, change(10, state(5), reason(0)));
    log.add(RecordType::tracing_change, change(10, state(3), reason(12)));
    log.add(RecordType::tracing_change, change(-1, state(3), reason(0)));
    log.add(RecordType::counter_sample, wire::CounterSample{10, 20, 1, 1});  // no value follows
    log.add(RecordType::counter_set, wire::CounterSet{1, 0, 0, 1U << 31U, 0});
    log.add_list(RecordType::counter_sample, wire::CounterSample{20, 10, 1, 1},
                 std::vector<double>{1});
    log.add_list(RecordType::counter_sample, wire::CounterSample{20, 30, 1, 1},
                 std::vector<double>{HUGE_VAL});
    log.add_bytes(RecordType::cuda_device, "short");
    log.add_bytes(RecordType::cuda_session, "");
  }));
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 10U);
  EXPECT_EQ(trace.tracing_changes.size() + trace.counters.size() + trace.devices.size(), 0U);
}

}  // namespace
}  // namespace llmprof::readers
