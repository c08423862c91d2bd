/* Finds the instances among the files.
 *
 * Each file is read once at the start, for its identity and its question; the problem itself is loaded again
 * when its turn comes, so that a thousand large instances need the memory of one. */
#include "bench/suite.h"
#include "base/file.h"

#include <dirent.h>
#include <sys/stat.h>

enum { DEEPEST = 16 };

struct gathering {
    struct call *call;
    const struct settings *settings;
    struct arena *memory;
    instances *out;
    int64_t refused_by_design;
};

static struct lx_question *instances_problem_of(const struct lx_graph *g, enum lx_ask objective,
                                                const struct settings *s, lx_status *st)
{
    struct lx_settings o = s->options;
    if (!lx_settings_take_passes(&o, g, st)) return NULL;
    struct lx_plan_options how = {.objective = objective, .passes = lx_settings_passes(&o)};
    return lx_problem_of(g, &how, st);
}

static const struct lx_graph *with_capacity(const struct lx_graph *g, const struct settings *s, lx_status *st)
{
    int64_t whole;
    if (s->lx_percent < 0) return lx_graph_ref(g);
    if (g->list && g->list->capacity < 0) {
        /* Most bytes that are live at once, by the library's own bound. */
        struct lx_question *q = instances_problem_of(g, LX_ASK_HEIGHT, s, st);
        if (!q) return NULL;
        whole = lx_bound(&q->problem);
        lx_question_free(q);
    } else
        whole = g->list ? g->list->capacity : lx_device_usable(&g->device);
    return lx_graph_with_capacity(g, (int64_t)((double)whole * s->lx_percent / 100), st);
}

static struct lx_question *instances_read_problem(const char *path, const struct settings *s, lx_status *st)
{
    SCOPED(graph_free_at)
    const struct lx_graph *g = graph_of_file(&s->models, path, NULL, st),
                          *on = g ? lx_settings_graph(&s->options, g, st) : NULL,
                          *sized = on ? with_capacity(on, s, st) : NULL;
    struct lx_question *q = sized ? instances_problem_of(sized, lx_settings_ask(&s->options), s, st) : NULL;
    return q;
}

/* A hash of the pattern on its device, the question, the capacity and the passes that are not the usual
 * ones. */
static void hash_problem(const struct lx_question *p, char out[17])
{
    uint64_t h = p->graph->hash;
    for (const struct lx_pass *row = lx_passes(); row->name; row++) {
        int value = lx_pass_get(&p->passes, row);
        if (value) h = hash_bytes(hash_bytes(h, row->name, strlen(row->name)), &value, sizeof value);
    }
    h = hash_bytes(h, &p->problem.objective, sizeof p->problem.objective);
    h = hash_bytes(h, &p->problem.capacity, sizeof p->problem.capacity);
    snprintf(out, 17, "%016llx", (unsigned long long)h);
}

enum sort { IS_INSTANCE, IS_REFUSED_BY_DESIGN, IS_SOMETHING_ELSE };

/* A file that cannot be read at all is an instance: a bad one, which must not go unnoticed. So is a file of
 * no known format with the ending of a pattern and broken JSON. */
static enum sort sort_of(const char *path)
{
    size_t length;
    lx_status ignored;
    struct expected_error e;
    struct json j;
    OWNED char *text = file_read(path, &length, &ignored);
    enum sort sort = IS_INSTANCE;
    if (text && json_is_kind(text, length, "instance"))
        sort = IS_INSTANCE;
    else if (text && lx_format_of(text, length))
        sort = expected_error_of(path, text, length, &e) ? IS_REFUSED_BY_DESIGN : IS_INSTANCE;
    else if (text) {
        const char *end = lx_formats()->endings[0];
        size_t n = strlen(path), m = strlen(end);
        bool is_pattern = n >= m && strcmp(path + n - m, end) == 0 && !json_is_kind(text, length, "results"),
             parsed = is_pattern && json_parse(&j, path, text, length, &ignored);
        if (parsed) json_free(&j);
        if (!is_pattern || parsed) sort = IS_SOMETHING_ELSE;
    }
    return sort;
}

/* Takes over what the suite says about an instance; false with `st`. */
static bool instances_take_known(const char *path, struct arena *memory, struct instance *out, lx_status *st)
{
    struct suite_instance i;
    if (!suite_read(path, &i, st)) return false;
    out->name = arena_string(memory, i.name);
    out->class = i.class->name;
    out->whole = i.class->whole;
    out->known_status = i.proved ? "proved" : "open";
    out->known = i.best;
    out->known_bound = i.bound;
    out->has_known = i.has_best;
    out->has_known_bound = i.has_bound;
    out->limit = suite_limit(i.buffers);
    suite_free(&i);
    return true;
}

