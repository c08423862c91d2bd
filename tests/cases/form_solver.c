/* The form of solver cases: lists of buffers with expected addresses or properties per solver, the rules of
 * the data model, and cases with a known best objective. */
#include "cases/solver_form.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value under the first key that begins like this: such keys carry a date. */
static const cJSON *find_prefixed(const cJSON *object, const char *prefix)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, object) if (v->string && strncmp(v->string, prefix, strlen(prefix)) ==
                                                       0) return cjson_find(object, v->string);
    return NULL;
}

/* A case with expected addresses, and the scratch that comparing them needs. */
struct base {
    const cJSON *order, *properties, *observed, *sets;
    const struct lx_plan *plan;
    int64_t *address;
};

/* Addresses in the order of the case's names; false if they are not of one length. */
static bool read_set(struct cases *c, const struct base *b, const cJSON *set)
{
    const struct lx_problem *p = &b->plan->problem;
    for (int32_t i = 0; i < p->count; i++) b->address[i] = LX_OFF_CHIP;
    if (!case_expect(c, cJSON_GetArraySize(set) == cJSON_GetArraySize(b->order),
                     "expected as many addresses as names"))
        return false;
    for (int k = 0; k < cJSON_GetArraySize(set); k++) {
        const cJSON *name = cJSON_GetArrayItem(b->order, k);
        int32_t i = cJSON_IsString(name) ? buffer_find(p, name->valuestring) : -1;
        if (!case_expect(c, i >= 0, "expected address %d to be of a buffer of the list", k)) return false;
        b->address[i] = case_address(cJSON_GetArrayItem(set, k));
    }
    return true;
}

static bool same_addresses(const struct lx_plan *plan, const int64_t *address)
{
    return memcmp(plan->answer.address, address, (size_t)plan->problem.count * sizeof *address) == 0;
}

/* The least cost of the sets, all of which the checker must accept; `*met` if the plan is one of them. */
static int64_t least_of_sets(struct cases *c, const struct base *b, const cJSON *sets, int64_t least,
                             bool *met)
{
    const cJSON *set;
    cJSON_ArrayForEach(set, sets)
    {
        if (!read_set(c, b, set)) continue;
        int64_t cost = expect_legal(c, &b->plan->problem, b->address, "expected");
        if (cost >= 0 && cost < least) least = cost;
        *met |= same_addresses(b->plan, b->address);
    }
    return least;
}

static int64_t least_of_named(struct cases *c, const struct base *b, const cJSON *by_name, int64_t least)
{
    if (!by_name || !case_addresses(c, &b->plan->problem, by_name, b->address)) return least;
    int64_t cost = expect_legal(c, &b->plan->problem, b->address, "expected");
    return cost >= 0 && cost < least ? cost : least;
}

/* "<=1" and the like. */
static bool compares(const char *rule, int64_t value)
{
    int64_t limit = strtoll(rule + strspn(rule, "<>="), NULL, 10);
    if (rule[0] == '<') return rule[1] == '=' ? value <= limit : value < limit;
    if (rule[0] == '>') return rule[1] == '=' ? value >= limit : value > limit;
    return value == limit;
}

static void expect_children(struct cases *c, const struct lx_plan *plan, const char *rule)
{
    const struct lx_problem *p = &plan->problem;
    for (int32_t i = 0; *rule && i < p->count; i++) {
        int64_t here = 0;
        for (int32_t k = 0; k < p->count; k++)
            for (int32_t e = 0; e < p->buffers[k].parent_count; e++)
                here += p->buffers[k].parents[e] == i && plan->answer.address[i] >= 0 &&
                        plan->answer.address[k] == plan->answer.address[i];
        case_expect(c, compares(rule, here), "expected %s children at the address of %s, got %lld", rule,
                    p->buffers[i].name, (long long)here);
    }
}

static void expect_placed(struct cases *c, const struct lx_plan *plan, const cJSON *wanted)
{
    int64_t placed = 0;
    for (int32_t i = 0; i < plan->problem.count; i++) placed += plan->answer.address[i] >= 0;
    case_expect(c, case_int(wanted, placed) == placed, "expected %lld placed buffers, got %lld",
                (long long)case_int(wanted, placed), (long long)placed);
}

