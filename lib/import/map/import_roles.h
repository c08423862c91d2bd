/* Roles of the arguments of a model. */
#ifndef LX_IMPORT_IMPORT_ROLES_H
#define LX_IMPORT_IMPORT_ROLES_H

#include "import/map/import.h"

struct import_role {
    enum lx_role role;
    const char *rule; /* which one decided, in a word */
    int32_t storage;  /* of its first tensor; -1: it has none */
    int64_t output;   /* whose buffer it is, by number of the results' tensors; -1: of none */
};

/* By argument of the entry; `out` has room for each. False: `im->st` says why. */
bool import_roles(struct import *im, struct import_role *out);

#endif
