/* The part of a plan file that only plans of graphs have: passes, the order of the ops, their divisions and
 * traffic, where stays were cut, and where tensors are in HBM. */
#include "plan/plan_file.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_passes(const struct lx_plan *p, struct text *t)
{
    bool first = true;
    text_add(t, "    \"passes\": {");
    for (const struct lx_pass *row = lx_passes(); row->name; row++) {
        int value = lx_pass_get(&p->passes, row);
        if (value == 0) continue;
        text_format(t, "%s\"%s\": ", first ? "" : ", ", row->name);
        if (row->words)
            text_json_string(t, row->words[value]);
        else
            text_add(t, "true");
        first = false;
    }
    text_add(t, "},\n");
}

static void write_op(const struct lx_plan *p, int32_t o, struct text *t)
{
    const struct lx_division *d = &p->divisions->at[o];
    const struct lx_op_traffic *x = &p->traffic[o];
    text_add(t, "      {\"name\": ");
    text_json_string(t, p->layouts->graph->ops[o].name);
    text_add(t, ", \"splits\": {");
    bool first = true;
    for (int i = 0; i < d->split_count; i++) {
        if (d->splits[i].split == 1) continue;
        text_format(t, "%s\"%c\": %" PRId64, first ? "" : ", ", d->splits[i].letter, d->splits[i].split);
        first = false;
    }
    text_format(t,
                "}, \"cores\": %" PRId64 ", \"hbm_read\": %" PRId64 ", \"hbm_written\": %" PRId64
                ", \"ring\": %" PRId64 ", \"reduce_ring\": %" PRId64 ", \"us\": %.6g}%s\n",
                d->cores_used, x->hbm_read, x->hbm_written, x->ring, x->reduce_ring, x->us,
                o + 1 < p->layouts->graph->op_count ? "," : "");
}

static void write_decisions(const struct lx_plan *p, struct text *t)
{
    const struct lx_graph *g = p->layouts->graph;
    const struct decisions *how = &p->draft->how;
    if (p->order) {
        text_add(t, "    \"order\": [");
        for (int32_t o = 0; o < g->op_count; o++) text_format(t, "%s%d", o ? ", " : "", (int)p->order[o]);
        text_add(t, "],\n");
    }
    for (int32_t i = 0; i < how->cut_count; i++) {
        text_add(t, i ? ", " : "    \"cuts\": [");
        text_add(t, "{\"tensor\": ");
        text_json_string(t, g->tensors[how->cuts[i].tensor].name);
        text_add(t, ", \"before\": ");
        text_json_string(t, g->ops[how->cuts[i].before].name);
        text_add(t, i + 1 < how->cut_count ? "}" : "}],\n");
    }
    for (int32_t i = 0; i < how->apart_count; i++) {
        text_add(t, i ? ", " : "    \"apart\": [");
        text_json_string(t, g->tensors[how->apart[i]].name);
        if (i + 1 == how->apart_count) text_add(t, "],\n");
    }
}

static const char *const transfer_words[] = {[LX_LOAD] = "load", [LX_STORE] = "store", [LX_RING] = "ring"};

static void write_transfers(const struct lx_plan *p, struct text *t)
{
    text_add(t, "    \"transfers\": [");
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        text_format(t, "%s\n      {\"kind\": \"%s\", \"tick\": %d, \"buffer\": ", i ? "," : "",
                    transfer_words[x->kind], (int)x->tick);
        text_json_string(t, p->problem.buffers[x->stay].name);
        if (x->source >= 0) {
            text_add(t, ", \"from\": ");
            text_json_string(t, p->problem.buffers[x->source].name);
        }
        text_format(t, ", \"bytes\": %" PRId64 "}", x->bytes);
    }
    text_add(t, p->transfer_count ? "\n    ],\n" : "],\n");
}

