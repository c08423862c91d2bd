/* How the value of each kind is written, and which columns of a table fit a width: each says from which width
 * on it is there, and the one without a width of its own gets the rest. */
#include "text/column.h"
#include "text/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* How people read the number of a kind. Kinds without one show words only. */
static void add_flag(struct text *out, const struct value *v)
{
    text_add(out, v->number != 0 ? "yes" : "");
}

static int64_t column_whole_of(const struct value *v)
{
    return v->is_whole ? v->whole : (int64_t)llround(v->number);
}

static void add_count(struct text *out, const struct value *v)
{
    text_add(out, grouped(column_whole_of(v)).at);
}

static void column_add_number(struct text *out, const struct value *v)
{
    text_format(out, "%" PRId64, column_whole_of(v));
}

static void add_address(struct text *out, const struct value *v)
{
    text_format(out, "0x%06" PRIx64, (uint64_t)column_whole_of(v));
}

static void add_seconds(struct text *out, const struct value *v)
{
    text_add(out, in_time(v->number).at);
}

static void add_micros(struct text *out, const struct value *v)
{
    text_format(out, "%.2f", v->number);
}

static void column_add_share(struct text *out, const struct value *v)
{
    text_add(out, in_percent(v->number).at);
}

static void column_add_ratio(struct text *out, const struct value *v)
{
    bool large = v->number >= 999.5 && v->number < 1e15; /* which three digits would write as 1e+03 */
    if (large)
        text_add(out, grouped(llround(v->number)).at);
    else
        text_format(out, "%.3g", v->number);
}

static void (*const forms[VALUE_KIND_COUNT])(struct text *, const struct value *) = {
    [VALUE_BOOL] = add_flag,     [VALUE_COUNT] = add_count,        [VALUE_NUMBER] = column_add_number,
    [VALUE_BYTES] = add_count,   [VALUE_ADDRESS] = add_address,    [VALUE_SECONDS] = add_seconds,
    [VALUE_MICROS] = add_micros, [VALUE_SHARE] = column_add_share, [VALUE_RATIO] = column_add_ratio,
};

#define VALUE_RIGHT(id, right) right,
static const bool at_right[] = {VALUE_KINDS(VALUE_RIGHT)};
#undef VALUE_RIGHT

bool kind_is_number(enum value_kind kind)
{
    return forms[kind] != NULL;
}

bool column_is_right(const struct column *c)
{
    return at_right[c->kind];
}

int column_cut(const struct column *c)
{
    return c->kind != VALUE_NAME ? 0 : c->width ? c->width : NAME_COLUMNS;
}

void value_format(struct value *v, const char *format, ...)
{
    char line[400];
    va_list args;
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
    switch (c->member & ~MEMBER_VIA) {
    case MEMBER_CHARS:
        v->words = x;
        break;
    case MEMBER_WORDS:
        v->words = *(const char *const *)x;
        break;
    case MEMBER_BOOL:
        v->number = *(const bool *)x;
        break;
    case MEMBER_INT32:
        value_whole(v, *(const int32_t *)x);
        break;
    case MEMBER_INT64:
        value_whole(v, *(const int64_t *)x);
        break;
    default:
        v->number = *(const double *)x;
    }
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
    if (v->words) return v->words;
    if (!forms[c->kind]) return "";
    if (isnan(v->number)) return "-";
    if (isinf(v->number)) return c->kind == VALUE_SHARE ? "no bound" : "never";
    forms[c->kind](&v->made, v);
    return v->made.at ? v->made.at : "";
}

bool value_is_nothing(const struct value *v)
{
    return v->words ? !*v->words : isnan(v->number) || v->number == 0;
}

static bool column_is_shown(const struct column *c, int room)
{
    return c->heading && room >= c->from;
}

/* Columns that are left, with a blank before each but the first. */
static int column_room_left(const struct columns *all, int room)
{
    int left = room + 1;
    for (size_t i = 0; i < all->count; i++)
        if (column_is_shown(&all->at[i], room)) left -= all->at[i].width + all->at[i].gap + 1;
    return left > 0 ? left : 0;
}

int columns_fit(const struct columns *all, int room, struct column_place *places)
{
    int at = 0, rest = column_room_left(all, room), end = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct column *c = &all->at[i];
        places[i] = (struct column_place){at + c->gap, c->width};
        if (!column_is_shown(c, room)) places[i].width = 0;
        if (column_is_shown(c, room) && c->width == 0)
            places[i].width = c->most && rest > c->most ? c->most : rest;
        if (places[i].width == 0) continue;
        end = places[i].at + places[i].width;
        at = end + 1;
    }
    return end;
}
