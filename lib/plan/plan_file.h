/* What the files of the plan format share. Private to the stage. */
#ifndef LX_PLAN_PLAN_FILE_H
#define LX_PLAN_PLAN_FILE_H

#include "base/json.h"
#include "base/text.h"
#include "graph/pattern.h"
#include "plan/plan_pack.h"

/* Format 2 is written. Format 1, of release 0.1, is read: layouts, divisions and stays are not in it and are
 * made again. */
enum { PLAN_FORMAT = 2, PLAN_FORMAT_OLD = 1 };

/* plan_read_graph.c: layouts, divisions, stays, accesses, transfers, launches and places as the file states
 * them; its buffers, too. */
bool plan_read_graph(const struct json *j, const cJSON *root, struct lx_plan *p, lx_status *st);
/* The passes of `graph`. */
bool plan_read_passes(const struct json *j, const cJSON *graph, struct lx_passes *passes, lx_status *st);
/* plan_read_launches.c: one per op. */
bool plan_read_launches(const struct json *j, const cJSON *graph, struct lx_plan *p, lx_status *st);
/* plan_read_old.c: the same for format 1, made again from pattern and decisions, with the file's addresses. */
bool plan_read_old(const struct json *j, const cJSON *root, struct lx_plan *p, enum lx_objective objective,
                   lx_status *st);

/* One record of section `section`; the file's place of an error is that of `object`. */
bool plan_read_record(const struct json *j, const cJSON *object, enum plan_section_id section, void *record,
                      struct arena *memory, lx_status *st);
/* All of the array `key`, each `size` bytes; NULL: `st`. */
void *plan_read_records(const struct json *j, const cJSON *object, const char *key,
                        enum plan_section_id section, size_t size, struct arena *memory, int32_t *count,
                        lx_status *st);

#endif
