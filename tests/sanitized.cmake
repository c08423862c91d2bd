# What a build with sanitizers runs again in the usual suite: labels for ctest, and the target sampled_tests, which builds no more
# than that. LXPLAN_ALL=1 ./bootstrap test builds and runs everything.

# Leaks are looked for where the library is driven end to end.
set(LEAKS plan graph formats models model_damage both_ways import_choices layers nest_search check_claims explorer_flows
    cooptimise loops sweep handover)
# The slowest, which repeat what others do.
set(SLOW device_plans least_time launch_alternatives launch_plan plan_sabotage plan_sums sabotage kernels kernel_tasks passes bounds
    monotone any_nest nest_clocks nest_random alignments joint random_contractions property changed_plans why_panel linked links
    nest_words nest_least nest_plan fit clocks auto_general team_file exact device_nests every_leaf nest_damage polls bench remedies
    asked_before anneal auto agree device_parameters nest_monotone nest_explain nest_astray nest_sabotage launch_sabotage move_pass
    exact_moves plan_words trace memory_viz model_explorer team_view online_nests windows chain team_kinds team_trace stopped_plans
    nest_file nest_launch nest_draft nest_run team_nests exports ilp perfetto bound launch_random cut_layers team_grid
    shard_improve shard_layers nest_moves counts team_run plan options conventions shard_bound span_nests team_clock emit
    session gap_fit team_graph mixed_sizes calibrate incumbents taken_bits skyline forced_nests shard_reasons team_models
    window_models)
set(SLOW_GOLDEN explain explore_graph explore_sweep explore_team explore_why explore_walk explore_compare explore_conventions
    explore_cores explore_pareto explore_time explore_views explore_buffers explore_map explore_change explore_nests config sweep stages survives explain_team
    explain_nest team_show)

add_custom_target(sampled_tests DEPENDS lxplan_program run_cases foreign_plans)
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test ${tests})
  get_filename_component(kind ${test} DIRECTORY)
  get_filename_component(name ${test} NAME)
  if(kind STREQUAL unit AND NOT name IN_LIST SLOW)
    add_dependencies(sampled_tests test_${name})
    if(name IN_LIST LEAKS)
      set_tests_properties(${test} PROPERTIES LABELS leaks)
    else()
      set_tests_properties(${test} PROPERTIES LABELS again)
    endif()
  elseif((kind STREQUAL golden AND NOT name IN_LIST SLOW_GOLDEN) OR (kind STREQUAL cases AND NOT name MATCHES "^(loops|tiling)$") OR
         kind STREQUAL foreign OR (kind STREQUAL terminal AND NOT name MATCHES "^(move|sweep)$") OR
         (test MATCHES "^pattern/.*/auto$" AND NOT kind MATCHES "/block_"))
    set_tests_properties(${test} PROPERTIES LABELS again)
  endif()
endforeach()
