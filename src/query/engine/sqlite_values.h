#pragma once

#include <sqlite3.h>

#include "query/model/value.h"

namespace llmprof::query {

// A value of SQLite. Its text is valid until the value changes.
inline Value value_of(sqlite3_value* from) {
  switch (sqlite3_value_type(from)) {
    case SQLITE_INTEGER:
      return Value::of(static_cast<int64_t>(sqlite3_value_int64(from)));
    case SQLITE_FLOAT:
      return Value::of(sqlite3_value_double(from));
    case SQLITE_TEXT: {
      const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(from));
      return Value::of(std::string_view(text, static_cast<size_t>(sqlite3_value_bytes(from))));
    }
    default:
      return {};
  }
}

}  // namespace llmprof::query
