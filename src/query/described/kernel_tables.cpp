#include "query/described/profile_tables.h"
#include "query/described/without_paths.h"

namespace llmprof::query {
namespace {

using profile::Profile;

std::optional<std::string> lack_of_kernels(const Profile& /*profile*/, size_t rows) {
  if (rows > 0) return std::nullopt;
  return "no kernels were recorded. Record the program's GPU work: `llmprof run -- PROGRAM`, or "
         "`nsys profile --trace cuda,nvtx PROGRAM`";
}

std::optional<std::string> lack_of_metrics(const Profile& /*profile*/, size_t rows) {
  if (rows > 0) return std::nullopt;
  return "no metrics of Nsight Compute were read. Record them with `llmprof run -- PROGRAM`, or "
         "`ncu --csv --page raw PROGRAM > ncu.csv`, and analyze them with the timeline: `llmprof "
         "analyze trace.sqlite ncu.csv --out RUN`";
}

std::optional<std::string> lack_of_roofline(const Profile& profile, size_t rows) {
  if (rows > 0) return std::nullopt;
  if (profile.roofline.why_not) return without_paths(*profile.roofline.why_not);
  return lack_of_metrics(profile, rows);
}

std::optional<std::string> lack_of_operators(const Profile& profile, size_t rows) {
  if (rows > 0) return std::nullopt;
  if (profile.operators_found.why_not) return without_paths(*profile.operators_found.why_not);
  return "no operators were recorded. Record them with torch.profiler";
}

std::optional<std::string> lack_of_products(const Profile& profile, size_t rows) {
  if (rows > 0) return std::nullopt;
  if (profile.job) {
    return "products are reported for single ranks: analyze the capture of one rank alone";
  }
  return "the dimensions of matrix products are unknown. Record a PyTorch trace with "
         "record_shapes=True and analyze it: `llmprof analyze trace.json --out RUN` "
         "(docs/products.md)";
}

std::optional<std::string> lack_of_unknown_products(const Profile& profile, size_t rows) {
  if (rows > 0 || profile.job) return lack_of_products(profile, rows);
  if (!profile.products.empty()) return std::nullopt;
  return lack_of_kernels(profile, rows);
}

}  // namespace

std::vector<DescribedTable> kernel_tables() {
  return {
      {.name = "classes",
       .meaning = "kernels of each class together, longest total first",
       .path = "classes",
       .lack = lack_of_kernels},
      {.name = "kernel_totals",
       .meaning = "all launches of a kernel name on one device together, longest total first",
       .path = "kernels",
       .lack = lack_of_kernels},
      {.name = "kernel_stages",
       .meaning = "kernel_totals by stage",
       .path = "kernels.stages",
       .keys = {"kernel_name=kernel_name,short_name=short_name,device=device", "stage"},
       .lack = lack_of_kernels},
      {.name = "kernel_shapes",
       .meaning = "kernel_totals by grid and block",
       .path = "kernels.shapes",
       .keys = {"kernel_name=kernel_name,short_name=short_name,device=device"},
       .lack = lack_of_kernels},
      {.name = "kernel_metrics",
       .meaning = "metrics of Nsight Compute, by kernel name and device",
       .path = "kernels.metrics",
       .keys = {"kernel_name=kernel_name,short_name=short_name,device=device", "metric"},
       .lack = lack_of_metrics},
      {.name = "roofline",
       .meaning = "what bounds the kernels: achieved FLOP/s and bandwidth against the peaks",
       .path = "roofline.kernels",
       .lack = lack_of_roofline},
      {.name = "products",
       .meaning =
           "matrix products by stage, role, dimensions, types and kernel, longest total first",
       .path = "products",
       .lack = lack_of_products},
      {.name = "products_without_shape",
       .meaning = "kernels of matrix products whose dimensions are unknown, and why",
       .path = "products_found.without_shape",
       .lack = lack_of_unknown_products},
      {.name = "operator_totals",
       .meaning = "all calls of an operator of the framework together",
       .path = "operators",
       .lack = lack_of_operators},
  };
}

}  // namespace llmprof::query
