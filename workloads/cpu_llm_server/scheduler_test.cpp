#include "cpu_llm_server/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace cpu_llm_server {
namespace {

std::vector<Token> prompt_of(size_t tokens, Token first = 100) {
  std::vector<Token> prompt(tokens);
  for (size_t i = 0; i < tokens; ++i) prompt[i] = first + static_cast<Token>(i);
  return prompt;
}

// Numbers requests as they come.
class NumberingScheduler : public Scheduler {
 public:
  using Scheduler::Scheduler;
  RequestId add(std::vector<Token> prompt, const GenerationLimits& limits) {
    Scheduler::add(next_, std::move(prompt), limits);
    return next_++;
  }

 private:
  RequestId next_ = 0;
};

// Computes a step in which every sample is `token`.
std::vector<GeneratedToken> complete_with(Scheduler& scheduler, const StepPlan& plan, Token token) {
  const auto count = static_cast<size_t>(std::ranges::count_if(plan.parts, &StepPart::gets_token));
  return scheduler.complete(plan, std::vector<Token>(count, token));
}

std::vector<RequestId> requests_in(const StepPlan& plan) {
  std::vector<RequestId> ids;
  for (const StepPart& part : plan.parts) ids.push_back(part.request);
  return ids;
}

using Ids = std::vector<RequestId>;

TEST(CpuLlmScheduler, AnIdleOneHasNothingToDo) {
  NumberingScheduler scheduler(SchedulerLimits{});
  EXPECT_TRUE(scheduler.plan().empty());
}

TEST(CpuLlmScheduler, AShortPromptIsOneStepAndGetsItsFirstToken) {
  NumberingScheduler scheduler(SchedulerLimits{});
  scheduler.add(prompt_of(5), {.max_tokens = 2, .end_token = {}});
  const StepPlan prefill = scheduler.plan();
  ASSERT_EQ(prefill.parts.size(), 1U);
  EXPECT_EQ(prefill.parts[0].cached, 0U);
  EXPECT_EQ(prefill.parts[0].added, 5U);
  EXPECT_TRUE(prefill.parts[0].prompt);
  EXPECT_TRUE(prefill.parts[0].gets_token);
  EXPECT_EQ(prefill.tokens, prompt_of(5));
  const auto first = complete_with(scheduler, prefill, 7);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].token, 7);
  EXPECT_EQ(first[0].finish, FinishReason::none);
  const StepPlan decode = scheduler.plan();
  ASSERT_EQ(decode.parts.size(), 1U);
  EXPECT_EQ(decode.parts[0].cached, 5U);
  EXPECT_EQ(decode.parts[0].added, 1U);
  EXPECT_FALSE(decode.parts[0].prompt);
  EXPECT_EQ(decode.tokens, (std::vector<Token>{7}));
  EXPECT_EQ(complete_with(scheduler, decode, 8)[0].finish, FinishReason::length);
  EXPECT_TRUE(scheduler.plan().empty());
  EXPECT_EQ(scheduler.used_cache_tokens(), 0U);
}

TEST(CpuLlmScheduler, APromptOfOneTokenIsPrefill) {
  NumberingScheduler scheduler(SchedulerLimits{});
  scheduler.add(prompt_of(1), {});
  EXPECT_TRUE(scheduler.plan().parts.at(0).prompt);
}

TEST(CpuLlmScheduler, ALongPromptIsComputedInChunksBesideDecode) {
  NumberingScheduler scheduler({.slots = 4, .chunk_tokens = 10, .cache_tokens = 1000});
  scheduler.add(prompt_of(3), {});
  complete_with(scheduler, scheduler.plan(), 1);
  scheduler.add(prompt_of(25), {});
  std::vector<size_t> chunks;
  std::vector<bool> got_token;
  for (int step = 0; step < 3; ++step) {
    const StepPlan plan = scheduler.plan();
    ASSERT_EQ(requests_in(plan), (Ids{0, 1})) << "step " << step;
    EXPECT_EQ(plan.parts[0].added, 1U);
    EXPECT_FALSE(plan.parts[0].prompt);
    EXPECT_LE(plan.tokens.size(), 10U);
    chunks.push_back(plan.parts[1].added);
    got_token.push_back(plan.parts[1].gets_token);
    complete_with(scheduler, plan, 1);
  }
  EXPECT_EQ(chunks, (std::vector<size_t>{9, 9, 7}));
  EXPECT_EQ(got_token, (std::vector<bool>{false, false, true}));
}

TEST(CpuLlmScheduler, PromptsShareTheBudgetInOrder) {
  NumberingScheduler scheduler({.slots = 4, .chunk_tokens = 10, .cache_tokens = 1000});
  for (const size_t tokens : {4U, 4U, 4U}) scheduler.add(prompt_of(tokens), {});
  const StepPlan plan = scheduler.plan();
  ASSERT_EQ(requests_in(plan), (Ids{0, 1, 2}));
  EXPECT_EQ(plan.parts[2].added, 2U);
  EXPECT_FALSE(plan.parts[2].gets_token);
}

