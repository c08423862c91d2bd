/* One entry: read and checked, or written. Its first lines say what it is; then stand the plan and, for who seeds a
 * search with it, the pattern. Whatever is wrong with a file is a reason to ignore it, and nothing else. */
#include "cache/cache_entry.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "graph/online.h"
#include "graph/pattern.h"
#include "plan/plan_brief.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char magic[] = "lxplan cache entry 1\n";

/* An entry in memory. */
struct entry {
    char *all; /* terminated */
    size_t length;
    const char *plan, *pattern; /* where they stand in it */
    size_t plan_length, pattern_length;
};

static bool damaged(const char *path, lx_status *st, const char *what)
{
    return status_set_at(st, LX_E_MISMATCH, path, 0, 0, "%s", what);
}

/* The value of the line with this key among the first ones, up to its end; NULL: there is none. */
static const char *value_of(const struct entry *e, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = e->all; at < e->plan && *at != '\n'; at = strchr(at, '\n') + 1)
        if (strncmp(at, key, n) == 0 && at[n] == ' ') return at + n + 1;
    return NULL;
}

static int64_t number_of(const struct entry *e, const char *key)
{
    const char *at = value_of(e, key);
    return at ? strtoll(at, NULL, 10) : -1;
}

static bool line_is(const struct entry *e, const char *key, const char *value)
{
    const char *at = value_of(e, key);
    size_t n = strlen(value);
    return at && strncmp(at, value, n) == 0 && at[n] == '\n';
}

