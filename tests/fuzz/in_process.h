/* The whole program in the process of the fuzzer: its commands run one after the other in a folder of their own, in which
 * they may write what they like. Words that lead out of the folder are not given to it. */
#ifndef LX_TESTS_FUZZ_IN_PROCESS_H
#define LX_TESTS_FUZZ_IN_PROCESS_H

#include "fuzz/fuzz_target.h"
#include "command.h"

#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

enum { FUZZ_WORDS = 40 };

static char fuzz_folder[64];

static inline int fuzz_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind;
    return walk->level > 0 ? remove(path) : 0;
}

static inline void fuzz_put(const char *name, const char *text, size_t length)
{
    FILE *f = fopen(name, "wb");
    fuzz_must(f != NULL, "no folder to work in", NULL);
    if (length) fwrite(text, 1, length, f);
    fclose(f);
}

static inline void fuzz_leave(void)
{
    nftw(fuzz_folder, fuzz_remove, 8, FTW_DEPTH | FTW_PHYS);
    rmdir(fuzz_folder);
}

/* Once: a folder, nothing to read from, nobody's settings. */
static inline void fuzz_enter(void)
{
    if (fuzz_folder[0]) {
        nftw(fuzz_folder, fuzz_remove, 8, FTW_DEPTH | FTW_PHYS);
        return;
    }
    snprintf(fuzz_folder, sizeof fuzz_folder, "/tmp/lxplan_fuzz_XXXXXX");
    fuzz_must(mkdtemp(fuzz_folder) && chdir(fuzz_folder) == 0, "no folder to work in", NULL);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    close(nothing);
    setenv("HOME", fuzz_folder, 1);
    setenv("TMPDIR", fuzz_folder, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("EDITOR");
    atexit(fuzz_leave);
}

/* Does a text lead out of the folder? */
static inline bool fuzz_strays(const char *text, size_t length)
{
    return memchr(text, '/', length) || memmem(text, length, "..", 2) || memchr(text, '~', length) ||
           memchr(text, 0, length);
}

/* A command in words; its exit code is one of those that are agreed. */
static inline int fuzz_command(const char *line)
{
    char words[4096], *rest = words, *arguments[FUZZ_WORDS + 2] = {"lxplan"};
    int count = 1;
    snprintf(words, sizeof words, "%s", line);
    for (char *word; count <= FUZZ_WORDS && (word = strsep(&rest, " "));)
        if (*word) arguments[count++] = word;
    int code = run_program(count, arguments);
    if (code < 0 || code > 2) fprintf(stderr, "lxplan %s: exit code %d\n", line, code);
    fuzz_must(code >= 0 && code <= 2, "a fault of the program", NULL);
    return code;
}

#endif
