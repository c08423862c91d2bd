/* Nests that were damaged on purpose: tile counts, holds, offsets of iterations, variables, the order of levels, sums that
 * are not initialised or stored too early, addresses that overlap.
 *
 * A plan that runs is copied and one thing of its nests changed; in half of the cases what follows from nests (how tiles
 * are divided and launched) is made anew, so that the damage is not found at the door. A change that the checker, which
 * shares no code with the device, refuses, or after which some op leaves other bits, must be refused by the device too: by
 * a fault, a wrong result, a wrong count, or before it runs. What the checker takes and leaves every bit as it was is
 * another legal plan: those must run. In other tries the plan is left alone and the device itself is led astray. */
#include "support/nest_runs.h"
#include "support/made_reference.h"
#include "support/sampled.h"

enum { WANTED = SAMPLED ? 150 : 200, SUBJECTS = SAMPLED ? 40 : 60, MOST_TRIES = 40 };
static int wanted = WANTED; /* or as the command line says, on twice the subjects */

struct damaged {
    struct lx_plan plan;
    struct lx_divisions divisions;
    struct lx_nest *nests;
    signed char (*var)[STATED_OPS][LX_MAX_LEVELS];
    struct lx_stay *stays;
    struct lx_buffer *buffers;
    int64_t *address;
    struct lx_transfer *transfers;
    struct lx_division *at;
    struct lx_op_launch *launches;
    struct arena memory;
    int32_t nest; /* that is damaged */
};

static void *copied(struct damaged *d, const void *from, size_t count, size_t size)
{
    void *to = arena_array(&d->memory, count + 1, size);
    assert_non_null(to);
    if (count > 0) memcpy(to, from, count * size);
    return to;
}

static void copy_nests(struct damaged *d, const struct lx_plan *p)
{
    size_t n = (size_t)p->nest_count;
    d->nests = copied(d, p->nests, n, sizeof *d->nests);
    d->var = arena_array(&d->memory, n, sizeof *d->var);
    for (size_t i = 0; i < n; i++) {
        size_t ops = (size_t)(p->nests[i].last - p->nests[i].first + 1);
        memcpy(d->var[i], p->nests[i].var, ops * sizeof *d->var[i]);
        d->nests[i].var = (const signed char(*)[LX_MAX_LEVELS])d->var[i];
    }
    d->plan.nests = d->divisions.nests = d->nests;
    d->plan.divisions = &d->divisions;
}

static void damage_begin(struct damaged *d, const struct lx_plan *p, struct rng *r)
{
    size_t n = (size_t)p->problem.count, ops = (size_t)p->layouts->graph->op_count;
    *d = (struct damaged){.plan = *p, .divisions = *p->divisions};
    copy_nests(d, p);
    d->plan.stays = d->stays = copied(d, p->stays, n, sizeof *d->stays);
    d->plan.problem.buffers = d->buffers = copied(d, p->problem.buffers, n, sizeof *d->buffers);
    d->plan.answer.address = d->address = copied(d, p->answer.address, n, sizeof *d->address);
    d->plan.transfers = d->transfers =
        copied(d, p->transfers, (size_t)p->transfer_count, sizeof *d->transfers);
    d->divisions.at = d->at = copied(d, p->divisions->at, ops, sizeof *d->at);
    d->plan.launches = d->launches = copied(d, p->launches, ops, sizeof *d->launches);
    for (size_t o = 0; o < ops; o++)
        if (d->launches[o].launch)
            d->launches[o].launch = copied(d, d->launches[o].launch, 1, sizeof *d->launches[o].launch);
    d->nest = (int32_t)rng_below(r, (uint64_t)p->nest_count);
}

static struct lx_nest *nest_of(struct damaged *d)
{
    return &d->nests[d->nest];
}

static bool in_nest(struct damaged *d, int32_t op)
{
    return op >= nest_of(d)->first && op <= nest_of(d)->last;
}

/* ---- what follows from nests ---- */

static bool divide_again(struct damaged *d, int32_t op)
{
    int64_t splits[LX_MAX_VARS];
    lx_status st = {0};
    struct lx_division again;
    for (int i = 0; i < d->at[op].split_count; i++) splits[i] = d->at[op].splits[i].split;
    if (!lx_division_with(&d->divisions, op, splits, &d->memory, &again, &st)) return false;
    again.contiguous = d->at[op].contiguous;
    d->at[op] = again;
    return true;
}

