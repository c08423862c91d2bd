/* Collectives as sums, copies and shifts along the leading dimensions. */
#include "team/program_maker.h"
#include "graph/op_params.h"

/* Extents of an operand of a collective. An operand that cannot be cut in place is cut here at all points,
 * and into parts. */
static int program_together_shape(const struct program *p, const struct lx_op *op, bool output,
                                  const struct cut_points *common, int64_t *extent)
{
    int32_t t = output ? op->output : op->inputs[0];
    struct operand_parts parts = program_parts(p->g, op, output);
    if (!program_apart(p, op, output)) return program_shape(p, t, extent);
    int n = program_front(p, t, extent);
    for (int i = 0; i < common->count; i++) {
        for (int k = 0; common->at[i] == parts.inner && parts.parts > 1 && k < op->params->group_count; k++)
            if (p->g->grid[op->params->group[k]] > 1 && n <= LX_MAX_RANK)
                extent[n++] = p->g->grid[op->params->group[k]];
        if (i + 1 < common->count && n <= LX_MAX_RANK) extent[n++] = common->at[i] / common->at[i + 1];
    }
    return n;
}

/* Adds a tensor of that shape for an operand that cannot be cut in place. */
static int32_t program_together_stand_in(struct program *p, const struct lx_op *op, bool output,
                                         const struct cut_points *common, char *name, size_t size)
{
    int32_t t = output ? op->output : op->inputs[0];
    int64_t extent[LX_MAX_RANK + LX_GRID_AXES];
    int rank = program_together_shape(p, op, output, common, extent), at = 0;
    if (rank > LX_MAX_RANK && !p->failed) {
        status_set_at(
            p->st, LX_E_LIMIT, p->g->file, op->line, 0,
            "op %s would have more than %d dimensions with those of the grid; plan the graph for one "
            "device",
            op->name, LX_MAX_RANK);
        p->failed = true;
    }
    snprintf(name, size, "%.200s~%d", op->name, p->serial++);
    int32_t to = program_tensor(p, name, LX_INTERMEDIATE, p->g->tensors[t].dtype, rank, extent);
    if (to < 0) return -1;
    struct lx_tensor *made = &p->b.tensors.at[to];
    made->cut_stated = output;
    for (int a = 0; a < LX_GRID_AXES; a++) made->cut[a] = (signed char)(p->varies[t] >> a & 1 ? at++ : -1);
    return to;
}

static void program_together_reshape(struct program *p, const char *name, int32_t from, int32_t to)
{
    struct lx_op op = builder_plain(name, LX_KIND_RESHAPE, 1, &from, to);
    program_add(p, &op);
}

/* Adds the op, with reshapes to and from stand-in tensors. */
static void program_together_add(struct program *p, const struct lx_op *op, const struct cut_points *common,
                                 struct lx_op *to)
{
    char before[256], behind[256];
    int32_t from = to->inputs[0], inputs[2] = {from, to->inputs[1]};
    bool apart = program_apart(p, op, true);
    if (program_apart(p, op, false)) {
        inputs[0] = program_together_stand_in(p, op, false, common, before, sizeof before);
        program_together_reshape(p, before, from, inputs[0]);
    }
    to->inputs = inputs;
    to->output = apart ? program_together_stand_in(p, op, true, common, behind, sizeof behind) : op->output;
    if (apart) to->name = behind;
    program_add(p, to);
    if (apart) program_together_reshape(p, op->name, to->output, op->output);
}

/* Puts the letters of an operand: `letter` for parts of both operands, and `group`, per axis, where device
 * parts are in a dimension. */
static void program_together_put(const struct program *p, const struct lx_op *op, bool output,
                                 const struct cut_points *common, const char *letter, const char *unit,
                                 const char *group, struct string_of *s)
{
    int32_t t = output ? op->output : op->inputs[0];
    struct operand_parts parts = program_parts(p->g, op, output);
    int64_t extent[LX_MAX_RANK + LX_GRID_AXES], trail = 1;
    int rank = program_together_shape(p, op, output, common, extent),
        front = __builtin_popcount(p->varies[t]), units = 0;
    for (int d = front; d < rank; d++) trail *= extent[d];
    for (int d = front; d < rank; d++) {
        trail /= extent[d];
        if (extent[d] == 1) {
            program_put(s, unit[units++]);
        } else if (parts.parts > 1 && trail >= parts.inner && trail < parts.inner * parts.parts) {
            int64_t behind = parts.inner;
            for (int i = op->params->group_count - 1; i >= 0; i--) {
                if (behind == trail && p->g->grid[op->params->group[i]] > 1)
                    program_put(s, group[op->params->group[i]]);
                behind *= p->g->grid[op->params->group[i]];
            }
        } else {
            int64_t low = parts.parts == 1 || trail < parts.inner ? trail : trail / parts.parts;
            for (int i = 0; i + 1 < common->count; i++)
                if (common->at[i + 1] == low) program_put(s, letter[i]);
        }
    }
}

