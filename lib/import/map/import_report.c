/* The coverage report: what the file has, what became of it by kind, in ops and bytes, and all that was
 * decided on the way: roles, loops, branches, copies. Every op of the file is in exactly one class. */
#include "base/checked.h"
#include "graph/graph.h"
#include "import/map/import.h"
#include "import/read/hlo.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ALIKE = 1000 }; /* loops and branches of one name that are told of */

const char *import_class_word(enum import_class class)
{
#define IMPORT_CLASS(id, word) [id] = word,
    static const char *const words[] = {IMPORT_CLASSES(IMPORT_CLASS)};
#undef IMPORT_CLASS
    return words[class];
}

static bool report_is_needed(const struct import *im, const struct op_class *c)
{
    bool any = c->first == c->end;
    for (int32_t i = c->first; i < c->end; i++) any |= im->sketches.at[i].needed;
    return any;
}

/* Without ops of ours it is what its readers are. */
static enum import_class report_settled(const struct import *im, const struct op_class *c)
{
    bool used = c->first == c->end ? c->live : report_is_needed(im, c);
    return c->seen && used ? c->class : CLASS_DEAD;
}

/* Marks what a body's results need, from its end to its begin. Results of bodies that are called count as
 * needed. */
static void report_mark_live(struct import *im, size_t body, unsigned char *live)
{
    const struct model_body *b = &im->m->bodies.at[body];
    for (int i = 0; i < b->result_count; i++)
        if (b->results[i] >= 0) live[b->results[i]] = 1;
    for (int i = b->op_count - 1; i >= 0; i--) {
        const struct model_op *op = &b->ops[i];
        struct op_class *c = &im->classes[body][i];
        c->live = op->result_count == 0 || (c->first < c->end && report_is_needed(im, c));
        for (int r = 0; r < op->result_count; r++) c->live |= op->results[r] >= 0 && live[op->results[r]];
        for (int k = 0; c->live && k < op->operand_count; k++)
            if (op->operands[k] >= 0) live[op->operands[k]] = 1;
    }
}

static const char *report_reason_of(const struct op_class *c, enum import_class class)
{
    if (class == CLASS_DEAD) return c->seen ? "unused" : "not reached";
    return c->reason;
}

/* Where a part of what the op was written in is generic, so is the whole: its kind; NULL: none is. */
static const char *report_generic_part(const struct import *im, const struct model_op *op, int depth)
{
    const char *found = NULL;
    if (!op->instead || depth > MODEL_MAX_DEPTH) return NULL;
    const struct model_body *b = &im->m->bodies.at[op->instead - 1];
    const struct op_class *c = im->classes[op->instead - 1];
    for (int i = 0; i < b->op_count && !found; i++)
        if (c[i].seen)
            found =
                c[i].class == CLASS_GENERIC ? b->ops[i].kind : report_generic_part(im, &b->ops[i], depth + 1);
    return found;
}

static void report_count_op(const struct import *im, const struct model_op *op, struct op_class *c,
                            struct import_counts *t)
{
    const char *part = c->class == CLASS_EXPANDED ? report_generic_part(im, op, 0) : NULL;
    if (part) *c = (struct op_class){CLASS_GENERIC, part, c->seen, c->live, .first = c->first, .end = c->end};
    enum import_class class = report_settled(im, c);
    int64_t bytes = fact_operand_bytes(im->m, op) + fact_result_bytes(im->m, op);
    const char *word = import_class_word(class), *reason = report_reason_of(c, class);
    fact_add(&t->became, "ops", word, 1);
    fact_add(&t->became, "bytes", word, bytes);
    if (reason) fact_add(&t->became, word, reason, 1);
    int32_t i = names_find(&t->kinds, op->kind);
    if (i < 0) {
        struct import_kind row = {.kind = op->kind};
        i = (int32_t)t->rows.count;
        VEC_PUSH(&t->rows, row);
        names_add(&t->kinds, op->kind, i);
    }
    struct import_kind *k = &t->rows.at[i];
    k->count++;
    k->bytes += bytes;
    k->classes[class]++;
    if (reason) k->reason = reason;
}

