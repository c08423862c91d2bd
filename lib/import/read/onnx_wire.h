/* The wire format of protobuf, as far as ONNX files use it: fields of numbers, of 4 or 8 bytes, and of
 * counted bytes. A message is walked field by field; fields that nobody asks for are passed over. A file
 * that has failed is at its end for everybody, and hands out empty strings. */
#ifndef LX_IMPORT_ONNX_WIRE_H
#define LX_IMPORT_ONNX_WIRE_H

#include "import/model_parts.h"

enum wire_kind { WIRE_NUMBER = 0, WIRE_8 = 1, WIRE_BYTES = 2, WIRE_4 = 5 };

struct wire {
    const unsigned char *at, *end;
    const unsigned char *base; /* of the file, for errors */
    struct lx_model *m;
    lx_status *st;
    bool *failed; /* of the whole file */
};

struct wire_field {
    int number;
    enum wire_kind kind;
    uint64_t value;   /* also of 4 and 8 bytes */
    struct wire body; /* of counted bytes */
};

/* The next field; false at the end, or when something is wrong. */
bool wire_next(struct wire *w, struct wire_field *f);
/* The next field of counted bytes under that number. */
bool wire_next_of(struct wire *w, int number, struct wire_field *f);
/* The next number of a repeated field, which may be packed. */
bool wire_number(struct wire_field *f, enum wire_kind packed, uint64_t *out);
/* The bytes as a string. A byte of 0 ends it. */
const char *wire_string(const struct wire_field *f);
/* At the byte where `w` is. Always false. */
bool wire_fail(const struct wire *w, enum lx_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
