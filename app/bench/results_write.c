/* The results file: a header, then one line per run, each appended with a single write and flushed to the
 * disk before the next run begins. Whatever ends the program, the file holds complete lines but for the last,
 * which a resumed run cuts off by writing the rest to a new file that replaces the old one.
 *
 * One bench writes to a file, and holds its flock. The lock comes before any look at what is in the file, and
 * from one file to the next: a file that replaces a locked one appears with its header and already locked, so
 * that no reader sees half a header and no second bench gets in between. For a moment a new file is empty,
 * which counts as none. Against those who ask for no lock (rm, mv, an editor) the file is compared with its
 * name and its length after every line and at the end. */
#include "bench/row_fields.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef void write_field(struct text *t, const struct row *r, const struct row_field *f);

static const void *results_write_member(const struct row *r, const struct row_field *f)
{
    return (const char *)r + f->at;
}

static const char *text_of(const struct row *r, const struct row_field *f)
{
    const char *text = *(const char *const *)results_write_member(r, f);
    return text ? text : "";
}

static void results_write_word(struct text *t, const struct row *r, const struct row_field *f)
{
    if (*text_of(r, f))
        text_json_string(t, text_of(r, f));
    else
        text_add(t, "null");
}

static void write_message(struct text *t, const struct row *r, const struct row_field *f)
{
    text_json_string(t, text_of(r, f));
}

static void write_object(struct text *t, const struct row *r, const struct row_field *f)
{
    text_add(t, *text_of(r, f) ? text_of(r, f) : "{}");
}

static void write_outcome(struct text *t, const struct row *r, const struct row_field *f)
{
    text_json_string(t, outcome_word(*(const enum outcome *)results_write_member(r, f)));
}

/* A solver may claim any number; what JSON cannot carry exactly is not written at all. */
static void write_whole(struct text *t, const struct row *r, const struct row_field *f)
{
    int64_t value = *(const int64_t *)results_write_member(r, f);
    if (field_is_known(r, f) && value <= LX_INT_MAX && value >= -LX_INT_MAX)
        text_format(t, "%lld", (long long)value);
    else
        text_add(t, "null");
}

static void results_write_number(struct text *t, bool known, double value)
{
    if (known)
        text_format(t, "%.9g", value);
    else
        text_add(t, "null");
}

static void write_seconds(struct text *t, const struct row *r, const struct row_field *f)
{
    results_write_number(t, field_is_known(r, f), *(const double *)results_write_member(r, f));
}

static void write_gap(struct text *t, const struct row *r, const struct row_field *f)
{
    (void)f;
    double gap = lx_gap(r->value, r->bound);
    results_write_number(t, r->has_value && r->has_bound && isfinite(gap), gap);
}

static write_field *const writers[FIELD_KINDS] = {
    [FIELD_WORD] = results_write_word, [FIELD_MESSAGE] = write_message, [FIELD_OBJECT] = write_object,
    [FIELD_OUTCOME] = write_outcome,   [FIELD_WHOLE] = write_whole,     [FIELD_SECONDS] = write_seconds,
    [FIELD_MICROS] = write_seconds,    [FIELD_GAP] = write_gap,
};

void row_write(const struct row *r, struct text *t)
{
    for (const struct row_field *f = row_fields; f->key; f++) {
        text_format(t, "%s\"%s\": ", f == row_fields ? "{" : ", ", f->key);
        writers[f->kind](t, r, f);
    }
    text_add(t, "}\n");
}

/* Is the open file still the one of that name? */
static bool has_its_name(int fd, const char *path)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_nlink > 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* Opens for appending and locks; makes an empty file where there is none. A bench that was killed a moment
 * ago may leave a child that holds the lock until it has noticed, so a lock that is taken is tried for a
 * while. Who held it may have replaced the file meanwhile: then the new one is the one to lock. */
static int open_and_lock(const char *path, lx_status *st)
{
    int fd = -1;
    for (int tries = 0; tries < 200; tries++) {
        if (fd < 0) fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return status_set_at(st, LX_E_IO, path, 0, 0, "cannot write: %s", strerror(errno)), -1;
        /* other errors: a file system without locks */
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) {
            if (has_its_name(fd, path)) return fd;
            close(fd);
            fd = -1;
            continue;
        }
        struct timespec moment = {0, 10000000};
        nanosleep(&moment, NULL);
    }
    if (fd >= 0) close(fd);
    status_set_at(st, LX_E_IO, path, 0, 0,
                  "another bench is writing to this file; wait for it, or choose another");
    return -1;
}

/* Puts a file with this text in the place of the locked one. The old lock goes last: whoever waits for it
 * finds the file replaced and the new one locked. `made`: the old one is ours and empty, and goes if this
 * fails. */
static bool results_write_replace(struct results_file *f, bool made, const char *text, size_t length,
                                  lx_status *st)
{
    int old = f->fd;
    f->fd = file_replace_locked(f->path, text, length, st);
    if (f->fd < 0 && made && has_its_name(old, f->path)) unlink(f->path);
    close(old);
    return f->fd >= 0;
}

static bool results_write_begin(struct results_file *f, bool made, const struct text *header, lx_status *st)
{
    struct text line = {0};
    text_add_n(&line, header->at, header->length);
    text_add(&line, "\n");
    bool ok = line.failed ? status_no_memory(st) : results_write_replace(f, made, line.at, line.length, st);
    text_free(&line);
    return ok;
}

