#include "cpu_llm_server/engine.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>

#include "cpu_llm/annotations.h"
#include "cpu_llm/matrix_product.h"

namespace cpu_llm_server {
namespace {

// The sequences of a step, and their new tokens.
struct StepSizes {
  size_t prompts = 0;
  size_t prompt_tokens = 0;
  size_t decodes = 0;

  [[nodiscard]] llmprof_step_kind kind() const {
    if (prompts == 0) return LLMPROF_STEP_DECODE;
    return decodes == 0 ? LLMPROF_STEP_PREFILL : LLMPROF_STEP_MIXED;
  }
  // As conf/stages.yaml reads it.
  [[nodiscard]] std::string label() const {
    return fmt::format("engine_step prefill={}({}) decode={}({})", prompts, prompt_tokens, decodes,
                       decodes);
  }
};

StepSizes sizes_of(const StepPlan& plan) {
  StepSizes sizes;
  for (const StepPart& part : plan.parts) {
    if (part.prompt) {
      ++sizes.prompts;
      sizes.prompt_tokens += part.added;
    } else {
      ++sizes.decodes;
    }
  }
  return sizes;
}

cpu_llm::Pass pass_of(const StepPlan& plan) {
  std::vector<cpu_llm::Chunk> chunks;
  chunks.reserve(plan.parts.size());
  for (const StepPart& part : plan.parts) {
    chunks.push_back({part.slot, part.cached, part.added, part.gets_token});
  }
  return cpu_llm::Pass(std::move(chunks));
}

}  // namespace

Engine::Engine(EngineOptions options, Journal* journal, TokensHandler on_tokens)
    : options_(std::move(options)),
      journal_(journal),
      on_tokens_(std::move(on_tokens)),
      workers_(options_.threads),
      weights_(cpu_llm::random_weights(options_.shape, options_.seed, workers_)),
      decoder_(weights_, options_.limits.slots, options_.limits.cache_tokens, workers_),
      scheduler_(options_.limits),
      faults_(options_.faults) {
  cpu_llm::leave_threads_to_workers();
  thread_ = std::thread([this] { run(); });
}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    inbox_.stop = true;
  }
  changed_.notify_one();
  thread_.join();
}

RequestId Engine::submit(Submission submission) {
  RequestId id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_++;
    inbox_.submitted.emplace_back(id, std::move(submission));
  }
  changed_.notify_one();
  return id;
}

void Engine::cancel(RequestId request) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.canceled.push_back(request);
  }
  changed_.notify_one();
}

void Engine::run() {
  bool idle = true;
  while (take_inbox(idle)) {
    change_faults();
    const StepPlan plan = scheduler_.plan();
    idle = plan.empty();
    if (!idle) step(plan);
  }
}

bool Engine::take_inbox(bool wait) {
  Inbox taken;
  {
    std::unique_lock lock(mutex_);
    const auto arrived = [&] { return !inbox_.empty(); };
    const auto fault_ends = faults_.next_end_ns();
    if (wait && fault_ends) {
      changed_.wait_for(lock, std::chrono::nanoseconds(*fault_ends - llmprof_now_ns()), arrived);
    } else if (wait) {
      changed_.wait(lock, arrived);
    }
    taken = std::exchange(inbox_, {});
  }
  if (taken.stop) return false;
  for (auto& [id, submission] : taken.submitted) {
    faults_.first_request_at(submission.arrival_ns);
    if (journal_ != nullptr) {
      journal_->request(id, submission.name, submission.arrival_ns, submission.prompt.size(),
                        submission.limits);
    }
    if (options_.annotate_requests) ranges_.name(id, submission.name);
    scheduler_.add(id, std::move(submission.prompt), submission.limits);
  }
  for (const RequestId id : taken.canceled) {
    scheduler_.cancel(id);
    ranges_.forget(id);
    if (journal_ != nullptr) journal_->canceled(id, llmprof_now_ns());
  }
  return true;
}

void Engine::change_faults() {
  const auto changes =
      faults_.changes_at(llmprof_now_ns(), {scheduler_.running() > 0, scheduler_.decoding() > 0});
  for (const Fault& fault : changes.end) end_fault(fault);
  for (const Fault& fault : changes.begin) begin_fault(fault);
}

void Engine::begin_fault(const Fault& fault) {
  const int64_t start_ns = llmprof_now_ns();
  std::optional<RequestId> evicted;
  switch (fault.kind) {
    case FaultKind::pause:
      std::this_thread::sleep_for(std::chrono::nanoseconds(fault.for_ns));
      break;
    case FaultKind::evict:
      evicted = scheduler_.evict();
      break;
    case FaultKind::slow_layer:
      decoder_.slow_down(fault.slow);
      break;
  }
  const int64_t end_ns =
      fault.kind == FaultKind::pause ? llmprof_now_ns() : start_ns + fault.for_ns;
  if (journal_ != nullptr) journal_->fault(fault, {start_ns, end_ns}, evicted);
}

void Engine::end_fault(const Fault& fault) {
  if (fault.kind == FaultKind::evict) scheduler_.release();
  if (fault.kind == FaultKind::slow_layer) decoder_.slow_down(std::nullopt);
}

std::vector<Token> Engine::compute(const StepPlan& plan) {
  const StepSizes sizes = sizes_of(plan);
  const cpu_llm::AnnotatedRange range(sizes.label().c_str());
  llmprof_step(sizes.kind(), static_cast<uint32_t>(plan.parts.size()), plan.tokens.size());
  const auto logits = decoder_.run(pass_of(plan), plan.tokens);
  return logits.empty() ? std::vector<Token>() : decoder_.sample(logits);
}

void Engine::step(const StepPlan& plan) {
  const int64_t slowed_before_ns = decoder_.total_delay_ns();
  Span time;
  for (const RequestId request : plan.preempted) ranges_.leave(request);
  for (const StepPart& part : plan.parts) ranges_.enter(part.request);
  time.start_ns = llmprof_now_ns();
  const std::vector<Token> sampled = compute(plan);
  time.end_ns = llmprof_now_ns();
  std::vector<GeneratedToken> generated = scheduler_.complete(plan, sampled);
  if (journal_ != nullptr) {
    journal_->step(steps_, time, plan, generated, decoder_.total_delay_ns() - slowed_before_ns);
  }
  for (const GeneratedToken& token : generated) {
    if (token.finish != FinishReason::none) ranges_.forget(token.request);
  }
  ++steps_;
  if (!generated.empty()) on_tokens_(std::move(generated));
}

}  // namespace cpu_llm_server
