#include "analysis/memory_ledger/model_allocations.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "llm/cost.h"

namespace llmprof::analysis {
namespace {

// A file's alignment of tensors, and small tensors that a configuration does not state.
constexpr double kLargerWeights = 1.005;

bool fits_weights(uint64_t bytes, double expected) {
  const auto actual = static_cast<double>(bytes);
  return expected > 0 && actual >= expected / kLargerWeights && actual <= expected * kLargerWeights;
}

// All weights in one allocation; engines may keep the input embedding on the host.
std::vector<size_t> find_weights(const std::vector<SizedAllocation>& all_of_library,
                                 const llm::ModelSpec& model) {
  const double all = llm::weight_bytes(model);
  const double embedding = static_cast<double>(model.vocabulary) * model.hidden * model.dtype.bytes;
  std::vector<size_t> found;
  for (size_t i = 0; i < all_of_library.size(); ++i) {
    const uint64_t bytes = all_of_library[i].bytes;
    const bool whole = fits_weights(bytes, all);
    const bool rest = !model.tied_embeddings && fits_weights(bytes, all - embedding);
    if (whole || rest) found.push_back(i);
  }
  // Of several, any may be meant, unless they are of one size and were made while loading: then the
  // model was loaded several times.
  const bool equal = std::ranges::all_of(found, [&](size_t i) {
    return all_of_library[i].before_first_pass &&
           all_of_library[i].bytes == all_of_library[found.front()].bytes;
  });
  if (found.size() > 1 && !equal) found.clear();
  return found;
}

// Whether it holds a whole number of tokens, in blocks as engines allocate them.
bool holds_tokens(uint64_t bytes, double per_token, uint64_t block) {
  constexpr double kMostPerToken = 1e12;
  if (per_token < 1 || per_token > kMostPerToken || per_token != std::floor(per_token))
    return false;
  const uint64_t of_block = static_cast<uint64_t>(per_token) * block;
  return bytes >= of_block && bytes % of_block == 0;
}

bool all_at_load(const std::vector<SizedAllocation>& all_of_library,
                 const std::vector<size_t>& rows) {
  return std::ranges::all_of(rows,
                             [&](size_t row) { return all_of_library[row].before_first_pass; });
}

// One allocation for all layers; or one for each layer, or for its keys and its values. If several
// fit, the one that was made before the first pass.
std::vector<size_t> find_cache(const std::vector<SizedAllocation>& all_of_library,
                               const std::vector<size_t>& taken, const llm::ModelSpec& model) {
  constexpr uint64_t kTokensOfOne = 256;
  constexpr uint64_t kTokensOfMany = 16;
  const double per_token = llm::kv_bytes_per_token(model);
  std::map<uint64_t, std::vector<size_t>> by_size;
  for (size_t i = 0; i < all_of_library.size(); ++i) {
    if (std::ranges::find(taken, i) == taken.end()) by_size[all_of_library[i].bytes].push_back(i);
  }
  std::vector<std::vector<size_t>> found;
  const size_t layers = model.layers.size();
  for (const auto& [size, rows] : by_size) {
    const bool per_layer = layers > 1 && (rows.size() == layers || rows.size() == 2 * layers);
    const bool fits = per_layer ? holds_tokens(size * rows.size(), per_token, kTokensOfMany)
                                : rows.size() == 1 && holds_tokens(size, per_token, kTokensOfOne);
    if (fits) found.push_back(rows);
  }
  if (found.size() > 1) {
    std::erase_if(found, [&](const auto& rows) { return !all_at_load(all_of_library, rows); });
  }
  return found.size() == 1 ? found.front() : std::vector<size_t>();
}

}  // namespace

ModelAllocations find_model_allocations(const std::vector<SizedAllocation>& allocations,
                                        const llm::ModelSpec& model) {
  ModelAllocations found;
  found.weights = find_weights(allocations, model);
  found.kv_cache = find_cache(allocations, found.weights, model);
  return found;
}

}  // namespace llmprof::analysis
