#include "support/both_ways.h"

int64_t both_items(const struct lx_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n *= t->shape[d];
    return n;
}

/* Small numbers that depend on the place and the name, but for the number that keeps equal names apart; of integers none that could not be an index. */
static void both_put(void *context, int32_t tensor, void *items)
{
    const struct one_way *w = context;
    const struct lx_tensor *t = &w->g->tensors[tensor];
    const struct number_type *type = &number_types[t->dtype];
    uint64_t key = hash_bytes(HASH_START, t->name, strcspn(t->name, "#"));
    for (int64_t i = 0, n = both_items(t); t->rank >= 0 && i < n; i++) {
        uint64_t h = hash_bytes(key, &i, sizeof i) >> 40;
        float number = type->integer ? (float)(h & (t->dtype == LX_BOOL ? 1 : 3))
                       : w->eighths  ? (float)(h % 17) / 8 - 1
                                     : (float)h / 8388608 - 1;
        items_encode(type, &number, 1, (char *)items + i * type->item);
    }
    if (t->rank < 0) memset(items, (int)(key & 63), (size_t)t->bytes);
}

void both_take(void *context, int32_t tensor, const void *items)
{
    struct one_way *w = context;
    const struct lx_tensor *t = &w->g->tensors[tensor];
    size_t bytes = (size_t)(both_items(t) * number_types[t->dtype].item);
    if (w->count == BOTH_MOST_OUTPUTS || t->rank < 0) return;
    w->tensor[w->count] = tensor;
    w->items[w->count] = mem_alloc(bytes + 1);
    if (w->items[w->count]) memcpy(w->items[w->count++], items, bytes);
}

static bool both_planned(struct one_way *w, lx_status *st)
{
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .passes.tile = LX_TILE_NONE};
    struct lx_device_options run = {
        .verify = LX_VERIFY_NONE, .input = both_put, .output = both_take, .context = w};
    struct lx_plan *p = lx_plan_make(w->g, &how, st);
    if (p && lx_plan_check(p, st)) w->run = lx_device_run(p, &run, st);
    lx_plan_free(p);
    return w->run != NULL;
}

static bool both_run(struct one_way *w, const char *file, const char *text, size_t length,
                     const struct lx_import_options *options, lx_status *st)
{
    const struct lx_graph *g = lx_model_import(file, text, length, options, NULL, st);
    if (!g) return false;
    struct lx_device device = g->device;
    device.cores = 1;
    w->g = lx_graph_with_device(g, &device);
    lx_graph_free(g);
    for (int32_t o = 0; w->g && o < w->g->op_count; o++)
        w->generic += w->g->ops[o].kind->id == LX_KIND_GENERIC;
    return w->g && both_planned(w, st);
}

static void both_compare_items(struct both_ways *b, int i)
{
    const struct lx_tensor *t = &b->way[0].g->tensors[b->way[0].tensor[i]];
    const struct number_type *type = &number_types[t->dtype];
    int64_t n = both_items(t), wrong = 0, first = -1;
    double most = 0, apart = 0;
    float x[2];
    for (int64_t k = 0; k < n; k++) {
        const char *at[2] = {b->way[0].items[i] + k * type->item, b->way[1].items[i] + k * type->item};
        for (int s = 0; s < 2; s++) items_decode(type, at[s], 1, &x[s]);
        if (isfinite(x[1]) && fabs((double)x[1]) > most) most = fabs((double)x[1]);
        if (memcmp(at[0], at[1], (size_t)type->item) == 0) continue;
        double d = fabs((double)x[0] - (double)x[1]);
        if (wrong++ == 0) first = k;
        if (!(d <= apart)) apart = d;
    }
    if (!wrong) return;
    b->largest = fmax(b->largest, most > 0 ? apart / most : apart);
    if (!*b->why)
        snprintf(b->why, sizeof b->why,
                 "%.200s: %lld of %lld elements differ, from %lld on, by up to %g of %g", t->name,
                 (long long)wrong, (long long)n, (long long)first, apart, most);
}

static const struct lx_tensor *both_output(const struct both_ways *b, int way, int i)
{
    return &b->way[way].g->tensors[b->way[way].tensor[i]];
}

/* The same name but for the number that keeps equal ones apart? */
static bool both_alike(const char *a, const char *b)
{
    size_t n = strcspn(a, "#");
    return n == strcspn(b, "#") && strncmp(a, b, n) == 0;
}

/* Copies are made where the file has them, so outputs may come in another order: by name, else the next of that size. */
static void both_match(struct both_ways *b, int i)
{
    struct one_way *w = &b->way[1];
    const struct lx_tensor *t = both_output(b, 0, i);
    int found = -1;
    for (int alike = 0; alike < 2; alike++)
        for (int k = w->count - 1; k >= i; k--) {
            const struct lx_tensor *u = both_output(b, 1, k);
            if (both_items(u) == both_items(t) && (!alike || both_alike(u->name, t->name))) found = k;
        }
    if (found < 0) return;
    int32_t tensor = w->tensor[i];
    char *items = w->items[i];
    w->tensor[i] = w->tensor[found], w->items[i] = w->items[found];
    w->tensor[found] = tensor, w->items[found] = items;
}

static void both_compare(struct both_ways *b)
{
    if (b->way[0].count != b->way[1].count) {
        snprintf(b->why, sizeof b->why, "%d outputs, but %d without folding", b->way[0].count,
                 b->way[1].count);
        return;
    }
    for (int i = 0; i < b->way[0].count; i++) {
        both_match(b, i);
        const struct lx_tensor *t = both_output(b, 0, i), *u = both_output(b, 1, i);
        if (both_items(t) == both_items(u) && t->dtype == u->dtype)
            both_compare_items(b, i);
        else if (!*b->why)
            snprintf(b->why, sizeof b->why, "output %.200s, but %.200s without folding", t->name, u->name);
    }
}

bool both_ways(struct both_ways *b, const char *file, const char *text, size_t length,
               struct lx_import_options options, bool eighths, lx_status *st)
{
    *b = (struct both_ways){.way = {{.eighths = eighths}, {.eighths = eighths}}};
    for (int i = 0; i < 2; i++) {
        options.no_fold = i == 1;
        if (!both_run(&b->way[i], file, text, length, &options, st)) return false;
        if (b->way[i].run->fault_count > 0)
            snprintf(b->why, sizeof b->why, "%.500s", b->way[i].run->faults[0].text);
    }
    both_compare(b);
    return true;
}

void both_free(struct both_ways *b)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < b->way[i].count; k++) mem_free(b->way[i].items[k]);
        lx_run_result_free(b->way[i].run);
        lx_graph_free(b->way[i].g);
    }
}
