/* A plan as the flat records that its file has (plan_fields.h), and back. Private to the stage. */
#ifndef LX_PLANFILE_PLAN_PACK_H
#define LX_PLANFILE_PLAN_PACK_H

#include "planfile/plan_fields.h"
#include "plan/plan_make.h"

struct plan_root plan_pack_root(const struct lx_plan *p, char hash[20]);
struct plan_solver plan_pack_solver(const struct lx_plan *p);
struct plan_transfer plan_pack_transfer(const struct lx_plan *p, int32_t i);
/* Lists of these live in `memory`. */
struct plan_graph plan_pack_graph(const struct lx_plan *p, struct arena *memory);
struct plan_tensor plan_pack_tensor(const struct lx_plan *p, int32_t i, struct arena *memory);
struct plan_op plan_pack_op(const struct lx_plan *p, int32_t i, struct arena *memory);
struct plan_nest plan_pack_nest(const struct lx_nest *n, struct arena *memory);
struct plan_bundle plan_pack_bundle(const struct lx_plan *p, int32_t i);
struct plan_launch plan_pack_launch(const struct lx_op_launch *l, struct arena *memory);
struct plan_buffer plan_pack_buffer(const struct lx_plan *p, int32_t i, struct arena *memory);

#endif
