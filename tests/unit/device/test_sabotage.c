/* Plans that were damaged on purpose: whatever changes a result or breaks a rule of ownership, the device
 * tells.
 *
 * A valid plan is copied and one entry of it changed, in one of 12 ways drawn at random. Some changes do no
 * harm (a buffer moved to bytes that are free is as good as before); a change counts when the results have
 * other bits than those of the valid plan, or when the checker, which shares no code with the device,
 * refuses the plan. Each of these must be reported: as a fault, a wrong result or a wrong count. */
#include "support/device_plans.h"
#include "base/memory.h"
#include "base/rng.h"
#include "support/sampled.h"
#include "support/made_reference.h"

enum { WANTED = SANITIZED ? 60 : SAMPLED ? 130 : 1000, MOST_TRIES = 20000 };

/* What of a plan is copied, so that it can be damaged. */
struct damaged {
    struct lx_plan plan;
    struct lx_divisions divisions;
    struct lx_buffer *buffers;
    int64_t *address, *hbm_address;
    struct lx_stay *stays;
    struct lx_access *accesses;
    struct lx_transfer *transfers;
    struct lx_division *at;
    struct lx_op_traffic *traffic;
    int32_t *took;
    int32_t accesses_count;
};

static void *copied(const void *from, size_t count, size_t size)
{
    void *to = mem_zeroed(count + 1, size);
    assert_non_null(to);
    if (count > 0) memcpy(to, from, count * size);
    return to;
}

static void damage_begin(struct damaged *d, const struct lx_plan *p)
{
    size_t n = (size_t)p->problem.count, ops = (size_t)p->layouts->graph->op_count;
    size_t tensors = (size_t)p->layouts->graph->tensor_count;
    d->plan = *p;
    d->divisions = *p->divisions;
    d->accesses_count = p->access_at[ops];
    d->plan.problem.buffers = d->buffers = copied(p->problem.buffers, n, sizeof *d->buffers);
    d->plan.answer.address = d->address = copied(p->answer.address, n, sizeof *d->address);
    d->plan.hbm_address = d->hbm_address = copied(p->hbm_address, tensors, sizeof *d->hbm_address);
    d->plan.stays = d->stays = copied(p->stays, n, sizeof *d->stays);
    d->plan.took_slot_of = d->took = copied(p->took_slot_of, n, sizeof *d->took);
    d->plan.accesses = d->accesses = copied(p->accesses, (size_t)d->accesses_count, sizeof *d->accesses);
    d->plan.transfers = d->transfers = copied(p->transfers, (size_t)p->transfer_count, sizeof *d->transfers);
    d->plan.traffic = d->traffic = copied(p->traffic, ops, sizeof *d->traffic);
    d->divisions.at = d->at = copied(p->divisions->at, ops, sizeof *d->at);
    d->plan.divisions = &d->divisions;
}

static void damage_end(struct damaged *d)
{
    mem_free(d->buffers);
    mem_free(d->address);
    mem_free(d->hbm_address);
    mem_free(d->stays);
    mem_free(d->took);
    mem_free(d->accesses);
    mem_free(d->transfers);
    mem_free(d->traffic);
    mem_free(d->at);
}

/* A placed buffer, or -1. */
static int32_t some_placed(const struct damaged *d, struct rng *r)
{
    int32_t n = d->plan.problem.count, from = (int32_t)rng_below(r, (uint64_t)n);
    for (int32_t i = 0; i < n; i++)
        if (d->address[(from + i) % n] >= 0) return (from + i) % n;
    return -1;
}

static int32_t some_transfer(const struct damaged *d, struct rng *r, int kind)
{
    int32_t n = d->plan.transfer_count, from = n ? (int32_t)rng_below(r, (uint64_t)n) : 0;
    for (int32_t i = 0; i < n; i++)
        if (kind < 0 || (int)d->transfers[(from + i) % n].kind == kind) return (from + i) % n;
    return -1;
}

static bool shift_address(struct damaged *d, struct rng *r)
{
    int32_t s = some_placed(d, r);
    if (s < 0) return false;
    int64_t unit = rng_below(r, 8) ? 128 : 8;
    d->address[s] += unit * rng_between(r, -20, 20);
    return d->address[s] >= 0;
}

static bool cut_life(struct damaged *d, struct rng *r)
{
    int32_t s = some_placed(d, r);
    if (s < 0 || d->buffers[s].end - d->buffers[s].start < 2) return false;
    if (rng_below(r, 2))
        d->buffers[s].end -= rng_between(r, 1, d->buffers[s].end - d->buffers[s].start - 1);
    else
        d->buffers[s].start += rng_between(r, 1, d->buffers[s].end - d->buffers[s].start - 1);
    return true;
}

