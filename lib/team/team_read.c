/* The file of a team's plan, read. Everything is taken as it is stated, within the bounds that whoever uses the plan
 * relies on: numbers that name something name something, boxes and ranges lie in their tensors and loops. */
#include "team/team_file.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "files/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const struct json *j;
    struct lx_team_plan *p;
    struct arena *memory;
    struct lx_team_op *ops;
    const struct team_file_op *op_records;
    lx_status *st;
};

/* A list of records of a section; NULL: `st` is set. */
static void *team_read_list(struct reader *r, const struct json_value *root, const char *key,
                            enum team_section_id section, int32_t *count, const struct json_value **array)
{
    const struct team_section *s = &team_sections[section];
    const struct json_value *item;
    if (!json_array(r->j, root, key, array, r->st)) return NULL;
    int n = json_count(*array), i = 0;
    char *list = n <= LX_MAX_ITEMS ? arena_array(r->memory, (size_t)n + 1, s->size) : NULL;
    if (!list) return status_no_memory(r->st), NULL;
    json_for_each(item, *array) {
        if (!record_read(r->j, item, s->what, s->fields, s->count, list + (size_t)i++ * s->size, r->memory,
                         r->st))
            return NULL;
    }
    *count = (int32_t)n;
    return list;
}

static bool team_read_wrong(const struct reader *r, const struct json_value *array, int32_t i,
                            const char *what)
{
    return json_error(r->j, json_item(array, i), r->st, LX_E_DOMAIN, "%s", what);
}

static bool as_many(const struct reader *r, const struct json_value *array, const char *what, int32_t n,
                    int32_t wanted)
{
    if (n == wanted) return true;
    return json_error(r->j, array, r->st, LX_E_MISMATCH, "the pattern has %d %s, not %d", (int)wanted, what,
                      (int)n);
}

/* The number of a word, or -1. */
static int word_in(const char *word, const char *const *words, int count)
{
    for (int k = 0; word && k < count; k++)
        if (strcmp(word, words[k]) == 0) return k;
    return -1;
}

static bool take_tensor(struct reader *r, const struct json_value *array, int32_t t,
                        const struct team_file_tensor *x, struct lx_team_tensor *out)
{
    const struct lx_tensor *tensor = &r->p->graph->tensors[t];
    int32_t at = 0;
    *out = (struct lx_team_tensor){.given = x->given == 1};
    if (x->name && strcmp(x->name, tensor->name) != 0)
        return team_read_wrong(r, array, t, "the pattern has another tensor here");
    if (x->given >= 0 && x->given != 1) return team_read_wrong(r, array, t, "given is 1 or absent");
    if (tensor->rank < 0)
        return team_read_wrong(r, array, t, "it has no shape and cannot be in a team's plan");
    if (!team_take_axes(r->p, x->cut, &x->cuts, tensor->rank, 1, out->shard))
        return team_read_wrong(r, array, t, "it has no such dimension to be cut, or the grid has other axes");
    for (int d = 0; d < tensor->rank; d++) {
        bool cut = false;
        for (int a = 0; a < r->p->grid.axes; a++) cut |= out->shard[a] == d;
        if (cut &&
            !team_take_bounds(tensor, d, lx_team_blocks(&r->p->grid, out->shard, d), &x->bounds, &at, out))
            return team_read_wrong(
                r, array, t,
                "its bounds must be one more than there are blocks, and rise from 0 to its extent");
    }
    return at == x->bounds.count
               ? true
               : team_read_wrong(r, array, t, "it has bounds of dimensions that are not cut");
}

static bool read_tensors(struct reader *r, const struct json_value *root)
{
    int32_t n;
    const struct json_value *array;
    struct team_file_tensor *list = team_read_list(r, root, "tensors", TEAM_FILE_TENSOR, &n, &array);
    if (!list || !as_many(r, array, "tensors", n, r->p->graph->tensor_count)) return false;
    struct lx_team_tensor *out = arena_array(r->memory, (size_t)n + 1, sizeof *out);
    if (!out) return status_no_memory(r->st);
    for (int32_t t = 0; t < n; t++)
        if (!take_tensor(r, array, t, &list[t], &out[t])) return false;
    r->p->tensors = out;
    return true;
}

