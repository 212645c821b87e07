#include "config/compose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "config/defaults_list.h"
#include "config/override.h"
#include "config/tree_path.h"

namespace llmprof::config {
namespace {

constexpr size_t kMostConfigs = 1000;
constexpr std::string_view kAlias = "alias_of";

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string joined(const std::string& front, const std::string& back) {
  return front.empty() || back.empty() ? front + back : front + "." + back;
}

// Where in the tree the contents of a group go, seen from the file that names the group.
std::string natural_package(const std::string& group, const std::string& folder) {
  std::string package = group;
  if (group == folder) return {};
  if (!folder.empty() && group.starts_with(folder + "/")) package = group.substr(folder.size() + 1);
  std::ranges::replace(package, '/', '.');
  return package;
}

// "nsys", "_global_", "_global_.a", "_here_", "_group_": as Hydra's packages are written.
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

  Result<ComposedConfig> composed(std::span<const std::string> overrides) {
    if (auto sorted = sort_out(overrides); !sorted) return fail_with(sorted.error());
    if (!exists(primary_)) {
      return fail(ErrorKind::usage, fmt::format("there is no {}.yaml in conf", primary_));
    }
    if (auto added = add_config(primary_, {}, {}, {}); !added) return fail_with(added.error());
    if (auto applied = apply_the_rest(); !applied) return fail_with(applied.error());
    auto resolved = interpolated(tree_, choices_, context_);
    if (!resolved) return fail_with(resolved.error());
    tree_.root = std::move(*resolved);
    return ComposedConfig{std::move(tree_), std::move(choices_)};
  }

 private:
  // What the command line or an "override" line makes of a group.
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

  Result<void> sort_out(std::span<const std::string> overrides) {
    for (const std::string& text : overrides) {
      auto parsed = parse_override(text);
      if (!parsed) return fail_with(parsed.error());
      if (parsed->package.empty() && !is_group(parsed->key)) {
        values_.push_back(std::move(*parsed));
      } else if (auto fits = check_choice(*parsed); !fits) {
        return fits;
      } else {
        groups_.push_back({std::move(*parsed)});
      }
    }
    return {};
  }

  static Result<void> check_choice(const Override& change) {
    const auto is_scalar = [](const ConfigNode& node) {
      return node.is_scalar() && !node.text.empty();
    };
    const ConfigNode& value = change.value;
    const bool fits = !change.has_value || value.is_null() || is_scalar(value) ||
                      (value.is_list() && std::ranges::all_of(value.children, is_scalar));
    if (fits) return {};
    return change.wrong(fmt::format("'{0}' is a config group: write {0}=CHOICE", change.key));
  }

  // Reads conf/<name>.yaml into the tree, with all that its defaults name. `written` is the package
  // that the line which names it gives; the file's own header counts where it gives none.
  Result<void> add_config(const std::string& name, const std::string& written,
                          const std::string& parent, const std::string& natural) {
    if (std::ranges::find(loading_, name) != loading_.end()) {
      return fail(ErrorKind::usage,
                  fmt::format("circular defaults: {} -> {}", fmt::join(loading_, " -> "), name));
    }
    if (++configs_ > kMostConfigs) {
      return fail(ErrorKind::usage, fmt::format("{}: the defaults lists load more than {} files",
                                                primary_, kMostConfigs));
    }
    const auto layers = conf_.layers(name + ".yaml");
    if (!layers) return fail_with(layers.error());
    if (layers->empty()) return fail(ErrorKind::usage, name + ".yaml: no such file in conf");
    auto part = read_config_part(layers->front().text, layers->front().name, name);
    if (!part) return fail_with(part.error());
    if (auto meant = follow_alias(*part, name); !meant) return meant;
    const std::string package =
        final_package(written.empty() ? part->package : written, parent, natural);
    loading_.push_back(name);
    auto added = add_part(*part, package, folder_of(name));
    if (added && loading_.size() == 1) added = add_appended_groups();
    loading_.pop_back();
    return added;
  }

  // "alias_of: other": the configuration of that name in the same folder.
  static Result<void> follow_alias(ConfigPart& part, const std::string& name) {
    const ConfigNode* other = part.body.find(kAlias);
    if (other == nullptr) return {};
    if (!other->is_scalar()) {
      return ConfigDocument{name, {}}.wrong(*other, "alias_of must name another configuration");
    }
    DefaultsEntry entry;
    entry.group = folder_of(name);
    entry.choices = {*other};
    entry.place = *other;
    part.defaults.insert(part.defaults.begin(), std::move(entry));
    erase_path(part.body, KeyPath{std::string(kAlias)});
    return {};
  }

  Result<void> add_part(const ConfigPart& part, const std::string& package,
                        const std::string& folder) {
    for (const DefaultsEntry& entry : part.defaults) {
      if (entry.replaces) replacements_.push_back(entry);
    }
    for (const DefaultsEntry& entry : part.defaults) {
      if (entry.replaces) continue;
      auto added = entry.kind == DefaultsEntry::Kind::self ? mount(part.body, package)
                                                           : add_entry(entry, package, folder);
      if (!added) return added;
    }
    return {};
  }

  Result<void> mount(const ConfigNode& body, const std::string& package) {
    if (package.empty()) {
      merge_into(tree_.root, body);
      return {};
    }
    const auto path = split_key(package);
    ConfigNode* at = path ? make_path(tree_.root, *path) : nullptr;
    if (at == nullptr) {
      return tree_.wrong(body, fmt::format("'{}' is not a valid package", package));
    }
    if (at->is_null()) at->kind = ConfigNode::Kind::map;
    if (!at->source) at->source = body.source;
    merge_into(*at, body);
    return {};
  }

