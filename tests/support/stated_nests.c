#include "support/stated_nests.h"

struct lx_plan *plan_stated(const struct lx_graph *g, const struct lx_passes *passes, const char *solver,
                            state_nests *state, void *context, lx_status *st)
{
    struct lx_plan_options options = {.solver = lx_solver_find(solver), .passes = *passes};
    struct lx_plan *p = plan_new(g);
    struct stated_nests *s = p ? arena_array(p->memory, 1, sizeof *s) : NULL;
    bool ok = p && s && plan_divide(p, passes, NULL, st);
    struct search by = {.divided = ok ? p->own_divisions : NULL,
                        .request = &options,
                        .effort = effort_asked(&options),
                        .memory = p ? p->memory : NULL,
                        .st = st};
    if (ok) {
        state(context, p->own_divisions->layouts, s);
        struct decisions how = {.passes = *passes,
                                .nests = s->nests,
                                .nest_count = s->nest_count,
                                .holds = s->holds,
                                .hold_count = s->hold_count,
                                .cuts = s->cuts,
                                .cut_count = s->cut_count};
        p->solver = options.solver->name;
        ok = try_with(&by, DRAFTS_MANY, &how, &by.best);
        if (ok) plan_adopt(p, &by.best.draft);
    }
    if (ok) {
        arena_adopt(p->memory, by.best.memory);
        mem_free(by.best.memory);
        p->answer = by.best.answer;
        p->answer.status = LX_FEASIBLE; /* nobody has looked for better nests */
        p->passes = by.best.draft.how.passes;
        p->figures.perfect_hbm_bytes = by.best.perfect_bytes;
        by.best = (struct attempt){0};
        plan_complete(p, true);
        ok = pool_pack(p, options.solver, false, st) && plan_launch_ops(p, st);
    }
    attempt_free(&by.best);
    if (ok) return p;
    lx_plan_free(p);
    return NULL;
}

const cJSON *stated_get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

int32_t stated_op(const struct lx_graph *g, const char *name)
{
    for (int32_t o = 0; o < g->op_count; o++)
        if (strcmp(g->ops[o].name, name) == 0) return o;
    return -1;
}

static void stated_level(const cJSON *level, const struct lx_graph *g, struct stated_nests *out)
{
    struct lx_nest *n = &out->nests[out->nest_count];
    n->tiles[n->level_count] = (int64_t)stated_get(level, "tiles")->valuedouble;
    for (int32_t o = n->first; o <= n->last; o++) {
        struct op_index x;
        op_index_of(g, &g->ops[o], &x);
        const char *letter = stated_get(stated_get(level, "variables"), g->ops[o].name)->valuestring;
        for (int v = 0; v < x.var_count; v++)
            if (x.letter[v] == *letter)
                out->var[out->nest_count][o - n->first][n->level_count] = (signed char)v;
    }
    n->level_count++;
}

static bool stated_access(const struct lx_graph *g, int32_t o, int32_t tensor)
{
    for (int i = 0; i < op_operand_count(&g->ops[o]); i++)
        if (op_operand(&g->ops[o], i) == tensor) return true;
    return false;
}

/* The parts of a tensor in order of time: its accesses in one nest, or those between two nests that access it. */
static void stated_parts(const cJSON *t, const struct lx_graph *g, int32_t tensor, struct stated_nests *out)
{
    int32_t last = -2;
    int part = -1;
    bool whole = false;
    for (int32_t o = 0; o < g->op_count; o++) {
        if (!stated_access(g, o, tensor)) continue;
        int32_t nest = nest_of_op(out->nests, out->nest_count, o);
        if (nest == last && part >= 0) continue;
        const char *word = cJSON_GetArrayItem(stated_get(t, "parts"), ++part)->valuestring;
        if (nest >= 0 && strncmp(word, "hbm", 3) != 0)
            out->holds[out->hold_count++] =
                (struct hold){tensor, nest, strncmp(word, "tile", 4) == 0 ? word[4] - '0' : 0};
        bool joins = strcmp(word, "join") == 0, is_whole = strcmp(word, "whole") == 0;
        if (part > 0 && !joins && (whole || is_whole)) out->cuts[out->cut_count++] = (struct cut){tensor, o};
        whole = joins || is_whole;
        last = nest;
    }
}

