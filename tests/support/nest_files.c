#include "support/nest_files.h"

int32_t comes_back(struct lx_plan *p, const char *name)
{
    lx_status st = {0};
    size_t length, again_length;
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *back = lx_plan_of_text("plan", text, length, &st);
    if (!back) fail_msg("%s: line %d: %s", name, st.line, st.text);
    char *again = lx_plan_to_json(back, &again_length);
    assert_string_equal(text, again);
    assert_int_equal(back->nest_count, p->nest_count);
    int32_t count = p->nest_count;
    lx_plan_free(back);
    mem_free(text);
    mem_free(again);
    return count;
}

/* Takes out of an object what follows from the rest, and predicted times. */
static void strip(cJSON *object, enum plan_section_id section)
{
    const struct plan_section *s = &plan_sections[section];
    for (size_t i = 0; i < s->count; i++)
        if (s->fields[i].standing == FIELD_CHECKED || strstr(s->fields[i].key, "_us"))
            cJSON_DeleteItemFromObjectCaseSensitive(object, s->fields[i].key);
}

static void strip_all(cJSON *parent, const char *key, enum plan_section_id section)
{
    cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(parent, key)) strip(item, section);
}

static char *without_figures(const char *text)
{
    cJSON *root = cJSON_Parse(text), *graph = cJSON_GetObjectItemCaseSensitive(root, "graph");
    assert_non_null(graph);
    strip(root, PLAN_ROOT);
    strip(graph, PLAN_GRAPH);
    strip_all(graph, "ops", PLAN_OP);
    strip_all(graph, "bundles", PLAN_BUNDLE);
    strip_all(graph, "transfers", PLAN_TRANSFER);
    strip_all(root, "buffers", PLAN_BUFFER);
    char *printed = cJSON_Print(root), *out = mem_string(printed);
    cJSON_free(printed);
    cJSON_Delete(root);
    return out;
}

void nest_file_near(double a, double b)
{
    if (fabs(a - b) > 1e-7 * (fabs(a) + 1)) fail_msg("%.10g is not %.10g", a, b);
}

static void same_op(const struct lx_op_traffic *a, const struct lx_op_traffic *b)
{
    assert_int_equal(a->hbm_read, b->hbm_read);
    assert_int_equal(a->hbm_written, b->hbm_written);
    assert_int_equal(a->ring, b->ring);
    assert_int_equal(a->reduce_ring, b->reduce_ring);
    assert_int_equal(a->lx_read, b->lx_read);
    assert_int_equal(a->lx_written, b->lx_written);
    nest_file_near(a->device_us, b->device_us);
    nest_file_near(a->end_to_end_us, b->end_to_end_us);
}

void figures_follow(struct lx_plan *p, const char *name)
{
    lx_status st = {0};
    size_t length;
    char *text = lx_plan_to_json(p, &length), *bare = without_figures(text);
    struct lx_plan *back = lx_plan_of_text("plan", bare, strlen(bare), &st);
    if (!back) fail_msg("%s: %s", name, st.text);
    assert_int_equal(back->figures.hbm_bytes, p->figures.hbm_bytes);
    assert_int_equal(back->figures.ring_bytes, p->figures.ring_bytes);
    nest_file_near(back->figures.device_us, p->figures.device_us);
    nest_file_near(back->figures.end_to_end_us, p->figures.end_to_end_us);
    assert_int_equal(back->transfer_count, p->transfer_count);
    for (int32_t i = 0; i < p->transfer_count; i++)
        assert_int_equal(back->transfers[i].bytes, p->transfers[i].bytes);
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) same_op(&back->traffic[o], &p->traffic[o]);
    lx_plan_free(back);
    mem_free(text);
    mem_free(bare);
}

/* What buffers move is what ops move. */
static void bytes_add_up(const struct lx_plan *p)
{
    int64_t *moved = mem_zeroed((size_t)p->problem.count + 1, sizeof *moved), buffers = 0, ops = 0;
    assert_non_null(moved);
    lx_plan_moved(p, moved);
    for (int32_t i = 0; i < p->problem.count; i++) buffers += moved[i];
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++)
        ops += p->traffic[o].hbm_read + p->traffic[o].hbm_written;
    assert_int_equal(buffers, p->figures.hbm_bytes);
    assert_int_equal(ops, p->figures.hbm_bytes);
    mem_free(moved);
}

void adds_up(const struct lx_plan *p)
{
    int32_t ops = p->layouts->graph->op_count;
    struct lx_op_wait *waits = mem_zeroed((size_t)ops + 1, sizeof *waits);
    double shares = 0;
    assert_non_null(waits);
    bytes_add_up(p);
    lx_plan_waits(p, waits);
    struct lx_op_wait sum = lx_waits_sum(waits, ops);
    nest_file_near(sum.device_us, p->figures.device_us);
    nest_file_near(lx_wait_us(&sum), p->figures.end_to_end_us);
    for (int32_t o = 0; o < ops; o++) shares += p->traffic[o].end_to_end_us;
    nest_file_near(shares, p->figures.end_to_end_us);
    mem_free(waits);
}
