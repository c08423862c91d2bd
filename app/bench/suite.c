/* Files of instances, and the problems that they stand for. The words of an instance run in this process; only
 * commands that write no files are taken, as the file may be a stranger's. */
#include "bench/suite.h"
#include "base/file.h"
#include "base/words/words.h"

#include <dirent.h>
#include <unistd.h>

#define SUITE_ROW(name, whole, asks) {#name, whole, asks},
const struct suite_class suite_classes[SUITE_CLASS_COUNT] = {SUITE_CLASSES(SUITE_ROW)};
#undef SUITE_ROW

static const char ending[] = ".instance";

/* --- The file. --- */

static bool suite_read_known(struct suite_instance *i, lx_status *st)
{
    const struct json *j = &i->json;
    const char *status = NULL;
    const struct json_value *best = json_find(j->root, "best"), *bound = json_find(j->root, "bound");
    i->has_best = best && !json_is_null(best);
    i->has_bound = bound && !json_is_null(bound);
    if (!json_string(j, j->root, "status", &status, st) ||
        (i->has_best && !json_int(j, j->root, "best", 0, LX_INT_MAX, &i->best, st)) ||
        (i->has_bound && !json_int(j, j->root, "bound", 0, LX_INT_MAX, &i->bound, st)))
        return false;
    i->proved = strcmp(status, "proved") == 0;
    if (!i->proved && strcmp(status, "open") != 0)
        return json_error(j, json_find(j->root, "status"), st, LX_E_SCHEMA, "it must be proved or open");
    if (i->has_best && i->has_bound && (i->proved ? i->best != i->bound : i->best < i->bound))
        return json_error(j, bound, st, LX_E_SCHEMA,
                          "a proved bound is the best value, and none is above it");
    return true;
}

static bool suite_read_keys(struct suite_instance *i, lx_status *st)
{
    static const char *const keys[] = {"lxplan", "kind",  "name",   "class", "origin",   "sha256", "buffers",
                                       "best",   "bound", "status", "by",    "solution", "made",   NULL};
    const struct json *j = &i->json;
    const char *class = NULL;
    int64_t version = 0;
    i->by = "";
    if (!json_only_keys(j, j->root, "an instance", keys, st) ||
        !json_int(j, j->root, "lxplan", 1, 1, &version, st) ||
        !json_string(j, j->root, "name", &i->name, st) || !json_string(j, j->root, "class", &class, st) ||
        !json_array(j, j->root, "origin", &i->origin, st) ||
        !json_string(j, j->root, "sha256", &i->hash, st) ||
        !json_int(j, j->root, "buffers", 0, LX_MAX_ITEMS, &i->buffers, st) ||
        !json_opt_string(j, j->root, "by", &i->by, st) ||
        !json_opt_string(j, j->root, "solution", &i->solution, st) ||
        !json_opt_array(j, j->root, "made", &i->made, st) || !suite_read_known(i, st))
        return false;
    for (size_t k = 0; k < SUITE_CLASS_COUNT; k++)
        if (strcmp(suite_classes[k].name, class) == 0) i->class = &suite_classes[k];
    if (i->solution && strchr(i->solution, '/'))
        return json_error(j, json_find(j->root, "solution"), st, LX_E_SCHEMA, "a file beside the instance");
    return i->class || json_error(j, json_find(j->root, "class"), st, LX_E_SCHEMA, "there is no such class");
}

static bool suite_parse(const char *path, const char *text, size_t length, struct suite_instance *out,
                        lx_status *st)
{
    *out = (struct suite_instance){.path = path};
    if (!json_parse(&out->json, path, text, length, st)) return false;
    if (suite_read_keys(out, st)) return true;
    json_free(&out->json);
    return false;
}

bool suite_read(const char *path, struct suite_instance *out, lx_status *st)
{
    size_t length;
    OWNED char *text = file_read(path, &length, st);
    if (!text) return false;
    return json_is_kind(text, length, "instance")
               ? suite_parse(path, text, length, out, st)
               : status_set_at(st, LX_E_SCHEMA, path, 1, 1, "this is no instance of the suite");
}

void suite_free(struct suite_instance *i)
{
    json_free(&i->json);
}

/* --- Words. --- */

static char *suite_word(const struct suite_instance *i, const char *word, struct arena *memory)
{
    const char *suite = NULL;
    if (strcmp(word, "INSTANCE") == 0) return arena_string(memory, i->path);
    if (strncmp(word, "patterns/", 9) != 0) return arena_string(memory, word);
    for (const char *s = i->path; (s = strstr(s, "/suite/")); s++) suite = s;
    if (suite) return arena_format(memory, "%.*s/%s", (int)(suite - i->path), i->path, word + 9);
    char *folder = bundled_patterns(),
         *found = arena_format(memory, "%s/%s", folder ? folder : ".", word + 9);
    mem_free(folder);
    return found;
}