/* What the case says of this very solver. Returns the cost that it must reach. */
static int64_t expect_named(struct cases *c, const struct base *b, const struct lx_solver *solver)
{
    const cJSON *sets = case_of_solver(b->sets, solver), *observed = case_of_solver(b->observed, solver);
    const cJSON *property = cjson_find(b->properties, "addresses");
    int64_t least = INT64_MAX;
    bool met = false, exact = solver_is_exact(solver);
    if (!sets && !observed) return least;
    least = least_of_sets(c, b, sets, least, &met);
    if (exact && sets) case_expect(c, met, "expected one of the listed sets of addresses, got another");
    least = least_of_named(c, b, property, least);
    if (exact && property) expect_addresses(c, &b->plan->problem, b->address, b->plan->answer.address);
    least = least_of_named(c, b, observed, least);
    if (exact && observed) expect_addresses(c, &b->plan->problem, b->address, b->plan->answer.address);
    expect_placed(c, b->plan, cjson_find(b->properties, "placed"));
    return exact ? INT64_MAX : least;
}

/* What a search for the best must reach: the best of what any solver is expected to find. */
static int64_t least_of_all(struct cases *c, const struct base *b)
{
    const cJSON *v;
    int64_t least = INT64_MAX;
    bool met = false;
    cJSON_ArrayForEach(v, b->sets) least = least_of_sets(c, b, v, least, &met);
    cJSON_ArrayForEach(v, b->observed) least = least_of_named(c, b, v, least);
    return least;
}

static void check_base(struct cases *c, const char *section, const cJSON *one)
{
    struct base b = {.order = cjson_find(one, "address_order"),
                     .properties = cjson_find(one, "properties"),
                     .observed = find_prefixed(one, "observed"),
                     .sets = cjson_find(one, "expected_addresses_one_of")};
    for (const struct lx_solver *const *s = next_solver(NULL); s; s = next_solver(s)) {
        case_begin(c, "%s/%s/%s", section, case_text(one, "test"), (*s)->name);
        struct lx_plan *plan = list_plan(c, one, *s);
        b.plan = plan;
        b.address = plan ? mem_alloc(((size_t)plan->problem.count + 1) * sizeof *b.address) : NULL;
        if (b.address) {
            int64_t limit = expect_named(c, &b, *s);
            if ((*s)->caps & LX_CAN_PROVE) limit = least_of_all(c, &b);
            case_expect(c, plan->answer.objective <= limit, "expected a spill cost of at most %lld, got %lld",
                        (long long)limit, (long long)plan->answer.objective);
            expect_children(c, plan, case_text(b.properties, "children_at_parent_base"));
        }
        mem_free(b.address);
        lx_plan_free(plan);
        case_end(c, one);
    }
}

static bool has_divisions(const cJSON *one)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, cjson_find(one, "buffers")) if (cjson_find(v, "core_divisions")) return true;
    return false;
}

/* Divisions and placement together; or placement only: what is said must hold then for every solver, since
 * there is room for no other good answer. */
static void check_joint(struct cases *c, const char *section, const cJSON *one)
{
    case_begin(c, "%s/%s", section, case_text(one, "test"));
    if (has_divisions(one)) {
        const char *skipped = check_divisions(c, one);
        if (skipped)
            case_skip(c, skipped);
        else
            case_end(c, one);
        return;
    }
    if (case_refusal(one))
        check_data_model(c, one);
    else
        for (const struct lx_solver *const *s = next_solver(NULL); s; s = next_solver(s)) {
            struct lx_plan *plan = list_plan(c, one, *s);
            if (plan) expect_sentence(c, case_text(one, "expect"), plan);
            lx_plan_free(plan);
        }
    case_end(c, one);
}

static void check_data(struct cases *c, const char *section, const cJSON *one)
{
    case_begin(c, "%s/%s", section, case_text(one, "test"));
    check_data_model(c, one);
    case_end(c, one);
}

static void expect_names_placed(struct cases *c, const struct lx_plan *plan, const cJSON *names)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, names)
    {
        int32_t i = cJSON_IsString(v) ? buffer_find(&plan->problem, v->valuestring) : -1;
        case_expect(c, i >= 0 && plan->answer.address[i] >= 0, "expected %s on chip in the optimum of %s",
                    cJSON_IsString(v) ? v->valuestring : "a buffer", plan->solver);
    }
}

