#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "analysis/memory_ledger/allocating_library.h"
#include "analysis/memory_ledger/find_memory_ledger.h"
#include "analysis/memory_ledger/live_memory.h"
#include "analysis/memory_ledger/memory_outlook.h"
#include "analysis/memory_ledger/model_allocations.h"
#include "llm/cost.h"
#include "trace/append.h"
#include "trace/builder.h"

namespace llmprof::analysis {
namespace {

using profile::LedgerMomentKind;
using profile::LedgerPart;
using trace::AllocationKind;
using trace::MemoryAction;
using Moment = trace::MemoryReadingTable::Moment;

constexpr uint64_t kMebibyte = 1U << 20U;
constexpr uint64_t kUnknown = trace::MemoryReadingTable::kUnknown;
constexpr Nanoseconds kSecond = 1'000'000'000;
constexpr uint64_t kHeap = uint64_t{1} << 40U;
constexpr uint64_t kVirtual = uint64_t{2} << 40U;

// One process, one GPU.
class RecordedMemory {
 public:
  RecordedMemory() {
    builder_.begin_capture("4711.llmtrace", "llmprof log", trace::kCollectorTool);
    process_ = builder_.process(1, 1);
    device_ = builder_.device(0);
  }

  struct Event {
    MemoryAction action = MemoryAction::allocation;
    AllocationKind kind = AllocationKind::device;
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint64_t owner = 0;
    uint64_t pool_bytes = 0;
    uint32_t correlation = 0;
    const char* library = "";
  };
  void add(Nanoseconds time, const Event& event) {
    const trace::StringId library =
        *event.library == '\0' ? trace::StringId() : builder_.string(event.library);
    trace::add_row(builder_.trace().memory_events, time, process_, device_, event.action,
                   event.kind, event.address, event.bytes, event.owner, event.pool_bytes,
                   event.pool_bytes, 1U, 0U, event.correlation, library, trace::StringId(),
                   trace::RangeRow());
  }
  // Bytes of the device: `used` without `reserved`.
  void read(Nanoseconds time, uint64_t used, Moment moment = Moment::running,
            uint64_t others = kUnknown) {
    constexpr uint64_t kTotal = 100'000 * kMebibyte;
    constexpr uint64_t kReserved = 600 * kMebibyte;
    trace::add_row(builder_.trace().memory_readings, time, process_, device_, moment, kTotal,
                   kTotal - kReserved - used, used, kReserved, kUnknown, others);
  }
  void profiler(uint64_t bytes) { builder_.trace().profiler_memory.push_back({process_, bytes}); }
  void tracing(Nanoseconds time, trace::TracingState state, trace::TracingReason reason) {
    trace::add_row(builder_.trace().tracing_changes, time, process_, state, reason, uint64_t{0},
                   Nanoseconds{0});
  }
  trace::Trace freeze() { return std::move(builder_).freeze(); }
  trace::DeviceId device() const { return device_; }
  trace::ProcessId process() const { return process_; }

