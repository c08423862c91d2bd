/* Programs of plans: what cannot be written is refused by op and reason; what was written and then damaged
 * gives other results, or other ones when cores run at other speeds. */
#include "support/sampled.h"
#include "support/device_plans.h"
#include "base/rng.h"
#include "emit/emit.h"
#include "gpu/machines.h"

/* A program of a plan with the memory that it begins with: halves between 1/32 and 1/8, of both signs. */
struct written {
    struct lx_plan *plan;
    struct text text;
    struct emit_facts facts;
    unsigned char *hbm;
};

static void written_make(const char *path, struct written *w)
{
    lx_status st = {0};
    struct lx_device device;
    const struct lx_graph *g = device_test_graph(path);
    assert_true(lx_device_preset("h200", &device));
    *w = (struct written){
        .plan = plan_graph(lx_graph_with_device(g, &device), "bestfit", &(struct lx_passes){0})};
    lx_graph_free(g);
    assert_true(emit_program(w->plan, &(struct emit_options){.on = EMIT_HOST}, &w->text, &w->facts, &st));
    w->hbm = mem_alloc((size_t)w->facts.hbm_bytes);
    uint16_t *half = (uint16_t *)(void *)w->hbm;
    struct rng random = rng_seed(1);
    for (int64_t i = 0; i < w->facts.hbm_bytes / 2; i++)
        half[i] = (uint16_t)(rng_below(&random, 2) << 15 | (0x2800 + rng_below(&random, 0x800)));
}

static void written_free(struct written *w)
{
    lx_plan_free(w->plan);
    text_free(&w->text);
    mem_free(w->hbm);
}

/* HBM after a run of `text`, which must compile; malloc'ed. */
static unsigned char *memory_after(const struct written *w, const char *text)
{
    lx_status st = {0};
    struct text all = {0};
    text_add(&all, text);
    void *machine = machine_kind_host.open(&all, &w->facts, &st);
    if (!machine) fail_msg("%s", st.text);
    unsigned char *hbm = mem_alloc((size_t)w->facts.hbm_bytes);
    memcpy(hbm, w->hbm, (size_t)w->facts.hbm_bytes);
    assert_true(machine_kind_host.run(machine, hbm, NULL, &st));
    machine_kind_host.close(machine);
    text_free(&all);
    return hbm;
}

static bool outputs_equal(const struct written *w, const unsigned char *a, const unsigned char *b)
{
    const struct lx_graph *g = w->plan->layouts->graph;
    bool same = true;
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (lx_role_leaves(g->tensors[t].role))
            same &= memcmp(a + w->plan->hbm_address[t], b + w->plan->hbm_address[t],
                           (size_t)lx_layout_bytes(&w->plan->layouts->layouts[t])) == 0;
    return same;
}

/* The text with the `which`-th `from` in it replaced; malloc'ed, NULL: there are not so many. */
static char *replaced(const char *text, const char *from, int which, const char *to)
{
    const char *at = strstr(text, from);
    struct text t = {0};
    while (at && which-- > 0) at = strstr(at + 1, from);
    if (!at) return NULL;
    text_add_n(&t, text, (size_t)(at - text));
    text_add(&t, to);
    text_add(&t, at + strlen(from));
    return t.at;
}

/* Cores stop for a while wherever they meet. */
static char *with_slow_cores(const char *text)
{
    return replaced(
        text, "INLINE void meet_core(void)\n{\n", 0,
        "INLINE void meet_core(void)\n{\n"
        "    static _Thread_local unsigned long step;\n"
        "    const struct timespec t = {0, (long)((CORE * 7919u + ++step * 104729u) % 97 * 20000)};\n"
        "    nanosleep(&t, NULL);\n");
}

static void slow_cores_change_nothing_but_without_a_sync(void **state)
{
    (void)state;
    struct written w;
    written_make("graphs/mlp_small.json", &w);
    char *slow = with_slow_cores(w.text.at);
    unsigned char *right = memory_after(&w, w.text.at), *same = memory_after(&w, slow);
    assert_true(w.plan->sync_count > 0);
    assert_true(outputs_equal(&w, right, same));
    mem_free(same);
    char *unsynced = replaced(slow, "sync_all(counters, waits += ROUND", 0, "(void)(waits");
    assert_non_null(unsynced);
    char *end = strstr(unsynced, "(void)(waits"), *comma = strchr(end, ';');
    memset(end, ' ', (size_t)(comma - end)); /* the statement is empty */
    unsigned char *wrong = memory_after(&w, unsynced);
    assert_false(outputs_equal(&w, right, wrong));
    mem_free(unsynced);
    mem_free(wrong);
    mem_free(right);
    mem_free(slow);
    written_free(&w);
}

