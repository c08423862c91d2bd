/* One process per solve, with the problem in an unnamed file as its input. A solver is called without a word of who
 * it is, so each of the programs has a function of its own. */
#include "planning/command_solver.h"
#include "own_plugins.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROGRAMS = 8, LINE_MOST = 64, LOOK_MS = 20 };

static struct lx_solver programs[MOST_PROGRAMS];
static int program_count;
static bool sends_json;

static void problem_as_json(const struct lx_problem *p, struct text *t)
{
    const char *comma = "";
    text_format(t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"problem\", \"alignment\": %" PRId64,
                p->alignment);
    text_format(t, ", \"objective\": \"%s\", \"capacity\": %" PRId64 ", \"buffers\": [",
                lx_objective_word(p->objective), p->capacity);
    for (int32_t i = 0; i < p->count; i++, comma = ",") {
        const struct lx_buffer *b = &p->buffers[i];
        text_format(t,
                    "%s\n{\"name\": \"%d\", \"size\": %" PRId64 ", \"start\": %" PRId64 ", \"end\": %" PRId64
                    ", \"cost\": %" PRId64,
                    comma, (int)i, b->size, b->start, b->end, b->spill_cost);
        if (b->alignment) text_format(t, ", \"alignment\": %" PRId64, b->alignment);
        if (b->fixed >= 0) text_format(t, ", \"fixed\": %" PRId64, b->fixed);
        if (b->reason) text_add(t, ", \"reason\": \"barred\"");
        text_add(t, "}");
    }
    text_add(t, "\n]}\n");
}

/* Buffers that may not be placed are left out. */
static void problem_as_csv(const struct lx_problem *p, struct text *t)
{
    size_t length;
    struct lx_buffers list = {.alignment = p->alignment};
    struct lx_buffer *all = mem_alloc(((size_t)p->count + 1) * sizeof *all);
    char(*names)[12] = mem_alloc(((size_t)p->count + 1) * sizeof *names);
    for (int32_t i = 0; i < p->count; i++) {
        if (!lx_may_be_placed(p, &p->buffers[i])) continue;
        snprintf(names[i], sizeof names[i], "%d", (int)i);
        all[list.count] = p->buffers[i];
        all[list.count++].name = names[i];
    }
    list.at = all;
    OWNED char *csv = lx_format_find("minimalloc")->write_buffers(&list, &length);
    text_add_n(t, csv, length);
    mem_free(names);
    mem_free(all);
}

static int problem_file(const struct lx_problem *p)
{
    SCOPED(text_free) struct text t = {0};
    int fd = memfd_create("problem", MFD_CLOEXEC);
    (sends_json ? problem_as_json : problem_as_csv)(p, &t);
    size_t done = 0;
    while (fd >= 0 && done < t.length) {
        ssize_t n = write(fd, t.at + done, t.length - done);
        if (n <= 0) break;
        done += (size_t)n;
    }
    bool whole = fd >= 0 && done == t.length && lseek(fd, 0, SEEK_SET) == 0;
    if (!whole && fd >= 0) close(fd);
    return whole ? fd : -1;
}

static bool stays_in_group;

void command_solvers_stay_in_group(void)
{
    stays_in_group = true;
}

__attribute__((noreturn)) static void become_program(const char *command, const struct lx_problem *p,
                                                     const struct lx_run *run, int in, int out)
{
    char words[3][32], seconds[32] = "";
    snprintf(words[0], sizeof words[0], "%" PRId64, p->capacity);
    snprintf(words[1], sizeof words[1], "%s", lx_objective_word(p->objective));
    snprintf(words[2], sizeof words[2], "%" PRIu64, run->seed);
    if (run->time_limit > 0) snprintf(seconds, sizeof seconds, "%g", run->time_limit);
    setenv("LXPLAN_CAPACITY", words[0], 1);
    setenv("LXPLAN_OBJECTIVE", words[1], 1);
    setenv("LXPLAN_SEED", words[2], 1);
    setenv("LXPLAN_TIME", seconds, 1);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!stays_in_group) setpgid(0, 0);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    char *line = mem_format("exec %s", command);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

static const char late[] = "no answer before the limit";

static bool program_is_late(const struct lx_run *run, double deadline)
{
    return lx_run_stopped(run) || (deadline > 0 && clock_seconds() >= deadline);
}

/* Reads all that the program writes, but at most `most` bytes; why it is to be ended early, or NULL. */
static const char *read_program_output(int fd, const struct lx_run *run, double deadline, size_t most,
                                       struct text *out)
{
    for (;;) {
        char some[1 << 16];
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (program_is_late(run, deadline)) return late;
        if (poll(&ready, 1, LOOK_MS) <= 0) continue;
        ssize_t n = read(fd, some, sizeof some);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return NULL;
        if (out->length + (size_t)n > most) return "it wrote far more than a line for each buffer";
        text_add_n(out, some, (size_t)n);
    }
}

