/* Where the patterns that come with the program are, and what lies in a folder. */
#ifndef LX_APP_PLANNING_BUNDLED_H
#define LX_APP_PLANNING_BUNDLED_H

#include "base/text.h"
#include "base/vec.h"

struct paths {
    char **at; /* each malloc'ed */
    size_t count, room;
};

/* Every file below a folder that ends as those of some format do; entries in order of their names, so that no list changes by itself. */
void gather_patterns(const char *folder, struct paths *found);
/* ".json, .csv": the endings of all formats, each once. */
void add_endings(struct text *out);
/* In the working directory; else beside the build, else where `install` puts them. malloc'ed, or NULL. */
char *bundled_patterns(void);

#endif
