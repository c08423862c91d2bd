/* Reads plan files: the file's statements become the plan; lx_plan_check says whether it is legal and
 * true. */
#include "planfile/plan_file.h"
#include "base/file.h"

bool plan_read_record(const struct json *j, const struct json_value *object, enum plan_section_id section,
                      void *record, struct arena *memory, lx_status *st)
{
    const struct plan_section *s = &plan_sections[section];
    return record_read(j, object, s->what, s->fields, s->count, record, memory, st);
}

bool plan_read_records(const struct json *j, const struct json_value *object, const char *key,
                       enum plan_section_id section, struct arena *memory, struct records *out, lx_status *st)
{
    const struct json_value *array, *item;
    size_t size = plan_sections[section].size;
    if (!json_array(j, object, key, &array, st)) return false;
    int n = json_count(array);
    if (n > LX_MAX_ITEMS) return json_error(j, array, st, LX_E_LIMIT, "more than %d %s", LX_MAX_ITEMS, key);
    char *list = arena_array(memory, (size_t)n, size);
    const struct json_value **where = arena_array(memory, (size_t)n, sizeof *where);
    *out = (struct records){list, where, 0};
    json_for_each(item, array) {
        if (!plan_read_record(j, item, section, list + (size_t)out->count * size, memory, st)) return false;
        where[out->count++] = item;
    }
    return true;
}

bool plan_read_passes(const struct json *j, const struct json_value *graph, struct lx_passes *passes,
                      lx_status *st)
{
    const struct json_value *v = json_find(graph, "passes"), *item;
    for (const struct lx_pass *row = lx_passes(); row->name; row++) lx_pass_set(passes, row, row->off);
    if (!v) return true;
    if (!json_is_object(v))
        return json_error(j, v, st, LX_E_SCHEMA, "\"passes\" must be an object of passes; {} for none");
    json_for_each(item, v) {
        const struct lx_pass *row = lx_passes();
        while (row->name && strcmp(row->name, item->key) != 0) row++;
        if (!row->name) return json_error(j, item, st, LX_E_SCHEMA, "there is no pass \"%s\"", item->key);
        if (!row->words) {
            if (!json_is_bool(item)) return json_error(j, item, st, LX_E_SCHEMA, "must be true or false");
            lx_pass_set(passes, row, json_is_true(item));
            continue;
        }
        int n = 0;
        while (row->words[n] && !(json_is_string(item) && strcmp(item->text, row->words[n]) == 0)) n++;
        if (!row->words[n]) return json_error(j, item, st, LX_E_SCHEMA, "no such value of %s", row->name);
        lx_pass_set(passes, row, n);
    }
    return true;
}

static bool plan_read_word(const struct json *j, const struct json_value *root, const char *key,
                           const char *word, const char *(*nth)(int), int count, int *out, lx_status *st)
{
    for (*out = 0; *out < count; ++*out)
        if (strcmp(word, nth(*out)) == 0) return true;
    char known[200];
    size_t n = 0;
    for (int i = 0; i < count && n < sizeof known; i++)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", nth(i));
    return json_error(j, json_find(root, key), st, LX_E_SCHEMA, "unknown %s \"%s\"; known: %s", key, word,
                      known);
}

static const char *nth_verdict(int i)
{
    return lx_verdict_word((enum lx_verdict)i);
}

static const char *nth_objective(int i)
{
    static const enum lx_ask more[] = {LX_ASK_TIME, LX_ASK_BALANCED};
    return i < LX_OBJECTIVE_COUNT ? lx_objective_word((enum lx_objective)i)
                                  : lx_ask_word(more[i - LX_OBJECTIVE_COUNT]);
}

static bool read_stats(const struct json *j, const struct json_value *stats, struct lx_plan *p, lx_status *st)
{
    const struct json_value *item;
    if (stats && !json_is_object(stats))
        return json_error(j, stats, st, LX_E_SCHEMA, "stats must be an object of integers");
    json_for_each(item, stats) {
        struct lx_stat *s = &p->answer.stats[p->answer.stat_count];
        if (p->answer.stat_count == LX_MAX_STATS)
            return json_error(j, stats, st, LX_E_LIMIT, "more than %d stats; remove some", LX_MAX_STATS);
        if (!json_int_value(j, item, item->key, -LX_INT_MAX, LX_INT_MAX, &s->value, st)) return false;
        s->name = arena_string(p->memory, item->key);
        p->answer.stat_count++;
    }
    return true;
}

