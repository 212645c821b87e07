#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cpu_llm_server/scheduler.h"

// The bodies of OpenAI's completions and chat completions, as far as the server supports them. A
// word is a token: its model has random weights, so that texts mean nothing.
namespace cpu_llm_server {

enum class Api : uint8_t { completions, chat };

struct CompletionRequest {
  std::vector<Token> prompt;
  GenerationLimits limits;
  bool stream = false;
  bool include_usage = false;
};

// The token that ends a generation, unless the request ignores it.
inline constexpr Token kEndToken = 0;

// Token ids beyond the vocabulary wrap around. An error of kind input says what is wrong.
llmprof::Result<CompletionRequest> read_completion_request(Api api, std::string_view body,
                                                           size_t vocabulary);

// " w17": of one token.
std::string text_of(Token token);

// An answer so far.
struct Completion {
  Api api = Api::completions;
  std::string id;
  std::string model;
  int64_t created = 0;  // seconds since 1970
  size_t prompt_tokens = 0;
  std::vector<Token> tokens;
  FinishReason finish = FinishReason::none;
};

// The whole answer as JSON.
std::string completion_json(const Completion& completion);

// Events of a stream, each "data: {...}\n\n". Of chat, the first one states the role; of the last
// token, `finish` is set.
std::string role_event(const Completion& completion);
std::string token_event(const Completion& completion, Token token, FinishReason finish);
std::string usage_event(const Completion& completion);
inline constexpr std::string_view kDoneEvent = "data: [DONE]\n\n";

std::string models_json(std::string_view model);
// In OpenAI's form.
std::string error_json(int status, std::string_view message);

}  // namespace cpu_llm_server
