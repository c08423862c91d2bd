/* The question in the form of the search (cooptimise/joint.h).
 *
 * Each buffer gets its own op, which makes or first reads the buffer and has its choices. Ops are sorted by
 * the start of their buffers. If several begin on one tick, the tick is spread, one sub-tick per op; a buffer
 * that takes another's place comes last, so that a handover still takes exactly one tick.
 *
 * Pairs stand for labels: choices that pairs connect see the same parts on the same cores. If two choices are
 * connected but no given pair of a reader, no labels fit, and the question is refused. */
#include "api/joint_question.h"

enum { MOST_LABELS = 1 << 22 };

/* --- Costs as integers in one unit: off-chip costs count in their greatest common divisor, and one such unit
 * exceeds the sum of all divisions' costs. --- */

bool joint_costs_of(struct joint_question *q, lx_status *st)
{
    int64_t dearest = 1, sum = 0, off = 0; /* dearest: one more than all squares together */
    q->weight = 1;
    q->unit = 0;
    for (int32_t i = 0; i < q->count; i++) q->unit = gcd_i64(q->unit, q->buffers[i].off);
    q->unit = max_i64(q->unit, 1);
    if (!q->divisions_count) return true;
    for (int32_t i = 0; i < q->count; i++) {
        int64_t most = 0;
        for (int32_t c = 0; c < q->buffers[i].choice_count; c++)
            most = max_i64(most, q->buffers[i].menu[c].squares);
        if (!add_i64(dearest, most, &dearest))
            return status_set(st, LX_E_RANGE, "the squares add up beyond 2^63");
    }
    for (int32_t i = 0; i < q->count; i++) {
        /* The cost of a division: missing cores, each above all squares together. */
        struct joint_buffer *b = &q->buffers[i];
        int64_t *extra = arena_array(&q->memory, (size_t)b->choice_count, sizeof *extra), most = 0, cores = 0;
        for (int32_t c = 0; c < b->choice_count; c++) cores = max_i64(cores, b->menu[c].cores);
        for (int32_t c = 0; c < b->choice_count; c++) {
            if (!mul_i64(cores - b->menu[c].cores, dearest, &extra[c]) ||
                !add_i64(extra[c], b->menu[c].squares, &extra[c]))
                return status_set(st, LX_E_RANGE, "buffer %s: cores and squares beyond 2^63", b->name);
            most = max_i64(most, extra[c]);
        }
        b->extra = extra;
        if (!add_i64(sum, most, &sum) || !add_i64(off, b->off / q->unit, &off))
            return status_set(st, LX_E_RANGE, "buffer %s: costs up to here add up beyond 2^63", b->name);
    }
    q->weight = sum + 1;
    if (!mul_i64(off, q->weight, &off) || off > INT64_MAX / 16)
        return status_set(st, LX_E_RANGE,
                          "costs, cores and squares together are beyond 2^59; ask for the cost alone");
    return true;
}

/* --- The question with labels. --- */

struct op_rank {
    int64_t start;
    int reads, takes;
    int32_t buffer;
};

ORDER(joint_model_of_compare_ranks, struct op_rank,
      ORDER_UP(start) ORDER_UP(reads) ORDER_UP(takes) ORDER_UP(buffer));

/* Sorts the ops; `*spread` is the number of sub-ticks: the most ops that begin on one tick. */
static struct op_rank *rank_ops(struct joint_question *q, int64_t *spread)
{
    struct op_rank *ranks = arena_array(&q->memory, (size_t)q->count, sizeof *ranks);
    int64_t alike = 0;
    for (int32_t i = 0; i < q->count; i++)
        ranks[i] = (struct op_rank){q->buffers[i].start, 0, q->buffers[i].parent_count > 0, i};
    for (int32_t i = 0; i < q->count; i++) /* readers of a buffer that begins on the same tick */
        for (int32_t k = 0; k < q->buffers[i].reader_count; k++) {
            int32_t reader = q->buffers[i].readers[k].buffer;
            if (reader != i && q->buffers[i].start == q->buffers[reader].start) ranks[reader].reads = 1;
        }
    if (q->count) qsort(ranks, (size_t)q->count, sizeof *ranks, joint_model_of_compare_ranks);
    *spread = 1;
    for (int32_t i = 0; i < q->count; i++) {
        alike = i > 0 && ranks[i].start == ranks[i - 1].start ? alike + 1 : 1;
        *spread = max_i64(*spread, alike);
    }
    return ranks;
}

/* --- Labels. --- */

/* Of one buffer: its own choices, then each reader's. */
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
    sets_begin(l->up, l->nodes);
    for (int32_t k = 0; k < b->reader_count; k++)
        for (int32_t i = 0; i < b->readers[k].pair_count; i++) {
            struct lx_choice_pair x = b->readers[k].pairs[i];
            l->up[sets_root(l->up, l->first[k] + x.theirs)] = sets_root(l->up, x.own);
        }
}

