/* Plan files, read. The pattern and what was decided are read; everything else is made again from them and
 * must be what the file says. */
#include "plan/plan_file.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A derived value in the file must be what we derive. */
bool plan_same(const struct json *j, const cJSON *v, const char *key, int64_t ours, lx_status *st)
{
    int64_t theirs = 0;
    if (!json_int(j, v, key, -1, LX_INT_MAX, &theirs, st)) return false;
    if (theirs == ours) return true;
    return json_error(j, json_find(v, key), st, LX_E_MISMATCH, "%s is %lld here, but the pattern gives %lld",
                      key, (long long)theirs, (long long)ours);
}

static bool read_buffers(const struct json *j, const cJSON *root, struct lx_plan *p, lx_status *st)
{
    static const char *const keys[] = {"name",    "size",        "start", "end",    "cost",
                                       "address", "in_place_of", "bar",   "reason", NULL};
    const cJSON *array, *v;
    if (!json_array(j, root, "buffers", &array, st)) return false;
    if (cJSON_GetArraySize(array) != p->problem.count)
        return json_error(j, array, st, LX_E_MISMATCH, "%d buffers, but the pattern has %d",
                          cJSON_GetArraySize(array), (int)p->problem.count);
    int32_t i = 0;
    cJSON_ArrayForEach(v, array)
    {
        const struct lx_buffer *b = &p->problem.buffers[i];
        const char *name;
        if (!json_only_keys(j, v, "a buffer of a plan", keys, st) || !json_string(j, v, "name", &name, st))
            return false;
        if (strcmp(name, b->name) != 0)
            return json_error(j, json_find(v, "name"), st, LX_E_MISMATCH,
                              "buffer %s where the pattern has %s", name, b->name);
        if (!plan_same(j, v, "size", b->size, st) || !plan_same(j, v, "start", b->start, st) ||
            !plan_same(j, v, "end", b->end, st) || !plan_same(j, v, "cost", b->spill_cost, st))
            return false;
        const cJSON *address = json_find(v, "address");
        if (!address)
            return json_error(j, v, st, LX_E_SCHEMA, "buffer %s has no \"address\"; null means off chip",
                              name);
        if (!cJSON_IsNull(address) && !json_int(j, v, "address", 0, LX_INT_MAX, &p->answer.address[i], st))
            return false;
        i++;
    }
    return true;
}

/* What follows from pattern and addresses must be so; the claims that lx_plan_check judges are not among it,
 * nor are reasons, whose words may change from version to version. */
static bool same_derived(const struct json *j, const cJSON *root, const struct lx_plan *p, lx_status *st)
{
    int32_t i = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, json_find(root, "buffers"))
    {
        const char *bar = "", *our_bar = p->stays && p->stays[i].bar ? lx_bar_word(p->stays[i].bar) : "";
        if (!json_opt_string(j, v, "bar", &bar, st)) return false;
        if (*bar && strcmp(bar, our_bar) != 0)
            return json_error(j, json_find(v, "bar"), st, LX_E_MISMATCH,
                              "bar is \"%s\" here, but the pattern gives \"%s\"", bar, our_bar);
        int32_t parent = p->took_slot_of[i++];
        const char *theirs = "", *ours = parent < 0 ? "" : p->problem.buffers[parent].name;
        if (!json_opt_string(j, v, "in_place_of", &theirs, st)) return false;
        if (strcmp(theirs, ours) != 0)
            return json_error(j, *theirs ? json_find(v, "in_place_of") : v, st, LX_E_MISMATCH,
                              "in_place_of is \"%s\" here, but the addresses give \"%s\"", theirs, ours);
    }
    double gap = -1;
    int64_t objective = lx_plan_objective(p);
    bool reached = lx_plan_meets_target(p), meets = !reached;
    if (!json_opt_number(j, root, "gap", 0, 1, &gap, st) ||
        !json_opt_bool(j, root, "meets_target", &meets, st))
        return false;
    const cJSON *target = json_find(root, "target_hbm_bytes"), *at = json_find(root, "gap");
    if (!(fabs(gap - lx_gap(objective, p->bound_bytes)) < 1e-8))
        return json_error(j, at ? at : root, st, LX_E_MISMATCH, "the gap must be %.9g by placement and bound",
                          lx_gap(objective, p->bound_bytes));
    at = json_find(root, "meets_target");
    if (p->graph->target_hbm_bytes < 0 && (target || at))
        return json_error(j, target ? target : at, st, LX_E_MISMATCH,
                          "a target here, but the pattern has none");
    if (p->graph->target_hbm_bytes < 0) return true;
    if (!plan_same(j, root, "target_hbm_bytes", p->graph->target_hbm_bytes, st)) return false;
    if (meets == reached) return true;
    return json_error(j, at ? at : root, st, LX_E_MISMATCH, "meets_target must be %s by placement and target",
                      reached ? "true" : "false");
}

