#include "compare/comparability/loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "base/units.h"

namespace llmprof::compare {
namespace {

using profile::Request;
using profile::Requests;

// Clients send equal schedules at times that differ by less (ms).
constexpr double kSameTime = 1;
// Share of the requests by which failures may differ between sides that are compared.
constexpr double kSameFailures = 0.01;
// Share of the output tokens by which sides may differ without a note.
constexpr double kSameOutput = 0.01;

std::string how_sent(const Requests& requests) {
  const profile::RequestLoad& load = requests.load;
  std::string text = load.arrivals.empty() ? "not stated" : load.arrivals;
  if (load.rate) text += fmt::format(", {:g} requests/s", *load.rate);
  if (load.concurrency) text += fmt::format(", {} at a time", *load.concurrency);
  return text;
}

std::vector<const Request*> counted_items(const Requests& requests) {
  std::vector<const Request*> items;
  for (const Request& request : requests.items) {
    if (!request.warm_up) items.push_back(&request);
  }
  return items;
}

// A load without a schedule sends the next request when another one ends.
bool has_schedule(const Requests& requests) {
  return requests.load.arrivals != "closed" &&
         std::ranges::all_of(requests.items,
                             [](const Request& request) { return request.scheduled.has_value(); });
}

struct Schedule {
  std::vector<double> after_first;  // ms

  explicit Schedule(const Requests& requests) {
    for (const Request* request : counted_items(requests)) {
      after_first.push_back(request->scheduled->value);
    }
    if (after_first.empty()) return;
    const double first = after_first.front();
    for (double& time : after_first) time -= first;
  }

  [[nodiscard]] bool equals(const Schedule& other) const {
    return std::ranges::equal(after_first, other.after_first,
                              [](double a, double b) { return std::abs(a - b) <= kSameTime; });
  }
  [[nodiscard]] std::string text() const {
    const double last = after_first.empty() ? 0 : after_first.back();
    return fmt::format("{} requests in {:.3f} s", after_first.size(),
                       last / kMillisecondsPerSecond);
  }
};

// Of the first `count` requests, as far as known.
uint64_t prompt_tokens(const std::vector<const Request*>& items, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += items[i]->prompt_tokens.value_or(0);
  return sum;
}

std::string of_failed(uint64_t failed, uint64_t sent) {
  return fmt::format("{} of {} requests", failed, sent);
}

uint64_t sum_of(std::span<const Run> runs, uint64_t Requests::* count) {
  uint64_t sum = 0;
  for (const Run& run : runs) sum += *run.profile.requests.*count;
  return sum;
}

double share_of_failed(std::span<const Run> runs) {
  const auto sent = static_cast<double>(sum_of(runs, &Requests::sent));
  return sent == 0 ? 0 : static_cast<double>(sum_of(runs, &Requests::failed)) / sent;
}

bool all_have_requests(const Sides& sides) {
  const auto has = [](const Run& run) { return run.profile.requests.has_value(); };
  return std::ranges::all_of(sides.base, has) && std::ranges::all_of(sides.now, has);
}

// Compares the load of each run with that of the base's first one.
class LoadAspects {
 public:
  explicit LoadAspects(const Requests& first) : first_(first), items_(counted_items(first)) {}

  void add(const Requests& other) {
    push(AspectKind::load, how_sent(first_), how_sent(other));
    if (how_sent(first_) != how_sent(other)) return;
    add_schedule(other);
    add_prompts(other);
  }

  std::vector<Aspect> take() { return std::move(found_); }

 private:
  // The first difference of a kind is reported.
  void push(AspectKind kind, const std::string& base, const std::string& now) {
    const bool known =
        std::ranges::any_of(found_, [&](const Aspect& each) { return each.aspect == kind; });
    if (known || base == now) return;
    found_.push_back({kind, base, now, false, {}});
  }

  void add_schedule(const Requests& other) {
    if (!has_schedule(first_) || !has_schedule(other)) return;
    const Schedule base(first_);
    const Schedule now(other);
    if (base.equals(now)) return;
    const bool same_text = base.text() == now.text();
    push(AspectKind::schedule, base.text(),
         same_text ? now.text() + ", at other times" : now.text());
  }

  void add_prompts(const Requests& other) {
    const auto others = counted_items(other);
    const size_t count = std::min(items_.size(), others.size());
    const auto text = [&](const std::vector<const Request*>& items) {
      return fmt::format("{} tokens in {} requests", prompt_tokens(items, count), count);
    };
    for (size_t i = 0; i < count; ++i) {
      const auto& base = items_[i]->prompt_tokens;
      const auto& now = others[i]->prompt_tokens;
      if (!base || !now || *base == *now) continue;
      const bool same_text = text(items_) == text(others);
      push(AspectKind::prompts, text(items_),
           same_text ? text(others) + ", of other lengths" : text(others));
      return;
    }
  }

  const Requests& first_;
  std::vector<const Request*> items_;
  std::vector<Aspect> found_;
};

}  // namespace

std::vector<Aspect> find_load_aspects(const Sides& sides) {
  if (!all_have_requests(sides)) return {};
  LoadAspects aspects(*sides.base.front().profile.requests);
  for (const std::span<const Run> runs : {sides.base, sides.now}) {
    for (const Run& run : runs) aspects.add(*run.profile.requests);
  }
  std::vector<Aspect> found = aspects.take();
  const uint64_t base_failed = sum_of(sides.base, &Requests::failed);
  const uint64_t now_failed = sum_of(sides.now, &Requests::failed);
  if (base_failed != now_failed) {
    found.push_back({AspectKind::failed_requests,
                     of_failed(base_failed, sum_of(sides.base, &Requests::sent)),
                     of_failed(now_failed, sum_of(sides.now, &Requests::sent)),
                     false,
                     {}});
  }
  const auto mean_output = [](std::span<const Run> runs) {
    const auto completed = static_cast<double>(sum_of(runs, &Requests::completed));
    return completed == 0 ? 0
                          : static_cast<double>(sum_of(runs, &Requests::output_tokens)) / completed;
  };
  const double base = mean_output(sides.base);
  const double now = mean_output(sides.now);
  if (std::abs(now - base) > kSameOutput * base) {
    found.push_back({AspectKind::output_tokens,
                     fmt::format("{:.1f} per request", base),
                     fmt::format("{:.1f} per request", now),
                     false,
                     {}});
  }
  return found;
}

std::optional<NoAnswer> why_no_answer_on_requests(const Sides& sides,
                                                  const std::vector<Aspect>& aspects) {
  for (const Aspect& aspect : aspects) {
    using enum AspectKind;
    if (aspect.aspect == load || aspect.aspect == schedule || aspect.aspect == prompts) {
      return NoAnswer::other_load;
    }
  }
  if (!all_have_requests(sides)) return std::nullopt;
  if (std::abs(share_of_failed(sides.now) - share_of_failed(sides.base)) > kSameFailures) {
    return NoAnswer::failed_requests;
  }
  return std::nullopt;
}

}  // namespace llmprof::compare
