#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/element_type.h"
#include "base/matrix_layout.h"
#include "profile/kernels.h"
#include "profile/quantity.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

// What a product computes in a transformer.
enum class ProductRole : uint8_t {
  unknown,
  qkv,
  attention_scores,
  attention_values,
  o,
  router,
  gate_up,
  down,
  experts_gate_up,
  experts_down,
  lm_head,
};
constexpr auto words_of(ProductRole /*of*/) {
  using enum ProductRole;
  return vocabulary<ProductRole>({
      {unknown, "neither the model's dimensions nor the order of products tell"},
      {qkv, "queries, keys and values, together or one of them"},
      {attention_scores, "queries times keys"},
      {attention_values, "attention weights times values"},
      {o, "the output of attention"},
      {router, "scores of the experts"},
      {gate_up, "gate and up of the feed-forward part, together or one of them"},
      {down, "back to the hidden size"},
      {experts_gate_up, "gate_up of experts"},
      {experts_down, "down of experts"},
      {lm_head, "scores of the vocabulary"},
  });
}

// How the dimensions of a product are known.
enum class ProductSource : uint8_t { framework_dimensions };
constexpr auto words_of(ProductSource /*of*/) {
  return vocabulary<ProductSource>({
      {ProductSource::framework_dimensions,
       "sizes of the inputs of PyTorch's operator (record_shapes=True)"},
  });
}

// How the role of a product is known.
enum class RoleSource : uint8_t { none, model, order };
constexpr auto words_of(RoleSource /*of*/) {
  using enum RoleSource;
  return vocabulary<RoleSource>({
      {none, "the role is unknown"},
      {model, "the dimensions of the model (--model)"},
      {order, "the place between attentions, and dimensions that follow from each other"},
  });
}

struct Product {
  std::optional<std::string> stage;
  ProductRole role{};
  RoleSource role_source{};
  uint64_t m = 0;
  uint64_t n = 0;
  uint64_t k = 0;
  uint64_t batch = 1;
  ElementType type_a{};
  ElementType type_b{};
  ElementType type_output{};
  MatrixLayout layout_a{};
  MatrixLayout layout_b{};
  std::string kernel_name;
  std::string short_name;
  std::optional<std::string> library;
  std::string device;
  uint64_t calls = 0;
  uint64_t kernels = 0;
  Milliseconds total;
  Milliseconds mean;
  std::optional<Share> share;
  Flops flops;
  std::optional<Bytes> bytes;
  std::optional<FlopsPerByte> flops_per_byte;
  std::optional<FlopsPerSecond> flops_per_s;
  std::optional<BytesPerSecond> bytes_per_s;
  std::optional<FlopsPerSecond> peak_flops;
  std::optional<std::string> peak_name;
  std::optional<Milliseconds> floor;
  Bound floor_bound = Bound::unknown;
  std::optional<Share> floor_share;
  std::optional<Milliseconds> above_floor;
  ProductSource source{};