static void a_changed_address_or_count_changes_results(void **state)
{
    static const struct {
        const char *from, *to;
    } damages[] = {{"= load8_fp16(LX(", "= load8_fp16(LX(128 + "},
                   {"const f8 y = same8(", "const f8 y = same8(1 + "},
                   {"f8 y = same8(0);", "f8 y = same8(1);"},
                   {"core % ", "(core ^ 1) % "},
                   {"hbm + ", "hbm + 128 + "}};
    (void)state;
    struct written w;
    int changed = 0, tried = 0;
    written_make("graphs/mlp_small.json", &w);
    const char *kernel =
        strstr(w.text.at,
               "KERNEL plan(char *hbm, char *aside, char *trace, unsigned *counters, unsigned *fault)\n{");
    unsigned char *right = memory_after(&w, w.text.at);
    assert_non_null(kernel);
    size_t head = (size_t)(kernel - w.text.at);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i += SAMPLED ? 2 : 1)
        for (int which = 0; which < (SAMPLED ? 1 : 3); which++) {
            char *body = replaced(w.text.at + head, damages[i].from, which, damages[i].to);
            struct text all = {0};
            if (!body) continue;
            text_add_n(&all, w.text.at, head);
            text_add(&all, body);
            unsigned char *hbm = memory_after(&w, all.at);
            tried++;
            changed += !outputs_equal(&w, right, hbm);
            mem_free(hbm);
            mem_free(body);
            text_free(&all);
        }
    assert_true(tried >= (SAMPLED ? 2 : 6));
    assert_int_equal(changed, tried);
    mem_free(right);
    written_free(&w);
}

static void what_cannot_be_written_is_refused_by_op_and_reason(void **state)
{
    (void)state;
    lx_status st = {0};
    struct text text = {0};
    struct lx_plan *p =
        plan_graph(device_test_graph("graphs/resnet_stage.json"), "bestfit", &(struct lx_passes){0});
    assert_false(emit_program(p, &(struct emit_options){.on = EMIT_CUDA}, &text, NULL, &st));
    assert_int_equal(st.code, LX_E_UNSUPPORTED);
    assert_non_null(strstr(st.text, "cannot be written as a program: it slides windows"));
    assert_null(text.at);
    lx_plan_free(p);
}

/* Stages of a weight begin once the core has arrived at the sync, before the others have. */
static void stages_begin_while_cores_wait(void **state)
{
    (void)state;
    struct written w;
    written_make("graphs/mlp_small.json", &w);
    const char *begins = strstr(w.text.at, "    sync_begins(counters);"), *ends = begins;
    assert_non_null(begins);
    ends = strstr(begins, "sync_ends(counters, waits += ROUND");
    const char *copies = strstr(begins, "copy16_in(STAGE(");
    assert_true(ends && copies && copies < ends);
    written_free(&w);
}

static void facts_say_what_the_program_wants(void **state)
{
    (void)state;
    struct written w;
    written_make("graphs/mlp_small.json", &w);
    assert_int_equal(w.facts.cores, w.plan->divisions->cores);
    assert_int_equal(w.facts.hbm_bytes, w.plan->segment_bytes);
    assert_true(w.facts.lx_bytes >= w.plan->figures.height_bytes);
    assert_int_equal(w.facts.trace_bytes, 0);
    assert_null(w.facts.trace);
    written_free(&w);
}

/* Every tick of every core has a time, and the wait at a sync is none of its work. */
static void stamps_add_up(void **state)
{
    (void)state;
    lx_status st = {0};
    struct written w;
    struct lx_measured measured;
    written_make("graphs/mlp_small.json", &w);
    struct lx_program_options how = {.machine = "host", .launches = 1};
    struct lx_run_result *r = lx_program_run(w.plan, &how, &measured, &st);
    if (!r) fail_msg("%s", st.text);
    double sum = 0;
    for (int32_t o = 0; o < r->op_count; o++) {
        assert_true(r->ops[o].measured_us > 0 && r->ops[o].measured_wait_us >= 0);
        sum += r->ops[o].measured_wait_us;
    }
    assert_true(r->ok && measured.stamps_us > 0 && sum <= measured.stamps_us);
    lx_run_result_free(r);
    written_free(&w);
}

