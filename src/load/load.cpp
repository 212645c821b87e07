#include "load/load.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "http/event_loop.h"
#include "load/open_request.h"
#include "load/prepared_bodies.h"

namespace llmprof::load {
namespace {

constexpr int64_t kLoadMs = 1'000'000;
// Connections and prompts are prepared in it.
constexpr int64_t kLeadNs = 20 * kLoadMs;
constexpr int64_t kBetweenLooksNs = 20 * kLoadMs;
// As many failures before any answer: there is nothing to measure.
constexpr uint64_t kHopelessFailures = 50;

// Every open stream is a socket.
void allow_many_sockets() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Times are exact where the thread runs as soon as it has something to do. Only root may have a
// higher priority; without it, lateness says what that costs.
void hurry() {
  constexpr int kPriority = -10;
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // ns; the usual 50 us would make every wait longer
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kPriority);
}

class Load {
 public:
  Load(const LoadPlan& plan, RecordWriter& record)
      : plan_(plan),
        record_(record),
        arrival_(loop_),
        look_(loop_),
        client_(http::Client::create(loop_, plan.client)),
        bodies_(plan.schedule.size(), [&plan](size_t number) {
          const Prompt prompt = plan.prompts.make(number, plan.schedule[number], plan.form.as_ids);
          return PreparedBody{body_of(plan.form, prompt, plan.schedule[number].new_tokens),
                              prompt.tokens};
        }) {
    outcome_.counts.planned = plan.schedule.size();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() = default;

  LoadOutcome run() {
    allow_many_sockets();
    hurry();
    begin_ns_ = http::monotonic_ns() + kLeadNs;
    last_end_ns_ = begin_ns_;
    if (plan_.arrivals == Arrivals::closed) {
      arrival_.start_at(begin_ns_, [this] {
        for (size_t each = 0; each < plan_.concurrency; ++each) send_next(http::monotonic_ns());
        end_if_done();
      });
    } else {
      wait_for_arrival();
    }
    look_.start_at(begin_ns_, [this] { look(); });
    loop_.run();
    outcome_.duration_ns = last_end_ns_ - begin_ns_;
    judge();
    return std::move(outcome_);
  }

 private:
  using Requests = std::unordered_map<uint64_t, std::unique_ptr<OpenRequest>>;

  [[nodiscard]] bool all_sent() const {
    return is_over_ || next_ == plan_.schedule.size() ||
           (plan_.arrivals == Arrivals::closed && plan_.duration_ns &&
            http::monotonic_ns() >= begin_ns_ + *plan_.duration_ns);
  }

  void wait_for_arrival() {
    if (all_sent()) {
      end_if_done();
      return;
    }
    arrival_.start_at(begin_ns_ + plan_.schedule[next_].at_ns, [this] {
      // All that are due: answers are never waited for.
      while (!all_sent()) {
        const int64_t due_ns = begin_ns_ + plan_.schedule[next_].at_ns;
        if (due_ns > http::monotonic_ns()) break;
        send_next(due_ns);
      }
      wait_for_arrival();
    });
  }

  void send_next(int64_t scheduled_ns) {
    if (all_sent()) return;
    const size_t number = next_++;
    PreparedBody body = bodies_.take();
    RequestRecord begun;
    begun.id = number;
    begun.scheduled_ns = scheduled_ns;
    begun.prompt_tokens = body.prompt_tokens;
    begun.max_tokens = plan_.schedule[number].new_tokens;
    auto made = std::make_unique<OpenRequest>(std::move(begun));
    OpenRequest* open = made.get();
    open_.emplace(number, std::move(made));
    ++outcome_.counts.sent;
    http::ClientRequest request{"POST", plan_.headers, std::move(body.text), plan_.timeout_ns};
    request.headers.emplace_back("X-Request-Id", plan_.id_prefix + std::to_string(number));
    http::ExchangeEvents events;
    events.sent = [this, open, scheduled_ns](const http::SendTimes& times) {
      const bool was_sent = open->on_sent(times);
      // Where it is sent again, the server's closing of connections made it late.
      if (!was_sent) lateness_.push_back(times.sent_ns - scheduled_ns - times.connect_ns);
    };
    events.head = [open](const http::AnswerHead& head) { open->on_head(head); };
    events.body = [open](std::string_view bytes, int64_t arrival_ns) {
      open->on_body(bytes, arrival_ns);
    };
    events.end = [this, number](const http::ExchangeOutcome& outcome) { ended(number, outcome); };
    const auto exchange = client_->send(plan_.endpoint, request, std::move(events));
    // It may have ended already.
    if (const auto found = open_.find(number); found != open_.end()) {
      found->second->exchange = exchange;
    }
  }

  void ended(uint64_t number, const http::ExchangeOutcome& outcome) {
    const auto found = open_.find(number);
    const std::unique_ptr<OpenRequest> open = std::move(found->second);
    open_.erase(found);
    const AnswerReader& answer = open->answer();
    if (!outcome_.counted_by) outcome_.counted_by = answer.counted_by();
    const uint64_t tokens = answer.tokens();
    RequestRecord record = open->on_end(outcome, is_stopped_);
    hide_secrets(record.error);
    count(record, tokens);
    last_end_ns_ = std::max(last_end_ns_, outcome.at_ns);
    const int64_t end_ns = outcome.at_ns;
    record_.add(std::move(record));
    const LoadCounts& counts = outcome_.counts;
    if (counts.completed + counts.cut == 0 && counts.failed >= kHopelessFailures) is_over_ = true;
    if (plan_.arrivals == Arrivals::closed && !all_sent()) {
      // Not within the end of the other: a server that refuses at once would make the stack grow.
      loop_.post([this, end_ns] {
        send_next(end_ns);
        end_if_done();
      });
    } else {
      end_if_done();
    }
  }

  void count(const RequestRecord& record, uint64_t tokens) {
    LoadCounts& counts = outcome_.counts;
    if (record.resent) ++counts.resent;
    switch (record.status) {
      case RequestStatus::completed:
        ++counts.completed;
        counts.tokens += tokens;
        return;
      case RequestStatus::failed:
        ++counts.failed;
        break;
      case RequestStatus::cut:
        ++counts.cut;
        break;
      case RequestStatus::cancelled:
        ++counts.cancelled;
        break;
    }
    if (outcome_.first_error.empty() && !is_stopped_) outcome_.first_error = record.error;
  }

  void hide_secrets(std::string& text) const {
    for (const std::string& secret : plan_.secrets) {
      for (size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
        text.replace(at, secret.size(), "***");
      }
    }
  }

  void end_if_done() {
    if (all_sent() && open_.empty()) loop_.stop();
  }

  // Looks from time to time whether somebody wants the load to end.
  void look() {
    if (plan_.stop != nullptr && plan_.stop->load()) {
      is_stopped_ = true;
      is_over_ = true;
      std::vector<http::Client::ExchangeId> exchanges;
      for (const auto& [number, open] : open_) exchanges.push_back(open->exchange);
      for (const auto exchange : exchanges) client_->cancel(exchange);
    }
    end_if_done();
    look_.start_at(http::monotonic_ns() + kBetweenLooksNs, [this] { look(); });
  }

  void judge() {
    outcome_.was_stopped = is_stopped_;
    outcome_.lateness = measure_lateness(lateness_);
    const double span_ns = plan_.arrivals == Arrivals::closed
                               ? static_cast<double>(outcome_.duration_ns)
                               : static_cast<double>(plan_.schedule.back().at_ns);
    const uint64_t sent =
        plan_.arrivals == Arrivals::closed ? outcome_.counts.sent : outcome_.counts.planned;
    const double count = static_cast<double>(std::max<uint64_t>(sent, 1));
    outcome_.not_held = why_not_held(lateness_, span_ns / count);
  }

  const LoadPlan& plan_;
  RecordWriter& record_;
  http::EventLoop loop_;
  http::Timer arrival_;
  http::Timer look_;
  Requests open_;
  std::unique_ptr<http::Client> client_;
  PreparedBodies bodies_;
  size_t next_ = 0;
  int64_t begin_ns_ = 0;
  int64_t last_end_ns_ = 0;
  std::vector<int64_t> lateness_;
  LoadOutcome outcome_;
  bool is_over_ = false;     // nothing more is sent
  bool is_stopped_ = false;  // what is open was cancelled
};

// Counts requests as they are written, for the progress line.
class ShownCounts {
 public:
  explicit ShownCounts(Progress& progress) : progress_(&progress) {}

