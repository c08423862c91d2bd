/* The folder of a cache: made, listed, emptied, and kept below its limit. Names that are not ours are left alone.
 * Others may add and take files out meanwhile: what is gone is gone, and no error. */
#include "cache/cache_entry.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a killed writer left is nobody's after an hour. */
enum { FORGOTTEN_SECONDS = 3600 };

bool cache_folder_make(const char *folder, lx_status *st)
{
    struct stat info;
    if (mkdir(folder, 0777) == 0 || (errno == EEXIST && stat(folder, &info) == 0 && S_ISDIR(info.st_mode)))
        return true;
    return status_set_at(st, LX_E_IO, folder, 0, 0, "cannot make the folder: %s", strerror(errno));
}

/* "NAME.plan.PID.N.tmp", as base/file.c writes. */
static bool is_temporary(const char *name)
{
    bool at = strstr(name, ".plan.") || strstr(name, QUESTION_END ".");
    size_t n = strlen(name);
    return (at || strncmp(name, "limit.", 6) == 0) && n > 4 && strcmp(name + n - 4, ".tmp") == 0;
}

int64_t cache_folder_limit(const char *folder)
{
    char *path = entry_path(folder, "limit"), *end;
    lx_status ignored;
    size_t length;
    struct stat info;
    char *text = path && stat(path, &info) == 0 ? file_read(path, &length, &ignored) : NULL;
    long long bytes = text ? strtoll(text, &end, 10) : -1;
    free(text);
    free(path);
    return bytes >= 0 ? bytes : LX_CACHE_LIMIT;
}

typedef VEC(struct lx_cache_entry) entries;

/* A name of the folder: an entry, or what is left of the writing of one. */
static bool look_at(const char *folder, const char *name, entries *to)
{
    struct lx_cache_entry e = {.used = 0};
    struct stat info;
    bool temporary = is_temporary(name);
    if (!temporary && !is_entry_name(name) && !is_question_name(name)) return true;
    char *path = entry_path(folder, name);
    if (!path) return false;
    bool there = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    if (there && temporary && time(NULL) - info.st_mtime > FORGOTTEN_SECONDS) unlink(path);
    free(path);
    if (!there || temporary) return true;
    snprintf(e.file, sizeof e.file, "%s", name);
    e.bytes = info.st_size;
    e.used = (int64_t)info.st_mtim.tv_sec * 1000000 + info.st_mtim.tv_nsec / 1000;
    return VEC_PUSH(to, e);
}

/* Last used first; at the same time by name. */
static int by_use(const void *a, const void *b)
{
    const struct lx_cache_entry *x = a, *y = b;
    if (x->used != y->used) return x->used > y->used ? -1 : 1;
    return strcmp(x->file, y->file);
}

static bool find_entries(const char *folder, struct lx_cache_list *out, lx_status *st)
{
    entries all = {0};
    DIR *d = opendir(folder);
    bool ok = true;
    *out = (struct lx_cache_list){0};
    if (!d && errno == ENOMEM) return status_no_memory(st);
    if (!d) return status_set_at(st, LX_E_IO, folder, 0, 0, "cannot open the folder: %s", strerror(errno));
    for (const struct dirent *e; ok && (e = readdir(d));) ok = look_at(folder, e->d_name, &all);
    closedir(d);
    if (!ok || !VEC_PUSH(&all, (struct lx_cache_entry){0})) { /* one more, so that none is a list too */
        VEC_FREE(&all);
        return status_no_memory(st);
    }
    *out = (struct lx_cache_list){
        .at = all.at, .count = (int32_t)all.count - 1, .limit = cache_folder_limit(folder)};
    if (out->count > 1) qsort(out->at, (size_t)out->count, sizeof *out->at, by_use);
    for (int32_t i = 0; i < out->count; i++) out->bytes += out->at[i].bytes;
    return true;
}

/* They are small and of one plan each: their bytes count, they are no plans. */
static void leave_questions_out(struct lx_cache_list *list)
{
    int32_t n = 0;
    for (int32_t i = 0; i < list->count; i++)
        if (is_entry_name(list->at[i].file)) list->at[n++] = list->at[i];
    list->count = n;
}

bool lx_cache_list(const char *folder, struct lx_cache_list *out, lx_status *st)
{
    int64_t sizes[3];
    if (!find_entries(folder, out, st)) return false;
    leave_questions_out(out);
    for (int32_t i = 0; i < out->count; i++) {
        char *path = entry_path(folder, out->at[i].file);
        if (!path) return lx_cache_list_free(out), status_no_memory(st);
        if (!entry_facts(path, &out->at[i], sizes))
            snprintf(out->at[i].graph, sizeof out->at[i].graph, "(damaged)");
        free(path);
    }
    return true;
}

void lx_cache_list_free(struct lx_cache_list *list)
{
    free(list->at);
    *list = (struct lx_cache_list){0};
}

static bool take_out(const char *folder, const char *name, int32_t *removed, lx_status *st)
{
    char *path = entry_path(folder, name);
    if (!path) return status_no_memory(st);
    bool gone = unlink(path) == 0;
    int why = errno;
    free(path);
    *removed += gone && is_entry_name(name);
    if (gone || why == ENOENT) return true;
    return status_set_at(st, LX_E_IO, folder, 0, 0, "cannot take out %s: %s", name, strerror(why));
}

/* All but the entries that were used last and have room in `limit`. */
static bool keep_within(const char *folder, int64_t limit, int32_t *removed, lx_status *st)
{
    struct lx_cache_list all;
    int64_t sum = 0;
    bool ok = find_entries(folder, &all, st);
    *removed = 0;
    for (int32_t i = 0; ok && i < all.count; i++) {
        if (sum + all.at[i].bytes > limit)
            ok = take_out(folder, all.at[i].file, removed, st);
        else
            sum += all.at[i].bytes;
    }
    if (ok || all.at) lx_cache_list_free(&all);
    return ok;
}

bool cache_folder_trim(const char *folder, int32_t *removed, lx_status *st)
{
    return keep_within(folder, cache_folder_limit(folder), removed, st);
}

static bool clear_temporaries(const char *folder, lx_status *st)
{
    DIR *d = opendir(folder);
    int32_t ignored = 0;
    bool ok = d || errno != ENOMEM || status_no_memory(st);
    for (const struct dirent *e; ok && d && (e = readdir(d));)
        if (is_temporary(e->d_name)) ok = take_out(folder, e->d_name, &ignored, st);
    if (d) closedir(d);
    return ok;
}

bool lx_cache_clear(const char *folder, int32_t *removed, lx_status *st)
{
    return keep_within(folder, -1, removed, st) && clear_temporaries(folder, st);
}

bool lx_cache_set_limit(const char *folder, int64_t bytes, int32_t *removed, lx_status *st)
{
    char number[32], *path;
    int n = snprintf(number, sizeof number, "%" PRId64 "\n", bytes);
    *removed = 0;
    if (!cache_folder_make(folder, st)) return false;
    if (!(path = entry_path(folder, "limit"))) return status_no_memory(st);
    bool ok = file_write(path, number, (size_t)n, st);
    free(path);
    return ok && keep_within(folder, bytes, removed, st);
}
