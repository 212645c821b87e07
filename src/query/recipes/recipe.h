#pragma once

#include <string>
#include <vector>

#include "query/engine/answer.h"

namespace llmprof::query {

// A named query that was tested: a question, and the statement that answers it.
struct Recipe {
  struct Variable {
    std::string name;  // ":name" in the statement
    std::string meaning;
    Parameter value;  // unless the user sets another one; its type is the variable's
  };
  std::string name;
  std::string question;
  std::string meaning;              // what the rows say
  std::string caveat;               // what not to conclude; may be empty
  std::vector<std::string> tables;  // that it needs
  std::vector<Variable> variables;
  std::string sql;
};

}  // namespace llmprof::query
