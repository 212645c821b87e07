#include "session/run/log_contents.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "trace/builder.h"

namespace llmprof::session {
namespace {

void add_state(trace::Trace& trace, trace::TracingState state, trace::TracingReason reason) {
  trace.tracing_changes.time.push_back(0);
  trace.tracing_changes.process.push_back(trace::ProcessId(0));
  trace.tracing_changes.state.push_back(state);
  trace.tracing_changes.reason.push_back(reason);
  trace.tracing_changes.step.push_back(0);
  trace.tracing_changes.cost.push_back(0);
}

void add_range(trace::TraceBuilder& builder, std::string_view domain, std::string_view text) {
  trace::RangeTable& ranges = builder.trace().ranges;
  ranges.start.push_back(0);
  ranges.end.push_back(1);
  ranges.thread.push_back(trace::ThreadId(0));
  ranges.domain.push_back(domain.empty() ? trace::StringId() : builder.string(domain));
  ranges.text.push_back(builder.string(text));
  ranges.kind.push_back(trace::RangeKind::push_pop);
}

void add_kernel(trace::TraceBuilder& builder, trace::DeviceKind kind) {
  const trace::ProcessId process = builder.process(1, 1);
  const trace::QueueId queue = builder.queue({process, builder.device(0, kind), 0, 0});
  builder.trace().kernels.queue.push_back(queue);
  builder.trace().kernels.start.push_back(0);
}

std::string message_on_log(const LogContents& contents, const CollectorOptions& options = {}) {
  const Error error = no_gpu_work(contents, options);
  EXPECT_EQ(error.kind, ErrorKind::tool);
  return error.message;
}

TEST(LogContents, CountsWhatRanOnTheGpu) {
  trace::TraceBuilder builder;
  builder.begin_capture({});
  add_kernel(builder, trace::DeviceKind::gpu);
  add_kernel(builder, trace::DeviceKind::gpu);
  add_kernel(builder, trace::DeviceKind::cpu);
  add_state(builder.trace(), trace::TracingState::tracing, trace::TracingReason::program_start);
  add_range(builder, "LLM", "prefill");
  add_range(builder, "", "step");
  const LogContents contents = log_contents(builder.trace());
  EXPECT_EQ(contents.gpu_work, 2U);
  EXPECT_TRUE(contents.saw_cuda && contents.traced);
  EXPECT_TRUE(contents.stood_down.empty());
  EXPECT_EQ(contents.ranges, (std::set<std::string>{"LLM@prefill", "step"}));
}

TEST(LogContents, NamesWhyItStoodDown) {
  for (const auto& [reason, words] : std::vector<std::pair<trace::TracingReason, std::string>>{
           {trace::TracingReason::other_subscriber, "another tool in the program uses CUPTI"},
           {trace::TracingReason::cupti_missing, "LLMPROF_CUPTI=FILE"},
           {trace::TracingReason::cupti_failed, "CUPTI failed"}}) {
    trace::TraceBuilder builder;
    add_state(builder.trace(), trace::TracingState::stood_down, reason);
    const LogContents contents = log_contents(builder.trace());
    EXPECT_TRUE(contains(message_on_log(contents), words)) << message_on_log(contents);
  }
}

TEST(LogContents, NamesWhyItWasNeverArmed) {
  trace::TraceBuilder builder;
  builder.diagnostics().warn("collector_never_armed", "it waited");
  CollectorOptions options;
  options.arm = "command";
  EXPECT_TRUE(
      contains(message_on_log({}, options), "no process that it was loaded into used CUDA"));
  LogContents contents = log_contents(builder.trace());
  EXPECT_TRUE(contains(message_on_log(contents, options), "`llmprof arm PID`"));
  options.arm = "start";
  options.delay_ms = 5000;
  EXPECT_TRUE(contains(message_on_log(contents, options), "collector.delay_ms=5000"));
  options.arm = "LLM@decode_al";
  EXPECT_TRUE(contains(message_on_log(contents, options), "no range was opened at all"));
  contents.ranges = {"LLM@prefill", "LLM@decode_all"};
  EXPECT_TRUE(contains(message_on_log(contents, options), "did you mean 'LLM@decode_all'?"));
  contents.ranges = {"one", "two"};
  EXPECT_TRUE(contains(message_on_log(contents, options), "these did: one, two"));
}

TEST(LogContents, NamesWhatElseMayBe) {
  LogContents contents;
  EXPECT_TRUE(contains(message_on_log(contents), "no process that it was loaded into used CUDA"));
  contents.saw_cuda = true;
  EXPECT_TRUE(contains(message_on_log(contents), "tracing never began"));
  contents.traced = true;
  EXPECT_TRUE(contains(message_on_log(contents), "nothing ran on the GPU"));
}

// Contains recorded launches and launches noted by the launch interceptor.
class TimedLog {
 public:
  TimedLog() { builder_.begin_capture({}); }

  void call(std::string_view api, int times = 1) {
    for (int i = 0; i < times; ++i) {
      builder_.trace().launches.start.push_back(0);
      builder_.trace().launches.api.push_back(builder_.string(api));
    }
  }
  void note(trace::HostCallTable::Kind kind, int times = 1) {
    for (int i = 0; i < times; ++i) {
      builder_.trace().host_calls.start.push_back(0);
      builder_.trace().host_calls.kind.push_back(kind);
    }
  }
  LogContents contents() { return log_contents(builder_.trace()); }

 private:
  trace::TraceBuilder builder_;
};

using TimedKind = trace::HostCallTable::Kind;

TEST(LogContents, CountsLaunchesAndNotWaits) {
  TimedLog log;
  log.call("cuLaunchKernel", 5);
  log.call("cudaLaunchKernelExC_v11060", 2);
  log.call("cuGraphLaunch", 3);
  log.call("cuStreamSynchronize", 7);
  log.call("cuMemcpyHtoDAsync_v2", 7);
  log.note(TimedKind::kernel, 2);
  log.note(TimedKind::graph);
  log.note(TimedKind::wait, 9);
  EXPECT_EQ(log.contents().launches, 10U);
  EXPECT_EQ(log.contents().timed_launches, 3U);
}

// One launch in ten is the fewest that it may see.
TEST(LogContents, TheInterceptorIsBlindWhereItSawHardlyAnyLaunch) {
  for (const int seen : {0, 9, 10, 100, 200}) {
    TimedLog log;
    log.call("cuLaunchKernel", 60);
    log.call("cuGraphLaunch", 40);
    log.note(TimedKind::kernel, seen);
    log.note(TimedKind::wait, 100);
    EXPECT_EQ(interceptor_is_blind(log.contents()), seen < 10) << seen;
  }
}

TEST(LogContents, TheInterceptorIsNotBlindWhereNothingWasLaunched) {
  TimedLog log;
  log.call("cuStreamSynchronize", 20);
  EXPECT_FALSE(interceptor_is_blind(log.contents()));
}

TEST(LogContents, AnEmptyTraceHoldsNothing) {
  trace::TraceBuilder builder;
  const LogContents contents = log_contents(builder.trace());
  EXPECT_EQ(contents.gpu_work, 0U);
  EXPECT_FALSE(contents.saw_cuda);
}

}  // namespace
}  // namespace llmprof::session