static bool swap_buffers(struct damaged *d, struct rng *r)
{
    int32_t a = some_placed(d, r), b = some_placed(d, r);
    if (a < 0 || a == b) return false;
    int64_t keep = d->address[a];
    d->address[a] = d->address[b];
    d->address[b] = keep;
    return true;
}

static bool drop_transfer(struct damaged *d, int32_t i)
{
    if (i < 0) return false;
    memmove(&d->transfers[i], &d->transfers[i + 1],
            (size_t)(d->plan.transfer_count - i - 1) * sizeof *d->transfers);
    d->plan.transfer_count--;
    return true;
}

static bool drop_ring(struct damaged *d, struct rng *r)
{
    return drop_transfer(d, some_transfer(d, r, LX_RING));
}

static bool drop_load(struct damaged *d, struct rng *r)
{
    return drop_transfer(d, some_transfer(d, r, LX_LOAD));
}

static bool drop_store(struct damaged *d, struct rng *r)
{
    return drop_transfer(d, some_transfer(d, r, LX_STORE));
}

static bool move_transfer(struct damaged *d, struct rng *r)
{
    int32_t i = some_transfer(d, r, -1);
    if (i < 0) return false;
    d->transfers[i].tick = (int32_t)rng_below(r, (uint64_t)d->plan.layouts->graph->op_count);
    return true;
}

/* Another core works on a slice: the slots of an op's variables change hands; or a buffer is cut as another
 * op sees the tensor. */
static bool wrong_core(struct damaged *d, struct rng *r)
{
    for (int tries = 0; tries < 50; tries++) {
        int32_t s = some_placed(d, r), a = (int32_t)rng_below(r, (uint64_t)d->accesses_count), op = 0;
        while (d->plan.access_at[op + 1] <= a) op++;
        if (s < 0 || d->accesses[a].tensor != d->stays[s].tensor) continue;
        struct lx_core_view before =
            lx_division_view(&d->divisions, d->stays[s].view_op, d->stays[s].view_operand);
        if (rng_below(r, 2)) {
            struct lx_division *v = &d->at[d->stays[s].view_op];
            if (v->split_count > 0) v->contiguous = (int)rng_between(r, -1, v->split_count - 1);
        } else {
            d->stays[s].view_op = op;
            d->stays[s].view_operand = a - d->plan.access_at[op];
        }
        struct lx_core_view after =
            lx_division_view(&d->divisions, d->stays[s].view_op, d->stays[s].view_operand);
        if (!lx_core_views_match(&before, &after) && !before.partial && !after.partial) return true;
    }
    return false;
}

static bool swap_in_hbm(struct damaged *d, struct rng *r)
{
    uint64_t n = (uint64_t)d->plan.layouts->graph->tensor_count;
    size_t a = rng_below(r, n), b = rng_below(r, n);
    if (a == b || d->hbm_address[a] < 0 || d->hbm_address[b] < 0) return false;
    int64_t keep = d->hbm_address[a];
    d->hbm_address[a] = d->hbm_address[b];
    if (rng_below(r, 2)) d->hbm_address[b] = keep;
    return true;
}

static bool redirect_access(struct damaged *d, struct rng *r)
{
    struct lx_access *a = &d->accesses[rng_below(r, (uint64_t)d->accesses_count)];
    int32_t to = rng_below(r, 2) ? -1 : some_placed(d, r), before = a->stay;
    a->stay = to;
    return to != before;
}

static bool forge_handover(struct damaged *d, struct rng *r)
{
    int32_t s = some_placed(d, r), parent = some_placed(d, r);
    if (s < 0) return false;
    int32_t before = d->took[s];
    d->took[s] = rng_below(r, 2) ? -1 : parent;
    if (d->took[s] >= 0 && rng_below(r, 2)) d->address[s] = d->address[d->took[s]];
    return before != d->took[s];
}

static bool confuse_transfer(struct damaged *d, struct rng *r)
{
    int32_t i = some_transfer(d, r, -1), s = some_placed(d, r);
    if (i < 0 || s < 0) return false;
    struct lx_transfer before = d->transfers[i];
    if (before.kind == LX_RING && rng_below(r, 2))
        d->transfers[i].source = s;
    else if (rng_below(r, 2))
        d->transfers[i].stay = s;
    else
        d->transfers[i].kind = before.kind == LX_LOAD ? LX_STORE : LX_LOAD;
    return memcmp(&before, &d->transfers[i], sizeof before) != 0;
}

static bool off_chip(struct damaged *d, struct rng *r)
{
    int32_t s = some_placed(d, r);
    if (s < 0) return false;
    d->address[s] = LX_OFF_CHIP;
    return true;
}

