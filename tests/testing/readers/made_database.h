#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

#include "testing/temporary_folder.h"

namespace llmprof::readers {

// A SQLite file made by these statements; replaces the previous one.
inline std::filesystem::path made_database(const testing::TemporaryFolder& folder,
                                           const std::string& statements) {
  std::filesystem::path path = folder.path() / "made.sqlite";
  std::filesystem::remove(path);
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << message;
  sqlite3_close(database);
  return path;
}

}  // namespace llmprof::readers
