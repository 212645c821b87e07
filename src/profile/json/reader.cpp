#include "profile/json/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.h"

namespace llmprof::profile {
namespace json {
namespace {

// Keeps the file's order, which values by name need.
using Json = nlohmann::ordered_json;

constexpr std::string_view kRemedy = "write it again with `llmprof analyze`";

class Reader {
 public:
  bool read(const Json& json, const Type& type, void* value) {
    if (type.nullable) {
      if (json.is_null()) {
        type.reset(value);
        return true;
      }
      value = type.emplace(value);
    }
    switch (type.kind) {
      case Type::Kind::boolean:
        return take<bool>(json.is_boolean(), "true or false", json, value);
      case Type::Kind::number:
        return take<double>(json.is_number(), "a number", json, value);
      case Type::Kind::text:
        return take<std::string>(json.is_string(), "a text", json, value);
      case Type::Kind::word:
        return json.is_string() && type.set_word(value, json.get_ref<const std::string&>())
                   ? true
                   : refuse_word(type, json);
      case Type::Kind::integer:
        return json.is_number_integer() && type.set_integer(value, json.get<int64_t>())
                   ? true
                   : refuse("an integer", json);
      case Type::Kind::count:
        return json.is_number_unsigned() && type.set_count(value, json.get<uint64_t>())
                   ? true
                   : refuse("a count", json);
      case Type::Kind::list:
        return read_list(json, type, value);
      case Type::Kind::by_name:
        return read_by_name(json, type, value);
      case Type::Kind::object:
        return read_object(json, type, value);
    }
    return false;
  }

  // "stages[1].wall_ms: expected an object, found a text".
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool refuse(std::string_view expected, const Json& json) {
    problem_ = fmt::format("{}: expected {}, found {}", path_.empty() ? "the top" : path_, expected,
                           json.type_name());
    return false;
  }

  bool refuse_word(const Type& type, const Json& json) {
    return refuse(fmt::format("a word such as {}", type.names.front().name), json);
  }

  template <class T>
  bool take(bool fits, std::string_view expected, const Json& json, void* value) {
    if (!fits) return refuse(expected, json);
    *static_cast<T*>(value) = json.get<T>();
    return true;
  }

  bool read_object(const Json& json, const Type& type, void* value) {
    if (!json.is_object()) return refuse("an object", json);
    for (const Type::Field& field : type.fields) {
      const auto found = json.find(field.name);
      if (found == json.end()) continue;
      const std::string step = path_.empty() ? field.name : '.' + field.name;
      if (!read_at(step, *found, field.type, static_cast<char*>(value) + field.offset)) {
        return false;
      }
    }
    return true;
  }

  bool read_by_name(const Json& json, const Type& type, void* value) {
    if (!json.is_object()) return refuse("an object", json);
    type.resize(value, json.size());
    size_t index = 0;
    for (const auto& [name, entry] : json.items()) {
      if (!read_key(name, *type.key, type.key_at(value, index)) ||
          !read_at(fmt::format("[\"{}\"]", name), entry, *type.element, type.at(value, index))) {
        return false;
      }
      ++index;
    }
    return true;
  }

  bool read_key(const std::string& name, const Type& type, void* value) {
    if (type.kind == Type::Kind::word) {
      return type.set_word(value, name) ? true : refuse_word(type, name);
    }
    *static_cast<std::string*>(value) = name;
    return true;
  }

  bool read_list(const Json& json, const Type& type, void* value) {
    if (!json.is_array()) return refuse("a list", json);
    if (!type.length) {
      type.resize(value, json.size());
    } else if (json.size() != *type.length) {
      return refuse(fmt::format("a list of {}", *type.length), json);
    }
    for (size_t i = 0; i < json.size(); ++i) {
      if (!read_at(fmt::format("[{}]", i), json[i], *type.element, type.at(value, i))) return false;
    }
    return true;
  }

  bool read_at(std::string_view step, const Json& json, const Type& type, void* value) {
    const size_t before = path_.size();
    path_ += step;
    const bool good = read(json, type, value);
    path_.resize(before);
    return good;
  }

  std::string path_;
  std::string problem_;
};

// Rejects anything that is not a profile before reading any of it.
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

Result<Json> parse(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return fail_input(fmt::format("not valid JSON at byte {}", error.byte));
  } catch (const Json::exception&) {
    return fail_input("not valid JSON: a number in it is too large");
  }
}

}  // namespace

Result<void> read_json_text(std::string_view text, const Type& type, void* value) {
  const auto parsed = parse(text);
  if (!parsed) return fail_with(parsed.error());
  Reader reader;
  if (!reader.read(*parsed, type, value)) return fail_input(reader.problem());
  return {};
}

}  // namespace json

Result<Profile> from_json(std::string_view text) {
  const auto parsed = json::parse(text);
  if (!parsed) {
    return fail_input(
        fmt::format("{}; write it again with llmprof analyze", parsed.error().message));
  }
  if (const auto foreign = json::why_foreign(*parsed)) return fail_input(*foreign);
  Profile profile;
  json::Reader reader;
  if (!reader.read(*parsed, json::profile_type(), &profile)) {
    return fail_input(fmt::format("{}; {}", reader.problem(), json::kRemedy));
  }
  return profile;
}

Result<Profile> read_profile(const std::filesystem::path& file) {
  const auto begins_object = [](std::string_view head) {
    const size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    return first != std::string_view::npos && head[first] == '{';
  };
  const auto text = read_file(file, begins_object);
  if (!text) return fail_with(text.error());
  auto profile = from_json(*text);
  if (!profile) return fail_with(profile.error().within(file.string()));
  return profile;
}

}  // namespace llmprof::profile
