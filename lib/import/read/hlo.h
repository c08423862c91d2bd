/* Inside the reader of HLO: what its files share. hlo_read.c has header and computations, hlo_instructions.c
 * instructions, hlo_types.c types, hlo_literals.c constants, hlo_reach.c who calls whom. */
#ifndef LX_IMPORT_HLO_H
#define LX_IMPORT_HLO_H

#include "import/read/source.h"

struct hlo {
    struct source s;
    struct names computations; /* name: number of the body */
    struct names values;       /* of the computation that is being read */
    VEC(struct model_op) ops;
    VEC(int32_t) list;
    VEC(struct model_attr) attrs;
    VEC(int32_t) parameters; /* of the computation, by number; -1: not seen yet */
    int32_t body, root;
};

/* f32[2,3]{1,0}, token[], (f32[2], (s32[])); NULL: failed. */
const struct model_type *hlo_type(struct source *s);
/* `word` has been read already, the bracket behind it is next. */
const struct model_type *hlo_type_behind(struct source *s, const char *word);
/* Two statements of the type of `name`, whatever their layouts; false: a failure that shows both. */
bool hlo_same_types(struct source *s, const struct model_type *a, const struct model_type *b,
                    const char *name);
/* What stands in constant(...). */
bool hlo_literal(struct source *s, const struct model_type *type, const struct model_data **data);
/* "key=value, ..." up to the end of the line, a comma before each. */
bool hlo_attrs(struct hlo *h, struct model_attrs *out);
bool hlo_instruction(struct hlo *h);
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