static bool results_write_take_over(struct call *call, struct results_file *f, const struct text *header,
                                    struct results *old)
{
    size_t length, torn;
    char *text = file_read(f->path, &length, &call->st);
    if (!text) return false;
    bool ok = results_parse(old, f->path, text, length, &torn, &call->st) &&
              provenance_same(f->path, old->headers.at[0], header->at, &call->st);
    int64_t before = ok ? provenance_ranks(old->headers.at[0]) : 1, now = provenance_ranks(header->at);
    if (ok && before != now)
        note(call, "%s: begun by %lld ranks, goes on with %lld; times may not compare", f->path,
             (long long)before, (long long)now);
    for (size_t i = 0; ok && i < old->problems.count; i++) note(call, "%s", old->problems.at[i]);
    if (ok && torn < length) {
        note(call, "%s: the last line is torn; its run is done again", f->path);
        ok = results_write_replace(f, false, text, torn, &call->st);
    }
    mem_free(text);
    return ok;
}

static bool keep_rows(const struct results *old, struct arena *memory, rows *done)
{
    for (size_t i = 0; i < old->rows.count; i++) {
        struct row r = old->rows.at[i];
        for (const struct row_field *f = row_fields; f->key; f++)
            if (field_is_text(f) && !(*field_text(&r, f) = arena_string(memory, *field_text(&r, f))))
                return false;
        if (!VEC_PUSH(done, r)) return false;
    }
    return true;
}

static bool resume(struct call *call, struct results_file *f, const struct text *header, struct arena *memory,
                   rows *done)
{
    struct results old = {0};
    bool ok = results_write_take_over(call, f, header, &old);
    if (ok && !keep_rows(&old, memory, done)) ok = status_no_memory(&call->st);
    results_free(&old);
    return ok;
}

static bool refuse_existing(const char *path, lx_status *st)
{
    return status_set_at(st, LX_E_USAGE, path, 0, 0,
                         "exists already; --resume goes on with it, --force replaces it");
}

/* What is in the file counts only once it is locked: until then another bench may begin it. */
static bool open_locked(struct call *call, struct results_file *f, bool made, const struct text *header,
                        struct arena *memory, rows *done)
{
    bool force = option_given(&call->line, "force"), go_on = option_given(&call->line, "resume");
    struct stat info;
    f->fd = open_and_lock(f->path, &call->st);
    if (f->fd < 0) return false;
    bool empty = fstat(f->fd, &info) == 0 && info.st_size == 0, ok;
    if (empty || force)
        ok = results_write_begin(f, made && empty, header, &call->st);
    else
        ok = go_on ? resume(call, f, header, memory, done) : refuse_existing(f->path, &call->st);
    if (ok && fstat(f->fd, &info) == 0) f->length = info.st_size;
    if (!ok) results_close(f);
    return ok;
}

bool results_open(struct call *call, struct results_file *f, const char *path, const struct text *header,
                  struct arena *memory, rows *done)
{
    struct stat info;
    bool exists = stat(path, &info) == 0;
    *f = (struct results_file){.fd = -1, .path = path};
    if (strcmp(path, "-") == 0 || (exists && !S_ISREG(info.st_mode)))
        return status_set_at(&call->st, LX_E_USAGE, path, 0, 0, "results must go to a regular file");
    bool go_on = option_given(&call->line, "resume"), force = option_given(&call->line, "force");
    if (go_on && force)
        return status_set(&call->st, LX_E_USAGE,
                          "--resume keeps the file and --force replaces it: choose one");
    if (exists && info.st_size > 0 && !go_on && !force) return refuse_existing(path, &call->st);
    return open_locked(call, f, !exists, header, memory, done);
}

bool results_are_kept(struct results_file *f, lx_status *st)
{
    struct stat info;
    if (f->fd < 0) return true;
    if (has_its_name(f->fd, f->path) && fstat(f->fd, &info) == 0 && info.st_size == f->length) return true;
    results_close(f);
    return status_set_at(
        st, LX_E_IO, f->path, 0, 0,
        "removed, replaced or changed by somebody else during the bench: its results are not "
        "all in it; look for them where the file went, or begin again with another one");
}

bool results_append_line(struct results_file *f, const char *line, size_t length, lx_status *st)
{
    if (f->fd < 0) return true;
    for (size_t at = 0; at < length;) {
        ssize_t n = write(f->fd, line + at, length - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return status_set_at(st, LX_E_IO, f->path, 0, 0, "cannot write: %s", strerror(errno));
        at += (size_t)n;
        f->length += n;
    }
    if (fsync(f->fd) != 0)
        return status_set_at(st, LX_E_IO, f->path, 0, 0, "cannot write: %s", strerror(errno));
    return results_are_kept(f, st);
}

bool results_append(struct results_file *f, const struct row *r, lx_status *st)
{
    struct text line = {0};
    if (f->fd < 0) return true;
    row_write(r, &line);
    bool ok = line.failed ? status_no_memory(st) : results_append_line(f, line.at, line.length, st);
    text_free(&line);
    return ok;
}

void results_close(struct results_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}
