#include "support/onnx_bytes.h"

void onnx_raw(struct onnx_bytes *b, const void *from, size_t n)
{
    if (n > sizeof b->at - b->n) abort();
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

void onnx_varint(struct onnx_bytes *b, uint64_t v)
{
    for (; v > 0x7f; v >>= 7) onnx_raw(b, &(unsigned char){(unsigned char)(v | 0x80)}, 1);
    onnx_raw(b, &(unsigned char){(unsigned char)v}, 1);
}

void onnx_number(struct onnx_bytes *b, int field, int64_t v)
{
    onnx_varint(b, (uint64_t)field << 3);
    onnx_varint(b, (uint64_t)v);
}

void onnx_counted(struct onnx_bytes *b, int field, const void *from, size_t n)
{
    onnx_varint(b, (uint64_t)field << 3 | 2);
    onnx_varint(b, n);
    onnx_raw(b, from, n);
}

void onnx_word(struct onnx_bytes *b, int field, const char *word)
{
    onnx_counted(b, field, word, strlen(word));
}

void onnx_message(struct onnx_bytes *b, int field, const struct onnx_bytes *part)
{
    onnx_counted(b, field, part->at, part->n);
}

void onnx_end(struct onnx_bytes *graph, int field, const char *name, const int64_t *extents)
{
    struct onnx_bytes shape = {.n = 0}, tensor = {.n = 0}, type = {.n = 0}, info = {.n = 0};
    for (; *extents; extents++) {
        struct onnx_bytes dim = {.n = 0};
        onnx_number(&dim, 1, *extents);
        onnx_message(&shape, 1, &dim);
    }
    onnx_number(&tensor, 1, 1);
    onnx_message(&tensor, 2, &shape);
    onnx_message(&type, 1, &tensor);
    onnx_word(&info, 1, name);
    onnx_message(&info, 2, &type);
    onnx_message(graph, field, &info);
}

struct onnx_bytes onnx_tensor_of(const char *name, int type, const int64_t *extents)
{
    struct onnx_bytes t = {.n = 0};
    for (; *extents; extents++) onnx_number(&t, 1, *extents);
    onnx_number(&t, 2, type);
    onnx_word(&t, 8, name);
    return t;
}

void onnx_ints(struct onnx_bytes *graph, const char *name, const int64_t *v, int count)
{
    struct onnx_bytes t = onnx_tensor_of(name, 7, (int64_t[]){count, 0}), raw = {.n = 0};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 8; k++)
            onnx_raw(&raw, &(unsigned char){(unsigned char)((uint64_t)v[i] >> (8 * k))}, 1);
    onnx_message(&t, 9, &raw);
    onnx_message(graph, 5, &t);
}

void onnx_entry(struct onnx_bytes *tensor, const char *key, const char *value)
{
    struct onnx_bytes e = {.n = 0};
    onnx_word(&e, 1, key);
    onnx_word(&e, 2, value);
    onnx_message(tensor, 13, &e);
}

void onnx_node_of(struct onnx_bytes *graph, const char *kind, const char *inputs, const char *output,
                  const char *key, int64_t value)
{
    struct onnx_bytes node = {.n = 0}, attr = {.n = 0};
    for (const char *s = inputs; *s;) {
        size_t n = strcspn(s, " ");
        onnx_counted(&node, 1, s, *s == '-' ? 0 : n);
        s += n + (s[n] == ' ');
    }
    onnx_word(&node, 2, output);
    onnx_word(&node, 4, kind);
    if (key) {
        onnx_word(&attr, 1, key);
        onnx_number(&attr, 3, value);
        onnx_number(&attr, 20, 2);
        onnx_message(&node, 5, &attr);
    }
    onnx_message(graph, 1, &node);
}

struct onnx_bytes onnx_model_of(const struct onnx_bytes *graph, int64_t opset)
{
    struct onnx_bytes set = {.n = 0}, model = {.n = 0};
    onnx_number(&set, 2, opset);
    onnx_number(&model, 1, 8);
    onnx_message(&model, 8, &set);
    onnx_message(&model, 7, graph);
    return model;
}
