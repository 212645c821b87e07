// A capture by the real nsys, if it is installed.
#include <gtest/gtest.h>

#include "base/text.h"
#include "capture/nsys/nsys_capture.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using testing::file_bytes;
using testing::TemporaryFolder;

// A server is the harder case: nsys runs it in its own session, and it must get the signal itself
// for nsys to write its report.
TEST(NsysInstalled, ProfilesAServerAndEndsWithItsReport) {
  const auto nsys = ensure_tool(Tool::nsys, tool_search_here());
  if (!nsys) GTEST_SKIP() << "needs nsys: " << nsys.error().message;
  const TemporaryFolder folder;
  const auto serve = folder.write("serve",
                                  "#!/bin/sh\ntrap 'echo told to stop; exit 3' INT\n"
                                  "echo ready\nwhile :; do sleep 0.1; done\n");
  std::filesystem::permissions(serve, std::filesystem::perms::owner_all);
  NsysRequest request;
  request.bundle = folder.path() / "bundle with 100%";
  request.options.trace = {"nvtx", "osrt"};
  request.workload.argv = {serve.string(), "an argument"};
  request.workload.server.emplace();
  request.workload.server->ready_log_pattern = "^ready$";
  request.workload.server->ready_timeout = 60s;
  request.workload.server->client = {"true"};
  request.limits.timeout = 2min;
  const CaptureResult result = capture_with_nsys(*nsys, request);
  const auto nsys_folder = request.bundle / "nsys";
  if (!std::filesystem::exists(nsys_folder / "run.nsys-rep")) {
    GTEST_SKIP() << "nsys cannot profile here: "
                 << (result.failure ? result.failure->message : "no report");
  }
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_TRUE(contains(file_bytes(nsys_folder / "profile.log"), "told to stop"));
  EXPECT_TRUE(file_bytes(nsys_folder / "run.sqlite").starts_with("SQLite format 3\0"sv));
  EXPECT_FALSE(std::filesystem::exists(nsys_folder / "partial.tmp"));
  ASSERT_FALSE(result.commands.empty());
  EXPECT_EQ(result.commands.front().result.exit_code, 3) << "nsys passes the exit code on";
}

}  // namespace
}  // namespace llmprof::capture
