/* Numbers, words and lists of a result, by name. Each is a row of a table: a member of a struct, by type and
 * offset, or a function. An unknown name is the caller's error, and so is one that this result lacks (times of
 * a list of buffers, faults of a plan that was not run). Lists whose items lie in no array are made when they
 * are first asked for. */
#include "api/joint_question.h"
#include "api/api_handles.h"
#include "explain/op_waits.h"

enum field_type {
    FIELD_BOOL,
    FIELD_INT32,
    FIELD_INT64,
    FIELD_DOUBLE,
    FIELD_TEXT,
    FIELD_REAL,
    FIELD_WHOLE,
    FIELD_WORD
};

struct result_field {
    const char *name;
    enum field_type type;
    size_t offset;
    union { /* of the i-th item */
        double (*real)(const lx_result *r, int64_t i);
        int64_t (*whole)(const lx_result *r, int64_t i);
        const char *(*word)(const lx_result *r, int64_t i);
    } of;
};

/* clang-format off */
#define MEMBER(name, type, member)                                                                           \
    {name, _Generic(((type *)0)->member, bool: FIELD_BOOL, int32_t: FIELD_INT32, int64_t: FIELD_INT64,       \
                    double: FIELD_DOUBLE, const char *: FIELD_TEXT), offsetof(type, member), {NULL}}
#define WORD(name, function) {name, FIELD_WORD, 0, {.word = function}}
#define WHOLE(name, function) {name, FIELD_WHOLE, 0, {.whole = function}}
#define REAL(name, function) {name, FIELD_REAL, 0, {.real = function}}
/* clang-format on */

/* A function of a table: the result is `r`, its plan `p`, the item number `i`. */
#define FIELD_OF(type, function, ...)                                                                        \
    static type function(const lx_result *r, int64_t i)                                                      \
    {                                                                                                        \
        const struct lx_plan *p = r->plan;                                                                   \
        (void)p, (void)i;                                                                                    \
        return __VA_ARGS__;                                                                                  \
    }

/* No legal answer was found, or none exists. */
static bool result_has_no_answer(const struct lx_plan *p)
{
    return p->answer.status == LX_INFEASIBLE || (p->graph->list && p->answer.objective == INT64_MAX);
}

static bool result_is_fit(const struct lx_plan *p)
{
    return p->graph->list && p->problem.objective == LX_FIT;
}

static double result_plan_objective(const lx_result *r, int64_t i)
{
    const struct lx_plan *p = r->plan;
    (void)i;
    if (result_has_no_answer(p)) return INFINITY;
    if (p->asks_time) return p->figures.end_to_end_us;
    if (!result_is_fit(p)) return (double)lx_plan_value(p);
    return lx_left_out(&p->problem, p->answer.address) ? INFINITY : 0;
}

/* As lx_gap, but costs of terms may be fractional or negative. */
static double result_joint_gap(const lx_result *r, int64_t i)
{
    const struct joint_result *j = r->joint;
    (void)i;
    if (j->objective <= j->bound) return 0;
    return j->bound == 0 ? INFINITY : (j->objective - j->bound) / fabs(j->bound);
}

static int64_t result_member_hbm(const lx_result *r, int64_t i)
{
    struct lx_team_account a = lx_team_planned(r->team->plans, (int)i);
    return a.planned.hbm_read + a.planned.hbm_written;
}

static int64_t result_team_hbm(const lx_result *r, int64_t i)
{
    for (int64_t sum = i = 0;; i++) {
        if (i == r->team->plans->team->devices) return sum;
        sum += result_member_hbm(r, i);
    }
}

static int32_t result_pool_of(const struct lx_plan *p, int64_t i)
{
    if (p->answer.address[i] < 0) return -1;
    return p->answer.pool ? p->answer.pool[i] : 0;
}

static const char *result_buffer_pool(const lx_result *r, int64_t i)
{
    int32_t pool = result_pool_of(r->plan, i);
    if (pool < 0) return "";
    return r->plan->problem.pool_count ? r->plan->problem.pools[pool].name
           : r->pool_name              ? r->pool_name
                                       : "LX";
}

static const char *result_op_name(const struct lx_plan *p, int64_t i)
{
    return p->layouts->graph->ops[i].name;
}

