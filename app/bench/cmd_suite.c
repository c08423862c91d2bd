/* lxplan suite: lists the instances, verifies what is said about them, and records what a benchmark has bettered. */
#include "bench/suite.h"
#include "bench/suite_proof.h"
#include "bench/summary.h"
#include "base/file.h"
#include "text/table.h"

enum suite_word { SUITE_LIST, SUITE_VERIFY, SUITE_UPDATE, SUITE_WORDS };

static const char *cmd_suite_word(int k)
{
    static const char *const words[] = {"list", "verify", "update"};
    return k < SUITE_WORDS ? words[k] : NULL;
}

/* One instance in the table of `list` and `verify`. */
struct suite_row {
    struct suite_instance is;
    const char *verdict; /* in the arena of the command; "" where it is not asked for */
    bool bad;
};

/* clang-format off */
VALUE_OF(suite_class_value,  struct suite_row, v->words = row->is.class->name;)
VALUE_OF(suite_best_value,   struct suite_row, v->number = row->is.has_best ? (double)row->is.best : NAN;)
VALUE_OF(suite_bound_value,  struct suite_row, v->number = row->is.has_bound ? (double)row->is.bound : NAN;)
VALUE_OF(suite_gap_value,    struct suite_row, v->number = row->is.has_best && row->is.has_bound ? lx_gap(row->is.best, row->is.bound) : NAN;)
VALUE_OF(suite_status_value, struct suite_row, v->words = suite_is_infeasible(&row->is) ? "infeasible" : row->is.proved ? "proved" : "open"; v->paint = row->is.proved ? PAINT_GOOD : PAINT_WARN;)
VALUE_OF(suite_verdict_value, struct suite_row, v->words = row->verdict; v->paint = row->bad ? PAINT_BAD : PAINT_PLAIN;)

static const struct column suite_array[] = {
    {.key = "class",   .heading = "class",    .kind = VALUE_WORDS, .value = suite_class_value},
    {.key = "name",    .heading = "instance", .kind = VALUE_NAME,  MEMBER(struct suite_row, is.name)},
    {.key = "buffers", .heading = "buffers",  .kind = VALUE_COUNT, MEMBER(struct suite_row, is.buffers)},
    {.key = "best",    .heading = "best",     .kind = VALUE_COUNT, .value = suite_best_value},
    {.key = "bound",   .heading = "bound",    .kind = VALUE_COUNT, .value = suite_bound_value},
    {.key = "gap",     .heading = "gap",      .kind = VALUE_SHARE, .flags = COLUMN_MAY_HIDE, .value = suite_gap_value},
    {.key = "status",  .heading = "status",   .kind = VALUE_WORDS, .value = suite_status_value},
    {.key = "by",      .heading = "by",       .kind = VALUE_WORDS, MEMBER(struct suite_row, is.by), .from = 10},
    {.key = "verdict", .heading = "verified", .kind = VALUE_WORDS, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = suite_verdict_value},
};

/* The sizes of a class. */
struct suite_size {
    const char *name, *asks;
    int64_t instances, proved, open, least, most;
};

static const struct column suite_size_array[] = {
    {.key = "class",     .heading = "class",     .kind = VALUE_WORDS, MEMBER(struct suite_size, name)},
    {.key = "instances", .heading = "instances", .kind = VALUE_COUNT, MEMBER(struct suite_size, instances)},
    {.key = "proved",    .heading = "proved",    .kind = VALUE_COUNT, MEMBER(struct suite_size, proved)},
    {.key = "open",      .heading = "open",      .kind = VALUE_COUNT, MEMBER(struct suite_size, open)},
    {.key = "least",     .heading = "buffers",   .kind = VALUE_COUNT, MEMBER(struct suite_size, least)},
    {.key = "most",      .heading = "to",        .kind = VALUE_COUNT, MEMBER(struct suite_size, most)},
    {.key = "asks",      .heading = "",          .kind = VALUE_WORDS, MEMBER(struct suite_size, asks)},
};
/* clang-format on */

const struct columns suite_columns = COLUMNS("instances of the suite", suite_array);
const struct columns suite_size_columns = COLUMNS("classes of the suite", suite_size_array);

/* --- verify --- */

