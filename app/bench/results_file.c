/* The results file: a header, then one line per run, each appended with a single write and flushed to the
 * disk before the next run begins. Whatever ends the program, the file holds complete lines but for the last,
 * which a resumed run cuts off by writing the rest to a new file that replaces the old one.
 *
 * One bench writes to a file, and holds its flock. The lock comes before any read of the file, and passes
 * from one file to the next: a file that replaces a locked one appears with its header and already locked, so
 * that no reader sees half a header and no second bench gets in between. For a moment a new file is empty,
 * which counts as none. Against programs that ignore locks (rm, mv, an editor) the file is compared with its
 * name and its length after every line and at the end. */
#include "bench/bench.h"
#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The members of a run's line, in the order of the line. A member that may be unknown names the flag that
 * says so. */

#define AT(member)    offsetof(struct row, member)
#define KNOWN(member) offsetof(struct row, member)

/* clang-format off */
const struct row_field row_fields[] = {
    {"instance",       FIELD_WORD,    AT(instance), 0},
    {"hash",           FIELD_WORD,    AT(hash),     0},
    {"name",           FIELD_WORD,    AT(name),     0},
    {"buffers",        FIELD_WHOLE,   AT(buffers),  0},
    {"capacity",       FIELD_WHOLE,   AT(capacity), 0},
    {"objective",      FIELD_WORD,    AT(question), 0},
    {"solver",         FIELD_WORD,    AT(solver),   0},
    {"seed",           FIELD_WHOLE,   AT(seed),     0},
    {"repeat",         FIELD_WHOLE,   AT(repeat),   0},
    {"config",         FIELD_WORD,    AT(config),   0},
    {"outcome",        FIELD_OUTCOME, AT(outcome),  0},
    {"status",         FIELD_WORD,    AT(status),   0},
    {"claim",          FIELD_WORD,    AT(claim),    0},
    {"value",          FIELD_WHOLE,   AT(value),    KNOWN(has_value)},
    {"bound",          FIELD_WHOLE,   AT(bound),    KNOWN(has_bound)},
    {"gap",            FIELD_GAP,     0,            0},
    {"device_us",      FIELD_MICROS,  AT(device_us), KNOWN(has_clocks)},
    {"end_to_end_us",  FIELD_MICROS,  AT(end_to_end_us), KNOWN(has_clocks)},
    {"measured_us",    FIELD_MICROS,  AT(measured_us), KNOWN(has_measured)},
    {"asked_bytes",    FIELD_BYTES,   AT(asked_bytes), KNOWN(has_measured)},
    {"steps",          FIELD_WHOLE,   AT(steps),    0},
    {"stats",          FIELD_OBJECT,  AT(stats),    0},
    {"solver_seconds", FIELD_SECONDS, AT(seconds),  KNOWN(has_seconds)},
    {"wall_seconds",   FIELD_SECONDS, AT(wall),     0},
    {"cpu_seconds",    FIELD_SECONDS, AT(cpu),      0},
    {"peak_kb",        FIELD_WHOLE,   AT(peak_kb),  0},
    {"message",        FIELD_MESSAGE, AT(message),  0},
    {"class",          FIELD_NOTE,    AT(class),    0},
    {"limit_seconds",  FIELD_MICROS,  AT(time_limit), KNOWN(has_limit)},
    {"known",          FIELD_BYTES,   AT(known),    KNOWN(has_known)},
    {"known_bound",    FIELD_BYTES,   AT(known_bound), KNOWN(has_known_bound)},
    {"known_status",   FIELD_NOTE,    AT(known_status), 0},
    {"answer",         FIELD_NOTE,    AT(answer),   0},
    {0},
};
/* clang-format on */

/* Counters as they are written: names and numbers. */
static const char *results_read_object(const struct json_value *object, struct arena *memory)
{
    const struct json_value *v;
    SCOPED(text_free) struct text t = {0};
    text_add(&t, "{");
    json_for_each(v, object) {
        if (!json_is_number(v) || !v->key) continue;
        text_add(&t, t.length > 1 ? "," : "");
        text_json_string(&t, v->key);
        text_add(&t, ":");
        json_add(v, &t);
    }
    text_add(&t, "}");
    const char *copy = arena_string(memory, t.at);
    return copy;
}

