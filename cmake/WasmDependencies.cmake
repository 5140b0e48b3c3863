# The libraries that analysis uses, for a target for which Debian has none: fmt and nlohmann-json as
# headers, zstd and zlib's checksum from Debian's sources, which are fetched once into the build
# directory.

add_library(fmt::fmt INTERFACE IMPORTED)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_compile_definitions(nlohmann_json::nlohmann_json INTERFACE JSON_NO_IO)

# sojourn_debian_source(OUT PACKAGE): a directory with the source of a Debian package.
function(sojourn_debian_source out package)
  set(directory ${PROJECT_BINARY_DIR}/sources/${package})
  if(NOT EXISTS ${directory}/fetched)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/.ci/packages source ${package} ${directory} COMMAND_ERROR_IS_FATAL ANY)
    file(TOUCH ${directory}/fetched)
  endif()
  set(${out} ${directory} PARENT_SCOPE)
endfunction()

sojourn_debian_source(zstd libzstd)
file(GLOB sources ${zstd}/lib/common/*.c ${zstd}/lib/compress/*.c ${zstd}/lib/decompress/*.c)
add_library(sojourn_wasm_zstd STATIC EXCLUDE_FROM_ALL ${sources})
target_include_directories(sojourn_wasm_zstd SYSTEM PUBLIC ${zstd}/lib)
target_compile_definitions(sojourn_wasm_zstd PRIVATE ZSTD_LEGACY_SUPPORT=0 XXH_NAMESPACE=ZSTD_)
set_target_properties(sojourn_wasm_zstd PROPERTIES UNITY_BUILD OFF)
add_library(PkgConfig::ZSTD ALIAS sojourn_wasm_zstd)

sojourn_debian_source(zlib zlib)
add_library(sojourn_wasm_zlib STATIC EXCLUDE_FROM_ALL ${zlib}/crc32.c)
target_include_directories(sojourn_wasm_zlib SYSTEM PUBLIC ${zlib})
add_library(ZLIB::ZLIB ALIAS sojourn_wasm_zlib)
