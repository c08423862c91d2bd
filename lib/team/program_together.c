/* Ops of several devices, as sums, copies and shifts along the dimensions of the grid. */
#include "team/program_maker.h"
#include "base/fail.h"
#include "graph/op_params.h"

#include <stdio.h>
#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

char program_letter(struct string_of *s)
{
    s->failed |= s->used >= LX_MAX_VARS;
    return s->failed ? '?' : letters[s->used++];
}

void program_put(struct string_of *s, char c)
{
    if (s->length + 1 < sizeof s->text)
        s->text[s->length++] = c;
    else
        s->failed = true;
}

void program_put_front(const struct program *p, struct string_of *s, int32_t t, const char *axis)
{
    for (int a = 0; a < p->g->grid_axes; a++)
        if (p->varies[t] >> a & 1) program_put(s, axis[a]);
}

struct string_of program_string(const struct program *p)
{
    struct string_of s = {.length = 0};
    for (int a = 0; a < p->g->grid_axes; a++) s.axis[a] = program_letter(&s);
    return s;
}

/* Extents of an operand of an op of several devices; of one that is apart: cut at all points, and into parts. */
static int operand_shape(const struct program *p, const struct lx_op *op, bool output,
                         const struct cut_points *common, int64_t *extent)
{
    int32_t t = output ? op->output : op->inputs[0];
    struct operand_parts parts = program_parts(p->g, op, output);
    int n = 0;
    if (!program_apart(&p->dims, op, output)) return program_shape(p, t, extent);
    for (int a = 0; a < p->g->grid_axes; a++)
        if (p->varies[t] >> a & 1) extent[n++] = p->g->grid[a];
    for (int i = 0; i < common->count; i++) {
        for (int k = 0; common->at[i] == parts.inner && parts.parts > 1 && k < op->params->group_count; k++)
            if (p->g->grid[op->params->group[k]] > 1 && n <= LX_MAX_RANK)
                extent[n++] = p->g->grid[op->params->group[k]];
        if (i + 1 < common->count && n <= LX_MAX_RANK) extent[n++] = common->at[i] / common->at[i + 1];
    }
    return n;
}

/* A tensor of that shape, and the copy from or to the operand itself, whose dimensions cannot be cut that way. */
static int32_t stand_in(struct program *p, const struct lx_op *op, bool output,
                        const struct cut_points *common, char *name, size_t size)
{
    int32_t t = output ? op->output : op->inputs[0];
    int64_t extent[LX_MAX_RANK + LX_GRID_AXES];
    int rank = operand_shape(p, op, output, common, extent), at = 0;
    if (rank > LX_MAX_RANK)
        return status_set_at(p->st, LX_E_LIMIT, p->g->file, op->line, 0,
                             "op %s would have more than %d dimensions with those of the grid; plan the "
                             "graph for one device",
                             op->name, LX_MAX_RANK),
               -1;
    snprintf(name, size, "%.200s~%d", op->name, p->serial++);
    int32_t to = builder_tensor(&p->b, name, LX_INTERMEDIATE, p->g->tensors[t].dtype, rank, extent, 0, p->st);
    if (to < 0) return -1;
    struct lx_tensor *made = &p->b.tensors.at[to];
    made->cut_stated = output;
    for (int a = 0; a < LX_GRID_AXES; a++) made->cut[a] = (signed char)(p->varies[t] >> a & 1 ? at++ : -1);
    return to;
}

static bool add_reshape(struct program *p, const char *name, int32_t from, int32_t to)
{
    struct lx_op op = {
        .name = name, .kind = lx_kind_at(LX_KIND_RESHAPE), .input_count = 1, .inputs = &from, .output = to};
    return builder_op(&p->b, &op, p->st);
}

/* The op itself, between operands or what stands for them. */
static bool add_between(struct program *p, const struct lx_op *op, const struct cut_points *common,
                        struct lx_op *to)
{
    char before[256], behind[256];
    int32_t in = op->inputs[0], out = op->output;
    bool apart_in = program_apart(&p->dims, op, false), apart_out = program_apart(&p->dims, op, true);
    if (apart_in) in = stand_in(p, op, false, common, before, sizeof before);
    if (apart_in && (in < 0 || !add_reshape(p, before, op->inputs[0], in))) return false;
    if (apart_out) out = stand_in(p, op, true, common, behind, sizeof behind);
    if (out < 0) return false;
    to->inputs = &in;
    to->output = out;
    if (apart_out) to->name = behind;
    return builder_op(&p->b, to, p->st) && (!apart_out || add_reshape(p, op->name, out, op->output));
}