void state_case(void *context, const struct lx_layouts *l, struct stated_nests *out)
{
    const cJSON *plan = stated_get(context, "plan"), *n, *level, *t;
    cJSON_ArrayForEach(n, stated_get(plan, "nests"))
    {
        struct lx_nest *to = &out->nests[out->nest_count];
        to->first = stated_op(l->graph, stated_get(n, "first")->valuestring);
        to->last = stated_op(l->graph, stated_get(n, "last")->valuestring);
        to->var = (const signed char(*)[LX_MAX_LEVELS])out->var[out->nest_count];
        cJSON_ArrayForEach(level, stated_get(n, "levels")) stated_level(level, l->graph, out);
        out->nest_count++;
    }
    cJSON_ArrayForEach(t, stated_get(plan, "tensors"))
    {
        for (int32_t i = 0; i < l->graph->tensor_count; i++)
            if (strcmp(l->graph->tensors[i].name, t->string) == 0) stated_parts(t, l->graph, i, out);
    }
    qsort(out->cuts, (size_t)out->cut_count, sizeof *out->cuts, cut_compare);
}

/* A divisor from 2 on, or 1: there is none. */
static int64_t random_tiles(struct rng *r, int64_t basis)
{
    int64_t list[64];
    int n = 0;
    for (int64_t t = 2; t <= basis && t <= 64 && n < 64; t++)
        if (basis % t == 0) list[n++] = t;
    return n ? list[rng_below(r, (uint64_t)(n < 4 ? n : 4))] : 1;
}

/* Some axes of a random run from op `first` on, in any order. */
static bool random_run(struct rng *r, const struct lx_layouts *l, int32_t first, struct arena *memory,
                       struct stated_nests *out)
{
    struct lx_nest *n = &out->nests[out->nest_count];
    struct axis_found found[MOST_AXES];
    struct axis_run *run = axis_run_begin(l, first, memory);
    int64_t longest = 1 + (int64_t)rng_below(r, 8);
    for (int64_t i = 0; run && i < longest && axis_run_last(run) < l->graph->op_count - 1; i++)
        if (!axis_run_grow(run)) break;
    if (!run || axis_run_last(run) < first) return false;
    int count = axis_run_axes(run, found, memory), levels = 1 + (int)rng_below(r, 3);
    *n = (struct lx_nest){.first = first,
                          .last = axis_run_last(run),
                          .var = (const signed char(*)[LX_MAX_LEVELS])out->var[out->nest_count]};
    for (int i = 0, at = count ? (int)rng_below(r, (uint64_t)count) : 0; i < count && n->level_count < levels;
         i++, at = (at + 1) % count) {
        n->tiles[n->level_count] = random_tiles(r, found[at].divides);
        if (n->tiles[n->level_count] < 2) continue;
        for (int32_t o = first; o <= n->last; o++)
            out->var[out->nest_count][o - first][n->level_count] = found[at].var[o - first];
        n->level_count++;
        if (!nest_valid(l, n, NULL)) n->level_count--;
    }
    return n->level_count > 0 && nest_valid(l, n, NULL);
}

/* Any level that indexes it, or none. */
static void random_holds(struct rng *r, const struct lx_layouts *l, int32_t nest, struct stated_nests *out)
{
    const struct lx_nest *n = &out->nests[nest];
    for (int32_t t = 0; t < l->graph->tensor_count && out->hold_count < STATED_HOLDS; t++) {
        struct nest_tensor x = nest_tensor_of(l, n, t);
        int level = (int)rng_below(r, (uint64_t)n->level_count + 1);
        if (!x.accessed || rng_below(r, 3) == 0) continue;
        if (level == 0 || (x.indexed & level_bit(level - 1)))
            out->holds[out->hold_count++] = (struct hold){t, nest, level};
    }
}

void state_random(void *context, const struct lx_layouts *l, struct stated_nests *out)
{
    struct rng *r = context;
    struct arena memory = {0};
    for (int32_t o = 0; o < l->graph->op_count && out->nest_count < STATED_NESTS; o++) {
        if (rng_below(r, 4) == 0 || !random_run(r, l, o, &memory, out)) continue;
        random_holds(r, l, out->nest_count, out);
        o = out->nests[out->nest_count++].last;
    }
    arena_free(&memory);
}
