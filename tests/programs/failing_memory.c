/* Every allocation of every command fails in turn: once, and from there on; of those that solve by GLPK also every one inside of it.
 *
 *     build/bin/failing_memory [--most N | --stacks | --seconds N] [--first N] [TEXT]
 *
 * The program itself runs in a child per fault (support/tried_program.h). A command that meets the fault has
 * to say so and end with exit code 3, or to do all the same what it does without it: the same words, the same files, byte for
 * byte. Nothing is half written, no temporary file is left, nothing crashes. Processes that the command starts have memory
 * again: what one of them may lack is a result, not a fault. Of each command and kind about SAMPLE faults are tried, with
 * --most so many, with LXPLAN_ALL set all, with --stacks the first from each stack of calls; with --seconds, a row of ./bootstrap torture, any of any, for that long, --first being the seed.
 * TEXT: commands that have it in them. */
#include "base/rng.h"
#include "support/failing_allocator.h"
#include "support/tried_program.h"
#include "torture/torture.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>

/* The C library takes a locale that it could not load for one that is not there, and does not always say why. */
SEEN_BY_ALL char *setlocale(int category, const char *name)
{
    char *(*real)(int, const char *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "setlocale");
    long before = atomic_load(&allocator.asked);
    char *set = real(category, name);
    bool failed = allocator.first > before && allocator.first <= atomic_load(&allocator.asked);
    if (!set && failed) errno = ENOMEM;
    return set;
}

enum { SAMPLE = 2, FRAMES = 14, STACK_SLOTS = 1 << 18 };

/* What is made first, without faults, for the commands to read. @ is the folder of the sources. */
static const char *const made_first[] = {
    "plan @patterns/graphs/rms_norm.json -o a.plan -q",
    "plan @patterns/graphs/rms_norm.json -s greedy --lx 20k -o b.plan -q",
    "plan @patterns/graphs/rms_norm.json --team 2 -o team.plan -q",
    "bench @patterns/graphs/rms_norm.json -s greedy,firstfit -o r.jsonl -q",
    "gen random --buffers 30 -o list.json",
    "gen random --buffers 10 --seed 3 -o tight.json",
    "import @tests/data/models/small.mlir --dim %x:0=128 -o small.json",
};

/* The commands; what has -o writes to a file that is there already. ~: measures, so that words and figures are others each time. */
static const char *const tortured[] = {
    "plan @patterns/graphs/rms_norm.json -o out",
    "plan @patterns/graphs/rms_norm.json --json",
    "plan @patterns/graphs/mlp_small.json --cooptimise full --evict --reorder --move --objective bytes -o "
    "out -q",
    "plan @patterns/graphs/attention_small.json --tile auto --online auto --objective bytes -o out -q",
    "plan @patterns/graphs/rms_norm.json --objective time -o out -q",
    "plan list.json -s greedy -o out",
    "plan list.json -s bestfit -o out",
    "plan list.json -s anneal --work 2000 -o out",
    "plan list.json -s exact --work 2000 -o out",
    "plan tight.json -s ilp --lx 300k --work 2000 -o out",
    "plan list.json -s auto --work 2000 --objective height -o out",
    "plan list.json -s exact --work 2000 --objective fit -o out",
    "plan @patterns/graphs/rms_norm.json --stage divide",
    "plan @patterns/graphs/rms_norm.json --stage layout",
    "plan @patterns/graphs/rms_norm.json --stage launch",
    "plan @patterns/graphs/rms_norm.json --stage scratchpad --json",
    "plan @patterns/graphs/rms_norm.json --stages",
    "plan @patterns/graphs/rms_norm.json --explain x",
    "plan @patterns/graphs/rms_norm.json --team 2 -o out -q",
    "plan @patterns/graphs/rms_norm.json --team 2x2 --objective time -o out -q",
    "plan @patterns/graphs/rms_norm.json --team 2 --stage team",
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
    "help plan",
    "help",
    "explore @patterns/graphs/rms_norm.json --size 80x24 --script <wait>2j3j4 --dump-screen out",
    "explore a.plan --size 100x30 --script <wait>5j6j7 --dump-screen out",
};

enum { COMMANDS = sizeof tortured / sizeof *tortured };

