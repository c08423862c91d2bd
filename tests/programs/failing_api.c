/* Every allocation of every call of lxplan.h fails in turn: once, and from there on.
 *
 *     build/bin/failing_api [--most N] [TEXT]
 *
 * A tale is a row of calls that build on each other. Of each call each allocation fails: it says that memory is out, and says yes
 * when it is asked again; or it says yes at once. Either way the rest of the tale goes on, and ends with the same texts, numbers and places as
 * without the fault. When all handles are freed, nothing is held that was not before. About SAMPLE faults per call and kind are
 * tried, with --most so many, with LXPLAN_ALL set all. A function of lxplan.h that no tale calls is a fault of this file. */
#include "lxplan.h"
#include "support/failing_allocator.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLE = 4, MOST_TEXTS = 24, MOST_NAMES = 200, DIGEST = 1 << 20 };

/* What the calls of a tale make and use. */
struct stage {
    lx_error *e, *other;
    lx_options *o;
    lx_placement *p, *read;
    lx_builder *b;
    lx_graph *g, *again;
    lx_result *r, *parsed, *run;
    lx_text *text[MOST_TEXTS];
    int texts;
    const char *call; /* the name of the last one */
};

static char called[MOST_NAMES][40];
static int called_count;

static void note_call(const char *name)
{
    for (int i = 0; i < called_count; i++)
        if (strcmp(called[i], name) == 0) return;
    if (called_count < MOST_NAMES) snprintf(called[called_count++], sizeof *called, "%s", name);
}

/* One call of a tale: its name, and whether it did what it is for. */
#define STEP(number, name, holds)                                                                            \
    case number: s->call = #name; return holds;

static bool keep(struct stage *s, lx_text *t)
{
    if (t) s->text[s->texts++] = t;
    return t != NULL;
}

static int32_t never(void *context)
{
    (void)context;
    return 0;
}

static void no_news(void *context, int64_t steps, double objective, double bound)
{
    (void)context, (void)steps, (void)objective, (void)bound;
}

