/* Checks allocations of XLA against its buffers: sizes, lives, capacity, and that no two stays have a byte at
 * the same time. Stays are taken in order of their begin, each against the live ones. */
#include "check/check_xla.h"
#include "files/csv_rows.h"
#include "files/pattern.h"

/* A row of bufferinfo; other columns are for planners. */
struct info {
    int64_t id, size;
    int64_t first, last; /* its life, from definition to last use; 1, 0: unknown */
    const char *name;
};

struct stay {
    int64_t id, size, offset, start, end;
    int line;
    const struct info *info; /* NULL: scoped */
};

struct xla {
    VEC(struct info) infos;
    VEC(struct stay) stays;
    char *text[2]; /* fields point into these */
    lx_status *st;
};

/* Calls `row` for each row of a text. `row` returns false with the status set. */
static bool each_row(struct xla *x, const struct lx_xla_text *t, char **copy, const char *const *names,
                     int count, bool (*row)(struct xla *x, const struct csv_rows *c, const int *field))
{
    struct csv_rows c = {.file = t->file, .line = 1, .next_line = 1, .st = x->st};
    const char *text = t->text;
    size_t length = t->length;
    int field[CSV_FIELDS], columns;
    bool bad = false;
    skip_byte_order_mark(&text, &length);
    if (!csv_is_text(t->file, text, length, x->st)) return false;
    *copy = mem_string_n(text, length);
    c.at = *copy;
    if (!csv_next_row(&c, &bad))
        return bad ? false : csv_fail(&c, -1, LX_E_SCHEMA, "no header; it begins with %s", names[0]);
    for (int k = 0; names[k]; k++) {
        field[k] = -1; /* the header has no such column; the first `count` it must have */
        for (int i = 0; i < c.fields; i++)
            if (strcmp(c.field[i], names[k]) == 0) field[k] = i;
        if (field[k] < 0 && k < count)
            return csv_fail(&c, -1, LX_E_SCHEMA, "the column %s is missing; add it", names[k]);
    }
    columns = c.fields;
    while (csv_next_row(&c, &bad)) {
        if (c.fields != columns)
            return csv_fail(&c, -1, LX_E_SYNTAX,
                            "%d fields where the header has %d; a field with a comma needs quotes", c.fields,
                            columns);
        if (!row(x, &c, field)) return false;
    }
    return !bad;
}

static const char *const info_columns[] = {"buffer_id",       "size",      "buffer_name",
                                           "definition_time", "use_times", NULL};
static const char *const alloc_columns[] = {"buffer_id", "size", "offset", "start_time", "end_time", NULL};

/* Sets the life: from the definition to the last of "3;7;9", if the table has both columns. */
static bool check_xla_read_life(const struct csv_rows *c, const int *field, struct info *i)
{
    i->first = 1;
    if (field[3] < 0 || field[4] < 0) return true;
    if (!csv_int(c, field[3], info_columns[3], -LX_INT_MAX, &i->first)) return false;
    i->last = i->first;
    for (const char *at = c->field[field[4]]; *at; at += *at != 0) {
        char *end;
        i->last = max_i64(i->last, strtoll(at, &end, 10));
        if (end == at || (*end && *end != ';'))
            return csv_fail(c, field[4], LX_E_SYNTAX, "\"%.60s\" is no list of times; write 3;7;9",
                            c->field[field[4]]);
        at = end;
    }
    return true;
}

static bool read_info(struct xla *x, const struct csv_rows *c, const int *field)
{
    struct info i = {.name = c->field[field[2]]};
    if (!csv_int(c, field[0], info_columns[0], -LX_INT_MAX, &i.id) ||
        !csv_int(c, field[1], info_columns[1], 0, &i.size) || !check_xla_read_life(c, field, &i))
        return false;
    VEC_PUSH(&x->infos, i);
    return true;
}

static bool read_stay(struct xla *x, const struct csv_rows *c, const int *field)
{
    struct stay s = {.line = c->line};
    int64_t *const values[] = {&s.id, &s.size, &s.offset, &s.start, &s.end};
    for (int k = 0; k < 5; k++)
        if (!csv_int(c, field[k], alloc_columns[k], k == 0 || k > 2 ? -LX_INT_MAX : 0, values[k]))
            return false;
    if (s.start > s.end)
        return csv_fail(c, field[4], LX_E_RANGE,
                        "end_time (%lld) is before start_time (%lld); both are inclusive", (long long)s.end,
                        (long long)s.start);
    const struct info wanted = {.id = s.id};
    s.info = x->infos.count ? bsearch(&wanted, x->infos.at, x->infos.count, sizeof wanted, order_i64) : NULL;
    if (!s.info && s.id >= 0)
        return csv_fail(c, field[0], LX_E_UNKNOWN_NAME,
                        "buffer_id %lld is not in the bufferinfo; do they belong together?", (long long)s.id);
    VEC_PUSH(&x->stays, s);
    return true;
}

