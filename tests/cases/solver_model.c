/* Cases of the data model. Each has its own shape; its keys tell which. */
#include "cases/solver_form.h"
#include "base/memory.h"
#include "common/gap_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often a plan is made where it must be the same each time. */
enum { REPEATS = 5 };

static void expect_validity(struct cases *c, const struct lx_problem *p, bool valid, const char *what)
{
    lx_status st = {0};
    bool got = lx_problem_validate(p, &st);
    case_expect(c, got == valid, "expected %s to be %s, but %s", what, valid ? "accepted" : "rejected",
                got ? "it was accepted" : st.text);
    if (!got)
        case_expect(c, st.code == LX_E_MODEL, "expected the error \"model\", got \"%s\"",
                    lx_code_word(st.code));
}

static void expect_uses(struct cases *c, const cJSON *lists, bool valid)
{
    const cJSON *uses;
    cJSON_ArrayForEach(uses, lists)
    {
        lx_status st;
        struct list l;
        cJSON *buffer = cJSON_CreateObject();
        if (buffer) cJSON_AddItemToObject(buffer, "uses", cJSON_Duplicate(uses, true));
        list_open(&l, 10, 1);
        list_add(&l, "x", buffer);
        const struct lx_graph *g = list_close(&l, &st);
        cJSON_Delete(buffer);
        char *shown = cJSON_PrintUnformatted(uses);
        /* The reader refuses wrong uses already. */
        bool refused = !g && !valid && strstr(st.text, "uses");
        if (!refused && case_expect(c, g != NULL, "expected a list that can be read, but: %s", st.text)) {
            struct lx_problem p = list_problem(g);
            expect_validity(c, &p, valid, shown ? shown : "the uses");
        }
        cJSON_free(shown);
        lx_graph_free(g);
    }
}

static void check_uses(struct cases *c, const cJSON *one)
{
    expect_uses(c, cjson_find(one, "uses_rejected"), false);
    expect_uses(c, cjson_find(one, "uses_accepted"), true);
}

/* The life of one buffer, and whether another is live with it: then both cannot stand at address 0. */
static void check_life(struct cases *c, const cJSON *one)
{
    lx_status st;
    struct list l;
    const cJSON *other = cjson_find(one, "overlaps"), *end = cjson_find(one, "end"),
                *reads = cjson_find(one, "read_count");
    list_open(&l, 10, 1);
    list_add(&l, "x", one);
    if (other) list_add(&l, "y", other);
    const struct lx_graph *g = list_close(&l, &st);
    if (!case_expect(c, g != NULL, "expected a list that can be read, but: %s", st.text)) return;
    struct lx_problem p = list_problem(g);
    const struct lx_buffer *x = &p.buffers[0];
    bool valid = !case_refusal(one);
    expect_validity(c, &p, valid, "a life");
    if (end)
        case_expect(c, case_int(end, -1) == x->end, "expected an end of %lld, got %lld",
                    (long long)case_int(end, -1), (long long)x->end);
    if (reads)
        case_expect(c, case_int(reads, -1) == lx_read_count(x), "expected %lld reads, got %lld",
                    (long long)case_int(reads, -1), (long long)lx_read_count(x));
    if (other && valid) {
        int64_t both_at_0[] = {0, 0}, objective;
        bool overlap = !lx_problem_check(&p, both_at_0, &objective, &st);
        case_expect(c, overlap == case_true(other, "value"), "expected the lives %s, but the checker says %s",
                    overlap ? "not to overlap" : "to overlap", overlap ? st.text : "they do not");
    }
    lx_graph_free(g);
}

static void check_lives(struct cases *c, const cJSON *one)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, cjson_find(one, "cases")) check_life(c, v);
}

