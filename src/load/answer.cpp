#include "load/answer.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace llmprof::load {
namespace {

using nlohmann::json;

constexpr size_t kShownCharacters = 300;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<uint64_t> count_of(const json& object, const char* key) {
  const json* value = member(object, key);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<uint64_t>();
}

bool has_text(const json& object, const char* key) {
  const json* value = member(object, key);
  return value != nullptr &&
         ((value->is_string() && !value->get_ref<const std::string&>().empty()) ||
          (value->is_array() && !value->empty()));
}

// Text of any kind counts: an answer, reasoning, a call of a tool.
bool brings_text(const json& choice) {
  if (has_text(choice, "text")) return true;
  const json* delta = member(choice, "delta");
  if (delta == nullptr) delta = member(choice, "message");
  if (delta == nullptr) return false;
  return has_text(*delta, "content") || has_text(*delta, "reasoning_content") ||
         has_text(*delta, "reasoning") || has_text(*delta, "tool_calls");
}

std::string text_of_error(const json& error) {
  if (error.is_string()) return error.get<std::string>();
  for (const char* key : {"message", "detail", "error"}) {
    if (const json* text = member(error, key)) {
      return text->is_string() ? text->get<std::string>() : text->dump();
    }
  }
  return error.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

struct AnswerReader::Event {
  bool has_text = false;
  std::optional<uint64_t> listed;  // tokens in its list
  std::optional<uint64_t> so_far;  // tokens of the answer up to it
};

std::string_view word_of(TokenCount count) {
  constexpr std::array<std::string_view, 3> kWords = {"chunks", "lists", "usage"};
  return kWords.at(static_cast<size_t>(count));
}

uint64_t AnswerReader::count(const Event& event) {
  const bool brings = event.has_text || event.listed.value_or(0) > 0 ||
                      (counted_by_ == TokenCount::usage && event.so_far.value_or(0) > tokens_);
  if (!brings) return 0;
  // The first chunk with tokens decides: a server that counts only at the end would otherwise give
  // its last chunk the tokens of others.
  if (!counted_by_) {
    counted_by_ = event.listed                   ? TokenCount::lists
                  : event.so_far.value_or(0) > 0 ? TokenCount::usage
                                                 : TokenCount::chunks;
  }
  uint64_t number = 1;
  if (*counted_by_ == TokenCount::lists) number = event.listed.value_or(1);
  if (*counted_by_ == TokenCount::usage && event.so_far) {
    number = *event.so_far - std::min(*event.so_far, tokens_);
  }
  tokens_ += number;
  return number;
}

uint64_t AnswerReader::tokens_in(std::string_view data) {
  if (trim(data) == "[DONE]") {
    has_ended_ = true;
    return 0;
  }
  const json object = json::parse(data, nullptr, false);
  if (!object.is_object()) {
    if (error_.empty()) error_ = "the stream has data that are not a JSON object";
    return 0;
  }
  if (const json* error = member(object, "error")) {
    if (error_.empty()) error_ = shortened(to_printable(text_of_error(*error)), kShownCharacters);
    return 0;
  }
  Event event;
  if (const json* usage = member(object, "usage")) {
    event.so_far = count_of(*usage, "completion_tokens");
    if (event.so_far) output_tokens = event.so_far;
    if (const auto count = count_of(*usage, "prompt_tokens")) prompt_tokens = count;
    if (const json* details = member(*usage, "prompt_tokens_details")) {
      if (const auto count = count_of(*details, "cached_tokens")) cached_tokens = count;
    }
  }
  if (const json* server = member(object, "timings"); server != nullptr && server->is_object()) {
    timings = server->dump(-1, ' ', false, json::error_handler_t::replace);
    if (const auto count = count_of(*server, "cache_n")) cached_tokens = count;
  }
  const json* choices = member(object, "choices");
  if (choices == nullptr) {  // llama-server
    event.has_text = has_text(object, "content");
    if (const json* list = member(object, "tokens"); list != nullptr && list->is_array()) {
      event.listed = list->size();
    }
    const json* stop = member(object, "stop");
    const bool is_last = stop != nullptr && stop->is_boolean() && stop->get<bool>();
    if (is_last) {
      has_ended_ = true;
      if (const auto count = count_of(object, "tokens_evaluated")) prompt_tokens = count;
      if (const auto count = count_of(object, "tokens_predicted")) output_tokens = count;
    }
    return count(event);
  }
  if (!choices->is_array() || choices->empty()) return 0;  // the usage alone
  const json& choice = choices->front();
  event.has_text = brings_text(choice);
  if (const json* list = member(choice, "token_ids"); list != nullptr && list->is_array()) {
    event.listed = list->size();
  }
  if (member(choice, "finish_reason") != nullptr) has_ended_ = true;
  return count(event);
}

uint64_t AnswerReader::tokens_in_whole(std::string_view body) {
  uint64_t number = tokens_in(body);
  has_ended_ = error_.empty();
  if (number > 0 && output_tokens && counted_by_ != TokenCount::usage) {
    number = *output_tokens;
    tokens_ = number;
    counted_by_ = TokenCount::usage;
  }
  return number;
}

std::string message_in(std::string_view body) {
  const json object = json::parse(body, nullptr, false);
  std::string text(body);
  if (object.is_object()) {
    const json* error = member(object, "error");
    text = text_of_error(error != nullptr ? *error : object);
  }
  return shortened(to_printable(trim(text)), kShownCharacters);
}

}  // namespace llmprof::load