static bool results_read_field(const struct json *j, const struct row_field *f, struct arena *memory,
                               struct row *row, lx_status *st)
{
    const struct json_value *value = json_find(j->root, f->key);
    void *out = (char *)row + f->at;
    bool known = !json_is_null(value), number = f->kind == FIELD_SECONDS || f->kind == FIELD_MICROS;
    const char *text = "";
    bool absent = !value && (f->kind == FIELD_MICROS || f->kind == FIELD_BYTES), whole = field_is_whole(f);
    if (absent) known = false;
    if (f->known) *(bool *)((char *)row + f->known) = known;
    if (absent) return true;
    if (!value && (number || f->kind == FIELD_WORD || f->kind == FIELD_MESSAGE))
        return json_error(j, j->root, st, LX_E_SCHEMA, "the key \"%s\" is missing", f->key);
    if (whole) {
        *(int64_t *)out = 0; /* where it is unknown, or a number that JSON could not carry */
        return !known || json_int(j, j->root, f->key, -LX_INT_MAX, LX_INT_MAX, out, st);
    }
    if (number) {
        *(double *)out = 0;
        return (!known && f->known) || json_opt_number(j, j->root, f->key, 0, 1e15, out, st);
    }
    if (f->kind == FIELD_OUTCOME) {
        if (!json_string(j, j->root, f->key, &text, st)) return false;
        *(enum outcome *)out = outcome_find(text);
        return outcome_find(text) < OUTCOME_COUNT ||
               json_error(j, value, st, LX_E_SCHEMA, "there is no outcome \"%.40s\"", text);
    }
    if (f->kind == FIELD_GAP) return true;
    if (f->kind == FIELD_NOTE && !value) known = false;
    if (f->kind != FIELD_OBJECT && known && !json_string(j, j->root, f->key, &text, st)) return false;
    *field_text(row, f) =
        f->kind == FIELD_OBJECT ? results_read_object(value, memory) : arena_string(memory, text);
    return true;
}

bool row_read(struct arena *memory, const char *path, const char *text, size_t length, struct row *row,
              lx_status *st)
{
    struct json j;
    if (!json_parse(&j, path, text, length, st)) return false;
    bool ok = json_is_object(j.root) || json_error(&j, j.root, st, LX_E_SCHEMA, "a line must be an object");
    for (const struct row_field *f = row_fields; ok && f->key; f++)
        ok = results_read_field(&j, f, memory, row, st);
    json_free(&j);
    return ok;
}

static bool results_read_header(struct results *r, const char *path, const char *text, size_t length,
                                double *limit, lx_status *st)
{
    struct json j;
    if (!json_parse(&j, path, text, length, st)) return false;
    const struct json_value *kind = json_is_object(j.root) ? json_find(j.root, "kind") : NULL,
                            *header = json_find(j.root, "header");
    const struct json_value *version = json_find(j.root, "lxplan"), *limits = json_find(header, "limits");
    bool ok = false;
    if (!json_is_string(kind) || strcmp(kind->text, "results") != 0 || !json_is_object(header))
        json_error(&j, j.root, st, LX_E_SCHEMA,
                   "not a results file: its first line must be the header that `lxplan bench` writes");
    else if (!json_is_number(version) || version->number != 1)
        json_error(&j, j.root, st, LX_E_SCHEMA, "results of another format version than 1");
    else if (!json_is_object(limits) || !json_is_number(json_find(limits, "time_seconds")))
        json_error(&j, header, st, LX_E_SCHEMA,
                   "the header says nothing about the time limit (limits.time_seconds)");
    else {
        *limit = json_find(limits, "time_seconds")->number;
        VEC_PUSH(&r->headers, arena_copy(&r->memory, text, length));
        VEC_PUSH(&r->files, arena_string(&r->memory, path));
        ok = true;
    }
    json_free(&j);
    return ok;
}

bool results_parse(struct results *r, const char *path, const char *text, size_t length, size_t *torn,
                   lx_status *st)
{
    double limit = 0;
    size_t at = 0;
    *torn = length;
    for (int line = 1; at < length || line == 1; line++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t n = end ? (size_t)(end - text) - at : length - at;
        if (line == 1 && !end) /* bench makes the file with it, so this is something else */
            return status_set_at(st, LX_E_SCHEMA, path, 1, 1,
                                 "not a results file: its first line has no end");
        if (line == 1) {
            if (!results_read_header(r, path, text, n, &limit, st)) return false;
        } else if (!end) {
            *torn = at;
            VEC_PUSH(&r->problems,
                     arena_format(&r->memory, "%s:%d: line passed over: torn: it has no end", path, line));
            return true;
        } else if (n > 0) {
            lx_status why = {0};
            struct row row = {.time_limit = limit, .file = (int)r->files.count - 1, .line = line};
            if (row_read(&r->memory, path, text + at, n, &row, &why)) {
                if (!row.has_limit) row.time_limit = limit;
                VEC_PUSH(&r->rows, row);
            } else
                VEC_PUSH(&r->problems,
                         arena_format(&r->memory, "%s:%d: line passed over: %s", path, line, why.text));
        }
        at += n + 1;
    }
    return true;
}

bool results_read(struct results *r, const char *path, lx_status *st)
{
    size_t length, torn;
    OWNED char *text = file_read(path, &length, st);
    if (!text) return false;
    return results_parse(r, path, text, length, &torn, st);
}

