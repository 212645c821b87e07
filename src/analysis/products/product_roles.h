#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/products/product_calls.h"
#include "analysis/stages/stages.h"
#include "llm/model_spec.h"
#include "profile/products.h"

namespace llmprof::analysis {

using profile::ProductRole;
using profile::RoleSource;

struct ProductSizes {
  uint64_t m = 0;
  uint64_t n = 0;
  uint64_t k = 0;
  uint64_t batch = 1;
};

// What happens in a forward pass, as far as it tells the roles of products.
struct ProductEvent {
  enum class Kind : uint8_t { product, unknown_product, attention, softmax };
  Kind kind{};
  ProductSizes sizes;  // of a product
};

// The role of each event that is a product, by the order alone. Between two attentions come, in
// this order: the first one's output, router, gate and up, down, and the second one's queries, keys
// and values. A role is given only if the dimensions agree: what one product gives, the next one
// takes, for the same tokens. Events other than products, and products that do not fit, stay
// unknown.
std::vector<ProductRole> roles_by_order(std::span<const ProductEvent> events);

// The roles that a model's weights allow for these sizes; `ranks` may share each layer.
std::vector<ProductRole> roles_in_model(const llm::ModelSpec& model, uint32_t ranks,
                                        const ProductSizes& sizes);

struct FoundRole {
  ProductRole role = ProductRole::unknown;
  RoleSource source = RoleSource::none;
};

ProductSizes sizes_of(const trace::ProductTable& products, trace::ProductRow row);

// By call. The model's dimensions decide; where they allow several roles, or none is known, the
// order within a step (within an instance without steps, or on a device without stages).
std::vector<FoundRole> find_product_roles(const trace::Trace& trace, const DescribedNames& names,
                                          const ProductCalls& calls, const Stages& stages,
                                          const std::optional<llm::ModelSpec>& model,
                                          uint32_t ranks);

}  // namespace llmprof::analysis