/* Bytes that a planner may use: round_up_STICK(int((BYTES-RESERVED)*(1-frac))). */
static void check_capacity(struct cases *c, const cJSON *one)
{
    struct lx_device d;
    const struct lx_device_parameter *fraction = lx_device_parameter_find("lx_reserved_fraction");
    long long stick, bytes, reserved;
    const cJSON *v;
    lx_status st;
    if (!case_expect(c, fraction && lx_device_preset("spyre", &d), "expected the device spyre")) return;
    if (sscanf(case_text(one, "formula"), "round_up_%lld(int((%lld-%lld)*(1-frac)))", &stick, &bytes,
               &reserved) == 3)
        case_expect(c, d.stick_bytes == stick && d.lx_bytes == bytes && d.lx_reserved_bytes == reserved,
                    "expected a device with %lld bytes, %lld of them reserved, and sticks of %lld", bytes,
                    reserved, stick);
    cJSON_ArrayForEach(v, cjson_find(one, "cases"))
    {
        const cJSON *frac = cjson_find(v, "frac");
        double share = cJSON_IsNumber(frac) ? frac->valuedouble : NAN;
        int64_t wanted = case_int(cjson_find(v, "size"), -1);
        bool set = lx_device_set(&d, fraction, share, &st);
        if (case_expect(c, set, "expected the fraction %g to be accepted, but: %s", share, st.text))
            case_expect(c, lx_device_usable(&d) == wanted, "expected %lld usable bytes at %g, got %lld",
                        (long long)wanted, share, (long long)lx_device_usable(&d));
    }
    cJSON_ArrayForEach(v, cjson_find(one, "invalid_frac"))
    {
        double share = cJSON_IsNumber(v) ? v->valuedouble : NAN;
        case_expect(c, !lx_device_set(&d, fraction, share, &st), "expected the fraction %g to be rejected",
                    share);
    }
}

static void expect_order(struct cases *c, const struct lx_problem *p, const cJSON *names, int64_t per_byte)
{
    struct rank *ranks = mem_zeroed((size_t)p->count + 1, sizeof *ranks);
    int32_t *order = mem_zeroed((size_t)p->count + 1, sizeof *order), k = 0;
    bool whole = case_expect(c, cJSON_GetArraySize(names) == p->count, "expected an order of all buffers");
    if (ranks && order && whole) {
        for (int32_t i = 0; i < p->count; i++) ranks[i] = (struct rank){per_byte * p->buffers[i].size, 1, 0};
        rank_order(p, ranks, order);
        const cJSON *v;
        cJSON_ArrayForEach(v, names)
        {
            const char *wanted = cJSON_IsString(v) ? v->valuestring : "", *got = p->buffers[order[k]].name;
            case_expect(c, strcmp(wanted, got) == 0, "expected %s in place %d, got %s", wanted, k, got);
            k++;
        }
    }
    mem_free(ranks);
    mem_free(order);
}

/* Names and edges only: all sizes and lives are alike. */
static const struct lx_graph *graph_of_edges(const cJSON *one, lx_status *st)
{
    struct list l;
    list_open(&l, 10, 1);
    const cJSON *v;
    cJSON_ArrayForEach(v, cjson_find(one, "input_order"))
    {
        const char *name = cJSON_IsString(v) ? v->valuestring : "";
        const cJSON *parents = cjson_find(cjson_find(one, "edges"), name);
        cJSON *buffer = cJSON_CreateObject();
        if (buffer && parents)
            cJSON_AddItemToObject(buffer, "in_place_parents", cJSON_Duplicate(parents, true));
        list_add(&l, name, buffer);
        cJSON_Delete(buffer);
    }
    return list_close(&l, st);
}

static void check_order(struct cases *c, const cJSON *one)
{
    lx_status st;
    const cJSON *plain = cjson_find(one, "order"), *rising = cjson_find(one, "order_by_size");
    const cJSON *falling = cjson_find(one, "order_by_minus_size");
    const struct lx_graph *g =
        cjson_find(one, "input_order") ? graph_of_edges(one, &st) : list_graph(one, &st);
    if (!case_expect(c, g != NULL, "expected a list that can be read, but: %s", st.text)) return;
    struct lx_problem p = list_problem(g);
    if (plain) expect_order(c, &p, plain, 0);
    if (rising) expect_order(c, &p, rising, 1);
    if (falling) expect_order(c, &p, falling, -1);
    lx_graph_free(g);
}

/* Numbers in brackets and these words of the expectation must be in our message: it was the right rule. */
static void expect_message(struct cases *c, const char *expected, const char *got)
{
    static const char *const words[] = {"larger", "never read"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(expected, words[i]))
            case_expect(c, strstr(got, words[i]) != NULL, "expected \"%s\", got \"%s\"", expected, got);
    for (const char *s = strchr(expected, '('); s; s = strchr(s + 1, '(')) {
        char number[32];
        snprintf(number, sizeof number, "%.*s", (int)strcspn(s, ")") + 1, s);
        case_expect(c, strstr(got, number) != NULL, "expected \"%s\", got \"%s\"", expected, got);
    }
}