/* clang-format off */
FIELD_OF(double, plan_bound, p->asks_time ? p->figures.bound_us : result_is_fit(p) ? 0 : (double)lx_plan_least(p))
FIELD_OF(double, plan_gap, result_has_no_answer(p) ? INFINITY : lx_plan_gap(p))
FIELD_OF(const char *, plan_status, !r->run               ? lx_verdict_word(p->answer.status)
                                    : r->run->ok          ? "ok"
                                    : r->run->fault_count ? "faults"
                                    : r->run->wrong_ops   ? "wrong"
                                                          : "unequal")
FIELD_OF(const char *, plan_asks, p->asks_time                       ? lx_ask_word(LX_ASK_TIME)
                                  : p->problem.objective == LX_SPILL ? "cost"
                                                                     : lx_objective_word(p->problem.objective))
FIELD_OF(const char *, plan_name, p->graph->name)
FIELD_OF(const char *, plan_message, p->answer.message)
FIELD_OF(const char *, plan_unproved, p->unproved ? p->unproved : "")
FIELD_OF(const char *, result_notes, r->notes ? r->notes : "")
FIELD_OF(const char *, joint_status, lx_verdict_word(r->joint->status))
FIELD_OF(const char *, team_status, !r->team->ran ? "feasible" : r->team->run.ok ? "ok" : "wrong")
FIELD_OF(const char *, team_name, r->team->plans->team->graph->name)
FIELD_OF(int64_t, team_exchange_bound, max_i64(r->team->plans->team->bound_bytes, 0))
FIELD_OF(int64_t, member_ops, lx_team_planned(r->team->plans, (int)i).ops)
FIELD_OF(int64_t, member_height, lx_team_planned(r->team->plans, (int)i).height_bytes)
FIELD_OF(int64_t, buffer_pool, result_pool_of(p, i))
FIELD_OF(int64_t, buffer_address, p->answer.address[i])
FIELD_OF(int64_t, buffer_in_place_of, p->took_slot_of ? p->took_slot_of[i] : -1)
FIELD_OF(int64_t, buffer_id, lx_graph_buffer_id(p->graph, (int32_t)i, i)) /* as in the caller's file */
FIELD_OF(const char *, buffer_reason, p->reason && p->reason[i] ? p->reason[i] : "")
FIELD_OF(const char *, buffer_parent, buffer_in_place_of(r, i) >= 0 ? p->problem.buffers[p->took_slot_of[i]].name : "")
FIELD_OF(int64_t, op_traffic, p->traffic[i].hbm_read + p->traffic[i].hbm_written)
FIELD_OF(const char *, op_name, result_op_name(p, i))
FIELD_OF(const char *, op_kind, p->layouts->graph->ops[i].kind->name)
FIELD_OF(const char *, op_splits, r->splits[i])
FIELD_OF(const char *, transfer_kind, lx_transfer_word(p->transfers[i].kind))
FIELD_OF(const char *, transfer_buffer, p->problem.buffers[p->transfers[i].stay].name)
FIELD_OF(const char *, fault_kind, lx_fault_word(r->run->faults[i].kind))
FIELD_OF(int64_t, joint_pool, r->joint->items[i].address >= 0 ? 0 : -1)
FIELD_OF(const char *, sync_op, result_op_name(p, p->syncs[i].before))

static const struct result_field plan_fields[] = {
    REAL("objective", result_plan_objective), REAL("bound", plan_bound), REAL("gap", plan_gap),
    MEMBER("steps", struct lx_plan, answer.steps), MEMBER("seconds", struct lx_plan, seconds),
    MEMBER("hbm_bytes", struct lx_plan, figures.hbm_bytes),
    MEMBER("baseline_hbm_bytes", struct lx_plan, figures.baseline_hbm_bytes),
    MEMBER("spill_bytes", struct lx_plan, figures.spill_bytes), MEMBER("height", struct lx_plan, figures.height_bytes),
    WORD("status", plan_status), WORD("objective", plan_asks), MEMBER("solver", struct lx_plan, solver),
    MEMBER("options", struct lx_plan, options), WORD("name", plan_name), WORD("message", plan_message),
    WORD("unproved", plan_unproved), WORD("notes", result_notes), {0}};
