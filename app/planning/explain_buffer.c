/* lxplan plan --explain: where a buffer is, why, and what would bring it on chip, in words. */
#include "base/fail.h"
#include "planning/planning.h"
#include "planning/show_plan.h"
#include "text/colour.h"
#include "text/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NEIGHBOURS = 8 };

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
        if (x->kind == LX_MOVE)
            text_format(out, "  tick %d: moved here from 0x%llx, a copy of %s inside the scratchpads\n",
                        (int)x->tick, (long long)p->answer.address[x->source], in_bytes(x->bytes).at);
        else if (x->kind == LX_RING)
            text_format(out, "  tick %d: filled from %s over the ring\n", (int)x->tick,
                        p->problem.buffers[x->source].name);
        else
            text_format(out, "  tick %d: %s\n", (int)x->tick,
                        x->kind == LX_LOAD ? "loaded from HBM" : "stored to HBM");
    }
}

/* Who is in the way: what each saves where it is. */
static void show_others(const struct lx_plan *p, const struct lx_explained *e, struct text *out)
{
    int32_t n = e->other_count < MOST_NEIGHBOURS ? e->other_count : MOST_NEIGHBOURS;
    if (n) text_add(out, "  on chip while it lives, those that save least first:\n");
    for (int32_t k = 0; k < n; k++) {
        const struct lx_buffer *o = &p->problem.buffers[e->others[k]];
        text_format(out, "    %s: %s at 0x%llx, ticks %lld to %lld, saves %s\n", o->name, grouped(o->size).at,
                    (long long)p->answer.address[e->others[k]], (long long)o->start, (long long)o->end - 1,
                    grouped(o->spill_cost).at);
    }
}

static void show_obstacle(const struct lx_plan *p, const struct lx_explained *e, struct text *out)
{
    if (e->obstacle == LX_TOO_LARGE)
        text_format(out, "  it needs a scratchpad of %s, or more cores to share it: see --lx and --cores\n",
                    in_bytes(p->problem.buffers[e->buffer].size).at);
    else
        show_others(p, e, out);
}

/* What to type. */
static void add_remedy(const struct lx_remedy *r, struct text *out)
{
    if (r->solver)
        text_format(out, "-s %s", r->solver->name);
    else if (r->pass->words)
        text_format(out, "--%s %s", r->pass->option, r->pass->words[r->value]);
    else
        text_format(out, "%s--%s", r->value ? "" : "without ", r->pass->option);
}

static bool show_remedies(struct call *call, const struct lx_plan *p, const char *name, struct text *out)
{
    struct lx_options asked;
    struct lx_remedies found;
    if (!read_options(call, &asked) ||
        !lx_plan_remedies(p, &asked, name, plan_watched, call, &found, &call->st))
        return false;
    if (found.count) text_add(out, "  what brings it on chip:\n");
    for (int32_t i = 0; i < found.count; i++) {
        text_add(out, "    ");
        add_remedy(&found.all[i], out);
        text_format(out, ": then %s of HBM traffic in all (now %s)\n", in_bytes(found.all[i].hbm_bytes).at,
                    grouped(p->figures.hbm_bytes).at);
    }
    if (found.tried && !found.count)
        text_add(out, "  no other solver and no single pass brings it on chip\n");
    lx_remedies_free(&found);
    return true;
}

static bool no_such_buffer(struct call *call, const struct lx_plan *p, const char *name)
{
    const char *names[65] = {0};
    for (int32_t i = 0; i < p->problem.count && i < 64; i++) names[i] = p->problem.buffers[i].name;
    const char *near = nearest(name, names);
    return status_set(&call->st, LX_E_UNKNOWN_NAME, "there is no buffer \"%s\"%s%s%s", name,
                      near ? "; did you mean \"" : "; --all lists them", near ? near : "", near ? "\"?" : "");
}

bool show_buffer(struct call *call, const struct lx_plan *p, const char *name, struct text *out)
{
    struct lx_explanation e;
    if (!lx_plan_explain(p, name, &e, &call->st)) return false;
    for (int32_t i = 0; i < e.count; i++) {
        describe(p, e.all[i].buffer, out);
        show_obstacle(p, &e.all[i], out);
    }
    bool ok = e.count ? true : no_such_buffer(call, p, name), off = e.off_chip > 0;
    lx_explanation_free(&e);
    return ok && (!off || show_remedies(call, p, name, out));
}