static bool verify_whole(const struct suite_instance *i, const struct lx_graph *g, struct text *who,
                         lx_status *st)
{
    struct text t = {0};
    struct lx_check_report r;
    lx_status why = {0};
    if (!i->made) return status_set(st, LX_E_SCHEMA, "the command that makes its plan is missing");
    if (!suite_output(i, i->made, &t, st)) return false;
    struct lx_plan *p = lx_plan_of_text(i->path, t.at, t.length, st);
    text_free(&t);
    if (!p) return false;
    int64_t value = suite_plan_value(i->class->whole, p), bound = suite_plan_bound(i->class->whole, p);
    bool same = suite_plan_is_of(p, g), ok = lx_plan_check_report(p, &r, &why);
    bool confirmed = i->class->whole == LX_ASK_TRAFFIC && r.optimality == LX_BOUND_VERIFIED;
    if (!ok)
        status_set(st, LX_E_NO, "its plan is not legal: %s", why.text);
    else if (!same || value != i->best)
        ok = status_set(st, LX_E_NO, "its plan has %" PRId64 "%s", value, same ? "" : ", for another graph");
    else if (bound < i->bound)
        ok = status_set(st, LX_E_NO, "the planner proves %" PRId64 " only", bound);
    else if (i->proved && !confirmed)
        ok = status_set(st, LX_E_NO, "the checker does not confirm the proof of the planner");
    if (r.proof && i->class->whole == LX_ASK_TRAFFIC)
        text_format(who, "certificate (%s)", r.proof);
    else
        text_add(who, "planner");
    lx_plan_free(p);
    return ok;
}

/* The value of the best answer, which must be legal. */
static bool verify_answer(const struct suite_instance *i, const struct lx_question *q, int64_t *address,
                          lx_status *st)
{
    const struct lx_problem *p = &q->problem;
    bool plain = !p->pool_count && !lx_problem_needs(p), spill = p->objective == LX_SPILL;
    int64_t value = 0;
    enum lx_rule rule;
    lx_status why = {0};
    if (!suite_answer(i, p, address, st)) return false;
    if (!(plain ? lx_problem_check(p, address, &value, &why)
                : lx_check_places(p, NULL, address, &value, &rule, &why)))
        return status_set(st, LX_E_NO, "its solution is not legal: %s", why.text);
    if (!spill && lx_left_out(p, address))
        return status_set(st, LX_E_NO, "its solution leaves out buffer %s", lx_left_out(p, address)->name);
    value = p->objective == LX_FIT ? 0 : value + (spill ? q->base_bytes : 0);
    return value == i->best || status_set(st, LX_E_NO, "its solution has %" PRId64, value);
}

static bool verify_placement(const struct suite_instance *i, const struct lx_graph *g, struct text *who,
                             lx_status *st)
{
    struct lx_plan_options how = {.objective = LX_ASK_OWN};
    struct lx_question *q = lx_problem_of(g, &how, st);
    if (!q) return false;
    const struct lx_problem *p = &q->problem;
    int64_t *address = mem_alloc(((size_t)p->count + 1) * sizeof *address),
            base = p->objective == LX_SPILL ? q->base_bytes : 0;
    struct suite_claim c = {.question = q, .problem = p, .address = i->has_best ? address : NULL};
    c.best = i->best - base;
    c.bound = suite_is_infeasible(i) ? p->capacity + 1 : i->bound - base;
    for (int32_t b = 0; b < p->count; b++)
        if (!lx_may_be_placed(p, &p->buffers[b])) c.sure += p->buffers[b].spill_cost;
    bool ok = !i->has_best || verify_answer(i, q, address, st);
    bool claims = i->has_bound || suite_is_infeasible(i);
    int needed = i->proved ? 2 : 1, found = ok && claims ? suite_prove(&c, needed, who) : 0;
    if (ok && claims && !i->proved && !found) text_add(who, "its solution; the bound is a claim");
    if (ok && i->proved && found < needed)
        ok = status_set(st, LX_E_NO, "%s proves the bound", found ? who->at : "no engine");
    if (ok && p->count != i->buffers) ok = status_set(st, LX_E_NO, "it has %d buffers", (int)p->count);
    mem_free(address);
    lx_question_free(q);
    return ok;
}

/* Every claim of an instance, made again; in words. */
static void suite_verify(struct suite_row *row, struct arena *memory)
{
    SCOPED(text_free) struct text who = {0};
    lx_status st = {0};
    SCOPED(graph_free_at) const struct lx_graph *g = suite_problem(&row->is, &st);
    row->bad = !g || !(row->is.class->whole ? verify_whole : verify_placement)(&row->is, g, &who, &st);
    row->verdict = arena_string(memory, row->bad ? st.text : who.at ? who.at : "its problem");
}

