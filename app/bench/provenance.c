/* The first line of a results file: everything that a sceptic asks about a measurement. */
#include "bench/harness.h"
#include "base/file.h"

#include <sys/utsname.h>
#include <unistd.h>

#ifndef LXPLAN_GIT
#define LXPLAN_GIT "unknown"
#endif
#ifndef LXPLAN_FLAGS
#define LXPLAN_FLAGS "unknown"
#endif
#ifndef LXPLAN_VERSION
#define LXPLAN_VERSION "unknown"
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void provenance_member(struct text *t, const char *key, const char *value)
{
    text_format(t, "\"%s\": ", key);
    if (value)
        text_json_string(t, value);
    else
        text_add(t, "null");
    text_add(t, ", ");
}

/* "model name" on x86; elsewhere what the kernel calls the implementer and the part. */
static void find_cpu(char *out, size_t size)
{
    char line[512], implementer[64] = "", part[64] = "";
    FILE *f = fopen("/proc/cpuinfo", "re");
    snprintf(out, size, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        if (!value) continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = 0;
        if (strncmp(line, "model name", 10) == 0) {
            snprintf(out, size, "%s", value);
            fclose(f);
            return;
        }
        if (strncmp(line, "CPU implementer", 15) == 0)
            snprintf(implementer, sizeof implementer, "%.60s", value);
        if (strncmp(line, "CPU part", 8) == 0) snprintf(part, sizeof part, "%.60s", value);
    }
    if (f) fclose(f);
    if (part[0]) snprintf(out, size, "implementer %s part %s", implementer, part);
}

static void write_machine(const struct settings *s, struct text *t)
{
    struct utsname u;
    char cpu[300], kernel[300] = "unknown", host[100] = "unknown", date[40], program[17];
    time_t now = time(NULL);
    struct tm parts;
    double load;
    find_cpu(cpu, sizeof cpu);
    /* The program itself: says more than a revision, which knows nothing of local changes. */
    size_t length;
    lx_status ignored;
    char *data = file_read("/proc/self/exe", &length, &ignored);
    if (data)
        snprintf(program, 17, "%016llx", (unsigned long long)hash_bytes(HASH_START, data, length));
    else
        snprintf(program, 17, "unknown");
    mem_free(data);
    if (uname(&u) == 0) {
        snprintf(host, sizeof host, "%.99s", u.nodename);
        snprintf(kernel, sizeof kernel, "%.80s %.80s %.80s", u.sysname, u.release, u.machine);
    }
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    provenance_member(t, "date", date);
    provenance_member(t, "host", s->hosts.length ? s->hosts.at : host);
    provenance_member(t, "cpu", s->cpus.length ? s->cpus.at : cpu);
    text_format(t, "\"cores\": %ld, ", sysconf(_SC_NPROCESSORS_ONLN));
    if (getloadavg(&load, 1) == 1) text_format(t, "\"load\": %.2f, ", load);
    provenance_member(t, "kernel", kernel);
    provenance_member(t, "compiler", COMPILER);
    provenance_member(t, "flags", LXPLAN_FLAGS);
    provenance_member(t, "version", LXPLAN_VERSION);
    provenance_member(t, "git", LXPLAN_GIT);
    provenance_member(t, "program", program);
}

static void write_solvers(const struct settings *s, struct text *t)
{
    text_add(t, "\"solvers\": [");
    for (size_t i = 0; i < s->solvers.count; i++) {
        const struct bench_solver *b = &s->solvers.at[i];
        text_add(t, i ? ", {" : "{");
        provenance_member(t, "name", b->solver->name);
        provenance_member(t, "config", b->config);
        text_format(t, "\"seeded\": %s, \"proves\": %s, \"options\": {",
                    b->solver->caps & LX_IS_SEEDED ? "true" : "false",
                    b->solver->caps & LX_CAN_PROVE ? "true" : "false");
        for (int k = 0; k < b->solver->option_count; k++)
            text_format(t, "%s\"%s\": %lld", k ? ", " : "", b->solver->options[k].name,
                        (long long)b->values[k]);
        text_add(t, "}}");
    }
    text_add(t, "], ");
}

void provenance_write(const struct settings *s, const instances *list, struct text *t)
{
    text_add(t, "{\"lxplan\": 1, \"kind\": \"results\", \"header\": {");
    write_machine(s, t);
    text_format(t,
                "\"limits\": {\"time_seconds\": %.17g, \"grace_seconds\": %.17g, \"memory_mb\": %lld, "
                "\"memory_limit_by\": \"%s\", \"work\": ",
                s->time, s->grace, (long long)s->memory_mb, memory_limit_means());
    if (s->work)
        text_format(t, "%lld}, ", (long long)s->work);
    else
        text_add(t, "null}, ");
    enum lx_ask ask = lx_settings_ask(&s->options);
    provenance_member(t, "objective", ask ? lx_objective_word(lx_asked(ask, LX_SPILL)) : NULL);
    /* The device and the passes also change the problem. */
    struct text all = {0};
    for (int i = 0; i < lx_settings_count(); i++) {
        enum lx_option_group group = lx_settings_at(i).group;
        bool counts = (group == LX_GROUP_DEVICE && i != LX_OPTION_LX) || group == LX_GROUP_PASSES;
        OWNED char *value =
            counts && lx_settings_is_set(&s->options, i) ? lx_settings_get(&s->options, i) : NULL;
        if (value) text_format(&all, "%s--%s %s", all.length ? " " : "", lx_settings_at(i).name, value);
    }
    if (all.length) provenance_member(t, "options", all.at);
    text_free(&all);
    provenance_member(t, "lx", s->lx);
    text_format(t, "\"seed\": %lld, \"seeds\": %lld, \"repeats\": %lld, \"warmup\": %lld, \"jobs\": %lld, ",
                (long long)s->seed, (long long)s->seeds, (long long)s->repeats, (long long)s->warmup,
                (long long)s->jobs);
    if (s->ranks > 1) text_format(t, "\"ranks\": %lld, ", (long long)s->ranks);
    write_solvers(s, t);
    text_add(t, "\"instances\": [");
    for (size_t i = 0; i < list->count; i++) {
        const struct instance *n = &list->at[i];
        text_add(t, i ? ", {" : "{");
        provenance_member(t, "path", n->path);
        provenance_member(t, "hash", n->hash);
        text_format(t, "\"objective\": \"%s\", \"buffers\": %lld, \"capacity\": %lld}",
                    n->bad ? "unknown" : lx_objective_word(n->objective), (long long)n->buffers,
                    (long long)n->capacity);
    }
    text_add(t, "]}}");
}

