/* Ops of the table that several devices do together. One device is planned: operands and results go
 * through HBM, and what it sends on links is counted. Groups come from replica_groups,
 * source_target_pairs, or an axis of the mesh. */
#include "import/map/import_steps.h"
#include "import/map/import_together.h"
#include "import/devices/devices.h"
#include "base/fail.h"

#include <string.h>

/* Bytes on links of a group of n, for one tensor. */
static int64_t collective_link_bytes(const char *kind, int64_t n, int64_t operand, int64_t result)
{
    int64_t moved = strcmp(kind, "all_gather") == 0 ? result : operand;
    if (strcmp(kind, "device_permute") == 0) return operand;
    if (n < 2) return 0;
    int64_t share = moved / n * (n - 1) + moved % n * (n - 1) / n;
    return strcmp(kind, "all_reduce") == 0 ? 2 * share : share;
}

/* One tensor of the operands to the tensor of the results at the same place. */
static bool collective_exchange(struct import *im, const struct model_op *op, const char *ours,
                                struct import_value in, const struct model_type *type,
                                struct import_value *out)
{
    int64_t n = model_group_size(im->m, op),
            bytes = collective_link_bytes(ours, n, in.type->bytes, type->bytes);
    if (!import_know_group(im, op, ours)) return false;
    if (n == 1 && model_same_shape(in.type, type)) {
        *out = in;
        return true;
    }
    fact_add(&im->notes, "collectives", ours, 1);
    fact_add(&im->notes, "link_bytes", ours, bytes);
    return import_opaque_leaf(im, ours, op, in, type, out) && import_state_group(im, op, in.type, type);
}

/* One device may have it as an op of which nothing is known; of a team nobody could say what it does. */
static bool collective_other_form(struct import *im, const struct model_op *op)
{
    if (!im->options.team || im->grid_axes == 0) return import_generic(im, op, "form");
    return status_set_at(im->st, LX_E_UNSUPPORTED, im->m->file, op->line, op->column,
                         "%s: a team cannot do it in this form; leave --team out: one device is planned then",
                         op->kind);
}

/* As many operands as results, in tuples of one depth; the beginning of an asynchronous one gives its
 * operand, too. */
bool map_collective(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    int operands = 0, own = type->leaves;
    VEC(struct import_value) all = {0};
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] >= 0 && model_type_of(im->m, op->operands[i])->leaves == 1) operands++;
    bool begins = strstr(op->kind, "-start") && own > operands, ok = true;
    if (operands == 0 || own < (begins ? 2 : 1) * operands || !lx_kind_find(ours))
        return collective_other_form(im, op);
    import_class(im, op, CLASS_MAPPED, NULL);
    for (int i = 0; ok && i < own; i++) {
        struct import_value in = *import_in(im, op, i % operands), out = in;
        if (in.type->elements > 0 && (begins ? i >= operands && i < 2 * operands : i < operands))
            ok = collective_exchange(im, op, ours, in, model_leaf_type(type, i), &out);
        if (ok) VEC_PUSH(&all, out);
    }
    ok = ok && import_bind(im, op->results[0], all.at, own);
    VEC_FREE(&all);
    return ok;
}

bool map_device_id(struct import *im, const struct model_op *op, const char *ours)
{
    (void)ours;
    if (!import_is_tensor(im, op->results[0])) return import_generic(im, op, "form");
    bool one = strcmp(op->kind, "replica-id") == 0 && model_attr_int(&im->m->attrs, "num_partitions", 1) > 1;
    if (im->grid_axes > 0 && !one) {
        import_class(im, op, CLASS_MAPPED, NULL);
        return import_opaque(im, "device_id", op) && import_state_all_devices(im);
    }
    return import_number(im, op, strcmp(op->kind, "replica-id") == 0 ? 0 : im->options.device);
}
