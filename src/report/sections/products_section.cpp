#include <fmt/format.h>

#include <string>

#include "report/format/figures.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownProducts = 40;
constexpr size_t kShownUnknownKernels = 20;

constexpr std::string_view kHowToRecord =
    "record a PyTorch trace with the sizes of operator inputs, `torch.profiler.profile(..., "
    "record_shapes=True)`, and analyze it: `llmprof analyze trace.json` (docs/products.md)";

// "bf16", or "f8_e4m3 x f8_e4m3 to bf16".
std::string type_words(const Product& row) {
  if (row.type_a == row.type_b && row.type_a == row.type_output) return spelled(row.type_a);
  return fmt::format("{} x {} to {}", spelled(row.type_a), spelled(row.type_b),
                     spelled(row.type_output));
}

// Which operands are stored by column: ", B transposed".
std::string_view transposed_words(const Product& row) {
  const bool a = row.layout_a == MatrixLayout::transposed;
  const bool b = row.layout_b == MatrixLayout::transposed;
  if (a && b) return ", A and B transposed";
  if (a) return ", A transposed";
  return b ? ", B transposed" : "";
}

// "777 x 22,016 x 4,096", of a batched product "300 x 64 x 300, 16 times".
std::string size_words(const Product& row) {
  const std::string sizes =
      fmt::format("{} x {} x {}", grouped(row.m), grouped(row.n), grouped(row.k));
  return row.batch == 1 ? sizes : fmt::format("{}, {} times", sizes, grouped(row.batch));
}

// "0.009642, by memory".
std::string floor_words(const Product& row) {
  if (!row.floor) return std::string(kMissing);
  return fmt::format("{}, by {}", exact_ms(row.floor), spelled(row.floor_bound));
}

Table time_table(const Profile& profile) {
  return table_of(
      "stage | role | m x n x k | #calls | #total (ms) | #share of products | #mean (ms) | #lower "
      "bound over mean",
      profile.products,
      [](const Product& row) {
        return cells(or_missing(row.stage), std::string(in_words(row.role)), size_words(row),
                     grouped(row.calls), exact_ms(row.total), percent(row.share),
                     exact_ms(row.mean), percent(row.floor_share));
      },
      kShownProducts);
}

Table rate_table(const Profile& profile) {
  return table_of(
      "m x n x k | types | kernel | #FLOPs per call | #bytes per call | #FLOP/s | #bandwidth | "
      "lower bound (ms)",
      profile.products,
      [](const Product& row) {
        return cells(size_words(row), type_words(row) + std::string(transposed_words(row)),
                     row.short_name, in_unit(row.flops), in_unit(row.bytes),
                     in_unit(row.flops_per_s), in_unit(row.bytes_per_s), floor_words(row));
      },
      kShownProducts);
}

Table unknown_table(const ProductsFound& found) {
  return table_of(
      "kernel | operator | why its dimensions are unknown | #kernels | #total (ms)",
      found.without_shape,
      [](const ProductWithoutShape& row) {
        return cells(row.short_name, or_missing(row.operator_name), std::string(in_words(row.why)),
                     grouped(row.kernels), exact_ms(row.total));
      },
      kShownUnknownKernels);
}

std::string found_sentence(const ProductsFound& found) {
  std::string text = fmt::format(
      "Matrix products take {} ms of kernel time. Dimensions are known for {} of it, from the "
      "inputs of PyTorch's operators; the role in the model for {}.",
      ms(found.time), percent(found.with_shape_share), percent(found.with_role_share));
  if (found.of_other_run) {
    text +=
        " These are the products of the run with torch.profiler, not of the timeline: their stages "
        "are unknown, and their times include its overhead.";
  }
  return text;
}

std::string why_no_products(const Profile& profile) {
  if (profile.job) return std::string(kOfSingleRanks);
  if (profile.products_found.kernels == 0) {
    return "Not available: this input has no kernels of matrix products with their times.";
  }
  const std::string unknown =
      fmt::format("Matrix products take {} ms of kernel time. Their dimensions are unknown",
                  ms(profile.products_found.time));
  if (without_framework(profile)) return unknown + ": this input does not state them.";
  return fmt::format("{}. To know them, {}.", unknown, kHowToRecord);
}

}  // namespace

void add_section(Topic<"products"> /*topic*/, const Profile& profile, Document& document) {
  const ProductsFound& found = profile.products_found;
  if (!document.begin(2, "Matrix products", profile.products.empty(), why_no_products(profile))) {
    return;
  }
  document.paragraph(found_sentence(found));
  document.add(time_table(profile));
  document.paragraph(
      "A (m x k) times B (k x n). The lower bound is the longer of the FLOPs (2 m n k) at the "
      "GPU's "
      "dense peak and the bytes of A, B and the result, each once, at its peak bandwidth. It is "
      "exceeded if operands are in a cache.");
  document.add_filled(rate_table(profile),
                      "What each computes and moves, and how fast, in the same order:");
  document.add_filled(unknown_table(found), "Kernels without dimensions:");
}

}  // namespace llmprof::report
