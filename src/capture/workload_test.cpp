#include "capture/recording.h"

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "capture/shell.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using namespace std::chrono_literals;
using std::filesystem::path;
using testing::file_bytes;
using testing::TemporaryFolder;

// A workload that is a shell script in its own file.
class WorkloadPassTest : public ::testing::Test {
 protected:
  WorkloadPassTest() {
    recording.name = "control";
    recording.folder = folder.path() / "control";
    limits.grace = 500ms;
  }

  std::vector<std::string> script(std::string_view name, std::string_view text) const {
    const path file = folder.write(name, "#!/bin/sh\n" + std::string(text));
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return {file.string()};
  }

  // Says "serving" after a moment, then waits for signals.
  void serve(std::string_view traps) {
    workload.argv = script("serve", std::string(traps) +
                                        "\nsleep 0.2; echo serving on port 1; "
                                        "while :; do sleep 0.05; done\n");
    workload.server.emplace();
    workload.server->ready_log_pattern = "serving on port [0-9]+$";
    workload.server->ready_timeout = 20s;
    workload.server->client = script("client", "echo asked; grep -c serving " + log("control"));
  }

  [[nodiscard]] std::string log(std::string_view name) const {
    return (recording.folder / (std::string(name) + ".log")).string();
  }
  [[nodiscard]] nlohmann::json status() const {
    return nlohmann::json::parse(file_bytes(recording.folder / "status.json"));
  }
  // A port that was free a moment ago.
  static std::string free_port() {
    Command ask;
    ask.argv = {"python3", "-c",
                "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\n"
                "print(s.getsockname()[1])"};
    return std::string(trim(run_process(ask)->output_tail));
  }
  Result<CommandRecord> run() { return record_workload(workload, recording, limits); }

  TemporaryFolder folder;
  WorkloadCommand workload;
  WorkloadRecording recording;
  CaptureLimits limits;
};

using PassRun = WorkloadPassTest;
using ServerRun = WorkloadPassTest;

TEST_F(PassRun, PutsTheToolInFrontAndThePassesVariablesOver) {
  workload.argv = script("work", "echo $0 \"$@\" $LLMPROF_A $LLMPROF_B; pwd; exit 3");
  workload.argv.emplace_back("an argument");
  workload.environment = {{"LLMPROF_A", "workload"}, {"LLMPROF_B", "workload"}};
  workload.working_folder = folder.path();
  recording.environment = {{"LLMPROF_B", "pass"}};
  recording.wrapper = {"env", "LLMPROF_C=x"};
  const auto record = run();
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->result.exit_code, 3);
  EXPECT_FALSE(record->ended_well());
  EXPECT_EQ(file_bytes(log("control")),
            workload.argv[0] + " an argument workload pass\n" + folder.path().string() + "\n");
  EXPECT_EQ(record->argv[0], "env");
}

TEST_F(PassRun, IsEndedByTime) {
  workload.argv = {"sleep", "300"};
  limits.timeout = 300ms;
  const auto record = run();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->result.end, ProcessEnd::timed_out);
  EXPECT_EQ(status()[0]["end"], "timed_out");
}

TEST_F(PassRun, IsEndedBySize) {
  workload.argv = script("work", "head -c 3000000 /dev/zero >" +
                                     (recording.folder / "big").string() + "; exec sleep 300");
  limits.max_bytes = 1U << 20U;
  const auto record = run();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->result.end, ProcessEnd::over_limit);
  EXPECT_EQ(status()[0]["end"], "over_size_limit");
  EXPECT_TRUE(std::filesystem::exists(recording.folder / "big"));
}

TEST_F(PassRun, IsEndedByTheStopFlag) {
  std::atomic<bool> stop = true;
  limits.stop = &stop;
  workload.argv = {"sleep", "300"};
  EXPECT_EQ(run()->result.end, ProcessEnd::stopped);
  EXPECT_EQ(status()[0]["end"], "interrupted");
}

TEST_F(PassRun, ARunWithinItsLimitsIsLeftAlone) {
  workload.argv =
      script("work", "head -c 1000 /dev/zero >" + (recording.folder / "small").string());
  limits.max_bytes = 1U << 20U;
  limits.timeout = 60s;
  EXPECT_TRUE(run()->ended_well());
}

