# Installs into a scratch folder and builds the example of unstable.h against what is there: catches a public
# header that includes an internal one, a file missing from the rules, and a pkg-config file that lies.
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
execute_process(COMMAND pkg-config --define-variable=prefix=${prefix} --cflags --libs lxplan
                OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
separate_arguments(extra UNIX_COMMAND "${EXTRA}")
run(${COMPILER} -std=c17 -Wall -Wextra -Werror ${extra} ${prefix}/example.c -o ${prefix}/example ${flags})
run(${prefix}/example ${prefix}/share/lxplan/patterns/targets/gqattention.json)
if(NOT output MATCHES "^1719040")
  message(FATAL_ERROR "the example printed ${output}")
endif()
run(${prefix}/bin/lxplan check ${prefix}/share/lxplan/patterns/targets/gqattention.json -s bestfit)