static const struct result_field graph_fields[] = { /* only of graphs */
    MEMBER("ring_bytes", struct lx_plan, figures.ring_bytes), MEMBER("sync_times", struct lx_plan, figures.sync_times),
    MEMBER("device_us", struct lx_plan, figures.device_us), MEMBER("us", struct lx_plan, figures.end_to_end_us), {0}};
static const struct result_field run_fields[] = {
    MEMBER("ok", struct lx_run_result, ok), MEMBER("seconds", struct lx_run_result, seconds),
    MEMBER("hbm_read", struct lx_run_result, total.hbm_read), MEMBER("hbm_written", struct lx_run_result, total.hbm_written),
    MEMBER("lx_read", struct lx_run_result, total.lx_read), MEMBER("lx_written", struct lx_run_result, total.lx_written),
    MEMBER("ring", struct lx_run_result, total.ring), MEMBER("reduce_ring", struct lx_run_result, total.reduce_ring),
    MEMBER("flops", struct lx_run_result, total.flops), MEMBER("faults", struct lx_run_result, fault_count),
    MEMBER("wrong_ops", struct lx_run_result, wrong_ops), MEMBER("unequal_ops", struct lx_run_result, unequal_ops),
    MEMBER("share", struct lx_run_result, share), MEMBER("relative_error", struct lx_run_result, relative_error), {0}};
static const struct result_field joint_fields[] = {
    MEMBER("objective", struct joint_result, objective), MEMBER("bound", struct joint_result, bound),
    REAL("gap", result_joint_gap), MEMBER("cores", struct joint_result, cores),
    MEMBER("squares", struct joint_result, squares), MEMBER("steps", struct joint_result, steps),
    WORD("status", joint_status), MEMBER("solver", struct joint_result, solver), WORD("notes", result_notes), {0}};
static const struct result_field team_fields[] = {
    MEMBER("members", struct lx_team_plan, devices), MEMBER("exchanged_bytes", struct lx_team_plan, bytes),
    MEMBER("combined_bytes", struct lx_team_plan, combine_bytes), WHOLE("exchange_bound", team_exchange_bound),
    WHOLE("hbm_bytes", result_team_hbm), WORD("status", team_status), WORD("name", team_name), WORD("notes", result_notes), {0}};
static const struct result_field team_run_fields[] = {
    MEMBER("ok", struct lx_team_result, ok), MEMBER("differing", struct lx_team_result, differing),
    MEMBER("worst", struct lx_team_result, worst), {0}};
static const struct result_field buffer_fields[] = {
    MEMBER("name", struct lx_buffer, name), MEMBER("size", struct lx_buffer, size), MEMBER("start", struct lx_buffer, start),
    MEMBER("end", struct lx_buffer, end), MEMBER("cost", struct lx_buffer, spill_cost), WHOLE("pool", buffer_pool),
    WHOLE("address", buffer_address), WHOLE("in_place_of", buffer_in_place_of), WHOLE("id", buffer_id),
    WORD("pool", result_buffer_pool), WORD("in_place_of", buffer_parent), WORD("reason", buffer_reason), {0}};
static const struct result_field op_fields[] = {
    WORD("name", op_name), WORD("kind", op_kind), WORD("splits", op_splits), MEMBER("cores", struct lx_op_traffic, cores),
    WHOLE("traffic", op_traffic), MEMBER("hbm_read", struct lx_op_traffic, hbm_read),
    MEMBER("hbm_written", struct lx_op_traffic, hbm_written), MEMBER("ring", struct lx_op_traffic, ring),
    MEMBER("reduce_ring", struct lx_op_traffic, reduce_ring), MEMBER("device_us", struct lx_op_traffic, device_us),
    MEMBER("us", struct lx_op_traffic, end_to_end_us), {0}};
static const struct result_field transfer_fields[] = {
    WORD("kind", transfer_kind), MEMBER("tick", struct lx_transfer, tick), MEMBER("bytes", struct lx_transfer, bytes),
    MEMBER("buffer", struct lx_transfer, stay), WORD("buffer", transfer_buffer), MEMBER("source", struct lx_transfer, source),
    MEMBER("ahead", struct lx_transfer, ahead), {0}};
static const struct result_field fault_fields[] = {
    WORD("kind", fault_kind), MEMBER("tick", struct lx_fault, tick), MEMBER("core", struct lx_fault, core),
    MEMBER("address", struct lx_fault, address), MEMBER("sticks", struct lx_fault, sticks), MEMBER("text", struct lx_fault, text), {0}};
