# Installs into a scratch folder and builds against what is there: the examples of lib/library.md against the shared library, a plug-in, and the example of
# unstable.h against the archive, which alone has the stages. Catches a public header that includes an internal one, a file
# missing from the rules, and a pkg-config file that lies.
set(prefix ${BUILD}/install-test)
file(REMOVE_RECURSE ${prefix})
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(file bin/lxplan share/man/man1/lxplan.1 share/bash-completion/completions/lxplan
        share/lxplan/patterns/targets/gqattention.json)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

file(GLOB_RECURSE pc ${prefix}/*/lxplan.pc)
get_filename_component(pc_folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_folder})
file(WRITE ${prefix}/example.c "#include \"unstable.h\"
#include <stdio.h>
int main(int argc, char **argv)
{
    lx_status st;
    const struct lx_graph *graph = lx_graph_read(argv[argc - 1], &st);
    struct lx_plan_options how = {.solver = lx_solver_find(\"bestfit\")};
    struct lx_plan *plan = graph ? lx_plan_make(graph, &how, &st) : NULL;
    lx_graph_free(graph); // the plan has a reference of its own
    if (!plan) return 1;
    printf(\"%lld\\n\", (long long)plan->figures.hbm_bytes);
    lx_plan_free(plan);
    return 0;
}
")
function(flags_of result)
  execute_process(COMMAND pkg-config ${ARGN} lxplan
                  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(${result} ${flags} PARENT_SCOPE)
endfunction()
flags_of(flags --cflags --libs)
flags_of(libs --libs-only-L)
separate_arguments(extra UNIX_COMMAND "${EXTRA}")
set(strict -Wall -Wextra -Wpedantic -Werror ${extra})
string(REPLACE "-L" "" folder "${libs}")
run(${COMPILER} -std=c17 ${strict} -I${prefix}/include/lxplan ${prefix}/example.c -o ${prefix}/example
    ${folder}/liblxplan.a -lm -pthread)
run(${prefix}/example ${prefix}/share/lxplan/patterns/targets/gqattention.json)
if(NOT output MATCHES "^1719040")
  message(FATAL_ERROR "the example printed ${output}")
endif()

# The stable interface, by the examples of the README: C by pkg-config, C++ by the CMake package.
function(example language file)
  file(READ ${ROOT}/lib/library.md readme)
  string(REGEX MATCH "```${language}\n#include <lxplan/lxplan.h>\n[^`]*" code "${readme}")
  string(REGEX REPLACE "^```[a-z]*\n" "" code "${code}")
  if(code STREQUAL "")
    message(FATAL_ERROR "lib/library.md has no example in ${language}")
  endif()
  file(WRITE ${prefix}/${file} "${code}")
endfunction()
function(prints words)
  run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${folder} ${ARGN})
  if(NOT output STREQUAL "${words}\n")
    message(FATAL_ERROR "${ARGN} printed ${output}")
  endif()
endfunction()
example(c solve.c)
run(${COMPILER} -std=c17 ${strict} ${prefix}/solve.c -o ${prefix}/solve ${flags})
prints(optimal ${prefix}/solve)

# ilp is no part of the library, and a plug-in of it.
flags_of(plugins --variable=plugindir)
file(WRITE ${prefix}/plugin.c "#include <lxplan/lxplan.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    lx_error *e = lx_error_new();
    lx_options *o = lx_options_new();
    lx_placement *p = lx_placement_new(\"cost\", 1, e);
    if (lx_has(\"ilp\") || !lx_options_set(o, \"solver\", \"ilp\", e)) return 1;
    if (!lx_options_set(o, \"plugins\", argv[0], e) || !lx_options_set(o, \"plugins\", \"libm.so.6\", e)) return 2;
    if (lx_options_set(o, \"plugins\", argv[argc - 1], e) || lx_options_set(o, \"solver\", \"ilp\", e))
        return puts(lx_error_text(e)), 3;
    lx_placement_pool(p, \"LX\", 100, e);
    for (int i = 0; i < 3; i++) lx_placement_buffer(p, NULL, 40, 0, 2, 10 + i, e);
    lx_result *r = lx_solve(p, o, e);
    printf(\"%s %s\\n\", lx_result_word(r, \"solver\"), lx_result_word(r, \"status\"));
    lx_result_free(r), lx_placement_free(p), lx_options_free(o), lx_error_free(e);
    return 0;
}
")
run(${COMPILER} -std=c17 ${strict} ${prefix}/plugin.c -o ${prefix}/plugin ${flags})
prints("ilp optimal" ${prefix}/plugin ${plugins}/lxplan_ilp.so)

# The program finds its plug-ins from where it lies, and does without them.
run(${prefix}/bin/lxplan plan ${prefix}/share/lxplan/patterns/targets/staircase.json -s ilp)
file(RENAME ${plugins}/lxplan_ilp.so ${prefix}/lxplan_ilp.so)
run(${prefix}/bin/lxplan solvers)
if(NOT output MATCHES "not here; install the package lxplan-ilp")
  message(FATAL_ERROR "without the plug-in: ${output}")
endif()
file(RENAME ${prefix}/lxplan_ilp.so ${plugins}/lxplan_ilp.so)

# A plug-in of one's own, for the program.
file(WRITE ${prefix}/nothing.c "#include <lxplan/solver.h>
static bool nothing(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    (void)p, (void)run;
    answer->status = LX_FEASIBLE;
    return true;
}
static const struct lx_solver solver = {.abi = LX_SOLVER_ABI, .name = \"nothing\", .summary = \"leaves everything off chip\",
                                        .caps = LX_CAN_SPILL, .solve = nothing};
LX_SOLVER_PLUGIN(&solver);
")
flags_of(stages --variable=stagesdir)
run(${COMPILER} -std=c17 ${strict} -shared -fPIC -I${stages} -I${prefix}/include ${prefix}/nothing.c -o ${prefix}/nothing.so)
run(${CMAKE_COMMAND} -E env LXPLAN_PLUGINS=${prefix}/nothing.so ${prefix}/bin/lxplan solvers)
if(NOT output MATCHES "nothing +")
  message(FATAL_ERROR "the program did not load the plug-in: ${output}")
endif()

if(CXX)
  example(cpp plan.cpp)
  file(WRITE ${prefix}/CMakeLists.txt "cmake_minimum_required(VERSION 3.16)
project(plan LANGUAGES CXX)
find_package(lxplan 0 REQUIRED)
add_executable(plan plan.cpp)
target_link_libraries(plan PRIVATE lxplan::lxplan)
target_compile_options(plan PRIVATE -Wall -Wextra -Wpedantic -Werror ${EXTRA})
target_link_options(plan PRIVATE ${EXTRA})
")
  run(${CMAKE_COMMAND} -G Ninja -S ${prefix} -B ${prefix}/plan-build -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX})
  run(${CMAKE_COMMAND} --build ${prefix}/plan-build)
  prints(ok ${prefix}/plan-build/plan ${prefix}/share/lxplan/patterns/graphs/rms_norm.json)
else()
  message(STATUS "no C++ compiler: the header was not tried with one")
endif()
run(${prefix}/bin/lxplan check ${prefix}/share/lxplan/patterns/targets/gqattention.json -s bestfit)
