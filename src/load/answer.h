#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof::load {

// How the tokens of a chunk are known.
enum class TokenCount : uint8_t {
  chunks,  // one per chunk that has text: the server says no more
  lists,   // the chunk lists its tokens
  usage,   // the chunk says how many there are so far
};
std::string_view word_of(TokenCount count);

// Reads the events of one streamed answer: which tokens each brings, what the server counted, how
// it ended.
class AnswerReader {
 public:
  // The number of tokens that this event's data brings.
  uint64_t tokens_in(std::string_view data);
  // An answer that is not a stream: one JSON object.
  uint64_t tokens_in_whole(std::string_view body);

  // [DONE], a finish reason or "stop": the server has said all.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  // An error that the server put into the stream, or data that are not an answer; empty: none.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] uint64_t tokens() const { return tokens_; }  // in all chunks
  [[nodiscard]] std::optional<TokenCount> counted_by() const { return counted_by_; }

  // As the server counted them.
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> output_tokens;
  std::optional<uint64_t> cached_tokens;
  std::string timings;  // JSON object of llama-server; empty: none

 private:
  struct Event;
  uint64_t count(const Event& event);

  bool has_ended_ = false;
  std::string error_;
  uint64_t tokens_ = 0;
  std::optional<TokenCount> counted_by_;
};

// What an error's body says, in one line: {"error": {"message": ...}}, {"detail": ...}, or text.
std::string message_in(std::string_view body);

}  // namespace llmprof::load
