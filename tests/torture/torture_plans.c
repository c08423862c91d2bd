/* Plan files damaged at random. Each seed is a random graph with random passes, cores and room, planned, with nests or
 * without; its file is changed in as many ways as support/plan_sabotage.h and nest_damage.h know, in one place, then in a second one. What check
 * accepts must be legal by a second look at the file (second_look.h), and run on the simulated device with the counts that
 * it states; what check refuses the device sees too, or it runs as before. Most graphs are of small tensors, and of what is refused
 * a part is run, so that many are asked. */
#include "support/json_text.h"
#include "support/nest_damage.h"
#include "support/random_graph.h"
#include "support/sabotage_trials.h"
#include "torture/second_look.h"
#include "torture/torture.h"

enum {
    USUAL = 16,
    EACH = 100,
    EVERY_LARGE = 32,
    EVERY_RUN = 8,
    SMALL = 32,
    ALL_WAYS = SABOTAGES + NEST_SABOTAGES
};

static const struct sabotage *any_way(struct rng *r)
{
    int k = (int)rng_below(r, ALL_WAYS);
    return k < SABOTAGES ? &sabotages[k] : &nest_sabotages[k - SABOTAGES];
}

static struct lx_plan *make_plan(struct rng *r, struct subject *s)
{
    static const int64_t cores[] = {1, 2, 4, 8};
    bool large = rng_below(r, EVERY_LARGE) == 0;
    struct random_graph_shape shape = {.ops = 2 + (int)rng_below(r, large ? 8 : 4),
                                       .largest = large ? 0 : SMALL << rng_below(r, 2),
                                       .with_views = rng_below(r, 3) == 0,
                                       .with_externs = rng_below(r, 5) == 0,
                                       .again = rng_below(r, 4) == 0,
                                       .with_results = rng_below(r, 4) == 0,
                                       .cores = cores[rng_below(r, 4)]};
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"),
                                  .passes = {.tile = rng_below(r, 2) ? LX_TILE_AUTO : LX_TILE_NONE,
                                             .evict = rng_below(r, 2),
                                             .reorder = rng_below(r, 3) == 0,
                                             .move = rng_below(r, 4) == 0,
                                             .no_ring = rng_below(r, 6) == 0,
                                             .no_in_place = rng_below(r, 6) == 0,
                                             .clone = (int)rng_below(r, 3)}};
    lx_status st = {0};
    const struct lx_graph *g = random_graph(r, &shape, &st);
    if (!g) return NULL;
    if (rng_below(r, 4)) g = with_capacity(g, 128 * rng_between(r, 2, 400));
    snprintf(s->name, sizeof s->name, "%d ops on %d cores", shape.ops, (int)shape.cores);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    return p;
}

static void damage_once(struct torture *t, struct subject *s, struct rng *r)
{
    struct tally tally = {0};
    const struct sabotage *way = any_way(r);
    cJSON *plan = cJSON_Duplicate(s->plan, true);
    struct damage d = damage_of(plan, r);
    bool twice = rng_below(r, 4) == 0, done = way->act(&d);
    if (done && twice) any_way(r)->act(&d);
    s->only_legal = rng_below(r, EVERY_RUN) != 0;
    struct text text = {0};
    if (done) json_text_add(&text, plan);
    if (text.at) {
        /* What would have to run wrong need not here: a second change may undo it, or it was told to a core without work. */
        const struct sabotage known = {way->name, way->act,
                                       way->runs_wrong == SUMS_OTHERWISE ? SUMS_OTHERWISE : 0};
        sabotage_judge(s, &known, text.at, &tally);
        t->count[TORTURE_JUDGED]++;
        t->count[TORTURE_BEST] += tally.harmless;
        if (tally.missed) torture_fault(t, TORTURE_ACCEPTED, "%s, %s: it does not run", s->name, way->name);
        if (tally.unseen)
            torture_fault(t, TORTURE_DISAGREE, "%s, %s: the device sees nothing", s->name, way->name);
        const char *wrong = tally.harmless ? second_look(plan) : NULL;
        if (wrong) torture_fault(t, TORTURE_ACCEPTED, "%s, %s: %s", s->name, way->name, wrong);
    }
    text_free(&text);
    cJSON_Delete(plan);
}

static void one(struct torture *t)
{
    struct rng r = rng_seed(t->seed);
    struct subject s = {.runs = false};
    struct lx_plan *p = make_plan(&r, &s);
    if (!p) return;
    t->count[TORTURE_QUESTIONS]++;
    take_subject(&s, p);
    const char *wrong = second_look(s.plan);
    if (wrong) torture_fault(t, TORTURE_DISAGREE, "%s: as it was made: %s", s.name, wrong);
    for (int i = 0; i < EACH; i++) damage_once(t, &s, &r);
    cJSON_Delete(s.plan);
    lx_run_result_free(s.good);
}

int main(int argc, char **argv)
{
    return torture_all(argc, argv, "plans", USUAL, one);
}
