/* Counting what became of the ops of a model. */
#ifndef LX_IMPORT_IMPORT_REPORT_H
#define LX_IMPORT_IMPORT_REPORT_H

#include "import/map/import.h"

struct import_kind {
    const char *kind, *reason; /* one of the reasons; NULL: none */
    int64_t count, bytes;      /* operands and results */
    int64_t classes[CLASS_COUNT];
};

struct import_counts {
    struct model_facts became; /* ops and bytes by class, and for each class its reasons */
    struct names kinds;
    VEC(struct import_kind) rows; /* in the order of the file */
};

const char *import_class_word(enum import_class class);
bool import_count(struct import *im, struct import_counts *t);
void import_counts_free(struct import_counts *t);
/* import_notes.c: what was decided and made, for the report: work, storages, letters, roles. */
void import_note_pattern(struct import *im, const struct lx_graph *g);
/* JSON, malloc'ed; NULL: memory is out. */
char *import_report(const struct import *im, const char *sha256, const struct model_facts *facts,
                    const struct import_counts *c);

#endif
