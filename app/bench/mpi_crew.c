/* `bench --transport mpi`: one benchmark by several processes.
 *
 * All ranks read the same command line and make the same list of runs; rank 0 compares theirs with its own
 * before it opens the results file. Then it gives one run to each rank that has none, itself included, and
 * the next one for each row that comes back, so that no rank waits for a slow one. A row is judged where its
 * run was made and travels as the very line that the file gets. Without a message from a rank for longer than
 * its run can take, that rank counts as lost and the bench ends; the file stays valid. */
#include "bench/harness.h"
#include "text/format.h"

enum {
    SLACK = 60,    /* seconds for reading instances, checking answers, a busy machine */
    FAREWELL = 10, /* seconds for the others to leave */
};

enum word {
    HELLO,       /* to rank 0: here is my header */
    RUN,         /* from rank 0: make this one */
    ROW,         /* to rank 0: here is its line */
    BROKEN,      /* to rank 0: I cannot go on, and why */
    INTERRUPTED, /* to rank 0: a signal wants an end */
    STOP,        /* from rank 0: that was all */
    BYE,         /* to rank 0: the last word */
};

/* A message; behind it the text of HELLO, ROW and BROKEN. */
struct message {
    int32_t word, code; /* an lx_code where broken */
    struct planned run;
};

static bool mpi_crew_tell(struct bench *b, int to, struct message m, const char *text, size_t length)
{
    return ranks_send(b->crew.ranks, to, &m, sizeof m, text, length, &b->call->st);
}

/* Receives a message, if any. The caller frees `*text`, of `*length` bytes. */
static bool mpi_crew_hear(struct bench *b, int *from, struct message *m, char **text, size_t *length)
{
    if (!ranks_receive(b->crew.ranks, from, m, sizeof *m, text, length, &b->call->st))
        return b->crew.lost_one = true, false;
    if (!*text || *length != SIZE_MAX) return true;
    mem_free(*text);
    return status_set(&b->call->st, LX_E_INTERNAL, "rank %d sent half a message", *from);
}

bool crew_join(struct bench *b)
{
    struct call *call = b->call;
    struct crew *c = &b->crew;
    *c = (struct crew){.count = 1};
    if (!ranks_join(call, &c->ranks, &c->rank, &c->count)) return false;
    if (!c->ranks) return true;
    c->mates = mem_zeroed((size_t)c->count, sizeof *c->mates);
    c->mates[0].state = MATE_GONE; /* rank 0 has its own way to its own runs */
    return true;
}

static int mates_in(const struct crew *c, int state)
{
    int n = 0;
    for (int r = 1; r < c->count; r++) n += (int)c->mates[r].state == state;
    return n;
}

/* All messages that are there, for rank 0. `header`: its own, while the others are gathered. */
static bool take_messages(struct bench *b, const char *header)
{
    lx_status *st = &b->call->st;
    for (bool ok = true;;) {
        int from = 0;
        struct message m;
        char *text;
        size_t length;
        if (!ok || !mpi_crew_hear(b, &from, &m, &text, &length)) return false;
        if (!text) return true;
        struct mate *mate = &b->crew.mates[from];
        if (m.word == HELLO && mate->state == MATE_ABSENT) {
            mate->state = MATE_IDLE;
            if (header) ok = provenance_join(&b->settings, from, header, text, st);
        } else if (m.word == ROW && mate->state == MATE_BUSY) {
            mate->state = MATE_IDLE;
            struct row row = {.time_limit = b->settings.time};
            lx_status why = {0};
            ok = (length > 0 && text[length - 1] == '\n' &&
                  row_read(&b->results.memory, "row", text, length - 1, &row, &why)) ||
                 status_set(st, status_cause(&why, LX_E_INTERNAL),
                            "rank %d sent a row that cannot be read: %.300s", from, why.text);
            b->done += ok;
            if (ok) VEC_PUSH(&b->results.rows, row);
            ok = ok && results_append_line(&b->file, text, length, st);
        } else if (m.word == BROKEN) {
            mate->state = MATE_IDLE; /* it waits to be sent home */
            enum lx_code code = m.code > LX_OK && m.code < LX_CODE_COUNT ? (enum lx_code)m.code : LX_E_NO;
            ok = status_set(st, code, "rank %d: %s", from, text);
        } else if (m.word == INTERRUPTED) {
            mate->state = MATE_IDLE;
            interrupted = 1;
        } else if (m.word == BYE)
            mate->state = MATE_GONE;
        else
            ok = status_set(st, LX_E_INTERNAL, "rank %d sent a message out of turn", from);
        mem_free(text);
    }
}

bool crew_gather(struct bench *b, const char *header)
{
    struct crew *c = &b->crew;
    /* They have been reading the same files for as long as this process has. */
    double now = clock_seconds(), deadline = now + SLACK + 10 * (now - b->start);
    if (c->count == 1) return true;
    b->settings.ranks = c->count;
    while (mates_in(c, MATE_ABSENT) > 0) {
        if (!take_messages(b, header)) return false;
        for (int r = 1; r < c->count && clock_seconds() > deadline; r++)
            if (c->mates[r].state == MATE_ABSENT) {
                c->lost_one = true;
                return status_set(&b->call->st, LX_E_NO, "rank %d has not read its instances after %.0f s", r,
                                  clock_seconds() - b->start);
            }
        ranks_nap();
    }
    return true;
}