static const struct result_field joint_item_fields[] = {
    MEMBER("name", struct joint_item, name), MEMBER("address", struct joint_item, address), MEMBER("size", struct joint_item, size),
    MEMBER("start", struct joint_item, start), MEMBER("end", struct joint_item, end), MEMBER("cost", struct joint_item, cost),
    MEMBER("choice", struct joint_item, choice), WHOLE("pool", joint_pool), MEMBER("reason", struct joint_item, reason), {0}};
static const struct result_field member_fields[] = {
    WHOLE("ops", member_ops), WHOLE("height", member_height), WHOLE("hbm_bytes", result_member_hbm), {0}};
static const struct result_field sync_fields[] = {
    MEMBER("before", struct lx_sync, before), WORD("before", sync_op), MEMBER("in_loop", struct lx_sync, in_loop), {0}};
static const struct result_field bundle_fields[] = {
    MEMBER("first", struct lx_bundle, first), MEMBER("ops", struct lx_bundle, count),
    MEMBER("device_us", struct lx_bundle, device_us), MEMBER("us", struct lx_bundle, end_to_end_us), {0}};
static const struct result_field nest_fields[] = {
    MEMBER("first", struct result_row, whole[0]), MEMBER("last", struct result_row, whole[1]),
    MEMBER("tiles", struct result_row, word[0]), {0}};
static const struct result_field split_fields[] = {
    MEMBER("op", struct result_row, whole[0]), MEMBER("op", struct result_row, word[0]),
    MEMBER("dimension", struct result_row, word[1]), MEMBER("parts", struct result_row, whole[1]), {0}};
static const struct result_field layout_fields[] = {
    MEMBER("name", struct result_row, word[0]), MEMBER("dtype", struct result_row, word[1]),
    MEMBER("size", struct result_row, word[2]), MEMBER("stick_dim", struct result_row, whole[0]),
    MEMBER("stick_elements", struct result_row, whole[1]), MEMBER("bytes", struct result_row, whole[2]),
    MEMBER("hbm_address", struct result_row, whole[3]), {0}};
static const struct result_field launch_fields[] = {
    MEMBER("op", struct result_row, whole[0]), MEMBER("op", struct result_row, word[0]),
    MEMBER("core", struct result_row, whole[1]), MEMBER("y", struct result_row, whole[2]), MEMBER("x", struct result_row, whole[3]),
    MEMBER("first_tile", struct result_row, whole[4]), MEMBER("tiles", struct result_row, whole[5]),
    MEMBER("k_slice", struct result_row, whole[6]), {0}};
static const struct result_field time_line_fields[] = {
    MEMBER("kind", struct result_row, word[0]), MEMBER("name", struct result_row, word[1]),
    MEMBER("index", struct result_row, whole[0]), MEMBER("tick", struct result_row, whole[1]),
    MEMBER("start_us", struct result_row, real[0]), MEMBER("end_us", struct result_row, real[1]), {0}};
/* clang-format on */

/* --- Lists that are made. --- */

/* "4x2" */
static const char *result_product(struct arena *memory, const int64_t *at, int count)
{
    char words[LX_MAX_DEVICE_RANK * 24] = "";
    for (int i = 0, n = 0; i < count; i++)
        n += snprintf(words + n, sizeof words - (size_t)n, "%s%" PRId64, i ? "x" : "", at[i]);
    return arena_string(memory, words);
}

static void result_make_nests(const struct lx_plan *p, struct arena *memory, row_list *out)
{
    for (int32_t i = 0; i < p->nest_count; i++) {
        const struct lx_nest *n = &p->nests[i];
        struct result_row row = {
            {n->first, n->last}, {0}, {result_product(memory, n->tiles, n->level_count)}};
        VEC_PUSH(out, row);
    }
}

static void result_make_splits(const struct lx_plan *p, struct arena *memory, row_list *out)
{
    for (int32_t i = 0; i < p->divisions->count; i++)
        for (int k = 0; k < p->divisions->at[i].split_count; k++) {
            const struct lx_split *s = &p->divisions->at[i].splits[k];
            struct result_row row = {
                {i, s->split}, {0}, {result_op_name(p, i), arena_format(memory, "%c", s->letter)}};
            if (s->split > 1) VEC_PUSH(out, row);
        }
}