static bool read_word(const struct json *j, const cJSON *root, const char *key, const char *(*nth)(int),
                      int count, int *out, lx_status *st)
{
    const char *word;
    if (!json_string(j, root, key, &word, st)) return false;
    for (*out = 0; *out < count; (*out)++)
        if (strcmp(word, nth(*out)) == 0) return true;
    char known[200];
    size_t n = 0;
    for (int i = 0; i < count && n < sizeof known; i++)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", nth(i));
    return json_error(j, json_find(root, key), st, LX_E_SCHEMA, "unknown %s \"%s\"; known: %s", key, word,
                      known);
}

static const char *nth_verdict(int i)
{
    return lx_verdict_word((enum lx_verdict)i);
}

static const char *nth_objective(int i)
{
    return lx_objective_word((enum lx_objective)i);
}

static bool read_solver(const struct json *j, const cJSON *root, struct lx_plan *p, lx_status *st)
{
    static const char *const keys[] = {"name",  "seed",  "work_limit", "options",
                                       "steps", "stats", "message",    NULL};
    const cJSON *v = json_find(root, "solver"), *item;
    const char *name, *options, *message;
    int64_t seed;
    if (!v) return json_error(j, root, st, LX_E_SCHEMA, "the key \"solver\" is missing here; add it");
    if (!json_only_keys(j, v, "solver", keys, st) || !json_string(j, v, "name", &name, st) ||
        !json_string(j, v, "options", &options, st) || !json_string(j, v, "message", &message, st) ||
        !json_int(j, v, "seed", 0, LX_INT_MAX, &seed, st) ||
        !json_int(j, v, "work_limit", 0, LX_INT_MAX, &p->work_limit, st) ||
        !json_int(j, v, "steps", 0, LX_INT_MAX, &p->answer.steps, st))
        return false;
    p->seed = (uint64_t)seed;
    p->solver = arena_string(p->memory, name);
    p->options = arena_string(p->memory, options);
    if (!p->solver || !p->options) return status_no_memory(st);
    snprintf(p->answer.message, sizeof p->answer.message, "%s", message);
    const cJSON *stats = json_find(v, "stats");
    if (stats && !cJSON_IsObject(stats))
        return json_error(j, stats, st, LX_E_SCHEMA, "stats must be an object of integers");
    cJSON_ArrayForEach(item, stats)
    {
        struct lx_stat *s = &p->answer.stats[p->answer.stat_count];
        if (p->answer.stat_count == LX_MAX_STATS)
            return json_error(j, stats, st, LX_E_LIMIT, "more than %d stats; remove some", LX_MAX_STATS);
        if (!json_int_value(j, item, item->string, -LX_INT_MAX, LX_INT_MAX, &s->value, st)) return false;
        s->name = arena_string(p->memory, item->string);
        if (!s->name) return status_no_memory(st);
        p->answer.stat_count++;
    }
    return true;
}

/* The solver's own objective: of a list as the file claims it; of a graph it follows from the places, the
 * file claims what the plan really moves. */
static int64_t claimed_objective(const struct lx_plan *p, int64_t spill, int64_t height)
{
    if (p->problem.objective == LX_HEIGHT)
        return lx_left_out(&p->problem, p->answer.address) ? INT64_MAX : height;
    if (p->graph->is_list) return spill;
    int64_t sum = 0;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] < 0) sum += p->problem.buffers[i].spill_cost;
    return sum;
}

