#include "load/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "load/random.h"

namespace llmprof::load {
namespace {

constexpr double kSecond = 1e9;

enum Stream : uint64_t { kArrivalStream, kPromptStream, kNewTokensStream };

}  // namespace

std::string_view word_of(Arrivals arrivals) {
  constexpr std::array<std::string_view, 4> kWords = {"poisson", "constant", "replay", "closed"};
  return kWords.at(static_cast<size_t>(arrivals));
}

Result<TokenRange> parse_token_range(std::string_view text, std::string_view option) {
  constexpr int64_t kMostTokens = 10'000'000;
  const size_t colon = text.find(':');
  const auto least = parse_int(text.substr(0, colon));
  const auto most = colon == std::string_view::npos ? least : parse_int(text.substr(colon + 1));
  if (!least || !most || *least < 1 || *most < *least || *most > kMostTokens) {
    return fail(ErrorKind::usage,
                fmt::format("{}: '{}' is not a number of tokens; give one (512) or a range "
                            "(128:1024), from 1 to {}",
                            option, to_printable(text), kMostTokens));
  }
  return TokenRange{static_cast<uint64_t>(*least), static_cast<uint64_t>(*most)};
}

std::vector<PlannedRequest> make_schedule(const ScheduleWish& wish) {
  Random arrivals(wish.seed, kArrivalStream);
  Random prompts(wish.seed, kPromptStream);
  Random new_tokens(wish.seed, kNewTokensStream);
  const double gap_ns = wish.rate > 0 ? kSecond / wish.rate : 0;
  std::vector<PlannedRequest> schedule;
  double at_ns = 0;
  for (size_t number = 0; number < wish.requests; ++number) {
    if (wish.arrivals == Arrivals::poisson) {
      at_ns += arrivals.exponential(gap_ns);
    } else if (wish.arrivals == Arrivals::constant) {
      at_ns = static_cast<double>(number) * gap_ns;
    }
    PlannedRequest request;
    request.at_ns = static_cast<int64_t>(at_ns);
    if (wish.duration_ns && request.at_ns >= *wish.duration_ns) break;
    request.prompt_tokens = prompts.between(wish.prompt_tokens.least, wish.prompt_tokens.most);
    request.new_tokens = new_tokens.between(wish.new_tokens.least, wish.new_tokens.most);
    schedule.push_back(std::move(request));
  }
  return schedule;
}

std::vector<PlannedRequest> fitted(std::vector<PlannedRequest> replayed, double speed,
                                   std::optional<size_t> requests,
                                   std::optional<int64_t> duration_ns) {
  std::ranges::stable_sort(replayed, {}, &PlannedRequest::at_ns);
  if (requests && replayed.size() > *requests) replayed.resize(*requests);
  const int64_t first_ns = replayed.empty() ? 0 : replayed.front().at_ns;
  for (PlannedRequest& request : replayed) {
    request.at_ns = static_cast<int64_t>(static_cast<double>(request.at_ns - first_ns) / speed);
  }
  if (duration_ns) {
    std::erase_if(replayed, [&](const PlannedRequest& each) { return each.at_ns >= *duration_ns; });
  }
  return replayed;
}

}  // namespace llmprof::load
