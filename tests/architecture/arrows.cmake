# cmake -DROOT=TREE -P arrows.cmake: fails where a source of the tree includes what its folder may not use.
cmake_minimum_required(VERSION 3.25)

# Each line: a folder, and the folders that it may use besides itself, as docs/architecture.md has
# it. A folder includes its subfolders. libbpf and probes mean <bpf/...> and <sojourn/...>. system
# means headers that need an operating system: files, threads, errno. Nothing in analysis/ may use
# system.
set(arrows
  "probes: probes"
  "vmlinux:"
  "bpf: vmlinux libbpf"
  "analysis/base:"
  "analysis/language: analysis/base"
  "analysis/model: analysis/base"
  "analysis/links: analysis/base analysis/model"
  "analysis/trace: analysis/base analysis/model analysis/links"
  "analysis/imports: analysis/base analysis/model analysis/trace"
  "analysis/latseq: analysis/base analysis/model analysis/trace analysis/imports analysis/journeys"
  "analysis/oai_t: analysis/base analysis/model analysis/trace analysis/imports"
  "analysis/event_json: analysis/base analysis/model analysis/trace analysis/imports"
  "analysis/xlap: analysis/base analysis/model analysis/trace analysis/imports"
  "analysis/hits: analysis/base analysis/model analysis/trace analysis/imports"
  "analysis/statistics: analysis/base"
  "analysis/host: analysis/base"
  "analysis/context: analysis/base analysis/model"
  "analysis/energy: analysis/base analysis/model analysis/statistics"
  "analysis/threads: analysis/base analysis/model analysis/context analysis/statistics"
  "analysis/journeys: analysis/base analysis/language analysis/model analysis/journeys/shared analysis/journeys/plan
    analysis/journeys/match analysis/journeys/assemble"
  "analysis/journeys/shared: analysis/base analysis/model"
  "analysis/journeys/plan: analysis/base analysis/model analysis/journeys/shared"
  "analysis/journeys/units: analysis/model analysis/journeys/shared"
  "analysis/journeys/match: analysis/model analysis/journeys/shared analysis/journeys/units"
  "analysis/journeys/assemble: analysis/base analysis/model analysis/journeys/shared analysis/journeys/units
    analysis/journeys/match"
  "analysis/causes: analysis/base analysis/model analysis/statistics analysis/host analysis/context analysis/journeys"
  "analysis/metrics: analysis/base analysis/model analysis/journeys analysis/causes"
  "analysis/profile: analysis/base analysis/model analysis/journeys"
  "analysis/filter: analysis/base analysis/language analysis/model analysis/journeys"
  "analysis/queues: analysis/base analysis/model analysis/trace analysis/statistics analysis/journeys"
  "analysis/pipeline: analysis/base analysis/model analysis/trace analysis/journeys"
  "analysis/report: analysis/base analysis/model analysis/trace analysis/statistics analysis/context analysis/energy
    analysis/journeys analysis/causes analysis/profile analysis/queues analysis/threads analysis/pipeline"
  "analysis/live: analysis/base analysis/model analysis/links analysis/trace analysis/journeys analysis/causes analysis/profile
    analysis/filter analysis/pipeline analysis/report"
  "analysis/present/words: analysis/base analysis/model analysis/trace analysis/statistics"
  "analysis/present/energy: analysis/base analysis/model analysis/statistics analysis/energy analysis/present/words"
  "analysis/present/events: analysis/model analysis/trace"
  "analysis/present/imports: analysis/base analysis/imports analysis/hits analysis/latseq analysis/oai_t analysis/event_json analysis/xlap"
  "analysis/present/journeys: analysis/model analysis/journeys analysis/present/words"
  "analysis/present/queues: analysis/model analysis/trace analysis/journeys analysis/queues analysis/present/words"
  "analysis/present/causes: analysis/base analysis/model analysis/journeys analysis/causes analysis/present/words"
  "analysis/present/live: analysis/base analysis/model analysis/causes analysis/live analysis/present/words analysis/present/causes"
  "analysis/present/host: analysis/host analysis/present/words"
  "analysis/present/threads: analysis/model analysis/threads analysis/present/words"
  "analysis/present/profile: analysis/model analysis/profile analysis/present/words"
  "analysis/present/report: analysis/base analysis/model analysis/trace analysis/statistics analysis/context
    analysis/energy analysis/present/energy
    analysis/journeys analysis/causes analysis/profile analysis/threads analysis/report analysis/present/words
    analysis/host analysis/present/causes analysis/present/host analysis/present/journeys analysis/present/threads"
  "analysis/exports: analysis/base analysis/model analysis/trace analysis/journeys analysis/causes analysis/context"
  "analysis/page: analysis/base analysis/model analysis/statistics analysis/context analysis/trace analysis/imports analysis/latseq analysis/journeys
    analysis/causes analysis/filter analysis/profile analysis/queues analysis/pipeline analysis/report analysis/present/words analysis/present/causes
    analysis/present/journeys analysis/present/queues analysis/present/report analysis/present/traits
    analysis/present/profile analysis/present/differential analysis/differential"
  "analysis/differential: analysis/base analysis/host analysis/model analysis/trace analysis/statistics analysis/context analysis/journeys analysis/causes
    analysis/profile analysis/filter analysis/pipeline analysis/report analysis/present/words analysis/present/causes"
  "analysis/present/pictures: analysis/model analysis/statistics analysis/journeys analysis/report analysis/present/words
    analysis/present/journeys"
  "analysis/present/traits: analysis/model analysis/differential analysis/present/words"
  "analysis/present/differential: analysis/host analysis/differential analysis/present/host analysis/present/words"
  "analysis/schema_language: analysis/base analysis/language analysis/model"
  "userspace/base: analysis/base analysis/model"
  "userspace/tls: analysis/base userspace/base"
  "userspace/files: analysis/base analysis/trace analysis/imports analysis/journeys userspace/base userspace/tls"
  "userspace/ctf: analysis/base analysis/imports analysis/hits"
  "userspace/redaction: analysis/base analysis/model analysis/trace analysis/journeys"
  "userspace/http: analysis/base userspace/base"
  "userspace/page: analysis/base analysis/trace analysis/page userspace/base userspace/files"
  "userspace/scripts: analysis/base analysis/model analysis/trace analysis/journeys userspace/base"
  "userspace/tracee: analysis/base analysis/model userspace/base bpf probes"
  "userspace/symbols: analysis/base analysis/model analysis/trace userspace/base userspace/tracee"
  "userspace/coarse: analysis/base analysis/model userspace/base userspace/tracee bpf
    userspace/coarse/map userspace/coarse/functions userspace/coarse/debug userspace/coarse/code"
  "userspace/coarse/map: analysis/base analysis/language analysis/model analysis/filter userspace/base userspace/tracee bpf
    userspace/coarse/debug"
  "userspace/coarse/functions: analysis/base analysis/filter userspace/tracee userspace/symbols
    userspace/coarse/debug userspace/coarse/code"
  "userspace/coarse/debug: analysis/base analysis/filter userspace/base userspace/tracee userspace/symbols bpf"
  "userspace/coarse/code: analysis/base userspace/tracee userspace/symbols"
  "userspace/coarse/suggest: analysis/base userspace/tracee userspace/coarse/functions userspace/coarse"
  "userspace/capture: analysis/base analysis/model analysis/journeys userspace/base userspace/files userspace/tracee
    userspace/capture/rights userspace/capture/output userspace/capture/control userspace/capture/session
    userspace/capture/stream userspace/capture/metrics userspace/capture/processes userspace/capture/post_mortem"
  "userspace/capture/rights: analysis/base userspace/base"
  "userspace/capture/helper: analysis/base analysis/model userspace/base userspace/tracee probes userspace/capture/rights
    userspace/capture/bpf userspace/capture/rings userspace/capture/queues userspace/capture/perf"
  "userspace/capture/records: analysis/model userspace/base bpf probes"
  "userspace/capture/output: analysis/base analysis/model analysis/trace analysis/filter userspace/base userspace/files userspace/tracee
    userspace/capture/rights"
  "userspace/capture/stream: analysis/base analysis/model analysis/trace userspace/base userspace/files userspace/tls
    userspace/capture/rights userspace/capture/output"
  "userspace/capture/metrics: analysis/base analysis/model analysis/links analysis/trace analysis/journeys analysis/causes analysis/metrics analysis/pipeline
    userspace/base userspace/files userspace/http userspace/capture/rights userspace/capture/output userspace/capture/stream"
  "userspace/capture/bpf: analysis/base analysis/model analysis/filter userspace/base userspace/tracee bpf libbpf
    userspace/capture/rights userspace/capture/records userspace/capture/output"
  "userspace/capture/rings: analysis/base analysis/model userspace/base userspace/tracee probes
    userspace/capture/records userspace/capture/output"
  "userspace/capture/queues: analysis/base analysis/model userspace/base userspace/tracee probes
    userspace/capture/rights userspace/capture/records userspace/capture/output userspace/capture/rings"
  "userspace/capture/perf: analysis/base analysis/model userspace/base userspace/tracee userspace/symbols
    userspace/capture/records userspace/capture/output"
  "userspace/capture/energy: analysis/base analysis/model userspace/base userspace/tracee userspace/capture/output"
  "userspace/capture/context: analysis/base analysis/model userspace/base userspace/tracee bpf libbpf
    userspace/capture/output userspace/capture/bpf userspace/capture/queues"
  "userspace/capture/control: analysis/base analysis/model analysis/links analysis/journeys analysis/filter userspace/base
    userspace/tracee userspace/capture/output userspace/capture/rings"
  "userspace/capture/post_mortem: analysis/base analysis/model analysis/trace analysis/filter userspace/base
    userspace/files userspace/tracee probes userspace/capture/rights userspace/capture/records userspace/capture/output
    userspace/capture/rings"
  "userspace/capture/session: analysis/base analysis/model analysis/journeys analysis/filter userspace/base userspace/tracee
    userspace/capture/output userspace/capture/bpf userspace/capture/rings userspace/capture/control userspace/capture/metrics
    userspace/capture/stream"
  "userspace/capture/processes: analysis/base analysis/model userspace/base userspace/tracee
    userspace/capture/records userspace/capture/output userspace/capture/bpf userspace/capture/rings
    userspace/capture/control userspace/capture/session"
  "userspace/live: analysis/base analysis/trace analysis/present/live userspace/base userspace/files"
  "userspace/doctor: analysis/base analysis/model analysis/trace userspace/base userspace/files userspace/tracee userspace/capture bpf"
  "userspace/host: analysis/base analysis/host userspace/base userspace/tracee userspace/capture userspace/doctor bpf"
  "userspace/cli: analysis/base analysis/model analysis/trace analysis/imports analysis/hits analysis/latseq analysis/oai_t
    analysis/event_json analysis/xlap analysis/exports analysis/energy analysis/statistics analysis/host analysis/threads analysis/journeys analysis/causes analysis/profile
    analysis/filter analysis/queues analysis/pipeline analysis/report analysis/differential analysis/present analysis/schema_language
    userspace/base userspace/files userspace/ctf userspace/http userspace/page userspace/redaction userspace/scripts"
  "userspace/cli/live: analysis/base analysis/model analysis/trace analysis/journeys analysis/filter analysis/host analysis/live analysis/differential
    analysis/present/events analysis/present/host analysis/present/differential analysis/present/live analysis/present/words
    userspace/base userspace/files userspace/http userspace/page userspace/live userspace/tracee userspace/coarse userspace/capture userspace/doctor userspace/host userspace/scripts userspace/cli")

set(system_headers
  "thread|stop_token|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|pthread\\.h|cerrno|errno\\.h"
  "unistd\\.h|fcntl\\.h|poll\\.h|dirent\\.h|sched\\.h|dlfcn\\.h|csignal|signal\\.h|cstdio|stdio\\.h|fstream|filesystem"
  "iostream|sys/.*|linux/.*|netinet/.*|arpa/.*")
list(JOIN system_headers "|" system_headers)

# folder: the headers of it, and of its rooms, that others may include, as a regular expression. Tests of a part include
# that part's own.
set(doors
  "userspace/capture: userspace/capture/api\\.h"
  "analysis/journeys: analysis/journeys/[a-z_]+\\.h")

# Each line: a folder, and its files that its subfolders may include as well: plain data and
# interfaces. These files include no subfolder. The table above has them as FOLDER/shared.
set(shared
  "analysis/journeys: ambiguity capture_marks journey max_span place_change_sorter rules topology totals turn")

set(known "")
foreach(arrow IN LISTS arrows)
  string(REGEX MATCH "^([^:]+):(.*)$" _ "${arrow}")
  set(folder ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "[^ \n]+" may_use_${folder} "${CMAKE_MATCH_2}")
  list(APPEND known ${folder})
endforeach()

foreach(door IN LISTS doors)
  string(REGEX MATCH "^([^:]+): (.*)$" _ "${door}")
  list(APPEND behind_doors ${CMAKE_MATCH_1})
  set(door_of_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

foreach(row IN LISTS shared)
  string(REGEX MATCH "^([^:]+): (.*)$" _ "${row}")
  list(APPEND sharing ${CMAKE_MATCH_1})
  string(REPLACE " " "|" shared_of_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# check_door(SOURCE LINE): an error where the include line leads into a folder past its door.
function(check_door source line)
  foreach(folder IN LISTS behind_doors)
    if(line MATCHES "#include \"${folder}/" AND NOT line MATCHES "#include \"(${door_of_${folder}})\""
       AND NOT "${source}" MATCHES "^${folder}/")
      message(SEND_ERROR "${source} may use ${folder} only by ${door_of_${folder}}: ${line}")
    endif()
  endforeach()
endfunction()

# module_of(OUT PATH): the folder of the table that the path is in, or the path's own folder.
function(module_of out path)
  get_filename_component(module "${path}" DIRECTORY)
  foreach(folder IN LISTS known)
    if("${path}" MATCHES "^${folder}/")
      set(module ${folder})
    endif()
  endforeach()
  foreach(folder IN LISTS sharing)
    if("${path}" MATCHES "^${folder}/(${shared_of_${folder}})\\.(h|cpp)$")
      set(module ${folder}/shared)
    endif()
  endforeach()
  set(${out} ${module} PARENT_SCOPE)
endfunction()

# used_by(OUT LINE OWN): which folder an include line of a file in OWN means; empty: none of ours.
function(used_by out line own)
  set(used "")
  if(line MATCHES "#include <bpf/")
    set(used libbpf)
  elseif(line MATCHES "#include <sojourn/")
    set(used probes)
  elseif(own MATCHES "^analysis/" AND line MATCHES "#include <(${system_headers})>")
    set(used system)
  elseif(line MATCHES "#include \"vmlinux\\.h\"")
    set(used vmlinux)
  elseif(line MATCHES "#include \"[a-z_]+\\.skel\\.h\"")
    set(used bpf)
  elseif(line MATCHES "#include \"([a-z_0-9]+/.*)\"")
    module_of(used "${CMAKE_MATCH_1}")
  endif()
  set(${out} "${used}" PARENT_SCOPE)
endfunction()

# allowed(OUT USED OWN): whether the table lets OWN use USED, by its name or by a folder that it is a room of.
function(allowed out used own)
  set(${out} FALSE PARENT_SCOPE)
  foreach(folder IN LISTS may_use_${own})
    if("${used}/" MATCHES "^${folder}/")
      set(${out} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

file(GLOB_RECURSE sources RELATIVE ${ROOT}
  ${ROOT}/analysis/*.h ${ROOT}/analysis/*.cpp ${ROOT}/userspace/*.h ${ROOT}/userspace/*.cpp
  ${ROOT}/bpf/*.h ${ROOT}/bpf/*.c ${ROOT}/vmlinux/*.h ${ROOT}/probes/*.h)
foreach(source IN LISTS sources)
  module_of(own ${source})
  if(NOT own IN_LIST known)
    message(SEND_ERROR "${source} is not in the table of arrows.cmake")
    continue()
  endif()
  file(STRINGS ${ROOT}/${source} lines REGEX "^ *# *include ")
  foreach(line IN LISTS lines)
    check_door(${source} "${line}")
    used_by(used "${line}" ${own})
    allowed(may "${used}" ${own})
    if(door_of_${own} AND "${source}" MATCHES "^${door_of_${own}}$" AND "${used}" MATCHES "^${own}/")
      continue()  # a door leads to all rooms behind it
    endif()
    if(used AND NOT used STREQUAL own AND NOT may)
      message(SEND_ERROR "${source} may not use ${used}: ${line}")
    endif()
  endforeach()
endforeach()
list(LENGTH sources count)
if(count EQUAL 0)
  message(FATAL_ERROR "no sources in ${ROOT}")
endif()
