#include <gtest/gtest.h>

#include "base/text.h"
#include "testing/run_options.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

using testing::error;
using testing::options;
using testing::read;
using testing::Words;

TEST(RefusedOptions, EveryValueIsChecked) {
  struct Fault {
    Words overrides;
    std::string message;
  };
  for (const Fault& fault : std::vector<Fault>{
           {{"run.top_n_kernels=0"},
            "override 'run.top_n_kernels=0': run.top_n_kernels must be an integer from 1 to "
            "10000, but is '0'"},
           {{"run.repeats=two"},
            "override 'run.repeats=two': run.repeats must be an integer from 1 to 1000, but is "
            "'two'"},
           {{"run.time_limit=soon"},
            "must be a time from 1s to 168h (300s, 5m, 1h), but is 'soon'"},
           {{"run.time_limit=0m"}, "but is '0m'"},
           {{"run.time_limit=169h"}, "but is '169h'"},
           {{"run.timeout_s=-1"},
            "override 'run.timeout_s=-1': run.timeout_s must be a number from 0.001 to 604800, or "
            "null, but is '-1'"},
           {{"run.max_trace_mb=[1]"},
            "override 'run.max_trace_mb=[1]': run.max_trace_mb must be an integer from 1 to "
            "1000000000, but is [1]"},
           {{"device=gpu"},
            "override 'device=gpu': device must be cpu, cuda or cuda:N, but is 'gpu'"},
           {{"device=1"},
            "override 'device=1': device must be cpu, cuda or cuda:N, but is '1'; did you mean "
            "'cuda:1'?"},
           {{"pipeline.nsys.enable=on"},
            "override 'pipeline.nsys.enable=on': pipeline.nsys.enable must be one of auto, true, "
            "false, but is 'on'"},
           {{"pipeline.collector.enable=auto"}, "must be true or false, but is 'auto'"},
           {{"pipeline.ncu.enable=autom"}, "did you mean 'auto'?"},
           {{"collector.duty=x"}, "collector.duty must be T/P, to trace T of every P steps"},
           {{"collector.duty=0"}, "collector.duty must be T/P"},
           {{"collector.duty=4/3"}, "but is '4/3'"},
           {{"collector.duty=0/3"}, "but is '0/3'"},
           {{"collector.duty=1/2000000"}, "P of at most 1000000"},
           {{"collector.duty=1/2/3"}, "but is '1/2/3'"},
           {{"collector.overhead_budget=0"}, "above 0 and at most 100"},
           {{"collector.overhead_budget='2%%'"}, "but is '2%%'"},
           {{"collector.overhead_budget=101"}, "but is '101'"},
           {{"collector.duty=8", "collector.overhead_budget=2"}, "choose one"},
           {{"collector.arm=comand"}, "did you mean 'command'?"},
           {{"collector.arm=Start"}, "did you mean 'start'?"},
           {{"collector.arm=decode_all@LLM"}, "did you mean 'LLM@decode_all'?"},
           {{"collector.arm=LLM@decode_all/"}, "did you mean 'LLM@decode_all'?"},
           {{"collector.arm='LLM@'"}, "must be start, command or a range"},
           {{"collector.arm=''"}, "must be start, command or a range"},
           {{"collector.arm=command", "collector.delay_ms=5"}, "choose one"},
           {{"collector.steps=0"}, "collector.steps must be an integer of at least 1"},
           {{"collector.step_range=''"}, "collector.step_range is empty"},
           {{"collector.counters=on"}, "collector.counters must be true or false"},
           {{"collector.counter_hz=0"}, "from 1 to 200000"},
           {{"+collector.sensor=true"}, "did you mean 'sensors'?"},
           {{"profiling/collector=hi"}, "vailable: default, high, light"},
           {{"nsys.trace=[cuda,nvxt]"}, "did you mean 'nvtx'?"},
           {{"nsys.trace=[]"}, "nsys.trace must name at least one kind"},
           {{"nsys.sample=proces-tree"}, "did you mean 'process-tree'?"},
           {{"nsys.capture_range=cudaprofilerapi"}, "did you mean 'cudaProfilerApi'?"},
           {{"nsys.capture_range_end=repeat-shutdown"}, "repeat-shutdown:N, but is"},
           {{"nsys.capture_range_end=stopp"}, "did you mean 'stop'?"},
           {{"nsys.cuda_graph_trace=nodes"}, "did you mean 'node'?"},
           {{"nsys.nvtx_capture=LLM@prefill/"}, "did you mean 'prefill@LLM'?"},
           {{"nsys.gating_nvtx=true", "nsys.capture_range=cudaProfilerApi"}, "choose one"},
           {{"ncu.set=rooflien"}, "did you mean 'roofline'?"},
           {{"ncu.sections=[SpeedOfLigth]"}, "did you mean 'SpeedOfLight'?"},
           {{"ncu.metrics=['a b']"}, "must be a list of metric names, but has 'a b'"},
           {{"ncu.set=null", "ncu.sections=[]", "ncu.metrics=[]"}, "ncu would measure nothing"},
           {{"ncu.nvtx.include=[decode_all@LLM]"}, "ncu.nvtx.include must be Domain@Range/"},
           {{"ncu.replay_mode=aplication"}, "did you mean 'application'?"},
           {{"ncu.kernel_name_base=demangle"}, "did you mean 'demangled'?"},
           {{"ncu.launch_count=0"}, "ncu.launch_count must be an integer of at least 1"},
           {{"ncu.target_processes=al"}, "did you mean 'all'?"},
           {{"torch.requests=0"}, "torch.requests must be an integer of at least 1"},
           {{"model=llm/llama_1b", "model.dtype=bf16"}, "model.dtype must be one of bfloat16"},
           {{"model=llm/llama_1b", "model.weights=real"}, "needs model.path=FOLDER"},
           {{"model=llm/llama_1b", "model.path=/nonexistent/x"}, "which does not exist"},
           {{"model=llm/llama_1b", "workload.mode=cudagraph"}, "did you mean 'cuda_graph'?"},
           {{"inputs.manifest=/nonexistent"}, "which does not exist"},
           {{"workload.batch=0"}, "workload.batch must be an integer from 1"},
           {{"workload.requests=x"}, "workload.requests must be an integer from 1"},
           {{"hydra.job.chdir=maybe"}, "hydra.job.chdir must be true or false"},
           {{"run=5"},
            "override 'run=5': 'run' is a map: set one of its keys, such as run.mode=..."},
           {{"run.mode=deap"},
            "there is no key 'run.presets.deap'; did you mean 'run.presets.deep'?"},
           {{"profiling/ncu=heigh"}, "did you mean 'high'? Available: default, high, light"},
           {{"workload=hf_lm"}, "did you mean 'hf_llm'?"},
           {{"nsys.tracee=[cuda]"}, "did you mean 'nsys.trace'?"},
           {{"+nsys.tracee=[cuda]"},
            "override '+nsys.tracee=[cuda]': unknown key 'nsys.tracee'; did you mean 'trace'?"},
           {{"+pipeline.nys.enable=true"},
            "override '+pipeline.nys.enable=true': unknown key 'pipeline.nys'; did you mean "
            "'nsys'?"},
           {{"+rnu.mode=light"}, "unknown key 'rnu'; did you mean 'run'?"},
           {{"+hydra.sweep.dir=x"}, "unknown key 'hydra.sweep'"},
           {{"+workload.new_token=3"},
            "unknown key 'workload.new_token'; did you mean 'new_tokens'?"},
           {{"profiling.nsys.trace=[cuda]"}, "did you mean 'nsys.trace'?"},
       }) {
    const std::string message = error(fault.overrides);
    EXPECT_TRUE(contains(message, fault.message)) << message << "\nexpected " << fault.message;
  }
}

