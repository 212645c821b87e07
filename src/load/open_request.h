#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/client.h"
#include "load/answer.h"
#include "load/record.h"
#include "load/sse.h"

namespace llmprof::load {

// A request that was sent, and what has arrived of its answer.
class OpenRequest {
 public:
  explicit OpenRequest(RequestRecord begun);
  OpenRequest(const OpenRequest&) = delete;
  OpenRequest& operator=(const OpenRequest&) = delete;
  ~OpenRequest() = default;

  // Whether it was sent before: this is a repetition.
  bool on_sent(const http::SendTimes& times);
  void on_head(const http::AnswerHead& head);
  void on_body(std::string_view bytes, int64_t arrival_ns);
  // Completes the record. `was_stopped`: we ended it.
  RequestRecord on_end(const http::ExchangeOutcome& outcome, bool was_stopped);

  [[nodiscard]] const AnswerReader& answer() const { return answer_; }
  http::Client::ExchangeId exchange = 0;

 private:
  enum class Form : uint8_t { stream, whole, error };

  void decide(const http::ExchangeOutcome& outcome, bool was_stopped);

  RequestRecord record_;
  AnswerReader answer_;
  SseParser events_;
  Form form_ = Form::error;
  int status_ = 0;
  int64_t arrival_ns_ = 0;
  std::string whole_;  // an answer that is no stream, or an error
};

}  // namespace llmprof::load
