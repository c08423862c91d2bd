/* The form of placement problems of the second version: tiny lists with optima by enumeration, infeasible and invalid
 * ones, and answers for the checker.
 *
 * A case is written as a pattern of ours and read back, so that the reader's rules are tested with it. Every solver
 * that takes a problem is asked: its answer must be legal and no better than the optimum; one that proves must prove
 * it. */
#include "cases/cases.h"
#include "plan/question.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BUFFERS = 64 };

static void look_at_all(const cJSON *value)
{
    const cJSON *v;
    case_looked(value);
    cJSON_ArrayForEach(v, value) look_at_all(v);
}

/* The pattern of a case, or NULL: `st` says why. */
static const struct lx_graph *read_case(const cJSON *one, lx_status *st)
{
    const cJSON *problem = cjson_find(one, "problem");
    cJSON *pattern = cJSON_Duplicate(problem, 1);
    look_at_all(problem);
    cJSON_AddNumberToObject(pattern, "lxplan", 1);
    cJSON_AddStringToObject(pattern, "kind", "pattern");
    cJSON_AddStringToObject(pattern, "name", "case");
    char *text = cJSON_Print(pattern);
    const struct lx_graph *g = text ? lx_graph_of_text("case", text, strlen(text), st) : NULL;
    cJSON_free(text);
    cJSON_Delete(pattern);
    return g;
}

struct expected {
    const char *status, *reason;
    int64_t objective;
};

static void expect_invalid(struct cases *c, const struct lx_graph *g, const struct expected *e,
                           const lx_status *st)
{
    if (!case_expect(c, g == NULL, "expected to be refused for its %s, but it was read", e->reason)) return;
    case_expect(c, st->code != LX_E_INTERNAL && strstr(st->text, e->reason),
                "refused, but not for its %s: %s", e->reason, st->text);
}

static void expect_answer(struct cases *c, const struct lx_problem *p, const struct expected *e,
                          const struct lx_solver *s, const struct lx_answer *a)
{
    int64_t value = 0;
    enum lx_rule rule;
    lx_status why = {0};
    bool legal = lx_check_places(p, a->pool, a->address, &value, &rule, &why);
    bool infeasible = strcmp(e->status, "infeasible") == 0, proves = s->caps & LX_CAN_PROVE;
    const char *said = lx_verdict_word(a->status);
    case_expect(c, a->status != LX_ERROR, "%s: %s", s->name, a->message);
    if (infeasible) {
        case_expect(c, !legal && (a->status == LX_INFEASIBLE || !proves), "%s: %s, but it is infeasible",
                    s->name, said);
        return;
    }
    case_expect(c, a->status != LX_INFEASIBLE, "%s: infeasible, but the optimum is %lld", s->name,
                (long long)e->objective);
    case_expect(c, legal || (a->status == LX_LIMIT && !proves), "%s: %s: %s", s->name, said, why.text);
    if (!legal) return;
    bool best = value == e->objective;
    case_expect(c, best || (!proves && value > e->objective && a->status != LX_OPTIMAL),
                "%s: %s with %lld, expected %lld", s->name, said, (long long)value, (long long)e->objective);
    case_expect(c, !proves || a->status == LX_OPTIMAL, "%s: %s, but %lld is the optimum", s->name, said,
                (long long)value);
}

static void ask_solvers(struct cases *c, const struct lx_problem *p, const struct expected *e)
{
    int64_t address[MOST_BUFFERS];
    int32_t pool[MOST_BUFFERS];
    int asked = 0;
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        struct lx_answer a = {.address = address, .pool = pool};
        struct lx_run run = {0};
        lx_status st = {0};
        if (lx_problem_solve(p, *s, &run, &a, &st)) {
            asked++;
            expect_answer(c, p, e, *s, &a);
        } else
            case_expect(c, st.code == LX_E_USAGE, "%s: %s", (*s)->name, st.text);
    }
    case_expect(c, asked > 0, "no solver takes this problem");
}

/* One of the rules that are broken is the one that the checker names. */
static bool names_rule(const cJSON *rules, enum lx_rule rule)
{
    bool found = false;
    const cJSON *v;
    cJSON_ArrayForEach(v, rules)
    {
        case_looked(v);
        found |= cJSON_IsString(v) && strcmp(v->valuestring, lx_rule_word(rule)) == 0;
    }
    return found;
}

static void check_answer(struct cases *c, const struct lx_problem *p, const cJSON *check)
{
    int64_t address[MOST_BUFFERS], value = 0;
    int32_t pool[MOST_BUFFERS] = {0};
    const cJSON *place = cjson_find(check, "place"), *v;
    int32_t n = 0;
    cJSON_ArrayForEach(v, place)
    {
        bool off = !cJSON_IsArray(v);
        look_at_all(v);
        if (n >= MOST_BUFFERS) break;
        pool[n] = off ? 0 : (int32_t)case_int(cJSON_GetArrayItem(v, 0), 0);
        address[n++] = off ? LX_OFF_CHIP : case_int(cJSON_GetArrayItem(v, 1), -2);
    }
    if (!case_expect(c, n == p->count, "%d places for %d buffers", (int)n, (int)p->count)) return;
    enum lx_rule rule;
    lx_status why = {0};
    bool wanted = case_true(check, "legal"), legal = lx_check_places(p, pool, address, &value, &rule, &why);
    int64_t worth = case_int(cjson_find(check, "objective"), -1);
    if (!case_expect(c, legal == wanted, "the checker says %s: %s", legal ? "legal" : "illegal",
                     legal ? "" : why.text))
        return;
    if (legal)
        case_expect(c, value == worth, "the checker says %lld, expected %lld", (long long)value,
                    (long long)worth);
    else
        case_expect(c, names_rule(cjson_find(check, "rules"), rule), "the checker names %s: %s",
                    lx_rule_word(rule), why.text);
}

static void check_case(struct cases *c, const cJSON *one)
{
    const cJSON *expect = cjson_find(one, "expect"), *v;
    struct expected e = {case_text(expect, "status"), case_text(expect, "reason"),
                         case_int(cjson_find(expect, "objective"), 0)};
    lx_status st = {0};
    const struct lx_graph *g = read_case(one, &st);
    struct lx_plan_options options = {0};
    struct lx_question *q = NULL;
    if (g) q = lx_problem_of(g, &options, &st);
    case_looked(cjson_find(one, "kinds"));
    if (strcmp(e.status, "invalid") == 0)
        expect_invalid(c, q ? g : NULL, &e, &st);
    else if (case_expect(c, q != NULL && g->list->buffer_count <= MOST_BUFFERS, "refused: %s", st.text)) {
        ask_solvers(c, &q->problem, &e);
        cJSON_ArrayForEach(v, cjson_find(one, "checks")) check_answer(c, &q->problem, v);
    }
    lx_question_free(q);
    lx_graph_free(g);
}

static bool fits(const cJSON *root)
{
    return strcmp(case_text(root, "form"), "constraints-v2") == 0;
}

static void run(struct cases *c, const cJSON *root)
{
    const cJSON *one;
    look_at_all(cjson_find(root, "about"));
    cJSON_ArrayForEach(one, cjson_find(root, "cases"))
    {
        case_begin(c, "%s", case_text(one, "name"));
        check_case(c, one);
        case_end(c, one);
    }
}

static const char *const remarks[] = {"what", "kinds", "about", NULL};

const struct case_form form_constraints = {"constraints", fits, run, remarks};
