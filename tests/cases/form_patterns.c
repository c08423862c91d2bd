/* The form of target patterns: operations and buffers, who reaches the target traffic, and reference
 * addresses.
 *
 * Each pattern gives one case for what is derived from its operations (lives, roles, in-place edges), one a
 * solver and one for the allocation that the pattern's author calls good. */
#include "cases/cases.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const char *const sections[] = {"patterns", "patterns_earlier_limit", NULL};

struct pattern {
    const char *section, *name;
    const cJSON *json, *operations, *buffers;
    int64_t target, limit;
};

static const cJSON *named(const cJSON *list, const char *name)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, list) if (strcmp(case_text(v, "name"), name) == 0) return v;
    return NULL;
}

static int64_t size_of(const struct pattern *p, const cJSON *name)
{
    return cJSON_IsString(name) ? case_int(cjson_find(named(p->buffers, name->valuestring), "size"), 0) : 0;
}

/* One input of the size of the output: a copy. What else an op does, the case does not tell. */
static const char *kind_of(const struct pattern *p, const cJSON *operation)
{
    const cJSON *inputs = cjson_find(operation, "inputs"), *output = cjson_find(operation, "output");
    bool copy =
        cJSON_GetArraySize(inputs) == 1 && size_of(p, cJSON_GetArrayItem(inputs, 0)) == size_of(p, output);
    return copy ? "clone" : "generic";
}

/* The pattern in our own form. Roles are left for the reader to find out: the case has what they must be. */
static const struct lx_graph *to_graph(const struct pattern *p, lx_status *st)
{
    struct text t = {0};
    const cJSON *v;
    int64_t alignment = case_int(cjson_find(p->json, "alignment"), 128);
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": ");
    text_json_string(&t, p->name);
    text_format(&t, ",\n\"device\": {\"preset\": \"spyre\", \"stick_bytes\": %lld}", (long long)alignment);
    if (p->target >= 0) text_format(&t, ",\n\"target_hbm_bytes\": %lld", (long long)p->target);
    text_add(&t, ",\n\"tensors\": [");
    cJSON_ArrayForEach(v, p->buffers)
    {
        text_add(&t, v == p->buffers->child ? "\n{\"name\": " : ",\n{\"name\": ");
        text_json_string(&t, case_text(v, "name"));
        text_format(&t, ", \"bytes\": %lld}", (long long)case_int(cjson_find(v, "size"), -1));
    }
    text_add(&t, "],\n\"ops\": [");
    cJSON_ArrayForEach(v, p->operations)
    {
        text_add(&t, v == p->operations->child ? "\n{\"name\": " : ",\n{\"name\": ");
        text_json_string(&t, case_text(v, "name"));
        text_format(&t, ", \"kind\": \"%s\", \"inputs\": ", kind_of(p, v));
        if (cjson_find(v, "inputs"))
            text_json_value(&t, cjson_find(v, "inputs"));
        else
            text_add(&t, "[]");
        text_add(&t, ", \"output\": ");
        text_json_string(&t, case_text(v, "output"));
        text_add(&t, "}");
    }
    text_add(&t, "]}\n");
    const struct lx_graph *g = lx_graph_of_text(p->name, t.at, t.length, st);
    text_free(&t);
    if (!g || p->limit < 0) return g;
    const struct lx_graph *sized = lx_graph_with_capacity(g, p->limit, st);
    lx_graph_free(g);
    return sized;
}

static struct lx_plan *plan_with(struct cases *c, const struct pattern *p, const struct lx_solver *solver)
{
    lx_status st;
    const struct lx_graph *g = to_graph(p, &st);
    if (!case_expect(c, g != NULL, "expected a pattern that can be read, but line %d: %s", st.line, st.text))
        return NULL;
    return case_plan(c, g, solver);
}

