#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// A tape: what CUPTI and NVTX did for one program, in order, so that a program without a GPU can
// replay it. Made by recording_cupti.cpp with a real libcupti, or by make_tape.cpp.
//
//   file = FileHead, item, item, ...      item = ItemHead, payload, zeros up to a multiple of 8
//
// Numbers are in the byte order of the machine that wrote them. If the program was killed, the file
// may end in the middle of an item, which is ignored.
namespace llmprof::tape {

inline constexpr char kMagic[8] = {'C', 'U', 'P', 'T', 'T', 'A', 'P', 'E'};
inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kItemAlignment = 8;

struct FileHead {
  char magic[8];
  uint32_t version;
  uint32_t cupti_version;  // from cuptiGetVersion
};

enum class Kind : uint16_t {
  text = 1,          // Text
  thread_begin = 2,  // Thread; ItemHead::thread started it
  join = 3,          // Thread: waits for its last item
  api = 4,           // Api
  resource = 5,      // Resource
  activity = 6,      // Activity
  nvtx = 7,          // Nvtx
  sleep = 8,         // until ItemHead::time
  dropped = 9,       // Dropped
  memory_call = 10,  // MemoryCall
  gpu_memory = 11,   // GpuMemory
};

struct ItemHead {
  uint32_t bytes;  // of the whole item
  Kind kind;
  uint16_t thread;  // from 1, the first that did anything; 0: CUPTI's own
  int64_t time;     // ns on the clock of the activity records
};

using TextId = uint32_t;  // 0: none

// The text, without a zero, follows.
struct Text {
  TextId id;
  uint32_t length;
};
struct Thread {
  uint32_t thread;
  uint32_t reserved;
};
struct Api {
  uint32_t domain;  // CUpti_CallbackDomain
  uint32_t cbid;
  uint32_t site;  // CUpti_ApiCallbackSite
  uint32_t correlation;
  uint32_t context;
  TextId function;
  TextId symbol;        // of the kernel, in launches
  uint32_t graph_exec;  // graph that it replays, from cuptiGetGraphExecId; 0: none
};
struct Resource {
  uint32_t cbid;  // CUpti_CallbackIdResource
  uint32_t context;
  uint64_t node;  // from cuptiGetGraphNodeId; 0: none. Other ids are similar.
  uint64_t original_node;
  uint32_t graph;
  uint32_t original_graph;
  uint32_t graph_exec;
  uint32_t node_type;
};
// One activity record as CUPTI delivered it follows; its pointers are zero.
struct Activity {
  uint32_t record_bytes;
  uint32_t correlation;
  TextId name;           // 0: the record names none
  uint32_t name_offset;  // of the pointer to the name within the record
};
enum class NvtxOp : uint16_t {
  push = 1,
  pop = 2,
  start = 3,
  end = 4,
  mark = 5,
  domain_create = 6,
  domain_destroy = 7,
  register_string = 8,
  name_thread = 9,
};
enum class NvtxForm : uint16_t {
  plain = 0,       // nvtxRangePushA, nvtxMarkA, ...: the default domain, only a text
  attributes = 1,  // ...Ex with an ASCII message
  registered = 2,  // ...Ex with a registered string
  wide = 3,        // ...W
};
struct Nvtx {
  NvtxOp op;
  NvtxForm form;
  uint32_t domain;  // number of its domain_create, 0: the default one
  TextId text;      // also of a registered string
  uint32_t handle;  // number of the domain, of the registered string or of the started range
};
struct Dropped {
  uint64_t records;  // from cuptiActivityGetNumDroppedRecords
};
// The return of a call for virtual memory that was entered as an Api, with what its parameters were
// and pointed to.
struct MemoryCall {
  Api api = {};
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t handle = 0;
  uint32_t device = 0;
  int32_t result = 0;  // CUresult
};
// What NVML says from now on.
struct GpuMemory {
  uint64_t used;  // bytes
};

// Writes a tape. Every item is passed to the system as soon as it is complete.
class Writer {
 public:
  Writer(const char* path, uint32_t cupti_version) : file_(std::fopen(path, "wb")) {
    FileHead head{};
    std::memcpy(head.magic, kMagic, sizeof kMagic);
    head.version = kVersion;
    head.cupti_version = cupti_version;
    if (file_ != nullptr) std::fwrite(&head, sizeof head, 1, file_);
  }
  ~Writer() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  [[nodiscard]] bool open() const { return file_ != nullptr; }
  void flush() {
    if (file_ != nullptr) std::fflush(file_);
  }