/* --- update --- */

/* Is a row better than what the suite knows: a lower value, or a proof of an open one? Where nothing is left between
 * best and bound, `verify` lacks a second engine, not a proof. */
static bool row_is_news(const struct row *r)
{
    if (!r->class || !r->class[0] || r->outcome == OUTCOME_WRONG || r->outcome == OUTCOME_ERROR) return false;
    bool proof = (r->outcome == OUTCOME_OPTIMAL || r->outcome == OUTCOME_INFEASIBLE) &&
                 strcmp(r->known_status, "proved") != 0 &&
                 !(r->has_known && r->has_known_bound && r->known_bound == r->known);
    return proof || (r->has_value && (!r->has_known || r->value < r->known));
}

/* The better of two rows of one instance: value first, then the bound. */
static bool row_is_better(const struct row *a, const struct row *b)
{
    if (a->has_value != b->has_value) return a->has_value;
    if (a->value != b->value) return a->value < b->value;
    return a->has_bound && (!b->has_bound || a->bound > b->bound);
}

/* The news of each instance, one row each; the count. */
static size_t suite_news(const struct results *r, const struct row **out)
{
    size_t n = 0;
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct row *row = &r->rows.at[i];
        size_t k = 0;
        if (!row_is_news(row)) continue;
        while (k < n && strcmp(out[k]->instance, row->instance) != 0) k++;
        if (k == n)
            out[n++] = row;
        else if (row_is_better(row, out[k]))
            out[k] = row;
    }
    return n;
}

void suite_add_news(const struct results *r, const char *path, struct text *out)
{
    const struct row **news = mem_alloc((r->rows.count + 1) * sizeof *news);
    size_t n = suite_news(r, news);
    for (size_t k = 0; k < n; k++) {
        const struct row *w = news[k];
        bool proof = w->outcome == OUTCOME_OPTIMAL || w->outcome == OUTCOME_INFEASIBLE;
        text_format(out, "%s: %s", w->name, w->outcome == OUTCOME_INFEASIBLE ? "infeasible" : "");
        if (w->has_value) text_add(out, grouped(w->value).at);
        if (w->has_known && w->value < w->known) text_format(out, ", %s before", grouped(w->known).at);
        text_format(out, "%s, by %s\n", proof ? ", proved" : "", w->solver);
    }
    if (n)
        text_format(out, "`lxplan suite update %s` records %s\n", path ? path : "RESULTS",
                    n > 1 ? "them" : "it");
    mem_free(news);
}

/* The answer of a row beside the instance, as a CSV file; false with `st`. */
static bool update_solution(const struct suite_instance *i, const struct row *row, const struct lx_problem *p,
                            lx_status *st)
{
    SCOPED(text_free) struct text t = {0};
    const char *at = row->answer, *end = strrchr(i->path, '.');
    text_add(&t, "id,offset\n");
    for (int32_t b = 0; b < p->count && at; b++) {
        text_format(&t, "%s,%.*s\n", p->buffers[b].name, (int)strcspn(at, " "), at);
        at = strchr(at, ' ');
        at += at != NULL;
    }
    OWNED char *path = mem_format("%.*s.csv", (int)(end - i->path), i->path);
    return file_write(path, t.at, t.length, st);
}

/* Larger answers are made again. */
enum { MOST_ROWS = 12000 };

