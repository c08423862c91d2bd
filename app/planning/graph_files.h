/* Options for models of other compilers (TTIR, HLO, ONNX), for `import` and every command that reads a
 * pattern; and files as graphs. */
#pragma once

#include "command.h"
#include "lxplan.h"

extern const struct option_row model_rows[];

/* Constant once read, so that threads may share it; lists live as long as the command line. */
struct model_options {
    struct lx_import_options import;
    const char *given;               /* the first that was given; NULL: none */
    const struct given_option *list; /* all of them, as they were given */
    int count;
    bool folders; /* files come from folders, where others may lie beside models */
};

/* False with `call->st`. Weak: a program has it, or not. */
bool read_model_options(struct call *call, struct model_options *o) __attribute__((weak));
/* The name of one that was given, or NULL. */
const char *model_option_given(const struct call *call);

/* The graph of whatever the file is. Options with a file that is no model are an error, unless it is one of a
 * folder: then it is read as ever. `how` may be NULL. *report: of a model, as lx_model_import has it;
 * `report` may be NULL. */
const struct lx_graph *graph_of_text(const struct model_options *how, const char *file, const char *text,
                                     size_t length, char **report, lx_status *st);
const struct lx_graph *graph_of_file(const struct model_options *how, const char *path, char **report,
                                     lx_status *st);
/* The problem of an instance of the suite (bench/suite.c); weak: a program has it, or not. */
const struct lx_graph *suite_graph(const char *file, const char *text, size_t length, lx_status *st)
    __attribute__((weak));
/* By the options of the call. */
const struct lx_graph *read_graph(struct call *call, const char *path);
const struct lx_graph *parse_graph(struct call *call, const struct source *from);

struct paths {
    char **at; /* each malloc'ed */
    size_t count, room;
};

/* Every file below a folder that ends as those of some format do; entries in order of their names, so that no
 * list changes by itself. */
void gather_patterns(const char *folder, struct paths *found);
/* ".json, .csv": the endings of all formats, each once. */
void add_endings(struct text *out);
/* In the working directory; else beside the build, else where `install` puts them. malloc'ed, or NULL. */
char *bundled_patterns(void);
/* The path, relative to the folder of the program, if it is there; else NULL. */
char *beside_program(const char *path);

/* False: "expect" names a solver that does not exist; `st` has its place and the nearest name. */
bool expectations_known(const struct lx_graph *g, lx_status *st);

/* The error that a pattern expects of a stage (expect.error). It is read from the text, since a pattern that
 * the first stage refuses has no graph to ask. */
struct expected_error {
    char stage[32], code[32];
};

bool expected_error_of(const char *file, const char *text, size_t length, struct expected_error *out);

/* A graph as a file of that format, malloc'ed. NULL: `call->st`, at the graph's file. */
char *graph_text(struct call *call, const lx_graph *g, const char *format, size_t *length);

/* "a pattern as JSON, MiniMalloc CSV or XLA CSV" */
void add_formats(struct text *out);
/* For help: name, summary and contents of every writable, or readable, format. */
void written_formats_help(const struct call *call, struct text *out);
void read_formats_help(const struct call *call, struct text *out);
/* Name k of the formats that can be written; NULL behind the last. */
const char *written_format_word(int k);
/* The one of --format, by default the first that writes lists of buffers; false with `call->st`. */
bool written_format(struct call *call, struct lx_export *out);