/* Commands that plan or make a problem, without options that name a file to write or a program to start. */
static bool suite_may_run(const struct command *c, int count, char *const *words, lx_status *st)
{
    struct command_line line;
    bool gen = c == &command_gen, ok = gen || c == &command_plan || c == &command_import;
    if (!ok)
        return status_set(st, LX_E_UNSUPPORTED, "an instance may say gen, plan or import, not %s", c->name);
    ok = options_parse(&line, count, words, c->options, c->open, st);
    for (size_t k = 0; ok && k < line.options.count; k++) {
        const char *name = line.options.at[k].name, *value = line.options.at[k].value;
        bool harmless = strcmp(name, "output") != 0 && strcmp(name, "report") != 0 &&
                        (gen || find_row(planning_rows, name) || find_row(model_rows, name) ||
                         strcmp(name, "json") == 0 || strcmp(name, "stage") == 0);
        if (!harmless || (value && strstr(value, "cmd:")))
            ok =
                status_set(st, LX_E_UNSUPPORTED, "an instance may not say --%s %s", name, value ? value : "");
    }
    options_free(&line);
    return ok;
}

bool suite_output(const struct suite_instance *i, const struct json_value *words, struct text *out,
                  lx_status *st)
{
    static _Thread_local bool running; /* an origin that is an instance would never end */
    struct call call = {0};
    SCOPED(arena_free) struct arena memory = {0};
    const struct json_value *v;
    int n = 0, code = FAILED;
    char **at = arena_array(&memory, (size_t)json_count(words) + 1, sizeof *at);
    json_for_each(v, words)
        if (json_is_string(v)) at[n++] = suite_word(i, v->text, &memory);
    bool inner = running && words == i->origin;
    if (n == 0 || inner)
        status_set(&call.st, LX_E_SCHEMA,
                   "the origin of an instance are the words of a command without instances");
    else if ((call.command = command_find(at[0], &call.st)) &&
             suite_may_run(call.command, n - 1, at + 1, &call.st)) {
        running = words == i->origin;
        code = run_words(&call, n - 1, at + 1);
        running = false;
    }
    if (code == EXIT_NO && call.out.length) code = EXIT_YES; /* a plan that misses its target is a plan */
    if (code != EXIT_YES)
        status_set_at(st, call.st.code ? call.st.code : LX_E_NO, i->path, 0, 0, "its command fails: %s",
                      call.st.code ? call.st.text : "it is interrupted");
    *out = call.out;
    if (code != EXIT_YES) text_free(out);
    options_free(&call.line);
    return code == EXIT_YES;
}

const struct lx_graph *suite_problem(const struct suite_instance *i, lx_status *st)
{
    struct text bytes = {0};
    char hash[65];
    const struct lx_graph *g = NULL;
    if (!suite_output(i, i->origin, &bytes, st)) return NULL;
    sha256_hex(bytes.at, bytes.length, hash);
    if (strcmp(hash, i->hash) != 0)
        json_error(&i->json, json_find(i->json.root, "sha256"), st, LX_E_MISMATCH,
                   "the origin makes other bytes now, of SHA-256 %s", hash);
    else
        g = lx_graph_of_text(i->path, bytes.at, bytes.length, st);
    text_free(&bytes);
    return g;
}

const struct lx_graph *suite_graph(const char *file, const char *text, size_t length, lx_status *st)
{
    struct suite_instance i;
    if (!suite_parse(file, text, length, &i, st)) return NULL;
    const struct lx_graph *g = suite_problem(&i, st);
    suite_free(&i);
    return g;
}

/* --- Answers. --- */

/* "name,offset" lines; a name may have commas. */
static bool suite_take_rows(const struct suite_instance *i, const struct lx_problem *p, char *at,
                            int64_t *address, lx_status *st)
{
    SCOPED(names_free) struct names names = {0};
    const char *wrong = NULL;
    int line = 1;
    for (int32_t b = 0; b < p->count; b++) names_add(&names, p->buffers[b].name, b);
    for (char *next; !wrong && at && *at; at = next, line++) {
        next = strchr(at, '\n');
        if (next) *next++ = 0;
        char *comma = strrchr(at, ',');
        if (line == 1 || !*at) continue;
        if (comma) *comma = 0;
        int32_t b = comma ? names_find(&names, at) : -1;
        lx_status ignored;
        if (b < 0 || !lx_parse_int("offset", comma + 1, -1, LX_INT_MAX, &address[b], &ignored))
            wrong = "this is not a buffer of the problem and its address";
    }
    return !wrong || status_set_at(st, LX_E_SCHEMA, i->solution, line - 1, 1, "%s", wrong);
}

