/* Damaged programs: each is caught, or shown to change nothing.
 *
 *     build/bin/bench_sabotage [--on gpu|host] [--count N] [--seed N] [--jobs N] [--all] PLAN ...
 *
 * One thing of a plan's program is changed: an address by a stick, the cores' starts exchanged, a copy or a
 * sync left out. Scratchpads begin with NaNs, and cores stop at random where they meet. Each program runs in a
 * process of its own, in three orders of the cores. Caught: the outputs have other bits than those of the
 * right program, or the machine ends it (an address outside, a wait in vain). A line for each program that is
 * not caught (--all: for each). Exit code: 0, the right programs are right in all orders; 1, one is not; 2,
 * usage. */
#include "unstable.h"
#include "base/memory.h"
#include "base/rng.h"
#include "emit/emit.h"
#include "gpu/machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDERS = 3, ROOM = 512, MOST_JOBS = 64, MOST_PLACES = 4096 };
enum ended { SAME, OTHER_BITS, MACHINE, NOT_COMPILED, ENDS };

static const char *const end_words[ENDS] = {"the same bits", "other bits", "ended by the machine",
                                            "not compiled"};

/* `to` NULL: the statement that begins there is left out. */
static const struct damage {
    const char *name, *from, *to;
} damages[] = {
    {"address in LX", "LX(", "LX(128 + "},
    {"address in HBM", "hbm + ", "hbm + 128 + "},
    {"address aside", "aside + ", "aside + 128 + "},
    {"starts exchanged", "core % ", "(core ^ 1) % "},
    {"starts exchanged", "core / ", "(core ^ %d) / "}, /* by what it is divided by */
    {"load left out", "copy16_in(", NULL},
    {"copy left out", "copy16(", NULL},
    {"sync left out", "sync_all(", NULL},
    {"sync left out", "sync_ends(", NULL},
    {"meeting of a group left out", "meet_group(", NULL},
};

enum { DAMAGES = sizeof damages / sizeof *damages };

static const char kernel_begins[] =
    "KERNEL plan(char *hbm, char *aside, char *trace, unsigned *counters, unsigned *fault)\n{";

/* A plan, its program, and the outputs that are right, in memory that all processes share. */
struct victim {
    const char *name;
    struct lx_plan *plan;
    struct text text;
    struct emit_facts facts;
    unsigned char *start, *right;
};

struct attempt_at {
    const struct victim *victim;
    int damage, which; /* damage -1: none */
    pid_t pid;
};

static const struct machine_kind *kind = &machine_kind_host;

/* `text` with the bytes [at, at + length) replaced. */
static void replace(struct text *text, size_t at, size_t length, const char *by)
{
    struct text t = {0};
    text_add_n(&t, text->at, at);
    text_add(&t, by);
    text_add(&t, text->at + at + length);
    text_free(text);
    *text = t;
}

static size_t place_of(const struct text *text, const char *what, int which)
{
    const char *kernel = strstr(text->at, kernel_begins), *at = kernel ? strstr(kernel, what) : NULL;
    while (at && which-- > 0) at = strstr(at + 1, what);
    return at ? (size_t)(at - text->at) : 0;
}

static int places_of(const struct text *text, const char *what)
{
    int n = 0;
    while (n < MOST_PLACES && place_of(text, what, n)) n++;
    return n;
}

static void damage_text(struct text *text, const struct damage *d, int which)
{
    size_t at = place_of(text, d->from, which);
    size_t length = d->to ? strlen(d->from) : strcspn(text->at + at, ";");
    char by[40] = "(void)0";
    if (d->to) snprintf(by, sizeof by, "%s", d->to);
    char *number = strstr(by, "%d");
    if (number) snprintf(number, 20, "%d) / ", atoi(text->at + at + length));
    replace(text, at, length, by);
}

