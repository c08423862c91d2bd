/* What several forms need: reading values, solvers by name, plans and addresses. */
#include "cases/cases.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool has_any_key(const cJSON *object, const char *const *keys)
{
    for (; *keys; keys++)
        if (cjson_find(object, *keys)) return true;
    return false;
}

const char *case_text(const cJSON *object, const char *key)
{
    const cJSON *v = cjson_find(object, key);
    return cJSON_IsString(v) ? v->valuestring : "";
}

int64_t case_int(const cJSON *value, int64_t otherwise)
{
    return cJSON_IsNumber(value) && fabs(value->valuedouble) <= 0x1p53 ? (int64_t)value->valuedouble
                                                                       : otherwise;
}

bool case_true(const cJSON *object, const char *key)
{
    return cJSON_IsTrue(cjson_find(object, key));
}

static const char *after_word(const char *s, const char *word)
{
    size_t n = strlen(word);
    return strncmp(s, word, n) == 0 ? s + n + strspn(s + n, ": ") : NULL;
}

const char *case_refusal(const cJSON *one)
{
    static const char *const keys[] = {"error", "raises"}, *const words[] = {"raises", "rejected"};
    for (int i = 0; i < 2; i++) {
        const cJSON *v = cjson_find(one, keys[i]);
        if (v && !cJSON_IsFalse(v) && !cJSON_IsNull(v)) return case_text(one, keys[i]);
    }
    for (int i = 0; i < 2; i++) {
        const char *rest = after_word(case_text(one, "expect"), words[i]);
        if (rest) return rest;
    }
    return NULL;
}

void text_json_value(struct text *t, const cJSON *value)
{
    char *printed = cJSON_PrintUnformatted(value);
    if (!printed) memory_out();
    text_add(t, printed);
    cJSON_free(printed);
}

static const struct {
    const char *elsewhere, *ours;
} other_names[] = {{"simulated_annealing", "anneal"}};

enum { OTHER_NAMES = sizeof other_names / sizeof *other_names };

const struct lx_solver *case_solver(const char *name)
{
    for (int i = 0; i < OTHER_NAMES; i++)
        if (strcmp(other_names[i].elsewhere, name) == 0) name = other_names[i].ours;
    return lx_solver_find(name);
}

const cJSON *case_of_solver(const cJSON *by_solver, const struct lx_solver *solver)
{
    /* Not by case_find: what is said of the other solvers is not this case's. */
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(by_solver, solver->name);
    for (int i = 0; i < OTHER_NAMES && !found; i++)
        if (strcmp(other_names[i].ours, solver->name) == 0)
            found = cJSON_GetObjectItemCaseSensitive(by_solver, other_names[i].elsewhere);
    return found;
}

bool solver_is_exact(const struct lx_solver *solver)
{
    static const char *const names[] = {"greedy", "firstfit", "bestfit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(solver->name, names[i]) == 0) return true;
    return false;
}

/* The first case of the list that names the solver, so that one report suffices. */
static const cJSON *first_with(const cJSON *list, const char *key, const char *solver)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, list) if (cJSON_GetObjectItemCaseSensitive(
                                          cJSON_GetObjectItemCaseSensitive(one, key), solver)) return one;
    return NULL;
}

void skip_missing_solvers(struct cases *c, const char *section, const cJSON *list, const char *key)
{
    const cJSON *one, *named;
    cJSON_ArrayForEach(one, list)
    {
        const cJSON *by_solver = cjson_find(one, key);
        if (!cJSON_IsObject(by_solver)) continue;
        cJSON_ArrayForEach(named, by_solver)
        {
            if (case_solver(named->string) || first_with(list, key, named->string) != one) continue;
            case_begin(c, "%s/*/%s", section, named->string);
            case_skip(c, "not among the solvers");
        }
    }
}

struct lx_plan *case_plan(struct cases *c, const struct lx_graph *g, const struct lx_solver *solver)
{
    lx_status st;
    struct lx_plan_options how = {.solver = solver};
    struct lx_plan *plan = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!case_expect(c, plan != NULL, "expected a plan from %s, got the error: %s", solver->name, st.text))
        return NULL;
    bool sane = plan->answer.status != LX_ERROR;
    case_expect(c, sane, "expected an answer from %s, got: %s", solver->name, plan->answer.message);
    bool legal = lx_plan_check(plan, &st);
    case_expect(c, legal, "expected a legal plan from %s, but: %s", solver->name, st.text);
    if (sane && legal) return plan;
    lx_plan_free(plan);
    return NULL;
}

int32_t buffer_find(const struct lx_problem *p, const char *name)
{
    for (int32_t i = 0; i < p->count; i++)
        if (strcmp(p->buffers[i].name, name) == 0) return i;
    return -1;
}

int64_t case_address(const cJSON *value)
{
    return case_int(value, LX_OFF_CHIP);
}

bool case_addresses(struct cases *c, const struct lx_problem *p, const cJSON *by_name, int64_t *out)
{
    for (int32_t i = 0; i < p->count; i++) out[i] = LX_OFF_CHIP;
    const cJSON *v;
    cJSON_ArrayForEach(v, by_name)
    {
        const char *name = v->string ? v->string : "";
        int32_t i = buffer_find(p, name);
        if (!case_expect(c, i >= 0, "expected an address for %s, but there is no such buffer", name))
            return false;
        out[i] = case_address(v);
    }
    return true;
}

void expect_addresses(struct cases *c, const struct lx_problem *p, const int64_t *wanted, const int64_t *got)
{
    for (int32_t i = 0; i < p->count; i++)
        case_expect(c, wanted[i] == got[i], "expected %s at %lld, got %lld (-1: off chip)",
                    p->buffers[i].name, (long long)wanted[i], (long long)got[i]);
}

int64_t expect_legal(struct cases *c, const struct lx_problem *p, const int64_t *address, const char *whose)
{
    lx_status st;
    int64_t objective = -1;
    bool legal = lx_problem_check(p, address, &objective, &st);
    case_expect(c, legal, "expected the checker to accept the %s addresses, but: %s", whose, st.text);
    return legal ? objective : -1;
}
