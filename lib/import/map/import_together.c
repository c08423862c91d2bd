/* What a model says of devices that share its work, for a team: the grid, and who works together along
 * which of its axes. Without a team one device is planned and none of this is kept. */
#include "import/map/import_together.h"
#include "import/map/import_steps.h"
#include "graph/op_params.h"
#include "import/devices/devices.h"
#include "base/fail.h"

#include <string.h>

bool import_find_grid(struct import *im)
{
    if (!im->options.team) return true;
    int axes = model_device_grid(im->m, im->grid);
    int64_t devices = 1;
    for (int a = 0; a < axes; a++) devices *= im->grid[a] <= LX_GRID_DEVICES ? im->grid[a] : LX_GRID_DEVICES;
    if (axes < 0 || axes > LX_GRID_AXES || devices > LX_GRID_DEVICES)
        return status_set_at(im->st, LX_E_UNSUPPORTED, im->m->file, 0, 0,
                             "the devices of this model are no grid of at most %d axes and %d devices; plan "
                             "one of them: leave "
                             "--team out",
                             LX_GRID_AXES, LX_GRID_DEVICES);
    im->grid_axes = devices > 1 ? axes : 0;
    im->by_device = model_is_by_device(im->m);
    im->has_parts = im->grid_axes > 0 && import_has_parts(im->m);
    return true;
}

int64_t import_from_dimension(const struct model_type *t, int d)
{
    int64_t n = 1;
    for (; d < t->count; d++) n *= t->extent[d];
    return n;
}

static struct lx_op_params *together_last_params(struct import *im)
{
    struct lx_op_params none = op_params_none(), *p = arena_copy_array(&im->memory, &none, 1, sizeof none);
    im->sketches.at[im->sketches.count - 1].params = p;
    return p;
}

static void together_set_axes(struct import *im, struct lx_op_params *p, int first, int count)
{
    int64_t *group = arena_array(&im->memory, (size_t)count + 1, sizeof *group);
    for (int i = 0; i < count; i++) group[i] = first + i;
    p->group = group;
    p->group_count = count;
}

bool import_state_all_devices(struct import *im)
{
    struct lx_op_params *p = together_last_params(im);
    if (!p) return false;
    together_set_axes(im, p, 0, im->grid_axes);
    return true;
}

/* The dimension that is `n` times as long in one type as in the other; as said, where that does not tell. */
static int together_longer_in(const struct model_type *large, const struct model_type *small, int64_t n,
                              int said)
{
    for (int d = 0; d < large->count && large->count == small->count; d++)
        if (large->extent[d] == n * small->extent[d] && n > 1) return d;
    return said >= 0 && said < large->count ? said : -1;
}

/* How the parts of several devices become one; false: as no kind of ours does it. */
static bool together_combine_of(const struct import *im, const struct model_op *op, enum lx_combine *out)
{
    static const struct {
        const char *word;
        enum lx_combine combine;
    } rows[] = {{"sum", LX_COMBINE_ADD},  {"max", LX_COMBINE_MAX}, {"min", LX_COMBINE_MIN},
                {"prod", LX_COMBINE_MUL}, {"any", LX_COMBINE_MAX}, {"all", LX_COMBINE_MIN}};
    const char *ours =
        im->format == MODEL_HLO ? import_reducer(im, op) : model_attr_word(&op->attrs, "reduce_type", "sum");
    for (size_t i = 0; ours && i < sizeof rows / sizeof *rows; i++)
        if (strstr(ours, rows[i].word)) {
            *out = rows[i].combine;
            return true;
        }
    return false;
}

static int together_said_dimension(const struct model_op *op, const char *const *keys)
{
    int count;
    for (; *keys; keys++) {
        const int64_t *list = model_attr_ints(&op->attrs, *keys, &count);
        if (count > 0) return (int)list[0];
    }
    return -1;
}

/* The dimensions that parts are of. */
static void together_state_parts(struct import *im, const struct model_op *op, const struct model_type *in,
                                 const struct model_type *out, int64_t n)
{
    static const char *const taken[] = {"dimensions", "split_dim", "scatter_dim", "axis", NULL},
                             *const put[] = {"dimensions", "concat_dim", "all_gather_dim", "axis", NULL};
    struct sketch *s = &im->sketches.at[im->sketches.count - 1];
    const char *kind = s->kind;
    bool swaps = strcmp(kind, "all_to_all") == 0;
    int from = together_longer_in(in, out, n, together_said_dimension(op, taken)),
        to = together_longer_in(out, in, n, together_said_dimension(op, put));
    if ((swaps || strcmp(kind, "reduce_scatter") == 0 || strcmp(kind, "device_part") == 0) && from >= 0)
        s->parts_from[0] = import_from_dimension(in, from);
    if ((swaps || strcmp(kind, "all_gather") == 0) && to >= 0)
        s->parts_from[1] = import_from_dimension(out, to);
}

