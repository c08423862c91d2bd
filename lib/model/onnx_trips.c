/* How often a Loop of ONNX goes: its condition is computed step by step, from the number of the step and what is carried, as
 * far as these are known. Where they are not data ends it, and it goes as often as is asked for. */
#include "model/onnx.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 1 << 18 }; /* ops of the body, over all steps */

struct walk {
    struct shaper *x;
    const struct model_body *body;
    const struct model_data **next; /* what is carried into the next step */
    bool *open;                     /* ops that give something else in each step */
};

static const struct model_data **data_of(const struct walk *w, int32_t value)
{
    return &w->x->m->values.at[value].data;
}

static const struct model_data *number(struct shaper *x, enum model_element e, int64_t n)
{
    struct model_data *d = arena_alloc(&x->m->memory, sizeof *d);
    int64_t *whole = arena_alloc(&x->m->memory, sizeof *whole);
    const struct model_type *t = model_type_make(x->m, e, 0, NULL, x->st);
    if (!d || !whole || !t) return status_no_memory(x->st), NULL;
    *whole = n;
    *d = (struct model_data){.form = DATA_SPLAT, .type = t, .ints = whole};
    return d;
}

/* Nothing is known of what depends on the step. */
static void forget(const struct walk *w)
{
    for (int i = 0; i < w->body->argument_count; i++) *data_of(w, w->body->arguments[i]) = NULL;
    for (int i = 0; i < w->body->op_count; i++)
        for (int r = 0; w->open[i] && r < w->body->ops[i].result_count; r++)
            if (w->body->ops[i].results[r] >= 0) *data_of(w, w->body->ops[i].results[r]) = NULL;
}

static bool fits(const struct walk *w, const struct model_data *d, int32_t argument)
{
    const struct model_type *t = model_type_of(w->x->m, argument);
    return d && (d->ints || d->reals) && t && d->type->element == t->element && model_same_shape(d->type, t);
}

/* One step. *on: 1 the loop goes on, 0 it ends, -1 that is not known. */
static bool step(struct walk *w, int64_t t, int *on)
{
    struct shaper *x = w->x;
    struct model_op *loop = x->op;
    const struct model_body *b = w->body;
    bool ok = (*data_of(w, b->arguments[0]) = number(x, MODEL_I64, t)) &&
              (*data_of(w, b->arguments[1]) = number(x, MODEL_BOOL, 1));
    for (int i = 2; i < b->argument_count; i++)
        *data_of(w, b->arguments[i]) = fits(w, w->next[i], b->arguments[i]) ? w->next[i] : NULL;
    for (int i = 0; ok && i < b->op_count; i++) {
        x->op = &b->ops[i];
        x->opset = onnx_opset(x->m, x->op->kind);
        ok = !w->open[i] || onnx_fold(x);
    }
    x->op = loop;
    x->opset = onnx_opset(x->m, loop->kind);
    const struct model_data *d = *data_of(w, b->results[0]);
    *on = d && d->ints ? d->ints[0] != 0 : -1;
    for (int i = 2; i < b->argument_count; i++) w->next[i] = *data_of(w, b->results[i - 1]);
    forget(w);
    return ok;
}

/* Steps up to `most`, the first of which is taken; *on of the last one. None are known where they are too many to look at. */
static bool walk(struct walk *w, int64_t most, int64_t *trips, int *on)
{
    struct shaper *x = w->x;
    const struct model_body *b = w->body;
    for (int i = 0; i < b->op_count; i++)
        for (int r = 0; r < b->ops[i].result_count; r++)
            w->open[i] |= b->ops[i].results[r] >= 0 && !*data_of(w, b->ops[i].results[r]);
    for (int i = 2; i < b->argument_count; i++) w->next[i] = shaper_data(x, i);
    int64_t room = MOST_STEPS / (b->op_count + 1);
    for (*trips = 0, *on = 1; *on == 1 && *trips < most; ++*trips) {
        if (*trips >= room || x->budget <= 0) return *trips = 0, *on = -1, true;
        if (!step(w, *trips, on)) return false;
    }
    return true;
}

/* Is the condition what it was, or known to be true? */
static bool never_ends(const struct shaper *x, const struct model_body *b)
{
    const struct model_data *d = x->m->values.at[b->results[0]].data;
    for (int i = 0; i < b->op_count; i++)
        if (b->ops[i].result_count == 1 && b->ops[i].results[0] == b->results[0] &&
            b->ops[i].operand_count == 1 && strcmp(b->ops[i].kind, "Identity") == 0 &&
            b->ops[i].operands[0] == b->arguments[1])
            return true;
    return b->results[0] == b->arguments[1] || (d && d->ints && d->ints[0] != 0);
}

static bool settle(struct shaper *x, int64_t trips, bool by_data)
{
    x->op->taken = 1 + trips;
    x->op->by_data = by_data;
    return true;
}

bool onnx_count_trips(struct shaper *x)
{
    const struct model_body *b = &x->m->bodies.at[x->op->bodies[0]];
    const struct model_data *limit = shaper_data(x, 0), *first = shaper_data(x, 1);
    int64_t asked = x->options && x->options->trips > 0 ? x->options->trips : 1;
    int64_t most = limit ? model_data_int(limit, 0) : INT64_MAX, trips = 0;
    if (limit && asked > most) asked = most;
    if (most <= 0 || (first && model_data_int(first, 0) == 0)) return settle(x, 0, false);
    if (b->argument_count != x->op->operand_count || b->result_count < b->argument_count - 1)
        return settle(x, asked, true);
    if (shaper_has(x, 1) && !first) return settle(x, asked, true);
    if (never_ends(x, b)) return settle(x, limit ? most : asked, !limit);
    struct walk w = {.x = x, .body = b};
    int on = -1;
    w.next = mem_zeroed((size_t)b->argument_count + 1, sizeof *w.next);
    w.open = mem_zeroed((size_t)b->op_count + 1, sizeof *w.open);
    bool ok = w.next && w.open ? walk(&w, most, &trips, &on) : status_no_memory(x->st);
    mem_free(w.next);
    mem_free(w.open);
    bool open = on < 0 || (!limit && shaper_has(x, 0));
    if (on < 0 && trips < asked) trips = asked;
    return ok && settle(x, trips, open);
}
