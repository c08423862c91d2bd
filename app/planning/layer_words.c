/* What a graph repeats: how often, how many ops, from where to where in its first layer; and whether a plan does with all of them
 * what it does with the first, as far as layouts, divisions and nests go. */
#include "planning/layer_words.h"
#include "base/hash.h"
#include "base/memory.h"
#include "text/format.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 4, MOST_NAME = 40 };

static void layer_words_add_name(const char *name, struct text *out)
{
    char *clean = printable(name, MOST_NAME);
    text_add(out, clean ? clean : "?");
    mem_free(clean);
}

static uint64_t layer_words_mix(uint64_t hash, int64_t value)
{
    return hash_words(hash, &value, sizeof value);
}

static uint64_t mix_nest(uint64_t hash, const struct lx_plan *p, int32_t tick)
{
    for (int32_t i = 0; i < p->nest_count; i++) {
        const struct lx_nest *n = &p->nests[i];
        if (tick < n->first || tick > n->last) continue;
        hash = layer_words_mix(layer_words_mix(hash, tick - n->first), n->last - tick);
        for (int l = 0; l < n->level_count; l++)
            hash = layer_words_mix(layer_words_mix(hash, n->tiles[l]), n->var[tick - n->first][l]);
    }
    return hash;
}

/* What is decided about the op of a tick. */
static uint64_t mix_tick(uint64_t hash, const struct lx_plan *p, int32_t tick)
{
    const struct lx_op *op = &p->layouts->graph->ops[tick];
    const struct lx_division *d = &p->divisions->at[tick];
    hash = layer_words_mix(layer_words_mix(hash, (int64_t)op->kind->id),
                           p->layouts->layouts[op->output].stick_dim);
    for (int i = 0; i < d->split_count; i++) hash = layer_words_mix(hash, d->splits[i].split);
    return mix_nest(hash, p, tick);
}

static int layer_words_by_value(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* In how many ways the layers of a run are planned; 0: memory is out. */
static int32_t ways_of(const struct lx_plan *p, const struct lx_repeat *r)
{
    uint64_t *hash = mem_zeroed((size_t)r->times, sizeof *hash);
    int32_t ways = hash ? 1 : 0;
    if (!hash) return 0;
    /* Per layer of a run what is decided about its ops, and about those that were added before them. */
    int32_t begun = 0; /* the first tick that belongs to the next op */
    for (int32_t i = 0; i < r->times; i++) hash[i] = HASH_START;
    for (int32_t tick = 0; tick < p->layouts->graph->op_count; tick++) {
        int32_t from = p->layouts->op_origin[tick], layer = from < r->first ? -1 : (from - r->first) / r->ops;
        if (from < 0) continue;
        for (; begun <= tick; begun++)
            if (layer >= 0 && layer < r->times) hash[layer] = mix_tick(hash[layer], p, begun);
    }
    qsort(hash, (size_t)r->times, sizeof *hash, layer_words_by_value);
    for (int32_t i = 1; i < r->times; i++) ways += hash[i] != hash[i - 1];
    mem_free(hash);
    return ways;
}

void add_layers(const struct lx_plan *p, struct text *out)
{
    lx_status st;
    int32_t count;
    const struct lx_graph *g = p->graph;
    struct lx_repeat *r = lx_repeats(g, &count, &st);
    out->failed |= !r;
    for (int32_t i = 0; r && i < count && i < MOST_LAYERS; i++) {
        text_format(out, "%sx%d of %s", i ? "; " : "", (int)r[i].times, counted(r[i].ops, "op").at);
        if (p->layouts && !p->order) {
            int32_t ways = ways_of(p, &r[i]);
            if (ways == 0) out->failed = true;
            if (ways == 1)
                text_add(out, ", planned once");
            else
                text_format(out, ", planned in %d ways", (int)ways);
        }
        text_add(out, ": ");
        layer_words_add_name(g->ops[r[i].first].name, out);
        text_add(out, " to ");
        layer_words_add_name(g->ops[r[i].first + r[i].ops - 1].name, out);
    }
    if (count > MOST_LAYERS) text_add(out, "; ...");
    mem_free(r);
}
