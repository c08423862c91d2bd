/* Shared by the files of the HLO reader: hlo_read.c has computations, types and calls, hlo_instructions.c
 * instructions. */
#pragma once

#include "import/read/source.h"

struct hlo {
    struct reader r;
    struct names computations; /* name: number of the body */
    VEC(int32_t) parameters;   /* of the current computation, by number; -1: not seen yet */
    int32_t root;
};

/* f32[2,3]{1,0}, token[], (f32[2], (s32[])); `depth`: nesting of tuples. */
const struct model_type *hlo_type(struct source *s, int depth);
/* The same after `word`, with the bracket next. */
const struct model_type *hlo_type_behind(struct source *s, const char *word);
/* "key=value, ..." to the end of the line, each after a comma. */
struct model_attrs hlo_attrs(struct hlo *h);
void hlo_instruction(struct hlo *h);
bool hlo_is_name(char c);
/* The name at the cursor, with or without %. */
const char *hlo_name(struct source *s, const char *what);

enum hlo_use { HLO_UNUSED, HLO_CONTROL, HLO_APPLIED };
/* Does control enter the op's computations (call, while, conditional), or are they applied to elements? */
bool hlo_is_control(const struct model_op *op);
/* `use` has room for each body. */
void hlo_uses(const struct lx_model *m, enum hlo_use *use);
/* The trips of a while, if counted; -1: they depend on data. `body` contains the op. */
int64_t hlo_trips(const struct lx_model *m, const struct model_body *body, const struct model_op *op);
