/* Writes the persistent loop of an op's launch as text, with the numbers of this launch.
 *
 * Arguments that differ between cores are read (get_arg); all others are literals. The index recovery
 * follows launch_piece.c step by step, for the launch's mode, order and levels. The loops of a nest are
 * written around it, with the tile offsets they pass to the launch. */
#include "launch/launch_of_op.h"
#include "base/base.h"
#include "layout/op_index.h"

struct listing {
    const struct lx_graph *graph;
    const struct lx_op *op;
    const struct lx_op_launch *o;
    struct op_index x;
    struct text t;
};

static char letter_of_dim(const struct listing *w, int d)
{
    return w->x.letter[(int)w->x.var[w->x.output][d]];
}

/* Writes the range of each summed variable. */
static void loop_text_add_sums(struct listing *w)
{
    int64_t behind = w->o->k_slices;
    int i = 0;
    for (int v = 0; v < w->x.var_count; v++) {
        if (!op_index_summed(&w->x, v)) continue;
        const struct lx_launch_sum *s = &w->o->sum[i++];
        char c = w->x.letter[v];
        behind /= s->parts;
        if (s->parts == 1)
            text_format(&w->t, "%c0, %c1 = 0, %" PRId64 "\n", c, c, s->extent);
        else
            text_format(&w->t,
                        "%c0 = k_slice // %" PRId64 " %% %" PRId64 " * %" PRId64 "; %c1 = min(%c0 + %" PRId64
                        ", %" PRId64 ")\n",
                        c, behind, s->parts, s->part, c, c, s->part, s->extent);
    }
}

/* Writes the bounds of the core's part of each dimension. */
static void add_shard(struct listing *w)
{
    const struct lx_op_launch *o = w->o;
    int64_t behind = 1;
    for (int d = 0; d < o->rank - 1; d++) behind *= o->dim[d].parts;
    for (int d = 0; d < o->rank; d++) {
        const struct lx_launch_dim *v = &o->dim[d];
        char c = letter_of_dim(w, d);
        if (d < o->rank - 1) behind /= v->parts;
        if (v->parts == 1)
            text_format(&w->t, "%c_from, %c_to = 0, %" PRId64 "\n", c, c, v->extent);
        else if (d == o->rank - 1)
            text_format(&w->t,
                        "%c_from = sx * %" PRId64 "; %c_to = min(%c_from + %" PRId64 ", %" PRId64 ")\n", c,
                        v->part, c, c, v->part, v->extent);
        else
            text_format(&w->t,
                        "%c_from = sy // %" PRId64 " %% %" PRId64 " * %" PRId64
                        "; %c_to = min(%c_from + %" PRId64 ", %" PRId64 ")\n",
                        c, behind, v->parts, v->part, c, c, v->part, v->extent);
    }
}

/* Writes batch b, row m and column n of tile t. */
static void add_tile_indices(struct listing *w)
{
    const struct lx_launch *l = w->o->launch;
    int64_t each = l->mt * l->nt;
    switch (l->order) {
    case LX_COLUMN_MAJOR:
        text_format(&w->t,
                    "    b, m, n = t // %" PRId64 ", t %% %" PRId64 ", t %% %" PRId64 " // %" PRId64 "\n",
                    each, l->mt, each, l->mt);
        break;
    case LX_MORTON:
        text_format(&w->t,
                    "    b = t // %" PRId64 "; m, n = morton(t %% %" PRId64 ", %" PRId64 ", %" PRId64 ")\n",
                    each, each, l->mt, l->nt);
        break;
    case LX_BLOCK:
        text_format(&w->t, "    b, m, n = tile_of_blocks(t, %" PRId64 ", %" PRId64 ")\n", w->o->blocks[0],
                    w->o->blocks[1]);
        break;
    default:
        text_format(&w->t,
                    "    b, m, n = t // %" PRId64 ", t %% %" PRId64 " // %" PRId64 ", t %% %" PRId64 "\n",
                    each, each, l->nt, l->nt);
        break;
    }
}

static void add_global_recovery(struct listing *w)
{
    const struct lx_op_launch *o = w->o;
    text_add(&w->t, o->tiles ? "    t = tiles[start_id + i]\n" : "    t = start_id + i\n");
    add_tile_indices(w);
    int64_t behind = o->launch->batch;
    for (int d = 0; d < o->rank; d++) {
        const struct lx_launch_dim *v = &o->dim[d];
        int64_t tiles = ceil_div_i64(v->extent, v->side);
        char c = letter_of_dim(w, d);
        text_format(&w->t, "    %c0 = ", c);
        if (d < o->rank - 2)
            text_format(&w->t, "b // %" PRId64 " %% %" PRId64, behind /= tiles, tiles);
        else
            text_add(&w->t, d == o->rank - 1 ? "n" : "m");
        text_format(&w->t, " * %" PRId64 "; %c1 = min(%c0 + %" PRId64 ", %" PRId64 ")\n", v->side, c, c,
                    v->side, v->extent);
    }
}

