#include "load/open_request.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace llmprof::load {
namespace {

constexpr int kOk = 200;
constexpr size_t kMostWholeBytes = 16UL << 20U;
constexpr size_t kMostErrorBytes = 64UL << 10U;

}  // namespace

OpenRequest::OpenRequest(RequestRecord begun)
    : record_(std::move(begun)), events_([this](std::string_view /*event*/, std::string_view data) {
        const uint64_t tokens = answer_.tokens_in(data);
        if (tokens == 0) return;
        // Events that arrived together are one chunk: nothing distinguishes their times.
        if (!record_.chunks.empty() && record_.chunks.back().arrival_ns == arrival_ns_) {
          record_.chunks.back().tokens += tokens;
        } else {
          record_.chunks.push_back({arrival_ns_, tokens});
        }
      }) {}

bool OpenRequest::on_sent(const http::SendTimes& times) {
  const bool was_sent = record_.sent_ns.has_value();
  record_.sent_ns = times.sent_ns;
  record_.connect_ns = times.connect_ns;
  return was_sent;
}

void OpenRequest::on_head(const http::AnswerHead& head) {
  status_ = head.status;
  if (head.status != kOk) {
    form_ = Form::error;
  } else {
    form_ = contains(head.content_type, "application/json") ? Form::whole : Form::stream;
  }
}

void OpenRequest::on_body(std::string_view bytes, int64_t arrival_ns) {
  arrival_ns_ = arrival_ns;
  if (form_ == Form::stream) {
    events_.feed(bytes);
  } else if (whole_.size() < (form_ == Form::whole ? kMostWholeBytes : kMostErrorBytes)) {
    whole_.append(bytes);
  }
}

RequestRecord OpenRequest::on_end(const http::ExchangeOutcome& outcome, bool was_stopped) {
  if (form_ == Form::whole && outcome.end == http::ExchangeEnd::complete) {
    const uint64_t tokens = answer_.tokens_in_whole(whole_);
    if (tokens > 0) record_.chunks.push_back({arrival_ns_, tokens});
  }
  decide(outcome, was_stopped);
  record_.end_ns = outcome.at_ns;
  record_.resent = outcome.resent;
  if (answer_.prompt_tokens) record_.prompt_tokens = answer_.prompt_tokens;
  record_.output_tokens = answer_.output_tokens ? answer_.output_tokens : answer_.tokens();
  record_.cached_tokens = answer_.cached_tokens;
  record_.timings = answer_.timings;
  return std::move(record_);
}

void OpenRequest::decide(const http::ExchangeOutcome& outcome, bool was_stopped) {
  using http::ExchangeEnd;
  if (was_stopped || outcome.end == ExchangeEnd::timed_out ||
      outcome.end == ExchangeEnd::cancelled) {
    record_.status = RequestStatus::cancelled;
    record_.error = was_stopped ? "the load was interrupted" : outcome.error;
  } else if (outcome.end == ExchangeEnd::failed) {
    record_.status = RequestStatus::failed;
    record_.error = outcome.error;
  } else if (status_ != kOk) {
    record_.status = RequestStatus::failed;
    record_.error = fmt::format("HTTP {}: {}", status_, message_in(whole_));
  } else if (outcome.end == ExchangeEnd::cut) {
    record_.status = RequestStatus::cut;
    record_.error = outcome.error;
  } else if (!answer_.error().empty()) {
    record_.status = RequestStatus::failed;
    record_.error = answer_.error();
  } else if (!answer_.has_ended()) {
    record_.status = RequestStatus::cut;
    record_.error = "the stream ended without [DONE] or a finish reason";
  } else {
    record_.status = RequestStatus::completed;
  }
}

}  // namespace llmprof::load
