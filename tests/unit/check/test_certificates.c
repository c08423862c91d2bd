/* Certificates: each class proves what it says, to the checker and to a program that shares nothing with it;
 * none proves more, and a damaged one is refused. */
#include "support/device_plans.h"
#include "support/sampled.h"
#include "base/rng.h"

#include <inttypes.h>
#include <unistd.h>

static const struct proved {
    const char *pattern, *class;
    int64_t capacity;
    enum lx_ask ask;
} plans[] = {
    {"graphs/rms_norm.json", "compulsory", 16 * 1024, LX_ASK_TRAFFIC},
    {"graphs/matmul_small.json", "dual", 16 * 1024, LX_ASK_TRAFFIC},
    {"graphs/swiglu.json", "search", 16 * 1024, LX_ASK_TRAFFIC},
    {"targets/simple_eviction.json", "dual", 0, LX_ASK_TRAFFIC},
    {"targets/consecutive_eviction.json", "search", 0, LX_ASK_TRAFFIC},
    {NULL, "search", 0, LX_ASK_TRAFFIC},
    {"targets/staircase.json", "load", 0, LX_ASK_HEIGHT},
};
enum { PLANS = sizeof plans / sizeof *plans };

/* Of two that meet a third only one fits beside it. */
static const char list[] = "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"list\", \"capacity\": 10, "
                           "\"alignment\": 1, \"buffers\": ["
                           "{\"name\": \"a\", \"size\": 6, \"uses\": [0, 4], \"cost\": 9},"
                           "{\"name\": \"b\", \"size\": 6, \"uses\": [3, 7], \"cost\": 7},"
                           "{\"name\": \"c\", \"size\": 6, \"uses\": [6, 9], \"cost\": 5},"
                           "{\"name\": \"d\", \"size\": 4, \"uses\": [1, 8], \"cost\": 3}]}";

