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
      endif()
    endforeach()
  endforeach()
endfunction()
