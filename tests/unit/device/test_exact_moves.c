/* Ops that put elements at other places, drawn at random, on the whole way: slices with an einsum, concats, pads, inputs
 * that are read as boxes, reshapes. Plain loops say what becomes of them. */
#include "support/exact_trial.h"
#include "base/memory.h"
#include "support/sampled.h"

enum { TRIALS = SAMPLED ? 15 : 30, MOST = 4 };

static const enum lx_dtype types[] = {LX_INT32, LX_FP16, LX_INT64,  LX_UINT8,
                                      LX_FP64,  LX_FP32, LX_UINT64, LX_BOOL};

static enum lx_dtype draw_type(struct rng *rng)
{
    return types[rng_below(rng, sizeof types / sizeof *types)];
}

static void add_letter(char *to, int letter)
{
    size_t n = strlen(to);
    to[n] = (char)('a' + letter);
    to[n + 1] = 0;
}

/* Mostly short, some longer than a stick. */
static int64_t draw_extent(struct rng *rng)
{
    return rng_below(rng, 6) ? rng_between(rng, 1, 7) : rng_between(rng, 30, 80);
}

static void result_room(struct trial *t)
{
    t->out.data = mem_zeroed((size_t)trial_count(&t->out) + 1, sizeof *t->out.data);
}

static void write_list(char *to, size_t room, const char *key, const int64_t *list, int count)
{
    size_t n = strlen(to);
    n += (size_t)snprintf(to + n, room - n, "%s\"%s\": [", n && to[n - 1] != '{' ? ", " : "", key);
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(to + n, room - n, "%s%lld", i ? ", " : "", (long long)list[i]);
    snprintf(to + n, room - n, "]");
}

/* An order of so many letters from 'a' on. */
static void draw_order(struct rng *rng, int count, int *order)
{
    for (int i = 0; i < count; i++) order[i] = i;
    for (int i = count; i > 1; i--) {
        int k = (int)rng_below(rng, (uint64_t)i), keep = order[k];
        order[k] = order[i - 1];
        order[i - 1] = keep;
    }
}

/* A box of so many elements along a dimension that has at least these. */
struct box {
    int64_t offset[TRIAL_RANK], stride[TRIAL_RANK];
};

static void draw_box(struct rng *rng, int d, int64_t count, bool back, struct trial_tensor *x, struct box *b)
{
    int64_t by = rng_between(rng, 1, 3), reach = by * (count - 1), before = rng_between(rng, 0, 4);
    x->shape[d] = before + reach + 1 + rng_between(rng, 0, 4);
    b->stride[d] = back ? -by : by;
    b->offset[d] = back ? before + reach : before;
}

/* ---- slices ---- */

static void slices_turn(void **state)
{
    (void)state;
    struct rng rng = rng_seed(21);
    for (int n = 0; n < TRIALS; n++) {
        int rank = (int)rng_between(&rng, 1, MOST), order[MOST], dim_of[MOST];
        struct trial t = {.inputs = 1};
        struct box b;
        int64_t count[MOST];
        char from[8] = "", to[8] = "";
        t.in[0].type = t.out.type = draw_type(&rng);
        t.in[0].rank = rank;
        draw_order(&rng, rank, order);
        for (int d = 0; d < rank; d++) {
            count[d] = draw_extent(&rng);
            draw_box(&rng, d, count[d], rng_below(&rng, 3) == 0, &t.in[0], &b);
            from[d] = (char)('a' + d);
        }
        int dropped = rank > 1 && rng_below(&rng, 2) ? order[rank - 1] : -1;
        for (int k = 0; k < rank; k++) {
            if (order[k] == dropped) continue;
            to[t.out.rank] = (char)('a' + order[k]);
            dim_of[t.out.rank] = order[k];
            t.out.shape[t.out.rank++] = count[order[k]];
        }
        snprintf(t.op, sizeof t.op, "\"kind\": \"slice\", \"einsum\": \"%s->%s\"", from, to);
        write_list(t.op, sizeof t.op, "offset", b.offset, rank);
        write_list(t.op, sizeof t.op, "stride", b.stride, rank);
        trial_fill(&t.in[0], &rng);
        result_room(&t);
        int64_t y[TRIAL_RANK] = {0};
        do {
            int64_t x[TRIAL_RANK] = {0};
            for (int d = 0; d < rank; d++) x[d] = b.offset[d];
            for (int k = 0; k < t.out.rank; k++) x[dim_of[k]] += b.stride[dim_of[k]] * y[k];
            *trial_at(&t.out, y) = *trial_at(&t.in[0], x);
        } while (trial_next(&t.out, y));
        trial_run_all(&t);
    }
}

