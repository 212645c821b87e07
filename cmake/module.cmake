# What most files include is read once for each library: more than half of all compile time was
# spent on it. LLMPROF_PCH=OFF shows whether every file includes what it uses (`make lint` does).
function(llmprof_precompile target)
  if(NOT LLMPROF_PCH)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <filesystem> <functional> <map>
                            <optional> <string> <string_view> <vector> <fmt/format.h>
                            <tl/expected.hpp> ${ARGN})
endfunction()

# Tests are compiled quickly; what they test is as fast as ever.
function(llmprof_precompile_test target)
  llmprof_precompile(${target} <gtest/gtest.h>)
  target_compile_options(${target} PRIVATE -O1)
endfunction()

# A folder under src/ is one library; the tests beside its code make one test program.
#   llmprof_module(NAME [DEPENDS our modules] [LIBRARIES third-party libraries])
function(llmprof_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS *_test.cpp)
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND llmprof_)
  add_library(llmprof_${name} STATIC ${sources})
  target_include_directories(llmprof_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(llmprof_${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_LIBRARIES})
  llmprof_precompile(llmprof_${name})
  if(LLMPROF_TESTS AND tests AND NOT LLMPROF_FUZZ)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE llmprof_${name} llmprof_testing ${arg_LIBRARIES}
                                               GTest::gtest_main)
    llmprof_precompile_test(test_${name})
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60
                         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES TIMEOUT 600)
  endif()
endfunction()
