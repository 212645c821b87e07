#include "analysis/memory/memory_findings.h"

#include <gtest/gtest.h>

#include "profile/finding_values.h"

namespace llmprof::analysis {
namespace {

using profile::Bytes;
using profile::FindingKind;
using profile::LedgerMomentKind;
using profile::LedgerPart;
using profile::Memory;
using profile::MemoryLedger;
using profile::OutOfMemoryCause;

constexpr double kGiB = 1024.0 * 1024 * 1024;

Memory with_peak(double active, double reserved) {
  Memory memory;
  profile::MemoryDevice& device = memory.devices.emplace_back();
  device.device = "cuda:0";
  device.reserved = {reserved};
  device.peak.emplace().active = {active};
  device.peak->reserved = {reserved};
  return memory;
}

MemoryLedger with_pool(double in_use, double unused) {
  MemoryLedger ledger;
  profile::LedgerMoment& peak = ledger.moments.emplace_back();
  peak.device = "cuda:0";
  peak.kind = LedgerMomentKind::peak;
  peak.total = {80 * kGiB};
  for (const auto& [part, bytes] :
       {std::pair(LedgerPart::pool, in_use), std::pair(LedgerPart::pool_unused, unused)}) {
    profile::LedgerRow& row = ledger.rows.emplace_back();
    row.part = part;
    row.bytes = {bytes};
  }
  return ledger;
}

double number_in(const profile::Finding& finding, std::string_view name) {
  const auto* value = profile::find_value(finding.values, name);
  return value == nullptr ? -1 : value->value.value_or(-1);
}

TEST(MemoryFindings, UnusedMemoryCountsWhenMostIsNeeded) {
  const auto findings = find_memory_findings(with_peak(6 * kGiB, 8 * kGiB), with_pool(0, 0));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::memory_reserved_unused);
  EXPECT_EQ(findings[0].subject, "cuda:0");
  EXPECT_FALSE(findings[0].stage || findings[0].saving || findings[0].total_saving);
  EXPECT_EQ(number_in(findings[0], "unused"), 2 * kGiB);
  EXPECT_DOUBLE_EQ(number_in(findings[0], "share_of_reserved"), 0.25);
  EXPECT_DOUBLE_EQ(number_in(findings[0], "share_of_gpu"), 2.0 / 80);
  // Little of much, and much of little.
  EXPECT_TRUE(find_memory_findings(with_peak(75 * kGiB, 80 * kGiB), {}).empty());
  EXPECT_TRUE(find_memory_findings(with_peak(0.1 * kGiB, 0.3 * kGiB), {}).empty());
  Memory after_peak = with_peak(8 * kGiB, 8 * kGiB);
  after_peak.devices[0].inactive = {7 * kGiB};
  EXPECT_TRUE(find_memory_findings(after_peak, {}).empty());
}

TEST(MemoryFindings, ALeakIsOneAndGrowthIsNot) {
  MemoryLedger ledger = with_pool(0, 0);
  profile::MemoryHeadroom& left = ledger.headroom.emplace_back();
  left.device = "cuda:0";
  left.requests = 48;
  for (const bool leak : {true, false}) {
    profile::MemoryGrowth& growth = ledger.growth.emplace_back();
    growth.device = "cuda:0";
    growth.owner = "PyTorch";
    growth.per_request = {1e6};
    growth.grown = {48e6};
    growth.leak = leak;
  }
  ledger.growth[0].requests_left = 7;
  const auto findings = find_memory_findings({}, ledger);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::memory_leak);
  EXPECT_EQ(number_in(findings[0], "per_request"), 1e6);
  EXPECT_EQ(number_in(findings[0], "requests"), 48);
  EXPECT_EQ(number_in(findings[0], "requests_left"), 7);
}

TEST(MemoryFindings, PrivatePoolsThatUseWhatTheyHoldAreFine) {
  Memory memory = with_peak(8 * kGiB, 8 * kGiB);
  memory.devices[0].private_pools = {4 * kGiB};
  for (const auto& [pool, is_private, inactive] :
       {std::tuple("0,0", false, 3 * kGiB), std::tuple("0,1", true, 0.5 * kGiB),
        std::tuple("0,2", true, 1.5 * kGiB)}) {
    profile::MemoryPool& added = memory.pools.emplace_back();
    added.device = "cuda:0";
    added.pool = pool;
    added.is_private = is_private;
    added.reserved = {2 * kGiB};
    added.inactive = {inactive};
  }
  const auto findings = find_memory_findings(memory, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::memory_graph_pools);
  EXPECT_EQ(number_in(findings[0], "pools"), 2);
  EXPECT_EQ(number_in(findings[0], "unused"), 2 * kGiB);
  EXPECT_EQ(number_in(findings[0], "share_of_gpu"), -1);
  memory.pools[2].inactive = memory.pools[1].inactive = {0};
  EXPECT_TRUE(find_memory_findings(memory, {}).empty());
}