  Result<void> add_entry(const DefaultsEntry& entry, const std::string& parent,
                         const std::string& folder) {
    const std::string natural = natural_package(entry.group, folder);
    const std::string package = final_package(entry.package, parent, natural);
    std::vector<ConfigNode> choices = entry.choices;
    if (entry.kind == DefaultsEntry::Kind::group) {
      auto chosen = choices_for(entry, package);
      if (!chosen) return fail_with(chosen.error());
      choices = std::move(*chosen);
    }
    for (const ConfigNode& choice : choices) {
      auto name = config_name(entry, choice);
      if (!name) return fail_with(name.error());
      if (name->empty()) continue;
      if (entry.kind == DefaultsEntry::Kind::group) {
        choices_.push_back({entry.group, name->substr(entry.group.size() + 1)});
      }
      if (auto added = add_config(*name, entry.package, parent, natural); !added) return added;
    }
    return {};
  }

  static bool concerns(const std::string& group, const std::string& package,
                       const DefaultsEntry& entry, const std::string& entry_package) {
    return group == entry.group &&
           (package.empty() || package == entry.package || package == entry_package);
  }

  // The command line's word first, then the outermost "override" line's, then the list's own.
  Result<std::vector<ConfigNode>> choices_for(const DefaultsEntry& entry,
                                              const std::string& package) {
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
        return change.wrong(
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

  // +group=choice where no list names the group: as if it stood at the list's end.
  Result<void> add_appended_groups() {
    for (const GroupOverride& group : groups_) {
      const Override& change = group.change;
      if (group.used || change.action != OverrideAction::add) continue;
      DefaultsEntry entry;
      entry.kind = DefaultsEntry::Kind::group;
      entry.group = change.key;
      entry.package = change.package;
      entry.choices = choices_of(change.value);
      entry.place = change.value;
      if (auto added = add_entry(entry, {}, {}); !added) return added;
    }
    return {};
  }

  // Empty where an optional choice is not there.
  Result<std::string> config_name(const DefaultsEntry& entry, const ConfigNode& choice) {
    std::string wanted = choice.text;
    if (contains(wanted, "${")) {
      ConfigDocument so_far = tree_;
      apply_what_fits(so_far.root, values_);
      auto meant = interpolated_choice(so_far, choice, choices_, context_);
      if (!meant) return fail_with(meant.error());
      wanted = std::move(*meant);
    }
    constexpr std::string_view kEnding = ".yaml";
    if (wanted.ends_with(kEnding)) wanted.resize(wanted.size() - kEnding.size());
    const std::string folder = entry.group.empty() ? std::string() : entry.group + "/";
    if (exists(folder + wanted)) return folder + wanted;
    // "ncu.default" of profiling/ncu is its "default".
    const std::string prefix = last_part(entry.group) + ".";
    if (wanted.starts_with(prefix) && exists(folder + wanted.substr(prefix.size()))) {
      return folder + wanted.substr(prefix.size());
    }
    if (entry.optional) return std::string();
    return no_such_choice(entry, choice, wanted);
  }

  [[nodiscard]] tl::unexpected<Error> no_such_choice(const DefaultsEntry& entry,
                                                     const ConfigNode& choice,
                                                     const std::string& wanted) const {
    const std::vector<std::string> names =
        entry.group.empty() ? conf_.names_in("") : conf_.names_under(entry.group);
    const auto elsewhere = std::ranges::find_if(names, [&](const std::string& name) {
      return name.ends_with("/" + wanted) || wanted.ends_with("/" + name);
    });
    const std::string hint = elsewhere != names.end()
                                 ? did_you_mean(std::optional<std::string>(*elsewhere))
                                 : did_you_mean(wanted, names);
    const std::string told = to_printable(shortened(wanted, kLongestName));
    if (entry.group.empty()) {
      return tree_.wrong(choice, fmt::format("there is no {}.yaml in conf{}", told, hint));
    }
    return tree_.wrong(choice, fmt::format("unknown value '{}' for {}{} {}", told, entry.group,
                                           hint.empty() ? "; available:" : hint + " Available:",
                                           fmt::join(names, ", ")));
  }

  Result<void> apply_the_rest() {
    std::vector<Override> changes;
    for (const GroupOverride& group : groups_) {
      if (group.used) continue;
      // "~key" may mean a key that has a folder's name.
      if (group.change.action == OverrideAction::remove && group.change.package.empty()) {
        changes.push_back(group.change);
      } else {
        return group_is_not_listed(group.change);
      }
    }
    changes.insert(changes.end(), values_.begin(), values_.end());
    return apply_overrides(tree_.root, changes);
  }

  [[nodiscard]] tl::unexpected<Error> group_is_not_listed(const Override& change) const {
    for (const std::string& group : listed_) {
      if (!change.key.starts_with(group + "/")) continue;
      return change.wrong(fmt::format("the group is '{}': write {}={}/{}", group, group,
                                      change.key.substr(group.size() + 1), change.value.text));
    }
    const std::string mount = change.package.empty() ? std::string() : "@" + change.package;
    return change.wrong(fmt::format(
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

}  // namespace

Result<ComposedConfig> compose(const ConfFiles& conf, std::string_view primary,
                               std::span<const std::string> overrides,
                               const ComposeContext& context) {
  return Composition(conf, std::string(primary), context).composed(overrides);
}

}  // namespace llmprof::config
