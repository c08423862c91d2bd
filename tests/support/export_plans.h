/* Plans to read exports of back: graphs with restickify ops, in place, relayouts, evictions, moves, several kernels, nests
 * and random ones; lists with one pool, with several, and with buffers on the same bytes. */
#ifndef LX_TESTS_SUPPORT_EXPORT_PLANS_H
#define LX_TESTS_SUPPORT_EXPORT_PLANS_H

#include "unstable.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"
#include "support/nest_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef void export_check(const struct lx_plan *p);

/* What must have been among the plans, so that a test that passes has seen it. */
struct export_seen {
    int plans, lists, nests, restickifies, in_place, transfers[LX_TRANSFER_KINDS], pools, off_chip, shared;
};

/* Bytes of a pool that some buffer has at a tick, counted as a union of ranges: buffers on the same bytes count once. */
int64_t bytes_taken(const struct lx_plan *p, int32_t pool, int64_t tick);
void check_pattern(const char *name, int64_t usable, const struct lx_passes *passes, export_check *check,
                   struct export_seen *seen);
void each_export_plan(export_check *check);

/* The plan in a format; fails the test where there is none. The same bytes twice. */
char *plan_exported(const struct lx_plan *p, const char *format, size_t *length);

struct exported_tree {
    cJSON *root;
};

/* The same as JSON; a strict reader must take it as well. */
struct exported_tree exported_json(const struct lx_plan *p, const char *format);
double number_at(const cJSON *object, const char *key);
const char *word_at(const cJSON *object, const char *key);
const cJSON *item_at(const cJSON *object, const char *key);

#endif
