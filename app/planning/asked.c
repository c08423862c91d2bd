/* The words of a question are the options as they are written, each behind its name: two that mean the same and look
 * different are two questions, which costs a little room and is never wrong. */
#include "planning/asked.h"
#include "base/file.h"
#include "text/colour.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file whose bytes are not read for a question is known by its size and times, as make knows it. */
enum { MOST_READ = 4 << 20 };

static bool add_file(const char *path, struct text *t)
{
    struct stat is;
    lx_status ignored;
    char sum[33];
    size_t length;
    text_format(t, "%s ", path);
    if (stat(path, &is) != 0) return text_add(t, "is not there\n"), true;
    if (is.st_size > MOST_READ) {
        text_format(t, "%lld %lld.%09ld %lld.%09ld\n", (long long)is.st_size, (long long)is.st_mtim.tv_sec,
                    is.st_mtim.tv_nsec, (long long)is.st_ctim.tv_sec, is.st_ctim.tv_nsec);
        return true;
    }
    char *data = S_ISREG(is.st_mode) ? file_read(path, &length, &ignored) : NULL;
    if (!data) return false;
    lx_cache_sum(data, length, sum);
    text_format(t, "%s %zu\n", sum, length);
    free(data);
    return true;
}

/* The file that an entry of external data names, behind the word "location": a tag, a length, the name. */
static bool add_named(const char *at, const char *end, const char *model, struct text *t)
{
    enum { TAG = 0x12, LONGEST = 127 };
    struct text path = {0}, line = {0};
    const char *slash = strrchr(model, '/');
    if (end - at < 2 || at[0] != TAG || at[1] <= 0 || at[1] > LONGEST || end - at - 2 < at[1]) return false;
    if (slash) text_add_n(&path, model, (size_t)(slash - model) + 1);
    text_add_n(&path, at + 2, (size_t)at[1]);
    text_format(&line, "\n%s ", path.at ? path.at : ""); /* as add_file begins one */
    bool ok = !path.failed && !line.failed && ((t->at && strstr(t->at, line.at)) || add_file(path.at, t));
    text_free(&path);
    text_free(&line);
    return ok;
}

/* Data of an ONNX model that stand in files beside it are part of the question. False: they cannot be found. */
static bool add_beside(const char *data, size_t length, const char *model, struct text *t)
{
    static const char word[] = "\x0a\x08location";
    const char *end = data + length, *at = data;
    size_t n = sizeof word - 1;
    while (at < end && (at = memchr(at, word[0], (size_t)(end - at)))) {
        bool is = (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
        if (is && !add_named(at + n, end, model, t)) return false;
        at++;
    }
    return true;
}

/* Who may not be asked this way: what is cut short by a clock or stands in other files, solvers that we do not know, and who
 * wants to read along. */
static bool may_be_kept(const struct call *call, const struct lx_settings *o, const char *path)
{
    return lx_settings_is_set(o, LX_OPTION_CACHE) && !lx_settings_is_set(o, LX_OPTION_TIME) &&
           o->launch.by[0] != '@' && strcmp(path, "-") != 0 && !option_given(&call->line, "log") &&
           !getenv("LXPLAN_PLUGINS");
}

static void add_settings(const struct lx_settings *o, struct text *t)
{
    for (int i = 0; i < lx_settings_count(); i++) {
        if (i == LX_OPTION_CACHE || i == LX_OPTION_CACHE_CHECK || !lx_settings_is_set(o, i)) continue;
        char *value = lx_settings_get(o, i);
        t->failed |= !value;
        text_format(t, "%s=%s\n", lx_settings_at(i).name, value ? value : "");
        free(value);
    }
}

static void add_models(struct call *call, struct text *t)
{
    struct model_options m;
    t->failed |= !read_model_options(call, &m);
    for (int i = 0; !t->failed && i < m.count; i++)
        text_format(t, "model %s=%s\n", m.list[i].name, m.list[i].value ? m.list[i].value : "");
}

char *question_asked(struct call *call, const char *path, const char *form)
{
    struct lx_settings o;
    struct text t = {0};
    char sum[33];
    size_t length;
    lx_status before = call->st;
    if (!read_options(call, &o) || !may_be_kept(call, &o, path)) return call->st = before, NULL;
    char *data = file_read(path, &length, &call->st);
    if (data) {
        lx_cache_sum(data, length, sum);
        text_format(&t, "%s\n%s %zu\nform %s%s\n", path, sum, length, form,
                    paint_is_on() ? " in colours" : "");
        add_settings(&o, &t);
        add_models(call, &t);
        t.failed |= !add_beside(data, length, path, &t);
    }
    free(data);
    if (t.failed) text_free(&t);
    call->st = before;
    return t.at;
}

bool question_answered(struct call *call, const char *question, struct lx_recalled *out)
{
    struct lx_settings o;
    lx_status st = {0};
    char words[1200];
    if (!question || !read_options(call, &o)) return false;
    if (lx_cache_recall(o.cache, question, lx_settings_is_set(&o, LX_OPTION_CACHE_CHECK), out, &st))
        return true;
    if (st.code != LX_OK)
        note(call, "%s; what was kept of this question is ignored and written anew",
             lx_status_describe(&st, words, sizeof words));
    return false;
}

void question_keep(struct call *call, const char *question, const struct lx_plan *p, const struct text *words)
{
    struct lx_settings o;
    lx_status st = {0};
    if (!question || !p->kept_as || words->failed || !read_options(call, &o)) return;
    (void)lx_cache_remember(o.cache, question, p, words->at ? words->at : "", words->length, &st);
}
