# SPDX-License-Identifier: BSD-2-Clause
# Compile options that every target of the project shares, and roce_add_* helpers.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

find_package(PkgConfig REQUIRED)
find_package(tl-expected REQUIRED)

# Everything of ours is compiled with these; they are never exported to a consumer.
add_library(roce_options INTERFACE)
target_compile_options(
  roce_options
  INTERFACE -Wall
            -Wextra
            -Wconversion
            -Wshadow
            -fno-semantic-interposition
            # GCC 12 at -O3 sees overlapping copies in "-" + std::to_string(n), where there are none (GCC bug 105651).
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
            $<$<BOOL:${ROCE_WERROR}>:-Werror>
            # Backtraces with lines; describing each variable of optimised code too takes a fifth of the compiler's time.
            $<$<CONFIG:RelWithDebInfo>:-g1>
            $<$<BOOL:${ROCE_NATIVE}>:-march=native>)

# With CMAKE_UNITY_BUILD, which the presets have, ten sources or so are compiled at once, in about half of the time. Where a checkout
# lies must not be in its objects, or the compiler cache would know none of another one's.
if(CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)
  add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
  # GCC takes each source but the outermost for a header, in which a member of a type without linkage would be a mistake.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()

# roce_apart(SOURCE...): sources of this folder that are each compiled alone, since they have a name in common with another one.
function(roce_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# roce_program(TARGET): a program for users, which is found in bin/ of the build folder too, beside the others.
function(roce_program target)
  target_compile_definitions(${target} PRIVATE ROCE_VERSION="${PROJECT_VERSION}")
  if(CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    return() # Whoever says where programs go has them together already, perhaps in the same place.
  endif()
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory "${PROJECT_BINARY_DIR}/bin"
    COMMAND ${CMAKE_COMMAND} -E create_symlink "$<TARGET_FILE:${target}>" "${PROJECT_BINARY_DIR}/bin/${target}"
    VERBATIM)
endfunction()
