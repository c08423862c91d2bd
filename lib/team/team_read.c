/* Reads the file of a team's plan. Everything is taken as stated, within the bounds that users of the plan
 * rely on: tensors, ops and exchanges exist, boxes and ranges lie in their tensors and loops. */
#include "team/team_file.h"
#include "files/pattern.h"

struct reader {
    const struct json *j;
    const struct json_value *root, *array; /* array: the current list */
    struct lx_team_plan *p;
    struct arena *memory;
    struct lx_team_op *ops;
    const struct team_file_op *op_records;
    lx_status *st;
};

/* Reads a list of records; `take` puts each into the plan, `size` bytes of `out`. `wanted` is the required
 * count; -1: any. */
typedef bool team_read_one(struct reader *r, int32_t i, const void *record, void *out);
static bool team_read_list(struct reader *r, const char *key, enum team_section_id section, int32_t wanted,
                           size_t size, team_read_one *take, void **out, int32_t *count)
{
    const struct team_section *s = &team_sections[section];
    const struct json_value *item;
    if (!json_array(r->j, r->root, key, &r->array, r->st)) return false;
    int n = json_count(r->array), i = 0;
    if (wanted >= 0 && n != wanted)
        return json_error(r->j, r->array, r->st, LX_E_MISMATCH, "the pattern has %d %s, not %d", (int)wanted,
                          key, n);
    if (n > LX_MAX_ITEMS)
        return json_error(r->j, r->array, r->st, LX_E_LIMIT, "there are more than %d", LX_MAX_ITEMS);
    char *list = arena_array(r->memory, (size_t)n + 1, s->size);
    char *room = arena_array(r->memory, (size_t)n + 1, size);
    *out = room;
    *count = n;
    json_for_each(item, r->array) {
        char *record = list + (size_t)i++ * s->size;
        if (!record_read(r->j, item, s->what, s->fields, s->count, record, r->memory, r->st)) return false;
    }
    for (i = 0; i < n; i++)
        if (!take(r, i, list + (size_t)i * s->size, room + (size_t)i * size)) return false;
    return true;
}

static bool team_read_wrong(const struct reader *r, int32_t i, const char *what)
{
    return json_error(r->j, json_item(r->array, i), r->st, LX_E_DOMAIN, "%s", what);
}

/* The index of a word, or -1. */
static int team_read_word(const char *word, const char *const *words, int count)
{
    for (int k = 0; word && k < count; k++)
        if (strcmp(word, words[k]) == 0) return k;
    return -1;
}

/* Reads the shards of all axes: a value below `count`, or one of `partial` kinds of partial sums. A row has
 * a single number. */
static bool team_read_axes(const struct reader *r, int64_t one, const struct int_list *all, int count,
                           int partial, int shard[LX_TEAM_AXES])
{
    int axes = r->p->grid.axes;
    for (int a = 0; a < LX_TEAM_AXES; a++) shard[a] = -1;
    if (all->count != 0 && (all->count != axes || one != -1)) return false;
    if (all->count == 0 && one != -1 && axes > 1) return false;
    for (int a = 0; a < axes; a++) {
        int64_t c = all->count ? all->at[a] : one;
        if (c <= LX_TEAM_PARTIAL - partial || c >= count) return false;
        shard[a] = (int)c;
    }
    return true;
}

/* Ranges of each variable of `from`, per device. NULL: some range is outside `extent`. */
static const struct lx_team_space *team_read_ranges(const struct reader *r, const struct int_list *list,
                                                    const struct lx_team_space *from, const int64_t *extent)
{
    int n = r->p->devices;
    struct lx_team_space *out = arena_array(r->memory, (size_t)n, sizeof *out);
    if (list->count != 2 * n * from->loops) return NULL;
    for (int m = 0; m < n; m++) out[m] = *from;
    for (int k = 0; k < n * from->loops; k++) {
        struct lx_team_range range = {list->at[2 * k], list->at[2 * k + 1]};
        int64_t most = extent ? extent[from->var[k / n]] : INT64_MAX;
        if (range.begin < 0 || range.end < range.begin || range.end > most) return NULL;
        out[k % n].range[k / n] = range;
    }
    return out;
}

