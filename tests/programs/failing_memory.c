/* Every allocation of every command fails in turn: once, and from there on.
 *
 *     build/bin/failing_memory [--most N] [TEXT]
 *
 * The program itself (all but its entry) runs in a child per fault, in a folder of its own. A command that meets the fault has
 * to say so and end with exit code 3, or to do all the same what it does without it: the same words, the same files, byte for
 * byte. Nothing is half written, no temporary file is left, nothing crashes. Processes that the command starts have memory
 * again: what one of them may lack is a result, not a fault. Of each command and kind about SAMPLE faults are tried, with
 * --most so many, with LXPLAN_ALL set all. TEXT: commands that have it in them. */
#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLE = 12, MOST_WORDS = 40, PATIENCE = 60 };

/* The allocator: glibc's own, but for those that are to fail. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *memalign(size_t, size_t);

#define SEEN_BY_ALL __attribute__((visibility("default")))

static atomic_long asked;            /* allocations since the command began */
static long fail_at, fail_until = 0; /* those that fail; none: fail_at 0 */
static _Atomic long *count_out;      /* where the parent reads how many there were */

static bool fails(void)
{
    if (!fail_at && !count_out) return false;
    long n = atomic_fetch_add(&asked, 1) + 1;
    if (!fail_at || n < fail_at || n > fail_until) return false;
    errno = ENOMEM;
    return true;
}

SEEN_BY_ALL void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

SEEN_BY_ALL void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

SEEN_BY_ALL void *realloc(void *at, size_t n)
{
    return fails() ? NULL : __libc_realloc(at, n);
}

SEEN_BY_ALL void *memalign(size_t alignment, size_t n)
{
    return fails() ? NULL : __libc_memalign(alignment, n);
}

SEEN_BY_ALL void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

SEEN_BY_ALL int posix_memalign(void **out, size_t alignment, size_t n)
{
    if (fails()) return ENOMEM;
    return (*out = __libc_memalign(alignment, n)) ? 0 : ENOMEM;
}

static void forget_faults(void)
{
    fail_at = 0;
    count_out = NULL;
}

/* What is made first, without faults, for the commands to read. @ is the folder of the sources. */
static const char *const made_first[] = {
    "plan @patterns/graphs/rms_norm.json -o a.plan -q",
    "plan @patterns/graphs/rms_norm.json -s greedy --lx 20k -o b.plan -q",
    "plan @patterns/graphs/rms_norm.json --team 2 -o team.plan -q",
    "bench @patterns/graphs/rms_norm.json -s greedy,firstfit -o r.jsonl -q",
    "gen random --buffers 30 -o list.json",
    "import @tests/data/models/small.mlir --dim %x:0=128 -o small.json",
};

/* The commands; what has -o writes to a file that is there already. ~: measures, so that words and figures are others each time. */
static const char *const tortured[] = {
    "plan @patterns/graphs/rms_norm.json -o out",
    "plan @patterns/graphs/rms_norm.json --json",
    "plan @patterns/graphs/mlp_small.json --cooptimise full --evict --reorder --move -o out -q",
    "plan @patterns/graphs/attention_small.json --tile auto --online auto -o out -q",
    "plan @patterns/graphs/rms_norm.json --objective time -o out -q",
    "plan list.json -s greedy -o out",
    "plan list.json -s bestfit -o out",
    "plan list.json -s anneal --work 2000 -o out",
    "plan list.json -s exact --work 2000 -o out",
    "plan list.json -s ilp --work 2000 -o out",
    "plan list.json -s auto --work 2000 --objective height -o out",
    "plan list.json -s exact --work 2000 --objective fit -o out",
    "plan @patterns/graphs/rms_norm.json --stage divide",
    "plan @patterns/graphs/rms_norm.json --stage layout",
    "plan @patterns/graphs/rms_norm.json --stage launch",
    "plan @patterns/graphs/rms_norm.json --stage scratchpad --json",
    "plan @patterns/graphs/rms_norm.json --stages",
    "plan @patterns/graphs/rms_norm.json --explain x",
    "plan @patterns/graphs/rms_norm.json --team 2 -o out -q",
    "plan @patterns/graphs/rms_norm.json --team 2 --stage team",
    "plan @patterns/graphs/rms_norm.json --cache kept -o out -q",
    "check a.plan",
    "check team.plan",
    "check @patterns/graphs/rms_norm.json",
    "run a.plan",
    "run @patterns/graphs/rms_norm.json --team 2",
    "show a.plan",
    "show a.plan --buffers -f csv",
    "show a.plan --svg -o out",
    "show a.plan --html -o out",
    "diff a.plan b.plan",
    "solvers",
    "solvers anneal",
    "import @tests/data/models/small.mlir --dim %x:0=128 -o out --report report",
    "import @tests/data/models/small.hlo -o out",
    "export list.json -o out -q",
    "export a.plan -f perfetto -o out -q",
    "export a.plan -f memory_viz -o out -q",
    "export a.plan -f model-explorer -o out -q",
    "export a.plan -f xla-csv -o out -q",
    "export a.plan -f handover -o out -q",
    "gen random --buffers 20 -o out",
    "gen flash --q 256 --kv 512 -o out",
    "loops -e ab,bc->ac --sizes 16,16,16",
    "~loops -e ab,bc->ac --sizes 16,16,16 --run",
    "loops small.json --op proj",
    "~bench list.json -s greedy,firstfit",
    "~bench list.json -s greedy -o out --force -q",
    "report r.jsonl",
    "report r.jsonl -f md",
    "report r.jsonl --html -o out",
    "sweep @patterns/graphs/rms_norm.json -s greedy --steps 3 -j1",
    "cache kept",
    "help plan",
    "help",
    "explore @patterns/graphs/rms_norm.json --size 80x24 --script <wait>2j3j4 --dump-screen out",
    "explore a.plan --size 100x30 --script <wait>5j6j7 --dump-screen out",
};