/* Scratchpads of NaNs, and cores that stop where they meet. */
static void disturb(struct text *text, int order)
{
    static const char waits[] = "unsigned waits = ", meets[] = "INLINE void meet_core(void)\n{\n";
    char stop[400];
    const char *line = strstr(strstr(text->at, kernel_begins), waits);
    replace(text, (size_t)(line - text->at) + strcspn(line, "\n") + 1, 0, "    poison();\n");
    if (order == 0) return;
    snprintf(stop, sizeof stop,
             kind->on == EMIT_CUDA
                 ? "    const unsigned h = ((unsigned)CORE * 40503u + %du) * 2654435761u >> 8;\n"
                   "    if (h %% 2) __nanosleep(h / 2 %% 100000);\n"
                 : "    static _Thread_local unsigned long step;\n"
                   "    const struct timespec t = {0, (long)((CORE * 7919u + ++step * 104729u + %du) %% 97 * "
                   "20000)};\n"
                   "    nanosleep(&t, NULL);\n",
             order * 7717);
    replace(text, (size_t)(strstr(text->at, meets) - text->at) + sizeof meets - 1, 0, stop);
}

static bool outputs_same(const struct victim *v, const unsigned char *hbm)
{
    const struct lx_graph *g = v->plan->layouts->graph;
    bool same = true;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        int64_t at = v->plan->hbm_address[t];
        if (at >= 0 && lx_role_leaves(g->tensors[t].role))
            same &=
                memcmp(hbm + at, v->right + at, (size_t)lx_layout_bytes(&v->plan->layouts->layouts[t])) == 0;
    }
    return same;
}

/* One order of one program; `right`: its memory is kept. */
static enum ended run_once(const struct attempt_at *a, int order, bool right)
{
    const struct victim *v = a->victim;
    struct text text = {0};
    lx_status st = {0};
    size_t bytes = (size_t)v->facts.hbm_bytes;
    text_add(&text, v->text.at);
    if (a->damage >= 0) damage_text(&text, &damages[a->damage], a->which);
    disturb(&text, order);
    void *machine = kind->open(&text, &v->facts, &st);
    text_free(&text);
    if (!machine) return fprintf(stderr, "%s\n", st.text), NOT_COMPILED;
    unsigned char *hbm = mem_zeroed(bytes + ROOM, 1);
    memcpy(hbm, v->start, bytes);
    enum ended end = !kind->run(machine, hbm, NULL, &st) ? MACHINE
                     : right || outputs_same(v, hbm)     ? SAME
                                                         : OTHER_BITS;
    if (right && end == SAME) memcpy(v->right, hbm, bytes);
    kind->close(machine);
    mem_free(hbm);
    return end;
}

/* In a process: the worst of the orders is the exit code. */
static pid_t run_begin(const struct attempt_at *a, bool right)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0) return pid;
    enum ended end = SAME;
    alarm(180);
    for (int order = 0; order < ORDERS && end == SAME; order++) end = run_once(a, order, right && order == 0);
    _exit((int)end);
}

/* How one of the processes has ended; -1 with `*who` unset: none is left. */
static enum ended run_end(struct attempt_at *list, int count, int *who)
{
    int status;
    pid_t pid = wait(&status);
    *who = -1;
    for (int i = 0; i < count; i++)
        if (list[i].pid == pid && pid > 0) *who = i;
    return WIFEXITED(status) && WEXITSTATUS(status) < ENDS ? (enum ended)WEXITSTATUS(status) : MACHINE;
}

