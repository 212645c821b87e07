#include "cpu_llm/matrix_product.h"

#include <cblas.h>

#include <algorithm>
#include <array>

#include "cpu_llm/vector_math.h"

namespace cpu_llm {
namespace {

// Up to this many rows, weights are read once, row by row, without packing: for so few rows, the
// bandwidth of a BLAS matrix product is far below that of the machine.
constexpr size_t kMostGemvRows = 4;

// Large pieces are read fastest; several per worker, so that a slow worker delays nobody.
constexpr size_t kPiecesPerWorker = 4;

// Tiles do not depend on the number of workers, so sums do not either.
constexpr size_t kTileRows = 256;
constexpr size_t kTileColumns = 128;

bool is_gemv(size_t rows) { return rows <= kMostGemvRows; }

// With the number of input rows known to the compiler.
template <size_t Rows>
void gemv(const float* inputs, const Matrix& weights, float* outputs, Workers& workers) {
  const size_t pieces = kPiecesPerWorker * workers.count();
  const size_t piece = (weights.rows + pieces - 1) / pieces;
  workers.share_range(weights.rows, piece, [&](size_t begin, size_t end, size_t) {
    for (size_t output = begin; output < end; ++output) {
      const auto results = dots<Rows>(weights.row(output), inputs, weights.columns);
      for (size_t row = 0; row < Rows; ++row) outputs[row * weights.rows + output] = results[row];
    }
  });
}

using Gemv = void (*)(const float* inputs, const Matrix& weights, float* outputs, Workers& workers);
constexpr std::array<Gemv, kMostGemvRows> kGemvOfRows = {gemv<1>, gemv<2>, gemv<3>, gemv<4>};

void multiply_tile(const float* inputs, size_t rows, const Matrix& weights, size_t begin,
                   size_t end, float* outputs) {
  const auto inner = static_cast<blasint>(weights.columns);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(rows),
              static_cast<blasint>(end - begin), inner, 1, inputs, inner, weights.row(begin), inner,
              0, outputs + begin, static_cast<blasint>(weights.rows));
}

void gemm(const float* inputs, size_t rows, const Matrix& weights, float* outputs,
          Workers& workers) {
  const size_t tiles_of_rows = (rows + kTileRows - 1) / kTileRows;
  const size_t tiles_of_columns = (weights.rows + kTileColumns - 1) / kTileColumns;
  workers.share(tiles_of_rows * tiles_of_columns, [&](size_t tile, size_t) {
    const size_t row = tile / tiles_of_columns * kTileRows;
    const size_t begin = tile % tiles_of_columns * kTileColumns;
    multiply_tile(inputs + row * weights.columns, std::min(kTileRows, rows - row), weights, begin,
                  std::min(begin + kTileColumns, weights.rows), outputs + row * weights.rows);
  });
}

}  // namespace

void leave_threads_to_workers() { openblas_set_num_threads(1); }

void multiply(const float* inputs, size_t rows, const Matrix& weights, float* outputs,
              Workers& workers) {
  if (is_gemv(rows)) {
    kGemvOfRows.at(rows - 1)(inputs, weights, outputs, workers);
  } else {
    gemm(inputs, rows, weights, outputs, workers);
  }
}

void run_product(const ProductName& name, const float* inputs, size_t rows, const Matrix& weights,
                 float* outputs, OperatorLog& log, Workers& workers) {
  log.run(is_gemv(rows) ? name.gemv : name.gemm, product_cost(rows, weights.columns, weights.rows),
          [&] { multiply(inputs, rows, weights, outputs, workers); });
}

}  // namespace cpu_llm
