#include "load/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "load/random.h"

namespace llmprof::load {
namespace {

using nlohmann::json;

constexpr size_t kLargestFile = 1UL << 30U;
constexpr uint64_t kBlockTokens = 512;  // Mooncake's
constexpr uint64_t kPromptsStream = 16;
constexpr uint64_t kBlocksStream = 17;

// Common words of English: one token each with the space before them in the usual vocabularies.
constexpr std::array<std::string_view, 128> kCommonWords = {
    "the",   "of",     "and",    "to",     "in",    "is",      "that", "for",     "it",    "as",
    "was",   "with",   "be",     "by",     "on",    "not",     "he",   "this",    "are",   "or",
    "his",   "from",   "at",     "which",  "but",   "have",    "an",   "had",     "they",  "you",
    "were",  "their",  "one",    "all",    "we",    "can",     "her",  "has",     "there", "been",
    "if",    "more",   "when",   "will",   "would", "who",     "so",   "no",      "what",  "up",
    "time",  "about",  "than",   "into",   "could", "other",   "some", "only",    "new",   "them",
    "two",   "may",    "then",   "do",     "first", "any",     "my",   "now",     "such",  "like",
    "our",   "over",   "man",    "me",     "even",  "most",    "made", "after",   "also",  "did",
    "many",  "must",   "before", "back",   "see",   "through", "way",  "where",   "get",   "much",
    "well",  "your",   "know",   "should", "down",  "work",    "year", "because", "come",  "people",
    "just",  "say",    "each",   "those",  "take",  "day",     "good", "how",     "long",  "own",
    "too",   "little", "use",    "very",   "great", "still",   "men",  "here",    "life",  "both",
    "under", "last",   "part",   "never",  "place", "found",   "home", "water"};

// One token after the other, as ids or as words.
class PromptBuilder {
 public:
  PromptBuilder(bool as_ids, uint64_t first_id, uint64_t last_id)
      : as_ids_(as_ids), first_id_(first_id), last_id_(last_id) {}

  void add(Random& random, uint64_t tokens) {
    for (uint64_t at = 0; at < tokens; ++at) {
      if (as_ids_) {
        prompt.ids.push_back(static_cast<uint32_t>(random.between(first_id_, last_id_)));
      } else {
        if (!prompt.text.empty()) prompt.text += ' ';
        prompt.text += kCommonWords.at(random.next() % kCommonWords.size());
      }
    }
  }

  Prompt prompt;

 private:
  bool as_ids_;
  uint64_t first_id_;
  uint64_t last_id_;
};

Result<Prompt> prompt_of_line(std::string_view line) {
  Prompt prompt;
  if (!line.starts_with('{')) {
    prompt.text = line;
    return prompt;
  }
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return fail_input("it begins like JSON and is not valid JSON");
  if (const auto messages = object.find("messages");
      messages != object.end() && messages->is_array()) {
    prompt.messages = messages->dump(-1, ' ', false, json::error_handler_t::replace);
    return prompt;
  }
  const auto text = object.find("prompt");
  if (text != object.end() && text->is_string()) {
    prompt.text = text->get<std::string>();
    return prompt;
  }
  if (text != object.end() && text->is_array() && !text->empty()) {
    for (const json& id : *text) {
      if (!id.is_number_unsigned()) return fail_input("its prompt is not a list of token ids");
      prompt.ids.push_back(id.get<uint32_t>());
    }
    prompt.tokens = prompt.ids.size();
    return prompt;
  }
  return fail_input("it has neither `prompt` nor `messages`");
}

}  // namespace

Prompts::Prompts(uint64_t seed, std::optional<uint64_t> vocabulary) : seed_(seed) {
  // Beyond the bytes and special tokens at the begin of usual vocabularies, and below their end,
  // where others have theirs.
  constexpr uint64_t kFirst = 1000;
  constexpr uint64_t kLast = 9999;
  const uint64_t size = std::max<uint64_t>(vocabulary.value_or(2 * kLast), 8);
  last_id_ = std::min(kLast, size - size / 8 - 1);
  first_id_ = std::min(kFirst, last_id_ / 2);
}

Result<Prompts> Prompts::from_lines(std::string_view content) {
  Prompts prompts(0, std::nullopt);
  size_t number = 0;
  for (const std::string_view line : split(content, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    auto prompt = prompt_of_line(trim(line));
    if (!prompt) return fail_with(prompt.error().within(fmt::format("line {}", number)));
    prompts.has_messages_ = prompts.has_messages_ || !prompt->messages.empty();
    prompts.lines_.push_back(std::move(*prompt));
  }
  if (prompts.lines_.empty()) return fail_input("it has no prompt");
  return prompts;
}

Result<Prompts> Prompts::from_file(const std::filesystem::path& path) {
  const auto content = read_all(path, kLargestFile);
  if (!content) return fail_with(content.error());
  auto prompts = from_lines(*content);
  if (!prompts) return fail_with(prompts.error().within(path.string()));
  return prompts;
}

Prompt Prompts::make(size_t number, const PlannedRequest& planned, bool as_ids) const {
  if (!lines_.empty()) return lines_[number % lines_.size()];
  PromptBuilder builder(as_ids, first_id_, last_id_);
  uint64_t left = planned.prompt_tokens;
  for (const uint64_t block : planned.blocks) {
    Random random(seed_, mixed(kBlocksStream, block));
    const uint64_t tokens = std::min(left, kBlockTokens);
    builder.add(random, tokens);
    left -= tokens;
  }
  Random random(seed_, mixed(kPromptsStream, number));
  builder.add(random, left);
  builder.prompt.tokens = planned.prompt_tokens;
  return std::move(builder.prompt);
}

}  // namespace llmprof::load
