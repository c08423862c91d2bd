/* Reading ONNX: op sets, local functions, the graph, then all shapes. */
#include "import/read/onnx.h"
#include "import/types/typing.h"
#include "base/fail.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Op sets are attributes of the model: the domain ("" for ONNX itself) and its version. */
static bool onnx_add_opset(struct onnx *o, struct wire w, struct model_attr *a)
{
    struct wire_field f;
    *a = (struct model_attr){.key = "", .form = ATTR_INT, .body = -1};
    while (wire_next(&w, &f)) {
        if (f.number == 1 && !(a->key = wire_string(&f))) return false;
        if (f.number == 2) a->number = (int64_t)f.value;
    }
    if (strcmp(a->key, "ai.onnx") == 0) a->key = "";
    return !o->failed;
}

static bool onnx_opsets(struct onnx *o)
{
    struct wire_field f;
    VEC(struct model_attr) all = {0};
    struct model_attr a;
    bool ok = true;
    for (struct wire w = o->w; ok && wire_next(&w, &f);) {
        if (f.number != 8 || f.kind != WIRE_BYTES) continue;
        ok = onnx_add_opset(o, f.body, &a);
        if (all.count == MODEL_MAX_DEPTH)
            return VEC_FREE(&all), wire_fail(&f.body, LX_E_LIMIT, "too many op sets");
        for (size_t i = 0; ok && i < all.count; i++)
            if (strcmp(all.at[i].key, a.key) == 0 && all.at[i].number != a.number)
                ok = wire_fail(&f.body, LX_E_SCHEMA, "two versions of op set \"%.80s\"", a.key);
        if (ok) VEC_PUSH(&all, a);
    }
    struct model_attrs *to = &o->w.m->attrs;
    to->count = (int)all.count;
    to->at = arena_copy_array(&o->w.m->memory, all.at, all.count, sizeof *all.at);
    VEC_FREE(&all);
    return ok && !o->failed;
}

int64_t onnx_opset(const struct lx_model *m, const char *kind)
{
    char domain[MODEL_MAX_NAME + 1];
    const char *colon = strchr(kind, ':');
    size_t n = colon ? (size_t)(colon - kind) : 0;
    memcpy(domain, kind, n);
    domain[n] = 0;
    return model_attr_int(&m->attrs, domain, 1);
}

static bool onnx_add_function(struct onnx *o, struct wire w)
{
    struct wire_field f;
    struct onnx_function fn = {.text = w};
    const char *name = "", *domain = "";
    while (wire_next(&w, &f)) {
        if (f.number == 1 && !(name = wire_string(&f))) return false;
        if (f.number == 10 && !(domain = wire_string(&f))) return false;
    }
    if (o->failed) return false;
    bool plain = !*domain || strcmp(domain, "ai.onnx") == 0;
    fn.kind = plain ? name : arena_format(&o->w.m->memory, "%s:%s", domain, name);
    names_add(&o->function_names, fn.kind, (int32_t)o->functions.count);
    VEC_PUSH(&o->functions, fn);
    return true;
}

static bool onnx_everything(struct onnx *o)
{
    struct wire_field f, graph = {0};
    for (struct wire w = o->w; wire_next(&w, &f);) {
        if (f.number == 7 && f.kind == WIRE_BYTES) graph = f;
        if (f.number == 25 && f.kind == WIRE_BYTES && !onnx_add_function(o, f.body)) return false;
    }
    if (o->failed || !onnx_opsets(o)) return false;
    if (graph.number != 7) return wire_fail(&o->w, LX_E_SYNTAX, "no graph in field 7");
    o->w.m->entry = onnx_graph(o, graph.body, NULL);
    o->w.m->function_count = (int)o->functions.count;
    return o->w.m->entry >= 0;
}

bool onnx_read(struct lx_model *m, const char *text, size_t length, const struct lx_model_options *options,
               lx_status *st)
{
    struct text unbound = {0};
    struct onnx o = {.options = options, .unbound = &unbound};
    wire_begin(&o.w, m, text, length, &o.failed, st);
    bool ok = onnx_everything(&o) && model_extents_told(m, &unbound, st) && onnx_infer_types(m, options, st);
    VEC_FREE(&o.functions);
    VEC_FREE(&o.captured);
    names_free(&o.function_names);
    text_free(&unbound);
    return ok;
}
