/* A run in a process of its own: fork, limits, pipe, kill.
 *
 * The memory limit is kept twice. In the child, RLIMIT_DATA (private writable memory, on top of what was
 * inherited) makes allocation fail, so that a well-behaved solver returns its best; unlike RLIMIT_AS it does
 * not count address space that thread stacks and allocators only reserve. In the parent, the resident set is
 * watched every few milliseconds and the process killed beyond the limit: that also catches what RLIMIT_DATA
 * does not see. A sanitizer's allocator dies where malloc would return NULL, so there only the watch is kept.
 *
 * A child is the leader of its own process group and is killed as a group; it dies with its parent. */
#include "bench/harness.h"
#include "bench/suite.h"
#include "planning/command_solver.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif
#ifndef UNDER_SANITIZER
#define UNDER_SANITIZER 0
#endif

#define WIRE_MAGIC  UINT64_C(0x6c78706c616e0001)
#define MOST_PLAN   ((size_t)64 << 20) /* bytes of a plan's text */
#define LOOK_PERIOD 0.01               /* seconds between looks at the resident set */

/* State of the one run of a child. */
static struct {
    const struct lx_solver *real;
    struct wire *wire;
    int64_t *address;
    int64_t answers, first_steps, first_value; /* better ones that it told of, and the first of them */
    int64_t base; /* bytes that a graph moves whatever is placed: part of every value */
} spied;

/* Stands between lx_problem_solve and the solver: keeps what the solver itself claims, which lx_problem_solve
 * corrects. */
static bool spy_solve(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    int64_t *address = answer->address;
    struct wire *w = spied.wire;
    bool ok = spied.real->solve(problem, run, answer);
    w->called = 1;
    w->solver_ok = ok;
    w->claim = (int32_t)answer->status;
    w->bound = answer->bound;
    memcpy(spied.address, address, (size_t)problem->count * sizeof *address);
    return ok;
}

/* Keeps when the first answer came, and shows a person who watches how far it is. */
static void note_progress(void *live, const struct lx_progress *so_far)
{
    if (so_far->address && spied.answers++ == 0) {
        spied.first_steps = so_far->steps;
        spied.first_value = spied.base + so_far->objective;
    }
    struct live *l = live;
    if (!l) return;
    l->steps = so_far->steps;
    l->objective = so_far->objective;
    l->bound = so_far->bound;
}

/* Bytes of addresses and pools. */
static size_t places_size(const struct lx_problem *p)
{
    return (size_t)p->count * (sizeof(int64_t) + sizeof(int32_t));
}

static void add_stat(struct wire *w, const char *name, int64_t value)
{
    if (w->stat_count == WIRE_STATS) return;
    snprintf(w->stats[w->stat_count].name, sizeof w->stats[0].name, "%s", name);
    w->stats[w->stat_count++].value = value;
}

static void fill_wire(struct wire *w, const struct lx_answer *a, const void *places, size_t bytes,
                      int32_t count)
{
    w->steps = a->steps;
    w->count = count;
    for (int i = 0; i < a->stat_count; i++)
        add_stat(w, a->stats[i].name ? a->stats[i].name : "", a->stats[i].value);
    if (spied.answers) {
        add_stat(w, "answers", spied.answers);
        add_stat(w, "first steps", spied.first_steps);
        add_stat(w, "first value", spied.first_value);
    }
    memcpy(w->message, a->message, sizeof w->message);
    w->message[sizeof w->message - 1] = 0;
    w->checksum = hash_bytes(HASH_START, places, bytes);
    w->magic = WIRE_MAGIC;
}

static bool send_fully(int fd, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0) {
        ssize_t n = write(fd, at, length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

/* Kilobytes of a field of /proc/PID/statm (0: all, 1: resident, 5: data and stack); 0 if unknown. */
static int64_t statm_kb(pid_t pid, int field)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, line, sizeof line - 1);
    close(fd);
    if (n <= 0) return 0;
    line[n] = 0;
    char *at = line;
    while (field-- > 0 && (at = strchr(at, ' '))) at++;
    return at ? strtoll(at, NULL, 10) * (sysconf(_SC_PAGESIZE) / 1024) : 0;
}