static bool read_solver(const struct json *j, const struct json_value *root, bool old, struct lx_plan *p,
                        lx_status *st)
{
    const struct json_value *v = json_find(root, "solver");
    struct plan_solver x;
    p->solver = "unknown";
    p->options = "";
    if (!v && !old) return read_stats(j, json_find(root, "stats"), p, st);
    if (!v) return json_error(j, root, st, LX_E_SCHEMA, "the key \"solver\" is missing here; add it");
    if (!plan_read_record(j, v, PLAN_SOLVER, &x, p->memory, st)) return false;
    if (x.seed < 0 || x.work_limit < 0 || x.steps < 0)
        return json_error(j, v, st, LX_E_RANGE,
                          "seed, work_limit and steps of the solver must not be negative");
    p->solver = x.name;
    p->seed = (uint64_t)x.seed;
    p->work_limit = x.work_limit;
    p->options = x.options;
    p->answer.steps = x.steps;
    snprintf(p->answer.message, sizeof p->answer.message, "%s", x.message);
    return read_stats(j, json_find(old ? v : root, "stats"), p, st);
}

/* Reads addresses, handovers and reasons of the buffers, of lists and graphs. */
static bool take_places(const struct json *j, const struct records *buffers, struct lx_plan *p, lx_status *st)
{
    int32_t n = buffers->count;
    p->answer.address = arena_array(p->memory, (size_t)n, sizeof *p->answer.address);
    p->reason = arena_array(p->memory, (size_t)n, sizeof *p->reason);
    p->took_slot_of = arena_array(p->memory, (size_t)n, sizeof *p->took_slot_of);
    for (int32_t i = 0; i < n; i++) {
        const struct plan_buffer *x = (const struct plan_buffer *)buffers->at + i;
        if (x->address < -1 || x->in_place_of < -1 || x->in_place_of >= n)
            return json_error(j, buffers->where[i], st, LX_E_RANGE,
                              "address must not be negative, and in_place_of the number of a buffer");
        if (json_find(buffers->where[i], "pool") &&
            (!p->answer.pool || x->pool < 0 || x->pool >= lx_pool_count(&p->problem)))
            return json_error(
                j, buffers->where[i], st, LX_E_RANGE,
                "pool must be the number of one of several pools; leave it out where there is one");
        p->answer.address[i] = x->address < 0 ? LX_OFF_CHIP : x->address;
        if (p->answer.pool) p->answer.pool[i] = x->pool < 0 ? 0 : (int32_t)x->pool;
        p->took_slot_of[i] = (int32_t)x->in_place_of;
        p->reason[i] = x->reason;
    }
    return true;
}

static bool plan_read_body(const struct json *j, const struct json_value *root, const struct plan_root *x,
                           struct lx_plan *p, enum lx_objective objective, lx_status *st)
{
    struct records buffers;
    p->problem.objective = objective;
    p->problem.capacity = x->capacity >= 0 ? x->capacity : lx_device_usable(&p->graph->device);
    p->problem.alignment = x->alignment >= 0 ? x->alignment : p->graph->device.stick_bytes;
    if (!plan_read_records(j, root, "buffers", PLAN_BUFFER, p->memory, &buffers, st)) return false;
    if (p->graph->list) {
        if (!plan_of_list(p, p->problem.objective, st)) return false;
        if ((x->capacity >= 0 && p->problem.capacity != x->capacity) ||
            (x->alignment >= 0 && p->problem.alignment != x->alignment))
            return json_error(j, json_find(root, "capacity"), st, LX_E_MISMATCH,
                              "capacity and alignment must be the pattern's, %lld and %lld",
                              (long long)p->problem.capacity, (long long)p->problem.alignment);
        if (buffers.count != p->problem.count)
            return json_error(j, json_find(root, "buffers"), st, LX_E_MISMATCH,
                              "%d buffers, but the pattern has %d", (int)buffers.count,
                              (int)p->problem.count);
        if (!take_places(j, &buffers, p, st)) return false;
        /* The buffers of a list come from the pattern; the file's must equal them. */
        const struct plan_section *s = &plan_sections[PLAN_BUFFER];
        for (int32_t i = 0; i < buffers.count; i++) {
            const struct plan_buffer *theirs = (const struct plan_buffer *)buffers.at + i;
            const struct plan_buffer ours = plan_pack_buffer(p, i, p->memory);
            const struct field *f = record_difference(s->fields, s->count, theirs, &ours);
            if (f)
                return json_error(j, buffers.where[i], st, LX_E_MISMATCH,
                                  "buffer %d: its %s is not the one of the pattern's buffer %s", (int)i,
                                  f->key, ours.name);
        }
        return true;
    }
    return plan_read_graph(j, root, &buffers, p, st) && take_places(j, &buffers, p, st) &&
           (p->launches || plan_launch_ops(p, st));
}