TEST(CpuLlmScheduler, RequestsStartInOrderWhenASlotIsFree) {
  NumberingScheduler scheduler({.slots = 2, .chunk_tokens = 100, .cache_tokens = 1000});
  for (int i = 0; i < 4; ++i) scheduler.add(prompt_of(3), {.max_tokens = 2, .end_token = {}});
  StepPlan plan = scheduler.plan();
  EXPECT_EQ(requests_in(plan), (Ids{0, 1}));
  EXPECT_EQ(plan.waiting, 2U);
  EXPECT_NE(plan.parts[0].slot, plan.parts[1].slot);
  complete_with(scheduler, plan, 1);
  complete_with(scheduler, scheduler.plan(), 1);  // both end
  EXPECT_EQ(requests_in(scheduler.plan()), (Ids{2, 3}));
}

// A later, smaller request does not overtake one that waits for room.
TEST(CpuLlmScheduler, NobodyOvertakesARequestThatWaitsForCache) {
  NumberingScheduler scheduler({.slots = 4, .chunk_tokens = 100, .cache_tokens = 30});
  scheduler.add(prompt_of(20), {});
  scheduler.add(prompt_of(15), {});
  scheduler.add(prompt_of(2), {});
  EXPECT_EQ(requests_in(scheduler.plan()), (Ids{0}));
  EXPECT_EQ(scheduler.waiting(), 2U);
}

TEST(CpuLlmScheduler, AFullCachePreemptsTheYoungest) {
  NumberingScheduler scheduler({.slots = 4, .chunk_tokens = 100, .cache_tokens = 21});
  scheduler.add(prompt_of(10), {.max_tokens = 5, .end_token = {}});
  scheduler.add(prompt_of(9, 500), {.max_tokens = 5, .end_token = {}});
  complete_with(scheduler, scheduler.plan(), 1);  // 11 + 10 tokens: full
  StepPlan plan = scheduler.plan();
  EXPECT_EQ(requests_in(plan), (Ids{0, 1}));
  complete_with(scheduler, plan, 2);  // 12 + 11
  plan = scheduler.plan();
  EXPECT_EQ(plan.preempted, (Ids{1}));
  EXPECT_EQ(requests_in(plan), (Ids{0}));
  EXPECT_EQ(plan.waiting, 1U);
  complete_with(scheduler, plan, 3);
  for (int step = 0; step < 2; ++step) {
    plan = scheduler.plan();
    EXPECT_EQ(requests_in(plan), (Ids{0}));
    complete_with(scheduler, plan, 4);
  }
  // The first has its five tokens; the second is computed again, with what it had generated.
  plan = scheduler.plan();
  ASSERT_EQ(requests_in(plan), (Ids{1}));
  EXPECT_TRUE(plan.preempted.empty());
  EXPECT_EQ(plan.parts[0].cached, 0U);
  EXPECT_EQ(plan.parts[0].added, 11U);
  EXPECT_TRUE(plan.parts[0].prompt);
  EXPECT_EQ(plan.tokens[8], 508);
  EXPECT_EQ(plan.tokens[9], 1);
  EXPECT_EQ(plan.tokens[10], 2);
  const auto third = complete_with(scheduler, plan, 5);
  ASSERT_EQ(third.size(), 1U);
  EXPECT_EQ(third[0].token, 5);
}

TEST(CpuLlmScheduler, AnEvictedRequestWaitsForItsRelease) {
  NumberingScheduler scheduler(SchedulerLimits{});
  EXPECT_EQ(scheduler.evict(), std::nullopt);
  for (int i = 0; i < 3; ++i) scheduler.add(prompt_of(3), {.max_tokens = 9, .end_token = {}});
  complete_with(scheduler, scheduler.plan(), 1);
  EXPECT_EQ(scheduler.evict(), RequestId(2));
  StepPlan plan = scheduler.plan();
  EXPECT_EQ(plan.preempted, (Ids{2}));
  EXPECT_EQ(requests_in(plan), (Ids{0, 1}));
  complete_with(scheduler, plan, 1);
  scheduler.add(prompt_of(3), {});  // it does not hold up others
  plan = scheduler.plan();
  EXPECT_EQ(requests_in(plan), (Ids{0, 1, 3}));
  complete_with(scheduler, plan, 1);
  scheduler.release();
  EXPECT_EQ(requests_in(scheduler.plan()), (Ids{0, 1, 3, 2}));
}

// A request without a token has nothing to lose: that would be a longer queue.
TEST(CpuLlmScheduler, ARequestWithItsPromptIsNotEvicted) {
  NumberingScheduler scheduler({.slots = 4, .chunk_tokens = 10, .cache_tokens = 1000});
  scheduler.add(prompt_of(3), {.max_tokens = 9, .end_token = {}});
  complete_with(scheduler, scheduler.plan(), 1);
  scheduler.add(prompt_of(30), {.max_tokens = 9, .end_token = {}});
  complete_with(scheduler, scheduler.plan(), 1);
  EXPECT_EQ(scheduler.running(), 2U);
  EXPECT_EQ(scheduler.decoding(), 1U);
  EXPECT_EQ(scheduler.evict(), RequestId(0));
  EXPECT_EQ(scheduler.evict(), std::nullopt);
}