static struct lx_plan *read_plan(const struct json *j, lx_status *st)
{
    static const char *const keys[] = {"lxplan",
                                       "kind",
                                       "status",
                                       "objective",
                                       "hbm_bytes",
                                       "baseline_hbm_bytes",
                                       "spill_bytes",
                                       "height_bytes",
                                       "bound_bytes",
                                       "gap",
                                       "target_hbm_bytes",
                                       "meets_target",
                                       "solver",
                                       "capacity",
                                       "alignment",
                                       "buffers",
                                       "pattern_hash",
                                       "pattern",
                                       "graph",
                                       NULL};
    const cJSON *root = j->root;
    int status, objective;
    int64_t bound, hbm, baseline, spill, height;
    const char *hash;
    if (!pattern_check_header(j, root, "plan", st) || !json_only_keys(j, root, "a plan", keys, st) ||
        !read_word(j, root, "status", nth_verdict, LX_VERDICT_COUNT, &status, st) ||
        !read_word(j, root, "objective", nth_objective, LX_OBJECTIVE_COUNT, &objective, st) ||
        !json_int(j, root, "bound_bytes", 0, LX_INT_MAX, &bound, st) ||
        !json_int(j, root, "hbm_bytes", 0, LX_INT_MAX, &hbm, st) ||
        !json_int(j, root, "baseline_hbm_bytes", 0, LX_INT_MAX, &baseline, st) ||
        !json_int(j, root, "spill_bytes", 0, LX_INT_MAX, &spill, st) ||
        !json_int(j, root, "height_bytes", 0, LX_INT_MAX, &height, st) ||
        !json_string(j, root, "pattern_hash", &hash, st))
        return NULL;
    const cJSON *pattern = json_find(root, "pattern");
    if (!pattern)
        return json_error(j, root, st, LX_E_SCHEMA, "the key \"pattern\" is missing here; add it"), NULL;
    const struct lx_graph *g = pattern_read_json(j, pattern, st);
    if (!g) return NULL;
    char ours[20];
    snprintf(ours, sizeof ours, "%016" PRIx64, g->hash);
    if (strcmp(ours, hash) != 0) {
        lx_graph_free(g);
        json_error(j, json_find(root, "pattern_hash"), st, LX_E_MISMATCH,
                   "the pattern in this plan was changed after planning (its hash is %s); plan it again",
                   ours);
        return NULL;
    }
    struct lx_plan *p = plan_new(g, st);
    lx_graph_free(g);
    if (!p) return NULL;
    p->bound_bytes = bound;
    if (!(g->is_list ? plan_of_list(p, (enum lx_objective)objective, st)
                     : plan_read_graph(j, root, p, objective, st)) ||
        !plan_same(j, root, "capacity", p->problem.capacity, st) ||
        !plan_same(j, root, "alignment", p->problem.alignment, st) || !read_buffers(j, root, p, st) ||
        !read_solver(j, root, p, st) || !plan_complete(p, st) ||
        (!g->is_list && !plan_read_places(j, root, p, st)) || !same_derived(j, root, p, st)) {
        lx_plan_free(p);
        return NULL;
    }
    /* Claims: lx_plan_check compares them with what the placement really gives. */
    p->answer.status = (enum lx_verdict)status;
    p->answer.objective = claimed_objective(p, spill, height);
    p->hbm_bytes = hbm;
    p->baseline_hbm_bytes = baseline;
    p->spill_bytes = spill;
    p->height_bytes = height;
    return p;
}

struct lx_plan *lx_plan_parse(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    if (!json_parse(&j, file, text, length, st)) return NULL;
    struct lx_plan *p = read_plan(&j, st);
    json_free(&j);
    return p;
}

struct lx_plan *lx_plan_read(const char *path, lx_status *st)
{
    size_t length;
    char *text = file_read(path, &length, st);
    if (!text) return NULL;
    struct lx_plan *p = lx_plan_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, length, st);
    free(text);
    return p;
}