static bool take_exchange(struct reader *r, const struct json_value *array, int32_t e,
                          const struct team_file_exchange *x, struct lx_team_exchange *out)
{
    const struct lx_graph *g = r->p->graph;
    int devices = r->p->devices;
    if (x->tensor < 0 || x->tensor >= g->tensor_count || lx_team_is_replicated(&r->p->tensors[x->tensor]))
        return team_read_wrong(r, array, e, "there is no such tensor that is cut");
    if (x->after < -1 || x->after >= g->op_count || x->first_reader < 0 || x->first_reader >= g->op_count)
        return team_read_wrong(r, array, e, "\"after\" and \"first_reader\" must be numbers of ops");
    const struct lx_tensor *t = &g->tensors[x->tensor];
    struct lx_team_box *box = arena_array(r->memory, (size_t)devices, sizeof *box);
    struct lx_team_box whole = lx_team_box_of(t->rank, t->shape);
    if (!box) return status_no_memory(r->st);
    if (x->offsets.count != devices * t->rank || x->sizes.count != devices * t->rank)
        return team_read_wrong(r, array, e,
                               "\"offsets\" and \"sizes\" must have a number per device and dimension");
    for (int k = 0; k < devices * t->rank; k++) {
        struct lx_team_box *b = &box[k / t->rank];
        b->rank = t->rank;
        b->offset[k % t->rank] = x->offsets.at[k];
        b->size[k % t->rank] = x->sizes.at[k];
        if (x->sizes.at[k] < 0 || x->offsets.at[k] < 0 || x->offsets.at[k] > INT64_MAX - x->sizes.at[k])
            return team_read_wrong(r, array, e, "a box must lie in its tensor");
    }
    struct lx_team_box none = {.rank = t->rank};
    for (int m = 0; m < devices; m++)
        if (lx_team_box_empty(&box[m]) ? !lx_team_box_equal(&box[m], &none)
                                       : !lx_team_box_within(&box[m], &whole))
            return team_read_wrong(r, array, e, "a box must lie in its tensor, or be all zeros");
    *out = (struct lx_team_exchange){.tensor = (int32_t)x->tensor,
                                     .after = (int32_t)x->after,
                                     .first_reader = (int32_t)x->first_reader,
                                     .reads = (int)min_i64(x->reads, INT32_MAX),
                                     .sides = x->sides == 1,
                                     .box = box,
                                     .separate_bytes = x->separate_bytes};
    if (!team_count_exchange(g, &r->p->grid, r->p->tensors, r->memory, out, r->st)) return false;
    if (out->sides && out->pattern != LX_TEAM_HALO)
        return team_read_wrong(r, array, e, "\"sides\" is for exchanges between neighbours");
    if ((x->bytes >= 0 && x->bytes != out->bytes) ||
        (x->sent.count == devices &&
         memcmp(x->sent.at, out->sent, (size_t)devices * sizeof *out->sent) != 0) ||
        (x->received.count == devices &&
         memcmp(x->received.at, out->received, (size_t)devices * sizeof *out->received) != 0))
        return team_read_wrong(r, array, e, "by its boxes other bytes are sent or received");
    if (x->pattern && *x->pattern && strcmp(x->pattern, lx_team_pattern_word(out->pattern)) != 0)
        return team_read_wrong(r, array, e, "by its boxes it has another \"pattern\"");
    return true;
}

