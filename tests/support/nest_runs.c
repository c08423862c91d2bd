#include "support/nest_runs.h"

static void see_stays(const struct lx_plan *p, struct nests_seen *s)
{
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_stay *y = &p->stays[i];
        int32_t n = nest_of_op(p->nests, p->nest_count, y->view_op);
        if (n < 0 || p->answer.address[i] < 0) continue;
        struct lx_core_view v = lx_division_held(p->divisions, y->view_op, y->view_operand, y->hold);
        bool blocked = false;
        for (int k = 0; k < v.rank; k++) blocked |= v.blocks[k] > 1;
        s->blocked += blocked;
        s->in_place += p->took_slot_of[i] >= 0;
        s->whole += y->hold == 0;
        s->tiles += y->hold == p->nests[n].level_count;
        s->held += y->hold > 0 && y->hold < p->nests[n].level_count;
    }
}

static void see_sums(const struct lx_plan *p, struct nests_seen *s)
{
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        const struct lx_op *op = &p->layouts->graph->ops[o];
        int32_t n = nest_of_op(p->nests, p->nest_count, o);
        if (n < 0 || !nest_tensor_of(p->layouts, &p->nests[n], op->output).summed) continue;
        s->sums++;
        s->on_chip += lx_plan_place(p, o, op->input_count) >= 0;
        s->reduced += p->traffic[o].reduce_ring > 0;
    }
}

void see_nests(const struct lx_plan *p, struct nests_seen *s)
{
    s->plans++;
    s->nests += p->nest_count;
    for (int32_t n = 0; n < p->nest_count; n++) s->levels[p->nests[n].level_count - 1]++;
    see_stays(p, s);
    see_sums(p, s);
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        s->rings += t->kind == LX_RING && nest_of_op(p->nests, p->nest_count, t->tick) >= 0;
        s->come_and_go += t->kind == LX_LOAD && p->stays[t->stay].begins_written;
    }
}

void say_nests(const struct nests_seen *s)
{
    print_message(
        "%d plans, %d nests (%d, %d, %d of 1, 2, 3 levels); stays: %d tiles, %d held, %d whole, %d in "
        "blocks, %d in place; %d sums, %d on chip, %d come and go, %d over the reduce ring; %d "
        "relayouts\n",
        s->plans, s->nests, s->levels[0], s->levels[1], s->levels[2], s->tiles, s->held, s->whole, s->blocked,
        s->in_place, s->sums, s->on_chip, s->come_and_go, s->reduced, s->rings);
}

int run_nests(const char *name, const struct lx_plan *p, enum lx_verify verify)
{
    lx_status st = {0};
    struct lx_device_options how = {.verify = verify, .in_use = true};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    bool ok = r && r->ok;
    if (!ok) print_message("%s: %s\n", name, r ? what_is_wrong(r) : st.text);
    lx_run_result_free(r);
    return !ok;
}

struct lx_plan *random_nest_plan(struct rng *r, lx_status *st)
{
    static const int64_t cores[] = {1, 2, 4, 8, 32};
    struct random_graph_shape shape = {.ops = 3 + (int)rng_below(r, 8),
                                       .with_results = rng_below(r, 3) == 0,
                                       .cores = cores[rng_below(r, 5)]};
    const struct lx_graph *whole = random_graph(r, &shape, st);
    const struct lx_graph *g =
        whole ? lx_graph_with_capacity(whole, INT64_C(1) << rng_between(r, 9, 17), st) : NULL;
    struct lx_passes passes = {.no_ring = rng_below(r, 2), .no_in_place = rng_below(r, 4) == 0};
    struct lx_plan *p = g ? plan_stated(g, &passes, "auto", state_random, r, st) : NULL;
    lx_graph_free(g);
    lx_graph_free(whole);
    return p;
}
