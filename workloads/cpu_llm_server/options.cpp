#include "cpu_llm_server/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/machine.h"
#include "cpu_llm/cpu_device.h"

namespace cpu_llm_server {
namespace {

constexpr int kWrongUsage = 2;
constexpr size_t kLargest = 1UL << 20U;
constexpr size_t kMostSlots = 4096;

CLI::Option* last_counts(CLI::Option* option) {
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->capture_default_str();
}

void add_size(CLI::App& app, const char* flag, size_t& value, size_t least, size_t most,
              const char* meaning) {
  last_counts(app.add_option(flag, value, meaning)->check(CLI::Range(least, most))->type_name("N"));
}

void describe(CLI::App& app, ServerOptions& options, std::vector<std::string>& faults) {
  cpu_llm::ModelShape& shape = options.engine.shape;
  SchedulerLimits& limits = options.engine.limits;
  last_counts(app.add_option("--name", options.model, "Name of the model"));
  last_counts(
      app.add_option("--port", options.port, "Port on 127.0.0.1; 0: a free one")->type_name("N"));
  add_size(app, "--hidden", shape.hidden, 2, kLargest, "Width of the residual stream");
  add_size(app, "--intermediate", shape.intermediate, 1, kLargest,
           "Width of the feed-forward network");
  add_size(app, "--layers", shape.layers, 1, kLargest, "Layers");
  add_size(app, "--heads", shape.heads, 1, kLargest, "Query heads");
  add_size(app, "--kv-heads", shape.kv_heads, 1, kLargest, "Key-value heads");
  add_size(app, "--vocabulary", shape.vocabulary, 2, kLargest, "Size of the vocabulary");
  add_size(app, "--slots", limits.slots, 1, kMostSlots, "Sequences in a step");
  add_size(app, "--chunk-tokens", limits.chunk_tokens, 1, kLargest,
           "Tokens in a step: one for each sequence in decode, the rest for prompts");
  add_size(app, "--cache-tokens", limits.cache_tokens, 2, kLargest,
           "Tokens in the KV cache, of all running requests together");
  add_size(app, "--threads", options.engine.threads, 0, kMostSlots,
           "Threads that compute; 0: all CPUs but one, which is left to HTTP and clients");
  last_counts(app.add_option("--seed", options.engine.seed, "Seed of the weights")->type_name("N"));
  last_counts(app.add_option("--journal", options.journal,
                             "Write which request was in which step (JSON lines)")
                  ->type_name("FILE"));
  app.add_flag("--annotate-requests", options.engine.annotate_requests,
               "Annotate from when to when each request is in the batch, by its x-request-id");
  app.add_option("--fault", faults,
                 "What goes wrong, in time from the first request: pause=at:2s,for:80ms, "
                 "evict=at:2s,for:100ms or slow_layer=at:2s,for:1s,layer:1,by:3x; may be repeated")
      ->type_name("FAULT");
}

// What is not supported, and the remedy.
std::optional<std::string> objection(const EngineOptions& options) {
  const cpu_llm::ModelShape& shape = options.shape;
  const SchedulerLimits& limits = options.limits;
  if (shape.hidden % shape.heads != 0 || shape.head_size() % 2 != 0) {
    return fmt::format("--hidden {} over --heads {} must give heads of an even size", shape.hidden,
                       shape.heads);
  }
  if (shape.heads % shape.kv_heads != 0) {
    return fmt::format("--heads {} is not a multiple of --kv-heads {}", shape.heads,
                       shape.kv_heads);
  }
  if (limits.chunk_tokens <= limits.slots) {
    return fmt::format(
        "--chunk-tokens {} must be larger than --slots {}, or prompts would wait "
        "for all others",
        limits.chunk_tokens, limits.slots);
  }
  const auto memory = static_cast<double>(llmprof::usable_memory_bytes());
  const double needed = static_cast<double>(cpu_llm::weights_bytes(shape)) +
                        2.0 * sizeof(float) * static_cast<double>(shape.layers) *
                            static_cast<double>(shape.kv_width()) *
                            static_cast<double>(limits.slots * limits.cache_tokens);
  if (needed > memory) {
    constexpr double kGigabyte = 1e9;
    return fmt::format(
        "weights and caches of {:.1f} GB do not fit in {:.1f} GB of memory; use "
        "fewer --layers, --slots or --cache-tokens",
        needed / kGigabyte, memory / kGigabyte);
  }
  for (const Fault& fault : options.faults) {
    if (fault.kind == FaultKind::slow_layer && fault.slow.layer >= shape.layers) {
      return fmt::format(
          "--fault slow_layer: layer {} is not one of the {} layers, which are "
          "counted from 0",
          fault.slow.layer, shape.layers);
    }
  }
  return std::nullopt;
}

}  // namespace

std::variant<ServerOptions, Ending> read_options(int count, const char* const* values) {
  CLI::App app(
      "An OpenAI-compatible server with continuous batching, on the CPU: a Llama-shaped decoder\n"
      "with random weights (f32), whose tokens are words without meaning, annotated for llmprof.");
  ServerOptions options;
  options.engine.shape = {.hidden = 256,
                          .intermediate = 768,
                          .layers = 3,
                          .heads = 8,
                          .kv_heads = 2,
                          .vocabulary = 1024};
  options.engine.threads = 0;
  std::vector<std::string> faults;
  describe(app, options, faults);
  const auto refused = [](const std::string& message) {
    return Ending{fmt::format("cpu_llm_server: {}; see cpu_llm_server --help\n", message),
                  kWrongUsage};
  };
  try {
    app.parse(count, values);
  } catch (const CLI::CallForHelp&) {
    return Ending{app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return refused(error.what());
  }
  for (const std::string& text : faults) {
    const auto fault = parse_fault(text);
    if (!fault) return refused(fault.error().message);
    options.engine.faults.push_back(*fault);
  }
  if (const auto message = objection(options.engine)) return refused(*message);
  if (options.engine.threads == 0) {
    options.engine.threads = std::max<size_t>(cpu_llm::available_cpus(), 2) - 1;
  }
  return options;
}

}  // namespace cpu_llm_server