TEST(MemoryFindings, FailuresForWantOfMemoryAreNone) {
  Memory memory;
  for (const auto& [cause, requested] : {std::pair(OutOfMemoryCause::size, 9 * kGiB),
                                         std::pair(OutOfMemoryCause::fragmentation, kGiB),
                                         std::pair(OutOfMemoryCause::fragmentation, 2 * kGiB),
                                         std::pair(OutOfMemoryCause::other_pools, kGiB),
                                         std::pair(OutOfMemoryCause::not_known, kGiB)}) {
    profile::OutOfMemory& failed = memory.out_of_memory.emplace_back();
    failed.device = "cuda:0";
    failed.cause = cause;
    failed.requested = {requested};
  }
  const auto findings = find_memory_findings(memory, {});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].kind, FindingKind::memory_allocation_failed);
  EXPECT_EQ(profile::find_text(findings[0].values, "cause"), "fragmentation");
  EXPECT_EQ(number_in(findings[0], "failures"), 2);
  EXPECT_EQ(number_in(findings[0], "requested"), 2 * kGiB);
  EXPECT_EQ(profile::find_text(findings[1].values, "cause"), "other_pools");
}

TEST(MemoryFindings, FreeMemoryOfCudasPoolsIsFoundAtThePeak) {
  const auto findings = find_memory_findings({}, with_pool(kGiB, 8 * kGiB));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::memory_pool_unused);
  EXPECT_DOUBLE_EQ(number_in(findings[0], "share_of_gpu"), 0.1);
  EXPECT_TRUE(find_memory_findings({}, with_pool(kGiB, 0.2 * kGiB)).empty());
  EXPECT_TRUE(find_memory_findings({}, {}).empty());
}

TEST(MemoryFindings, TwoSetsOfWeightsAreOneTooMany) {
  Memory memory;
  profile::ModelMemory& model = memory.models.emplace_back();
  model.device = "cuda:0";
  model.weights = {2 * kGiB};
  model.bytes_per_token = {kGiB / 1024};
  model.weight_sets = 1;
  EXPECT_TRUE(find_memory_findings(memory, {}).empty());
  memory.models[0].weight_sets = 3;
  auto findings = find_memory_findings(memory, with_pool(0, 0));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::memory_duplicated_weights);
  EXPECT_EQ(number_in(findings[0], "extra"), 4 * kGiB);
  EXPECT_EQ(number_in(findings[0], "extra_tokens"), 4 * 1024);
  EXPECT_DOUBLE_EQ(number_in(findings[0], "share_of_gpu"), 4.0 / 80);
  // The same in allocations of the driver.
  MemoryLedger ledger = with_pool(0, 0);
  profile::LedgerRow& row = ledger.rows.emplace_back();
  row.part = LedgerPart::weights;
  row.bytes = {6 * kGiB};
  row.allocations = 2;
  profile::MemoryHeadroom& left = ledger.headroom.emplace_back();
  left.device = "cuda:0";
  left.weight_sets = 2;
  findings = find_memory_findings({}, ledger);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(number_in(findings[0], "weights"), 3 * kGiB);
  EXPECT_EQ(number_in(findings[0], "extra_tokens"), -1);
}

TEST(MemoryFindings, ACacheOfWhichLessThanHalfIsUsed) {
  MemoryLedger ledger = with_pool(0, 0);
  profile::MemoryHeadroom& left = ledger.headroom.emplace_back();
  left.device = "cuda:0";
  left.bytes_per_token = Bytes{kGiB / 1024};
  left.cache_tokens = 8 * 1024;
  EXPECT_TRUE(find_memory_findings({}, ledger).empty());
  ledger.headroom[0].cache_used_tokens = 2 * 1024;
  ledger.headroom[0].cache_used_share = profile::Share{0.25};
  const auto findings = find_memory_findings({}, ledger);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::memory_cache_unused);
  EXPECT_EQ(number_in(findings[0], "reserved"), 8 * kGiB);
  EXPECT_EQ(number_in(findings[0], "unused"), 6 * kGiB);
  EXPECT_DOUBLE_EQ(number_in(findings[0], "share_of_gpu"), 6.0 / 80);
  ledger.headroom[0].cache_used_tokens = 5 * 1024;
  EXPECT_TRUE(find_memory_findings({}, ledger).empty());
}

}  // namespace
}  // namespace llmprof::analysis