/* Buffers that want places, by every function that says something about them. */
static bool placement_tale(struct stage *s, int step)
{
    static const int64_t sizes[] = {512, 256, 256, 128}, starts[] = {0, 2, 3, 6}, ends[] = {3, 5, 6, 9},
                         offs[] = {700, 300, 300, 90}, uses[] = {0, 1, 2};
    static const int32_t both[] = {3, 4}, two[] = {5, 6};
    static const char list[] = "id,lower,upper,size\na,0,4,60\nb,1,3,50\nc,2,6,40\nd,5,9,70\ne,3,8,30\n";
    lx_error *e = s->e;
    switch (step) {
        STEP(0, lx_error_new, (s->other = lx_error_new()) != NULL)
        STEP(1, lx_options_new, (s->o = lx_options_new()) != NULL)
        STEP(2, lx_options_set, lx_options_set(s->o, "solver", "exact", e) == 0)
        STEP(3, lx_options_set, lx_options_set(s->o, "work", "500", e) == 0)
        STEP(4, lx_options_on_stop, (lx_options_on_stop(s->o, never, NULL), true))
        STEP(5, lx_options_on_progress, (lx_options_on_progress(s->o, no_news, NULL), true))
        STEP(6, lx_placement_new, (s->p = lx_placement_new("cost", 32, e)) != NULL)
        STEP(7, lx_placement_pool, lx_placement_pool(s->p, "LX", 1024, e) == 0)
        STEP(8, lx_placement_pool, lx_placement_pool(s->p, "side", 512, e) == 1)
        STEP(9, lx_placement_reserve, lx_placement_reserve(s->p, 1, 0, 64, 0, 0, e) == 0)
        STEP(10, lx_placement_buffer, lx_placement_buffer(s->p, "scores", 512, 0, 3, 1024, e) == 0)
        STEP(11, lx_placement_buffer, lx_placement_buffer(s->p, "rows", 512, 2, 6, 2000, e) == 1)
        STEP(12, lx_placement_buffer, lx_placement_buffer(s->p, "pinned", 128, 1, 4, 100, e) == 2)
        STEP(13, lx_placement_buffers, lx_placement_buffers(s->p, 4, sizes, starts, ends, offs, e) == 3)
        STEP(14, lx_placement_live, lx_placement_live(s->p, 6, 11, 12, e) == 0)
        STEP(15, lx_placement_uses, lx_placement_uses(s->p, 0, uses, 3, 0, e) == 0)
        STEP(16, lx_placement_allow, lx_placement_allow(s->p, 1, 1, 5, e) == 0)
        STEP(17, lx_placement_pin, lx_placement_pin(s->p, 2, 0, 128, 0, e) == 0)
        STEP(18, lx_placement_set, lx_placement_set(s->p, 6, "barred", "it is an output", e) == 0)
        STEP(19, lx_placement_set, lx_placement_set(s->p, 3, "alignment", "96", e) == 0)
        STEP(20, lx_placement_set, lx_placement_set(s->p, 1, "parent", "0", e) == 0)
        STEP(21, lx_placement_pair, lx_placement_pair(s->p, "apart", 0, 5, 0, e) == 0)
        STEP(22, lx_placement_pair, lx_placement_pair(s->p, "reuse", 1, 5, 3, e) == 0)
        STEP(23, lx_placement_group, lx_placement_group(s->p, "together", both, 2, e) == 0)
        STEP(24, lx_placement_charge,
             lx_placement_charge(s->p, 9, two, 1, two + 1, 1, NULL, 0, NULL, 0, e) == 0)
        STEP(25, lx_placement_write, keep(s, lx_placement_write(s->p, "pattern", e)))
        STEP(26, lx_solve, (s->r = lx_solve(s->p, s->o, e)) != NULL)
        STEP(27, lx_result_check, lx_result_check(s->r, e) == 1)
        STEP(28, lx_result_write, keep(s, lx_result_write(s->r, "explain", NULL, e)))
        STEP(29, lx_result_write, keep(s, lx_result_write(s->r, "plan", NULL, e)))
        STEP(30, lx_placement_parse, (s->read = lx_placement_parse(list, sizeof list - 1, NULL, e)) != NULL)
        STEP(31, lx_placement_write, keep(s, lx_placement_write(s->read, "csv", e)))
        STEP(32, lx_check, lx_check(s->read, NULL, (const int64_t[]){0, 60, 110, 0, 150}, 5, NULL, e) == 1)
        STEP(33, lx_solve, (s->parsed = lx_solve(s->read, NULL, e)) != NULL)
        STEP(34, lx_result_write, keep(s, lx_result_write(s->parsed, "explain", NULL, e)))
    default: return s->call = NULL, true;
    }
}