/* Counted from the operations of the case, not by our own code. */
static int64_t traffic(const struct pattern *p, const struct lx_problem *problem, const int64_t *address)
{
    int64_t bytes = 0;
    const cJSON *op, *in;
    cJSON_ArrayForEach(op, p->operations)
    {
        const cJSON *output = cjson_find(op, "output");
        int32_t out = buffer_find(problem, case_text(op, "output"));
        if (out >= 0 && address[out] < 0) bytes += size_of(p, output);
        cJSON_ArrayForEach(in, cjson_find(op, "inputs"))
        {
            int32_t i = cJSON_IsString(in) ? buffer_find(problem, in->valuestring) : -1;
            if (i >= 0 && address[i] < 0) bytes += size_of(p, in);
        }
    }
    return bytes;
}

static void expect_uses(struct cases *c, const cJSON *uses, const struct lx_buffer *b)
{
    int32_t n = (int32_t)cJSON_GetArraySize(uses), i = 0;
    if (!case_expect(c, n == b->use_count, "expected %s to have %d uses, got %d", b->name, n, b->use_count))
        return;
    const cJSON *v;
    cJSON_ArrayForEach(v, uses)
    {
        case_expect(c, case_int(v, -1) == b->uses[i], "expected use %d of %s at %lld, got %lld", i, b->name,
                    (long long)case_int(v, -1), (long long)b->uses[i]);
        i++;
    }
}

static void expect_parents(struct cases *c, const cJSON *parents, const struct lx_problem *problem,
                           const struct lx_buffer *b)
{
    int32_t n = (int32_t)cJSON_GetArraySize(parents), k = 0;
    if (!case_expect(c, n == b->parent_count, "expected %s to have %d in-place parents, got %d", b->name, n,
                     b->parent_count))
        return;
    const cJSON *v;
    cJSON_ArrayForEach(v, parents)
    {
        const char *wanted = cJSON_IsString(v) ? v->valuestring : "";
        const char *got = problem->buffers[b->parents[k++]].name;
        case_expect(c, strcmp(wanted, got) == 0, "expected %s to have the in-place parent %s, got %s",
                    b->name, wanted, got);
    }
}

/* A key that the case leaves out is not compared. */
static void expect_number(struct cases *c, const cJSON *object, const char *key, const char *of, int64_t got)
{
    int64_t wanted = case_int(cjson_find(object, key), got);
    case_expect(c, wanted == got, "expected %s of %s to be %lld, got %lld", key, of, (long long)wanted,
                (long long)got);
}

static void expect_buffer(struct cases *c, const cJSON *wanted, const struct lx_plan *plan, int32_t i)
{
    const struct lx_buffer *b = &plan->problem.buffers[i];
    const char *role = lx_role_word(plan->graph->tensors[i].role);
    const cJSON *v;
    expect_number(c, wanted, "size", b->name, b->size);
    expect_number(c, wanted, "start", b->name, b->start);
    expect_number(c, wanted, "end", b->name, b->end);
    if ((v = cjson_find(wanted, "uses"))) expect_uses(c, v, b);
    if (cjson_find(wanted, "first_use_is_read"))
        case_expect(c, case_true(wanted, "first_use_is_read") == b->first_use_is_read,
                    "expected the first use of %s to be a %s", b->name,
                    b->first_use_is_read ? "write" : "read");
    if (cjson_find(wanted, "role"))
        case_expect(c, strcmp(case_text(wanted, "role"), role) == 0,
                    "expected the role of %s to be %s, got %s", b->name, case_text(wanted, "role"), role);
    if (cjson_find(wanted, "planned"))
        case_expect(c, case_true(wanted, "planned") == !b->reason, "expected %s to be %s, but it is %s",
                    b->name, b->reason ? "planned" : "barred", b->reason ? b->reason : "planned");
    /* Edges into a buffer that is barred anyway are listed in the case, but have no meaning for a problem. */
    if (!b->reason && (v = cjson_find(wanted, "in_place_parents"))) expect_parents(c, v, &plan->problem, b);
}

/* The sum of the sizes of what may be placed, at its largest. */
static int64_t peak_of(const struct lx_problem *p)
{
    int64_t peak = 0;
    for (int32_t i = 0; i < p->count; i++) {
        int64_t live = 0, tick = p->buffers[i].start;
        for (int32_t k = 0; k < p->count; k++) {
            const struct lx_buffer *b = &p->buffers[k];
            if (!b->reason && b->start <= tick && tick < b->end) live += b->size;
        }
        peak = max_i64(peak, live);
    }
    return peak;
}