/* ---- concats ---- */

/* Input i has the dimensions of the output in some order, and perhaps not that along which they are joined. */
static void draw_part(struct rng *rng, struct trial *t, int i, int axis, int *order, char *einsum)
{
    struct trial_tensor *x = &t->in[i];
    int64_t length = rng_below(rng, 3) ? draw_extent(rng) : 1;
    bool without = length == 1 && t->out.rank > 1 && rng_below(rng, 2);
    draw_order(rng, t->out.rank, order);
    if (i) strcat(einsum, ",");
    for (int k = 0; k < t->out.rank; k++) {
        if (without && order[k] == axis) continue;
        x->shape[x->rank++] = order[k] == axis ? length : t->out.shape[order[k]];
        add_letter(einsum, order[k]);
    }
    t->out.shape[axis] += length;
}

static void put_part(struct trial *t, int i, int axis, const char *letters, int64_t at)
{
    int64_t x[TRIAL_RANK] = {0};
    do {
        int64_t y[TRIAL_RANK] = {0};
        for (int d = 0; d < t->in[i].rank; d++) y[letters[d] - 'a'] = x[d];
        y[axis] += at;
        *trial_at(&t->out, y) = *trial_at(&t->in[i], x);
    } while (trial_next(&t->in[i], x));
}

static void parts_are_joined(void **state)
{
    (void)state;
    struct rng rng = rng_seed(22);
    for (int n = 0; n < TRIALS; n++) {
        struct trial t = {.inputs = (int)rng_between(&rng, 1, 5)};
        int rank = (int)rng_between(&rng, 1, MOST), axis = (int)rng_below(&rng, (uint64_t)rank), order[MOST];
        char einsum[64] = "";
        t.out.type = draw_type(&rng);
        t.out.rank = rank;
        for (int d = 0; d < rank; d++) t.out.shape[d] = d == axis ? 0 : draw_extent(&rng);
        for (int i = 0; i < t.inputs; i++) {
            t.in[i].type = t.out.type;
            draw_part(&rng, &t, i, axis, order, einsum);
            trial_fill(&t.in[i], &rng);
        }
        snprintf(t.op, sizeof t.op, "\"kind\": \"concat\", \"axis\": %d, \"einsum\": \"%s->%.*s\"", axis,
                 einsum, rank, "abcd");
        result_room(&t);
        const char *letters = einsum;
        for (int64_t i = 0, at = 0; i < t.inputs; i++, letters += strcspn(letters, ",") + 1) {
            const char *joined = strchr(letters, 'a' + axis), *end = letters + t.in[i].rank;
            put_part(&t, (int)i, axis, letters, at);
            at += joined && joined < end ? t.in[i].shape[joined - letters] : 1;
        }
        trial_run_all(&t);
    }
}

/* ---- pads ---- */

static void edges_are_put(void **state)
{
    (void)state;
    struct rng rng = rng_seed(23);
    for (int n = 0; n < TRIALS; n++) {
        struct trial t = {.inputs = n % 3 == 0 ? 2 : 1};
        int rank = (int)rng_between(&rng, 1, MOST);
        int64_t low[MOST], high[MOST], interior[MOST];
        enum lx_dtype type = draw_type(&rng);
        wide_number value = type == LX_BOOL ? 1 : 3;
        t.in[0].type = t.in[1].type = t.out.type = type;
        t.in[0].rank = t.out.rank = rank;
        for (int d = 0; d < rank; d++) {
            t.in[0].shape[d] = draw_extent(&rng);
            interior[d] = rng_below(&rng, 3) ? 0 : rng_between(&rng, 1, 2);
            int64_t all = (t.in[0].shape[d] - 1) * (1 + interior[d]) + 1;
            low[d] = rng_between(&rng, all > 3 ? -2 : 0, 5);
            high[d] = rng_between(&rng, all > 5 ? -2 : 0, 5);
            t.out.shape[d] = low[d] + all + high[d];
        }
        snprintf(t.op, sizeof t.op, "\"kind\": \"pad\"");
        if (t.inputs == 1) strcat(t.op, type == LX_BOOL ? ", \"value\": 1" : ", \"value\": 3");
        size_t used = strlen(t.op);
        if (t.inputs == 2)
            snprintf(t.op + used, sizeof t.op - used, ", \"einsum\": \"%.*s,->%.*s\"", rank, "abcd", rank,
                     "abcd");
        write_list(t.op, sizeof t.op, "low", low, rank);
        write_list(t.op, sizeof t.op, "high", high, rank);
        write_list(t.op, sizeof t.op, "interior", interior, rank);
        for (int i = 0; i < t.inputs; i++) trial_fill(&t.in[i], &rng);
        result_room(&t);
        for (int64_t i = 0; i < trial_count(&t.out); i++)
            t.out.data[i] = t.inputs == 2 ? t.in[1].data[0] : value;
        int64_t x[TRIAL_RANK] = {0};
        do {
            int64_t y[TRIAL_RANK] = {0};
            bool there = true;
            for (int d = 0; d < rank; d++) {
                y[d] = low[d] + x[d] * (1 + interior[d]);
                there = there && y[d] >= 0 && y[d] < t.out.shape[d];
            }
            if (there) *trial_at(&t.out, y) = *trial_at(&t.in[0], x);
        } while (trial_next(&t.in[0], x));
        trial_run_all(&t);
    }
}