/* `best`: the known optimum, or -1. */
static void expect_certified(struct cases *c, const cJSON *one, const struct lx_plan *plan,
                             const struct lx_solver *solver, int64_t best)
{
    int64_t bound = lx_bound(&plan->problem), got = plan->answer.objective,
            reached = case_int(cjson_find(one, "objective"), -1);
    char key[64];
    snprintf(key, sizeof key, "%.40s_objective", solver->name);
    int64_t own = case_int(cjson_find(one, key), got);
    case_expect(c, own == got, "expected an objective of %lld from %s, got %lld", (long long)own,
                solver->name, (long long)got);
    case_expect(c, bound <= got, "expected a bound of at most %lld (%s), got %lld", (long long)got,
                solver->name, (long long)bound);
    /* "objective" is said of a seed that needs no search: greedy reaches the bound itself. */
    if (reached >= 0) {
        case_expect(c, bound == reached, "expected a bound of %lld, got %lld", (long long)reached,
                    (long long)bound);
        if (strcmp(solver->name, "greedy") == 0)
            case_expect(c, got == reached, "expected greedy to reach %lld, got %lld", (long long)reached,
                        (long long)got);
    }
    if (best < 0) return;
    case_expect(c, bound <= best && plan->answer.bound <= best,
                "expected bounds of at most %lld, got %lld and %lld (%s)", (long long)best, (long long)bound,
                (long long)plan->answer.bound, solver->name);
    bool proves = (solver->caps & LX_CAN_PROVE) || plan->answer.status == LX_OPTIMAL;
    case_expect(c, proves ? got == best : got >= best, "expected %s the optimum %lld from %s, got %lld",
                proves ? "exactly" : "at least", (long long)best, solver->name, (long long)got);
    if (got == best) expect_names_placed(c, plan, cjson_find(one, "placed"));
}

/* Notes are not compared. They tell of a model in whole units of the alignment, where capacity is rounded
 * down and sizes are rounded up; ours counts bytes, so that a capacity below one unit, or not a multiple of
 * it, holds what fits into its bytes. What must hold in both:
 * legal answers, and no bound above any of them. */
static void check_certified(struct cases *c, const char *section, const cJSON *one)
{
    int64_t best = case_int(cjson_find(one, "optimal_objective"), case_int(cjson_find(one, "objective"), -1));
    int64_t least = INT64_MAX, proved = INT64_MIN;
    case_begin(c, "%s/%s", section, case_text(one, "test"));
    for (const struct lx_solver *const *s = next_solver(NULL); s; s = next_solver(s)) {
        struct lx_plan *plan = list_plan(c, one, *s);
        if (!plan) continue;
        expect_certified(c, one, plan, *s, best);
        if (plan->answer.objective < least) least = plan->answer.objective;
        if (plan->answer.bound > proved) proved = plan->answer.bound;
        int64_t cost = 0;
        for (int32_t i = 0; i < plan->problem.count; i++) cost += plan->problem.buffers[i].spill_cost;
        int64_t wanted = case_int(cjson_find(one, "spill_cost"), cost);
        case_expect(c, wanted == cost, "expected a spill cost of %lld, got %lld", (long long)wanted,
                    (long long)cost);
        lx_plan_free(plan);
    }
    case_expect(c, proved <= least,
                "expected every bound to hold for every answer, got a bound of %lld and an answer of %lld",
                (long long)proved, (long long)least);
    case_end(c, one);
}

static const struct section {
    const char *key;
    void (*check)(struct cases *c, const char *section, const cJSON *one);
} sections[] = {
    {"base_and_score_cases", check_base},
    {"data_model_cases", check_data},
    {"joint_and_cpsat_cases", check_joint},
    {"certified_seed_cases", check_certified},
};

enum { SECTION_COUNT = sizeof sections / sizeof *sections };

static bool fits(const cJSON *root)
{
    for (int i = 0; i < SECTION_COUNT; i++)
        if (cjson_find(root, sections[i].key)) return true;
    return false;
}

static void run(struct cases *c, const cJSON *root)
{
    for (int i = 0; i < SECTION_COUNT; i++) {
        const cJSON *list = cjson_find(root, sections[i].key), *one;
        if (cJSON_IsObject(list)) list = cjson_find(list, "cases"); /* a section may have a head */
        skip_missing_solvers(c, sections[i].key, list, "expected_addresses_one_of");
        cJSON_ArrayForEach(one, list) sections[i].check(c, sections[i].key, one);
    }
}

/* Menus and their pairs are walked as a whole, by what the captured problems share with their own tests. */
static const char *const remarks[] = {"core_divisions", "cd_parent_matches", NULL};

const struct case_form form_solver = {"solver", fits, run, remarks};