/* A graph, from its first tensor to its run. */
static bool graph_tale(struct stage *s, int step)
{
    static const int64_t rows[] = {64, 128}, weights[] = {128, 128};
    lx_error *e = s->e;
    switch (step) {
        STEP(0, lx_builder_new, (s->b = lx_builder_new("small")) != NULL)
        STEP(1, lx_builder_device, lx_builder_device(s->b, "preset", "spyre", e) == 0)
        STEP(2, lx_builder_device, lx_builder_device(s->b, "cores", "4", e) == 0)
        STEP(3, lx_builder_tensor, lx_builder_tensor(s->b, "x", "fp16", 2, rows, "input", e) == 0)
        STEP(4, lx_builder_tensor, lx_builder_tensor(s->b, "w", "fp16", 2, weights, "weight", e) == 1)
        STEP(5, lx_builder_tensor, lx_builder_tensor(s->b, "h", "fp16", 2, rows, NULL, e) == 2)
        STEP(6, lx_builder_tensor, lx_builder_tensor(s->b, "y", "fp16", 2, rows, "output", e) == 3)
        STEP(7, lx_builder_op,
             lx_builder_op(s->b, "product", "matmul", "mk,kn->mn", (const int32_t[]){0, 1}, 2, 2, e) == 0)
        STEP(8, lx_builder_op,
             lx_builder_op(s->b, "scaled", "mul", "mn->mn", (const int32_t[]){2}, 1, 3, e) == 1)
        STEP(9, lx_builder_attribute, lx_builder_attribute(s->b, 1, "value", "0.5", e) == 0)
        STEP(10, lx_builder_finish, (s->g = lx_builder_finish(s->b, e)) != NULL)
        STEP(11, lx_graph_write, keep(s, lx_graph_write(s->g, NULL, e)))
        STEP(12, lx_graph_parse,
             (s->again = lx_graph_parse(lx_text_data(s->text[0]), lx_text_size(s->text[0]), NULL, e)) != NULL)
        STEP(13, lx_plan, (s->r = lx_plan(s->again, NULL, e)) != NULL)
        STEP(14, lx_result_write, keep(s, lx_result_write(s->r, "plan", NULL, e)))
        STEP(15, lx_plan_parse,
             (s->parsed = lx_plan_parse(lx_text_data(s->text[1]), lx_text_size(s->text[1]), e)) != NULL)
        STEP(16, lx_result_check, lx_result_check(s->parsed, e) == 1)
        STEP(17, lx_result_write, keep(s, lx_result_write(s->r, "explain", NULL, e)))
        STEP(18, lx_result_write, keep(s, lx_result_write(s->r, "diff", s->parsed, e)))
        STEP(19, lx_result_write, keep(s, lx_result_write(s->r, "perfetto", NULL, e)))
        STEP(20, lx_result_write, keep(s, lx_result_write(s->r, "handover", NULL, e)))
        STEP(21, lx_options_new, (s->o = lx_options_new()) != NULL)
        STEP(22, lx_options_set, lx_options_set(s->o, "threads", "2", e) == 0)
        STEP(23, lx_run, (s->run = lx_run(s->parsed, s->o, e)) != NULL)
        STEP(24, lx_result_write, keep(s, lx_result_write(s->run, "trace", NULL, e)))
    default: return s->call = NULL, true;
    }
}

