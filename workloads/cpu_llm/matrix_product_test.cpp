#include "cpu_llm/matrix_product.h"

#include <gtest/gtest.h>

#include "cpu_llm/random_numbers.h"

namespace cpu_llm {
namespace {

FloatBuffer random_floats(size_t size, uint64_t stream) {
  FloatBuffer floats(size);
  const RandomNumbers numbers(11, stream);
  for (size_t i = 0; i < size; ++i) floats.data()[i] = numbers.symmetric(i);
  return floats;
}

// Row by row, in double precision.
void expect_product(size_t rows, size_t inputs, size_t outputs) {
  Workers workers(2);
  const FloatBuffer left = random_floats(rows * inputs, 1);
  const Matrix weights = {outputs, inputs, random_floats(outputs * inputs, 2)};
  FloatBuffer product(rows * outputs);
  multiply(left.data(), rows, weights, product.data(), workers);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t output = 0; output < outputs; ++output) {
      double expected = 0;
      for (size_t i = 0; i < inputs; ++i) {
        expected += static_cast<double>(left.data()[row * inputs + i]) *
                    static_cast<double>(weights.row(output)[i]);
      }
      ASSERT_NEAR(static_cast<double>(product.data()[row * outputs + output]), expected, 1e-4)
          << rows << " rows, output " << output << " of row " << row;
    }
  }
}

TEST(MatrixProduct, OfFewRowsAndMany) {
  leave_threads_to_workers();
  for (const size_t rows : {1U, 2U, 3U, 4U, 5U, 64U}) expect_product(rows, 100, 37);
}

// More than one tile in both dimensions, and not a whole number of tiles.
TEST(MatrixProduct, OfManyTiles) { expect_product(300, 33, 521); }

TEST(MatrixProduct, OfAMatrixThatIsSharedOutInPieces) { expect_product(1, 1500, 300); }

TEST(MatrixProduct, OfOneElement) { expect_product(1, 1, 1); }

}  // namespace
}  // namespace cpu_llm
