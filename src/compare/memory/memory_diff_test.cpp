#include "compare/memory/memory_diff.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/compare.h"

namespace llmprof::compare {
namespace {

using profile::LedgerMomentKind;
using profile::LedgerPart;

constexpr double kMiB = 1024 * 1024;
constexpr double kGiB = 1024 * kMiB;

struct LedgerOf {
  double weights = 16 * kGiB;
  double kv_cache = 2 * kGiB;
  double others = 0;
  double graphs = 0;  // no row if 0
};

// A ledger of one GPU with a peak and an end that have the same rows.
Run run_with(const LedgerOf& bytes, const std::string& device = "cuda:0") {
  Run run;
  run.path = "run";
  profile::MemoryLedger ledger;
  for (const LedgerMomentKind kind : {LedgerMomentKind::peak, LedgerMomentKind::end}) {
    const uint64_t moment = ledger.moments.size();
    const auto add = [&](LedgerPart part, std::string owner, double of_part) {
      profile::LedgerRow& row = ledger.rows.emplace_back();
      row.moment = moment;
      row.part = part;
      row.owner = std::move(owner);
      row.bytes = {of_part};
    };
    add(LedgerPart::other_processes, "", bytes.others);
    add(LedgerPart::weights, "libtorch.so", bytes.weights);
    add(LedgerPart::kv_cache, "libtorch.so", bytes.kv_cache / 2);
    add(LedgerPart::kv_cache, "libother.so", bytes.kv_cache / 2);
    if (bytes.graphs > 0) add(LedgerPart::graphs, "", bytes.graphs);
    profile::LedgerMoment& added = ledger.moments.emplace_back();
    added.device = device;
    added.kind = kind;
    added.total = {141 * kGiB};
    added.used = {bytes.others + bytes.weights + bytes.kv_cache + bytes.graphs};
  }
  run.profile.memory_ledger = std::move(ledger);
  return run;
}

MemoryDiff diff_of(const std::vector<Run>& base, const std::vector<Run>& now) {
  return diff_memory({base, now}).value_or(MemoryDiff());
}

const MemoryRowChange& row_of(const MemoryMomentChange& moment, LedgerPart part,
                              const std::string& owner) {
  for (const MemoryRowChange& row : moment.rows) {
    if (row.part == part && row.owner == owner) return row;
  }
  static const MemoryRowChange kNone;
  ADD_FAILURE() << "no such row";
  return kNone;
}

std::vector<Comparison> compared(const std::vector<Run>& base, const std::vector<Run>& now,
                                 ComparedQuantity quantity) {
  return compare_memory({base, now}, quantity, kDefaultThreshold).compared;
}

TEST(MemoryDiff, RowsSumToTheDifference) {
  const auto diff = diff_of(
      {run_with({})}, {run_with({.kv_cache = 3 * kGiB, .others = 5 * kMiB, .graphs = 40 * kMiB})});
  ASSERT_EQ(diff.moments.size(), 2U);
  const MemoryMomentChange& peak = diff.moments[0];
  EXPECT_EQ(peak.kind, LedgerMomentKind::peak);
  double sum = 0;
  for (const MemoryRowChange& row : peak.rows) sum += row.difference.value;
  EXPECT_EQ(sum, peak.used.difference.value);
  EXPECT_EQ(peak.used.difference.value, kGiB + 45 * kMiB);
  EXPECT_EQ(peak.own.difference.value, kGiB + 40 * kMiB);
  EXPECT_FALSE(peak.own.low);
  const MemoryRowChange& cache = row_of(peak, LedgerPart::kv_cache, "libtorch.so");
  EXPECT_EQ(cache.change, Fate::larger);
  EXPECT_DOUBLE_EQ(cache.relative->value, 0.5);
  const MemoryRowChange& graphs = row_of(peak, LedgerPart::graphs, "");
  EXPECT_EQ(graphs.change, Fate::fresh);
  EXPECT_FALSE(graphs.base);
  EXPECT_EQ(row_of(peak, LedgerPart::weights, "libtorch.so").change, Fate::same);
  EXPECT_EQ(peak.rows.front().part, LedgerPart::kv_cache);
}

TEST(MemoryDiff, LessThanTheDriversUnitIsTheSame) {
  const auto diff = diff_of({run_with({})}, {run_with({.weights = 16 * kGiB + 2 * kMiB - 1})});
  EXPECT_EQ(row_of(diff.moments[0], LedgerPart::weights, "libtorch.so").change, Fate::same);
  const auto more = diff_of({run_with({})}, {run_with({.weights = 16 * kGiB - 2 * kMiB})});
  EXPECT_EQ(row_of(more.moments[0], LedgerPart::weights, "libtorch.so").change, Fate::smaller);
}

TEST(MemoryDiff, SeveralRunsHaveAnInterval) {
  const auto runs = [](double first, double second, double third) {
    return std::vector{run_with({.kv_cache = first}), run_with({.kv_cache = second}),
                       run_with({.kv_cache = third})};
  };
  const auto noisy = diff_of(runs(kGiB, 2 * kGiB, 3 * kGiB), runs(kGiB, 3 * kGiB, 3 * kGiB));
  const BytesChange& change = noisy.moments[0].own;
  ASSERT_TRUE(change.low);
  EXPECT_LT(change.low->value, 0);
  EXPECT_EQ(change.change, Fate::same);
  // Welch's t: means 2 and 7/3 GiB, variances 1 and 4/3.
  EXPECT_NEAR(change.difference.value, kGiB / 3, 1);
  const auto clear = diff_of(runs(kGiB, kGiB + kMiB, kGiB), runs(2 * kGiB, 2 * kGiB, 2 * kGiB));
  EXPECT_EQ(clear.moments[0].own.change, Fate::larger);
}

TEST(MemoryDiff, SaysWhatOnlyOneSideHas) {
  compare::Run without;
  const auto diff = diff_of({run_with({})}, {without});
  EXPECT_EQ(diff.base_ledgers, 1U);
  EXPECT_EQ(diff.now_ledgers, 0U);
  EXPECT_TRUE(diff.moments.empty());
  EXPECT_EQ(diff.left_out.size(), 2U);
  EXPECT_EQ(diff.left_out[0].side, SideName::base);
  const auto other = diff_of({run_with({})}, {run_with({}, "cuda:1")});
  EXPECT_EQ(other.left_out.size(), 4U);
  const std::vector<compare::Run> none(1);
  EXPECT_FALSE(diff_memory({none, none}));
}

TEST(MemoryDiff, ComparesPytorchsFigures) {
  const auto with_snapshot = [](double first, double second) {
    compare::Run run;
    profile::Memory memory;
    for (const double bytes : {first, second}) {
      profile::MemoryDevice& device = memory.devices.emplace_back();
      device.device = "cuda:0";
      device.reserved = {bytes};
      device.peak.emplace().active = {bytes / 2};
    }
    run.profile.memory = memory;
    return run;
  };
  const std::vector<compare::Run> base{with_snapshot(kGiB, 2 * kGiB)};
  const std::vector<compare::Run> now{with_snapshot(4 * kGiB, kGiB)};
  const auto diff = diff_of(base, now);
  ASSERT_EQ(diff.pytorch.size(), profile::kWords<PytorchMemory>.size());
  EXPECT_EQ(diff.pytorch[0].figure, PytorchMemory::peak_active);
  EXPECT_EQ(diff.pytorch[0].base->value, kGiB);
  EXPECT_EQ(diff.pytorch[0].now->value, 2 * kGiB);
  const auto peaks = compared(base, now, memory_of(MemoryFigure::pytorch_peak));
  ASSERT_EQ(peaks.size(), 1U);
  EXPECT_DOUBLE_EQ(peaks[0].relative->value, 1);
  EXPECT_TRUE(compared(base, now, memory_of(MemoryFigure::peak)).empty());
}

TEST(CompareMemory, SumsAPartOverItsOwnersAndLeavesOutOtherProcesses) {
  const std::vector<compare::Run> base{run_with({})};
  const std::vector<compare::Run> now{run_with({.kv_cache = 3 * kGiB, .others = 9 * kGiB})};
  const auto cache = compared(base, now, memory_of(LedgerPart::kv_cache));
  ASSERT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache[0].stage, "cuda:0");
  EXPECT_EQ(cache[0].method, Method::counted);
  EXPECT_EQ(*cache[0].low, kGiB);
  EXPECT_EQ(*cache[0].high, kGiB);
  EXPECT_EQ(cache[0].direction, Direction::worse);
  const auto peak = compared(base, now, memory_of(MemoryFigure::peak));
  EXPECT_EQ(*peak[0].difference, kGiB);
  const auto graphs = compared(base, now, memory_of(LedgerPart::graphs));
  EXPECT_EQ(graphs[0].method, Method::identical);
  EXPECT_EQ(*graphs[0].base, 0);
}

GateResult gate(const std::vector<compare::Run>& base, const std::vector<compare::Run>& now,
                const std::string& rule) {
  const auto parsed = parse_rule(rule, "here");
  EXPECT_TRUE(parsed) << rule;
  const auto measured = compared(base, now, parsed->quantity);
  const auto results = evaluate(*parsed, {}, nullptr, {measured, {}});
  EXPECT_EQ(results.size(), std::max<size_t>(measured.size(), 1));
  return results.front();
}

TEST(MemoryGate, CannotTellOfAGpuThatOneSideLacks) {
  compare::Run two = run_with({});
  for (auto& moment : two.profile.memory_ledger->moments) moment.device = "cuda:1";
  const std::vector<compare::Run> base{run_with({})};
  const std::vector<compare::Run> now{two};
  const MemoryByGpu found =
      compare_memory({base, now}, memory_of(MemoryFigure::peak), kDefaultThreshold);
  EXPECT_TRUE(found.compared.empty());
  EXPECT_EQ(found.missing, (std::vector<std::string>{"cuda:0", "cuda:1"}));
  const auto rule = parse_rule("memory.peak<=+1%", "here");
  ASSERT_TRUE(rule);
  const auto results = evaluate(*rule, {}, nullptr, found);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1].stage, "cuda:1");
  EXPECT_EQ(results[1].outcome, Verdict::cannot_tell);
  EXPECT_FALSE(results[1].measured);
}

