#include "session/options/outgrow_cache.h"

#include <fmt/format.h>

#include "llm/cost.h"
#include "llm/hugging_face_config.h"
#include "llm/layers_beyond_cache.h"

namespace llmprof::session {
namespace {

// Only for layers of one kind: in a mixture it is unknown what one more would be.
llm::ModelSpec with_layers(llm::ModelSpec model, size_t count) {
  model.layers.resize(count, model.layers.back());
  return model;
}

}  // namespace

std::vector<std::string> overrides_to_outgrow_cache(const config::ComposedConfig& config,
                                                    const config::ComposeContext& context) {
  const config::ConfigNode& model = config.tree.root["model"];
  const config::ConfigNode& shape = model["config"];
  if (!model["outgrow_cache"].boolean().value_or(false) || !shape.is_map()) return {};
  // Its errors are reported when the options are read.
  const auto spec = llm::read_hugging_face_config(config.tree, shape,
                                                  {model["name"].text, model["dtype"].text, {}});
  if (!spec || spec->layers.empty()) return {};
  const size_t layers = spec->layers.size();
  const auto bytes = static_cast<size_t>(llm::weight_bytes(*spec));
  const size_t layer =
      static_cast<size_t>(llm::weight_bytes(with_layers(*spec, layers + 1))) - bytes;
  const size_t count =
      llm::layers_beyond_cache({layers, layer, bytes - layers * layer},
                               context.last_level_cache_bytes, context.memory_bytes);
  if (count == layers) return {};
  return {fmt::format("model.config.num_hidden_layers={}", count),
          fmt::format("model.params={}", llm::parameter_count(with_layers(*spec, count)))};
}

}  // namespace llmprof::session
