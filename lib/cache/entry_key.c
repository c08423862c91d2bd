/* What an entry is found by. The hash is of a text in which everything that changes a plan stands by its name, so that
 * it is the same on every machine and compiler; the graph is in it by the hash of its own text. */
#include "cache/cache_entry.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the entries' own form; the plans in them are of the program whose sources the key has. */
enum { ENTRY_FORMAT = 2 };

static void add_solver(const struct lx_plan_options *how, struct text *t)
{
    const struct lx_solver *s = how->solver;
    const int64_t *values = how->run.options;
    text_format(t, "solver %s\n", s->name);
    for (int i = 0; i < s->option_count; i++)
        text_format(t, "option %s=%" PRId64 "\n", s->options[i].name, values ? values[i] : s->options[i].def);
    text_format(t, "quick %s\n", how->quick_solver ? how->quick_solver->name : "");
    text_format(t, "seed %" PRIu64 "\nwork %" PRId64 "\n", how->run.seed, how->run.work_limit);
}

static void add_passes(const struct lx_plan_options *how, struct text *t)
{
    text_format(t, "objective %s\n", lx_ask_word(how->objective));
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        text_format(t, "pass %s=%d\n", row->name, lx_pass_get(&how->passes, row));
    text_format(t, "nests %s\n", how->nests);
}

static void add_launch(const struct lx_launch_options *o, struct text *t)
{
    text_format(t, "order %s %s\nshare %s\nassign %s\n", lx_tile_order_word(o->order), o->by,
                lx_share_word(o->share), lx_assign_word(o->assign));
    text_format(t, "tiles %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", o->tile[0], o->tile[1],
                o->inner[0], o->inner[1]);
}

static void add_graph(const struct lx_graph *g, struct text *t)
{
    text_format(t, "graph %016" PRIx64 " %d %d %d\n", g->hash, (int)g->op_count, (int)g->tensor_count,
                (int)g->buffer_count);
    if (g->came_from) add_graph(g->came_from, t);
}

static uint64_t hash_text(uint64_t h, const char *s)
{
    return s ? hash_bytes(h, s, strlen(s) + 1) : hash_number(h, -1);
}

static uint64_t hash_pairs(uint64_t h, const struct lx_pair *at, int32_t count)
{
    h = hash_number(h, count);
    for (int32_t i = 0; i < count; i++) h = hash_number(hash_number(h, at[i].a), at[i].b);
    return h;
}

static uint64_t hash_groups(uint64_t h, const struct lx_group *at, int32_t count)
{
    h = hash_number(h, count);
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < at[i].count; k++) h = hash_number(hash_number(h, i), at[i].at[k]);
    return h;
}

/* When buffers live and who may take whose place, but for sizes, costs, capacities and names. */
static uint64_t structure_of_list(const struct lx_graph *g)
{
    uint64_t h = hash_number(hash_number(HASH_START, g->buffer_count), (int64_t)g->objective);
    h = hash_number(h, g->pool_count);
    for (int32_t i = 0; i < g->buffer_count; i++) {
        const struct lx_buffer *b = &g->buffers[i];
        for (int32_t k = 0; k < lx_life_count(b); k++)
            h = hash_number(hash_number(h, lx_life_at(b, k).start), lx_life_at(b, k).end);
        h = hash_number(h, b->parent_count);
        for (int32_t k = 0; k < b->parent_count; k++) h = hash_number(h, b->parents[k]);
    }
    h = hash_pairs(hash_pairs(h, g->bonds.apart, g->bonds.apart_count), g->bonds.exclusive,
                   g->bonds.exclusive_count);
    h = hash_groups(hash_groups(h, g->bonds.same_place, g->bonds.same_place_count), g->bonds.together,
                    g->bonds.together_count);
    return h ? h : 1;
}

/* What ops do and which tensors they do it with, but for extents and names. */
static uint64_t structure_of(const struct lx_graph *g)
{
    uint64_t h = hash_number(hash_number(HASH_START, g->op_count), g->tensor_count);
    if (g->is_list) return structure_of_list(g);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        h = hash_number(hash_number(h, g->tensors[t].rank), (int64_t)g->tensors[t].role);
        h = hash_number(h, (int64_t)g->tensors[t].dtype);
    }
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        h = hash_text(hash_text(h, op->kind->name), op->einsum);
        for (int i = 0; i < op_operand_count(op); i++) h = hash_number(h, op_operand(op, i));
    }
    return h ? h : 1;
}

static int64_t bytes_of(const struct lx_graph *g)
{
    int64_t sum = 1;
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (g->tensors[t].bytes < INT64_MAX / 4 && sum < INT64_MAX / 4) sum += g->tensors[t].bytes;
    for (int32_t i = 0; i < g->buffer_count; i++)
        if (sum < INT64_MAX / 4) sum += g->buffers[i].size; /* 2^53 at most */
    return sum;
}

/* Of a list what it says itself, of pools the sum of those that have an end. */
static int64_t room_of(const struct lx_graph *g)
{
    int64_t sum = 0;
    if (!g->is_list || (g->capacity < 0 && !g->pool_count)) return lx_device_usable(&g->device);
    for (int32_t k = 0; k < g->pool_count; k++)
        if (g->pools[k].capacity != LX_NO_LIMIT && sum < INT64_MAX / 4) sum += g->pools[k].capacity;
    return g->pool_count ? sum : g->capacity;
}

bool entry_key_of(const struct lx_graph *g, const struct lx_plan_options *how, struct entry_key *out)
{
    struct text t = {0};
    *out =
        (struct entry_key){.structure = structure_of(g), .sizes = {bytes_of(g), room_of(g), g->device.cores}};
    text_format(&t, "lxplan cache %d %s\n", ENTRY_FORMAT, planner_sources);
    add_solver(how, &t);
    add_passes(how, &t);
    add_launch(&how->launch, &t);
    if (!t.failed) out->options = hash_bytes(HASH_START, t.at, t.length);
    add_graph(g, &t);
    bool ok = !t.failed;
    if (ok) sha256_hex(t.at, t.length, out->hash);
    text_free(&t);
    return ok;
}

void entry_name(const struct entry_key *key, char out[ENTRY_NAME])
{
    snprintf(out, ENTRY_NAME, "%016" PRIx64 "%016" PRIx64 "-%.32s.plan", key->structure, key->options,
             key->hash);
}

enum { HALF = 32 };

static bool is_half(const char *name)
{
    size_t n = 0;
    while (isxdigit((unsigned char)name[n])) n++;
    return n == HALF;
}

bool is_entry_name(const char *name)
{
    return is_half(name) && name[HALF] == '-' && is_half(name + HALF + 1) &&
           strcmp(name + 2 * HALF + 1, ".plan") == 0;
}

bool is_question_name(const char *name)
{
    return is_half(name) && strcmp(name + HALF, QUESTION_END) == 0;
}

char *entry_path(const char *folder, const char *name)
{
    struct text t = {0};
    text_format(&t, "%s/%s", folder, name);
    if (t.failed) text_free(&t);
    return t.at;
}