static bool suite_take_made(const struct suite_instance *i, const struct lx_problem *p, int64_t *address,
                            lx_status *st)
{
    struct text t = {0};
    if (!suite_output(i, i->made, &t, st)) return false;
    bool is_plan = lx_is_plan(t.at, t.length), ok = false;
    SCOPED(plan_free_at) struct lx_plan *plan = is_plan ? lx_plan_of_text(i->path, t.at, t.length, st) : NULL;
    SCOPED(graph_free_at)
    const struct lx_graph *g = is_plan ? NULL : lx_graph_of_text(i->path, t.at, t.length, st);
    if (plan && plan->problem.count == p->count) {
        memcpy(address, plan->answer.address, (size_t)p->count * sizeof *address);
        ok = true;
    } else if (g && g->list && g->list->buffer_count == p->count) {
        for (int32_t b = 0; b < p->count; b++) address[b] = g->list->buffers[b].fixed;
        ok = true;
    } else if (plan || g)
        status_set_at(st, LX_E_MISMATCH, i->path, 0, 0, "what is made is no answer of this problem");
    text_free(&t);
    return ok;
}

bool suite_answer(const struct suite_instance *i, const struct lx_problem *p, int64_t *address, lx_status *st)
{
    for (int32_t b = 0; b < p->count; b++) address[b] = LX_OFF_CHIP;
    if (!i->solution && !i->made)
        return status_set_at(st, LX_E_SCHEMA, i->path, 0, 0, "it has a best value, and no solution");
    if (!i->solution) return suite_take_made(i, p, address, st);
    size_t length;
    const char *slash = strrchr(i->path, '/');
    OWNED char *path = mem_format("%.*s%s", slash ? (int)(slash - i->path + 1) : 0, i->path, i->solution);
    OWNED char *text = file_read(path, &length, st);
    return text && suite_take_rows(i, p, text, address, st);
}

bool suite_plan_is_of(const struct lx_plan *p, const struct lx_graph *g)
{
    const struct lx_graph *own = p->graph, *from = own->came_from
                                                       ? lx_graph_with_device(own->came_from, &own->device)
                                                       : lx_graph_ref(own);
    bool same = strcmp(from->hash_word, g->hash_word) == 0;
    lx_graph_free(from);
    return same;
}

int64_t suite_plan_value(enum lx_ask whole, const struct lx_plan *p)
{
    return whole == LX_ASK_TIME ? (int64_t)(p->figures.end_to_end_us * 1e3 + 0.5) : lx_plan_value(p);
}

int64_t suite_plan_bound(enum lx_ask whole, const struct lx_plan *p)
{
    if (whole != LX_ASK_TIME) return lx_plan_least(p);
    return min_i64(suite_plan_value(whole, p), (int64_t)(p->figures.bound_us * 1e3 * (1 + 1e-7)));
}

/* --- The folder. --- */

double suite_limit(int64_t buffers)
{
    return buffers <= 1000 ? 1 : buffers <= 20000 ? 10 : 100;
}

static void suite_gather_class(const char *folder, const char *class, const char *only, struct paths *out)
{
    struct dirent **entries;
    OWNED char *at = mem_format("%s/suite/%s", folder, class);
    int n = scandir(at, &entries, NULL, alphasort);
    for (int k = 0; k < n; k++) {
        const char *name = entries[k]->d_name;
        size_t length = strlen(name), m = sizeof ending - 1;
        bool is = length > m && strcmp(name + length - m, ending) == 0 &&
                  (!only || (strlen(only) == length - m && strncmp(only, name, length - m) == 0));
        if (is) VEC_PUSH(out, mem_format("%s/%s", at, name));
        free(entries[k]);
    }
    if (n >= 0) free(entries);
}

bool suite_gather(struct call *call, const char *const *names, size_t count, struct paths *out)
{
    OWNED char *folder = bundled_patterns();
    for (size_t n = 0; folder && n < (count ? count : 1); n++) {
        size_t before = out->count;
        const char *only = count ? names[n] : NULL;
        if (only && strchr(only, '/') && access(only, R_OK) == 0) VEC_PUSH(out, mem_string(only));
        for (size_t k = 0; k < SUITE_CLASS_COUNT; k++) {
            const char *class = suite_classes[k].name;
            suite_gather_class(folder, class, !only || strcmp(only, class) == 0 ? NULL : only, out);
        }
        if (only && out->count == before) {
            status_set(&call->st, LX_E_UNKNOWN_NAME,
                       "the suite has no class and no instance %s; `lxplan suite` lists them", only);
            break;
        }
    }
    if (!folder) status_set(&call->st, LX_E_IO, "the folder of the bundled patterns is not found");
    return call->st.code == LX_OK;
}