/* Which allocations: the one, or all from there on; everybody's, or those of GLPK, which ends the process where nobody holds it back. */
static const struct kind {
    const char *words;
    bool on, in_glpk;
} kinds[] = {{"allocation %ld fails", false, false},
             {"allocation %ld and all after it fail", true, false},
             {"allocation %ld of GLPK fails", false, true},
             {"allocation %ld of GLPK and all after it fail", true, true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct {
    uintptr_t low, high; /* where the code of GLPK is; 0: not here, or not in a library of its own */
    long tried, same, inside;
    int bad;
} all;

static int find_glpk(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size, (void)context;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libglpk")) return 0;
    all.low = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (from < all.low) all.low = from;
        if (from + part->p_memsz > all.high) all.high = from + part->p_memsz;
    }
    return 1;
}

/* Filled by the child that counts. */
static struct told {
    long count;                  /* of allocations */
    atomic_flag busy;            /* threads allocate, too */
    long stacks;                 /* different ones */
    long first[STACK_SLOTS / 2]; /* the first allocation from each */
    uint64_t hash[STACK_SLOTS];
} * told;

/* Allocations from the same stack of calls have the same to clean up. */
static void note_stack(long n)
{
    void *frame[FRAMES + 2];
    int count = backtrace(frame, FRAMES + 2);
    uint64_t hash = 1;
    for (int i = 2; i < count; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)frame[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    while (atomic_flag_test_and_set(&told->busy)) continue;
    uint64_t slot = hash % STACK_SLOTS;
    while (told->hash[slot] && told->hash[slot] != hash) slot = (slot + 1) % STACK_SLOTS;
    if (!told->hash[slot] && told->stacks < STACK_SLOTS / 2) {
        told->hash[slot] = hash;
        told->first[told->stacks++] = n;
    }
    atomic_flag_clear(&told->busy);
}

struct fault {
    const struct kind *kind;
    long at; /* 0: none, they are counted */
    bool by_stack;
};

static void forget_faults(void)
{
    allocator.counts = false;
}

static void fault_begin(void *context)
{
    const struct fault *f = context;
    pthread_atfork(NULL, NULL, forget_faults);
    if (f->kind->in_glpk) allocator.low = all.low, allocator.high = all.high;
    if (f->by_stack) {
        void *frame[1];
        backtrace(frame, 1); /* the first time it allocates */
        allocator.watch = note_stack;
    }
    allocations_begin(f->at, f->kind->on ? LONG_MAX : f->at);
}

static void fault_end(void *context)
{
    const struct fault *f = context;
    long n = allocations_end();
    if (!f->at) told->count = n;
}

static bool concerns(const struct kind *k, const char *line)
{
    return !k->in_glpk || (all.high && strstr(line, "-s ilp"));
}

/* How it goes without a fault, and how many there could be of each kind. */
struct command_case {
    const char *line;
    bool measures, usable;
    struct outcome plain;
    long count[KINDS];
};

static void get_ready(struct command_case *c, const char *line)
{
    c->measures = *line == '~';
    c->line = line + c->measures;
    struct fault none = {&kinds[0], 0, false};
    const struct tried_fault counted = {fault_begin, fault_end, &none};
    c->usable = tried_plain(c->line, c->measures, &counted, &c->plain);
    for (int k = 0; k < KINDS && c->usable; k++) {
        none.kind = &kinds[k];
        told->count = 0;
        if (!concerns(&kinds[k], c->line)) continue;
        struct outcome o = tried_attempt(c->line, &counted);
        tried_forget(&o);
        c->count[k] = told->count;
    }
    if (!c->usable) all.bad++;
}

/* What is wrong, in words that `words` holds; NULL: nothing. */
static const char *try_fault(const struct command_case *c, int k, long at, char words[400])
{
    struct fault f = {&kinds[k], at, false};
    const struct tried_fault fault = {fault_begin, fault_end, &f};
    struct outcome o = tried_attempt(c->line, &fault);
    const char *why = tried_judge(&o, &c->plain, c->measures, 3, "memory");
    all.tried++;
    all.inside += kinds[k].in_glpk;
    all.same += !why && o.code == c->plain.code;
    if (why) {
        char which[100];
        snprintf(which, sizeof which, kinds[k].words, at);
        tried_report(c->line, which, why, &o, &c->plain);
        snprintf(words, 400, "%s: %s: %s", c->line, which, why);
        all.bad++;
    }
    tried_forget(&o);
    return why ? words : NULL;
}

static void try_command(const char *line, long most)
{
    struct command_case c = {0};
    char words[400];
    get_ready(&c, line);
    for (int k = 0; c.usable && k < KINDS; k++)
        for (long n = 1, step = c.count[k] / most + 1; n <= c.count[k]; n += step) try_fault(&c, k, n, words);
    tried_forget(&c.plain);
}

/* The first allocation from each stack of calls: what else there is to an allocation is how much was there before it. */
static void try_stacks(const char *line)
{
    struct command_case c = {0};
    char words[400];
    get_ready(&c, line);
    for (int k = 0; c.usable && k < KINDS; k++) {
        struct fault none = {&kinds[k], 0, true};
        const struct tried_fault counted = {fault_begin, fault_end, &none};
        if (!concerns(&kinds[k], c.line)) continue;
        memset(told, 0, sizeof *told);
        struct outcome o = tried_attempt(c.line, &counted);
        tried_forget(&o);
        long stacks = told->stacks;
        for (long n = 0; n < stacks; n++) try_fault(&c, k, told->first[n], words);
        if (k == 0)
            printf("%s: %ld stacks of %ld allocations\n", c.line, stacks, told->count), fflush(stdout);
    }
    tried_forget(&c.plain);
}

/* Any fault of any command, one after the other until the time is over; a row of the torture. */
static void try_any(double seconds, uint64_t seed, const char *only)
{
    static struct command_case cases[COMMANDS];
    struct torture t = {.name = "memory", .seed = seed};
    struct rng r = rng_seed(seed);
    double ends = torture_clock() + seconds;
    char words[400];
    for (int i = 0; i < COMMANDS && torture_clock() < ends; i++)
        if (!only || strstr(tortured[i], only)) get_ready(&cases[i], tortured[i]);
    for (int i = 0; torture_clock() < ends; i = (i + 1) % COMMANDS) {
        int k = (int)rng_below(&r, KINDS);
        if (!cases[i].usable || !cases[i].count[k]) continue;
        const char *why = try_fault(&cases[i], k, rng_between(&r, 1, cases[i].count[k]), words);
        if (why) torture_fault(&t, TORTURE_DISAGREE, "%s", why);
    }
    for (int i = 0; i < COMMANDS; i++) t.count[TORTURE_QUESTIONS] += cases[i].usable;
    t.count[TORTURE_JUDGED] = all.tried;
    t.count[TORTURE_BEST] = all.same;
    torture_row(&t);
}

int main(int argc, char **argv)
{
    long most = getenv("LXPLAN_ALL") ? LONG_MAX : SAMPLE, seconds = 0, seed = 1;
    const char *only = NULL;
    bool stacks = false;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--most") == 0 && i + 1 < argc)
            most = atol(argv[++i]);
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = atol(argv[++i]);
        else if (strcmp(argv[i], "--first") == 0 && i + 1 < argc)
            seed = atol(argv[++i]);
        else if (strcmp(argv[i], "--stacks") == 0)
            stacks = true;
        else
            only = argv[i];
    told = tried_shared(sizeof *told);
    if (most < 1 || !told || !tried_enter()) return 1;
    dl_iterate_phdr(find_glpk, NULL);
    bool ready = tried_prepare(made_first, sizeof made_first / sizeof *made_first);
    if (ready && seconds > 0) try_any((double)seconds, (uint64_t)seed, only);
    for (int i = 0; ready && seconds <= 0 && i < COMMANDS; i++)
        if (!only || strstr(tortured[i], only))
            stacks ? try_stacks(tortured[i]) : try_command(tortured[i], most);
    tried_leave();
    if (ready && seconds <= 0 && all.high && !only && !all.inside)
        all.bad++, puts("GLPK was not asked for anything"); /* in little time it need not be */
    if (seconds <= 0)
        printf("%ld faults, %ld of them inside GLPK, %ld without effect, %d taken wrongly\n", all.tried,
               all.inside, all.same, all.bad);
    return !ready || all.bad > 0;
}
