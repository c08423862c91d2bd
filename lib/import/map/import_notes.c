/* What the report says of the pattern: products and multiply-adds, which are those of the file as it runs; views that were
 * folded, copies that are left; constants by form; the highest rank and the most letters. */
#include "import/map/import_report.h"
#include "import/map/import_results.h"
#include "graph/repeats.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Dimensions that a product runs over; what a window reads follows from the others. */
static int64_t steps_of(const struct sketch *s)
{
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++) {
        bool follows = false;
        for (int w = 0; w < s->window_count; w++) follows |= s->windows[w].in == d;
        if (!follows && !mul_i64(n, s->extent[d], &n)) return INT64_MAX;
    }
    return n;
}

static void note_work(struct import *im, const struct sketch *s)
{
    bool slides = s->window_count > 0 || (s->from && strstr(s->from->kind, "onv"));
    if (strcmp(s->kind, "matmul") != 0 || s->rank < 0) return;
    int64_t n = steps_of(s);
    fact_add(&im->notes, slides ? "macs of the pattern" : "flops of the pattern", NULL,
             slides || n > INT64_MAX / 2 ? n : 2 * n);
}

static void note_constant(struct import *im, const struct model_data *d)
{
    static const char *const words[] = {
        [DATA_SPLAT] = "splat",   [DATA_LIST] = "list",         [DATA_BYTES] = "list",
        [DATA_ELIDED] = "elided", [DATA_EXTERNAL] = "external", [DATA_ABSENT] = "absent"};
    fact_add(&im->notes, "constants", words[d->form], 1);
    if (d->missing) fact_add(&im->notes, "warnings", "external data whose file is missing or too short", 1);
    if (d->form == DATA_ABSENT || d->form == DATA_ELIDED)
        fact_add(&im->notes, "warnings", "constants whose numbers are not in the file", 1);
}

static void note_constants(struct import *im)
{
    const struct lx_model *m = im->m;
    for (size_t i = 0; i < m->constants.count; i++) note_constant(im, m->values.at[m->constants.at[i]].data);
    for (size_t b = 0; b < m->bodies.count && !m->bodies.at[b].derived; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            const struct model_op *op = &m->bodies.at[b].ops[i];
            bool constant = strcmp(op->kind, "constant") == 0 || strcmp(op->kind, "Constant") == 0;
            const struct model_attr *a = constant ? model_attr_find(&op->attrs, "value") : NULL;
            const struct model_data *d = NULL;
            if (constant && op->result_count == 1 && op->results[0] >= 0)
                d = m->values.at[op->results[0]].data;
            if (!d && a && a->form == ATTR_DATA) d = a->data;
            if (d) note_constant(im, d);
        }
}

/* Where there are more keys than queries, frameworks differ in which of them is the first query's own. */
static void note_causal(struct import *im)
{
    for (size_t i = 0; i < im->m->causal.count; i++) {
        int64_t first = im->m->causal.at[i];
        const char *words =
            first ? arena_format(&im->memory, "query i sees keys 0 to i + %lld", (long long)first)
                  : "query i sees keys 0 to i";
        if (words) fact_add(&im->notes, "causal attention", words, 1);
    }
}

static void note_views(struct import *im)
{
    for (size_t i = 0; i < im->sketches.count; i++)
        if (im->sketches.at[i].why && im->sketches.at[i].needed)
            fact_add(&im->notes, "views copied", im->sketches.at[i].why, 1);
    for (size_t b = 0; b < im->m->bodies.count; b++)
        for (int i = 0; i < im->m->bodies.at[b].op_count; i++) {
            const struct op_class *c = &im->classes[b][i];
            if (!c->seen) continue;
            if (c->class == CLASS_FREE && c->reason && strcmp(c->reason, "view") == 0)
                fact_add(&im->notes, "views folded", NULL, 1);
            if (c->class == CLASS_COPIED) fact_add(&im->notes, "views copied", c->reason, 1);
        }
}

/* Layers that the pattern has several times, by the names of the first and the last op of the first. */
static void note_layers(struct import *im, const struct lx_graph *g)
{
    int32_t count;
    struct lx_repeat *r = lx_repeats(g, &count);
    for (int32_t i = 0; i < count; i++) {
        const char *key = arena_format(&im->memory, "%s to %s, %d ops", g->ops[r[i].first].name,
                                       g->ops[r[i].first + r[i].ops - 1].name, (int)r[i].ops);
        fact_add(&im->notes, "layers", key, r[i].times);
    }
    mem_free(r);
}

void import_note_pattern(struct import *im, const struct lx_graph *g)
{
    static const char *const zero[] = {"flops of the pattern", "macs of the pattern", "views folded", NULL};
    for (int i = 0; zero[i]; i++) fact_add(&im->notes, zero[i], NULL, 0);
    for (size_t i = 0; i < im->sketches.count; i++)
        if (im->sketches.at[i].needed) note_work(im, &im->sketches.at[i]);
    import_note_arguments(im);
    note_views(im);
    note_causal(im);
    note_constants(im);
    note_layers(im, g);
    fact_add(&im->notes, "pattern", "ops", g->op_count);
    fact_add(&im->notes, "pattern", "tensors", g->tensor_count);
    for (int t = 0; t < g->tensor_count; t++) fact_most(&im->notes, "peak rank", g->tensors[t].rank);
    for (int i = 0; i < g->op_count; i++)
        fact_most(&im->notes, "letters", g->ops[i].map ? g->ops[i].map->var_count : 0);
}