TEST_F(ServerRun, RunsForItsClientAndIsStoppedByItsSignal) {
  serve("trap 'echo interrupted; exit 7' INT");
  workload.server->warm_up = script("warm", "echo warm");
  const auto record = run();
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_TRUE(record->asked_to_stop);
  EXPECT_TRUE(record->ended_well());
  EXPECT_FALSE(record->trouble) << record->trouble->message;
  EXPECT_EQ(file_bytes(log("control")), "serving on port 1\ninterrupted\n");
  EXPECT_EQ(file_bytes(log("control-warm_up")), "warm\n");
  // The server was ready when the client started.
  EXPECT_EQ(file_bytes(log("control-client")), "asked\n1\n");
  const nlohmann::json rows = status();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["name"], "control-warm_up");
  EXPECT_EQ(rows[1]["name"], "control-client");
  EXPECT_EQ(rows[2]["name"], "control");
  EXPECT_EQ(rows[2]["exit_code"], 7);
  EXPECT_EQ(rows[2]["asked_to_stop"], true);
}

// As nsys and ncu do, the wrapper runs it in its own session; unlike them, it passes no signals on.
TEST_F(ServerRun, TheSignalGoesPastTheToolAround) {
  serve("trap 'echo used; exit 0' USR1; trap '' INT");
  workload.server->stop_signal = SIGUSR1;
  recording.wrapper = script("tool", "setsid \"$@\" & wait $!; echo report written\n");
  const auto record = run();
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_TRUE(record->ended_well());
  EXPECT_FALSE(record->trouble) << record->trouble->message;
  EXPECT_EQ(file_bytes(log("control")), "serving on port 1\nused\nreport written\n");
}

TEST_F(ServerRun, OneThatDoesNotStopIsKilledAndReported) {
  serve("trap '' INT TERM");
  recording.wrapper = script("tool", "setsid \"$@\" & wait $!; echo report written\n");
  limits.grace = 200ms;
  const auto record = run();
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_TRUE(record->trouble);
  EXPECT_TRUE(contains(record->trouble->message, "s of SIGINT or of SIGTERM"))
      << record->trouble->message;
  EXPECT_TRUE(file_bytes(log("control")).ends_with("report written\n"));
}

TEST_F(ServerRun, ALoadIsToldWhereItsRecordGoes) {
  serve("");
  workload.server->client.clear();
  workload.server->load = script("load", "echo \"$@\"");
  workload.server->load.emplace_back("load");
  const auto record = run();
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_FALSE(record->trouble) << record->trouble->message;
  EXPECT_EQ(file_bytes(log("control-load")),
            "load --out " + (recording.folder / "control-load").string() + "\n");
}

TEST_F(ServerRun, AFailingClientIsReported) {
  serve("");
  workload.server->client = script("client", "echo connection refused >&2; exit 5");
  const auto record = run();
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_TRUE(record->trouble);
  EXPECT_EQ(record->trouble->message,
            "the server's client failed: exit code 5; it printed \"connection refused\"; see " +
                log("control-client"));
}

TEST_F(ServerRun, OneThatDiesBeforeItIsReadyIsAnError) {
  serve("echo 'CUDA out of memory' >&2; exit 1");
  const auto record = run();
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().kind, ErrorKind::tool);
  EXPECT_EQ(record.error().message,
            "the server ended before it was ready: exit code 1; it printed \"CUDA out of memory\"; "
            "see " +
                log("control"));
  EXPECT_EQ(status()[0]["exit_code"], 1);
}

TEST_F(ServerRun, OneThatIsNeverReadyIsAnError) {
  serve("");
  workload.server->ready_log_pattern = "listening";
  workload.server->ready_timeout = 700ms;
  const auto record = run();
  ASSERT_FALSE(record);
  EXPECT_TRUE(contains(record.error().message,
                       "the server was not ready after 1 s, waiting for a "
                       "line that matches 'listening'; it printed \"serving "
                       "on port 1\"; see " +
                           log("control")))
      << record.error().message;
}

TEST_F(ServerRun, OneThatDiesUnderItsClientIsAnError) {
  serve("(sleep 0.6; kill -KILL $$) &");
  workload.server->client = {"sleep", "300"};
  const auto record = run();
  ASSERT_FALSE(record);
  EXPECT_TRUE(
      contains(record.error().message, "the server ended while its client ran: killed by signal 9"))
      << record.error().message;
  EXPECT_EQ(status().size(), 2U);
}

