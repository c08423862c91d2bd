#include "support/random_problem.h"

bool random_chance(struct rng *r, int percent)
{
    return rng_below(r, 100) < (uint64_t)percent;
}

/* May `child` take the slot of `parent` by the data model? */
static bool edge_is_legal(const struct lx_buffer *parent, const struct lx_buffer *child)
{
    return parent != child && !child->first_use_is_read && parent->end == child->start + 1 &&
           child->size <= parent->size && lx_read_count(parent) > 0;
}

static void random_life(struct rng *r, const struct problem_shape *s, struct arena *a, struct lx_buffer *b)
{
    int64_t longest = random_chance(r, 15) ? s->ticks : 1 + s->ticks / 4;
    b->end = min_i64(b->start + rng_between(r, 1, longest), s->ticks + 1);
    if (random_chance(r, 10)) return; /* a life without uses */
    int64_t *uses = arena_array(a, (size_t)(b->end - b->start), sizeof *uses);
    uses[b->use_count++] = b->start;
    for (int64_t t = b->start + 1; t < b->end && b->use_count < 6; t++)
        if (random_chance(r, 40)) uses[b->use_count++] = t;
    if (random_chance(r, 80) && uses[b->use_count - 1] != b->end - 1) uses[b->use_count++] = b->end - 1;
    b->uses = uses;
    b->first_use_is_read = random_chance(r, 25);
}

struct lx_problem random_problem(struct rng *r, const struct problem_shape *s, enum lx_objective objective,
                                 struct arena *memory)
{
    struct lx_problem p = {.objective = objective,
                           .capacity = s->capacity_units * s->alignment,
                           .alignment = s->alignment,
                           .count = s->count,
                           .buffers = NULL};
    if (s->alignment > 1 && random_chance(r, 30)) p.capacity += rng_between(r, 1, s->alignment - 1);
    struct lx_buffer *b = arena_array(memory, (size_t)s->count, sizeof *b);
    for (int32_t i = 0; i < s->count; i++) {
        b[i] = (struct lx_buffer){.name = arena_format(memory, "b%d", (int)i), .fixed = -1};
        b[i].start = rng_between(r, 0, s->ticks - 1);
        b[i].size = rng_between(r, 1, s->size_units) * s->alignment;
        if (s->alignment > 1 && random_chance(r, 40)) b[i].size -= rng_between(r, 1, s->alignment - 1);
        if (i > 0 && random_chance(r, 60)) { /* one that may be a child, smaller or as large */
            const struct lx_buffer *other = &b[rng_below(r, (uint64_t)i)];
            b[i].start = other->end - 1;
            b[i].size = random_chance(r, 50) ? other->size : rng_between(r, 0, other->size);
        }
        if (random_chance(r, 4)) b[i].size = 0;
        random_life(r, s, memory, &b[i]);
        b[i].spill_cost = random_chance(r, 50) ? b[i].size * rng_between(r, 0, 5) : rng_between(r, 0, 20);
        if (random_chance(r, 10)) b[i].alignment = s->alignment * rng_between(r, 1, 3);
        if (random_chance(r, s->barred_percent)) b[i].reason = "barred";
        int64_t own = b[i].alignment ? b[i].alignment : s->alignment;
        if (random_chance(r, s->fixed_percent)) b[i].fixed = rng_between(r, 0, p.capacity / own) * own;
    }
    for (int32_t i = s->count; i-- > 1;) { /* children may stand before their parents */
        int32_t k = (int32_t)rng_below(r, (uint64_t)i + 1);
        struct lx_buffer swap = b[i];
        b[i] = b[k];
        b[k] = swap;
    }
    for (int32_t i = 0; i < s->count; i++) {
        int32_t parents[8];
        for (int32_t k = 0; k < s->count && b[i].parent_count < 8; k++)
            if (edge_is_legal(&b[k], &b[i]) && random_chance(r, 60)) parents[b[i].parent_count++] = k;
        b[i].parents = arena_copy_array(memory, parents, (size_t)b[i].parent_count, sizeof *parents);
    }
    p.buffers = b;
    return p;
}

bool is_parent_of(const struct lx_problem *p, int32_t parent, int32_t child)
{
    for (int32_t k = 0; k < p->buffers[child].parent_count; k++)
        if (p->buffers[child].parents[k] == parent) return true;
    return false;
}

bool live_together(const struct lx_buffer *a, const struct lx_buffer *b)
{
    return a->start < b->end && b->start < a->end;
}

bool pair_is_legal(const struct lx_problem *p, int32_t i, int64_t at_i, int32_t k, int64_t at_k)
{
    const struct lx_buffer *a = &p->buffers[i], *b = &p->buffers[k];
    if (!live_together(a, b) || at_i >= at_k + b->size || at_k >= at_i + a->size || a->size == 0 ||
        b->size == 0)
        return true;
    return at_i == at_k && (is_parent_of(p, i, k) || is_parent_of(p, k, i));
}

void reconcile_fixed(struct lx_problem *p, struct arena *memory)
{
    struct lx_buffer *b = arena_copy_array(memory, p->buffers, (size_t)p->count, sizeof *b);
    p->buffers = b;
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = 0; k < i && b[i].fixed >= 0; k++)
            if (b[k].fixed >= 0 && !b[i].reason && !b[k].reason &&
                !pair_is_legal(p, i, b[i].fixed, k, b[k].fixed))
                b[i].fixed = -1;
}

char *problem_as_pattern(const struct lx_problem *p, size_t *length)
{
    struct lx_list list = {.objective = p->objective,
                           .capacity = p->capacity,
                           .alignment = p->alignment,
                           .buffers = p->buffers,
                           .buffer_count = p->count};
    struct lx_graph g = {.name = "random", .summary = "", .file = "", .list = &list, .target_hbm_bytes = -1};
    lx_device_preset("spyre", &g.device);
    return lx_graph_to_json(&g, length);
}

void print_problem(const struct lx_problem *p, uint64_t seed)
{
    size_t length;
    char *text = problem_as_pattern(p, &length);
    fprintf(stderr, "seed %llu\n%s", (unsigned long long)seed, text ? text : "out of memory\n");
    mem_free(text);
}
