/* Programs that are one device's in the middle: SPMDFullToShardShape takes the part of a device out of a whole tensor,
 * SPMDShardToFullShape puts parts together; so does mesh_shard of TTIR, which is an identity where devices have just these
 * parts already. For a team, an argument that is only read as such parts, in just the parts that its
 * sharding has, is one device's from the beginning, and a result that is only returned stays so: nothing is exchanged. Any other
 * whole tensor is one that every device has. */
#include "import/map/import_together.h"
#include "import/devices/shardings.h"

#include <string.h>

enum { MOST_CALLS = 8 }; /* one behind the other */

/* What a call of one tensor that makes one is of; "": it is none. */
static const char *called(const struct model_op *op)
{
    const char *target = model_attr_word(&op->attrs, "custom_call_target", "");
    bool one = strcmp(op->kind, "custom-call") == 0 && op->operand_count == 1 && op->result_count == 1;
    return one ? target + (*target == '"') : "";
}

/* Of TTIR: devices have their parts already, or keep them. */
static bool is_identity(const struct model_op *op, const char *direction)
{
    return strcmp(op->kind, "mesh_shard") == 0 && op->operand_count == 1 && op->result_count == 1 &&
           strstr(model_attr_word(&op->attrs, "shard_type", ""), "identity") &&
           strstr(model_attr_word(&op->attrs, "shard_direction", ""), direction);
}

static bool takes_part(const struct model_op *op)
{
    return is_identity(op, "full_to_shard") || strstr(called(op), "SPMDFullToShardShape") ||
           strstr(called(op), "sdy.GlobalToLocalShape");
}

static bool puts_together(const struct model_op *op)
{
    return is_identity(op, "shard_to_full") || strstr(called(op), "SPMDShardToFullShape") ||
           strstr(called(op), "sdy.LocalToGlobalShape");
}

static bool is_annotation(const struct model_op *op)
{
    return strcspn(called(op), "\"") == strlen("Sharding") && strncmp(called(op), "Sharding", 8) == 0;
}

bool import_has_parts(const struct lx_model *m)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (takes_part(&m->bodies.at[b].ops[i])) return true;
    return false;
}

/* Are these the parts that the sharding has? */
static bool are_parts(const struct import *im, const char *sharding, const struct model_type *whole,
                      const struct model_type *part)
{
    struct device_group groups[MESH_MAX_AXES + 1];
    int n = sharding ? model_sharding(im->m, sharding, groups) : -1;
    if (n == 0) return model_same_shape(whole, part);
    if (n != whole->count || part->count != n) return false;
    for (int d = 0; d < n; d++)
        if (whole->extent[d] != groups[d].size * part->extent[d]) return false;
    return true;
}

static bool is_result(const struct model_body *b, int32_t value)
{
    for (int i = 0; i < b->result_count; i++)
        if (b->results[i] == value) return true;
    return false;
}

/* The type of the parts that are all that is read of a value; NULL: other things are, too. */
static const struct model_type *part_of(const struct import *im, int32_t value, const char *sharding,
                                        int depth)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    const struct model_type *whole = model_type_of(im->m, value), *part = NULL;
    if (depth == MOST_CALLS || is_result(b, value)) return NULL;
    for (int i = 0; i < b->op_count; i++)
        for (int k = 0; k < b->ops[i].operand_count; k++) {
            const struct model_op *op = &b->ops[i];
            const struct model_type *own = NULL;
            if (op->operands[k] != value) continue;
            if (takes_part(op)) own = model_type_of(im->m, op->results[0]);
            if (is_annotation(op))
                own = part_of(im, op->results[0], model_sharding_text(&op->attrs), depth + 1);
            if (!own || !(is_identity(op, "") || are_parts(im, sharding, whole, own)) ||
                (part && !model_same_shape(part, own)))
                return NULL;
            part = own;
        }
    return part;
}

const struct model_type *import_part_type(const struct import *im, int32_t argument)
{
    const struct model_value *v = &im->m->values.at[argument];
    if (!im->has_parts || v->type->leaves != 1) return NULL;
    return part_of(im, argument, model_sharding_text(&v->attrs), 0);
}

/* Is all that is done with a value that it is returned? */
static bool is_returned(const struct import *im, int32_t value, int depth)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    bool returned = is_result(b, value);
    for (int i = 0; depth < MOST_CALLS && i < b->op_count; i++)
        for (int k = 0; k < b->ops[i].operand_count; k++) {
            const struct model_op *op = &b->ops[i];
            if (op->operands[k] != value) continue;
            bool passes = is_annotation(op) || strcmp(op->kind, "tuple") == 0;
            if (!passes || !is_returned(im, op->results[0], depth + 1)) return false;
            returned = true;
        }
    return returned;
}

bool import_stays_part(struct import *im, const struct model_op *op)
{
    if (!im->has_parts || op->operand_count != 1 || op->result_count != 1) return false;
    if (takes_part(op))
        return model_same_shape(import_leaf(im, op->operands[0], 0)->type,
                                model_type_of(im->m, op->results[0]));
    return puts_together(op) && im->body == im->m->entry && is_returned(im, op->results[0], 0) &&
           (is_identity(op, "") ||
            are_parts(im, model_sharding_text(&op->attrs), model_type_of(im->m, op->results[0]),
                      model_type_of(im->m, op->operands[0])));
}

const int64_t *import_part_dims(const struct import *im, const struct model_value *argument)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    int count;
    for (int i = 0; im->has_parts && i < b->op_count; i++) {
        const struct model_op *op = &b->ops[i];
        if (!is_identity(op, "full_to_shard") || &im->m->values.at[op->operands[0]] != argument) continue;
        const int64_t *dims = model_attr_ints(&op->attrs, "shard_dims", &count);
        return count == im->grid_axes ? dims : NULL;
    }
    return NULL;
}
