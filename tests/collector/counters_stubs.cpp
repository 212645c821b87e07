#include "counters_stubs.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/driver/driver.h"
#include "collector/recorder.h"

namespace llmprof::counter_tests {
namespace {

// The head of a record in the pipe; its bytes follow.
struct Frame {
  uint32_t type;
  uint32_t bytes;
  pid_t writer;
};
constexpr uint32_t kText = UINT32_MAX;  // the type of a text, whose keys count from 1

int pipe_end = -1;
uint32_t texts = 0;

void send(uint32_t type, const std::string& bytes) {
  const Frame frame = {type, static_cast<uint32_t>(bytes.size()), getpid()};
  std::string message(sizeof frame, '\0');
  std::memcpy(message.data(), &frame, sizeof frame);
  message += bytes;
  if (write(pipe_end, message.data(), message.size()) < 0) _exit(2);
}

std::string read_all(int end) {
  std::string all;
  char buffer[65536];
  for (ssize_t n = 0; (n = read(end, buffer, sizeof buffer)) > 0;) {
    all.append(buffer, static_cast<size_t>(n));
  }
  return all;
}

template <class Value>
Value value_at(const std::string& bytes, size_t place) {
  Value value{};
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

class Parser {
 public:
  Recorded parse(const std::string& all) {
    for (size_t place = 0; place < all.size();) {
      const auto frame = value_at<Frame>(all, place);
      add(frame, all.substr(place + sizeof frame, frame.bytes));
      place += sizeof frame + frame.bytes;
    }
    return std::move(recorded_);
  }

 private:
  void add(const Frame& frame, const std::string& bytes) {
    if (frame.type == kText) {
      texts_.push_back(bytes);
      return;
    }
    recorded_.writers.push_back(frame.writer);
    switch (static_cast<wire::RecordType>(frame.type)) {
      case wire::RecordType::counter_set:
        return add_set(bytes);
      case wire::RecordType::counter_sample:
        return add_sample(bytes);
      case wire::RecordType::short_counter_sample:
        return add_short_sample(bytes);
      case wire::RecordType::counters_off:
        recorded_.off.push_back(text(value_at<wire::CountersOff>(bytes, 0).reason));
        return;
      case wire::RecordType::counters_lost:
        recorded_.lost += value_at<wire::CountersLost>(bytes, 0).times;
        return;
      default:
        recorded_.off.emplace_back("a record that counters do not write");
    }
  }

  void add_set(const std::string& bytes) {
    Set set{value_at<wire::CounterSet>(bytes, 0), {}};
    for (size_t place = sizeof set.head; place < bytes.size();
         place += sizeof(wire::CounterColumn)) {
      const auto column = value_at<wire::CounterColumn>(bytes, place);
      set.columns.push_back({text(column.name), text(column.unit)});
    }
    recorded_.sets.push_back(std::move(set));
  }

  void add_sample(const std::string& bytes) {
    Sample sample{value_at<wire::CounterSample>(bytes, 0), {}};
    for (size_t place = sizeof sample.head; place < bytes.size(); place += sizeof(double)) {
      sample.values.push_back(value_at<double>(bytes, place));
    }
    recorded_.samples.push_back(std::move(sample));
  }

  void add_short_sample(const std::string& bytes) {
    const auto head = value_at<wire::ShortCounterSample>(bytes, 0);
    Sample sample{{head.start, head.start + head.duration, head.set, head.count}, {}};
    for (size_t i = 0; i < head.count; ++i) {
      sample.values.push_back(double{value_at<float>(bytes, sizeof head + i * sizeof(float))});
    }
    recorded_.samples.push_back(std::move(sample));
  }

  [[nodiscard]] std::string text(wire::StringKey key) const { return texts_.at(key - 1); }

  std::vector<std::string> texts_;
  Recorded recorded_;
};

}  // namespace

Machine& machine() {
  static Machine instance;
  return instance;
}

Recorded run(const std::function<void()>& scenario) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return {};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    pipe_end = ends[1];
    scenario();
    _exit(0);
  }
  close(ends[1]);
  Recorded recorded = Parser().parse(read_all(ends[0]));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  recorded.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return recorded;
}

}  // namespace llmprof::counter_tests

namespace llmprof::collector {

using counter_tests::machine;

bool write_device_record(wire::RecordType type, const void* head, size_t head_bytes,
                         const void* tail, size_t tail_bytes) {
  std::string bytes(static_cast<const char*>(head), head_bytes);
  if (tail_bytes != 0) bytes.append(static_cast<const char*>(tail), tail_bytes);
  counter_tests::send(static_cast<uint32_t>(type), bytes);
  return true;
}

wire::StringKey text_key(const char* text) {
  counter_tests::send(counter_tests::kText, text);
  return ++counter_tests::texts;
}

bool load_cupti() { return true; }
const char* cupti_path() { return "/opt/fake/libcupti.so.12"; }
uint32_t cupti_version() { return 18; }
void* cupti_symbol(const char* name) {
  if (name == machine().missing_symbol) return nullptr;
  return dlsym(machine().cupti != nullptr ? machine().cupti : RTLD_DEFAULT, name);
}

uint32_t find_devices() { return machine().devices; }
bool device_in_use(uint32_t device) {
  const auto& used = machine().in_use;
  return std::find(used.begin(), used.end(), device) != used.end();
}
bool pci_bus_id(uint32_t /*device*/, char (&id)[kDeviceNameBytes]) {
  std::snprintf(id, sizeof id, "%s", machine().pci_bus_id.c_str());
  return !machine().pci_bus_id.empty();
}
bool device_uuid(uint32_t /*device*/, char (&id)[kDeviceNameBytes]) {
  std::snprintf(id, sizeof id, "GPU-739f9fdb-80c6-58f1-6ba1-94770d447aca");
  return true;
}

}  // namespace llmprof::collector
