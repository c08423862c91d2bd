/* How tensors of a team are cut, as a table and in words. */
#include "team/team_states.h"
#include "text/table.h"

const char *team_state_word(const struct lx_team_plan *p, int32_t tensor, int axis, struct text *room)
{
    int cut = p->tensors[tensor].cut[axis];
    if (axis >= p->grid.axes) return "";
    if (cut == -1) return "whole";
    if (cut < -1) return "parts of sums";
    text_format(room, "cut along %d", cut);
    return room->at ? room->at : "";
}

void add_state(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], struct text *out)
{
    bool any = false;
    for (int a = 0; a < grid->axes; a++) {
        if (cut[a] == -1) continue;
        text_add(out, any ? " and " : "");
        text_add(out, cut[a] == LX_TEAM_PARTIAL ? "in parts of sums" : any ? "along " : "cut along ");
        if (cut[a] != LX_TEAM_PARTIAL) text_format(out, "%d", cut[a]);
        if (grid->axes > 1) text_format(out, " by axis %d", a);
        any = true;
    }
    if (!any) text_add(out, "whole");
}

int64_t team_tensor_bytes(const struct lx_team_plan *p, int32_t tensor)
{
    int64_t bytes = 0;
    for (int32_t e = 0; e < p->exchange_count; e++)
        if (p->exchanges[e].tensor == tensor) bytes += p->exchanges[e].bytes;
    for (int32_t o = 0; o < p->graph->op_count; o++)
        if (p->graph->ops[o].output == tensor) bytes += lx_team_combined(p, o);
    return bytes;
}

void add_largest_part(const struct lx_team_plan *p, int32_t tensor, struct text *out)
{
    const struct lx_tensor *t = &p->graph->tensors[tensor];
    int64_t size[LX_MAX_RANK] = {0};
    for (int d = 0; d < t->rank; d++) {
        const int64_t *bound = p->tensors[tensor].bound[d];
        if (!bound) size[d] = t->shape[d];
        for (int b = 0; bound && b < lx_team_blocks(&p->grid, p->tensors[tensor].cut, d); b++)
            if (bound[b + 1] - bound[b] > size[d]) size[d] = bound[b + 1] - bound[b];
        text_format(out, d ? " x %lld" : "%lld", (long long)size[d]);
    }
    if (t->rank == 0) text_add(out, "one number");
}

static void shape_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_tensor_row *row = row_of_table;
    const struct lx_tensor *t = &row->plan->graph->tensors[row->tensor];
    (void)column;
    for (int d = 0; d < t->rank; d++) value_format(v, d ? " x %lld" : "%lld", (long long)t->shape[d]);
    v->paint = PAINT_DIM;
}

static void axis_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_tensor_row *row = row_of_table;
    v->words = team_state_word(row->plan, row->tensor, column->argument, &v->made);
    if (row->plan->tensors[row->tensor].cut[column->argument] == -1) v->paint = PAINT_DIM;
    if (row->plan->tensors[row->tensor].cut[column->argument] < -1) v->paint = PAINT_WARN;
}

/* clang-format off */
VALUE_OF(name_value,  struct team_tensor_row, v->words = row->plan->graph->tensors[row->tensor].name;)
VALUE_OF(role_value,  struct team_tensor_row, v->words = lx_role_word(row->plan->graph->tensors[row->tensor].role); v->paint = PAINT_DIM;)
VALUE_OF(part_value,  struct team_tensor_row, add_largest_part(row->plan, row->tensor, &v->made); v->words = v->made.at;)
VALUE_OF(bytes_value, struct team_tensor_row, value_dim(v, team_tensor_bytes(row->plan, row->tensor));)

static const struct column state_array[] = {
    {.key = "tensor", .heading = "tensor", .kind = VALUE_NAME,  .value = name_value},
    {.key = "role",   .heading = "role",   .kind = VALUE_WORDS, .value = role_value},
    {.key = "shape",  .heading = "shape",  .kind = VALUE_WORDS, .value = shape_value},
    {.key = "axis_0", .heading = "axis 0", .kind = VALUE_WORDS, .argument = 0, .value = axis_value},
    {.key = "axis_1", .heading = "axis 1", .kind = VALUE_WORDS, .argument = 1, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = axis_value},
    {.key = "axis_2", .heading = "axis 2", .kind = VALUE_WORDS, .argument = 2, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = axis_value},
    {.key = "part",   .heading = "part",   .kind = VALUE_WORDS, .value = part_value},
    {.key = "bytes",  .heading = "bytes received", .kind = VALUE_BYTES, .value = bytes_value},
};
/* clang-format on */
_Static_assert(LX_TEAM_AXES == 3, "a column per axis");

const struct columns team_state_columns = COLUMNS("states of a team's tensors", state_array);