/* A team of two. */
static bool team_tale(struct stage *s, int step)
{
    static const char graph[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"rows\", \"tensors\": ["
        "{\"name\": \"x\", \"shape\": [64, 128], \"dtype\": \"fp16\", \"role\": \"input\"},"
        "{\"name\": \"m\", \"shape\": [64], \"dtype\": \"fp16\"},"
        "{\"name\": \"y\", \"shape\": [64, 128], \"dtype\": \"fp16\", \"role\": \"output\"}], \"ops\": ["
        "{\"name\": \"max\", \"kind\": \"max\", \"einsum\": \"mn->m\", \"inputs\": [\"x\"], \"output\": "
        "\"m\"},"
        "{\"name\": \"minus\", \"kind\": \"sub\", \"einsum\": \"mn,m->mn\", \"inputs\": [\"x\", \"m\"],"
        " \"output\": \"y\"}]}";
    lx_error *e = s->e;
    switch (step) {
        STEP(0, lx_graph_parse, (s->g = lx_graph_parse(graph, sizeof graph - 1, "pattern", e)) != NULL)
        STEP(1, lx_options_new, (s->o = lx_options_new()) != NULL)
        STEP(2, lx_options_set, lx_options_set(s->o, "team", "2", e) == 0)
        STEP(3, lx_plan, (s->r = lx_plan(s->g, s->o, e)) != NULL)
        STEP(4, lx_result_write, keep(s, lx_result_write(s->r, "plan", NULL, e)))
        STEP(5, lx_plan_parse,
             (s->parsed = lx_plan_parse(lx_text_data(s->text[0]), lx_text_size(s->text[0]), e)) != NULL)
        STEP(6, lx_result_check, lx_result_check(s->parsed, e) == 1)
        STEP(7, lx_run, (s->run = lx_run(s->parsed, s->o, e)) != NULL)
    default: return s->call = NULL, true;
    }
}

/* Divisions and places together. */
static bool joint_tale(struct stage *s, int step)
{
    static const char question[] = "{\"lxplan\": 1, \"kind\": \"joint\", \"capacity\": 1024, \"alignment\": "
                                   "128, \"objective\": \"cost\", "
                                   "\"buffers\": [{\"name\": \"a\", \"live\": [0, 2], \"off\": 1000, "
                                   "\"menu\": [{\"bytes\": 512, \"cores\": 2,"
                                   " \"squares\": 4}, {\"bytes\": 1024}], \"seed\": 1, \"readers\": "
                                   "[{\"buffer\": 1, \"pairs\": [[0, 0], [1, 1]]}]},"
                                   "{\"name\": \"b\", \"live\": [1, 4], \"off\": 700, \"menu\": [{\"bytes\": "
                                   "512, \"cores\": 2}, {\"bytes\": 1024}],"
                                   " \"parents\": [0]}]}";
    switch (step) {
        STEP(0, lx_joint_solve, (s->r = lx_joint_solve(question, sizeof question - 1, NULL, s->e)) != NULL)
    default: return s->call = NULL, true;
    }
}

/* A model with an open extent, and what became of it. */
static bool model_tale(struct stage *s, int step)
{
    static const char model[] =
        "func.func @forward(%x: tensor<?x256xf32>, %w: tensor<256x64xf32>) -> tensor<?x64xf32> {\n"
        "  %0 = \"ttir.matmul\"(%x, %w) : (tensor<?x256xf32>, tensor<256x64xf32>) -> tensor<?x64xf32>\n"
        "  return %0 : tensor<?x64xf32>\n}\n";
    int64_t cores, buffers;
    switch (step) {
        STEP(0, lx_options_new, (s->o = lx_options_new()) != NULL)
        STEP(1, lx_options_set, lx_options_set(s->o, "dim", "%x:0=128", s->e) == 0)
        STEP(2, lx_options_set, lx_options_set(s->o, "role", "w=weight", s->e) == 0)
        STEP(3, lx_graph_import, (s->g = lx_graph_import(model, sizeof model - 1, s->o, s->e)) != NULL)
        STEP(4, lx_graph_write, keep(s, lx_graph_write(s->g, "report", s->e)))
        STEP(5, lx_plan, (s->r = lx_plan(s->g, NULL, s->e)) != NULL)
        STEP(6, lx_result_name_at, lx_result_name_at(s->r, "ops", 0, NULL) != NULL)
        STEP(7, lx_result_integer, lx_result_integer(s->r, "hbm_bytes", &buffers) == 0)
        STEP(8, lx_result_item_integer, lx_result_item_integer(s->r, "ops", 0, "cores", &cores) == 0)
    default: return s->call = NULL, true;
    }
}

static const struct tale {
    const char *name;
    bool (*step)(struct stage *s, int step);
} tales[] = {{"placement", placement_tale},
             {"graph", graph_tale},
             {"team", team_tale},
             {"joint", joint_tale},
             {"model", model_tale}};

static void set_up(struct stage *s)
{
    *s = (struct stage){.e = lx_error_new()};
}

static void take_down(struct stage *s)
{
    for (int i = 0; i < s->texts; i++) lx_text_free(s->text[i]);
    lx_result_free(s->run);
    lx_result_free(s->parsed);
    lx_result_free(s->r);
    lx_graph_free(s->again);
    lx_graph_free(s->g);
    lx_builder_free(s->b);
    lx_placement_free(s->read);
    lx_placement_free(s->p);
    lx_options_free(s->o);
    lx_error_free(s->other);
    lx_error_free(s->e);
}

/* --- What came of a tale, by functions that allocate nothing. --- */

struct digest {
    char at[DIGEST];
    size_t length;
};

static void add_words(struct digest *d, const char *what, const char *words)
{
    int n = snprintf(d->at + d->length, DIGEST - d->length, "%s=%s\n", what, words ? words : "(null)");
    if (n > 0 && d->length + (size_t)n < DIGEST) d->length += (size_t)n;
}

static void add_number(struct digest *d, const char *what, double value)
{
    char words[40];
    snprintf(words, sizeof words, "%.17g", value);
    add_words(d, what, words);
}

static void add_result(struct digest *d, const lx_result *r)
{
    static const char *const numbers[] = {"objective", "bound", "hbm_bytes", "us", "height", "ok", "members"},
                             *const words[] = {"status", "solver", "name", "notes"},
                             *const lists[] = {"buffers", "ops", "transfers", "faults", "members"};
    double value = 0;
    int32_t pools[16] = {0};
    int64_t addresses[16] = {0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (lx_result_number(r, numbers[i], &value) == 0) add_number(d, numbers[i], value);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add_words(d, words[i], lx_result_word(r, words[i]));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        add_number(d, lists[i], (double)lx_result_count(r, lists[i]));
        add_words(d, "first", lx_result_item_word(r, lists[i], 0, "name"));
        if (lx_result_item_number(r, lists[i], 0, "address", &value) == 0) add_number(d, "address", value);
    }
    int32_t n = lx_result_places(r, pools, addresses, 16);
    for (int32_t i = 0; i < n && i < 16; i++)
        add_number(d, "pool", pools[i]), add_number(d, "at", (double)addresses[i]);
}

static void make_digest(struct digest *d, const struct stage *s)
{
    const lx_result *const results[] = {s->r, s->parsed, s->run};
    double value = 0;
    d->length = 0;
    for (int i = 0; i < s->texts; i++) add_words(d, "text", lx_text_data(s->text[i]));
    for (int i = 0; i < 3; i++)
        if (results[i]) add_result(d, results[i]);
    if (!s->g) return;
    if (lx_graph_number(s->g, "bytes", &value) == 0) add_number(d, "bytes", value);
    add_words(d, "hash", lx_graph_word(s->g, "hash"));
}

/* Functions of which there is nothing to fail, called here and above. */
static void call_others(void)
{
    static const char *const others[] = {
        "lx_text_data",     "lx_text_size",    "lx_text_free",          "lx_result_free",
        "lx_graph_free",    "lx_builder_free", "lx_placement_free",     "lx_options_free",
        "lx_error_free",    "lx_error_code",   "lx_error_text",         "lx_result_number",
        "lx_result_word",   "lx_result_count", "lx_result_item_number", "lx_result_item_word",
        "lx_result_places", "lx_graph_number", "lx_graph_word",         "lx_version",
        "lx_abi",           "lx_has",          "lx_solver_at",          "lx_options_at",
        "lx_error_place"};
    long before = atomic_load(&allocator.held);
    allocations_begin(1, LONG_MAX);
    bool said = lx_version() && lx_abi() >= 0 && lx_has("threads") && lx_solver_at(0, "name") &&
                lx_options_at(0, "name") && lx_options_at(0, "default") && !lx_error_place(NULL, NULL, NULL);
    allocations_end();
    if (!said || atomic_load(&allocator.held) != before)
        puts("what the library is and has: not without memory"), exit(1);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) note_call(others[i]);
}

