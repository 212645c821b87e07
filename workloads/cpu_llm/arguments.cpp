#include "cpu_llm/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "base/machine/last_level_cache.h"
#include "base/machine/usable_memory.h"
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
}

// What is not supported, and the remedy.
std::optional<std::string> fault(const Arguments& arguments) {
  const ModelShape& shape = arguments.shape;
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
  const auto needed = static_cast<double>(weights_bytes(shape));
  if (needed > memory) {
    constexpr double kGigabyte = 1e9;
    return fmt::format("weights of {:.1f} GB do not fit in {:.1f} GB of memory; use fewer --layers",
                       needed / kGigabyte, memory / kGigabyte);
  }
  return std::nullopt;
}

}  // namespace

std::variant<Arguments, Ending> read_arguments(int count, const char* const* values) {
  CLI::App app(
      "Generates tokens with a Llama-shaped decoder with random weights (f32) on the CPU, "
      "annotated\n"
      "for llmprof. With LLMPROF_METRICS=FILE it writes its timings to that file.");
  Arguments arguments;
  arguments.shape.layers =
      default_layers(llmprof::last_level_cache_bytes(), llmprof::usable_memory_bytes());
  describe(app, arguments);
  try {
    app.parse(count, values);
  } catch (const CLI::CallForHelp&) {
    return Ending{app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return Ending{fmt::format("cpu_llm: {}; see cpu_llm --help\n", error.what()), kWrongUsage};
  }
  if (const auto message = fault(arguments)) {
    return Ending{fmt::format("cpu_llm: {}; see cpu_llm --help\n", *message), kWrongUsage};
  }
  return arguments;
}

}  // namespace cpu_llm
