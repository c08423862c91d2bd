/* What follows from the graph, its layouts and divisions, the decisions and the addresses is made again and
 * compared with the plan, record by record: plan_fields.h says which fields. For a plan that was just made that
 * shows that nothing depends on how it was found; for one from a file, that it says the truth. */
#include "check/check.h"
#include "base/fail.h"
#include "plan/plan_pack.h"

#include <string.h>

/* The plan with everything derived anew, in `memory`; of `x`, too, something must be given back. Order and
 * divisions are those of the plan already, so that only cuts and what is taken apart are left to decide. */
static bool make_again(const struct lx_plan *p, struct arena *memory, struct draft *x, struct lx_plan *again,
                       lx_status *st)
{
    *again = *p;
    again->memory = memory;
    if (p->graph->is_list) return plan_of_list(again, p->problem.objective, st);
    struct decisions how = *p->how;
    how.order = NULL;
    how.divided = NULL;
    if (!draft_make(p->divisions, &how, memory, x, st)) return false;
    x->problem.objective = p->problem.objective;
    return plan_adopt(again, x, st) && plan_off_chip(again, st) &&
           perfect_traffic(again->draft, &again->figures.perfect_hbm_bytes, st);
}

struct comparison {
    const struct lx_plan *p, *again;
    struct arena *memory;
    lx_status *st;
};

/* `subject` and `name` begin the words: "buffer " and "y". */
static bool compare(const struct comparison *c, enum plan_section_id section, const char *subject,
                    const char *name, const void *ours, const void *real)
{
    const struct plan_section *s = &plan_sections[section];
    const struct field *f = record_difference(s->fields, s->count, ours, real);
    if (!f) return true;
    struct text claimed = {0}, made = {0};
    field_text(f, ours, &claimed);
    field_text(f, real, &made);
    status_set(c->st, LX_E_NO,
               "%s%s%s%s is %.200s in the plan, but %.200s follows from its pattern and decisions", subject,
               name, *subject ? ": " : "", f->key, claimed.at ? claimed.at : "", made.at ? made.at : "");
    text_free(&claimed);
    text_free(&made);
    return false;
}

static bool same_root(const struct comparison *c)
{
    char hash[2][20];
    const struct plan_root ours = plan_pack_root(c->p, hash[0]), real = plan_pack_root(c->again, hash[1]);
    struct plan_graph graphs[2];
    if (!compare(c, PLAN_ROOT, "", "", &ours, &real)) return false;
    if (c->p->graph->is_list) return true;
    if (!plan_pack_graph(c->p, c->memory, &graphs[0]) || !plan_pack_graph(c->again, c->memory, &graphs[1]))
        return status_no_memory(c->st);
    return compare(c, PLAN_GRAPH, "", "", &graphs[0], &graphs[1]);
}

static bool same_buffers(const struct comparison *c)
{
    for (int32_t i = 0; i < c->p->problem.count; i++) {
        struct plan_buffer ours, real;
        if (!plan_pack_buffer(c->p, i, c->memory, &ours) || !plan_pack_buffer(c->again, i, c->memory, &real))
            return status_no_memory(c->st);
        if (!compare(c, PLAN_BUFFER, "buffer ", real.name, &ours, &real)) return false;
    }
    return true;
}

static bool same_ops(const struct comparison *c)
{
    const struct lx_graph *g = c->p->layouts->graph;
    for (int32_t o = 0; o < g->op_count; o++) {
        struct plan_op ours, real;
        if (!plan_pack_op(c->p, o, c->memory, &ours) || !plan_pack_op(c->again, o, c->memory, &real))
            return status_no_memory(c->st);
        if (!compare(c, PLAN_OP, "op ", g->ops[o].name, &ours, &real)) return false;
    }
    return true;
}

static bool same_bundles(const struct comparison *c)
{
    if (c->p->bundle_count != c->again->bundle_count)
        return status_set(c->st, LX_E_NO, "the plan has %d bundles, but its extern ops and borders make %d",
                          (int)c->p->bundle_count, (int)c->again->bundle_count);
    for (int32_t i = 0; i < c->p->bundle_count; i++) {
        const struct plan_bundle ours = plan_pack_bundle(c->p, i), real = plan_pack_bundle(c->again, i);
        const char *name = c->p->layouts->graph->ops[c->p->bundles[i].first].name;
        if (!compare(c, PLAN_BUNDLE, "bundle that begins with op ", name, &ours, &real)) return false;
    }
    return true;
}

/* Launches that a file states; those of a plan that was just made are made when they are asked for. */
static bool same_launches(const struct comparison *c)
{
    const struct lx_graph *g = c->p->layouts->graph;
    if (!c->p->launches) return true;
    const struct lx_op_launch *launches = plan_launches(c->again, c->memory);
    for (int32_t o = 0; o < g->op_count; o++) {
        struct plan_launch ours, real;
        if (!launches || !plan_pack_launch(&c->p->launches[o], c->memory, &ours) ||
            !plan_pack_launch(&launches[o], c->memory, &real))
            return status_no_memory(c->st);
        if (!compare(c, PLAN_LAUNCH, "launch of op ", g->ops[o].name, &ours, &real)) return false;
    }
    return true;
}

static bool same_transfers(const struct comparison *c)
{
    if (c->p->transfer_count != c->again->transfer_count)
        return status_set(c->st, LX_E_NO, "the plan has %d transfers, but the addresses ask for %d",
                          (int)c->p->transfer_count, (int)c->again->transfer_count);
    for (int32_t i = 0; i < c->p->transfer_count; i++) {
        const struct plan_transfer ours = plan_pack_transfer(c->p, i), real = plan_pack_transfer(c->again, i);
        const char *name = c->p->problem.buffers[c->p->transfers[i].stay].name;
        if (!compare(c, PLAN_TRANSFER, "transfer of ", name, &ours, &real)) return false;
    }
    return true;
}

bool check_again(const struct lx_plan *p, lx_status *st)
{
    struct arena memory = {0};
    struct lx_plan again;
    struct draft x = {0};
    struct comparison c = {p, &again, &memory, st};
    bool ok = make_again(p, &memory, &x, &again, st);
    if (ok && again.problem.count != p->problem.count)
        ok = status_set(st, LX_E_NO, "the plan has %d buffers, but its pattern and decisions give %d",
                        (int)p->problem.count, (int)again.problem.count);
    if (ok) {
        memcpy(again.answer.address, p->answer.address, (size_t)p->problem.count * sizeof *p->answer.address);
        ok = plan_places(&again, st) && same_buffers(&c) &&
             (p->graph->is_list ||
              (same_transfers(&c) && same_ops(&c) && same_bundles(&c) && same_launches(&c))) &&
             same_root(&c);
    }
    draft_free(&x);
    arena_free(&memory);
    return ok;
}