void plan_write_graph(const struct lx_plan *p, struct text *t)
{
    const struct lx_graph *g = p->layouts->graph;
    text_add(t, "  \"graph\": {\n");
    write_passes(p, t);
    write_decisions(p, t);
    text_format(t, "    \"perfect_hbm_bytes\": %" PRId64 ",\n    \"ring_bytes\": %" PRId64 ",\n",
                p->perfect_hbm_bytes, p->ring_bytes);
    text_format(t, "    \"predicted_us\": %.6g,\n    \"ops\": [\n", p->predicted_us);
    for (int32_t o = 0; o < g->op_count; o++) write_op(p, o, t);
    text_add(t, "    ],\n");
    write_transfers(p, t);
    text_format(t,
                "    \"pool\": {\"at\": %" PRId64 ", \"bytes\": %" PRId64 ", \"segment_bytes\": %" PRId64
                "},\n    \"hbm\": {",
                p->pool_at, p->pool_bytes, p->segment_bytes);
    bool first = true;
    for (int32_t i = 0; i < g->tensor_count; i++) {
        if (p->hbm_address[i] < 0) continue;
        text_add(t, first ? "\n      " : ",\n      ");
        text_json_string(t, g->tensors[i].name);
        text_format(t, ": %" PRId64, p->hbm_address[i]);
        first = false;
    }
    text_add(t, "\n    }\n  },\n");
}

static bool read_passes(const struct json *j, const cJSON *graph, struct lx_passes *passes, lx_status *st)
{
    const cJSON *v = json_find(graph, "passes"), *item;
    if (!cJSON_IsObject(v))
        return json_error(j, v ? v : graph, st, LX_E_SCHEMA,
                          "\"passes\" must be here, an object of passes; {} for none");
    cJSON_ArrayForEach(item, v)
    {
        const struct lx_pass *row = lx_passes();
        while (row->name && strcmp(row->name, item->string) != 0) row++;
        if (!row->name) return json_error(j, item, st, LX_E_SCHEMA, "there is no pass \"%s\"", item->string);
        if (!row->words) {
            if (!cJSON_IsBool(item)) return json_error(j, item, st, LX_E_SCHEMA, "must be true or false");
            lx_pass_set(passes, row, cJSON_IsTrue(item));
            continue;
        }
        int n = 0;
        while (row->words[n] && !(cJSON_IsString(item) && strcmp(item->valuestring, row->words[n]) == 0)) n++;
        if (!row->words[n]) return json_error(j, item, st, LX_E_SCHEMA, "no such value of %s", row->name);
        lx_pass_set(passes, row, n);
    }
    return true;
}

static bool read_order(const struct json *j, const cJSON *v, const struct lx_plan *p, struct decisions *how,
                       lx_status *st)
{
    const struct lx_graph *g = p->own_layouts->graph;
    int32_t n = g->op_count, t = 0;
    const cJSON *item;
    if (!v) return true;
    if (!cJSON_IsArray(v) || cJSON_GetArraySize(v) != n)
        return json_error(j, v, st, LX_E_MISMATCH, "the order must name each of the %d ops once", (int)n);
    int32_t *order = arena_array(p->memory, (size_t)n, sizeof *order);
    bool *seen = arena_array(p->memory, (size_t)n, sizeof *seen);
    if (!order || !seen) return status_no_memory(st);
    cJSON_ArrayForEach(item, v)
    {
        int64_t o;
        if (!json_int_value(j, item, "order", 0, n - 1, &o, st)) return false;
        if (seen[o]) return json_error(j, item, st, LX_E_MISMATCH, "op %d stands twice", (int)o);
        seen[o] = true;
        order[t++] = (int32_t)o;
    }
    if (!reorder_legal(g, order))
        return json_error(j, v, st, LX_E_MISMATCH, "in this order an op would read what is not written yet");
    how->order = order;
    return true;
}

