#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "http/client.h"
#include "load/api.h"
#include "load/prompts.h"

namespace llmprof::load {

// What the user said of the server.
struct TargetWish {
  http::Url url;               // the server's base, or one of its endpoints
  std::optional<Api> api;      // none: found
  std::string model;           // empty: the server's first
  std::optional<bool> as_ids;  // none: token ids where the server takes them
  std::vector<std::pair<std::string, std::string>> headers;
  http::ClientOptions client;
  std::chrono::milliseconds timeout{0};  // for each question
};

// Where and how the load is sent.
struct Target {
  http::Endpoint endpoint;
  RequestForm form;
  std::optional<uint64_t> vocabulary;
  std::string server;  // as it names itself in /v1/models ("vllm", "llamacpp"); empty: unknown
};

// The API: as wished, else by the URL's path, else by what the server answers to /props (llama.cpp)
// and /v1/models (OpenAI). Then one request for one token finds the form that the server takes, so
// that a wrong model, key or endpoint is one clear error, and not one per request. `prompts` is
// where its prompt is from, if it is a file.
Result<Target> find_target(const TargetWish& wish, const Prompts* prompts);

}  // namespace llmprof::load
