// Hand-made files, one quirk each; the expected values were read from them by eye.
#include "readers/shared/reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/readers/diagnostic_count.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::TemporaryFolder;

trace::Trace read_csv_fixture(std::string_view name) {
  const auto path = testing::test_data("nsys_csv/" + std::string(name));
  EXPECT_TRUE(kNsysCsvReader.recognizes(testing::file_bytes(path)));
  trace::TraceBuilder builder;
  const auto done = kNsysCsvReader.read(path, builder);
  EXPECT_TRUE(done.has_value()) << done.error().message;
  return std::move(builder).freeze();
}

trace::Trace read_csv_text(std::string_view text, std::string_view file_name = "report.csv") {
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = kNsysCsvReader.read(folder.write(file_name, text), builder);
  EXPECT_TRUE(done.has_value()) << done.error().message;
  return std::move(builder).freeze();
}

Error error_of(std::string_view text) {
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = kNsysCsvReader.read(folder.write("report.csv", text), builder);
  EXPECT_FALSE(done.has_value());
  return done ? Error{} : done.error();
}

std::vector<trace::CallSummary> summaries_of(const trace::Trace& trace,
                                             trace::CallSummary::Kind kind) {
  std::vector<trace::CallSummary> found;
  for (const trace::CallSummary& summary : trace.call_summaries) {
    if (summary.kind == kind) found.push_back(summary);
  }
  return found;
}

TEST(NsysCsv, KernelSummaryOf2020) {
  const trace::Trace trace = read_csv_fixture("kern_sum_2020.csv");
  ASSERT_EQ(trace.kernel_summaries.size(), 2U);
  const trace::KernelSummary& first = trace.kernel_summaries[0];
  EXPECT_EQ(trace.strings[first.name], "void scale<float, (int)4>(float *, int)");
  EXPECT_EQ(first.total, 3000);
  EXPECT_EQ(first.calls, 3U);
  EXPECT_EQ(first.min, 900);
  EXPECT_EQ(first.max, 1100);
  EXPECT_EQ(first.median, 0);
  EXPECT_FALSE(first.device.valid());
  EXPECT_TRUE(trace.diagnostics.items().empty());
  ASSERT_EQ(trace.captures.size(), 1U);
  EXPECT_EQ(trace.captures[0].format, "nsys stats CSV");
}

TEST(NsysCsv, MillisecondsInBracketsAndUnitsOnValues) {
  const trace::Trace trace = read_csv_fixture("kern_sum_ms_brackets.csv");
  ASSERT_EQ(trace.kernel_summaries.size(), 2U);
  EXPECT_EQ(trace.kernel_summaries[0].total, 1234567);
  EXPECT_EQ(trace.kernel_summaries[0].max, 634567);
  EXPECT_DOUBLE_EQ(trace.kernel_summaries[0].median, 617284);
  EXPECT_EQ(trace.kernel_summaries[1].total, 12500);
  EXPECT_EQ(trace.kernel_summaries[1].max, 12500);
  EXPECT_DOUBLE_EQ(trace.kernel_summaries[1].median, 12500);
}

TEST(NsysCsv, UnitsPerColumnThousandsAndUnknownColumns) {
  const trace::Trace trace = read_csv_fixture("kern_sum_seconds_thousands.csv");
  // Only API summaries have "Calls", so its columns identify it.
  const auto calls = summaries_of(trace, trace::CallSummary::Kind::api);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].total, 1234000000001);
  EXPECT_EQ(calls[0].calls, 1200U);
}

TEST(NsysCsv, GridAndBlockSummaryKeepsARowPerShape) {
  const trace::Trace trace = read_csv_fixture("kern_gb_sum.csv");
  ASSERT_EQ(trace.kernel_summaries.size(), 2U);
  EXPECT_EQ(trace.kernel_summaries[0].name, trace.kernel_summaries[1].name);
  EXPECT_EQ(trace.kernel_summaries[0].total + trace.kernel_summaries[1].total, 3000);
}