static void program_together_refuse(struct program *p, const struct lx_op *op, const char *why)
{
    if (!p->failed)
        status_set_at(p->st, LX_E_UNSUPPORTED, p->g->file, op->line, 0,
                      "op %s (%s): %s; or plan the graph for one device", op->name, op->kind->name, why);
    p->failed = true;
}

/* Adds the coordinates of all devices along these axes: the last dimension counts the axes. */
static int32_t program_together_places(struct program *p, const struct lx_op *op, unsigned axes)
{
    int64_t extent[LX_GRID_AXES + 1], count = 1;
    int rank = 0, n = __builtin_popcount(axes);
    char name[256];
    for (int a = 0; a < LX_GRID_AXES; a++)
        if (axes >> a & 1) count *= extent[rank++] = p->g->grid[a];
    extent[rank++] = n;
    double *numbers = arena_array(p->b.memory, (size_t)(count * n), sizeof *numbers);
    int64_t *wholes = arena_array(p->b.memory, (size_t)(count * n), sizeof *wholes);
    for (int64_t i = 0; i < count * n; i++) {
        int64_t place = i / n;
        for (int d = n - 1; d > i % n; d--) place /= extent[d];
        numbers[i] = (double)(wholes[i] = place % extent[i % n]);
    }
    struct lx_op_data data = {.count = count * n, .numbers = numbers, .wholes = wholes};
    snprintf(name, sizeof name, "%.200s~%d", op->name, p->serial++);
    int32_t to = program_tensor(p, name, LX_INTERMEDIATE, LX_INT32, rank, extent);
    struct lx_op places = builder_plain(name, LX_KIND_CONSTANT, 0, NULL, to);
    places.data = arena_copy_array(p->b.memory, &data, 1, sizeof data);
    program_add(p, &places);
    return to;
}

/* Letters of a collective: of its axes in front of operands, and of the parts in a dimension. */
struct together_letters {
    struct cut_points common;
    char letter[PROGRAM_CUTS], unit[LX_MAX_RANK], of_part[LX_GRID_AXES], front[LX_GRID_AXES];
};

/* Writes the index string, with an index operand that has `picks` in front, and a letter of its own. */
static void program_together_write(struct program *p, const struct lx_op *op, unsigned group, unsigned picks,
                                   struct together_letters *l, struct string_of *s)
{
    enum lx_kind_id id = op->kind->id;
    bool takes = id == LX_KIND_DEVICE_PART || id == LX_KIND_REDUCE_SCATTER || id == LX_KIND_ALL_TO_ALL;
    l->common = program_common(p, op);
    for (int i = 0; i + 1 < l->common.count; i++) l->letter[i] = program_letter(s);
    for (int i = 0; i < LX_MAX_RANK; i++) l->unit[i] = program_letter(s);
    for (int a = 0; a < LX_GRID_AXES; a++) {
        l->of_part[a] = takes ? program_letter(s) : s->axis[a];
        l->front[a] = takes && (group & ~picks) >> a & 1 ? l->of_part[a] : s->axis[a];
    }
    program_put_front(p, s, op->inputs[0], s->axis);
    program_together_put(p, op, false, &l->common, l->letter, l->unit, l->of_part, s);
    if (picks) program_put(s, ',');
    for (int a = 0; a < LX_GRID_AXES; a++)
        if (picks >> a & 1) program_put(s, s->axis[a]);
    if (picks) program_put(s, program_letter(s));
    program_put(s, '-'), program_put(s, '>');
    program_put_front(p, s, op->output, l->front);
    program_together_put(p, op, true, &l->common, l->letter, l->unit, s->axis, s);
    program_put(s, 0);
    if (s->failed) program_together_refuse(p, op, "too many indices; join dimensions");
}

/* A sum over the devices of a group; `own`: axes along which contents differ. Where none does, the terms are
 * equal: one is multiplied by their number, or is the largest. */
static void program_together_join(const struct program *p, const struct lx_op *op, unsigned own,
                                  unsigned group, struct lx_op *to)
{
    static const enum lx_kind_id sums[LX_COMBINE_COUNT] = {LX_KIND_SUM, LX_KIND_SUM, LX_KIND_PROD,
                                                           LX_KIND_MIN, LX_KIND_MAX};
    enum lx_kind_id sum = sums[op->params->combine];
    if (own & group) {
        to->kind = lx_kind_at(sum);
    } else if (group && sum == LX_KIND_SUM) {
        to->kind = lx_kind_at(LX_KIND_MUL);
        to->has_value = true;
        to->value = 1;
        for (int a = 0; a < LX_GRID_AXES; a++)
            if (group >> a & 1) to->value *= p->g->grid[a];
    }
}

