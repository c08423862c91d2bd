/* The coverage report: facts of the file, classes of its ops by kind, in ops and bytes, and decisions on
 * roles, loops, branches, copies. Every op of the file is in exactly one class. */
#include "import/map/import.h"
#include "import/read/hlo.h"

enum { MOST_ALIKE = 1000 }; /* loops and branches of one name in the report */

struct import_kind {
    const char *kind, *reason; /* reason: NULL if none */
    int64_t count, bytes;      /* operands and results */
    int64_t classes[CLASS_COUNT];
};

struct import_counts {
    struct model_facts became; /* ops and bytes by class, and the reasons of each class */
    struct names kinds;
    VEC(struct import_kind) rows; /* in the order of the file */
};

static const char *const class_words[] = {
    [CLASS_DEAD] = "dead",      [CLASS_MAPPED] = "mapped",     [CLASS_FREE] = "free",
    [CLASS_COPIED] = "copied",  [CLASS_EXPANDED] = "expanded", [CLASS_FOLDED] = "folded",
    [CLASS_GENERIC] = "generic"};

static bool report_is_needed(const struct import *im, const struct op_class *c)
{
    bool any = false;
    for (int32_t i = c->first; i < c->end; i++) any |= im->sketches.at[i].needed;
    return any;
}

/* Marks the values that a body's results need, walking backwards. */
static void report_mark_live(struct import *im, size_t body, unsigned char *live)
{
    const struct model_body *b = &im->m->bodies.at[body];
    for (int i = 0; i < b->result_count; i++)
        if (b->results[i] >= 0) live[b->results[i]] = 1;
    for (int i = b->op_count - 1; i >= 0; i--) {
        const struct model_op *op = &b->ops[i];
        struct op_class *c = &im->classes[body][i];
        c->live = op->result_count == 0 || report_is_needed(im, c);
        for (int r = 0; r < op->result_count; r++) c->live |= op->results[r] >= 0 && live[op->results[r]];
        for (int k = 0; c->live && k < op->operand_count; k++)
            if (op->operands[k] >= 0) live[op->operands[k]] = 1;
    }
}

/* The kind of a generic part of a derived body, which makes the whole op generic; NULL: none. */
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

/* An op without pattern ops is in use if its readers are. */
static void report_count_op(const struct import *im, const struct model_op *op, struct op_class *c,
                            struct import_counts *t)
{
    const char *part = c->class == CLASS_EXPANDED ? report_generic_part(im, op, 0) : NULL;
    if (part) *c = (struct op_class){CLASS_GENERIC, part, c->seen, c->live, .first = c->first, .end = c->end};
    bool used = c->first == c->end ? c->live : report_is_needed(im, c);
    enum import_class class = c->seen && used ? c->class : CLASS_DEAD;
    int64_t bytes = fact_operand_bytes(im->m, op) + fact_result_bytes(im->m, op);
    const char *word = class_words[class], *reason = c->reason;
    if (class == CLASS_DEAD) reason = c->seen ? "unused" : "not reached";
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

/* Each op has its own key: branch numbers must not add up. */
static void report_note_taken(struct import *im, const char *group, const struct model_op *op, int64_t taken)
{
    const char *name = import_op_label(im, op), *key = name;
    for (int n = 2; key && model_fact(&im->notes, group, key, -1) >= 0; n++)
        key = n <= MOST_ALIKE ? arena_format(&im->memory, "%.200s#%d", name, n) : NULL;
    if (key) fact_add(&im->notes, group, key, taken);
}

/* Parameters, tuples and get-tuple-elements of HLO are names, not ops. */
static void report_count(struct import *im, struct import_counts *t)
{
    static const char *const names[] = {"parameter", "tuple", "get-tuple-element"};
    OWNED enum hlo_use *use = mem_zeroed(im->m->bodies.count + 1, sizeof *use);
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
            bool skip = hlo && use[b] != HLO_CONTROL;
            for (size_t k = 0; hlo && k < sizeof names / sizeof *names; k++)
                skip |= strcmp(names[k], op->kind) == 0;
            if (skip) continue;
            report_count_op(im, op, &im->classes[b][i], t);
            const struct op_class *c = &im->classes[b][i];
            if (c->seen && strcmp(op->kind, "while") == 0) {
                report_note_taken(im, "loops", op, c->taken);
                if (c->unknown) report_note_taken(im, "loops that data ends", op, c->taken);
                if (c->capped) report_note_taken(im, "loops cut short", op, c->taken);
            } else if (c->seen && (strcmp(op->kind, "conditional") == 0 || strcmp(op->kind, "If") == 0))
                report_note_taken(im, c->unknown ? "branches chosen" : "branches known", op, c->taken);
        }
}

