#include "analysis/naming/short_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

// With "Triton: " before it and " (fused, #123)" after it, a name has its 60 characters.
constexpr size_t kLongestFusedList = 38;
std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> candidates) {
  if (const auto close = nearest(wanted, candidates)) {
    return fmt::format("; did you mean '{}'?", *close);
  }
  return fmt::format("; available: {}", fmt::join(candidates, ", "));
}

// With its leading blank, since it may be empty: "Triton norm: ...", "Triton: ...".
std::string_view what_it_is(KernelClass kernel_class) {
  constexpr std::pair<KernelClass, std::string_view> kWhat[] = {
      {KernelClass::gemm, " GEMM"},           {KernelClass::gemv, " GEMV"},
      {KernelClass::attention, " attention"}, {KernelClass::norm, " norm"},
      {KernelClass::rope, " RoPE"},           {KernelClass::softmax, " softmax"},
      {KernelClass::reduction, " reduction"}, {KernelClass::copy_cast, " copy"},
      {KernelClass::quantize, " quantize"},
  };
  for (const auto& [of, what] : kWhat) {
    if (of == kernel_class) return what;
  }
  return {};
}

std::string own_name(const NamedKernel& kernel) {
  return std::string(own_identifier(kernel.canonical));
}

template <class Function>
struct TemplateFunction {
  std::string_view name;
  Function function;
};

constexpr TemplateFunction<std::string (*)(const NamedKernel&)> kFields[] = {
    {"kernel", own_name},
    {"op",
     [](const NamedKernel& kernel) {
       std::string name = kernel_operation(kernel.canonical, kernel.operators.words).name;
       return name.empty() ? own_name(kernel) : name;
     }},
    {"dtype",
     [](const NamedKernel& kernel) {
       std::string type = kernel_operation(kernel.canonical, kernel.operators.words).dtype;
       return type.empty() ? first_spoken_type(kernel.canonical) : type;
     }},
    {"how",
     [](const NamedKernel& kernel) {
       return std::string(kernel_operation(kernel.canonical, kernel.operators.words).how);
     }},
    {"fused",
     [](const NamedKernel& kernel) {
       return fused_operations(own_name(kernel), kernel.kernel_class, kernel.operators,
                               kLongestFusedList - what_it_is(kernel.kernel_class).size());
     }},
    {"what",
     [](const NamedKernel& kernel) { return std::string(what_it_is(kernel.kernel_class)); }},
};

constexpr TemplateFunction<std::string (*)(std::string_view, const OperationWords&)> kFilters[] = {
    {"dtype",
     [](std::string_view raw, const OperationWords& /*words*/) { return spoken_type(raw); }},
    {"op", spoken_operation},
    {"lower",
     [](std::string_view raw, const OperationWords& /*words*/) {
       std::string text(raw);
       std::ranges::transform(text, text.begin(), to_lower);
       return text;
     }},
    // "a, b" of "_a_b"
    {"list",
     [](std::string_view raw, const OperationWords& /*words*/) {
       std::string list;
       for (const std::string& part : between_underscores(raw)) {
         list.append(list.empty() ? "" : ", ").append(part);
       }
       return list;
     }},
    {"ggml", [](std::string_view raw, const OperationWords& /*words*/) { return ggml_type(raw); }},
};

// The entry with this name; an error lists the available names.
template <class Function, size_t N>
Result<Function> find_named(const TemplateFunction<Function> (&all)[N], std::string_view name,
                            std::string_view unknown) {
  std::vector<std::string_view> names;
  for (const TemplateFunction<Function>& each : all) {
    if (each.name == name) return each.function;
    names.push_back(each.name);
  }
  return fail(ErrorKind::usage,
              fmt::format("unknown {} in name{}", unknown, did_you_mean(name, names)));
}

// Empty fields leave gaps: "SiLU (, vectorized)", "copy ()", "GEMM  sm90".
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
    part.capture = static_cast<size_t>(*number);
  } else {
    const auto field = find_named(kFields, name, fmt::format("field {{{}}}", name));
    if (!field) return fail_with(field.error());
    part.field = *field;
  }
  if (colon == std::string_view::npos) return part;
  const std::string_view filter = text.substr(colon + 1);
  const auto known = find_named(kFilters, filter, fmt::format("filter '{}'", filter));
  if (!known) return fail_with(known.error());
  part.filter = *known;
  return part;
}

Result<NameTemplate> NameTemplate::parse(std::string_view text, int captures) {
  NameTemplate result;
  while (!text.empty()) {
    const size_t open = std::min(text.find('{'), text.size());
    if (open > 0) {
      result.parts_.emplace_back().text = text.substr(0, open);
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

std::string NameTemplate::Part::value(const NamedKernel& kernel) const {
  std::string raw = text;
  if (field != nullptr) {
    raw = field(kernel);
  } else if (capture > 0 && capture < kernel.captures.size()) {
    raw = kernel.captures[capture];
  }
  return filter == nullptr ? raw : filter(raw, kernel.operators.words);
}

std::string NameTemplate::expand(const NamedKernel& kernel) const {
  std::string text;
  for (const Part& part : parts_) text += part.value(kernel).substr(0, kKernelNameHead);
  std::string name = shortened(trim(to_printable(without_gaps(text))), kLongestShortName);
  if (!trim(name).empty()) return name;
  // Enough of an unnamed kernel to distinguish it from others.
  name = shortened(trim(to_printable(kernel.canonical.substr(0, 4 * kLongestShortName))),
                   kLongestShortName);
  return trim(name).empty() ? "(no name)" : name;
}

}  // namespace llmprof::analysis
