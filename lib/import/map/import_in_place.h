/* Ops that change a tensor where it is. Private to the folder. */
#ifndef LX_IMPORT_IMPORT_IN_PLACE_H
#define LX_IMPORT_IMPORT_IN_PLACE_H

#include "import/map/import.h"

/* All sketches are made; `results` are the storages that are returned, without those of states afterwards. False: memory
 * is out. */
bool import_in_place(struct import *im, int32_t *results, int *count);

#endif
