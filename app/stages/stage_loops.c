/* lxplan plan --stage loops: the loop nest of each op of the plan, of one core's part, before and after the
 * passes. */
#include "stages/plan_stages.h"
#include "base/fail.h"
#include "planning/planning.h"
#include "text/gathered.h"
#include "text/format.h"

#include <inttypes.h>
#include <stdlib.h>

/* A core has one thread: nothing is shared inside it. */
enum { CORE_THREADS = 1 };

/* "m 8, n 64 prim, ..." in the order of the loops. */
static void add_loops(const struct lx_loops *l, struct gathered *t)
{
    struct text line = {0};
    for (int i = 0; i < l->count; i++)
        text_format(&line, "%s%s %lld%s%s", i ? ", " : "", lx_loop_type_word(l->loop[i].type),
                    (long long)l->loop[i].size, l->loop[i].exec == LX_EXEC_SEQ ? "" : " ",
                    l->loop[i].exec == LX_EXEC_SEQ ? "" : lx_loop_exec_word(l->loop[i].exec));
    gathered_words(t, PAINT_PLAIN, line.at ? line.at : "");
    t->failed |= line.failed;
    text_free(&line);
}

static void add_row(const struct lx_op *op, int32_t tick, const struct lx_op_nest *n,
                    const struct lx_loops *after, struct gathered *t)
{
    gathered_cell(t, PAINT_DIM, "%d", (int)tick);
    gathered_name(t, op->name);
    gathered_cell(t, PAINT_PLAIN, "%s", op->kind->name);
    if (n->kind == LX_NEST_NONE) {
        for (int i = 0; i < 4; i++) gathered_cell(t, PAINT_PLAIN, "%s", "");
        gathered_words(t, PAINT_DIM, n->why);
        return;
    }
    gathered_cell(t, PAINT_PLAIN, "%s", lx_touch_word(after->main));
    gathered_cell(t, PAINT_PLAIN, "%c%c%c", n->on_chip[LX_LOOP_IN0] ? 'L' : 'H',
                  n->kind == LX_NEST_MOVE   ? '-'
                  : n->on_chip[LX_LOOP_IN1] ? 'L'
                                            : 'H',
                  n->on_chip[LX_LOOP_OUT] ? 'L' : 'H');
    add_loops(&n->nest, t);
    add_loops(after, t);
    const char *how = n->padded ? "with padding" : n->row_major ? "row-major boxes" : "";
    gathered_cell(t, PAINT_DIM, "%s%s%s", n->swapped ? "in0 is the second input" : "",
                  n->swapped && *how ? ", " : "", how);
}

static void add_nest(struct text *t, const char *key, const struct lx_loops *l)
{
    size_t length = 0;
    char *json = lx_loops_to_json(l, &length);
    text_format(t, ",\n   \"%s\": ", key);
    if (json)
        text_add_n(t, json, length - 1); /* without the newline */
    else
        t->failed = true;
    free(json);
}

static void add_json(const struct lx_op *op, int32_t tick, const struct lx_op_nest *n,
                     const struct lx_loops *after, struct text *t)
{
    text_format(t, "%s\n  {\"tick\": %d, \"op\": ", tick ? "," : "", (int)tick);
    text_json_string(t, op->name);
    text_format(t, ", \"kind\": \"%s\", \"nest\": \"%s\"", op->kind->name, lx_nest_kind_word(n->kind));
    if (n->kind == LX_NEST_NONE) {
        text_add(t, ", \"why\": ");
        text_json_string(t, n->why);
    } else {
        static const char *const names[] = {"in0", "in1", "out"};
        text_format(t, ", \"swapped\": %s, \"padded\": %s, \"row_major\": %s, \"on_chip\": {",
                    n->swapped ? "true" : "false", n->padded ? "true" : "false",
                    n->row_major ? "true" : "false");
        for (int i = 0; i < LX_LOOP_OPERANDS; i++)
            text_format(t, "%s\"%s\": %s", i ? ", " : "", names[i], n->on_chip[i] ? "true" : "false");
        text_add(t, "}");
        add_nest(t, "input", &n->nest);
        add_nest(t, "optimised", after);
    }
    text_add(t, "}");
}

static bool write_nests(struct call *call, const struct lx_plan *p, struct text *out)
{
    static const struct heading columns[] = {{"tick", true},
                                             {"op", false},
                                             {"kind", false},
                                             {"main", false},
                                             {"where", false},
                                             {"a core's loops", false},
                                             {"after the passes", false},
                                             {"", false}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    const struct lx_graph *g = p->layouts->graph;
    bool ok = true;
    if (wants_json(call)) {
        text_add(out, "{\"lxplan\": 1, \"kind\": \"nests\", \"pattern\": ");
        text_json_string(out, p->graph->name);
        text_format(out, ", \"rules\": \"%s\", \"ops\": [", lx_loop_rules_name(lx_loop_rules_at(0)));
    } else {
        text_format(out, "%s; where: in0, in1, out, L on chip, H in HBM\n", counted(g->op_count, "op").at);
    }
    for (int32_t i = 0; ok && i < g->op_count; i++) {
        struct lx_op_nest n;
        ok = lx_nest_of(p, i, &n, &call->st);
        struct lx_loops after = n.nest;
        ok = ok && (n.kind == LX_NEST_NONE ||
                    lx_loops_optimise(&after, lx_loop_rules_at(0), CORE_THREADS, &call->st));
        if (ok && wants_json(call)) add_json(&g->ops[i], i, &n, &after, out);
        if (ok && !wants_json(call)) add_row(&g->ops[i], i, &n, &after, &t);
    }
    if (wants_json(call))
        text_add(out, "\n]}\n");
    else
        gathered_write(&t, out);
    return ok;
}

int print_loops(struct call *call, const struct lx_graph *g)
{
    struct lx_plan *p = make_plan(call, g);
    struct text t = {0};
    if (!p) return FAILED;
    if (goes_to_file(call)) paint_off();
    bool ok = p->layouts != NULL;
    if (!ok) status_set(&call->st, LX_E_USAGE, "a bare list of buffers has no ops, so no loops");
    ok = ok && write_nests(call, p, &t);
    lx_plan_free(p);
    if (t.failed || !ok) text_free(&t);
    return ok && deliver(call, t.at, t.length) ? EXIT_YES : FAILED;
}
