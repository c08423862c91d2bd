/* What the files of the plan format share. Private to the stage. */
#ifndef LX_PLANFILE_PLAN_FILE_H
#define LX_PLANFILE_PLAN_FILE_H

#include "base/json/json.h"
#include "base/text.h"
#include "files/pattern.h"
#include "planfile/plan_fields.h"
#include "plan/plan_make.h"

/* Format 2 is written. Format 1, of release 0.1, is read: layouts, divisions and stays are not in it and are
 * made again. */
enum { PLAN_FORMAT = 2, PLAN_FORMAT_OLD = 1 };

/* The records of an array of the file, and where each stands: an element of a parsed array is only found by
 * going through those before it. */
struct records {
    void *at; /* structs of their section */
    const struct json_value **where;
    int32_t count;
};

/* The graph of a plan, being read. */
struct graph_reader {
    const struct json *j;
    const struct json_value *graph;
    struct records tensors, ops, buffers;
    struct lx_plan *p;
    lx_status *st;
};

/* plan_read.c: a plan in a file that holds others as well. */
struct lx_plan *plan_read_json(const struct json *j, const struct json_value *root, lx_status *st);
/* plan_read_graph.c: layouts, divisions, stays, accesses, transfers, launches and places as the file states
 * them. `buffers`: the records of the file's. */
bool plan_read_graph(const struct json *j, const struct json_value *root, const struct records *buffers,
                     struct lx_plan *p, lx_status *st);
/* Is `number` from `least` to below `count`? */
bool plan_in_range(const struct graph_reader *r, const struct json_value *at, const char *what,
                   int64_t number, int64_t least, int64_t count);
/* plan_read_stays.c: stays, buffers and accesses; then transfers. */
bool plan_read_stays(const struct graph_reader *r);
bool plan_read_transfers(const struct graph_reader *r);
/* plan_read_nests.c: the nests, once layouts are known; the hold of a buffer, once nests are; and what accesses and
 * decisions have of both, once stays are. */
bool plan_read_nests(const struct graph_reader *r);
bool plan_read_hold(const struct graph_reader *r, const struct json_value *at, const struct plan_buffer *x,
                    struct lx_stay *out);
/* What is there for all of a nest is used by its first and its last op. */
void plan_cover_nests(const struct graph_reader *r, struct lx_buffer *buffers);
bool plan_read_holds(const struct graph_reader *r, struct lx_access *accesses, struct decisions *how);
/* The passes of `graph`. */
bool plan_read_passes(const struct json *j, const struct json_value *graph, struct lx_passes *passes,
                      lx_status *st);
/* plan_read_absent.c: what a file need not say, because it follows from what it states. */
bool plan_fill_absent(struct lx_plan *p, lx_status *st);
/* plan_read_launches.c: one per op. */
bool plan_read_launching(const struct json *j, const struct json_value *at, const struct plan_graph *x,
                         struct lx_launch_options *out, lx_status *st);
bool plan_read_launches(const struct json *j, const struct json_value *graph, struct lx_plan *p,
                        lx_status *st);
/* plan_read_old.c: the same for format 1, made again from pattern and decisions, with the file's addresses. */
bool plan_read_old(const struct json *j, const struct json_value *root, struct lx_plan *p,
                   enum lx_objective objective, lx_status *st);

/* One record of section `section`; the file's place of an error is that of `object`. */
bool plan_read_record(const struct json *j, const struct json_value *object, enum plan_section_id section,
                      void *record, struct arena *memory, lx_status *st);
/* All of the array `key` of `object`, in `memory`. */
bool plan_read_records(const struct json *j, const struct json_value *object, const char *key,
                       enum plan_section_id section, struct arena *memory, struct records *out,
                       lx_status *st);

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