static void instances_add_file(struct gathering *g, const char *path)
{
    const char *slash = strrchr(path, '/');
    enum sort sort = sort_of(path);
    if (sort == IS_REFUSED_BY_DESIGN) {
        g->refused_by_design++;
        return;
    }
    if (sort == IS_SOMETHING_ELSE) {
        SCOPED(text_free) struct text known = {0};
        add_formats(&known);
        note(g->call, "%s: skipped, it is not %s", path, known.at ? known.at : "");
        return;
    }
    lx_status st = {0};
    struct instance i = {.path = arena_string(g->memory, path),
                         .name = arena_string(g->memory, slash ? slash + 1 : path),
                         .limit = g->settings->time,
                         .class = "",
                         .known_status = ""};
    bool known = !g->settings->suite || instances_take_known(i.path, g->memory, &i, &st);
    struct lx_question *p = known ? instances_read_problem(path, g->settings, &st) : NULL;
    if (p) {
        i.objective = p->problem.objective;
        i.buffers = p->problem.count;
        i.capacity = p->problem.capacity;
        hash_problem(p, i.hash);
        if (!i.class[0] && p->graph->name && *p->graph->name)
            i.name = arena_string(g->memory, p->graph->name);
    } else {
        char words[1200];
        size_t length;
        lx_status ignored;
        OWNED char *text = file_read(i.path, &length, &ignored);
        uint64_t h = hash_bytes(HASH_START, text ? text : "", text ? length : 0);
        snprintf(i.hash, sizeof i.hash, "%016llx", (unsigned long long)h);
        i.bad = arena_string(g->memory, lx_status_describe(&st, words, sizeof words));
        note(g->call, "%s", words);
    }
    lx_question_free(p);
    VEC_PUSH(g->out, i);
}

static void add_folder(struct gathering *g, const char *folder, int depth)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0) {
        note(g->call, "%s: skipped, the folder cannot be read", folder);
        return;
    }
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        size_t end = strlen(folder);
        struct stat info;
        if (name[0] != '.') {
            OWNED char *path = mem_format("%s%s%s", folder, end && folder[end - 1] == '/' ? "" : "/", name);
            if (stat(path, &info) != 0) { /* gone, or a link to nowhere */
            } else if (S_ISDIR(info.st_mode) && depth < DEEPEST)
                add_folder(g, path, depth + 1);
            else if (S_ISREG(info.st_mode) && lx_format_ending(name))
                instances_add_file(g, path);
        }
        free(entries[i]);
    }
    free(entries);
}

bool instances_gather(struct call *call, const struct settings *s, struct arena *memory, instances *out)
{
    struct gathering g = {.call = call, .settings = s, .memory = memory, .out = out};
    struct paths suite = {0};
    size_t files = s->suite ? 0 : call->line.files.count;
    if (s->suite && !suite_gather(call, call->line.files.at, call->line.files.count, &suite)) return false;
    for (size_t i = 0; i < suite.count; i++) {
        instances_add_file(&g, suite.at[i]);
        mem_free(suite.at[i]);
    }
    VEC_FREE(&suite);
    for (size_t i = 0; i < files; i++) {
        const char *path = call->line.files.at[i];
        struct stat info;
        if (strcmp(path, "-") == 0)
            return status_set(&call->st, LX_E_USAGE,
                              "bench reads each instance more than once; give it files, not \"-\"");
        if (stat(path, &info) != 0)
            return status_set_at(&call->st, LX_E_IO, path, 0, 0, "there is no such file or folder");
        if (S_ISDIR(info.st_mode))
            add_folder(&g, path, 0);
        else
            instances_add_file(&g, path);
    }
    if (g.refused_by_design)
        note(call, "%lld patterns skipped that expect to be refused", (long long)g.refused_by_design);
    if (out->count == 0) return status_set(&call->st, LX_E_USAGE, "no instances found in what was given");
    /* The same file by two ways would be two runs with one name. */
    for (size_t i = 0; i < out->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(out->at[i].path, out->at[k].path) == 0)
                return status_set_at(&call->st, LX_E_USAGE, out->at[i].path, 0, 0, "given twice");
    return true;
}

struct loaded *instance_load(const struct instance *i, const struct settings *s, lx_status *st)
{
    char hash[17] = "";
    struct loaded *l = mem_zeroed(1, sizeof *l);
    *l = (struct loaded){.of = i, .users = 1, .question = instances_read_problem(i->path, s, st)};
    if (l->question) hash_problem(l->question, hash);
    if (l->question && strcmp(hash, i->hash) != 0)
        status_set_at(st, LX_E_MISMATCH, i->path, 0, 0, "changed while bench ran");
    else if (l->question) {
        l->bound = lx_bound(&l->question->problem);
        return l;
    }
    lx_question_free(l->question);
    mem_free(l);
    return NULL;
}

void instance_release(struct loaded *l)
{
    if (!l || --l->users > 0) return;
    lx_question_free(l->question);
    mem_free(l);
}
