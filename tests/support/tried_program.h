/* The whole program (all but its entry) in a child process per fault, in a folder of its own, and what came of it: exit code,
 * words, files. For programs that let something fail in turn and compare with how it goes without. */
#ifndef LX_TESTS_TRIED_PROGRAM_H
#define LX_TESTS_TRIED_PROGRAM_H

#include "command.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIED_WORDS = 40, TRIED_PATIENCE = 60, TRIED_SIGNAL = 1000 };

/* In memory where there is such a place: what is written is synced each time. */

void tried_leave(void);

/* A folder to work in; nobody's own wishes hold there. */
bool tried_enter(void);

/* A page that children write to as well. */
void *tried_shared(size_t size);

/* What a child does before and after the command. */
struct tried_fault {
    void (*begin)(void *context);
    void (*end)(void *context);
    void *context;
};

struct outcome {
    int code;
    char *out, *err, *file, *second;
};

void tried_forget(struct outcome *o);

#define AS_IT_WAS "as it was\n"

/* The command, whose file `out` is there already and whose file `report` is not. */
struct outcome tried_attempt(const char *line, const struct tried_fault *fault);

/* What is wrong with how it took a fault that is to end in exit code `code` with `words`, or to make no difference; NULL: nothing.
 * `measures`: words and figures are others each time. */
const char *tried_judge(const struct outcome *with, const struct outcome *without, bool measures, int code,
                        const char *words);
void tried_report(const char *line, const char *fault, const char *why, const struct outcome *o,
                  const struct outcome *plain);

/* How it goes without a fault, if it goes the same way twice; exit code 2 is that of no command. */
bool tried_plain(const char *line, bool measures, const struct tried_fault *none, struct outcome *out);

/* Commands that make what others read. */
bool tried_prepare(const char *const *lines, size_t count);

#endif