static void shut_in(int keep, pid_t parent, int64_t memory_mb)
{
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT};
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(125); /* it died before that took effect */
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) signal(usual[i], SIG_DFL);
    /* MPI catches these to draw a stack, and a process that went on after that would be no crash. */
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly && !UNDER_SANITIZER; i++)
        signal(deadly[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* Whatever a solver prints must not reach the user's screen, nor the results file. */
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0) {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        if (!UNDER_SANITIZER) dup2(nowhere, STDERR_FILENO);
    }
    if (keep > 3) close_range(3, (unsigned)keep - 1, 0);
    close_range((unsigned)keep + 1, ~0u, 0);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (!UNDER_SANITIZER) {
        rlim_t most = (rlim_t)(statm_kb(getpid(), 5) + (memory_mb << 10)) << 10;
        struct rlimit data;
        if (getrlimit(RLIMIT_DATA, &data) == 0 && (data.rlim_max == RLIM_INFINITY || most < data.rlim_max)) {
            data.rlim_cur = most; /* the soft one only: the report of the run lifts it again */
            setrlimit(RLIMIT_DATA, &data);
        }
    }
}

static struct cancel out_of_cpu;

static void end_of_cpu(int number)
{
    (void)number;
    atomic_store(&out_of_cpu.requested, true);
}

/* From now on this process is asked to end its work after so many seconds of CPU. */
static void limit_cpu(double seconds)
{
    double whole = floor(seconds);
    struct itimerval when = {.it_value = {(time_t)whole, (suseconds_t)((seconds - whole) * 1e6)}};
    cancel_begin(&out_of_cpu, 0);
    signal(SIGPROF, end_of_cpu);
    setitimer(ITIMER_PROF, &when, NULL);
}

static bool child_is_late(void *context)
{
    (void)context;
    return atomic_load(&out_of_cpu.requested);
}

/* CPU seconds of this process and of programs that it has waited for, or seconds of the clock. */
static double child_seconds(bool cpu)
{
    double sum = 0;
    for (int children = 0; cpu && children < 2; children++) {
        struct rusage of = {0};
        getrusage(children ? RUSAGE_CHILDREN : RUSAGE_SELF, &of);
        sum += (double)(of.ru_utime.tv_sec + of.ru_stime.tv_sec) +
               (double)(of.ru_utime.tv_usec + of.ru_stime.tv_usec) * 1e-6;
    }
    return cpu ? sum : clock_seconds();
}

/* The memory limit of the solver must not stop its report. */
__attribute__((noreturn)) static void child_report(int fd, const struct wire *wire, const void *data,
                                                   size_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_DATA, &limit);
    }
    _exit(send_fully(fd, wire, sizeof *wire) && send_fully(fd, data, bytes) ? 0 : 123);
}

/* A whole plan by the solver, as text. */
__attribute__((noreturn)) static void child_plan(const struct job *j, const struct settings *s,
                                                 const struct bench_solver *solver, uint64_t seed, int fd)
{
    static struct wire wire;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    const struct instance *n = j->instance->of;
    struct lx_settings own = solver->how;
    struct lx_plan_options how = {0};
    lx_status st = {0};
    size_t bytes = 0;
    char *volatile text = NULL;
    double start = child_seconds(true);
    struct border border;
    if (border_begin(&border) == 0) {
        bool ok = lx_settings_set_row(&own, LX_OPTION_OBJECTIVE, lx_ask_word(n->whole), &st) &&
                  lx_settings_plan(&own, j->instance->question->graph, &how, values, &st);
        how.run.seed = seed;
        how.run.work_limit = s->work;
        if (s->suite) how.run.stop = child_is_late;
        if (strncmp(solver->solver->name, "cmd:", 4) == 0) how.run.time_limit = n->limit;
        struct lx_plan *p = ok ? lx_plan_make(j->instance->question->graph, &how, &st) : NULL;
        wire.seconds = fmax(child_seconds(true) - start, 1e-6);
        if (p) text = lx_plan_to_json(p, &bytes);
        border_end(&border);
    } else
        status_no_memory(&st);
    snprintf(wire.error, sizeof wire.error, "%.255s", text ? "" : st.text);
    wire.called = text != NULL;
    wire.solve_code = text ? LX_OK : (int32_t)st.code;
    wire.solver_ok = 1;
    wire.claim = LX_FEASIBLE;
    wire.count = (int64_t)bytes;
    fill_wire(&wire, &(struct lx_answer){0}, text, bytes, (int32_t)bytes);
    child_report(fd, &wire, text, bytes);
}

