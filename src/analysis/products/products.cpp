#include "analysis/products/products.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/products/product_calls.h"
#include "analysis/products/product_roles.h"
#include "analysis/ranking/kernels.h"
#include "analysis/roofline/roofline.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

using profile::Product;
using profile::ProductSource;

constexpr uint32_t kNoStage = UINT32_MAX;

// Calls that make one row.
struct ProductKey {
  uint32_t stage = kNoStage;
  ProductRole role{};
  RoleSource role_source{};
  uint64_t m = 0;
  uint64_t n = 0;
  uint64_t k = 0;
  uint64_t batch = 0;
  ElementType type_a{};
  ElementType type_b{};
  ElementType type_output{};
  MatrixLayout layout_a{};
  MatrixLayout layout_b{};
  trace::StringId kernel;
  trace::DeviceId device;

  friend auto operator<=>(const ProductKey&, const ProductKey&) = default;
};

struct ProductSum {
  trace::ProductRow product;  // any of the calls': all have the same sizes
  uint64_t calls = 0;
  uint64_t kernels = 0;
  Nanoseconds time = 0;
};

// By instance: whether its work counts for its stage. If all of a stage is warm-up, it does.
std::vector<bool> instances_in_rows(const Stages& stages) {
  std::vector<bool> steady(stages.stages.size(), false);
  for (const StageInstance& instance : stages.instances) {
    if (!instance.warmup) steady[instance.stage] = true;
  }
  std::vector<bool> counted;
  counted.reserve(stages.instances.size());
  for (const StageInstance& instance : stages.instances) {
    counted.push_back(!instance.warmup || !steady[instance.stage]);
  }
  return counted;
}

// The number format that decides a product's peak, as GpuSpec::peak_for spells it; empty if it is
// unknown. Operands of different types are multiplied as the wider one.
std::string_view peak_format(ElementType a, ElementType b) {
  switch (bits_per_element(a) >= bits_per_element(b) ? a : b) {
    case ElementType::f32:
      return "f32";
    case ElementType::f16:
      return "f16";
    case ElementType::bf16:
      return "bf16";
    case ElementType::f8_e4m3:
    case ElementType::f8_e5m2:
      return "fp8";
    case ElementType::f4_e2m1:
      return "nvfp4";
    case ElementType::i8:
    case ElementType::u8:
      return "int8";
    default:
      return {};
  }
}

class ProductRows {
 public:
  ProductRows(const trace::Trace& trace, const DescribedNames& names, const Stages& stages,
              const UseOfPeaks& use)
      : trace_(trace), names_(names), stages_(stages), use_(use) {}

  Products run(const ProductCalls& calls, const std::vector<FoundRole>& roles) {
    add_up(calls, roles);
    add_unknown(calls);
    add_rows();
    add_shares();
    return std::move(products_);
  }

 private:
  void add_up(const ProductCalls& calls, const std::vector<FoundRole>& roles) {
    const std::vector<bool> counted = instances_in_rows(stages_);
    for (size_t i = 0; i < calls.calls.size(); ++i) {
      const ProductCall& call = calls.calls[i];
      ProductSum& sum = sums_[key_of(call, roles[i], counted)];
      sum.product = call.product;
      ++sum.calls;
      sum.kernels += call.kernels;
      sum.time += call.time;
      kernels_ += call.kernels;
      with_shape_ += call.time;
      if (roles[i].role != ProductRole::unknown) with_role_ += call.time;
    }
  }

  [[nodiscard]] ProductKey key_of(const ProductCall& call, const FoundRole& role,
                                  const std::vector<bool>& counted) const {
    const trace::ProductTable& table = trace_.products;
    const size_t i = call.product.index();
    ProductKey key{kNoStage,
                   role.role,
                   role.source,
                   table.m[i],
                   table.n[i],
                   table.k[i],
                   table.batch[i],
                   table.type_a[i],
                   table.type_b[i],
                   table.type_output[i],
                   table.layout_a[i],
                   table.layout_b[i],
                   trace_.kernels.name[call.kernel],
                   trace_.queues[trace_.kernels.queue[call.kernel]].device};
    const auto& owners = stages_.owners.kernel_instance;
    const InstanceId instance =
        call.first_kernel < owners.size() ? owners[call.first_kernel] : InstanceId();
    if (instance.valid() && counted[instance.index()]) {
      key.stage = stages_.instances[instance.index()].stage;
    }
    return key;
  }

