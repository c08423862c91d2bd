/* The files of the solve cache: their names, their content, their folder. Private to the room.
 *
 * An entry is a file of parts (part_file.h): the plan as its file has it but for what the graph at hand says anyway
 * (plan/plan_brief.h), the pattern, and the plan file as it is. Some hundred KiB for a model of some hundred ops. */
#ifndef LX_CACHE_CACHE_ENTRY_H
#define LX_CACHE_CACHE_ENTRY_H

#include "cache/cache.h"
#include "plan/plan.h"

/* What an entry is found by; all of it the same on every machine. */
struct entry_key {
    char hash[65];      /* of what is solved, how, and by which program */
    uint64_t structure; /* of the graph, or of the lives of a list, without its sizes and names */
    uint64_t options;
    int64_t sizes[3]; /* bytes of all tensors, bytes of a scratchpad, cores: what a near match is near by */
};

enum { ENTRY_NAME = 80 };
#define QUESTION_END ".asked"

/* A hash of all sources that plans depend on, made when the library is built (source_hash.cmake). */
extern const char planner_sources[];

/* False: memory is out. */
bool entry_key_of(const struct lx_graph *g, const struct lx_plan_options *how, struct entry_key *out);
void entry_name(const struct entry_key *key, char out[ENTRY_NAME]);
bool is_entry_name(const char *name);
/* Of the file of a question (asked_before.c). */
bool is_question_name(const char *name);
/* malloc'ed "FOLDER/NAME"; NULL: memory is out. */
char *entry_path(const char *folder, const char *name);

/* The plan of an entry, checked. NULL: `st` says why; with LX_OK there is no such entry. */
struct lx_plan *entry_read(const char *path, const struct entry_key *key, const struct lx_graph *g,
                           const struct lx_plan_options *how, lx_status *st);
/* The plan file in an entry with the key of `r`, and what its lines say of it; its bytes are as they were written. False:
 * `st` as above. */
bool entry_plan_file(const char *path, struct lx_recalled *r, lx_status *st);
/* The plan of that file once more, by the graph that it is of, if the entry is still the same; else NULL. */
struct lx_plan *entry_plan_of_graph(const char *path, const struct lx_recalled *r, const struct lx_graph *g);
/* Says in the plan what is not in its file. False: memory is out. */
bool entry_add_unwritten(const struct lx_unwritten *u, struct lx_plan *p);
/* Keeps a plan that was made when `g` was to be planned, in `limit` bytes at most. False: `st`; with LX_OK it is one that
 * cannot be kept. */
bool entry_write(const char *path, const struct entry_key *key, const struct lx_graph *g,
                 const struct lx_plan *p, int64_t limit, lx_status *st);
/* Of an entry, by the lines before its plan. False: it is none, or it is not as long as they say. */
bool entry_facts(const char *path, struct lx_cache_entry *out, int64_t sizes[3]);
/* near_entry.c: the plan, checked, of the nearest entry with the same structure and options; NULL: none. */
struct lx_plan *entry_near(const char *folder, const struct entry_key *key);
/* The plan alone, of whatever graph it was; NULL: `st`. */
struct lx_plan *entry_plan(const char *path, lx_status *st);

/* cache_folder.c */
bool cache_folder_make(const char *folder, lx_status *st);
int64_t cache_folder_limit(const char *folder);
/* Takes out what was not used for longest while there is more than the folder may hold. */
bool cache_folder_trim(const char *folder, int32_t *removed, lx_status *st);

#endif
