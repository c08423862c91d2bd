#include "support/export_plans.h"

int64_t bytes_taken(const struct lx_plan *p, int32_t pool, int64_t tick)
{
    int64_t all = 0, reached = 0;
    for (;;) { /* the next range that begins behind or reaches beyond what is counted */
        int64_t from = INT64_MAX, to = 0;
        for (int32_t i = 0; i < p->problem.count; i++) {
            const struct lx_buffer *b = &p->problem.buffers[i];
            int64_t at = p->answer.address[i], end = at + b->size;
            if (at < 0 || lx_pool_of(p, i) != pool || !lx_is_alive(b, tick) || end <= reached) continue;
            if (at < reached) at = reached;
            if (at < from) from = at, to = end;
        }
        if (from == INT64_MAX) return all;
        all += to - from;
        reached = to;
    }
}

/* Do buffers that are alive together have bytes together, beyond those of a handover? */
static bool shares_bytes(const struct lx_plan *p)
{
    for (int32_t i = 0; i < p->problem.count; i++)
        for (int32_t k = 0; k < i; k++) {
            const struct lx_buffer *a = &p->problem.buffers[i], *b = &p->problem.buffers[k];
            int64_t from = p->answer.address[i], other = p->answer.address[k];
            if (from < 0 || other < 0 || p->took_slot_of[i] >= 0 || p->took_slot_of[k] >= 0) continue;
            if (lx_pool_of(p, i) == lx_pool_of(p, k) && from < other + b->size && other < from + a->size &&
                (lx_is_alive(a, b->start) || lx_is_alive(b, a->start)))
                return true;
        }
    return false;
}

static void note_plan(const struct lx_plan *p, struct export_seen *seen)
{
    seen->plans++;
    seen->lists += p->graph->list != NULL;
    seen->nests += p->nest_count;
    seen->pools += p->problem.pool_count > 1;
    seen->shared += shares_bytes(p);
    if (p->layouts) seen->restickifies += p->layouts->restickify_count;
    for (int32_t i = 0; i < p->problem.count; i++) {
        seen->in_place += p->took_slot_of[i] >= 0;
        seen->off_chip += p->answer.address[i] < 0;
    }
    for (int32_t i = 0; i < p->transfer_count; i++) seen->transfers[p->transfers[i].kind]++;
}

void check_pattern(const char *name, int64_t usable, const struct lx_passes *passes, export_check *check,
                   struct export_seen *seen)
{
    char path[600];
    lx_status st = {0};
    snprintf(path, sizeof path, "%s/patterns/%s.json", SOURCE_DIR, name);
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    if (usable) {
        const struct lx_graph *small = lx_graph_with_capacity(g, usable, &st);
        lx_graph_free(g);
        g = small;
    }
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .passes = *passes};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s: %s", name, st.text);
    note_plan(p, seen);
    check(p);
    lx_plan_free(p);
    lx_graph_free(g);
}

static void check_text(const char *text, export_check *check, struct export_seen *seen)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("list", text, strlen(text), &st);
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s", st.text);
    note_plan(p, seen);
    check(p);
    lx_plan_free(p);
    lx_graph_free(g);
}

/* Two pools whose buffers are in nobody else's place, with several lives and reserved bytes. */
static void check_pools(export_check *check, struct export_seen *seen)
{
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"pools\", \"alignment\": 64, \"objective\": "
        "\"cost\","
        "\"pools\": [{\"name\": \"near\", \"capacity\": 256, \"reserved\": [[0, 64]]},"
        "{\"name\": \"far\", \"capacity\": 512}], \"buffers\": ["
        "{\"name\": \"a\", \"size\": 192, \"live\": [[0, 8]], \"off\": 400},"
        "{\"name\": \"b\", \"size\": 128, \"live\": [[0, 2], [4, 6]], \"pools\": [\"far\"], \"off\": 300},"
        "{\"name\": \"c\", \"size\": 448, \"live\": [[2, 4]], \"pools\": [\"far\"], \"off\": 300},"
        "{\"name\": \"d\", \"size\": 448, \"live\": [[5, 9]], \"pools\": [\"far\"], \"off\": 120}]}";
    check_text(text, check, seen);
}

