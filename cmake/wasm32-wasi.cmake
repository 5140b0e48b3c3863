# Toolchain of the preset `wasm`: WebAssembly with WASI's C library, by Debian's clang-19 (.ci/packages). Files, threads
# and exceptions are not there, so what builds with it needs none.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_COMPILER_TARGET wasm32-wasi)
  set(CMAKE_${language}_FLAGS_INIT "-msimd128 -ffunction-sections -fdata-sections")
  set(CMAKE_${language}_FLAGS_RELEASE "-O3 -DNDEBUG")
endforeach()
string(APPEND CMAKE_CXX_FLAGS_INIT " -fno-exceptions -stdlib=libc++")
# A library's first calls come from outside, not from a main(). The stack lies first: what overflows it is a trap.
# Where a machine has binaryen's wasm-opt, clang runs it on what was linked, unless that is not optimised. That gains a
# tenth once the engine is warm, but makes functions of 200 kB, whose compilation costs the browser more.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-mexec-model=reactor -O0 -Wl,-z,stack-size=1048576,--stack-first,--strip-all")
# Libraries are not searched on the machine that builds; headers of those that are all headers lie in /usr/include.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY NEVER)
