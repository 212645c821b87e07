add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion
                    -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees an overlapping copy in its own std::string (GCC bug 105329).
  add_compile_options(-Wno-restrict)
endif()
if(LLMPROF_SANITIZE)
  add_compile_options(-fsanitize=${LLMPROF_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LLMPROF_SANITIZE})
endif()
