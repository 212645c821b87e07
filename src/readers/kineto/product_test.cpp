#include "readers/kineto/product.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "readers/shared/element_type_words.h"
#include "testing/readers/read_kineto.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::read_kineto_or_fail;
using testing::read_kineto_text;

std::string operator_text(std::string_view name, std::string_view arguments) {
  return fmt::format(
      R"({{"traceEvents":[{{"ph":"X","cat":"cpu_op","name":"{}","pid":9,"tid":8,"ts":10,"dur":2,"args":{{"External id":5{}}}}}]}})",
      name, arguments);
}

trace::Trace read_product(std::string_view name, std::string_view arguments) {
  return read_kineto_or_fail(operator_text(name, arguments));
}

// The sizes of the only product: {m, n, k, batch}.
using Sizes = std::array<uint64_t, 4>;
Sizes sizes_of(const trace::Trace& trace) {
  const trace::ProductTable& rows = trace.products;
  if (rows.size() != 1) return {};
  return {rows.m[0], rows.n[0], rows.k[0], rows.batch[0]};
}
Sizes sizes_of(std::string_view name, std::string_view sizes) {
  return sizes_of(read_product(name, fmt::format(R"(,"Input Dims":{})", sizes)));
}

TEST(KinetoProduct, IsReadFromAnOperator) {
  const trace::Trace trace = read_product(
      "aten::mm",
      R"(,"Concrete Inputs":["",""],"Input type":["c10::BFloat16","c10::BFloat16"],"Input Strides":[[4096,1],[1,4096]],"Input Dims":[[777,4096],[4096,6144]],"Ev Idx":47)");
  const trace::ProductTable& rows = trace.products;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.start[0], 10'000);
  EXPECT_EQ(rows.end[0], 12'000);
  EXPECT_EQ(rows.external_id[0], 5U);
  EXPECT_EQ(rows.thread[0], trace.operators.thread.at(0));
  EXPECT_EQ(sizes_of(trace), (Sizes{777, 6144, 4096, 1}));
  EXPECT_EQ(rows.type_a[0], ElementType::bf16);
  EXPECT_EQ(rows.type_b[0], ElementType::bf16);
  EXPECT_EQ(rows.type_output[0], ElementType::bf16);
  EXPECT_EQ(rows.layout_a[0], MatrixLayout::plain);
  EXPECT_EQ(rows.layout_b[0], MatrixLayout::transposed);
  EXPECT_EQ(count_of(trace, "kineto_bad_products"), 0U);
}

TEST(KinetoProduct, OfEachOperator) {
  EXPECT_EQ(sizes_of("aten::addmm", "[[640],[888,2880],[2880,640],[],[]]"),
            (Sizes{888, 640, 2880, 1}));
  EXPECT_EQ(sizes_of("aten::bmm", "[[16,300,64],[16,64,299]]"), (Sizes{300, 299, 64, 16}));
  EXPECT_EQ(sizes_of("aten::baddbmm", "[[16,300,299],[16,300,64],[16,64,299],[],[]]"),
            (Sizes{300, 299, 64, 16}));
  EXPECT_EQ(sizes_of("aten::mv", "[[300,64],[64]]"), (Sizes{300, 1, 64, 1}));
  EXPECT_EQ(sizes_of("aten::addmv", "[[300],[300,64],[64],[],[]]"), (Sizes{300, 1, 64, 1}));
  EXPECT_EQ(sizes_of("aten::linear", "[[1,777,4096],[6144,4096],[]]"), (Sizes{777, 6144, 4096, 1}));
  EXPECT_EQ(sizes_of("aten::_scaled_mm", "[[8,4096],[4096,512],[],[],[],[],[],[]]"),
            (Sizes{8, 512, 4096, 1}));
}

TEST(KinetoProduct, OfMatmulFollowsBroadcasting) {
  EXPECT_EQ(sizes_of("aten::matmul", "[[2,3,5],[5,7]]"), (Sizes{6, 7, 5, 1}));
  EXPECT_EQ(sizes_of("aten::matmul", "[[2,3,4,5],[2,3,5,7]]"), (Sizes{4, 7, 5, 6}));
  EXPECT_EQ(sizes_of("aten::matmul", "[[2,1,4,5],[3,5,7]]"), (Sizes{4, 7, 5, 6}));
  EXPECT_EQ(sizes_of("aten::matmul", "[[5],[5,7]]"), (Sizes{1, 7, 5, 1}));
  EXPECT_EQ(sizes_of("aten::matmul", "[[4,5],[5]]"), (Sizes{4, 1, 5, 1}));
  EXPECT_EQ(sizes_of("aten::matmul", "[[5],[5]]"), (Sizes{1, 1, 5, 1}));
}

TEST(KinetoProduct, ReadsTheTypeOfTheOutput) {
  const auto type = [](std::string_view name, std::string_view arguments) {
    const trace::Trace trace = read_product(name, arguments);
    return trace.products.size() == 1 ? trace.products.type_output[0] : ElementType::unknown;
  };
  // 15 is bf16.
  EXPECT_EQ(
      type(
          "aten::_scaled_mm",
          R"(,"Concrete Inputs":["","","","","","","15","True"],"Input type":["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"],"Input Dims":[[8,64],[64,32],[],[],[],[],[],[]])"),
      ElementType::bf16);
  EXPECT_EQ(
      type(
          "aten::mm",
          R"(,"Input type":["c10::Half","c10::Half","float"],"Input Dims":[[8,64],[64,32],[8,32]])"),
      ElementType::f32);
  EXPECT_EQ(type("aten::_int_mm",
                 R"(,"Input type":["signed char","signed char"],"Input Dims":[[8,64],[64,32]])"),
            ElementType::i32);
  EXPECT_EQ(
      type(
          "aten::addmm",
          R"(,"Concrete Inputs":["","","","1","1"],"Input type":["c10::Half","c10::Half","c10::Half","Scalar","Scalar"],"Input Dims":[[32],[8,64],[64,32],[],[]])"),
      ElementType::f16);
}

TEST(KinetoProduct, TwoElementsOfFourBitsShareAByte) {
  const trace::Trace trace = read_product(
      "aten::_scaled_mm",
      R"(,"Input type":["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2"],"Input Dims":[[8,64],[64,32]])");
  EXPECT_EQ(sizes_of(trace), (Sizes{8, 32, 128, 1}));
}

TEST(KinetoProduct, ReadsLayoutsFromStrides) {
  const auto layouts = [](std::string_view name, std::string_view sizes, std::string_view strides) {
    const trace::Trace trace =
        read_product(name, fmt::format(R"(,"Input Dims":{},"Input Strides":{})", sizes, strides));
    return std::pair(trace.products.layout_a.at(0), trace.products.layout_b.at(0));
  };
  using enum MatrixLayout;
  EXPECT_EQ(layouts("aten::mm", "[[8,4],[4,2]]", "[[1,8],[2,1]]"), std::pair(transposed, plain));
  EXPECT_EQ(layouts("aten::mm", "[[8,4],[4,2]]", "[[8,2],[2,1]]"), std::pair(strided, plain));
  // One row is contiguous, however far apart rows would be.
  EXPECT_EQ(layouts("aten::mm", "[[1,4],[4,2]]", "[[1,1],[1,4]]"), std::pair(plain, transposed));
  // The weight of a linear layer has a row for each output.
  EXPECT_EQ(layouts("aten::linear", "[[8,4],[2,4]]", "[[4,1],[4,1]]"),
            std::pair(plain, transposed));
  EXPECT_EQ(layouts("aten::mm", "[[8,4],[4,2]]", "[]"), std::pair(unknown, unknown));
}

TEST(KinetoProduct, WithoutSizesIsNone) {
  const trace::Trace trace = read_product("aten::mm", R"(,"Ev Idx":3)");
  EXPECT_EQ(trace.products.size(), 0U);
  EXPECT_EQ(trace.operators.size(), 1U);
  EXPECT_EQ(count_of(trace, "kineto_bad_products"), 0U);
}

TEST(KinetoProduct, OfAnEmptyTensorIsNone) {
  const trace::Trace trace = read_product("aten::mm", R"(,"Input Dims":[[0,4],[4,2]])");
  EXPECT_EQ(trace.products.size(), 0U);
  EXPECT_EQ(count_of(trace, "kineto_bad_products"), 0U);
}

TEST(KinetoProduct, SizesThatDoNotFitAreCounted) {
  for (const std::string_view sizes :
       {"[[8,4],[5,2]]", "[[8,4]]", "[]", "[[],[]]", "[[8,4],4]", "[[8,4],[[4,2]]]",
        "[[8,-4],[-4,2]]", "[[8,4.5],[4,2]]", "[[99999999999,99999999999],[99999999999,2]]",
        "[[1,1,1,1,1,1,1,1,1],[1,1]]", "[[8,4],[4,2],[8,2],[2]]", "7", "null"}) {
    const trace::Trace trace = read_product("aten::mm", fmt::format(R"(,"Input Dims":{})", sizes));
    EXPECT_EQ(trace.products.size(), 0U) << sizes;
    EXPECT_EQ(trace.operators.size(), 1U) << sizes;
    EXPECT_EQ(count_of(trace, "kineto_bad_products"), 1U) << sizes;
  }
  EXPECT_EQ(sizes_of("aten::bmm", "[[2,8,4],[3,4,2]]"), Sizes{});
}

TEST(KinetoProduct, OtherOperatorsAreNone) {
  for (const std::string_view name : {"aten::add", "aten::mm_", "custom::mm", "aten::m"}) {
    EXPECT_EQ(sizes_of(name, "[[8,4],[4,2]]"), Sizes{}) << name;
  }
}

TEST(KinetoProduct, ATextMayEndAnywhere) {
  const std::string text = operator_text(
      "aten::mm",
      R"(,"Concrete Inputs":["",""],"Input type":["float","float"],"Input Strides":[[4,1],[2,1]],"Input Dims":[[8,4],[4,2]])");
  for (size_t length = 16; length < text.size(); ++length) {
    const auto trace = read_kineto_text(text.substr(0, length));
    EXPECT_LE(trace ? trace->products.size() : 0, 1U) << length;
  }
}

TEST(ElementTypeWords, OfPyTorchAndNumbers) {
  EXPECT_EQ(named_element_type("c10::BFloat16"), ElementType::bf16);
  EXPECT_EQ(named_element_type("float"), ElementType::f32);
  EXPECT_EQ(named_element_type("c10::Float8_e5m2"), ElementType::f8_e5m2);
  EXPECT_EQ(named_element_type("Scalar"), ElementType::unknown);
  EXPECT_EQ(numbered_element_type(24), ElementType::f8_e4m3);
  EXPECT_EQ(numbered_element_type(99), ElementType::unknown);
  EXPECT_EQ(bytes_per_element(ElementType::f4_e2m1), 0.5);
  EXPECT_EQ(bytes_per_element(ElementType::complex128), 16);
  EXPECT_EQ(bytes_per_element(ElementType::u8), 1);
  EXPECT_EQ(bytes_per_element(ElementType::boolean), 1);
  EXPECT_EQ(bytes_per_element(ElementType::unknown), 0);
}

}  // namespace
}  // namespace llmprof::readers
