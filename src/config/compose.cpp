#include "config/compose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/machine.h"
#include "base/needed.h"
#include "base/text.h"
#include "config/composition.h"
#include "config/override.h"

namespace llmprof::config {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostConfigs = 1000;
constexpr std::string_view kAlias = "alias_of";

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string joined(const std::string& front, const std::string& back) {
  return front.empty() || back.empty() ? front + back : front + "." + back;
}

// The position of a group's contents in the tree, relative to the file that names the group.
std::string natural_package(const std::string& group, const std::string& folder) {
  std::string package = group;
  if (group == folder) return {};
  if (!folder.empty() && group.starts_with(folder + "/")) package = group.substr(folder.size() + 1);
  std::ranges::replace(package, '/', '.');
  return package;
}

// "nsys", "_global_", "_global_.a", "_here_", "_group_": Hydra's package syntax.
std::string final_package(const std::string& written, const std::string& parent,
                          const std::string& natural) {
  constexpr std::string_view kGlobal = "_global_";
  constexpr std::string_view kHere = "_here_";
  constexpr std::string_view kGroup = "_group_";
  if (written.empty() || written == kGroup) return joined(parent, natural);
  if (written == kGlobal) return {};
  if (written == kHere) return parent;
  if (written.starts_with(std::string(kGlobal) + ".")) return written.substr(kGlobal.size() + 1);
  return joined(parent, written);
}

class Composition {
 public:
  Composition(const ConfFiles& conf, std::string primary, const ComposeContext& context)
      : conf_(conf), primary_(std::move(primary)), context_(context) {
    tree_.name = primary_;
    tree_.root.kind = ConfigNode::Kind::map;
  }

  ComposedConfig composed(std::span<const std::string> overrides) {
    for (const std::string& text : overrides) sort_out(needed(parse_override(text)));
    if (!exists(primary_)) {
      give_up(ErrorKind::usage, fmt::format("there is no {}.yaml in conf", primary_));
    }
    add_config(primary_, {}, {}, {});
    apply_the_rest();
    tree_.root = interpolated(tree_, choices_, context_);
    return {std::move(tree_), std::move(choices_)};
  }

 private:
  // A change to a group by the command line or an "override" line.
  struct GroupOverride {
    Override change;
    bool used = false;
  };

  [[nodiscard]] bool is_group(const std::string& name) const {
    return !contains(name, ".") && !conf_.names_under(name).empty();
  }

  [[nodiscard]] bool exists(const std::string& name) const {
    const auto names = conf_.names_in(folder_of(name));
    return std::ranges::find(names, last_part(name)) != names.end();
  }

  void sort_out(Override change) {
    if (change.package.empty() && !is_group(change.key)) {
      values_.push_back(std::move(change));
      return;
    }
    const auto is_scalar = [](const ConfigNode& node) {
      return node.is_scalar() && !node.text.empty();
    };
    const ConfigNode& value = change.value;
    const bool fits = !change.has_value || value.is_null() || is_scalar(value) ||
                      (value.is_list() && std::ranges::all_of(value.children, is_scalar));
    if (!fits) {
      change.refuse(fmt::format("'{0}' is a config group: write {0}=CHOICE", change.key));
    }
    groups_.push_back({std::move(change)});
  }

  // Reads conf/<name>.yaml into the tree, with everything that its defaults name. `written` is the
  // package in the line that names it; if that line has none, the file's own header counts.
  void add_config(const std::string& name, const std::string& written, const std::string& parent,
                  const std::string& natural) {
    if (std::ranges::find(loading_, name) != loading_.end()) {
      give_up(ErrorKind::usage,
              fmt::format("circular defaults: {} -> {}", fmt::join(loading_, " -> "), name));
    }
    if (++configs_ > kMostConfigs) {
      give_up(ErrorKind::usage, fmt::format("{}: the defaults lists load more than {} files",
                                            primary_, kMostConfigs));
    }
    const auto layers = needed(conf_.layers(name + ".yaml"));
    if (layers.empty()) give_up(ErrorKind::usage, name + ".yaml: no such file in conf");
    ConfigPart part = read_config_part(layers.front().text, layers.front().name, name);
    follow_alias(part, name);
    const std::string package =
        final_package(written.empty() ? part.package : written, parent, natural);
    loading_.push_back(name);
    add_part(part, package, folder_of(name));
    if (loading_.size() == 1) add_appended_groups();
    loading_.pop_back();
  }

