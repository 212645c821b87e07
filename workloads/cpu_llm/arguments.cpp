#include "cpu_llm/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "base/machine.h"
#include "cpu_llm/default_layers.h"
#include "cpu_llm/weights.h"

namespace cpu_llm {
namespace {

constexpr int kWrongUsage = 2;
// Far beyond what a CPU computes in a day; keeps products of three values within 64 bits.
constexpr size_t kLargest = 1UL << 20U;

// If an option is given twice, the last one counts: a command line can be overridden by appending
// to it.
void add_count(CLI::App& app, const char* flag, size_t& value, size_t least, const char* meaning) {
  app.add_option(flag, value, meaning)
      ->check(CLI::Range(least, kLargest))
      ->capture_default_str()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("N");
}

void describe(CLI::App& app, Arguments& arguments) {
  ModelShape& shape = arguments.shape;
  app.add_option("--name", arguments.name, "Name of the model in metrics.json")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->capture_default_str();
  add_count(app, "--hidden", shape.hidden, 2, "Width of the residual stream");
  add_count(app, "--intermediate", shape.intermediate, 1, "Width of the feed-forward network");
  add_count(app, "--layers", shape.layers, 1,
            "Layers; by default enough that the weights are four times the last-level cache");
  add_count(app, "--heads", shape.heads, 1, "Query heads");
  add_count(app, "--kv-heads", shape.kv_heads, 1, "Key-value heads");
  add_count(app, "--vocabulary", shape.vocabulary, 1, "Size of the vocabulary");
  add_count(app, "--prompt-tokens", arguments.prompt_tokens, 1, "Tokens per prompt");
  add_count(app, "--new-tokens", arguments.new_tokens, 1,
            "Tokens to generate per sequence; the first comes from prefill");
  add_count(app, "--batch", arguments.batch, 1, "Sequences per request");
  add_count(app, "--requests", arguments.requests, 1, "Measured requests");
  add_count(app, "--warm-up", arguments.warm_up, 0, "Warm-up requests before the measured ones");
  add_count(app, "--threads", arguments.threads, 0, "Threads; 0: one per available CPU");
  app.add_option("--seed", arguments.seed, "Seed of weights and prompts")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->capture_default_str()
      ->type_name("N");
  app.add_flag("!--no-peaks", arguments.measure_peaks, "Do not measure the machine's peaks");
  constexpr double kLongest = 600;
  app.add_option("--peak-seconds", arguments.peak_seconds,
                 "Time for measuring the machine's peaks; if it is too short, peaks are too low")
      ->check(CLI::Range(0.0, kLongest))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->capture_default_str()
      ->type_name("S");
}

// Options of the program whose model is shared by several ranks.
void describe_ranks(CLI::App& app, Arguments& arguments) {
  constexpr double kSlowest = 1000;
  app.add_option("--slow-rank", arguments.slow_rank, "Slow this rank down, as --slow-by says")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("N");
  app.add_option(
         "--slow-by", arguments.slow_by,
         "Each operator of --slow-rank takes this many times as long; the rest is busy work")
      ->check(CLI::Range(1.0, kSlowest))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->capture_default_str()
      ->type_name("X");
}

std::optional<std::string> fault_of_ranks(const Arguments& arguments) {
  const ModelShape& shape = arguments.shape;
  const size_t ranks = shape.parts;
  struct Split {
    const char* option;
    size_t size;
  };
  for (const Split& split :
       {Split{"--heads", shape.heads}, Split{"--kv-heads", shape.kv_heads},
        Split{"--intermediate", shape.intermediate}, Split{"--vocabulary", shape.vocabulary}}) {
    if (split.size % ranks != 0) {
      return fmt::format("{} {} cannot be split among {} ranks", split.option, split.size, ranks);
    }
  }
  if (arguments.slow_rank && *arguments.slow_rank >= ranks) {
    return fmt::format("--slow-rank {} is not one of the {} ranks, which are counted from 0",
                       *arguments.slow_rank, ranks);
  }
  if (!arguments.slow_rank && arguments.slow_by > 1) return "--slow-by needs --slow-rank";
  return std::nullopt;
}

// What is not supported, and the remedy.
std::optional<std::string> fault(const Arguments& arguments) {
  const ModelShape& shape = arguments.shape;
  if (auto message = fault_of_ranks(arguments)) return message;
  if (shape.hidden % shape.heads != 0) {
    return fmt::format("--hidden {} is not a multiple of --heads {}", shape.hidden, shape.heads);
  }
  if (shape.head_size() % 2 != 0) {
    return fmt::format("--hidden {} over --heads {} gives heads of {}: RoPE needs an even size",
                       shape.hidden, shape.heads, shape.head_size());
  }
  if (shape.heads % shape.kv_heads != 0) {
    return fmt::format("--heads {} is not a multiple of --kv-heads {}", shape.heads,
                       shape.kv_heads);
  }
  const auto memory = static_cast<double>(llmprof::usable_memory_bytes());
  // As if all ranks were on this machine.
  const auto needed = static_cast<double>(shape.parts * weights_bytes(shape));
  if (needed > memory) {
    constexpr double kGigabyte = 1e9;
    return fmt::format("weights of {:.1f} GB do not fit in {:.1f} GB of memory; use fewer --layers",
                       needed / kGigabyte, memory / kGigabyte);
  }
  return std::nullopt;
}

}  // namespace

std::variant<Arguments, Ending> read_arguments(int count, const char* const* values,
                                               std::optional<size_t> ranks) {
  const std::string program = ranks ? "cpu_llm_tp" : "cpu_llm";
  CLI::App app(
      "Generates tokens with a Llama-shaped decoder with random weights (f32) on the CPU, "
      "annotated\n"
      "for llmprof. With LLMPROF_METRICS=FILE it writes its timings to that file." +
      std::string(ranks ? "\nStarted by mpirun, its ranks share the model by tensor parallelism."
                        : ""));
  Arguments arguments;
  arguments.name = program;
  if (ranks) {
    arguments.shape.parts = *ranks;
    arguments.threads = 1;
    describe_ranks(app, arguments);
  }
  arguments.shape.layers =
      default_layers(llmprof::last_level_cache_bytes(), llmprof::usable_memory_bytes());
  describe(app, arguments);
  try {
    app.parse(count, values);
  } catch (const CLI::CallForHelp&) {
    return Ending{app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return Ending{fmt::format("{0}: {1}; see {0} --help\n", program, error.what()), kWrongUsage};
  }
  const auto message = fault(arguments);
  if (message)
    return Ending{fmt::format("{0}: {1}; see {0} --help\n", program, *message), kWrongUsage};
  return arguments;
}

}  // namespace cpu_llm