/* "…; after mutating NAME.uses to [A,B] rejected although read_count says N". */
static void expect_mutation(struct cases *c, const struct lx_problem *p, const char *words)
{
    char name[64];
    long long first, second, reads;
    if (sscanf(words, "after mutating %63[^.].uses to [%lld,%lld] rejected although read_count says %lld",
               name, &first, &second, &reads) != 4)
        return;
    int32_t i = buffer_find(p, name);
    struct lx_buffer *buffers = mem_alloc(((size_t)p->count + 1) * sizeof *buffers);
    if (buffers && case_expect(c, i >= 0, "expected a buffer %s", name)) {
        int64_t uses[] = {first, second};
        memcpy(buffers, p->buffers, (size_t)p->count * sizeof *buffers);
        buffers[i].uses = uses;
        buffers[i].use_count = 2;
        buffers[i].start = first; /* so that nothing else is wrong with it */
        buffers[i].end = second + 1;
        struct lx_problem mutated = *p;
        mutated.buffers = buffers;
        expect_validity(c, &mutated, false, "the mutated list");
        case_expect(c, lx_read_count(&buffers[i]) == reads, "expected %lld reads, got %lld", reads,
                    (long long)lx_read_count(&buffers[i]));
    }
    mem_free(buffers);
}

static void expect_accepted(struct cases *c, const cJSON *one, const char *expected, bool valid)
{
    lx_status st;
    const struct lx_graph *g = list_graph(one, &st);
    if (!g && !valid) { /* what cannot even be read is refused as well */
        case_expect(c, true, "refused");
        expect_message(c, expected, st.text);
        return;
    }
    if (!case_expect(c, g != NULL, "expected a list that can be read, but: %s", st.text)) return;
    struct lx_problem p = list_problem(g);
    expect_validity(c, &p, valid, "the list");
    if (!valid && !lx_problem_validate(&p, &st)) expect_message(c, expected, st.text);
    const char *more = strstr(expected, "after mutating ");
    if (more) expect_mutation(c, &p, more);
    lx_graph_free(g);
}

static void expect_same_each_time(struct cases *c, const cJSON *one)
{
    for (const struct lx_solver *const *s = next_solver(NULL); s; s = next_solver(s)) {
        struct lx_plan *first = list_plan(c, one, *s);
        for (int k = 1; first && k < REPEATS; k++) {
            struct lx_plan *again = list_plan(c, one, *s);
            if (again) expect_addresses(c, &again->problem, first->answer.address, again->answer.address);
            lx_plan_free(again);
        }
        lx_plan_free(first);
    }
}

/* "expect_address_of_NAME": one address per solver. */
static void expect_addresses_of(struct cases *c, const cJSON *one)
{
    static const char prefix[] = "expect_address_of_";
    const cJSON *v;
    cJSON_ArrayForEach(v, one)
    {
        if (strncmp(v->string, prefix, sizeof prefix - 1) != 0) continue;
        case_looked(v);
        const char *name = v->string + sizeof prefix - 1;
        for (const struct lx_solver *const *s = next_solver(NULL); s; s = next_solver(s)) {
            const cJSON *wanted = case_of_solver(v, *s);
            struct lx_plan *plan = list_plan(c, one, *s);
            int32_t i = plan ? buffer_find(&plan->problem, name) : -1;
            if (wanted && plan && case_expect(c, i >= 0, "expected a buffer %s", name))
                case_expect(c, case_address(wanted) == plan->answer.address[i],
                            "expected %s at %lld from %s, got %lld", name, (long long)case_address(wanted),
                            (*s)->name, (long long)plan->answer.address[i]);
            lx_plan_free(plan);
        }
    }
}

static void check_list(struct cases *c, const cJSON *one)
{
    const char *expected = case_text(one, "expect"), *own = case_text(one, "solver");
    const char *refusal = case_refusal(one);
    expect_addresses_of(c, one);
    if (refusal || strncmp(expected, "accepted", 8) == 0) {
        expect_accepted(c, one, refusal ? refusal : expected, !refusal);
        return;
    }
    if (!*expected) return;
    if (strstr(expected, "identical")) {
        expect_same_each_time(c, one);
        return;
    }
    for (const struct lx_solver *const *s = next_solver(NULL); s; s = next_solver(s)) {
        struct lx_plan *plan = list_plan(c, one, *s);
        if (plan && (!*own || case_solver(own) == *s)) expect_sentence(c, expected, plan);
        lx_plan_free(plan);
    }
}

static const struct shape {
    const char *key;
    void (*check)(struct cases *c, const cJSON *one);
} shapes[] = {
    {"uses_rejected", check_uses},        {"uses_accepted", check_uses}, {"formula", check_capacity},
    {"invalid_frac", check_capacity},     {"order", check_order},        {"order_by_size", check_order},
    {"order_by_minus_size", check_order}, {"cases", check_lives},        {"buffers", check_list},
};

void check_data_model(struct cases *c, const cJSON *one)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (cjson_find(one, shapes[i].key)) {
            shapes[i].check(c, one);
            return;
        }
}