  // "alias_of: other": includes the configuration of that name from the same folder.
  static void follow_alias(ConfigPart& part, const std::string& name) {
    const ConfigNode* other = part.body.find(kAlias);
    if (other == nullptr) return;
    if (!other->is_scalar()) {
      ConfigDocument{name, {}}.refuse(*other, "alias_of must name another configuration");
    }
    DefaultsEntry entry;
    entry.group = folder_of(name);
    entry.choices = {*other};
    entry.place = *other;
    part.defaults.insert(part.defaults.begin(), std::move(entry));
    erase_path(part.body, KeyPath{std::string(kAlias)});
  }

  void add_part(const ConfigPart& part, const std::string& package, const std::string& folder) {
    for (const DefaultsEntry& entry : part.defaults) {
      if (entry.replaces) replacements_.push_back(entry);
    }
    for (const DefaultsEntry& entry : part.defaults) {
      if (entry.replaces) continue;
      if (entry.kind == DefaultsEntry::Kind::self) {
        mount(part.body, package);
      } else {
        add_entry(entry, package, folder);
      }
    }
  }

  void mount(const ConfigNode& body, const std::string& package) {
    if (package.empty()) return merge_into(tree_.root, body);
    const auto path = split_key(package);
    ConfigNode* at = path ? make_path(tree_.root, *path) : nullptr;
    if (at == nullptr) tree_.refuse(body, fmt::format("'{}' is not a valid package", package));
    if (at->is_null()) at->kind = ConfigNode::Kind::map;
    if (!at->source) at->source = body.source;
    merge_into(*at, body);
  }

  void add_entry(const DefaultsEntry& entry, const std::string& parent, const std::string& folder) {
    const bool is_of_group = entry.kind == DefaultsEntry::Kind::group;
    const std::string natural = natural_package(entry.group, folder);
    const std::string package = final_package(entry.package, parent, natural);
    for (const ConfigNode& choice : is_of_group ? choices_for(entry, package) : entry.choices) {
      const std::string name = config_name(entry, choice);
      if (name.empty()) continue;
      if (is_of_group) choices_.push_back({entry.group, name.substr(entry.group.size() + 1)});
      add_config(name, entry.package, parent, natural);
    }
  }

  static bool concerns(const std::string& group, const std::string& package,
                       const DefaultsEntry& entry, const std::string& entry_package) {
    return group == entry.group &&
           (package.empty() || package == entry.package || package == entry_package);
  }

  // The command line has precedence, then the outermost "override" line, then the list itself.
  std::vector<ConfigNode> choices_for(const DefaultsEntry& entry, const std::string& package) {
    std::vector<ConfigNode> chosen = entry.choices;
    for (const DefaultsEntry& replacement : replacements_) {
      if (!concerns(replacement.group, replacement.package, entry, package)) continue;
      chosen = replacement.choices;
      break;
    }
    for (GroupOverride& group : groups_) {
      const Override& change = group.change;
      if (!concerns(change.key, change.package, entry, package)) continue;
      group.used = true;
      if (change.action != OverrideAction::remove) {
        chosen = choices_of(change.value);
        continue;
      }
      const bool same = chosen.size() == 1 && chosen.front().text == change.value.text;
      if (change.has_value && !same) {
        change.refuse(
            fmt::format("'{}' is '{}', so nothing was removed", change.key,
                        chosen.empty() ? std::string("null") : to_printable(chosen.front().text)));
      }
      chosen.clear();
    }
    listed_.push_back(entry.group);
    return chosen;
  }

  static std::vector<ConfigNode> choices_of(const ConfigNode& value) {
    if (value.is_null()) return {};
    return value.is_list() ? value.children : std::vector<ConfigNode>{value};
  }

  // +group=choice for a group that no list names: added at the end of the list.
  void add_appended_groups() {
    for (const GroupOverride& group : groups_) {
      const Override& change = group.change;
      if (group.used || change.action != OverrideAction::add) continue;
      DefaultsEntry entry;
      entry.kind = DefaultsEntry::Kind::group;
      entry.group = change.key;
      entry.package = change.package;
      entry.choices = choices_of(change.value);
      entry.place = change.value;
      add_entry(entry, {}, {});
    }
  }