static bool read_exchanges(struct reader *r, const struct json_value *root)
{
    int32_t n;
    const struct json_value *array;
    struct team_file_exchange *list = team_read_list(r, root, "exchanges", TEAM_FILE_EXCHANGE, &n, &array);
    struct lx_team_exchange *out = list ? arena_array(r->memory, (size_t)n + 1, sizeof *out) : NULL;
    if (!list) return false;
    if (!out) return status_no_memory(r->st);
    for (int32_t e = 0; e < n; e++)
        if (!take_exchange(r, array, e, &list[e], &out[e])) return false;
    r->p->exchanges = out;
    r->p->exchange_count = n;
    return true;
}

/* The variables that are cut, and where they run. */
static bool take_loops(struct reader *r, const struct json_value *array, int32_t o,
                       const struct team_file_op *x, struct lx_team_op *out)
{
    struct lx_team_space from = {0};
    struct op_index index;
    op_index_of(r->p->graph, &r->p->graph->ops[o], &index);
    int mode = word_in(x->mode, team_mode_words, LX_TEAM_MODES);
    if (mode < 0) return team_read_wrong(r, array, o, "\"mode\" must be whole, split, combine or parts");
    out->mode = (enum lx_team_mode)mode;
    bool known =
        team_take_axes(r->p, x->var, &x->vars, index.known ? index.var_count : 0, LX_MAX_INPUTS, out->var);
    bool any = false;
    for (int a = 0; known && a < r->p->grid.axes; a++) any |= out->var[a] != -1;
    for (int a = 0; known && a < r->p->grid.axes; a++)
        if (out->var[a] >= 0 && team_loop_of(&from, out->var[a]) < 0) from.var[from.loops++] = out->var[a];
    if (!known || (mode == LX_TEAM_REPLICATED) == any)
        return team_read_wrong(
            r, array, o, "\"var\" must be a variable of the op if it is cut, and be absent if it is not");
    out->space = team_take_ranges(r->p, &x->ranges, &from, index.extent);
    return out->space ? true
                      : team_read_wrong(r, array, o, "\"ranges\" must have one range in the loop per device");
}

static bool team_read_take_op(struct reader *r, const struct json_value *array, int32_t o,
                              const struct team_file_op *x, struct lx_team_op *out)
{
    const struct lx_op *op = &r->p->graph->ops[o];
    *out = (struct lx_team_op){.group = (int32_t)x->group};
    if (x->name && strcmp(x->name, op->name) != 0)
        return team_read_wrong(r, array, o, "the pattern has another op here");
    if (!take_loops(r, array, o, x, out)) return false;
    int32_t *exchange = arena_array(r->memory, (size_t)op->input_count + 1, sizeof *exchange);
    if (!exchange) return status_no_memory(r->st);
    if (x->exchanges.count != 0 && x->exchanges.count != op->input_count)
        return team_read_wrong(r, array, o, "\"exchanges\" must have a number per input");
    for (int i = 0; i < op->input_count; i++) {
        int64_t e = x->exchanges.count ? x->exchanges.at[i] : -1;
        if (e < -1 || e >= r->p->exchange_count || (e >= 0 && r->p->exchanges[e].tensor != op->inputs[i]))
            return team_read_wrong(r, array, o,
                                   "\"exchanges\" must be numbers of exchanges of what it reads, or -1");
        exchange[i] = (int32_t)e;
    }
    out->exchange = exchange;
    return true;
}

static bool team_read_ops(struct reader *r, const struct json_value *root)
{
    int32_t n;
    const struct json_value *array;
    struct team_file_op *list = team_read_list(r, root, "ops", TEAM_FILE_OP, &n, &array);
    if (!list || !as_many(r, array, "ops", n, r->p->graph->op_count)) return false;
    r->ops = arena_array(r->memory, (size_t)n + 1, sizeof *r->ops);
    if (!r->ops) return status_no_memory(r->st);
    for (int32_t o = 0; o < n; o++)
        if (!team_read_take_op(r, array, o, &list[o], &r->ops[o])) return false;
    r->p->ops = r->ops;
    r->op_records = list;
    return true;
}

