/* The file of a pattern: the first job reads it, all jobs share it, until it is forgotten. Graphs and
 * plans are constant. For any thread. */
#pragma once

#include "planning/graph_files.h"

struct pattern_source;

/* `models`: how a model is read; it outlives the source. NULL: the default. */
struct pattern_source *source_new(const char *path, const struct model_options *models);
void source_free(struct pattern_source *s);
const struct model_options *source_models(const struct pattern_source *s);
/* More extents of a model, "batch=1 seq=128", for the next time that it is read. False: `st`. */
bool source_set_dims(struct pattern_source *s, const char *text, lx_status *st);

/* The content of a file; graph NULL: see `st`. */
struct source_content {
    const struct lx_graph *graph;
    const struct lx_plan *plan; /* of a plan file, whose graph it is; else NULL */
    bool is_plan;
    const char *team_file; /* the file is the plan of a team, whose graph it is; else NULL */
    lx_status st;
};

/* With references for the caller. */
struct source_content source_read(struct pattern_source *s);
void source_content_free(struct source_content *c);
/* The next source_read reads the file again. */
void source_forget(struct pattern_source *s);

/* The facts of a pattern, without planning. */
struct facts {
    char *name, *summary, *expect;
    int64_t ops, buffers, bytes, target; /* target -1: none */
    bool is_list, is_plan, must_refuse;
    bool refused; /* see `st` */
    lx_status st;
};

void facts_of(const struct source_content *from, struct facts *out);
void facts_free(struct facts *f);
