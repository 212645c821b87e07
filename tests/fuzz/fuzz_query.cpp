// Any text as a statement of `llmprof query`, over a profile with every table and a small trace.
// It may fail, but not crash, hang, or change what another statement answers.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/database.h"
#include "testing/hand_made_trace.h"
#include "testing/sample_profile.h"

namespace {

using llmprof::query::Database;

class Rows final : public llmprof::query::AnswerSink {
 public:
  void begin(const std::vector<llmprof::query::AnswerColumn>& /*columns*/) override {}
  void row(std::span<const llmprof::query::Value> values) override {
    ++rows;
    last = values.empty() ? llmprof::query::Value() : values[0];
  }
  size_t rows = 0;
  llmprof::query::Value last;
};

llmprof::query::Events events() {
  llmprof::testing::HandMadeTrace trace;
  constexpr llmprof::Nanoseconds kStep = 100;
  for (llmprof::Nanoseconds at = 0; at < 40 * kStep; at += kStep) {
    trace.kernel(at % (3 * kStep) == 0 ? "gemm" : "norm", at, at + 10, at + 50);
    trace.copy(at, at + 60, at + 70);
  }
  trace.range("decode", 0, 20 * kStep);
  llmprof::query::Events made;
  made.trace = trace.freeze();
  return made;
}

std::unique_ptr<Database> open() {
  std::vector<llmprof::query::Run> runs(1);
  runs[0].name = "sample";
  runs[0].profile = llmprof::testing::requests_sample();
  runs[0].read_events = [] {
    std::vector<llmprof::query::Events> all;
    all.push_back(events());
    return llmprof::Result<std::vector<llmprof::query::Events>>(std::move(all));
  };
  auto database = Database::open(std::move(runs));
  if (!database) std::abort();
  return std::move(*database);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  static const std::unique_ptr<Database> database = open();
  constexpr size_t kRows = 50;
  llmprof::query::Limits limits;
  limits.rows = kRows;
  limits.memory = 64 << 20;
  limits.time = std::chrono::milliseconds(200);
  Rows rows;
  const std::string_view sql(reinterpret_cast<const char*>(data), size);
  const auto answer = database->ask({sql, {}, limits}, rows);
  if (rows.rows > kRows || (answer && answer->rows != rows.rows)) {
    std::fprintf(stderr, "more rows than the limit, or than the answer says\n");
    std::abort();
  }
  Rows check;
  const auto same = database->ask({"SELECT count(*) FROM kernels", {}, {}}, check);
  if (!same || check.rows != 1 || check.last.integer != 40) {
    std::fprintf(stderr, "the statement changed what others answer\n");
    std::abort();
  }
  return 0;
}