/* --- Faults. --- */

static struct digest expected, got;
static long tried, said_so, bad;

static void complain(const struct tale *t, const char *call, long n, bool on, const char *what,
                     const char *words)
{
    bad++;
    printf("%s: %s, allocation %ld%s: %s%s%s\n", t->name, call, n, on ? " and all after it" : "", what,
           *words ? ": " : "", words);
}

/* The call `step` with its fault: true when it worked, then or when it was asked again. */
static bool with_fault(const struct tale *t, struct stage *s, int step, long n, bool on)
{
    lx_error_free(s->e);
    s->e = lx_error_new();
    allocations_begin(n, on ? LONG_MAX : n);
    bool ok = t->step(s, step);
    allocations_end();
    if (ok) return true;
    bool has_error =
        strncmp(s->call + strlen(s->call) - 4, "_new", 4) != 0 || strcmp(s->call, "lx_placement_new") == 0;
    if (has_error && strcmp(lx_error_code(s->e), "memory") != 0)
        complain(t, s->call, n, on, "it speaks of something else", lx_error_text(s->e));
    said_so++;
    if (t->step(s, step)) return true;
    complain(t, s->call, n, on, "asked again it fails", lx_error_text(s->e));
    return false;
}

/* The tale with one fault; step -1: none. How many allocations the call made. */
static void tell(const struct tale *t, int fault, long n, bool on, struct digest *out, long *lost,
                 const char **call)
{
    struct stage s;
    long before = atomic_load(&allocator.held);
    const char *who = "";
    bool ok = true;
    set_up(&s);
    for (int step = 0; ok; step++) {
        ok = step == fault ? with_fault(t, &s, step, n, on) : t->step(&s, step);
        if (!s.call) break;
        if (step == fault) who = s.call;
        if (!ok && step != fault) complain(t, s.call, n, on, "it fails later on", lx_error_text(s.e));
        note_call(s.call);
    }
    make_digest(out, &s);
    take_down(&s);
    if (fault >= 0 && ok &&
        (out->length != expected.length || memcmp(out->at, expected.at, out->length) != 0))
        complain(t, who, n, on, "the tale ends otherwise", "");
    *lost = atomic_load(&allocator.held) - before;
    *call = who;
}