/* Writes groups in the order of their first facts. A single fact without a key is written as a number. */
static void report_write_facts(struct text *t, const char *name, const struct model_facts *f)
{
    SCOPED(names_free) struct names groups = {0};
    text_format(t, ",\n  \"%s\": {", name);
    for (size_t i = 0; i < f->all.count; i++) {
        const struct fact *first = &f->all.at[i], *last = &f->all.at[f->all.count - 1];
        if (names_add(&groups, first->group, 0) != NAMES_ADDED) continue;
        while (strcmp(last->group, first->group) != 0) last--;
        bool plain = !*first->key && first == last;
        text_add(t, i ? ",\n    " : "\n    ");
        text_json_string(t, first->group);
        text_add(t, plain ? ": " : ": {");
        for (const struct fact *fact = first; fact <= last; fact++) {
            if (strcmp(fact->group, first->group) != 0) continue;
            if (fact != first) text_add(t, ", ");
            if (!plain) text_json_string(t, fact->key);
            text_format(t, plain ? "%lld" : ": %lld", (long long)fact->value);
        }
        if (!plain) text_add(t, "}");
    }
    text_add(t, "\n  }");
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
            text_format(t, "%s\"%s\": %lld", first ? "" : ", ", class_words[class],
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

static char *report_write(const struct import *im, const char *sha256, const struct model_facts *facts,
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

/* ---- notes on the pattern ---- */

/* Steps of a product: all dimensions except inputs of windows, which follow from others. */
static void note_work(struct import *im, const struct sketch *s)
{
    bool slides = s->window_count > 0 || (s->from && strstr(s->from->kind, "onv"));
    int64_t n = 1;
    if (strcmp(s->kind, "matmul") != 0 || s->rank < 0) return;
    for (int d = 0; d < s->rank; d++) {
        bool follows = false;
        for (int w = 0; w < s->window_count; w++) follows |= s->windows[w].in == d;
        if (!follows && !mul_i64(n, s->extent[d], &n)) n = INT64_MAX;
    }
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
            const struct model_attr *a = model_attr_find(&op->attrs, "value");
            if (strcmp(op->kind, "constant") != 0 && strcmp(op->kind, "Constant") != 0) continue;
            bool made = op->result_count == 1 && op->results[0] >= 0;
            const struct model_data *d = made ? m->values.at[op->results[0]].data : NULL;
            if (!d && a && a->form == ATTR_DATA) d = a->data;
            if (d) note_constant(im, d);
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

/* Roles as in the pattern; if the rule chose another one, why. */
static void note_arguments(struct import *im)
{
    static const char *const words[] = {[LX_INPUT] = "input", [LX_WEIGHT] = "weight", [LX_STATE] = "state"};
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    for (int i = 0; i < b->argument_count; i++) {
        const struct import_role *r = &im->roles[i];
        const struct model_type *t = model_type_of(im->m, b->arguments[i]);
        enum lx_role role = r->storage >= 0 ? im->storages.at[r->storage].role : r->role;
        if (role != LX_WEIGHT && role != LX_STATE) role = LX_INPUT;
        const char *rule = role == r->role ? r->rule : role == LX_STATE ? "written" : "not written in place";
        fact_add(&im->notes, "arguments", words[role], 1);
        fact_add(&im->notes, "argument bytes", words[role], t->bytes);
        fact_add(&im->notes, "rules of roles", rule, 1);
        if (t->elements == 0) fact_add(&im->notes, "empty arguments", NULL, 1);
    }
}

/* With more keys than queries, frameworks differ in the key of the first query. Repeated layers are named by
 * the first and last op of the first one. */
static void report_note_pattern(struct import *im, const struct lx_graph *g)
{
    static const char *const zero[] = {"flops of the pattern", "macs of the pattern", "views folded"};
    int32_t count;
    for (int i = 0; i < 3; i++) fact_add(&im->notes, zero[i], NULL, 0);
    for (size_t i = 0; i < im->sketches.count; i++)
        if (im->sketches.at[i].needed) note_work(im, &im->sketches.at[i]);
    note_arguments(im);
    note_views(im);
    for (size_t i = 0; i < im->m->causal.count; i++) {
        long long first = (long long)im->m->causal.at[i];
        const char *more = first ? arena_format(&im->memory, " + %lld", first) : "";
        fact_add(&im->notes, "causal attention",
                 arena_format(&im->memory, "query i sees keys 0 to i%s", more), 1);
    }
    note_constants(im);
    OWNED struct lx_repeat *r = lx_repeats(g, &count);
    for (int32_t i = 0; i < count; i++) {
        const char *key = arena_format(&im->memory, "%s to %s, %d ops", g->ops[r[i].first].name,
                                       g->ops[r[i].first + r[i].ops - 1].name, (int)r[i].ops);
        fact_add(&im->notes, "layers", key, r[i].times);
    }
    fact_add(&im->notes, "pattern", "ops", g->op_count);
    fact_add(&im->notes, "pattern", "tensors", g->tensor_count);
    fact_add(&im->notes, "pattern", "copies", g->imported.copies);
    fact_add(&im->notes, "pattern", "copied bytes", g->imported.copied_bytes);
    fact_add(&im->notes, "pattern", "bytes that must cross", g->imported.must_bytes);
    for (int t = 0; t < g->tensor_count; t++) fact_most(&im->notes, "peak rank", g->tensors[t].rank);
    for (int i = 0; i < g->op_count; i++)
        fact_most(&im->notes, "letters", g->ops[i].map ? g->ops[i].map->var_count : 0);
}

/* The graph with the sums of its import. */
static const struct lx_graph *report_give_sums(const struct lx_graph *g, const struct import_counts *c)
{
    struct lx_imported sums = {0};
    for (size_t i = 0; i < c->rows.count; i++)
        for (int k = 0; k < CLASS_COUNT; k++) {
            sums.ops += k == CLASS_DEAD ? 0 : c->rows.at[i].classes[k];
            sums.mapped += k == CLASS_DEAD || k == CLASS_GENERIC ? 0 : c->rows.at[i].classes[k];
        }
    import_must(g, &sums);
    const struct lx_graph *with = lx_graph_with_imported(g, &sums);
    lx_graph_free(g);
    return with;
}

bool import_judge(struct import *im, const struct lx_graph **g, const char *sha256,
                  const struct model_facts *facts, char **report)
{
    struct import_counts counts = {0};
    bool ok = true;
    report_count(im, &counts);
    for (size_t i = 0; ok && im->options.strict && i < counts.rows.count; i++)
        if (counts.rows.at[i].classes[CLASS_GENERIC] > 0)
            ok = status_set_at(im->st, LX_E_NO, im->m->file, 0, 0,
                               "%lld ops %.80s would be generic; leave out --strict, or change the model",
                               (long long)counts.rows.at[i].classes[CLASS_GENERIC], counts.rows.at[i].kind);
    if (ok) *g = report_give_sums(*g, &counts);
    if (ok && report) {
        report_note_pattern(im, *g);
        *report = report_write(im, sha256, facts, &counts);
    }
    lx_model_facts_free(&counts.became);
    names_free(&counts.kinds);
    VEC_FREE(&counts.rows);
    return ok;
}