/* Reads the bounds of one dimension from index `at` of the list on. */
static bool team_read_bounds(const struct lx_tensor *tensor, int dim, int blocks, const struct int_list *list,
                             int32_t *at, struct lx_team_tensor *out)
{
    const int64_t *bound = list->at + *at;
    if (list->count - *at < blocks + 1) return false;
    for (int b = 0; b <= blocks; b++)
        if (bound[b] < 0 || bound[b] > tensor->shape[dim] || (b > 0 && bound[b] < bound[b - 1])) return false;
    out->bound[dim] = bound;
    *at += blocks + 1;
    return true;
}

static bool team_read_grid(struct lx_team_plan *p, const struct int_list *sizes)
{
    int64_t devices = 1;
    if (sizes->count > LX_TEAM_AXES) return false;
    p->grid = (struct lx_team_grid){sizes->count ? (int)sizes->count : 1, {p->devices}};
    for (int a = 0; a < sizes->count; a++) {
        if (sizes->at[a] < 1 || sizes->at[a] > p->devices) return false;
        p->grid.size[a] = (int)sizes->at[a];
        devices *= sizes->at[a];
    }
    return sizes->count == 0 || devices == p->devices;
}

/* Whether each device's core lies within the op's ranges. */
static bool team_read_core_fits(const struct reader *r, const struct lx_team_space *core,
                                const struct lx_team_space *all)
{
    for (int m = 0; m < r->p->devices; m++) {
        if (core[m].loops != all[m].loops) return false;
        for (int l = 0; l < core[m].loops; l++)
            if (core[m].range[l].begin < all[m].range[l].begin || core[m].range[l].end > all[m].range[l].end)
                return false;
    }
    return true;
}

static bool team_read_tensor(struct reader *r, int32_t t, const void *record, void *made)
{
    const struct team_file_tensor *x = record;
    struct lx_team_tensor *out = made;
    const struct lx_tensor *tensor = &r->p->graph->tensors[t];
    int32_t at = 0;
    *out = (struct lx_team_tensor){.given = x->given == 1};
    if (x->name && strcmp(x->name, tensor->name) != 0)
        return team_read_wrong(r, t, "the pattern has another tensor here");
    if (x->given >= 0 && x->given != 1) return team_read_wrong(r, t, "given is 1 or absent");
    if (tensor->rank < 0) return team_read_wrong(r, t, "it has no shape and cannot be in a team's plan");
    if (!team_read_axes(r, x->cut, &x->cuts, tensor->rank, 1, out->shard))
        return team_read_wrong(r, t, "it has no such dimension to be cut, or the grid has other axes");
    for (int d = 0; d < tensor->rank; d++) {
        bool cut = false;
        for (int a = 0; a < r->p->grid.axes; a++) cut |= out->shard[a] == d;
        if (cut &&
            !team_read_bounds(tensor, d, lx_team_blocks(&r->p->grid, out->shard, d), &x->bounds, &at, out))
            return team_read_wrong(
                r, t, "its bounds must be one more than there are blocks, and rise from 0 to its extent");
    }
    return at == x->bounds.count ? true
                                 : team_read_wrong(r, t, "it has bounds of dimensions that are not cut");
}

