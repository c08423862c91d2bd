/* Protobuf by hand: a length is believed only if so many bytes are left. */
#include "import/read/onnx_wire.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

void wire_begin(struct wire *w, struct lx_model *m, const char *text, size_t length, bool *failed,
                lx_status *st)
{
    const unsigned char *from = (const unsigned char *)text;
    *w = (struct wire){.at = from, .end = from + length, .base = from, .m = m, .st = st, .failed = failed};
}

bool wire_fail(const struct wire *w, enum lx_code code, const char *format, ...)
{
    char words[512];
    va_list args;
    if (*w->failed) return false;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    *w->failed = true;
    return status_set_at(w->st, code, w->m->file, 0, 0, "at byte %zu: %s", (size_t)(w->at - w->base), words);
}

static bool wire_varint(struct wire *w, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (w->at >= w->end) return wire_fail(w, LX_E_SYNTAX, "a number that does not end");
        unsigned char byte = *w->at++;
        if (shift < 64) *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return wire_fail(w, LX_E_SYNTAX, "a number of more than 10 bytes");
}

static bool wire_fixed(struct wire *w, size_t size, uint64_t *out)
{
    if ((size_t)(w->end - w->at) < size) return wire_fail(w, LX_E_SYNTAX, "the file ends within a number");
    *out = 0;
    for (size_t i = size; i-- > 0;) *out = *out << 8 | w->at[i];
    w->at += size;
    return true;
}

static bool wire_counted(struct wire *w, struct wire_field *f)
{
    if (!wire_varint(w, &f->value)) return false;
    if (f->value > (uint64_t)(w->end - w->at))
        return wire_fail(w, LX_E_SYNTAX, "a length of %llu bytes where %zu are left",
                         (unsigned long long)f->value, (size_t)(w->end - w->at));
    f->body = *w;
    f->body.end = w->at + f->value;
    w->at = f->body.end;
    return true;
}

static bool wire_value(struct wire *w, struct wire_field *f)
{
    switch (f->kind) {
    case WIRE_NUMBER:
        return wire_varint(w, &f->value);
    case WIRE_8:
        return wire_fixed(w, 8, &f->value);
    case WIRE_4:
        return wire_fixed(w, 4, &f->value);
    case WIRE_BYTES:
        return wire_counted(w, f);
    }
    return wire_fail(w, LX_E_SYNTAX, "a field of kind %d, which this is no model with", (int)f->kind);
}

bool wire_next(struct wire *w, struct wire_field *f)
{
    uint64_t tag;
    if (*w->failed || w->at >= w->end) return false;
    if (!wire_varint(w, &tag)) return false;
    if (tag >> 3 == 0 || tag >> 3 > 1 << 29) return wire_fail(w, LX_E_SYNTAX, "a field without a number");
    *f = (struct wire_field){.number = (int)(tag >> 3), .kind = (enum wire_kind)(tag & 7), .body = *w};
    f->body.end = f->body.at;
    return wire_value(w, f);
}

bool wire_numbers(const struct wire_field *f, enum wire_kind packed, bool (*each)(void *to, uint64_t value),
                  void *to)
{
    struct wire w = f->body;
    uint64_t v = 0;
    if (f->kind != WIRE_BYTES) return each(to, f->value);
    while (w.at < w.end) {
        if (!(packed == WIRE_NUMBER ? wire_varint(&w, &v) : wire_fixed(&w, packed == WIRE_4 ? 4 : 8, &v)))
            return false;
        each(to, v);
    }
    return true;
}

const char *wire_string(const struct wire_field *f)
{
    size_t n = (size_t)(f->body.end - f->body.at);
    if (n > MODEL_MAX_NAME)
        return wire_fail(&f->body, LX_E_LIMIT, "a name of more than %d bytes", MODEL_MAX_NAME), NULL;
    const char *s = arena_copy(&f->body.m->memory, (const char *)f->body.at, n);
    return s;
}

float wire_float(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float v;
    memcpy(&v, &word, sizeof v);
    return v;
}

double wire_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
