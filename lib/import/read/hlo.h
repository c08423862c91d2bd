/* What the files of the HLO reader share: hlo_read.c has computations and types, hlo_instructions.c
 * instructions, hlo_reach.c who calls whom. */
#ifndef LX_IMPORT_HLO_H
#define LX_IMPORT_HLO_H

#include "import/read/source.h"

struct hlo {
    struct reader r;
    struct names computations; /* name: number of the body */
    VEC(int32_t) parameters;   /* of the computation, by number; -1: not seen yet */
    int32_t root;
};

/* f32[2,3]{1,0}, token[], (f32[2], (s32[])). */
const struct model_type *hlo_type(struct source *s);
/* `word` has been read already, the bracket behind it is next. */
const struct model_type *hlo_type_behind(struct source *s, const char *word);
/* "key=value, ..." up to the end of the line, a comma before each. */
struct model_attrs hlo_attrs(struct hlo *h);
void hlo_instruction(struct hlo *h);
bool hlo_is_name(char c);
/* The name at the cursor, with or without %. */
const char *hlo_name(struct source *s, const char *what);

/* hlo_reach.c */
enum hlo_use { HLO_UNUSED, HLO_CONTROL, HLO_APPLIED };
/* Computations by number: what each op names; cycles and depth are refused. */
bool hlo_bind_bodies(struct hlo *h);
/* Does control go into what the op names (call, while, conditional), or is it applied to elements? */
bool hlo_is_control(const struct model_op *op);
/* `use` has room for each body. */
void hlo_uses(const struct lx_model *m, enum hlo_use *use);
/* How often the body of a while runs, if it is counted; -1: that depends on data. `body` has the op. */
int64_t hlo_trips(const struct lx_model *m, const struct model_body *body, const struct model_op *op);

#endif