/* The splits of an op as the file has them, per variable in iteration order; `*same`: as the op is divided. */
static bool read_splits(const struct json *j, const cJSON *splits, const char *name,
                        const struct lx_division *d, int64_t wanted[LX_MAX_VARS], bool *same, lx_status *st)
{
    const cJSON *item;
    *same = true;
    for (int i = 0; i < d->split_count; i++) {
        char key[2] = {d->splits[i].letter, 0};
        wanted[i] = 1;
        if (!json_opt_int(j, splits, key, 1, LX_INT_MAX, &wanted[i], st)) return false;
        *same &= wanted[i] == d->splits[i].split;
    }
    cJSON_ArrayForEach(item, splits)
    {
        int i = 0;
        while (i < d->split_count && d->splits[i].letter != item->string[0]) i++;
        if (i == d->split_count || item->string[1])
            return json_error(j, item, st, LX_E_MISMATCH, "op %s has no variable %s", name, item->string);
    }
    return true;
}

/* `*divided`: how the op is divided instead of as work division does it, or NULL. */
static bool read_op(const struct json *j, const cJSON *v, const struct lx_plan *p, int32_t op,
                    const struct lx_division **divided, lx_status *st)
{
    static const char *const keys[] = {"name", "splits",      "cores", "hbm_read", "hbm_written",
                                       "ring", "reduce_ring", "us",    NULL};
    const char *name, *ours = p->own_layouts->graph->ops[op].name;
    const cJSON *splits = json_find(v, "splits");
    int64_t wanted[LX_MAX_VARS];
    bool same;
    if (!json_only_keys(j, v, "an op of a plan", keys, st) || !json_string(j, v, "name", &name, st))
        return false;
    if (strcmp(name, ours) != 0 || !cJSON_IsObject(splits))
        return json_error(j, v, st, LX_E_MISMATCH, "op %s with its splits must stand here", ours);
    if (!read_splits(j, splits, name, &p->own_divisions->at[op], wanted, &same, st)) return false;
    if (same) return true;
    struct lx_division *other = arena_alloc(p->memory, sizeof *other);
    lx_status why = {0};
    if (!other) return status_no_memory(st);
    *divided = other;
    return lx_division_with(p->own_divisions, op, wanted, p->memory, other, &why) ||
           json_error(j, splits, st, LX_E_MISMATCH, "%s", why.text);
}

static bool read_ops(const struct json *j, const cJSON *graph, const struct lx_plan *p, struct decisions *how,
                     lx_status *st)
{
    int32_t count = p->own_divisions->count, t = 0;
    const struct lx_division **divided = arena_array(p->memory, (size_t)count, sizeof *divided);
    const cJSON *ops, *v;
    if (!divided) return status_no_memory(st);
    if (!json_array(j, graph, "ops", &ops, st)) return false;
    if (cJSON_GetArraySize(ops) != count)
        return json_error(j, ops, st, LX_E_MISMATCH, "the plan must have the pattern's %d ops", (int)count);
    cJSON_ArrayForEach(v, ops)
    {
        int32_t op = how->order ? how->order[t] : t;
        if (!read_op(j, v, p, op, &divided[op], st)) return false;
        if (divided[op]) how->divided = divided;
        t++;
    }
    return true;
}

struct name_lists {
    struct names tensors, ops;
};

