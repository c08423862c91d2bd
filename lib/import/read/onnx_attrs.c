/* Attributes of ONNX nodes: the form follows from which field is set, or from the type that is stated. */
#include "import/read/onnx.h"

#include <string.h>

struct parts {
    struct model_attr a;
    const char *refers; /* in a function: the attribute of the call that this one is */
    int64_t type;
    VEC(int64_t) ints;
    VEC(double) reals;
    VEC(const char *) words;
};

static bool attr_add_int(void *to, uint64_t v)
{
    struct parts *p = to;
    p->a.form = ATTR_INTS;
    return VEC_PUSH(&p->ints, (int64_t)v);
}

static bool attr_add_real(void *to, uint64_t v)
{
    struct parts *p = to;
    p->a.form = ATTR_REALS;
    return VEC_PUSH(&p->reals, (double)wire_float(v));
}

static bool attr_add_word(struct parts *p, const struct wire_field *f)
{
    const char *word = wire_string(f);
    p->a.form = ATTR_WORDS;
    if (word) VEC_PUSH(&p->words, word);
    return word != NULL;
}

/* Strings of any length; names are shorter, but some nodes carry whole programs. */
static void attr_set_text(struct parts *p, const struct wire_field *f)
{
    p->a.form = ATTR_WORD;
    p->a.text = arena_copy(&f->body.m->memory, (const char *)f->body.at, (size_t)(f->body.end - f->body.at));
}

static bool attr_set_body(struct onnx_building *b, struct parts *p, const struct wire_field *f)
{
    p->a.form = ATTR_BODY;
    p->a.body = onnx_graph(b->o, f->body, b->scope);
    return p->a.body >= 0;
}

static bool attr_field(struct onnx_building *b, struct parts *p, const struct wire_field *f)
{
    const char *unused = NULL;
    switch (f->number) {
    case 1:
        return (p->a.key = wire_string(f)) != NULL;
    case 2:
        p->a.form = ATTR_REAL;
        p->a.real = (double)wire_float(f->value);
        return true;
    case 3:
        p->a.form = ATTR_INT;
        p->a.number = (int64_t)f->value;
        return true;
    case 4: {
        attr_set_text(p, f);
        return true;
    }
    case 5:
        p->a.form = ATTR_DATA;
        return (p->a.data = onnx_tensor(f->body, &unused)) != NULL;
    case 6:
        return attr_set_body(b, p, f);
    case 7:
        return wire_numbers(f, WIRE_4, attr_add_real, p);
    case 8:
        return wire_numbers(f, WIRE_NUMBER, attr_add_int, p);
    case 9:
        return attr_add_word(p, f);
    case 20:
        p->type = (int64_t)f->value;
        return true;
    case 21:
        return (p->refers = wire_string(f)) != NULL;
    default:
        return true;
    }
}

/* A field that is not written has its default: a list without numbers, a 0. */
static enum model_attr_form attr_form_of_type(const struct parts *p)
{
    static const enum model_attr_form forms[] = {
        [1] = ATTR_REAL, [2] = ATTR_INT,   [3] = ATTR_WORD, [4] = ATTR_DATA,
        [5] = ATTR_BODY, [6] = ATTR_REALS, [7] = ATTR_INTS, [8] = ATTR_WORDS};
    bool plain = p->type >= 1 && p->type <= 8 && p->type != 4 && p->type != 5;
    return plain ? forms[p->type] : p->a.form;
}

static bool attr_finish(struct onnx_building *b, struct parts *p)
{
    struct arena *memory = &b->o->w.m->memory;
    p->a.form = attr_form_of_type(p);
    p->a.count = (int)(p->a.form == ATTR_INTS    ? p->ints.count
                       : p->a.form == ATTR_REALS ? p->reals.count
                                                 : p->words.count);
    p->a.ints = arena_copy_array(memory, p->ints.at, p->ints.count, sizeof *p->ints.at);
    p->a.reals = arena_copy_array(memory, p->reals.at, p->reals.count, sizeof *p->reals.at);
    p->a.words = arena_copy_array(memory, p->words.at, p->words.count, sizeof *p->words.at);
    if (p->a.form == ATTR_WORD && !p->a.text) p->a.text = "";
    return true;
}

/* `keep` false: the call of the function leaves it out. */
static bool attr_attribute(struct onnx_building *b, struct wire w, struct model_attr *out, bool *keep)
{
    struct wire_field f;
    struct parts p = {.a = {.key = "", .form = ATTR_TEXT, .body = -1}};
    bool ok = true;
    while (ok && wire_next(&w, &f)) ok = attr_field(b, &p, &f);
    ok = ok && !b->o->failed && attr_finish(b, &p);
    VEC_FREE(&p.ints);
    VEC_FREE(&p.reals);
    VEC_FREE(&p.words);
    *out = p.a;
    *keep = true;
    if (!ok || !p.refers) return ok;
    const struct model_attr *given = b->call ? model_attr_find(&b->call->attrs, p.refers) : NULL;
    *keep = given != NULL;
    if (given) *out = *given;
    out->key = p.a.key;
    return true;
}

bool onnx_attrs(struct onnx_building *b, struct wire node, struct model_attrs *out, struct model_op *op)
{
    struct wire_field f;
    VEC(struct model_attr) all = {0};
    VEC(int32_t) bodies = {0};
    struct model_attr a;
    struct arena *memory = &b->o->w.m->memory;
    bool ok = true, keep;
    while (ok && wire_next(&node, &f)) {
        if (f.number != 5) continue;
        ok = attr_attribute(b, f.body, &a, &keep);
        if (ok && keep) VEC_PUSH(&all, a);
        if (ok && a.form == ATTR_BODY) VEC_PUSH(&bodies, a.body);
    }
    out->count = (int)all.count;
    out->at = arena_copy_array(memory, all.at, all.count, sizeof *all.at);
    op->body_count = (int)bodies.count;
    op->bodies = arena_copy_array(memory, bodies.at, bodies.count, sizeof *bodies.at);
    VEC_FREE(&all);
    VEC_FREE(&bodies);
    return ok && !b->o->failed;
}
