/* Index strings of sketches. Private to the import. */
#ifndef LX_IMPORT_IMPORT_LETTERS_H
#define LX_IMPORT_IMPORT_LETTERS_H

#include "import/map/import.h"
#include "base/text.h"

/* Letters of the pieces of an op's dimensions. */
struct letters {
    struct cuts cuts[VIEW_MAX_RANK];
    char letter[VIEW_MAX_RANK][VIEW_MAX_CUTS];
    int count;
};

/* The box of an operand, where it has one. */
struct boxes {
    int64_t offset[LX_MAX_INPUTS + 1][LX_MAX_RANK], step[LX_MAX_INPUTS + 1][LX_MAX_RANK];
    int64_t count[LX_MAX_INPUTS + 1][LX_MAX_RANK];
    bool part[LX_MAX_INPUTS + 1], any;
    char fixed[LX_MAX_VARS + 1]; /* letters of single elements */
};

/* The index string of an op, and what its operands have of their tensors. False: it has none. */
bool import_index_string(const struct import *im, const struct sketch *s, struct letters *l, struct boxes *b,
                         struct text *t);
/* A letter that nothing has yet; 0: there is none left. */
char import_new_letter(struct letters *l);

#endif
