# Headers that most files of a folder read anyway, parsed once for all of them. A file still
# includes all headers that it uses: .ci/lint reads each file without them.

# sojourn_leave_out(DIRECTORY SOURCE...): leaves out the sources that have options of their own,
# e.g. -O3. gcc 12 crashes if it optimises a precompiled header's functions by other options than
# those of the header.
function(sojourn_leave_out directory)
  foreach(source IN LISTS ARGN)
    get_source_file_property(options ${directory}/${source} DIRECTORY ${directory} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${directory}/${source} DIRECTORY ${directory} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# sojourn_headers(NAME LIBRARY HEADER...): the target NAME parses these headers, which LIBRARY makes known.
function(sojourn_headers name library)
  file(CONFIGURE OUTPUT ${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE sojourn_base ${library})
  target_precompile_headers(${name} PRIVATE ${ARGN})
  # A compiler cache gives the headers of one checkout to another at the same path, where the files
  # have other times. At another path they are of no use: they have the names of their files.
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()

# sojourn_precompile(NAME LIBRARY DIRECTORY...): the C++ targets below these directories that link
# LIBRARY, or all if it is "", get the headers of NAME, or of NAME_seldom if the folder calls
# sojourn_runs_seldom(). Subject programs of tests link nothing of ours, and get none.
function(sojourn_precompile name library)
  foreach(directory IN LISTS ARGN)
    get_property(rooms DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
    sojourn_precompile(${name} "${library}" ${rooms})
    get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
    get_property(seldom DIRECTORY ${directory} PROPERTY SOJOURN_RUNS_SELDOM)
    set(variant "")
    if(seldom)
      set(variant _seldom)
    endif()
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      get_target_property(sources ${target} SOURCES)
      get_target_property(libraries ${target} LINK_LIBRARIES)
      if("${libraries}" MATCHES "${library}" AND type MATCHES "STATIC_LIBRARY|EXECUTABLE" AND sources MATCHES "\\.cpp" AND NOT sources MATCHES "\\.c(;|$)")
        target_precompile_headers(${target} REUSE_FROM ${name}${variant})
        # Tests are optimised as little as what runs seldom, and the programs that they watch as always.
        if(SOJOURN_QUICK_BUILD AND name STREQUAL sojourn_precompiled_tests)
          target_compile_options(${target} PRIVATE ${SOJOURN_SELDOM_OPTIONS})
        endif()
        sojourn_leave_out(${directory} ${sources})
      endif()
    endforeach()
  endforeach()
endfunction()

set(common <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <ranges> <span> <string> <string_view>
  <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
sojourn_headers(sojourn_precompiled fmt::fmt ${common})
if(SOJOURN_QUICK_BUILD)
  sojourn_headers(sojourn_precompiled_seldom fmt::fmt ${common})
  target_compile_options(sojourn_precompiled_seldom PRIVATE ${SOJOURN_SELDOM_OPTIONS})
endif()
sojourn_precompile(sojourn_precompiled "" analysis)
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL wasm32)
  sojourn_precompile(sojourn_precompiled "" userspace)
endif()
if(SOJOURN_TESTS)
  find_package(Catch2 3 REQUIRED)
  sojourn_headers(sojourn_precompiled_tests Catch2::Catch2 ${common} <catch2/catch_test_macros.hpp>)
  if(SOJOURN_QUICK_BUILD)
    target_compile_options(sojourn_precompiled_tests PRIVATE ${SOJOURN_SELDOM_OPTIONS})
  endif()
  sojourn_precompile(sojourn_precompiled_tests Catch2 tests/support tests/unit tests/live tests/cli tests/golden tests/basestation/check)
endif()