static bool launch_again(struct damaged *d, int32_t op)
{
    lx_status st = {0};
    struct lx_op_launch *o = lx_plan_launch(&d->plan, op, NULL, &st);
    if (!o) return false;
    struct lx_op_launch *to = &d->launches[op];
    *to = *o;
    to->sum = copied(d, o->sum, (size_t)o->sum_count, sizeof *o->sum);
    to->tiles = o->tiles ? copied(d, o->tiles, (size_t)o->tile_count, sizeof *o->tiles) : NULL;
    to->launch = copied(d, o->launch, 1, sizeof *o->launch);
    to->launch->cores = copied(d, o->launch->cores, (size_t)o->launch->core_count, sizeof *o->launch->cores);
    lx_op_launch_free(o);
    return true;
}

/* Ops whose tiles can be divided as before are; the others are left. */
static bool follow(struct damaged *d, struct rng *r)
{
    if (rng_below(r, 2) || !nest_valid(d->plan.layouts, nest_of(d), NULL)) return true;
    for (int32_t o = nest_of(d)->first; o <= nest_of(d)->last; o++)
        if (divide_again(d, o)) launch_again(d, o);
    return true;
}

/* ---- damage ---- */

static bool other_tiles(struct damaged *d, struct rng *r)
{
    struct lx_nest *n = nest_of(d);
    int l = (int)rng_below(r, (uint64_t)n->level_count);
    int64_t before = n->tiles[l];
    n->tiles[l] = rng_below(r, 2) ? before * 2 : rng_between(r, 2, before + 3);
    return n->tiles[l] != before && follow(d, r);
}

static bool other_variable(struct damaged *d, struct rng *r)
{
    struct lx_nest *n = nest_of(d);
    int32_t o = (int32_t)rng_between(r, n->first, n->last);
    int l = (int)rng_below(r, (uint64_t)n->level_count);
    struct op_index x;
    op_index_of(d->plan.layouts->graph, &d->plan.layouts->graph->ops[o], &x);
    signed char before = n->var[o - n->first][l], now = (signed char)rng_below(r, (uint64_t)x.var_count);
    d->var[d->nest][o - n->first][l] = now;
    /* and in all ops, where they have as many variables: another axis */
    for (int32_t i = n->first; rng_below(r, 2) && i <= n->last; i++) d->var[d->nest][i - n->first][l] = now;
    return now != before && follow(d, r);
}

static bool other_order(struct damaged *d, struct rng *r)
{
    struct lx_nest *n = nest_of(d);
    if (n->level_count < 2) return false;
    int a = (int)rng_below(r, (uint64_t)n->level_count - 1), b = a + 1;
    int64_t tiles = n->tiles[a];
    n->tiles[a] = n->tiles[b];
    n->tiles[b] = tiles;
    for (int32_t i = 0; i <= n->last - n->first; i++) {
        signed char v = d->var[d->nest][i][a];
        d->var[d->nest][i][a] = d->var[d->nest][i][b];
        d->var[d->nest][i][b] = v;
    }
    return follow(d, r);
}

static bool other_ends(struct damaged *d, struct rng *r)
{
    struct lx_nest *n = nest_of(d);
    if (n->last == n->first) return false;
    if (rng_below(r, 2)) {
        n->last--;
        return true;
    }
    n->first++;
    n->var = (const signed char(*)[LX_MAX_LEVELS])(d->var[d->nest] + 1);
    return true;
}

/* A placed stay of the nest, of a sum if that is asked for; -1: none. */
static int32_t some_stay(struct damaged *d, struct rng *r, bool sum)
{
    int32_t n = d->plan.problem.count, from = (int32_t)rng_below(r, (uint64_t)n);
    for (int32_t i = 0; i < n; i++) {
        int32_t s = (from + i) % n;
        if (d->address[s] < 0 || !in_nest(d, d->stays[s].view_op)) continue;
        if (!sum || nest_tensor_of(d->plan.layouts, nest_of(d), d->stays[s].tensor).summed) return s;
    }
    return -1;
}

