#include "analysis/naming/short_name_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/naming/fused_operations.h"
#include "analysis/naming/short_name_canonical.h"
#include "analysis/naming/short_name_types.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

// With "Triton: " before it and " (fused, #123)" after it a name has its 60 characters.
constexpr size_t kLongestFusedList = 38;
constexpr std::array<std::string_view, 6> kFields = {"kernel", "op",    "dtype",
                                                     "how",    "fused", "what"};
constexpr std::array<std::string_view, 5> kFilters = {"dtype", "op", "lower", "list", "ggml"};

std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> candidates) {
  if (const auto close = nearest(wanted, candidates)) {
    return fmt::format("; did you mean '{}'?", *close);
  }
  return fmt::format("; available: {}", fmt::join(candidates, ", "));
}

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

std::string listed(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t end = std::min(text.find('_'), text.size());
    if (end > 0) result.append(result.empty() ? "" : ", ").append(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

// With the blank before it, since a name without it has none: "Triton norm: ...", "Triton: ...".
std::string_view what_it_is(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::gemm:
      return " GEMM";
    case KernelClass::gemv:
      return " GEMV";
    case KernelClass::attention:
      return " attention";
    case KernelClass::norm:
      return " norm";
    case KernelClass::rope:
      return " RoPE";
    case KernelClass::softmax:
      return " softmax";
    case KernelClass::reduction:
      return " reduction";
    case KernelClass::copy_cast:
      return " copy";
    case KernelClass::quantize:
      return " quantize";
    default:
      return {};
  }
}

// Fields that stayed empty leave gaps: "SiLU (, vectorized)", "copy ()", "GEMM  sm90".
std::string without_gaps(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool after_opening = !result.empty() && (result.back() == '(' || result.back() == ' ');
    if ((c == ' ' || c == ',') && (result.empty() || after_opening)) {
      if (c == ',' && result.back() == ' ') {
        result.pop_back();
        if (!result.empty() && result.back() != ',') result += ',';
      }
      continue;
    }
    if (c == ',' && result.back() == ',') continue;
    if (c == ')') {
      while (!result.empty() && (result.back() == ' ' || result.back() == ',')) result.pop_back();
      if (!result.empty() && result.back() == '(') {
        result.pop_back();
        while (!result.empty() && result.back() == ' ') result.pop_back();
        continue;
      }
    }
    result += c;
  }
  while (!result.empty() && (result.back() == ' ' || result.back() == ',')) result.pop_back();
  return result;
}

}  // namespace

Result<NameTemplate::Part> NameTemplate::parse_field(std::string_view text, int captures) {
  Part part;
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (const auto number = parse_int(name)) {
    if (*number < 1 || *number > captures) {
      return fail(
          ErrorKind::usage,
          fmt::format("{{{}}} in name, but the expression captures {} group(s)", text, captures));
    }
    part.field = Field::capture;
    part.capture = static_cast<size_t>(*number);
  } else {
    const auto* known = std::find(kFields.begin(), kFields.end(), name);
    if (known == kFields.end()) {
      return fail(ErrorKind::usage,
                  fmt::format("unknown field {{{}}} in name{}", name, did_you_mean(name, kFields)));
    }
    constexpr std::array kValues = {Field::kernel, Field::op,    Field::dtype,
                                    Field::how,    Field::fused, Field::what};
    part.field = kValues.at(static_cast<size_t>(known - kFields.begin()));
  }
  if (colon == std::string_view::npos) return part;
  const std::string_view filter = text.substr(colon + 1);
  const auto* known = std::find(kFilters.begin(), kFilters.end(), filter);
  if (known == kFilters.end()) {
    return fail(ErrorKind::usage, fmt::format("unknown filter '{}' in name{}", filter,
                                              did_you_mean(filter, kFilters)));
  }
  constexpr std::array kValues = {Filter::dtype, Filter::op, Filter::lower, Filter::list,
                                  Filter::ggml};
  part.filter = kValues.at(static_cast<size_t>(known - kFilters.begin()));
  return part;
}

Result<NameTemplate> NameTemplate::parse(std::string_view text, int captures) {
  NameTemplate result;
  while (!text.empty()) {
    const size_t open = std::min(text.find('{'), text.size());
    if (open > 0) {
      result.parts_.push_back({Field::text, Filter::none, 0, std::string(text.substr(0, open))});
      text.remove_prefix(open);
      continue;
    }
    const size_t close = text.find('}');
    if (close == std::string_view::npos) {
      return fail(ErrorKind::usage, fmt::format("'{}' in name is not closed", text));
    }
    auto part = parse_field(text.substr(1, close - 1), captures);
    if (!part) return fail_with(part.error());
    result.parts_.push_back(std::move(*part));
    text.remove_prefix(close + 1);
  }
  return result;
}

std::string NameTemplate::value(const Part& part, const NamedKernel& kernel) {
  std::string raw;
  switch (part.field) {
    case Field::text:
      return part.text;
    case Field::capture:
      if (part.capture < kernel.captures.size()) raw = kernel.captures[part.capture];
      break;
    case Field::kernel:
      raw = own_identifier(kernel.canonical);
      break;
    case Field::op:
      raw = kernel_operation(kernel.canonical, kernel.words).name;
      if (raw.empty()) raw = own_identifier(kernel.canonical);
      break;
    case Field::dtype:
      raw = kernel_operation(kernel.canonical, kernel.words).dtype;
      if (raw.empty()) raw = first_spoken_type(kernel.canonical);
      break;
    case Field::how:
      raw = kernel_operation(kernel.canonical, kernel.words).how;
      break;
    case Field::fused:
      raw = fused_operations(own_identifier(kernel.canonical), kernel.words,
                             kLongestFusedList - what_it_is(kernel.kernel_class).size());
      break;
    case Field::what:
      raw = what_it_is(kernel.kernel_class);
      break;
  }
  switch (part.filter) {
    case Filter::none:
      return raw;
    case Filter::dtype:
      return spoken_type(raw);
    case Filter::op:
      return spoken_operation(raw, kernel.words);
    case Filter::lower:
      return lowered(raw);
    case Filter::list:
      return listed(raw);
    case Filter::ggml:
      return ggml_type(raw);
  }
  return raw;
}

std::string NameTemplate::expand(const NamedKernel& kernel) const {
  std::string text;
  for (const Part& part : parts_) text += value(part, kernel).substr(0, kKernelNameHead);
  std::string name = shortened(trim(to_printable(without_gaps(text))), kLongestShortName);
  if (!trim(name).empty()) return name;
  // Enough of a nameless name to distinguish it from another.
  name = shortened(trim(to_printable(kernel.canonical.substr(0, 4 * kLongestShortName))),
                   kLongestShortName);
  return trim(name).empty() ? "(no name)" : name;
}

}  // namespace llmprof::analysis
