/* The results file: a header, then one line per run, each appended with a single write and flushed to the
 * disk before the next run begins. Whatever ends the program, the file holds complete lines but for the last,
 * which a resumed run cuts off by writing the rest to a new file that replaces the old one.
 *
 * One bench writes to a file, and holds its flock. The lock comes before any look at what is in the file, and
 * from one file to the next: a file that replaces a locked one appears with its header and already locked, so
 * that no reader sees half a header and no second bench gets in between. For a moment a new file is empty,
 * which counts as none. Against those who ask for no lock (rm, mv, an editor) the file is compared with its
 * name and its length after every line and at the end. */
#include "bench/bench.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
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
    {"steps",          FIELD_WHOLE,   AT(steps),    0},
    {"stats",          FIELD_OBJECT,  AT(stats),    0},
    {"solver_seconds", FIELD_SECONDS, AT(seconds),  KNOWN(has_seconds)},
    {"wall_seconds",   FIELD_SECONDS, AT(wall),     0},
    {"cpu_seconds",    FIELD_SECONDS, AT(cpu),      0},
    {"peak_kb",        FIELD_WHOLE,   AT(peak_kb),  0},
    {"message",        FIELD_MESSAGE, AT(message),  0},
    {0},
};
/* clang-format on */

/* Reads results files. A bad header ends it; a bad line behind it is reported with its place and passed over,
 * because the other lines are as good as before. */

struct reading {
    struct arena *memory;
    const struct json *json;
    lx_status *st;
};

typedef bool read_field(struct reading *r, const struct row_field *f, struct row *row);

static bool is_missing(struct reading *r, const char *key)
{
    if (json_find(r->json->root, key)) return false;
    return !json_error(r->json, r->json->root, r->st, LX_E_SCHEMA, "the key \"%s\" is missing", key);
}

/* Notes whether the field has a value; false: it is null. */
static bool note_known(struct reading *r, const struct row_field *f, struct row *row)
{
    bool known = !json_is_null(json_find(r->json->root, f->key));
    if (f->known) *(bool *)((char *)row + f->known) = known;
    return known;
}

static bool results_read_text(struct reading *r, const struct row_field *f, struct row *row)
{
    const char *text = "";
    if (is_missing(r, f->key)) return false;
    if (!json_is_null(json_find(r->json->root, f->key)) &&
        !json_string(r->json, r->json->root, f->key, &text, r->st))
        return false;
    *field_text(row, f) = arena_string(r->memory, text);
    return true;
}

/* Counters as they are written: names and numbers. */
static bool read_object(struct reading *r, const struct row_field *f, struct row *row)
{
    const struct json_value *v;
    struct text t = {0};
    int64_t whole;
    text_add(&t, "{");
    json_for_each(v, json_find(r->json->root, f->key)) {
        if (!json_is_number(v) || !v->key) continue;
        text_add(&t, t.length > 1 ? "," : "");
        text_json_string(&t, v->key);
        if (json_whole(v, &whole))
            text_format(&t, ":%lld", (long long)whole);
        else
            text_format(&t, ":%.17g", v->number);
    }
    text_add(&t, "}");
    *field_text(row, f) = arena_string(r->memory, t.at);
    text_free(&t);
    return true;
}

static bool read_outcome(struct reading *r, const struct row_field *f, struct row *row)
{
    const char *word;
    enum outcome *out = (enum outcome *)((char *)row + f->at);
    if (!json_string(r->json, r->json->root, f->key, &word, r->st)) return false;
    *out = outcome_find(word);
    return *out < OUTCOME_COUNT || json_error(r->json, json_find(r->json->root, f->key), r->st, LX_E_SCHEMA,
                                              "there is no outcome \"%.40s\"", word);
}

static bool read_whole(struct reading *r, const struct row_field *f, struct row *row)
{
    int64_t *out = (int64_t *)((char *)row + f->at);
    *out = 0;
    if (!note_known(r, f, row)) return true; /* unknown, or a number that JSON could not carry */
    return json_int(r->json, r->json->root, f->key, -LX_INT_MAX, LX_INT_MAX, out, r->st);
}

static bool read_seconds(struct reading *r, const struct row_field *f, struct row *row)
{
    double *out = (double *)((char *)row + f->at);
    *out = 0;
    if (is_missing(r, f->key)) return false;
    if (!note_known(r, f, row) && f->known) return true;
    return json_opt_number(r->json, r->json->root, f->key, 0, 1e15, out, r->st);
}

