/* The question as terms (cooptimise/terms.h): each cost of being off is a term over one bit, each price one over
 * the bit of the copy and the choice of its source. Those that are added up before a proof are whole numbers where they were. */
#include "api/joint_question.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdlib.h>

/* Beyond this a lexicographic cost would lose its last digits. */
#define MOST_WHOLE ((double)((int64_t)1 << 49))

struct term_list {
    struct joint_question *q;
    struct lx_term *at;
    int32_t count;
};

static bool joint_terms_of_add(struct term_list *l, const struct lx_term_axis *axes, int32_t count,
                               const double *values)
{
    struct lx_term_axis *own = arena_copy_array(&l->q->memory, axes, (size_t)count, sizeof *own);
    if (!own || !values) return false;
    l->at[l->count++] = (struct lx_term){own, count, values};
    return true;
}

static bool each_choice(struct term_list *l, int32_t buffer, struct lx_term_axis *out)
{
    int32_t choices = l->q->buffers[buffer].choice_count;
    int32_t *class_of = arena_array(&l->q->memory, (size_t)choices, sizeof *class_of);
    for (int32_t i = 0; class_of && i < choices; i++) class_of[i] = i;
    *out = (struct lx_term_axis){.buffer = buffer, .class_of = class_of, .size = choices};
    return class_of;
}

static bool add_off(struct term_list *l, int32_t i)
{
    const struct joint_question *q = l->q;
    int64_t off = q->divisions_count ? q->buffers[i].off / q->unit * q->weight : q->buffers[i].off;
    double *values = arena_array(&l->q->memory, 2, sizeof *values);
    struct lx_term_axis bit = {.buffer = i, .is_bit = true, .size = 2};
    if (values) values[0] = (double)off;
    return off == 0 || joint_terms_of_add(l, &bit, 1, values);
}

static bool add_extra(struct term_list *l, int32_t i)
{
    const struct joint_buffer *b = &l->q->buffers[i];
    struct lx_term_axis choices;
    if (!b->extra) return true;
    double *values = arena_array(&l->q->memory, (size_t)b->choice_count, sizeof *values);
    for (int32_t c = 0; values && c < b->choice_count; c++) values[c] = (double)b->extra[c];
    return each_choice(l, i, &choices) && joint_terms_of_add(l, &choices, 1, values);
}

static bool joint_terms_of_add_prices(struct term_list *l, int32_t i)
{
    const struct joint_buffer *b = &l->q->buffers[i];
    struct lx_term_axis axes[2] = {{.buffer = i, .is_bit = true, .size = 2}};
    if (!b->prices) return true;
    double *values = arena_array(&l->q->memory, 2 * (size_t)b->price_count, sizeof *values);
    for (int32_t c = 0; values && c < b->price_count; c++) values[b->price_count + c] = b->prices[c];
    return each_choice(l, b->copy_of, &axes[1]) && joint_terms_of_add(l, axes, 2, values);
}

static int joint_terms_of_compare_pairs(const void *a, const void *b)
{
    const struct lx_choice_pair *x = a, *y = b;
    return x->own != y->own ? x->own - y->own : x->theirs - y->theirs;
}

static bool sort_pairs(struct joint_question *q, struct lx_term_reader *r)
{
    struct lx_choice_pair *sorted =
        arena_copy_array(&q->memory, r->pairs, (size_t)r->pair_count, sizeof *sorted);
    if (sorted && r->pair_count)
        qsort(sorted, (size_t)r->pair_count, sizeof *sorted, joint_terms_of_compare_pairs);
    r->pairs = sorted;
    return sorted;
}

/* What reads itself agrees with itself: its op makes one choice. */
static bool fill_readers(struct joint_question *q, const struct joint_buffer *from, struct lx_term_buffer *to)
{
    struct lx_term_reader *readers = arena_array(&q->memory, (size_t)from->reader_count, sizeof *readers);
    for (int32_t k = 0; k < from->reader_count; k++)
        if (from->readers[k].buffer != from - q->buffers) {
            readers[to->reader_count] = from->readers[k];
            if (!sort_pairs(q, &readers[to->reader_count++])) return false;
        }
    to->readers = readers;
    return true;
}

static bool fill_buffer(struct joint_question *q, int32_t i, struct lx_term_buffer *to)
{
    const struct joint_buffer *b = &q->buffers[i];
    int64_t *bytes = arena_array(&q->memory, (size_t)b->choice_count, sizeof *bytes);
    for (int32_t c = 0; c < b->choice_count; c++) bytes[c] = b->menu[c].bytes;
    *to = (struct lx_term_buffer){.name = b->name,
                                  .start = b->start,
                                  .end = b->end,
                                  .barred = b->barred || (!b->reader_count && !b->kept),
                                  .bytes = bytes,
                                  .choice_count = b->choice_count,
                                  .copy_of = b->copy_of,
                                  .parents = b->parents,
                                  .parent_count = b->first_use_is_read ? 0 : b->parent_count};
    return fill_readers(q, b, to);
}

static bool joint_terms_of_is_exact(const struct term_list *l, lx_status *st)
{
    double sum = 0;
    for (int32_t i = 0; i < l->count; i++) {
        double most = 0;
        for (int32_t e = 0; e < l->at[i].axes[0].size; e++)
            most = most > l->at[i].values[e] ? most : l->at[i].values[e];
        sum += most;
    }
    if (sum < MOST_WHOLE) return true;
    return status_set(st, LX_E_RANGE,
                      "costs, cores and squares together are beyond 2^49; ask for the cost alone");
}

bool joint_terms_of(struct joint_question *q, struct lx_term_problem *p, lx_status *st)
{
    struct term_list l = {.q = q};
    struct lx_term_buffer *buffers = arena_array(&q->memory, (size_t)q->count, sizeof *buffers);
    l.at = arena_array(&q->memory, (size_t)q->count * 3 + (size_t)q->term_count, sizeof *l.at);
    for (int32_t i = 0; i < q->count; i++) {
        fill_buffer(q, i, &buffers[i]);
        add_off(&l, i);
        add_extra(&l, i);
        joint_terms_of_add_prices(&l, i);
    }
    for (int32_t i = 0; i < q->term_count; i++) l.at[l.count++] = q->terms[i];
    *p = (struct lx_term_problem){.capacity = q->capacity,
                                  .alignment = q->alignment,
                                  .buffer_count = q->count,
                                  .term_count = l.count,
                                  .buffers = buffers,
                                  .terms = l.at};
    return !q->divisions_count || joint_terms_of_is_exact(&l, st);
}
