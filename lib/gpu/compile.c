/* Compilers and other tools of the machine at hand, run as processes. */
#include "gpu/machines.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_WORDS = 24 };

static bool compile_write(const char *path, const struct text *program)
{
    FILE *f = fopen(path, "w");
    bool ok = f && fwrite(program->at, 1, program->length, f) == program->length;
    return f && fclose(f) == 0 && ok;
}

/* The first line of what the compiler said that has the word "error", or its first line. */
static void compile_words(const char *path, char *line, size_t size)
{
    FILE *f = fopen(path, "r");
    char one[300];
    line[0] = 0;
    while (f && fgets(one, sizeof one, f)) {
        one[strcspn(one, "\n")] = 0;
        bool tells = strstr(one, "error") != NULL;
        if (!line[0] || tells) snprintf(line, size, "%s", one);
        if (tells) break;
    }
    if (f) fclose(f);
}

int process_run(char *const *words, const char *said)
{
    posix_spawn_file_actions_t files;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    int fault = posix_spawnp(&child, words[0], &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    if (fault) return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool compile_with(const char *const *words, const struct text *program, const char *suffix,
                  struct compiled_file *out, lx_status *st)
{
    char folder[] = "/tmp/lxplan-XXXXXX", said[64], line[300], copies[MOST_WORDS][96];
    char *command[MOST_WORDS + 1] = {0};
    if (!mkdtemp(folder)) return status_set(st, LX_E_IO, "no folder for a program: %s", strerror(errno));
    snprintf(out->source, sizeof out->source, "%s/plan%s", folder, suffix);
    snprintf(out->made, sizeof out->made, "%s/plan.out", folder);
    snprintf(said, sizeof said, "%s/words", folder);
    for (int i = 0; words[i] && i < MOST_WORDS; i++) {
        const char *word = strcmp(words[i], "%s") == 0   ? out->source
                           : strcmp(words[i], "%o") == 0 ? out->made
                                                         : words[i];
        snprintf(copies[i], sizeof copies[i], "%s", word);
        command[i] = copies[i];
    }
    bool ok = compile_write(out->source, program);
    if (!ok) status_set(st, LX_E_IO, "%s: cannot be written", out->source);
    int code = ok ? process_run(command, said) : 0;
    if (code != 0) {
        compile_words(said, line, sizeof line);
        ok = status_set(st, LX_E_UNSUPPORTED, code < 0 ? "%s: there is no such compiler here%s" : "%s: %s",
                        words[0], code < 0 ? "" : line);
    }
    unlink(said);
    if (!ok) compiled_remove(out);
    return ok;
}

void compiled_remove(const struct compiled_file *f)
{
    char folder[64];
    unlink(f->source);
    unlink(f->made);
    snprintf(folder, sizeof folder, "%s", f->source);
    char *end = strrchr(folder, '/');
    if (end) *end = 0;
    rmdir(folder);
}