static bool other_hold(struct damaged *d, struct rng *r)
{
    int32_t s = some_stay(d, r, false);
    if (s < 0) return false;
    int before = d->stays[s].hold;
    d->stays[s].hold = (int)rng_below(r, (uint64_t)nest_of(d)->level_count + 1);
    return d->stays[s].hold != before;
}

static bool other_offset(struct damaged *d, struct rng *r)
{
    int32_t o = (int32_t)rng_between(r, nest_of(d)->first, nest_of(d)->last);
    struct lx_launch_level *l =
        &d->launches[o].launch->level[rng_below(r, (uint64_t)nest_of(d)->level_count)];
    int64_t step = l->step;
    int var = l->var;
    if (rng_below(r, 2))
        l->step = rng_between(r, -step, 2 * step);
    else
        l->var = (int)rng_below(r, 4);
    return l->step != step || l->var != var;
}

/* It is filled before it begins; or what was stored of it is not brought back. */
static bool not_initialised(struct damaged *d, struct rng *r)
{
    int32_t s = some_stay(d, r, true);
    if (s < 0) return false;
    for (int32_t i = 0; i < d->plan.transfer_count; i++) {
        if (d->transfers[i].stay != s || d->transfers[i].kind != LX_LOAD) continue;
        if (rng_below(r, 2))
            d->stays[s].begins_written = false;
        else
            d->transfers[i].kind = LX_STORE;
        return true;
    }
    d->stays[s].hold = nest_of(d)->level_count;
    return true;
}

static bool stored_too_early(struct damaged *d, struct rng *r)
{
    int32_t count = d->plan.transfer_count, from = count ? (int32_t)rng_below(r, (uint64_t)count) : 0;
    for (int32_t k = 0; k < count; k++) {
        struct lx_transfer *t = &d->transfers[(from + k) % count];
        if (t->kind != LX_STORE || !in_nest(d, t->tick)) continue;
        if (t->tick > nest_of(d)->first && rng_below(r, 2))
            t->tick = (int32_t)rng_between(r, nest_of(d)->first, t->tick - 1);
        else if (d->stays[t->stay].hold < nest_of(d)->level_count)
            d->stays[t->stay].hold++;
        else
            continue;
        return true;
    }
    return false;
}

static bool overlapping(struct damaged *d, struct rng *r)
{
    int32_t a = some_stay(d, r, false), b = some_stay(d, r, false);
    if (a < 0 || a == b) return false;
    int64_t before = d->address[a], unit = d->plan.layouts->graph->device.stick_bytes;
    d->address[a] = d->address[b] + unit * rng_between(r, 0, d->buffers[b].size / unit);
    return d->address[a] != before;
}

static bool shorter_life(struct damaged *d, struct rng *r)
{
    int32_t s = some_stay(d, r, false);
    if (s < 0 || d->buffers[s].end - d->buffers[s].start < 2) return false;
    *(rng_below(r, 2) ? &d->buffers[s].end : &d->buffers[s].start) =
        d->buffers[s].start + (d->buffers[s].end - d->buffers[s].start) / 2;
    return true;
}

static const struct sabotage {
    const char *name;
    bool (*act)(struct damaged *d, struct rng *r);
    bool always; /* harmful whatever else: each level has an iteration in which a tile begins elsewhere */
} sabotages[] = {
    {"other tile count", other_tiles, false},
    {"other variable", other_variable, false},
    {"other order of levels", other_order, false},
    {"other first or last op", other_ends, false},
    {"other hold", other_hold, false},
    {"other offset", other_offset, true},
    {"sum not initialised", not_initialised, false},
    {"stored too early", stored_too_early, false},
    {"address overlapping", overlapping, false},
    {"life cut", shorter_life, false},
};

enum { SABOTAGES = sizeof sabotages / sizeof *sabotages };

/* ---- subjects ---- */

struct subject {
    struct lx_plan *plan;
    struct lx_reference *ref;
    struct lx_run_result *good;
};

static struct lx_run_result *execute(const struct lx_plan *p, const struct lx_reference *ref)
{
    struct lx_device_options how = {.reference = ref};
    lx_status st = {0};
    return lx_device_run(p, &how, &st);
}

static bool stays_in_nest(const struct lx_plan *p)
{
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0 && nest_of_op(p->nests, p->nest_count, p->stays[i].view_op) >= 0)
            return true;
    return false;
}