 private:
  trace::TraceBuilder builder_;
  trace::ProcessId process_;
  trace::DeviceId device_;
};

// Bytes by part and owner at the last moment of this kind.
std::map<std::pair<LedgerPart, std::string>, int64_t> rows_of(const profile::MemoryLedger& ledger,
                                                              LedgerMomentKind kind) {
  std::map<std::pair<LedgerPart, std::string>, int64_t> rows;
  for (size_t i = 0; i < ledger.moments.size(); ++i) {
    if (ledger.moments[i].kind != kind) continue;
    rows.clear();
    int64_t sum = 0;
    for (const profile::LedgerRow& row : ledger.rows) {
      if (row.moment != i) continue;
      rows[{row.part, row.owner}] += static_cast<int64_t>(row.bytes.value);
      sum += static_cast<int64_t>(row.bytes.value);
    }
    EXPECT_EQ(static_cast<double>(sum),
              ledger.moments[i].used.value_or(ledger.moments[i].recorded).value);
  }
  return rows;
}

std::optional<profile::MemoryLedger> ledger_of(RecordedMemory& memory,
                                               const llm::ModelSpec* model = nullptr,
                                               const Stages& stages = {}) {
  Diagnostics diagnostics;
  const trace::Trace trace = memory.freeze();
  return find_memory_ledger(trace, stages, model, {}, diagnostics);
}

// 4 layers of 2 KV heads of 64 values, in 2 bytes: 2,048 bytes per token.
llm::ModelSpec small_model() {
  llm::ModelSpec model;
  model.hidden = 256;
  model.intermediate = 1024;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_dim = 64;
  model.vocabulary = 32000;
  model.tied_embeddings = true;
  model.layers.resize(4);
  return model;
}

int64_t mib(int64_t number) { return number << 20U; }

// Sizes as a program of known allocations had them on an H200.
TEST(MemoryLedger, ExplainsEveryByteOfKnownAllocations) {
  RecordedMemory memory;
  memory.profiler(9 * kMebibyte);
  memory.read(0, 50 * kMebibyte, Moment::before_context);
  memory.read(kSecond, (50 + 518) * kMebibyte);
  const Nanoseconds load = 2 * kSecond;
  memory.add(load, {.address = kHeap, .bytes = 512 * kMebibyte, .library = "/app/libengine.so"});
  memory.add(load, {.address = kHeap + 512 * kMebibyte, .bytes = 3 * kMebibyte});
  memory.add(load, {.address = kHeap + 516 * kMebibyte, .bytes = 1000});
  memory.add(load, {.address = kHeap + 600 * kMebibyte, .bytes = 256 * kMebibyte});
  memory.add(load + 1, {.action = MemoryAction::release, .address = kHeap + 600 * kMebibyte});
  memory.add(load, {.address = kHeap + 2048 * kMebibyte,
                    .bytes = 67'239'936,  // 64.125 MiB: 33 pages
                    .library = "/lib/libcublas.so.13"});
  memory.add(load, {.address = kHeap + 4096 * kMebibyte,
                    .bytes = 128 * kMebibyte,
                    .owner = 0x5000,
                    .pool_bytes = 160 * kMebibyte});
  memory.add(load, {.kind = AllocationKind::managed,
                    .address = kHeap + 8192 * kMebibyte,
                    .bytes = 32 * kMebibyte});
  memory.add(load,
             {.kind = AllocationKind::pinned, .address = 0x7000'0000, .bytes = 64 * kMebibyte});
  memory.add(load,
             {.kind = AllocationKind::module_variable, .address = 0x100, .bytes = 4 * kMebibyte});
  memory.add(load, {.action = MemoryAction::create, .bytes = 256 * kMebibyte, .owner = 7});
  // 512 + 4 + 2 + 66 of pages, 160 of the pool, 128 managed, 256 virtual, 1 that nothing explains.
  const uint64_t used = 50 + 518 + 512 + 4 + 2 + 66 + 160 + 128 + 256 - 1;
  memory.read(3 * kSecond, used * kMebibyte);
  const auto ledger = ledger_of(memory);
  ASSERT_TRUE(ledger);
  const auto rows = rows_of(*ledger, LedgerMomentKind::end);
  const std::map<std::pair<LedgerPart, std::string>, int64_t> expected = {
      {{LedgerPart::other_processes, ""}, mib(50)},
      {{LedgerPart::driver_reserved, ""}, mib(600)},
      {{LedgerPart::context, ""}, mib(518 - 9)},
      {{LedgerPart::library_workspace, "cuBLAS"}, 67'239'936},
      {{LedgerPart::allocations, "libengine.so"}, mib(512)},
      {{LedgerPart::allocations, ""}, mib(3) + 1000},
      {{LedgerPart::pool, ""}, mib(128)},
      {{LedgerPart::pool_unused, ""}, mib(32)},
      {{LedgerPart::vmm, ""}, mib(256)},
      {{LedgerPart::managed, ""}, mib(127)},
      {{LedgerPart::rounding, ""}, mib(4 + 2 + 66) - mib(3) - 1000 - 67'239'936},
      {{LedgerPart::profiler, "CUPTI"}, mib(9)},
      {{LedgerPart::rest, ""}, 0},
  };
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(ledger->moments.back().closes, true);
}

TEST(MemoryLedger, GrowthThatNothingExplainsIsTheRest) {
  RecordedMemory memory;
  memory.read(0, 0, Moment::before_context);
  memory.read(kSecond, 500 * kMebibyte);
  memory.add(2 * kSecond, {.address = kHeap, .bytes = 100 * kMebibyte});
  memory.read(3 * kSecond, 700 * kMebibyte);
  memory.add(4 * kSecond, {.action = MemoryAction::module_loaded, .bytes = kMebibyte});
  memory.read(5 * kSecond, 720 * kMebibyte);
  memory.add(6 * kSecond, {.action = MemoryAction::graph_instantiated});
  memory.read(7 * kSecond, 728 * kMebibyte, Moment::end);
  const auto ledger = ledger_of(memory);
  ASSERT_TRUE(ledger);
  auto rows = rows_of(*ledger, LedgerMomentKind::end);
  EXPECT_EQ((rows[{LedgerPart::rest, ""}]), mib(100));
  EXPECT_EQ((rows[{LedgerPart::context, ""}]), mib(520));
  EXPECT_EQ((rows[{LedgerPart::graphs, ""}]), mib(8));
  EXPECT_EQ(ledger->moments.back().closes, false);
}

TEST(MemoryLedger, AReadingNextToAChangeIsNotUsed) {
  RecordedMemory memory;
  memory.read(0, 0, Moment::before_context);
  memory.read(kSecond, 500 * kMebibyte);
  memory.add(2 * kSecond, {.address = kHeap, .bytes = 100 * kMebibyte});
  memory.read(2 * kSecond + 1'000'000, 500 * kMebibyte);  // began before the allocation
  memory.read(3 * kSecond, 600 * kMebibyte);
  const auto ledger = ledger_of(memory);
  ASSERT_TRUE(ledger);
  EXPECT_EQ((rows_of(*ledger, LedgerMomentKind::end)[{LedgerPart::rest, ""}]), 0);
}

TEST(MemoryLedger, OtherProcessesAreFollowedIfNvmlListsThem) {
  RecordedMemory memory;
  memory.read(0, 50 * kMebibyte, Moment::before_context, 40 * kMebibyte);
  memory.read(kSecond, 550 * kMebibyte, Moment::running, 40 * kMebibyte);
  memory.add(2 * kSecond, {.address = kHeap, .bytes = 100 * kMebibyte});
  memory.read(3 * kSecond, 950 * kMebibyte, Moment::end, 340 * kMebibyte);
  const auto ledger = ledger_of(memory);
  ASSERT_TRUE(ledger);
  auto rows = rows_of(*ledger, LedgerMomentKind::end);
  EXPECT_EQ((rows[{LedgerPart::other_processes, ""}]), mib(350));
  EXPECT_EQ((rows[{LedgerPart::rest, ""}]), 0);
}

TEST(MemoryLedger, NeedsARecordingFromTheStart) {
  for (const auto reason : {trace::TracingReason::program_start, trace::TracingReason::command}) {
    RecordedMemory memory;
    memory.tracing(1, trace::TracingState::tracing, reason);
    memory.read(0, 0, Moment::before_context);
    memory.add(2 * kSecond, {.address = kHeap, .bytes = 100 * kMebibyte});
    memory.read(3 * kSecond, 600 * kMebibyte);
    const auto ledger = ledger_of(memory);
    EXPECT_EQ(ledger.has_value(), reason == trace::TracingReason::program_start);
  }
}

TEST(MemoryLedger, EndsWhereTheRecordingEnds) {
  RecordedMemory memory;
  memory.tracing(1, trace::TracingState::tracing, trace::TracingReason::program_start);
  memory.tracing(4 * kSecond, trace::TracingState::detached, trace::TracingReason::step_limit);
  memory.read(0, 0, Moment::before_context);
  memory.add(2 * kSecond, {.address = kHeap, .bytes = 100 * kMebibyte});
  memory.read(3 * kSecond, 600 * kMebibyte);
  memory.read(5 * kSecond, 900 * kMebibyte);
  const auto ledger = ledger_of(memory);
  ASSERT_TRUE(ledger);
  EXPECT_EQ(ledger->moments.back().used->value, static_cast<double>(1200 * kMebibyte));
}

// Requests of one second each; `grow` is called at the end of each with its number.
profile::MemoryLedger after_requests(size_t requests, const auto& grow,
                                     const llm::ModelSpec* model = nullptr) {
  RecordedMemory memory;
  Stages stages;
  stages.stages.emplace_back().name = "prefill";
  memory.read(0, 0, Moment::before_context);
  memory.add(1, {.address = kVirtual, .bytes = 1'000'000});
  for (size_t request = 0; request < requests; ++request) {
    const auto start = static_cast<Nanoseconds>(request + 1) * kSecond;
    StageInstance& instance = stages.instances.emplace_back();
    instance.process = memory.process();
    instance.device = memory.device();
    instance.start = start;
    instance.end = start + kSecond / 2;
    grow(memory, request, start + kSecond / 4);
  }
  memory.read(static_cast<Nanoseconds>(requests + 1) * kSecond, 500 * kMebibyte);
  const auto ledger = ledger_of(memory, model, stages);
  EXPECT_TRUE(ledger);
  return ledger.value_or(profile::MemoryLedger());
}

TEST(MemoryGrowth, OfEachRequestIsALeak) {
  const auto ledger = after_requests(50, [](RecordedMemory& memory, size_t request, auto time) {
    memory.add(time, {.address = kHeap + request * kMebibyte,
                      .bytes = kMebibyte,
                      .library = "/app/libengine.so"});
  });
  ASSERT_EQ(ledger.headroom.size(), 1U);
  EXPECT_EQ(ledger.headroom[0].requests, 40U);  // without a fifth, in which caches fill
  ASSERT_EQ(ledger.growth.size(), 1U);
  const profile::MemoryGrowth& growth = ledger.growth[0];
  EXPECT_EQ(growth.owner, "libengine.so");
  EXPECT_EQ(growth.increases, 39U);
  EXPECT_EQ(growth.grown.value, 39.0 * kMebibyte);
  EXPECT_EQ(growth.per_request.value, static_cast<double>(kMebibyte));
  EXPECT_TRUE(growth.leak);
  // 100,000 MiB, less 600 reserved and 500 in use.
  EXPECT_EQ(growth.requests_left, 98'900U);
}

TEST(MemoryGrowth, ThatEndsIsNoLeak) {
  const auto ledger = after_requests(60, [](RecordedMemory& memory, size_t request, auto time) {
    if (request < 24)
      memory.add(time, {.address = kHeap + request * kMebibyte, .bytes = kMebibyte});
  });
  ASSERT_EQ(ledger.growth.size(), 1U);
  EXPECT_FALSE(ledger.growth[0].leak);
  EXPECT_FALSE(ledger.growth[0].requests_left);
}

TEST(MemoryGrowth, NeedsTwentyRequests) {
  const auto ledger = after_requests(20, [](RecordedMemory& memory, size_t request, auto time) {
    memory.add(time, {.address = kHeap + request * kMebibyte, .bytes = kMebibyte});
  });
  EXPECT_TRUE(ledger.growth.empty());
  EXPECT_EQ(ledger.headroom[0].requests, 0U);
}

TEST(MemoryHeadroom, IsGivenInTokens) {
  const llm::ModelSpec model = small_model();  // 2,048 bytes per token
  const auto ledger = after_requests(
      1,
      [](RecordedMemory& memory, size_t /*request*/, auto time) {
        memory.add(time, {.address = kHeap, .bytes = 2048 * 4096});
      },
      &model);
  ASSERT_EQ(ledger.headroom.size(), 1U);
  EXPECT_EQ(ledger.headroom[0].free->value, 98'900.0 * kMebibyte);
  EXPECT_EQ(ledger.headroom[0].bytes_per_token->value, 2048);
  EXPECT_EQ(ledger.headroom[0].tokens_left, 98'900 * kMebibyte / 2048);
  EXPECT_EQ(ledger.headroom[0].cache_tokens, 4096U);
}

TEST(MemoryHeadroom, SaysHowManySequencesFit) {
  llm::ModelSpec model = small_model();  // 2,048 bytes per token
  model.longest_context = 4096;
  const auto ledger = after_requests(
      1,
      [](RecordedMemory& memory, size_t /*request*/, auto time) {
        memory.add(time, {.address = kHeap, .bytes = 2048 * 4096});
      },
      &model);
  const double free = ledger.headroom.at(0).free->value;
  EXPECT_EQ(ledger.headroom[0].tokens_left_bf16, static_cast<uint64_t>(free / 2048));
  EXPECT_EQ(ledger.headroom[0].tokens_left_fp8, static_cast<uint64_t>(free / 1024));
  ASSERT_EQ(ledger.room.size(), 6U);  // 1024, 2048 and 4096 tokens in two formats
  EXPECT_EQ(ledger.room[2].cache, profile::CacheFormat::bf16);
  EXPECT_EQ(ledger.room[2].context, 4096U);
  EXPECT_EQ(ledger.room[2].per_sequence.value, 2048.0 * 4096);
  EXPECT_EQ(ledger.room[2].sequences, static_cast<uint64_t>(free / (2048 * 4096)));
  EXPECT_EQ(ledger.room[5].cache, profile::CacheFormat::fp8);
  EXPECT_EQ(ledger.room[5].sequences, static_cast<uint64_t>(free / (1024 * 4096)));
  // Batch and context are unknown: twice either of them is twice the cache.
  ASSERT_EQ(ledger.forecasts.size(), 2U);
  EXPECT_EQ(ledger.forecasts[0].change, profile::ForecastChange::double_batch);
  EXPECT_EQ(ledger.forecasts[0].more.value, 2048.0 * 4096);
  EXPECT_TRUE(ledger.forecasts[0].fits);
}

TEST(MemoryHeadroom, ForecastsFollowFromTheRun) {
  llm::ModelSpec model = small_model();
  model.layers[0].window = 1024;  // of 4 layers, each with 512 bytes per token
  profile::MemoryLedger ledger;
  profile::LedgerMoment& peak = ledger.moments.emplace_back();
  peak.device = "cuda:0";
  peak.total = profile::Bytes{100e6};
  peak.used = profile::Bytes{80e6};
  const auto left = find_headroom(ledger, "cuda:0", &model);
  ASSERT_TRUE(left);
  profile::Workload workload;
  workload.batch = 4;
  workload.prompt_tokens = 1536;
  workload.new_tokens = 512;
  add_room(*left, &model, workload, ledger);
  const double sequence = 512.0 * (1024 + 3 * 2048);
  ASSERT_EQ(ledger.forecasts.size(), 3U);
  EXPECT_EQ(ledger.forecasts[0].more.value, sequence);
  EXPECT_EQ(ledger.forecasts[1].more.value, 4 * sequence);
  EXPECT_TRUE(ledger.forecasts[1].fits);
  EXPECT_EQ(ledger.forecasts[2].more.value, 4 * 512.0 * 3 * 2048);
  // With an allocated cache, only what is beyond it counts.
  ledger.rows.push_back({0, LedgerPart::kv_cache, "", {5 * sequence}, {}, 1, {}});
  ledger.forecasts.clear();
  add_room(*left, &model, workload, ledger);
  EXPECT_EQ(ledger.forecasts.at(0).more.value, 0);
  EXPECT_EQ(ledger.forecasts.at(1).more.value, 3 * sequence);
}

TEST(MemoryHeadroom, TheLargestRequestNeedsOnePiece) {
  profile::MemoryLedger ledger;
  profile::MemoryHeadroom& left = ledger.headroom.emplace_back();
  left.device = "cuda:0";
  left.free = profile::Bytes{10e6};
  profile::Memory memory;
  profile::MemoryDevice& device = memory.devices.emplace_back();
  device.device = "cuda:0";
  device.peak = profile::MemoryMoment();
  device.largest_request = profile::Bytes{30e6};
  device.largest_free_block = profile::Bytes{20e6};
  forecast_fragmentation(memory, ledger);
  device.largest_free_block = profile::Bytes{30e6};
  forecast_fragmentation(memory, ledger);
  device.source = profile::MemorySource::trace;  // states no blocks
  forecast_fragmentation(memory, ledger);
  ASSERT_EQ(ledger.forecasts.size(), 2U);
  EXPECT_EQ(ledger.forecasts[0].change, profile::ForecastChange::largest_request);
  EXPECT_EQ(ledger.forecasts[0].more.value, 30e6);
  EXPECT_EQ(ledger.forecasts[0].free.value, 20e6);
  EXPECT_FALSE(ledger.forecasts[0].fits);
  EXPECT_TRUE(ledger.forecasts[1].fits);
}

// Without a reading of NVML, what is allocated is known, and nothing else.
TEST(MemoryLedger, RestsOnEventsWithoutReadings) {
  RecordedMemory memory;
  memory.add(1, {.address = kHeap, .bytes = 100, .library = "/app/libengine.so"});
  memory.add(2, {.kind = AllocationKind::pinned, .address = 0x1000, .bytes = 7});
  memory.add(3, {.address = kHeap + kMebibyte, .bytes = 30, .owner = 0x5000, .pool_bytes = 64});
  memory.add(4, {.kind = AllocationKind::managed, .address = 0x2000, .bytes = 9});
  memory.add(5, {.action = MemoryAction::release, .address = kHeap});
  memory.add(6, {.action = MemoryAction::pool_trimmed, .owner = 0x5000, .pool_bytes = 32});
  const auto ledger = ledger_of(memory);
  ASSERT_TRUE(ledger);
  ASSERT_EQ(ledger->gpus.size(), 1U);
  EXPECT_EQ(ledger->gpus[0].evidence, profile::LedgerEvidence::events);
  EXPECT_FALSE(ledger->gpus[0].total);
  for (const profile::LedgerMoment& moment : ledger->moments) {
    EXPECT_FALSE(moment.used || moment.total || moment.closes);
  }
  using Rows = std::map<std::pair<LedgerPart, std::string>, int64_t>;
  EXPECT_EQ(rows_of(*ledger, LedgerMomentKind::peak),
            (Rows{{{LedgerPart::allocations, "libengine.so"}, 100},
                  {{LedgerPart::pool, ""}, 30},
                  {{LedgerPart::pool_unused, ""}, 34},
                  {{LedgerPart::managed, ""}, 9}}));
  EXPECT_EQ(rows_of(*ledger, LedgerMomentKind::end), (Rows{{{LedgerPart::pool, ""}, 30},
                                                           {{LedgerPart::pool_unused, ""}, 2},
                                                           {{LedgerPart::managed, ""}, 9}}));
  ASSERT_EQ(ledger->headroom.size(), 1U);
  EXPECT_FALSE(ledger->headroom[0].free);
  EXPECT_TRUE(ledger->room.empty());
}

// Every event of every kind: the running sum is that of all that is alive.
TEST(LiveMemory, HoldsWhatItsPartsSumTo) {
  RecordedMemory memory;
  uint64_t random = 12345;
  const auto next = [&](uint64_t most) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return (random >> 33U) % most;
  };
  using enum MemoryAction;
  constexpr MemoryAction kActions[] = {allocation,   allocation,     release,      pool_created,
                                       pool_trimmed, pool_destroyed, create,       map,
                                       unmap,        release_handle, retain_handle};
  constexpr AllocationKind kKinds[] = {AllocationKind::device, AllocationKind::managed,
                                       AllocationKind::pinned};
  for (Nanoseconds time = 1; time <= 2000; ++time) {
    const uint64_t pool = next(2) == 0 ? 0 : 0x5000 + next(3);
    memory.add(time, {.action = kActions[next(11)],
                      .kind = kKinds[next(3)],
                      .address = 0x1000 * (1 + next(20)),
                      .bytes = 1 + next(100),
                      .owner = pool,
                      .pool_bytes = next(300)});
  }
  const trace::DeviceId device = memory.device();
  const trace::ProcessId process = memory.process();
  const trace::Trace trace = memory.freeze();
  LiveMemory live(trace.memory_events, process);
  for (Nanoseconds time = 1; time <= 2000; ++time) {
    live.advance_to(time);
    uint64_t sum = live.virtual_memory(device).bytes;
    std::map<uint64_t, uint64_t> heights;
    for (const auto& [address, each] : live.allocations()) sum += each.bytes;
    for (const auto& [address, each] : live.managed()) sum += each.bytes;
    for (const auto& [address, each] : live.in_pools()) heights[each.pool] += each.bytes;
    for (const auto& [pool, state] : live.pools()) {
      heights[pool] = std::max(heights[pool], state.bytes);
    }
    for (const auto& [pool, height] : heights) sum += height;
    ASSERT_EQ(live.held(device), sum) << time;
  }
}

// Sawteeth: memory grows in each second, and is released at its end.
TEST(MemoryLedger, HasATimelineOfEveryGpu) {
  constexpr int kTeeth = 300;
  constexpr int kReadingsPerTooth = 9;
  RecordedMemory memory;
  memory.profiler(9 * kMebibyte);
  memory.read(0, 50 * kMebibyte, Moment::before_context);
  memory.read(kSecond, 550 * kMebibyte);
  uint64_t highest = 0;
  for (int tooth = 0; tooth < kTeeth; ++tooth) {
    const Nanoseconds start = (2 + tooth) * kSecond;
    for (int i = 0; i < kReadingsPerTooth; ++i) {
      const auto address = kHeap + static_cast<uint64_t>(i) * 64 * kMebibyte;
      const Nanoseconds at = start + i * kSecond / 10;
      memory.add(at, {.address = address, .bytes = 64 * kMebibyte, .library = "/app/libengine.so"});
      const uint64_t used = 550 + 64 * (static_cast<uint64_t>(i) + 1);
      highest = std::max(highest, used);
      memory.read(at + kSecond / 20, used * kMebibyte);
    }
    for (int i = 0; i < kReadingsPerTooth; ++i) {
      const auto address = kHeap + static_cast<uint64_t>(i) * 64 * kMebibyte;
      memory.add(start + 19 * kSecond / 20, {.action = MemoryAction::release, .address = address});
    }
  }
  memory.read((3 + kTeeth) * kSecond, 550 * kMebibyte, Moment::end);
  const auto ledger = ledger_of(memory);
  ASSERT_TRUE(ledger);
  ASSERT_EQ(ledger->gpus.size(), 1U);
  EXPECT_EQ(ledger->gpus[0].start.value, kSecond);
  EXPECT_EQ(ledger->gpus[0].process, 1U);
  const auto& points = ledger->timeline;
  EXPECT_GE(points.size(), 500U);
  EXPECT_LE(points.size(), 500U + 2 + ledger->moments.size());
  EXPECT_EQ(points.front().time.value, 0);
  EXPECT_EQ(points.back().time.value, (2 + kTeeth) * 1000.0);
  double found = 0;
  for (const profile::LedgerPoint& point : points) {
    int64_t sum = 0;
    int64_t of_engine = 0;
    for (const auto& [part, bytes] : point.parts) {
      sum += static_cast<int64_t>(bytes.value);
      if (part == LedgerPart::allocations) of_engine = static_cast<int64_t>(bytes.value);
      EXPECT_NE(bytes.value, 0);
    }
    EXPECT_EQ(static_cast<double>(sum), point.used->value);
    EXPECT_EQ(of_engine, static_cast<int64_t>(point.used->value) - mib(600 + 550));
    found = std::max(found, point.used->value);
  }
  EXPECT_EQ(found, static_cast<double>((600 + highest) * kMebibyte));
  for (const profile::LedgerMoment& moment : ledger->moments) {
    EXPECT_EQ(std::ranges::count(points, moment.time, &profile::LedgerPoint::time), 1);
    EXPECT_EQ(moment.used_share->value, moment.used->value / moment.total->value);
  }
}

TEST(LiveMemory, VirtualMemoryLivesUntilNothingRefersToIt) {
  RecordedMemory memory;
  const auto is = [](MemoryAction action, uint64_t owner, uint64_t address = 0) {
    return RecordedMemory::Event{.action = action,
                                 .kind = AllocationKind::unknown,
                                 .address = address,
                                 .bytes = 2 * kMebibyte,
                                 .owner = owner};
  };
  using enum MemoryAction;
  memory.add(1, is(create, 7));
  memory.add(2, is(map, 7, kVirtual));
  memory.add(3, is(release_handle, 7));
  // The number is used again while the first is still mapped.
  memory.add(4, is(create, 7));
  memory.add(5, is(unmap, 0, kVirtual));
  memory.add(6, is(retain_handle, 7));
  memory.add(7, is(release_handle, 7));
  memory.add(8, is(release_handle, 7));
  memory.add(9, is(map, 99, kVirtual + 4 * kMebibyte));  // another process's
  const trace::Trace trace = memory.freeze();
  LiveMemory live(trace.memory_events, memory.process());
  std::vector<uint64_t> counts;
  for (Nanoseconds time = 1; time < 10; ++time) {
    live.advance_to(time);
    counts.push_back(live.virtual_memory(memory.device()).count);
  }
  EXPECT_EQ(counts, (std::vector<uint64_t>{1, 1, 1, 2, 1, 1, 1, 0, 0}));
}

// With expandable segments CUPTI records each mapping as an allocation, of the wrong library.
TEST(LiveMemory, MappingsAreNotAllocations) {
  RecordedMemory memory;
  memory.add(
      1, {.action = MemoryAction::create, .bytes = 20 * kMebibyte, .owner = 7, .correlation = 4});
  memory.add(2, {.address = kVirtual, .bytes = 20 * kMebibyte, .correlation = 5});
  memory.add(3, {.action = MemoryAction::map,
                 .address = kVirtual,
                 .bytes = 20 * kMebibyte,
                 .owner = 7,
                 .correlation = 5});
  memory.add(4, {.address = kVirtual + 4 * kMebibyte, .bytes = 2 * kMebibyte});
  memory.add(5, {.address = kHeap, .bytes = 4 * kMebibyte});
  const trace::Trace trace = memory.freeze();
  LiveMemory live(trace.memory_events, memory.process());
  live.advance_to(10);
  EXPECT_EQ(live.allocations().size(), 1U);
  EXPECT_EQ(live.virtual_memory(memory.device()).bytes, 20 * kMebibyte);
}

// As llama.cpp frees its buffers on an H200: CUPTI gives the records the correlation of the last
// call that it called back for, which unmapped memory.
TEST(LiveMemory, CorrelationsOfEarlierCallsDoNotMatter) {
  RecordedMemory memory;
  memory.add(1, {.address = kHeap, .bytes = 4 * kMebibyte, .correlation = 3});
  memory.add(2, {.action = MemoryAction::unmap,
                 .address = kVirtual,
                 .bytes = 2 * kMebibyte,
                 .correlation = 9});
  memory.add(3, {.address = kHeap + 8 * kMebibyte, .bytes = 2 * kMebibyte, .correlation = 9});
  memory.add(4, {.action = MemoryAction::release, .address = kHeap, .correlation = 9});
  const trace::Trace trace = memory.freeze();
  LiveMemory live(trace.memory_events, memory.process());
  live.advance_to(3);
  EXPECT_EQ(live.allocations().size(), 2U);
  live.advance_to(4);
  ASSERT_EQ(live.allocations().size(), 1U);
  EXPECT_EQ(live.allocations().begin()->second.bytes, 2 * kMebibyte);
}

TEST(LiveMemory, SmallAllocationsShareAPage) {
  RecordedMemory memory;
  memory.add(1, {.address = kHeap, .bytes = 512});
  memory.add(1, {.address = kHeap + 512, .bytes = 512});
  memory.add(1, {.address = kHeap + 2 * kMebibyte, .bytes = 2 * kMebibyte + 1});
  const trace::Trace trace = memory.freeze();
  LiveMemory live(trace.memory_events, memory.process());
  live.advance_to(10);
  // 3 pages.
  EXPECT_EQ(live.rounding(memory.device()), 6 * kMebibyte - 1024 - 2 * kMebibyte - 1);
}

TEST(AllocatingLibraries, AreKnownByTheirFiles) {
  const auto of = [](std::string_view path) {
    const AllocatingLibrary library = allocating_library(path);
    return std::pair(library.part, library.name);
  };
  EXPECT_EQ(of("/x/nvidia/cublas/lib/libcublasLt.so.13"),
            std::pair(LedgerPart::library_workspace, std::string("cuBLAS")));
  EXPECT_EQ(of("/x/torch/lib/libc10_cuda.so"),
            std::pair(LedgerPart::framework, std::string("PyTorch")));
  EXPECT_EQ(of("/opt/llama/libggml-cuda.so"),
            std::pair(LedgerPart::allocations, std::string("libggml-cuda.so")));
  EXPECT_EQ(of(""), std::pair(LedgerPart::allocations, std::string()));
}

TEST(ModelAllocations, HaveTheSizeOfTheModelsParts) {
  const llm::ModelSpec model = small_model();
  const auto weights = static_cast<uint64_t>(llm::weight_bytes(model));
  const uint64_t cache = 2048 * 4096;
  const auto found = find_model_allocations({{weights + 512}, {cache}, {123'456'789}}, model);
  EXPECT_EQ(found.weights, (std::vector<size_t>{0}));
  EXPECT_EQ(found.kv_cache, (std::vector<size_t>{1}));
}

TEST(ModelAllocations, OfEachLayerAreOneCache) {
  const uint64_t of_layer = uint64_t{2048} * 4096 / 8;  // keys, values of 4 layers
  const auto found =
      find_model_allocations(std::vector<SizedAllocation>(8, {of_layer}), small_model());
  EXPECT_EQ(found.kv_cache.size(), 8U);
  EXPECT_TRUE(found.weights.empty());
}

TEST(ModelAllocations, AreNotClaimedIfSeveralFit) {
  const llm::ModelSpec model = small_model();
  const auto weights = static_cast<uint64_t>(llm::weight_bytes(model));
  const auto found =
      find_model_allocations({{weights}, {weights + 1}, {2048 * 256}, {2048 * 512}}, model);
  EXPECT_TRUE(found.weights.empty());
  // Two of one size, made while loading: the model is there twice.
  EXPECT_EQ(find_model_allocations({{weights, true}, {weights, true}}, model).weights,
            (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(find_model_allocations({{weights, true}, {weights, false}}, model).weights.empty());
  EXPECT_TRUE(found.kv_cache.empty());
}

// llama.cpp: 32 MiB of a compute buffer would hold 1,024 tokens, too.
TEST(ModelAllocations, OfSeveralTheOneMadeAtLoadIsTheCache) {
  const auto found =
      find_model_allocations({{2048 * 256, true}, {2048 * 512, false}}, small_model());
  EXPECT_EQ(found.kv_cache, (std::vector<size_t>{0}));
}

// A faulty configuration may give any size.
TEST(ModelAllocations, OfNoModelAreNone) {
  const auto found = find_model_allocations({{0}, {1}, {2048}}, llm::ModelSpec());
  EXPECT_TRUE(found.weights.empty());
  EXPECT_TRUE(found.kv_cache.empty());
}

}  // namespace
}  // namespace llmprof::analysis
