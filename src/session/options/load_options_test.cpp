#include <gtest/gtest.h>

#include "base/text.h"
#include "testing/run_options.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

using testing::error;
using testing::options;
using testing::TemporaryFolder;
using testing::Words;

// A workload whose server is loaded.
Words loaded(const std::string& load, const Words& more = {}) {
  Words words = {"workload=server_example", "~model", "workload.server.client=[]",
                 "+workload.server.load={" + load + "}"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(LoadOptions, AreACommandOfLlmprof) {
  const RunOptions made =
      options(loaded("rate: 2.5, duration: 30s, new_tokens: '8:16', seed: 3, warm_up: 2, model: m, "
                     "slo: 'ttft=500ms', arrivals: constant"));
  ASSERT_TRUE(made.workload.server);
  EXPECT_TRUE(made.workload.server->client.empty());
  EXPECT_EQ(made.workload.server->load,
            (Words{"load", "http://127.0.0.1:8000", "--rate", "2.5", "--duration", "30s",
                   "--arrivals", "constant", "--new-tokens", "8:16", "--seed", "3", "--model", "m",
                   "--slo", "ttft=500ms", "--warm-up", "2"}));
}

TEST(LoadOptions, WithoutAnUrlNeedOneToAsk) {
  const Words silent = {"workload.server.ready.url=null",
                        "workload.server.ready.log_pattern=ready"};
  EXPECT_TRUE(contains(error(loaded("rate: 2", silent)), "workload.server.load.url is missing"));
  const RunOptions named =
      options(loaded("rate: 2, url: 'http://127.0.0.1:9/v1/completions'", silent));
  EXPECT_EQ(named.workload.server->load[1], "http://127.0.0.1:9/v1/completions");
}

// Before a server is started, which may take minutes.
TEST(LoadOptions, AreRefusedBeforeAnythingIsStarted) {
  const TemporaryFolder folder;
  const std::string bad = folder.write("bad.csv", "hello").string();
  const std::string none = (folder.path() / "none").string();
  const auto refused = [&](const std::string& load, std::string_view words) {
    const std::string message = error(loaded(load));
    EXPECT_TRUE(contains(message, words)) << load << ": " << message;
    EXPECT_TRUE(contains(message, "workload.server.load")) << message;
  };
  refused("rat: 2", "unknown key 'workload.server.load.rat'; did you mean 'rate'?");
  refused("sweep: 'rate=1,2'", "unknown key 'workload.server.load.sweep'");
  refused("rate: fast", "--rate: 'fast' is not a number above 0");
  refused("rate: 0", "--rate: '0' is not");
  refused("rate: [1, 2]", "rate must be a string or null");
  refused("rate: 2, concurrency: 3", "--rate and --concurrency both say when requests are sent");
  refused("concurrency: 0", "concurrency must be an integer from 1 to 100000");
  refused("requests: many", "requests must be an integer from 1 to 100000000");
  refused("warm_up: -1", "warm_up must be an integer");
  refused("rate: 2, duration: soon", "--duration: 'soon' is not a time");
  refused("rate: 2, arrivals: posson", "did you mean 'poisson'?");
  refused("arrivals: constant", "--arrivals is for an open loop");
  refused("prompt_as: text", "prompt_as must be one of words, tokens");
  refused("api: grpc", "api must be one of auto, completions, chat, llama.cpp");
  refused("prompt_tokens: '9:1'", "--prompt-tokens");
  refused("slo: 'ttft=500'", "--slo ttft=500");
  refused("speed: 2", "--speed is for --replay FILE");
  refused("replay: " + bad, bad);
  refused("replay: " + none, none);
  refused("prompts: " + none, none);
  refused("ca_file: " + none, "there is no such file of CA certificates");
  refused("url: 'localhost:8000'", "must start with http");
}

TEST(LoadOptions, FilesAreNamedFromHere) {
  const TemporaryFolder folder;
  const auto replayed =
      folder.write("azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n0.0,5,2\n");
  const std::string relative = fs::relative(replayed).string();
  const RunOptions made = options(loaded("replay: '" + relative + "', speed: 2"));
  EXPECT_EQ(made.workload.server->load.back(), fs::absolute(relative).string());
}

// The load trusts whom the readiness check trusts, unless it asks another server.
TEST(LoadOptions, CertificatesAreThoseOfTheReadinessCheck) {
  const TemporaryFolder folder;
  const std::string mine = folder.write("mine.pem", "x").string();
  const std::string other = folder.write("other.pem", "x").string();
  const Words https = {"workload.server.ready.url=https://127.0.0.1:8000/health",
                       "workload.server.ready.ca_file=" + mine};
  const auto load = [&](const std::string& keys) {
    return options(loaded(keys, https)).workload.server->load;
  };
  EXPECT_EQ(options(loaded("rate: 2", https)).workload.server->ready_ca_file, mine);
  EXPECT_EQ(load("rate: 2"),
            (Words{"load", "https://127.0.0.1:8000", "--rate", "2", "--ca-file", mine}));
  EXPECT_EQ(load("ca_file: " + other),
            (Words{"load", "https://127.0.0.1:8000", "--ca-file", other}));
  EXPECT_EQ(load("url: 'http://127.0.0.1:9'"), (Words{"load", "http://127.0.0.1:9"}));
}

}  // namespace
}  // namespace llmprof::session
