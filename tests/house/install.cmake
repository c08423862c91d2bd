# Installs into a scratch folder and builds against what is there: ten lines of C against the shared library, the example of
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
  execute_process(COMMAND pkg-config --define-variable=prefix=${prefix} ${ARGN} lxplan
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

# The stable interface.
file(WRITE ${prefix}/solve.c "#include <lxplan/lxplan.h>
#include <stdio.h>
int main(void)
{
    lx_error *e = lx_error_new();
    lx_placement *p = lx_placement_new(\"cost\", 128, e);
    lx_placement_pool(p, \"LX\", 4096, e);
    lx_placement_buffer(p, \"scores\", 4096, 0, 3, 8192, e);
    lx_placement_buffer(p, \"mask\", 128, 1, 2, 256, e);
    lx_result *r = lx_solve(p, NULL, e);
    printf(\"%s %d\", r ? lx_result_word(r, \"status\") : lx_error_text(e), (int)lx_has(\"ilp\"));
    lx_result_free(r), lx_placement_free(p), lx_error_free(e);
    return 0;
}
")
run(${COMPILER} -std=c17 ${strict} ${prefix}/solve.c -o ${prefix}/solve ${flags})
run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${folder} ${prefix}/solve)
if(NOT output STREQUAL "optimal 0")
  message(FATAL_ERROR "the program against the shared library printed ${output}")
endif()
run(${prefix}/bin/lxplan check ${prefix}/share/lxplan/patterns/targets/gqattention.json -s bestfit)