TEST(RefusedOptions, FilesAreNamedWithTheirLine) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "workload");
  std::filesystem::create_directories(folder.path() / "profiling/ncu");
  const std::string workload =
      folder.write("workload/mine.yaml", "name: mine\ncommand: [./mine]\nbatches: 3\n").string();
  const std::string preset =
      folder.write("profiling/ncu/mine.yaml", "set: basic\nreplay_mode: kernels\n").string();
  const auto conf = config::ConfFiles::open(folder.path());
  ASSERT_TRUE(conf);
  EXPECT_EQ(read({"workload=mine"}, {}, *conf).error().message,
            workload + ":3: unknown key 'workload.batches'; did you mean 'batch'?");
  EXPECT_EQ(read({"profiling/ncu=mine"}, {}, *conf).error().message,
            preset +
                ":2: ncu.replay_mode must be one of kernel, application, range, app-range, but "
                "is 'kernels'; did you mean 'kernel'?");
}

// A small deterministic generator, so that failures can be reproduced.
uint64_t next(uint64_t& state) {
  constexpr uint64_t kFactor = 6364136223846793005ULL;
  constexpr uint64_t kStep = 1442695040888963407ULL;
  constexpr unsigned kHigh = 33;
  state = state * kFactor + kStep;
  return state >> kHigh;
}

TEST(RefusedOptions, GarbageValuesNeverCrash) {
  const Words keys = {"run.mode",
                      "run.timeout_s",
                      "run",
                      "device",
                      "pipeline",
                      "nsys.trace",
                      "nsys",
                      "ncu.sections",
                      "ncu.nvtx",
                      "ncu",
                      "torch",
                      "model",
                      "model.config",
                      "model.target",
                      "workload",
                      "workload.server",
                      "workload.environment",
                      "workload.command",
                      "hydra",
                      "hydra.run",
                      "inputs",
                      "artifacts.stage2_dir",
                      "+workload.server.ready",
                      "+new",
                      "collector"};
  const Words values = {"",
                        "null",
                        "[]",
                        "{}",
                        "[[[]]]",
                        "{a: {b: [c]}}",
                        "1e999",
                        "-1",
                        "nan",
                        "true",
                        "${run}",
                        "${model.config}",
                        "\xff\xfe",
                        "${x",
                        "[null]",
                        "'",
                        "999999999999999999999",
                        "{'': ''}",
                        "[a, {b: c}]",
                        "${workload.command}",
                        "../../x",
                        "/",
                        "."};
  size_t refused = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    uint64_t state = seed;
    Words overrides;
    for (uint64_t i = 0; i < 1 + seed % 3; ++i) {
      overrides.push_back(keys[next(state) % keys.size()] + "=" +
                          values[next(state) % values.size()]);
    }
    const auto made = read(overrides, seed % 5 == 0 ? Words{"./program"} : Words{});
    if (made) continue;
    ++refused;
    EXPECT_EQ(made.error().kind, ErrorKind::usage) << overrides.front();
    EXPECT_FALSE(made.error().message.empty());
  }
  EXPECT_GT(refused, 150U);
  EXPECT_LT(refused, 500U);
}

}  // namespace
}  // namespace llmprof::session
