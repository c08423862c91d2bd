/* Team plans as JSON: the rows of team_fields.h over the records of the plan. */
#include "team/team_file.h"
#include "files/pattern.h"

const char *const team_mode_words[LX_TEAM_MODES] = {[LX_TEAM_REPLICATED] = "whole",
                                                    [LX_TEAM_SPLIT] = "split",
                                                    [LX_TEAM_COMBINE] = "combine",
                                                    [LX_TEAM_KEPT_PARTIAL] = "parts"};
static const char *const patterns[LX_TEAM_PATTERNS] = {
    [LX_TEAM_HALO] = "halo", [LX_TEAM_GATHER] = "gather", [LX_TEAM_RESHAPE] = "repartition"};
const char *const team_step_words[LX_TEAM_STEP_KINDS] = {[LX_TEAM_START] = "start",
                                                         [LX_TEAM_WAIT] = "wait",
                                                         [LX_TEAM_COMPUTE] = "compute",
                                                         [LX_TEAM_REDUCE] = "combine"};
const char *const team_piece_words[LX_TEAM_PIECES] = {
    [LX_TEAM_ALL] = "all", [LX_TEAM_CORE] = "core", [LX_TEAM_BEFORE] = "before", [LX_TEAM_AFTER] = "after"};

#define TEAM_WORD(name, type, words, count)                                                                  \
    const char *name(type value)                                                                             \
    {                                                                                                        \
        return (unsigned)value < (count) ? (words)[value] : "unknown";                                       \
    }
TEAM_WORD(lx_team_mode_word, enum lx_team_mode, team_mode_words, LX_TEAM_MODES)
TEAM_WORD(lx_team_pattern_word, enum lx_team_pattern, patterns, LX_TEAM_PATTERNS)
TEAM_WORD(lx_team_step_word, enum lx_team_step_kind, team_step_words, LX_TEAM_STEP_KINDS)
TEAM_WORD(lx_team_piece_word, enum lx_team_piece, team_piece_words, LX_TEAM_PIECES)

struct writer {
    const struct lx_team_plan *p;
    struct arena memory; /* lists converted to the file's form */
    struct text *t;
};

static void team_json_write_record(struct writer *w, enum team_section_id section, const void *record)
{
    record_write(team_sections[section].fields, team_sections[section].count, record, w->t);
}

static struct int_list team_json_list_of(struct writer *w, const int64_t *values, int32_t count)
{
    struct int_list list = {arena_copy_array(&w->memory, values, (size_t)count, sizeof *values), count};
    return list;
}

static struct int_list ranges_of(struct writer *w, const struct lx_team_space *space)
{
    int n = w->p->devices, loops = space[0].loops;
    struct int_list list = {arena_array(&w->memory, 2 * (size_t)(n * loops) + 1, sizeof *list.at),
                            2 * n * loops};
    for (int k = 0; k < n * loops; k++) {
        list.at[2 * k] = space[k % n].range[k / n].begin;
        list.at[2 * k + 1] = space[k % n].range[k / n].end;
    }
    return list;
}

/* The shards of all axes; empty in a row, where a single number is written instead. */
static struct int_list team_json_axes_of(struct writer *w, const int cut[LX_TEAM_AXES])
{
    int64_t values[LX_TEAM_AXES];
    bool any = false;
    for (int a = 0; a < w->p->grid.axes; a++) any |= (values[a] = cut[a]) != -1;
    return any && w->p->grid.axes > 1 ? team_json_list_of(w, values, w->p->grid.axes) : (struct int_list){0};
}

static void team_json_write_tensor(struct writer *w, int32_t i)
{
    const struct lx_team_tensor *x = &w->p->tensors[i];
    struct team_file_tensor r = {.name = w->p->graph->tensors[i].name,
                                 .cut = w->p->grid.axes == 1 ? x->shard[0] : -1,
                                 .cuts = team_json_axes_of(w, x->shard),
                                 .given = x->given ? 1 : -1};
    if (!lx_team_is_replicated(x))
        r.bounds.at =
            arena_array(&w->memory, (size_t)LX_MAX_RANK * (size_t)(w->p->devices + 1), sizeof(int64_t));
    for (int d = 0; d < w->p->graph->tensors[i].rank; d++)
        for (int b = 0; x->bound[d] && b <= lx_team_blocks(&w->p->grid, x->shard, d); b++)
            r.bounds.at[r.bounds.count++] = x->bound[d][b];
    team_json_write_record(w, TEAM_FILE_TENSOR, &r);
}

static void team_json_write_op(struct writer *w, int32_t o)
{
    const struct lx_team_op *x = &w->p->ops[o];
    const struct lx_op *op = &w->p->graph->ops[o];
    struct team_file_op r = {.name = op->name,
                             .mode = team_mode_words[x->mode],
                             .var = w->p->grid.axes == 1 ? x->var[0] : -1,
                             .vars = team_json_axes_of(w, x->var),
                             .group = x->group,
                             .bytes = x->bytes};
    if (x->space[0].loops > 0) r.ranges = ranges_of(w, x->space);
    int64_t exchanges[LX_MAX_INPUTS];
    bool any = false;
    for (int i = 0; i < op->input_count; i++) any |= (exchanges[i] = x->exchange[i]) >= 0;
    if (any) r.exchanges = team_json_list_of(w, exchanges, op->input_count);
    team_json_write_record(w, TEAM_FILE_OP, &r);
}