static const struct sabotage {
    const char *name;
    bool (*act)(struct damaged *d, struct rng *r);
} sabotages[] = {
    {"address shifted", shift_address},
    {"life cut", cut_life},
    {"two buffers swapped", swap_buffers},
    {"ring copy dropped", drop_ring},
    {"load dropped", drop_load},
    {"store dropped", drop_store},
    {"transfer at another tick", move_transfer},
    {"wrong core", wrong_core},
    {"HBM addresses mixed up", swap_in_hbm},
    {"access redirected", redirect_access},
    {"handover forged", forge_handover},
    {"transfer of another buffer", confuse_transfer},
    {"buffer taken off chip", off_chip},
};

enum { SABOTAGES = sizeof sabotages / sizeof *sabotages };

#define T(name, role, shape) "{\"name\": \"" name "\", \"role\": \"" role "\", \"shape\": [" shape "]},"
#define B(name, role, bytes) "{\"name\": \"" name "\", \"role\": \"" role "\", \"bytes\": " bytes "},"
#define MID(name, shape)     T(name, "intermediate", shape)
#define OP(name, kind, inputs, output, more)                                                                 \
    "{\"name\": \"" name "\", \"kind\": \"" kind "\", \"inputs\": [" inputs "], \"output\": \"" output       \
    "\"" more "},"
#define BY(einsum) ", \"einsum\": \"" einsum "\""