static bool team_read_exchange(struct reader *r, int32_t e, const void *record, void *made)
{
    const struct team_file_exchange *x = record;
    struct lx_team_exchange *out = made;
    const struct lx_graph *g = r->p->graph;
    int devices = r->p->devices;
    if (x->tensor < 0 || x->tensor >= g->tensor_count || lx_team_is_replicated(&r->p->tensors[x->tensor]))
        return team_read_wrong(r, e, "there is no such tensor that is cut");
    if (x->after < -1 || x->after >= g->op_count || x->first_reader < -1 || x->first_reader >= g->op_count)
        return team_read_wrong(r, e, "\"after\" and \"first_reader\" must be numbers of ops");
    const struct lx_tensor *t = &g->tensors[x->tensor];
    struct lx_team_box *box = arena_array(r->memory, (size_t)devices, sizeof *box);
    struct lx_team_box whole = lx_team_box_of(t->rank, t->shape);
    if (x->offsets.count != devices * t->rank || x->sizes.count != devices * t->rank)
        return team_read_wrong(r, e, "\"offsets\" and \"sizes\" must have a number per device and dimension");
    for (int k = 0; k < devices * t->rank; k++) {
        struct lx_team_box *b = &box[k / t->rank];
        b->rank = t->rank;
        b->offset[k % t->rank] = x->offsets.at[k];
        b->size[k % t->rank] = x->sizes.at[k];
        if (x->sizes.at[k] < 0 || x->offsets.at[k] < 0 || x->offsets.at[k] > INT64_MAX - x->sizes.at[k])
            return team_read_wrong(r, e, "a box must lie in its tensor");
    }
    struct lx_team_box none = {.rank = t->rank};
    for (int m = 0; m < devices; m++)
        if (lx_team_box_empty(&box[m]) ? !lx_team_box_equal(&box[m], &none)
                                       : !lx_team_box_within(&box[m], &whole))
            return team_read_wrong(r, e, "a box must lie in its tensor, or be all zeros");
    *out = (struct lx_team_exchange){.tensor = (int32_t)x->tensor,
                                     .after = (int32_t)x->after,
                                     .first_reader = (int32_t)x->first_reader,
                                     .reads = (int)min_i64(x->reads, INT32_MAX),
                                     .sides = x->sides == 1,
                                     .box = box,
                                     .separate_bytes = x->separate_bytes};
    team_count_exchange(g, &r->p->grid, r->p->tensors, r->memory, out);
    if (out->sides && out->pattern != LX_TEAM_HALO)
        return team_read_wrong(r, e, "\"sides\" is for exchanges between neighbours");
    if ((x->bytes >= 0 && x->bytes != out->bytes) ||
        (x->sent.count == devices &&
         memcmp(x->sent.at, out->sent, (size_t)devices * sizeof *out->sent) != 0) ||
        (x->received.count == devices &&
         memcmp(x->received.at, out->received, (size_t)devices * sizeof *out->received) != 0))
        return team_read_wrong(r, e, "by its boxes other bytes are sent or received");
    if (x->pattern && *x->pattern && strcmp(x->pattern, lx_team_pattern_word(out->pattern)) != 0)
        return team_read_wrong(r, e, "by its boxes it has another \"pattern\"");
    return true;
}

/* Reads the mode, the sharded variables and their ranges. */
static bool team_read_loops(struct reader *r, int32_t o, const struct team_file_op *x, struct lx_team_op *out)
{
    struct lx_team_space from = {0};
    struct op_index index;
    op_index_of(r->p->graph, &r->p->graph->ops[o], &index);
    int mode = team_read_word(x->mode, team_mode_words, LX_TEAM_MODES);
    if (mode < 0) return team_read_wrong(r, o, "\"mode\" must be whole, split, combine or parts");
    out->mode = (enum lx_team_mode)mode;
    bool known =
        team_read_axes(r, x->var, &x->vars, index.known ? index.var_count : 0, LX_MAX_INPUTS, out->var);
    bool any = false;
    for (int a = 0; known && a < r->p->grid.axes; a++) any |= out->var[a] != -1;
    for (int a = 0; known && a < r->p->grid.axes; a++)
        if (out->var[a] >= 0 && team_loop_of(&from, out->var[a]) < 0) from.var[from.loops++] = out->var[a];
    if (!known || (mode == LX_TEAM_REPLICATED) == any)
        return team_read_wrong(
            r, o, "\"var\" must be a variable of the op if it is cut, and be absent if it is not");
    out->space = team_read_ranges(r, &x->ranges, &from, index.extent);
    return out->space ? true : team_read_wrong(r, o, "\"ranges\" must have one range in the loop per device");
}

static bool team_read_op(struct reader *r, int32_t o, const void *record, void *made)
{
    const struct team_file_op *x = record;
    struct lx_team_op *out = made;
    if (o == 0) r->op_records = x;
    const struct lx_op *op = &r->p->graph->ops[o];
    *out = (struct lx_team_op){.group = (int32_t)x->group};
    if (x->name && strcmp(x->name, op->name) != 0)
        return team_read_wrong(r, o, "the pattern has another op here");
    if (!team_read_loops(r, o, x, out)) return false;
    int32_t *exchange = arena_array(r->memory, (size_t)op->input_count + 1, sizeof *exchange);
    if (x->exchanges.count != 0 && x->exchanges.count != op->input_count)
        return team_read_wrong(r, o, "\"exchanges\" must have a number per input");
    for (int i = 0; i < op->input_count; i++) {
        int64_t e = x->exchanges.count ? x->exchanges.at[i] : -1;
        if (e < -1 || e >= r->p->exchange_count || (e >= 0 && r->p->exchanges[e].tensor != op->inputs[i]))
            return team_read_wrong(r, o,
                                   "\"exchanges\" must be numbers of exchanges of what it reads, or -1");
        exchange[i] = (int32_t)e;
    }
    out->exchange = exchange;
    return true;
}

