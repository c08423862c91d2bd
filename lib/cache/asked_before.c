/* Questions that were asked in the very same words before: the bytes of a file and all that was said with it. Who has the
 * answer to one needs neither read the file as a graph nor the plan: both stand there as they were given.
 *
 * The small file of a question names the entry of its plan and has what was said of it; the plan is in the entry. */
#include "cache/cache_entry.h"
#include "base/fail.h"
#include "base/sha256.h"
#include "cache/part_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "lxplan cache question 1\n";

/* The same words to another version of the program are another question. */
static bool key_of(const char *question, char hash[65])
{
    struct text t = {0};
    text_format(&t, "lxplan question %s\n", planner_sources);
    text_add(&t, question);
    bool ok = !t.failed;
    if (ok) sha256_hex(t.at, t.length, hash);
    text_free(&t);
    return ok;
}

static char *path_of(const char *folder, const char hash[65])
{
    char name[ENTRY_NAME];
    snprintf(name, sizeof name, "%.32s" QUESTION_END, hash);
    return entry_path(folder, name);
}

/* By the independent checker. */
static bool judge(const char *path, const struct lx_recalled *r, lx_status *st)
{
    struct lx_plan *p = lx_plan_of_text(path, r->plan, r->plan_length, st);
    bool ok = p && lx_plan_check(p, st);
    lx_plan_free(p);
    return ok;
}

/* The plan of the entry that the question's file names. False with LX_OK: the entry is gone. One that is not believed is
 * taken out, for who plans now may look at other parts of it only. */
static bool take_plan(const char *folder, const struct part_file *q, bool check, struct lx_recalled *r,
                      lx_status *st)
{
    part_file_line(q, "entry", r->kept_as, ENTRY_NAME);
    size_t n = strlen(r->kept_as) + 1;
    part_file_line(q, "of", r->kept_as + n, sizeof r->kept_as - n);
    char *path = is_entry_name(r->kept_as) ? entry_path(folder, r->kept_as) : NULL;
    bool there = path && entry_plan_file(path, r, st);
    r->judged = there && (check || r->plan_length <= LX_CACHE_JUDGED);
    bool ok = there && (!r->judged || judge(path, r, st));
    if (ok) (void)utimensat(AT_FDCWD, path, NULL, 0);
    if (path && !ok && st->code != LX_OK && st->code != LX_E_MEMORY) (void)unlink(path);
    free(path);
    return ok;
}

static bool take(const char *folder, const char *hash, const struct part_file *q, bool check,
                 struct lx_recalled *r, lx_status *st)
{
    if (!part_file_line_is(q, "key", hash))
        return part_file_damaged(q->path, st, "it is the answer to another question");
    r->words = part_file_take(q, "words", &r->words_length, st);
    *st = r->words ? (lx_status){0} : *st;
    return r->words && take_plan(folder, q, check, r, st);
}

bool lx_cache_recall(const char *folder, const char *question, bool check, struct lx_recalled *out,
                     lx_status *st)
{
    char hash[65];
    struct part_file q;
    *out = (struct lx_recalled){0};
    char *path = key_of(question, hash) ? path_of(folder, hash) : NULL;
    bool ok = path && part_file_open(path, magic, &q, st);
    if (ok) {
        ok = take(folder, hash, &q, check, out, st);
        part_file_close(&q);
        if (ok) (void)utimensat(AT_FDCWD, path, NULL, 0);
    } else if (!path)
        status_no_memory(st);
    else if (q.none)
        *st = (lx_status){0};
    free(path);
    if (!ok) lx_recalled_free(out);
    return ok;
}

void lx_recalled_free(struct lx_recalled *r)
{
    free(r->plan);
    free(r->words);
    *r = (struct lx_recalled){0};
}

struct lx_plan *lx_recalled_plan(const char *folder, const struct lx_recalled *r, const struct lx_graph *g,
                                 const char *name, lx_status *st)
{
    char *path = g ? entry_path(folder, r->kept_as) : NULL;
    struct lx_plan *p = path ? entry_plan_of_graph(path, r, g) : NULL;
    free(path);
    if (p) return p;
    p = lx_plan_of_text(name, r->plan, r->plan_length, st);
    if (!p || entry_add_unwritten(&r->unwritten, p)) return p;
    lx_plan_free(p);
    return status_no_memory(st), NULL;
}

bool lx_cache_remember(const char *folder, const char *question, const char *kept_as, const char *words,
                       size_t length, lx_status *st)
{
    char hash[65];
    struct text lines = {0};
    const struct part said = {"words", words, length};
    char *path = key_of(question, hash) ? path_of(folder, hash) : NULL;
    if (!path) return status_no_memory(st);
    part_line(&lines, "key", hash);
    part_line(&lines, "entry", kept_as);
    part_line(&lines, "of", kept_as + strlen(kept_as) + 1);
    bool ok = part_file_write(path, magic, &lines, &said, 1, st);
    text_free(&lines);
    free(path);
    return ok;
}
