#include "analysis/requests/request_findings.h"

#include <gtest/gtest.h>

#include "base/units.h"
#include "profile/finding_values.h"

namespace llmprof::analysis {
namespace {

using profile::Finding;
using profile::FindingKind;
using profile::Milliseconds;
using profile::Request;
using profile::RequestFigure;
using profile::RequestPart;
using profile::WholeNanoseconds;

constexpr Nanoseconds kOneMillisecond = 1'000'000;

Request request_at(double sent_ms, Nanoseconds e2e_ms) {
  Request request;
  request.id = std::to_string(static_cast<int>(sent_ms));
  request.status = profile::RequestStatus::completed;
  request.sent = Milliseconds{sent_ms};
  request.e2e = WholeNanoseconds{e2e_ms * kOneMillisecond};
  return request;
}

// Two requests of 100 ms and one of 200 ms, which waits 50 ms in the queue; the second request's
// gaps contain 20 ms of the third one's prompt.
profile::Requests joined_requests() {
  profile::Requests requests;
  requests.join.state = profile::JoinState::joined;
  requests.completed = 3;
  requests.ttft.count = 3;
  requests.itl.count = 40;
  requests.items = {request_at(0, 100), request_at(50, 100), request_at(400, 200)};
  requests.items[0].parts = {{RequestPart::own_decode, {100 * kOneMillisecond}}};
  requests.items[1].parts = {{RequestPart::own_decode, {76 * kOneMillisecond}},
                             {RequestPart::others_prefill, {24 * kOneMillisecond}}};
  requests.items[1].ttft_parts = {{RequestPart::others_prefill, {4 * kOneMillisecond}}};
  requests.items[2].parts = {{RequestPart::queue, {50 * kOneMillisecond}},
                             {RequestPart::own_decode, {149 * kOneMillisecond}},
                             {RequestPart::delivery, {1 * kOneMillisecond}}};
  requests.items[2].ttft_parts = {{RequestPart::queue, {50 * kOneMillisecond}}};
  requests.parts = {{RequestPart::queue, {50 * kOneMillisecond}},
                    {RequestPart::own_decode, {325 * kOneMillisecond}},
                    {RequestPart::others_prefill, {24 * kOneMillisecond}},
                    {RequestPart::delivery, {1 * kOneMillisecond}}};
  return requests;
}

const Finding* find_kind(const std::vector<Finding>& findings, FindingKind kind) {
  const auto found = std::ranges::find(findings, kind, &Finding::kind);
  return found == findings.end() ? nullptr : &*found;
}

double number(const Finding& finding, std::string_view name) {
  return profile::find_value(finding.values, name)->value.value();
}

TEST(RequestFindings, AreMeansPerRequestAndSharesOfAllTime) {
  const auto findings = find_request_findings(joined_requests());
  ASSERT_EQ(findings.size(), 2U);  // delivery is 1 of 400 ms, in no tail
  const Finding* queue = find_kind(findings, FindingKind::requests_queued);
  ASSERT_NE(queue, nullptr);
  EXPECT_DOUBLE_EQ(queue->saving->value, 50.0 / 3);
  EXPECT_DOUBLE_EQ(queue->share_of_wall.value, 50.0 / 400);
  // In flight from 0 to 150 ms and from 400 to 600 ms.
  EXPECT_DOUBLE_EQ(queue->total_saving->value, 350.0 * 50 / 400);
  EXPECT_EQ(queue->unit, "request");
  EXPECT_FALSE(queue->stage);
  EXPECT_EQ(number(*queue, "requests"), 1);
  EXPECT_EQ(number(*queue, "completed"), 3);
}

// Three of four parts of their time were not recorded: savings are four times what was.
TEST(RequestFindings, WindowsStandForTheRest) {
  profile::Requests requests = joined_requests();
  requests.parts.emplace_back(RequestPart::not_recorded,
                              profile::WholeNanoseconds{1200 * kOneMillisecond});
  const auto findings = find_request_findings(requests);
  const Finding* queue = find_kind(findings, FindingKind::requests_queued);
  ASSERT_NE(queue, nullptr);
  EXPECT_DOUBLE_EQ(queue->saving->value, 4 * 50.0 / 3);
  EXPECT_DOUBLE_EQ(queue->share_of_wall.value, 50.0 / 400);
}

TEST(RequestFindings, NameTheFiguresThatHaveTheTime) {
  const auto findings = find_request_findings(joined_requests());
  const Finding* prompts = find_kind(findings, FindingKind::requests_delayed_by_prompts);
  ASSERT_NE(prompts, nullptr);
  ASSERT_EQ(prompts->figures.size(), 2U);
  EXPECT_EQ(prompts->figures[0].figure, RequestFigure::ttft);
  EXPECT_DOUBLE_EQ(prompts->figures[0].mean->value, 4.0 / 3);
  EXPECT_EQ(prompts->figures[1].figure, RequestFigure::itl);
  EXPECT_DOUBLE_EQ(prompts->figures[1].mean->value, 20.0 / 40);
  EXPECT_FALSE(prompts->figures[1].tail);
  const Finding* queue = find_kind(findings, FindingKind::requests_queued);
  ASSERT_EQ(queue->figures.size(), 1U);
  EXPECT_EQ(queue->figures[0].figure, RequestFigure::ttft);
}

// Little of all time, but what the slowest gaps consist of.
TEST(RequestFindings, ExplainATail) {
  profile::Requests requests = joined_requests();
  requests.items[2].parts.back() = {RequestPart::out_of_batch, {1 * kOneMillisecond}};
  requests.items[2].preemptions = 2;
  profile::RequestTail& tail = requests.tail.emplace_back();
  tail.figure = RequestFigure::itl;
  tail.quantile = {0.99};
  tail.above = {10};
  tail.count = 4;
  tail.parts = {{RequestPart::out_of_batch, {9}, {1}, {8}},
                {RequestPart::own_decode, {4}, {4}, {0}}};
  requests.tail.push_back(tail);
  requests.tail.back().quantile = {0.5};
  requests.tail.back().parts.clear();
  const auto findings = find_request_findings(requests);
  const Finding* preempted = find_kind(findings, FindingKind::requests_preempted);
  ASSERT_NE(preempted, nullptr);
  EXPECT_EQ(number(*preempted, "preemptions"), 2);
  EXPECT_EQ(number(*preempted, "tail_part"), 9);
  EXPECT_EQ(number(*preempted, "tail_mean"), 13);
  EXPECT_EQ(number(*preempted, "tail_median"), 1);
  EXPECT_EQ(profile::find_value(preempted->values, "tail_part")->text, "itl");
  ASSERT_EQ(preempted->figures.size(), 1U);
  EXPECT_EQ(preempted->figures[0].quantile->value, 0.99);
  EXPECT_EQ(preempted->figures[0].tail->value, 8);
  requests.tail.front().parts.front().more = {0.9};  // less than a tenth of 10 ms
  EXPECT_EQ(find_kind(find_request_findings(requests), FindingKind::requests_preempted), nullptr);
}

TEST(RequestFindings, SayWhoAndWhichLimit) {
  profile::Requests requests = joined_requests();
  requests.delayers = {{"400", {20 * kOneMillisecond}, {4 * kOneMillisecond}, 1, 3}};
  requests.load.most_concurrent = 5;
  requests.load.verdict = profile::LoadVerdict::over_saturated;
  requests.batches.resize(2);
  requests.batches[0].rows = 4;
  auto findings = find_request_findings(requests);
  const Finding* prompts = find_kind(findings, FindingKind::requests_delayed_by_prompts);
  EXPECT_EQ(profile::find_text(prompts->values, "delayer"), "400");
  EXPECT_EQ(number(*prompts, "delayer_time"), 24);
  const Finding* queue = find_kind(findings, FindingKind::requests_queued);
  EXPECT_EQ(number(*queue, "largest_batch"), 4);
  EXPECT_TRUE(profile::has_flag(queue->values, "batch_is_full"));
  EXPECT_TRUE(profile::has_flag(queue->values, "over_saturated"));
  requests.load.most_concurrent = 4;
  findings = find_request_findings(requests);
  queue = find_kind(findings, FindingKind::requests_queued);
  EXPECT_FALSE(profile::has_flag(queue->values, "batch_is_full"));
}

TEST(RequestFindings, NeedAJoin) {
  profile::Requests requests = joined_requests();
  requests.join.state = profile::JoinState::low_coverage;
  EXPECT_TRUE(find_request_findings(requests).empty());
  EXPECT_TRUE(find_request_findings(profile::Requests()).empty());
}

TEST(RequestFindings, DoNotCountWarmUp) {
  profile::Requests requests = joined_requests();
  requests.items[2].warm_up = true;
  EXPECT_EQ(find_kind(find_request_findings(requests), FindingKind::requests_queued), nullptr);
  EXPECT_EQ(time_in_flight(requests), 150 * kOneMillisecond);
}

}  // namespace
}  // namespace llmprof::analysis