/* Waits for the end of a program that has closed its output; likewise. What it has left running is killed. */
static const char *await_program(pid_t pid, const struct lx_run *run, double deadline, const char *early,
                                 int *status)
{
    siginfo_t ended = {0}; /* it is waited for only after the kill, which must not meet another process */
    while (!early && waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0) {
        if (program_is_late(run, deadline)) early = late;
        poll(NULL, 0, 1);
    }
    kill(stays_in_group ? pid : -pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
    return early;
}

/* "id,offset" lines, with or without a header, in any order. */
static bool take_lines(const struct lx_problem *p, char *at, struct lx_answer *answer)
{
    for (int line = 1; *at; line++) {
        char *next = strchr(at, '\n'), *end;
        if (next) *next = 0;
        errno = 0;
        long long id = strtoll(at, &end, 10), offset = -1;
        bool good = end != at && *end == ',' && id >= 0 && id < p->count;
        if (good) offset = strtoll(at = end + 1, &end, 10);
        good &= end != at && end[strspn(end, " \r")] == 0 && errno == 0 && offset >= -1;
        bool header = line == 1 && strncmp(at, "id,offset", 9) == 0, empty = at[strspn(at, " \r")] == 0;
        if (good)
            answer->address[id] = offset;
        else if (!header && !empty)
            return snprintf(answer->message, sizeof answer->message,
                            "line %d is not a buffer and its offset: %.40s", line, at),
                   false;
        if (!next) break;
        at = next + 1;
    }
    return true;
}

static void program_failed(int status, const char *early, struct lx_answer *answer)
{
    char *to = answer->message;
    size_t size = sizeof answer->message;
    if (early)
        snprintf(to, size, "ended: %s", early);
    else if (WIFSIGNALED(status))
        snprintf(to, size, "the program died of %s", strsignal(WTERMSIG(status)));
    else
        snprintf(to, size, "the program ended with exit code %d", WEXITSTATUS(status));
}

static bool program_solve(int which, const struct lx_problem *p, const struct lx_run *run,
                          struct lx_answer *answer)
{
    const char *command = programs[which].name + strlen("cmd:");
    int in = problem_file(p), out[2] = {-1, -1}, status = 0;
    SCOPED(text_free) struct text text = {0};
    answer->status = LX_ERROR;
    snprintf(answer->message, sizeof answer->message, "cannot start the program");
    pid_t pid = in >= 0 && pipe2(out, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid == 0) become_program(command, p, run, in, out[1]);
    if (in >= 0) close(in);
    if (out[1] >= 0) close(out[1]);
    if (pid > 0) {
        double deadline = run->time_limit > 0 ? clock_seconds() + run->time_limit : 0;
        if (!stays_in_group) setpgid(pid, pid); /* as the program does: whoever is first */
        const char *early =
            read_program_output(out[0], run, deadline, (1 << 20) + LINE_MOST * (size_t)p->count, &text);
        close(out[0]);
        early = await_program(pid, run, deadline, early, &status);
        answer->message[0] = 0;
        if (early || status != 0)
            program_failed(status, early, answer);
        else if (!text.at || take_lines(p, text.at, answer))
            answer->status = LX_FEASIBLE;
        if (answer->status == LX_ERROR)
            for (int32_t i = 0; i < p->count; i++) answer->address[i] = LX_OFF_CHIP;
        if (early == late) answer->status = LX_LIMIT;
    } else if (out[0] >= 0)
        close(out[0]);
    return true;
}

#define PROGRAMS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define PROGRAM_SOLVE(n)                                                                                     \
    static bool program_solve_##n(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a) \
    {                                                                                                        \
        return program_solve(n, p, run, a);                                                                  \
    }
PROGRAMS(PROGRAM_SOLVE)
#undef PROGRAM_SOLVE

static bool command_solver_add(struct call *call, const char *name)
{
    static bool (*const solve[MOST_PROGRAMS])(const struct lx_problem *, const struct lx_run *,
                                              struct lx_answer *) = {
#define PROGRAM_NAME(n) program_solve_##n,
        PROGRAMS(PROGRAM_NAME)
#undef PROGRAM_NAME
    };
    if (strcmp(name, "ilp") == 0 && !lx_solver_find(name))
        return status_set(&call->st, LX_E_UNKNOWN_NAME,
                          "the solver ilp is a plug-in that is not here; " PLUGIN_REMEDY, "ilp", "GLPK");
    if (strncmp(name, "cmd:", 4) != 0 || lx_solver_find(name)) return true;
    if (program_count == MOST_PROGRAMS)
        return status_set(&call->st, LX_E_USAGE, "more than %d programs as solvers", MOST_PROGRAMS);
    struct lx_solver *s = &programs[program_count];
    *s = (struct lx_solver){.abi = LX_SOLVER_ABI,
                            .name = name,
                            .summary = "a program that reads the problem and writes id,offset",
                            .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | LX_IS_SEEDED,
                            .solve = solve[program_count++]};
    return lx_solver_add(s) || status_set(&call->st, LX_E_USAGE, "solver %.80s is one too many", name);
}

char *solver_name_next(char **rest)
{
    char *name = *rest, quote = 0;
    for (char *c = name; name; c++) {
        if (!*c) return *rest = NULL, name;
        if (quote ? *c == quote : *c == '\'' || *c == '"')
            quote = quote ? 0 : *c;
        else if (!quote && *c == ',')
            return *c = 0, *rest = c + 1, name;
    }
    return NULL;
}

bool command_solvers_add(struct call *call)
{
    const char *protocol = option_value(&call->line, "protocol");
    sends_json = protocol && strcmp(protocol, "json") == 0;
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *g = &call->line.options.at[i];
        if (strcmp(g->name, "solver") != 0) continue;
        char *rest = arena_copy(call->line.memory, g->value, strlen(g->value));
        for (char *name; (name = solver_name_next(&rest));)
            if (!command_solver_add(call, name)) return false;
    }
    return true;
}