/* Tensors by number, ops by tick. */
static bool find_names(const struct lx_graph *g, const int32_t *order, struct name_lists *n)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (names_add(&n->tensors, g->tensors[t].name, t) == NAMES_NO_MEMORY) return false;
    for (int32_t t = 0; t < g->op_count; t++)
        if (names_add(&n->ops, g->ops[order ? order[t] : t].name, t) == NAMES_NO_MEMORY) return false;
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool read_decisions(const struct json *j, const cJSON *v, struct lx_plan *p,
                           const struct name_lists *names, struct decisions *how, lx_status *st)
{
    static const char *const keys[] = {"tensor", "before", NULL};
    const cJSON *cuts = NULL, *apart = NULL, *item;
    if (!json_opt_array(j, v, "cuts", &cuts, st) || !json_opt_array(j, v, "apart", &apart, st)) return false;
    struct cut *c = arena_array(p->memory, (size_t)cJSON_GetArraySize(cuts), sizeof *c);
    int32_t *a = arena_array(p->memory, (size_t)cJSON_GetArraySize(apart), sizeof *a);
    if (!c || !a) return status_no_memory(st);
    cJSON_ArrayForEach(item, cuts)
    {
        const char *tensor, *op;
        if (!json_only_keys(j, item, "a cut", keys, st) || !json_string(j, item, "tensor", &tensor, st) ||
            !json_string(j, item, "before", &op, st))
            return false;
        c[how->cut_count] = (struct cut){names_find(&names->tensors, tensor), names_find(&names->ops, op)};
        if (c[how->cut_count].tensor < 0 || c[how->cut_count].before < 0)
            return json_error(j, item, st, LX_E_MISMATCH, "no tensor %s, or no op %s", tensor, op);
        how->cut_count++;
    }
    cJSON_ArrayForEach(item, apart)
    {
        a[how->apart_count] = cJSON_IsString(item) ? names_find(&names->tensors, item->valuestring) : -1;
        if (a[how->apart_count++] < 0) return json_error(j, item, st, LX_E_MISMATCH, "no such tensor");
    }
    qsort(c, (size_t)how->cut_count, sizeof *c, cut_compare);
    qsort(a, (size_t)how->apart_count, sizeof *a, compare_numbers);
    how->cuts = c;
    how->apart = a;
    return true;
}

bool plan_read_graph(const struct json *j, const cJSON *root, struct lx_plan *p, int objective, lx_status *st)
{
    static const char *const keys[] = {"passes",       "order", "cuts",      "apart", "perfect_hbm_bytes",
                                       "ring_bytes",   "ops",   "transfers", "pool",  "hbm",
                                       "predicted_us", NULL};
    const cJSON *v = json_find(root, "graph");
    struct decisions how = {0};
    struct name_lists names = {0};
    struct draft x = {0};
    if (!v)
        return json_error(j, root, st, LX_E_SCHEMA,
                          "the key \"graph\" is missing here; plan the pattern again");
    if (!json_only_keys(j, v, "graph", keys, st) || !read_passes(j, v, &how.passes, st) ||
        !plan_divide(p, &how.passes, NULL, st) || !read_order(j, json_find(v, "order"), p, &how, st) ||
        !read_ops(j, v, p, &how, st))
        return false;
    bool ok = find_names(p->own_layouts->graph, how.order, &names) ? true : status_no_memory(st);
    ok = ok && read_decisions(j, v, p, &names, &how, st) &&
         draft_make(p->own_divisions, &how, p->memory, &x, st);
    names_free(&names.tensors);
    names_free(&names.ops);
    if (!ok) return false;
    x.problem.objective = (enum lx_objective)objective;
    if (!plan_adopt(p, &x, st)) return draft_free(&x), false;
    lx_status why;
    if (!lx_problem_validate(&p->problem, &why))
        return status_set_at(st, why.code, j->file, why.line, why.column, "%s", why.text);
    return plan_off_chip(p, st) && perfect_traffic(p->draft, &p->perfect_hbm_bytes, st);
}

static bool same_name(const struct json *j, const cJSON *v, const char *key, const char *ours, lx_status *st)
{
    const char *theirs = "";
    if (!json_opt_string(j, v, key, &theirs, st)) return false;
    if (strcmp(theirs, ours) == 0) return true;
    return json_error(j, v, st, LX_E_MISMATCH, "%s is \"%s\" here, but the addresses give \"%s\"", key,
                      theirs, ours);
}