/* Is every connected pair of choices a given pair, and do equal parts take equal bytes? Counts: there are at
 * least as many connected pairs as given ones. */
static bool joint_model_of_is_exact(struct joint_question *q, const struct joint_buffer *b, struct labels *l,
                                    lx_status *st)
{
    static const char wrong[] = "its pairs are no equality of parts: choices";
    for (int32_t k = 0; k < b->reader_count; k++) {
        int32_t theirs = q->buffers[b->readers[k].buffer].choice_count;
        bool *given = arena_array(&q->memory, (size_t)b->choice_count * (size_t)theirs, sizeof *given);
        for (int32_t i = 0; i < b->readers[k].pair_count; i++)
            given[b->readers[k].pairs[i].own * theirs + b->readers[k].pairs[i].theirs] = true;
        for (int32_t x = 0; x < b->choice_count; x++)
            for (int32_t y = 0; y < theirs; y++)
                if (sets_root(l->up, x) == sets_root(l->up, l->first[k] + y) && !given[x * theirs + y])
                    return status_set(st, LX_E_UNSUPPORTED,
                                      "buffer %s: %s %d and %d of %s are connected by others but no pair",
                                      b->name, wrong, (int)x, (int)y, q->buffers[b->readers[k].buffer].name);
    }
    for (int32_t x = 0; x < b->choice_count; x++)
        for (int32_t y = 0; y < x; y++)
            if (b->menu[x].bytes != b->menu[y].bytes && sets_root(l->up, x) == sets_root(l->up, y))
                return status_set(st, LX_E_UNSUPPORTED,
                                  "buffer %s: %s %d and %d are connected but have different bytes", b->name,
                                  wrong, (int)y, (int)x);
    return true;
}

ORDER(compare_accesses, struct lx_joint_access, ORDER_UP(op));

/* Makes a buffer and its accesses, with labels from `base` on; `sizes`: of all labels so far. */
static void make_buffer(struct joint_question *q, const struct joint_model *m, const struct joint_buffer *b,
                        struct labels *l, int64_t spread, int64_t *sizes, struct lx_joint_buffer *out)
{
    int32_t base = m->problem.label_count, own = m->at[b - q->buffers];
    struct lx_joint_access *a = arena_array(&q->memory, (size_t)b->reader_count + 1, sizeof *a);
    int32_t *label = arena_array(&q->memory, (size_t)l->nodes, sizeof *label),
            *parents = arena_array(&q->memory, (size_t)b->parent_count, sizeof *parents);
    for (int32_t k = 0; k < b->parent_count; k++) parents[k] = m->at[b->parents[k]];
    for (int32_t n = 0; n < l->nodes; n++) label[n] = base + sets_root(l->up, n);
    a[0] = (struct lx_joint_access){.op = own, .toll = b->off / q->unit * q->weight, .label = label};
    for (int32_t k = 0; k < b->reader_count; k++)
        a[k + 1] = (struct lx_joint_access){.op = m->at[b->readers[k].buffer], .label = label + l->first[k]};
    qsort(a, (size_t)b->reader_count + 1, sizeof *a, compare_accesses);
    *out = (struct lx_joint_buffer){.name = b->name,
                                    .start = m->problem.ops[own].tick,
                                    .end = b->end * spread,
                                    .first_use_is_read = b->first_use_is_read,
                                    .reason = b->barred                      ? b->barred
                                              : !b->reader_count && !b->kept ? "nobody reads it"
                                                                             : NULL,
                                    .parents = parents,
                                    .parent_count = b->parent_count,
                                    .accesses = a,
                                    .access_count = b->reader_count + 1};
    for (int32_t c = 0; c < b->choice_count; c++) {
        sizes[label[c]] = max_i64(sizes[label[c]], b->menu[c].bytes);
        out->bytes = max_i64(out->bytes, b->menu[c].bytes);
    }
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
    /* Backwards: the last op that begins on a tick gets the tick's last sub-tick. */
    int64_t back = 0;
    for (int32_t i = q->count - 1; i >= 0; i--) {
        back = i + 1 < q->count && ranks[i].start == ranks[i + 1].start ? back + 1 : 0;
        ops[i].tick = ranks[i].start * spread + spread - 1 - back;
    }
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
        connect(q, b, &l);
        if (!joint_model_of_is_exact(q, b, &l, st)) return false;
        make_buffer(q, m, b, &l, spread, sizes, &buffers[m->at[i]]);
        m->problem.label_count += l.nodes;
    }
    return true;
}

/* --- The question as terms (cooptimise/terms.h): each cost of being off is a term over one bit, each price
 * one over the bit of the copy and the choice of its source. Integer costs stay integers. --- */