static bool victim_make(struct victim *v, const char *path)
{
    lx_status st = {0};
    *v = (struct victim){.name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
                         .plan = lx_plan_read(path, &st)};
    if (!v->plan || !emit_program(v->plan, &(struct emit_options){.on = kind->on}, &v->text, &v->facts, &st))
        return fprintf(stderr, "%s: %s\n", path, st.text), false;
    v->start = program_memory(v->plan, &(struct lx_device_options){0});
    v->right = mmap(NULL, (size_t)v->facts.hbm_bytes + ROOM, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct attempt_at right = {.victim = v, .damage = -1};
    right.pid = run_begin(&right, true);
    int who;
    enum ended end = run_end(&right, 1, &who);
    if (end != SAME) fprintf(stderr, "%s: the right program: %s\n", v->name, end_words[end]);
    return end == SAME;
}

/* A place of a kind of damage, both drawn; kinds that the program has no place for are passed over. */
static void attempt_draw(const struct victim *v, struct rng *random, struct attempt_at *out)
{
    int places;
    do {
        out->damage = (int)rng_below(random, DAMAGES);
        places = places_of(&v->text, damages[out->damage].from);
    } while (places == 0);
    out->victim = v;
    out->which = (int)rng_below(random, (uint64_t)places);
}

static void attempt_say(const struct attempt_at *a, enum ended end)
{
    size_t at = place_of(&a->victim->text, damages[a->damage].from, a->which);
    const char *text = a->victim->text.at, *line = text + at;
    while (line > text && line[-1] != '\n') line--;
    line += strspn(line, " ");
    printf("%-22s %-28s %-20s %.*s\n", a->victim->name, damages[a->damage].name, end_words[end],
           (int)strcspn(line, "\n") > 110 ? 110 : (int)strcspn(line, "\n"), line);
}

static void sabotage(struct attempt_at *list, int count, int jobs, bool all)
{
    int begun = 0, ended = 0, sums[DAMAGES][ENDS] = {{0}}, who;
    while (ended < count) {
        for (; begun < count && begun - ended < jobs; begun++)
            list[begun].pid = run_begin(&list[begun], false);
        enum ended end = run_end(list, begun, &who);
        if (who < 0) continue;
        list[who].pid = 0;
        ended++;
        sums[list[who].damage][end]++;
        if (all || end == SAME || end == NOT_COMPILED) attempt_say(&list[who], end);
    }
    int total[ENDS] = {0};
    for (int d = 0; d < DAMAGES; d++) {
        printf("%-28s \"%s\"", damages[d].name, damages[d].from);
        for (int e = 0; e < ENDS; e++) {
            total[e] += sums[d][e];
            if (sums[d][e]) printf(", %d %s", sums[d][e], end_words[e]);
        }
        printf("\n");
    }
    printf("%d programs: %d caught by other bits, %d by the machine; %d change nothing in %d orders; %d not "
           "compiled\n",
           count, total[OTHER_BITS], total[MACHINE], total[SAME], ORDERS, total[NOT_COMPILED]);
}

int main(int argc, char **argv)
{
    int count = 200, seed = 1, jobs = 1, i = 1;
    bool all = false;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--all") == 0)
            all = true;
        else if (i + 1 == argc)
            return fputs("bench_sabotage: an option without its value\n", stderr), 2;
        else if (strcmp(argv[i], "--on") == 0)
            kind = strcmp(argv[++i], "gpu") == 0 ? &machine_kind_gpu : &machine_kind_host;
        else
            *(strcmp(argv[i], "--count") == 0  ? &count
              : strcmp(argv[i], "--seed") == 0 ? &seed
                                               : &jobs) = atoi(argv[i + 1]),
                                                 i++;
    }
    int victims = argc - i;
    if (victims < 1 || count < 1) return fputs("bench_sabotage: no plans\n", stderr), 2;
    struct victim *v = mem_zeroed((size_t)victims, sizeof *v);
    struct attempt_at *list = mem_zeroed((size_t)count, sizeof *list);
    struct rng random = rng_seed((uint64_t)seed);
    for (int k = 0; k < victims; k++)
        if (!victim_make(&v[k], argv[i + k])) return 1;
    for (int k = 0; k < count; k++) attempt_draw(&v[k % victims], &random, &list[k]);
    sabotage(list, count, jobs < 1 ? 1 : jobs > MOST_JOBS ? MOST_JOBS : jobs, all);
    for (int k = 0; k < victims; k++) {
        lx_plan_free(v[k].plan);
        text_free(&v[k].text);
        mem_free(v[k].start);
    }
    mem_free(v);
    mem_free(list);
    return 0;
}