static void result_make_layouts(const struct lx_plan *p, struct arena *memory, row_list *out)
{
    for (int32_t t = 0; t < p->layouts->graph->tensor_count; t++) {
        const struct lx_layout *l = &p->layouts->layouts[t];
        struct result_row row = {{l->stick_dim, l->stick_elements, lx_layout_bytes(l), p->hbm_address[t]},
                                 {0},
                                 {p->layouts->graph->tensors[t].name, lx_dtype_word(l->dtype),
                                  result_product(memory, l->size, l->rank)}};
        VEC_PUSH(out, row);
    }
}

static void result_make_launches(const struct lx_plan *p, struct arena *memory, row_list *out)
{
    (void)memory;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++)
        for (int32_t i = 0; p->launches[o].launch && i < p->launches[o].launch->core_count; i++) {
            const struct lx_launch_core *c = &p->launches[o].launch->cores[i];
            struct result_row row = {
                {o, c->core, c->y, c->x, c->start, c->count, c->k_slice}, {0}, {result_op_name(p, o)}};
            VEC_PUSH(out, row);
        }
}

static void result_make_time_line(const struct lx_plan *p, struct arena *memory, row_list *out)
{
    int32_t ops = p->layouts->graph->op_count;
    struct clock_span *op = arena_array(memory, (size_t)ops, sizeof *op),
                      *copy = arena_array(memory, (size_t)p->transfer_count + 1, sizeof *copy);
    lx_plan_clock(p, &(struct clock_details){.op_spans = op, .copies = copy});
    for (int32_t i = 0; i < ops + p->transfer_count; i++) {
        int32_t k = i - ops;
        const struct lx_transfer *t = k < 0 ? NULL : &p->transfers[k];
        struct clock_span span = t ? copy[k] : op[i];
        struct result_row row = {{t ? k : i, t ? t->tick : i},
                                 {span.start_us, span.end_us},
                                 {t ? lx_transfer_word(t->kind) : "op",
                                  t ? p->problem.buffers[t->stay].name : result_op_name(p, i)}};
        VEC_PUSH(out, row);
    }
}

/* --- All lists. --- */

struct result_list {
    int64_t count;
    const struct result_field *fields;
    const void *items; /* NULL: all is computed */
    size_t size;       /* of an item */
};

enum { MOST_PARTS = 3 };

/* Lists of plans of graphs that are made, in the order of lx_result.made. */
static const struct made_list {
    const char *name;
    const struct result_field *fields;
    void (*make)(const struct lx_plan *p, struct arena *memory, row_list *out);
} made_lists[RESULT_MADE] = {{"nests", nest_fields, result_make_nests},
                             {"splits", split_fields, result_make_splits},
                             {"layouts", layout_fields, result_make_layouts},
                             {"launches", launch_fields, result_make_launches},
                             {"time_line", time_line_fields, result_make_time_line}};

static bool result_make(const struct lx_plan *p, const struct made_list *list, struct result_made *made)
{
    API_CHANGE(NULL, false);
    made->rows.count = 0;
    list->make(p, &made->memory, &made->rows);
    return made->made = true;
}

static bool result_list_made(const lx_result *r, const char *name, struct result_list *out)
{
    int k = 0;
    while (k < RESULT_MADE && strcmp(made_lists[k].name, name) != 0) k++;
    if (k == RESULT_MADE) return false;
    struct result_made *made = &r->made[k];
    if (!made->made && !result_make(r->plan, &made_lists[k], made)) return false;
    *out = (struct result_list){(int64_t)made->rows.count, made_lists[k].fields, made->rows.at,
                                sizeof *made->rows.at};
    return true;
}