/* Beyond this a lexicographic cost would lose its last digits. */
#define MOST_WHOLE ((double)((int64_t)1 << 49))

ORDER(joint_terms_of_compare_pairs, struct lx_choice_pair, ORDER_UP(own) ORDER_UP(theirs));

static void joint_fill_buffer(struct joint_question *q, int32_t i, struct lx_term_buffer *to)
{
    const struct joint_buffer *b = &q->buffers[i];
    int64_t *bytes = arena_array(&q->memory, (size_t)b->choice_count, sizeof *bytes);
    struct lx_term_reader *readers = arena_array(&q->memory, (size_t)b->reader_count, sizeof *readers);
    for (int32_t c = 0; c < b->choice_count; c++) bytes[c] = b->menu[c].bytes;
    *to = (struct lx_term_buffer){.name = b->name,
                                  .start = b->start,
                                  .end = b->end,
                                  .barred = b->barred || (!b->reader_count && !b->kept),
                                  .bytes = bytes,
                                  .choice_count = b->choice_count,
                                  .copy_of = b->copy_of,
                                  .readers = readers,
                                  .parents = b->parents,
                                  .parent_count = b->first_use_is_read ? 0 : b->parent_count};
    for (int32_t k = 0; k < b->reader_count; k++) {
        struct lx_term_reader r = b->readers[k];
        if (r.buffer == i) continue; /* skip itself: its op makes one choice */
        struct lx_choice_pair *sorted =
            arena_copy_array(&q->memory, r.pairs, (size_t)r.pair_count, sizeof *sorted);
        if (r.pair_count) qsort(sorted, (size_t)r.pair_count, sizeof *sorted, joint_terms_of_compare_pairs);
        r.pairs = sorted;
        readers[to->reader_count++] = r;
    }
}

/* Adds a term over the bit of buffer `bit` (if >= 0), then the choices of buffer `chosen` (if >= 0); all
 * values are 0. */
static double *joint_add_term(struct joint_question *q, struct lx_term *list, int32_t *count, int32_t bit,
                              int32_t chosen)
{
    struct lx_term_axis *axes = arena_array(&q->memory, 2, sizeof *axes);
    int32_t n = 0, choices = chosen >= 0 ? q->buffers[chosen].choice_count : 1;
    if (bit >= 0) axes[n++] = (struct lx_term_axis){.buffer = bit, .is_bit = true, .size = 2};
    if (chosen >= 0) {
        int32_t *class_of = arena_array(&q->memory, (size_t)choices, sizeof *class_of);
        for (int32_t i = 0; i < choices; i++) class_of[i] = i;
        axes[n++] = (struct lx_term_axis){.buffer = chosen, .class_of = class_of, .size = choices};
    }
    double *values = arena_array(&q->memory, (bit >= 0 ? 2 : 1) * (size_t)choices, sizeof *values);
    list[(*count)++] = (struct lx_term){axes, n, values};
    return values;
}

bool joint_terms_of(struct joint_question *q, struct lx_term_problem *p, lx_status *st)
{
    struct lx_term_buffer *buffers = arena_array(&q->memory, (size_t)q->count, sizeof *buffers);
    struct lx_term *list =
        arena_array(&q->memory, (size_t)q->count * 3 + (size_t)q->term_count, sizeof *list);
    int32_t n = 0;
    double sum = 0;
    for (int32_t i = 0; i < q->count; i++) {
        const struct joint_buffer *b = &q->buffers[i];
        int64_t off = q->divisions_count ? b->off / q->unit * q->weight : b->off;
        joint_fill_buffer(q, i, &buffers[i]);
        if (off) joint_add_term(q, list, &n, i, -1)[0] = (double)off;
        double *extra = b->extra ? joint_add_term(q, list, &n, -1, i) : NULL;
        for (int32_t c = 0; extra && c < b->choice_count; c++) extra[c] = (double)b->extra[c];
        double *prices = b->prices ? joint_add_term(q, list, &n, i, b->copy_of) : NULL;
        for (int32_t c = 0; prices && c < b->price_count; c++) prices[b->price_count + c] = b->prices[c];
    }
    for (int32_t i = 0; i < q->term_count; i++) list[n++] = q->terms[i];
    *p = (struct lx_term_problem){.capacity = q->capacity,
                                  .alignment = q->alignment,
                                  .buffer_count = q->count,
                                  .term_count = n,
                                  .buffers = buffers,
                                  .terms = list};
    for (int32_t i = 0; q->divisions_count && i < n; i++) {
        double most = 0;
        for (int32_t k = 0; k < list[i].axes[0].size; k++) most = fmax(most, list[i].values[k]);
        sum += most;
    }
    return sum < MOST_WHOLE ||
           status_set(st, LX_E_RANGE,
                      "costs, cores and squares together are beyond 2^49; ask for the cost alone");
}
