/* The coverage report: what the file has, and what became of it, by kind, in ops and bytes. */
#include "graph/import/import.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *class_word(enum import_class class)
{
#define IMPORT_CLASS(id, word) [id] = word,
    static const char *const words[] = {IMPORT_CLASSES(IMPORT_CLASS)};
#undef IMPORT_CLASS
    return words[class];
}

static bool is_needed(const struct import *im, const struct op_class *c)
{
    bool any = c->first == c->end;
    for (int32_t i = c->first; i < c->end; i++) any |= im->sketches.at[i].needed;
    return any;
}

static void count_op(const struct import *im, const struct model_op *op, const struct op_class *c,
                     struct model_facts *f)
{
    enum import_class class = c->seen && is_needed(im, c) ? c->class : CLASS_DEAD;
    const char *word = class_word(class);
    int64_t bytes = fact_operand_bytes(im->m, op) + fact_result_bytes(im->m, op);
    fact_add(f, "ops", word, 1);
    fact_add(f, "bytes", word, bytes);
    fact_add(f, word, op->kind, 1);
    if (c->reason && (class == CLASS_COPIED || class == CLASS_GENERIC)) fact_add(f, "reasons", c->reason, 1);
}

bool import_count(const struct import *im, struct model_facts *f)
{
    f->m = im->m;
    for (size_t b = 0; b < im->m->bodies.count && !im->m->bodies.at[b].derived; b++)
        for (int i = 0; i < im->m->bodies.at[b].op_count; i++)
            count_op(im, &im->m->bodies.at[b].ops[i], &im->classes[b][i], f);
    return !f->failed;
}

/* Groups in the order of their first facts: a number for each, then the facts sorted by it. */
struct ordered {
    int32_t group, at;
};

static int compare(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void write_fact(struct text *t, const struct model_facts *f, const struct ordered *o, size_t i)
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

static void write_facts(struct text *t, const struct model_facts *f)
{
    struct ordered *o = calloc(f->all.count + 1, sizeof *o);
    struct names groups = {0};
    bool ok = o != NULL;
    for (size_t i = 0; ok && i < f->all.count; i++) {
        ok = names_add(&groups, f->all.at[i].group, (int32_t)i) != NAMES_NO_MEMORY;
        o[i] = (struct ordered){names_find(&groups, f->all.at[i].group), (int32_t)i};
    }
    if (ok) qsort(o, f->all.count, sizeof *o, compare);
    for (size_t i = 0; ok && i < f->all.count; i++) write_fact(t, f, o, i);
    t->failed |= !ok;
    names_free(&groups);
    free(o);
}

char *import_report(const struct lx_model *m, const struct model_facts *facts,
                    const struct model_facts *became)
{
    static const char *const formats[] = {[MODEL_TTIR] = "ttir", [MODEL_HLO] = "hlo", [MODEL_ONNX] = "onnx"};
    struct text t = {0};
    text_add(&t, "{\n  \"lxplan\": 1, \"kind\": \"import_report\", \"file\": ");
    text_json_string(&t, m->file);
    text_format(&t, ", \"format\": \"%s\",\n  \"facts\": {", formats[m->format]);
    write_facts(&t, facts);
    text_add(&t, "\n  },\n  \"became\": {");
    write_facts(&t, became);
    text_add(&t, "\n  }\n}\n");
    if (!t.failed) return t.at;
    text_free(&t);
    return NULL;
}