/* Writes loops over inner tiles; returns the indent of their body. */
static const char *add_inner(struct listing *w)
{
    if (!lx_op_launch_two_levels(w->o)) return "    ";
    text_add(&w->t, "    for");
    for (int d = 0; d < w->o->rank; d++) {
        char c = letter_of_dim(w, d);
        text_format(&w->t, "%s %c2 in %c0..%c1 step %" PRId64, d ? "," : "", c, c, c, w->o->dim[d].inner);
    }
    text_add(&w->t, ":\n        ");
    for (int d = 0; d < w->o->rank; d++) {
        char c = letter_of_dim(w, d);
        text_format(&w->t, "%s%c3 = min(%c2 + %" PRId64 ", %c1)", d ? "; " : "", c, c, w->o->dim[d].inner, c);
    }
    text_add(&w->t, "\n");
    return "        ";
}

/* Writes one operand: "a[m0:m1, k0:k1]". */
static void loop_text_add_operand(struct listing *w, int operand)
{
    bool inner = lx_op_launch_two_levels(w->o);
    text_format(&w->t, "%s[", w->graph->tensors[op_operand(w->op, operand)].name);
    for (int d = 0; d < w->x.rank[operand]; d++) {
        int v = w->x.var[operand][d];
        char c = w->x.letter[v];
        bool nested = false;
        for (int i = 0; i < w->o->launch->level_count; i++) nested |= w->o->launch->level[i].var == v;
        int first = inner && !op_index_reduced(&w->x, v) ? 2 : 0;
        text_add(&w->t, d ? ", " : "");
        if (op_index_follows(&w->x, v))
            text_format(&w->t, "0:%" PRId64, w->x.extent[v]);
        else if (op_index_offset(&w->x, operand, d) || op_index_stride(&w->x, operand, d) != 1)
            text_format(&w->t, "%" PRId64 " + %" PRId64 " * (%c%d:%c%d)", op_index_offset(&w->x, operand, d),
                        op_index_stride(&w->x, operand, d), c, first, c, first + 1);
        else if (nested)
            text_format(&w->t, "%c_at + (%c%d:%c%d)", c, c, first, c, first + 1);
        else
            text_format(&w->t, "%c%d:%c%d", c, first, c, first + 1);
    }
    text_add(&w->t, "]");
}

static void loop_text_add_work(struct listing *w, const char *indent)
{
    int output = w->x.output;
    text_add(&w->t, indent);
    for (int i = output; i < w->x.operand_count; i++) {
        text_add(&w->t, i > output ? ", " : "");
        loop_text_add_operand(w, i);
    }
    bool sums = false;
    for (int i = 0; i < w->o->launch->level_count; i++)
        sums |= op_index_reduced(&w->x, w->o->launch->level[i].var);
    text_format(&w->t, " %s%s= %s(", w->o->k_slices > 1 ? "partial " : "", sums ? "combined " : "",
                w->op->kind->name);
    for (int i = 0; i < output; i++) {
        text_add(&w->t, i ? ", " : "");
        loop_text_add_operand(w, i);
    }
    text_add(&w->t, ")\n");
}

char *lx_op_launch_loop(const struct lx_op_launch *o, const struct lx_graph *graph)
{
    struct listing w = {.graph = graph, .op = &graph->ops[o->op], .o = o};
    op_index_of(graph, w.op, &w.x);
    text_add(&w.t, "");
    if (o->kind == LX_LAUNCH_WHOLE) text_format(&w.t, "if get_core_id() == 0:\n    %s()\n", w.op->kind->name);
    if (o->kind == LX_LAUNCH_TILES) {
        bool local = o->launch->mode == LX_PARTITION_LOCAL_SHARD;
        /* Loops of the nest, outermost first; the host runs them. */
        for (int i = 0; i < w.o->launch->level_count; i++) {
            const struct lx_launch_level *v = &w.o->launch->level[i];
            char c = w.x.letter[v->var];
            text_format(&w.t,
                        "# nest: for %c_tile in 0..%" PRId64 ": launch with %c_at = %c_tile * %" PRId64 "\n",
                        c, v->tiles, c, c, v->step);
        }
        const struct lx_launch *l = w.o->launch;
        text_add(&w.t,
                 "core_id = get_core_id()\nstart_id, count = get_arg(\"start_id\"), get_arg(\"count\")\n");
        if (l->mode == LX_PARTITION_LOCAL_SHARD)
            text_add(&w.t, "sy, sx = get_arg(\"sy\"), get_arg(\"sx\")\n");
        if (w.o->k_slices > 1) text_add(&w.t, "k_slice = get_arg(\"k_slice\")\n");
        for (int i = 0; i < w.o->launch->level_count; i++) {
            char c = w.x.letter[w.o->launch->level[i].var];
            text_format(&w.t, "%c_at = get_arg(\"%c_at\")\n", c, c);
        }
        loop_text_add_sums(&w);
        if (local) add_shard(&w);
        text_add(&w.t, "for i in 0..count:\n");
        if (local) {
            /* Mixed radix over the shard's tiles, the last dimension fastest. */
            text_add(&w.t, "    t = start_id + i\n");
            for (int d = w.o->rank - 1; d >= 0; d--) {
                char c = letter_of_dim(&w, d);
                int64_t side = w.o->dim[d].side;
                text_format(&w.t,
                            "    tiles = ceil((%c_to - %c_from) / %" PRId64
                            "); %c0 = %c_from + t %% tiles * %" PRId64 "; %c1 = min(%c0 + %" PRId64
                            ", %c_to); t = t // tiles\n",
                            c, c, side, c, c, side, c, c, side, c);
            }
        } else
            add_global_recovery(&w);
        loop_text_add_work(&w, add_inner(&w));
    }
    return w.t.at;
}