  template <class Payload>
  void put(Kind kind, uint16_t thread, int64_t time, const Payload& payload,
           const void* tail = nullptr, size_t tail_bytes = 0) {
    const size_t unpadded = sizeof(ItemHead) + sizeof payload + tail_bytes;
    const size_t bytes = (unpadded + kItemAlignment - 1) / kItemAlignment * kItemAlignment;
    const ItemHead head{static_cast<uint32_t>(bytes), kind, thread, time};
    item_.assign(bytes, '\0');
    std::memcpy(item_.data(), &head, sizeof head);
    std::memcpy(item_.data() + sizeof head, &payload, sizeof payload);
    if (tail_bytes != 0) {
      std::memcpy(item_.data() + sizeof head + sizeof payload, tail, tail_bytes);
    }
    if (file_ != nullptr) std::fwrite(item_.data(), bytes, 1, file_);
  }

  TextId text(std::string_view value) {
    const auto [place, is_new] =
        texts_.try_emplace(std::string(value), static_cast<TextId>(texts_.size() + 1));
    if (is_new) {
      put(Kind::text, 0, 0, Text{place->second, static_cast<uint32_t>(value.size())}, value.data(),
          value.size());
    }
    return place->second;
  }

 private:
  std::FILE* file_;
  std::string item_;
  std::map<std::string, TextId> texts_;
};

struct Item {
  ItemHead head;
  const char* payload;

  template <class Payload>
  [[nodiscard]] Payload as() const {
    Payload value;
    std::memcpy(&value, payload, sizeof value);
    return value;
  }
  template <class Payload>
  [[nodiscard]] const char* tail() const {
    return payload + sizeof(Payload);
  }
};

// A tape in memory.
class Tape {
 public:
  std::vector<Item> items;                   // all but texts, in the tape's order
  std::vector<std::vector<size_t>> threads;  // of each thread, its items' places
  std::unordered_map<TextId, std::string> texts;
  uint32_t cupti_version = 0;
  uint32_t correlations = 1;  // one more than the highest
  int64_t begin = INT64_MAX;  // ns, of the first item
  // The item at which GPU work is created: the first return of its launch. Work that no call on the
  // tape launched is in `orphans`.
  std::unordered_map<size_t, std::vector<size_t>> launched_at;
  std::vector<size_t> orphans;

  // On failure, returns false and sets `problem`.
  bool load(const char* path, std::string& problem) {
    if (!read(path)) {
      problem = std::string(path) + ": cannot be read";
      return false;
    }
    FileHead head{};
    if (bytes_.size() >= sizeof head) std::memcpy(&head, bytes_.data(), sizeof head);
    if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0 || head.version != kVersion) {
      problem = std::string(path) + ": no tape of version " + std::to_string(kVersion);
      return false;
    }
    cupti_version = head.cupti_version;
    index();
    find_launches();
    return true;
  }

  [[nodiscard]] const char* text(TextId id) const {
    const auto place = texts.find(id);
    return place == texts.end() ? nullptr : place->second.c_str();
  }

 private:
  bool read(const char* path) {
    std::FILE* file = std::fopen(path, "rb");
    if (file == nullptr) return false;
    constexpr size_t kPiece = 1U << 20U;
    size_t size = 0;
    for (size_t got = kPiece; got == kPiece; size += got) {
      bytes_.resize(size + kPiece);
      got = std::fread(bytes_.data() + size, 1, kPiece, file);
    }
    bytes_.resize(size);
    std::fclose(file);
    return true;
  }

  void index() {
    for (size_t at = sizeof(FileHead); at + sizeof(ItemHead) <= bytes_.size();) {
      Item item{};
      std::memcpy(&item.head, &bytes_[at], sizeof item.head);
      if (item.head.bytes < sizeof(ItemHead) || at + item.head.bytes > bytes_.size()) return;
      item.payload = &bytes_[at] + sizeof(ItemHead);
      add(item);
      at += item.head.bytes;
    }
  }

  void add(const Item& item) {
    if (item.head.kind == Kind::text) {
      const auto text = item.as<Text>();
      texts[text.id].assign(item.tail<Text>(), text.length);
      return;
    }
    if (threads.size() <= item.head.thread) threads.resize(item.head.thread + size_t{1});
    threads[item.head.thread].push_back(items.size());
    if (item.head.kind != Kind::activity && item.head.time < begin) begin = item.head.time;
    items.push_back(item);
  }

  void find_launches() {
    constexpr uint32_t kExit = 1;  // CUPTI_API_EXIT
    std::unordered_map<uint32_t, size_t> launch;
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].head.kind != Kind::api && items[i].head.kind != Kind::memory_call) continue;
      const auto api = items[i].as<Api>();
      if (api.site == kExit) launch.try_emplace(api.correlation, i);
      if (api.correlation >= correlations) correlations = api.correlation + 1;
    }
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].head.kind != Kind::activity) continue;
      const auto place = launch.find(items[i].as<Activity>().correlation);
      if (place == launch.end()) {
        orphans.push_back(i);
      } else {
        launched_at[place->second].push_back(i);
      }
    }
  }

  std::vector<char> bytes_;
};

}  // namespace llmprof::tape