/* The file of the instance with what the row has found. The solution of a whole plan is the command that makes it. */
static void update_write(const struct suite_instance *i, const struct row *row, struct text *t)
{
    static const char *const objective[LX_ASK_COUNT] = {[LX_ASK_OWN] = "",
                                                        [LX_ASK_TRAFFIC] = "\"--objective\",\"bytes\",",
                                                        [LX_ASK_TIME] = "\"--objective\",\"time\","};
    const char *slash = strrchr(i->path, '/');
    bool has_best = row->has_value,
         proof = row->outcome == OUTCOME_OPTIMAL || row->outcome == OUTCOME_INFEASIBLE;
    int64_t bound = proof ? row->value : row->has_bound ? row->bound : i->bound;
    text_add(t, "{\"lxplan\": 1, \"kind\": \"instance\", \"name\": ");
    text_json_string(t, i->name);
    text_format(t, ", \"class\": \"%s\",\n \"origin\": ", i->class->name);
    json_add(i->origin, t);
    text_format(t, ",\n \"sha256\": \"%s\", \"buffers\": %" PRId64 ", \"best\": ", i->hash, i->buffers);
    text_format(t, has_best ? "%" PRId64 : "null", row->value);
    text_add(t, ", \"bound\": ");
    text_format(t, has_best && (i->has_bound || row->has_bound || proof) ? "%" PRId64 : "null", bound);
    text_format(t, ", \"status\": \"%s\", \"by\": ", proof ? "proved" : "open");
    text_json_string(t, row->solver);
    if (has_best && (i->class->whole || i->buffers > MOST_ROWS))
        text_format(
            t, ",\n \"made\": [\"plan\",\"INSTANCE\",\"-s\",\"%s\",\"--seed\",\"%" PRId64 "\",%s\"--json\"]",
            row->solver, row->seed, objective[i->class->whole]);
    else if (has_best)
        text_format(t, ",\n \"solution\": \"%.*s.csv\"", (int)strcspn(slash ? slash + 1 : i->path, "."),
                    slash ? slash + 1 : i->path);
    text_add(t, "}\n");
}

/* A whole plan counts as its command makes it, without the limit of the run. */
static bool update_remake(const struct suite_instance *i, struct row *row, lx_status *st)
{
    struct text t = {0};
    if (!suite_output(i, i->made, &t, st)) return false;
    SCOPED(plan_free_at) struct lx_plan *p = lx_plan_of_text(i->path, t.at, t.length, st);
    if (p) {
        row->value = suite_plan_value(i->class->whole, p);
        row->bound = suite_plan_bound(i->class->whole, p);
        row->outcome = row->value == row->bound ? OUTCOME_OPTIMAL : OUTCOME_FEASIBLE;
    }
    text_free(&t);
    return p != NULL;
}

static bool update_file(const struct row *row, const struct suite_instance *i, lx_status *st)
{
    SCOPED(text_free) struct text t = {0};
    update_write(i, row, &t);
    return file_write(row->instance, t.at, t.length, st);
}

static bool update_instance(const struct row *row, lx_status *st)
{
    struct suite_instance i;
    if (!suite_read(row->instance, &i, st)) return false;
    SCOPED(graph_free_at) const struct lx_graph *g = suite_problem(&i, st);
    struct lx_question *q = g ? lx_problem_of(g, &(struct lx_plan_options){0}, st) : NULL;
    bool ok = q != NULL, lower = row->has_value && (!i.has_best || row->value < i.best);
    if (ok && lower && !i.class->whole && !row->answer[0])
        ok = status_set_at(st, LX_E_USAGE, row->instance, 0, 0, "these results have no answer for it");
    if (ok && lower && !i.class->whole && i.buffers <= MOST_ROWS)
        ok = update_solution(&i, row, &q->problem, st);
    ok = ok && update_file(row, &i, st);
    bool whole = i.class->whole;
    lx_question_free(q);
    suite_free(&i);
    if (!ok || !whole || !suite_read(row->instance, &i, st)) return ok && !whole;
    struct row made = *row;
    ok = update_remake(&i, &made, st) && update_file(&made, &i, st);
    suite_free(&i);
    return ok;
}

/* The row beside what its file says by now. */
static bool update_compare(struct row *row, lx_status *st)
{
    struct suite_instance i;
    if (!suite_read(row->instance, &i, st)) return false;
    row->known = i.best;
    row->has_known = i.has_best;
    row->known_status = i.proved ? "proved" : "open";
    suite_free(&i);
    return true;
}

static int suite_update(struct call *call, size_t from)
{
    SCOPED(results_free) struct results r = {0};
    bool ok =
        from < call->line.files.count ||
        status_set(&call->st, LX_E_USAGE, "update takes the results of `lxplan bench --suite -o RESULTS`");
    for (size_t k = from; ok && k < call->line.files.count; k++)
        ok = results_read(&r, call->line.files.at[k], &call->st);
    for (size_t k = 0; ok && k < r.rows.count; k++)
        ok = !r.rows.at[k].class[0] || update_compare(&r.rows.at[k], &call->st);
    mark_contradictions(&r);
    const struct row **news = mem_alloc((r.rows.count + 1) * sizeof *news);
    size_t n = suite_news(&r, news);
    for (size_t k = 0; ok && k < n; k++) {
        ok = update_instance(news[k], &call->st);
        if (ok) text_format(&call->out, "%s: %s\n", news[k]->instance, news[k]->solver);
    }
    if (ok && !call->out.length) text_add(&call->out, "nothing new\n");
    mem_free(news);
    return ok ? EXIT_YES : FAILED;
}

