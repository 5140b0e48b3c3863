# The options of every C and C++ target of the tracer. Users of probes/ never see them.

set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(sojourn_defaults INTERFACE)
target_compile_options(sojourn_defaults INTERFACE
  -Wall -Wextra -Wconversion -Wshadow
  $<$<BOOL:${SOJOURN_WERROR}>:-Werror>)
# On a machine whose size_t has 32 bits, numbers from files have 64 bits and are compared with a
# size before they are used as one. Several sources are compiled as one there, so their unnamed
# namespaces are the same.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL wasm32)
  target_compile_options(sojourn_defaults INTERFACE -Wno-shorten-64-to-32 -Wno-sign-conversion -Wno-shadow)
endif()
# clang warns of gcc's own library headers, of libbpf's options that are left out on purpose, of
# gcc's attributes, and, by -Wconversion, of signs, for which gcc has an option of its own.
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  foreach(warning IN ITEMS deprecated-declarations missing-designated-field-initializers sign-conversion unknown-attributes)
    target_compile_options(sojourn_defaults INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-${warning}>)
  endforeach()
endif()
# CMake passes precompiled headers to clang's inner compiler by absolute paths, which a compiler
# cache cannot make relative: another checkout would find nothing in the cache. Clang takes the
# first -include for a header that may be precompiled already, so another header is first; and clang
# warns about that.
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
  set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Xclang -emit-pch -Wno-error -include cstddef -include <PCH_HEADER> -x c++-header)
endif()
# gcc collects garbage once it holds 30 MB. Waiting until 400 MB makes it a tenth faster. If several
# sources are compiled as one, it takes an unnamed namespace of one of them for one of a header.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(sojourn_defaults INTERFACE --param=ggc-min-heapsize=400000)
  if(CMAKE_UNITY_BUILD)
    target_compile_options(sojourn_defaults INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endif()
target_include_directories(sojourn_defaults INTERFACE ${PROJECT_SOURCE_DIR})

# Called at the top of a folder whose code runs once for a command and not once for an event. Less optimised it
# compiles in about half of the time by clang. gcc gains little from -O0.
option(SOJOURN_QUICK_BUILD "Optimise code that runs seldom less" OFF)
set(SOJOURN_SELDOM_OPTIONS $<IF:$<CXX_COMPILER_ID:GNU>,-O1,-O0>)
macro(sojourn_runs_seldom)
  if(SOJOURN_QUICK_BUILD)
    add_compile_options(${SOJOURN_SELDOM_OPTIONS})
    set_property(DIRECTORY PROPERTY SOJOURN_RUNS_SELDOM ON)
  endif()
endmacro()

if(SOJOURN_SANITIZE)
  add_compile_options(-fsanitize=${SOJOURN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SOJOURN_SANITIZE})
endif()
