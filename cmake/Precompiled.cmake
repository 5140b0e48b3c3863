# sojourn_precompile(DIRECTORY...): gives all C++ targets below the headers that most of their files read anyway,
# once parsed. Only for builds that are made for a run of tests: elsewhere a file's own includes must do.
function(sojourn_precompile)
  if(NOT TARGET sojourn_precompiled)
    file(CONFIGURE OUTPUT precompiled.cpp CONTENT "")
    add_library(sojourn_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(sojourn_precompiled PRIVATE sojourn_base nlohmann_json::nlohmann_json)
    target_precompile_headers(sojourn_precompiled PRIVATE
      <algorithm> <array> <chrono> <filesystem> <functional> <map> <memory> <optional> <ranges> <span> <string>
      <thread> <unordered_map> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp> "analysis/base/result.h")
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
