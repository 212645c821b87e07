// The baseline for the nsys reader: one thread reads exactly the columns that llmprof reads, with
// the SQLite C API, and discards them.
#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_sqlite_scan EXPORT.sqlite\n");
    return 2;
  }
  constexpr const char* kQueries[] = {
      "SELECT start, end, globalPid, deviceId, contextId, streamId, correlationId, demangledName, "
      "gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, "
      "dynamicSharedMemory, graphNodeId, NULL FROM CUPTI_ACTIVITY_KIND_KERNEL",
      "SELECT start, end, globalTid, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME",
      "SELECT start, end, globalPid, deviceId, contextId, streamId, correlationId, bytes, copyKind "
      "FROM CUPTI_ACTIVITY_KIND_MEMCPY",
      "SELECT start, end, globalPid, deviceId, contextId, streamId, correlationId, bytes "
      "FROM CUPTI_ACTIVITY_KIND_MEMSET",
      "SELECT start, end, eventType, globalTid, domainId, textId FROM NVTX_EVENTS"};
  const auto begin = std::chrono::steady_clock::now();
  sqlite3* database = nullptr;
  const std::string uri = std::string("file:") + argv[1] + "?mode=ro&immutable=1";
  if (sqlite3_open_v2(uri.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) !=
      SQLITE_OK) {
    std::fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(database));
    return 3;
  }
  unsigned long long rows = 0;
  unsigned long long sum = 0;
  for (const char* query : kQueries) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, query, -1, &statement, nullptr) != SQLITE_OK) {
      std::fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(database));
      return 3;
    }
    const int columns = sqlite3_column_count(statement);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      ++rows;
      for (int i = 0; i < columns; ++i) {
        sum += static_cast<unsigned long long>(sqlite3_column_int64(statement, i));
      }
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(database);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%llu rows, checksum %llu, %.3f s\n", rows, sum, taken.count());
  return 0;
}
