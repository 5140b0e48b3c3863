# sojourn_leave_out(DIRECTORY SOURCE...): of these sources those that have options of their own, e.g. -O3. gcc 12 crashes
# where it optimises a precompiled header's functions by other options than those that it was made with.
function(sojourn_leave_out directory)
  foreach(source IN LISTS ARGN)
    get_source_file_property(options ${directory}/${source} DIRECTORY ${directory} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${directory}/${source} DIRECTORY ${directory} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# sojourn_precompile(DIRECTORY...): gives all C++ targets below the headers that most of their files read anyway,
# once parsed. A file includes what it needs all the same: .ci/lint reads each file without them.
function(sojourn_precompile)
  if(NOT TARGET sojourn_precompiled)
    file(CONFIGURE OUTPUT precompiled.cpp CONTENT "")
    add_library(sojourn_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(sojourn_precompiled PRIVATE sojourn_base)
    target_precompile_headers(sojourn_precompiled PRIVATE
      <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <ranges> <span> <string>
      <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
  endif()
  foreach(directory IN LISTS ARGN)
    get_property(rooms DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
    sojourn_precompile(${rooms})
    get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      get_target_property(sources ${target} SOURCES)
      if(type MATCHES "STATIC_LIBRARY|EXECUTABLE" AND sources MATCHES "\\.cpp" AND NOT sources MATCHES "\\.c(;|$)")
        target_precompile_headers(${target} REUSE_FROM sojourn_precompiled)
        sojourn_leave_out(${directory} ${sources})
      endif()
    endforeach()
  endforeach()
endfunction()
