/* Every command that writes, with a disk that is full and signals at every moment.
 *
 *     build/bin/failing_files [TEXT]
 *
 * The program runs in a child per fault (support/tried_program.h), with system calls of ours between. Each call in turn that needs room
 * on the disk finds none, once or from there on: exit code 2 with words, the old file or the whole new one, no temporary file; or, where
 * the file is one that it can do without, all as before. Every second call that a signal can interrupt is interrupted; or signals come as fast
 * as they can: all as without. TEXT: commands that have it in them. */
#include "support/tried_program.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#define SEEN_BY_ALL __attribute__((visibility("default")))

/* What is wrong with system calls. */
static struct {
    bool counts;
    long first, last, asked; /* calls that need room, from 1: these find none */
    bool interrupted;        /* every second call of each function that can be */
} now;

static bool finds_no_room(void)
{
    if (!now.counts) return false;
    long n = ++now.asked;
    if (!now.first || n < now.first || n > now.last) return false;
    errno = ENOSPC;
    return true;
}

/* Functions that signals interrupt; each counts its own calls. */
enum { WRITE, READ, PREAD, POLL, WAITPID, WAIT4, RECV, SEND, NANOSLEEP, FLOCK, FUNCTIONS };

static bool is_interrupted(int function)
{
    static atomic_uint calls[FUNCTIONS];
    if (!now.interrupted || atomic_fetch_add(&calls[function], 1) % 2) return false;
    errno = EINTR;
    return true;
}

SEEN_BY_ALL int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? (mode_t)va_arg(rest, unsigned) : 0;
    va_end(rest);
    if ((flags & O_CREAT) && finds_no_room()) return -1;
    return openat(AT_FDCWD, path, flags, mode);
}

SEEN_BY_ALL ssize_t write(int fd, const void *data, size_t n)
{
    if (is_interrupted(WRITE) || (fd != STDERR_FILENO && finds_no_room())) return -1;
    return syscall(SYS_write, fd, data, n);
}

SEEN_BY_ALL int fsync(int fd)
{
    return finds_no_room() ? -1 : (int)syscall(SYS_fsync, fd);
}

