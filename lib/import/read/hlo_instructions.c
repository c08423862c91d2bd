/* Instructions of HLO: "[ROOT] %name = TYPE opcode(operands), key=value, ...", one a line. */
#include "import/read/hlo.h"

#include <stdlib.h>
#include <string.h>

/* Frameworks take names from people: letters of other scripts are bytes beyond ASCII. */
bool hlo_is_name(char c)
{
    return source_is_name(c) || (unsigned char)c >= 0x80;
}

const char *hlo_name(struct source *s, const char *what)
{
    source_skip(s, true);
    if (source_peek(s) == '%') s->at++;
    return source_name(s, hlo_is_name, what);
}

/* "TYPE %name", "%name" or "name": without a % a word with a bracket behind it is a type. */
static bool instruction_operand(struct hlo *h)
{
    struct source *s = &h->s;
    source_skip(s, true);
    bool typed = source_peek(s) == '(';
    const struct model_type *stated = NULL;
    if (typed && !(stated = hlo_type(s))) return false;
    const char *name = hlo_name(s, "an operand");
    if (name && !typed && source_peek(s) == '[') {
        if (!(stated = hlo_type_behind(s, name))) return false;
        name = hlo_name(s, "an operand");
    }
    if (!name) return false;
    int32_t v = names_find(&h->values, name);
    if (v < 0) {
        s->at -= strlen(name);
        return source_fail(s, LX_E_UNKNOWN_NAME, "%.80s has not been made above in its computation", name);
    }
    if (stated && !hlo_same_types(s, s->m->values.at[v].type, stated, name)) return false;
    VEC_PUSH(&h->list, v);
    return true;
}

static bool instruction_operands(struct hlo *h)
{
    if (source_is(&h->s, ")")) return true;
    do {
        if (!instruction_operand(h)) return false;
    } while (source_take(&h->s, ","));
    return true;
}

/* The number of a parameter: remembered where it belongs. */
static bool instruction_parameter(struct hlo *h)
{
    int64_t number;
    source_skip(&h->s, true);
    if (!source_int(&h->s, &number)) return false;
    if (number < 0 || number > MODEL_MAX_OPS)
        return source_fail(&h->s, LX_E_RANGE, "a parameter of no such number");
    while (h->parameters.count <= (size_t)number) VEC_PUSH(&h->parameters, -1);
    if (h->parameters.at[number] >= 0)
        return source_fail(&h->s, LX_E_DUPLICATE, "parameter %lld twice", (long long)number);
    h->parameters.at[number] = (int32_t)h->s.m->values.count;
    return true;
}

/* "{1, 0}" is a list of numbers, "7" a number; anything else stays text. */
static void instruction_numbers_of(struct source *s, struct model_attr *a)
{
    int64_t list[MODEL_MAX_RANK];
    const char *p = a->text;
    char *end;
    int n = 0;
    bool braces = *p == '{';
    if (braces) p++;
    for (; n < MODEL_MAX_RANK; n++) {
        while (*p == ' ' || (n > 0 && braces && *p == ',')) p++;
        list[n] = strtoll(p, &end, 10);
        if (end == p) break;
        p = end;
        if (!braces) break;
    }
    if (*p != (braces ? '}' : 0) || (!braces && end == a->text) || (braces && p[1])) return;
    a->form = braces ? ATTR_INTS : ATTR_INT;
    a->number = list[0];
    a->count = n;
    a->ints = arena_copy_array(&s->m->memory, list, (size_t)n, sizeof *list);
}

static const char *instruction_past_spaces(const struct source *s, const char *p)
{
    while (p < s->end && (*p == ' ' || *p == '\t')) p++;
    return p;
}

/* "[ROOT] %name =" is next: lines need not end where instructions do. */
static bool instruction_next_begins(const struct source *s)
{
    const char *p = instruction_past_spaces(s, s->at), *from;
    if (s->end - p > 5 && memcmp(p, "ROOT ", 5) == 0) p = instruction_past_spaces(s, p + 5);
    if (p < s->end && *p == '%') p++;
    for (from = p; p < s->end && hlo_is_name(*p);) p++;
    if (p == from) return false;
    p = instruction_past_spaces(s, p);
    return p < s->end && *p == '=';
}

