# The compiler for LLMPROF_ARCH (x86_64 or aarch64), native or cross, with the Debian packages that
# scripts/dist_sysroot.sh unpacked into LLMPROF_SYSROOT. Nothing of the build machine is linked
# except the compiler's own libstdc++ and libgcc.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LLMPROF_ARCH LLMPROF_SYSROOT)
set(triplet ${LLMPROF_ARCH}-linux-gnu)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${LLMPROF_ARCH})
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_CXX_COMPILER ${triplet}-g++)
set(CMAKE_SYSROOT ${LLMPROF_SYSROOT})
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# With --sysroot alone, gcc still searches its own folders first, and would find the libc of the
# build machine, or the older one of the cross packages.
set(libraries ${LLMPROF_SYSROOT}/usr/lib/${triplet})
foreach(kind EXE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-B${libraries} -L${libraries}")
endforeach()

# The program contains no path of the build machine.
get_filename_component(source_root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(prefix_map "-ffile-prefix-map=${LLMPROF_SYSROOT}=sysroot -ffile-prefix-map=${source_root}=.")
set(CMAKE_C_FLAGS_INIT ${prefix_map})
set(CMAKE_CXX_FLAGS_INIT ${prefix_map})
