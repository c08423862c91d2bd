/* Buffer lists of the solver form as patterns of ours, and sentences about plans of them. */
#include "cases/solver_form.h"
#include "base/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The capacities that the cases mean when they name none: the second where addresses are expected. */
enum { USUAL_CAPACITY = 512, ADDRESS_CAPACITY = 10 };

void list_open(struct list *l, int64_t capacity, int64_t alignment)
{
    *l = (struct list){0};
    text_add(&l->text, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"case\",\n");
    text_format(&l->text, "\"capacity\": %lld, \"alignment\": %lld, \"buffers\": [", (long long)capacity,
                (long long)alignment);
}

static void add_value(struct text *t, const char *key, const cJSON *value)
{
    if (!value) return;
    text_format(t, ", \"%s\": ", key);
    text_json_value(t, value);
}

void list_add(struct list *l, const char *name, const cJSON *buffer)
{
    struct text *t = &l->text;
    const cJSON *uses = cjson_find(buffer, "uses"), *end = cjson_find(buffer, "lifetime_end_override");
    const char *own = case_text(buffer, "name");
    text_add(t, l->count++ ? ",\n{\"name\": " : "\n{\"name\": ");
    text_json_string(t, *own ? own : name);
    if (!cjson_find(buffer, "size")) text_add(t, ", \"size\": 1");
    add_value(t, "size", cjson_find(buffer, "size"));
    add_value(t, "uses", uses);
    add_value(t, "end", end);
    /* Lives follow from the uses; a buffer without any still needs one, and the case does not care which. */
    if (cJSON_GetArraySize(uses) == 0) text_add(t, end ? ", \"start\": 0" : ", \"start\": 0, \"end\": 1");
    add_value(t, "first_use_is_read", cjson_find(buffer, "first_use_is_read"));
    add_value(t, "in_place_parents", cjson_find(buffer, "in_place_parents"));
    add_value(t, "reason", cjson_find(buffer, "residency_reason"));
    text_add(t, "}");
}

const struct lx_graph *list_close(struct list *l, lx_status *st)
{
    text_add(&l->text, "]}\n");
    const struct lx_graph *g = lx_graph_of_text("case", l->text.at, l->text.length, st);
    text_free(&l->text);
    return g;
}

const struct lx_graph *list_graph(const cJSON *one, lx_status *st)
{
    struct list l;
    int usual = cjson_find(one, "expected_addresses_one_of") ? ADDRESS_CAPACITY : USUAL_CAPACITY;
    list_open(&l, case_int(cjson_find(one, "size"), usual), case_int(cjson_find(one, "alignment"), 1));
    const cJSON *v;
    cJSON_ArrayForEach(v, cjson_find(one, "buffers")) list_add(&l, "", v);
    return list_close(&l, st);
}

struct lx_problem list_problem(const struct lx_graph *g)
{
    return (struct lx_problem){.objective = g->list->objective,
                               .capacity = g->list->capacity,
                               .alignment = g->list->alignment,
                               .count = g->list->buffer_count,
                               .buffers = g->list->buffers};
}

struct lx_plan *list_plan(struct cases *c, const cJSON *one, const struct lx_solver *solver)
{
    lx_status st;
    const struct lx_graph *g = list_graph(one, &st);
    if (!case_expect(c, g != NULL, "expected a list that can be read, but: %s", st.text)) return NULL;
    struct lx_plan *plan = case_plan(c, g, solver);
    if (!plan) return NULL;
    const cJSON *v;
    int32_t i = 0;
    cJSON_ArrayForEach(v, cjson_find(one, "buffers"))
    {
        const struct lx_buffer *b = &plan->problem.buffers[i++];
        int64_t start = case_int(cjson_find(v, "start"), b->start),
                end = case_int(cjson_find(v, "end"), b->end);
        case_expect(c, start == b->start && end == b->end,
                    "expected %s to live on [%lld, %lld), got [%lld, %lld)", b->name, (long long)start,
                    (long long)end, (long long)b->start, (long long)b->end);
    }
    return plan;
}

const struct lx_solver *const *next_solver(const struct lx_solver *const *at)
{
    at = at ? at + 1 : lx_solvers();
    while (*at && !((*at)->caps & LX_CAN_SPILL)) at++;
    return *at ? at : NULL;
}

/* The rest of a string after a word, if it begins with it, else NULL. */
static const char *after(const char *s, const char *word)
{
    size_t n = strlen(word);
    return strncmp(s, word, n) == 0 ? s + n : NULL;
}