__attribute__((noreturn)) static void child(const struct job *j, const struct settings *s,
                                            const struct bench_solver *solver, uint64_t seed, int fd,
                                            pid_t parent)
{
    static struct wire wire;
    const struct lx_problem *p = &j->instance->question->problem;
    size_t bytes = places_size(p);
    int64_t *address = mem_zeroed(1, bytes + 1), *raw = mem_zeroed(1, bytes + 1);
    int32_t *pool = (int32_t *)(raw + p->count);
    shut_in(fd, parent, s->memory_mb);
    if (s->suite) limit_cpu(j->instance->of->limit);
    if (j->instance->of->whole) child_plan(j, s, solver, seed, fd);
    for (int32_t i = 0; i < p->count; i++) raw[i] = LX_OFF_CHIP;
    spied.real = solver->solver;
    spied.wire = &wire;
    spied.address = raw;
    spied.base = p->objective == LX_SPILL ? j->instance->question->base_bytes : 0;
    struct lx_solver spy = *solver->solver;
    spy.solve = spy_solve;
    struct lx_run run = {
        .seed = seed,
        .work_limit = s->work,
        .time_limit = s->suite && strncmp(solver->solver->name, "cmd:", 4) != 0 ? 0 : j->instance->of->limit,
        .options = solver->values,
        .progress = note_progress,
        .context = j->live};
    struct lx_answer answer = {.address = address, .pool = pool};
    lx_status st = {0};
    double start = child_seconds(s->suite);
    struct border border;
    volatile bool ok = false;
    if (border_begin(&border) == 0) {
        ok = lx_problem_solve(p, &spy, &run, &answer, &st);
        border_end(&border);
    } else {
        status_no_memory(&st);
    }
    wire.seconds = child_seconds(s->suite) - start;
    if (s->suite) wire.seconds = fmax(wire.seconds, 1e-6); /* CPU time may be counted in ticks */
    wire.solve_code = ok ? (int32_t)LX_OK : (int32_t)st.code;
    snprintf(wire.error, sizeof wire.error, "%.255s", ok ? "" : st.text);
    /* The library solves a problem with pools or extras by parts: only its combined answer counts. */
    if (p->pool_count || lx_problem_needs(p)) {
        wire.called = ok;
        wire.solver_ok = 1;
        wire.claim = (int32_t)answer.status;
        wire.bound = answer.bound;
        memcpy(raw, answer.address, (size_t)p->count * sizeof *raw);
    }
    fill_wire(&wire, &answer, raw, bytes, p->count);
    child_report(fd, &wire, raw, bytes);
}

const char *memory_limit_means(void)
{
    return UNDER_SANITIZER ? "resident set watch (sanitizer build: no RLIMIT_DATA)"
                           : "RLIMIT_DATA and resident set watch";
}

