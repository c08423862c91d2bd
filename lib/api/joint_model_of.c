/* The question as the search takes it (cooptimise/joint.h).
 *
 * Every buffer is what an op of its own makes, or reads first; the menu is that op's. Ops are sorted by the start of their
 * buffers, and as each needs a tick of its own, ticks are spread where several begin on one: what takes another's place
 * comes last of them, so that a handover stays one of exactly one tick.
 *
 * Pairs are labels in disguise: choices that pairs connect see the same parts on the same cores. Where two choices are so
 * connected and yet no pair of a reader, there are no such labels, and the question is refused. */
#include "api/joint_question.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdlib.h>

enum { MOST_LABELS = 1 << 22 };

static bool reads_at_its_start(const struct joint_question *q, int32_t reader)
{
    for (int32_t i = 0; i < q->count; i++)
        for (int32_t k = 0; i != reader && k < q->buffers[i].reader_count; k++)
            if (q->buffers[i].readers[k].buffer == reader && q->buffers[i].start == q->buffers[reader].start)
                return true;
    return false;
}

struct op_rank {
    int64_t start;
    int reads, takes;
    int32_t buffer;
};

static int joint_model_of_compare_ranks(const void *a, const void *b)
{
    const struct op_rank *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->reads != y->reads) return x->reads - y->reads;
    if (x->takes != y->takes) return x->takes - y->takes;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* The ops in order, and into how many a tick is spread: the most that begin on one. */
static struct op_rank *rank_ops(struct joint_question *q, int64_t *spread)
{
    struct op_rank *ranks = arena_array(&q->memory, (size_t)q->count, sizeof *ranks);
    int64_t alike = 0;
    for (int32_t i = 0; ranks && i < q->count; i++)
        ranks[i] = (struct op_rank){q->buffers[i].start, reads_at_its_start(q, i),
                                    q->buffers[i].parent_count > 0, i};
    if (ranks && q->count) qsort(ranks, (size_t)q->count, sizeof *ranks, joint_model_of_compare_ranks);
    *spread = 1;
    for (int32_t i = 0; ranks && i < q->count; i++) {
        alike = i > 0 && ranks[i].start == ranks[i - 1].start ? alike + 1 : 1;
        *spread = max_i64(*spread, alike);
    }
    return ranks;
}

/* From the end: the last that begins on a tick has the last of its parts. */
static void spread_ticks(const struct op_rank *ranks, int32_t count, int64_t spread, struct lx_joint_op *ops)
{
    int64_t back = 0;
    for (int32_t i = count - 1; i >= 0; i--) {
        back = i + 1 < count && ranks[i].start == ranks[i + 1].start ? back + 1 : 0;
        ops[i].tick = ranks[i].start * spread + spread - 1 - back;
    }
}

/* --- Labels. --- */