TEST(NsysCsv, WhatNsysPrintsOnTheConsole) {
  const trace::Trace trace = read_csv_fixture("console.csv");
  ASSERT_EQ(trace.kernel_summaries.size(), 1U);
  EXPECT_EQ(trace.kernel_summaries[0].total, 600);
  const auto api = summaries_of(trace, trace::CallSummary::Kind::api);
  ASSERT_EQ(api.size(), 2U);
  EXPECT_EQ(trace.strings[api[0].name], "cudaLaunchKernel");
  EXPECT_EQ(api[0].total, 9000);
  const auto ranges = summaries_of(trace, trace::CallSummary::Kind::range);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(trace.strings[ranges[0].name], "prefill");
  EXPECT_FALSE(ranges[0].domain.valid());
  EXPECT_EQ(trace.strings[ranges[1].name], "decode_step");
  EXPECT_EQ(trace.strings[ranges[1].domain], "LLM");
  EXPECT_EQ(ranges[1].calls, 4U);
  const auto memory = summaries_of(trace, trace::CallSummary::Kind::memory_operation);
  ASSERT_EQ(memory.size(), 1U);
  EXPECT_EQ(memory[0].total, 750);
  ASSERT_EQ(trace.captures.size(), 1U);
  EXPECT_EQ(trace.captures[0].tool_version, "2025.3.2");
  EXPECT_EQ(count_of(trace, "nsys_csv_unused_report"), 3U);  // two OS rows, one of sizes
  EXPECT_EQ(count_of(trace, "nsys_csv_report_skipped"), 1U);
  EXPECT_EQ(count_of(trace, "nsys_csv_bad_rows"), 0U);
  EXPECT_EQ(count_of(trace, "nsys_csv_unread_lines"), 0U);
}

TEST(NsysCsv, TracesOfTheGpuTheApiAndTheRanges) {
  const trace::Trace trace = read_csv_fixture("traces.csv");
  ASSERT_EQ(trace.kernels.size(), 2U);
  EXPECT_EQ(trace.kernels.start[0], 2400);
  EXPECT_EQ(trace.kernels.end[0], 2900);
  EXPECT_EQ(trace.strings[trace.kernels.name[0]], "void scale<float, 4>(float *)");
  const trace::LaunchShape expected{{2, 3, 4}, {64, 2, 1}, 24, 1024, 49152};
  EXPECT_EQ(trace.shapes[trace.kernels.shape[0]], expected);
  const trace::Queue& queue = trace.queues[trace.kernels.queue[1]];
  EXPECT_EQ(queue.stream, 14U);
  EXPECT_EQ(queue.context, 1U);
  EXPECT_EQ(trace.device_of(trace.kernels.queue[0]).name, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(trace.device_of(trace.kernels.queue[0]).ordinal, 1U);

  ASSERT_EQ(trace.memory_operations.size(), 2U);
  EXPECT_EQ(trace.memory_operations.bytes[0], 4096U);
  EXPECT_EQ(trace.strings[trace.memory_operations.detail[0]], "Host-to-Device");
  EXPECT_EQ(trace.memory_operations.kind[1], trace::MemoryKind::set);

  ASSERT_EQ(trace.launches.size(), 3U);
  EXPECT_EQ(trace.launches.end[0], 1050);
  EXPECT_EQ(trace.threads[trace.launches.thread[1].index()].name, "worker");
  // The file's only process also owns the GPU work: each finds its launch.
  EXPECT_EQ(trace.kernels.launch[0], trace::LaunchRow(1));
  EXPECT_EQ(trace.kernels.launch[1], trace::LaunchRow(2));
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes[0].pid, 4242U);

  ASSERT_EQ(trace.ranges.size(), 3U);
  EXPECT_EQ(trace.strings[trace.ranges.text[0]], "prefill");
  EXPECT_FALSE(trace.ranges.domain[0].valid());
  EXPECT_EQ(trace.strings[trace.ranges.domain[1]], "NCCL");
  EXPECT_EQ(trace.strings[trace.ranges.text[1]], "all\nreduce");
  EXPECT_EQ(trace.ranges.start[2], 1150);
  EXPECT_EQ(trace.ranges.end[2], 1250);
  EXPECT_EQ(trace.threads[trace.ranges.thread[1].index()].tid, 4243U);
}

TEST(NsysCsv, GpuTraceOf2021CountsSecondsAndBytes) {
  const trace::Trace trace = read_csv_fixture("gputrace_2021_seconds.csv");
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.kernels.start[0], 1234567891);
  EXPECT_EQ(trace.kernels.end[0], 1234567891 + 1500);
  EXPECT_EQ(trace.shapes[trace.kernels.shape[0]].dynamic_shared_bytes, 2048U);
  ASSERT_EQ(trace.memory_operations.size(), 1U);
  EXPECT_EQ(trace.memory_operations.bytes[0], 1048576U);
  EXPECT_EQ(trace.strings[trace.memory_operations.detail[0]], "Device-to-Host");
}

TEST(NsysCsv, KernelExecutionTraceTiesLaunchesToKernels) {
  const trace::Trace trace = read_csv_fixture("kern_exec_trace.csv");
  ASSERT_EQ(trace.kernels.size(), 2U);
  ASSERT_EQ(trace.launches.size(), 2U);
  EXPECT_EQ(trace.kernels.start[0], 150);
  EXPECT_EQ(trace.kernels.end[0], 210);
  EXPECT_EQ(trace.shapes[trace.kernels.shape[0]].grid, (trace::Extent{2, 1, 1}));
  EXPECT_EQ(trace.shapes[trace.kernels.shape[0]].block, (trace::Extent{512, 1, 1}));
  EXPECT_EQ(trace.kernels.launch[1], trace::LaunchRow(1));
  EXPECT_EQ(trace.device_of(trace.kernels.queue[0]).ordinal, 1U);
}