  void add_unknown(const ProductCalls& calls) {
    using Key = std::tuple<trace::StringId, uint32_t, WhyNoShape>;
    std::map<Key, Calls> by_kernel;
    for (const UnknownProduct& unknown : calls.unknown) {
      const Nanoseconds time =
          trace_.kernels.end[unknown.kernel] - trace_.kernels.start[unknown.kernel];
      by_kernel[{trace_.kernels.name[unknown.kernel], unknown.name, unknown.why}] += Calls{1, time};
      without_shape_ += time;
    }
    auto& rows = products_.found.without_shape;
    for (const auto& [key, sum] : by_kernel) {
      const auto& [kernel, name, why] = key;
      rows.push_back({.kernel_name = to_printable(trace_.strings[kernel]),
                      .short_name = names_[kernel].short_name,
                      .operator_name = unless_empty(calls.operator_names[name]),
                      .why = why,
                      .kernels = sum.calls,
                      .total = to_milliseconds(sum.total)});
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), &profile::ProductWithoutShape::total);
    products_.found.kernels_without_shape = calls.unknown.size();
  }

  void add_rows() {
    for (const auto& [key, sum] : sums_) products_.rows.push_back(row_of(key, sum));
    std::ranges::stable_sort(products_.rows, std::ranges::greater(), &Product::total);
  }

  [[nodiscard]] Product row_of(const ProductKey& key, const ProductSum& sum) const {
    const KernelDescription& kernel = names_[key.kernel];
    Product row;
    if (key.stage != kNoStage) row.stage = to_printable(stages_.stages[key.stage].name);
    row.role = key.role;
    row.role_source = key.role_source;
    row.m = key.m;
    row.n = key.n;
    row.k = key.k;
    row.batch = key.batch;
    row.type_a = key.type_a;
    row.type_b = key.type_b;
    row.type_output = key.type_output;
    row.layout_a = key.layout_a;
    row.layout_b = key.layout_b;
    row.kernel_name = to_printable(trace_.strings[key.kernel]);
    row.short_name = kernel.short_name;
    row.library = unless_empty(kernel.library);
    row.device = device_label(trace_, key.device);
    row.calls = sum.calls;
    row.kernels = sum.kernels;
    row.total = to_milliseconds(sum.time);
    row.mean = to_milliseconds(as_double(sum.time) / static_cast<double>(sum.calls));
    row.share = share(sum.time, with_shape_ + without_shape_);
    add_rates(sum, row);
    add_floor(sum, kernel, row);
    return row;
  }

  void add_rates(const ProductSum& sum, Product& row) const {
    const double flops = product_flops(trace_.products, sum.product);
    const auto bytes = product_bytes(trace_.products, sum.product);
    const auto rate = [&](double of_one) {
      const auto per_ns = ratio(of_one * static_cast<double>(sum.calls), as_double(sum.time));
      return per_ns ? std::optional(*per_ns * kNanosecondsPerSecond) : std::nullopt;
    };
    row.flops = {flops};
    row.flops_per_s = quantity<profile::FlopsPerSecond>(rate(flops));
    if (!bytes) return;
    row.bytes = {*bytes};
    row.flops_per_byte = quantity<profile::FlopsPerByte>(ratio(flops, *bytes));
    row.bytes_per_s = quantity<profile::BytesPerSecond>(rate(*bytes));
  }

  void add_floor(const ProductSum& sum, const KernelDescription& kernel, Product& row) const {
    const std::string_view format = peak_format(row.type_a, row.type_b);
    if (!use_.gpu || format.empty()) return;
    // Single precision may be rounded for the tensor cores; the kernel's name tells.
    const auto named = tensor_format(kernel, row.kernel_name, std::nullopt);
    const bool rounded = format == "f32" && named && named->name != "f32";
    const auto peak = tensor_peak(*use_.gpu, rounded ? std::string_view("tf32") : format);
    if (peak) {
      row.peak_flops = {peak->flops};
      row.peak_name = peak->name;
    }
    if (!peak || !row.bytes || use_.gpu->memory_bandwidth <= 0) return;
    const double compute = row.flops.value / peak->flops * kNanosecondsPerSecond;
    const double memory = row.bytes->value / use_.gpu->memory_bandwidth * kNanosecondsPerSecond;
    const double floor = std::max(compute, memory);
    const double floors = floor * static_cast<double>(sum.calls);
    row.floor = to_milliseconds(floor);
    row.floor_bound = compute > memory ? Bound::compute : Bound::memory;
    row.floor_share = share(floors, as_double(sum.time));
    row.above_floor = to_milliseconds(std::max(0.0, as_double(sum.time) - floors));
  }

  void add_shares() {
    profile::ProductsFound& found = products_.found;
    const Nanoseconds all = with_shape_ + without_shape_;
    found.time = to_milliseconds(all);
    found.with_shape = to_milliseconds(with_shape_);
    found.with_shape_share = share(with_shape_, all);
    found.with_role_share = share(with_role_, all);
    found.kernels = kernels_ + found.kernels_without_shape;
    profile::ProductsOfSource source;
    source.source = ProductSource::framework_dimensions;
    for (const Product& row : products_.rows) source.calls += row.calls;
    source.total = found.with_shape;
    source.share = found.with_shape_share;
    if (source.calls > 0) found.sources.push_back(source);
  }

  const trace::Trace& trace_;
  const DescribedNames& names_;
  const Stages& stages_;
  const UseOfPeaks& use_;
  Products products_;
  std::map<ProductKey, ProductSum> sums_;
  uint64_t kernels_ = 0;
  Nanoseconds with_shape_ = 0;
  Nanoseconds with_role_ = 0;
  Nanoseconds without_shape_ = 0;
};

}  // namespace

double product_flops(const trace::ProductTable& products, trace::ProductRow row) {
  const size_t i = row.index();
  const auto number = [](uint64_t size) { return static_cast<double>(size); };
  return 2 * number(products.m[i]) * number(products.n[i]) * number(products.k[i]) *
         number(products.batch[i]);
}

std::optional<double> product_bytes(const trace::ProductTable& products, trace::ProductRow row) {
  const size_t i = row.index();
  const auto number = [](uint64_t size) { return static_cast<double>(size); };
  const double a = bytes_per_element(products.type_a[i]);
  const double b = bytes_per_element(products.type_b[i]);
  const double result = bytes_per_element(products.type_output[i]);
  if (a == 0 || b == 0 || result == 0) return std::nullopt;
  const double m = number(products.m[i]);
  const double n = number(products.n[i]);
  const double k = number(products.k[i]);
  return number(products.batch[i]) * (m * k * a + k * n * b + m * n * result);
}

Products find_products(const trace::Trace& trace, const DescribedNames& names, const Stages& stages,
                       const UseOfPeaks& use) {
  const ProductCalls calls = find_product_calls(trace, names);
  const auto roles = find_product_roles(trace, names, calls, stages, use.model,
                                        static_cast<uint32_t>(use.workload.tp));
  return ProductRows(trace, names, stages, use).run(calls, roles);
}

}  // namespace llmprof::analysis
