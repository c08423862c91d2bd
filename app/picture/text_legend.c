/* The tables below a map in plain text: letters with their buffers, and buffers off chip with their
 * reasons. */
#include "picture/picture.h"
#include "base/memory.h"
#include "export/nest_words.h"
#include "text/colour.h"
#include "text/format.h"
#include "text/table.h"

#include <stdio.h>

enum { MOST_LISTED = LETTER_COUNT };

/* One buffer of the picture. */
struct legend_row {
    const struct lx_plan *plan;
    const struct lx_buffer *is;
    int32_t i;
    char letter;
};

/* With its pool, where there are several. */
static void text_legend_address_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct legend_row *row = row_of_table;
    const struct lx_plan *p = row->plan;
    int64_t at = p->answer.address[row->i];
    (void)column;
    if (p->problem.pool_count > 1)
        value_format(v, "%s %lld", p->problem.pools[p->answer.pool[row->i]].name, (long long)at);
    else
        value_whole(v, at);
}

/* All of them, as far as they fit. */
static void text_legend_life_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_buffer *b = ((const struct legend_row *)row_of_table)->is;
    char words[120];
    int n = 0;
    int32_t k = 0;
    (void)column;
    for (; k < lx_life_count(b) && n < 40; k++) {
        struct lx_life life = lx_life_at(b, k);
        n += snprintf(words + n, sizeof words - (size_t)n, "%s%lld..%lld", k ? " " : "",
                      (long long)life.start, (long long)life.end);
    }
    value_format(v, "%s%s", words, k < lx_life_count(b) ? " ..." : "");
}

/* clang-format off */
VALUE_OF(letter_value,  struct legend_row, value_format(v, "%c", row->letter); v->paint = PAINT_HEADING;)
VALUE_OF(name_value,    struct legend_row, v->words = row->is->name;)
VALUE_OF(bytes_value,   struct legend_row, value_whole(v, row->is->size);)
VALUE_OF(slot_value,    struct legend_row, int32_t slot = row->plan->took_slot_of[row->i];
         v->words = slot >= 0 ? row->plan->problem.buffers[slot].name : "";)
VALUE_OF(tile_value,    struct legend_row, if (is_tile(row->plan, row->i)) /* "1 of 16, held in level 1" */
         value_format(v, "1 of %s, held in level %d", grouped(tile_count(row->plan, row->i)).at, row->plan->stays[row->i].hold);)
VALUE_OF(cost_value,    struct legend_row, value_whole(v, row->is->spill_cost);)
VALUE_OF(reason_value,  struct legend_row, v->words = row->plan->reason[row->i]; v->paint = PAINT_DIM;)

static const struct column on_chip_array[] = {
    {.key = "letter",      .heading = "",            .kind = VALUE_WORDS,   .value = letter_value},
    {.key = "buffer",      .heading = "on chip",     .kind = VALUE_NAME,    .value = name_value},
    {.key = "bytes",       .heading = "bytes",       .kind = VALUE_BYTES,   .value = bytes_value},
    {.key = "life",        .heading = "life",        .kind = VALUE_MARK,    .value = text_legend_life_value},
    {.key = "address",     .heading = "address",     .kind = VALUE_ADDRESS, .value = text_legend_address_value},
    {.key = "tile",        .heading = "tile",        .kind = VALUE_WORDS,   .flags = COLUMN_MAY_HIDE, .value = tile_value},
    {.key = "in_place_of", .heading = "in place of", .kind = VALUE_NAME,    .value = slot_value},
};

static const struct column off_chip_array[] = {
    {.key = "buffer", .heading = "off chip", .kind = VALUE_NAME,  .value = name_value},
    {.key = "bytes",  .heading = "bytes",    .kind = VALUE_BYTES, .value = bytes_value},
    {.key = "life",   .heading = "life",     .kind = VALUE_MARK,  .value = text_legend_life_value},
    {.key = "cost",   .heading = "cost",     .kind = VALUE_BYTES, .value = cost_value},
    {.key = "reason", .heading = "reason",   .kind = VALUE_WORDS, .value = reason_value},
};
/* clang-format on */

const struct columns on_chip_columns = COLUMNS("buffers on chip", on_chip_array);
const struct columns off_chip_columns = COLUMNS("buffers off chip", off_chip_array);

static struct legend_row legend_of(const struct lx_plan *p, int32_t i)
{
    return (struct legend_row){p, &p->problem.buffers[i], i, identity_letter(buffer_identity(p, i))};
}

void text_legend(const struct lx_plan *p, const struct picture *how, struct text *out)
{
    struct legend_row *rows = mem_alloc(((size_t)p->problem.count + 1) * sizeof *rows);
    int32_t placed = 0;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0) rows[placed++] = legend_of(p, i);
    int32_t shown = how->all || placed < MOST_LISTED ? placed : MOST_LISTED;
    text_add(out, placed ? "\n" : "\n  nothing is on chip\n");
    if (placed) table_add_text(&TABLE(on_chip_columns, rows, shown), out);
    mem_free(rows);
    if (shown < placed)
        text_format(out, "  ... %s more; letters repeat after 62; --all lists them\n",
                    counted(placed - shown, "buffer").at);
}

void text_off_chip(const struct lx_plan *p, const struct picture *how, struct text *out)
{
    int32_t count = 0, *order = off_chip_by_cost(p, &count);
    struct legend_row *rows = mem_alloc(((size_t)count + 1) * sizeof *rows);
    int32_t shown = how->all || count < MOST_LISTED ? count : MOST_LISTED;
    for (int32_t k = 0; k < shown; k++) rows[k] = legend_of(p, order[k]);
    text_add(out, count ? "\n" : "\n  nothing is off chip\n");
    if (count) table_add_text(&TABLE(off_chip_columns, rows, shown), out);
    mem_free(order);
    mem_free(rows);
    if (shown < count)
        text_format(out, "  ... %s more, each cheaper; --all lists them\n",
                    counted(count - shown, "buffer").at);
}
