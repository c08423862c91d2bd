/* Instructions of HLO: "[ROOT] %name = TYPE opcode(operands), key=value, ...", one a line. */
#include "import/read/hlo.h"

/* Names may have letters of any script: bytes beyond ASCII. */
bool hlo_is_name(char c)
{
    return source_is_name(c) || (unsigned char)c >= 0x80;
}

const char *hlo_name(struct source *s, const char *what)
{
    if (source_next(s) == '%') s->at++;
    return source_name(s, hlo_is_name, what);
}

/* "TYPE %name", "%name" or "name": without a %, a word before a bracket is a type. */
static void instruction_operand(struct hlo *h)
{
    struct source *s = &h->r.s;
    const struct model_type *stated = source_next(s) == '(' ? hlo_type(s, 0) : NULL;
    const char *name = hlo_name(s, "an operand");
    if (!stated && source_peek(s) == '[') {
        stated = hlo_type_behind(s, name);
        name = hlo_name(s, "an operand");
    }
    reader_push_operand(&h->r, name);
    if (stated && !s->failed)
        source_same_types(s, model_type_of(s->m, h->r.list.at[h->r.list.count - 1]), stated, name);
}

/* Stores the parameter under its number. */
static void instruction_parameter(struct hlo *h)
{
    struct source *s = &h->r.s;
    int64_t number = source_int(s);
    if (number < 0 || number > MODEL_MAX_OPS) source_fail(s, LX_E_RANGE, "a parameter of no such number");
    if (s->failed) return;
    while (h->parameters.count <= (size_t)number) VEC_PUSH(&h->parameters, -1);
    if (h->parameters.at[number] >= 0)
        source_fail(s, LX_E_DUPLICATE, "parameter %lld twice", (long long)number);
    h->parameters.at[number] = (int32_t)s->m->values.count;
}

/* The literal of a constant; skips a tuple. */
static const struct model_data *instruction_literal(struct source *s, const struct model_type *type)
{
    struct model_data *d = arena_alloc(&s->m->memory, sizeof *d);
    SCOPED(numbers_free) struct model_numbers n = {.most = MODEL_MAX_KNOWN};
    *d = (struct model_data){.form = DATA_ELIDED, .type = type};
    if (type->element == MODEL_TUPLE || model_element_row(type->element)->bits == 0) {
        source_balanced(s, OVER_LINES | OVER_COMMAS);
    } else if (!source_elements(s, type->element, "{", "}", &n)) {
        d->form = type->count == 0 ? DATA_SPLAT : DATA_LIST;
        if (!s->failed && !numbers_keep(s->m, &n, d))
            source_fail(s, LX_E_SHAPE, "%lld numbers for a constant of %lld", (long long)n.count,
                        (long long)type->elements);
    }
    return d;
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

/* Is "[ROOT] %name =" next? Instructions may span lines. */
static bool instruction_next_begins(const struct source *s)
{
    struct source ahead = *s;
    source_skip(&ahead, false);
    if (ahead.end - ahead.at > 5 && memcmp(ahead.at, "ROOT ", 5) == 0) {
        ahead.at += 5;
        source_skip(&ahead, false);
    }
    if (source_peek(&ahead) == '%') ahead.at++;
    const char *from = ahead.at;
    while (hlo_is_name(source_peek(&ahead))) ahead.at++;
    if (ahead.at == from) return false;
    source_skip(&ahead, false);
    return source_peek(&ahead) == '=';
}

struct model_attrs hlo_attrs(struct hlo *h)
{
    struct source *s = &h->r.s;
    for (source_skip(s, false); source_peek(s) == ','; source_skip(s, false)) {
        struct model_attr a = {.form = ATTR_TEXT};
        s->at++;
        a.key = source_name(s, hlo_is_name, "the name of an attribute");
        source_want(s, "=");
        s->ends = instruction_next_begins;
        a.text = source_kept(s, 0);
        s->ends = NULL;
        if (!s->failed) instruction_numbers_of(s, &a);
        VEC_PUSH(&h->r.attrs, a);
    }
    if (!source_ended(s) && *s->at != '\n' && *s->at != '}' && !instruction_next_begins(s))
        source_fail(s, LX_E_SYNTAX, "expected \",\" or the end of the line");
    return reader_attrs(&h->r);
}

void hlo_instruction(struct hlo *h)
{
    struct source *s = &h->r.s;
    struct model_op op = {0};
    struct model_value v = {.from = FROM_OP, .op = (int32_t)h->r.ops.count};
    if (h->r.ops.count >= MODEL_MAX_OPS) source_fail(s, LX_E_LIMIT, "more than %d ops", MODEL_MAX_OPS);
    if (source_take(s, "ROOT")) h->root = (int32_t)h->r.ops.count;
    source_skip(s, true);
    op.line = v.line = s->line;
    op.column = v.column = source_column(s);
    v.name = hlo_name(s, "the name of an instruction");
    source_want(s, "=");
    v.type = hlo_type(s, 0);
    op.kind = source_name(s, hlo_is_name, "an opcode");
    source_want(s, "(");
    bool parameter = strcmp(op.kind, "parameter") == 0;
    if (parameter)
        instruction_parameter(h);
    else if (strcmp(op.kind, "constant") == 0)
        v.data = instruction_literal(s, v.type);
    else if (!source_is(s, ")"))
        do instruction_operand(h);
        while (source_take(s, ","));
    source_want(s, ")");
    op.operands = reader_list(&h->r, &op.operand_count);
    op.attrs = hlo_attrs(h);
    const char *text = model_attr_word(&op.attrs, "metadata", ""), *named = strstr(text, "op_name=\"");
    if (named && !s->failed) { /* the author's name of the op */
        struct source inner = *s;
        inner.at = named + 8;
        inner.end = text + strlen(text);
        op.location = v.location = source_string(&inner);
    }
    if (parameter) {
        v.from = FROM_ARGUMENT;
        v.attrs = op.attrs;
    }
    reader_add_value(&h->r, v);
    op.results = reader_list(&h->r, &op.result_count);
    if (!s->failed) VEC_PUSH(&h->r.ops, op);
}
