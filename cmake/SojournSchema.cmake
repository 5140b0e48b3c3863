# sojourn_schema(TARGET FILE): `#include "NAME.h"` in TARGET, for a schema NAME.pleco (any extension will do).
# The header, and NAME.json beside it, are made again when the schema or `sojourn` changes, before anything of
# TARGET is compiled. Which `sojourn`: -DSOJOURN_PROGRAM=PATH if given, else the one of this build, else the
# one installed. TARGET also has to link sojourn::probes.

set(SOJOURN_PROGRAM "" CACHE FILEPATH "The sojourn program that compiles schemas; empty: it is looked for")

# Sets `result` to the program's command, and `dependency` to the file or target that a rule must
# depend on.
function(_sojourn_find_program result dependency)
  if(SOJOURN_PROGRAM)
    set(program "${SOJOURN_PROGRAM}")
  elseif(TARGET sojourn::sojourn AND NOT CMAKE_CROSSCOMPILING)
    set(${result} "$<TARGET_FILE:sojourn::sojourn>" PARENT_SCOPE)
    set(${dependency} sojourn::sojourn PARENT_SCOPE)
    return()
  else()
    find_program(program sojourn HINTS ${SOJOURN_PROGRAM_HINT} NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
    if(NOT program)
      message(FATAL_ERROR "sojourn_schema: there is no `sojourn` program to compile the schema with: "
        "install it, add it to PATH, or give -DSOJOURN_PROGRAM=PATH")
    endif()
  endif()
  if(NOT EXISTS "${program}")
    message(FATAL_ERROR "sojourn_schema: SOJOURN_PROGRAM is ${program}, which does not exist")
  endif()
  set(${result} "${program}" PARENT_SCOPE)
  set(${dependency} "${program}" PARENT_SCOPE)
endfunction()

function(sojourn_schema target file)
  if(ARGC GREATER 2)
    message(FATAL_ERROR "sojourn_schema: takes a target and one schema, was given also: ${ARGN}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "sojourn_schema: there is no target ${target}")
  endif()
  cmake_path(ABSOLUTE_PATH file NORMALIZE)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "sojourn_schema: there is no schema ${file}")
  endif()
  _sojourn_find_program(program dependency)

  # A folder for each target: two that share a schema do not write the same file.
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/sojourn_schema/${target}")
  file(MAKE_DIRECTORY "${folder}")
  cmake_path(GET file STEM LAST_ONLY name)
  # make compares the time of the stamp, so an unchanged output keeps its own time.
  add_custom_command(OUTPUT "${folder}/${name}.stamp"
    BYPRODUCTS "${folder}/${name}.h" "${folder}/${name}.json"
    COMMAND ${program} schema "${file}" --header "${folder}/${name}.h" --json "${folder}/${name}.json"
    COMMAND ${CMAKE_COMMAND} -E touch "${folder}/${name}.stamp"
    DEPENDS "${file}" "${dependency}"
    COMMENT "Compiling schema ${name} for ${target}"
    VERBATIM)
  add_custom_target(${target}-schema-${name} DEPENDS "${folder}/${name}.stamp")
  add_dependencies(${target} ${target}-schema-${name})

  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${folder}>")
  else()
    target_include_directories(${target} PRIVATE "${folder}")
  endif()
endfunction()