/* "buffer 3 "scores", bytes [0, 4096) on ticks 2 to 9". */
static const char *check_xla_describe(const struct stay *s, char *out, size_t size)
{
    snprintf(out, size, "buffer %lld%s%.60s%s, bytes [%lld, %lld) on ticks %lld to %lld (line %d)",
             (long long)s->id, s->info ? " \"" : "", s->info ? s->info->name : " (scoped)",
             s->info ? "\"" : "", (long long)s->offset, (long long)(s->offset + s->size), (long long)s->start,
             (long long)s->end, s->line);
    return out;
}

static bool check_stay(const struct xla *x, const struct stay *s, int64_t capacity)
{
    char words[240];
    if (s->info && s->size < s->info->size)
        return status_set(x->st, LX_E_NO, "rule size: %s has %lld bytes, and the buffer %lld",
                          check_xla_describe(s, words, sizeof words), (long long)s->size,
                          (long long)s->info->size);
    if (s->info && s->info->first <= s->info->last && (s->end < s->info->first || s->start > s->info->last))
        return status_set(
            x->st, LX_E_NO, "rule life: %s is not there while the buffer lives, from %lld to %lld",
            check_xla_describe(s, words, sizeof words), (long long)s->info->first, (long long)s->info->last);
    if (capacity >= 0 && s->offset + s->size > capacity)
        return status_set(x->st, LX_E_NO, "rule capacity: %s ends %lld bytes above the capacity of %lld",
                          check_xla_describe(s, words, sizeof words),
                          (long long)(s->offset + s->size - capacity), (long long)capacity);
    return true;
}

ORDER(check_xla_by_start, struct stay, ORDER_UP(start) ORDER_UP(line));

static bool check_stays(struct xla *x, int64_t capacity)
{
    const struct stay **alive = mem_alloc((x->stays.count + 1) * sizeof *alive);
    size_t count = 0;
    bool ok = true;
    if (x->stays.count) qsort(x->stays.at, x->stays.count, sizeof *x->stays.at, check_xla_by_start);
    for (size_t i = 0; ok && i < x->stays.count; i++) {
        const struct stay *s = &x->stays.at[i];
        size_t kept = 0;
        ok = check_stay(x, s, capacity);
        for (size_t k = 0; ok && k < count; k++) {
            if (alive[k]->end <= s->start) continue;
            alive[kept++] = alive[k];
            char one[240], other[240];
            const struct stay *a = alive[k];
            if (a->start < s->end && s->start < a->end && a->offset < s->offset + s->size &&
                s->offset < a->offset + a->size)
                ok = status_set(x->st, LX_E_NO, "rule overlap: %s and %s have bytes [%lld, %lld) together",
                                check_xla_describe(a, one, sizeof one),
                                check_xla_describe(s, other, sizeof other),
                                (long long)max_i64(a->offset, s->offset),
                                (long long)min_i64(a->offset + a->size, s->offset + s->size));
        }
        count = kept;
        if (ok) alive[count++] = s;
    }
    mem_free(alive);
    return ok;
}

bool lx_is_allocinfo(const char *text, size_t length)
{
    skip_byte_order_mark(&text, &length);
    return csv_header_has(text, length, "start_time") && csv_header_has(text, length, "offset") &&
           csv_header_has(text, length, "buffer_id");
}

bool lx_check_xla(const struct lx_xla_text *bufferinfo, const struct lx_xla_text *allocinfo, int64_t capacity,
                  struct lx_xla_report *out, lx_status *st)
{
    struct xla x = {.st = st};
    bool ok = each_row(&x, bufferinfo, &x.text[0], info_columns, 3, read_info);
    /* By id, with which infos and stays begin. */
    if (ok && x.infos.count) qsort(x.infos.at, x.infos.count, sizeof *x.infos.at, order_i64);
    for (size_t i = 1; ok && i < x.infos.count; i++)
        if (x.infos.at[i].id == x.infos.at[i - 1].id) /* its stays would be ambiguous */
            ok = status_set_at(st, LX_E_DUPLICATE, bufferinfo->file, 0, 0,
                               "buffer_id %lld stands twice; remove one", (long long)x.infos.at[i].id);
    ok = ok && each_row(&x, allocinfo, &x.text[1], alloc_columns, 5, read_stay) && check_stays(&x, capacity);
    if (ok) *out = (struct lx_xla_report){.buffers = (int32_t)x.infos.count, .stays = (int32_t)x.stays.count};
    if (ok && x.stays.count) qsort(x.stays.at, x.stays.count, sizeof *x.stays.at, order_i64);
    for (size_t i = 0; ok && i < x.stays.count; i++) {
        const struct stay *s = &x.stays.at[i];
        out->scoped += s->info == NULL;
        out->on_chip += s->info && (i == 0 || x.stays.at[i - 1].id != s->id);
        out->height_bytes = max_i64(out->height_bytes, s->offset + s->size);
    }
    VEC_FREE(&x.infos);
    VEC_FREE(&x.stays);
    mem_free(x.text[0]);
    mem_free(x.text[1]);
    return ok;
}
