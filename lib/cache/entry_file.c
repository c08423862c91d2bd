/* One entry: read and checked, or written. Its first lines say what it is; then stand the plan and, for who seeds a
 * search with it, the pattern. Whatever is wrong with a file is a reason to ignore it, and nothing else. */
#include "cache/cache_entry.h"
#include "base/fail.h"
#include "cache/part_file.h"
#include "graph/online.h"
#include "files/pattern.h"
#include "plan/plan_brief.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "lxplan cache entry 2\n";

static bool damaged(const struct part_file *e, lx_status *st, const char *what)
{
    return part_file_damaged(e->path, st, what);
}

/* False with LX_OK: there is none. */
static bool open_entry(const char *path, struct part_file *e, lx_status *st)
{
    if (part_file_open(path, magic, e, st)) return true;
    if (e->none) *st = (lx_status){0};
    return false;
}

/* What was planned: the graph, or what softmax in it is rewritten to. A reference. */
static const struct lx_graph *planned_graph(const struct part_file *e, const struct lx_graph *g,
                                            lx_status *st)
{
    const struct lx_graph *from = g->came_from ? lx_graph_with_device(g->came_from, &g->device, st) : NULL;
    const struct lx_graph *out = NULL;
    if (g->came_from && !from) return NULL;
    if (part_file_line_is(e, "online", "as given"))
        out = lx_graph_ref(g);
    else if (part_file_line_is(e, "online", "no"))
        out = lx_graph_ref(from ? from : g);
    else if (!graph_online(from ? from : g, &out, st))
        out = NULL;
    lx_graph_free(from);
    return out;
}

static void read_unwritten(const struct part_file *e, struct lx_unwritten *u)
{
    const char *joint = part_file_value(e, "joint");
    long anew;
    long long bound;
    *u = (struct lx_unwritten){0};
    if (joint && sscanf(joint, "%ld %lld", &anew, &bound) == 2)
        u->joint = (struct lx_joint){true, (int32_t)anew, bound};
    part_file_line(e, "unproved", u->unproved, sizeof u->unproved);
}

bool entry_add_unwritten(const struct lx_unwritten *u, struct lx_plan *p)
{
    p->joint = u->joint;
    p->cached = true;
    if (!u->unproved[0]) return true;
    p->unproved = arena_string(p->memory, u->unproved);
    return p->unproved != NULL;
}

/* Was it made as is asked for? The key says so; a file under a wrong name does not. */
static bool is_asked(const struct lx_plan *p, const struct lx_plan_options *how)
{
    return strcmp(p->solver, how->solver->name) == 0 && p->seed == how->run.seed &&
           p->work_limit == how->run.work_limit;
}

/* With what is not in its file; `length` of the text that it was read from. */
static struct lx_plan *brief_plan(const struct part_file *e, const struct lx_graph *g, size_t *length,
                                  lx_status *st)
{
    struct lx_unwritten more;
    char *brief = part_file_take(e, "plan", length, st);
    const struct lx_graph *planned = brief ? planned_graph(e, g, st) : NULL;
    struct lx_plan *p = planned ? plan_read_brief(e->path, brief, *length, planned, st) : NULL;
    lx_graph_free(planned);
    if (brief && !p && st->code == LX_OK) damaged(e, st, "it is the plan of another graph");
    free(brief);
    read_unwritten(e, &more);
    if (!p || entry_add_unwritten(&more, p)) return p;
    lx_plan_free(p);
    return status_no_memory(st), NULL;
}

static struct lx_plan *plan_of(const struct part_file *e, const struct lx_graph *g,
                               const struct lx_plan_options *how, lx_status *st)
{
    size_t length = 0;
    struct lx_plan *p = brief_plan(e, g, &length, st);
    bool judged = length <= LX_CACHE_JUDGED || how->cache_check;
    bool ok = p && (is_asked(p, how) || damaged(e, st, "it is the plan of another solver or seed")) &&
              (!judged || lx_plan_check(p, st));
    if (ok) p->judged = judged;
    if (ok) return p;
    lx_plan_free(p);
    return NULL;
}

struct lx_plan *entry_read(const char *path, const struct entry_key *key, const struct lx_graph *g,
                           const struct lx_plan_options *how, lx_status *st)
{
    struct part_file e;
    struct lx_plan *p = NULL;
    if (!open_entry(path, &e, st)) return NULL;
    *st = (lx_status){0};
    if (part_file_line_is(&e, "key", key->hash))
        p = plan_of(&e, g, how, st);
    else
        damaged(&e, st, "it is the entry of another question");
    part_file_close(&e);
    return p;
}

struct lx_plan *entry_plan(const char *path, lx_status *st)
{
    struct part_file e;
    size_t length, pattern_length;
    if (!open_entry(path, &e, st)) return NULL;
    char *brief = part_file_take(&e, "plan", &length, st);
    char *pattern = brief ? part_file_take(&e, "pattern", &pattern_length, st) : NULL;
    const struct lx_graph *g = pattern ? lx_graph_of_text(path, pattern, pattern_length, st) : NULL;
    struct lx_plan *p = g ? plan_read_brief(path, brief, length, g, st) : NULL;
    lx_graph_free(g);
    free(brief);
    free(pattern);
    part_file_close(&e);
    return p;
}