  void operator()(const RequestRecord& request) {
    const bool is_completed = request.status == RequestStatus::completed;
    ++(is_completed ? completed_ : others_);
    progress_->next_step(fmt::format("{} completed, {} failed", completed_, others_));
  }

 private:
  Progress* progress_;
  uint64_t completed_ = 0;
  uint64_t others_ = 0;
};

RecordFields fields_at_the_end(const LoadOutcome& outcome) {
  RecordFields fields;
  if (outcome.lateness) {
    fields.emplace_back(
        "lateness_ns", fmt::format("{{\"p50\":{},\"p99\":{},\"max\":{}}}", outcome.lateness->p50_ns,
                                   outcome.lateness->p99_ns, outcome.lateness->max_ns));
  }
  if (outcome.counted_by) {
    fields.emplace_back("tokens_counted_by", json_text(word_of(*outcome.counted_by)));
  }
  fields.emplace_back("not_sent", std::to_string(outcome.counts.planned - outcome.counts.sent));
  fields.emplace_back("interrupted", outcome.was_stopped ? "true" : "false");
  fields.emplace_back("held", outcome.not_held ? "false" : "true");
  if (outcome.not_held) fields.emplace_back("not_held", json_text(*outcome.not_held));
  return fields;
}

}  // namespace

Result<LoadOutcome> run_load(const LoadPlan& plan, const std::filesystem::path& record,
                             Progress& progress) {
  if (plan.schedule.empty()) {
    return fail(ErrorKind::usage, "the load has no request; make it longer, or its rate higher");
  }
  // On the writer's thread: a terminal that is slow to show progress must not make the load late.
  progress.begin_steps("load", plan.schedule.size());
  auto writer = RecordWriter::open(record, plan.record_head, ShownCounts(progress));
  if (!writer) return fail_with(writer.error());
  LoadOutcome outcome = Load(plan, **writer).run();
  if (auto written = (*writer)->finish(fields_at_the_end(outcome)); !written) {
    return fail_with(written.error());
  }
  return outcome;
}

}  // namespace llmprof::load
