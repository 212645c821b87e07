#include "llm/gpu_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/units.h"
#include "config/config_tree.h"

namespace llmprof::llm {
namespace {

constexpr std::array<std::string_view, 5> kSilentWords = {"nvidia", "geforce", "tesla", "quadro",
                                                          "gpu"};

bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.'; }

// "NVIDIA H100 80GB HBM3" as "h100 80gb hbm3": small letters, one space between words, without the
// words that say nothing about the model. All that is left must agree for two names to be the same,
// so that "RTX 4090" is not "RTX 4090 Laptop".
std::string normalized_gpu_name(std::string_view name) {
  std::string result;
  std::string word;
  const auto finish_word = [&] {
    const bool silent =
        std::find(kSilentWords.begin(), kSilentWords.end(), word) != kSilentWords.end();
    if (!word.empty() && !silent) {
      if (!result.empty()) result += ' ';
      result += word;
    }
    word.clear();
  };
  for (const char original : name) {
    const char c = to_lower(original);
    if (in_word(c)) {
      word += c;
    } else {
      finish_word();
    }
  }
  finish_word();
  return result;
}

// Beyond any GPU in teraflops or gigabytes: a figure in other units.
constexpr double kLargestFigure = 1e6;

constexpr std::array<std::string_view, 6> kKeys = {
    "name", "matches", "sm_count", "memory_gb", "bandwidth_gb_per_s", "dense_tflops"};
constexpr std::array<std::string_view, 7> kPeakFormats = {"bf16", "fp16", "fp8", "fp4",
                                                          "int8", "tf32", "fp32"};

// None where the key is not there.
Result<std::optional<double>> figure(const config::ConfigDocument& document,
                                     const config::ConfigNode& map, std::string_view key) {
  const config::ConfigNode* node = map.find(key);
  if (node == nullptr) return std::optional<double>();
  const auto value = node->number();
  if (!value || !std::isfinite(*value) || *value <= 0 || *value > kLargestFigure) {
    return document.wrong(
        *node, fmt::format("'{}' must be a positive number, but is '{}'", key, node->text));
  }
  return value;
}

Result<double> needed_figure(const config::ConfigDocument& document, const config::ConfigNode& map,
                             std::string_view key) {
  auto value = figure(document, map, key);
  if (!value) return fail_with(value.error());
  if (!*value) return document.wrong(map, fmt::format("'{}' is missing", key));
  return **value;
}

Result<void> read_peaks(const config::ConfigDocument& document, const config::ConfigNode& gpu,
                        GpuSpec& spec) {
  const config::ConfigNode* peaks = gpu.find("dense_tflops");
  if (peaks == nullptr || !peaks->is_map()) {
    return document.wrong(gpu, "'dense_tflops' is missing, a map such as {bf16: 989, fp8: 1979}");
  }
  if (auto known = document.check_keys(*peaks, kPeakFormats); !known) return known;
  const auto peak = [&](std::string_view key) -> Result<std::optional<double>> {
    auto value = figure(document, *peaks, key);
    if (value && *value) return std::optional(**value * kTera);
    return value;
  };
  struct Place {
    std::string_view key;
    std::optional<double>* into;
  };
  std::optional<double> bf16;
  std::optional<double> fp16;
  for (const Place& place :
       {Place{"bf16", &bf16}, Place{"fp16", &fp16}, Place{"fp8", &spec.tensor_fp8},
        Place{"fp4", &spec.tensor_fp4}, Place{"int8", &spec.tensor_int8},
        Place{"tf32", &spec.tensor_tf32}, Place{"fp32", &spec.fp32}}) {
    auto value = peak(place.key);
    if (!value) return fail_with(value.error());
    *place.into = *value;
  }
  if (!bf16 && !fp16) return document.wrong(*peaks, "has neither 'bf16' nor 'fp16'");
  spec.tensor_bf16 = bf16 ? *bf16 : *fp16;
  spec.fp16_only = !bf16;
  return {};
}

Result<std::vector<std::string>> read_names(const config::ConfigDocument& document,
                                            const config::ConfigNode& gpu,
                                            const std::string& name) {
  std::vector<std::string> names = {normalized_gpu_name(name)};
  const config::ConfigNode* matches = gpu.find("matches");
  if (matches == nullptr) return names;
  if (!matches->is_list()) {
    return document.wrong(*matches, "'matches' must be a list of names, e.g. [NVIDIA H200]");
  }
  for (const config::ConfigNode& match : matches->children) {
    std::string text = normalized_gpu_name(match.text);
    if (text.empty()) return document.wrong(match, "'matches' contains an empty name");
    names.push_back(std::move(text));
  }
  return names;
}

}  // namespace

GpuSpec measured_cpu(std::string name, double flops, double bandwidth, std::string number_format,
                     std::string how) {
  GpuSpec spec;
  spec.name = std::move(name);
  spec.memory_bandwidth = bandwidth;
  spec.tensor_bf16 = flops;
  spec.fp32 = flops;
  spec.measured_format = number_format.empty() ? "f32" : std::move(number_format);
  spec.measured_how = std::move(how);
  return spec;
}

std::optional<double> GpuSpec::peak_for(std::string_view format) const {
  if (is_measured()) return fp32;
  if (format == "f32") return fp32;
  if (format == "fp8" && tensor_fp8) return tensor_fp8;
  if (format == "nvfp4" && tensor_fp4) return tensor_fp4;
  if (format == "int8" && tensor_int8) return tensor_int8;
  if (format == "bf16" && fp16_only) return std::nullopt;
  return tensor_bf16;
}

std::string GpuSpec::peak_name(std::string_view format) const {
  if (is_measured()) return measured_format + ", measured on this CPU";
  if (format == "f32") return "fp32, CUDA cores";
  if (format == "fp8" && tensor_fp8) return "fp8 dense";
  if (format == "nvfp4" && tensor_fp4) return "fp4 dense";
  if (format == "int8" && tensor_int8) return "int8 dense";
  return format == "f16" || fp16_only ? "fp16 dense" : "bf16 dense";
}

Result<void> GpuSpecs::read(const config::ConfText& text, std::vector<Entry>& into) {
  const auto document = config::parse_yaml(text.text, text.name);
  if (!document) return fail_with(document.error());
  const config::ConfigNode* list = document->root.find("gpus");
  if (list == nullptr || !list->is_list()) {
    return document->wrong(document->root, "expected 'gpus:' with a list of GPUs");
  }
  for (const config::ConfigNode& gpu : list->children) {
    if (auto known = document->check_keys(gpu, kKeys); !known) return known;
    const config::ConfigNode* name = gpu.find("name");
    if (name == nullptr || normalized_gpu_name(name->text).empty()) {
      return document->wrong(gpu, "a GPU needs a 'name'");
    }
    Entry entry;
    entry.spec.name = to_printable(name->text);
    auto names = read_names(*document, gpu, name->text);
    if (!names) return fail_with(names.error());
    entry.names = std::move(*names);
    const auto bandwidth = needed_figure(*document, gpu, "bandwidth_gb_per_s");
    if (!bandwidth) return fail_with(bandwidth.error());
    entry.spec.memory_bandwidth = *bandwidth * kGiga;
    const auto memory = figure(*document, gpu, "memory_gb");
    if (!memory) return fail_with(memory.error());
    entry.memory_bytes = static_cast<uint64_t>(memory->value_or(0) * kGiga);
    const auto sm_count = figure(*document, gpu, "sm_count");
    if (!sm_count) return fail_with(sm_count.error());
    entry.sm_count = static_cast<uint32_t>(sm_count->value_or(0));
    if (auto peaks = read_peaks(*document, gpu, entry.spec); !peaks) return peaks;
    into.push_back(std::move(entry));
  }
  return {};
}

Result<GpuSpecs> GpuSpecs::load(const config::ConfFiles& conf) {
  const auto layers = conf.layers("gpus.yaml");
  if (!layers) return fail_with(layers.error());
  GpuSpecs specs;
  for (const config::ConfText& layer : *layers) {
    std::vector<Entry> entries;
    if (auto done = read(layer, entries); !done) return fail_with(done.error());
    // A name that a layer above has is that layer's.
    for (Entry& entry : entries) {
      const auto same =
          std::find_if(specs.entries_.begin(), specs.entries_.end(), [&](const Entry& above) {
            return equals_ignoring_case(above.spec.name, entry.spec.name);
          });
      if (same == specs.entries_.end()) specs.entries_.push_back(std::move(entry));
    }
  }
  return specs;
}

bool GpuSpecs::fits(const Entry& entry, uint32_t sm_count, uint64_t memory_bytes) {
  // Drivers state from a little less than the nominal GB (error correction) to the same in GiB.
  constexpr double kLeast = 0.95;
  constexpr double kMost = 1.08;
  if (sm_count > 0 && entry.sm_count > 0 && sm_count != entry.sm_count) return false;
  if (memory_bytes == 0 || entry.memory_bytes == 0) return true;
  const auto stated = static_cast<double>(memory_bytes);
  const auto nominal = static_cast<double>(entry.memory_bytes);
  return stated >= kLeast * nominal && stated <= kMost * nominal;
}

std::optional<GpuSpec> GpuSpecs::find(std::string_view name, uint32_t sm_count,
                                      uint64_t memory_bytes) const {
  const std::string wanted = normalized_gpu_name(name);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (std::find(entry.names.begin(), entry.names.end(), wanted) == entry.names.end()) continue;
    if (!fits(entry, sm_count, memory_bytes)) continue;
    if (found != nullptr) return std::nullopt;
    found = &entry;
  }
  if (found == nullptr) return std::nullopt;
  return found->spec;
}

std::vector<std::string> GpuSpecs::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const Entry& entry : entries_) names.push_back(entry.spec.name);
  return names;
}

}  // namespace llmprof::llm
