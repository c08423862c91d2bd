/* Times and messages of a team's plan as tables: its steps, its links, its devices. */
#include "team/team_show.h"
#include "text/table.h"

#define STEP (&row->plan->steps[row->step])

/* Zero is blank. */
static void team_time_tables_time_value(double us, bool is_there, struct value *v)
{
    v->number = is_there ? us : NAN;
    if (!is_there) v->words = "";
}

static void amount_value(int64_t n, struct value *v)
{
    value_whole(v, n);
    if (n == 0) v->words = "";
}

static enum paint paint_of_step(enum lx_team_step_kind kind)
{
    return kind == LX_TEAM_COMPUTE ? PAINT_PLAIN : kind == LX_TEAM_WAIT ? PAINT_WARN : PAINT_GOOD;
}

static const char *piece_of_step(const struct lx_team_plan *p, const struct lx_team_step *s)
{
    if (s->kind == LX_TEAM_START) return lx_team_pattern_word(p->exchanges[s->exchange].pattern);
    return s->kind == LX_TEAM_COMPUTE && s->piece != LX_TEAM_ALL ? lx_team_piece_word(s->piece) : "";
}

static void axes_value(unsigned axes, struct value *v)
{
    add_axes(axes, &v->made);
    v->words = v->made.at ? v->made.at : "";
}

/* clang-format off */
VALUE_OF(step_value,     struct team_step_figures, v->number = row->step;)
VALUE_OF(what_value,     struct team_step_figures, v->words = lx_team_step_word(STEP->kind); v->paint = paint_of_step(STEP->kind);)
VALUE_OF(of_value,       struct team_step_figures, v->words = team_step_name(row->plan, row->step);)
VALUE_OF(piece_value,    struct team_step_figures, v->words = piece_of_step(row->plan, STEP); v->paint = PAINT_DIM;)
VALUE_OF(step_axes_value,struct team_step_figures, axes_value(row->axes, v);)
VALUE_OF(waiter_value,   struct team_step_figures, team_time_tables_time_value(row->waiter, row->waiter >= 0, v);)
VALUE_OF(messages_value, struct team_step_figures, amount_value(row->messages, v);)
VALUE_OF(bytes_value,    struct team_step_figures, amount_value(row->bytes, v);)
VALUE_OF(from_value,     struct team_step_figures, team_time_tables_time_value(row->from, row->from >= 0, v);)
VALUE_OF(to_value,       struct team_step_figures, team_time_tables_time_value(row->to, row->from >= 0, v);)
VALUE_OF(waited_value,   struct team_step_figures, team_time_tables_time_value(row->waited, row->waiter >= 0, v); v->paint = PAINT_WARN;)

static const struct column step_array[] = {
    {.key = "step",     .heading = "step",     .kind = VALUE_NUMBER, .value = step_value},
    {.key = "kind",     .heading = "what",     .kind = VALUE_WORDS,  .value = what_value},
    {.key = "of",       .heading = "of",       .kind = VALUE_NAME,   .value = of_value},
    {.key = "how",      .heading = "how",      .kind = VALUE_WORDS,  .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = piece_value},
    {.key = "messages", .heading = "messages", .kind = VALUE_COUNT,  .flags = COLUMN_MAY_LACK, .value = messages_value},
    {.key = "bytes",    .heading = "bytes",    .kind = VALUE_BYTES,  .flags = COLUMN_MAY_LACK, .value = bytes_value},
    {.key = "axes",     .heading = "over axis",.kind = VALUE_WORDS,  .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = step_axes_value},
    {.key = "from_us",  .heading = "from",     .kind = VALUE_MICROS, .digits = 9, .value = from_value},
    {.key = "to_us",    .heading = "to",       .kind = VALUE_MICROS, .digits = 9, .value = to_value},
    {.key = "waited_us",.heading = "waits",    .kind = VALUE_MICROS, .digits = 9, .flags = COLUMN_MAY_LACK, .value = waited_value},
    {.key = "waiter",   .heading = "device",   .kind = VALUE_NUMBER, .value = waiter_value},
};
/* clang-format on */

#undef STEP

