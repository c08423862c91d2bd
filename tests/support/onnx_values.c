#include "support/onnx_values.h"

static int onnx_type(char type)
{
    return type == 'f' ? 1 : type == 'i' ? 7 : type == 'j' ? 6 : type == 'u' ? 2 : 9;
}

/* Numbers with commas between. */
static int read_numbers(const char *from, const char *end, double *out)
{
    int n = 0;
    while (from < end && *from != ' ') {
        char *next;
        out[n++] = strtod(from, &next);
        from = next + (*next == ',');
    }
    return n;
}

void read_operands(const char *text, struct node *n)
{
    for (n->count = 0; *text; n->count++) {
        struct operand *o = &n->operand[n->count];
        const char *end = text + strcspn(text, " "), *numbers = text + strcspn(text, "=! ");
        double extent[8];
        *o = (struct operand){.left_out = *text == '-'};
        if (!o->left_out) {
            size_t length = strcspn(text, ":");
            memcpy(o->name, text, length);
            o->type = text[length + 1];
            int rank = read_numbers(text + length + 3, numbers, extent);
            for (int d = 0; d < rank; d++) o->extents[d] = (int64_t)extent[d];
            o->constant = *numbers == '!';
            o->count = read_numbers(numbers + 1, end, o->number);
        }
        text = end + (*end == ' ');
    }
}

static void put_le(struct onnx_bytes *raw, uint64_t bits, int bytes)
{
    for (int k = 0; k < bytes; k++) onnx_raw(raw, &(unsigned char){(unsigned char)(bits >> (8 * k))}, 1);
}

void put_constant(struct onnx_bytes *graph, const struct operand *o)
{
    struct onnx_bytes t = onnx_tensor_of(o->name, onnx_type(o->type), o->extents), raw = {.n = 0};
    for (int i = 0; i < o->count; i++) {
        float real = (float)o->number[i];
        uint32_t bits;
        memcpy(&bits, &real, sizeof bits);
        if (o->type == 'f')
            put_le(&raw, bits, 4);
        else
            put_le(&raw, (uint64_t)(int64_t)o->number[i], o->type == 'i' ? 8 : o->type == 'j' ? 4 : 1);
    }
    onnx_message(&t, 9, &raw);
    onnx_message(graph, 5, &t);
}

void put_argument(struct onnx_bytes *graph, const struct operand *o)
{
    struct onnx_bytes shape = {.n = 0}, tensor = {.n = 0}, type = {.n = 0}, info = {.n = 0};
    for (const int64_t *e = o->extents; *e; e++) {
        struct onnx_bytes dim = {.n = 0};
        onnx_number(&dim, 1, *e);
        onnx_message(&shape, 1, &dim);
    }
    onnx_number(&tensor, 1, onnx_type(o->type));
    onnx_message(&tensor, 2, &shape);
    onnx_message(&type, 1, &tensor);
    onnx_word(&info, 1, o->name);
    onnx_message(&info, 2, &type);
    onnx_message(graph, 11, &info);
}

static void put_float(struct onnx_bytes *b, int field, double number)
{
    float real = (float)number;
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    onnx_varint(b, (uint64_t)field << 3 | 5);
    put_le(b, bits, 4);
}

/* Is it to be a list: several values, or one of a key that is a list by its name? */
static bool is_list(const char *key, const char *value, size_t length)
{
    static const char *const keys[] = {
        "axes=", "kernel_shape=", "strides=", "pads=", "output_shape=", "activations="};
    bool list = memchr(value, ',', length) != NULL && strncmp(key, "equation", 8) != 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        list = list || strncmp(key, keys[i], strlen(keys[i])) == 0;
    return list;
}

static void put_value(struct onnx_bytes *a, const char *value, size_t length, bool list)
{
    bool digits = isdigit((unsigned char)*value) || *value == '-', real = memchr(value, '.', length) != NULL;
    if (!digits || !isdigit((unsigned char)value[length - 1])) {
        onnx_counted(a, list ? 9 : 4, value, length);
        onnx_number(a, 20, list ? 8 : 3);
    } else if (real) {
        put_float(a, list ? 7 : 2, strtod(value, NULL));
        onnx_number(a, 20, list ? 6 : 1);
    } else {
        onnx_number(a, list ? 8 : 3, strtoll(value, NULL, 10));
        onnx_number(a, 20, list ? 7 : 2);
    }
}

/* "key=value": a whole number, a fraction (with a point), a word, or a list of them. */
static void put_attribute(struct onnx_bytes *node, const char *text, size_t length)
{
    struct onnx_bytes a = {.n = 0};
    size_t key = strcspn(text, "=");
    const char *value = text + key + 1, *end = text + length;
    bool list = is_list(text, value, (size_t)(end - value));
    onnx_counted(&a, 1, text, key);
    while (value < end) {
        size_t n = list ? strcspn(value, ", ") : (size_t)(end - value);
        put_value(&a, value, n, list);
        value += n + 1;
    }
    onnx_message(node, 5, &a);
}