static const struct lx_graph *pattern_of(const struct proved *of)
{
    lx_status st = {0};
    const struct lx_graph *g =
        of->pattern ? device_test_graph(of->pattern) : lx_graph_of_text("list", list, strlen(list), &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static struct lx_plan *certified(const struct proved *of)
{
    static struct lx_plan *made[PLANS]; /* each once */
    lx_status st = {0};
    struct lx_plan **at = &made[of - plans];
    if (*at) return *at;
    const struct lx_graph *g = pattern_of(of);
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct lx_settings settings = {.solvers = lx_solvers(), .usual = of->ask};
    struct lx_plan_options how = {0};
    if (of->capacity) g = with_capacity(g, of->capacity);
    if (!lx_settings_plan(&settings, g, &how, values, &st)) fail_msg("%s", st.text);
    struct lx_plan *p = *at = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s: %s", of->pattern, st.text);
    lx_graph_free(g);
    lx_plan_certify(p);
    if (!p->certificate) fail_msg("%s: no certificate", p->graph->name);
    return p;
}

static void each_class_is_verified(void **state)
{
    (void)state;
    for (int i = 0; i < PLANS; i++) {
        lx_status st = {0};
        struct lx_check_report r;
        struct lx_plan *p = certified(&plans[i]);
        size_t length;
        char *text = lx_plan_to_json(p, &length);
        struct lx_plan *again = lx_plan_of_text("plan", text, length, &st);
        if (!again || !lx_plan_check_report(again, &r, &st)) fail_msg("%s: %s", p->graph->name, st.text);
        assert_non_null(again->certificate);
        assert_int_equal(r.optimality, LX_BOUND_VERIFIED);
        assert_string_equal(r.proof, plans[i].class);
        /* A plan without a certificate: the checker finds the proof itself. */
        again->certificate = NULL;
        assert_true(lx_plan_check_report(again, &r, &st));
        assert_int_equal(r.optimality, LX_BOUND_VERIFIED);
        lx_plan_free(again);
        mem_free(text);
    }
}

/* The certificate of one plan, or of a higher bound, for another plan. */
static void it_proves_no_more(void **state)
{
    (void)state;
    for (int i = 0; i < PLANS; i++) {
        lx_status st = {0};
        struct lx_check_report r;
        struct lx_plan *p = certified(&plans[i]), *other = certified(&plans[(i + 1) % PLANS]);
        const char *own = p->certificate, *least = strstr(own, "\"least\": ");
        p->certificate = other->certificate;
        assert_false(lx_plan_check_report(p, &r, &st));
        char *more = mem_alloc(strlen(own) + 40);
        int64_t claimed = strtoll(least + 9, NULL, 10);
        sprintf(more, "%.*s\"least\": %" PRId64 "%s", (int)(least - own), own, claimed + 1,
                least + 9 + strspn(least + 9, "0123456789"));
        p->certificate = more;
        st = (lx_status){0};
        assert_false(lx_plan_check_report(p, &r, &st));
        assert_non_null(strstr(st.text, "certificate"));
        p->certificate = own;
        mem_free(more);
    }
}

/* Changes one character of a number or word, leaves a piece out, or repeats one. */
static void damage(const char *text, struct rng *rng, char *out)
{
    size_t n = strlen(text), at, length;
    for (;;) {
        at = (size_t)rng_below(rng, n);
        length = 1 + (size_t)rng_below(rng, 12);
        if (at + length > n) continue;
        size_t blank = strspn(text + at, " \n");
        switch (rng_below(rng, 3)) {
        case 0:
            memcpy(out, text, n + 1);
            out[at] = "0123456789,[]-e\"t"[rng_below(rng, 17)];
            if (out[at] != text[at] && !blank) return;
            break;
        case 1:
            sprintf(out, "%.*s%s", (int)at, text, text + at + length);
            if (blank < length) return;
            break;
        default:
            sprintf(out, "%.*s%s", (int)(at + length), text, text + at);
            if (blank < length) return;
        }
    }
}

static void damaged_ones_are_refused(void **state)
{
    (void)state;
    struct rng rng = rng_seed(44);
    for (int i = 0; i < PLANS; i++) {
        struct lx_plan *p = certified(&plans[i]);
        const char *own = p->certificate;
        char *text = mem_alloc(strlen(own) + 40);
        for (int k = 0; k < OFTEN(1000); k++) {
            lx_status st = {0};
            struct lx_check_report r;
            damage(own, &rng, text);
            p->certificate = text;
            if (lx_plan_check_report(p, &r, &st)) fail_msg("%s: accepted:\n%s", p->graph->name, text);
            assert_true(st.code != LX_OK && st.code != LX_E_INTERNAL);
        }
        p->certificate = own;
        mem_free(text);
    }
}

/* tests/python/check_certificate.py comes to the same. */
static void another_program_agrees(void **state)
{
    (void)state;
    if (system("python3 -c '' 2>/dev/null") != 0) skip();
    for (int i = 0; i < 2 * PLANS; i++) {
        lx_status st = {0};
        struct lx_plan *p = certified(&plans[i / 2]);
        if (i % 2 && p->nest_count > 0) continue; /* it would search for a proof that there is not */
        char name[60], line[300], *text = arena_string(p->memory, p->certificate),
                                  *least = strstr(text, "least");
        snprintf(name, sizeof name, "/tmp/lxplan_certificate_%d_%d", i, (int)getpid());
        if (i % 2) least[strcspn(least, "0123456789")] = '9'; /* more than there is to prove */
        if (!file_write(name, text, strlen(text), &st)) fail_msg("%s", st.text);
        snprintf(line, sizeof line, "python3 '%s/tests/python/check_certificate.py' %s >/dev/null",
                 SOURCE_DIR, name);
        int code = system(line);
        remove(name);
        if ((code == 0) == (i % 2)) fail_msg("%s: %d", p->graph->name, code);
    }
}

static int forget(void **state)
{
    (void)state;
    for (int i = 0; i < PLANS; i++) lx_plan_free(certified(&plans[i]));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_is_verified),
        cmocka_unit_test(it_proves_no_more),
        cmocka_unit_test(damaged_ones_are_refused),
        cmocka_unit_test(another_program_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
