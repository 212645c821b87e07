#include "fit/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/needed.h"
#include "base/text.h"
#include "config/conf_files.h"
#include "config/config_tree.h"
#include "fit/capacity.h"
#include "fit/llama_cpp.h"
#include "fit/measured.h"
#include "fit/request.h"
#include "llm/cost.h"
#include "llm/gpu_spec.h"
#include "llm/hugging_face_config.h"

namespace llmprof::fit {
namespace {

constexpr uint64_t kUsualContext = 4096;

llm::GpuSpec find_gpu(const std::string& name, const config::ConfFiles& conf) {
  const llm::GpuSpecs gpus = needed(llm::GpuSpecs::load(conf));
  const auto found = gpus.find(name);
  if (!found) {
    give_up(ErrorKind::usage,
            fmt::format("--gpu {}: unknown, or the name of several GPUs{}; available: {}",
                        to_printable(name), config::did_you_mean(name, gpus.names()),
                        fmt::join(gpus.names(), ", ")));
  }
  if (found->memory_bytes == 0) {
    give_up(ErrorKind::usage,
            fmt::format("--gpu {}: gpus.yaml does not state its memory; add memory_gb in a "
                        "gpus.yaml of your own (--config-dir)",
                        found->name));
  }
  return *found;
}

// Its errors name the option of other commands; here the model is an argument.
llm::ModelSpec load_model(const std::string& what, const config::ConfFiles& conf) {
  constexpr std::string_view kOption = "--model ";
  auto model = llm::load_model_spec(what, conf);
  if (!model && model.error().message.starts_with(kOption)) {
    model.error().message.erase(0, kOption.size());
  }
  return needed(std::move(model));
}

Engine find_engine(const std::string& name) {
  if (const auto engine = profile::find_word<Engine>(name)) return *engine;
  give_up(ErrorKind::usage, fmt::format("--engine {}: unknown; available: {}", to_printable(name),
                                        fmt::join(profile::kNames<Engine>, ", ")));
}

llm::NumberFormat find_format(const char* option, const std::string& name, Engine engine) {
  if (engine == Engine::llama_cpp) {
    if (auto format = gguf_format(name)) return *format;
    give_up(ErrorKind::usage,
            fmt::format("{} {}: unknown format of llama.cpp; available: {}", option,
                        to_printable(name), fmt::join(gguf_formats(), ", ")));
  }
  if (const auto format = llm::parse_number_format(name)) return *format;
  const auto& formats = llm::model_families()["number_formats"].keys;
  give_up(ErrorKind::usage, fmt::format("{} {}: unknown format; available: {}", option,
                                        to_printable(name), fmt::join(formats, ", ")));
}

void choose_formats(const Question& question, Request& request, std::vector<std::string>& notes) {
  llm::ModelSpec& model = request.model;
  const bool is_llama = request.engine == Engine::llama_cpp;
  if (is_llama) {
    model.weights = find_format("--weights", question.weights.value_or("f16"), request.engine);
    model.kv_cache = find_format("--kv", question.kv_cache.value_or("f16"), request.engine);
    return;
  }
  if (question.weights) {
    model.weights = find_format("--weights", *question.weights, request.engine);
    model.experts.reset();
    if (model.weights.bytes >= 2) model.dtype = model.weights;
  }
  if (question.kv_cache) {
    model.kv_cache = find_format("--kv", *question.kv_cache, request.engine);
  } else if (question.weights && model.weights.bytes >= 2) {
    model.kv_cache = model.dtype;
  }
  if (model.kv_cache.bytes < model.dtype.bytes) {
    notes.emplace_back(
        "transformers' StaticCache has no cache in fewer bits: this is what it would take");
  }
  if (model.weights.bytes < model.dtype.bytes) {
    notes.emplace_back("copies of weights in more bits, which some kernels make, are not counted");
  }
}

// Larger sizes would take long, or overflow: a thousand times those of the largest machines.
void refuse_implausible(const Request& request) {
  constexpr size_t kMostLayers = 1000;
  constexpr double kMostBytes = 1e17;
  const llm::ModelSpec& model = request.model;
  if (model.layers.size() > kMostLayers) {
    give_up(ErrorKind::usage, fmt::format("{}: 'num_hidden_layers' is {}; the limit here is {}",
                                          model.source, model.layers.size(), kMostLayers));
  }
  const double heads = model.heads;
  const double prompts = static_cast<double>(request.batch) * static_cast<double>(request.context);
  const double width =
      std::max({static_cast<double>(model.hidden), heads * model.head_dim,
                static_cast<double>(model.intermediate), static_cast<double>(model.vocabulary)});
  const auto layers = static_cast<double>(model.layers.size());
  const double scores = heads * static_cast<double>(request.prompt_tokens);
  if (prompts * std::max(width * layers, scores) * sizeof(float) > kMostBytes) {
    give_up(ErrorKind::usage,
            fmt::format("--batch {} with --context {} is implausible for this model", request.batch,
                        request.context));
  }
}

void check(const Question& question, const Request& request) {
  if (request.prompt_tokens > request.context) {
    give_up(ErrorKind::usage, fmt::format("--prompt-tokens {} is more than --context {}",
                                          request.prompt_tokens, request.context));
  }
  if (question.tp > 1 && request.engine == Engine::llama_cpp) {
    give_up(ErrorKind::usage, "--tp: llama.cpp is computed for one GPU only; leave it out");
  }
  if (question.tp > request.model.heads) {
    give_up(ErrorKind::usage, fmt::format("--tp {} is more than the model's {} heads", question.tp,
                                          request.model.heads));
  }
  refuse_implausible(request);
}

Request make_request(const Question& question, llm::ModelSpec model,
                     std::vector<std::string>& notes) {
  Request request;
  request.engine = find_engine(question.engine);
  request.model = std::move(model);
  request.batch = question.batch.value_or(1);
  const uint64_t longest = request.model.longest_context;
  request.context =
      question.context.value_or(longest == 0 ? kUsualContext : std::min(longest, kUsualContext));
  request.prompt_tokens = question.prompt_tokens.value_or(request.context);
  request.tp = question.tp;
  request.graphs = question.graphs;
  check(question, request);
  notes = request.model.notes;
  choose_formats(question, request, notes);
  if (longest > 0 && request.context > longest) {
    notes.push_back(fmt::format("the model was made for contexts of up to {} tokens", longest));
  }
  return request;
}

// The chosen format first, then the other of bf16 and fp8.
std::vector<llm::NumberFormat> table_formats(const Request& request) {
  const bool is_llama = request.engine == Engine::llama_cpp;
  std::vector<llm::NumberFormat> formats = {request.model.kv_cache};
  for (const char* name : is_llama ? std::array{"f16", "q8_0"} : std::array{"bf16", "fp8"}) {
    const auto format = is_llama ? gguf_format(name) : llm::parse_number_format(name);
    if (format && format->bytes != formats.front().bytes) formats.push_back(*format);
  }
  return formats;
}

void fill_table(const Request& request, uint64_t gpu_bytes, Answer& result) {
  constexpr std::array<uint64_t, 5> kBatches = {1, 4, 16, 64, 256};
  constexpr std::array<uint64_t, 4> kContexts = {2048, 8192, 32768, 131072};
  const uint64_t longest = request.model.longest_context;
  for (const llm::NumberFormat& format : table_formats(request)) {
    for (const uint64_t context : kContexts) {
      if (longest > 0 && context > longest) continue;
      for (const uint64_t batch : kBatches) {
        Request other = with_context(request, context);
        other.batch = batch;
        other.model.kv_cache = format;
        Need need = need_of(other, gpu_bytes);
        const bool fits = need.fits;
        if (!fits) need = need_of(other, std::nullopt);
        result.table.push_back({format.name, batch, context, need.bytes(), fits});
      }
    }
  }
}

void fill_capacities(const Request& request, uint64_t bytes, Answer& result) {
  for (const llm::NumberFormat& format : table_formats(request)) {
    for (const uint64_t context : llm::contexts_to_compare(request.model)) {
      Request other = with_context(request, context);
      other.model.kv_cache = format;
      result.capacities.push_back({format.name, context, largest_batch(other, bytes)});
    }
  }
}

Answer answer_request(const Request& request, const llm::GpuSpec& gpu) {
  Answer result;
  result.model = request.model.name;
  result.variant = request.model.variant;
  result.source = request.model.source;
  result.parameters = llm::parameter_count(request.model);
  result.engine = request.engine;
  result.gpu = gpu.name;
  result.gpu_bytes = gpu.memory_bytes;
  result.tp = request.tp;
  result.weights = request.model.weights.name;
  result.kv_cache = request.model.kv_cache.name;
  result.batch = request.batch;
  result.context = request.context;
  result.prompt_tokens = request.prompt_tokens;
  result.graphs = request.graphs && request.engine == Engine::hf_static;
  Need need = need_of(request, gpu.memory_bytes);
  result.fits = need.fits;
  if (!need.fits) need = need_of(request, std::nullopt);
  result.needed_bytes = need.bytes();
  result.rows = std::move(need.rows);
  const SequenceBytes sequence = sequence_bytes(request);
  result.kv_bytes_per_token = static_cast<uint64_t>(std::llround(sequence.per_token));
  result.state_bytes_per_sequence = static_cast<uint64_t>(std::llround(sequence.state));
  const uint64_t without_spare = gpu.memory_bytes / 100 * (100 - kSparePercent);
  result.largest_batch = largest_batch(request, without_spare);
  result.largest_context = largest_context(request, without_spare);
  fill_table(request, gpu.memory_bytes, result);
  fill_capacities(request, without_spare, result);
  return result;
}

}  // namespace

Result<Answer> answer(const Question& question) {
  return attempt([&] {
    const config::ConfFiles conf = needed(config::ConfFiles::open(question.config_folder));
    const llm::GpuSpec gpu = find_gpu(question.gpu, conf);
    std::vector<std::string> notes;
    const Request request = make_request(question, load_model(question.model, conf), notes);
    Answer result = answer_request(request, gpu);
    if (gpu.memory_is_nominal) {
      notes.push_back(
          fmt::format("the memory of {} is the data sheet's, a few percent less than "
                      "the driver's",
                      gpu.name));
    }
    result.notes = std::move(notes);
    return result;
  });
}

}  // namespace llmprof::fit