/* Who reads exchanges, where the file does not say. */
static bool team_read_readers(struct reader *r, struct lx_team_exchange *exchanges)
{
    const struct lx_team_plan *p = r->p;
    OWNED int32_t *first = mem_zeroed((size_t)p->exchange_count + 1, sizeof *first),
                  *reads = mem_zeroed((size_t)p->exchange_count + 1, sizeof *reads);
    for (int32_t o = 0; o < p->graph->op_count; o++)
        for (int i = 0; i < p->graph->ops[o].input_count; i++) {
            int32_t e = p->ops[o].exchange[i];
            if (e >= 0 && reads[e]++ == 0) first[e] = o;
        }
    for (int32_t e = 0; e < p->exchange_count; e++) {
        struct lx_team_exchange *x = &exchanges[e];
        if (x->reads == -1) x->reads = reads[e];
        if (x->first_reader == -1) x->first_reader = reads[e] ? first[e] : -1;
        if (x->first_reader < 0) return team_read_wrong(r, e, "no op reads this exchange");
    }
    return true;
}

/* Reads a group. Groups must follow each other and cover all ops. */
static bool team_read_group(struct reader *r, int32_t g, const void *record, void *made)
{
    const struct team_file_group *x = record;
    struct lx_team_group *out = made;
    int32_t next = g > 0 ? out[-1].last + 1 : 0;
    if (x->first != next || x->last < x->first || x->last >= r->p->graph->op_count)
        return team_read_wrong(r, g, "groups must hold all ops one after the other");
    *out = (struct lx_team_group){(int32_t)x->first, (int32_t)x->last, NULL};
    if (x->core.count > 0) {
        out->core = team_read_ranges(r, &x->core, &r->ops[x->first].space[0], NULL);
        if (!out->core || out->core[0].loops == 0)
            return team_read_wrong(r, g, "\"core\" must have one range per device");
    }
    for (int32_t o = out->first; o <= out->last; o++) {
        if (r->ops[o].group != g)
            return team_read_wrong(r, g, "an op of it says that it is in another group");
        if (out->core && !team_read_core_fits(r, out->core, r->ops[o].space))
            return team_read_wrong(r, g, "its core must lie where its ops run");
    }
    return true;
}

static bool team_read_step(struct reader *r, int32_t s, const void *record, void *made)
{
    const struct team_file_step *x = record;
    struct lx_team_step *out = made;
    int kind = team_read_word(x->step, team_step_words, LX_TEAM_STEP_KINDS);
    bool of_op = kind == LX_TEAM_COMPUTE || kind == LX_TEAM_REDUCE;
    int piece =
        kind == LX_TEAM_COMPUTE ? team_read_word(x->piece, team_piece_words, LX_TEAM_PIECES) : LX_TEAM_ALL;
    if (kind < 0 || piece < 0) return team_read_wrong(r, s, "there is no such step, or no such piece");
    if (of_op ? x->op < 0 || x->op >= r->p->graph->op_count
              : x->exchange < 0 || x->exchange >= r->p->exchange_count)
        return team_read_wrong(r, s, "it needs the number of an op, or of an exchange");
    if (piece != LX_TEAM_ALL && !r->p->groups[r->ops[x->op].group].core)
        return team_read_wrong(r, s, "the group of this op has no core");
    if (kind == LX_TEAM_REDUCE && r->ops[x->op].mode != LX_TEAM_COMBINE)
        return team_read_wrong(r, s, "only partial results are combined");
    bool beside = piece == LX_TEAM_BEFORE || piece == LX_TEAM_AFTER;
    int64_t along = x->along < 0 ? 0 : x->along;
    if (along >= (beside ? r->ops[x->op].space[0].loops : 1))
        return team_read_wrong(r, s, "\"along\" must be the number of a variable that is cut");
    *out = (struct lx_team_step){(enum lx_team_step_kind)kind, of_op ? (int32_t)x->op : -1,
                                 of_op ? -1 : (int32_t)x->exchange, (enum lx_team_piece)piece, (int)along};
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
    if (!g->list && (!hash || strcmp(hash, ours) == 0)) return g;
    lx_graph_free(g);
    json_error(j, pattern, st, LX_E_MISMATCH,
               "the pattern in this plan was changed after planning (its hash is %s); plan it again", ours);
    return NULL;
}