/* ---- boxes of inputs ---- */

/* max of two inputs, each turned and read as a box. */
static void boxes_are_read(void **state)
{
    (void)state;
    struct rng rng = rng_seed(24);
    for (int n = 0; n < TRIALS; n++) {
        struct trial t = {.inputs = 2};
        int rank = (int)rng_between(&rng, 1, 3), order[2][MOST];
        struct box b[2];
        char einsum[32] = "", views[300] = "";
        t.out.type = draw_type(&rng);
        t.out.rank = rank;
        for (int d = 0; d < rank; d++) t.out.shape[d] = draw_extent(&rng);
        for (int i = 0; i < 2; i++) {
            t.in[i].type = t.out.type;
            t.in[i].rank = rank;
            draw_order(&rng, rank, order[i]);
            for (int k = 0; k < rank; k++) {
                draw_box(&rng, k, t.out.shape[order[i][k]], rng_below(&rng, 3) == 0, &t.in[i], &b[i]);
                add_letter(einsum, order[i][k]);
            }
            strcat(einsum, i ? "->" : ",");
            strcat(views, i ? ", {" : "{");
            write_list(views, sizeof views, "offset", b[i].offset, rank);
            write_list(views, sizeof views, "stride", b[i].stride, rank);
            strcat(views, "}");
            trial_fill(&t.in[i], &rng);
        }
        for (int d = 0; d < rank; d++) add_letter(einsum, d);
        snprintf(t.op, sizeof t.op, "\"kind\": \"max\", \"einsum\": \"%s\", \"views\": [%s]", einsum, views);
        result_room(&t);
        int64_t y[TRIAL_RANK] = {0};
        do {
            wide_number v[2];
            for (int i = 0; i < 2; i++) {
                int64_t x[TRIAL_RANK] = {0};
                for (int k = 0; k < rank; k++) x[k] = b[i].offset[k] + b[i].stride[k] * y[order[i][k]];
                v[i] = *trial_at(&t.in[i], x);
            }
            *trial_at(&t.out, y) = fmaxl(v[0], v[1]);
        } while (trial_next(&t.out, y));
        trial_run_all(&t);
    }
}

/* ---- reshapes ---- */

/* Cuts n into `rank` factors. */
static void draw_shape(struct rng *rng, int64_t n, struct trial_tensor *t)
{
    t->rank = (int)rng_between(rng, 1, MOST);
    for (int d = 0; d < t->rank - 1; d++) {
        int64_t by = rng_between(rng, 1, 12);
        while (n % by != 0) by--;
        t->shape[d] = by;
        n /= by;
    }
    t->shape[t->rank - 1] = n;
}

static void sequences_stay(void **state)
{
    (void)state;
    struct rng rng = rng_seed(25);
    for (int n = 0; n < TRIALS; n++) {
        struct trial t = {.inputs = 1, .op = "\"kind\": \"reshape\""};
        int64_t count = rng_between(&rng, 1, 8) * rng_between(&rng, 1, 9) * rng_between(&rng, 1, 70);
        t.in[0].type = t.out.type = draw_type(&rng);
        draw_shape(&rng, count, &t.in[0]);
        draw_shape(&rng, count, &t.out);
        trial_fill(&t.in[0], &rng);
        result_room(&t);
        memcpy(t.out.data, t.in[0].data, (size_t)count * sizeof *t.out.data);
        trial_run_all(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slices_turn), cmocka_unit_test(parts_are_joined),
                                       cmocka_unit_test(edges_are_put), cmocka_unit_test(boxes_are_read),
                                       cmocka_unit_test(sequences_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
