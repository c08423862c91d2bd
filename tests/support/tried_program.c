#include "support/tried_program.h"

static char tried_home[64];

void tried_leave(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", tried_home);
    if (chdir("/") != 0 || system(command) != 0) puts("the scratch folder stays");
}

bool tried_enter(void)
{
    snprintf(tried_home, sizeof tried_home, "%s/tried_program_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(tried_home) || chdir(tried_home) != 0) return false;
    setenv("XDG_CONFIG_HOME", tried_home, 1);
    setenv("NO_COLOR", "1", 1);
    return true;
}

void *tried_shared(size_t size)
{
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

/* Words of a line; @ is the folder of the sources. */
static int tried_split(const char *line, char *buffer, size_t size, char **words)
{
    static char program[] = "lxplan";
    int count = 0;
    size_t used = 0;
    words[count++] = program;
    for (const char *s = line; *s && count < TRIED_WORDS - 1; count++) {
        size_t n = strcspn(s, " ");
        int wrote = *s == '@' ? snprintf(buffer + used, size - used, "%s/%.*s", SOURCE_DIR, (int)n - 1, s + 1)
                              : snprintf(buffer + used, size - used, "%.*s", (int)n, s);
        words[count] = buffer + used;
        used += (size_t)wrote + 1;
        s += n + (s[n] == ' ');
    }
    words[count] = NULL;
    return count;
}

static void tried_redirect(const char *path, int fd)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, fd) < 0) _exit(120);
    close(file);
}

/* Its exit code, or TRIED_SIGNAL and the signal that ended it. */
static int tried_run(const char *line, const struct tried_fault *fault)
{
    pid_t child = fork();
    if (child == 0) {
        char buffer[4000], *words[TRIED_WORDS];
        int n = tried_split(line, buffer, sizeof buffer, words);
        tried_redirect(".stdout", STDOUT_FILENO);
        tried_redirect(".stderr", STDERR_FILENO);
        alarm(TRIED_PATIENCE);
        if (fault) fault->begin(fault->context);
        int code = run_program(n, words);
        if (fault) fault->end(fault->context);
        fflush(stdout);
        _exit(code);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child < 0 ? 121 : WIFSIGNALED(status) ? TRIED_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static char *tried_slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    size_t room = 1 << 16, n = 0, got;
    char *text = mem_alloc(room);
    if (!f || !text) return mem_free(text), f ? fclose(f) : 0, mem_string("(none)");
    while ((got = fread(text + n, 1, room - n - 1, f)) > 0)
        if ((n += got) + 1 >= room) text = mem_resize(text, room *= 2);
    text[n] = 0;
    fclose(f);
    return text;
}

/* Times differ from run to run: a number before "ms", "us" or "s", or after a key of seconds, becomes one #, unit and all. */
static void tried_blank_times(char *text)
{
    char *to = text;
    for (const char *s = text; *s;) {
        size_t n = strspn(s, "0123456789.,e-"), gap = s[n] == ' ';
        const char *unit = s + n + gap;
        size_t letters = strspn(unit, "abcdefghijklmnopqrstuvwxyz");
        bool time = n && ((letters == 2 && unit[1] == 's' && strchr("mu", unit[0])) ||
                          (letters == 1 && *unit == 's'));
        bool key = n && ((to - text > 10 && strncmp(to - 10, "seconds\": ", 10) == 0) ||
                         (to - text > 6 && strncmp(to - 6, "_ms\": ", 6) == 0));
        if (time || key)
            *to++ = '#', s += n + (time ? gap + letters : 0);
        else
            do *to++ = *s++;
            while (n-- > 1);
    }
    *to = 0;
}

void tried_forget(struct outcome *o)
{
    mem_free(o->out);
    mem_free(o->err);
    mem_free(o->file);
    mem_free(o->second);
}

struct outcome tried_attempt(const char *line, const struct tried_fault *fault)
{
    struct outcome o = {0};
    FILE *f = fopen("out", "w");
    if (!f || fputs(AS_IT_WAS, f) < 0 || fclose(f) != 0) abort();
    unlink("report");
    o.code = tried_run(line, fault);
    o.out = tried_slurp(".stdout");
    o.err = tried_slurp(".stderr");
    o.file = tried_slurp("out");
    o.second = tried_slurp("report");
    tried_blank_times(o.out);
    tried_blank_times(o.file);
    return o;
}

/* Removes temporary files; were there any? */
static bool tried_leaves_something(void)
{
    bool found = false;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 4, ".tmp") != 0) continue;
        found = true;
        unlink(e->d_name);
    }
    if (d) closedir(d);
    return found;
}

static bool tried_same(const struct outcome *a, const struct outcome *b)
{
    return a->code == b->code && strcmp(a->out, b->out) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->second, b->second) == 0;
}

const char *tried_judge(const struct outcome *with, const struct outcome *without, bool measures, int code,
                        const char *words)
{
    if (tried_leaves_something()) return "a temporary file is left";
    if (with->code >= TRIED_SIGNAL) return "killed by a signal";
    if (tried_same(with, without) || (measures && with->code == without->code)) return NULL;
    if (with->code == without->code) return "ended as without the fault, but with something else";
    if (with->code != code) return "another exit code";
    if (strlen(with->err) < 10) return "nothing is said";
    if (!strstr(with->err, words)) return "it speaks of something else";
    bool old = strcmp(with->file, AS_IT_WAS) == 0;
    if (!measures && !old && strcmp(with->file, without->file) != 0) return "a file is half written";
    return NULL;
}

/* The first lines that differ. */
static void tried_show_difference(const char *a, const char *b)
{
    size_t n = 0, from = 0;
    for (; a[n] && a[n] == b[n]; n++)
        if (a[n] == '\n') from = n + 1;
    if (!a[n] && !b[n]) return;
    if (n > from + 60) from = n - 60;
    printf("        with    %.*s\n        without %.*s\n", (int)strcspn(a + from, "\n"), a + from,
           (int)strcspn(b + from, "\n"), b + from);
}

void tried_report(const char *line, const char *fault, const char *why, const struct outcome *o,
                  const struct outcome *plain)
{
    size_t n = strcspn(o->err, "\n");
    printf("%s\n    %s: %s (exit %d: %.*s)\n", line, fault, why, o->code, (int)(n < 150 ? n : 150), o->err);
    if (o->code != plain->code) return;
    tried_show_difference(o->out, plain->out);
    tried_show_difference(o->file, plain->file);
    tried_show_difference(o->second, plain->second);
}

bool tried_plain(const char *line, bool measures, const struct tried_fault *none, struct outcome *out)
{
    struct outcome first = tried_attempt(line, none);
    *out = tried_attempt(line, none);
    bool usable = (measures || tried_same(&first, out)) && out->code != 2;
    if (!usable)
        printf("%s\n    is not the same twice, or no command: exit %d, %d: %s\n", line, first.code, out->code,
               out->err);
    tried_forget(&first);
    return usable;
}

bool tried_prepare(const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tried_run(lines[i], NULL) != 0) {
            char *said = tried_slurp(".stderr");
            printf("%s: %s\n", lines[i], said);
            mem_free(said);
            return false;
        }
    return true;
}