/* Files have nine digits of the gap. */
static bool is_near(double gap, double own)
{
    return isfinite(own) && fabs(gap - own) <= 1e-8 * (1 + own);
}

/* A gap without the bound that it is of: the bound follows from it. */
static void plan_read_bound_of_gap(struct lx_plan *p, const struct plan_root *x)
{
    if (!(x->gap >= 0) || p->answer.status == LX_OPTIMAL) return;
    if (p->asks_time && p->figures.bound_us == 0)
        p->figures.bound_us = p->figures.end_to_end_us / (1 + x->gap);
    if (p->asks_time || x->bound_bytes != -1) return;
    double least = (double)lx_plan_value(p) / (1 + x->gap) - (double)lx_plan_least(p);
    p->figures.bound_bytes = least > 0 && least < (double)LX_INT_MAX ? llround(least) : 0;
}

static bool fill_plan(const struct json *j, const struct json_value *root, bool old,
                      const struct plan_root *x, struct lx_plan *p, lx_status *st)
{
    int status, objective;
    lx_status why = {0};
    if (!plan_read_word(j, root, "status", x->status ? x->status : "feasible", nth_verdict, LX_VERDICT_COUNT,
                        &status, st) ||
        !plan_read_word(j, root, "objective", x->objective ? x->objective : "spill", nth_objective,
                        LX_OBJECTIVE_COUNT + 2, &objective, st))
        return false;
    p->asks_time = objective == LX_OBJECTIVE_COUNT && !p->graph->list;
    p->balanced = objective == LX_OBJECTIVE_COUNT + 1 && !p->graph->list;
    if (objective >= LX_OBJECTIVE_COUNT) objective = LX_SPILL; /* the buffers cost bytes */
    p->answer.status = (enum lx_verdict)status;
    if (!(old ? plan_read_old(j, root, p, (enum lx_objective)objective, st)
              : plan_read_body(j, root, x, p, (enum lx_objective)objective, st)) ||
        !read_solver(j, root, old, p, st))
        return false;
    if (!lx_problem_validate(&p->problem, &why))
        return json_error(j, json_find(root, "buffers"), st, why.code, "%s", why.text);
    p->figures.hbm_bytes = x->hbm_bytes;
    p->figures.baseline_hbm_bytes = x->baseline_hbm_bytes;
    p->figures.spill_bytes = x->spill_bytes;
    p->figures.height_bytes = x->height_bytes;
    /* Format 1 gives spill relative to limited scratchpads. */
    if (old && !p->graph->list) p->figures.perfect_hbm_bytes = x->hbm_bytes - x->spill_bytes;
    if (!plan_fill_absent(p, st)) return false;
    /* An absent bound of a plan that is said to be optimal is its own value. */
    if (p->asks_time && p->answer.status == LX_OPTIMAL && p->figures.bound_us == 0)
        p->figures.bound_us = p->figures.end_to_end_us;
    p->figures.bound_bytes = x->bound_bytes != -1                             ? x->bound_bytes
                             : p->answer.status != LX_OPTIMAL || p->asks_time ? 0
                             : p->problem.objective == LX_HEIGHT              ? p->figures.height_bytes
                                                                              : p->figures.spill_bytes;
    plan_read_bound_of_gap(p, x);
    /* The objective of a list is the claimed one; of a graph it follows from the addresses. */
    if (p->problem.objective == LX_HEIGHT)
        p->answer.objective =
            lx_left_out(&p->problem, p->answer.address) ? INT64_MAX : p->figures.height_bytes;
    else if (p->graph->list)
        p->answer.objective = p->figures.spill_bytes;
    else
        for (int32_t i = 0; i < p->problem.count; i++)
            if (p->answer.address[i] < 0) p->answer.objective += p->problem.buffers[i].spill_cost;
    /* Redundant fields of the root must agree. */
    const struct json_value *at = json_find(root, "meets_target");
    bool meets = p->graph->target_hbm_bytes >= 0 && lx_plan_meets_target(p);
    /* Early plans of format 2 have the gap of format 1, relative to spill, height or time: both are
     * accepted. */
    double value = p->asks_time ? p->figures.end_to_end_us : (double)lx_plan_objective(p);
    double bound = p->asks_time ? p->figures.bound_us : (double)p->figures.bound_bytes;
    double before = value > bound ? (value - bound) / value : 0;
    if (!isnan(x->gap) && !is_near(x->gap, lx_plan_gap(p)) && !is_near(x->gap, before))
        return json_error(j, json_find(root, "gap"), st, LX_E_MISMATCH,
                          "the gap must be %.9g by placement and bound", lx_plan_gap(p));
    if (!p->asks_time && !p->balanced && p->figures.bound_us != 0)
        return json_error(j, root, st, LX_E_MISMATCH,
                          "there is a bound_us, but the objective is neither time nor balanced");
    if (x->target_hbm_bytes >= 0 && x->target_hbm_bytes != p->graph->target_hbm_bytes)
        return json_error(j, root, st, LX_E_MISMATCH, "target_hbm_bytes is not the pattern's");
    if (!at || x->meets_target == meets) return true;
    return json_error(j, at, st, LX_E_MISMATCH,
                      "meets_target must be %s by hbm_bytes and the pattern's target",
                      meets ? "true" : "false");
}