static void check_derived(struct cases *c, const struct pattern *p)
{
    case_begin(c, "%s/%s/buffers", p->section, p->name);
    struct lx_plan *plan = plan_with(c, p, lx_solvers()[0]);
    if (plan) {
        int64_t planned = 0;
        const cJSON *v;
        for (int32_t i = 0; i < plan->problem.count; i++) planned += !plan->problem.buffers[i].reason;
        cJSON_ArrayForEach(v, p->buffers)
        {
            int32_t i = buffer_find(&plan->problem, case_text(v, "name"));
            if (case_expect(c, i >= 0, "expected a buffer %s", case_text(v, "name")))
                expect_buffer(c, v, plan, i);
        }
        expect_number(c, p->json, "num_ops", "the graph", plan->graph->op_count);
        expect_number(c, p->json, "num_planned", "the problem", planned);
        expect_number(c, p->json, "peak_live_bytes_planned", "the problem", peak_of(&plan->problem));
    }
    lx_plan_free(plan);
    case_end(c, NULL);
}

static const char *expected_of(const struct pattern *p, const struct lx_solver *solver)
{
    const cJSON *v = case_of_solver(cjson_find(p->json, "expected"), solver);
    return cJSON_IsString(v) ? v->valuestring : "";
}

/* Where first-fit or best-fit reaches the target, a search for the best cannot miss it. */
static bool must_pass(const struct pattern *p, const struct lx_solver *solver)
{
    const cJSON *expected = cjson_find(p->json, "expected");
    return (solver->caps & LX_CAN_PROVE) && (strcmp(case_text(expected, "firstfit"), "pass") == 0 ||
                                             strcmp(case_text(expected, "bestfit"), "pass") == 0);
}

static void expect_reference(struct cases *c, const struct pattern *p, const struct lx_plan *plan,
                             const struct lx_solver *solver, const cJSON *reference)
{
    const struct lx_problem *problem = &plan->problem;
    int64_t *wanted = mem_alloc(((size_t)problem->count + 1) * sizeof *wanted);
    const cJSON *addresses = cjson_find(reference, "addresses");
    int64_t spill = case_int(cjson_find(reference, "spill_objective"), -1);
    if (wanted && addresses && case_addresses(c, problem, addresses, wanted)) {
        int64_t cost = expect_legal(c, problem, wanted, "reference");
        if (spill >= 0 && cost >= 0)
            case_expect(c, cost == spill, "expected the reference addresses to spill %lld bytes, got %lld",
                        (long long)spill, (long long)cost);
        if (cjson_find(reference, "hbm_bytes"))
            expect_number(c, reference, "hbm_bytes", "the reference addresses", traffic(p, problem, wanted));
        if (solver_is_exact(solver)) expect_addresses(c, problem, wanted, plan->answer.address);
    }
    if (solver_is_exact(solver)) {
        expect_number(c, reference, "hbm_bytes", "the plan", plan->figures.hbm_bytes);
        expect_number(c, reference, "spill_objective", "the plan", plan->answer.objective);
    } else if (spill >= 0)
        case_expect(c, plan->answer.objective <= spill, "expected at most %lld bytes of spill, got %lld",
                    (long long)spill, (long long)plan->answer.objective);
    mem_free(wanted);
}

