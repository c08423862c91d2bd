/* One solver per way to misbehave: dying, hanging, eating memory, lying, coming late, making noise. What
 * bench must survive and report is in tests/unit/app/test_bench.c. */
#include "rogue/rogue.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ALL = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT };

#define UNUSED(problem, run, answer) (void)(problem), (void)(run), (void)(answer)

/* A real death by signal, also under a sanitizer, which would turn a wild write into an exit. */
static bool crash(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    UNUSED(problem, run, answer);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return true;
}

static bool leave(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    UNUSED(problem, run, answer);
    _exit(0);
}

/* Deaf to every limit and to polite signals. */
static bool hang(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    (void)run, (void)answer;
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    while (problem) sleep(1);
    return true;
}

/* Reports once that it runs, so that a test need not guess when. */
static void report_waiting(void)
{
    static bool reported;
    if (!reported) fputs("rogue: waiting\n", stderr);
    reported = true;
}

/* Does not look whether it is to stop; signals do what the program says. */
static bool hear_nothing(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    (void)run, (void)answer;
    report_waiting();
    while (problem) sleep(1);
    return true;
}

/* Takes memory until there is none, and says so like a good solver. */
static bool eat(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    static char *volatile last; /* or a compiler would see that no one reads what is taken */
    enum { BITE = 1 << 20 };
    UNUSED(problem, run, answer);
    for (;;) {
        last = malloc(BITE);
        if (!last) return false;
        memset(last, 1, BITE);
    }
}

/* The same with memory that no limit on private data sees, and without an end. */
static bool gorge(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    (void)run, (void)answer;
    enum { BITE = 1 << 20 };
    while (problem) {
        char *p = mmap(NULL, BITE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p != MAP_FAILED) memset(p, 1, BITE);
    }
    return true;
}

/* Everything at address 0, and proud of it. */
static bool lie(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    (void)run;
    for (int32_t i = 0; i < problem->count; i++) answer->address[i] = 0;
    answer->status = LX_OPTIMAL;
    return true;
}

/* The worst legal answer, claimed to be the best. */
static bool boast(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    (void)run;
    answer->bound = 0;
    for (int32_t i = 0; i < problem->count; i++) answer->bound += problem->buffers[i].spill_cost;
    answer->status = LX_OPTIMAL;
    return true;
}

static bool deny(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    UNUSED(problem, run, answer);
    answer->status = LX_INFEASIBLE;
    return true;
}

/* Ends in good order, but after the limit and before it is killed. */
static bool come_late(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    (void)problem, (void)answer;
    double seconds = run->time_limit * 1.2;
    struct timespec moment = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&moment, NULL);
    return true;
}

/* Everything off chip, but only when it is told to stop. */
static bool wait_for_stop(const struct lx_problem *problem, const struct lx_run *run,
                          struct lx_answer *answer)
{
    const struct timespec moment = {0, 10 * 1000 * 1000};
    report_waiting();
    while (run->stop && !run->stop(run->context)) nanosleep(&moment, NULL);
    for (int32_t i = 0; i < problem->count; i++) answer->address[i] = -1;
    answer->status = LX_FEASIBLE;
    return true;
}

/* Prints, and writes into every file that it finds open: only its own pipe may suffer. */
static bool make_noise(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    UNUSED(problem, run, answer);
    puts("noise on standard output");
    fflush(stdout);
    for (int fd = 0; fd < 64; fd++)
        if (fd != STDERR_FILENO && write(fd, "garbage\n", 8) < 0) continue;
    return true;
}

/* Honest: each buffer by a throw of dice, one behind the other, so that the seed decides the value. */
static bool throw_dice(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    struct timespec moment = {0, 3000000};
    uint64_t state = run->seed * 0x9e3779b97f4a7c15u + 1;
    int64_t at = 0;
    nanosleep(&moment, NULL);
    for (int32_t i = 0; i < problem->count; i++) {
        const struct lx_buffer *b = &problem->buffers[i];
        state = state * 6364136223846793005u + 1442695040888963407u;
        answer->steps++;
        if (!lx_may_be_placed(problem, b) || b->fixed >= 0 || state >> 63 || at + b->size > problem->capacity)
            continue;
        answer->address[i] = at;
        at += (b->size + problem->alignment - 1) / problem->alignment * problem->alignment;
    }
    answer->stats[answer->stat_count++] = (struct lx_stat){"end", at};
    return true;
}

#define ROGUE(id, text, does, more)                                                                          \
    const struct lx_solver id = {                                                                            \
        .abi = LX_SOLVER_ABI, .name = #id, .summary = text, .caps = ALL | (more), .solve = does}

ROGUE(rogue_crash, "dies of a signal", crash, 0);
ROGUE(rogue_exit, "ends the process without an answer", leave, 0);
ROGUE(rogue_hang, "never ends", hang, 0);
ROGUE(rogue_memory, "takes all memory", eat, 0);
ROGUE(rogue_glutton, "takes shared memory without end", gorge, 0);
ROGUE(rogue_liar, "answers with an illegal placement", lie, LX_CAN_PROVE);
ROGUE(rogue_boast, "claims a false bound", boast, LX_CAN_PROVE);
ROGUE(rogue_denier, "claims that nothing fits", deny, LX_CAN_PROVE);
ROGUE(rogue_late, "answers after the time limit", come_late, 0);
ROGUE(rogue_noise, "writes where it must not", make_noise, 0);
ROGUE(rogue_wait, "answers when it is stopped", wait_for_stop, 0);
ROGUE(rogue_deaf, "never looks at its stop", hear_nothing, 0);
ROGUE(rogue_dice, "draws lots", throw_dice, LX_IS_SEEDED);
