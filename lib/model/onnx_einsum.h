/* The equation of an Einsum: each term as letters, one a dimension. Dots stand for dimensions that are aligned at their
 * end; they get the letters 1, 2, .. from the last of them on, so that the same dimension has the same letter everywhere. */
#ifndef LX_MODEL_ONNX_EINSUM_H
#define LX_MODEL_ONNX_EINSUM_H

#include <stdbool.h>

enum { EINSUM_LETTERS = 16, EINSUM_TERMS = 8 };

struct einsum_term {
    char letter[EINSUM_LETTERS + 1];
    int count;
};

struct einsum {
    struct einsum_term in[EINSUM_TERMS], out;
    int count;
};

/* `rank`: of each operand. False: no equation of theirs. */
bool einsum_read(const char *equation, int count, const int *rank, struct einsum *e);

#endif