/* The pattern in the file; an error if its hash is not the planned one. */
static const struct lx_graph *plan_read_pattern(const struct json *j, const struct json_value *root,
                                                const char *hash, lx_status *st)
{
    const struct json_value *pattern = json_find(root, "pattern");
    if (!pattern)
        return json_error(j, root, st, LX_E_SCHEMA, "the key \"pattern\" is missing here; add it"), NULL;
    const struct lx_graph *g = pattern_read_json(j, pattern, st);
    char ours[20];
    if (!g) return NULL;
    snprintf(ours, sizeof ours, "%016llx", (unsigned long long)g->hash);
    if (!hash || strcmp(ours, hash) == 0) return g;
    lx_graph_free(g);
    json_error(j, json_find(root, "pattern_hash"), st, LX_E_MISMATCH,
               "the pattern in this plan was changed after planning (its hash is %s); plan it again", ours);
    return NULL;
}

/* The device as the plan states it, whatever a preset of its name is today: plans of 0.2 state none, and
 * `tenstorrent` could use all of its L1 then. Takes `g` over. */
static const struct lx_graph *plan_read_device(const struct json *j, const struct json_value *root,
                                               const struct plan_root *x, const struct lx_graph *g,
                                               lx_status *st)
{
    const struct json_value *stated = json_find(json_find(root, "graph"), "device");
    struct lx_device device = g->device, before = g->device;
    before.lx_reserved_bytes = 0;
    if (!stated && strcmp(device.preset, "tenstorrent") == 0 && x->capacity == lx_device_usable(&before))
        device = before;
    bool ok = !stated || device_read_over(j, stated, &device, st);
    const struct lx_graph *on = NULL;
    if (ok) on = lx_device_same(&device, &g->device) ? lx_graph_ref(g) : lx_graph_with_device(g, &device);
    lx_graph_free(g);
    return on;
}

struct lx_plan *plan_read_json(const struct json *j, const struct json_value *root, lx_status *st)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct plan_root x;
    int64_t version;
    struct lx_plan *p = NULL;
    SCOPED(graph_free_at) const struct lx_graph *g = NULL;
    if (pattern_check_header(j, root, "plan", PLAN_FORMAT_OLD, PLAN_FORMAT, &version, st) &&
        plan_read_record(j, root, PLAN_ROOT, &x, &scratch, st) &&
        (g = plan_read_pattern(j, root, x.pattern_hash, st)) &&
        (g->list || (g = plan_read_device(j, root, &x, g, st))) && (p = plan_new(g)) &&
        !fill_plan(j, root, version == PLAN_FORMAT_OLD, &x, p, st)) {
        lx_plan_free(p);
        p = NULL;
    }
    const struct json_value *certificate = p ? json_find(root, "certificate") : NULL;
    if (certificate) {
        SCOPED(text_free) struct text t = {0};
        json_add(certificate, &t);
        p->certificate = arena_string(p->memory, t.at);
    }
    return p;
}

struct lx_plan *lx_plan_of_text(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    if (!json_parse(&j, file, text, length, st)) return NULL;
    struct lx_plan *p = plan_read_json(&j, j.root, st);
    json_free(&j);
    return p;
}

struct lx_plan *lx_plan_of_any(const char *file, const char *text, size_t length, lx_status *st)
{
    if (lx_is_plan(text, length)) return lx_plan_of_text(file, text, length, st);
    SCOPED(graph_free_at) const struct lx_graph *g = lx_graph_of_text(file, text, length, st);
    struct lx_plan *p = g && g->list && g->list->address ? lx_plan_stated(g, st) : NULL;
    if (g && !(g->list && g->list->address))
        status_set_at(st, LX_E_USAGE, file, 0, 0,
                      "not a plan; `lxplan plan FILE -o PLAN` makes one of a pattern");
    return p;
}

struct lx_plan *lx_plan_read(const char *path, lx_status *st)
{
    size_t length;
    OWNED char *text = file_read(path, &length, st);
    if (!text) return NULL;
    struct lx_plan *p = lx_plan_of_any(strcmp(path, "-") == 0 ? "standard input" : path, text, length, st);
    return p;
}