  void fields(auto& field) const {
    field("stage", stage, "stage of the calls; null outside stages and in warm-up");
    field("role", role, "what it computes in the model");
    field("role_source", role_source, "how the role is known");
    field("m", m, "rows of A and of the result: tokens, for a product with weights");
    field("n", n, "columns of B and of the result: output features");
    field("k", k, "columns of A, rows of B: input features");
    field("batch", batch, "products of these sizes in one call");
    field("type_a", type_a, "element type of A");
    field("type_b", type_b, "element type of B");
    field("type_output", type_output, "element type of the result");
    field("layout_a", layout_a, "how A, m rows of k values, lies in memory");
    field("layout_b", layout_b, "how B, k rows of n values, lies in memory");
    field("kernel_name", kernel_name,
          "full name of the kernel that multiplies; of several, the longest");
    field("short_name", short_name, "the kernel's short name");
    field("library", library, "the kernel's library, if its name shows it");
    field("device", device, "GPU: \"cuda:0\"");
    field("calls", calls, "operator calls that ran kernels; each replay of a CUDA graph counts");
    field("kernels", kernels,
          "kernels of all calls: a call may also add up parts (split-K) or convert an input");
    field("total_ms", total, "time of all these kernels");
    field("mean_ms", mean, "total_ms over calls");
    field("share", share, "total_ms over products_found.time_ms");
    field("flops", flops, "FLOPs of one call: 2 m n k batch");
    field("bytes", bytes,
          "bytes of A, B and the result of one call, each counted once; null if a type is unknown");
    field("flops_per_byte", flops_per_byte, "flops over bytes");
    field("flops_per_s", flops_per_s, "flops over mean_ms");
    field("bytes_per_s", bytes_per_s,
          "bytes over mean_ms: above the peak bandwidth if operands were in a cache");
    field("peak_flops_per_s", peak_flops,
          "dense peak of the GPU for these types; null if the GPU or the types are unknown");
    field("peak_name", peak_name, "what that peak is of");
    field("floor_ms", floor,
          "least time of one call at the GPU's peaks: flops at peak_flops_per_s, or bytes at the "
          "peak memory bandwidth");
    field("floor_bound", floor_bound, "which of the two sets floor_ms");
    field("floor_share", floor_share,
          "floor_ms over mean_ms: 1 is the roof; above 1 if operands were in a cache");
    field("above_floor_ms", above_floor,
          "total_ms less the floors of all calls; 0 if that is negative");
    field("source", source, "how the dimensions are known");
  }
};

// Why the dimensions of a kernel that multiplies matrices are unknown.
enum class WhyNoShape : uint8_t { no_operator, replayed, no_sizes };
constexpr auto words_of(WhyNoShape /*of*/) {
  using enum WhyNoShape;
  return vocabulary<WhyNoShape>({
      {no_operator, "the capture has no operator for the kernel"},
      {replayed, "replayed by a CUDA graph whose capture was not recorded"},
      {no_sizes,
       "the sizes of the operator's inputs were not recorded, or llmprof does not know the "
       "operator"},
  });
}

struct ProductWithoutShape {
  std::string kernel_name;
  std::string short_name;
  std::optional<std::string> operator_name;
  WhyNoShape why{};
  uint64_t kernels = 0;
  Milliseconds total;

  void fields(auto& field) const {
    field("kernel_name", kernel_name, "full name of the kernel");
    field("short_name", short_name, "the kernel's short name");
    field("operator", operator_name, "innermost operator at its launch; null if there is none");
    field("why", why, "why the dimensions are unknown");
    field("kernels", kernels, "number of kernels");
    field("total_ms", total, "their time");
  }
};

struct ProductsOfSource {
  ProductSource source{};
  uint64_t calls = 0;
  Milliseconds total;
  std::optional<Share> share;

  void fields(auto& field) const {
    field("source", source, "how the dimensions are known");
    field("calls", calls, "calls with dimensions from this source");
    field("total_ms", total, "their time");
    field("share", share, "total_ms over the time of all matrix products");
  }
};

struct ProductsFound {
  Milliseconds time;
  Milliseconds with_shape;
  std::optional<Share> with_shape_share;
  std::optional<Share> with_role_share;
  uint64_t kernels = 0;
  uint64_t kernels_without_shape = 0;
  std::vector<ProductsOfSource> sources;
  std::vector<ProductWithoutShape> without_shape;
  bool of_other_run = false;

  void fields(auto& field) const {
    field("time_ms", time,
          "time of all matrix products: kernels of class gemm or gemv, and kernels of products");
    field("with_shape_ms", with_shape, "time of those whose dimensions are known");
    field("with_shape_share", with_shape_share, "with_shape_ms over time_ms");
    field("with_role_share", with_role_share, "time of products whose role is known, over time_ms");
    field("kernels", kernels, "kernels in time_ms");
    field("kernels_without_shape", kernels_without_shape,
          "kernels of class gemm or gemv without dimensions");
    field("sources", sources, "how the dimensions are known");
    field("without_shape", without_shape,
          "kernels of unknown dimensions by name, operator and cause, longest time first");
    field("of_other_run", of_other_run,
          "true if products are those of the run with torch.profiler, not of the timeline: their "
          "stages are unknown");
  }
};

}  // namespace llmprof::profile
