#include "analysis/products/product_roles.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace llmprof::analysis {
namespace {

// The sizes of the products with a model's weights.
class ModelProducts {
 public:
  ModelProducts(const llm::ModelSpec& model, uint64_t ranks, const ProductSizes& sizes)
      : model_(model), ranks_(ranks), sizes_(sizes) {}

  std::vector<ProductRole> find() {
    if (sizes_.batch != 1 || model_.hidden == 0) return {};
    if (model_.latent) {
      find_latent(*model_.latent);
    } else {
      find_attention();
    }
    const auto is_dense = [](const llm::LayerSpec& layer) {
      return layer.feed_forward == llm::FeedForwardKind::dense;
    };
    if (!model_.mixture || std::ranges::any_of(model_.layers, is_dense)) {
      find_feed_forward(model_.intermediate, ProductRole::gate_up, ProductRole::down);
    }
    if (model_.mixture) find_mixture(*model_.mixture);
    find_head();
    return std::move(found_);
  }

 private:
  void allow(ProductRole role, uint64_t n, uint64_t k) {
    const bool fits = n != 0 && k != 0 && sizes_.n == n && sizes_.k == k;
    if (fits && std::ranges::find(found_, role) == found_.end()) found_.push_back(role);
  }
  // A rank has at least one head of keys and values.
  [[nodiscard]] uint64_t part(uint64_t whole) const {
    return whole % ranks_ == 0 ? whole / ranks_ : whole;
  }

  void find_attention() {
    const uint64_t queries = part(model_.heads) * model_.head_dim;
    const uint64_t keys = part(model_.kv_heads) * model_.head_dim;
    for (const uint64_t width : {queries + 2 * keys, queries, keys, 2 * keys}) {
      allow(ProductRole::qkv, width, model_.hidden);
    }
    allow(ProductRole::o, model_.hidden, queries);
  }

  // Queries, keys and values are compressed, then expanded by head.
  void find_latent(const llm::LatentAttention& latent) {
    const uint64_t heads = part(model_.heads);
    const uint64_t queries = heads * (latent.nope_dim + latent.rope_dim);
    const uint64_t compressed = latent.kv_rank + latent.rope_dim;
    for (const uint64_t width : {uint64_t{latent.q_rank}, compressed, latent.q_rank + compressed}) {
      allow(ProductRole::qkv, width, model_.hidden);
    }
    allow(ProductRole::qkv, queries, latent.q_rank == 0 ? model_.hidden : latent.q_rank);
    allow(ProductRole::qkv, heads * (latent.nope_dim + latent.value_dim), latent.kv_rank);
    allow(ProductRole::o, model_.hidden, heads * latent.value_dim);
  }

  void find_feed_forward(uint64_t size, ProductRole in, ProductRole out) {
    const uint64_t own = part(size);
    allow(in, own, model_.hidden);
    if (model_.gated) allow(in, 2 * own, model_.hidden);
    allow(out, model_.hidden, own);
  }

  void find_mixture(const llm::MixtureOfExperts& mixture) {
    allow(ProductRole::router, mixture.experts, model_.hidden);
    find_feed_forward(mixture.expert_size, ProductRole::experts_gate_up, ProductRole::experts_down);
    find_feed_forward(mixture.shared_expert_size, ProductRole::gate_up, ProductRole::down);
  }

  // Engines pad the vocabulary.
  void find_head() {
    constexpr uint64_t kMostPadding = 512;
    const uint64_t own = part(model_.vocabulary);
    const bool fits = own != 0 && sizes_.n >= own && sizes_.n < own + kMostPadding;
    if (fits) allow(ProductRole::lm_head, sizes_.n, model_.hidden);
  }

