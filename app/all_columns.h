/* The columns of every table that the program writes. A test walks them. */
#pragma once

#include "text/column.h"

/* clang-format off */
#define ALL_COLUMNS(X)                                                                                       \
    X(import_kind_columns) /* import */                                                                        \
    X(plan_buffer_columns) X(plan_op_columns) X(stage_columns) X(step_columns) X(remedy_columns) /* plan */                    \
    X(layout_columns) X(restickify_columns) X(division_columns) X(alternative_columns)           /* plan --stage */                 \
    X(problem_columns) X(launch_columns) X(nest_columns)                                                     \
    X(team_cut_columns) X(team_op_columns) X(team_exchange_columns) X(team_device_columns)                   \
    X(team_state_columns) X(team_step_columns) X(team_link_columns) X(team_time_columns) /* show, of a team */ \
    X(team_total_columns) X(team_change_columns) X(team_device_change_columns) /* diff, of teams */ \
    X(cut_reason_columns) X(cut_read_columns)                             /* plan --team --explain */         \
    X(run_op_columns) X(run_output_columns) X(fault_columns)              /* run */                          \
    X(on_chip_columns) X(off_chip_columns)                                /* show */                         \
    X(difference_columns) X(share_columns) X(nest_change_columns) X(loop_columns) X(solver_columns) X(solver_option_columns) \
    X(solver_stat_columns) X(device_columns) X(rate_columns) X(front_columns) \
    X(contender_columns) X(cell_columns) X(mishap_columns)                /* report */                       \
    X(suite_columns) X(suite_size_columns)                               /* suite */                        \
    X(pair_columns) X(total_columns) X(beside_columns) X(statistic_columns)                                  \
    X(sweep_point_columns) X(sweep_knee_columns) X(team_size_columns)     /* sweep */                        \
    X(pattern_columns) X(racer_columns) X(graph_columns) X(run_columns)   /* the explorer */
/* clang-format on */

#define DECLARE_COLUMNS(name) extern const struct columns name;
ALL_COLUMNS(DECLARE_COLUMNS)
#undef DECLARE_COLUMNS