/* False: the result has no list of that name. */
static bool result_list(const lx_result *r, const char *name, struct result_list *out)
{
    if (!r || !name) return false;
    const struct lx_plan *p = r->plan;
    const struct lx_run_result *run = r->run;
    bool graph = p && p->layouts;
    const struct {
        const char *name;
        bool there;
        struct result_list list;
    } all[] = {
        {"buffers",
         r->joint,
         {r->joint ? r->joint->count : 0, joint_item_fields, r->joint ? r->joint->items : NULL,
          sizeof *r->joint->items}},
        {"members", r->team, {r->team ? r->team->plans->team->devices : 0, member_fields, NULL, 0}},
        {"buffers",
         p,
         {p ? p->problem.count : 0, buffer_fields, p ? p->problem.buffers : NULL,
          sizeof *p->problem.buffers}},
        {"ops",
         p,
         {graph ? p->layouts->graph->op_count : 0, op_fields, p ? p->traffic : NULL, sizeof *p->traffic}},
        {"transfers",
         p,
         {p ? p->transfer_count : 0, transfer_fields, p ? p->transfers : NULL, sizeof *p->transfers}},
        {"faults",
         p,
         {run ? min_i64(run->fault_count, LX_MAX_FAULTS) : 0, fault_fields, run ? run->faults : NULL,
          sizeof *run->faults}}, /* the recorded ones */
        {"syncs", graph, {p ? p->sync_count : 0, sync_fields, p ? p->syncs : NULL, sizeof *p->syncs}},
        {"bundles",
         graph,
         {p ? p->bundle_count : 0, bundle_fields, p ? p->bundles : NULL, sizeof *p->bundles}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].there && strcmp(all[i].name, name) == 0) return *out = all[i].list, true;
    return graph && result_list_made(r, name, out);
}

/* The result itself, as lists of one item. */
static int result_parts(const lx_result *r, struct result_list out[MOST_PARTS])
{
    int n = 0;
    if (r->joint) out[n++] = (struct result_list){1, joint_fields, r->joint, 0};
    if (r->team) out[n++] = (struct result_list){1, team_fields, r->team->plans->team, 0};
    if (r->team && r->team->ran) out[n++] = (struct result_list){1, team_run_fields, &r->team->run, 0};
    if (r->run) out[n++] = (struct result_list){1, run_fields, r->run, 0};
    if (r->plan) out[n++] = (struct result_list){1, plan_fields, r->plan, 0};
    if (r->plan && !r->plan->graph->list) out[n++] = (struct result_list){1, graph_fields, r->plan, 0};
    return n;
}

/* --- The getters. --- */

enum wanted { WANTED_NUMBER, WANTED_INTEGER, WANTED_WORD };

static bool field_is_word(const struct result_field *f)
{
    return f->type == FIELD_WORD || f->type == FIELD_TEXT;
}

static bool field_is_real(const struct result_field *f)
{
    return f->type == FIELD_REAL || f->type == FIELD_DOUBLE;
}

/* The field of that name and type of the list, or NULL. */
static const struct result_field *result_find(const struct result_list *l, const char *name,
                                              enum wanted wanted)
{
    for (const struct result_field *f = l->fields; f->name; f++)
        if (strcmp(f->name, name) == 0 && field_is_word(f) == (wanted == WANTED_WORD) &&
            !(wanted == WANTED_INTEGER && field_is_real(f)))
            return f;
    return NULL;
}

static const void *result_member(const struct result_list *l, const struct result_field *f, int64_t i)
{
    return (const char *)l->items + (size_t)i * l->size + f->offset;
}

static double result_real(const lx_result *r, const struct result_list *l, const struct result_field *f,
                          int64_t i)
{
    return f->type == FIELD_REAL ? f->of.real(r, i) : *(const double *)result_member(l, f, i);
}

static int64_t result_whole(const lx_result *r, const struct result_list *l, const struct result_field *f,
                            int64_t i)
{
    if (f->type == FIELD_WHOLE) return f->of.whole(r, i);
    const void *at = result_member(l, f, i);
    return f->type == FIELD_BOOL    ? *(const bool *)at
           : f->type == FIELD_INT32 ? *(const int32_t *)at
                                    : *(const int64_t *)at;
}

static const char *result_text(const lx_result *r, const struct result_list *l, const struct result_field *f,
                               int64_t i)
{
    if (f->type == FIELD_WORD) return f->of.word(r, i);
    return *(const char *const *)result_member(l, f, i);
}

/* The list's item, or for `list` NULL the part of the result, that has the name. */
static const struct result_field *result_lookup(const lx_result *r, const char *list, int64_t i,
                                                const char *name, enum wanted wanted, struct result_list *out)
{
    struct result_list parts[MOST_PARTS];
    if (!r || !name) return NULL;
    if (list)
        return result_list(r, list, out) && i >= 0 && i < out->count ? result_find(out, name, wanted) : NULL;
    int n = result_parts(r, parts);
    for (int k = 0; k < n; k++) {
        const struct result_field *f = result_find(&parts[k], name, wanted);
        if (f) return *out = parts[k], f;
    }
    return NULL;
}

