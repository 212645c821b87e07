#include <algorithm>
#include <functional>

#include "analysis/shown/shown_times.h"

namespace llmprof::analysis::shown {
namespace {

using profile::RequestFigure;
using profile::Requests;
using profile::RequestTimes;

std::optional<profile::Share> added(std::optional<profile::Milliseconds> recorded,
                                    std::optional<profile::Milliseconds> alone) {
  if (!recorded || !alone || alone->value <= 0) return std::nullopt;
  return profile::Share{recorded->value / alone->value - 1};
}

void show_parts(Requests& requests) {
  Nanoseconds all = 0;
  for (const auto& [part, time] : requests.parts) all += time.value;
  if (all <= 0 || requests.completed == 0) return;
  for (const auto& [part, time] : requests.parts) {
    requests.shown.parts.push_back(
        {part,
         profile::to_milliseconds(static_cast<double>(time.value) /
                                  static_cast<double>(requests.completed)),
         {static_cast<double>(time.value) / static_cast<double>(all)}});
  }
  std::ranges::stable_sort(requests.shown.parts, std::ranges::greater(),
                           &profile::RequestPartShown::share);
}

}  // namespace

void show_requests(Requests& requests) {
  requests.shown = {};
  show_parts(requests);
  if (!requests.unrecorded) return;
  const auto add = [&](RequestFigure figure, const RequestTimes& recorded,
                       const RequestTimes& alone) {
    requests.shown.recording.push_back(
        {figure, added(recorded.p50, alone.p50), added(recorded.p99, alone.p99)});
  };
  const profile::UnrecordedRequests& alone = *requests.unrecorded;
  add(RequestFigure::ttft, requests.ttft, alone.ttft);
  add(RequestFigure::itl, requests.itl, alone.itl);
  add(RequestFigure::tpot, requests.tpot, alone.tpot);
  add(RequestFigure::e2e, requests.e2e, alone.e2e);
}

}  // namespace llmprof::analysis::shown
