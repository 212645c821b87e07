// The inner loops that determine how fast a capture is read.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "analysis/naming/classes.h"
#include "base/csv.h"
#include "base/text.h"
#include "trace/interner.h"
#include "trace/tables.h"

namespace llmprof {
namespace {

void csv_rows(benchmark::State& state) {
  std::string text;
  for (int row = 0; row < 1000; ++row) {
    text += "\"12\",\"void kernel<(int)4, float>(T1 *, int)\",123456.789,,\"1,234.5\",7\n";
  }
  std::vector<std::string_view> fields;
  for (auto _ : state) {
    CsvRows rows(text);
    while (rows.next(fields)) benchmark::DoNotOptimize(fields.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(text.size()) * state.iterations());
}
BENCHMARK(csv_rows);

void decimals(benchmark::State& state) {
  const std::vector<std::string> texts = {"0", "123456", "3.17", "98.765432", "1e-7", "12345.6789"};
  for (auto _ : state) {
    for (const std::string& text : texts) benchmark::DoNotOptimize(parse_decimal(text));
  }
  state.SetItemsProcessed(static_cast<int64_t>(texts.size()) * state.iterations());
}
BENCHMARK(decimals);

void interned_shapes(benchmark::State& state) {
  trace::Interner<trace::ShapeId, trace::LaunchShape> shapes;
  uint32_t turn = 0;
  for (auto _ : state) {
    trace::LaunchShape shape;
    shape.grid = {++turn % 61, 1, 1};
    shape.block = {128, 1, 1};
    benchmark::DoNotOptimize(shapes.intern(shape));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(interned_shapes);

void kernel_descriptions(benchmark::State& state) {
  const auto rules = analysis::KernelRules::load(*config::ConfFiles::open(std::nullopt));
  if (!rules) {
    state.SkipWithError(rules.error().message.c_str());
    return;
  }
  const std::string name =
      "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
      "silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#6}::"
      "operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)";
  for (auto _ : state) benchmark::DoNotOptimize(rules->describe(name));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(kernel_descriptions);

}  // namespace
}  // namespace llmprof

BENCHMARK_MAIN();
