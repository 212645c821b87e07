#include "analysis/products/products.h"

#include <gtest/gtest.h>

#include "analysis/products/product_calls.h"
#include "testing/staged_trace.h"
#include "trace/append.h"

namespace llmprof::analysis {
namespace {

using profile::Product;

// A trace with the operators that launch its kernels.
class ProductTrace : public TestTrace {
 public:
  // An operator call that states a product.
  void multiply(std::string_view name, Nanoseconds start, Nanoseconds end, uint64_t m, uint64_t n,
                uint64_t k, ElementType type = ElementType::bf16) {
    operation(name, start, end);
    trace::add_row(table().products, start, end, thread(), uint64_t{0}, m, n, k, uint64_t{1}, type,
                   type, type, MatrixLayout::plain, MatrixLayout::transposed);
  }
  [[nodiscard]] ProductCalls calls() {
    freeze();
    return find_product_calls(trace(), DescribedNames(trace(), rules()));
  }
  [[nodiscard]] Products products(const UseOfPeaks& use = {}) {
    freeze();
    return find_products(trace(), DescribedNames(trace(), rules()), stages(), use);
  }
};

UseOfPeaks peaks() {
  llm::GpuSpec gpu;
  gpu.name = "test";
  gpu.memory_bandwidth = 4e12;
  gpu.tensor_bf16 = 1e15;
  gpu.fp32 = 5e13;
  UseOfPeaks use;
  use.gpu = gpu;
  return use;
}

TEST(ProductCalls, HaveTheKernelsOfTheInnermostOperator) {
  ProductTrace trace;
  trace.operation("aten::linear", 0, 100);
  trace.multiply("aten::addmm", 10, 90, 8, 32, 16);
  trace.operation("aten::copy_", 20, 30);
  trace.launched("cast", 22, 1000, 1005);  // of a copy inside
  trace.launched("gemm", 40, 1010, 1030);
  trace.launched("add", 50, 1030, 1034);  // adds up its parts
  trace.launched("mul", 95, 1040, 1050);  // of the outer operator
  const ProductCalls found = trace.calls();
  ASSERT_EQ(found.calls.size(), 1U);
  EXPECT_EQ(found.calls[0].kernels, 2U);
  EXPECT_EQ(found.calls[0].time, 24);
  EXPECT_EQ(trace.trace().strings[trace.trace().kernels.name[found.calls[0].kernel]], "gemm");
  EXPECT_TRUE(found.unknown.empty());
}

TEST(ProductCalls, NameTheProductNotItsLongerReduction) {
  ProductTrace trace;
  trace.multiply("aten::mm", 0, 90, 8, 32, 16);
  trace.launched("add", 10, 1000, 1090);
  trace.launched("gemm", 20, 1100, 1105);
  const ProductCalls found = trace.calls();
  ASSERT_EQ(found.calls.size(), 1U);
  EXPECT_EQ(trace.trace().strings[trace.trace().kernels.name[found.calls[0].kernel]], "gemm");
}

TEST(ProductCalls, SayWhyAProductIsUnknown) {
  ProductTrace trace;
  trace.operation("custom::gemm", 0, 100);
  trace.launched("gemm", 10, 1000, 1010);
  trace.launched("gemm2", 200, 1100, 1110);
  const ProductCalls found = trace.calls();
  EXPECT_TRUE(found.calls.empty());
  ASSERT_EQ(found.unknown.size(), 2U);
  EXPECT_EQ(found.operator_names[found.unknown[0].name], "custom::gemm");
  EXPECT_EQ(found.unknown[0].why, WhyNoShape::no_sizes);
  EXPECT_EQ(found.operator_names[found.unknown[1].name], "");
  EXPECT_EQ(found.unknown[1].why, WhyNoShape::no_operator);
}

TEST(Products, HaveTheirWorkAndRates) {
  ProductTrace trace;
  for (const Nanoseconds start : {0, 100}) {
    trace.multiply("aten::mm", start, start + 50, 1, 4096, 8192);
    trace.launched("gemm", start + 10, 100'000 + start * 1000, 100'000 + start * 1000 + 20'000);
  }
  const Products found = trace.products(peaks());
  ASSERT_EQ(found.rows.size(), 1U);
  const Product& row = found.rows[0];
  EXPECT_EQ(row.calls, 2U);
  EXPECT_EQ(row.kernels, 2U);
  EXPECT_FALSE(row.stage);
  EXPECT_DOUBLE_EQ(row.total.value, 0.04);
  EXPECT_DOUBLE_EQ(row.mean.value, 0.02);
  EXPECT_DOUBLE_EQ(row.flops.value, 2.0 * 4096 * 8192);
  const double bytes = 2.0 * (8192 + 4096 * 8192 + 4096);
  EXPECT_DOUBLE_EQ(row.bytes->value, bytes);
  EXPECT_DOUBLE_EQ(row.flops_per_s->value, 2.0 * 4096 * 8192 / 20e-6);
  EXPECT_DOUBLE_EQ(row.bytes_per_s->value, bytes / 20e-6);
  EXPECT_EQ(row.floor_bound, profile::Bound::memory);
  EXPECT_DOUBLE_EQ(row.floor->value, bytes / 4e12 * 1e3);
  EXPECT_DOUBLE_EQ(row.floor_share->value, bytes / 4e12 / 20e-6);
  EXPECT_NEAR(row.above_floor->value, 0.04 - 2 * row.floor->value, 1e-12);
  EXPECT_EQ(row.peak_name, "bf16 dense");
  EXPECT_EQ(row.source, profile::ProductSource::framework_dimensions);
}

TEST(Products, LargeOnesAreBoundByCompute) {
  ProductTrace trace;
  trace.multiply("aten::mm", 0, 50, 8192, 8192, 8192);
  trace.launched("gemm", 10, 1'000, 2'001'000);
  const Product row = trace.products(peaks()).rows.at(0);
  EXPECT_EQ(row.floor_bound, profile::Bound::compute);
  EXPECT_DOUBLE_EQ(row.floor->value, 2.0 * 8192 * 8192 * 8192 / 1e15 * 1e3);
}

TEST(Products, WithoutPeaksHaveNoFloor) {
  ProductTrace trace;
  trace.multiply("aten::mm", 0, 50, 1, 64, 64);
  trace.launched("gemm", 10, 1000, 2000);
  const Product row = trace.products().rows.at(0);
  EXPECT_FALSE(row.floor || row.floor_share || row.above_floor || row.peak_flops);
  EXPECT_TRUE(row.bytes);
}

TEST(Products, OfUnknownTypesHaveNoBytes) {
  ProductTrace trace;
  trace.multiply("aten::mm", 0, 50, 1, 64, 64, ElementType::unknown);
  trace.launched("gemm", 10, 1000, 2000);
  const Product row = trace.products(peaks()).rows.at(0);
  EXPECT_FALSE(row.bytes || row.bytes_per_s || row.floor);
  EXPECT_TRUE(row.flops_per_s);
}

TEST(Products, AreApartByStageWithoutWarmUp) {
  ProductTrace trace;
  const uint32_t decode = trace.stage("decode");
  for (int i = 0; i < 3; ++i) {
    const Nanoseconds start = i * 10'000;
    trace.instance(decode, start, start + 9'000).warmup = i == 0;
    trace.multiply("aten::mm", start + 10, start + 60, 1, 64, 64);
    trace.launched("gemm", start + 20, start + 1000, start + 2000);
  }
  const Products found = trace.products();
  ASSERT_EQ(found.rows.size(), 2U);
  EXPECT_EQ(found.rows[0].stage, "decode");
  EXPECT_EQ(found.rows[0].calls, 2U);
  EXPECT_FALSE(found.rows[1].stage);
  EXPECT_EQ(found.rows[1].calls, 1U);
}

TEST(Products, FoundAreSharesOfAllProducts) {
  ProductTrace trace;
  trace.multiply("aten::mm", 0, 50, 1, 64, 64);
  trace.launched("gemm", 10, 1000, 1300);
  trace.launched("gemm2", 60, 2000, 2100);
  trace.launched("norm", 70, 3000, 4000);  // no product
  const Products found = trace.products();
  EXPECT_DOUBLE_EQ(found.found.time.value, 0.0004);
  EXPECT_DOUBLE_EQ(found.found.with_shape_share->value, 0.75);
  EXPECT_DOUBLE_EQ(found.found.with_role_share->value, 0);
  EXPECT_EQ(found.found.kernels, 2U);
  EXPECT_EQ(found.found.kernels_without_shape, 1U);
  ASSERT_EQ(found.found.without_shape.size(), 1U);
  EXPECT_EQ(found.found.without_shape[0].kernel_name, "gemm2");
  ASSERT_EQ(found.found.sources.size(), 1U);
  EXPECT_EQ(found.found.sources[0].calls, 1U);
}

TEST(Products, OfATraceWithoutAnyAreNone) {
  ProductTrace trace;
  trace.launched("norm", 70, 3000, 4000);
  const Products found = trace.products(peaks());
  EXPECT_TRUE(found.rows.empty() && found.found.sources.empty());
  EXPECT_FALSE(found.found.with_shape_share);
}

}  // namespace
}  // namespace llmprof::analysis