void results_free(struct results *r)
{
    VEC_FREE(&r->rows);
    VEC_FREE(&r->headers);
    VEC_FREE(&r->files);
    VEC_FREE(&r->problems);
    arena_free(&r->memory);
    *r = (struct results){0};
}

/* A solver may claim any number; what JSON cannot carry exactly is not written at all. */
void row_write(const struct row *r, struct text *t)
{
    bool of_suite = false; /* fields from the class on, which other lines leave out */
    for (const struct row_field *f = row_fields; f->key; f++) {
        const void *at = (const char *)r + f->at;
        const char *text = field_is_text(f) ? *(const char *const *)at : NULL;
        int64_t whole = field_is_whole(f) ? *(const int64_t *)at : 0;
        double number = f->kind == FIELD_SECONDS || f->kind == FIELD_MICROS ? *(const double *)at
                        : f->kind == FIELD_GAP                              ? lx_gap(r->value, r->bound)
                                                                            : 0;
        bool known = f->kind == FIELD_GAP ? r->has_value && r->has_bound && isfinite(number)
                     : f->kind == FIELD_WORD || f->kind == FIELD_NOTE ? text && *text
                     : field_is_whole(f) ? field_is_known(r, f) && whole <= LX_INT_MAX && whole >= -LX_INT_MAX
                                         : field_is_known(r, f);
        of_suite |= f->kind == FIELD_NOTE;
        if (!known && of_suite) continue;
        text_format(t, "%s\"%s\": ", f == row_fields ? "{" : ", ", f->key);
        if (!known)
            text_add(t, "null");
        else if (f->kind == FIELD_OBJECT)
            text_add(t, text && *text ? text : "{}");
        else if (field_is_text(f))
            text_json_string(t, text ? text : "");
        else if (f->kind == FIELD_OUTCOME)
            text_json_string(t, outcome_word(r->outcome));
        else if (field_is_whole(f))
            text_format(t, "%lld", (long long)whole);
        else
            text_format(t, "%.9g", number);
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

/* Replaces the locked file by one with this text. The old lock goes last, so that a waiting bench finds the
 * new file locked. `made`: the old file is ours and empty, and is removed if this fails. */
static bool results_write_replace(struct results_file *f, bool made, const char *text, size_t length,
                                  lx_status *st)
{
    int old = f->fd;
    f->fd = file_replace_locked(f->path, text, length, st);
    if (f->fd < 0 && made && has_its_name(old, f->path)) unlink(f->path);
    close(old);
    return f->fd >= 0;
}

static bool results_write_take_over(struct call *call, struct results_file *f, const struct text *header,
                                    struct results *old)
{
    size_t length, torn;
    OWNED char *text = file_read(f->path, &length, &call->st);
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
    return ok;
}

static const char exists_already[] = "exists already; --resume goes on with it, --force replaces it";

/* The contents of the file count only once it is locked: until then another bench may begin it. */
static bool open_locked(struct call *call, struct results_file *f, bool made, const struct text *header,
                        struct arena *memory, rows *done)
{
    struct stat info;
    f->fd = open_and_lock(f->path, &call->st);
    if (f->fd < 0) return false;
    bool empty = fstat(f->fd, &info) == 0 && info.st_size == 0, ok;
    if (empty || option_given(&call->line, "force")) {
        SCOPED(text_free) struct text line = {0};
        text_format(&line, "%s\n", header->at);
        ok = results_write_replace(f, made && empty, line.at, line.length, &call->st);
    } else if (option_given(&call->line, "resume")) {
        SCOPED(results_free) struct results old = {0};
        ok = results_write_take_over(call, f, header, &old);
        for (size_t i = 0; ok && i < old.rows.count; i++) {
            struct row r = old.rows.at[i];
            for (const struct row_field *k = row_fields; k->key; k++)
                if (field_is_text(k)) *field_text(&r, k) = arena_string(memory, *field_text(&r, k));
            VEC_PUSH(done, r);
        }
    } else
        ok = status_set_at(&call->st, LX_E_USAGE, f->path, 0, 0, "%s", exists_already);
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
    if (exists && info.st_size > 0 && !go_on && !force)
        return status_set_at(&call->st, LX_E_USAGE, path, 0, 0, "%s", exists_already);
    return open_locked(call, f, !exists, header, memory, done);
}

bool results_are_kept(struct results_file *f, lx_status *st)
{
    struct stat info;
    if (f->fd < 0) return true;
    if (has_its_name(f->fd, f->path) && fstat(f->fd, &info) == 0 && info.st_size == f->length) return true;
    results_close(f);
    return status_set_at(st, LX_E_IO, f->path, 0, 0,
                         "removed, replaced or changed by somebody else during the bench: its results are "
                         "not all in it; look for them where the file went, or begin again with another one");
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
    SCOPED(text_free) struct text line = {0};
    if (f->fd < 0) return true;
    row_write(r, &line);
    return results_append_line(f, line.at, line.length, st);
}

void results_close(struct results_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}