static bool take(struct subject *s, struct lx_plan *p)
{
    lx_status st = {0};
    if (!p || p->nest_count == 0 || !stays_in_nest(p)) {
        lx_plan_free(p);
        return false;
    }
    *s = (struct subject){p, made_reference(p->graph, 0, 1, &st), NULL};
    s->good = execute(p, s->ref);
    if (!s->good || !s->good->ok) fail_msg("%s", s->good ? what_is_wrong(s->good) : "not run");
    if (!lx_plan_check(p, &st)) fail_msg("%s", st.text);
    return true;
}

static int find_subjects(struct subject *s, int most)
{
    int n = 0;
    cJSON *all = tiling_cases();
    const cJSON *c;
    lx_status st = {0};
    cJSON_ArrayForEach(c, case_array(all)) if (n < most / 2 &&
                                               take(&s[n], plan_of_case(c, LX_ASK_TRAFFIC, &st))) n++;
    cJSON_Delete(all);
    for (uint64_t seed = 1; n < most; seed++) {
        struct rng r = rng_seed(seed);
        n += take(&s[n], random_nest_plan(&r, &st));
    }
    return n;
}

static void free_subjects(struct subject *s, int n)
{
    for (int i = 0; i < n; i++) {
        lx_run_result_free(s[i].good);
        lx_reference_free(s[i].ref);
        lx_plan_free(s[i].plan);
    }
}

static bool same_bits(const struct lx_run_result *a, const struct lx_run_result *b)
{
    for (int32_t o = 0; o < a->op_count; o++)
        if (a->ops[o].hash != b->ops[o].hash) return false;
    return a->output_hash == b->output_hash;
}

struct tally {
    int tried, harmful, refused, faults, wrong, counts, legal;
};

static void count_finding(const struct lx_run_result *r, struct tally *t)
{
    t->harmful++;
    t->refused += !r;
    t->faults += r && r->fault_count > 0;
    t->wrong += r && r->fault_count == 0 && r->wrong_ops > 0;
    t->counts += r && r->fault_count == 0 && r->wrong_ops == 0;
}

static int missed;

/* 1: it does harm. */
static int judge_damage(const struct subject *s, struct damaged *d, const struct sabotage *how,
                        struct tally *t)
{
    lx_status st = {0};
    struct lx_run_result *r = execute(&d->plan, s->ref);
    bool legal = lx_plan_check(&d->plan, &st),
         harmful = how->always || !r || !legal || !same_bits(r, s->good);
    t->tried++;
    t->legal += !harmful;
    if (harmful) count_finding(r, t);
    if (harmful == (r && r->ok)) {
        print_message("%s: %s (%s)\n", how->name, harmful ? "not found" : "legal, but refused",
                      harmful ? st.text : what_is_wrong(r));
        missed++;
    }
    lx_run_result_free(r);
    return harmful;
}

static void every_damage_is_found(void **state)
{
    (void)state;
    static struct subject subjects[2 * SUBJECTS];
    struct tally tally[SABOTAGES] = {{0}};
    int n = find_subjects(subjects, wanted > WANTED ? 2 * SUBJECTS : SUBJECTS), harmful = 0;
    struct rng r = rng_seed(20);
    missed = 0;
    for (int tries = 0; harmful < wanted; tries++) {
        const struct subject *s = &subjects[rng_below(&r, (uint64_t)n)];
        int k = tries % SABOTAGES;
        struct damaged d;
        assert_true(tries < MOST_TRIES * wanted);
        damage_begin(&d, s->plan, &r);
        if (sabotages[k].act(&d, &r)) harmful += judge_damage(s, &d, &sabotages[k], &tally[k]);
        arena_free(&d.memory);
    }
    for (int k = 0; k < SABOTAGES; k++) {
        const struct tally *t = &tally[k];
        print_message("%-24s %4d tried, %4d harmful: %4d refused, %4d faults, %4d wrong results, %4d wrong "
                      "counts; %4d legal plans\n",
                      sabotages[k].name, t->tried, t->harmful, t->refused, t->faults, t->wrong, t->counts,
                      t->legal);
        assert_true(t->harmful > 0);
    }
    free_subjects(subjects, n);
    assert_int_equal(missed, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) wanted = atoi(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_damage_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