/* Groups stand one behind the other, and every op is in its own. */
static bool team_read_groups(struct reader *r, const struct json_value *root)
{
    int32_t n, next = 0;
    const struct json_value *array;
    struct team_file_group *list = team_read_list(r, root, "groups", TEAM_FILE_GROUP, &n, &array);
    struct lx_team_group *out = list ? arena_array(r->memory, (size_t)n + 1, sizeof *out) : NULL;
    if (!list) return false;
    if (!out) return status_no_memory(r->st);
    for (int32_t g = 0; g < n; g++) {
        const struct team_file_group *x = &list[g];
        if (x->first != next || x->last < x->first || x->last >= r->p->graph->op_count)
            return team_read_wrong(r, array, g, "groups must hold all ops one after the other");
        out[g] = (struct lx_team_group){(int32_t)x->first, (int32_t)x->last, NULL};
        for (int32_t o = out[g].first; o <= out[g].last; o++)
            if (r->ops[o].group != g)
                return team_read_wrong(r, array, g, "an op of it says that it is in another group");
        next = out[g].last + 1;
        if (x->core.count == 0) continue;
        out[g].core = team_take_ranges(r->p, &x->core, &r->ops[x->first].space[0], NULL);
        if (!out[g].core || out[g].core[0].loops == 0)
            return team_read_wrong(r, array, g, "\"core\" must have one range per device");
        for (int32_t o = out[g].first; o <= out[g].last; o++)
            if (!team_lies_in(r->p, out[g].core, r->ops[o].space))
                return team_read_wrong(r, array, g, "its core must lie where its ops run");
    }
    if (next != r->p->graph->op_count) return team_read_wrong(r, array, n - 1, "groups must hold all ops");
    r->p->groups = out;
    r->p->group_count = n;
    return true;
}

static bool take_step(struct reader *r, const struct json_value *array, int32_t s,
                      const struct team_file_step *x, struct lx_team_step *out)
{
    int kind = word_in(x->step, team_step_words, LX_TEAM_STEP_KINDS);
    bool of_op = kind == LX_TEAM_COMPUTE || kind == LX_TEAM_REDUCE;
    int piece = kind == LX_TEAM_COMPUTE ? word_in(x->piece, team_piece_words, LX_TEAM_PIECES) : LX_TEAM_ALL;
    if (kind < 0 || piece < 0) return team_read_wrong(r, array, s, "there is no such step, or no such piece");
    if (of_op ? x->op < 0 || x->op >= r->p->graph->op_count
              : x->exchange < 0 || x->exchange >= r->p->exchange_count)
        return team_read_wrong(r, array, s, "it needs the number of an op, or of an exchange");
    if (piece != LX_TEAM_ALL && !r->p->groups[r->ops[x->op].group].core)
        return team_read_wrong(r, array, s, "the group of this op has no core");
    if (kind == LX_TEAM_REDUCE && r->ops[x->op].mode != LX_TEAM_COMBINE)
        return team_read_wrong(r, array, s, "only partial results are combined");
    bool beside = piece == LX_TEAM_BEFORE || piece == LX_TEAM_AFTER;
    int64_t along = x->along < 0 ? 0 : x->along;
    if (along >= (beside ? r->ops[x->op].space[0].loops : 1))
        return team_read_wrong(r, array, s, "\"along\" must be the number of a variable that is cut");
    *out = (struct lx_team_step){(enum lx_team_step_kind)kind, of_op ? (int32_t)x->op : -1,
                                 of_op ? -1 : (int32_t)x->exchange, (enum lx_team_piece)piece, (int)along};
    return true;
}

static bool read_steps(struct reader *r, const struct json_value *root)
{
    int32_t n;
    const struct json_value *array;
    struct team_file_step *list = team_read_list(r, root, "steps", TEAM_FILE_STEP, &n, &array);
    struct lx_team_step *out = list ? arena_array(r->memory, (size_t)n + 1, sizeof *out) : NULL;
    if (!list) return false;
    if (!out) return status_no_memory(r->st);
    for (int32_t s = 0; s < n; s++)
        if (!take_step(r, array, s, &list[s], &out[s])) return false;
    r->p->steps = out;
    r->p->step_count = n;
    return true;
}