TEST(NsysCsv, ProjectedRangesGiveTheRangesOfTheCpu) {
  const trace::Trace trace = read_csv_fixture("gpu_proj_trace.csv");
  ASSERT_EQ(trace.ranges.size(), 2U);
  EXPECT_EQ(trace.ranges.start[0], 1000);
  EXPECT_EQ(trace.ranges.end[0], 1100);
  EXPECT_EQ(trace.ranges.kind[1], trace::RangeKind::start_end);
  EXPECT_EQ(trace.strings[trace.ranges.domain[1]], "LLM");
}

TEST(NsysCsv, MixedSummaryIsSeparatedByCategory) {
  const trace::Trace trace = read_csv_fixture("api_gpu_sum.csv");
  ASSERT_EQ(trace.kernel_summaries.size(), 1U);
  EXPECT_EQ(trace.kernel_summaries[0].total, 400);
  EXPECT_EQ(summaries_of(trace, trace::CallSummary::Kind::api).size(), 1U);
  EXPECT_EQ(summaries_of(trace, trace::CallSummary::Kind::memory_operation).size(), 1U);
}

TEST(NsysCsv, ReportsOfSeveralExportsAreSeveralCaptures) {
  const trace::Trace trace = read_csv_fixture("several_exports.csv");
  ASSERT_EQ(trace.captures.size(), 2U);
  ASSERT_EQ(trace.kernel_summaries.size(), 2U);  // the grid/block summary repeats the first one
  EXPECT_EQ(trace.kernel_summaries[0].capture, trace::CaptureId(0));
  EXPECT_EQ(trace.kernel_summaries[0].total, 600);
  EXPECT_EQ(trace.kernel_summaries[1].capture, trace::CaptureId(1));
  EXPECT_EQ(trace.kernel_summaries[1].total, 700);
  EXPECT_EQ(count_of(trace, "nsys_csv_repeated_report"), 1U);
}

TEST(NsysCsv, AGpuTraceOutranksTheExecutionTraceInAnyOrder) {
  const std::string exec = testing::file_bytes(testing::test_data("nsys_csv/kern_exec_trace.csv"));
  const std::string gpu =
      testing::file_bytes(testing::test_data("nsys_csv/gputrace_2021_seconds.csv"));
  for (const std::string& text : {exec + gpu, gpu + "\n" + exec}) {
    const trace::Trace trace = read_csv_text(text);
    ASSERT_EQ(trace.kernels.size(), 1U);
    EXPECT_EQ(trace.kernels.start[0], 1234567891);
    EXPECT_EQ(trace.launches.size(), 0U);
    EXPECT_EQ(count_of(trace, "nsys_csv_repeated_report"), 2U);
  }
}

TEST(NsysCsv, SummaryAndTraceOfTheSameKernelsAreBothKept) {
  const trace::Trace trace =
      read_csv_text(testing::file_bytes(testing::test_data("nsys_csv/kern_sum_2020.csv")) +
                    testing::file_bytes(testing::test_data("nsys_csv/gputrace_2021_seconds.csv")));
  EXPECT_EQ(trace.kernel_summaries.size(), 2U);
  EXPECT_EQ(trace.kernels.size(), 1U);
  EXPECT_FALSE(trace.diagnostics.has("nsys_csv_repeated_report"));
  EXPECT_FALSE(trace.diagnostics.has("nsys_csv_bad_rows"));
}

TEST(NsysCsv, SeveralProcessesLeaveTheGpuTraceUntied) {
  const trace::Trace trace = read_csv_text(
      "Start (ns),Duration (ns),CorrId,Strm,Name\n10,5,1,7,k\n"
      "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid\n"
      "1,2,cudaLaunchKernel,0,1,100,100\n2,2,cudaLaunchKernel,0,1,200,200\n");
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_FALSE(trace.kernels.launch[0].valid());
  EXPECT_TRUE(trace.diagnostics.has("nsys_csv_processes_unknown"));
  const auto pid_of = [&](size_t launch) {
    const trace::Thread& thread = trace.threads[trace.launches.thread[launch].index()];
    return trace.processes[thread.process.index()].pid;
  };
  EXPECT_EQ(pid_of(0), 100U);
  EXPECT_EQ(pid_of(1), 200U);
}