/* The next run that needs a process; bad instances get their rows at once. NULL: none is left. */
static bool take_next(struct bench *b, const struct planned **p)
{
    *p = NULL;
    while (b->next < b->todo.count) {
        const struct planned *next = &b->todo.at[b->next++];
        if (!b->list.at[next->instance].bad) return *p = next, true;
        if (!begin_run(b, b->jobs, next, true)) return false;
    }
    return true;
}

static bool mpi_crew_deal(struct bench *b)
{
    const struct settings *s = &b->settings;
    double longest = (s->time + s->grace) * (double)(1 + s->warmup * (int64_t)s->solvers.count) + SLACK;
    for (int r = 1; r < b->crew.count && !interrupted; r++) {
        struct mate *mate = &b->crew.mates[r];
        const struct planned *p;
        if (mate->state != MATE_IDLE) continue;
        if (!take_next(b, &p)) return false;
        if (!p) return true;
        if (!mpi_crew_tell(b, r, (struct message){.word = RUN, .run = *p}, NULL, 0)) return false;
        *mate = (struct mate){MATE_BUSY, p, clock_seconds() + longest};
    }
    return true;
}

bool crew_lead(struct bench *b)
{
    bool ok = mpi_crew_deal(b) && warm_up(b);
    while (ok && !interrupted &&
           (b->next < b->todo.count || b->active > 0 || mates_in(&b->crew, MATE_BUSY) > 0)) {
        const struct planned *mine = NULL;
        ok = b->active > 0 || take_next(b, &mine);
        if (ok && mine) ok = begin_run(b, b->jobs, mine, true);
        ok = ok && poll_jobs(b) && take_messages(b, NULL) && mpi_crew_deal(b);
        for (int r = 1; ok && r < b->crew.count; r++) {
            const struct mate *mate = &b->crew.mates[r];
            if (mate->state != MATE_BUSY || clock_seconds() <= mate->deadline) continue;
            b->crew.lost_one = true;
            ok = status_set(&b->call->st, LX_E_NO,
                            "rank %d does not answer any more; it should have run %s on %s long ago", r,
                            solver_name(b, mate->run), b->list.at[mate->run->instance].path);
        }
    }
    stop_jobs(b);
    return ok;
}

bool crew_send_row(struct bench *b, const struct row *row)
{
    SCOPED(text_free) struct text line = {0};
    row_write(row, &line);
    return mpi_crew_tell(b, 0, (struct message){.word = ROW}, line.at, line.length);
}

/* Why this rank cannot go on; whoever hears it sends all home. */
static bool tell_trouble(struct bench *b)
{
    char words[1200];
    struct message m = {.word = BROKEN, .code = (int32_t)b->call->st.code};
    lx_status_describe(&b->call->st, words, sizeof words);
    return mpi_crew_tell(b, 0, m, words, strlen(words));
}

/* Before this process ends without main's report of what went wrong. */
static void say_last(const struct bench *b, const lx_status *st)
{
    char words[1200], *clean = printable(lx_status_describe(st, words, sizeof words), 0);
    fprintf(stderr, "lxplan: %s%s\n", clean ? clean : "out of memory",
            b->file.fd >= 0 ? "; what is done is in the results file, --resume goes on" : "");
    fflush(stderr);
    mem_free(clean);
}

void crew_follow(struct bench *b, bool ok, const char *header)
{
    bool told =
        ok ? mpi_crew_tell(b, 0, (struct message){.word = HELLO}, header, strlen(header)) : tell_trouble(b);
    for (bool is_warm = false, quiet = !ok; told;) {
        int from;
        struct message m;
        char *text;
        size_t length;
        if (!mpi_crew_hear(b, &from, &m, &text, &length)) break;
        mem_free(text);
        if (text && m.word == STOP) {
            stop_jobs(b);
            if (!mpi_crew_tell(b, 0, (struct message){.word = BYE}, NULL, 0)) break;
            b->crew.ranks->leave(true);
            return;
        }
        if (quiet) { /* nothing to do but to wait for the end */
            ranks_nap();
            continue;
        }
        if (text && m.word == RUN) {
            ok = is_warm || warm_up(b);
            is_warm = true;
            ok = ok && (interrupted || begin_run(b, b->jobs, &m.run, true));
        }
        ok = ok && poll_jobs(b);
        quiet = !ok || interrupted;
        if (quiet) stop_jobs(b);
        if (!ok)
            told = tell_trouble(b);
        else if (interrupted)
            told = mpi_crew_tell(b, 0, (struct message){.word = INTERRUPTED}, NULL, 0);
    }
    say_last(b, &b->call->st); /* rank 0 cannot report it */
    b->crew.ranks->leave(false);
}

void crew_dismiss(struct bench *b, bool ok)
{
    struct crew *c = &b->crew;
    lx_status first = b->call->st;
    if (!c->ranks) return;
    for (int r = 1; r < c->count; r++)
        if (!mpi_crew_tell(b, r, (struct message){.word = STOP}, NULL, 0)) c->lost_one = true;
    /* Rows that still arrive are kept; other messages change nothing. */
    for (double end = clock_seconds() + FAREWELL; !c->lost_one && mates_in(c, MATE_GONE) < c->count - 1;) {
        take_messages(b, NULL);
        c->lost_one = clock_seconds() > end;
        ranks_nap();
    }
    for (int r = 1; r < c->count && ok && c->lost_one; r++)
        if (c->mates[r].state != MATE_GONE)
            ok = status_set(&first, LX_E_NO, "rank %d does not answer any more", r);
    b->call->st = first;
    if (c->lost_one) say_last(b, &first);
    c->ranks->leave(!c->lost_one);
}
