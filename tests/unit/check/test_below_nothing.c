/* Numbers below what stands for a missing key: a plan file that states one claims nothing by it, and is refused. */
#include "support/device_plans.h"
#include "base/memory.h"

/* The plan's file with another number behind the first such key. */
static char *with_number(const char *file, const char *key, const char *number)
{
    const char *at = strstr(file, key);
    assert_non_null(at);
    at += strlen(key);
    return mem_format("%.*s%s%s", (int)(at - file), file, number, at + strcspn(at, ",}\n"));
}

static void negative_numbers(void **state)
{
    (void)state;
    static const char *const keys[] = {"\"capacity\": ", "\"alignment\": ", "\"height_bytes\": "},
                             *const numbers[] = {"-1", "-2", "-10112"};
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/rms_norm.json", &st);
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"), .passes = {.tile = LX_TILE_NONE}};
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s", st.text);
    size_t length;
    char *file = lx_plan_to_json(p, &length);
    for (int k = 0; k < 3; k++)
        for (int n = 0; n < 3; n++) {
            char *other = with_number(file, keys[k], numbers[n]);
            struct lx_plan *q = lx_plan_of_text("other", other, strlen(other), &st);
            if (q) fail_msg("%s%s is taken", keys[k], numbers[n]);
            assert_int_equal(st.code, LX_E_RANGE);
            mem_free(other);
        }
    mem_free(file);
    lx_plan_free(p);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(negative_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
