/* Starts and ends MPI. MPI_Init, MPI_Comm_dup and MPI_Finalize wait for all processes, forever if one is
 * frozen, and have no time limit. So one thread makes all these calls (MPI requires that), while the caller
 * checks the other processes every half second: processes of the same mpirun on this machine have the same
 * parent. A process seen stopped six times in a row is at fault. A slow process gets time: a minute to
 * start, unlimited time to end, because device 0 compares results before it ends. */
#include "team/run/mpi_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum { LOOK_MS = 500, LOOKS_STOPPED = 6, LOOKS_STARTING = 120, ENVIRONMENT = 1 << 17 };

enum call { CALL_NONE, CALL_BEGIN, CALL_END };

/* Requests to the MPI thread and their results. There is one MPI per process. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t asked_news, done_news;
    bool lives;
    enum call asked;
    int result; /* MPI error code */
    MPI_Comm comm;
} post = {.lock = PTHREAD_MUTEX_INITIALIZER, .asked_news = PTHREAD_COND_INITIALIZER, .comm = MPI_COMM_NULL};

static bool stuck;

bool mpi_process_stuck(void)
{
    return stuck;
}

static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK=", "PMI_RANK="};
enum { RANK_NAMES = sizeof rank_names / sizeof *rank_names };

int mpi_process_rank(void)
{
    for (int i = 0; i < RANK_NAMES; i++) {
        char name[32] = "";
        memcpy(name, rank_names[i], strlen(rank_names[i]) - 1);
        const char *rank = getenv(name);
        if (rank) return atoi(rank);
    }
    return -1;
}

static int mpi_process_open(void)
{
    int ready = 0, level, result = MPI_SUCCESS;
    MPI_Initialized(&ready);
    if (!ready) result = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (result == MPI_SUCCESS) result = MPI_Comm_dup(MPI_COMM_WORLD, &post.comm);
    if (result == MPI_SUCCESS) MPI_Comm_set_errhandler(post.comm, MPI_ERRORS_RETURN);
    return result;
}

/* A barrier before MPI_Finalize, which need not wait for other processes. It sleeps between tests, because
 * device 0 may still be at work. */
static int mpi_process_meet(void)
{
    static const struct timespec nap = {0, 1000000};
    MPI_Request all;
    int done = 0, result = MPI_Ibarrier(post.comm, &all);
    while (result == MPI_SUCCESS && !done) {
        result = MPI_Test(&all, &done, MPI_STATUS_IGNORE);
        if (!done) nanosleep(&nap, NULL);
    }
    return result;
}

static int mpi_process_close(void)
{
    if (post.comm != MPI_COMM_NULL) {
        mpi_process_meet();
        MPI_Comm_free(&post.comm);
    }
    return MPI_Finalize();
}

static void *mpi_process_serve(void *unused)
{
    (void)unused;
    enum call last = CALL_NONE;
    while (last != CALL_END) {
        pthread_mutex_lock(&post.lock);
        while (post.asked == CALL_NONE) pthread_cond_wait(&post.asked_news, &post.lock);
        last = post.asked;
        pthread_mutex_unlock(&post.lock);
        int result = last == CALL_BEGIN ? mpi_process_open() : mpi_process_close();
        pthread_mutex_lock(&post.lock);
        post.result = result;
        post.asked = CALL_NONE;
        post.lives = last != CALL_END;
        pthread_cond_signal(&post.done_news);
        pthread_mutex_unlock(&post.lock);
    }
    return NULL;
}

/* Reads a small file of /proc into `text`; returns its length. */
static size_t read_small(const char *pid, const char *file, char *text, size_t room)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0) close(fd);
    text[n < 0 ? 0 : n] = 0;
    return n < 0 ? 0 : (size_t)n;
}

/* The device number in a process's environment; -1: none. */
static int mpi_process_rank_of(const char *pid, char *room)
{
    size_t n = read_small(pid, "environ", room, ENVIRONMENT);
    for (size_t at = 0; at < n; at += strlen(room + at) + 1)
        for (int i = 0; i < RANK_NAMES; i++)
            if (strncmp(room + at, rank_names[i], strlen(rank_names[i])) == 0)
                return atoi(room + at + strlen(rank_names[i]));
    return -1;
}

