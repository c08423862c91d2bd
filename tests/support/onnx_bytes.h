/* Models of ONNX in bytes, put together field by field. A message is a buffer; putting it into another one copies it. What
 * does not fit ends the test program. */
#ifndef LX_TESTS_ONNX_BYTES_H
#define LX_TESTS_ONNX_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct onnx_bytes {
    unsigned char at[4096];
    size_t n;
};

void onnx_raw(struct onnx_bytes *b, const void *from, size_t n);
void onnx_varint(struct onnx_bytes *b, uint64_t v);
void onnx_number(struct onnx_bytes *b, int field, int64_t v);
void onnx_counted(struct onnx_bytes *b, int field, const void *from, size_t n);
void onnx_word(struct onnx_bytes *b, int field, const char *word);
void onnx_message(struct onnx_bytes *b, int field, const struct onnx_bytes *part);

/* An input (field 11) or output (12) of floats; extents up to one of 0. */
void onnx_end(struct onnx_bytes *graph, int field, const char *name, const int64_t *extents);

/* A tensor without its data; 1 float, 7 int64. */
struct onnx_bytes onnx_tensor_of(const char *name, int type, const int64_t *extents);

/* A constant vector of integers. */
void onnx_ints(struct onnx_bytes *graph, const char *name, const int64_t *v, int count);

/* Data in a file beside the model. */
void onnx_entry(struct onnx_bytes *tensor, const char *key, const char *value);

/* Names with blanks between; "-" is an operand that is left out. An attribute of one number, or none (NULL). */
void onnx_node_of(struct onnx_bytes *graph, const char *kind, const char *inputs, const char *output,
                  const char *key, int64_t value);
struct onnx_bytes onnx_model_of(const struct onnx_bytes *graph, int64_t opset);

#endif
