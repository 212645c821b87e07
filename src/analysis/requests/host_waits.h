#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/budget/budget_basis.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// When the host had read the results of a batch, and when it had chosen the last token.
struct BatchEnd {
  Nanoseconds results_read = 0;
  Nanoseconds last_chosen = 0;
};

// The host's waits for results. One that waits for a requested result does so at once; one that
// continues with the batch's next pass prepares that first. Between the waits for the rows of a
// batch, the host chooses a token; a wait right before another call belongs to that call. The
// capture's own times show what is at once, right before, and too long for a token.
class HostWaits {
 public:
  // `reads`: copies of results to the host; UINT32_MAX: none.
  HostWaits(const trace::Trace& trace, std::span<const uint32_t> reads);

  // None if the host did not wait for this copy, or the capture has no calls.
  [[nodiscard]] std::optional<BatchEnd> after(size_t copy) const;
  // The same for other work: the call that requested it, and its end.
  [[nodiscard]] std::optional<BatchEnd> after(trace::LaunchRow asked, Nanoseconds done) const;

 private:
  // The call that requested work, and the thread's calls from there on.
  struct Request {
    Nanoseconds end = 0;
    std::span<const uint32_t> calls;
    size_t next = 0;
  };

  [[nodiscard]] std::optional<Request> request_of(trace::LaunchRow asked) const;
  [[nodiscard]] bool waits_next(const Request& request) const {
    return request.next < request.calls.size() && is_wait(request.calls[request.next]);
  }
  [[nodiscard]] Nanoseconds until_wait(const Request& request) const {
    return trace_.launches.start[request.calls[request.next]] - request.end;
  }
  // From the thread's previous call to the next one.
  [[nodiscard]] Nanoseconds since_last(const Request& request) const;
  [[nodiscard]] bool is_wait(uint32_t row) const {
    return trace_.api_kind(trace_.launches.api[row]) == trace::ApiKind::synchronization;
  }
  [[nodiscard]] Nanoseconds last_wait(std::span<const uint32_t> rows, size_t at,
                                      Nanoseconds results) const;

  const trace::Trace& trace_;
  CallsByThread calls_;
  Nanoseconds at_once_ = 0;
  Nanoseconds directly_ = 0;
  Nanoseconds one_token_ = INT64_MAX;
};

}  // namespace llmprof::analysis