TEST(CpuLlmScheduler, TheEndTokenEndsARequest) {
  NumberingScheduler scheduler(SchedulerLimits{});
  scheduler.add(prompt_of(3), {.max_tokens = 9, .end_token = 0});
  scheduler.add(prompt_of(3), {.max_tokens = 9, .end_token = {}});
  const auto generated = complete_with(scheduler, scheduler.plan(), 0);
  ASSERT_EQ(generated.size(), 2U);
  EXPECT_EQ(generated[0].finish, FinishReason::stop);
  EXPECT_EQ(generated[1].finish, FinishReason::none);
  EXPECT_EQ(requests_in(scheduler.plan()), (Ids{1}));
}

TEST(CpuLlmScheduler, ACanceledRequestIsGoneWhereverItIs) {
  NumberingScheduler scheduler({.slots = 2, .chunk_tokens = 100, .cache_tokens = 1000});
  for (int i = 0; i < 4; ++i) scheduler.add(prompt_of(3), {.max_tokens = 9, .end_token = {}});
  const StepPlan plan = scheduler.plan();
  scheduler.cancel(1);  // while its step runs
  scheduler.cancel(2);  // while it waits
  scheduler.cancel(77);
  const auto generated = complete_with(scheduler, plan, 1);
  ASSERT_EQ(generated.size(), 1U);
  EXPECT_EQ(generated[0].request, 0U);
  EXPECT_EQ(requests_in(scheduler.plan()), (Ids{0, 3}));
}

// Samples belong to the parts that get a token, also if a part before them was canceled.
TEST(CpuLlmScheduler, SamplesStayWithTheirRequests) {
  NumberingScheduler scheduler({.slots = 4, .chunk_tokens = 100, .cache_tokens = 1000});
  for (int i = 0; i < 3; ++i) scheduler.add(prompt_of(3), {});
  const StepPlan plan = scheduler.plan();
  scheduler.cancel(1);
  const auto generated = scheduler.complete(plan, std::vector<Token>{10, 11, 12});
  ASSERT_EQ(generated.size(), 2U);
  EXPECT_EQ(generated[0].token, 10);
  EXPECT_EQ(generated[1].token, 12);
}

// Whatever arrives: every request ends with all of its tokens, no step is larger than its budget,
// slots are not shared, the cache is never exceeded, and tokens enter it in order.
TEST(CpuLlmScheduler, EveryRequestEndsWithinAllLimits) {
  const SchedulerLimits limits = {.slots = 3, .chunk_tokens = 8, .cache_tokens = 40};
  NumberingScheduler scheduler(limits);
  std::map<RequestId, size_t> left;
  std::map<RequestId, size_t> cached;
  size_t preemptions = 0;
  uint32_t random = 12345;
  const auto below = [&](uint32_t limit) {
    random = random * 1664525 + 1013904223;
    return (random >> 8U) % limit;
  };
  for (int step = 0; step < 6000; ++step) {
    if (step < 1500 && below(3) == 0) {
      const size_t prompt = 1 + below(20);
      const size_t more = 1 + below(20);
      ASSERT_TRUE(scheduler.fits(prompt, more));
      left[scheduler.add(prompt_of(prompt), {.max_tokens = more, .end_token = {}})] = more;
    }
    if (below(50) == 0) scheduler.evict();
    if (below(10) == 0) scheduler.release();
    const StepPlan plan = scheduler.plan();
    preemptions += plan.preempted.size();
    for (const RequestId id : plan.preempted) cached[id] = 0;
    size_t rows = 0;
    std::vector<size_t> slots;
    for (const StepPart& part : plan.parts) {
      ASSERT_EQ(part.cached, cached[part.request]);
      cached[part.request] += part.added;
      rows += part.added;
      slots.push_back(part.slot);
    }
    std::ranges::sort(slots);
    ASSERT_EQ(std::ranges::adjacent_find(slots), slots.end());
    ASSERT_LE(rows, limits.chunk_tokens);
    ASSERT_EQ(rows, plan.tokens.size());
    ASSERT_LE(scheduler.used_cache_tokens(), limits.cache_tokens);
    for (const GeneratedToken& each : complete_with(scheduler, plan, 1)) {
      --left.at(each.request);
      if (each.finish == FinishReason::none) continue;
      ASSERT_EQ(left.at(each.request), 0U);
      left.erase(each.request);
    }
  }
  EXPECT_TRUE(left.empty());
  EXPECT_GT(preemptions, 50U);
  EXPECT_TRUE(scheduler.plan().empty());
}

}  // namespace
}  // namespace cpu_llm_server
