/* Results out of the option cache: the plan file as it was kept, and what a result says about itself. The plan is read
 * only when somebody wants what stands in neither; of a large model that takes a hundred times as long.
 *
 * A result has one user at a time (lxplan.h), so that its plan may come late. Its bytes are shared with the texts that
 * were written of them. */
#include "api/late_result.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shared_bytes {
    struct arena memory; /* of the count */
    struct users *users;
    struct lx_recalled kept;
};

struct late_plan {
    lx_result *of;
    struct shared_bytes *bytes;
    struct json said;             /* numbers and words by their names */
    const struct lx_graph *graph; /* what was to be planned; NULL: a file, which was not read */
    struct lx_settings how;
    double seconds;
};

/* --- Bytes. --- */

static struct shared_bytes *shared_new(const struct lx_recalled *kept)
{
    struct shared_bytes *b = mem_zeroed(1, sizeof *b);
    if (b) b->users = users_new(&b->memory);
    if (b && b->users) return b->kept = *kept, b;
    mem_free(b);
    return NULL;
}

void shared_bytes_free(struct shared_bytes *b)
{
    if (!b || !users_remove(b->users)) return;
    lx_recalled_free(&b->kept);
    arena_free(&b->memory);
    mem_free(b);
}

lx_text *late_text(const struct late_plan *late, lx_status *st)
{
    lx_text *t = mem_alloc(sizeof *t);
    if (!t) return status_no_memory(st), NULL;
    users_add(late->bytes->users);
    *t = (lx_text){late->bytes->kept.plan, (int64_t)late->bytes->kept.plan_length, late->bytes};
    return t;
}

/* --- What is asked, and what is said of it. --- */

bool api_question(const lx_options *o, const char *kind, struct text *question)
{
    if (!o || o->solvers.count || o->team.axes || !lx_question_options(&o->settings, question)) return false;
    text_format(question, "library, %s\n", kind);
    return true;
}

/* Numbers that JSON has no word for are left out: whoever wants them reads the plan. */
static void late_result_add_number(struct text *t, const char *name, double value)
{
    if (!isfinite(value)) return;
    text_add(t, t->at[t->length - 1] == '{' ? "" : ", ");
    text_json_string(t, name);
    text_format(t, ": %.17g", value);
}

static void late_result_add_word(struct text *t, const char *name, const char *word)
{
    text_add(t, t->at[t->length - 1] == '{' ? "" : ", ");
    text_json_string(t, name);
    text_add(t, ": ");
    text_json_string(t, word);
}

static void add_said(const lx_result *r, struct text *t)
{
    double value;
    text_add(t, "{\"numbers\": {");
    for (int i = 0; !t->failed && result_number_name(r, i); i++)
        if (lx_result_number(r, result_number_name(r, i), &value) == 0)
            late_result_add_number(t, result_number_name(r, i), value);
    text_add(t, "}, \"words\": {");
    for (int i = 0; !t->failed && result_word_name(i); i++)
        late_result_add_word(t, result_word_name(i), lx_result_word(r, result_word_name(i)));
    text_add(t, "}}");
}

/* Where it is in the folder; NULL: it is not. */
static const char *kept_as(const lx_result *r)
{
    return r->late ? r->late->bytes->kept.kept_as : r->plan ? r->plan->kept_as : NULL;
}

/* What cannot be kept is asked the long way again. */
void api_keep_answer(const lx_options *o, const struct text *question, const lx_result *r)
{
    struct text t = {0};
    lx_status ignored = {0};
    if (!r || !kept_as(r) || question->failed) return;
    add_said(r, &t);
    if (!t.failed)
        (void)lx_cache_remember(o->settings.cache, question->at, kept_as(r), t.at, t.length, &ignored);
    text_free(&t);
}

/* --- Answers. --- */

static void late_free(struct late_plan *late)
{
    if (!late) return;
    lx_graph_free(late->graph);
    shared_bytes_free(late->bytes);
    json_free(&late->said);
    mem_free(late);
}

void result_late_free(lx_result *r)
{
    late_free(r->late);
    r->late = NULL;
}

