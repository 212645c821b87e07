#include "profile/json/reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "profile/json/shape.h"

namespace llmprof::profile {
namespace json {
namespace {

// Of the file's order, which is that of values under names.
using Json = nlohmann::ordered_json;

constexpr std::string_view kRemedy = "write it again with `llmprof analyze`";

class Reader {
 public:
  template <class T>
  bool read(const Json& json, T& value) {
    if constexpr (IsOptional<T>::value) {
      if (json.is_null()) {
        value.reset();
        return true;
      }
      return read(json, value.emplace());
    } else if constexpr (IsQuantity<T>::value || std::same_as<T, WholeNanoseconds>) {
      return read(json, value.value);
    } else if constexpr (std::same_as<T, bool>) {
      return take(json.is_boolean(), "true or false", json, value);
    } else if constexpr (std::same_as<T, double>) {
      return take(json.is_number(), "a number", json, value);
    } else if constexpr (std::unsigned_integral<T>) {
      return read_unsigned(json, value);
    } else if constexpr (std::integral<T>) {
      return take(json.is_number_integer(), "an integer", json, value);
    } else if constexpr (std::same_as<T, std::string>) {
      return take(json.is_string(), "a text", json, value);
    } else if constexpr (IsByName<T>::value) {
      return read_by_name(json, value);
    } else if constexpr (Described<T>) {
      return read_struct(json, value);
    } else {
      return read_list(json, value);
    }
  }

  // "stages[1].wall_ms: expected an object, found a text".
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool refuse(std::string_view expected, const Json& json) {
    problem_ = fmt::format("{}: expected {}, found {}", path_.empty() ? "the top" : path_, expected,
                           json.type_name());
    return false;
  }

  template <class T>
  bool take(bool fits, std::string_view expected, const Json& json, T& value) {
    if (!fits) return refuse(expected, json);
    value = json.get<T>();
    return true;
  }

  template <class T>
  bool read_unsigned(const Json& json, T& value) {
    if (!json.is_number_unsigned() || json.get<uint64_t>() > std::numeric_limits<T>::max()) {
      return refuse("a count", json);
    }
    value = json.get<T>();
    return true;
  }

  template <class T>
  bool read_struct(const Json& json, T& value) {
    if (!json.is_object()) return refuse("an object", json);
    bool good = true;
    auto visit = [&](const char* field, auto member, const char* /*meaning*/) {
      if (!good) return;
      const auto found = json.find(field);
      if (found == json.end()) return;
      good = within(path_.empty() ? field : std::string(".") + field,
                    [&] { return read(*found, value.*member); });
    };
    T::fields(visit);
    return good;
  }

  template <class T>
  bool read_by_name(const Json& json, T& values) {
    if (!json.is_object()) return refuse("an object", json);
    values.clear();
    values.reserve(json.size());
    for (const auto& [name, entry] : json.items()) {
      auto& added = values.emplace_back();
      added.first = name;
      if (!within(fmt::format("[\"{}\"]", name), [&] { return read(entry, added.second); })) {
        return false;
      }
    }
    return true;
  }

  template <class T>
  bool read_list(const Json& json, T& values) {
    if (!json.is_array()) return refuse("a list", json);
    if constexpr (IsList<T>::value) {
      values.assign(json.size(), {});
    } else if (json.size() != values.size()) {
      return refuse(fmt::format("a list of {}", values.size()), json);
    }
    for (size_t i = 0; i < json.size(); ++i) {
      if (!within(fmt::format("[{}]", i), [&] { return read(json[i], values[i]); })) return false;
    }
    return true;
  }

  template <class Read>
  bool within(std::string_view step, Read read_there) {
    const size_t before = path_.size();
    path_ += step;
    const bool good = read_there();
    path_.resize(before);
    return good;
  }

  std::string path_;
  std::string problem_;
};

// Refuses what is no profile before anything of it is taken.
std::optional<std::string> why_foreign(const Json& json) {
  if (!json.is_object())
    return fmt::format("no profile of llmprof, which is a JSON object; {}", kRemedy);
  const auto version = json.find("schema_version");
  const auto kernels = json.find("kernels");
  if (version == json.end() || kernels == json.end()) {
    return fmt::format("no profile of llmprof: it has no schema_version or no kernels; {}",
                       kRemedy);
  }
  if (!version->is_number_unsigned()) {
    return fmt::format("schema_version: expected a count, found {}; {}", version->type_name(),
                       kRemedy);
  }
  if (version->get<uint64_t>() > kSchemaVersion) {
    return fmt::format(
        "schema_version {} is newer than this llmprof reads ({}); use the llmprof that wrote it, "
        "or "
        "a later one",
        version->get<uint64_t>(), kSchemaVersion);
  }
  return std::nullopt;
}

}  // namespace
}  // namespace json

Result<Profile> from_json(std::string_view text) {
  json::Json parsed;
  try {
    parsed = json::Json::parse(text);
  } catch (const json::Json::parse_error& error) {
    return fail_input(
        fmt::format("not valid JSON at byte {}; write it again with llmprof analyze", error.byte));
  }
  if (const auto foreign = json::why_foreign(parsed)) return fail_input(*foreign);
  Profile profile;
  json::Reader reader;
  if (!reader.read(parsed, profile)) {
    return fail_input(fmt::format("{}; {}", reader.problem(), json::kRemedy));
  }
  return profile;
}

Result<Profile> read_profile(const std::filesystem::path& file) {
  errno = 0;
  const auto text = file_content(file);
  if (!text) return fail_with(system_error(ErrorKind::input, file, errno));
  auto profile = from_json(*text);
  if (!profile) return fail_with(profile.error().within(file.string()));
  return profile;
}

}  // namespace llmprof::profile
