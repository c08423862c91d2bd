/* The order of ops in the pattern: that of the file, but for small ops that would stand between others. No nest
 * has an op without the nest's axis, and the cores would wait for each other around it.
 *
 * Small constants come before all other ops; large ones would wait on chip for too long. Small ops of weights
 * alone, such as those that make a scale of a batch norm's statistics, come before the layer that reads them.
 * A layer begins at a contraction that at most one tensor passes; one far above does not count, as the result
 * would wait on chip. Linear in the sketches. */
#include "import/map/import.h"

enum { MOST_OF_CONSTANT = 1024, MOST_OF_WEIGHTS = 4096, MOST_AHEAD = 64 };

struct early {
    const struct import *im;
    int32_t *writers; /* per storage: the ops that write it */
    bool *small;      /* per storage: few numbers, which depend on weights alone */
    int32_t *made;    /* per storage: 1 + the place of the op that makes it; 0: none */
    int32_t *read;    /* the same of its last reader */
    bool *moves;      /* per place in the file's order: a small op of weights alone */
    int32_t *passing; /* per place: tensors made before it and read there or later */
};

static const struct sketch *early_at(const struct early *e, size_t place)
{
    return &e->im->sketches.at[e->im->order ? (size_t)e->im->order[place] : place];
}

static bool early_is_constant(const struct early *e, const struct sketch *s)
{
    return s->input_count == 0 && e->im->storages.at[s->operand[0].storage].elements <= MOST_OF_CONSTANT;
}

static bool early_is_small(const struct early *e, const struct sketch *s)
{
    int32_t to = s->operand[s->input_count].storage;
    const struct storage *out = &e->im->storages.at[to];
    bool small = out->role == LX_ROLE_COUNT && out->elements <= MOST_OF_WEIGHTS && e->writers[to] == 1;
    for (int k = 0; small && k < s->input_count; k++) small = e->small[s->operand[k].storage];
    return small && (s->input_count > 0 || early_is_constant(e, s));
}

/* Finds the ops that move, and what passes the others. */
static void early_follow(struct early *e)
{
    size_t n = e->im->sketches.count;
    for (size_t i = 0; i < n; i++) {
        const struct sketch *s = early_at(e, i);
        if (s->needed) e->writers[s->operand[s->input_count].storage]++;
    }
    for (size_t t = 0; t < e->im->storages.count; t++) {
        const struct storage *s = &e->im->storages.at[t];
        e->small[t] = s->role == LX_WEIGHT && s->elements <= MOST_OF_WEIGHTS && !e->writers[t];
    }
    for (size_t i = 0; i < n; i++) {
        const struct sketch *s = early_at(e, i);
        int32_t to = s->operand[s->input_count].storage;
        if (!s->needed) continue;
        if (early_is_small(e, s)) {
            e->small[to] = true;
            e->moves[i] = s->input_count > 0;
            continue;
        }
        for (int k = 0; k < s->input_count; k++) e->read[s->operand[k].storage] = (int32_t)i + 1;
        if (!e->made[to]) e->made[to] = (int32_t)i + 1;
    }
    for (size_t t = 0; t < e->im->storages.count; t++)
        if (e->made[t] && e->read[t] > e->made[t]) e->passing[e->made[t]]++, e->passing[e->read[t]]--;
}

const int32_t *import_early(struct import *im)
{
    size_t n = im->sketches.count, tensors = im->storages.count + 1, done = 0, next = 0, begin = n;
    struct early e = {.im = im};
    int32_t *order = arena_array(&im->memory, n + 1, sizeof *order), passing = 0;
    size_t *layer = arena_array(&im->memory, n + 1, sizeof *layer);
    e.writers = arena_array(&im->memory, tensors, sizeof *e.writers);
    e.small = arena_array(&im->memory, tensors, sizeof *e.small);
    e.made = arena_array(&im->memory, tensors, sizeof *e.made);
    e.read = arena_array(&im->memory, tensors, sizeof *e.read);
    e.moves = arena_array(&im->memory, n + 1, sizeof *e.moves);
    e.passing = arena_array(&im->memory, n + 2, sizeof *e.passing);
    early_follow(&e);
    for (size_t i = 0; i < n; i++) {
        const struct sketch *s = early_at(&e, i);
        const struct lx_kind *kind = s->rank >= 0 ? lx_kind_find(s->kind) : NULL;
        passing += e.passing[i];
        if (s->needed && !e.moves[i] && passing <= 1 && kind && kind->traits & LX_CONTRACTS) begin = i;
        layer[i] = begin < i && i - begin <= MOST_AHEAD ? begin : i;
        if (early_is_constant(&e, s)) order[done++] = (int32_t)(s - im->sketches.at);
    }
    for (size_t i = n; i-- > 1;)
        if (e.moves[i - 1]) layer[i - 1] = layer[i]; /* before the layer that it stands before already */
    for (size_t i = 0; i <= n; i++) {
        if (i < n && (e.moves[i] || early_is_constant(&e, early_at(&e, i)))) continue;
        for (; next < n && (i == n || layer[next] <= i); next++)
            if (e.moves[next]) order[done++] = (int32_t)(early_at(&e, next) - im->sketches.at);
        if (i < n) order[done++] = (int32_t)(early_at(&e, i) - im->sketches.at);
    }
    return order;
}
