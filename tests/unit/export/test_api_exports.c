/* Exports through the C interface: the bytes of lx_export_write, for every row of the table; and a word for what is none. */
#include "lxplan.h"
#include "base/memory.h"
#include "support/export_plans.h"

static void formats_through_the_interface(const struct lx_plan *p)
{
    struct lx_export row;
    size_t size = 0, length = 0;
    char *json = lx_plan_to_json(p, &size);
    lx_error *e = lx_error_new();
    lx_result *r = lx_plan_parse(json, (int64_t)size, e);
    if (!r) fail_msg("%s: %s", p->graph->name, lx_error_text(e));
    lx_status st = {0};
    struct lx_plan *read = lx_plan_of_text("plan", json, size, &st);
    assert_non_null(read);
    for (int i = 0; lx_export_at(i, &row); i++) {
        char *wanted = lx_export_write(read, NULL, row.name, &length, &st);
        lx_text *t = lx_result_write(r, row.name, NULL, e);
        assert_int_equal(t != NULL, wanted != NULL);
        if (t) {
            assert_int_equal(lx_text_size(t), length);
            assert_memory_equal(lx_text_data(t), wanted, length);
        }
        lx_text_free(t);
        mem_free(wanted);
    }
    assert_null(lx_result_write(r, "perfeto", NULL, e));
    assert_string_equal(lx_error_code(e), "unknown_name");
    lx_plan_free(read);
    lx_result_free(r);
    lx_error_free(e);
    mem_free(json);
}

static void every_format(void **state)
{
    struct export_seen seen = {0};
    (void)state;
    check_pattern("graphs/attention_small", 16384, &(struct lx_passes){0}, formats_through_the_interface,
                  &seen);
    check_pattern("graphs/gq_attention", 0, &(struct lx_passes){.tile = LX_TILE_NONE},
                  formats_through_the_interface, &seen);
    check_pattern("lists/two_pools", 0, &(struct lx_passes){0}, formats_through_the_interface, &seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_format)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