/* The letters of an operand of an op of several devices: of the parts that both operands have, and `group`, per axis,
 * where parts of devices lie in a dimension. */
static void put_common(const struct program *p, const struct lx_op *op, bool output,
                       const struct cut_points *common, const char *letter, const char *unit,
                       const char *group, struct string_of *s)
{
    int32_t t = output ? op->output : op->inputs[0];
    struct operand_parts parts = program_parts(p->g, op, output);
    int64_t extent[LX_MAX_RANK + LX_GRID_AXES], trail = 1;
    int rank = operand_shape(p, op, output, common, extent), front = program_bits(p->varies[t]), units = 0;
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

static enum lx_kind_id program_together_kind_of(const struct lx_op *op)
{
    static const enum lx_kind_id sums[LX_COMBINE_COUNT] = {LX_KIND_SUM, LX_KIND_SUM, LX_KIND_PROD,
                                                           LX_KIND_MIN, LX_KIND_MAX};
    bool joins = op->kind->id == LX_KIND_ALL_REDUCE || op->kind->id == LX_KIND_REDUCE_SCATTER;
    return joins ? sums[op->params->combine] : LX_KIND_CLONE;
}

static bool cannot(const struct program *p, const struct lx_op *op, const char *why)
{
    return status_set_at(p->st, LX_E_UNSUPPORTED, p->g->file, op->line, 0,
                         "op %s (%s): %s; or plan the graph for one device", op->name, op->kind->name, why);
}

/* Gathers, sums and what changes parts, as one index string. */
static bool program_together_add_moved(struct program *p, const struct lx_op *op)
{
    unsigned group = program_group(p, op), own = p->varies[op->inputs[0]];
    bool joins = program_together_kind_of(op) != LX_KIND_CLONE, part = op->kind->id == LX_KIND_DEVICE_PART;
    bool takes = part || op->kind->id == LX_KIND_REDUCE_SCATTER || op->kind->id == LX_KIND_ALL_TO_ALL;
    struct string_of s = program_string(p);
    struct cut_points common = program_common(&p->dims, op);
    char letter[PROGRAM_CUTS], unit[LX_MAX_RANK], of_part[LX_GRID_AXES], front[LX_GRID_AXES];
    if (part && (own & group))
        return cannot(p, op,
                      "a device takes its part of what all devices of the group have, and these have "
                      "contents of their own; state that "
                      "its operand is whole (in a pattern \"cut\" with -1 for these axes, in TTIR "
                      "ttcore.shard_status unsharded)");
    if (joins && group && (own & group) != group && (own & group))
        return cannot(
            p, op, "some axes of its group have the same contents on all devices; sum over the others only");
    if (op->kind->id == LX_KIND_ALL_TO_ALL && (own & group) != group)
        return cannot(p, op, "all devices have the same contents; take a part instead");
    for (int i = 0; i + 1 < common.count; i++) letter[i] = program_letter(&s);
    for (int i = 0; i < LX_MAX_RANK; i++) unit[i] = program_letter(&s);
    for (int a = 0; a < LX_GRID_AXES; a++) {
        of_part[a] = takes ? program_letter(&s) : s.axis[a];
        front[a] = takes && (group >> a & 1) ? of_part[a] : s.axis[a];
    }
    program_put_front(p, &s, op->inputs[0], s.axis);
    put_common(p, op, false, &common, letter, unit, of_part, &s);
    program_put(&s, '-'), program_put(&s, '>');
    program_put_front(p, &s, op->output, front);
    put_common(p, op, true, &common, letter, unit, s.axis, &s);
    program_put(&s, 0);
    if (s.failed) return cannot(p, op, "too many indices; join dimensions");
    struct lx_op to = {.name = op->name,
                       .kind = lx_kind_at(program_together_kind_of(op)),
                       .input_count = 1,
                       .inputs = op->inputs,
                       .output = op->output,
                       .einsum = s.text};
    if (joins && !(own & group)) { /* the same on all devices: as often as there are of them */
        bool adds = to.kind->id == LX_KIND_SUM;
        double devices = 1;
        for (int a = 0; a < LX_GRID_AXES; a++) devices *= group >> a & 1 ? p->g->grid[a] : 1;
        if (to.kind->id == LX_KIND_PROD && group)
            return cannot(p, op, "it multiplies the same contents of all devices; multiply on each of them");
        to.kind = lx_kind_at(adds && group ? LX_KIND_MUL : LX_KIND_CLONE);
        to.has_value = adds && group;
        to.value = to.has_value ? devices : 0;
    }
    return add_between(p, op, &common, &to);
}

static bool program_together_add_shift(struct program *p, const char *name, int32_t from, int32_t to, int at,
                                       int64_t by)
{
    int64_t offset[LX_MAX_RANK + LX_GRID_AXES] = {0};
    offset[at] = by;
    struct lx_op shift = {.name = name,
                          .kind = lx_kind_at(LX_KIND_SHIFT),
                          .input_count = 1,
                          .inputs = &from,
                          .output = to,
                          .offset = offset};
    return to >= 0 && builder_op(&p->b, &shift, p->st);
}

/* An operand whose dimensions are cut otherwise than those of the result, in the pieces of that. */
static int32_t cut_like_result(struct program *p, const struct lx_op *op, int32_t from, unsigned own)
{
    char name[256];
    unsigned char varies = p->varies[op->output];
    p->varies[op->output] = (unsigned char)own;
    int32_t to = program_room(p, op->output, op->name, name, sizeof name);
    p->varies[op->output] = varies;
    return to >= 0 && add_reshape(p, name, from, to) ? to : -1;
}

/* To the device `k` further along the axis; round the ring, or zeros come in at its begin. */
static bool add_permuted(struct program *p, const struct lx_op *op)
{
    unsigned group = program_group(p, op), own = p->varies[op->inputs[0]];
    int axis = 0, at = 0;
    char before[256], behind[256];
    if (program_bits(group) > 1)
        return cannot(p, op, "devices send along one axis of the grid at a time; send twice");
    int32_t from = op->inputs[0];
    if (!(own & group)) {
        if (!op->params->exclusive || !group) return program_together_add_moved(p, op);
        from = program_broadcast(p, op, 0);
        own |= group;
        if (from < 0) return false;
    }
    while (!(group >> axis & 1)) axis++;
    for (int a = 0; a < axis; a++) at += (int)(own >> a & 1);
    if (program_apart(&p->dims, op, false) || program_apart(&p->dims, op, true))
        from = cut_like_result(p, op, from, own);
    if (from < 0) return false;
    int64_t n = p->g->grid[axis], k = op->params->k % n;
    if (op->params->exclusive || k == 0)
        return program_together_add_shift(p, op->name, from, op->output, at, -k);
    int32_t parts[2] = {program_room(p, op->output, op->name, before, sizeof before),
                        program_room(p, op->output, op->name, behind, sizeof behind)};
    struct lx_op add = {.name = op->name,
                        .kind = lx_kind_at(LX_KIND_ADD),
                        .input_count = 2,
                        .inputs = parts,
                        .output = op->output};
    return program_together_add_shift(p, before, from, parts[0], at, -k) &&
           program_together_add_shift(p, behind, from, parts[1], at, n - k) && builder_op(&p->b, &add, p->st);
}

static bool program_together_add_number(struct program *p, const struct lx_op *op)
{
    struct lx_op_params params = op_params_none();
    struct lx_op count = {
        .name = op->name, .kind = lx_kind_at(LX_KIND_IOTA), .output = op->output, .params = &params};
    if (p->g->tensors[op->output].rank != 0)
        return cannot(p, op, "its result is one number; give it the shape []");
    return builder_op(&p->b, &count, p->st);
}

bool program_together(struct program *p, const struct lx_op *op)
{
    if (op->kind->id == LX_KIND_DEVICE_PERMUTE) return add_permuted(p, op);
    return op->kind->id == LX_KIND_DEVICE_ID ? program_together_add_number(p, op)
                                             : program_together_add_moved(p, op);
}
