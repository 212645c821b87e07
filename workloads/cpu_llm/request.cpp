#include "cpu_llm/request.h"

#include "cpu_llm/random_numbers.h"

namespace cpu_llm {
namespace {

// Weights use the streams of random numbers counted from 0.
constexpr uint64_t kPromptStreams = 1UL << 32U;

class Stopwatch {
 public:
  explicit Stopwatch(const Decoder& decoder) : decoder_(decoder) {}
  [[nodiscard]] StageTiming stop() const {
    return {llmprof_now_ns() - start_ns_, decoder_.total_cost() - cost_before_,
            decoder_.total_delay_ns() - delay_before_ns_};
  }

 private:
  const Decoder& decoder_;
  OperatorCost cost_before_ = decoder_.total_cost();
  int64_t delay_before_ns_ = decoder_.total_delay_ns();
  int64_t start_ns_ = llmprof_now_ns();
};

std::vector<Token> step(Decoder& decoder, std::span<const Token> tokens) {
  return decoder.sample(decoder.add(tokens));
}

// Timed outside the annotated range, as in a program without annotations.
std::vector<Token> prefill(Decoder& decoder, std::span<const Token> prompts, size_t batch) {
  const AnnotatedRange range("prefill");
  llmprof_step(LLMPROF_STEP_PREFILL, static_cast<uint32_t>(batch), prompts.size());
  return step(decoder, prompts);
}

std::vector<Token> decode_step(Decoder& decoder, std::span<const Token> tokens) {
  const AnnotatedRange range("decode_step");
  llmprof_step(LLMPROF_STEP_DECODE, static_cast<uint32_t>(tokens.size()), tokens.size());
  return step(decoder, tokens);
}

void decode_all(Decoder& decoder, std::vector<Token> last, size_t steps, RequestResult& result) {
  const AnnotatedRange range("decode_all");
  for (size_t i = 0; i < steps; ++i) {
    const Stopwatch watch(decoder);
    last = decode_step(decoder, last);
    result.timing.decode_steps_ns.push_back(watch.stop().wall_ns);
    result.tokens.insert(result.tokens.end(), last.begin(), last.end());
  }
}

}  // namespace

std::vector<Token> random_prompts(size_t tokens, size_t batch, size_t vocabulary, uint64_t seed,
                                  uint64_t request) {
  const RandomNumbers numbers(seed, kPromptStreams + request);
  std::vector<Token> prompts(tokens * batch);
  for (size_t i = 0; i < prompts.size(); ++i) {
    prompts[i] = static_cast<Token>(numbers.below(vocabulary, i));
  }
  return prompts;
}

RequestResult run_request(Decoder& decoder, std::span<const Token> prompts, size_t batch,
                          size_t new_tokens) {
  decoder.begin();
  RequestResult result;
  const Stopwatch prefill_watch(decoder);
  result.tokens = prefill(decoder, prompts, batch);
  result.timing.prefill = prefill_watch.stop();
  if (new_tokens > 1) {
    const Stopwatch decode_watch(decoder);
    decode_all(decoder, result.tokens, new_tokens - 1, result);
    result.timing.decode = decode_watch.stop();
  }
  return result;
}

}  // namespace cpu_llm