/* The copies that the file lists must be those that follow from the addresses. */
static bool same_transfers(const struct json *j, const cJSON *graph, const struct lx_plan *p, lx_status *st)
{
    static const char *const keys[] = {"kind", "tick", "buffer", "from", "bytes", NULL};
    const cJSON *array, *v;
    int32_t i = 0;
    if (!json_array(j, graph, "transfers", &array, st)) return false;
    if (cJSON_GetArraySize(array) != p->transfer_count)
        return json_error(j, array, st, LX_E_MISMATCH, "%d transfers, but the addresses give %d",
                          cJSON_GetArraySize(array), (int)p->transfer_count);
    cJSON_ArrayForEach(v, array)
    {
        const struct lx_transfer *x = &p->transfers[i++];
        const struct lx_buffer *b = p->problem.buffers;
        if (!json_only_keys(j, v, "a transfer", keys, st) ||
            !same_name(j, v, "kind", transfer_words[x->kind], st) ||
            !same_name(j, v, "buffer", b[x->stay].name, st) ||
            !same_name(j, v, "from", x->source < 0 ? "" : b[x->source].name, st) ||
            !plan_same(j, v, "tick", x->tick, st) || !plan_same(j, v, "bytes", x->bytes, st))
            return false;
    }
    return true;
}

bool plan_read_places(const struct json *j, const cJSON *root, struct lx_plan *p, lx_status *st)
{
    static const char *const keys[] = {"at", "bytes", "segment_bytes", NULL};
    const struct lx_graph *g = p->layouts->graph;
    const cJSON *v = json_find(root, "graph"), *pool = json_find(v, "pool"), *hbm = json_find(v, "hbm"),
                *item;
    int32_t o = 0;
    if (!plan_same(j, v, "perfect_hbm_bytes", p->perfect_hbm_bytes, st) ||
        !plan_same(j, v, "ring_bytes", p->ring_bytes, st))
        return false;
    cJSON_ArrayForEach(item, json_find(v, "ops"))
    {
        const struct lx_op_traffic *x = &p->traffic[o];
        if (!plan_same(j, item, "cores", p->divisions->at[o++].cores_used, st) ||
            !plan_same(j, item, "hbm_read", x->hbm_read, st) ||
            !plan_same(j, item, "hbm_written", x->hbm_written, st) ||
            !plan_same(j, item, "ring", x->ring, st) ||
            !plan_same(j, item, "reduce_ring", x->reduce_ring, st))
            return false;
    }
    if (!same_transfers(j, v, p, st)) return false;
    if (!cJSON_IsObject(hbm) || !cJSON_IsObject(pool))
        return json_error(j, v, st, LX_E_SCHEMA, "\"hbm\" and \"pool\" must be objects");
    if (!json_only_keys(j, pool, "pool", keys, st) ||
        !json_int(j, pool, "at", 0, LX_INT_MAX, &p->pool_at, st) ||
        !json_int(j, pool, "bytes", 0, LX_INT_MAX, &p->pool_bytes, st) ||
        !json_int(j, pool, "segment_bytes", 0, LX_INT_MAX, &p->segment_bytes, st))
        return false;
    p->hbm_address = arena_array(p->memory, (size_t)g->tensor_count, sizeof *p->hbm_address);
    struct names names = {0};
    bool ok = p->hbm_address ? true : status_no_memory(st);
    for (int32_t t = 0; ok && t < g->tensor_count; t++) {
        p->hbm_address[t] = -1;
        if (names_add(&names, g->tensors[t].name, t) == NAMES_NO_MEMORY) ok = status_no_memory(st);
    }
    if (ok) cJSON_ArrayForEach(item, hbm)
        {
            int32_t t = names_find(&names, item->string);
            if (t < 0)
                ok = json_error(j, item, st, LX_E_MISMATCH, "there is no tensor %s", item->string);
            else
                ok = json_int_value(j, item, item->string, 0, LX_INT_MAX, &p->hbm_address[t], st);
            if (!ok) break;
        }
    names_free(&names);
    return ok;
}