/* Whether the process is stopped and has the same parent. Format: "PID (NAME) STATE PARENT ..." */
static bool is_stopped_brother(const char *pid)
{
    char text[512], state;
    int parent;
    if (read_small(pid, "stat", text, sizeof text) == 0) return false;
    const char *behind = strrchr(text, ')');
    return behind && sscanf(behind + 1, " %c %d", &state, &parent) == 2 && (state == 'T' || state == 't') &&
           parent == (int)getppid();
}

/* The device of a stopped process; -1: none seen. */
static int stopped_device(void)
{
    DIR *all = opendir("/proc");
    OWNED char *room = mem_alloc(ENVIRONMENT);
    int found = -1;
    for (struct dirent *e; all && found < 0 && (e = readdir(all));)
        if (e->d_name[0] >= '0' && e->d_name[0] <= '9' && is_stopped_brother(e->d_name))
            found = mpi_process_rank_of(e->d_name, room);
    if (all) closedir(all);
    return found;
}

double mpi_process_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Compute threads may call this concurrently: one of them looks. */
int mpi_process_stopped(int ms)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static double looked, since;
    static int device = -1;
    if (pthread_mutex_trylock(&lock) != 0) return -1;
    double now = mpi_process_now_ms();
    if (now - looked >= LOOK_MS) {
        int seen = stopped_device();
        if (seen < 0 || seen != device) since = now;
        device = seen;
        looked = mpi_process_now_ms();
    }
    int found = device >= 0 && now - since >= ms ? device : -1;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Waits LOOK_MS, or less if the call is done. Needs the lock. */
static bool look_is_over(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    for (int late = 0; post.asked != CALL_NONE && late != ETIMEDOUT;)
        late = pthread_cond_timedwait(&post.done_news, &post.lock, &until);
    return post.asked == CALL_NONE;
}

static bool mpi_process_give_up(const char *verb, int device, lx_status *st)
{
    stuck = true;
    if (device < 0)
        return status_set(st, LX_E_NO, "device %d: not all devices %s within %d ms", mpi_process_rank(), verb,
                          LOOKS_STARTING * LOOK_MS);
    return status_set(st, LX_E_NO, "device %d: device %d is stopped and did not %s within %d ms",
                      mpi_process_rank(), device, verb, LOOKS_STOPPED * LOOK_MS);
}

/* Waits for the MPI thread. Needs the lock. */
static bool wait_call(bool begins, lx_status *st)
{
    int in_a_row = 0, before = -1;
    const char *verb = begins ? "start MPI" : "end MPI";
    for (int looks = 0; !look_is_over(); looks++) {
        int device = stopped_device();
        in_a_row = device < 0 ? 0 : device == before ? in_a_row + 1 : 1;
        before = device;
        if (in_a_row >= LOOKS_STOPPED) return mpi_process_give_up(verb, device, st);
        if (begins && looks >= LOOKS_STARTING) return mpi_process_give_up(verb, -1, st);
    }
    return true;
}

static bool start_thread(lx_status *st)
{
    pthread_t thread;
    pthread_condattr_t clock;
    if (post.lives) return true;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&post.done_news, &clock);
    pthread_condattr_destroy(&clock);
    if (pthread_create(&thread, NULL, mpi_process_serve, NULL) != 0)
        return status_set(st, LX_E_MEMORY, "no memory for a thread of MPI");
    pthread_detach(thread);
    return post.lives = true;
}

static bool mpi_process_ask(enum call what, lx_status *st)
{
    bool ok = !stuck && start_thread(st);
    pthread_mutex_lock(&post.lock);
    if (ok) {
        post.asked = what;
        pthread_cond_signal(&post.asked_news);
        ok = wait_call(what == CALL_BEGIN, st);
    }
    if (ok && post.result != MPI_SUCCESS)
        ok = status_set(st, LX_E_UNSUPPORTED, "MPI cannot be initialised; run this under mpirun");
    pthread_mutex_unlock(&post.lock);
    return ok;
}

bool mpi_process_begin(MPI_Comm *comm, lx_status *st)
{
    if (post.comm == MPI_COMM_NULL && !mpi_process_ask(CALL_BEGIN, st)) return false;
    *comm = post.comm;
    return true;
}

bool mpi_process_end(MPI_Comm *comm, lx_status *st)
{
    *comm = MPI_COMM_NULL;
    return mpi_process_ask(CALL_END, st);
}
