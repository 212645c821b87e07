// Client and server on one loop.
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "base/text.h"
#include "http/client.h"
#include "http/raw_server_test.h"
#include "http/server.h"

namespace llmprof::http {
namespace {

struct Seen {
  int status = 0;
  std::string body;
  size_t pieces = 0;
  SendTimes times;
  std::vector<int64_t> arrivals;
  ExchangeOutcome outcome;
};

class Exchange : public testing::Test {
 protected:
  void serve(Server::Handler handler, const ServerLimits& limits = {}) {
    server_ = std::move(*Server::listen(loop_, 0, std::move(handler), limits));
  }
  [[nodiscard]] Endpoint endpoint(std::string target = "/", uint16_t port = 0) const {
    return {{false, "127.0.0.1", port == 0 ? server_->port() : port, std::move(target)},
            {"127.0.0.1"}};
  }
  Client::ExchangeId send(ClientRequest request, Seen& seen, const Endpoint& place,
                          std::function<void()> then = {}) {
    ExchangeEvents events;
    events.sent = [&seen](const SendTimes& times) { seen.times = times; };
    events.head = [&seen](const AnswerHead& head) { seen.status = head.status; };
    events.body = [&seen](std::string_view bytes, int64_t arrival_ns) {
      seen.body.append(bytes);
      ++seen.pieces;
      seen.arrivals.push_back(arrival_ns);
    };
    events.end = [this, &seen, then](const ExchangeOutcome& outcome) {
      seen.outcome = outcome;
      if (then) {
        then();
      } else {
        loop_.stop();
      }
    };
    return client_->send(place, request, std::move(events));
  }
  Seen exchange(const ClientRequest& request, const Endpoint& place) {
    Seen seen;
    send(request, seen, place);
    loop_.run();
    return seen;
  }
  static ClientRequest post(std::string body) {
    return {"POST", {{"Content-Type", "application/json"}}, std::move(body), 5'000'000'000};
  }

  EventLoop loop_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_ = Client::create(loop_);
};

TEST_F(Exchange, BringsTheRequestAndTheAnswer) {
  ServerRequest got;
  serve([&](ServerRequest request, const std::shared_ptr<Responder>& responder) {
    got = request;
    responder->answer(201, "text/plain", "made " + request.body, {{"X-Kind", "test"}});
  });
  const Seen seen = exchange(post("a thing"), endpoint("/things?kind=1"));
  EXPECT_EQ(seen.status, 201);
  EXPECT_EQ(seen.body, "made a thing");
  EXPECT_EQ(seen.outcome.end, ExchangeEnd::complete) << seen.outcome.error;
  EXPECT_EQ(got.method, "POST");
  EXPECT_EQ(got.target, "/things?kind=1");
  EXPECT_EQ(got.path(), "/things");
  EXPECT_EQ(got.header("content-type"), "application/json");
  EXPECT_LE(seen.times.sent_ns, got.arrival_ns);
  EXPECT_LE(got.arrival_ns, seen.arrivals.at(0));
  EXPECT_LE(seen.arrivals.at(0), seen.outcome.at_ns);
  EXPECT_GT(seen.times.connect_ns, 0);
}

TEST_F(Exchange, UsesAConnectionAgain) {
  serve([&](const ServerRequest& request, const std::shared_ptr<Responder>& responder) {
    responder->answer(200, "", request.body);
  });
  for (int i = 0; i < 5; ++i) {
    const Seen seen = exchange(post(std::to_string(i)), endpoint());
    EXPECT_EQ(seen.body, std::to_string(i));
    EXPECT_EQ(seen.times.connect_ns == 0, i > 0);
  }
  EXPECT_EQ(client_->opened_connections(), 1U);
  EXPECT_EQ(server_->connections(), 1U);
}

TEST_F(Exchange, StreamsChunksAsTheyAreSent) {
  Timer timer(loop_);
  int left = 5;
  std::function<void()> next;
  std::vector<int64_t> sent;
  serve([&](const ServerRequest&, const std::shared_ptr<Responder>& responder) {
    responder->begin_stream(200, "text/event-stream");
    next = [&, responder] {
      if (left-- == 0) {
        responder->end_stream();
        return;
      }
      sent.push_back(monotonic_ns());
      responder->send("data: " + std::to_string(left) + "\n\n");
      timer.start_at(monotonic_ns() + 2'000'000, next);
    };
    next();
  });
  const Seen seen = exchange(post(""), endpoint());
  next = nullptr;
  EXPECT_EQ(seen.outcome.end, ExchangeEnd::complete) << seen.outcome.error;
  EXPECT_EQ(seen.body, "data: 4\n\ndata: 3\n\ndata: 2\n\ndata: 1\n\ndata: 0\n\n");
  ASSERT_EQ(seen.pieces, 5U);
  for (size_t i = 0; i < 5; ++i) EXPECT_LT(sent[i], seen.arrivals[i]);
  for (size_t i = 0; i + 1 < 5; ++i) EXPECT_LT(seen.arrivals[i], sent[i + 1]);
}

TEST_F(Exchange, CarriesLargeBodiesBothWays) {
  serve([&](ServerRequest request, const std::shared_ptr<Responder>& responder) {
    responder->answer(200, "", std::move(request.body));
  });
  std::string body(20U << 20U, 'x');
  body.back() = 'y';
  const Seen seen = exchange(post(body), endpoint());
  EXPECT_EQ(seen.outcome.end, ExchangeEnd::complete) << seen.outcome.error;
  EXPECT_TRUE(seen.body == body);
}

TEST_F(Exchange, RefusesWhatIsTooLarge) {
  int handled = 0;
  serve(
      [&](const ServerRequest&, const std::shared_ptr<Responder>& responder) {
        ++handled;
        responder->answer(200, "", "");
      },
      {.header_bytes = 1000, .body_bytes = 1000});
  EXPECT_EQ(exchange(post(std::string(1001, 'x')), endpoint()).status, 413);
  ClientRequest request;
  request.headers.emplace_back("X-Long", std::string(2000, 'x'));
  EXPECT_EQ(exchange(request, endpoint()).status, 431);
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(exchange(post(std::string(1000, 'x')), endpoint()).status, 200);
}

TEST_F(Exchange, NoticesThatTheClientIsGone) {
  bool gone = false;
  std::shared_ptr<Responder> kept;
  serve([&](const ServerRequest&, std::shared_ptr<Responder> responder) {
    responder->begin_stream(200, "text/event-stream");
    responder->send("data: 1\n\n");
    responder->on_gone([&] {
      gone = true;
      loop_.stop();
    });
    kept = std::move(responder);
  });
  Seen seen;
  const auto id = send(post(""), seen, endpoint(), [] {});
  Timer timer(loop_);
  timer.start_at(monotonic_ns() + 20'000'000, [&] { client_->cancel(id); });
  loop_.run();
  EXPECT_TRUE(gone);
  EXPECT_TRUE(kept->is_gone());
  kept->send("nobody reads this");
  EXPECT_EQ(seen.outcome.end, ExchangeEnd::cancelled);
  EXPECT_EQ(seen.body, "data: 1\n\n");
  EXPECT_EQ(server_->connections(), 0U);
}

TEST_F(Exchange, AnswersForAResponderThatIsDropped) {
  bool begin = false;
  serve([&](const ServerRequest&, const std::shared_ptr<Responder>& responder) {
    if (begin) responder->begin_stream(200, "");
  });
  EXPECT_EQ(exchange(post(""), endpoint()).status, 500);
  begin = true;
  const Seen cut = exchange(post(""), endpoint());
  EXPECT_EQ(cut.outcome.end, ExchangeEnd::cut);
}

TEST_F(Exchange, AnswersFromAnotherThread) {
  std::thread worker;
  serve([&](const ServerRequest&, std::shared_ptr<Responder> responder) {
    worker = std::thread([this, responder = std::move(responder)]() mutable {
      loop_.post([responder] { responder->answer(200, "", "from a thread"); });
      responder.reset();
    });
  });
  EXPECT_EQ(exchange(post(""), endpoint()).body, "from a thread");
  worker.join();
}

TEST_F(Exchange, LimitsTheTimeOfAnExchange) {
  std::shared_ptr<Responder> kept;
  serve([&](const ServerRequest&, std::shared_ptr<Responder> responder) {
    kept = std::move(responder);
  });
  ClientRequest request = post("");
  request.timeout_ns = 30'000'000;
  const int64_t begin = monotonic_ns();
  const Seen seen = exchange(request, endpoint());
  EXPECT_EQ(seen.outcome.end, ExchangeEnd::timed_out);
  EXPECT_GE(seen.outcome.at_ns - begin, 30'000'000);
}

TEST_F(Exchange, SendsAgainWhereAKeptConnectionWasClosed) {
  RawServer raw({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1",
                 "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"});
  // The server closes the first connection right behind its answer, in which case the second
  // request is sent again, or later, in which case it finds no kept connection.
  EXPECT_EQ(exchange(post("a"), endpoint("/", raw.port)).body, "1");
  EXPECT_EQ(exchange(post("b"), endpoint("/", raw.port)).body, "2");
  raw.wait();
  EXPECT_EQ(raw.requests.size(), 2U);
}

TEST_F(Exchange, HoldsThousandsOfOpenStreams) {
  constexpr size_t kStreams = 2000;
  std::vector<std::shared_ptr<Responder>> open;
  serve([&](const ServerRequest&, std::shared_ptr<Responder> responder) {
    responder->begin_stream(200, "text/event-stream");
    responder->send("a");
    open.push_back(std::move(responder));
    if (open.size() < kStreams) return;
    for (const auto& each : open) {
      each->send("b");
      each->end_stream();
    }
  });
  std::vector<Seen> seen(kStreams);
  size_t ended = 0;
  for (Seen& each : seen) {
    send(post(""), each, endpoint(), [&] {
      if (++ended == kStreams) loop_.stop();
    });
  }
  loop_.run();
  for (const Seen& each : seen) ASSERT_EQ(each.body, "ab") << each.outcome.error;
}

TEST_F(Exchange, RunsTimersInTheirOrder) {
  Timer first(loop_);
  Timer second(loop_);
  Timer cancelled(loop_);
  const int64_t begin = monotonic_ns();
  std::vector<int> order;
  second.start_at(begin + 2'000'000, [&] {
    order.push_back(2);
    loop_.stop();
  });
  first.start_at(begin + 1'000'000, [&] { order.push_back(0); });
  first.start_at(begin + 1'000'000, [&] { order.push_back(1); });
  cancelled.start_at(begin, [&] { order.push_back(3); });
  cancelled.cancel();
  loop_.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_GE(monotonic_ns(), begin + 2'000'000);
}

TEST_F(Exchange, SurvivesAClientThatEndsInTheMiddle) {
  std::shared_ptr<Responder> kept;
  serve([&](const ServerRequest&, std::shared_ptr<Responder> responder) {
    kept = std::move(responder);
    loop_.stop();
  });
  Seen seen;
  send(post(""), seen, endpoint());
  loop_.run();
  client_.reset();
  Timer timer(loop_);
  timer.start_at(monotonic_ns() + 5'000'000, [&] { loop_.stop(); });
  loop_.run();
  EXPECT_TRUE(kept->is_gone());
  server_.reset();
  kept.reset();
}

}  // namespace
}  // namespace llmprof::http