/* Whether derived figures match the file. */
static bool team_read_same_sums(struct reader *r, const struct team_file_root *x)
{
    const struct lx_team_plan *p = r->p;
    for (int32_t o = 0; o < p->graph->op_count; o++)
        if (r->op_records[o].bytes >= 0 && r->op_records[o].bytes != p->ops[o].bytes)
            return r->array = json_find(r->root, "ops"),
                   team_read_wrong(r, o, "by its exchanges and combines other bytes are received");
    if ((x->bytes < 0 || x->bytes == p->bytes) &&
        (x->combine_bytes < 0 || x->combine_bytes == p->combine_bytes))
        return true;
    return json_error(r->j, json_find(r->root, "bytes"), r->st, LX_E_MISMATCH,
                      "by its exchanges and combines the team moves %" PRId64 " and %" PRId64 " bytes",
                      p->bytes, p->combine_bytes);
}

static bool team_read_body(struct reader *r, const struct team_file_root *x)
{
    const struct json_value *root = r->root;
    struct lx_team_plan *p = r->p;
    if (x->members < 1 || x->members > LX_TEAM_DEVICES)
        return json_error(r->j, json_find(root, "members"), r->st, LX_E_RANGE, "a team has 1 to %d devices",
                          LX_TEAM_DEVICES);
    p->devices = (int)x->members;
    if (!team_read_grid(p, &x->grid))
        return json_error(r->j, json_find(root, "grid"), r->st, LX_E_RANGE,
                          "a grid has 1 to %d axes, and as many devices as the team", LX_TEAM_AXES);
    p->plain_bytes = x->plain_bytes;
    p->predicted_us = x->predicted_us;
    p->bound_us = x->bound_us;
    p->bound_bytes = x->bound_bytes;
    p->graph = team_read_pattern(r->j, root, x->pattern_hash, r->st);
    if (!p->graph) return false;
    const struct lx_graph *g = p->graph;
    void *list = NULL;
    struct lx_team_exchange *exchanges;
    int32_t n;
    if (!team_read_list(r, "tensors", TEAM_FILE_TENSOR, g->tensor_count, sizeof *p->tensors, team_read_tensor,
                        &list, &n))
        return false;
    p->tensors = list;
    if (!team_read_list(r, "exchanges", TEAM_FILE_EXCHANGE, -1, sizeof *p->exchanges, team_read_exchange,
                        &list, &p->exchange_count))
        return false;
    p->exchanges = exchanges = list;
    if (!team_read_list(r, "ops", TEAM_FILE_OP, g->op_count, sizeof *p->ops, team_read_op, &list, &n))
        return false;
    p->ops = r->ops = list;
    if (!team_read_readers(r, exchanges)) return false;
    if (!team_read_list(r, "groups", TEAM_FILE_GROUP, -1, sizeof *p->groups, team_read_group, &list,
                        &p->group_count))
        return false;
    p->groups = list;
    n = p->group_count;
    if ((n ? p->groups[n - 1].last + 1 : 0) != g->op_count)
        return team_read_wrong(r, n - 1, "groups must hold all ops");
    if (!team_read_list(r, "steps", TEAM_FILE_STEP, -1, sizeof *p->steps, team_read_step, &list,
                        &p->step_count))
        return false;
    p->steps = list;
    team_sum_up(p, r->ops);
    team_identify(p);
    return team_read_same_sums(r, x);
}

struct lx_team_plan *team_read(const struct json *j, const struct json_value *root, lx_status *st)
{
    const struct team_section *s = &team_sections[TEAM_FILE_ROOT];
    struct team_file_root x;
    int64_t version;
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_team_plan *p = arena_alloc(memory, sizeof *p);
    *p = (struct lx_team_plan){.memory = memory};
    struct reader r = {.j = j, .root = root, .p = p, .memory = memory, .st = st};
    if (pattern_check_header(j, root, TEAM_PLAN_KIND, TEAM_FORMAT, TEAM_FORMAT, &version, st) &&
        record_read(j, root, s->what, s->fields, s->count, &x, memory, st) && team_read_body(&r, &x))
        return p;
    lx_team_free(p);
    return NULL;
}