/* Members that must be equal for two sets of runs to be one experiment. Not the date, nor the kernel: a
 * machine that was restarted may go on. Nor the number of ranks, as a rank may be lost for good. */
static const char *const decisive[] = {"limits",  "objective", "options", "lx",      "seed",      "seeds",
                                       "repeats", "jobs",      "solvers", "host",    "cpu",       "version",
                                       "git",     "compiler",  "flags",   "program", "instances", NULL};

/* The first difference of two headers. */
struct difference {
    char name[200], a[200], b[200];
};

/* Goes down to the first member or element that differs, so that the words say which. */
static void find_difference(const char *key, const struct json_value *a, const struct json_value *b,
                            struct difference *d)
{
    snprintf(d->name, sizeof d->name, "%s", key);
    while (a && b && a->kind == b->kind && a->kind >= JSON_ARRAY) {
        const struct json_value *x = a->child, *y = b->child;
        while (x && y && json_same(x, y)) x = x->next, y = y->next;
        if (!x && !y) break;
        size_t n = strlen(d->name);
        if (x && x->key) snprintf(d->name + n, sizeof d->name - n, ".%.60s", x->key);
        bool whole = json_is_array(a) && !(json_is_object(x) && json_is_object(y));
        a = x;
        b = y;
        if (whole) break;
    }
    for (int k = 0; k < 2; k++) {
        SCOPED(text_free) struct text t = {0};
        if (k ? b : a) json_add(k ? b : a, &t);
        snprintf(k ? d->b : d->a, sizeof d->a, "%.150s%s", t.at ? t.at : "nothing",
                 t.length > 150 ? "..." : "");
    }
}

struct json header_read(const char *line)
{
    struct json j;
    json_parse(&j, "", line, strlen(line), NULL);
    return j;
}

const struct json_value *header_member(const struct json *line, const char *key)
{
    return json_find(json_find(line->root, "header"), key);
}

/* True where all of these members of two headers are equal; else `d` has the first that is not. */
static bool are_equal(const struct json *x, const struct json *y, const char *const *keys,
                      struct difference *d)
{
    for (const char *const *key = keys; *key; key++) {
        const struct json_value *m = header_member(x, *key), *n = header_member(y, *key);
        if (json_same(m, n)) continue;
        find_difference(*key, m, n, d);
        return false;
    }
    return true;
}

bool provenance_same(const char *path, const char *before, const char *now, lx_status *st)
{
    SCOPED(json_free) struct json a = header_read(before), b = header_read(now);
    struct difference d;
    bool ok = are_equal(&a, &b, decisive, &d) ||
              status_set_at(
                  st, LX_E_USAGE, path, 0, 0,
                  "cannot resume: %s was %s and is now %s; give the same options, or another results file",
                  d.name, d.a, d.b);
    return ok;
}

int64_t provenance_ranks(const char *header)
{
    SCOPED(json_free) struct json h = header_read(header);
    const struct json_value *ranks = header_member(&h, "ranks");
    return json_is_number(ranks) ? (int64_t)ranks->number : 1;
}

/* Appends a name, unless it is in the list. */
static void provenance_add_name(struct text *names, const struct json_value *name)
{
    const char *word = json_is_string(name) ? name->text : "unknown";
    size_t n = strlen(word);
    for (const char *at = names->at; at && *at; at += strspn(at, "; ")) {
        size_t length = strcspn(at, ";");
        if (length == n && memcmp(at, word, n) == 0) return;
        at += length;
    }
    text_format(names, "%s%s", names->length ? "; " : "", word);
}

bool provenance_join(struct settings *s, int rank, const char *ours, const char *theirs, lx_status *st)
{
    /* The decisive members except the machine: ranks may run on several. */
    static const char *const shared[] = {"limits",  "objective", "options", "lx",      "seed",      "seeds",
                                         "repeats", "solvers",   "version", "program", "instances", NULL};
    struct json line[] = {header_read(ours), header_read(theirs)};
    struct difference d;
    bool ok = are_equal(&line[0], &line[1], shared, &d) ||
              status_set(st, LX_E_MISMATCH,
                         "rank %d would make other runs than rank 0: %s is %s there and %s here; all ranks "
                         "need the same program, options and files",
                         rank, d.name, d.b, d.a);
    for (int k = s->hosts.length ? 1 : 0; ok && k < 2; k++) {
        provenance_add_name(&s->hosts, header_member(&line[k], "host"));
        provenance_add_name(&s->cpus, header_member(&line[k], "cpu"));
    }
    json_free(&line[0]);
    json_free(&line[1]);
    return ok;
}