void put_node(struct onnx_bytes *graph, const char *text, const struct node *n)
{
    struct onnx_bytes node = {.n = 0};
    if (*text == '>') onnx_word(&node, 2, "");
    text += *text == '>';
    size_t kind = strcspn(text, " "), domain = strcspn(text, ":");
    for (int i = 0; i < n->count; i++) onnx_word(&node, 1, n->operand[i].name);
    onnx_word(&node, 2, "result");
    if (domain < kind) onnx_counted(&node, 7, text, domain);
    onnx_counted(&node, 4, domain < kind ? text + domain + 1 : text,
                 domain < kind ? kind - domain - 1 : kind);
    for (const char *p = text + kind; *p == ' ';) {
        size_t length = strcspn(p + 1, " ");
        put_attribute(&node, p + 1, length);
        p += 1 + length;
    }
    onnx_message(graph, 1, &node);
}

static struct onnx_bytes model_of(const struct row *r, struct node *n)
{
    struct onnx_bytes graph = {.n = 0}, info = {.n = 0}, set = {.n = 0};
    read_operands(r->operands, n);
    put_node(&graph, r->node, n);
    for (int i = 0; i < n->count; i++) {
        const struct operand *o = &n->operand[i];
        if (!o->left_out) (o->constant ? put_constant : put_argument)(&graph, o);
    }
    onnx_word(&info, 1, "result");
    onnx_message(&graph, 12, &info);
    struct onnx_bytes model = onnx_model_of(&graph, r->opset);
    onnx_word(&set, 1, "com.microsoft");
    onnx_number(&set, 2, 1);
    onnx_message(&model, 8, &set);
    return model;
}

static void put_operand(void *context, int32_t tensor, void *items)
{
    const struct running *r = context;
    const struct lx_tensor *t = &r->way.g->tensors[tensor];
    const struct number_type *type = &number_types[t->dtype];
    for (int i = 0; i < r->node->count; i++) {
        const struct operand *o = &r->node->operand[i];
        if (o->left_out || strcmp(o->name, t->name) != 0) continue;
        assert_int_equal(both_items(t), o->count);
        for (int k = 0; k < o->count; k++) {
            float number = (float)o->number[k];
            items_encode(type, &number, 1, (char *)items + k * type->item);
        }
    }
}

static void take_result(void *context, int32_t tensor, const void *items)
{
    struct running *r = context;
    both_take(&r->way, tensor, items);
}

static void run(struct running *r, struct node *n, const struct row *row)
{
    struct onnx_bytes model = model_of(row, n);
    struct lx_import_options options = {.branch = -1};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .passes.tile = LX_TILE_NONE};
    struct lx_device_options on = {
        .verify = LX_VERIFY_OPS, .input = put_operand, .output = take_result, .context = r};
    lx_status st = {0};
    r->way.g = lx_model_import(row->node, (const char *)model.at, model.n, &options, NULL, &st);
    if (!r->way.g) fail_msg("%s: %s", row->node, st.text);
    for (int32_t o = 0; o < r->way.g->op_count; o++)
        if (r->way.g->ops[o].kind->id == LX_KIND_GENERIC) fail_msg("%s is generic", row->node);
    struct lx_plan *p = lx_plan_make(r->way.g, &how, &st);
    r->way.run = p ? lx_device_run(p, &on, &st) : NULL;
    if (!r->way.run) fail_msg("%s: %s", row->node, st.text);
    lx_plan_free(p);
}

static void compare(const struct running *r, const struct row *row)
{
    const struct lx_tensor *t = &r->way.g->tensors[r->way.tensor[0]];
    const struct number_type *type = &number_types[t->dtype];
    const char *at = row->expected;
    assert_int_equal(r->way.count, 1);
    for (int64_t i = 0; i < both_items(t); i++) {
        char *next;
        double want = strtod(at, &next);
        float have;
        items_decode(type, r->way.items[0] + i * type->item, 1, &have);
        if (next == at || !(fabs((double)have - want) <= 1e-5 * (1 + fabs(want))))
            fail_msg("%s: element %lld is %g, not %g", row->node, (long long)i, (double)have, want);
        at = next;
    }
    if (*at) fail_msg("%s: fewer elements than expected", row->node);
}

void try_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct node n = {.count = 0};
        struct running r = {.node = &n};
        run(&r, &n, &rows[i]);
        compare(&r, &rows[i]);
        mem_free(r.way.items[0]);
        lx_run_result_free(r.way.run);
        lx_graph_free(r.way.g);
    }
}