/* Random lists of which some buffers may be on the same bytes at a time: exclusive ones anywhere, groups at one address. */
static void check_shared(export_check *check, struct export_seen *seen)
{
    struct rng random = rng_seed(5);
    for (int round = 0; round < 60; round++) {
        enum { BUFFERS = 9 };
        struct text t = {0};
        text_add(&t,
                 "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"shared\", \"alignment\": 1, "
                 "\"objective\": \"cost\", \"pools\": [{\"name\": \"x\", \"capacity\": 24}], \"buffers\": [");
        for (int i = 0; i < BUFFERS; i++) {
            int start = (int)rng_between(&random, 0, 8), end = start + (int)rng_between(&random, 1, 6);
            text_format(&t,
                        "%s{\"name\": \"b%d\", \"size\": %d, \"live\": [[%d, %d], [%d, %d]], \"off\": %d}",
                        i ? "," : "", i, (int)rng_between(&random, 1, 12), start, end, end + 2, end + 4,
                        (int)rng_between(&random, 1, 99));
        }
        text_add(&t, "], \"exclusive\": [[0, 1]");
        for (int i = 2; i < BUFFERS; i++)
            for (int k = 0; k < i; k++)
                if (rng_between(&random, 0, 2) == 0) text_format(&t, ", [%d, %d]", i, k);
        text_add(&t, round % 2 ? "], \"same_place\": [[0, 1]]}" : "]}");
        check_text(t.at, check, seen);
        text_free(&t);
    }
}

static void check_nests(export_check *check, struct export_seen *seen)
{
    cJSON *all = tiling_cases();
    int n = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, case_array(all))
    {
        lx_status st = {0};
        if (n++ % 3) continue;
        struct lx_plan *p = plan_of_case(one, LX_ASK_OWN, &st);
        if (!p) continue; /* some are to be refused */
        note_plan(p, seen);
        check(p);
        lx_plan_free(p);
    }
    cJSON_Delete(all);
}

void each_export_plan(export_check *check)
{
    static const struct {
        const char *name;
        int64_t usable;
        struct lx_passes passes;
    } all[] = {
        {"graphs/gq_attention", 0, {.tile = LX_TILE_NONE}},
        {"graphs/sdpa", 60000, {.tile = LX_TILE_NONE, .evict = true}},
        {"graphs/softmax_512x1024", 0, {.undivided = true, .tile = LX_TILE_NONE}},
        {"graphs/transformer_block", 0, {.tile = LX_TILE_NONE}},
        {"graphs/stencil_star", 0, {.tile = LX_TILE_NONE}},
        {"graphs/moe_routed", 0, {.tile = LX_TILE_NONE}},
        {"graphs/mlp_small", 0, {.cooptimise = LX_COOPTIMISE_FULL}},
        {"graphs/attention_small", 16384, {0}},
        {"graphs/block_small", 0, {.tile = LX_TILE_NONE}},
        {"targets/simple_eviction", 0, {.evict = true}},
        {"targets/eviction_reallocation", 0, {.evict = true}},
        {"targets/needs_moves", 0, {.move = true}},
        {"targets/gqattention", 0, {0}},
        {"targets/staircase", 0, {0}},
        {"lists/two_pools", 0, {0}},
        {"lists/store_once", 0, {0}},
        {"lists/staging", 0, {0}},
    };
    struct export_seen seen = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_pattern(all[i].name, all[i].usable, &all[i].passes, check, &seen);
    check_pools(check, &seen);
    check_shared(check, &seen);
    check_nests(check, &seen);
    assert_true(seen.plans > 30 && seen.lists > 2 && seen.nests > 10 && seen.restickifies > 0);
    assert_true(seen.in_place > 0 && seen.pools > 0 && seen.off_chip > 0 && seen.shared > 20);
    for (int k = 0; k < LX_TRANSFER_KINDS; k++)
        if (!seen.transfers[k]) fail_msg("no plan has a %s", lx_transfer_word((enum lx_transfer_kind)k));
}

char *plan_exported(const struct lx_plan *p, const char *format, size_t *length)
{
    lx_status st = {0};
    size_t again = 0;
    char *text = lx_export_write(p, NULL, format, length, &st);
    if (!text) fail_msg("%s: %s: %s", p->graph->name, format, st.text);
    char *second = lx_export_write(p, NULL, format, &again, &st);
    assert_non_null(second);
    assert_int_equal(*length, again);
    assert_memory_equal(text, second, again);
    mem_free(second);
    return text;
}

struct exported_tree exported_json(const struct lx_plan *p, const char *format)
{
    struct json j;
    lx_status st = {0};
    size_t length = 0;
    char *text = plan_exported(p, format, &length);
    if (!json_parse(&j, format, text, length, &st))
        fail_msg("%s: %s:%d:%d: %s", p->graph->name, format, st.line, st.column, st.text);
    json_free(&j);
    struct exported_tree tree = {cJSON_ParseWithLength(text, length)};
    assert_non_null(tree.root);
    mem_free(text);
    return tree;
}

double number_at(const cJSON *object, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(v)) fail_msg("no number %s", key);
    return v->valuedouble;
}

const char *word_at(const cJSON *object, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsString(v)) fail_msg("no text %s", key);
    return v->valuestring;
}

const cJSON *item_at(const cJSON *object, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!v) fail_msg("no %s", key);
    return v;
}