/* Parameters, tuples and their elements are names in HLO, no ops. */
static bool report_is_structural(const struct import *im, const struct model_op *op)
{
    static const char *const kinds[] = {"parameter", "tuple", "get-tuple-element"};
    for (size_t i = 0; im->m->format == MODEL_HLO && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], op->kind) == 0) return true;
    return false;
}

/* Each has a key of its own: numbers of branches do not add up. */
static void report_note_taken(struct import *im, const char *group, const struct model_op *op, int64_t taken)
{
    const char *name = import_op_label(im, op), *key = name;
    for (int n = 2; key && model_fact(&im->notes, group, key, -1) >= 0; n++)
        key = n <= MOST_ALIKE ? arena_format(&im->memory, "%.200s#%d", name, n) : NULL;
    if (key) fact_add(&im->notes, group, key, taken);
}

static void report_note_control(struct import *im, const struct model_op *op, const struct op_class *c)
{
    bool branch = strcmp(op->kind, "conditional") == 0 || strcmp(op->kind, "If") == 0;
    bool loop = strcmp(op->kind, "while") == 0, steps = strcmp(op->kind, "Loop") == 0 && op->instead;
    if (!c->seen || (!branch && !loop && !steps)) return;
    if (steps) {
        report_note_taken(im, "loops", op, op->taken - 1);
        if (op->by_data) report_note_taken(im, "loops that data ends", op, op->taken - 1);
    } else if (loop) {
        report_note_taken(im, "loops", op, c->taken);
        if (c->unknown) report_note_taken(im, "loops that data ends", op, c->taken);
        if (c->capped) report_note_taken(im, "loops cut short", op, c->taken);
    } else {
        report_note_taken(im, c->unknown ? "branches chosen" : "branches known", op, c->taken);
    }
}

bool import_count(struct import *im, struct import_counts *t)
{
    enum hlo_use *use = mem_zeroed(im->m->bodies.count + 1, sizeof *use);
    unsigned char *live = mem_zeroed(im->m->values.count + 1, 1);
    bool hlo = im->m->format == MODEL_HLO;
    for (size_t b = im->m->bodies.count; b-- > 0;) report_mark_live(im, b, live);
    for (size_t b = 0; b < im->m->bodies.count; b++) report_mark_live(im, b, live);
    mem_free(live);
    t->became.m = im->m;
    if (hlo) hlo_uses(im->m, use);
    for (size_t b = 0; b < im->m->bodies.count && !im->m->bodies.at[b].derived; b++)
        for (int i = 0; i < im->m->bodies.at[b].op_count; i++) {
            const struct model_op *op = &im->m->bodies.at[b].ops[i];
            if ((hlo && use[b] != HLO_CONTROL) || report_is_structural(im, op)) continue;
            report_count_op(im, op, &im->classes[b][i], t);
            report_note_control(im, op, &im->classes[b][i]);
        }
    mem_free(use);
    return true;
}

void import_counts_free(struct import_counts *t)
{
    lx_model_facts_free(&t->became);
    names_free(&t->kinds);
    VEC_FREE(&t->rows);
}

/* Groups in the order of their first facts: a number for each, then the facts sorted by it. */
struct ordered {
    int32_t group, at;
};

