/* The solve cache: a folder in which plans are kept, so that what was planned once is not searched for again.
 *
 * lx_plan_make looks into the folder that its options name, and nowhere where they name none. An entry is found by a
 * hash of what is solved, of every option that changes the plan, and of the program's own sources. A hit gives the very
 * bytes that planning would give: an entry is kept only if it reads back to the same plan file.
 *
 * What is read is not believed: all bytes must have the sum that they had when they were written, the plan must be one of
 * the graph at hand, and the independent checker must accept it; else the entry is ignored, with a word, and written anew.
 * Of a plan of more than LX_CACHE_JUDGED bytes the checker takes longer than anybody wants to wait: it accepted the plan
 * when it was kept, and goes over it again only if that is asked for (cache_check).
 *
 * Who asks again in the same words (asked_before.c) gets the plan file and what was said of it by the same rules, without
 * reading the graph.
 *
 * Plans that a clock or a person ended, and hasty ones, are not kept. Where there is no entry, one of the same structure
 * in other sizes, planned by the same options, seeds the search (plan/near_plan.c, of lists near_list.c), so that a plan depends on what the
 * folder holds; it is never worse for that, and the same for the same content.
 *
 * A folder has one file per plan, written beside its place and renamed, so that a reader never sees half of one, and
 * `limit` with the bytes that it may hold; beyond them what was not used for longest goes. Nothing that goes wrong with
 * it keeps a plan from being made. */
#ifndef LX_CACHE_CACHE_H
#define LX_CACHE_CACHE_H

#include "plan/options.h"

#include <stdint.h>

struct text;

#define LX_CACHE_LIMIT (INT64_C(1) << 30)
/* How long a plan may be that the checker goes over on every hit: some milliseconds at most. */
enum { LX_CACHE_JUDGED = 96 << 10 };

struct lx_cache_entry {
    char file[80];   /* in the folder */
    char graph[100]; /* name of what was planned */
    char solver[40];
    int64_t bytes;
    int64_t used; /* when it was last: microseconds since 1970 */
};

struct lx_cache_list {
    struct lx_cache_entry *at; /* what was used last comes first */
    int32_t count;
    int64_t bytes, limit;
};

/* What is in the folder. False: `st`. */
bool lx_cache_list(const char *folder, struct lx_cache_list *out, lx_status *st);
void lx_cache_list_free(struct lx_cache_list *list);
/* Takes all entries out, and what killed writers left; other files stay. `removed`: how many entries. */
bool lx_cache_clear(const char *folder, int32_t *removed, lx_status *st);
/* Sets the bytes that it may hold from now on, and takes out what is too much. */
bool lx_cache_set_limit(const char *folder, int64_t bytes, int32_t *removed, lx_status *st);

/* What a plan knows besides its file. */
struct lx_unwritten {
    struct lx_joint joint;
    char unproved[400]; /* empty: nothing */
};

/* The answer to a question that was asked before. */
struct lx_recalled {
    char *plan, *words; /* malloc'ed and terminated */
    size_t plan_length, words_length;
    bool judged;       /* the checker went over it just now */
    char kept_as[145]; /* as that of a plan: the name of its entry, and the key behind it */
    char sum[80];      /* of the plan in the entry */
    struct lx_unwritten unwritten;
};

/* The words of a question, added to `t`; together they are all that an answer depends on but for the program itself.
 * Each option that is set, as it is written: two that mean the same and look different are two questions, which costs a
 * little room and is never wrong. False: no folder is set, or a clock or other files have a say. */
bool lx_question_options(const struct lx_settings *o, struct text *t);
/* A file by its name and bytes, and files beside it that it names. False: they cannot be found. */
bool lx_question_file(const char *path, const char *data, size_t length, struct text *t);
/* All that the pattern in a plan file says of it. */
void lx_question_graph(const struct lx_graph *g, struct text *t);
/* What was kept of a question. `check`: the checker goes over it however long it is. False: `st`; with LX_OK there is
 * nothing. */
bool lx_cache_recall(const char *folder, const char *question, bool check, struct lx_recalled *out,
                     lx_status *st);
void lx_recalled_free(struct lx_recalled *r);
/* The plan of its file. Of the graph `g` that was planned, where that is known, which is quicker; else NULL, and the file
 * is called `name`. NULL: `st`. */
struct lx_plan *lx_recalled_plan(const char *folder, const struct lx_recalled *r, const struct lx_graph *g,
                                 const char *name, lx_status *st);
/* Keeps what was said when it was answered by a plan that is in the folder (kept_as). */
bool lx_cache_remember(const char *folder, const char *question, const char *kept_as, const char *words,
                       size_t length, lx_status *st);

#endif
