# Headers that most files include are precompiled twice: for all libraries, and with gtest for all
# tests. They took more than half of all compile time. LLMPROF_PCH=OFF shows whether every file
# includes what it uses (`make lint` sets it).
if(LLMPROF_PCH)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
  function(llmprof_precompiled_headers name)
    add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(${name} PRIVATE fmt::fmt tl::expected)
    target_precompile_headers(${name} PRIVATE <algorithm> <array> <filesystem> <functional> <map>
                              <optional> <string> <string_view> <vector> <fmt/format.h>
                              <tl/expected.hpp> ${ARGN})
  endfunction()
  llmprof_precompiled_headers(llmprof_precompiled)
  if(LLMPROF_TESTS)
    llmprof_precompiled_headers(llmprof_precompiled_tests <gtest/gtest.h>)
    target_link_libraries(llmprof_precompiled_tests PRIVATE GTest::gtest)
    target_compile_options(llmprof_precompiled_tests PRIVATE -O1)
  endif()
endif()

# For targets that link fmt::fmt and have no compile options of their own.
function(llmprof_precompile target)
  if(LLMPROF_PCH)
    target_precompile_headers(${target} REUSE_FROM llmprof_precompiled)
  endif()
endfunction()

# Tests are compiled at -O1, because compile time matters more than their speed. The tests of one
# folder are compiled as one unit, because most of the time is spent on templates of gtest and the
# standard library, once per unit. Tests that use the same name for different things are listed in
# APART.
function(llmprof_compile_tests target)
  cmake_parse_arguments(arg "" "" "APART" ${ARGN})
  target_compile_options(${target} PRIVATE -O1)
  target_link_libraries(${target} PRIVATE fmt::fmt GTest::gtest_main)
  if(NOT LLMPROF_PCH)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM llmprof_precompiled_tests)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(tests ${target} SOURCES)
  foreach(test ${tests})
    get_filename_component(path ${test} ABSOLUTE)
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(group ${folder} NAME)
    get_filename_component(file ${path} NAME)
    if(NOT file IN_LIST arg_APART)
      set_source_files_properties(${test} PROPERTIES UNITY_GROUP ${group}_tests)
    endif()
  endforeach()
endfunction()

# A folder under src/ is one library; the tests beside its code are one test program.
#   llmprof_module(NAME [DEPENDS our modules] [LIBRARIES third-party libraries]
#                  [TESTS_APART test files] [EXCEPT files that are not of the library])
function(llmprof_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES;TESTS_APART;EXCEPT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  if(arg_EXCEPT)
    list(TRANSFORM arg_EXCEPT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM sources ${arg_EXCEPT})
  endif()
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
    target_link_libraries(test_${name} PRIVATE llmprof_${name} llmprof_testing ${arg_LIBRARIES})
    llmprof_compile_tests(test_${name} APART ${arg_TESTS_APART})
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60
                         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES TIMEOUT 600)
  endif()
endfunction()
