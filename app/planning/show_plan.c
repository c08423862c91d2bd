#include "planning/show_plan.h"
#include "base/fail.h"
#include "planning/planning.h"
#include "text/gathered.h"
#include "text/format.h"

#include <stdlib.h>
#include <string.h>

static void add_splits(const struct lx_division *d, struct text *t)
{
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].split > 1)
            text_format(t, "%s%c/%lld", t->length ? " " : "", d->splits[i].letter,
                        (long long)d->splits[i].split);
    if (!t->length) text_add(t, d->kind == LX_UNDIVIDED_EXTERN ? "off the device" : "whole");
}

struct busy {
    int64_t bytes;
    int32_t op;
};

static int by_bytes(const void *a, const void *b)
{
    const struct busy *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static int by_op(const void *a, const void *b)
{
    const struct busy *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

static void op_row(const struct lx_plan *p, int32_t o, struct gathered *t)
{
    const struct lx_op *op = &p->layouts->graph->ops[o];
    const struct lx_op_traffic *x = &p->traffic[o];
    struct text splits = {0};
    add_splits(&p->divisions->at[o], &splits);
    gathered_cell(t, PAINT_DIM, "%d", (int)o);
    gathered_name(t, op->name);
    gathered_cell(t, PAINT_DIM, "%s", op->kind->name);
    gathered_cell(t, PAINT_PLAIN, "%s", splits.at ? splits.at : "");
    gathered_cell(t, PAINT_PLAIN, "%lld", (long long)p->divisions->at[o].cores_used);
    gathered_cell(t, x->hbm_read ? PAINT_PLAIN : PAINT_DIM, "%s", grouped(x->hbm_read).at);
    gathered_cell(t, x->hbm_written ? PAINT_PLAIN : PAINT_DIM, "%s", grouped(x->hbm_written).at);
    gathered_cell(t, x->ring + x->reduce_ring ? PAINT_PLAIN : PAINT_DIM, "%s",
                  grouped(x->ring + x->reduce_ring).at);
    gathered_cell(t, PAINT_PLAIN, "%.2f", x->us);
    text_free(&splits);
}

void show_ops(const struct lx_plan *p, int most, struct text *out)
{
    static const struct heading columns[] = {{"tick", true},        {"op", false},   {"kind", false},
                                             {"splits", false},     {"cores", true}, {"HBM read", true},
                                             {"HBM written", true}, {"ring", true},  {"us", true}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    int32_t n = p->layouts->graph->op_count, shown = most > 0 && n > most ? most : n;
    struct busy *order = malloc(((size_t)n + 1) * sizeof *order);
    if (!order) {
        out->failed = true;
        return;
    }
    for (int32_t o = 0; o < n; o++)
        order[o] = (struct busy){p->traffic[o].hbm_read + p->traffic[o].hbm_written, o};
    if (shown < n) {
        qsort(order, (size_t)n, sizeof *order, by_bytes);
        qsort(order, (size_t)shown, sizeof *order, by_op);
    }
    text_format(out, "\n%s", counted(n, "op").at);
    if (p->order) text_add(out, ", in another order than the pattern's");
    text_add(out, "\n");
    for (int32_t i = 0; i < shown; i++) op_row(p, order[i].op, &t);
    free(order);
    gathered_write(&t, out);
    if (shown < n)
        text_format(out, "  ... %s more, each with less traffic; --all lists them\n",
                    counted(n - shown, "op").at);
}

void show_copies(const struct lx_plan *p, struct text *out)
{
    static const char *const words[] = {[LX_LOAD] = "load", [LX_STORE] = "store", [LX_RING] = "relayout"};
    int64_t count[3] = {0}, bytes[3] = {0};
    for (int32_t i = 0; i < p->transfer_count; i++) {
        count[p->transfers[i].kind]++;
        bytes[p->transfers[i].kind] += p->transfers[i].bytes;
    }
    for (int k = 0; k < 3; k++)
        if (count[k])
            text_format(out, "  %s: %s%s\n", counted(count[k], words[k]).at, in_bytes(bytes[k]).at,
                        k == LX_RING ? " over the ring" : "");
}

/* Bits of an element if all tensors agree, else 0. */
static int64_t element_bits(const struct lx_graph *g)
{
    for (int32_t i = 0; i < g->tensor_count; i++)
        if (g->tensors[i].rank < 0 || g->tensors[i].dtype != g->tensors[0].dtype) return 0;
    return g->tensor_count ? lx_dtype_bits(g->tensors[0].dtype) : 0;
}

bool show_stages(struct call *call, const char *path, struct text *out)
{
    static const struct heading columns[] = {{"stage", false},   {"what changes", false}, {"HBM bytes", true},
                                             {"elements", true}, {"of baseline", true},   {"us", true}};
    static const struct {
        const char *name, *what;
        enum lx_stage stage;
    } steps[] = {{"baseline", "every operand goes through HBM", LX_STAGE_BASELINE},
                 {"reductions", "results of reductions stay on chip", LX_STAGE_REDUCTIONS},
                 {"in place", "all intermediates, in place where it is legal", LX_STAGE_IN_PLACE},
                 {"clone", "copies of inputs, outputs made on chip; all passes asked for", LX_STAGE_ALL}};
    struct lx_passes asked;
    const struct lx_graph *g = read_pattern(call, path);
    bool ok = g && read_passes(call, &asked);
    if (ok && g->is_list)
        ok = status_set_at(&call->st, LX_E_USAGE, g->file, 0, 0,
                           "a bare list of buffers has no stages; --stages goes with a graph");
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    struct text json = {0};
    int64_t bits = ok ? element_bits(g) : 0;
    text_add(&json, "{\n  \"lxplan\": 1,\n  \"kind\": \"stages\",\n  \"stages\": [\n");
    for (size_t i = 0; ok && i < sizeof steps / sizeof *steps; i++) {
        struct lx_passes passes = asked;
        passes.stage = (int)steps[i].stage;
        struct lx_plan *p = make_plan_as(call, g, &passes, NULL);
        if (!p) {
            ok = false;
            break;
        }
        text_format(&json,
                    "%s    {\"stage\": \"%s\", \"hbm_bytes\": %lld, \"baseline_hbm_bytes\": %lld, "
                    "\"predicted_us\": %.6g}",
                    i ? ",\n" : "", steps[i].name, (long long)p->hbm_bytes, (long long)p->baseline_hbm_bytes,
                    p->predicted_us);
        gathered_cell(&t, PAINT_PLAIN, "%s", steps[i].name);
        gathered_cell(&t, PAINT_DIM, "%s", steps[i].what);
        gathered_cell(&t, PAINT_PLAIN, "%s", grouped(p->hbm_bytes).at);
        gathered_cell(&t, PAINT_PLAIN, "%s", bits ? grouped(p->hbm_bytes * 8 / bits).at : "");
        gathered_cell(
            &t, PAINT_PLAIN, "%s",
            in_percent(p->baseline_hbm_bytes ? (double)p->hbm_bytes / (double)p->baseline_hbm_bytes : 0).at);
        gathered_cell(&t, PAINT_PLAIN, "%.2f", p->predicted_us);
        lx_plan_free(p);
    }
    lx_graph_free(g);
    struct text drawn = {0};
    gathered_write(&t, &drawn);
    text_add(&json, "\n  ]\n}\n");
    struct text *chosen = wants_json(call) ? &json : &drawn;
    if (ok && chosen->at) text_add_n(out, chosen->at, chosen->length);
    out->failed |= chosen->failed;
    text_free(&drawn);
    text_free(&json);
    return ok;
}
