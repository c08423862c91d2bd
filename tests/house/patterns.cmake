# One test a (pattern, solver), read from the pattern files themselves: pattern/<folder>/<name>/<solver>.
# Where a file expects a failure the test is WILL_FAIL, so that an unexpected pass turns ctest red; `lxplan
# check` then prints which `expect` to change. Patterns that a stage must refuse become
# pattern/<folder>/<name>/<stage>.

# WILL_FAIL alone would also take a crash or bad input for the expected "no". answer_no.sh lets only exit
# code 1 through as a failure and turns every other failure into success, which WILL_FAIL shows red.
set(ANSWER_NO ${CMAKE_CURRENT_SOURCE_DIR}/shell/answer_no.sh)

# The stages that there are: an expected error of any other would never be tested.
set(LXPLAN_STAGES graph layout team divide scratchpad launch loops)

file(GLOB PATTERN_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/patterns/*/*.json)
foreach(file ${PATTERN_FILES})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  file(READ ${file} text)
  string(JSON stage ERROR_VARIABLE no_error GET "${text}" expect error stage)
  if(NOT no_error)
    if(NOT stage IN_LIST LXPLAN_STAGES)
      message(FATAL_ERROR "${file}: expect.error.stage is \"${stage}\"; the stages are ${LXPLAN_STAGES}")
    endif()
    add_test(NAME pattern/${folder}/${name}/${stage}
             COMMAND ${ANSWER_NO} $<TARGET_FILE:lxplan_program> check ${file})
    set_tests_properties(pattern/${folder}/${name}/${stage} PROPERTIES WILL_FAIL TRUE)
    continue()
  endif()
  string(JSON count ERROR_VARIABLE no_expect LENGTH "${text}" expect)
  if(no_expect OR count EQUAL 0)
    message(FATAL_ERROR "${file}: no \"expect\"; say what each solver must do")
  endif()
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON solver MEMBER "${text}" expect ${i})
    string(JSON outcome GET "${text}" expect ${solver})
    if(NOT outcome MATCHES "^(pass|fail)$")
      message(FATAL_ERROR "${file}: expect.${solver} is \"${outcome}\"; it must be pass or fail")
    endif()
    # A solver that there is not makes `check` end with 2, which is red either way.
    set(test pattern/${folder}/${name}/${solver})
    if(outcome STREQUAL "fail")
      add_test(NAME ${test} COMMAND ${ANSWER_NO} $<TARGET_FILE:lxplan_program> check ${file} -s ${solver})
      set_tests_properties(${test} PROPERTIES WILL_FAIL TRUE)
    else()
      add_test(NAME ${test} COMMAND lxplan_program check ${file} -s ${solver})
    endif()
  endforeach()
endforeach()

# Every target can be reached: those that no address alone reaches, when buffers may leave and come back, or move.
file(GLOB TARGET_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/patterns/targets/*.json)
foreach(file ${TARGET_FILES})
  get_filename_component(name ${file} NAME_WE)
  add_test(NAME pattern/targets/${name}/with_evictions COMMAND lxplan_program check ${file} --evict --move)
endforeach()