bool job_start(struct job *j, const struct settings *s, const struct bench_solver *solver, uint64_t seed,
               lx_status *st)
{
    int ends[2];
    pid_t parent = getpid();
    j->result = (struct child_result){.base_kb = statm_kb(parent, 1)};
    j->length = 0;
    const struct instance *n = j->instance->of;
    j->wanted = sizeof(struct wire) + (n->whole ? MOST_PLAN : places_size(&j->instance->question->problem));
    j->data = mem_alloc(j->wanted + 1);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        job_reset(j);
        return status_set(st, LX_E_IO, "cannot make a pipe: %s", strerror(errno));
    }
    if (j->live) note_progress(j->live, &(struct lx_progress){.objective = INT64_MAX});
    fflush(NULL); /* a child must not write our buffers again */
    j->start = clock_seconds();
    j->pid = fork();
    if (j->pid == 0) {
        setpgid(0, 0);
        command_solvers_stay_in_group();
        child(j, s, solver, seed, ends[1], parent);
    }
    close(ends[1]);
    if (j->pid < 0) {
        close(ends[0]);
        job_reset(j);
        return status_set(st, LX_E_IO, "cannot start a process: %s", strerror(errno));
    }
    setpgid(j->pid, j->pid); /* in both, so that it holds whoever runs first */
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    j->fd = ends[0];
    j->deadline = j->start + (s->suite ? n->limit * WALL_PER_CPU + 10 : s->time + s->grace);
    j->next_look = j->start + LOOK_PERIOD;
    j->active = true;
    return true;
}

static void run_child_receive(struct job *j)
{
    while (j->fd >= 0) {
        /* One byte of room too many: a child that sends more than it may is found out. */
        ssize_t n = read(j->fd, j->data + j->length, j->wanted + 1 - j->length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n > 0) j->length += (size_t)n;
        if (n <= 0 || j->length > j->wanted) {
            close(j->fd);
            j->fd = -1;
        }
    }
}

void job_kill(struct job *j)
{
    kill(-j->pid, SIGKILL);
    kill(j->pid, SIGKILL);
}

static void look_at_limits(struct job *j, const struct settings *s, double now)
{
    if (now >= j->deadline && !j->result.killed_for_memory) {
        j->result.killed_for_time = true;
        job_kill(j);
    }
    if (now < j->next_look) return;
    j->next_look = now + LOOK_PERIOD;
    if (statm_kb(j->pid, 1) > j->result.base_kb + (s->memory_mb << 10) && !j->result.killed_for_time) {
        j->result.killed_for_memory = true;
        job_kill(j);
    }
}

bool job_poll(struct job *j, const struct settings *s)
{
    struct rusage used = {0};
    siginfo_t ended = {0};
    run_child_receive(j);
    bool gone =
        waitid(P_PID, (id_t)j->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == j->pid;
    double now = clock_seconds();
    if (!gone) {
        look_at_limits(j, s, now);
        return false;
    }
    /* Whatever it left behind in its group goes too, while its number cannot yet be anyone else's. */
    kill(-j->pid, SIGKILL);
    while (wait4(j->pid, &j->result.wait_status, 0, &used) < 0 && errno == EINTR) {
    }
    run_child_receive(j);
    struct child_result *r = &j->result;
    r->wall = now - j->start;
    r->cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
             (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    r->peak_kb = used.ru_maxrss;
    const struct wire *w = (const void *)j->data;
    const struct lx_problem *p = &j->instance->question->problem;
    bool whole = j->instance->of->whole;
    r->complete = WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status) == 0 && j->length >= sizeof *w &&
                  w->magic == WIRE_MAGIC && (whole || w->count == p->count) &&
                  j->length == sizeof *w + (whole ? (size_t)w->count : places_size(p)) &&
                  (unsigned)w->claim < LX_VERDICT_COUNT && w->stat_count >= 0 &&
                  w->stat_count <= WIRE_STATS &&
                  w->checksum == hash_bytes(HASH_START, j->data + sizeof *w, j->length - sizeof *w);
    r->wire = r->complete ? w : NULL;
    r->plan = r->complete ? j->data + sizeof(struct wire) : NULL;
    r->address = r->complete && !whole ? (const void *)(j->data + sizeof(struct wire)) : NULL;
    r->pool = r->address ? (const void *)(r->address + p->count) : NULL;
    return true;
}

void job_watch(struct job *j)
{
    void *page = mmap(NULL, sizeof *j->live, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    j->live = page == MAP_FAILED ? NULL : page;
}

void job_unwatch(struct job *j)
{
    if (j->live) munmap(j->live, sizeof *j->live);
    j->live = NULL;
}

void job_reset(struct job *j)
{
    if (j->active && j->fd >= 0) close(j->fd);
    mem_free(j->data);
    j->data = NULL;
    j->fd = -1;
    j->active = false;
}