TEST_F(ServerRun, LimitsHoldWhileTheClientRuns) {
  serve("");
  workload.server->client = {"sleep", "300"};
  limits.timeout = 1s;
  const auto record = run();
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->result.end, ProcessEnd::timed_out);
  EXPECT_FALSE(record->ended_well());
}

TEST_F(ServerRun, IsReadyWhenItsUrlAnswers) {
  const char* path_list = std::getenv("PATH");
  if (!find_executable("python3", path_list == nullptr ? "" : path_list)) {
    GTEST_SKIP() << "needs python3, which is not installed";
  }
  serve("");
  const std::string port = free_port();
  workload.argv = {"python3", "-m", "http.server", "--bind", "127.0.0.1", port};
  workload.server->ready_log_pattern.clear();
  workload.server->ready_url = "http://127.0.0.1:" + port + "/";
  workload.server->client = {
      "python3", "-c",
      "import urllib.request as r\nprint(r.urlopen('http://127.0.0.1:" + port + "/').status)"};
  const auto record = run();
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_FALSE(record->trouble) << record->trouble->message;
  EXPECT_EQ(file_bytes(log("control-client")), "200\n");
}

// A self-signed certificate is its own CA.
TEST_F(ServerRun, IsReadyWhenItsUrlAnswersOverTls) {
  const char* path_list = std::getenv("PATH");
  for (const char* tool : {"python3", "openssl"}) {
    if (!find_executable(tool, path_list == nullptr ? "" : path_list)) {
      GTEST_SKIP() << "needs " << tool << ", which is not installed";
    }
  }
  const auto sign = [&](std::string_view name) {
    const std::string file = (folder.path() / name).string();
    Command command;
    command.argv = {"openssl",  "req",
                    "-x509",    "-nodes",
                    "-newkey",  "ec",
                    "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-days",    "2",
                    "-keyout",  file + ".key",
                    "-out",     file,
                    "-subj",    "/CN=server",
                    "-addext",  "subjectAltName=IP:127.0.0.1"};
    const auto done = run_process(command);
    EXPECT_TRUE(done && done->exit_code == 0);
    return file;
  };
  const std::string certificate = sign("certificate.pem");
  const std::string other = sign("other.pem");

  serve("");
  const std::string port = free_port();
  const path server =
      folder.write("server.py",
                   "import http.server, ssl, sys\n"
                   "server = http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), "
                   "http.server.SimpleHTTPRequestHandler)\n"
                   "context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
                   "context.load_cert_chain(sys.argv[2], sys.argv[3])\n"
                   "server.socket = context.wrap_socket(server.socket, server_side=True)\n"
                   "server.serve_forever()\n");
  workload.argv = {"python3", server.string(), port, certificate, certificate + ".key"};
  workload.server->client = {"echo", "asked"};
  workload.server->ready_log_pattern.clear();
  workload.server->ready_url = "https://127.0.0.1:" + port + "/";

  workload.server->ready_ca_file = (folder.path() / "none.pem").string();
  const auto without_file = run();
  ASSERT_FALSE(without_file);
  EXPECT_TRUE(without_file.error().message.starts_with("workload.server.ready.ca_file: "));
  EXPECT_FALSE(std::filesystem::exists(recording.folder));

  workload.server->ready_ca_file = certificate;
  const auto record = run();
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_FALSE(record->trouble) << record->trouble->message;
  EXPECT_EQ(file_bytes(log("control-client")), "asked\n");

  std::filesystem::remove_all(recording.folder);
  workload.server->ready_ca_file = other;
  workload.server->ready_timeout = 1500ms;
  const auto untrusted = run();
  ASSERT_FALSE(untrusted);
  EXPECT_TRUE(contains(untrusted.error().message, "the server was not ready"));
  EXPECT_TRUE(contains(untrusted.error().message, "is not trusted")) << untrusted.error().message;
}

TEST_F(ServerRun, AWrongReadinessIsAUsageError) {
  serve("");
  workload.server->ready_log_pattern = "(";
  EXPECT_EQ(run().error().kind, ErrorKind::usage);
  workload.server->ready_log_pattern.clear();
  EXPECT_EQ(run().error().kind, ErrorKind::usage);
  workload.server->ready_url = "127.0.0.1:8000/";
  EXPECT_EQ(run().error().kind, ErrorKind::usage);
  EXPECT_FALSE(std::filesystem::exists(recording.folder));
}

}  // namespace
}  // namespace llmprof::capture
