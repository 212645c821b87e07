#include "session/options/run_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "base/text.h"
#include "llm/cost.h"
#include "llm/model_spec.h"
#include "testing/run_options.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

using testing::context;
using testing::error;
using testing::options;
using testing::read;
using testing::shipped;
using testing::Words;

// The argument after a flag; empty if there is no such flag.
std::string value_of(const RunOptions& options, std::string_view flag) {
  const Words& argv = options.workload.argv;
  const auto at = std::find(argv.begin(), argv.end(), flag);
  return at == argv.end() || at + 1 == argv.end() ? std::string() : *(at + 1);
}

TEST(RunOptions, TimeLimitsHaveUnits) {
  using std::chrono::seconds;
  EXPECT_FALSE(options({}).time_limit);
  EXPECT_EQ(options({"run.time_limit=90"}).time_limit, seconds(90));
  EXPECT_EQ(options({"run.time_limit=90s"}).time_limit, seconds(90));
  EXPECT_EQ(options({"run.time_limit=5m"}).time_limit, seconds(300));
  EXPECT_EQ(options({"run.time_limit=2h"}).time_limit, seconds(7200));
}

TEST(RunOptions, PlainRunNeedsNoGpu) {
  const RunOptions made = options();
  EXPECT_EQ(made.workload.argv, (Words{"/opt/llmprof/bin/cpu_llm",
                                       "--name",
                                       "llmprof/cpu-tiny",
                                       "--hidden",
                                       "768",
                                       "--intermediate",
                                       "2048",
                                       "--layers",
                                       "8",
                                       "--heads",
                                       "12",
                                       "--kv-heads",
                                       "4",
                                       "--vocabulary",
                                       "8192",
                                       "--prompt-tokens",
                                       "64",
                                       "--new-tokens",
                                       "16",
                                       "--batch",
                                       "1",
                                       "--requests",
                                       "3",
                                       "--warm-up",
                                       "1",
                                       "--seed",
                                       "0"}));
  EXPECT_FALSE(made.workload.uses_cuda);
  EXPECT_FALSE(made.workload.server);
  EXPECT_TRUE(made.pipeline.collector);
  EXPECT_EQ(made.pipeline.nsys, Switch::automatic);
  EXPECT_EQ(made.pipeline.ncu, Switch::automatic);
  EXPECT_FALSE(made.pipeline.torch_profiler);
  EXPECT_EQ(made.mode, RunMode::deep);
  EXPECT_EQ(made.stage2_folder, "tmp/stage2");
  EXPECT_TRUE(made.run_folder.empty());
  EXPECT_EQ(made.model.target, "llm/cpu_tiny");
  EXPECT_EQ(made.facts.name, "cpu_llm");
  EXPECT_EQ(made.facts.prompt_tokens, 64U);
  EXPECT_EQ(made.timeout, std::chrono::seconds(3600));
  EXPECT_EQ(made.max_trace_bytes, 8'192'000'000U);
}

// Four times a last-level cache of 32 MiB.
TEST(RunOptions, TheCpuModelDoesNotFitIntoCaches) {
  const auto model = llm::load_model_spec("llm/cpu_tiny", shipped());
  ASSERT_TRUE(model) << model.error().message;
  const uint64_t embedding = uint64_t{model->hidden} * model->vocabulary;
  EXPECT_GT((llm::parameter_count(*model) - embedding) * 4, 4U * 32 * 1024 * 1024);
  EXPECT_EQ(model->weights.bytes, 4.0);
}

TEST(RunOptions, AnotherModelBringsItsWorkload) {
  const RunOptions made = options({"model=llm/llama_1b"});
  EXPECT_EQ(made.facts.name, "hf_llm");
  EXPECT_EQ(made.workload.argv[0], "python3");
  EXPECT_EQ(made.workload.argv[1], "/opt/llmprof/workloads/hf_llm.py");
  EXPECT_EQ(value_of(made, "--weights"), "random");
  EXPECT_EQ(value_of(made, "--dtype"), "bfloat16");
  EXPECT_EQ(value_of(made, "--mode"), "eager");
  EXPECT_EQ(value_of(made, "--device"), "cuda:0");
  EXPECT_EQ(value_of(made, "--path"), "");
  EXPECT_EQ(value_of(made, "--images"), "");
  EXPECT_EQ(value_of(made, "--inputs-manifest"), "");
  EXPECT_TRUE(made.workload.uses_cuda);
  EXPECT_TRUE(made.pipeline.collector && made.pipeline.torch_profiler);
  EXPECT_EQ(made.model.target, "llm/llama_1b");
  EXPECT_EQ(made.model.params, 1'235'814'400U);
  // The configuration is passed completely: it describes the preset's model.
  EXPECT_EQ(value_of(made, "--model-config"), made.model.config_json);
  const auto parsed = llm::parse_hugging_face_config(made.model.config_json, "argv");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(llm::parameter_count(*parsed), 1'235'814'400U);
}

TEST(RunOptions, OverridesOfTheModelReachTheWorkloadAndTheAnalysis) {
  const RunOptions made = options({"model=llm/llama_1b", "model.config.num_hidden_layers=2"});
  EXPECT_TRUE(contains(value_of(made, "--model-config"), "\"num_hidden_layers\":2,"));
  EXPECT_TRUE(contains(made.model.config_json, "\"num_hidden_layers\":2,"));
}

TEST(RunOptions, AliasesAndModelsThatSee) {
  EXPECT_EQ(options({"model=llm/alt"}).model.name, "Qwen/Qwen2.5-0.5B");
  EXPECT_EQ(options({"model=llm/alt"}).model.target, "llm/alt");
  const RunOptions ocr = options({"model=llm/deepseek_ocr2"});
  EXPECT_EQ(ocr.facts.name, "hf_ocr");
  EXPECT_EQ(value_of(ocr, "--images"), "1");
  EXPECT_EQ(value_of(ocr, "--prompt-tokens"), "300");
  EXPECT_TRUE(contains(value_of(ocr, "--model-config"), "\"sparse\"]"));
}

TEST(RunOptions, SwitchesAreTheUsersToDecide) {
  EXPECT_EQ(options({"pipeline.nsys.enable=true"}).pipeline.nsys, Switch::on);
  EXPECT_EQ(options({"pipeline.nsys.enable=true"}).pipeline.ncu, Switch::automatic);
  const RunOptions made = options(
      {"model=llm/llama_1b", "pipeline.ncu.enable=false", "pipeline.collector.enable=false"});
  EXPECT_EQ(made.pipeline.nsys, Switch::automatic);
  EXPECT_EQ(made.pipeline.ncu, Switch::off);
  EXPECT_FALSE(made.pipeline.collector);
  // A user's file may make the switch depend on the workload.
  EXPECT_EQ(options({"pipeline.nsys.enable=${workload.uses_cuda}"}).pipeline.nsys, Switch::off);
  const RunOptions without = options({"model=llm/llama_1b", "device=cpu"});
  EXPECT_FALSE(without.workload.uses_cuda);
  EXPECT_TRUE(without.pipeline.torch_profiler);
}

TEST(RunOptions, TheCollectorIsSetByKey) {
  const CollectorOptions plain = options().collector;
  EXPECT_EQ(plain.arm, "start");
  EXPECT_EQ(plain.step_range, "decode_step");
  EXPECT_TRUE(plain.counters && plain.counter_rounds && plain.sensors);
  EXPECT_FALSE(plain.api || plain.duty || plain.overhead_budget || plain.delay_ms || plain.steps ||
               plain.counter_hz || plain.max_log_mb);
  const CollectorOptions made =
      options({"collector.arm=LLM@decode_all", "collector.steps=64", "collector.duty=4/32",
               "collector.step_range=generate", "collector.api=true", "collector.counters=false",
               "collector.counter_rounds=false", "collector.counter_hz=5000",
               "collector.sensors=false", "collector.max_log_mb=64"})
          .collector;
  EXPECT_EQ(made.arm, "LLM@decode_all");
  EXPECT_EQ(made.steps, 64U);
  EXPECT_EQ(made.duty, (DutyCycle{4, 32}));
  EXPECT_EQ(made.step_range, "generate");
  EXPECT_TRUE(made.api);
  EXPECT_FALSE(made.counters || made.counter_rounds || made.sensors);
  EXPECT_EQ(made.counter_hz, 5000U);
  EXPECT_EQ(made.max_log_mb, 64U);
  EXPECT_EQ(options({"collector.delay_ms=1500"}).collector.delay_ms, 1500U);
  EXPECT_EQ(options({"collector.arm=command"}).collector.arm, "command");
  EXPECT_EQ(options({"run.mode=light"}).collector.counter_hz, 1000U);
  EXPECT_TRUE(options({"profiling/collector=high"}).collector.api);
}

// 4 of every 4*8 steps are an eighth; 4 of every 4 are all.
TEST(RunOptions, ADutyIsAShareOfTheSteps) {
  const auto duty = [](std::string_view text) {
    return options({text_override("collector.duty", text)}).collector.duty;
  };
  EXPECT_EQ(duty("8"), (DutyCycle{4, 32}));
  EXPECT_EQ(duty("1"), (DutyCycle{4, 4}));
  EXPECT_EQ(duty("1/10"), (DutyCycle{1, 10}));
  EXPECT_EQ(duty("3/3"), (DutyCycle{3, 3}));
}

TEST(RunOptions, ABudgetIsPercentWithOrWithoutTheSign) {
  for (const char* text : {"2", "2%", "2.0 %"}) {
    EXPECT_EQ(options({text_override("collector.overhead_budget", text)}).collector.overhead_budget,
              2.0)
        << text;
  }
}

TEST(RunOptions, LightModeTakesLightPresets) {
  const RunOptions deep = options();
  EXPECT_EQ(deep.ncu.set, "roofline");
  EXPECT_EQ(deep.ncu.sections,
            (Words{"SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "SchedulerStats"}));
  EXPECT_EQ(deep.nsys.cuda_graph_trace, "node");
  const RunOptions light = options({"run.mode=light"});
  EXPECT_EQ(light.mode, RunMode::light);
  EXPECT_EQ(light.ncu.set, "");
  EXPECT_EQ(light.ncu.sections, (Words{"SpeedOfLight"}));
  EXPECT_EQ(light.ncu.launches_per_shape, 1U);
  EXPECT_EQ(light.nsys.sample, "none");
  EXPECT_EQ(light.nsys.cuda_graph_trace, "graph");
  EXPECT_FALSE(light.torch.record_shapes);
  EXPECT_FALSE(light.torch.memory_snapshot);
  EXPECT_TRUE(deep.torch.memory_snapshot);
  const RunOptions chosen =
      options({"run.mode=light", "profiling/ncu=high", "profiling/nsys=default"});
  EXPECT_EQ(chosen.ncu.set, "full");
  EXPECT_EQ(chosen.nsys.cuda_graph_trace, "node");
  EXPECT_EQ(options({"profiling/ncu=ncu.default"}).ncu.set, "roofline");
}

TEST(RunOptions, ToolsAreSetByKey) {
  const RunOptions made = options(
      {"nsys.trace=[cuda,nvtx,osrt]", "nsys.gating_nvtx=true", "nsys.capture_range_end=repeat:3",
       "ncu.nvtx.include=[LLM@prefill/]", "ncu.launch_skip=5", "ncu.launch_count=7", "ncu.set=null",
       "ncu.extra_arguments=[--cache-control,none]", "torch.with_stack=true",
       "collector.max_log_mb=64"});
  EXPECT_EQ(made.nsys.trace, (Words{"cuda", "nvtx", "osrt"}));
  EXPECT_EQ(made.nsys.capture_range, "nvtx");
  EXPECT_EQ(made.nsys.capture_range_end, "repeat:3");
  EXPECT_EQ(made.ncu.nvtx_include, (Words{"LLM@prefill/"}));
  EXPECT_EQ(made.ncu.launch_skip, 5U);
  EXPECT_EQ(made.ncu.launch_count, 7U);
  EXPECT_EQ(made.ncu.set, "");
  EXPECT_EQ(made.ncu.extra_arguments, (Words{"--cache-control", "none"}));
  EXPECT_TRUE(made.torch.with_stack);
  EXPECT_EQ(made.collector.max_log_mb, 64U);
}

TEST(RunOptions, FoldersAndInputs) {
  const testing::TemporaryFolder folder;
  const std::string manifest = folder.write("inputs.yaml", "- {prompt_tokens: 3}\n").string();
  const RunOptions made =
      options({"hydra.run.dir=out/${now:%Y%m%d-%H%M%S}", "hydra.job.chdir=true",
               "artifacts.stage2_dir=/data/runs", "+inputs.manifest=" + manifest, "+run.mode=deep",
               "model=llm/llama_1b", "run.timeout_s=null", "run.max_trace_mb=null", "device=cpu"});
  EXPECT_EQ(made.run_folder, "out/20261115-073309");
  EXPECT_TRUE(made.change_folder);
  EXPECT_EQ(made.stage2_folder, "/data/runs");
  EXPECT_EQ(made.facts.inputs_manifest, manifest);
  EXPECT_EQ(value_of(made, "--inputs-manifest"), manifest);
  EXPECT_EQ(value_of(made, "--device"), "cpu");
  EXPECT_FALSE(made.timeout);
  EXPECT_FALSE(made.max_trace_bytes);
}

TEST(RunOptions, AProgramTakesTheWorkloadsPlace) {
  const Words program = {"python", "serve.py", "a=b", "${x}"};
  const RunOptions made = options({"workload.prompt_tokens=100"}, program);
  EXPECT_EQ(made.workload.argv, program);
  EXPECT_EQ(made.facts.name, "program");
  EXPECT_EQ(made.facts.prompt_tokens, 100U);
  EXPECT_TRUE(made.workload.uses_cuda);
  EXPECT_FALSE(made.pipeline.torch_profiler);
  EXPECT_EQ(made.model.target, "");
  EXPECT_EQ(made.model.name, "");
  EXPECT_EQ(made.model.config_json, "");
  const RunOptions known = options({"model=llm/qwen2_7b", "workload.uses_cuda=false"}, program);
  EXPECT_EQ(known.model.target, "llm/qwen2_7b");
  EXPECT_EQ(known.workload.argv, program);
  EXPECT_FALSE(known.workload.uses_cuda);
  EXPECT_TRUE(contains(error({"workload=program"}), "workload.command is empty: put a program"));
}

TEST(RunOptions, ModelsByPath) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "my, [model]");
  folder.write("my, [model]/config.json", "{}");
  const auto by = [&](const std::string& override) {
    auto made = read({override}, {}, shipped(), context(folder.path().string()));
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : RunOptions();
  };
  const std::string whole = (folder.path() / "my, [model]").string();
  for (const std::string& override :
       Words{"model='" + whole + "'", "model='my, [model]'", "+model.target='" + whole + "'"}) {
    const RunOptions made = by(override);
    EXPECT_EQ(made.facts.name, "hf_llm");
    EXPECT_EQ(value_of(made, "--path"), whole) << override;
    EXPECT_EQ(value_of(made, "--weights"), "real");
    EXPECT_EQ(made.model.target, whole);
    EXPECT_EQ(made.model.name, "my, [model]");
  }
  const RunOptions file = by("model='my, [model]/config.json'");
  EXPECT_EQ(value_of(file, "--weights"), "random");
  EXPECT_EQ(value_of(file, "--model-config"), whole + "/config.json");
  EXPECT_EQ(options({"+model.target=llm/qwen2_7b"}).model.name, "Qwen/Qwen2-7B");
  EXPECT_EQ(options({"model=qwen2_7b"}).model.target, "llm/qwen2_7b");
  const std::string unknown = error({"model=llm/qwen2_7"});
  EXPECT_TRUE(
      unknown.starts_with("override 'model=llm/qwen2_7': unknown value 'llm/qwen2_7' for model; "
                          "did you mean 'llm/qwen2_7b'? Available: llm/alt, "))
      << unknown;
}

TEST(RunOptions, Servers) {
  const RunOptions made = options({"workload=server_example", "~model", "workload.port=8123"});
  ASSERT_TRUE(made.workload.server);
  EXPECT_EQ(made.workload.server->ready_url, "http://127.0.0.1:8123/health");
  EXPECT_EQ(made.workload.server->ready_timeout, std::chrono::seconds(600));
  EXPECT_EQ(made.workload.server->client, (Words{"python3", "my_client.py", "--requests", "32",
                                                 "--url", "http://127.0.0.1:8123"}));
  EXPECT_EQ(made.workload.server->stop_signal, SIGINT);
  EXPECT_EQ(made.workload.environment.size(), 1U);
  EXPECT_EQ(made.workload.environment[0].first, "VLLM_WORKER_MULTIPROC_METHOD");
  const Words server = {"workload=server_example", "~model"};
  const auto with = [&](const std::string& more) {
    Words all = server;
    all.push_back(more);
    return error(all);
  };
  EXPECT_TRUE(contains(with("workload.server.stop_signal=SIGITN"), "did you mean 'SIGINT'?"));
  EXPECT_TRUE(contains(with("workload.server.ready.url=ftp://x"), "must begin with http://"));
  EXPECT_TRUE(contains(with("workload.server.ready.ca_file=ca.pem"), "begins with https://"));
  EXPECT_TRUE(
      contains(with("workload.server.ready.url=null"), "to detect when the server is ready"));
  EXPECT_TRUE(contains(with("workload.server.ready.log_pattern='('"), "a regular expression"));
  EXPECT_TRUE(contains(with("workload.server.client=[]"), "workload.server.client is missing"));
  EXPECT_TRUE(contains(with("+workload.server.load={rate: 4}"), "set only one of them"));
  EXPECT_TRUE(contains(with("+workload.environment.2X=1"),
                       "is not a valid name of an environment variable"));
}

// Unless another model is chosen.
TEST(RunOptions, AWorkloadMayHaveAModelOfItsOwn) {
  const RunOptions made = options({"workload=cpu_llm_server"});
  EXPECT_EQ(made.model.name, "llmprof/cpu-server");
  ASSERT_TRUE(made.workload.server);
  EXPECT_EQ(made.workload.server->load[1], "http://127.0.0.1:8187");
  const RunOptions other = options({"workload=cpu_llm_server", "model=llm/cpu_tiny"});
  EXPECT_EQ(other.model.name, "llmprof/cpu-tiny");
}

// Its command does not name the default model, which would give it the figures of another program.
TEST(RunOptions, AWorkloadThatUsesNoModelHasNone) {
  const RunOptions server = options({"workload=server_example"});
  EXPECT_TRUE(server.model.name.empty());
  EXPECT_TRUE(server.model.config_json.empty());
  EXPECT_TRUE(server.model.target.empty());
  EXPECT_EQ(options({"workload=server_example", "model=llm/qwen2_7b"}).model.target,
            "llm/qwen2_7b");
  EXPECT_EQ(options({"workload=server_example", "model.name=mine"}).model.name, "mine");
  EXPECT_EQ(options({"workload=hf_llm"}).model.target, "llm/cpu_tiny");
}

TEST(RunOptions, DriverCallsAreTimedWhereTheyAreNeeded) {
  for (const char* model : {"model=llm/llama_1b", "model=llm/cpu_tiny"}) {
    EXPECT_EQ(options({model}).pipeline.driver_calls, Switch::automatic) << model;
  }
  const auto driver_calls = [](const std::string& value) {
    return options({"pipeline.driver_calls.enable=" + value}).pipeline.driver_calls;
  };
  EXPECT_EQ(driver_calls("auto"), Switch::automatic);
  EXPECT_EQ(driver_calls("true"), Switch::on);
  EXPECT_EQ(driver_calls("false"), Switch::off);
  EXPECT_TRUE(contains(error({"pipeline.driver_calls.enable=on"}),
                       "pipeline.driver_calls.enable must be one of auto, true, false"));
  EXPECT_TRUE(contains(error({"+pipeline.driver_call.enable=true"}),
                       "unknown key 'pipeline.driver_call'; did you mean 'driver_calls'?"));
}

TEST(RunOptions, NcuAsksForAShortRunInEveryPreset) {
  for (const char* preset : {"default", "light", "high"}) {
    EXPECT_TRUE(options({std::string("profiling/ncu=ncu.") + preset}).ncu.short_run) << preset;
  }
  EXPECT_FALSE(options({"ncu.short_run=false"}).ncu.short_run);
  EXPECT_TRUE(contains(error({"ncu.short_run=short"}), "ncu.short_run must be true or false"));
}

}  // namespace
}  // namespace llmprof::session
