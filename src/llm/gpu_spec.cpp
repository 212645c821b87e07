#include "llm/gpu_spec.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/needed.h"
#include "base/text.h"
#include "base/units.h"
#include "config/config_tree.h"
#include "llm/config_keys.h"

namespace llmprof::llm {
namespace {

constexpr std::array<std::string_view, 5> kSilentWords = {"nvidia", "geforce", "tesla", "quadro",
                                                          "gpu"};

bool in_word(char c) { return is_lower(c) || is_digit(c) || c == '.'; }

// "h100 80gb hbm3" for "NVIDIA H100 80GB HBM3": lower case, single spaces, without words that say
// nothing about the model. Two names are the same only if all remaining words agree, so that
// "RTX 4090" is not "RTX 4090 Laptop".
std::string normalized_gpu_name(std::string_view name) {
  std::string result;
  for (size_t i = 0; i < name.size();) {
    std::string word;
    for (; i < name.size() && in_word(to_lower(name[i])); ++i) word += to_lower(name[i]);
    if (word.empty()) {
      ++i;
    } else if (std::ranges::find(kSilentWords, word) == kSilentWords.end()) {
      result.append(result.empty() ? "" : " ").append(word);
    }
  }
  return result;
}

constexpr std::array<std::string_view, 7> kKeys = {
    "name",        "matches", "sm_count", "memory_gb", "driver_memory_mib", "bandwidth_gb_per_s",
    "dense_tflops"};

constexpr double kBytesPerMib = 1 << 20;
constexpr std::array<std::string_view, 7> kPeakFormats = {"bf16", "fp16", "fp8", "fp4",
                                                          "int8", "tf32", "fp32"};

void read_peaks(const ConfigKeys& gpu, GpuSpec& spec) {
  const config::ConfigNode& node = gpu.node()["dense_tflops"];
  if (!node.is_map()) {
    gpu.wrong(gpu.node(), "'dense_tflops' is missing, a map such as {bf16: 989, fp8: 1979}");
  }
  needed(gpu.document().check_keys(node, kPeakFormats));
  const ConfigKeys peaks(gpu.document(), node);
  const auto peak = [&](std::string_view key) {
    auto value = peaks.figure(key);
    if (value) *value *= kTera;
    return value;
  };
  const auto bf16 = peak("bf16");
  const auto fp16 = peak("fp16");
  spec.tensor_fp8 = peak("fp8");
  spec.tensor_fp4 = peak("fp4");
  spec.tensor_int8 = peak("int8");
  spec.tensor_tf32 = peak("tf32");
  spec.fp32 = peak("fp32");
  if (!bf16 && !fp16) peaks.wrong(node, "has neither 'bf16' nor 'fp16'");
  spec.tensor_bf16 = bf16 ? *bf16 : *fp16;
  spec.fp16_only = !bf16;
}

std::vector<std::string> read_names(const ConfigKeys& gpu, const std::string& name) {
  std::vector<std::string> names = {normalized_gpu_name(name)};
  const config::ConfigNode* matches = gpu.node().find("matches");
  if (matches == nullptr) return names;
  if (!matches->is_list()) {
    gpu.wrong(*matches, "'matches' must be a list of names, e.g. [NVIDIA H200]");
  }
  for (const config::ConfigNode& match : matches->children) {
    names.push_back(normalized_gpu_name(match.text));
    if (names.back().empty()) gpu.wrong(match, "'matches' contains an empty name");
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
  return attempt([&] {
    const auto document = needed(config::parse_yaml(text.text, text.name));
    const config::ConfigNode& list = document.root["gpus"];
    if (!list.is_list()) document.refuse(document.root, "expected 'gpus:' with a list of GPUs");
    for (const config::ConfigNode& gpu : list.children) {
      needed(document.check_keys(gpu, kKeys));
      const std::string& name = gpu["name"].text;
      if (normalized_gpu_name(name).empty()) document.refuse(gpu, "a GPU needs a 'name'");
      const ConfigKeys keys(document, gpu);
      Entry& entry = into.emplace_back();
      entry.spec.name = to_printable(name);
      entry.names = read_names(keys, name);
      const auto bandwidth = keys.figure("bandwidth_gb_per_s");
      if (!bandwidth) document.refuse(gpu, "'bandwidth_gb_per_s' is missing");
      entry.spec.memory_bandwidth = *bandwidth * kGiga;
      entry.memory_bytes = static_cast<uint64_t>(keys.figure("memory_gb").value_or(0) * kGiga);
      const auto reported = keys.figure("driver_memory_mib");
      entry.spec.memory_is_nominal = !reported;
      entry.spec.memory_bytes =
          reported ? static_cast<uint64_t>(*reported * kBytesPerMib) : entry.memory_bytes;
      entry.sm_count = static_cast<uint32_t>(keys.figure("sm_count").value_or(0));
      read_peaks(keys, entry.spec);
    }
  });
}

Result<GpuSpecs> GpuSpecs::load(const config::ConfFiles& conf) {
  return attempt([&] {
    GpuSpecs specs;
    for (const config::ConfText& layer : needed(conf.layers("gpus.yaml"))) {
      std::vector<Entry> own;
      needed(read(layer, own));
      // A name in a higher layer overrides the same name in lower ones.
      std::erase_if(own, [&](const Entry& entry) {
        return std::ranges::any_of(specs.entries_, [&](const Entry& above) {
          return equals_ignoring_case(above.spec.name, entry.spec.name);
        });
      });
      std::ranges::move(own, std::back_inserter(specs.entries_));
    }
    return specs;
  });
}

bool GpuSpecs::fits(const Entry& entry, uint32_t sm_count, uint64_t memory_bytes) {
  // Drivers report from slightly less than the nominal GB (error correction) up to as many GiB.
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
    if (std::ranges::find(entry.names, wanted) == entry.names.end()) continue;
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
