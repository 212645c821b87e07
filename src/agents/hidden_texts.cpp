#include "agents/hidden_texts.h"

#include "base/secrets/secrets.h"
#include "profile/json/described.h"
#include "query/described/without_paths.h"

namespace llmprof::agents {
namespace {

using profile::json::Type;
using Kind = Type::Kind;

void hide_in(const Type& type, void* value) {
  if (type.nullable) value = const_cast<void*>(type.content(value));
  if (value == nullptr) return;
  switch (type.kind) {
    case Kind::text: {
      auto& text = *static_cast<std::string*>(value);
      text = query::without_full_paths(text);
      break;
    }
    case Kind::object:
      for (const Type::Field& field : type.fields) {
        hide_in(field.type, static_cast<char*>(value) + field.offset);
      }
      break;
    case Kind::list:
    case Kind::by_name:
      for (size_t i = 0; i < type.size(value); ++i) {
        if (type.kind == Kind::by_name) hide_in(*type.key, type.key_at(value, i));
        hide_in(*type.element, type.at(value, i));
      }
      break;
    default:
      break;
  }
}

}  // namespace

void hide_paths(profile::Profile& profile) { hide_in(profile::json::profile_type(), &profile); }

const std::string& HiddenTexts::hidden(const std::string& text) {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  return known_.emplace(text, show_paths_ ? without_secrets(text) : query::without_full_paths(text))
      .first->second;
}

void HiddenTexts::hide_in(mcp::Json& value) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    text = hidden(text);
  } else if (value.is_structured()) {
    for (mcp::Json& each : value) hide_in(each);
  }
}

}  // namespace llmprof::agents