  const llm::ModelSpec& model_;
  uint64_t ranks_;
  ProductSizes sizes_;
  std::vector<ProductRole> found_;
};

// A sequence of events: those of one step, or what is next best.
using EventSequenceKey = std::tuple<trace::DeviceId, InstanceId, StepId>;
struct EventSequence {
  std::vector<ProductEvent> events;
  std::vector<size_t> calls;  // by event; the number of calls for none
};

std::map<EventSequenceKey, EventSequence> event_sequences(const trace::Trace& trace,
                                                          const DescribedNames& names,
                                                          const ProductCalls& calls,
                                                          const Stages& stages) {
  const trace::KernelTable& kernels = trace.kernels;
  std::map<EventSequenceKey, EventSequence> sequences;
  size_t next_call = 0;
  size_t next_unknown = 0;
  for (uint32_t row = 0; row < kernels.size(); ++row) {
    ProductEvent event;
    const KernelClass of_kernel = names[kernels.name[row]].kernel_class;
    size_t call = calls.calls.size();
    if (next_call < calls.calls.size() && calls.calls[next_call].first_kernel == row) {
      call = next_call++;
      event.kind = ProductEvent::Kind::product;
      event.sizes = sizes_of(trace.products, calls.calls[call].product);
    } else if (next_unknown < calls.unknown.size() && calls.unknown[next_unknown].kernel == row) {
      ++next_unknown;
      event.kind = ProductEvent::Kind::unknown_product;
    } else if (of_kernel == KernelClass::attention) {
      event.kind = ProductEvent::Kind::attention;
    } else if (of_kernel == KernelClass::softmax) {
      event.kind = ProductEvent::Kind::softmax;
    } else {
      continue;
    }
    const WorkOwners& owners = stages.owners;
    const bool owned = row < owners.kernel_instance.size();
    EventSequence& sequence = sequences[{trace.queues[kernels.queue[row]].device,
                                         owned ? owners.kernel_instance[row] : InstanceId(),
                                         owned ? owners.kernel_step[row] : StepId()}];
    sequence.events.push_back(event);
    sequence.calls.push_back(call);
  }
  return sequences;
}

std::vector<ProductRole> all_roles_in_model(const llm::ModelSpec& model, uint32_t ranks,
                                            const ProductSizes& sizes) {
  std::vector<ProductRole> roles = roles_in_model(model, 1, sizes);
  if (roles.empty() && ranks > 1) roles = roles_in_model(model, ranks, sizes);
  return roles;
}

FoundRole decided_role(const std::vector<ProductRole>& in_model, ProductRole by_order) {
  if (in_model.size() == 1) return {in_model.front(), RoleSource::model};
  const bool allowed = in_model.empty() || std::ranges::find(in_model, by_order) != in_model.end();
  if (by_order == ProductRole::unknown || !allowed) return {};
  return {by_order, RoleSource::order};
}

}  // namespace

std::vector<ProductRole> roles_in_model(const llm::ModelSpec& model, uint32_t ranks,
                                        const ProductSizes& sizes) {
  return ModelProducts(model, std::max(ranks, 1U), sizes).find();
}

ProductSizes sizes_of(const trace::ProductTable& products, trace::ProductRow row) {
  const size_t i = row.index();
  return {products.m[i], products.n[i], products.k[i], products.batch[i]};
}

std::vector<FoundRole> find_product_roles(const trace::Trace& trace, const DescribedNames& names,
                                          const ProductCalls& calls, const Stages& stages,
                                          const std::optional<llm::ModelSpec>& model,
                                          uint32_t ranks) {
  std::vector<FoundRole> roles(calls.calls.size());
  if (roles.empty()) return roles;
  for (const auto& [key, sequence] : event_sequences(trace, names, calls, stages)) {
    const std::vector<ProductRole> by_order = roles_by_order(sequence.events);
    for (size_t i = 0; i < sequence.events.size(); ++i) {
      const size_t call = sequence.calls[i];
      if (call == roles.size()) continue;
      const auto in_model = model ? all_roles_in_model(*model, ranks, sequence.events[i].sizes)
                                  : std::vector<ProductRole>();
      roles[call] = decided_role(in_model, by_order[i]);
    }
  }
  return roles;
}

}  // namespace llmprof::analysis
