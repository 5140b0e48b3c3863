# `cpack -G DEB` makes two Debian packages: sojourn, the tracer, and libsojourn-dev, with which
# programs are built. docs/packages.md has their use. Each install() command says by its component
# which one it belongs to: tracer or probes.
set(debian ${PROJECT_SOURCE_DIR}/cmake/debian)
set(made ${PROJECT_BINARY_DIR}/packaging)

# A new version needs its words.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${debian}/changelog)
file(STRINGS ${debian}/changelog newest LIMIT_COUNT 1)
if(NOT newest MATCHES "^sojourn \\(${PROJECT_VERSION}\\)")
  message(FATAL_ERROR "cmake/debian/changelog begins with \"${newest}\": what is new in ${PROJECT_VERSION}?")
endif()
file(MAKE_DIRECTORY ${made})
execute_process(COMMAND gzip -9nc ${debian}/changelog OUTPUT_FILE ${made}/changelog.gz COMMAND_ERROR_IS_FATAL ANY)

# Files that only packages have.
function(sojourn_package component name)
  install(FILES ${debian}/copyright ${made}/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${debian}/lintian-overrides.${name} RENAME ${name}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
sojourn_package(tracer sojourn)
sojourn_package(probes libsojourn-dev)
install(FILES ${PROJECT_SOURCE_DIR}/probes/examples/pipeline.c ${PROJECT_SOURCE_DIR}/probes/examples/pipeline.cpp
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libsojourn-dev/examples COMPONENT probes EXCLUDE_FROM_ALL)

# The help names them.
if(SOJOURN_TRACER)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tracer)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the sojourn authors <sojourn@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL probes)
if(SOJOURN_TRACER)
  list(PREPEND CPACK_COMPONENTS_ALL tracer)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# The libraries, and their versions, are read from the program (dpkg-shlibdeps).
set(CPACK_DEBIAN_TRACER_PACKAGE_NAME sojourn)
set(CPACK_DEBIAN_TRACER_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TRACER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TRACER_PACKAGE_DEPENDS "debconf (>= 0.5) | debconf-2.0, libcap2-bin")
set(CPACK_DEBIAN_TRACER_PACKAGE_SUGGESTS libsojourn-dev)
set(CPACK_DEBIAN_TRACER_PACKAGE_CONTROL_EXTRA
  ${debian}/config ${debian}/postinst ${debian}/postrm ${debian}/templates)
set(CPACK_DEBIAN_TRACER_DESCRIPTION "latency tracer for software base stations
sojourn shows, for a base station or another staged packet pipeline that is
already running, where every packet spends its time: how long it stayed in
each layer, how deep each queue was, and what it was waiting for.
.
It attaches by PID to programs that were built with its points (package
libsojourn-dev), and with a map of their functions to others. Points are
collected from rings in shared memory, or by eBPF.")

set(CPACK_DEBIAN_PROBES_PACKAGE_NAME libsojourn-dev)
set(CPACK_DEBIAN_PROBES_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PROBES_PACKAGE_DEPENDS "libc6-dev | libc-dev")
set(CPACK_DEBIAN_PROBES_PACKAGE_SUGGESTS sojourn)
set(CPACK_DEBIAN_PROBES_DESCRIPTION "measurement points for the sojourn latency tracer
Headers for C and C++ and a static library: a point marks the instant at which
a packet leaves one stage of a program and enters the next. While nobody traces
it costs two loads and a branch. The sojourn package records it, and bpftrace,
perf and gdb see it as a USDT probe.
.
With files for CMake (find_package, sojourn_schema) and pkg-config. Compiling
schemas needs the sojourn package.")

include(CPack)
