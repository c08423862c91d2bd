/* lxplan plan --explain: where a buffer is, why, and what would bring it on chip. What is said about other
 * solvers and passes is tried, not guessed. */
#include "base/fail.h"
#include "planning/planning.h"
#include "planning/show_plan.h"
#include "text/colour.h"
#include "text/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this many buffers trying the alternatives would take too long for a question. */
enum { MOST_BUFFERS = 2000, MOST_NEIGHBOURS = 8 };

static bool is_of(const struct lx_plan *p, int32_t i, const char *name)
{
    if (strcmp(p->problem.buffers[i].name, name) == 0) return true;
    return p->stays && strcmp(p->layouts->graph->tensors[p->stays[i].tensor].name, name) == 0;
}

static bool all_on_chip(const struct lx_plan *p, const char *name)
{
    bool any = false;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (is_of(p, i, name)) {
            if (p->answer.address[i] < 0) return false;
            any = true;
        }
    return any;
}

static void describe(const struct lx_plan *p, int32_t i, struct text *out)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    add_printable(out, b->name, 0);
    text_format(out, ": %s on each core, ticks %lld to %lld, ", in_bytes(b->size).at, (long long)b->start,
                (long long)b->end - 1);
    if (p->answer.address[i] >= 0) {
        paint_add(out, PAINT_GOOD, "on chip");
        text_format(out, " at 0x%llx", (long long)p->answer.address[i]);
        if (p->took_slot_of[i] >= 0)
            text_format(out, ", in place of %s", p->problem.buffers[p->took_slot_of[i]].name);
        text_format(out, "; saves %s of HBM traffic\n", in_bytes(b->spill_cost).at);
    } else {
        paint_add(out, PAINT_BAD, "off chip");
        text_add(out, ": ");
        add_printable(out, p->reason[i], 0);
        text_add(out, "\n");
        if (!b->reason) text_format(out, "  on chip it would save %s\n", in_bytes(b->spill_cost).at);
    }
    for (int32_t k = 0; k < p->transfer_count; k++) {
        const struct lx_transfer *x = &p->transfers[k];
        if (x->stay != i) continue;
        if (x->kind == LX_RING)
            text_format(out, "  tick %d: filled from %s over the ring\n", (int)x->tick,
                        p->problem.buffers[x->source].name);
        else
            text_format(out, "  tick %d: %s\n", (int)x->tick,
                        x->kind == LX_LOAD ? "loaded from HBM" : "stored to HBM");
    }
}

/* Who is in the way, the cheapest first: what each saves where it is. */
static void neighbours(const struct lx_plan *p, int32_t i, struct text *out)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    int shown = 0;
    bool *said = calloc((size_t)p->problem.count + 1, sizeof *said);
    if (!said) return;
    while (shown < MOST_NEIGHBOURS) {
        int32_t best = -1;
        for (int32_t k = 0; k < p->problem.count; k++) {
            const struct lx_buffer *o = &p->problem.buffers[k];
            if (said[k] || p->answer.address[k] < 0 || o->start >= b->end || o->end <= b->start) continue;
            if (best < 0 || o->spill_cost < p->problem.buffers[best].spill_cost) best = k;
        }
        if (best < 0) break;
        said[best] = true;
        const struct lx_buffer *o = &p->problem.buffers[best];
        if (shown++ == 0) text_add(out, "  on chip while it lives, those that save least first:\n");
        text_format(out, "    %s: %s at 0x%llx, ticks %lld to %lld, saves %s\n", o->name, grouped(o->size).at,
                    (long long)p->answer.address[best], (long long)o->start, (long long)o->end - 1,
                    grouped(o->spill_cost).at);
    }
    free(said);
}

struct trial {
    const char *words;
    const struct lx_solver *solver;
    struct lx_passes passes;
};

static void try_it(struct call *call, const struct lx_plan *p, const char *name, const struct trial *trial,
                   struct text *out, int *found)
{
    lx_status before = call->st;
    struct lx_plan *other = make_plan_as(call, p->graph, &trial->passes, trial->solver);
    if (other && all_on_chip(other, name)) {
        if ((*found)++ == 0) text_add(out, "  what brings it on chip:\n");
        text_format(out, "    %s: then %s of HBM traffic in all (now %s)\n", trial->words,
                    in_bytes(other->hbm_bytes).at, grouped(p->hbm_bytes).at);
    }
    call->st = before;
    lx_plan_free(other);
}

/* Other solvers, then other passes, one at a time. */
static void alternatives(struct call *call, const struct lx_plan *p, const char *name, struct text *out)
{
    int found = 0;
    struct lx_passes asked;
    if (p->problem.count > MOST_BUFFERS || !read_passes(call, &asked)) return;
    const struct lx_solver *ours = lx_solver_find(p->solver);
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        char words[100];
        if (*s == ours || !((*s)->caps & LX_CAN_SPILL)) continue;
        snprintf(words, sizeof words, "-s %s", (*s)->name);
        try_it(call, p, name, &(struct trial){words, *s, asked}, out, &found);
    }
    for (const struct lx_pass *row = lx_passes(); row->name; row++) {
        char words[100];
        if (p->graph->is_list || strcmp(row->name, "stage") == 0) continue;
        int now = lx_pass_get(&asked, row), values = 2;
        if (row->words)
            for (values = 0; row->words[values];) values++;
        for (int v = 0; v < values; v++) {
            if (v == now) continue;
            struct trial trial = {words, ours, asked};
            lx_pass_set(&trial.passes, row, v);
            if (row->words)
                snprintf(words, sizeof words, "--%s %s", row->option, row->words[v]);
            else
                snprintf(words, sizeof words, "%s--%s", v ? "" : "without ", row->option);
            try_it(call, p, name, &trial, out, &found);
        }
    }
    if (!found) text_add(out, "  no other solver and no single pass brings it on chip\n");
}

static void remedy(const struct lx_plan *p, int32_t i, struct text *out)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    if (p->answer.address[i] >= 0) return;
    if (b->size > p->problem.capacity)
        text_format(out, "  it needs a scratchpad of %s, or more cores to share it: see --lx and --cores\n",
                    in_bytes(b->size).at);
    else if (!b->reason)
        neighbours(p, i, out);
}

bool show_buffer(struct call *call, const struct lx_plan *p, const char *name, struct text *out)
{
    bool any = false, off = false;
    for (int32_t i = 0; i < p->problem.count; i++) {
        if (!is_of(p, i, name)) continue;
        describe(p, i, out);
        remedy(p, i, out);
        off |= p->answer.address[i] < 0;
        any = true;
    }
    if (!any) {
        const char *names[65] = {0};
        for (int32_t i = 0; i < p->problem.count && i < 64; i++) names[i] = p->problem.buffers[i].name;
        const char *near = nearest(name, names);
        return status_set(&call->st, LX_E_UNKNOWN_NAME, "there is no buffer \"%s\"%s%s%s", name,
                          near ? "; did you mean \"" : "; --all lists them", near ? near : "",
                          near ? "\"?" : "");
    }
    if (off) alternatives(call, p, name, out);
    return true;
}
