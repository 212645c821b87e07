#include "readers/kineto/product.h"

#include <algorithm>
#include <utility>

#include "readers/kineto/token.h"
#include "readers/shared/element_type_words.h"

namespace llmprof::readers {
namespace {

constexpr uint64_t kMostMatrixElements = uint64_t{1} << 48U;  // of a matrix, far beyond any memory

// Names are those of the trace, which do not show the overload (mm.out, addmm.dtype).
constexpr ProductOperator kProductOperators[] = {
    {.name = "aten::mm", .output = 2},
    {.name = "aten::bmm", .output = 2},
    {.name = "aten::mv", .output = 2},
    {.name = "aten::addmm", .a = 1, .b = 2, .output = 5, .most_inputs = 7},
    {.name = "aten::addmm_", .a = 1, .b = 2, .most_inputs = 5},
    {.name = "aten::addmv", .a = 1, .b = 2, .output = 5, .most_inputs = 6},
    {.name = "aten::addmv_", .a = 1, .b = 2, .most_inputs = 5},
    {.name = "aten::baddbmm", .a = 1, .b = 2, .output = 5, .most_inputs = 7},
    {.name = "aten::baddbmm_", .a = 1, .b = 2, .most_inputs = 5},
    {.name = "aten::linear", .output = 3, .most_inputs = 4, .b_by_output = true},
    {.name = "aten::matmul", .output = 2},
    {.name = "aten::_int_mm", .output = 2, .its_type = "int"},
    {.name = "aten::_scaled_mm", .output = 6, .most_inputs = 9},
    {.name = "aten::_addmm_activation", .a = 1, .b = 2, .output = 6, .most_inputs = 7},
    {.name = "aten::_weight_int8pack_mm", .output = 3, .most_inputs = 4, .b_by_output = true},
};

// One operand, with its leading dimensions apart.
struct Operand {
  uint64_t rows = 1;
  uint64_t columns = 1;
  ProductInput::Numbers leading{};
  size_t leading_count = 0;
  MatrixLayout layout = MatrixLayout::unknown;
};

MatrixLayout matrix_layout(const ProductInput& input) {
  if (input.rank < 2) return MatrixLayout::plain;
  if (input.stride_rank != input.rank) return MatrixLayout::unknown;
  const size_t last = input.rank - 1U;
  const bool one_row_or_column = input.sizes[last] <= 1 || input.sizes[last - 1] <= 1;
  if (one_row_or_column || input.strides[last] == 1) return MatrixLayout::plain;
  return input.strides[last - 1] == 1 ? MatrixLayout::transposed : MatrixLayout::strided;
}

MatrixLayout transposed(MatrixLayout layout) {
  if (layout == MatrixLayout::plain) return MatrixLayout::transposed;
  return layout == MatrixLayout::transposed ? MatrixLayout::plain : layout;
}

// A vector is A's row or B's column.
std::optional<Operand> operand_of(const ProductInput& input, bool is_a) {
  if (input.rank == 0 || input.rank > ProductInput::kMostDimensions) return std::nullopt;
  Operand operand;
  operand.layout = matrix_layout(input);
  const uint64_t last = input.sizes[input.rank - 1U];
  if (input.rank == 1) {
    (is_a ? operand.columns : operand.rows) = last;
    return operand;
  }
  operand.columns = last;
  operand.rows = input.sizes[input.rank - 2U];
  operand.leading_count = input.rank - 2U;
  std::copy_n(input.sizes.begin(), operand.leading_count, operand.leading.begin());
  return operand;
}

// False if the product is larger than any tensor.
bool multiply(uint64_t& product, uint64_t factor) {
  if (factor != 0 && product > kMostMatrixElements / factor) return false;
  product *= factor;
  return true;
}

// The number of products, by the rules of broadcasting: dimensions align at their end, and 1 fits
// any. None if they do not fit.
std::optional<uint64_t> batch_of(const Operand& a, const Operand& b) {
  uint64_t batch = 1;
  for (size_t i = 1; i <= std::max(a.leading_count, b.leading_count); ++i) {
    const auto size = [&](const Operand& of) {
      return i <= of.leading_count ? of.leading[of.leading_count - i] : 1;
    };
    const uint64_t of_a = size(a);
    const uint64_t of_b = size(b);
    if (of_a != of_b && of_a != 1 && of_b != 1) return std::nullopt;
    if (!multiply(batch, of_a == 1 ? of_b : of_a)) return std::nullopt;
  }
  return batch;
}

bool is_packed(ElementType type) { return type == ElementType::f4_e2m1; }

const ProductInput* input_at(const ProductArguments& arguments, size_t index) {
  return index < arguments.inputs.size() ? &arguments.inputs[index] : nullptr;
}

// An output tensor is the last input of an operator that writes into one.
ElementType output_type(const ProductOperator& multiplies, const ProductArguments& arguments,
                        ElementType type_a) {
  const size_t last = arguments.inputs.size() - 1;
  if (multiplies.output == 0) return type_a;
  if (last > std::max(multiplies.a, multiplies.b) && last >= multiplies.output &&
      arguments.inputs[last].rank > 0) {
    return named_element_type(arguments.inputs[last].type);
  }
  if (const ProductInput* stated = input_at(arguments, multiplies.output)) {
    if (const auto number = token_unsigned(stated->constant)) {
      return numbered_element_type(*number);
    }
  }
  return multiplies.its_type.empty() ? type_a : named_element_type(multiplies.its_type);
}

// Whether A, B and the output are of a possible size.
bool is_possible(const KinetoProduct& product) {
  for (const auto& [rows, columns] :
       {std::pair{product.m, product.k}, {product.k, product.n}, {product.m, product.n}}) {
    uint64_t elements = product.batch;
    if (!multiply(elements, rows) || !multiply(elements, columns)) return false;
  }
  return true;
}

}  // namespace

const ProductOperator* product_operator(std::string_view name) {
  // Runs per operator: sizes usually differ.
  const auto* found = std::ranges::find_if(kProductOperators, [&](const ProductOperator& known) {
    return known.name.size() == name.size() && known.name == name;
  });
  return found == std::end(kProductOperators) ? nullptr : found;
}

std::optional<KinetoProduct> product_of(const ProductOperator& multiplies,
                                        const ProductArguments& arguments) {
  if (arguments.inputs.size() > multiplies.most_inputs) return std::nullopt;
  const ProductInput* input_a = input_at(arguments, multiplies.a);
  const ProductInput* input_b = input_at(arguments, multiplies.b);
  if (input_a == nullptr || input_b == nullptr) return std::nullopt;
  const auto a = operand_of(*input_a, true);
  auto b = operand_of(*input_b, false);
  if (!a || !b) return std::nullopt;
  if (multiplies.b_by_output && input_b->rank > 1) {
    std::swap(b->rows, b->columns);
    b->layout = transposed(b->layout);
  }
  if (a->columns != b->rows) return std::nullopt;
  const auto batch = batch_of(*a, *b);
  if (!batch) return std::nullopt;
  KinetoProduct product;
  product.m = a->rows;
  product.n = b->columns;
  product.k = a->columns;
  product.batch = *batch;
  // One B for all of A's matrices: they are rows of one.
  if (b->leading_count == 0 && a->leading_count > 0) {
    if (!multiply(product.m, std::exchange(product.batch, 1))) return std::nullopt;
  }
  product.type_a = named_element_type(input_a->type);
  product.type_b = named_element_type(input_b->type);
  product.type_output = output_type(multiplies, arguments, product.type_a);
  product.layout_a = a->layout;
  product.layout_b = b->layout;
  if (is_packed(product.type_a) && is_packed(product.type_b)) product.k *= 2;  // two in a byte
  return is_possible(product) ? std::optional(product) : std::nullopt;
}

}  // namespace llmprof::readers
