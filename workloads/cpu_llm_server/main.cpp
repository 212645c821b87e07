#include <fmt/format.h>
#include <semaphore.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <thread>

#include "cpu_llm_server/options.h"
#include "cpu_llm_server/service.h"
#include "http/event_loop.h"
#include "http/server.h"

namespace {

constexpr int kFailed = 1;

sem_t ending;

void ask_to_end(int /*signal*/) { sem_post(&ending); }

// SIGINT and SIGTERM stop the loop, so that journal and annotations are complete. With a handler,
// since BLAS has started threads that do not block signals, and also where a shell made the program
// ignore them.
class EndBySignal {
 public:
  explicit EndBySignal(llmprof::http::EventLoop& loop) {
    sem_init(&ending, 0, 0);
    struct sigaction action{};
    action.sa_handler = ask_to_end;
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
    thread_ = std::thread([&loop] {
      while (sem_wait(&ending) != 0) {
      }
      loop.stop();
    });
  }
  ~EndBySignal() {
    sem_post(&ending);
    thread_.join();
  }
  EndBySignal(const EndBySignal&) = delete;
  EndBySignal& operator=(const EndBySignal&) = delete;

 private:
  std::thread thread_;
};

int failed(const llmprof::Error& error) {
  fmt::print(stderr, "cpu_llm_server: {}\n", error.message);
  return kFailed;
}

int serve(const cpu_llm_server::ServerOptions& options) {
  using namespace cpu_llm_server;
  llmprof::http::EventLoop loop;
  std::optional<Journal> journal;
  if (!options.journal.empty()) {
    auto created = Journal::create(options.journal);
    if (!created) return failed(created.error());
    journal.emplace(std::move(*created));
  }
  Service service(loop, options.model, options.engine, journal ? &*journal : nullptr);
  auto server = llmprof::http::Server::listen(
      loop, options.port,
      [&](const llmprof::http::ServerRequest& request,
          const std::shared_ptr<llmprof::http::Responder>& responder) {
        service.handle(request, responder);
      });
  if (!server) return failed(server.error());
  const EndBySignal ends(loop);
  fmt::print("cpu_llm_server: {} answers at http://127.0.0.1:{}\n", options.model,
             (*server)->port());
  std::fflush(stdout);
  loop.run();
  return 0;
}

}  // namespace

int main(int count, char** values) {
  try {
    const auto read = cpu_llm_server::read_options(count, values);
    if (const auto* at_once = std::get_if<cpu_llm_server::Ending>(&read)) {
      fmt::print(at_once->exit_code == 0 ? stdout : stderr, "{}", at_once->text);
      return at_once->exit_code;
    }
    return serve(std::get<cpu_llm_server::ServerOptions>(read));
  } catch (const std::bad_alloc&) {
    std::fputs("cpu_llm_server: not enough memory; use fewer --layers or --cache-tokens\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cpu_llm_server: %s\n", error.what());
  }
  return kFailed;
}