static const char *instruction_attr_text(struct source *s)
{
    s->ends = instruction_next_begins;
    const char *text = source_kept(s, false);
    s->ends = NULL;
    return text;
}

static bool instruction_attr(struct hlo *h)
{
    struct source *s = &h->s;
    struct model_attr a = {.form = ATTR_TEXT};
    source_skip(s, true);
    a.key = source_name(s, hlo_is_name, "the name of an attribute");
    if (!a.key || !source_want(s, "=")) return false;
    if (!(a.text = instruction_attr_text(s))) return false;
    instruction_numbers_of(s, &a);
    VEC_PUSH(&h->attrs, a);
    return true;
}

bool hlo_attrs(struct hlo *h, struct model_attrs *out)
{
    struct source *s = &h->s;
    h->attrs.count = 0;
    for (source_skip(s, false); source_peek(s) == ','; source_skip(s, false)) {
        s->at++;
        if (!instruction_attr(h)) return false;
    }
    if (!source_ended(s) && *s->at != '\n' && *s->at != '}' && !instruction_next_begins(s))
        return source_fail(s, LX_E_SYNTAX, "expected \",\" or the end of the line");
    out->count = (int)h->attrs.count;
    out->at = arena_copy_array(&s->m->memory, h->attrs.at, h->attrs.count, sizeof *h->attrs.at);
    return true;
}

/* op_name="..." of the metadata is what the author calls it. */
static const char *instruction_author_name(struct hlo *h, const struct model_op *op)
{
    const char *text = model_attr_word(&op->attrs, "metadata", ""), *at = strstr(text, "op_name=\"");
    struct source inner = h->s;
    if (!at) return NULL;
    inner.at = at + 8;
    inner.end = text + strlen(text);
    return source_string(&inner);
}

static bool instruction_literal(struct hlo *h, const struct model_type *type, const struct model_data **data)
{
    *data = NULL;
    return hlo_literal(&h->s, type, data);
}

static bool instruction_inside(struct hlo *h, const struct model_op *op, struct model_value *v)
{
    if (strcmp(op->kind, "parameter") == 0) return instruction_parameter(h);
    if (strcmp(op->kind, "constant") == 0) return instruction_literal(h, v->type, &v->data);
    return instruction_operands(h);
}

static bool instruction_add(struct hlo *h, struct model_op *op, struct model_value *v)
{
    struct source *s = &h->s;
    int32_t number = model_add_value(s->m, v, s->st);
    if (number < 0) return source_fail(s, s->st->code, "%s", s->st->text);
    enum names_result added = names_add(&h->values, v->name, number);
    if (added == NAMES_KNOWN) return source_fail(s, LX_E_DUPLICATE, "%.80s is made twice", v->name);
    op->operand_count = (int)h->list.count;
    op->operands = arena_copy_array(&s->m->memory, h->list.at, h->list.count, sizeof *h->list.at);
    op->results = arena_copy_array(&s->m->memory, &number, 1, sizeof number);
    op->result_count = 1;
    VEC_PUSH(&h->ops, *op);
    return true;
}

bool hlo_instruction(struct hlo *h)
{
    struct source *s = &h->s;
    struct model_op op = {0};
    struct model_value v = {.from = FROM_OP, .body = h->body, .op = (int32_t)h->ops.count};
    if (h->ops.count >= MODEL_MAX_OPS) return source_fail(s, LX_E_LIMIT, "more than %d ops", MODEL_MAX_OPS);
    if (source_take(s, "ROOT")) h->root = (int32_t)h->ops.count;
    source_skip(s, true);
    op.line = v.line = s->line;
    op.column = v.column = source_column(s);
    h->list.count = 0;
    if (!(v.name = hlo_name(s, "the name of an instruction")) || !source_want(s, "=") ||
        !(v.type = hlo_type(s)))
        return false;
    source_skip(s, true);
    if (!(op.kind = source_name(s, hlo_is_name, "an opcode")) || !source_want(s, "(") ||
        !instruction_inside(h, &op, &v) || !source_want(s, ")") || !hlo_attrs(h, &op.attrs))
        return false;
    op.location = v.location = instruction_author_name(h, &op);
    if (strcmp(op.kind, "parameter") == 0) {
        v.from = FROM_ARGUMENT;
        v.attrs = op.attrs;
    }
    return instruction_add(h, &op, &v);
}