  // Empty if an optional choice does not exist.
  std::string config_name(const DefaultsEntry& entry, const ConfigNode& choice) {
    std::string wanted = choice.text;
    if (contains(wanted, "${")) {
      ConfigDocument so_far = tree_;
      apply_what_fits(so_far.root, values_);
      wanted = interpolated_choice(so_far, choice, choices_, context_);
    }
    constexpr std::string_view kEnding = ".yaml";
    if (wanted.ends_with(kEnding)) wanted.resize(wanted.size() - kEnding.size());
    const std::string folder = entry.group.empty() ? std::string() : entry.group + "/";
    if (exists(folder + wanted)) return folder + wanted;
    // "ncu.default" in profiling/ncu is its choice "default".
    const std::string prefix = last_part(entry.group) + ".";
    if (wanted.starts_with(prefix) && exists(folder + wanted.substr(prefix.size()))) {
      return folder + wanted.substr(prefix.size());
    }
    if (entry.optional) return {};
    refuse_choice(entry, choice, wanted);
  }

  [[noreturn]] void refuse_choice(const DefaultsEntry& entry, const ConfigNode& choice,
                                  const std::string& wanted) const {
    const std::vector<std::string> names =
        entry.group.empty() ? conf_.names_in("") : conf_.names_under(entry.group);
    const auto elsewhere = std::ranges::find_if(names, [&](const std::string& name) {
      return name.ends_with("/" + wanted) || wanted.ends_with("/" + name);
    });
    const std::string hint = elsewhere != names.end()
                                 ? did_you_mean(std::optional<std::string>(*elsewhere))
                                 : did_you_mean(wanted, names);
    const std::string shown = to_printable(shortened(wanted, kLongestName));
    if (entry.group.empty()) {
      tree_.refuse(choice, fmt::format("there is no {}.yaml in conf{}", shown, hint));
    }
    tree_.refuse(choice, fmt::format("unknown value '{}' for {}{} {}", shown, entry.group,
                                     hint.empty() ? "; available:" : hint + " Available:",
                                     fmt::join(names, ", ")));
  }

  void apply_the_rest() {
    std::vector<Override> changes;
    for (const auto& [change, used] : groups_) {
      if (used) continue;
      // "~key" may mean a key with the same name as a folder.
      if (change.action != OverrideAction::remove || !change.package.empty()) refuse_group(change);
      changes.push_back(change);
    }
    changes.insert(changes.end(), values_.begin(), values_.end());
    apply_overrides(tree_.root, changes);
  }

  [[noreturn]] void refuse_group(const Override& change) const {
    for (const std::string& group : listed_) {
      if (!change.key.starts_with(group + "/")) continue;
      change.refuse(fmt::format("the group is '{}': write {}={}/{}", group, group,
                                change.key.substr(group.size() + 1), change.value.text));
    }
    const std::string mount = change.package.empty() ? std::string() : "@" + change.package;
    change.refuse(fmt::format(
        "no defaults list has the group '{0}{1}'{2} (+{0}{1}=... adds it); available "
        "groups: {3}",
        change.key, mount, did_you_mean(change.key, listed_), fmt::join(listed_, ", ")));
  }

  static constexpr size_t kLongestName = 100;

  const ConfFiles& conf_;
  std::string primary_;
  const ComposeContext& context_;
  ConfigDocument tree_;
  std::vector<GroupChoice> choices_;
  std::vector<GroupOverride> groups_;
  std::vector<Override> values_;
  std::vector<DefaultsEntry> replacements_;
  std::vector<std::string> listed_;   // groups that a defaults list names
  std::vector<std::string> loading_;  // from the primary to the file being read
  size_t configs_ = 0;
};

fs::path home_above(const fs::path& bin) {
  fs::path folder = bin;
  while (folder.has_relative_path()) {
    folder = folder.parent_path();
    if (is_file(folder / "workloads" / "hf_llm.py")) return folder;
  }
  return bin.parent_path();
}

}  // namespace

Result<ComposedConfig> compose(const ConfFiles& conf, std::string_view primary,
                               std::span<const std::string> overrides,
                               const ComposeContext& context) {
  return attempt(
      [&] { return Composition(conf, std::string(primary), context).composed(overrides); });
}

ComposeContext compose_context_here() {
  std::error_code ignored;
  const fs::path bin = own_program().parent_path();
  ComposeContext context;
  context.working_folder = fs::current_path(ignored).string();
  context.bin = bin.string();
  context.home = home_above(bin).string();
  context.environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  context.last_level_cache_bytes = last_level_cache_bytes();
  context.memory_bytes = usable_memory_bytes();
  return context;
}

}  // namespace llmprof::config