static bool read_micros(struct reading *r, const struct row_field *f, struct row *row)
{
    if (json_find(r->json->root, f->key)) return read_seconds(r, f, row);
    *(bool *)((char *)row + f->known) = false;
    return true;
}

static bool skip(struct reading *r, const struct row_field *f, struct row *row)
{
    (void)r, (void)f, (void)row;
    return true;
}

static read_field *const readers[FIELD_KINDS] = {
    [FIELD_WORD] = results_read_text, [FIELD_MESSAGE] = results_read_text,
    [FIELD_OBJECT] = read_object,     [FIELD_OUTCOME] = read_outcome,
    [FIELD_WHOLE] = read_whole,       [FIELD_SECONDS] = read_seconds,
    [FIELD_MICROS] = read_micros,     [FIELD_GAP] = skip,
};

static void add_problem(struct results *r, const char *path, int line, const lx_status *st)
{
    const char *words = arena_format(&r->memory, "%s:%d: line passed over: %s", path, line, st->text);
    VEC_PUSH(&r->problems, words);
}

bool row_read(struct arena *memory, const char *path, const char *text, size_t length, struct row *row,
              lx_status *st)
{
    struct json j;
    if (!json_parse(&j, path, text, length, st)) return false;
    struct reading reading = {memory, &j, st};
    bool ok = json_is_object(j.root) || json_error(&j, j.root, st, LX_E_SCHEMA, "a line must be an object");
    for (const struct row_field *f = row_fields; ok && f->key; f++) ok = readers[f->kind](&reading, f, row);
    json_free(&j);
    return ok;
}

/* One line behind the header. */
static void results_read_line(struct results *r, const char *path, int line, const char *text, size_t length,
                              double limit)
{
    lx_status why = {0};
    struct row row = {.time_limit = limit, .file = (int)r->files.count - 1, .line = line};
    if (row_read(&r->memory, path, text, length, &row, &why))
        VEC_PUSH(&r->rows, row);
    else
        add_problem(r, path, line, &why);
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
            lx_status why;
            *torn = at;
            status_set(&why, LX_E_SYNTAX, "torn: it has no end");
            add_problem(r, path, line, &why);
            return true;
        } else if (n > 0)
            results_read_line(r, path, line, text + at, n, limit);
        at += n + 1;
    }
    return true;
}

bool results_read(struct results *r, const char *path, lx_status *st)
{
    size_t length, torn;
    char *text = file_read(path, &length, st);
    if (!text) return false;
    bool ok = results_parse(r, path, text, length, &torn, st);
    mem_free(text);
    return ok;
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

/* Replaces the locked file by one with this text. The old lock goes last, so that a waiting bench finds the new file
 * locked. `made`: the old file is ours and empty, and is removed if this fails. */
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

static bool refuse_existing(const char *path, lx_status *st)
{
    return status_set_at(st, LX_E_USAGE, path, 0, 0,
                         "exists already; --resume goes on with it, --force replaces it");
}

/* The contents of the file count only once it is locked: until then another bench may begin it. */
static bool open_locked(struct call *call, struct results_file *f, bool made, const struct text *header,
                        struct arena *memory, rows *done)
{
    struct stat info;
    f->fd = open_and_lock(f->path, &call->st);
    if (f->fd < 0) return false;
    bool empty = fstat(f->fd, &info) == 0 && info.st_size == 0, ok;
    if (empty || option_given(&call->line, "force")) {
        struct text line = {0};
        text_format(&line, "%s\n", header->at);
        ok = results_write_replace(f, made && empty, line.at, line.length, &call->st);
        text_free(&line);
    } else if (option_given(&call->line, "resume")) {
        struct results old = {0};
        ok = results_write_take_over(call, f, header, &old);
        for (size_t i = 0; ok && i < old.rows.count; i++) {
            struct row r = old.rows.at[i];
            for (const struct row_field *k = row_fields; k->key; k++)
                if (field_is_text(k)) *field_text(&r, k) = arena_string(memory, *field_text(&r, k));
            VEC_PUSH(done, r);
        }
        results_free(&old);
    } else
        ok = refuse_existing(f->path, &call->st);
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
    struct text line = {0};
    if (f->fd < 0) return true;
    row_write(r, &line);
    bool ok = results_append_line(f, line.at, line.length, st);
    text_free(&line);
    return ok;
}

void results_close(struct results_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}
