/* Protobuf by hand: a length is believed only if so many bytes are left. */
#include "import/read/onnx.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

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

static bool wire_value(struct wire *w, enum wire_kind kind, uint64_t *out)
{
    size_t size = kind == WIRE_4 ? 4 : 8;
    if (kind == WIRE_NUMBER || kind == WIRE_BYTES) return wire_varint(w, out);
    if (kind != WIRE_4 && kind != WIRE_8)
        return wire_fail(w, LX_E_SYNTAX, "a field of kind %d, which this is no model with", (int)kind);
    if ((size_t)(w->end - w->at) < size) return wire_fail(w, LX_E_SYNTAX, "the file ends within a number");
    *out = 0;
    for (size_t i = size; i-- > 0;) *out = *out << 8 | w->at[i];
    w->at += size;
    return true;
}

bool wire_next(struct wire *w, struct wire_field *f)
{
    uint64_t tag;
    if (*w->failed || w->at >= w->end || !wire_varint(w, &tag)) return false;
    if (tag >> 3 == 0 || tag >> 3 > 1 << 29) return wire_fail(w, LX_E_SYNTAX, "a field without a number");
    *f = (struct wire_field){.number = (int)(tag >> 3), .kind = (enum wire_kind)(tag & 7)};
    if (!wire_value(w, f->kind, &f->value)) return false;
    f->body = *w;
    f->body.end = w->at;
    if (f->kind != WIRE_BYTES) return true;
    if (f->value > (uint64_t)(w->end - w->at))
        return wire_fail(w, LX_E_SYNTAX, "a length of %llu bytes where %zu are left",
                         (unsigned long long)f->value, (size_t)(w->end - w->at));
    w->at = f->body.end = w->at + f->value;
    return true;
}

bool wire_next_of(struct wire *w, int number, struct wire_field *f)
{
    while (wire_next(w, f))
        if (f->number == number && f->kind == WIRE_BYTES) return true;
    return false;
}

bool wire_number(struct wire_field *f, enum wire_kind packed, uint64_t *out)
{
    if (f->kind == WIRE_BYTES) return f->body.at < f->body.end && wire_value(&f->body, packed, out);
    *out = f->value;
    f->kind = WIRE_BYTES; /* without any left */
    return true;
}

const char *wire_string(const struct wire_field *f)
{
    size_t n = (size_t)(f->body.end - f->body.at);
    if (n > MODEL_MAX_NAME) wire_fail(&f->body, LX_E_LIMIT, "a name of more than %d bytes", MODEL_MAX_NAME);
    return *f->body.failed ? "" : arena_copy(&f->body.m->memory, (const char *)f->body.at, n);
}