/* In memory where there is such a place: what is written is synced each time. */
static char in_memory[] = "/dev/shm/failing_memory_XXXXXX", on_disk[] = "/tmp/failing_memory_XXXXXX";
static char *home;

static int split(const char *line, char *buffer, size_t size, char **words)
{
    int count = 0;
    size_t used = 0;
    words[count++] = strdup("lxplan");
    for (const char *s = line; *s && count < MOST_WORDS - 1; count++) {
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

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) abort();
}

static void redirect(const char *path, int fd)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, fd) < 0) _exit(120);
    close(file);
}

/* In a child: the command, with the fault. `count` (shared) gets the number of allocations. */
static int run_one(const char *line, long first, long last, _Atomic long *count)
{
    pid_t child = fork();
    if (child == 0) {
        char buffer[4000], *words[MOST_WORDS];
        int n = split(line, buffer, sizeof buffer, words);
        redirect(".stdout", STDOUT_FILENO);
        redirect(".stderr", STDERR_FILENO);
        alarm(PATIENCE);
        pthread_atfork(NULL, NULL, forget_faults);
        fail_at = first;
        fail_until = last;
        count_out = count;
        int code = run_program(n, words);
        if (count) *count = atomic_load(&asked);
        forget_faults();
        fflush(stdout);
        _exit(code);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child < 0 ? 121 : WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    size_t room = 1 << 16, n = 0, got;
    char *text = __libc_malloc(room);
    if (!f || !text) return free(text), strdup("(none)");
    while ((got = fread(text + n, 1, room - n - 1, f)) > 0)
        if ((n += got) + 1 >= room) text = __libc_realloc(text, room *= 2);
    text[n] = 0;
    fclose(f);
    return text;
}

/* Times differ from run to run: a number before "ms", "us" or "s", or after a key of seconds, becomes one #, unit and all. */
static void blank_times(char *text)
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

struct outcome {
    int code;
    char *out, *err, *file, *second;
};

static void forget(struct outcome *o)
{
    free(o->out);
    free(o->err);
    free(o->file);
    free(o->second);
}

static struct outcome attempt(const char *line, long first, long last, _Atomic long *count)
{
    struct outcome o = {0};
    write_file("out", "as it was\n");
    unlink("report");
    o.code = run_one(line, first, last, count);
    o.out = slurp(".stdout");
    o.err = slurp(".stderr");
    o.file = slurp("out");
    o.second = slurp("report");
    blank_times(o.out);
    blank_times(o.file);
    return o;
}

static bool leaves_something(void)
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

static bool same(const struct outcome *a, const struct outcome *b)
{
    return a->code == b->code && strcmp(a->out, b->out) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->second, b->second) == 0;
}