static const struct lx_graph *team_read_pattern(const struct json *j, const struct json_value *root,
                                                const char *hash, lx_status *st)
{
    const struct json_value *pattern = json_find(root, "pattern");
    char ours[20];
    if (!pattern)
        return json_error(j, root, st, LX_E_SCHEMA, "the key \"pattern\" is missing here; add it"), NULL;
    const struct lx_graph *g = pattern_read_json(j, pattern, st);
    if (!g) return NULL;
    snprintf(ours, sizeof ours, "%016" PRIx64, g->hash);
    if (!g->is_list && (!hash || strcmp(hash, ours) == 0)) return g;
    lx_graph_free(g);
    json_error(j, pattern, st, LX_E_MISMATCH,
               "the pattern in this plan was changed after planning (its hash is %s); plan it again", ours);
    return NULL;
}

/* What follows from the rest is as the file says. */
static bool same_sums(const struct reader *r, const struct json_value *root, const struct team_file_root *x)
{
    const struct lx_team_plan *p = r->p;
    for (int32_t o = 0; o < p->graph->op_count; o++)
        if (r->op_records[o].bytes >= 0 && r->op_records[o].bytes != p->ops[o].bytes)
            return team_read_wrong(r, json_find(root, "ops"), o,
                                   "by its exchanges and combines other bytes are received");
    if ((x->bytes < 0 || x->bytes == p->bytes) &&
        (x->combine_bytes < 0 || x->combine_bytes == p->combine_bytes))
        return true;
    return json_error(r->j, json_find(root, "bytes"), r->st, LX_E_MISMATCH,
                      "by its exchanges and combines the team moves %" PRId64 " and %" PRId64 " bytes",
                      p->bytes, p->combine_bytes);
}

static bool team_read_body(struct reader *r, const struct json_value *root, const struct team_file_root *x)
{
    struct lx_team_plan *p = r->p;
    if (x->members < 1 || x->members > LX_TEAM_DEVICES)
        return json_error(r->j, json_find(root, "members"), r->st, LX_E_RANGE, "a team has 1 to %d devices",
                          LX_TEAM_DEVICES);
    p->devices = (int)x->members;
    if (!team_take_grid(p, &x->grid))
        return json_error(r->j, json_find(root, "grid"), r->st, LX_E_RANGE,
                          "a grid has 1 to %d axes, and as many devices as the team", LX_TEAM_AXES);
    p->plain_bytes = x->plain_bytes;
    p->predicted_us = x->predicted_us;
    p->bound_us = x->bound_us;
    p->bound_bytes = x->bound_bytes;
    p->graph = team_read_pattern(r->j, root, x->pattern_hash, r->st);
    if (!p->graph || !read_tensors(r, root) || !read_exchanges(r, root) || !team_read_ops(r, root) ||
        !team_read_groups(r, root) || !read_steps(r, root))
        return false;
    team_sum_up(p, r->ops);
    return team_identify(p, r->st) && same_sums(r, root, x);
}

struct lx_team_plan *team_read(const struct json *j, const struct json_value *root, lx_status *st)
{
    const struct team_section *s = &team_sections[TEAM_FILE_ROOT];
    struct team_file_root x;
    int64_t version;
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_team_plan *p = memory ? arena_alloc(memory, sizeof *p) : NULL;
    if (!p) return mem_free(memory), status_no_memory(st), NULL;
    *p = (struct lx_team_plan){.memory = memory};
    struct reader r = {.j = j, .p = p, .memory = memory, .st = st};
    if (pattern_check_header(j, root, TEAM_PLAN_KIND, TEAM_FORMAT, TEAM_FORMAT, &version, st) &&
        record_read(j, root, s->what, s->fields, s->count, &x, memory, st) && team_read_body(&r, root, &x))
        return p;
    lx_team_free(p);
    return NULL;
}