TEST(NsysCsv, PlainRangeNamesKeepTheirColons) {
  const trace::Trace trace = read_csv_text(
      "Start (ns),End (ns),Duration (ns),Name,PID,TID,RangeStack\n"
      "1,9,8,aten::mm,1,1,:1\n2,3,1,step: 5,1,1,:1\n4,5,1,LLM:decode,1,1,:1\n");
  ASSERT_EQ(trace.ranges.size(), 3U);
  EXPECT_EQ(trace.strings[trace.ranges.text[0]], "aten::mm");
  EXPECT_EQ(trace.strings[trace.ranges.text[1]], "step: 5");
  EXPECT_EQ(trace.strings[trace.ranges.text[2]], "decode");
  EXPECT_EQ(trace.strings[trace.ranges.domain[2]], "LLM");
}

TEST(NsysCsv, ByteOrderMarkCarriageReturnsAndEscapedQuotes) {
  const trace::Trace trace = read_csv_text(
      "\xEF\xBB\xBF"
      "Time (%),Total Time (ns),Instances,Name\r\n100.0,7,2,\"a \"\"b\"\", c\"\r\n");
  ASSERT_EQ(trace.kernel_summaries.size(), 1U);
  EXPECT_EQ(trace.strings[trace.kernel_summaries[0].name], "a \"b\", c");
  EXPECT_EQ(trace.kernel_summaries[0].total, 7);
}

TEST(NsysCsv, TheFileNameTellsOsCallsFromCudaCalls) {
  constexpr std::string_view kCalls = "Time (%),Total Time (ns),Num Calls,Name\n100.0,7,2,poll\n";
  EXPECT_EQ(read_csv_text(kCalls, "a_cuda_api_sum.csv").call_summaries.size(), 1U);
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = kNsysCsvReader.read(folder.write("a_osrt_sum.csv", kCalls), builder);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::input);
  EXPECT_NE(done.error().message.find("osrt_sum"), std::string::npos);
}

TEST(NsysCsv, TheFileNameTellsKernelsFromCalls) {
  const trace::Trace trace =
      read_csv_text("Time(%),Total Time (us),Calls,Name\n100.0,7.5,2,gemm\n", "run_gpukernsum.csv");
  ASSERT_EQ(trace.kernel_summaries.size(), 1U);
  EXPECT_EQ(trace.kernel_summaries[0].total, 7500);
}

TEST(NsysCsv, AMissingColumnNamesTheReport) {
  const trace::Trace trace = read_csv_fixture("missing_column.csv");
  EXPECT_TRUE(trace.kernel_summaries.empty());
  EXPECT_EQ(trace.call_summaries.size(), 1U);
  EXPECT_EQ(count_of(trace, "nsys_csv_missing_column"), 1U);
  const auto& items = trace.diagnostics.items();
  EXPECT_TRUE(std::any_of(items.begin(), items.end(), [](const Diagnostic& item) {
    return item.message.find("cuda_gpu_kern_sum") != std::string::npos &&
           item.message.find("Total Time") != std::string::npos;
  }));
}

TEST(NsysCsv, NoDataRowIsAnErrorInNsyssOwnWords) {
  const Error skipped = error_of(testing::file_bytes(testing::test_data("nsys_csv/skipped.csv")));
  EXPECT_EQ(skipped.kind, ErrorKind::input);
  EXPECT_NE(skipped.message.find("does not contain CUDA kernel data"), std::string::npos);
  const Error text = error_of(testing::file_bytes(testing::test_data("nsys_csv/text_tables.txt")));
  EXPECT_NE(text.message.find("--format csv"), std::string::npos);
  const Error header = error_of("Time (%),Total Time (ns),Instances,Name\n");
  EXPECT_NE(header.message.find("no data row"), std::string::npos);
  EXPECT_EQ(error_of("").kind, ErrorKind::input);
}

TEST(NsysCsv, RecognizesNsysAndNothingElse) {
  for (const auto* name : {"skipped.csv", "text_tables.txt"}) {
    const auto path = testing::test_data("nsys_csv/" + std::string(name));
    EXPECT_TRUE(kNsysCsvReader.recognizes(testing::file_bytes(path))) << name;
  }
  for (const auto* foreign :
       {"", "\n\n", "{\"traceEvents\": [{\"name\": \"a\", \"dur\": 1}]}",
        "\"ID\",\"Process ID\",\"Kernel "
        "Name\",\"gpu__time_duration.sum\"\n\"0\",\"1\",\"k\",\"5\"\n",
        "==PROF== Connected to process 1\nname,start,count\na,1,2\n", "SQLite format 3"}) {
    EXPECT_FALSE(kNsysCsvReader.recognizes(foreign)) << foreign;
  }
}

}  // namespace
}  // namespace llmprof::readers
