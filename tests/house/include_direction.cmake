# Fails when a folder includes against the direction of the road (lib/README.md has the table):
#   lib/ROOM    its own headers, those of rooms above it in ROAD, and base
#   solvers     placement, solver.h, base and their own
#   lib/api     lxplan.h as well, which it makes; no other room knows of it
#   app         lxplan.h, unstable.h, base, its own, and what pages of plans share with it: the words of export (APP_SEES)
#   lib/check   shares nothing with the planner: base, graph, what layouts and launches mean, the placement checker and
#               bounds, and the plan as it was read (CHECK_SEES); the structs of stages come with that, their code does not
# A room is named by its longest folder that stands in ROAD: device/memory belongs to device.
set(ROAD base network graph files import layout team cost divide launch placement stays nests cooptimise clock search plan planfile explain check
    loops kernels device emit gpu team/run export api)

set(CHECK_SEES "^(base/|graph/|files/|check/|layout/(layout|op_index)\\.h|launch/launch(_of_op)?\\.h|placement/problem\\.h|plan/plan\\.h)")
# Functions of the planner that the structs bring into sight.
set(CHECK_CALLS_NOT "lx_(division_|divisions_|divide|core_view|core_div|launch_of|launch_make|launch_tile|launch_covers|op_launch_|plan_launch|plan_make|plan_place|tile_recover|share_of|layouts_make)|draft_|stay_view|view_|traffic_|plan_pack|plan_sync|program_|syncs_stab|footprint|perfect_traffic|pool_|nest_(valid|tensor_of|takes_op|tile_basis|op_tiles|product|iterations|of_op)|levels_to|level_bit")

set(APP_SEES "^export/(page|plan_words|nest_words|plan_map)\\.h$")

# The place in ROAD of a path below lib, or -1.
function(place_of path result)
  set(room ${path})
  set(${result} -1 PARENT_SCOPE)
  while(room MATCHES "/")
    string(REGEX REPLACE "/[^/]*$" "" room "${room}")
    list(FIND ROAD "${room}" place)
    if(place GREATER_EQUAL 0)
      set(${result} ${place} PARENT_SCOPE)
      break()
    endif()
  endwhile()
endfunction()

# Is `header` one that a file of `place` (of solvers, of app) may see?
function(allowed folder place header result)
  place_of("${header}" theirs)
  set(ok FALSE)
  if(folder STREQUAL "lib")
    list(GET ROAD ${place} room)
    if((theirs GREATER_EQUAL 0 AND theirs LESS_EQUAL place) OR (room STREQUAL "api" AND header STREQUAL "lxplan.h"))
      set(ok TRUE)
    endif()
  elseif(theirs EQUAL 0 OR EXISTS ${ROOT}/${folder}/${header})
    set(ok TRUE)
  elseif(folder STREQUAL "solvers" AND header MATCHES "^(placement/|solver\\.h$)")
    set(ok TRUE)
  elseif(folder STREQUAL "app" AND (header MATCHES "^(lxplan|unstable)\\.h$" OR header MATCHES "${APP_SEES}"))
    set(ok TRUE)
  endif()
  set(${result} ${ok} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/lib/*.[ch] ${ROOT}/solvers/*.[ch] ${ROOT}/app/*.[ch])
list(LENGTH sources count)
if(count LESS 20)
  message(FATAL_ERROR "only ${count} sources found below ${ROOT}")
endif()
foreach(source ${sources})
  string(REGEX REPLACE "/.*" "" folder "${source}")
  set(place 0)
  if(source MATCHES "^lib/(.*/.*)")
    place_of(${CMAKE_MATCH_1} place)
    if(place LESS 0)
      message(SEND_ERROR "${source} is in no room of the road")
    endif()
  elseif(folder STREQUAL "lib")
    continue() # unstable.h sees every room
  endif()
  file(STRINGS ${ROOT}/${source} lines REGEX "^#include \"")
  foreach(line ${lines})
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" header "${line}")
    allowed(${folder} ${place} ${header} ok)
    if(source MATCHES "^lib/check/" AND NOT header MATCHES "${CHECK_SEES}")
      set(ok FALSE)
    endif()
    if(NOT ok)
      message(SEND_ERROR "${source} includes \"${header}\", which it must not see")
    endif()
  endforeach()
  if(source MATCHES "^lib/check/")
    file(STRINGS ${ROOT}/${source} calls REGEX "(^|[^a-z_])(${CHECK_CALLS_NOT})[a-z_]* *\\(")
    foreach(call ${calls})
      message(SEND_ERROR "${source} calls the planner: ${call}")
    endforeach()
  endif()
endforeach()