/* --- list --- */

static void suite_write(struct call *call, struct suite_row *rows_of, size_t n, bool verified)
{
    const struct exporter *e = exporter_find(wants_json(call) ? "json" : "text");
    struct suite_size sizes[SUITE_CLASS_COUNT] = {{0}};
    for (size_t c = 0; c < SUITE_CLASS_COUNT; c++) {
        struct suite_size *s = &sizes[c];
        *s = (struct suite_size){suite_classes[c].name, suite_classes[c].asks, .least = INT64_MAX};
        for (size_t k = 0; k < n; k++) {
            const struct suite_instance *i = &rows_of[k].is;
            if (i->class != &suite_classes[c]) continue;
            s->instances++;
            s->proved += i->proved;
            s->open += !i->proved;
            s->least = i->buffers < s->least ? i->buffers : s->least;
            s->most = i->buffers > s->most ? i->buffers : s->most;
        }
        if (!s->instances) s->least = 0;
    }
    struct table list = TABLE(suite_columns, rows_of, n),
                 classes = TABLE(suite_size_columns, sizes, SUITE_CLASS_COUNT);
    list.key = verified ? "verified" : "instances";
    list.title = "Instances";
    classes.key = "classes";
    classes.title = "Classes";
    text_add(&call->out, e->begin);
    e->add(&list, &call->out);
    e->add(&classes, &call->out);
    if (e->end) e->end(&call->out);
}

static int cmd_suite_run(struct call *call)
{
    size_t from = 0, count = call->line.files.count;
    int word = SUITE_LIST;
    for (int k = 0; count && k < SUITE_WORDS; k++)
        if (strcmp(call->line.files.at[0], cmd_suite_word(k)) == 0) word = k, from = 1;
    if (word == SUITE_UPDATE) return suite_update(call, from);
    OWNED struct paths found = {0};
    SCOPED(arena_free) struct arena memory = {0};
    bool ok = suite_gather(call, call->line.files.at + from, count - from, &found), bad = false;
    struct suite_row *list = arena_array(&memory, found.count + 1, sizeof *list);
    size_t n = 0;
    int64_t most = LX_MAX_ITEMS;
    ok = ok && option_int(call, "most", 0, LX_MAX_ITEMS, &most);
    for (size_t k = 0; ok && k < found.count; k++) {
        struct suite_row *row = &list[n];
        row->verdict = "";
        ok = suite_read(found.at[k], &row->is, &call->st);
        if (ok && row->is.buffers > most)
            suite_free(&row->is);
        else
            n += ok;
        if (!ok || row->is.buffers > most || word != SUITE_VERIFY) continue;
        suite_verify(row, &memory);
        bad |= row->bad;
    }
    if (ok) suite_write(call, list, n, word == SUITE_VERIFY);
    for (size_t k = 0; k < n; k++) suite_free(&list[k].is);
    for (size_t k = 0; k < found.count; k++) mem_free(found.at[k]);
    return !ok ? FAILED : bad ? EXIT_NO : EXIT_YES;
}

static const struct option_row rows_of_suite[] = {
    {"most", 0, "BUFFERS", "only instances of at most so many buffers"}, {0}};
static const struct option_row *const tables[] = {rows_of_suite, json_rows, help_rows, NULL};

const struct command command_suite = {
    .name = "suite",
    .synopsis = "[list|verify] [CLASS|INSTANCE ...] [--most BUFFERS] | update RESULTS ...",
    .summary = "The suite of problems with known bests: list it, verify it, record better ones",
    .details =
        "Instances are files of patterns/suite: the command that makes the problem, its best known value\n"
        "and bound. `verify` makes every problem again, checks the solutions, and asks for a certificate\n"
        "of every proof, or for two engines that share no code (exit code 1: something is not so).\n"
        "`lxplan bench --suite` runs solvers on it; `update` records better values and new proofs.\n",
    .options = tables,
    .least_files = 0,
    .most_files = 1 << 20,
    .file_word = "CLASS",
    .run = cmd_suite_run,
    .file = cmd_suite_word,
};