static const char *key_in(const struct lx_recalled *r)
{
    return r->kept_as + strlen(r->kept_as) + 1;
}

bool entry_plan_file(const char *path, struct lx_recalled *r, lx_status *st)
{
    struct part_file e;
    if (!open_entry(path, &e, st)) return false;
    if (part_file_line_is(&e, "key", key_in(r)))
        r->plan = part_file_take(&e, "file", &r->plan_length, st);
    else
        damaged(&e, st, "it is the entry of another question");
    part_file_line(&e, "part file", r->sum, sizeof r->sum);
    read_unwritten(&e, &r->unwritten);
    part_file_close(&e);
    return r->plan != NULL;
}

struct lx_plan *entry_plan_of_graph(const char *path, const struct lx_recalled *r, const struct lx_graph *g)
{
    struct part_file e;
    lx_status ignored = {0};
    size_t length;
    if (!open_entry(path, &e, &ignored)) return NULL;
    bool same = part_file_line_is(&e, "key", key_in(r)) && part_file_line_is(&e, "part file", r->sum);
    struct lx_plan *p = same ? brief_plan(&e, g, &length, &ignored) : NULL;
    part_file_close(&e);
    return p;
}

/* Of which graph it is the plan; planned_graph finds that again. */
static const char *online_word(const struct lx_plan *p, const struct lx_graph *g)
{
    return p->graph == g ? "as given" : p->graph->came_from ? "yes" : "no";
}

static void add_facts(const struct entry_key *key, const struct lx_plan *p, const char *online,
                      struct text *t)
{
    part_line(t, "key", key->hash);
    part_line(t, "graph", p->graph->name);
    part_line(t, "solver", p->solver);
    part_line(t, "online", online);
    text_format(t, "sizes %" PRId64 " %" PRId64 " %" PRId64 "\n", key->sizes[0], key->sizes[1],
                key->sizes[2]);
    if (p->joint.searched)
        text_format(t, "joint %d %" PRId64 "\n", (int)p->joint.divided_anew, p->joint.bound_bytes);
    if (p->unproved) part_line(t, "unproved", p->unproved);
}

/* Does the brief text give back the very file, and does the checker accept it? Anything else is not kept. */
static bool reads_back(const struct lx_plan *p, const struct part *brief, const struct part *file)
{
    lx_status ignored;
    size_t length = 0;
    struct lx_plan *again = plan_read_brief("entry", brief->data, brief->length, p->graph, &ignored);
    char *text = again ? lx_plan_to_json(again, &length) : NULL;
    bool same = text && length == file->length && memcmp(text, file->data, length) == 0 &&
                lx_plan_check(again, &ignored);
    free(text);
    lx_plan_free(again);
    return same;
}

/* An entry that the folder would not hold is not written: it would only push others out. */
static bool write_parts(const char *path, const struct text *facts, const struct part *parts, int count,
                        int64_t limit, lx_status *st)
{
    int64_t bytes = part_file_size(magic, facts, parts, count);
    if (bytes > limit)
        return status_set_at(st, LX_E_LIMIT, path, 0, 0,
                             "it would have %" PRId64 " bytes, and all plans in the folder may have %" PRId64
                             " (`lxplan cache DIR --limit BYTES` changes that)",
                             bytes, limit);
    return part_file_write(path, magic, facts, parts, count, st);
}

bool entry_write(const char *path, const struct entry_key *key, const struct lx_graph *g,
                 const struct lx_plan *p, int64_t limit, lx_status *st)
{
    enum { BRIEF, PATTERN, WHOLE, PARTS };
    size_t brief_length = 0, length = 0;
    struct text pattern = {0}, facts = {0};
    char *brief = plan_write_brief(p, &brief_length), *file = lx_plan_to_json(p, &length);
    *st = (lx_status){0};
    pattern_write(p->graph, &pattern);
    struct part parts[PARTS] = {[BRIEF] = {"plan", brief, brief_length},
                                [PATTERN] = {"pattern", pattern.at, pattern.length},
                                [WHOLE] = {"file", file, length}};
    bool kept = brief && file && !pattern.failed && reads_back(p, &parts[BRIEF], &parts[WHOLE]);
    if (kept) {
        add_facts(key, p, online_word(p, g), &facts);
        kept = write_parts(path, &facts, parts, PARTS, limit, st);
    }
    text_free(&pattern);
    text_free(&facts);
    free(brief);
    free(file);
    return kept;
}

bool entry_facts(const char *path, struct lx_cache_entry *out, int64_t sizes[3])
{
    struct part_file e;
    lx_status ignored;
    long long v[3];
    if (!part_file_open(path, magic, &e, &ignored)) return false;
    part_file_line(&e, "graph", out->graph, sizeof out->graph);
    part_file_line(&e, "solver", out->solver, sizeof out->solver);
    const char *at = part_file_value(&e, "sizes");
    bool ok = at && sscanf(at, "%lld %lld %lld", &v[0], &v[1], &v[2]) == 3;
    for (int i = 0; ok && i < 3; i++) sizes[i] = v[i];
    part_file_close(&e);
    return ok;
}