static void check_solver(struct cases *c, const struct pattern *p, const struct lx_solver *solver)
{
    case_begin(c, "%s/%s/%s", p->section, p->name, solver->name);
    struct lx_plan *plan = plan_with(c, p, solver);
    if (plan) {
        const char *expected = must_pass(p, solver) ? "pass" : expected_of(p, solver);
        const char *got = lx_plan_meets_target(plan) ? "pass" : "fail";
        const cJSON *reference = case_of_solver(cjson_find(p->json, "reference_results"), solver), *v;
        int64_t counted = traffic(p, &plan->problem, plan->answer.address);
        case_expect(c, counted == plan->figures.hbm_bytes,
                    "expected the plan to say %lld bytes of HBM traffic, got %lld", (long long)counted,
                    (long long)plan->figures.hbm_bytes);
        if (*expected)
            case_expect(c, strcmp(expected, got) == 0, "expected %s (at most %lld bytes), got %s with %lld",
                        expected, (long long)p->target, got, (long long)plan->figures.hbm_bytes);
        /* A bound holds for every answer, so for the references of the others as well. */
        cJSON_ArrayForEach(v, cjson_find(p->json, "reference_results"))
        {
            int64_t spill = case_int(cjson_find(v, "spill_objective"), INT64_MAX);
            case_expect(c, plan->answer.bound <= spill,
                        "expected a bound of at most %lld, which %s reaches; got %lld", (long long)spill,
                        v->string, (long long)plan->answer.bound);
        }
        if (reference) expect_reference(c, p, plan, solver, reference);
    }
    lx_plan_free(plan);
    case_end(c, NULL);
}

/* A tensor that a later op writes without reading it is loaded again: the good allocation threw it out in
 * between. So does one with several addresses. Neither can be said with one address for a whole life. */
static bool shows_eviction(const struct pattern *p, const cJSON *good)
{
    const cJSON *v, *earlier, *op, *in;
    cJSON_ArrayForEach(v, good) if (cJSON_IsArray(v) && cJSON_GetArraySize(v) != 1) return true;
    cJSON_ArrayForEach(op, p->operations)
    {
        bool reads = false, written = false;
        cJSON_ArrayForEach(in, cjson_find(op, "inputs")) reads |=
            cJSON_IsString(in) && strcmp(in->valuestring, case_text(op, "output")) == 0;
        for (earlier = p->operations->child; earlier != op; earlier = earlier->next)
            written |= strcmp(case_text(earlier, "output"), case_text(op, "output")) == 0;
        if (written && !reads) return true;
    }
    return false;
}

static void check_good(struct cases *c, const struct pattern *p)
{
    const cJSON *good = cjson_find(p->json, "good_allocation_addresses"), *v;
    if (!cJSON_IsObject(good) || shows_eviction(p, good)) return;
    case_begin(c, "%s/%s/good_allocation", p->section, p->name);
    struct lx_plan *plan = plan_with(c, p, lx_solvers()[0]);
    int64_t *address = plan ? mem_alloc(((size_t)plan->problem.count + 1) * sizeof *address) : NULL;
    if (address) {
        for (int32_t i = 0; i < plan->problem.count; i++) address[i] = LX_OFF_CHIP;
        cJSON_ArrayForEach(v, good)
        {
            int32_t i = buffer_find(&plan->problem, v->string);
            if (case_expect(c, i >= 0, "expected a buffer %s", v->string))
                address[i] = case_address(cJSON_IsArray(v) ? v->child : v);
        }
        expect_legal(c, &plan->problem, address, "good");
        expect_number(c, p->json, "good_hbm_bytes", "the good allocation",
                      traffic(p, &plan->problem, address));
    }
    mem_free(address);
    lx_plan_free(plan);
    case_end(c, NULL);
}

static bool fits(const cJSON *root)
{
    return has_any_key(root, sections);
}

static void run(struct cases *c, const cJSON *root)
{
    for (const char *const *s = sections; *s; s++) {
        const cJSON *list = cjson_find(root, *s), *v;
        skip_missing_solvers(c, *s, list, "expected");
        cJSON_ArrayForEach(v, list)
        {
            struct pattern p = {.section = *s, .name = case_text(v, "name"), .json = v};
            p.operations = cjson_find(v, "operations");
            p.buffers = cjson_find(v, "buffers");
            p.target = case_int(cjson_find(v, "good_hbm_bytes"), -1);
            p.limit = case_int(cjson_find(v, "lx_limit"), -1);
            check_derived(c, &p);
            for (const struct lx_solver *const *solver = lx_solvers(); *solver; solver++)
                if ((*solver)->caps & LX_CAN_SPILL) check_solver(c, &p, *solver);
            check_good(c, &p);
        }
    }
}

static const char *const remarks[] = {NULL};

const struct case_form form_patterns = {"patterns", fits, run, remarks};