/* A statistic of the solver. */
static int32_t result_statistic(const lx_result *r, const char *name, int64_t *value)
{
    const struct lx_answer *a = r && name && r->plan ? &r->plan->answer : NULL;
    int i = 0;
    while (a && i < a->stat_count && strcmp(a->stats[i].name, name) != 0) i++;
    if (!a || i == a->stat_count) return -1;
    if (value) *value = a->stats[i].value;
    return 0;
}

int32_t lx_result_number(const lx_result *r, const char *name, double *value)
{
    int64_t count;
    if (lx_result_item_number(r, NULL, 0, name, value) == 0) return 0;
    if (result_statistic(r, name, &count) < 0) return -1;
    if (value) *value = (double)count;
    return 0;
}

int32_t lx_result_integer(const lx_result *r, const char *name, int64_t *value)
{
    return lx_result_item_integer(r, NULL, 0, name, value) == 0 ? 0 : result_statistic(r, name, value);
}

const char *lx_result_word(const lx_result *r, const char *name)
{
    return lx_result_item_word(r, NULL, 0, name);
}

int64_t lx_result_count(const lx_result *r, const char *list)
{
    struct result_list l;
    return result_list(r, list, &l) ? l.count : -1;
}

int32_t lx_result_item_number(const lx_result *r, const char *list, int64_t i, const char *name,
                              double *value)
{
    struct result_list l;
    const struct result_field *f = result_lookup(r, list, i, name, WANTED_NUMBER, &l);
    if (f && value) *value = field_is_real(f) ? result_real(r, &l, f, i) : (double)result_whole(r, &l, f, i);
    return f ? 0 : -1;
}

int32_t lx_result_item_integer(const lx_result *r, const char *list, int64_t i, const char *name,
                               int64_t *value)
{
    struct result_list l;
    const struct result_field *f = result_lookup(r, list, i, name, WANTED_INTEGER, &l);
    if (f && value) *value = result_whole(r, &l, f, i);
    return f ? 0 : -1;
}

const char *lx_result_item_word(const lx_result *r, const char *list, int64_t i, const char *name)
{
    struct result_list l;
    const struct result_field *f = result_lookup(r, list, i, name, WANTED_WORD, &l);
    return f ? result_text(r, &l, f, i) : NULL;
}

static const char *field_type_word(const struct result_field *f)
{
    return field_is_word(f) ? "word" : field_is_real(f) ? "number" : "integer";
}

const char *lx_result_name_at(const lx_result *r, const char *list, int32_t i, const char **type)
{
    static const char *const lists[] = {"buffers", "ops",   "transfers", "faults",  "syncs",    "bundles",
                                        "members", "nests", "splits",    "layouts", "launches", "time_line"};
    struct result_list parts[MOST_PARTS];
    const char *ignored;
    if (!type) type = &ignored;
    if (!r || i < 0) return NULL;
    int n = list ? result_list(r, list, parts) : result_parts(r, parts);
    for (int k = 0; k < n; k++)
        for (const struct result_field *f = parts[k].fields; f->name; f++)
            if (i-- == 0) return *type = field_type_word(f), f->name;
    int stats = !list && r->plan ? r->plan->answer.stat_count : 0;
    if (i < stats) return *type = "integer", r->plan->answer.stats[i].name;
    i -= stats;
    *type = "list";
    for (size_t k = 0; !list && k < sizeof lists / sizeof *lists; k++) {
        struct result_list l;
        if (result_list(r, lists[k], &l) && i-- == 0) return lists[k];
    }
    return NULL;
}

int32_t lx_result_check(const lx_result *r, lx_error *e)
{
    API_CALL(e, -LX_E_MEMORY);
    if (!r || (!r->plan && !r->team))
        return status_set(st, LX_E_USAGE, "there is no plan to check"), api_code(st);
    if (!r->team && result_has_no_answer(r->plan))
        return status_set(st, LX_E_NO, "there is no legal answer"), 0;
    bool legal = r->team ? lx_team_plans_check(r->team->plans, st) : lx_plan_check(r->plan, st);
    if (legal) return 1;
    return st->code == LX_E_NO ? 0 : api_code(st);
}