static int64_t together_grid_devices(const struct import *im)
{
    int64_t n = 1;
    for (int a = 0; a < im->grid_axes; a++) n *= im->grid[a];
    return n;
}

static bool together_are_axes(const struct import *im, struct device_group g)
{
    int first, count;
    if (g.size == 1) return true;
    return (g.devices == 0 || g.devices == together_grid_devices(im)) &&
           model_group_axes(im->grid, im->grid_axes, g, &first, &count);
}

bool import_know_group(struct import *im, const struct model_op *op, const char *kind)
{
    struct device_group g;
    int axis;
    int64_t by;
    bool open, permutes = strcmp(kind, "device_permute") == 0,
               pairs = model_attr_find(&op->attrs, "source_target_pairs");
    if (!im->options.team) return true;
    if (pairs && model_device_steps(im->m, op, im->grid, im->grid_axes, &axis, &by, &open)) return true;
    if (!pairs && model_device_group(im->m, op, &g) && together_are_axes(im, g) && (!permutes || g.size == 1))
        return true;
    return status_set_at(im->st, LX_E_UNSUPPORTED, im->m->file, op->line, op->column,
                         permutes ? "%s: these devices do not hand on to the one that is so many further "
                                    "along an axis of the grid of "
                                    "%lld devices; state such pairs for all of them, or leave --team out: "
                                    "one device is planned then"
                                  : "%s: no axis of the grid of %lld devices makes these groups; state "
                                    "groups of one size, of devices in "
                                    "order and equally far apart, with every device in one, or leave --team "
                                    "out: one device is planned "
                                    "then",
                         op->kind, (long long)together_grid_devices(im));
}

static bool together_state_steps(struct import *im, const struct model_op *op)
{
    int axis;
    int64_t by;
    bool open;
    if (!model_device_steps(im->m, op, im->grid, im->grid_axes, &axis, &by, &open)) return true;
    struct lx_op_params *p = together_last_params(im);
    if (!p) return false;
    together_set_axes(im, p, axis, 1);
    p->k = by > 0 ? by : im->grid[axis]; /* round the ring once */
    p->exclusive = open;
    return true;
}

bool import_state_group(struct import *im, const struct model_op *op, const struct model_type *in,
                        const struct model_type *out)
{
    struct device_group g;
    int first, count;
    const char *kind = im->sketches.count > 0 ? im->sketches.at[im->sketches.count - 1].kind : "";
    if (im->grid_axes == 0) return true;
    if (strcmp(kind, "device_permute") == 0) return together_state_steps(im, op);
    if (!model_device_group(im->m, op, &g) || !model_group_axes(im->grid, im->grid_axes, g, &first, &count))
        return true;
    struct lx_op_params *p = together_last_params(im);
    if (!p) return false;
    together_set_axes(im, p, first, count);
    if (strstr(kind, "reduce") && !together_combine_of(im, op, &p->combine))
        return status_set_at(
            im->st, LX_E_UNSUPPORTED, im->m->file, op->line, op->column,
            "%s: a team adds, multiplies, takes the largest or the least; state one of these, or "
            "leave --team out: one device is planned then",
            op->kind);
    together_state_parts(im, op, in, out, g.size);
    return true;
}

const struct lx_op_params *import_parts_param(struct import *im, const struct sketch *s)
{
    struct lx_op_params *p = arena_copy_array(&im->memory, s->params, 1, sizeof *p);
    int64_t *axes = arena_array(&im->memory, 2, sizeof *axes);
    if (!p || !axes) return s->params;
    for (int i = 0; i < 2; i++) {
        const struct cuts *c = &im->storages.at[s->operand[i].storage].cuts;
        axes[i] = s->parts_from[i] ? import_piece_from(c, s->parts_from[i]) : -1;
    }
    if (s->parts_from[0] && s->parts_from[1]) {
        p->axes = axes;
        p->axis_count = 2;
    } else
        p->axis = axes[s->parts_from[1] ? 1 : 0];
    return p;
}
