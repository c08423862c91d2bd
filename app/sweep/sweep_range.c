/* Which sizes and which numbers of cores a sweep has: ranges, lists and single values from text. */
#include "sweep/sweep_lines.h"

enum { MOST_WORD = 64, MOST_CORES = 1024 };

static void sweep_range_push(sweep_numbers *out, int64_t value)
{
    if (out->count > 0 && out->at[out->count - 1] == value) return;
    VEC_PUSH(out, value);
}

/* One number, which is `length` bytes of `text`. */
static bool sweep_range_number(const char *what, const char *text, size_t length, int64_t high, int64_t *out,
                               lx_status *st)
{
    char word[MOST_WORD + 1];
    if (length == 0)
        return status_set(st, LX_E_USAGE, "%s: a number is missing; a range is like 16k..2m", what);
    snprintf(word, sizeof word, "%.*s", (int)(length < MOST_WORD ? length : MOST_WORD), text);
    return lx_parse_int(what, word, 1, high, out, st);
}

static bool sweep_range_add_list(const char *what, const char *text, int64_t high, sweep_numbers *out,
                                 lx_status *st)
{
    for (;;) {
        int64_t value;
        size_t length = strcspn(text, ",");
        if (!sweep_range_number(what, text, length, high, &value, st)) return false;
        if (out->count > 0 && value <= out->at[out->count - 1])
            return status_set(st, LX_E_USAGE, "%s: %s does not rise at %.*s; name the smallest first", what,
                              out->count > 1 ? "the list" : "it", (int)length, text);
        sweep_range_push(out, value);
        if (!text[length]) return true;
        text += length + 1;
    }
}

/* Low and high end; both the same for a text that is no range. */
static bool sweep_range_ends(const char *what, const char *text, int64_t most, int64_t *low, int64_t *high,
                             lx_status *st)
{
    const char *dots = strstr(text, "..");
    size_t length = (size_t)(dots - text);
    if (!sweep_range_number(what, text, length, most, low, st) ||
        !sweep_range_number(what, dots + 2, strlen(dots + 2), most, high, st))
        return false;
    if (*low <= *high) return true;
    return status_set(st, LX_E_USAGE, "%s %s: the range goes down; write %s..%.*s", what, text, dots + 2,
                      (int)length, text);
}

static void sweep_range_spread(int64_t low, int64_t high, int64_t steps, sweep_numbers *out)
{
    for (int64_t i = 0; i < steps; i++) {
        double at = steps > 1 ? (double)i / (double)(steps - 1) : 1;
        int64_t value = llround((double)low * pow((double)high / (double)low, at));
        /* The ends are exact; sizes between them are multiples of 128 if the range is large enough. */
        if (i > 0 && i < steps - 1 && low >= 1024) value = value / 128 * 128;
        if (i == steps - 1) value = high;
        if (value < low) value = low;
        sweep_range_push(out, value);
    }
}

bool sweep_sizes_read(const char *what, const char *text, int64_t steps, sweep_numbers *out, lx_status *st)
{
    int64_t low, high;
    if (!strstr(text, "..")) return sweep_range_add_list(what, text, LX_INT_MAX, out, st);
    if (!sweep_range_ends(what, text, LX_INT_MAX, &low, &high, st)) return false;
    sweep_range_spread(low, high, steps, out);
    return true;
}

bool sweep_cores_read(const char *what, const char *text, sweep_numbers *out, lx_status *st)
{
    int64_t low, high;
    if (!strstr(text, "..")) return sweep_range_add_list(what, text, MOST_CORES, out, st);
    if (!sweep_range_ends(what, text, MOST_CORES, &low, &high, st)) return false;
    for (int64_t n = low; n < high; n *= 2) sweep_range_push(out, n);
    sweep_range_push(out, high);
    return true;
}

struct edge {
    int64_t at, bytes; /* that come; below 0: that go */
};

/* By time; what goes makes room for what comes at the same tick. */
ORDER(edge_order, struct edge, ORDER_UP(at) ORDER_UP(bytes));

static int64_t sweep_range_need_of(const struct lx_plan *p)
{
    OWNED struct edge *edges = mem_alloc(((size_t)p->problem.count * 2 + 1) * sizeof *edges);
    size_t n = 0;
    int64_t now = 0, most = 0;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (b->reason || b->end <= b->start || (b->spill_cost <= 0 && !p->graph->list)) continue;
        int64_t bytes = min_i64(b->size, LX_INT_MAX / 4);
        edges[n++] = (struct edge){b->start, bytes};
        edges[n++] = (struct edge){b->end, -bytes};
    }
    if (n) qsort(edges, n, sizeof *edges, edge_order);
    for (size_t i = 0; i < n && now < LX_INT_MAX / 4; i++) {
        now += edges[i].bytes;
        most = max_i64(most, now);
    }
    if (p->figures.spill_bytes > 0) most = max_i64(most, p->problem.capacity + 1);
    return min_i64(most, LX_INT_MAX / 4);
}

/* Without nests: these make do with any size. */
int64_t sweep_need(const struct lx_graph *g, const struct lx_settings *asked)
{
    struct lx_settings how = *asked;
    struct lx_plan_options options = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS], need = 0;
    lx_status st = {0};
    how.usual = LX_ASK_OWN;
    if (lx_graph_pools(g) || !lx_settings_set(&how, "solver", "greedy", &st) ||
        !lx_settings_set(&how, "tile", "none", &st))
        return 0;
    SCOPED(graph_free_at) const struct lx_graph *sized = lx_settings_graph(&how, g, &st);
    if (sized && lx_settings_plan(&how, g, &options, values, &st)) {
        SCOPED(plan_free_at) const struct lx_plan *p = lx_plan_make(sized, &options, &st);
        if (p) need = sweep_range_need_of(p);
    }
    return need;
}

bool sweep_sizes_own(const struct lx_graph *g, int64_t need, int64_t steps, sweep_numbers *out, lx_status *st)
{
    int64_t own = g->list && g->list->capacity >= 0 ? g->list->capacity : lx_device_usable(&g->device);
    if (own < 64)
        return status_set(st, LX_E_USAGE,
                          "the pattern has %lld bytes of scratchpad; name a range, as in --lx 16k..2m",
                          (long long)own);
    if (need <= own || own > LX_INT_MAX / 8) {
        sweep_range_spread(own / 64, own, steps, out);
        return true;
    }
    /* Gaps take room, and a larger scratchpad may change splits: go well beyond. */
    int64_t past = max_i64((need + need / 4 + 127) / 128 * 128, 4 * own), beyond = steps / 3;
    sweep_range_spread(own / 64, own, steps - beyond, out);
    if (beyond > 0) sweep_range_spread(own, past, beyond + 1, out);
    return true;
}
