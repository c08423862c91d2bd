/* How the value of each kind is written, and which columns of a table fit a width: each says from which width
 * on it is there, and the one without a width of its own gets the rest. */
#include "text/column.h"
#include "text/format.h"

#define VALUE_RIGHT(id, right) right,
static const bool at_right[] = {VALUE_KINDS(VALUE_RIGHT)};
#undef VALUE_RIGHT

bool kind_is_number(enum value_kind kind)
{
    return kind >= VALUE_BOOL;
}

bool column_is_right(const struct column *c)
{
    return at_right[c->kind];
}

void value_format(struct value *v, const char *format, ...)
{
    char line[400];
    va_list args;
    if (v->is_key && v->is_whole) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    value_add(v, line);
}

void value_add(struct value *v, const char *words)
{
    text_add(&v->made, words);
    v->words = v->made.at ? v->made.at : "";
}

void value_whole(struct value *v, int64_t n)
{
    v->number = (double)n;
    v->whole = n;
    v->is_whole = true;
}

void value_dim(struct value *v, int64_t n)
{
    value_whole(v, n);
    v->paint = n ? PAINT_PLAIN : PAINT_DIM;
}

void value_free(struct value *v)
{
    text_free(&v->made);
    *v = (struct value){0};
}

static void column_member(const struct column *c, const void *row, struct value *v)
{
    const void *x = (const char *)row + c->at;
    if (c->member & MEMBER_VIA) x = *(const char *const *)x + c->inner;
    int kind = c->member & ~MEMBER_VIA;
    if (kind == MEMBER_CHARS) v->words = x;
    if (kind == MEMBER_WORDS) v->words = *(const char *const *)x;
    if (kind == MEMBER_BOOL) v->number = *(const bool *)x;
    if (kind == MEMBER_INT32) value_whole(v, *(const int32_t *)x);
    if (kind == MEMBER_INT64) value_whole(v, *(const int64_t *)x);
    if (kind == MEMBER_DOUBLE) v->number = *(const double *)x;
    if (c->flags & COLUMN_DIM) v->paint = PAINT_DIM;
}

void column_value(const struct column *c, const void *row, struct value *v)
{
    v->made.length = 0;
    if (v->made.at) v->made.at[0] = 0;
    v->words = NULL;
    v->number = NAN;
    v->is_whole = false;
    v->paint = PAINT_PLAIN;
    if (c->value)
        c->value(row, c, v);
    else
        column_member(c, row, v);
}

const char *column_words(const struct column *c, struct value *v)
{
    struct text *out = &v->made;
    if (v->words) return v->words;
    if (!kind_is_number(c->kind)) return "";
    if (isnan(v->number)) return "-";
    if (isinf(v->number)) return c->kind == VALUE_SHARE ? "no bound" : "never";
    int64_t whole = v->is_whole ? v->whole : llround(v->number);
    /* Three digits would write large ratios as 1e+03. */
    bool short_ratio = c->kind == VALUE_RATIO && (v->number < 999.5 || v->number >= 1e15);
    if (c->kind == VALUE_BOOL) return v->number != 0 ? "yes" : "";
    if (c->kind == VALUE_NUMBER)
        text_format(out, "%" PRId64, whole);
    else if (c->kind == VALUE_ADDRESS)
        text_format(out, "0x%06" PRIx64, (uint64_t)whole);
    else if (short_ratio)
        text_format(out, "%.3g", v->number);
    else
        text_add(out, (c->kind == VALUE_SECONDS  ? in_time(v->number)
                       : c->kind == VALUE_MICROS ? in_micros(v->number)
                       : c->kind == VALUE_SHARE  ? in_percent(v->number)
                                                 : grouped(whole))
                          .at);
    return out->at ? out->at : "";
}

bool value_is_nothing(const struct value *v)
{
    return v->words ? !*v->words : isnan(v->number) || v->number == 0;
}

int columns_fit(const struct columns *all, int room, struct column_place *places)
{
    int at = 0, rest = room + 1, end = 0; /* with a blank before each but the first */
    for (size_t i = 0; i < all->count; i++) {
        const struct column *c = &all->at[i];
        if (c->heading && room >= c->from) rest -= c->width + c->gap + 1;
    }
    if (rest < 0) rest = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct column *c = &all->at[i];
        places[i] = (struct column_place){at + c->gap, c->width};
        if (!c->heading || room < c->from)
            places[i].width = 0;
        else if (c->width == 0)
            places[i].width = c->most && rest > c->most ? c->most : rest;
        if (places[i].width == 0) continue;
        end = places[i].at + places[i].width;
        at = end + 1;
    }
    return end;
}
