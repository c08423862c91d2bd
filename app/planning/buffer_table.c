/* Columns over the buffers of a plan, and the sums below them. */
#include "planning/buffer_table.h"
#include "export/nest_words.h"
#include "picture/plan_index.h"

static const struct lx_buffer *buffer_table_buffer_of(const struct buffer_row *row)
{
    return &row->plan->problem.buffers[row->i];
}

static bool buffer_table_is_placed(const struct buffer_row *row)
{
    return row->plan->answer.address[row->i] >= 0;
}

const char *buffer_state(const struct lx_plan *p, int32_t i)
{
    if (p->answer.address[i] >= 0) return "on chip";
    return p->problem.buffers[i].reason ? "HBM only" : "off chip";
}

static void buffer_table_address_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct buffer_row *row = row_of_table;
    const struct lx_plan *p = row->plan;
    (void)column;
    if (!buffer_table_is_placed(row)) {
        v->words = "-";
        v->paint = PAINT_DIM;
        return;
    }
    value_whole(v, p->answer.address[row->i]);
    if (p->problem.pool_count > 1)
        value_format(v, "%s 0x%06llx", p->problem.pools[p->answer.pool[row->i]].name,
                     (unsigned long long)v->whole);
}

static void buffer_table_life_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_buffer *b = buffer_table_buffer_of(row_of_table);
    (void)column;
    value_whole(v, b->end - b->start);
    value_format(v, "%lld..%lld", (long long)b->start, (long long)b->end);
}

/* clang-format off */
VALUE_OF(buffer_table_slot_value, struct buffer_row,
    int32_t slot = row->plan->took_slot_of[row->i];
    v->words = slot >= 0 ? row->plan->problem.buffers[slot].name : "";)
/* The level of its nest that it is held in. */
VALUE_OF(hold_value, struct buffer_row,
    value_whole(v, row->plan->stays ? row->plan->stays[row->i].hold : 0);
    if (v->whole == 0) v->words = "";)
/* The number of tiles; the buffer holds one. */
VALUE_OF(buffer_table_tiles_value, struct buffer_row,
    bool tile = is_tile(row->plan, row->i);
    value_whole(v, tile ? tile_count(row->plan, row->i) : 0);
    if (tile)
        value_format(v, "1/%s", grouped(v->whole).at);
    else
        v->words = "";)
VALUE_OF(buffer_table_state_value, struct buffer_row,
    v->words = buffer_state(row->plan, row->i);
    v->paint = buffer_table_is_placed(row)           ? PAINT_GOOD
               : buffer_table_buffer_of(row)->reason ? PAINT_DIM
                                                     : PAINT_BAD;)
VALUE_OF(name_value,   struct buffer_row, v->words = buffer_table_buffer_of(row)->name;)
VALUE_OF(bytes_value,  struct buffer_row, value_whole(v, buffer_table_buffer_of(row)->size);)
VALUE_OF(uses_value,   struct buffer_row, value_dim(v, buffer_table_buffer_of(row)->use_count);)
VALUE_OF(cost_value,   struct buffer_row, value_dim(v, buffer_table_buffer_of(row)->spill_cost);)
VALUE_OF(moved_value,  struct buffer_row, value_dim(v, row->moved[row->i]);)
VALUE_OF(padding_value, struct buffer_row, v->number = plan_padding(row->plan, row->i); if (v->number == 0) v->words = ""; v->paint = v->number >= 0.75 ? PAINT_WARN : PAINT_DIM;)
VALUE_OF(reason_value, struct buffer_row, v->words = row->plan->reason[row->i] ? row->plan->reason[row->i] : ""; v->paint = PAINT_DIM;)

static const struct column buffer_array[BUFFER_COLUMNS] = {
    [BUFFER_NAME]    = {.key = "buffer",      .heading = "buffer",      .kind = VALUE_NAME,    .value = name_value},
    [BUFFER_BYTES]   = {.key = "bytes",       .heading = "bytes",       .kind = VALUE_BYTES,   .width = 11, .value = bytes_value},
    [BUFFER_LIFE]    = {.key = "life",        .heading = "life",        .kind = VALUE_MARK,    .width = 8,  .from = 66, .value = buffer_table_life_value},
    [BUFFER_USES]    = {.key = "uses",        .heading = "uses",        .kind = VALUE_NUMBER,  .width = 6,  .from = 96, .value = uses_value},
    [BUFFER_ADDRESS] = {.key = "address",     .heading = "address",     .kind = VALUE_ADDRESS, .width = 9,  .from = 56, .value = buffer_table_address_value},
    [BUFFER_COST]    = {.key = "cost",        .heading = "cost",        .kind = VALUE_BYTES,   .width = 11, .from = 76, .value = cost_value},
    [BUFFER_MOVED]   = {.key = "hbm_bytes",   .heading = "HBM bytes",   .kind = VALUE_BYTES,   .width = 11, .from = 36, .value = moved_value},
    [BUFFER_STATE]   = {.key = "state",       .heading = "state",       .kind = VALUE_WORDS,   .width = 8,  .from = 46, .value = buffer_table_state_value},
    [BUFFER_TILES]   = {.key = "tiles",       .heading = "tile",        .kind = VALUE_COUNT,   .width = 8,  .from = 66, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = buffer_table_tiles_value},
    [BUFFER_HOLD]    = {.key = "hold",        .heading = "hold",        .kind = VALUE_NUMBER,  .width = 4,  .from = 100, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = hold_value},
    [BUFFER_PADDING] = {.key = "padding",     .heading = "padding",     .kind = VALUE_SHARE,   .width = 8,  .from = 130, .flags = COLUMN_MAY_HIDE, .value = padding_value},
    [BUFFER_SLOT]    = {.key = "in_place_of", .heading = "in place of", .kind = VALUE_NAME,    .width = 16, .from = 180, .flags = COLUMN_MAY_HIDE, .value = buffer_table_slot_value},
    [BUFFER_REASON]  = {.key = "reason",      .heading = "reason",      .kind = VALUE_WORDS,   .from = 116, .value = reason_value},
};
/* clang-format on */

const struct columns plan_buffer_columns = COLUMNS("buffers of a plan", buffer_array);

void add_labelled(struct text *out, const char *label, const char *format, ...)
{
    char words[600];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    paint_add(out, PAINT_DIM, label);
    text_pad(out, ' ', 10 - strlen(label));
    text_add(out, words);
}

void add_wait_sums(const struct lx_op_wait *sum, struct text *out)
{
    double all = lx_wait_us(sum), hbm = sum->us[LX_WAIT_HBM];
    unsigned said = 0;
    if (!(all > 0)) return;
    for (int k; (k = largest_left(sum->us, LX_WAIT_COUNT, said)) >= 0; said |= 1u << k) {
        text_format(out, "%s%s %s", said ? ", " : "", lx_wait_word((enum lx_wait)k),
                    in_percent(sum->us[k] / all).at);
        int most = k == LX_WAIT_HBM ? largest_left(sum->of_hbm_us, LX_BYTE_KIND_COUNT, 0) : -1;
        if (most >= 0)
            text_format(out, " (%s of that for %s)", in_percent(sum->of_hbm_us[most] / hbm).at,
                        lx_byte_kind_word((enum lx_byte_kind)most));
    }
    text_format(out, " of %s", in_micros(all).at);
}
