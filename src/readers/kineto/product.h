#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/tables.h"

namespace llmprof::readers {

// An operator of PyTorch that multiplies matrices: which of its inputs are A and B. Only the
// innermost operator that launches a kernel counts, so aten::linear may be listed with the
// aten::addmm that it calls.
struct ProductOperator {
  std::string_view name;
  uint8_t a = 0;
  uint8_t b = 1;
  uint8_t output = 0;        // input that states the output's type, or is the output; may lack
  uint8_t most_inputs = 3;   // with more, those of other calls are among them (PyTorch 1.11)
  bool b_by_output = false;  // B is stored by output feature: n rows of k values
  std::string_view its_type = {};  // the output's type if not A's
};

// Null for all other operators.
const ProductOperator* product_operator(std::string_view name);

// An input of an operator, as PyTorch recorded it; texts point into the trace.
struct ProductInput {
  static constexpr size_t kMostDimensions = 8;
  using Numbers = std::array<uint64_t, kMostDimensions>;

  Numbers sizes{};
  Numbers strides{};
  uint8_t rank = 0;         // number of sizes; more than kMostDimensions if unusable
  uint8_t stride_rank = 0;  // number of strides; likewise
  std::string_view type;
  std::string_view constant;  // a scalar's value
};

// An operator's inputs in order; those after the first kMost are left out.
struct ProductArguments {
  static constexpr size_t kMost = 16;
  std::vector<ProductInput> inputs;
  bool has_sizes = false;

  // Null beyond kMost.
  ProductInput* input(size_t index) {
    if (index >= kMost) return nullptr;
    if (index >= inputs.size()) inputs.resize(index + 1);
    return &inputs[index];
  }
};

// What an operator multiplied.
struct KinetoProduct {
  uint64_t m = 0;
  uint64_t n = 0;
  uint64_t k = 0;
  uint64_t batch = 1;
  ElementType type_a{};
  ElementType type_b{};
  ElementType type_output{};
  MatrixLayout layout_a{};
  MatrixLayout layout_b{};

  // An empty tensor is multiplied without a kernel.
  [[nodiscard]] bool is_empty() const { return m == 0 || n == 0 || k == 0 || batch == 0; }
};

// None if the recorded sizes are not those of a product: A's columns differ from B's rows, an
// operand is no tensor, or the numbers are impossibly large.
std::optional<KinetoProduct> product_of(const ProductOperator& multiplies,
                                        const ProductArguments& arguments);

}  // namespace llmprof::readers