/* clang-format off */
VALUE_OF(link_axes_value,     struct team_link_figures, axes_value(row->axes, v);)
VALUE_OF(link_messages_value, struct team_link_figures, value_whole(v, row->messages);)
VALUE_OF(link_bytes_value,    struct team_link_figures, value_whole(v, row->bytes);)
VALUE_OF(link_us_value,       struct team_link_figures, v->number = row->us;)
VALUE_OF(busiest_value,       struct team_link_figures, v->number = row->busiest;)

static const struct column link_array[] = {
    {.key = "axes",     .heading = "over axis",      .kind = VALUE_WORDS,  .value = link_axes_value},
    {.key = "messages", .heading = "messages",       .kind = VALUE_COUNT,  .value = link_messages_value},
    {.key = "bytes",    .heading = "bytes",          .kind = VALUE_BYTES,  .value = link_bytes_value},
    {.key = "link_us",  .heading = "on links",    .kind = VALUE_MICROS, .digits = 9, .value = link_us_value},
    {.key = "busiest",  .heading = "most of device", .kind = VALUE_NUMBER, .value = busiest_value},
};
/* clang-format on */

static void longest_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_device_figures *row = row_of_table;
    (void)column;
    v->words = "";
    v->paint = PAINT_DIM;
    if (row->longest_step < 0) return;
    value_add(v, team_step_name(row->plans->team, row->longest_step));
    if (row->late >= 0) value_format(v, " of device %d", row->late);
}

/* clang-format off */
VALUE_OF(device_value,   struct team_device_figures, v->number = row->device;)
VALUE_OF(at_value,       struct team_device_figures, add_coordinates(&row->plans->team->grid, row->device, &v->made); v->words = v->made.at ? v->made.at : ""; v->paint = PAINT_DIM;)
VALUE_OF(ops_value,      struct team_device_figures, value_whole(v, row->ops);)
VALUE_OF(hbm_value,      struct team_device_figures, value_whole(v, row->hbm_bytes);)
VALUE_OF(sent_value,     struct team_device_figures, value_whole(v, row->sent_bytes);)
VALUE_OF(busy_value,     struct team_device_figures, v->number = row->busy;)
VALUE_OF(wait_value,     struct team_device_figures, v->number = row->waited; v->paint = row->waited > 0 ? PAINT_WARN : PAINT_DIM;)
VALUE_OF(links_value,    struct team_device_figures, v->number = row->links;)
VALUE_OF(beside_value,   struct team_device_figures, v->number = row->beside; v->paint = PAINT_DIM;)
VALUE_OF(end_value,      struct team_device_figures, v->number = row->us;)

static const struct column time_array[] = {
    {.key = "member",     .heading = "device",          .kind = VALUE_NUMBER, .value = device_value},
    {.key = "at",         .heading = "at",              .kind = VALUE_WORDS,  .value = at_value},
    {.key = "ops",        .heading = "ops",             .kind = VALUE_COUNT,  .value = ops_value},
    {.key = "hbm_bytes",  .heading = "HBM planned",     .kind = VALUE_BYTES,  .value = hbm_value},
    {.key = "sent_bytes", .heading = "sent",            .kind = VALUE_BYTES,  .value = sent_value},
    {.key = "busy_us",    .heading = "busy",            .kind = VALUE_MICROS, .digits = 9, .value = busy_value},
    {.key = "waited_us",  .heading = "waits",           .kind = VALUE_MICROS, .digits = 9, .value = wait_value},
    {.key = "link_us",    .heading = "links",           .kind = VALUE_MICROS, .digits = 9, .value = links_value},
    {.key = "beside_us",  .heading = "hidden",          .kind = VALUE_MICROS, .digits = 9, .value = beside_value},
    {.key = "us",         .heading = "done at",         .kind = VALUE_MICROS, .digits = 9, .value = end_value},
    {.key = "longest",    .heading = "longest for",     .kind = VALUE_WORDS,  .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = longest_value},
};
/* clang-format on */

const struct columns team_step_columns = COLUMNS("steps of a team", step_array);
const struct columns team_link_columns = COLUMNS("links of a team", link_array);
const struct columns team_time_columns = COLUMNS("times of a team's devices", time_array);
