#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "exports/clocks/wall_clock.h"
#include "exports/exports.h"
#include "exports/otlp/span_ids.h"
#include "exports/otlp/span_lines.h"
#include "testing/sample_profile.h"

namespace llmprof::exports {
namespace {

using Json = nlohmann::json;

// The spans of a profile by scope, and the attributes of their resource.
struct Received {
  explicit Received(const profile::Profile& profile) {
    const ExportedText made = otlp_spans(profile, "run", "1.2.3").value();
    lacks = made.lacks;
    for (size_t begin = 0; begin < made.text.size(); begin = made.text.find('\n', begin) + 1) {
      const auto line = Json::parse(made.text.substr(begin, made.text.find('\n', begin) - begin));
      const Json& resource = line["resourceSpans"][0];
      const Json& scope = resource["scopeSpans"][0];
      const std::string name = scope["scope"]["name"];
      for (const Json& span : scope["spans"]) spans[name].push_back(span);
      for (const Json& each : resource["resource"]["attributes"]) {
        resources[name][each["key"]] = each["value"].begin().value();
      }
      ++lines;
    }
  }

  std::map<std::string, std::vector<Json>> spans;
  std::map<std::string, std::map<std::string, Json>> resources;
  std::vector<std::string> lacks;
  size_t lines = 0;
};

profile::Profile on_clock(std::optional<int64_t> wall_clock) {
  profile::Profile profile = testing::requests_sample();
  for (profile::Capture& capture : profile.context.captures) capture.wall_clock_ns = wall_clock;
  return profile;
}

TEST(OtlpSpans, HaveALinkForEachJoinedToken) {
  const profile::Profile profile = on_clock(1'000'000'000'000);
  const Received received(profile);
  std::set<std::string> ids;
  size_t links = 0;
  for (const Json& span : received.spans.at("llmprof.requests")) ids.insert(span["spanId"]);
  for (const Json& span : received.spans.at("llmprof.steps")) {
    for (const Json& link : span.value("links", Json::array())) {
      EXPECT_TRUE(ids.contains(link["spanId"]));
      ++links;
    }
  }
  EXPECT_EQ(links, profile.requests->join.tokens_joined);
}

TEST(OtlpSpans, AreInUnixTime) {
  const Received received(on_clock(1'000'000'000'000));
  const auto& resource = received.resources.at("llmprof.requests");
  EXPECT_EQ(resource.at("llmprof.clock"), "time of day");
  EXPECT_EQ(resource.at("llmprof.clock.offset_ns"), "1000000000000");
  // Sent at 0 ms.
  EXPECT_EQ(received.spans.at("llmprof.requests")[0]["startTimeUnixNano"], "1000000000000");
}

TEST(OtlpSpans, KeepTheTimesOfAClockThatDoesNotKnowTheTimeOfDay) {
  profile::Profile profile = on_clock(std::nullopt);
  EXPECT_EQ(Received(profile).spans.at("llmprof.requests")[0]["startTimeUnixNano"], "0");
  // The requests move by 5 ms, so that none starts before 0.
  profile.requests->items[0].sent = profile::Milliseconds{-5};
  const Received received(profile);
  EXPECT_EQ(received.spans.at("llmprof.requests")[0]["startTimeUnixNano"], "0");
  const auto& resource = received.resources.at("llmprof.requests");
  EXPECT_EQ(resource.at("llmprof.clock.offset_ns"), "5000000");
  EXPECT_NE(resource.at("llmprof.clock"), "time of day");
}

TEST(OtlpSpans, DoNotLinkToWhatDoesNotExist) {
  profile::Profile profile = on_clock(0);
  profile.requests->items[0].token_batches = {900, -1, 2, 3};
  profile.requests->batches[2].first_step = 900;
  profile.requests->batches[3].steps = 0;
  const Received received(profile);
  EXPECT_FALSE(received.spans.at("llmprof.requests")[0].contains("links"));
}

TEST(OtlpSpans, SayWhatIsMissing) {
  profile::Profile profile = on_clock(0);
  profile.requests->items[1].sent = std::nullopt;
  profile.requests->join.state = profile::JoinState::low_coverage;
  const Received received(profile);
  EXPECT_EQ(received.spans.at("llmprof.requests").size(), profile.requests->items.size() - 1);
  ASSERT_EQ(received.lacks.size(), 2U);
  EXPECT_TRUE(received.lacks[0].starts_with("spans of 1 request"));
  EXPECT_TRUE(received.lacks[1].starts_with("links: "));
  profile.requests.reset();
  profile.stages.clear();
  profile.steps.clear();
  EXPECT_FALSE(otlp_spans(profile, "run", "1.2.3"));
}

TEST(OtlpSpans, NameNoFolders) {
  profile::Profile profile = on_clock(0);
  profile.model.emplace().name = "/home/me/models/tiny/";
  const std::string text = otlp_spans(profile, "run", "1.2.3")->text;
  EXPECT_NE(text.find(R"({"stringValue":"tiny"})"), std::string::npos);
  EXPECT_EQ(text.find("/home"), std::string::npos);
}

TEST(SpanIds, AreEqualForOneRunAlone) {
  const SpanIds ids("run");
  EXPECT_EQ(ids.span("request 1"), SpanIds("run").span("request 1"));
  EXPECT_EQ(ids.trace("request 1").size(), 32U);
  std::set<std::string> all;
  for (const char* const run : {"run", "other"}) {
    for (size_t i = 0; i < 1000; ++i) {
      const std::string key = "request " + std::to_string(i);
      all.insert(SpanIds(run).span(key));
      all.insert(SpanIds(run).trace(key));
    }
  }
  EXPECT_EQ(all.size(), 4000U);
}

TEST(SpanLines, HaveABoundedNumberOfSpans) {
  SpanLines lines(OtlpJson::array(), "scope", "1");
  for (size_t i = 0; i < 600; ++i) lines.add({});
  const std::string text = lines.finish();
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
}

TEST(WallClock, IsThatOfTheTimelinesIfTheyAgree) {
  using enum profile::CaptureFormat;
  profile::Profile profile;
  const auto capture = [&](profile::CaptureFormat format, std::optional<int64_t> wall_clock) {
    profile::Capture& added = profile.context.captures.emplace_back();
    added.format = format;
    added.wall_clock_ns = wall_clock;
  };
  EXPECT_FALSE(wall_clock_of_timeline(profile.context));
  capture(nsys_sqlite, 5);
  capture(ncu_csv, std::nullopt);
  capture(requests, 7);
  EXPECT_EQ(wall_clock_of_timeline(profile.context), 5);
  EXPECT_FALSE(wall_clock_of_requests(profile));
  profile.requests.emplace().join.state = profile::JoinState::other_clock;
  EXPECT_EQ(wall_clock_of_requests(profile), 7);
  profile.requests->join.state = profile::JoinState::joined;
  EXPECT_EQ(wall_clock_of_requests(profile), 5);
  capture(collector_log, 6);
  EXPECT_FALSE(wall_clock_of_timeline(profile.context));
}

}  // namespace
}  // namespace llmprof::exports