TEST(MemoryGate, DecidesByBytesAndShare) {
  const std::vector<compare::Run> base{run_with({})};
  const std::vector<compare::Run> now{run_with({.kv_cache = 2 * kGiB + 100 * kMiB})};
  EXPECT_EQ(gate(base, now, "memory.peak<=+1%").outcome, Verdict::pass);
  EXPECT_EQ(gate(base, now, "memory.peak<=+0.5%").outcome, Verdict::fail);
  EXPECT_EQ(gate(base, now, "memory.peak<=+100MiB").outcome, Verdict::pass);
  EXPECT_EQ(gate(base, now, "memory.peak<=+100MB").outcome, Verdict::fail);
  EXPECT_EQ(gate(base, now, "memory.kv_cache<=+0%").outcome, Verdict::fail);
  EXPECT_EQ(gate(base, now, "memory.weights<=+0%").outcome, Verdict::pass);
  EXPECT_EQ(gate(base, now, "memory.end<=+0%&+1GiB").outcome, Verdict::pass);
  EXPECT_EQ(gate(now, base, "memory.kv_cache<=-3%").outcome, Verdict::pass);
  const GateResult result = gate(base, now, "memory.peak<=+100MiB");
  EXPECT_EQ(result.stage, "cuda:0");
  EXPECT_EQ(result.absolute_limit_bytes->value, 100 * kMiB);
  EXPECT_FALSE(result.absolute_limit);
}

TEST(MemoryGate, CannotTellWithoutALedger) {
  const std::vector<compare::Run> without(1);
  const GateResult result = gate({run_with({})}, without, "memory.peak<=+1%");
  EXPECT_EQ(result.outcome, Verdict::cannot_tell);
  EXPECT_FALSE(result.measured);
  EXPECT_EQ(gate({run_with({})}, {run_with({})}, "memory.after_load<=+1%").outcome,
            Verdict::cannot_tell);
}

TEST(MemoryGate, HasOneResultPerGpu) {
  compare::Run both = run_with({});
  const compare::Run second = run_with({}, "cuda:1");
  auto& ledger = *both.profile.memory_ledger;
  for (profile::LedgerRow row : second.profile.memory_ledger->rows) {
    row.moment += ledger.moments.size();
    ledger.rows.push_back(row);
  }
  for (const auto& moment : second.profile.memory_ledger->moments) ledger.moments.push_back(moment);
  const std::vector<compare::Run> sides{both};
  const auto found = compared(sides, sides, memory_of(MemoryFigure::peak));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].stage, "cuda:0");
  EXPECT_EQ(found[1].stage, "cuda:1");
}

}  // namespace
}  // namespace llmprof::compare
