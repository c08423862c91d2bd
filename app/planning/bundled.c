/* Patterns found on the disk: below a folder, at most DEEPEST folders down, in order of their names; and the
 * folder of the bundled ones: `patterns` here, else in the source tree of the build or where it was
 * installed. */
#include "planning/bundled.h"
#include "base/memory.h"
#include "unstable.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 4 };

static void bundled_gather(const char *folder, int depth, struct paths *found)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        struct stat info;
        if (name[0] != '.') {
            char *path = mem_format("%s/%s", folder, name);
            bool known = stat(path, &info) == 0, kept = false;
            if (known && S_ISDIR(info.st_mode) && depth < DEEPEST)
                bundled_gather(path, depth + 1, found);
            else if (known && S_ISREG(info.st_mode) && lx_format_ending(name))
                kept = VEC_PUSH(found, path);
            if (!kept) mem_free(path);
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

void gather_patterns(const char *folder, struct paths *found)
{
    bundled_gather(folder, 0, found);
}

void add_endings(struct text *out)
{
    size_t from = out->length;
    for (const struct lx_format *f = lx_formats(); f->name; f++)
        for (int i = 0; i < LX_MAX_ENDINGS && f->endings[i]; i++)
            if (out->length == from || !strstr(out->at + from, f->endings[i]))
                text_format(out, "%s%s", out->length == from ? "" : ", ", f->endings[i]);
}

char *bundled_patterns(void)
{
    static const char *const beside_program[] = {"../../patterns", "../share/lxplan/patterns"};
    struct stat info;
    if (stat("patterns", &info) == 0 && S_ISDIR(info.st_mode)) return mem_string("patterns");
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return NULL;
    program[n] = 0;
    char *slash = strrchr(program, '/');
    if (!slash) return NULL;
    *slash = 0;
    for (size_t i = 0; i < sizeof beside_program / sizeof *beside_program; i++) {
        char *path = mem_format("%s/%s", program, beside_program[i]);
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return path;
        mem_free(path);
    }
    return NULL;
}