static int report_compare(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void report_write_fact(struct text *t, const struct model_facts *f, const struct ordered *o, size_t i)
{
    const struct fact *fact = &f->all.at[o[i].at];
    bool begins = i == 0 || o[i - 1].group != o[i].group,
         ends = i + 1 == f->all.count || o[i + 1].group != o[i].group;
    bool plain = !*fact->key && begins && ends;
    if (begins) {
        text_add(t, i ? ",\n    " : "\n    ");
        text_json_string(t, fact->group);
        text_add(t, plain ? ": " : ": {");
    } else {
        text_add(t, ", ");
    }
    if (!plain) text_json_string(t, fact->key);
    text_format(t, plain ? "%lld" : ": %lld", (long long)fact->value);
    if (ends && !plain) text_add(t, "}");
}

static void report_write_facts(struct text *t, const char *name, const struct model_facts *f)
{
    struct ordered *o = mem_zeroed(f->all.count + 1, sizeof *o);
    struct names groups = {0};
    text_format(t, ",\n  \"%s\": {", name);
    for (size_t i = 0; i < f->all.count; i++) {
        names_add(&groups, f->all.at[i].group, (int32_t)i);
        o[i] = (struct ordered){names_find(&groups, f->all.at[i].group), (int32_t)i};
    }
    qsort(o, f->all.count, sizeof *o, report_compare);
    for (size_t i = 0; i < f->all.count; i++) report_write_fact(t, f, o, i);
    text_add(t, "\n  }");
    names_free(&groups);
    mem_free(o);
}

static void report_write_kinds(struct text *t, const struct import_counts *c)
{
    text_add(t, ",\n  \"kinds\": [");
    for (size_t i = 0; i < c->rows.count; i++) {
        const struct import_kind *k = &c->rows.at[i];
        bool first = true;
        text_add(t, i ? ",\n    {\"kind\": " : "\n    {\"kind\": ");
        text_json_string(t, k->kind);
        text_format(t, ", \"count\": %lld, \"bytes\": %lld, \"became\": {", (long long)k->count,
                    (long long)k->bytes);
        for (int class = 0; class < CLASS_COUNT; class ++) {
            if (!k->classes[class]) continue;
            text_format(t, "%s\"%s\": %lld", first ? "" : ", ", import_class_word((enum import_class) class),
                        (long long)k->classes[class]);
            first = false;
        }
        text_add(t, "}");
        if (k->reason) text_add(t, ", \"reason\": ");
        if (k->reason) text_json_string(t, k->reason);
        text_add(t, "}");
    }
    text_add(t, "\n  ]");
}

static void report_write_bindings(struct text *t, const char *name, const struct lx_model_binding *b,
                                  int count)
{
    text_format(t, ",\n  \"%s\": {", name);
    for (int i = 0; i < count; i++) {
        text_add(t, i ? ", " : "");
        text_json_string(t, b[i].name);
        text_format(t, ": %lld", (long long)b[i].value);
    }
    text_add(t, "}");
}

char *import_report(const struct import *im, const char *sha256, const struct model_facts *facts,
                    const struct import_counts *c)
{
    static const char *const formats[] = {[MODEL_TTIR] = "ttir", [MODEL_HLO] = "hlo", [MODEL_ONNX] = "onnx"};
    struct text t = {0};
    const struct lx_model_options *o = &im->options.model;
    text_add(&t, "{\n  \"lxplan\": 1, \"kind\": \"import_report\", \"file\": ");
    text_json_string(&t, im->m->file);
    text_format(&t, ", \"format\": \"%s\",\n  \"sha256\": \"%s\"", formats[im->m->format], sha256);
    report_write_facts(&t, "facts", facts);
    report_write_facts(&t, "became", &c->became);
    report_write_kinds(&t, c);
    report_write_facts(&t, "notes", &im->notes);
    report_write_bindings(&t, "dims", o->dims, o->dim_count);
    report_write_bindings(&t, "values", o->fixed, o->fixed_count);
    text_add(&t, "\n}\n");
    return t.at;
}

/* ---- What the report says of the pattern: products and multiply-adds, which are those of the fi ---- */

/* Dimensions that a product runs over; what a window reads follows from the others. */
static int64_t note_steps_of(const struct sketch *s)
{
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++) {
        bool follows = false;
        for (int w = 0; w < s->window_count; w++) follows |= s->windows[w].in == d;
        if (!follows && !mul_i64(n, s->extent[d], &n)) return INT64_MAX;
    }
    return n;
}

static void note_work(struct import *im, const struct sketch *s)
{
    bool slides = s->window_count > 0 || (s->from && strstr(s->from->kind, "onv"));
    if (strcmp(s->kind, "matmul") != 0 || s->rank < 0) return;
    int64_t n = note_steps_of(s);
    fact_add(&im->notes, slides ? "macs of the pattern" : "flops of the pattern", NULL,
             slides || n > INT64_MAX / 2 ? n : 2 * n);
}

