/* A target of the fuzzer without libFuzzer: each seed as it is, then seeds damaged at random, the same ones in every run.
 *
 *   fuzz_TARGET MUTATIONS FOLDER    the files of FOLDER, and so many damaged ones; silent but for its own last line
 *   fuzz_TARGET FILE ...            these, with all that is said: to see again what failed
 *
 * An input on which the target dies is kept as FOLDER.failed, and the way to see it again is told; one that takes long, the
 * slowest of all, as FOLDER.slowest. */
#include "fuzz/fuzz_target.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "support/model_damage.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SEEDS = 1000, ROOM = 4096, MOST_ROUNDS = 4, MOST_BYTES = 1 << 16 };

struct seed {
    char *text;
    size_t length;
};

static struct {
    const char *program, *folder;
    int said; /* standard error as it was */
    const char *text;
    size_t length;
    long number;
    double slowest; /* seconds; what takes less than so many is not kept */
} now = {.slowest = 0.5};

static bool put_now(char *path, size_t room, const char *ending)
{
    int n = snprintf(path, room, "%s.%s", now.folder, ending);
    int fd = n < (int)room ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    bool kept = fd >= 0 && write(fd, now.text, now.length) == (ssize_t)now.length;
    if (fd >= 0) close(fd);
    return kept;
}

/* By calls only that a handler of signals may make. */
static void keep(int number)
{
    char path[1100], line[1400];
    bool kept = put_now(path, sizeof path, "failed");
    int n = snprintf(line, sizeof line, "input %ld ended by signal %d%s; see it again: %s %s\n", now.number,
                     number, kept ? "" : ", and could not be kept", now.program, path);
    if (write(now.said, line, (size_t)n) < 0) _exit(3);
    signal(number, SIG_DFL);
    raise(number);
}

static void one(const char *text, size_t length)
{
    char path[1100];
    clock_t before = clock();
    now.text = text;
    now.length = length;
    LLVMFuzzerTestOneInput((const uint8_t *)text, length);
    now.number++;
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    if (seconds <= now.slowest) return;
    now.slowest = seconds;
    put_now(path, sizeof path, "slowest");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_seed(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int read_seeds(const char *folder, struct seed *out)
{
    struct dirent **list;
    int count = scandir(folder, &list, is_seed, by_name), n = 0;
    for (int i = 0; i < count; i++) {
        char path[1400];
        lx_status st;
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        out[n].text = n < MOST_SEEDS ? file_read(path, &out[n].length, &st) : NULL;
        if (out[n].text) n++;
        free(list[i]);
    }
    if (count >= 0) free(list);
    return n;
}

/* Most seeds are damaged in one place, some in several. */
static void damage_and_try(struct rng *r, const struct seed *s)
{
    size_t length = s->length < MOST_BYTES ? s->length : MOST_BYTES, room = length + ROOM;
    char *from = mem_alloc(room + 1), *to = mem_alloc(room + 1);
    fuzz_must(from && to, "no memory", NULL);
    memcpy(to, s->text, length);
    for (uint64_t rounds = 1 + rng_below(r, MOST_ROUNDS) * rng_below(r, 2); rounds > 0; rounds--) {
        char *other = from;
        from = to;
        to = other;
        length = damage_model(r, to, from, length, room);
    }
    one(to, length);
    mem_free(from);
    mem_free(to);
}

static int on_corpus(const char *folder, long mutations)
{
    static struct seed seeds[MOST_SEEDS + 1];
    static const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    int count = read_seeds(folder, seeds), nowhere = open("/dev/null", O_WRONLY), said_out = dup(1);
    struct rng r = rng_seed(1);
    if (count == 0) return fprintf(stderr, "no seeds in %s\n", folder), 2;
    now.said = dup(2);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], keep);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    for (int i = 0; i < count; i++) one(seeds[i].text, seeds[i].length);
    for (long i = 0; i < mutations; i++) damage_and_try(&r, &seeds[rng_below(&r, (uint64_t)count)]);
    for (int i = 0; i < count; i++) mem_free(seeds[i].text);
    dup2(now.said, 2);
    dup2(said_out, 1);
    printf("%d seeds, %ld inputs: no fault\n", count, now.number);
    return 0;
}

int main(int argc, char **argv)
{
    struct stat info;
    char *end = NULL;
    long mutations = argc == 3 ? strtol(argv[1], &end, 10) : -1;
    now.program = argv[0];
    now.folder = argv[argc - 1];
    if (argc == 3 && !*end && stat(argv[2], &info) == 0 && S_ISDIR(info.st_mode))
        return on_corpus(argv[2], mutations);
    for (int i = 1; i < argc; i++) {
        struct seed s;
        lx_status st;
        s.text = file_read(argv[i], &s.length, &st);
        if (!s.text) return fprintf(stderr, "%s\n", st.text), 2;
        one(s.text, s.length);
        mem_free(s.text);
    }
    return argc > 1 ? 0 : (fprintf(stderr, "usage: %s MUTATIONS FOLDER | FILE ...\n", argv[0]), 2);
}