/* The program of a pattern, whose run on the host is right and whose text for a GPU has `words`. */
static void program_is_right(const char *pattern, const char *words)
{
    lx_status st = {0};
    struct lx_measured measured;
    struct text text = {0};
    const struct lx_graph *g = lx_graph_of_text("pattern.json", pattern, strlen(pattern), &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_plan *p = plan_graph(g, "bestfit", &(struct lx_passes){0});
    struct lx_run_result *r =
        lx_program_run(p, &(struct lx_program_options){.machine = "host"}, &measured, &st);
    if (!r) fail_msg("%s", st.text);
    assert_true(r->ok);
    assert_true(emit_program(p, &(struct emit_options){.on = EMIT_CUDA}, &text, NULL, &st));
    if (!strstr(text.at, words)) fail_msg("no \"%s\" in the program", words);
    text_free(&text);
    lx_run_result_free(r);
    lx_plan_free(p);
}

/* Three elements, but all cores search; the judge knows where the largest are. */
static void all_cores_look_for_the_largest(void **state)
{
    static const char pattern[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"largest\", \"device\": {\"preset\": \"h200\"},\n"
        " \"tensors\": [{\"name\": \"x\", \"shape\": [3, 5000], \"dtype\": \"fp16\", \"role\": \"input\"},\n"
        "  {\"name\": \"y\", \"shape\": [3], \"dtype\": \"int32\", \"role\": \"output\"}],\n"
        " \"ops\": [{\"name\": \"y\", \"kind\": \"argmax\", \"inputs\": [\"x\"], \"output\": \"y\", "
        "\"einsum\": \"ab->a\"}]}";
    (void)state;
    program_is_right(pattern, "helper < 132");
}

/* Five cores keep the places of their rows; each is helped by another one. */
static void cores_without_rows_help_to_look(void **state)
{
    (void)state;
    program_is_right(
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"helped\",\n"
        " \"device\": {\"preset\": \"h200\", \"cores\": 11},\n"
        " \"tensors\": [{\"name\": \"x\", \"shape\": [5, 5000], \"dtype\": \"fp16\", \"role\": \"input\"},\n"
        "  {\"name\": \"y\", \"shape\": [5], \"dtype\": \"int32\", \"role\": \"intermediate\"},\n"
        "  {\"name\": \"z\", \"shape\": [5], \"dtype\": \"fp32\", \"role\": \"output\"}],\n"
        " \"ops\": [{\"name\": \"y\", \"kind\": \"argmax\", \"inputs\": [\"x\"], \"output\": \"y\", "
        "\"einsum\": "
        "\"ab->a\"},\n"
        "  {\"name\": \"z\", \"kind\": \"cast\", \"inputs\": [\"y\"], \"output\": \"z\", \"einsum\": "
        "\"a->a\"}]}",
        "owner = core % 5");
}

/* A warp takes a row from its mean to the sum of what is made of it; the columns of the later ops have the letter
 * that the rows of the ops before have. */
static void rows_keep_apart_from_columns_of_their_letter(void **state)
{
    static const char pattern[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"rows\", \"device\": {\"preset\": \"h200\"},\n"
        " \"tensors\": [{\"name\": \"x\", \"shape\": [256, 4096], \"dtype\": \"fp16\", \"role\": "
        "\"input\"},\n"
        "  {\"name\": \"z\", \"shape\": [256, 1024], \"dtype\": \"fp16\", \"role\": \"input\"},\n"
        "  {\"name\": \"m\", \"shape\": [256], \"dtype\": \"fp16\", \"role\": \"intermediate\"},\n"
        "  {\"name\": \"r\", \"shape\": [256], \"dtype\": \"fp16\", \"role\": \"intermediate\"},\n"
        "  {\"name\": \"y\", \"shape\": [256, 1024], \"dtype\": \"fp16\", \"role\": \"intermediate\"},\n"
        "  {\"name\": \"s\", \"shape\": [256], \"dtype\": \"fp16\", \"role\": \"output\"}],\n"
        " \"ops\": [\n"
        "  {\"name\": \"m\", \"kind\": \"mean\", \"inputs\": [\"x\"], \"output\": \"m\", \"einsum\": "
        "\"sm->s\"},\n"
        "  {\"name\": \"r\", \"kind\": \"exp\", \"inputs\": [\"m\"], \"output\": \"r\", \"einsum\": "
        "\"a->a\"},\n"
        "  {\"name\": \"y\", \"kind\": \"mul\", \"inputs\": [\"z\", \"r\"], \"output\": \"y\", \"einsum\": "
        "\"ba,b->ba\"},\n"
        "  {\"name\": \"s\", \"kind\": \"sum\", \"inputs\": [\"y\"], \"output\": \"s\", \"einsum\": "
        "\"ba->b\"}]}";
    (void)state;
    program_is_right(pattern, "y1["); /* a row in registers */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_cores_change_nothing_but_without_a_sync),
        cmocka_unit_test(a_changed_address_or_count_changes_results),
        cmocka_unit_test(what_cannot_be_written_is_refused_by_op_and_reason),
        cmocka_unit_test(stages_begin_while_cores_wait),
        cmocka_unit_test(facts_say_what_the_program_wants),
        cmocka_unit_test(stamps_add_up),
        cmocka_unit_test(all_cores_look_for_the_largest),
        cmocka_unit_test(cores_without_rows_help_to_look),
        cmocka_unit_test(rows_keep_apart_from_columns_of_their_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
