/* The table of ops: each name stands once in its dialect and is found, and kinds of ours exist. */
#include "graph/kinds.h"
#include "import/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name[MODEL_FORMAT_COUNT], *ours;
} rows[] = {
#define OP(ttir, hlo, onnx, ours, ...) {{ttir, hlo, onnx}, ours},
#include "import/ops.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

static void names_stand_once(void **state)
{
    (void)state;
    for (int d = 0; d < MODEL_FORMAT_COUNT; d++)
        for (int i = 0; i < ROWS; i++) {
            if (!rows[i].name[d]) continue;
            const struct op_row *row = op_find((enum model_format)d, rows[i].name[d]);
            assert_non_null(row);
            for (int k = 0; k < i; k++)
                if (rows[k].name[d] && strcmp(rows[k].name[d], rows[i].name[d]) == 0)
                    fail_msg("%s stands twice", rows[i].name[d]);
        }
}

static void rows_lead_somewhere(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++)
        for (int d = 0; d < MODEL_FORMAT_COUNT; d++) {
            const struct op_row *row =
                rows[i].name[d] ? op_find((enum model_format)d, rows[i].name[d]) : NULL;
            if (!row) continue;
            assert_true(row->least <= row->most);
            assert_true(row->map || row->layer || row->type->of);
            if (row->ours && !lx_kind_find(row->ours)) fail_msg("there is no kind %s", row->ours);
            assert_true(!row->ours || row->map);
        }
}

static void others_are_not_found(void **state)
{
    (void)state;
    assert_null(op_find(MODEL_TTIR, "Add"));
    assert_null(op_find(MODEL_ONNX, "add"));
    assert_null(op_find(MODEL_HLO, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_stand_once),
                                       cmocka_unit_test(rows_lead_somewhere),
                                       cmocka_unit_test(others_are_not_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