/* Small graphs that need all there is: relayouts, sums that are split, evictions, dumps, handovers, views. */
static const struct subject {
    const char *tensors, *ops;
    int64_t cores, lx;
    struct lx_passes passes;
} subjects[] = {
    {T("x", "input", "64, 256") T("w1", "weight", "256, 512") T("w2", "weight", "512, 256")
         MID("h", "64, 512") MID("g", "64, 512") MID("z", "64, 256") T("y", "output", "64, 256"),
     OP("h", "matmul", "\"x\", \"w1\"", "h", BY("mk,kn->mn")) OP("g", "gelu", "\"h\"", "g", "")
         OP("z", "matmul", "\"g\", \"w2\"", "z", BY("mk,kn->mn")) OP("y", "add", "\"z\", \"x\"", "y", ""),
     8,
     40064,
     {0}},
    {T("x", "input", "128, 256") MID("m", "256") MID("s", "128, 256") MID("e", "128, 256") MID("t", "256")
         T("y", "output", "128, 256"),
     OP("m", "max", "\"x\"", "m", BY("mn->n")) OP("s", "sub", "\"x\", \"m\"", "s", BY("mn,n->mn"))
         OP("e", "exp", "\"s\"", "e", "") OP("t", "sum", "\"e\"", "t", BY("mn->n"))
             OP("y", "div", "\"e\", \"t\"", "y", BY("mn,n->mn")),
     4,
     0,
     {0}},
    {T("x", "input", "64, 128") MID("a", "64, 128") MID("b", "64, 128") MID("c", "64, 128")
         MID("d", "64, 128") MID("o", "64, 128") T("y", "output", "64, 128"),
     OP("a", "exp", "\"x\"", "a", "") OP("b", "mul", "\"a\", \"x\"", "b", "")
         OP("call", "extern", "\"b\"", "o", "") OP("c", "add", "\"a\", \"b\"", "c", "")
             OP("d", "mul", "\"c\", \"o\"", "d", "") OP("y", "sub", "\"d\", \"a\"", "y", ""),
     2,
     0,
     {0}},
    {B("A0", "input", "4096") B("B0", "input", "4096") B("A", "intermediate", "4096")
         B("B", "intermediate", "4096") B("C", "intermediate", "4096") B("D", "intermediate", "4096")
             B("E", "intermediate", "4096") B("F", "output", "4096"),
     OP("a", "clone", "\"A0\"", "A", "") OP("c", "generic", "\"A\"", "C", "")
         OP("b", "clone", "\"B0\"", "B", "") OP("d", "generic", "\"B\", \"C\"", "D", "")
             OP("e", "generic", "\"B\", \"D\"", "E", "") OP("f", "generic", "\"A\", \"E\"", "F", ""),
     1,
     12288,
     {.evict = true}},
    {T("g", "input", "66, 130") MID("u", "64, 128") MID("v", "64, 128") MID("w", "64, 128")
         T("r", "output", "66, 130"),
     OP("u", "slice", "\"g\"", "u", ", \"offset\": [0, 1]")
         OP("v", "slice", "\"g\"", "v", ", \"offset\": [2, 1]") OP("w", "add", "\"u\", \"v\"", "w", "")
             OP("k", "clone", "\"g\"", "r", "") OP("i", "insert", "\"w\"", "r", ", \"offset\": [1, 1]"),
     2,
     0,
     {0}},
    {T("x", "input", "64, 192") T("q", "weight", "192") MID("m", "64") MID("c", "64, 192") MID("s", "64, 192")
         MID("v", "64") MID("i", "64") MID("n", "64, 192") T("y", "output", "64, 192"),
     OP("m", "mean", "\"x\"", "m", BY("sm->s")) OP("c", "sub", "\"x\", \"m\"", "c", BY("sm,s->sm"))
         OP("s", "mul", "\"c\", \"c\"", "s", "") OP("v", "mean", "\"s\"", "v", BY("sm->s"))
             OP("i", "rsqrt", "\"v\"", "i", "") OP("n", "mul", "\"c\", \"i\"", "n", BY("sm,s->sm"))
                 OP("y", "mul", "\"n\", \"q\"", "y", BY("sm,m->sm")),
     4,
     20096,
     {.evict = true}},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static struct lx_plan *plan_subject(const struct subject *s)
{
    struct text t = {0};
    lx_status st = {0};
    text_format(
        &t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"s\", \"tensors\": [%.*s], \"ops\": [%.*s]}",
        (int)strlen(s->tensors) - 1, s->tensors, (int)strlen(s->ops) - 1, s->ops);
    const struct lx_graph *g = lx_graph_of_text("s.json", t.at, t.length, &st);
    if (!g) fail_msg("%s", st.text);
    text_free(&t);
    g = with_cores(g, s->cores);
    if (s->lx) g = with_capacity(g, s->lx);
    return plan_graph(g, "bestfit", &s->passes);
}

static struct lx_run_result *execute(const struct lx_plan *p, const struct lx_reference *ref)
{
    struct lx_device_options how = {.reference = ref};
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s", st.text);
    return r;
}

static bool same_bits(const struct lx_run_result *a, const struct lx_run_result *b)
{
    for (int32_t o = 0; o < a->op_count; o++)
        if (a->ops[o].hash != b->ops[o].hash) return false;
    return a->output_hash == b->output_hash;
}

/* Nothing was executed otherwise: the same bits, the same bytes everywhere. A plan that the checker refuses may
 * run like this where it only says something else of what is off chip either way. */
static bool same_run(const struct lx_run_result *a, const struct lx_run_result *b)
{
    return same_bits(a, b) && a->height_bytes == b->height_bytes &&
           memcmp(&a->total, &b->total, sizeof a->total) == 0;
}

struct tally {
    int tried, counted, faults, refused, changed;
};

static void every_sabotage_is_reported(void **state)
{
    (void)state;
    struct rng rng = rng_seed(4);
    struct lx_plan *plan[SUBJECTS];
    struct lx_reference *ref[SUBJECTS];
    struct lx_run_result *good[SUBJECTS];
    struct tally tally[SABOTAGES] = {{0}};
    lx_status st = {0};
    int counted = 0, transfers[3] = {0};
    for (int i = 0; i < SUBJECTS; i++) {
        plan[i] = plan_subject(&subjects[i]);
        ref[i] = made_reference(plan[i]->graph, 0, 1, &st);
        assert_non_null(ref[i]);
        good[i] = execute(plan[i], ref[i]);
        if (!good[i]->ok) fail_msg("subject %d: %s", i, what_is_wrong(good[i]));
        for (int32_t k = 0; k < plan[i]->transfer_count; k++) transfers[plan[i]->transfers[k].kind]++;
    }
    assert_true(transfers[LX_LOAD] > 0 && transfers[LX_STORE] > 0 && transfers[LX_RING] > 0);
    for (int tries = 0; counted < WANTED; tries++) {
        int i = (int)rng_below(&rng, SUBJECTS), k = tries % SABOTAGES;
        struct damaged d;
        assert_true(tries < MOST_TRIES);
        damage_begin(&d, plan[i]);
        if (sabotages[k].act(&d, &rng)) {
            struct lx_run_result *r = execute(&d.plan, ref[i]);
            bool changed = !same_bits(r, good[i]);
            bool refused = !lx_plan_check(&d.plan, &st) && (!r->ok || !same_run(r, good[i]));
            tally[k].tried++;
            tally[k].counted += refused || changed;
            tally[k].refused += refused;
            tally[k].changed += changed;
            tally[k].faults += r->fault_count > 0;
            counted += refused || changed;
            if (r->ok && (refused || changed))
                fail_msg("subject %d, %s, try %d: not reported (%s)", i, sabotages[k].name, tries,
                         refused ? st.text : "other bits");
            lx_run_result_free(r);
        }
        damage_end(&d);
    }
    for (int k = 0; k < SABOTAGES; k++) {
        print_message("%-28s %4d tried, %4d counted, %4d faults, %4d refused, %4d other bits\n",
                      sabotages[k].name, tally[k].tried, tally[k].counted, tally[k].faults, tally[k].refused,
                      tally[k].changed);
        assert_true(tally[k].counted > 0);
    }
    for (int i = 0; i < SUBJECTS; i++) {
        lx_run_result_free(good[i]);
        lx_reference_free(ref[i]);
        lx_plan_free(plan[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_sabotage_is_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
