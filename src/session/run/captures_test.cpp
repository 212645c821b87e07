#include "session/run/run.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "session/run/recordings.h"

namespace llmprof::session {
namespace {

RunOptions on_the_gpu() {
  RunOptions options;
  options.workload.uses_cuda = true;
  return options;
}

CollectorReach able() {
  CollectorReach reach;
  reach.records_cuda = true;
  reach.cupti = "/cuda/libcupti.so.13";
  return reach;
}

CollectorReach unable() {
  CollectorReach reach;
  reach.why_not = "no NVIDIA driver is loaded here";
  return reach;
}

std::string notes(const Captures& captures) {
  std::string all;
  for (const std::string& note : captures.notes) all += note + "\n";
  return all;
}

TEST(Captures, AWorkloadWithoutCudaHasOurLogAlone) {
  RunOptions options;
  options.workload.uses_cuda = false;
  const Captures made = choose_captures(options, unable());
  EXPECT_TRUE(made.collector);
  EXPECT_FALSE(made.collector_cuda || made.nsys || made.nsys_in_need || made.ncu);
  EXPECT_EQ(notes(made), "");
  options.pipeline.nsys = Switch::on;
  options.pipeline.ncu = Switch::on;
  const Captures all = choose_captures(options, unable());
  EXPECT_TRUE(all.collector && all.nsys && all.ncu);
}

TEST(Captures, TheCollectorIsTheTimelineWhereItCan) {
  const Captures deep = choose_captures(on_the_gpu(), able());
  EXPECT_TRUE(deep.collector && deep.collector_cuda && deep.nsys_in_need && deep.ncu);
  EXPECT_FALSE(deep.nsys);
  EXPECT_EQ(deep.cupti, "/cuda/libcupti.so.13");
  EXPECT_TRUE(
      contains(notes(deep),
               "timeline: the collector's, with the program's own CUPTI, else "
               "/cuda/libcupti.so.13; nsys is skipped (pipeline.nsys.enable=true adds it)"));
  EXPECT_FALSE(contains(notes(deep), "ncu is skipped"));
}

TEST(Captures, LightModeLeavesNcuOutBesideTheCollectorAlone) {
  RunOptions options = on_the_gpu();
  options.mode = RunMode::light;
  const Captures light = choose_captures(options, able());
  EXPECT_FALSE(light.ncu || light.nsys);
  EXPECT_TRUE(contains(notes(light), "ncu is skipped in light mode"));
  const Captures fallback = choose_captures(options, unable());
  EXPECT_TRUE(fallback.ncu && fallback.nsys);
}

TEST(Captures, NsysIsTheTimelineWhereTheCollectorCannot) {
  const Captures made = choose_captures(on_the_gpu(), unable());
  EXPECT_TRUE(made.nsys && made.ncu);
  EXPECT_FALSE(made.collector || made.collector_cuda || made.nsys_in_need);
  EXPECT_TRUE(contains(notes(made),
                       "timeline: nsys's; the collector cannot record it: no NVIDIA "
                       "driver is loaded here"));
}

TEST(Captures, WhatIsSetAlwaysWins) {
  RunOptions options = on_the_gpu();
  options.pipeline.nsys = Switch::on;
  options.pipeline.ncu = Switch::off;
  const Captures both = choose_captures(options, able());
  EXPECT_TRUE(both.collector_cuda && both.nsys);
  EXPECT_FALSE(both.ncu || both.nsys_in_need);
  options.pipeline.collector = false;
  const Captures without = choose_captures(options, able());
  EXPECT_TRUE(without.nsys);
  EXPECT_FALSE(without.collector || without.collector_cuda);
  EXPECT_TRUE(contains(notes(without), "pipeline.collector.enable=false"));
  options.pipeline.collector = true;
  options.pipeline.nsys = Switch::off;
  const Captures neither = choose_captures(options, unable());
  EXPECT_TRUE(neither.collector);  // its annotations
  EXPECT_FALSE(neither.nsys || neither.nsys_in_need || neither.collector_cuda);
  EXPECT_TRUE(contains(notes(neither), "no timeline of the GPU"));
}

TEST(Captures, AnotherLibraryInCudasWayIsReported) {
  CollectorReach reach = able();
  reach.other_injection = true;
  EXPECT_TRUE(
      contains(notes(choose_captures(on_the_gpu(), reach)), "CUDA_INJECTION64_PATH is set"));
}

TEST(Captures, ThePlanSaysWhy) {
  RunRequest request;
  request.options = on_the_gpu();
  request.captures = choose_captures(request.options, able());
  const std::string plan = describe_plan(request, {});
  EXPECT_TRUE(contains(plan, "\n# timeline: the collector's, with ")) << plan;
}

TEST(Captures, SeveralRanksAreNotReplayed) {
  RunOptions options = on_the_gpu();
  options.workload.argv = {"mpirun", "-n", "4", "llm"};
  const Captures job = choose_captures(options, able());
  EXPECT_FALSE(job.ncu);
  EXPECT_TRUE(contains(notes(job), "ncu is skipped with several ranks"));
  EXPECT_FALSE(choose_captures(options, unable()).ncu) << "in nsys's company neither";
  options.pipeline.ncu = Switch::on;
  const Captures asked = choose_captures(options, able());
  EXPECT_TRUE(asked.ncu);
  EXPECT_TRUE(contains(notes(asked), "with several ranks it deadlocks in a collective"));
  options.pipeline.ncu = Switch::automatic;
  options.workload.argv = {"mpirun", "-n", "1", "llm"};
  EXPECT_TRUE(choose_captures(options, able()).ncu);
}

}  // namespace
}  // namespace llmprof::session