static void write_exchange(struct writer *w, int32_t e)
{
    const struct lx_team_exchange *x = &w->p->exchanges[e];
    int devices = w->p->devices, rank = w->p->graph->tensors[x->tensor].rank;
    struct team_file_exchange r = {.tensor = x->tensor,
                                   .after = x->after,
                                   .first_reader = x->first_reader,
                                   .reads = x->reads,
                                   .pattern = patterns[x->pattern],
                                   .sides = x->sides ? 1 : -1,
                                   .sent = team_json_list_of(w, x->sent, devices),
                                   .received = team_json_list_of(w, x->received, devices),
                                   .bytes = x->bytes,
                                   .separate_bytes = x->separate_bytes};
    r.offsets = (struct int_list){arena_array(&w->memory, (size_t)(devices * rank) + 1, sizeof(int64_t)),
                                  devices * rank};
    r.sizes = (struct int_list){arena_array(&w->memory, (size_t)(devices * rank) + 1, sizeof(int64_t)),
                                devices * rank};
    for (int k = 0; k < devices * rank; k++) {
        const struct lx_team_box *b = &x->box[k / rank];
        bool empty = lx_team_box_empty(b);
        r.offsets.at[k] = empty ? 0 : b->offset[k % rank];
        r.sizes.at[k] = empty ? 0 : b->size[k % rank];
    }
    team_json_write_record(w, TEAM_FILE_EXCHANGE, &r);
}

static void team_json_write_group(struct writer *w, int32_t g)
{
    const struct lx_team_group *x = &w->p->groups[g];
    struct team_file_group r = {.first = x->first, .last = x->last};
    if (x->core) r.core = ranges_of(w, x->core);
    team_json_write_record(w, TEAM_FILE_GROUP, &r);
}

static void write_step(struct writer *w, int32_t s)
{
    const struct lx_team_step *x = &w->p->steps[s];
    struct team_file_step r = {.step = team_step_words[x->kind],
                               .op = x->op,
                               .exchange = x->exchange,
                               .piece = x->kind == LX_TEAM_COMPUTE ? team_piece_words[x->piece] : NULL,
                               .along = x->along > 0 ? x->along : -1};
    team_json_write_record(w, TEAM_FILE_STEP, &r);
}

static void team_json_write_list(struct writer *w, const char *key, int32_t count,
                                 void (*one)(struct writer *, int32_t))
{
    text_format(w->t, ",\n  \"%s\": [\n", key);
    for (int32_t i = 0; i < count; i++) {
        text_add(w->t, "    ");
        one(w, i);
        text_add(w->t, i + 1 < count ? ",\n" : "\n");
    }
    text_add(w->t, "  ]");
}

void team_write_decided(const struct lx_team_plan *p, const char *kind, struct text *t)
{
    struct writer w = {.p = p, .t = t};
    SCOPED(text_free) struct text root = {0};
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, p->graph->hash);
    int64_t sizes[LX_TEAM_AXES];
    for (int a = 0; a < p->grid.axes; a++) sizes[a] = p->grid.size[a];
    const struct team_file_root r = {.members = p->devices,
                                     .grid = p->grid.axes > 1 ? team_json_list_of(&w, sizes, p->grid.axes)
                                                              : (struct int_list){0},
                                     .pattern_hash = hash,
                                     .bytes = p->bytes,
                                     .combine_bytes = p->combine_bytes,
                                     .plain_bytes = p->plain_bytes,
                                     .predicted_us = p->predicted_us,
                                     .bound_us = p->bound_us,
                                     .bound_bytes = p->bound_bytes};
    record_write(team_sections[TEAM_FILE_ROOT].fields, team_sections[TEAM_FILE_ROOT].count, &r, &root);
    text_format(t, "{\n  \"lxplan\": %d,\n  \"kind\": \"%s\",\n  %.*s", TEAM_FORMAT, kind,
                root.length > 2 ? (int)root.length - 2 : 0, root.at ? root.at + 1 : "");
    team_json_write_list(&w, "tensors", p->graph->tensor_count, team_json_write_tensor);
    team_json_write_list(&w, "exchanges", p->exchange_count, write_exchange);
    team_json_write_list(&w, "ops", p->graph->op_count, team_json_write_op);
    team_json_write_list(&w, "groups", p->group_count, team_json_write_group);
    team_json_write_list(&w, "steps", p->step_count, write_step);
    arena_free(&w.memory);
}

void team_write(const struct lx_team_plan *p, const char *kind, struct text *t)
{
    team_write_decided(p, kind, t);
    text_add(t, ",\n  \"pattern\": ");
    pattern_write(p->graph, t);
}

char *lx_team_to_json(const struct lx_team_plan *plan, size_t *length)
{
    struct text t = {0};
    team_write(plan, "team", &t);
    text_add(&t, "\n}\n");
    *length = t.length;
    return t.at;
}
