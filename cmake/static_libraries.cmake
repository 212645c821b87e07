# The libraries of a static llmprof, under the names that libraries.cmake gives the shared ones.
# Debian ships no static fmt and simdjson: both are compiled here from Debian's own sources.
if(NOT LLMPROF_SYSROOT)
  message(FATAL_ERROR "LLMPROF_STATIC needs the toolchain and sysroot of scripts/dist.sh; "
                      "run make dist")
endif()
set(archives ${LLMPROF_SYSROOT}/usr/lib/${LLMPROF_ARCH}-linux-gnu)
set(sources ${LLMPROF_SYSROOT}/usr/src)
# For find_library in the modules' CMakeLists.txt.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)

# scripts/dist_licenses.sh reads from the maps which archives were linked.
add_link_options(-Wl,-Map=${PROJECT_BINARY_DIR}/$<TARGET_PROPERTY:NAME>.map)
find_package(Threads REQUIRED)

function(llmprof_archive target file)
  add_library(${target} STATIC IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archives}/${file})
endfunction()

# Third-party code: our warnings do not apply.
function(llmprof_compiled target name include_folder)
  add_library(${name} STATIC ${ARGN})
  add_library(${target} ALIAS ${name})
  set_target_properties(${name} PROPERTIES COMPILE_OPTIONS -w)
  target_include_directories(${name} SYSTEM PUBLIC ${include_folder})
endfunction()

llmprof_archive(SQLite::SQLite3 libsqlite3.a)
llmprof_archive(ZLIB::ZLIB libz.a)
llmprof_archive(OpenSSL::SSL libssl.a)
llmprof_archive(OpenSSL::Crypto libcrypto.a)
find_library(LIBYAML yaml REQUIRED)
find_library(LIBDEFLATE deflate REQUIRED)
find_library(LIBUTF8PROC utf8proc REQUIRED)
find_library(LIBCARES cares REQUIRED)
# A shared build gets these from OpenBLASConfig.cmake. No part that needs Fortran is linked.
set(OpenBLAS_LIBRARIES ${archives}/openblas-pthread/libopenblas.a)
set(OpenBLAS_INCLUDE_DIRS
    ${LLMPROF_SYSROOT}/usr/include/${LLMPROF_ARCH}-linux-gnu/openblas-pthread)
foreach(header_only tl::expected nlohmann_json::nlohmann_json CLI11::CLI11)
  add_library(${header_only} INTERFACE IMPORTED)
endforeach()

llmprof_compiled(fmt::fmt fmt ${sources}/fmtlib/include
                 ${sources}/fmtlib/src/format.cc ${sources}/fmtlib/src/os.cc)
llmprof_compiled(simdjson::simdjson simdjson ${sources}/simdjson/singleheader
                 ${sources}/simdjson/singleheader/simdjson.cpp)
target_compile_definitions(simdjson PUBLIC SIMDJSON_THREADS_ENABLED=1)
target_link_libraries(simdjson PUBLIC Threads::Threads)
