/* lxplan: plans how a tensor graph runs on cores with small scratchpads, and proves it.
 *
 *     lx_status st;
 *     const struct lx_graph *graph = lx_graph_read("patterns/targets/gqattention.json", &st);
 *     struct lx_plan_options how = {.solver = lx_solver_find("bestfit")};
 *     struct lx_plan *plan = graph ? lx_plan_make(graph, &how, &st) : NULL;
 *     if (!plan) { char text[1200]; puts(lx_status_describe(&st, text, sizeof text)); }
 *     else printf("%lld bytes of HBM traffic\n", (long long)plan->figures.hbm_bytes);
 *     lx_plan_free(plan);
 *     lx_graph_free(graph);
 *
 * Programs outside the library include only this header. The library never prints, never exits and keeps no
 * state; every object is freed by the function named after it, and freeing NULL is fine. Graphs and plans are
 * shared by reference counts: each reference is given back once. */
#ifndef LX_UNSTABLE_H
#define LX_UNSTABLE_H

#include "base/status.h"
#include "graph/target.h"
#include "graph/graph.h"
#include "files/device_file.h"
#include "files/answers.h"
#include "files/formats.h"
#include "files/generate.h"
#include "import/model_import.h"
#include "layout/layout.h"
#include "team/team.h"
#include "divide/divide.h"
#include "placement/problem.h"
#include "cooptimise/cooptimise.h"
#include "plan/plan.h"
#include "plan/question.h"
#include "plan/options.h"
#include "plan/occupancy.h"
#include "explain/plan_diff.h"
#include "explain/plan_explain.h"
#include "explain/op_waits.h"
#include "check/check_xla.h"
#include "launch/launch.h"
#include "launch/launch_of_op.h"
#include "loops/loops.h"
#include "loops/nest_of_op.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "team/run/transport.h"
#include "team/run/team_plans.h"
#include "team/run/team_clock.h"
#include "team/run/shard_reasons.h"
#include "team/run/team_run.h"
#include "kernels/nest_run.h"
#include "api/plugins.h"
#include "export/exports.h"

#endif