SEEN_BY_ALL int rename(const char *from, const char *to)
{
    return finds_no_room() ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

SEEN_BY_ALL int mkdir(const char *path, mode_t mode)
{
    return finds_no_room() ? -1 : mkdirat(AT_FDCWD, path, mode);
}

SEEN_BY_ALL ssize_t read(int fd, void *to, size_t n)
{
    return is_interrupted(READ) ? -1 : syscall(SYS_read, fd, to, n);
}

SEEN_BY_ALL ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    return is_interrupted(PREAD) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

SEEN_BY_ALL int poll(struct pollfd *fds, nfds_t n, int milliseconds)
{
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return is_interrupted(POLL) ? -1 : ppoll(fds, n, milliseconds < 0 ? NULL : &t, NULL);
}

SEEN_BY_ALL pid_t waitpid(pid_t process, int *status, int options)
{
    return is_interrupted(WAITPID) ? -1 : (pid_t)syscall(SYS_wait4, process, status, options, NULL);
}

SEEN_BY_ALL pid_t wait4(pid_t process, int *status, int options, struct rusage *used)
{
    return is_interrupted(WAIT4) ? -1 : (pid_t)syscall(SYS_wait4, process, status, options, used);
}

SEEN_BY_ALL ssize_t recv(int fd, void *to, size_t n, int flags)
{
    return is_interrupted(RECV) ? -1 : recvfrom(fd, to, n, flags, NULL, NULL);
}

SEEN_BY_ALL ssize_t send(int fd, const void *data, size_t n, int flags)
{
    return is_interrupted(SEND) ? -1 : sendto(fd, data, n, flags, NULL, 0);
}

SEEN_BY_ALL int nanosleep(const struct timespec *t, struct timespec *left)
{
    int code = is_interrupted(NANOSLEEP) ? EINTR : clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
    return code ? (errno = code, -1) : 0;
}

SEEN_BY_ALL int flock(int fd, int how)
{
    return is_interrupted(FLOCK) ? -1 : (int)syscall(SYS_flock, fd, how);
}

static const char *const made_first[] = {
    "plan @patterns/graphs/rms_norm.json -s bestfit --tile none -o a.plan -q",
    "plan @patterns/graphs/rms_norm.json -s greedy --tile none --lx 20k -o b.plan -q",
    "bench @patterns/graphs/rms_norm.json -s greedy,firstfit -o r.jsonl -q",
    "gen random --buffers 30 -o list.json",
};

/* Each way to write a file or standard output, with as little work as there is. ~: measures. */
static const char *const tried[] = {
    "plan list.json -s greedy -o out",
    "plan list.json -s greedy --json",
    "plan @patterns/team/uneven_8.json --team 2 -s bestfit --tile none -o out -q",
    "check a.plan",
    "run a.plan --trace out",
    "show a.plan --svg -o out",
    "show a.plan --html -o out",
    "diff a.plan b.plan",
    "solvers",
    "import @tests/data/models/small.mlir --dim %x:0=128 -o out --report report",
    "export a.plan -f perfetto -o out -q",
    "export list.json -o out -q",
    "gen random --buffers 20 -o out",
    "loops -e ab,bc->ac --sizes 4,4,4",
    "~bench list.json -s greedy,firstfit -o out --force -q",
    "~bench list.json -s greedy -j2",
    "report r.jsonl --html -o out",
    "report r.jsonl",
    "~sweep list.json -s greedy --steps 2 -j2 -q -o out",
    "help --man @app/lxplan.1.in out",
    "explore a.plan --size 80x24 --script <wait>2 --dump-screen out",
};

/* --- Faults. --- */

struct fault {
    long first, last;
    bool interrupted, storm;
    long *count;
};

static void nothing(int number)
{
    (void)number;
}

static void let_storm(void)
{
    struct sigaction act = {.sa_handler = nothing}; /* without SA_RESTART */
    struct itimerval often = {{0, 300}, {0, 300}};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void stop_counting(void)
{
    now.counts = false;
}

static void empty_folder(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
    rmdir(path);
}

static void fault_begin(void *context)
{
    const struct fault *f = context;
    empty_folder("kept");
    now.first = f->first;
    now.last = f->last;
    now.interrupted = f->interrupted;
    now.counts = true;
    pthread_atfork(NULL, NULL, f->storm ? let_storm : stop_counting);
    if (f->storm) let_storm();
}

static void fault_end(void *context)
{
    const struct fault *f = context;
    struct itimerval never = {{0, 0}, {0, 0}};
    if (f->storm) setitimer(ITIMER_REAL, &never, NULL);
    now.counts = now.interrupted = false;
    if (f->count) *f->count = now.asked;
}

static long tried_faults, bad;

static void try_fault(const char *line, bool measures, struct fault f, const struct outcome *plain)
{
    const struct tried_fault fault = {fault_begin, fault_end, &f};
    struct outcome o = tried_attempt(line, &fault);
    const char *why = tried_judge(&o, plain, measures, f.first ? 2 : plain->code, "No space left");
    char which[80] = "interrupted";
    if (f.storm) snprintf(which, sizeof which, "signals");
    if (f.first)
        snprintf(which, sizeof which, "call %ld finds no room%s", f.first,
                 f.last > f.first ? ", nor any after it" : "");

    if (why) bad++, tried_report(line, which, why, &o, plain);
    tried_faults++;
    tried_forget(&o);
}

static void try_command(const char *line, long *shared)
{
    bool measures = *line == '~';
    line += measures;
    struct fault none = {.count = shared};
    const struct tried_fault counted = {fault_begin, fault_end, &none};
    struct outcome plain;
    if (!tried_plain(line, measures, &counted, &plain)) {
        bad++;
    } else {
        for (long n = 1, all = *shared; n <= all; n++) {
            try_fault(line, measures, (struct fault){.first = n, .last = n}, &plain);
            try_fault(line, measures, (struct fault){.first = n, .last = INT32_MAX}, &plain);
        }
        try_fault(line, measures, (struct fault){.interrupted = true}, &plain);
        try_fault(line, measures, (struct fault){.storm = true}, &plain);
    }
    tried_forget(&plain);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    long *shared = tried_shared(sizeof *shared);
    if (!shared || !tried_enter()) return 1;
    bool ready = tried_prepare(made_first, sizeof made_first / sizeof *made_first);
    for (size_t i = 0; ready && i < sizeof tried / sizeof *tried; i++)
        if (!only || strstr(tried[i], only)) try_command(tried[i], shared);
    tried_leave();
    printf("%ld faults, %ld taken wrongly\n", tried_faults, bad);
    return !ready || bad > 0;
}
