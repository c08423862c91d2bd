/* The words of questions. A question is a text in which all stands by its name that an answer depends on. */
#include "cache/cache.h"
#include "base/file.h"
#include "base/text.h"
#include "cache/part_file.h"
#include "files/pattern.h"

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
    part_sum(data, length, sum);
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
    if (end - at < 2 || at[0] != TAG) return false;
    unsigned char named = (unsigned char)at[1]; /* a plain one has a sign on some machines only */
    if (!named || named > LONGEST || end - at - 2 < named) return false;
    if (slash) text_add_n(&path, model, (size_t)(slash - model) + 1);
    text_add_n(&path, at + 2, named);
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

bool lx_question_file(const char *path, const char *data, size_t length, struct text *t)
{
    char sum[33];
    part_sum(data, length, sum);
    text_format(t, "%s\n%s %zu\n", path, sum, length);
    return add_beside(data, length, path, t);
}

void lx_question_graph(const struct lx_graph *g, struct text *t)
{
    pattern_write_hashed(g, t);
    text_add(t, "\n");
}

bool lx_question_options(const struct lx_settings *o, struct text *t)
{
    if (!lx_settings_is_set(o, LX_OPTION_CACHE) || lx_settings_is_set(o, LX_OPTION_TIME) ||
        o->launch.by[0] == '@')
        return false;
    for (int i = 0; i < lx_settings_count(); i++) {
        if (i == LX_OPTION_CACHE || i == LX_OPTION_CACHE_CHECK || !lx_settings_is_set(o, i)) continue;
        char *value = lx_settings_get(o, i);
        t->failed |= !value;
        text_format(t, "%s=%s\n", lx_settings_at(i).name, value ? value : "");
        free(value);
    }
    return true;
}
