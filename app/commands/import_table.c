/* The coverage report for people: a row a kind of the file, and one line of sums. */
#include "commands/import_table.h"
#include "text/format.h"
#include "text/table.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct json_value *import_table_field(const void *row, const char *key)
{
    return json_find(*(const struct json_value *const *)row, key);
}

static void words_value(const void *row, const struct column *c, struct value *v)
{
    const struct json_value *f = import_table_field(row, c->key);
    v->words = f && f->text ? f->text : "";
}

static void number_value(const void *row, const struct column *c, struct value *v)
{
    const struct json_value *f = import_table_field(row, c->key);
    value_whole(v, f ? (int64_t)f->number : 0);
}

/* "mapped 12, generic 1" */
static void became_value(const void *row, const struct column *c, struct value *v)
{
    char words[200];
    size_t n = 0;
    const struct json_value *f;
    words[0] = 0;
    json_for_each(f, import_table_field(row, c->key)) {
        if (n + 40 > sizeof words) break;
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%.16s %lld", n ? ", " : "", f->key,
                              (long long)f->number);
    }
    value_format(v, "%s", words);
}

/* clang-format off */
static const struct column kind_array[] = {
    {.key = "kind",   .heading = "kind",   .kind = VALUE_NAME,  .value = words_value},
    {.key = "count",  .heading = "ops",    .kind = VALUE_COUNT, .value = number_value},
    {.key = "bytes",  .heading = "bytes",  .kind = VALUE_BYTES, .value = number_value},
    {.key = "became", .heading = "became", .kind = VALUE_WORDS, .value = became_value},
    {.key = "reason", .heading = "reason", .kind = VALUE_NAME,  .flags = COLUMN_MAY_HIDE, .value = words_value},
};
/* clang-format on */

const struct columns import_kind_columns = COLUMNS("kinds of a model", kind_array);

static double import_table_sum_of(const struct json_value *report, const char *group, const char *class)
{
    const struct json_value *of = json_find(json_find(report, "became"), group), *f;
    double sum = 0;
    json_for_each(f, of) {
        if (!class || strcmp(f->key, class) == 0) sum += f->number;
    }
    return sum;
}

bool show_import(struct call *call, const char *report)
{
    struct json j;
    struct text out = {0};
    if (!json_parse(&j, "report", report, strlen(report), &call->st)) return false;
    const struct json_value *kinds = json_find(j.root, "kinds"), *k;
    size_t count = (size_t)json_count(kinds), n = 0;
    const struct json_value **rows = mem_zeroed(count + 1, sizeof *rows);
    out.failed |= !rows;
    json_for_each(k, kinds) {
        if (rows) rows[n++] = k;
    }
    double ops = import_table_sum_of(j.root, "ops", NULL), bytes = import_table_sum_of(j.root, "bytes", NULL);
    double odd = import_table_sum_of(j.root, "ops", "generic"),
           odd_bytes = import_table_sum_of(j.root, "bytes", "generic");
    text_format(&out, "%s, %.2f %% of them and %.2f %% of their bytes generic\n",
                counted((int64_t)ops, "op").at, ops > 0 ? 100 * odd / ops : 0,
                bytes > 0 ? 100 * odd_bytes / bytes : 0);
    /* "x32: a to b, 94 ops" */
    const struct json_value *notes = json_find(j.root, "notes"),
                            *layers = notes ? json_find(notes, "layers") : NULL, *f;
    json_for_each(f, layers) {
        text_format(&out, "x%lld: ", (long long)f->number);
        add_printable(&out, f->key, 90);
        text_add(&out, "\n");
    }
    if (rows) table_add_text(&TABLE(import_kind_columns, rows, n), &out);
    bool ok = !out.failed && (fputs(out.at, stdout), true);
    mem_free(rows);
    text_free(&out);
    json_free(&j);
    return ok ? true : status_no_memory(&call->st);
}
