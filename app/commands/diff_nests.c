/* What nests do to the traffic of two plans: one row per run of ops, one for all other ops, and the sum. */
#include "commands/diff_nests.h"
#include "base/memory.h"
#include "all_columns.h"
#include "export/nest_words.h"
#include "text/format.h"
#include "text/table.h"

#include <stdlib.h>

struct nest_row {
    const struct lx_plan *p, *q;
    struct lx_nest_change c;
    const char *word; /* of rows that are no run */
};

/* "scores-mixed: x32 over h", one after the other. */
static void nests_value(const struct lx_plan *p, int32_t first, int32_t count, struct value *v)
{
    struct text t = {0};
    const struct lx_op *ops = p->layouts->graph->ops;
    for (int32_t i = first; i < first + count; i++) {
        const struct lx_nest *n = &p->nests[i];
        text_add(&t, i > first ? "; " : "");
        add_printable(&t, ops[n->first].name, 20);
        if (n->last > n->first) {
            text_add(&t, "-");
            add_printable(&t, ops[n->last].name, 20);
        }
        text_add(&t, ": ");
        add_nest_words(p, n, &t);
    }
    if (t.length) value_add(v, t.at);
    if (count == 0) v->words = "no nest";
    text_free(&t);
}

static void before_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct nest_row *row = row_of_table;
    (void)column;
    if (row->word)
        v->words = row->word;
    else
        nests_value(row->p, row->c.first_before, row->c.count_before, v);
}

static void after_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct nest_row *row = row_of_table;
    (void)column;
    if (row->word)
        v->words = "";
    else
        nests_value(row->q, row->c.first_after, row->c.count_after, v);
}

static void diff_nests_gain_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct nest_row *row = row_of_table;
    int64_t gain = row->c.bytes_before - row->c.bytes_after;
    (void)column;
    value_whole(v, gain);
    v->paint = gain < 0 ? PAINT_BAD : PAINT_PLAIN;
    value_format(v, "%s%s", gain > 0 ? "+" : "", grouped(gain).at);
}

/* clang-format off */
VALUE_OF(bytes_before_value, struct nest_row, value_whole(v, row->c.bytes_before);)
VALUE_OF(bytes_after_value,  struct nest_row, value_whole(v, row->c.bytes_after);)

static const struct column nest_change_array[] = {
    {.key = "before",       .heading = "nests before", .kind = VALUE_WORDS, .value = before_value},
    {.key = "after",        .heading = "nests after",  .kind = VALUE_WORDS, .value = after_value},
    {.key = "bytes_before", .heading = "bytes before", .kind = VALUE_BYTES, .value = bytes_before_value},
    {.key = "bytes_after",  .heading = "bytes after",  .kind = VALUE_BYTES, .value = bytes_after_value},
    {.key = "gain_bytes",   .heading = "gain",         .kind = VALUE_BYTES, .value = diff_nests_gain_value},
};
/* clang-format on */

const struct columns nest_change_columns = COLUMNS("nests of two plans", nest_change_array);

static struct nest_row *diff_nests_list_rows(const struct lx_plan *p, const struct lx_plan *q,
                                             const struct lx_nest_diff *d, int64_t *count)
{
    struct nest_row *rows = mem_zeroed((size_t)d->count + 2, sizeof *rows);
    *count = 0;
    for (int32_t i = 0; rows && i < d->count; i++)
        rows[(*count)++] = (struct nest_row){p, q, d->all[i], NULL};
    if (!rows) return NULL;
    rows[(*count)++] = (struct nest_row){p, q, d->others, "all other ops"};
    rows[(*count)++] = (struct nest_row){
        p, q, {.bytes_before = p->figures.hbm_bytes, .bytes_after = q->figures.hbm_bytes}, "in all"};
    return rows;
}

void add_nest_changes(const struct lx_plan *p, const struct lx_plan *q, const struct lx_nest_diff *d,
                      struct text *out)
{
    int64_t count;
    if (d->count == 0) return;
    struct nest_row *rows = diff_nests_list_rows(p, q, d, &count);
    out->failed |= !rows;
    text_format(out, "\n%s of ops in other nests:\n", counted(d->count, "run").at);
    if (rows) table_add_text(&TABLE(nest_change_columns, rows, count), out);
    mem_free(rows);
}

void add_nest_changes_json(const struct lx_plan *p, const struct lx_plan *q, const struct lx_nest_diff *d,
                           struct text *out)
{
    int64_t count;
    if (p->nest_count + q->nest_count == 0) return;
    struct nest_row *rows = diff_nests_list_rows(p, q, d, &count);
    out->failed |= !rows;
    text_add(out, "  \"nests\": [\n");
    if (rows && d->count) table_add_json_rows(&TABLE(nest_change_columns, rows, count), 4, out);
    text_add(out, d->count ? "\n  ],\n" : "  ],\n");
    mem_free(rows);
}