static int32_t joint_model_of_root_of(int32_t *up, int32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/* Of one buffer: its own choices, then those of each reader. */
struct labels {
    int32_t *up, *first, nodes;
};

static void connect(struct joint_question *q, const struct joint_buffer *b, struct labels *l)
{
    l->nodes = b->choice_count;
    l->first = arena_array(&q->memory, (size_t)b->reader_count, sizeof *l->first);
    for (int32_t k = 0; k < b->reader_count; k++) {
        l->first[k] = l->nodes;
        l->nodes += q->buffers[b->readers[k].buffer].choice_count;
    }
    l->up = arena_array(&q->memory, (size_t)l->nodes, sizeof *l->up);
    for (int32_t n = 0; n < l->nodes; n++) l->up[n] = n;
    for (int32_t k = 0; k < b->reader_count; k++)
        for (int32_t i = 0; i < b->readers[k].pair_count; i++) {
            struct lx_choice_pair x = b->readers[k].pairs[i];
            l->up[joint_model_of_root_of(l->up, l->first[k] + x.theirs)] =
                joint_model_of_root_of(l->up, x.own);
        }
}

/* Is every connected pair of choices a pair of the question? By counting: connected ones are at least those given. */
static bool joint_model_of_is_exact(struct joint_question *q, const struct joint_buffer *b, struct labels *l,
                                    lx_status *st)
{
    for (int32_t k = 0; k < b->reader_count; k++) {
        int32_t theirs = q->buffers[b->readers[k].buffer].choice_count;
        bool *given = arena_array(&q->memory, (size_t)b->choice_count * (size_t)theirs, sizeof *given);
        for (int32_t i = 0; i < b->readers[k].pair_count; i++)
            given[b->readers[k].pairs[i].own * theirs + b->readers[k].pairs[i].theirs] = true;
        for (int32_t x = 0; x < b->choice_count; x++)
            for (int32_t y = 0; y < theirs; y++)
                if (joint_model_of_root_of(l->up, x) == joint_model_of_root_of(l->up, l->first[k] + y) &&
                    !given[x * theirs + y])
                    return status_set(st, LX_E_UNSUPPORTED,
                                      "buffer %s: its pairs are no equality of parts: choices %d and %d of "
                                      "%s are connected "
                                      "by others but no pair",
                                      b->name, (int)x, (int)y, q->buffers[b->readers[k].buffer].name);
    }
    return true;
}

/* Parts that are the same take the same bytes. */
static bool same_bytes(const struct joint_buffer *b, struct labels *l, lx_status *st)
{
    for (int32_t x = 0; x < b->choice_count; x++)
        for (int32_t y = 0; y < x; y++)
            if (b->menu[x].bytes != b->menu[y].bytes &&
                joint_model_of_root_of(l->up, x) == joint_model_of_root_of(l->up, y))
                return status_set(
                    st, LX_E_UNSUPPORTED,
                    "buffer %s: its pairs are no equality of parts: choices %d and %d are connected but have "
                    "different bytes",
                    b->name, (int)y, (int)x);
    return true;
}

static int compare_accesses(const void *a, const void *b)
{
    const struct lx_joint_access *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

/* The accesses of a buffer, with labels from `base` on; `sizes`: of all labels so far and these. */
static void make_accesses(struct joint_question *q, const struct joint_model *m, const struct joint_buffer *b,
                          struct labels *l, int32_t base, int64_t *sizes, struct lx_joint_buffer *out)
{
    struct lx_joint_access *a = arena_array(&q->memory, (size_t)b->reader_count + 1, sizeof *a);
    int32_t *label = arena_array(&q->memory, (size_t)l->nodes, sizeof *label);
    for (int32_t n = 0; n < l->nodes; n++) label[n] = base + joint_model_of_root_of(l->up, n);
    for (int32_t c = 0; c < b->choice_count; c++)
        sizes[label[c]] = max_i64(sizes[label[c]], b->menu[c].bytes);
    a[0] = (struct lx_joint_access){
        .op = m->at[b - q->buffers], .toll = b->off / q->unit * q->weight, .label = label};
    for (int32_t k = 0; k < b->reader_count; k++)
        a[k + 1] = (struct lx_joint_access){.op = m->at[b->readers[k].buffer], .label = label + l->first[k]};
    qsort(a, (size_t)b->reader_count + 1, sizeof *a, compare_accesses);
    out->accesses = a;
    out->access_count = b->reader_count + 1;
}

static void make_buffer(struct joint_question *q, struct joint_model *m, const struct joint_buffer *b,
                        int64_t spread, struct lx_joint_buffer *out)
{
    int32_t *parents = arena_array(&q->memory, (size_t)b->parent_count, sizeof *parents);
    for (int32_t k = 0; k < b->parent_count; k++) parents[k] = m->at[b->parents[k]];
    *out = (struct lx_joint_buffer){.name = b->name,
                                    .start = m->problem.ops[m->at[b - q->buffers]].tick,
                                    .end = b->end * spread,
                                    .first_use_is_read = b->first_use_is_read,
                                    .reason = b->barred                      ? b->barred
                                              : !b->reader_count && !b->kept ? "nobody reads it"
                                                                             : NULL,
                                    .parents = parents,
                                    .parent_count = b->parent_count};
    for (int32_t c = 0; c < b->choice_count; c++) out->bytes = max_i64(out->bytes, b->menu[c].bytes);
}

bool joint_model_of(struct joint_question *q, struct joint_model *m, lx_status *st)
{
    int64_t spread, nodes = 0;
    struct op_rank *ranks = rank_ops(q, &spread);
    struct lx_joint_op *ops = arena_array(&q->memory, (size_t)q->count, sizeof *ops);
    struct lx_joint_buffer *buffers = arena_array(&q->memory, (size_t)q->count, sizeof *buffers);
    *m = (struct joint_model){.at = arena_array(&q->memory, (size_t)q->count, sizeof *m->at)};
    for (int32_t i = 0; i < q->count; i++) {
        const struct joint_buffer *b = &q->buffers[ranks[i].buffer];
        m->at[ranks[i].buffer] = i;
        ops[i] = (struct lx_joint_op){
            .name = b->name, .choice_count = b->choice_count, .seed = b->seed, .extra = b->extra};
        nodes += b->choice_count;
        for (int32_t k = 0; k < b->reader_count; k++) nodes += q->buffers[b->readers[k].buffer].choice_count;
    }
    spread_ticks(ranks, q->count, spread, ops);
    int64_t *sizes = nodes < MOST_LABELS ? arena_array(&q->memory, (size_t)nodes, sizeof *sizes) : NULL;
    if (!sizes)
        return status_set(st, LX_E_LIMIT, "menus with %lld choices in all are too large", (long long)nodes);
    m->problem = (struct lx_joint_problem){.capacity = q->capacity,
                                           .alignment = q->alignment,
                                           .op_count = q->count,
                                           .buffer_count = q->count,
                                           .ops = ops,
                                           .buffers = buffers,
                                           .label_size = sizes};
    for (int32_t i = 0; i < q->count; i++) {
        const struct joint_buffer *b = &q->buffers[i];
        struct labels l;
        make_buffer(q, m, b, spread, &buffers[m->at[i]]);
        connect(q, b, &l);
        if (!joint_model_of_is_exact(q, b, &l, st) || !same_bytes(b, &l, st)) return false;
        make_accesses(q, m, b, &l, m->problem.label_count, sizes, &buffers[m->at[i]]);
        m->problem.label_count += l.nodes;
    }
    return true;
}