/* Twice: the C library keeps memory of threads, more of it the more there are at once. */
static void tell_fault(const struct tale *t, int fault, long n, bool on)
{
    long lost = 0;
    const char *call = "";
    char words[60];
    tell(t, fault, n, on, &got, &lost, &call);
    if (lost) tell(t, fault, n, on, &got, &lost, &call);
    snprintf(words, sizeof words, "%ld blocks", lost);
    if (lost) complain(t, call, n, on, "not all is given back", words);
}

static long allocations_of(const struct tale *t, int fault)
{
    struct stage s;
    long n = -1;
    set_up(&s);
    for (int step = 0; step <= fault; step++) {
        if (step == fault) allocations_begin(0, 0);
        t->step(&s, step);
        if (step == fault) n = s.call ? allocations_end() : -1;
    }
    allocations_end();
    take_down(&s);
    return n;
}

static void try_tale(const struct tale *t, long most)
{
    long count, lost;
    const char *call;
    tell(t, -1, 0, false, &expected, &lost, &call); /* twice: what is made once is made */
    tell(t, -1, 0, false, &expected, &lost, &call);
    for (int step = 0; (count = allocations_of(t, step)) >= 0; step++)
        for (long n = 1, stride = count / most + 1; n <= count; n += stride)
            for (int on = 0; on < 2; on++, tried++) tell_fault(t, step, n, on);
}

/* Is there a function that nobody has called? */
static void look_for_others(void)
{
    FILE *f = fopen(SOURCE_DIR "/tests/house/exports.txt", "r");
    char line[80];
    if (!f) puts("there is no list of functions"), exit(1);
    while (fgets(line, sizeof line, f)) {
        bool known = false;
        line[strcspn(line, "\n")] = 0;
        for (int i = 0; i < called_count; i++) known |= strcmp(called[i], line) == 0;
        if (!known && *line) bad++, printf("%s: no tale calls it\n", line);
    }
    fclose(f);
}

int main(int argc, char **argv)
{
    long most = getenv("LXPLAN_ALL") ? LONG_MAX : SAMPLE;
    const char *only = NULL;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--most") == 0 && i + 1 < argc)
            most = atol(argv[++i]);
        else
            only = argv[i];
    static char said[BUFSIZ]; /* so that the first word takes no memory that would count as held */
    setvbuf(stdout, said, _IOLBF, sizeof said);
    if (most < 1) return 2;
    call_others();
    for (size_t i = 0; i < sizeof tales / sizeof *tales; i++)
        if (!only || strstr(tales[i].name, only)) try_tale(&tales[i], most);
    if (!only) look_for_others();
    printf("%ld faults, %ld told, %ld taken wrongly\n", tried, said_so, bad);
    return bad > 0;
}