static bool expect_same_address(struct cases *c, const struct lx_plan *plan)
{
    for (int32_t i = 0; i < plan->problem.count; i++) {
        int64_t first = plan->answer.address[0], at = plan->answer.address[i];
        case_expect(c, at >= 0 && at == first,
                    "expected all at one address, got %s at %lld and %s at %lld (%s)",
                    plan->problem.buffers[0].name, (long long)first, plan->problem.buffers[i].name,
                    (long long)at, plan->solver);
    }
    return true;
}

/* `how`: "", " with given reason", " with capacity reason" or " with reason containing \"TEXT\"". */
static bool expect_spilled(struct cases *c, const struct lx_plan *plan, int32_t i, const char *how)
{
    const struct lx_buffer *b = &plan->problem.buffers[i];
    const char *reason = plan->reason[i] ? plan->reason[i] : "",
               *quoted = after(how, " with reason containing \"");
    if (!case_expect(c, plan->answer.address[i] < 0, "expected %s off chip, got address %lld (%s)", b->name,
                     (long long)plan->answer.address[i], plan->solver))
        return true;
    if (!*how) return true;
    char wanted[200] = "";
    if (strcmp(how, " with given reason") == 0 && b->reason)
        snprintf(wanted, sizeof wanted, "%s", b->reason);
    else if (strcmp(how, " with capacity reason") == 0)
        snprintf(wanted, sizeof wanted, "too large");
    else if (quoted)
        snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(quoted, "\""), quoted);
    else
        return false;
    case_expect(c, strstr(reason, wanted) != NULL,
                "expected %s off chip with a reason that has \"%s\", got \"%s\"", b->name, wanted, reason);
    return true;
}

enum said said_place(const char *clause)
{
    static const char *const on[] = {" placed", " resident"};
    static const char *const off[] = {" not placed", " not resident", " spilled", " off chip"};
    size_t n = strlen(clause);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (strstr(clause, off[i])) return SAID_OFF;
    /* "a placed, b not": the verb of the clause before, denied. */
    if (n > 4 && strcmp(clause + n - 4, " not") == 0) return SAID_OFF;
    for (size_t i = 0; i < sizeof on / sizeof *on; i++)
        if (strstr(clause, on[i])) return SAID_ON;
    return strncmp(clause, "spilled", 7) == 0 ? SAID_OFF : SAID_NOTHING;
}

static void expect_on(struct cases *c, const struct lx_plan *plan, int32_t i)
{
    case_expect(c, plan->answer.address[i] >= 0, "expected %s on chip, but %s left it off: %s",
                plan->problem.buffers[i].name, plan->solver, plan->reason[i] ? plan->reason[i] : "");
}

/* `rest`: the clause behind the buffer's name. */
static bool expect_of_buffer(struct cases *c, const struct lx_plan *plan, int32_t i, const char *rest)
{
    const char *how = after(rest, " spilled");
    if (how) return expect_spilled(c, plan, i, how);
    if (strcmp(rest, " placed") == 0 || strcmp(rest, " resident") == 0)
        expect_on(c, plan, i);
    else if (strcmp(rest, " not") == 0 || strcmp(rest, " not placed") == 0 ||
             strcmp(rest, " not resident") == 0 || strcmp(rest, " off chip") == 0)
        return expect_spilled(c, plan, i, "");
    else
        return false;
    return true;
}

static bool expect_clause(struct cases *c, const char *clause, const struct lx_plan *plan)
{
    if (strcmp(clause, "same address") == 0) return expect_same_address(c, plan);
    for (int32_t i = 0; i < plan->problem.count; i++) {
        const char *rest = after(clause, plan->problem.buffers[i].name);
        if (rest && expect_of_buffer(c, plan, i, rest)) return true;
    }
    return false;
}

bool next_clause(const char **sentence, char *clause, size_t size)
{
    const char *s = *sentence + strspn(*sentence, ";, ");
    size_t n = 0;
    bool quoted = false;
    for (; s[n]; n++) {
        quoted ^= s[n] == '"';
        if (!quoted && (s[n] == ';' || (s[n] == ',' && s[n + 1] == ' '))) break;
    }
    snprintf(clause, size, "%.*s", (int)n, s);
    *sentence = s + n;
    return n > 0;
}

void expect_sentence(struct cases *c, const char *sentence, const struct lx_plan *plan)
{
    char clause[300];
    case_expect(c, *sentence != 0, "it expects nothing");
    while (next_clause(&sentence, clause, sizeof clause))
        case_expect(c, expect_clause(c, clause, plan), "data that is not understood: \"%s\"", clause);
}
