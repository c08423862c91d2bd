/* In which order sketches are built once some write a tensor over that others still read. Private to the
 * folder. */
#ifndef LX_IMPORT_IMPORT_SEQUENCE_H
#define LX_IMPORT_IMPORT_SEQUENCE_H

#include "import/map/import.h"

struct sequence_link {
    int32_t to, next; /* a sketch; the link before this one of the same list, -1: none */
};

/* Lists begin with their last link. Room for `more` sketches than there are. */
struct sequence {
    struct import *im;
    int32_t *after;   /* by sketch: what comes after it */
    int32_t *readers; /* by storage: who reads it */
    int32_t *seen;    /* by sketch: the search that came by last */
    VEC(struct sequence_link) links;
    VEC(int32_t) stack;
    int32_t search;
    int64_t work;
    bool turned; /* some sketch is built after a later one */
};

/* sequence_free afterwards. */
void sequence_make(struct sequence *q, struct import *im, int more);
void sequence_free(struct sequence *q);
/* Everybody but `writer` itself who reads the storage comes before `writer`. False: that cannot be, as one
 * of them needs what is written; or, without `turn`, as one of them is a later sketch. */
bool sequence_before(struct sequence *q, int32_t storage, int32_t writer, bool turn);
/* The last sketch is new, and reads what `writer` makes. */
void sequence_append(struct sequence *q, int32_t writer);
/* Where links end now, and back to it. */
size_t sequence_mark(const struct sequence *q);
void sequence_undo(struct sequence *q, size_t mark);
/* The order as `im->order`, unless it is the one in which sketches were made. */
bool sequence_order(struct sequence *q);

#endif