static void note_constant(struct import *im, const struct model_data *d)
{
    static const char *const words[] = {
        [DATA_SPLAT] = "splat",   [DATA_LIST] = "list",         [DATA_BYTES] = "list",
        [DATA_ELIDED] = "elided", [DATA_EXTERNAL] = "external", [DATA_ABSENT] = "absent"};
    fact_add(&im->notes, "constants", words[d->form], 1);
    if (d->missing) fact_add(&im->notes, "warnings", "external data whose file is missing or too short", 1);
    if (d->form == DATA_ABSENT || d->form == DATA_ELIDED)
        fact_add(&im->notes, "warnings", "constants whose numbers are not in the file", 1);
}

static void note_constants(struct import *im)
{
    const struct lx_model *m = im->m;
    for (size_t i = 0; i < m->constants.count; i++) note_constant(im, m->values.at[m->constants.at[i]].data);
    for (size_t b = 0; b < m->bodies.count && !m->bodies.at[b].derived; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            const struct model_op *op = &m->bodies.at[b].ops[i];
            bool constant = strcmp(op->kind, "constant") == 0 || strcmp(op->kind, "Constant") == 0;
            const struct model_attr *a = constant ? model_attr_find(&op->attrs, "value") : NULL;
            const struct model_data *d = NULL;
            if (constant && op->result_count == 1 && op->results[0] >= 0)
                d = m->values.at[op->results[0]].data;
            if (!d && a && a->form == ATTR_DATA) d = a->data;
            if (d) note_constant(im, d);
        }
}

/* Where there are more keys than queries, frameworks differ in which of them is the first query's own. */
static void note_causal(struct import *im)
{
    for (size_t i = 0; i < im->m->causal.count; i++) {
        int64_t first = im->m->causal.at[i];
        const char *words =
            first ? arena_format(&im->memory, "query i sees keys 0 to i + %lld", (long long)first)
                  : "query i sees keys 0 to i";
        if (words) fact_add(&im->notes, "causal attention", words, 1);
    }
}

static void note_views(struct import *im)
{
    for (size_t i = 0; i < im->sketches.count; i++)
        if (im->sketches.at[i].why && im->sketches.at[i].needed)
            fact_add(&im->notes, "views copied", im->sketches.at[i].why, 1);
    for (size_t b = 0; b < im->m->bodies.count; b++)
        for (int i = 0; i < im->m->bodies.at[b].op_count; i++) {
            const struct op_class *c = &im->classes[b][i];
            if (!c->seen) continue;
            if (c->class == CLASS_FREE && c->reason && strcmp(c->reason, "view") == 0)
                fact_add(&im->notes, "views folded", NULL, 1);
            if (c->class == CLASS_COPIED) fact_add(&im->notes, "views copied", c->reason, 1);
        }
}

/* Layers that the pattern has several times, by the names of the first and the last op of the first. */
static void note_layers(struct import *im, const struct lx_graph *g)
{
    int32_t count;
    struct lx_repeat *r = lx_repeats(g, &count);
    for (int32_t i = 0; i < count; i++) {
        const char *key = arena_format(&im->memory, "%s to %s, %d ops", g->ops[r[i].first].name,
                                       g->ops[r[i].first + r[i].ops - 1].name, (int)r[i].ops);
        fact_add(&im->notes, "layers", key, r[i].times);
    }
    mem_free(r);
}

void import_note_pattern(struct import *im, const struct lx_graph *g)
{
    static const char *const zero[] = {"flops of the pattern", "macs of the pattern", "views folded", NULL};
    for (int i = 0; zero[i]; i++) fact_add(&im->notes, zero[i], NULL, 0);
    for (size_t i = 0; i < im->sketches.count; i++)
        if (im->sketches.at[i].needed) note_work(im, &im->sketches.at[i]);
    import_note_arguments(im);
    note_views(im);
    note_causal(im);
    note_constants(im);
    note_layers(im, g);
    fact_add(&im->notes, "pattern", "ops", g->op_count);
    fact_add(&im->notes, "pattern", "tensors", g->tensor_count);
    for (int t = 0; t < g->tensor_count; t++) fact_most(&im->notes, "peak rank", g->tensors[t].rank);
    for (int i = 0; i < g->op_count; i++)
        fact_most(&im->notes, "letters", g->ops[i].map ? g->ops[i].map->var_count : 0);
}