static void copy_line(const struct entry *e, const char *key, char *out, size_t size)
{
    const char *at = value_of(e, key);
    snprintf(out, size, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
}

/* Finds its parts; `e->all` is there. */
static bool take_apart(struct entry *e, const char *path, lx_status *st)
{
    const char *end = e->length == strlen(e->all) ? strstr(e->all, "\n\n") : NULL;
    if (strncmp(e->all, magic, sizeof magic - 1) != 0 || !end)
        return damaged(path, st, "it is no entry of a cache, or only the beginning of one");
    e->plan = end + 2;
    size_t left = e->length - (size_t)(e->plan - e->all);
    int64_t plan = number_of(e, "plan"), pattern = number_of(e, "pattern");
    if (plan < 0 || pattern < 0 || (uint64_t)plan > left || (uint64_t)pattern != left - (uint64_t)plan)
        return damaged(path, st, "it is not as long as it says: a part of it is missing");
    e->plan_length = (size_t)plan;
    e->pattern = e->plan + plan;
    e->pattern_length = (size_t)pattern;
    char sum[33];
    entry_sum(e->plan, left, sum);
    return line_is(e, "sum", sum) ? true : damaged(path, st, "its bytes were changed: they have another sum");
}

static bool open_entry(const char *path, struct entry *e, lx_status *st)
{
    struct stat info;
    *e = (struct entry){0};
    if (stat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        *st = (lx_status){0};
        return false;
    }
    e->all = file_read(path, &e->length, st);
    if (e->all && take_apart(e, path, st)) return true;
    free(e->all);
    return false;
}

/* What was planned: the graph, or what softmax in it is rewritten to. A reference. */
static const struct lx_graph *planned_graph(const struct entry *e, const struct lx_graph *g, lx_status *st)
{
    const struct lx_graph *from = g->came_from ? lx_graph_with_device(g->came_from, &g->device, st) : NULL;
    const struct lx_graph *out = NULL;
    if (g->came_from && !from) return NULL;
    if (line_is(e, "online", "as given"))
        out = lx_graph_ref(g);
    else if (line_is(e, "online", "no"))
        out = lx_graph_ref(from ? from : g);
    else if (!graph_online(from ? from : g, &out, st))
        out = NULL;
    lx_graph_free(from);
    return out;
}

/* What a plan knows besides its file. */
static bool add_unwritten(const struct entry *e, struct lx_plan *p)
{
    const char *joint = value_of(e, "joint");
    char words[400];
    long anew;
    long long bound;
    if (joint && sscanf(joint, "%ld %lld", &anew, &bound) == 2)
        p->joint = (struct lx_joint){true, (int32_t)anew, bound};
    copy_line(e, "unproved", words, sizeof words);
    p->cached = true;
    if (!words[0]) return true;
    p->unproved = arena_string(p->memory, words);
    return p->unproved != NULL;
}

/* Was it made as is asked for? The key says so; a file under a wrong name does not. */
static bool is_asked(const struct lx_plan *p, const struct lx_plan_options *how)
{
    return strcmp(p->solver, how->solver->name) == 0 && p->seed == how->run.seed &&
           p->work_limit == how->run.work_limit;
}

static struct lx_plan *plan_of(const struct entry *e, const char *path, const struct lx_graph *g,
                               const struct lx_plan_options *how, lx_status *st)
{
    const struct lx_graph *planned = planned_graph(e, g, st);
    struct lx_plan *p = planned ? plan_read_brief(path, e->plan, e->plan_length, planned, st) : NULL;
    lx_graph_free(planned);
    bool ok = p && (is_asked(p, how) || damaged(path, st, "it is the plan of another solver or seed")) &&
              lx_plan_check(p, st) && (add_unwritten(e, p) || status_no_memory(st));
    if (ok) return p;
    if (!p && st->code == LX_OK) damaged(path, st, "it is the plan of another graph");
    lx_plan_free(p);
    return NULL;
}

struct lx_plan *entry_read(const char *path, const struct entry_key *key, const struct lx_graph *g,
                           const struct lx_plan_options *how, lx_status *st)
{
    struct entry e;
    struct lx_plan *p = NULL;
    if (!open_entry(path, &e, st)) return NULL;
    *st = (lx_status){0};
    if (line_is(&e, "key", key->hash))
        p = plan_of(&e, path, g, how, st);
    else
        damaged(path, st, "it is the entry of another question");
    free(e.all);
    return p;
}

struct lx_plan *entry_plan(const char *path, lx_status *st)
{
    struct entry e;
    if (!open_entry(path, &e, st)) return NULL;
    const struct lx_graph *g = lx_graph_of_text(path, e.pattern, e.pattern_length, st);
    struct lx_plan *p = g ? plan_read_brief(path, e.plan, e.plan_length, g, st) : NULL;
    lx_graph_free(g);
    free(e.all);
    return p;
}

static void add_line(struct text *t, const char *key, const char *value)
{
    text_format(t, "%s ", key);
    for (const char *c = value; *c; c++) text_add_n(t, *c == '\n' ? " " : c, 1);
    text_add(t, "\n");
}

/* Of which graph it is the plan; planned_graph finds that again. */
static const char *online_word(const struct lx_plan *p, const struct lx_graph *g)
{
    return p->graph == g ? "as given" : p->graph->came_from ? "yes" : "no";
}

static void add_facts(const struct entry_key *key, const struct lx_plan *p, const char *online, size_t plan,
                      size_t pattern, const char *sum, struct text *t)
{
    text_add(t, magic);
    add_line(t, "key", key->hash);
    add_line(t, "graph", p->graph->name);
    add_line(t, "solver", p->solver);
    add_line(t, "online", online);
    text_format(t, "sizes %" PRId64 " %" PRId64 " %" PRId64 "\n", key->sizes[0], key->sizes[1],
                key->sizes[2]);
    if (p->joint.searched)
        text_format(t, "joint %d %" PRId64 "\n", (int)p->joint.divided_anew, p->joint.bound_bytes);
    if (p->unproved) add_line(t, "unproved", p->unproved);
    text_format(t, "plan %zu\npattern %zu\nsum %s\n\n", plan, pattern, sum);
}

/* Does the brief text give back the very file? Anything else is not kept. */
static bool reads_back(const struct lx_plan *p, const char *brief, size_t length)
{
    lx_status ignored;
    size_t one = 0, two = 0;
    struct lx_plan *again = plan_read_brief("entry", brief, length, p->graph, &ignored);
    char *a = again ? lx_plan_to_json(p, &one) : NULL, *b = again ? lx_plan_to_json(again, &two) : NULL;
    bool same = a && b && one == two && memcmp(a, b, one) == 0;
    free(a);
    free(b);
    lx_plan_free(again);
    return same;
}

bool entry_write(const char *path, const struct entry_key *key, const struct lx_graph *g,
                 const struct lx_plan *p, lx_status *st)
{
    size_t length;
    char *brief = plan_write_brief(p, &length), sum[33];
    struct text both = {0}, all = {0};
    *st = (lx_status){0};
    bool kept = brief && reads_back(p, brief, length);
    if (kept) {
        text_add_n(&both, brief, length);
        pattern_write(p->graph, &both);
        if (!both.failed) {
            entry_sum(both.at, both.length, sum);
            add_facts(key, p, online_word(p, g), length, both.length - length, sum, &all);
            text_add_n(&all, both.at, both.length);
        }
        kept = both.failed || all.failed ? status_no_memory(st) : file_write(path, all.at, all.length, st);
    }
    text_free(&both);
    text_free(&all);
    free(brief);
    return kept;
}

bool entry_facts(const char *path, struct lx_cache_entry *out, int64_t sizes[3])
{
    enum { MOST = 4096 };
    char first[MOST + 1];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(first, 1, MOST, f) : 0;
    if (f) fclose(f);
    first[n] = 0;
    const char *end = strstr(first, "\n\n");
    struct entry e = {.all = first, .length = n, .plan = end ? end + 2 : first};
    if (strncmp(first, magic, sizeof magic - 1) != 0 || !end) return false;
    copy_line(&e, "graph", out->graph, sizeof out->graph);
    copy_line(&e, "solver", out->solver, sizeof out->solver);
    const char *at = value_of(&e, "sizes");
    long long v[3];
    if (!at || sscanf(at, "%lld %lld %lld", &v[0], &v[1], &v[2]) != 3) return false;
    for (int i = 0; i < 3; i++) sizes[i] = v[i];
    return true;
}
