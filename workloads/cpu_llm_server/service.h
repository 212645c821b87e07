#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cpu_llm_server/completions.h"
#include "cpu_llm_server/engine.h"
#include "http/event_loop.h"
#include "http/server.h"

namespace cpu_llm_server {

// Answers HTTP requests with what the engine generates. Used on the loop's thread alone.
class Service {
 public:
  Service(llmprof::http::EventLoop& loop, std::string model, EngineOptions options,
          Journal* journal);

  void handle(const llmprof::http::ServerRequest& request,
              const std::shared_ptr<llmprof::http::Responder>& responder);

 private:
  struct Answer {
    Completion completion;
    bool stream = false;
    bool include_usage = false;
    std::string name;  // x-request-id
    std::shared_ptr<llmprof::http::Responder> responder;
  };

  void generate(Api api, const llmprof::http::ServerRequest& request,
                const std::shared_ptr<llmprof::http::Responder>& responder);
  void deliver(const std::vector<GeneratedToken>& tokens);
  static void deliver_to(Answer& answer, const GeneratedToken& token);
  static void finish(Answer& answer);

  std::string model_;
  size_t vocabulary_;
  uint64_t named_ = 0;
  std::map<RequestId, Answer> answers_;
  Engine engine_;
};

}  // namespace cpu_llm_server
