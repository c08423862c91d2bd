/* Shared by the files of the plan format. Private to the stage. */
#pragma once

#include "files/pattern.h"
#include "planfile/plan_fields.h"
#include "plan/plan_make.h"

/* Format 2 is written and read. Format 1, of release 0.1, is only read: layouts, divisions and stays are made
 * again. */
enum { PLAN_FORMAT = 2, PLAN_FORMAT_OLD = 1 };

/* The records of an array of the file, with the position of each in the file. */
struct records {
    void *at; /* structs of the section */
    const struct json_value **where;
    int32_t count;
};

/* State of reading the graph of a plan. */
struct graph_reader {
    const struct json *j;
    const struct json_value *graph;
    struct records tensors, ops, buffers;
    struct lx_plan *p;
    lx_status *st;
};

/* plan_read.c: reads a plan that is part of a larger file. */
struct lx_plan *plan_read_json(const struct json *j, const struct json_value *root, lx_status *st);
/* plan_read_graph.c: reads the graph's part as the file states it. `buffers`: the file's records of
 * buffers. */
bool plan_read_graph(const struct json *j, const struct json_value *root, const struct records *buffers,
                     struct lx_plan *p, lx_status *st);
/* True if `least` <= `number` < `count`; else sets an error. */
bool plan_in_range(const struct graph_reader *r, const struct json_value *at, const char *what,
                   int64_t number, int64_t least, int64_t count);
/* plan_read_stays.c: stays, buffers and accesses; then transfers. */
bool plan_read_stays(const struct graph_reader *r);
bool plan_read_transfers(const struct graph_reader *r);
/* plan_read_nests.c: reads nests (after layouts) and the hold of a buffer; derives the holds of accesses and
 * decisions. */
bool plan_read_nests(const struct graph_reader *r);
bool plan_read_hold(const struct graph_reader *r, const struct json_value *at, const struct plan_buffer *x,
                    struct lx_stay *out);
/* A buffer that is there for a whole nest gets uses at the nest's first and last op. */
void plan_cover_nests(const struct graph_reader *r, struct lx_buffer *buffers);
void plan_read_holds(const struct graph_reader *r, struct lx_access *accesses, struct decisions *how);
/* Reads the passes of `graph`. */
bool plan_read_passes(const struct json *j, const struct json_value *graph, struct lx_passes *passes,
                      lx_status *st);
/* plan_read_absent.c: computes fields that a file may omit because they follow from others. */
bool plan_fill_absent(struct lx_plan *p, lx_status *st);
/* plan_read_launches.c: reads launch options; reads one launch per op. */
bool plan_read_launching(const struct json *j, const struct json_value *at, const struct plan_graph *x,
                         struct lx_launch_options *out, lx_status *st);
bool plan_read_launches(const struct json *j, const struct json_value *graph, struct lx_plan *p,
                        lx_status *st);
/* plan_read_old.c: reads format 1: makes the plan again from pattern and decisions, with the file's
 * addresses. */
bool plan_read_old(const struct json *j, const struct json_value *root, struct lx_plan *p,
                   enum lx_objective objective, lx_status *st);

/* Reads one record of section `section`. Errors point to `object` in the file. */
bool plan_read_record(const struct json *j, const struct json_value *object, enum plan_section_id section,
                      void *record, struct arena *memory, lx_status *st);
/* Reads the array `key` of `object` into `memory`. */
bool plan_read_records(const struct json *j, const struct json_value *object, const char *key,
                       enum plan_section_id section, struct arena *memory, struct records *out,
                       lx_status *st);

struct plan_root plan_pack_root(const struct lx_plan *p, char hash[20]);
struct plan_solver plan_pack_solver(const struct lx_plan *p);
struct plan_transfer plan_pack_transfer(const struct lx_plan *p, int32_t i);
/* Lists in these records live in `memory`. */
struct plan_graph plan_pack_graph(const struct lx_plan *p, struct arena *memory);
struct plan_tensor plan_pack_tensor(const struct lx_plan *p, int32_t i, struct arena *memory);
struct plan_op plan_pack_op(const struct lx_plan *p, int32_t i, struct arena *memory);
struct plan_nest plan_pack_nest(const struct lx_nest *n, struct arena *memory);
struct plan_bundle plan_pack_bundle(const struct lx_plan *p, int32_t i);
struct plan_launch plan_pack_launch(const struct lx_op_launch *l, struct arena *memory);
struct plan_buffer plan_pack_buffer(const struct lx_plan *p, int32_t i, struct arena *memory);
