#include "analysis/memory_ledger/cache_use.h"

#include <gtest/gtest.h>

namespace llmprof::analysis {
namespace {

using profile::MemoryLedger;
using profile::Workload;

// 4 layers, 2 KV heads of 64 values: 2,048 bytes per token.
llm::ModelSpec model_with_cache() {
  llm::ModelSpec spec;
  spec.kv_heads = 2;
  spec.head_dim = 64;
  spec.layers.resize(4);
  return spec;
}

MemoryLedger headroom_of(uint64_t tokens, size_t gpus = 1) {
  MemoryLedger ledger;
  for (size_t i = 0; i < gpus; ++i) {
    profile::LedgerMoment& peak = ledger.moments.emplace_back();
    peak.device = "cuda:" + std::to_string(i);
    peak.kind = profile::LedgerMomentKind::peak;
    profile::MemoryHeadroom& left = ledger.headroom.emplace_back();
    left.device = peak.device;
    left.cache_tokens = tokens;
  }
  return ledger;
}

void add_served_request(profile::Requests& requests, double sent_ms, int64_t ttft_ms,
                        int64_t e2e_ms, uint64_t prompt, uint64_t answer) {
  profile::Request& request = requests.items.emplace_back();
  request.status = profile::RequestStatus::completed;
  request.sent = profile::Milliseconds{sent_ms};
  request.ttft = profile::WholeNanoseconds{ttft_ms * 1'000'000};
  request.e2e = profile::WholeNanoseconds{e2e_ms * 1'000'000};
  request.prompt_tokens = prompt;
  request.output_tokens = answer;
}

std::optional<uint64_t> used_of(MemoryLedger ledger,
                                const std::optional<profile::Requests>& requests,
                                const Workload& workload = {}) {
  const llm::ModelSpec spec = model_with_cache();
  add_cache_use(requests, workload, &spec, ledger);
  return ledger.headroom.front().cache_used_tokens;
}

TEST(CacheUse, OfRequestsThatOverlap) {
  profile::Requests requests;
  add_served_request(requests, 0, 10, 100, 500, 20);    // in the cache from 10 to 100 ms
  add_served_request(requests, 5, 80, 200, 300, 40);    // 85 to 205
  add_served_request(requests, 0, 205, 300, 400, 100);  // 205 to 300
  EXPECT_EQ(used_of(headroom_of(10'000), requests), 860U);
  // A completed request without its tokens: the sum is not known.
  requests.items[0].prompt_tokens.reset();
  EXPECT_FALSE(used_of(headroom_of(10'000), requests));
}

TEST(CacheUse, OfBatchesIfTheyAreJoined) {
  profile::Requests requests;
  add_served_request(requests, 0, 10, 100, 500, 20);
  requests.batches.resize(3);
  requests.batches[0].context_tokens = 700;
  requests.batches[1].context_tokens = 650;
  EXPECT_EQ(used_of(headroom_of(10'000), requests), 700U);
}

TEST(CacheUse, OfTheStatedWorkload) {
  Workload workload;
  workload.batch = 4;
  workload.prompt_tokens = 512;
  EXPECT_FALSE(used_of(headroom_of(10'000), {}, workload));
  workload.new_tokens = 64;
  EXPECT_EQ(used_of(headroom_of(10'000), {}, workload), 4 * 576U);
  // More than the cache holds is not in it.
  EXPECT_FALSE(used_of(headroom_of(2'000), {}, workload));
  // Of several GPUs, each may hold a part.
  EXPECT_FALSE(used_of(headroom_of(10'000, 2), {}, workload));
}

TEST(CacheUse, OfPytorchsRowsByTheSnapshot) {
  MemoryLedger ledger = headroom_of(0);
  ledger.headroom[0].cache_tokens.reset();
  profile::LedgerContents& row = ledger.contents.emplace_back();
  row.content = profile::MemoryContent::kv_cache;
  row.bytes = {2048.0 * 1000};
  Workload workload;
  workload.batch = 1;
  workload.prompt_tokens = 200;
  workload.new_tokens = 50;
  const llm::ModelSpec spec = model_with_cache();
  add_cache_use({}, workload, &spec, ledger);
  EXPECT_EQ(ledger.headroom[0].cache_tokens, 1000U);
  EXPECT_EQ(ledger.headroom[0].cache_used_share, profile::Share{0.25});
  EXPECT_EQ(ledger.headroom[0].weight_sets, 0U);
}

}  // namespace
}  // namespace llmprof::analysis