static lx_result *late_new(struct lx_recalled *kept, const lx_options *o, const struct lx_graph *g,
                           lx_status *st)
{
    lx_result *r = mem_zeroed(1, sizeof *r);
    struct late_plan *late = r ? mem_zeroed(1, sizeof *late) : NULL;
    if (late) late->bytes = shared_new(kept);
    if (!late || !late->bytes) {
        lx_recalled_free(kept);
        mem_free(late);
        mem_free(r);
        return status_no_memory(st), NULL;
    }
    late->of = r;
    late->graph = lx_graph_ref(g);
    late->how = o->settings;
    r->late = late;
    if (json_parse(&late->said, "", late->bytes->kept.words, late->bytes->kept.words_length, st)) return r;
    lx_result_free(r);
    return NULL;
}

lx_result *api_answer(const lx_options *o, const struct text *question, const struct lx_graph *g,
                      struct api_notes *notes)
{
    const struct lx_settings *how = &o->settings;
    double start = clock_seconds();
    struct lx_recalled kept;
    lx_status st = {0};
    char words[1200];
    lx_result *r = NULL;
    if (question->failed) return NULL;
    if (lx_cache_recall(how->cache, question->at, how->value[LX_OPTION_CACHE_CHECK] != 0, &kept, &st))
        r = late_new(&kept, o, g, &st);
    if (r) r->late->seconds = clock_seconds() - start;
    if (r || st.code == LX_OK) return r;
    text_format(&notes->lines, "%s; what was kept of this question is ignored and written anew\n",
                lx_status_describe(&st, words, sizeof words));
    return NULL;
}

bool late_number(const lx_result *r, const char *name, double *value)
{
    if (!r->late) return false;
    bool is_cached = strcmp(name, "cached") == 0, is_seconds = strcmp(name, "seconds") == 0;
    const struct json_value *v = json_find(json_find(r->late->said.root, "numbers"), name);
    if (!is_cached && !is_seconds && !json_is_number(v)) return false;
    *value = is_cached ? 1 : is_seconds ? r->late->seconds : v->number;
    return true;
}

const char *late_word(const lx_result *r, const char *name)
{
    const struct json_value *v = r->late ? json_find(json_find(r->late->said.root, "words"), name) : NULL;
    return json_is_string(v) ? v->text : NULL;
}

/* The very graph that was planned: with the device and sizes of the options. */
static const struct lx_graph *late_result_planned(const struct late_plan *late)
{
    lx_status ignored = {0};
    return late->graph ? lx_settings_graph(&late->how, late->graph, &ignored) : NULL;
}

bool result_settle(const lx_result *r, lx_status *st)
{
    if (!r || r->plan || !r->late) return true;
    struct late_plan *late = r->late;
    long failures = memory_failures();
    struct plain_locale before = plain_locale_begin();
    const struct lx_graph *g = late_result_planned(late);
    struct lx_plan *p = lx_recalled_plan(late->how.cache, &late->bytes->kept, g, "", st);
    plain_locale_end(before);
    lx_graph_free(g);
    if (p) p->seconds = late->seconds;
    if (p && api_had_memory(failures, st)) return result_take_plan(late->of, p, st);
    lx_plan_free(p);
    return false;
}

/* --- A file that is planned without its graph. --- */

static lx_result *plan_read(const lx_options *o, lx_status *st)
{
    struct plain_locale before = plain_locale_begin();
    const struct lx_graph *g = lx_graph_read(o->file, st);
    plain_locale_end(before);
    lx_result *r = g ? api_plan_any(g, o, st) : NULL;
    lx_graph_free(g);
    return r;
}

static bool question_of_file(const lx_options *o, struct text *question)
{
    lx_status ignored = {0};
    size_t length;
    if (!api_question(o, "a file", question)) return false;
    char *data = file_read(o->file, &length, &ignored);
    bool ok = data && lx_question_file(o->file, data, length, question);
    mem_free(data);
    return ok;
}

lx_result *api_plan_file(const lx_options *o, lx_status *st)
{
    struct text question = {0};
    struct api_notes notes = {0};
    bool asks = question_of_file(o, &question);
    lx_result *r = asks ? api_answer(o, &question, NULL, &notes) : NULL;
    if (r) return text_free(&question), r;
    r = plan_read(o, st);
    if (asks) api_keep_answer(o, &question, r);
    text_free(&question);
    return api_keep_notes(r, &notes, st);
}