/* Gathers, sums and exchanges of parts as one index string. Where only some devices of a group differ, or
 * terms are multiplied, all get contents of their own; a part of such contents is chosen by place. */
static void program_together_move(struct program *p, const struct lx_op *op)
{
    int32_t t = op->inputs[0], inputs[2] = {t, -1};
    unsigned group = program_group(p, op), own = p->varies[t], all = own, picks = 0;
    enum lx_kind_id id = op->kind->id;
    bool joins = id == LX_KIND_ALL_REDUCE || id == LX_KIND_REDUCE_SCATTER;
    struct string_of s = program_string(p);
    struct together_letters l;
    struct lx_op_params params = op_params_none();
    struct lx_op to = {.name = op->name, .input_count = 1, .kind = lx_kind_at(LX_KIND_CLONE)};
    if (id == LX_KIND_ALL_TO_ALL || (joins && (own & group || op->params->combine == LX_COMBINE_MUL)))
        all |= group;
    if (id == LX_KIND_DEVICE_PART) picks = own & group;
    inputs[0] = program_broadcast(p, op, 0, all);
    p->varies[t] = (unsigned char)all;
    program_together_write(p, op, group, picks, &l, &s);
    if (joins) program_together_join(p, op, all, group, &to);
    int64_t *axes = arena_array(p->b.memory, LX_GRID_AXES, sizeof *axes);
    for (int a = 0; a < LX_GRID_AXES; a++)
        if (picks >> a & 1) axes[params.axis_count++] = strchr(s.text, l.of_part[a]) - s.text;
    if (picks) {
        inputs[1] = program_together_places(p, op, picks);
        params.axes = axes;
        to.params = &params;
        to.kind = lx_kind_at(LX_KIND_GATHER);
        to.input_count = 2;
    }
    to.einsum = s.text;
    to.inputs = inputs;
    program_together_add(p, op, &l.common, &to);
    p->varies[t] = (unsigned char)own;
}

static void program_together_shift(struct program *p, const char *name, int32_t from, int32_t to, int at,
                                   int64_t by)
{
    int64_t offset[LX_MAX_RANK + LX_GRID_AXES] = {0};
    offset[at] = by;
    struct lx_op shift = builder_plain(name, LX_KIND_SHIFT, 1, &from, to);
    shift.offset = offset;
    program_add(p, &shift);
}

/* Moves contents to the device `k` further along the axis, in a ring; otherwise zeros enter at the begin. */
static void program_together_permute(struct program *p, const struct lx_op *op)
{
    unsigned group = program_group(p, op), own = p->varies[op->inputs[0]];
    int axis = 0, at = 0;
    char name[256], behind[256];
    int32_t from = op->inputs[0];
    if (__builtin_popcount(group) > 1)
        program_together_refuse(p, op, "devices send along one axis of the grid at a time; send twice");
    if (p->failed) return;
    if (!(own & group)) {
        if (!op->params->exclusive || !group) {
            program_together_move(p, op);
            return;
        }
        from = program_broadcast(p, op, 0, own |= group);
    }
    while (!(group >> axis & 1)) axis++;
    for (int a = 0; a < axis; a++) at += (int)(own >> a & 1);
    if (program_apart(p, op, false) || program_apart(p, op, true)) { /* with the result's dimensions */
        unsigned char varies = p->varies[op->output];
        p->varies[op->output] = (unsigned char)own;
        int32_t to = program_room(p, op->output, op->name, name, sizeof name);
        p->varies[op->output] = varies;
        program_together_reshape(p, name, from, to);
        from = to;
    }
    int64_t n = p->g->grid[axis], k = op->params->k % n;
    if (op->params->exclusive || k == 0) {
        program_together_shift(p, op->name, from, op->output, at, -k);
        return;
    }
    int32_t parts[2];
    parts[0] = program_room(p, op->output, op->name, name, sizeof name);
    parts[1] = program_room(p, op->output, op->name, behind, sizeof behind);
    struct lx_op add = builder_plain(op->name, LX_KIND_ADD, 2, parts, op->output);
    program_together_shift(p, name, from, parts[0], at, -k);
    program_together_shift(p, behind, from, parts[1], at, n - k);
    program_add(p, &add);
}

void program_together(struct program *p, const struct lx_op *op)
{
    struct lx_op_params params = op_params_none();
    struct lx_op count = builder_plain(op->name, LX_KIND_IOTA, 0, NULL, op->output);
    count.params = &params;
    if (op->kind->id == LX_KIND_DEVICE_PERMUTE) {
        program_together_permute(p, op);
    } else if (op->kind->id == LX_KIND_DEVICE_ID) {
        if (p->g->tensors[op->output].rank != 0)
            program_together_refuse(p, op, "its result is one number; give it the shape []");
        program_add(p, &count);
    } else {
        program_together_move(p, op);
    }
}
