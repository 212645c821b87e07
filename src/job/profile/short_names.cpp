#include <map>
#include <string>
#include <vector>

#include "analysis/naming/kernel_key.h"
#include "job/profile/parts.h"

namespace llmprof::job::result {
namespace {

using ShortNames = std::map<std::string, std::string, std::less<>>;  // by the full name

// A rank with only one of several kernels of the same short name does not distinguish it: the job
// uses the most specific name.
ShortNames particular_names(const std::vector<RankPart>& parts) {
  ShortNames names;
  for (const RankPart& part : parts) {
    for (const profile::Kernel& kernel : part.profile.kernels) {
      std::string& name = names[kernel.kernel_name];
      if (kernel.short_name.size() > name.size() ||
          (kernel.short_name.size() == name.size() && kernel.short_name < name)) {
        name = kernel.short_name;
      }
    }
  }
  return names;
}

// Distinguishes kernels of different ranks that no single rank had to distinguish.
void distinguish(ShortNames& names) {
  std::map<std::string, std::vector<std::string>> of_short_name;
  for (const auto& [full_name, short_name] : names) of_short_name[short_name].push_back(full_name);
  for (const auto& [short_name, full_names] : of_short_name) {
    if (full_names.size() < 2) continue;
    std::vector<analysis::Namesake> namesakes;
    namesakes.reserve(full_names.size());
    for (const std::string& name : full_names) namesakes.push_back({name, short_name, name});
    analysis::distinguish(namesakes);
    for (const analysis::Namesake& namesake : namesakes) {
      names.find(namesake.full_name)->second = namesake.short_name;
    }
  }
}

// `renamed` is keyed by the rank's own short names, which are unique within it.
void rename(const ShortNames& renamed, profile::Profile& profile) {
  const auto rename_text = [&](std::string& name) {
    if (const auto known = renamed.find(name); known != renamed.end()) name = known->second;
  };
  const auto rename_rows = [&](auto& rows) {
    for (auto& row : rows) rename_text(row.short_name);
  };
  rename_rows(profile.kernels);
  rename_rows(profile.kernels_all_devices);
  rename_rows(profile.measured_kernels_all_devices);
  rename_rows(profile.roofline.kernels);
  for (profile::KernelSequence& sequence : profile.kernel_sequences) {
    rename_rows(sequence.kernels);
  }
  for (profile::StageRecoverable& stage : profile.recoverable) rename_rows(stage.kernels);
  for (profile::Finding& finding : profile.findings) {
    for (profile::FindingValue& value : finding.values) {
      if (value.text) rename_text(*value.text);
    }
  }
}

}  // namespace

void make_short_names_unique(std::vector<RankPart>& parts) {
  ShortNames names = particular_names(parts);
  distinguish(names);
  for (RankPart& part : parts) {
    ShortNames renamed;
    for (const profile::Kernel& kernel : part.profile.kernels) {
      const std::string& name = names[kernel.kernel_name];
      if (name != kernel.short_name) renamed.emplace(kernel.short_name, name);
    }
    if (!renamed.empty()) rename(renamed, part.profile);
  }
}

}  // namespace llmprof::job::result