/* What is wrong with how it took the fault; NULL: nothing. */
static const char *judge(const struct outcome *with, const struct outcome *without, bool measures)
{
    if (leaves_something()) return "a temporary file is left";
    if (with->code >= 1000) return "killed by a signal";
    if (same(with, without) || (measures && with->code == without->code)) return NULL;
    if (with->code == without->code) return "ended as without the fault, but with something else";
    if (with->code != 3) return "another exit code";
    if (strlen(with->err) < 10) return "nothing is said";
    if (!strstr(with->err, "memory")) return "memory is not what it speaks of";
    bool old = strcmp(with->file, "as it was\n") == 0;
    if (!measures && !old && strcmp(with->file, without->file) != 0) return "a file is half written";
    return NULL;
}

/* The first lines that differ. */
static void show_difference(const char *a, const char *b)
{
    size_t n = 0, from = 0;
    for (; a[n] && a[n] == b[n]; n++)
        if (a[n] == '\n') from = n + 1;
    if (!a[n] && !b[n]) return;
    if (n > from + 60) from = n - 60;
    printf("        with    %.*s\n        without %.*s\n", (int)strcspn(a + from, "\n"), a + from,
           (int)strcspn(b + from, "\n"), b + from);
}

static int report(const char *line, long first, long last, const char *why, const struct outcome *o,
                  const struct outcome *plain)
{
    size_t n = strcspn(o->err, "\n");
    printf("%s\n    allocation %ld%s fails: %s (exit %d: %.*s)\n", line, first, last > first ? " on" : "",
           why, o->code, (int)(n < 150 ? n : 150), o->err);
    if (o->code == plain->code) {
        show_difference(o->out, plain->out);
        show_difference(o->file, plain->file);
        show_difference(o->second, plain->second);
    }
    return 1;
}

/* Returns how many faults were taken wrongly. */
static int torture(const char *line, long most, _Atomic long *count, long *tried)
{
    int bad = 0;
    bool measures = *line == '~';
    line += measures;
    struct outcome first = attempt(line, 0, 0, count), plain = attempt(line, 0, 0, count);
    long all = *count, step = all / most + 1;
    bool usable = (measures || same(&first, &plain)) && plain.code != 2;
    if (!usable) {
        printf("%s\n    is not the same twice, or no command: exit %d, %d: %s\n", line, first.code,
               plain.code, plain.err);
        bad = 1;
    }
    forget(&first);
    for (long n = 1; usable && n <= all; n += step)
        for (int kind = 0; kind < 2; kind++) {
            long last = kind ? INT64_MAX : n;
            struct outcome o = attempt(line, n, last, NULL);
            const char *why = judge(&o, &plain, measures);
            if (why) bad += report(line, n, last, why, &o, &plain);
            (*tried)++;
            forget(&o);
        }
    forget(&plain);
    return bad;
}

static void prepare(void)
{
    for (size_t i = 0; i < sizeof made_first / sizeof *made_first; i++)
        if (run_one(made_first[i], 0, 0, NULL) != 0)
            printf("%s: %s\n", made_first[i], slurp(".stderr")), exit(1);
}

static void clean_up(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    if (chdir("/") != 0 || system(command) != 0) puts("the scratch folder stays");
}

int main(int argc, char **argv)
{
    _Atomic long *count = NULL;
    long most = getenv("LXPLAN_ALL") ? LONG_MAX : SAMPLE, tried = 0;
    const char *only = NULL;
    int bad = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--most") == 0 && i + 1 < argc)
            most = atol(argv[++i]);
        else
            only = argv[i];
    setvbuf(stdout, NULL, _IOLBF, 0);
    home = mkdtemp(access("/dev/shm", W_OK) == 0 ? in_memory : on_disk);
    if (!home || chdir(home) != 0 || most < 1) return 1;
    setenv("XDG_CONFIG_HOME", home, 1);
    setenv("NO_COLOR", "1", 1);
    int shared = open("count", O_RDWR | O_CREAT, 0600);
    if (shared < 0 || ftruncate(shared, sizeof *count) != 0) return 1;
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    if (count == MAP_FAILED) return 1;
    prepare();
    for (size_t i = 0; i < sizeof tortured / sizeof *tortured; i++)
        if (!only || strstr(tortured[i], only)) bad += torture(tortured[i], most, count, &tried);
    clean_up();
    printf("%ld faults, %d taken wrongly\n", tried, bad);
    return bad > 0;
}
