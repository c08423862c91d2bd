/* A folder for the solve cache of a test, and the form of its files. Comes after cmocka.h. */
#ifndef LX_TESTS_SUPPORT_CACHE_FILES_H
#define LX_TESTS_SUPPORT_CACHE_FILES_H

#include "cache/part_file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDER_ROOM = 64 };

/* A fixture that begins with the name of its folder, which is made; 0, as cmocka wants it. */
static inline int folder_set_up(void **state, size_t size)
{
    char *folder = mem_zeroed(1, size);
    *state = folder;
    if (folder) snprintf(folder, FOLDER_ROOM, "/tmp/lxplan_cache_XXXXXX");
    return folder && mkdtemp(folder) ? 0 : 1;
}

static inline int folder_tear_down(void **state)
{
    char line[FOLDER_ROOM + 20];
    snprintf(line, sizeof line, "rm -rf '%s'", (const char *)*state);
    int code = system(line);
    mem_free(*state);
    return code;
}

/* Of a part, as its line has it. */
static inline size_t part_length(const struct part_file *f, const char *name)
{
    char line[60];
    snprintf(line, sizeof line, "\npart %s ", name);
    return (size_t)strtoull(strstr(f->head, line) + strlen(line), NULL, 10);
}

#endif
